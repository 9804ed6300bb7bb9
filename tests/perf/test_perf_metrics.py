"""Fifteen methods under four operators, pooled, against one method, bin and batch of 32 at a time.

`pytest tests/perf/test_perf_metrics.py --benchmark-only`. Both ways score comprehensiveness and sufficiency.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch

from faithboard import Batch, Classifier, Specials, predict
from faithboard.config import ModelConfig
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.data.vocabulary import Vocabulary
from faithboard.erasure import MaskCount
from faithboard.metric import ErasureMetric
from faithboard.metrics.eraser import BY_OPERATOR, COMPREHENSIVENESS, SUFFICIENCY
from faithboard.models import build
from faithboard.operators import operator_named, reweighted
from faithboard.order import ranks
from faithboard.rng import Rng, seed_of
from faithboard.running.scoring import ToScore, score_all
from faithboard.task import Example, Source, Task
from tests.perf.timing import times_faster

METHODS, TEXTS, WORDS, FULL = 15, 128, 5_000, 1_000
NAIVE_BATCH = 32
OPERATORS = ("delete", "unk", "zero", "attention")
METRICS = [one for one in (COMPREHENSIVENESS, SUFFICIENCY, *BY_OPERATOR) if one.operator in OPERATORS]
TASK = Task(
    name="perf",
    version=1,
    source=Source("perf", "none", "none", "none", access="generated"),
    labels=("no", "yes"),
    folder="perf",
)


def bilstm(specials: Specials) -> Classifier:
    """BiLSTM of 128 units and 50-d embeddings, the size of the SST runs with small vectors."""
    matrix = torch.randn(WORDS + 5, 50, generator=torch.Generator().manual_seed(0))
    return build(ModelConfig(), TASK, matrix, specials, seed=0)


def sentences() -> TaskData:
    """Texts with lengths like those of SST."""
    generator = torch.Generator().manual_seed(1)
    lengths = (19 + 9 * torch.randn(TEXTS, generator=generator)).round().long().clamp(3, 56).tolist()
    drawn = [torch.randint(WORDS, (length,), generator=generator).tolist() for length in lengths]
    examples = [
        Example(f"text-{at}", tuple(f"w{word}" for word in words), (), at % 2) for at, words in enumerate(drawn)
    ]
    vocabulary = Vocabulary.of(f"w{word}" for word in range(WORDS))
    return TaskData(TASK, {"test": examples}, vocabulary, "", "generated", "generated", {})


def related_scores(batch: Batch) -> list[torch.Tensor]:
    """Scores of fifteen methods that agree as real ones do: one signal, and noise from none to as much again."""
    signal = Rng(0, batch).normal("token")
    return [signal + m / METHODS * Rng(2 + m, batch).normal("token") for m in range(METHODS)]


def one_at_a_time(model: Classifier, batch: Batch, scores: list[torch.Tensor]) -> list[torch.Tensor]:
    """The plain way: for each method and metric, each point, each batch of 32, one call."""
    permutation = Rng(seed_of("ties", 0), batch).permutation()
    full = predict(model, batch)
    j = full.argmax(1)
    rows = torch.arange(len(batch))
    found = []
    for own in scores:
        rank = ranks(own, batch, permutation)
        for metric in METRICS:
            masks = metric.masks(rank, batch.scorable)
            points = []
            for point in range(masks.shape[1]):
                parts = [
                    masked(model, metric, batch.rows(slice(at, at + NAIVE_BATCH)), masks[at : at + NAIVE_BATCH, point])
                    for at in range(0, len(batch), NAIVE_BATCH)
                ]
                points.append(full[rows, j] - torch.cat(parts)[rows, j])
            found.append(torch.stack(points, 1).mean(1))
    return found


@torch.no_grad()
def masked(model: Classifier, metric: ErasureMetric, part: Batch, drop: torch.Tensor) -> torch.Tensor:
    drop = drop[:, : part.ids.shape[1]]
    operator = operator_named(metric.operator)
    if operator.apply is None:
        own = model(part).attention
        assert own is not None
        output = model(part, attention=reweighted(own, drop[:, None])[:, 0])
    else:
        changed, embedded = operator.apply(model, part, drop)
        output = model(changed, embedded=embedded)
    return output.log_probabilities(part.candidates).exp()


def test_pooled_metrics_are_faster_than_one_method_and_bin_at_a_time(benchmark: Any) -> None:
    data = sentences()
    examples = data.splits["test"]
    batch = collate(examples, data.vocabulary, TASK)
    model, scores = bilstm(data.vocabulary.specials).eval(), related_scores(batch)
    wanted = {}
    for at, own in enumerate(scores):
        lines = [
            (name, 0, own[row][batch.scorable[row]].numpy(), float("nan")) for row, name in enumerate(batch.example_id)
        ]
        wanted[f"method-{at}"] = ToScore(pd.DataFrame(lines, columns=["example", "draw", "scores", "total"]), METRICS)
    count = MaskCount()
    answers: dict[str, list[torch.Tensor]] = {}

    def pooled() -> None:
        found = score_all(model, data, examples, wanted, 0, advance=lambda done: None, count=count)
        each = ((one.values, metric.name) for one in found.values() for metric in METRICS)
        lists = [values[values["metric"] == name]["value"].tolist() for values, name in each]
        answers["pooled"] = [torch.tensor(values, dtype=torch.float64) for values in lists]

    def naive() -> None:
        answers["naive"] = one_at_a_time(model, batch, scores)

    faster = times_faster(benchmark, pooled, naive, rounds=1)
    for ours, theirs in zip(answers["pooled"], answers["naive"], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
    benchmark.extra_info["asked"], benchmark.extra_info["evaluated"] = count.asked, count.evaluated
    seconds = benchmark.stats.stats.median * FULL / TEXTS
    benchmark.extra_info[f"seconds for {FULL} texts"] = seconds
    assert faster >= 5
    assert seconds < 300
