"""Pages are what their lines generate, and what people write around them stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithboard import suites
from faithboard.errors import FaithboardError
from faithboard.reproduction.attention.form import FORM
from faithboard.reproduction.attention.lines import Reproduction
from faithboard.reproduction.attention.making import reproduction_of
from faithboard.reproduction.attention.page import console_report, restricted
from faithboard.reproduction.files import FOLDER, lines_folder, page_of, read, read_part, write
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


def test_a_part_is_read_alone(made: Reproduction, tmp_path: Path) -> None:
    write(FORM, made, tmp_path / "one")
    (tmp_path / "one" / "tried.jsonl").unlink()
    assert read_part(FORM, tmp_path / "one", "taus") == list(made.taus)
    with pytest.raises(FaithboardError, match=r"tried\.jsonl cannot be read"):
        read(FORM, tmp_path / "one")


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
    assert "- sst (train): 100 of 200 published rows of train are here" in text
    assert "- sst (test): reason not known" in text


def test_a_page_counts_cells_texts_and_models_that_are_far_from_print(made: Reproduction, tmp_path: Path) -> None:
    text = write(FORM, made, lines_folder(tmp_path, "again")).read_text()
    published = [line for line in made.taus if line.verdict]
    far = [line for line in published if abs(line.difference or 0) > 0.15]
    assert 0 < len(far) < len(published)
    assert f"Cells of tau with a published number: {len(published)}: " in text
    assert f"`differs`; {len(far)} of them are more than 0.15 away." in text
    assert "Cells of a substitute" not in text
    assert "explained, the first of them by a hash of their names: planted 40 of 100, sst 40 of 100." in text


def test_cells_of_a_substitute_are_counted_apart(tmp_path: Path) -> None:
    models = [invented.full(task, "bilstm-additive", 0.4) for task in ("sst", "ade")]
    labels = LABELS | {"ade": ("negative", "positive")}
    found = reproduction_of(invented.results(models), models, labels, SUITE, "hash")
    text = write(FORM, found, lines_folder(tmp_path, "both")).read_text()
    own, other = ([line for line in found.taus if line.task == task and line.verdict] for task in ("sst", "ade"))
    assert own
    assert other
    assert f"Cells of tau with a published number: {len(own)}: " in text
    assert f"Cells of a substitute, ade (for adr), beside the numbers of what it stands in for: {len(other)}: " in text


def test_a_page_has_the_top_k_agreement_with_k_and_the_length(made: Reproduction, tmp_path: Path) -> None:
    text = write(FORM, made, lines_folder(tmp_path, "again")).read_text()
    table = text.partition("## Top-k agreement")[2].partition("\n## ")[0]
    (row,) = (line for line in table.splitlines() if line.startswith("| sst") and "average-additive" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    pairs = {line.pair: line.top_k for line in made.taus if (line.model, line.label) == ("average-additive", "")}
    values = [pairs[pair] for pair in ("attention-gradient", "attention-loo", "gradient-loo")]
    assert cells[2:4] == ["10", "20.0"]
    assert cells[4:7] == [f"{value:.3f}" for value in values]
    assert "cannot fall\nbelow about 1/3" in table


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"config": {"epochs": 2, "select": "roc-auc"}}, "epochs 2 (profile 8)"),
        ({"history": [{}] * 3, "provenance": {"best_epoch": 3}}, "the last epoch was the best"),
        ({"history": [{}] * 3, "provenance": {"best_epoch": 2}}, ""),
        ({"history": [{}], "provenance": {"best_epoch": 1}}, ""),
    ],
)
def test_epochs_that_were_cut_short_are_to_be_kept_in_mind(changes: dict[str, Any], said: str) -> None:
    one = invented.full("sst", "bilstm-additive", 0.4, **changes)
    (line,) = reproduction_of(invented.results([one]), [one], LABELS, SUITE, "hash").models
    sentences = line.reservations.split("; ")
    assert ("the last epoch was the best" in sentences) == (said == "the last epoch was the best")
    assert not said or any(said in sentence for sentence in sentences)


def test_seeds_whose_last_epoch_was_the_best_are_named() -> None:
    one = invented.full("sst", "bilstm-additive", 0.4, history=[{}] * 3, provenance={"best_epoch": 3})
    records = (one.records[0], replace(one.records[1], provenance={"best_epoch": 1}))
    one = replace(one, records=records)
    (line,) = reproduction_of(invented.results([one]), [one], LABELS, SUITE, "hash").models
    assert "the last epoch was the best (seed 0)" in line.reservations.split("; ")


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


def test_what_is_stored_and_takes_no_part_is_a_note() -> None:
    one = invented.full("sst", "bilstm-additive", 0.3)
    found = reproduction_of(invented.results([one]), [one], LABELS, SUITE, "hash", ["sst, cnn-additive: left out"])
    assert "- note: sst, cnn-additive: left out" in console_report(found)


def test_a_broken_line_is_named(made: Reproduction, tmp_path: Path) -> None:
    folder = lines_folder(tmp_path, "again")
    write(FORM, made, folder)
    (folder / "taus.jsonl").write_text("{}\n")
    with pytest.raises(FaithboardError, match=r"taus.jsonl, line 1: not a TauLine"):
        read(FORM, folder)
    (folder / "taus.jsonl").unlink()
    with pytest.raises(FaithboardError, match="faithboard reproduce"):
        page_of(FORM, folder)
