"""Pages are what their lines generate, and what people write around them stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.errors import FaithboardError
from faithboard.reproduction.attention.form import FORM
from faithboard.reproduction.attention.lines import Reproduction
from faithboard.reproduction.attention.making import reproduction_of
from faithboard.reproduction.attention.page import console_report, restricted
from faithboard.reproduction.files import FOLDER, lines_folder, page_of, read, write
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS

SUITE = suites.load("attention-is-not-explanation")


@pytest.fixture(scope="module")
def made() -> Reproduction:
    models = [
        invented.full("planted", "bilstm-additive", 0.35, jsd=0.1),
        invented.full("sst", "average-additive", 0.8),
        invented.full("sst", "bilstm-additive", 0.1),
        invented.full("sst", "cnn-additive", 0.1, gate_passed=False),
    ]
    return reproduction_of(invented.results(models), models, LABELS, SUITE, "hash")


def test_lines_come_back_as_they_were_and_make_the_same_page(made: Reproduction, tmp_path: Path) -> None:
    folder = lines_folder(tmp_path, "again")
    page = write(FORM, made, folder)
    assert page == tmp_path / FOLDER / "again.md"
    assert read(FORM, folder) == made
    assert page_of(FORM, folder) == (page, page.read_text())

    page.write_text("Our own words.\n\n" + page.read_text())
    assert write(FORM, made, folder).read_text().startswith("Our own words.")


def test_a_page_shows_verdicts_claims_and_what_must_be_kept_in_mind(made: Reproduction, tmp_path: Path) -> None:
    text = write(FORM, made, lines_folder(tmp_path, "again")).read_text()
    assert "holds (sst)" in text
    assert "train 100 of 200 published rows" in text
    assert "cnn-additive *" in text
    assert "**not passed**" in text
    assert "| sst " in text
    # 16,000 words against 16,175, and an F1 of 0.85 against 0.81
    assert "-1.1%" in text
    assert "+0.040" in text


def test_cells_that_are_far_off_are_named_with_what_may_explain_it(made: Reproduction) -> None:
    shown = console_report(made)
    listed = [line for line in shown.splitlines() if line.startswith("- sst, ")]
    (one,) = (line for line in listed if "bilstm-additive, attention-gradient, all" in line)
    assert "published (-0.2" in one
    assert "vectors random, 100 training rows, standard deviation over seeds" in one
    assert "train 100 of 200 published rows" in one
    assert any("fails the accuracy gate" in line for line in listed)
    assert not [line for line in shown.splitlines() if line.startswith("- planted")]


def test_models_that_fail_the_gate_take_no_part_in_claims(made: Reproduction) -> None:
    assert {line.model for line in made.evidence} == {"bilstm-additive", "average-additive"} - {"average-additive"}
    assert {line.model for line in made.lengths} == {"bilstm-additive", "average-additive"}
    assert "cnn-additive" in {line.model for line in made.taus}


def test_some_tasks_alone_have_claims_of_their_own(made: Reproduction) -> None:
    shown = console_report(restricted(made, {"planted"}))
    assert "no task of the paper has been run with bilstm-additive and average-additive" in shown
    assert "sst" not in shown.replace("SST", "")


def test_a_model_below_the_gate_is_why_nothing_can_be_tested() -> None:
    models = [invented.full("sst", name, 0.3, gate_passed=False) for name in ("bilstm-additive", "average-additive")]
    found = reproduction_of(invented.results(models), models, LABELS, SUITE, "hash")
    assert "not testable here: no bilstm-additive and average-additive passes the accuracy gate" in console_report(
        found
    )


def test_what_could_not_be_had_is_said() -> None:
    one = invented.full("sst", "bilstm-additive", 0.3)
    stored = invented.results([one])
    unsupported = replace(stored.explanations[0], status="unsupported", reason="probes need attention", rows=[])
    noted = replace(stored, explanations=(*stored.explanations, replace(unsupported, model="bilstm-none")))
    text = console_report(reproduction_of(noted, [one], LABELS, SUITE, "hash"))
    assert "note: sst, bilstm-none: unsupported: probes need attention (seed 0)" in text


def test_a_broken_line_is_named(made: Reproduction, tmp_path: Path) -> None:
    folder = lines_folder(tmp_path, "again")
    write(FORM, made, folder)
    (folder / "taus.jsonl").write_text("{}\n")
    with pytest.raises(FaithboardError, match=r"taus.jsonl, line 1: not a TauLine"):
        read(FORM, folder)
    (folder / "taus.jsonl").unlink()
    with pytest.raises(FaithboardError, match="faithboard reproduce"):
        page_of(FORM, folder)
