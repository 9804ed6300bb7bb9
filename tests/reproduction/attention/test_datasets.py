"""Table 1: counts, lengths and the performance, each with what is known of why it differs."""

from __future__ import annotations

from typing import Any

from faithboard.published import datasets
from faithboard.reproduction.attention.datasets import UNKNOWN, dataset_lines
from faithboard.reproduction.attention.lines import DatasetLine
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import columns

F1 = {"f1-weighted": 0.9, "f1-positive": 0.62, "accuracy": 0.8}


def lines(task: str, labels: tuple[str, ...], here: int = 100, published: int = 100, **more: Any) -> list[DatasetLine]:
    split = {"used": 100, "here": here, "average_length": 19.0, "per_class": dict.fromkeys(labels, 50)}
    data = {
        "splits": dict.fromkeys(("train", "dev", "test"), split),
        "published_rows": {"train": published, "test": 100},
        "vocabulary": 100,
    }
    one = invented.measured(task, "bilstm-additive", columns({}, [[0, 1]]), data=data, performance=F1, **more)
    return dataset_lines([one], {task: labels}, datasets())


def one(found: list[DatasetLine], quantity: str, of: str = "") -> DatasetLine:
    (line,) = (line for line in found if line.quantity == quantity and line.of in (of, of or line.of))
    return line


def test_the_performance_is_compared_in_the_measure_that_is_printed() -> None:
    weighted = one(lines("sst", ("negative", "positive")), "performance")
    assert (weighted.of, weighted.here, weighted.published) == ("f1-weighted", 0.9, 0.81)
    positive = one(lines("adr", ("none", "adverse reaction")), "performance")
    assert (positive.of, positive.here, positive.verdict) == ("f1-positive", 0.62, "within 0.08")
    of_substitute = one(lines("ade", ("none", "adverse reaction")), "performance")
    assert (of_substitute.of, of_substitute.published) == ("f1-positive", 0.61)


def test_classes_stand_apart_and_a_number_alike_needs_no_reason() -> None:
    found = lines("sst", ("negative", "positive"))
    assert [(line.quantity, line.of) for line in found] == [
        ("vocabulary", ""),
        ("average length", ""),
        ("train", "negative"),
        ("train", "positive"),
        ("test", "negative"),
        ("test", "positive"),
        ("performance", "f1-weighted"),
    ]
    assert (one(found, "average length").verdict, one(found, "average length").why) == ("within 8 %", "")


def test_reasons_are_fewer_rows_what_is_known_or_that_none_is() -> None:
    found = lines("sst", ("negative", "positive"), here=100, published=200)
    fewer = "100 of 200 published rows of train are here"
    assert one(found, "train", "negative").why == fewer
    assert one(found, "performance").why == fewer
    assert one(found, "vocabulary").why.startswith(f"{fewer}; in print of the words of all three splits")
    assert one(found, "test", "positive").why == UNKNOWN
    whole = lines("sst", ("negative", "positive"))
    assert one(whole, "vocabulary").why.startswith("in print of the words of all three splits")
    assert one(whole, "train", "negative").why == UNKNOWN


def test_fewer_rows_do_not_explain_a_length() -> None:
    assert one(lines("cnn-qa", ("a",) * 20, published=200), "average length").why == UNKNOWN


def test_a_substitute_is_the_reason_for_all_of_its_numbers() -> None:
    found = [line for line in lines("ade", ("none", "adverse reaction"), published=200) if line.why]
    assert found
    assert {line.why for line in found} == {"another data set, in place of ADR"}


def test_tasks_outside_the_paper_have_no_row() -> None:
    assert lines("planted", ("north", "south")) == []
