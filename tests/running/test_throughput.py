"""The record of a method's speed: what is timed, how often, and what happens when memory runs out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Method, Rng, method
from faithboard.running import throughput
from faithboard.running.energy import total_joules
from tests.toy import MIXED, BagOfWords, texts

CPU = torch.device("cpu")


def recording(calls: list[list[int]], limit: int = 10_000) -> Method:
    @method("recording", kind="sensitivity", signed=False, source="a test")
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        if len(batch) > limit:
            raise torch.OutOfMemoryError(f"{len(batch)} texts")
        calls.append(batch.lengths.tolist())
        return torch.zeros(batch.ids.shape)

    return explain


def many() -> Batch:
    return texts(*(MIXED * 9)[:80])


def test_times_the_first_64_texts_by_length_three_times_after_a_warm_up() -> None:
    calls: list[list[int]] = []
    record = throughput.measure(BagOfWords(), recording(calls), many(), explain_key="k", batch_size=32)
    expected = sorted(many().rows(slice(64)).lengths.tolist(), reverse=True)
    assert calls == [expected[:32], *[expected[:32], expected[32:]] * 3]
    assert (record.explain_key, record.method, record.examples, record.batch_size) == ("k", "recording", 64, 32)
    assert (record.repeats, record.device, record.dtype) == (3, "cpu", "float32")
    assert record.seconds_spread is not None
    assert record.seconds_spread >= 0
    assert record.examples_per_second == pytest.approx(64 / record.seconds)
    assert record.tokens_per_second == pytest.approx(int(many().rows(slice(64)).scorable.sum()) / record.seconds)
    assert record.peak_memory_mb is None
    assert record.energy_joules is None


def test_a_slow_repeat_is_the_only_one_and_has_no_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 61.0])
    monkeypatch.setattr("faithboard.running.throughput.time.perf_counter", lambda: next(clock))
    record = throughput.measure(BagOfWords(), recording([]), texts(*MIXED))
    assert (record.repeats, record.seconds, record.seconds_spread) == (1, 61.0, None)


def test_the_median_and_the_spread_of_three_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr("faithboard.running.throughput.time.perf_counter", lambda: next(clock))
    record = throughput.measure(BagOfWords(), recording([]), texts(*MIXED))
    assert (record.repeats, record.seconds, record.seconds_spread) == (3, 3.0, 3.0)


def test_out_of_memory_halves_the_batch_and_the_record_says_so() -> None:
    calls: list[list[int]] = []
    record = throughput.measure(BagOfWords(), recording(calls, limit=9), many(), batch_size=32)
    assert record.batch_size == 8
    assert record.examples == 64
    assert max(len(call) for call in calls) == 8


def test_a_single_text_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        throughput.measure(BagOfWords(), recording([], limit=0), texts(*MIXED))


def test_no_energy_on_a_cpu() -> None:
    assert total_joules(CPU) is None
