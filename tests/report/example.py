"""A board with one of everything a page must be able to show.

`python -m tests.report.example` writes the golden pages anew; read the difference before committing it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from faithboard.records import Explanation, Throughput
from faithboard.report import console_table, render
from faithboard.stats import Board
from faithboard.stats.agreed import MethodAgreement, MetricAgreement, SanityCheck
from faithboard.stats.checks import ModelCheck
from tests.boards import Records, model, noisy

GOLDEN = Path(__file__).parents[1] / "golden"

SPLITS = {
    split: {
        "read": rows + 2,
        "here": rows,
        "excluded_rule": 2,
        "excluded_short": 1,
        "excluded_long": 0,
        "used": rows - 1,
        "truncated": 4,
    }
    for split, rows in (("train", 1200), ("dev", 200), ("test", 400))
}
TRUTH = {"accuracy": 0.995, "accuracy-without": 0.51, "flip-rate": 0.98, "verified": 1.0}


def check(task: str, attention: str, **others: Any) -> ModelCheck:
    return ModelCheck(
        task,
        "feedface",
        "bilstm",
        attention,
        "standard",
        [0, 1],
        400,
        accuracy=0.8,
        low=0.77,
        high=0.83,
        seed_spread=0.01,
        **others,
    )


def control(
    task: str, attention: str, loss: float, wide: float, of_seed: dict[str, float], **others: Any
) -> ModelCheck:
    """A control beside learned attention, its interval `wide` to both sides."""
    return check(
        task,
        attention,
        against="bilstm-additive",
        against_accuracy=0.8 + loss,
        loss=loss,
        loss_low=loss - wide,
        loss_high=loss + wide,
        seed_losses=of_seed,
        **others,
    )


CHECKS = [
    check("movies", "additive", query_only=0.52, gain=0.28, gain_low=0.25, gain_high=0.31),
    check("weak", "additive", query_only=0.79, gain=0.01, gain_low=0.005, gain_high=0.015),
    check("other", "additive", query_only=0.7995, gain=0.0005, gain_low=-0.003, gain_high=0.004),
    control("movies", "none", 0.05, 0.03, {"0": 0.04, "1": 0.06}),
    control("movies", "uniform", 0.0, 0.01, {"0": -0.01, "1": 0.01}),
    control("planted", "random", -0.05, 0.03, {"0": -0.05}, lacking=[1]),
    control("weak", "random", 0.05, 0.03, {"0": -0.01, "1": 0.11}),
]


def checked(
    method: str, check: Literal["parameter-randomisation", "label-randomisation"], tau: float | None, **others: Any
) -> SanityCheck:
    """A sanity check of the planted task, its interval 0.05 to both sides."""
    layers: dict[str, Any] = {"points": ["readout", "attention", "encoder", "whole model"]}
    known = SanityCheck(PLANTED, "planted", "bilstm-additive", "standard", method, check, 40, tau=tau, **others)
    if tau is None:
        return known
    margin = 0.4 - tau
    if check == "parameter-randomisation":
        known = replace(known, **layers, curve=[0.9, 0.7, tau + 0.1, tau])
    return replace(
        known,
        low=tau - 0.05,
        high=tau + 0.05,
        seeds_tau=0.8,
        seeds_low=0.75,
        seeds_high=0.85,
        margin=margin,
        margin_low=margin - 0.06,
        margin_high=margin + 0.06,
        passed=margin > 0,
    )


PLANTED = "planted-v1/bilstm-additive/standard/01234567"
SANITY = [
    checked("leave-one-out", "parameter-randomisation", 0.05),
    checked("leave-one-out", "label-randomisation", 0.1, undefined_share=0.025),
    checked("attention", "parameter-randomisation", 0.37),
    checked("attention", "label-randomisation", 0.7),
    checked("gradient-x-input", "parameter-randomisation", None, reason="skipped (seed 0): over the budget"),
]


def pair(a: str, b: str, tau: float | None, **others: Any) -> MetricAgreement:
    """Two metrics of the planted task."""
    known = {} if tau is None else {"low": tau - 0.2, "high": min(tau + 0.2, 1.0)}
    if tau is not None and others.get("relation") == "truth":
        larger = min(tau + 0.1, 1.0)
        known |= {"somers_d": larger, "somers_low": larger - 0.2, "somers_high": 1.0}
    place = (PLANTED, "planted", "bilstm-additive", "standard")
    return MetricAgreement(*place, a, b, **{"relation": "operator", "methods": 3, "tau": tau, **known, **others})


METRICS = [
    pair("comprehensiveness", "comprehensiveness-unk", 0.333333, decided=3, reversed=1),
    pair("comprehensiveness", "comprehensiveness-zero", 1.0, decided=3),
    pair("comprehensiveness-unk", "comprehensiveness-zero", 0.333333, decided=2, undefined_share=0.01),
    pair("comprehensiveness-unk", "precision@k", None, relation="truth", reason="all methods are tied in one of them"),
]


def alike(a: str, b: str, tau: float | None, undefined: float = 0.0) -> MethodAgreement:
    """Two methods of the planted task."""
    place = (PLANTED, "planted", "bilstm-additive", "standard")
    low, high = (None, None) if tau is None else (tau - 0.1, tau + 0.1)
    return MethodAgreement(*place, a, b, 40, tau, low, high, undefined)


METHODS = [
    alike("attention", "gradient-x-input", 0.41, 0.0125),
    alike("attention", "leave-one-out", 0.35),
    alike("gradient-x-input", "leave-one-out", 0.72),
    alike("attention", "random", -0.004),
    alike("gradient-x-input", "random", 0.0),
    alike("leave-one-out", "random", None, 1.0),
]


def example_records() -> Records:
    made = Records()
    for seed in (0, 1):
        made.models.append(
            model("planted", seed, known_truth=TRUTH, data={"splits": SPLITS, "published_rows": {"train": 6920}})
        )
        made.models.append(model("movies", seed, fingerprint="feedface" * 2, fingerprint_name="unverified"))
        made.models.append(
            model(
                "weak", seed, gate_passed=False, gate={"bound": 0.47, "threshold": 0.5}, performance={"accuracy": 0.5}
            )
        )
    for task in ("planted", "movies", "weak"):
        _methods(made, task)
    nothing: dict[str, Any] = {"of": "planted", "forward_steps": None, "backward_steps": None}
    made.add("lime", {}, status="failed", reason="scores are not finite | at token 3 <of> example e1", **nothing)
    made.add("attention-norm", {}, status="unsupported", reason="the model has no attention", **nothing)
    predicted = np.array([[0.0, 1.0] * 20] * 2)
    tau = {"tau-attention-loo": noisy(0.3, salt=9), "p-attention-loo": np.abs(noisy(0.05, spread=0.1, salt=8))}
    made.add("", {**tau, "predicted-class": predicted}, of="planted")
    return made


def _methods(made: Records, task: str) -> None:
    means = {"leave-one-out": 0.9, "gradient-x-input": 0.6, "attention": 0.58, "random": 0.1}
    for salt, (method, mean) in enumerate(means.items()):
        gappy = noisy(mean, salt=salt)
        if method == "attention":
            gappy[0, 0] = np.nan
        made.add(
            method,
            {
                "comprehensiveness": gappy,
                "sufficiency": noisy(1 - mean, salt=salt),
                "precision@k": noisy(mean, spread=0.05, salt=salt),
            },
            of=task,
            truncated=3,
        )
    for at, explanation in enumerate(made.explanations):
        if explanation.task == task:
            made.throughput.append(_speed(explanation, 80.0 + at))


def _speed(explanation: Explanation, rate: float) -> Throughput:
    """Movies were timed on a GPU, except for one method."""
    gpu = explanation.task == "movies" and explanation.method != "attention"
    return Throughput(
        explain_key=explanation.key,
        method=explanation.method,
        device="NVIDIA H200" if gpu else "cpu",
        dtype="float32",
        torch="2.13.0",
        threads=1,
        examples=40,
        batch_size=32,
        repeats=3,
        seconds=0.5,
        seconds_spread=0.02,
        examples_per_second=rate,
        tokens_per_second=960.0,
        peak_memory_mb=12.5 if gpu else None,
        energy_joules=8.0 if gpu else None,
    )


def example_board() -> Board:
    board = example_records().board()
    return replace(
        board,
        checks=CHECKS,
        sanity=SANITY,
        method_agreement=METHODS,
        metric_agreement=[*board.metric_agreement, *METRICS],
    )


def golden_texts() -> dict[Path, str]:
    """Path of each golden file -> what it must hold."""
    board = example_board()
    pages = {GOLDEN / f"leaderboard-{name}": f"{text}\n" for name, text in render(board).items()}
    return pages | {GOLDEN / "console.txt": f"{console_table(board)}\n"}


if __name__ == "__main__":
    for path, text in golden_texts().items():
        path.write_text(text, encoding="utf-8")
