"""ROAR and its recursive form: which words go, and what a perfect method, its reverse and chance come to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from faithboard import TOKEN, Batch, Classifier, Method, Rng, method
from faithboard.data.collate import collate
from faithboard.data.removal import bin_size
from faithboard.errors import ContractError
from faithboard.metric import RetrainMetric
from faithboard.metrics.roar import RECURSIVE_ROAR, ROAR
from faithboard.rng import seed_of
from faithboard.running.rows import metric_row
from faithboard.task import Example
from tests.running.retrained import ALPHABET, IDEAL, REVERSE, TWO, by_word, fitted, planned, retraining
from tests.training.tiny import FILLER


@method("chance", kind="reference", signed=True, source="a test", draws=3)
def chance(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return rng.uniform(TOKEN)


def test_all_that_matters_is_part_of_the_identity() -> None:
    fixed = {"operator": "delete", "order": "magnitude", "draws": 1}
    assert ROAR.parameters == {"shares": [10, 30, 50, 70, 90], "recursive": False, **fixed}
    assert RECURSIVE_ROAR.parameters == {**ROAR.parameters, "recursive": True}
    assert ROAR.points == RECURSIVE_ROAR.points == ("10%", "30%", "50%", "70%", "90%")
    assert ROAR.better == RECURSIVE_ROAR.better == "lower"


def test_an_order_is_asked_for_once_or_at_every_share() -> None:
    assert ROAR.paths == ((10,), (30,), (50,), (70,), (90,))
    assert RECURSIVE_ROAR.paths[:3] == ((10,), (10, 30), (10, 30, 50))
    assert RECURSIVE_ROAR.paths[-1] == (10, 30, 50, 70, 90)


@pytest.mark.parametrize("shares", [(), (0, 10), (30, 10), (10, 10), (50, 101)])
def test_shares_that_make_no_sense_are_refused(shares: tuple[int, ...]) -> None:
    with pytest.raises(ContractError, match="must ascend within 1 to 100"):
        RetrainMetric("odd", 1, "lower", "a test", shares=shares, recursive=False)


def left_of(folder: Path, one: Method, texts: list[str], path: tuple[int, ...]) -> list[str]:
    """What a stage leaves of the test texts, each written as its words."""
    rows = [Example(f"{at}", tuple(text.split()), ("which",), at % 2) for at, text in enumerate(texts)]
    job = planned(rows, training=replace(planned().training, epochs=1))
    stage = retraining(folder, one, job, fitted(job)).stage(path)
    kept = iter((~stage.removed).tolist())
    every = [[word for word in text.split() if next(kept)] for _ in ("train", "dev", "test") for text in texts]
    return [" ".join(words) for words in every[-len(texts) :]]


TEXTS = ["snow a b c d e f g h sand", "b a c", "h", "g f", "sand h g f e d c b a a b"]
LEFT = {
    10: ["snow b c d e f g h sand", "b c", "", "g", "sand h g f e d c b b"],
    50: ["snow f g h sand", "c", "", "g", "sand h g f e"],
}
"""Without ceil(q T) words in the order of the alphabet: 1 of 10, 1 of 3, 1 of 1, 1 of 2, 2 of 11; at 50 %, 5, 2, 1, 1
and 6."""


@pytest.mark.parametrize("share", [10, 50])
def test_the_first_words_go_and_the_others_keep_their_order(tmp_path: Path, share: int) -> None:
    assert left_of(tmp_path, ALPHABET, TEXTS, (share,)) == LEFT[share]


def test_of_an_order_that_stays_recursion_takes_the_same_words(tmp_path: Path) -> None:
    assert left_of(tmp_path, ALPHABET, TEXTS, (10, 50)) == LEFT[50]


def test_the_sign_of_a_score_plays_no_part(tmp_path: Path) -> None:
    turned = by_word("turned", {word: (-1.0) ** at * (len(FILLER) - at) for at, word in enumerate(FILLER)})
    assert left_of(tmp_path, turned, TEXTS, (50,)) == LEFT[50]


def test_tied_words_go_in_one_random_order_for_all_methods(tmp_path: Path) -> None:
    text = "a b c d e f g h"
    task, vocabulary = planned().prepared.task, planned().prepared.data.vocabulary
    batch = collate([Example("test-0", tuple(text.split()), (), 0)], vocabulary, task)
    place = Rng(seed_of("ties", 0), batch).permutation()[0][:8].tolist()
    # The begin token stands before the words; without a, which goes first, three of the tied words go in this order.
    order = [text.split()[at - 1] for at in place if at != 1]
    for one in (by_word("first", {"a": 1.0}), by_word("larger", {"a": 9.0} | dict.fromkeys(FILLER[1:], 1.0))):
        for path in ((50,), (10, 50)):
            (left, _) = left_of(tmp_path / f"{one.name}-{path}", one, [text, text], path)
            assert left.split() == sorted(order[bin_size(8, 50) - 1 :])


def test_a_perfect_method_scores_best_and_its_reverse_worst(tmp_path: Path) -> None:
    values, curves = {}, {}
    for one in (IDEAL, chance, REVERSE):
        found = retraining(tmp_path / one.name, one).scored(TWO)
        row = metric_row("key", TWO, found, 0)
        assert (row.kind, row.better, row.points, row.n, row.undefined) == (
            "retraining",
            "lower",
            ["30%", "70%"],
            40,
            0,
        )
        assert row.value is not None
        assert row.value == pytest.approx(sum(row.curve) / 2)
        values[one.name], curves[one.name] = row.value, row.curve
    assert values["ideal"] < values["chance"] < values["reverse"]
    # Without the planted word nothing tells the class, at every share.
    assert max(curves["ideal"]) < 0.5 + 2 * (0.25 / 40) ** 0.5
    # With it the class is told; of the shortest texts every word is gone at 70 %.
    assert curves["reverse"][0] > 0.95
