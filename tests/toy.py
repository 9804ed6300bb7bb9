"""Models that can be solved by hand, and batches written as words."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard import Background, Batch, Classifier, Method, Output, Rules, Specials

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

BINARY: Mapping[str, tuple[float, ...]] = {
    "good": (2.0,),
    "nice": (1.0,),
    "film": (0.0,),
    "dull": (-1.0,),
    "bad": (-2.0,),
    "what": (0.25,),
}
"""word -> what it adds to the logit of class 1."""
SEVERAL: Mapping[str, tuple[float, ...]] = {
    "good": (2.0, 0.0, -1.0, 0.5),
    "nice": (1.0, 0.5, 0.0, 0.0),
    "film": (0.0, 0.0, 0.0, 0.0),
    "dull": (-0.5, 0.25, 1.0, 0.0),
    "bad": (-2.0, 0.0, 1.5, 1.0),
    "what": (0.25, 0.0, 0.0, -0.5),
}
"""word -> what it adds to the logit of each of four classes: of fewer, a distance of outputs is one difference."""

_WORDS = {word: index for index, word in enumerate(BINARY)}
# No special token is id 0: nothing may take it for padding.
SPECIALS = Specials(**{name: len(_WORDS) + i for i, name in enumerate(("unk", "begin", "end", "sep", "pad"))})


class _Encoder(nn.Module):
    def forward(self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"]) -> Tensor:
        return states.masked_fill(~real[:, :, None], 0.0)


class BagOfWords(Classifier):
    """logits = bias + sum of the words' weights: a word's embedding *is* what it adds to the logits.

    With `attends`, text tokens are weighted by a softmax over their first weight instead of 1; queries always add up.
    """

    def __init__(
        self,
        weights: Mapping[str, tuple[float, ...]] = BINARY,
        bias: float = 0.0,
        *,
        attends: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        outputs = len(next(iter(weights.values())))
        table = torch.zeros(len(_WORDS) + 5, outputs)
        for word, values in weights.items():
            table[_WORDS[word]] = torch.tensor(values)
        self.table = nn.Embedding.from_pretrained(table, freeze=False)
        self.bias = nn.Parameter(torch.full((outputs,), bias))
        self.encoder = _Encoder()
        self.dropout = nn.Dropout(dropout)
        self.attends = attends
        self.n_classes = max(2, outputs)
        self.specials = SPECIALS
        able = {"gradients": True, "attention": attends, "several-classes": outputs > 2}
        self.capabilities = frozenset(name for name, can in able.items() if can)

    def counted(self) -> tuple[nn.Module, ...]:
        return (self.encoder,)

    def embed(self, batch: Batch) -> Tensor:
        return self.table(batch.ids)

    def forward(
        self,
        batch: Batch,
        embedded: Tensor | None = None,
        attention: Tensor | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        states = self.encoder(self.embed(batch) if embedded is None else embedded, batch.real)
        weight = torch.ones_like(states[:, :, 0])
        if self.attends:
            if attention is None:
                attention = states[:, :, 0].masked_fill(~batch.scorable, -torch.inf).softmax(1).nan_to_num()
            weight = torch.where(batch.segment == 0, attention.detach() if detach_attention else attention, 1.0)
        logits = self.bias + (weight[:, :, None] * self.dropout(states)).sum(1)
        return Output(logits, attention if self.attends else None, states)


def texts(*lines: str, candidates: Sequence[Sequence[bool]] | None = None) -> Batch:
    """A batch of texts: `good film` or `good film | what`, the part after the bar being the query."""
    rows: list[tuple[list[int], list[int]]] = []
    for line in lines:
        text, _, query = line.partition("|")
        text_ids = [SPECIALS.begin, *(_WORDS[word] for word in text.split()), SPECIALS.end]
        query_ids = [_WORDS[word] for word in query.split()]
        rows.append((text_ids + query_ids, [0] * len(text_ids) + [1] * len(query_ids)))
    width = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([row + [SPECIALS.pad] * (width - len(row)) for row, _ in rows])
    segment = torch.tensor([segment + [0] * (width - len(segment)) for _, segment in rows])
    real = ids != SPECIALS.pad
    return Batch(
        ids=ids,
        segment=segment,
        real=real,
        scorable=real & (segment == 0) & (ids != SPECIALS.begin) & (ids != SPECIALS.end),
        example_id=tuple(f"ex-{i}" for i in range(len(lines))),
        specials=SPECIALS,
        candidates=None if candidates is None else torch.tensor(candidates),
    )


MIXED = (
    "good film",
    "bad bad dull film nice",
    "dull",
    "nice film film what good bad film",
    "what bad | what good",
    "film good dull nice what bad good film dull film nice what | what",
    "nice",
    "bad what nice dull",
    "film film bad",
)
"""Texts of 1 to 12 words, some with repeated words, some with a query."""


def recurrent(seed: int = 0) -> Classifier:
    """A small random BiLSTM with additive attention over the words of this module, sure enough to tell words apart."""
    from faithboard.config import ModelConfig
    from faithboard.models import build
    from faithboard.task import Source, Task

    task = Task(
        name="toy",
        version=1,
        source=Source("toy", "none", "none", "none", access="generated"),
        labels=("no", "yes"),
        folder="toy",
        layout="pair",
    )
    matrix = torch.randn(len(_WORDS) + 5, 8, generator=torch.Generator().manual_seed(seed)) * 3
    return build(ModelConfig(hidden=6), task, matrix, SPECIALS, seed=seed)


def methods_of(file: str) -> dict[str, Method]:
    """The methods that a file of the folder `methods/` defines, by name."""
    path = Path(__file__).parents[1] / "methods" / file
    spec = importlib.util.spec_from_file_location(f"toy_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {value.name: value for value in vars(module).values() if isinstance(value, Method)}


def background(*lines: str, labels: Sequence[int] = (), n_classes: int = 2) -> Background:
    """Training texts, written as in `texts`; without labels, class 0 and 1 in turn."""
    batch = texts(*lines)
    text, place = batch.scorable.nonzero(as_tuple=True)
    own = torch.tensor(labels or [row % n_classes for row in range(len(lines))])
    return Background(batch.ids[text, place], text, own, n_classes, len(_WORDS) + 5)


def builtin_methods() -> dict[str, Method]:
    """Every method below `methods/` with a function of its own, by name and ready to call. Variants borrow theirs."""
    found: dict[str, Method] = {}
    for path in sorted((Path(__file__).parents[1] / "methods").glob("*.py")):
        found |= {name: method for name, method in methods_of(path.name).items() if method.base is None}
    return {name: method.given(background(*MIXED, n_classes=4)) for name, method in found.items()}
