from __future__ import annotations

from faithboard.published import adversarial
from faithboard.reproduction.attention.claims import CLAIMS, Claim, claim_verdict, evidence_lines
from faithboard.reproduction.attention.lines import EvidenceLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.attention.outputs import divergence_lines
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS

OF = {claim.name: claim for claim in CLAIMS}


def evidence(*models: Measured) -> list[EvidenceLine]:
    return evidence_lines(models, LABELS, divergence_lines(models, LABELS, {}))


def line(claim: str, task: str, holds: bool) -> EvidenceLine:
    return EvidenceLine(claim, task, "bilstm-additive", "x", 0.1, 0.0, 0.2, 10, 0.0, None, holds)


def said(claim: Claim, *found: EvidenceLine) -> str:
    return claim_verdict(claim, found, "nothing was run")


def test_encoders_and_pairs_hold_where_the_numbers_say_so() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.3), invented.full("sst", "average-additive", 0.8))
    (encoders,) = (one for one in found if one.claim == "encoders")
    assert encoders.holds
    assert 0.45 < encoders.low < encoders.value < encoders.high < 0.55
    assert encoders.published is not None
    assert encoders.published > 0.2
    pairs = [one for one in found if one.claim == "pairs"]
    assert [one.what for one in pairs] == ["gradient-loo - attention-gradient", "gradient-loo - attention-loo"]
    assert all(one.holds for one in pairs)


def test_they_do_not_hold_where_the_order_is_another() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.8), invented.full("sst", "average-additive", 0.3))
    assert not any(one.holds for one in found if one.claim in ("encoders", "pairs"))


def test_without_the_other_encoder_there_is_no_comparison() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.3))
    assert not [one for one in found if one.claim == "encoders"]
    assert said(OF["encoders"], *found) == "not testable here: nothing was run"


def test_permutation_and_divergence_are_held_against_their_thresholds() -> None:
    little = evidence(invented.full("sst", "bilstm-additive", 0.3, jsd=0.36, moved=0.02))
    much = evidence(invented.full("sst", "bilstm-additive", 0.3, jsd=0.2, moved=0.3))
    for claim in ("permutation", "adversarial", "adversarial-paper"):
        assert all(one.holds for one in little if one.claim == claim)
        assert not any(one.holds for one in much if one.claim == claim)
    classes = [one for one in little if one.claim == "adversarial"]
    assert [one.what for one in classes] == ["negative", "positive"]
    known = adversarial()
    assert [one.published for one in classes] == [known["sst", "bilstm-additive", label].mean for label in (0, 1)]


def test_few_words_are_held_against_the_other_tasks() -> None:
    usual = invented.full("sst", "bilstm-additive", 0.3, jsd=0.5)
    fooled = evidence(usual, invented.full("planted", "bilstm-additive", 0.3, jsd=0.55))
    hard = evidence(usual, invented.full("planted", "bilstm-additive", 0.3, jsd=0.1))
    assert said(OF["few-words"], *hard) == "holds (planted)"
    assert said(OF["few-words"], *fooled) == "does not hold"
    alone = evidence(invented.full("planted", "bilstm-additive", 0.3, jsd=0.1))
    assert said(OF["few-words"], *alone) == "holds (planted)"
    (in_print,) = {one.threshold for one in alone if one.claim == "few-words"}
    assert 0.5 < in_print < 0.69
    assert said(OF["few-words"], *evidence(usual)) == "not testable here: nothing was run"


def test_a_verdict_counts_the_tasks_of_the_paper_and_names_those_beyond() -> None:
    claim = OF["encoders"]
    assert said(claim, line("encoders", "sst", True)) == "holds (sst)"
    assert said(claim, line("encoders", "sst", False)) == "does not hold"
    mixed = [line("encoders", "sst", True), line("encoders", "imdb", False), line("encoders", "ade", True)]
    assert said(claim, *mixed) == "holds for 2 of 3 tasks: sst, ade"
    assert (
        said(claim, *mixed, line("encoders", "movies", True))
        == "holds for 2 of 3 tasks: sst, ade; beyond the paper's tasks: holds (movies)"
    )
    assert said(claim) == "not testable here: nothing was run"


def test_one_number_that_fails_is_enough_for_a_task() -> None:
    assert said(OF["pairs"], line("pairs", "sst", True), line("pairs", "sst", False)) == "does not hold"


def test_the_exception_of_the_paper_does_not_count() -> None:
    both = [line("pairs", "sst", True), line("pairs", "snli", False)]
    assert said(OF["pairs"], *both) == "holds (sst)"
