"""What keeps a whole table out of the ranking."""

from __future__ import annotations

from tests.boards import Records, model, noisy, standing, two_seeds


def test_a_model_below_the_gate_is_shown_and_not_ranked() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.models[1] = model(seed=1, gate_passed=False, gate={"bound": 0.48, "threshold": 0.5})
    board = made.board()
    assert [(s.rank, s.reason) for s in board.standings] == [(None, "the model fails the accuracy gate (seed 1)")] * 2
    assert board.comparisons == []
    assert board.tables[0].gate == {"bound": 0.48, "threshold": 0.5}


def test_a_seed_without_a_model_keeps_the_whole_table_out() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.seeds = (0, 1, 2)
    assert standing(made.board(), "a").reason == "no result for seed 2"
    assert made.board().tables[0].reason == "no trained model for seed 2"


def test_known_truth_ranks_only_on_a_verified_model() -> None:
    made = Records([model(seed=s, known_truth={"verified": float(s == 0)}) for s in (0, 1)])
    for name, mean in (("a", 0.9), ("random", 0.1)):
        made.add(name, {"precision@k": noisy(mean), "comprehensiveness": noisy(mean)})
    board = made.board()
    assert standing(board, "a", "precision@k").reason == "the model is not verified to use the planted tokens"
    assert standing(board, "a").rank == 1


def test_other_data_gets_a_table_of_its_own() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.models[1] = model(seed=1, fingerprint="feedfacefeedface", fingerprint_name="unverified")
    board = made.board()
    assert [table.fingerprint_name for table in board.tables] == ["generated", "unverified"]
    assert all(s.rank is None for s in board.standings)
