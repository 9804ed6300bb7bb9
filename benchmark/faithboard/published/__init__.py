"""Numbers of the papers that faithboard rebuilds, as data. Each file says where its numbers come from.

datasets.csv       Jain & Wallace 2019, "Attention is not Explanation", table 1
differences.csv    why a number of that table is another one here, from the preprocessing and the statistics of the data
                   in their repository and the definitions of the tasks; what is not in it is not known
performance.csv    the test performance of every model of that paper, from the result files of its authors
tau.csv            Kendall tau of attention, gradient and leave-one-out, from the result tables of their repository;
                   table 2 of the paper is its rows of the BiLSTM and Average encoders with additive attention
adversarial.csv    the largest JS divergence of the adversarial search, read off their published histograms (40 bins
                   over 0 to 0.7), so give or take 0.01

Every number of the last three is one unseeded run of 2019. Classes are those that the model predicts.

saliency_guided.csv  Ismail et al. 2021, "Improving Deep Learning Interpretability by Saliency Guided Training", the
                   table of the language tasks: comprehensiveness and sufficiency, means of five runs
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PublishedDataset:
    """One row of table 1 of Jain & Wallace 2019."""

    task: str
    vocabulary: int
    average_length: int
    """Tokens of a text."""
    train_per_class: tuple[int, ...]
    """In the order of the task's labels; a single number where the paper gives the whole split."""
    test_per_class: tuple[int, ...]
    performance: float
    """Of the BiLSTM on the test split."""
    measure: str
    """Of the performance, as the engine names it. The paper says F1 without a kind: it is the one that the result files
    of its authors have nearest to it, weighted where the two are alike. Of single labels its micro-F1 is the accuracy.
    """


@cache
def datasets() -> dict[str, PublishedDataset]:
    """task -> its row of table 1, for the tasks of that paper."""
    return {
        row["task"]: PublishedDataset(
            task=row["task"],
            vocabulary=int(row["vocabulary"]),
            average_length=int(row["average_length"]),
            train_per_class=_counts(row["train_per_class"]),
            test_per_class=_counts(row["test_per_class"]),
            performance=float(row["bilstm_test_performance"]),
            measure=row["performance_measure"],
        )
        for row in _rows("datasets.csv")
    }


@cache
def differences() -> dict[tuple[str, str], str]:
    """(task, `vocabulary`, `average length`, `train` or `test`) -> why the number here is not that of table 1."""
    return {(row["task"], row["quantity"]): row["reason"] for row in _rows("differences.csv")}


@cache
def performance() -> dict[tuple[str, str, str], float]:
    """(task, model such as `bilstm-additive`, measure as the engine names it) -> published test performance."""
    return {
        (row["task"], _model(row), row["measure"].replace("_", "-")): float(row["value"])
        for row in _rows("performance.csv")
    }


@dataclass(frozen=True)
class PublishedTau:
    """Kendall tau over the test examples of one predicted class, or of all."""

    mean: float
    sd: float
    """Over examples, ddof 0."""
    significant: float
    """Share of examples with p <= 0.05, of all of them: short texts that cannot reach it are in it."""


@cache
def tau() -> dict[tuple[str, str, str, int | None], PublishedTau]:
    """(task, model, pair as the engine names it, predicted class or None for all) -> its published row.

    Rows whose mean is not a number (an example without a tau was not left out in 2019) are not there.
    """
    return {
        (row["task"], _model(row), _PAIRS[row["quantity"]], _class(row)): PublishedTau(
            float(row["mean"]), float(row["std"]), float(row["significant_fraction"])
        )
        for row in _rows("tau.csv")
        if row["mean"]
    }


@dataclass(frozen=True)
class PublishedDivergence:
    """The largest JS divergence (nats) of accepted attention, over the examples of one predicted class, or of all."""

    mean: float
    median: float
    share: float
    """Of examples with 0.6 or more."""


@cache
def adversarial() -> dict[tuple[str, str, int | None], PublishedDivergence]:
    """(task, model, predicted class or None for all) -> its published distribution."""
    return {
        (row["task"], _model(row), _class(row)): PublishedDivergence(
            float(row["mean_max_jsd"]), float(row["median_max_jsd"]), float(row["share_at_least_0.6"])
        )
        for row in _rows("adversarial.csv")
    }


@cache
def saliency_guided() -> dict[tuple[str, str, str, str], float]:
    """(task, method as the engine names it, `comprehensiveness` or `sufficiency`, training) -> its published value.

    The paper does not say by which profile of the metrics. Random orders are published for standard training alone.
    """
    return {
        (row["task"], _METHODS.get(row["attribution"], row["attribution"]), row["measure"], row["training"]): float(
            row["value"]
        )
        for row in _rows("saliency_guided.csv")
    }


_METHODS = {"gradient": "gradient-l2"}
_PAIRS = {
    "tau_attention_gradient": "attention-gradient",
    "tau_attention_loo": "attention-loo",
    "tau_gradient_loo": "gradient-loo",
}


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (files("faithboard") / "published" / name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


def _model(row: Mapping[str, str]) -> str:
    return f"{row['encoder']}-{row['attention']}"


def _class(row: Mapping[str, str]) -> int | None:
    return None if row["predicted_class"] == "overall" else int(row["predicted_class"])


def _counts(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("/")))
