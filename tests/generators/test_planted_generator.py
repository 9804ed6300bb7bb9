from __future__ import annotations

from collections import Counter

from faithboard.generators import planted

WORDS = {"left": "one", "right": "two"}
RECORDS = list(planted.records(WORDS, "train", 4000))


def test_the_word_of_the_label_is_there_exactly_once_where_the_rationale_says() -> None:
    for record in RECORDS:
        assert record.rationale is not None
        ((start, end),) = record.rationale
        assert end == start + 1
        assert [at for at, word in enumerate(record.text) if word in WORDS.values()] == [start]
        assert record.text[start] == WORDS[record.label]


def test_lengths_and_places_are_uniform() -> None:
    lengths = Counter(len(record.text) for record in RECORDS)
    assert (min(lengths), max(lengths)) == (planted.SHORTEST, planted.LONGEST)
    places = [record.rationale[0][0] / (len(record.text) - 1) for record in RECORDS if record.rationale]
    quarters = Counter(min(int(4 * place), 3) for place in places)
    assert all(abs(count - 1000) < 150 for count in quarters.values())


def test_filler_says_nothing_about_the_label() -> None:
    by_label = {label: Counter[str]() for label in WORDS}
    for record in RECORDS:
        by_label[record.label].update(word for word in record.text if word not in WORDS.values())
    left, right = by_label.values()
    share = left.total() / (left.total() + right.total())
    chi_squared, words = 0.0, 0
    for word in set(left) | set(right):
        together = left[word] + right[word]
        if together >= 20:
            chi_squared += (left[word] - together * share) ** 2 / (together * share * (1 - share))
            words += 1
    # Mean `words`, standard deviation sqrt(2 words): four of them are far outside chance.
    assert abs(chi_squared - words) < 4 * (2 * words) ** 0.5


def test_filler_is_made_of_different_words_common_and_rare() -> None:
    words = planted.filler()
    assert len(set(words)) == planted.FILLER_WORDS
    counts = Counter(word for record in RECORDS for word in record.text)
    assert counts[words[0]] > 10 * counts[words[100]] > 0


def test_the_same_arguments_give_the_same_records_and_splits_differ() -> None:
    again = list(planted.records(WORDS, "train", 10))
    assert again == RECORDS[:10]
    other = list(planted.records(WORDS, "test", 10))
    assert [record.text for record in other] != [record.text for record in again]
