"""Words that decide alone, in pairs, in an order or behind a negation, and nothing else that does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from faithboard.errors import DataError
from faithboard.generators import planting
from faithboard.generators.planting import NEITHER, Planting
from faithboard.task import Record
from tests.generators import rules

LABELS = ("north", "south")
WORDS = {"north": "up", "south": "down"}
PLANTINGS = {
    "single": planting.singles(WORDS),
    "pair": planting.pairs(LABELS, ("a", "b"), ("c", "d")),
    "order": planting.orders(LABELS, ("a", "c")),
    "negation": planting.negations(WORDS, "not"),
}
RECORDS: Mapping[str, list[Record]] = {
    name: list(planting.records(f"toy-{name}", plantings, "train", 3000)) for name, plantings in PLANTINGS.items()
}
PLANTED = {"a", "b", "c", "d", "up", "down", "not"}


RULES = {
    "single": rules.one_word(WORDS),
    "pair": rules.same_place(LABELS, ("a", "b"), ("c", "d")),
    "order": rules.first_comes(LABELS, ("a", "c")),
    "negation": rules.in_context(WORDS, "not"),
}


def marked(record: Record) -> list[str]:
    return [word for start, end in record.rationale or () for word in record.text[start:end]]


@pytest.mark.parametrize("name", PLANTINGS)
def test_the_label_is_what_the_planted_words_say(name: str) -> None:
    for record in RECORDS[name]:
        assert isinstance(record.text, tuple)
        assert RULES[name](record.text) == record.label
        assert 8 <= len(record.text) <= 30


@pytest.mark.parametrize("name", PLANTINGS)
def test_the_marks_are_the_words_that_decide(name: str) -> None:
    known = planting.swaps_of(PLANTINGS[name])
    for record in RECORDS[name]:
        assert (tuple(marked(record)) in known) == (record.label != NEITHER)
        assert bool(record.rationale) == (record.label != NEITHER)
        unmarked = [word for word in record.text if word in PLANTED]
        for word in marked(record):
            unmarked.remove(word)
        assert record.label == NEITHER or unmarked in ([], ["not"])


@pytest.mark.parametrize("name", PLANTINGS)
def test_what_is_not_marked_decides_nothing_whatever_is_deleted(name: str) -> None:
    for record in RECORDS[name][:600]:
        if record.label != NEITHER:
            places = {at for start, end in record.rationale or () for at in range(start, end)}
            marks = [at in places for at in range(len(record.text))]
            for left in rules.with_unmarked_words_deleted(record.text, marks):
                assert RULES[name](left) == record.label, (record, left)


@pytest.mark.parametrize("name", PLANTINGS)
def test_a_swap_makes_the_text_what_it_says(name: str) -> None:
    """Every swap of every text, against the rule in words."""
    swaps = planting.swaps_of(PLANTINGS[name])
    for record in RECORDS[name][:300]:
        places = [at for start, end in record.rationale or () for at in range(start, end)]
        for swap, label in swaps.get(tuple(marked(record)), {}).items():
            text = list(record.text)
            for at, word in zip(places, swap, strict=True):
                text[at] = word
            assert RULES[name]([word for word in text if word]) == label != record.label


@pytest.mark.parametrize("name", PLANTINGS)
def test_labels_are_balanced_and_test_texts_are_never_of_neither(name: str) -> None:
    counts = Counter(record.label for record in RECORDS[name])
    assert all(abs(counts[label] - 1000) < 120 for label in (*LABELS, NEITHER))
    tested = Counter(record.label for record in planting.records(f"toy-{name}", PLANTINGS[name], "test", 600))
    assert set(tested) == set(LABELS)
    assert abs(tested["north"] - 300) < 60


@pytest.mark.parametrize("name", ["pair", "order", "negation"])
def test_no_planted_word_tells_the_class_by_itself(name: str) -> None:
    found: dict[str, Counter[str]] = {label: Counter() for label in LABELS}
    for record in RECORDS[name]:
        if record.label != NEITHER:
            found[record.label].update(set(record.text) & PLANTED)
    for word in found["north"] | found["south"]:
        north, south = found["north"][word], found["south"][word]
        assert abs(north - south) < 4 * (north + south) ** 0.5


def test_half_of_the_negations_turn_nothing() -> None:
    with_it = [record for record in RECORDS["negation"] if "not" in record.text and record.label != NEITHER]
    turning = sum("not" in marked(record) for record in with_it)
    assert 0.6 < turning / len(with_it) < 0.74  # two of three


def test_a_stray_negation_lies_anywhere_behind_the_word() -> None:
    between: Counter[int] = Counter()
    for record in RECORDS["negation"]:
        if record.label != NEITHER and "not" in record.text and "not" not in marked(record):
            ((start, _),) = record.rationale or ()
            between[record.text.index("not") - start] += 1
    assert min(between) == 1
    assert max(between) > 20


def test_places_are_uniform() -> None:
    # Both words of a pair over the text: the earlier one lies a third in, the later one two thirds.
    spans = [(record.rationale, len(record.text)) for record in RECORDS["pair"] if record.rationale]
    early = [marks[0][0] / (length - 1) for marks, length in spans]
    late = [marks[1][0] / (length - 1) for marks, length in spans]
    assert sum(early) / len(early) == pytest.approx(1 / 3, abs=0.03)
    assert sum(late) / len(late) == pytest.approx(2 / 3, abs=0.03)
    alone = [marks[0][0] / (len(r.text) - 1) for r in RECORDS["single"] if (marks := r.rationale)]
    quarters = Counter(min(int(4 * place), 3) for place in alone)
    assert all(abs(count - len(alone) / 4) < 120 for count in quarters.values())


def test_the_same_arguments_give_the_same_records_and_splits_and_names_differ() -> None:
    plantings = PLANTINGS["pair"]
    assert list(planting.records("toy-pair", plantings, "train", 5)) == RECORDS["pair"][:5]
    for name, split in (("toy-pair", "dev"), ("other", "train")):
        assert list(planting.records(name, plantings, split, 5)) != RECORDS["pair"][:5]


def test_a_real_sentence_keeps_its_words_in_order() -> None:
    sentence = ("The", "film", "is", "long", ".")
    found = [planting.planted_into("toy", PLANTINGS["negation"], "train", at, sentence) for at in range(50)]
    for record in found:
        assert [word for word in record.text if word not in PLANTED] == list(sentence)
        assert RULES["negation"](record.text) == record.label
    assert {record.label for record in found} == {*LABELS, NEITHER}
    assert found[3] == planting.planted_into("toy", PLANTINGS["negation"], "train", 3, sentence)


def test_a_word_that_the_sentence_has_cannot_be_planted() -> None:
    with pytest.raises(DataError, match=r"text train-7 has the word up"):
        planting.planted_into("toy", PLANTINGS["single"], "train", 7, ("Up", "it", "goes"))


@pytest.mark.parametrize(
    ("draws", "text"),
    [((0.0, 0.0), "up not x"), ((0.0, 0.99), "up x not"), ((0.99, 0.0), "x up not"), ((0.99, 0.99), "x up not")],
)
def test_one_word_is_room_enough_for_a_stray_one(draws: tuple[float, float], text: str) -> None:
    plain = Planting("north", ("up",), stray="not")
    words, ((start, end),) = planting.plant(("x",), plain, iter(draws).__next__)
    assert " ".join(words) == text
    assert words[start:end] == ("up",)
