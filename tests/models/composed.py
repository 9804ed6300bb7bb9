"""Every reference model in every layout, small, and batches as each layout wraps them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import torch

from faithboard.batch import Batch, Specials
from faithboard.config import ModelConfig
from faithboard.models import AttentionClassifier, build, names
from faithboard.task import Source, Task

SPECIALS = Specials(pad=3, unk=1, begin=0, end=2, sep=4)
WORDS = 20
LAYOUTS = ("single", "pair", "sequence")
SINGLE = Task("toy", 1, Source("toy", "", "", "", "generated"), ("no", "yes"), "toy")
TASKS = {
    "single": SINGLE,
    "pair": replace(SINGLE, layout="pair", labels=("a", "b", "c")),
    "sequence": replace(SINGLE, layout="sequence"),
}
COMBINATIONS = [(*name.split("-"), layout) for name, layout in itertools.product(names(), LAYOUTS)]
"""(encoder, attention, layout)."""
TEXTS = ([5, 6, 7, 8, 5], [11], [12, 13, 14])


def batch_of(layout: str, *texts: list[int], query: tuple[int, ...] = (9, 10)) -> Batch:
    """Texts of word ids (5 and more) as the layout wraps them."""
    own = SPECIALS
    rows = []
    for text in texts:
        if layout == "sequence":
            tokens, wrapped = [*text, own.sep], [*query, own.sep]
        else:
            tokens = [own.begin, *text, own.end]
            wrapped = [own.begin, *query, own.end] if layout == "pair" else []
        scorable = [token in text for token in tokens]
        rows.append((tokens + wrapped, [0] * len(tokens) + [1] * len(wrapped), scorable + [False] * len(wrapped)))
    width = max(len(ids) for ids, _, _ in rows)

    def padded(values: list[int], fill: int) -> list[int]:
        return values + [fill] * (width - len(values))

    return Batch(
        ids=torch.tensor([padded(ids, own.pad) for ids, _, _ in rows]),
        segment=torch.tensor([padded(segment, 0) for _, segment, _ in rows]),
        real=torch.tensor([padded([True] * len(ids), False) for ids, _, _ in rows]),
        scorable=torch.tensor([padded(list(scorable), False) for _, _, scorable in rows]),
        example_id=tuple(str(row) for row in range(len(rows))),
        specials=own,
    )


def model_of(layout: str, encoder: str = "bilstm", attention: str = "additive", seed: int = 0) -> AttentionClassifier:
    matrix = torch.randn(WORDS, 6, generator=torch.Generator().manual_seed(7))
    config = ModelConfig(encoder=encoder, attention=attention, hidden=4)
    return build(config, TASKS[layout], matrix, SPECIALS, seed=seed)
