"""From examples to a padded batch, in the layout of the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import ContractError
from faithboard.task import Example, Task

if TYPE_CHECKING:
    from jaxtyping import Bool


def collate(
    examples: Sequence[Example], vocabulary: Vocabulary, task: Task, device: torch.device | str = "cpu"
) -> Batch:
    """The examples as one batch, in their order, padded on the right.

    `single` is `<begin> text <end>`, `pair` adds `<begin> query <end>`, `sequence` is `text <sep> query <sep>`
    (`text <sep>` without a query). A special token belongs to the segment it wraps or closes and is never scorable.
    """
    rows = [_row(example, vocabulary, task) for example in examples]
    longest = max((len(ids) for ids, _, _ in rows), default=0)
    pad = vocabulary.specials.pad
    lengths = torch.tensor([len(ids) for ids, _, _ in rows], dtype=torch.long)
    batch = Batch(
        ids=torch.tensor([ids + [pad] * (longest - len(ids)) for ids, _, _ in rows], dtype=torch.long),
        segment=torch.tensor([row + [0] * (longest - len(row)) for _, row, _ in rows], dtype=torch.long),
        real=torch.arange(longest)[None, :] < lengths[:, None],
        scorable=torch.tensor([row + [False] * (longest - len(row)) for _, _, row in rows], dtype=torch.bool),
        example_id=tuple(example.id for example in examples),
        specials=vocabulary.specials,
        candidates=_candidates(examples, len(task.labels)),
    )
    return batch.to(device)


def _row(example: Example, vocabulary: Vocabulary, task: Task) -> tuple[list[int], list[int], list[bool]]:
    """Ids, segments and scorable flags of one text, unpadded."""
    specials = vocabulary.specials
    ids: list[int] = []
    segment: list[int] = []
    scorable: list[bool] = []

    def add(words: Sequence[str], before: list[int], after: list[int], part: int) -> None:
        explained = ("text", "query")[part] in task.explained
        ids.extend([*before, *vocabulary.ids(words), *after])
        segment.extend([part] * (len(before) + len(words) + len(after)))
        scorable.extend([False] * len(before) + [explained] * len(words) + [False] * len(after))

    if task.layout == "sequence":
        add(example.tokens, [], [specials.sep], 0)
        # An explained query that has lost all its words keeps its end, as `Batch.without` leaves it.
        if example.query or "query" in task.explained:
            add(example.query, [], [specials.sep], 1)
    else:
        add(example.tokens, [specials.begin], [specials.end], 0)
        if task.layout == "pair":
            add(example.query, [specials.begin], [specials.end], 1)
    return ids, segment, scorable


def _candidates(examples: Sequence[Example], classes: int) -> Bool[Tensor, "batch class"] | None:
    if all(example.candidates is None for example in examples):
        return None
    mask = torch.zeros(len(examples), classes, dtype=torch.bool)
    for row, example in enumerate(examples):
        mask[row, slice(None) if example.candidates is None else list(example.candidates)] = True
    return mask


def rationale_mask(examples: Sequence[Example], batch: Batch) -> Bool[Tensor, "batch token"]:
    """True at the batch positions of rationale tokens; `examples` are those the batch was made of, in its order.

    Flags belong to the scorable positions of their segment, text or query, from left to right. An example without a
    rationale is False everywhere. Raises ContractError when they are not the examples of this batch, or the batch was
    perturbed.
    """
    mask = torch.zeros(batch.scorable.shape, dtype=torch.bool)
    scorable, segment = batch.scorable.cpu(), batch.segment.cpu()
    for row, example in enumerate(examples):
        for part, flags in enumerate((example.rationale, example.query_rationale)):
            if flags is None:
                continue
            at = (scorable[row] & (segment[row] == part)).nonzero()[:, 0]
            if example.id != batch.example_id[row] or len(flags) != len(at):
                raise ContractError(
                    f"rationale of {example.id} ({len(flags)} tokens) does not fit row {row} of the batch, "
                    f"{batch.example_id[row]} with {len(at)} scorable tokens; pass the examples the batch was made of"
                )
            mask[row, at] = torch.tensor(flags, dtype=torch.bool)
    return mask.to(batch.device)
