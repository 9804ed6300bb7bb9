"""Gradient, attention and occlusion methods against bare passes of the model and Captum.

`pytest tests/perf/test_perf_gradients.py --benchmark-only`. On a machine with a GPU everything runs there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import pytest
import torch
from torch import Tensor

from faithboard import Background, Batch, Classifier, Method, Rng, class_gradient, predict
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Steps, count_steps
from tests.perf.sst import DEVICE, WORDS, model_of, sentences
from tests.perf.timing import times_faster
from tests.toy import methods_of

CLASSES = 3
SCALE = 1 if DEVICE.type == "cpu" else 32
"""A GPU is given more texts: the few that keep a CPU busy are nothing to it."""
TEXTS = 512 * SCALE
SIZES = [size * SCALE for size in (16, 32, 64, 128, 256)]
"""Batch sizes of the bare pass that are tried."""
ROUNDS = 3
FILES = (
    "gradient.py",
    "attention.py",
    "integrated_gradients.py",
    "smoothgrad.py",
    "gradient_shap.py",
    "occlusion.py",
)
METHODS = {name: method for file in FILES for name, method in methods_of(file).items()}


def background(batch: Batch) -> Background:
    """The texts themselves."""
    text, place = batch.scorable.nonzero(as_tuple=True)
    words, labels = batch.ids[text, place], torch.zeros(len(batch), dtype=torch.long)
    return Background(words.cpu(), text.cpu(), labels, CLASSES, WORDS)


def seconds(work: Callable[[], object]) -> float:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def forward(model: Classifier, parts: Sequence[Batch]) -> None:
    with torch.no_grad():
        for part in parts:
            model(part)


def forward_and_backward(model: Classifier, parts: Sequence[Batch]) -> None:
    for part in parts:
        class_gradient(model, part)


def at_best_size(model: Classifier, batch: Batch, run: Callable[[Classifier, Sequence[Batch]], None]) -> list[Batch]:
    """Batches of texts of like length, of the size with which `run` takes least time."""
    order = batch.lengths.argsort()
    ways = [[batch.rows(rows) for rows in order.split(size)] for size in SIZES]
    run(model, ways[0])
    return min(ways, key=lambda parts: min(seconds(partial(run, model, parts)) for _ in range(2)))


def explained(model: Classifier, method: Method, batch: Batch) -> None:
    """As in a run: batches of like length under the budget."""
    for rows in token_batches(batch.lengths, token_budget(batch.device)):
        part = batch.rows(rows)
        method(model, part, Rng(0, part))


def dear(method: Method) -> bool:
    return method.steps is not None and sum(method.steps(1)) > 5


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_hardly_longer_than_its_passes(benchmark: Any, name: str) -> None:
    model, batch = model_of(classes=CLASSES), sentences(TEXTS)
    # An eighth of the texts is enough where each is asked about fifty times.
    own = batch.rows(slice(len(batch) // 8)) if dear(METHODS[name]) else batch
    method = METHODS[name].given(background(batch))
    steps: Steps
    with count_steps(model) as steps:
        explained(model, method, own)
    bare, both = (at_best_size(model, batch, run) for run in (forward, forward_and_backward))
    tokens, passes = int(batch.lengths.sum()), []

    def reference() -> tuple[tuple[()], dict[str, Any]]:
        one_way, there_and_back = (
            seconds(partial(forward, model, bare)) / tokens,
            seconds(partial(forward_and_backward, model, both)) / tokens,
        )
        passes.append(steps.backward * there_and_back + (steps.forward - steps.backward) * one_way)
        return (), {}

    def ours() -> float:
        return seconds(lambda: explained(model, method, own))

    benchmark.pedantic(ours, setup=reference, rounds=ROUNDS, warmup_rounds=0)
    ratio = benchmark.stats.stats.median / median(passes)
    benchmark.extra_info["ratio"] = ratio
    assert ratio <= 1.3


@pytest.mark.parametrize("size", [1, 32])
def test_integrated_gradients_against_captum(benchmark: Any, size: int) -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is compared with in tests only")
    model, batch = model_of(classes=CLASSES), sentences(32)
    batch = batch.rows(batch.lengths.argsort(descending=True))
    parts = [batch.rows(rows) for rows in torch.arange(len(batch)).split(size)][:: 1 if size > 1 else 4]
    method = METHODS["integrated-gradients"]

    def ours() -> list[Tensor]:
        return [method(model, part, Rng(0, part)).scores for part in parts]

    def captum() -> list[Tensor]:
        found = []
        for part in parts:

            def probability(embedded: Tensor, part: Batch = part) -> Tensor:
                rows = torch.arange(len(embedded), device=part.device) % len(part)
                return model(part.rows(rows), embedded=embedded).log_probabilities().exp()

            embedded = model.embed(part).detach()
            baseline = embedded.masked_fill(part.scorable[:, :, None], 0.0)
            j = predict(model, part).argmax(-1)
            integrated = captum_attr.IntegratedGradients(probability)
            with torch.backends.cudnn.flags(enabled=False):
                scores = integrated.attribute(embedded, baseline, target=j, n_steps=50, method="gausslegendre")
            found.append(scores.sum(-1).masked_fill(~part.scorable, 0.0).float())
        return found

    for one, other in zip(ours(), captum(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
    assert times_faster(benchmark, ours, captum, rounds=ROUNDS) >= 1
