"""Some examples, and what every explanation is scored on there: one pool of masked texts per operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predict, predicted_class
from faithboard.data import TaskData
from faithboard.data.collate import collate, rationale_mask
from faithboard.erasure import MaskCount, evaluate_masks
from faithboard.metric import AmountMetric, Amounts, Erased, ErasureMetric, Metric, RationaleMetric
from faithboard.order import ranks, unordered
from faithboard.resolve import shortened
from faithboard.rng import TOKEN, Rng, seed_of
from faithboard.running.read import Read, dense
from faithboard.task import Example

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int

T = TypeVar("T")
_Orders = Sequence[tuple[Tensor, Tensor]]
"""Of each draw: rank of every token, and the examples whose scores give no order."""

_SAME = 1e-6
"""Bounds this close are one: probabilities come from float32 logits."""


class Chunk:
    """The examples of one piece. A metric that fails is noted in `failed`, with the reason, and is asked no more."""

    def __init__(
        self,
        model: Classifier,
        data: TaskData,
        members: Sequence[Example],
        seed: int,
        failed: dict[str, str],
        count: MaskCount,
        start: int = 0,
    ) -> None:
        """`start` is the place of the first of `members` among all examples."""
        self.model, self.seed, self.failed, self.count = model, seed, failed, count
        self.batch: Batch = collate(members, data.vocabulary, data.task, model.device)
        self.permutation = Rng(seed_of("ties", seed), self.batch).permutation()
        self.full = predict(model, self.batch)
        self.target = predicted_class(self.full)
        self.rationale = rationale_mask(members, self.batch)
        self.labels = torch.tensor([example.label for example in members], device=model.device)
        right = self.target == self.labels
        self.right = right if data.task.rationale == "planted" else torch.ones_like(right)
        self.bounds: dict[str, Float64[Tensor, "batch 2"]] = {}
        self.place = start + torch.arange(len(members), device=model.device)

    def counted(self, metric: Metric) -> Bool[Tensor, "batch"]:
        """Examples that count: at least two tokens, and no more than the metric is computed for.

        Against marks, only texts that have some; on planted tasks only right predictions have a known truth.
        """
        length = self.batch.scorable_lengths
        several = length >= 2
        if isinstance(metric, ErasureMetric):
            several &= self._within(metric)
            if metric.longest is not None:
                several &= length <= metric.longest
        return several & self.right & self.rationale.any(1) if isinstance(metric, RationaleMetric) else several

    def _within(self, metric: ErasureMetric) -> Bool[Tensor, "batch"]:
        """Examples that are among the first ones, where a metric is computed for those alone."""
        return self.place < metric.most if metric.most is not None else torch.ones_like(self.place, dtype=torch.bool)

    def counts(self, metric: Metric) -> dict[str, int]:
        """What holds for some examples, in words, and for how many."""
        found: dict[str, int] = {}
        length = self.batch.scorable_lengths
        if isinstance(metric, ErasureMetric) and metric.most is not None:
            found[f"beyond the first {metric.most}, not computed"] = int((~self._within(metric)).sum())
        if isinstance(metric, ErasureMetric) and metric.longest is not None:
            long = self._within(metric) & (length > metric.longest)
            found[f"over {metric.longest} tokens, not computed"] = int(long.sum())
        if isinstance(metric, ErasureMetric) and metric.gridded is not None:
            found[f"over {metric.gridded} tokens, on a grid of prefixes"] = int((length > metric.gridded).sum())
        if isinstance(metric, RationaleMetric):
            found["without a marked token, left out"] = int((~self.rationale.any(1)).sum())
        return found

    def answers(
        self, wanted: Mapping[str, tuple[Read, Sequence[Metric]]]
    ) -> dict[tuple[str, str], Float64[Tensor, "draw batch point"]]:
        """Points of every metric of every explanation, by its key and the metric's name; failed metrics are left out.

        A draw whose scores say nothing of order is NaN where an order is asked.
        """
        orders = {key: self._orders(read) for key, (read, _) in wanted.items()}
        pools: dict[str, _Pool] = {}
        slices: dict[tuple[str, str], list[slice]] = {}
        sets: dict[str, tuple[Tensor, slice]] = {}
        each = [(key, read, metric) for key, (read, metrics) in wanted.items() for metric in metrics]
        for key, _, metric in each:
            if isinstance(metric, ErasureMetric):
                masks = self._attempt(metric, self._masks, orders[key])
                pool = pools.setdefault(metric.operator, _Pool())
                slices[key, metric.name] = [pool.add(mask) for mask in masks or ()]
            elif isinstance(metric, AmountMetric) and metric.name not in sets:
                drop = self._subsets(metric)
                sets[metric.name] = drop, pools.setdefault("delete", _Pool()).add(drop)
        replies = {operator: self._evaluated(operator, pool.masks) for operator, pool in pools.items()}
        found: dict[tuple[str, str], Tensor] = {}
        for key, read, metric in each:
            draws: list[Tensor] | None = None
            if isinstance(metric, ErasureMetric):
                own = [replies[metric.operator][:, at] for at in slices[key, metric.name]]
                draws = self._attempt(metric, self._reduced, own)
            elif isinstance(metric, AmountMetric):
                drop, at = sets[metric.name]
                draws = self._attempt(metric, self._amounts, read, drop, replies["delete"][:, at])
            elif isinstance(metric, RationaleMetric):
                draws = self._attempt(metric, self._against_rationale, orders[key])
            if draws:
                points = torch.stack(draws).double()
                if not isinstance(metric, AmountMetric):
                    points = points.masked_fill(torch.stack([c for _, c in orders[key]])[:, :, None], torch.nan)
                found[key, metric.name] = points
        return found

    def expectation(self, metric: RationaleMetric) -> list[float]:
        """What a random order has in expectation on each counted example; empty for a metric that cannot say."""
        if metric.expectation is None:
            return []
        found: list[float] = metric.expectation(self.rationale, self.batch.scorable)[self.counted(metric)].tolist()
        return found

    def _attempt(self, metric: Metric, ask: Callable[..., T], *arguments: object) -> T | None:
        """What `ask(metric, ...)` gives; None, and the reason noted, when it fails: a metric is anybody's code too."""
        if metric.name in self.failed:
            return None
        try:
            return ask(metric, *arguments)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it raises is its own failure, the others go on
            self.failed[metric.name] = f"it raised\n{shortened(error)}"
            return None

    def _orders(self, read: Read) -> _Orders:
        """Of each draw: rank of every token, and the examples whose scores give no order."""
        return [
            (ranks(scores, self.batch, self.permutation), unordered(scores, self.batch)) for scores in self._dense(read)
        ]

    def _masks(self, metric: ErasureMetric, orders: _Orders) -> list[Bool[Tensor, "batch mask token"]]:
        return [metric.masks(rank, self.batch.scorable) for rank, _ in orders]

    def _subsets(self, metric: AmountMetric) -> Bool[Tensor, "batch subset token"]:
        """Random sets of scorable tokens, sizes uniform in 1..T; they depend on the seed and the example alone."""
        batch, rng = self.batch, Rng(seed_of("subsets", self.seed), self.batch)
        size = 1 + (rng.uniform(metric.subsets) * batch.scorable_lengths[:, None]).floor().long()
        keys = rng.uniform(metric.subsets, TOKEN).masked_fill(~batch.scorable[:, None], 2.0)
        place = keys.argsort(dim=2).argsort(dim=2)
        return (place < size[:, :, None]) & batch.scorable[:, None]

    def _evaluated(
        self, operator: str, masks: Sequence[Bool[Tensor, "batch mask token"]]
    ) -> Float64[Tensor, "batch mask class"]:
        """Probabilities on every masked text, asked in one pool without duplicates."""
        every = torch.cat([*masks, self.batch.scorable.new_zeros(len(self.batch), 0, self.batch.ids.shape[1])], 1)
        return evaluate_masks(self.model, self.batch, every, operator=operator, count=self.count)

    def _reading(
        self, reads: Literal["probability", "decision", "label"], p: Float64[Tensor, "batch mask class"]
    ) -> Float64[Tensor, "batch mask"]:
        """What a metric reads of each text: see `ErasureMetric.reads`."""
        if reads == "probability":
            return p.gather(2, self.target[:, None, None].expand(-1, p.shape[1], 1))[:, :, 0]
        wanted = self.target if reads == "decision" else self.labels
        return (predicted_class(p) == wanted[:, None]).double()

    def _reduced(
        self, metric: ErasureMetric, replies: Sequence[Float64[Tensor, "batch mask class"]]
    ) -> list[Float64[Tensor, "batch point"]]:
        full = self._reading(metric.reads, self.full[:, None])[:, 0]
        points = [metric.reduce(Erased(full, self._reading(metric.reads, p), self.batch.scorable)) for p in replies]
        if metric.bounds is None:
            return points
        if metric.name not in self.bounds:
            self.bounds[metric.name] = self._bounds_of(metric.bounds, self.counted(metric).nonzero()[:, 0])
        low, high = self.bounds[metric.name][:, :, None].unbind(1)
        return [((one - low) / (high - low)).where(high - low > _SAME, torch.nan) for one in points]

    def _bounds_of(
        self, bounds: Callable[[Classifier, Batch], Float64[Tensor, "row 2"]], rows: Int[Tensor, "row"]
    ) -> Float64[Tensor, "batch 2"]:
        """Bounds of some examples, NaN for the others: they cost more than what they are for."""
        found = self.full.new_full((len(self.batch), 2), torch.nan)
        if len(rows):
            found[rows] = bounds(self.model, self.batch.rows(rows))
        return found

    def _amounts(
        self,
        metric: AmountMetric,
        read: Read,
        drop: Bool[Tensor, "batch subset token"],
        p: Float64[Tensor, "batch subset class"],
    ) -> list[Float64[Tensor, "batch point"]]:
        loss = self._reading("probability", self.full[:, None]) - self._reading("probability", p)
        totals = torch.tensor([read.totals[name] for name in self.batch.example_id], dtype=torch.float64)
        given = zip(self._dense(read), totals.to(loss.device).unbind(1), strict=True)
        return [
            metric.score(Amounts(scores.double(), total, self.batch.scorable, drop, loss))[:, None]
            for scores, total in given
        ]

    def _against_rationale(self, metric: RationaleMetric, orders: _Orders) -> list[Float64[Tensor, "batch point"]]:
        return [metric.score(rank, self.rationale, self.batch.scorable)[:, None] for rank, _ in orders]

    def _dense(self, read: Read) -> list[Float32[Tensor, "batch token"]]:
        return [
            dense([read.scores[name][draw] for name in self.batch.example_id], self.batch) for draw in range(read.draws)
        ]


class _Pool:
    """Masks of one operator, and where those of each metric stand among them."""

    def __init__(self) -> None:
        self.masks: list[Bool[Tensor, "batch mask token"]] = []
        self._size = 0

    def add(self, masks: Bool[Tensor, "batch mask token"]) -> slice:
        self.masks.append(masks)
        start, self._size = self._size, self._size + masks.shape[1]
        return slice(start, self._size)
