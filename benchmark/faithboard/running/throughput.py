"""Speed of the explain step alone: the same few examples, timed apart from loading, training and scoring."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import torch

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.records import Throughput
from faithboard.rng import Rng
from faithboard.running.energy import total_joules

EXAMPLES = 64
"""Examples that are explained at most; the first ones of the batch, the same for every method."""
REPEATS = 3
ONCE_ABOVE_SECONDS = 60.0
"""A repeat that takes longer is the only one."""


def measure(
    model: Classifier, method: Method, batch: Batch, *, explain_key: str = "", batch_size: int = 32, seed: int = 0
) -> Throughput:
    """Time `method` on the first `EXAMPLES` texts of `batch`, one draw each, on the device they are on.

    Texts of like length go together, the longest first. One batch warms up and is not timed; the device is waited for
    before and after each repeat. A batch size that does not fit into memory is halved, and the record says which was
    used. Raises torch.OutOfMemoryError when a single text does not fit.
    """
    texts = batch.rows(slice(EXAMPLES))
    by_length = texts.rows(texts.lengths.argsort(descending=True, stable=True))
    while True:
        try:
            found = _timed(model, method, by_length, batch_size, seed)
            break
        except torch.OutOfMemoryError:
            if batch_size == 1:
                raise
            batch_size //= 2
    seconds = statistics.median(found.seconds)
    parameter = next(model.parameters())
    return Throughput(
        explain_key=explain_key,
        method=method.name,
        device=torch.cuda.get_device_name(parameter.device) if parameter.is_cuda else parameter.device.type,
        dtype=str(parameter.dtype).removeprefix("torch."),
        torch=torch.__version__,
        threads=torch.get_num_threads(),
        examples=len(texts),
        batch_size=batch_size,
        repeats=len(found.seconds),
        seconds=seconds,
        seconds_spread=max(found.seconds) - min(found.seconds) if len(found.seconds) > 1 else None,
        examples_per_second=len(texts) / seconds,
        tokens_per_second=int(texts.scorable.sum()) / seconds,
        peak_memory_mb=found.peak_memory_mb,
        energy_joules=found.joules,
    )


@dataclass(frozen=True)
class _Timing:
    seconds: list[float]
    peak_memory_mb: float | None
    joules: float | None
    """Of one repeat, on average."""


def _timed(model: Classifier, method: Method, texts: Batch, batch_size: int, seed: int) -> _Timing:
    buckets = [texts.rows(slice(start, start + batch_size)) for start in range(0, len(texts), batch_size)]
    device = texts.device

    def explain(some: list[Batch]) -> None:
        for bucket in some:
            method(model, bucket, Rng(seed, bucket))
        _synchronise(device)

    explain(buckets[:1])
    before = _start_of_memory(device)
    joules = total_joules(device)
    seconds: list[float] = []
    while len(seconds) < REPEATS and (not seconds or seconds[0] <= ONCE_ABOVE_SECONDS):
        start = time.perf_counter()
        explain(buckets)
        seconds.append(time.perf_counter() - start)
    after = total_joules(device)
    return _Timing(
        seconds=seconds,
        peak_memory_mb=None if before is None else (torch.cuda.max_memory_allocated(device) - before) / 2**20,
        joules=None if joules is None or after is None else (after - joules) / len(seconds),
    )


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _start_of_memory(device: torch.device) -> int | None:
    """Bytes in use now (the weights and the texts), the peak being counted from here; None where nothing counts it."""
    if device.type != "cuda":
        return None
    torch.cuda.reset_peak_memory_stats(device)
    return torch.cuda.memory_allocated(device)
