"""Verdicts over tasks and comparisons, and the page that shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from faithboard.reproduction.files import lines_folder, page_of, read, write
from faithboard.reproduction.saliency_guided.claims import CLAIMS, claim_verdict
from faithboard.reproduction.saliency_guided.controls import AT_EQUAL_EPOCHS, EQUAL_EPOCHS
from faithboard.reproduction.saliency_guided.form import FORM
from faithboard.reproduction.saliency_guided.lines import EvidenceLine, Reproduction
from faithboard.reproduction.saliency_guided.making import reproduction_of
from faithboard.reproduction.saliency_guided.page import console_report, restricted
from faithboard.reproduction.saliency_guided.tables import evidence as evidence_table
from tests.reproduction.saliency_guided.invented import explained, results, trained
from tests.reproduction.saliency_guided.test_values import GRADIENT, SUITE

OF = {claim.name: claim for claim in CLAIMS}
VALUES = {"standard": 0.3, "saliency-guided": 0.5, "random-masking": 0.4}


def evidence(claim: str, task: str, *, holds: bool, opposite: bool = False) -> EvidenceLine:
    return EvidenceLine(claim, task, "of", 0.1, 0.0, 0.2, 10, 5, 5, None, holds, opposite, "shown")


def reproduction(task: str = "movies", **changes: Any) -> Reproduction:
    """Guidance gains in comprehensiveness over both others; sufficiency is the same for all."""
    models, explanations = [], []
    for training, value in VALUES.items():
        for seed in (0, 1):
            model = trained(task, training, seed, **changes)
            models.append(model)
            for method, shift in ((GRADIENT, 0.0), ("random", -0.2)):
                values = {"comprehensiveness": [value + shift + at / 100 for at in range(4)], "sufficiency": [0.1] * 4}
                explanations.append(explained(model, method, values))
    return reproduction_of(results(models, explanations), SUITE, "hash")


def test_a_claim_holds_only_when_all_of_its_comparisons_do() -> None:
    claim = OF["comprehensiveness"]
    yes, no = evidence(claim.name, "movies", holds=True), evidence(claim.name, "fever", holds=False, opposite=True)
    assert claim_verdict(claim, [yes], "") == "holds (movies)"
    assert claim_verdict(claim, [no], "") == "does not hold here (0 of 1; opposite in 1)"
    both = claim_verdict(claim, [yes, no], "")
    assert both.startswith("holds in 1 of 2 comparisons")
    assert "movies 1 of 1" in both
    assert claim_verdict(claim, [], "nothing was run") == "not testable here: nothing was run"


def test_a_claim_of_which_nothing_is_decided_is_not_shown_and_not_false() -> None:
    claim = OF["accuracy"]
    undecided = [evidence(claim.name, task, holds=False) for task in ("movies", "fever", "e-snli")]
    assert claim_verdict(claim, undecided, "") == "not shown here (0 of 3; opposite in 0)"
    against = evidence(claim.name, "movies", holds=False, opposite=True)
    assert claim_verdict(claim, [*undecided, against], "") == "does not hold here (0 of 4; opposite in 1)"
    shown = evidence_table(claim, [*undecided, against, evidence(claim.name, "fever", holds=True)])
    assert [line.split("|")[-2].strip() for line in shown.splitlines()[2:]] == [*["not shown"] * 3, "opposite", "holds"]


def test_tasks_beyond_the_paper_have_a_verdict_of_their_own() -> None:
    claim = OF["sufficiency"]
    said = claim_verdict(claim, [evidence(claim.name, "sst", holds=True)], "no task")
    assert said == "not testable here: no task; beyond the paper's tasks: holds (sst)"


def test_a_gain_must_be_larger_than_with_random_words_masked() -> None:
    found = reproduction()
    held = {(line.claim, line.holds) for line in found.evidence}
    assert ("comprehensiveness", True) in held
    assert ("guidance", True) in held
    assert ("sufficiency", False) in held
    assert ("random", True) in held
    # No gain in sufficiency: nothing of it asks for guidance.
    assert len([line for line in found.evidence if line.claim == "guidance"]) == 1


def test_a_claim_needs_the_sign_of_every_seed() -> None:
    """The interval over texts alone would hold: all texts of a seed move together."""
    base = [[0.1, 0.2, 0.3, 0.4]] * 5
    steps = (0.3, 0.1, 0.2, 0.1, 0.1)
    for last, holds in ((0.1, True), (-0.1, False)):
        guided = [[value + step for value in base[0]] for step in (*steps[:4], last)]
        models, explanations = [], []
        for training, of_seeds in (("standard", base), ("saliency-guided", guided)):
            for seed, values in enumerate(of_seeds):
                models.append(trained("movies", training, seed))
                explanations.append(explained(models[-1], GRADIENT, {"comprehensiveness": values}))
        suite = replace(SUITE, seeds=(0, 1, 2, 3, 4))
        made = reproduction_of(results(models, explanations, seeds=suite.seeds), suite, "hash")
        (line,) = (line for line in made.evidence if line.claim == "comprehensiveness")
        assert line.low > 0
        assert (line.agreeing, line.seeds) == (5 if holds else 4, 5)
        assert (line.holds, line.opposite) == (holds, False)
        assert ("4 of 5 |" in evidence_table(OF["comprehensiveness"], made.evidence)) != holds


def test_models_below_the_gate_take_no_part_in_claims_and_are_marked() -> None:
    found = reproduction(gate_passed=False)
    assert found.evidence == []
    text = console_report(found)
    assert "movies *" in text
    assert "not testable here" in text


def test_the_page_regenerates_from_its_lines_and_shows_the_controls(tmp_path: Path) -> None:
    found = reproduction()
    folder = lines_folder(tmp_path, "again")
    page = write(FORM, found, folder)
    assert read(FORM, folder) == found
    assert page_of(FORM, folder) == (page, page.read_text())
    text = page.read_text()
    assert "holds (movies)" in text
    assert "**Guidance.**" in text
    assert "**Confidence.**" in text
    assert "select=last" in text
    assert "nothing is stored of fever" in text
    assert "2 / 3" in text, "the best epochs of both seeds"


def test_models_that_kept_their_last_epoch_are_said_to_be_equal() -> None:
    config = trained("movies", "saliency-guided", 0).config
    best, last = FORM.page(reproduction(), ""), FORM.page(reproduction(config={**config, "select": "last"}), "")
    assert "**Epochs.** " + EQUAL_EPOCHS in best
    assert "**Epochs.** " + AT_EQUAL_EPOCHS in last


def test_some_tasks_alone_say_nothing_of_others() -> None:
    shown = restricted(reproduction(), {"fever"})
    assert not shown.values
    assert not shown.models
    assert [line.task for line in shown.missing] == ["fever"]
