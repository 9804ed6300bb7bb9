"""Small invented records for the tests of statistics, report and tracking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from faithboard.records import Explanation, ModelRecord, Row, Throughput
from faithboard.stats import rank
from faithboard.stats.board import Board, Standing

BETTER = {"comprehensiveness": "higher", "sufficiency": "lower", "precision@k": "higher"}


def model(task: str = "toy", seed: int = 0, **changes: Any) -> ModelRecord:
    plain = ModelRecord(
        key=f"model-{task}-{seed}",
        task=task,
        task_version=1,
        fingerprint="0123456789abcdef",
        fingerprint_name="generated",
        model="bilstm-additive",
        training="standard",
        seed=seed,
        config={"vectors": "random", "hidden": 8, "epochs": 3, "learning_rate": 0.001},
        weights_sha256=f"weights-{task}-{seed}",
        performance={"accuracy": 0.9 + seed / 100, "roc-auc": 0.95},
        gate_passed=True,
        gate={"bound": 0.85, "threshold": 0.5},
        provenance={"device": "cpu"},
    )
    return replace(plain, **changes)


@dataclass
class Records:
    """What `standings.rank` takes, built up method by method."""

    models: list[ModelRecord] = field(default_factory=list)
    explanations: list[Explanation] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    throughput: list[Throughput] = field(default_factory=list)
    seeds: Sequence[int] = (0, 1)
    scores: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Key of an explanation -> its scores; methods are compared by them where there are any."""

    def score(self, method: str, *of_seed: Mapping[str, Sequence[Sequence[float]]], of: str = "toy") -> None:
        """Scores of a method on the models of a task in turn: example -> scores of each draw."""
        trained = [model for model in self.models if model.task == of]
        for one, examples in zip(trained, of_seed, strict=False):
            lines = [(name, at, draw) for name, draws in examples.items() for at, draw in enumerate(draws)]
            self.scores[f"{method}-{one.key}"] = pd.DataFrame(lines, columns=["example", "draw", "scores"])

    def add(
        self,
        method: str,
        values: Mapping[str, np.ndarray],
        of: str = "toy",
        row: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> None:
        """One method: metric -> values `[seed, example]`; `changes` are fields of its explanations, `row` of rows."""
        for at, trained in enumerate(m for m in self.models if m.task == of):
            key = f"{method or 'probes'}-{trained.key}"
            rows = []
            for metric, table in values.items():
                if at >= len(table):
                    continue
                kind = "probe" if not method else "rationale" if metric == "precision@k" else "erasure"
                better = BETTER.get(metric, "neither")
                plain = Row(f"{key}-{metric}", metric, 1, {}, better, kind=kind)  # type: ignore[arg-type]
                expectation = 0.1 if metric == "precision@k" else None
                rows.append(replace(plain, expectation=expectation, **(row or {})))
                self.lines += [
                    {"explain_key": key, "metric": metric, "example": f"e{number:03d}", "value": value}
                    for number, value in enumerate(table[at])
                    if value is not None
                ]
            explanation = Explanation(
                key=key,
                model_key=trained.key,
                task=trained.task,
                model=trained.model,
                training=trained.training,
                seed=trained.seed,
                weights_sha256=trained.weights_sha256,
                method=method,
                method_sha256="f" * 64,
                kind="reference" if method == "random" else "sensitivity",
                examples=len(next(iter(values.values()))[0]) if values else 0,
                forward_steps=12.0,
                backward_steps=12.0 if "gradient" in method else 0.0,
                share_correct=0.9,
                rows=rows,
                provenance={"device": "cpu"},
            )
            self.explanations.append(replace(explanation, **changes))

    @property
    def values(self) -> pd.DataFrame:
        return pd.DataFrame(self.lines, columns=["explain_key", "metric", "example", "value"])

    def board(self) -> Board:
        return rank(
            "quick",
            1,
            self.seeds,
            self.models,
            self.explanations,
            self.values,
            self.throughput,
            self.scores.__getitem__ if self.scores else None,
        )


def two_seeds(**methods: np.ndarray) -> Records:
    """Records of methods (underscores for hyphens) with values of comprehensiveness on two seeds."""
    made = Records([model(seed=0), model(seed=1)])
    for name, values in methods.items():
        made.add(name.replace("_", "-"), {"comprehensiveness": values})
    return made


def standing(board: Board, method: str, metric: str = "comprehensiveness") -> Standing:
    """The only standing of a method in a metric."""
    (found,) = (s for s in board.standings if s.method == method and s.metric == metric)
    return found


def noisy(mean: float, seeds: int = 2, examples: int = 40, spread: float = 0.2, salt: int = 0) -> np.ndarray:
    """Values `[seed, example]` around a mean, the same for the same arguments."""
    return mean + spread * np.random.default_rng([salt, seeds, examples]).normal(size=(seeds, examples))
