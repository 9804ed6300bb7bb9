"""What keeps a whole table out of the ranking."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faithboard.errors import SuiteError
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


def test_seeds_that_the_suite_does_not_have_take_no_part() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.seeds = (0,)
    (table,) = made.board().tables
    assert (table.seeds, table.reason, table.performance["accuracy"]) == ([0], "", [0.9])
    assert standing(made.board(), "a").seed_means.keys() == {"0"}
    made.seeds = (7,)
    with pytest.raises(SuiteError, match=r"quick v1 .*no model of its seeds 7.*`faithboard run`"):
        made.board()


def test_a_training_that_failed_leaves_a_table_that_is_shown_and_not_ranked() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.models[1].config["embedding"] = [20, 50]  # only known once the embedding is built
    made.models[1].data["token_coverage"] = 0.9
    made.models[0] = model(
        seed=0, status="failed", reason="loss is NaN", weights_sha256="", performance={}, gate={}, gate_passed=False
    )
    made.explanations = [
        replace(one, status="failed", reason="its model failed", rows=[], weights_sha256="") if one.seed == 0 else one
        for one in made.explanations
    ]
    (table,) = made.board().tables
    assert table.reason == "training failed for seed 0: loss is NaN"
    assert table.data == {"token_coverage": 0.9}
    found = standing(made.board(), "a")
    assert (found.rank, found.status, found.reason) == (None, "failed", "failed (seed 0): its model failed")
    assert found.seed_means.keys() == {"1"}


def test_other_settings_are_no_model_of_the_same_table() -> None:
    made = two_seeds(random=noisy(0.1))
    made.models[1] = model(seed=1, config=model().config | {"hidden": 16})
    with pytest.raises(SuiteError, match=r"toy-v1/bilstm-additive/standard.*differ in hidden, .*run the suite again"):
        made.board()


def test_the_settings_of_a_table_name_the_vectors_but_not_where_they_lie() -> None:
    made = two_seeds(random=noisy(0.1))
    config = {"vectors": "home/me/glove.txt", "embedding_dim": 300, "epochs": 8, "embedding": [20, 50]}
    made.models = [model(seed=seed, config=config) for seed in (0, 1)]
    (table,) = made.board().tables
    assert table.vectors == "glove.txt"
    assert table.config == {"vectors": "glove.txt", "embedding_dim": 50, "epochs": 8}


def test_two_models_of_one_seed_are_refused() -> None:
    made = two_seeds(random=noisy(0.1))
    made.models.append(model(seed=1, key="another"))
    with pytest.raises(SuiteError, match=r"two models of seed 1.*keep one"):
        made.board()


def test_another_version_of_a_task_gets_a_table_of_its_own() -> None:
    made = Records([model(seed=0), model(seed=0, key="newer", task_version=2)], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1)})
    first, second = made.board().tables
    assert (first.key, second.key) == (
        "toy-v1/bilstm-additive/standard/01234567",
        "toy-v2/bilstm-additive/standard/01234567",
    )


@pytest.mark.parametrize(("families", "expected"), [(["", ""], "toy"), (["babi", "babi"], "babi"), (["", "b"], "b")])
def test_the_family_of_a_task_is_that_of_its_models(families: list[str], expected: str) -> None:
    made = two_seeds(random=noisy(0.1))
    made.models = [model(seed=seed, family=family) for seed, family in enumerate(families)]
    assert made.board().tables[0].family == expected


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
