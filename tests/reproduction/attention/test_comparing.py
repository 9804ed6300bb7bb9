from __future__ import annotations

import pytest

from faithboard.reproduction.attention.comparing import Place, neighbours, published_task, relative_verdict, verdict

AG, AL, GL = "attention-gradient", "attention-loo", "gradient-loo"


@pytest.mark.parametrize(
    ("ours", "published", "others", "expected"),
    [
        (0.30, None, [], ""),
        (0.38, 0.30, [], "within 0.08"),
        (-0.02, 0.03, [], "within 0.08"),
        (0.381, 0.30, [], "differs"),  # no cell to stand in order with
        (0.50, 0.30, [(0.9, 0.7)], "same sign and order"),
        (0.50, 0.30, [(0.4, 0.7)], "differs"),  # the other way round
        (0.50, 0.30, [(0.50, 0.7)], "differs"),  # equal is no order
        (0.50, 0.30, [(0.9, 0.7), (0.6, 0.1)], "differs"),
        (0.50, 0.30, [(0.9, 0.7), (0.6, 0.25)], "same sign and order"),  # published within 0.08: no order
        (-0.10, 0.05, [(0.9, 0.7)], "differs"),  # another sign
    ],
)
def test_verdicts_follow_their_rules(
    ours: float, published: float | None, others: list[tuple[float, float]], expected: str
) -> None:
    assert verdict(ours, published, others) == expected


def test_a_cell_stands_in_order_with_other_encoders_and_other_pairs() -> None:
    def place(model: str, pair: str, predicted: int | None = None, task: str = "sst") -> Place:
        return task, model, pair, predicted

    here = {
        place("bilstm-additive", AG): 0.3,
        place("bilstm-additive", GL): 0.6,
        place("average-additive", AG): 0.8,
        place("average-additive", GL): 0.7,  # another encoder and another pair
        place("average-dot", AG): 0.5,  # another attention
        place("bilstm-additive", AG, 1): 0.4,  # another class
        place("bilstm-additive", AG, None, "imdb"): 0.2,  # another task
        place("cnn-additive", AG): 0.4,  # not published
    }
    published = {known: value + 1 for known, value in here.items() if known[1] != "cnn-additive"}
    assert neighbours(place("bilstm-additive", AG), here, published) == [(0.6, 1.6), (0.8, 1.8)]


def test_counts_are_compared_relative_to_the_published() -> None:
    assert relative_verdict(107, 100) == "within 8 %"
    assert relative_verdict(109, 100) == "differs"


def test_a_substitute_is_compared_with_what_it_stands_for() -> None:
    assert (published_task("ade"), published_task("sst")) == ("adr", "sst")
