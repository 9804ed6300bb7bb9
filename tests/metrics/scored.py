"""Metrics through the engine on models that can be solved by hand: data of toy words, scores, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from faithboard import Batch, Classifier, predict
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.data.vocabulary import Vocabulary
from faithboard.erasure import MaskCount
from faithboard.metric import Metric
from faithboard.running.scoring import Scored, ToScore, score_all
from faithboard.task import Example, Source, Task
from tests.toy import BINARY, SPECIALS, BagOfWords


@dataclass(frozen=True)
class ToyVocabulary(Vocabulary):
    """The words of `toy`, whose special tokens come last."""

    def ids(self, words: Iterable[str]) -> list[int]:
        known = list(BINARY)
        return [known.index(word) for word in words]


def data_of(lines: Sequence[str], labels: Sequence[int] | None = None) -> TaskData:
    """Texts written as in `toy.texts`, `text | query`; without labels all of class 1."""
    pairs = any("|" in line for line in lines)
    task = Task(
        name="toy",
        version=1,
        source=Source("toy", "none", "none", "none", access="generated"),
        labels=("no", "yes"),
        folder="toy",
        layout="pair" if pairs else "single",
    )
    examples = []
    for number, line in enumerate(lines):
        text, _, query = line.partition("|")
        label = 1 if labels is None else labels[number]
        examples.append(Example(f"ex-{number}", tuple(text.split()), tuple(query.split()), label))
    return TaskData(task, {"test": examples}, ToyVocabulary((), SPECIALS), "", "generated", "generated", {})


def batch_of(data: TaskData) -> Batch:
    return collate(data.splits["test"], data.vocabulary, data.task)


def frame(batch: Batch, *draws: torch.Tensor, total: torch.Tensor | None = None) -> pd.DataFrame:
    """Scores of each draw as an explanation keeps them."""
    rows = [
        (name, draw, scores[row][batch.scorable[row]].numpy(), float("nan") if total is None else float(total[row]))
        for draw, scores in enumerate(draws)
        for row, name in enumerate(batch.example_id)
    ]
    return pd.DataFrame(rows, columns=["example", "draw", "scores", "total"])


def scored(
    model: Classifier,
    data: TaskData,
    metrics: Sequence[Metric],
    explanations: Mapping[str, pd.DataFrame],
    *,
    seed: int = 0,
    count: MaskCount | None = None,
) -> dict[str, Scored]:
    wanted = {name: ToScore(scores, metrics) for name, scores in explanations.items()}
    return score_all(
        model,
        data,
        data.splits["test"],
        wanted,
        seed,
        advance=lambda done: None,
        count=MaskCount() if count is None else count,
    )


def values(found: Scored, metric: str) -> np.ndarray:
    """Value of each counted example, in the order of the texts."""
    return found.values[found.values["metric"] == metric]["value"].to_numpy(dtype=float)


def evidence(batch: Batch, model: BagOfWords | None = None) -> torch.Tensor:
    """What each word adds to the logit of the predicted class: the ideal explainer of a linear model."""
    model = model or BagOfWords()
    sign = 2 * predict(model, batch).argmax(1) - 1
    return (model.embed(batch)[:, :, 0] * sign[:, None]).detach().masked_fill(~batch.scorable, 0.0)
