"""The models that a submission is tried on: small, seeded, untrained, and sure enough to tell words apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.background import Background
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import ModelConfig
from faithboard.data.collate import collate
from faithboard.data.encoded import Encoded
from faithboard.data.vocabulary import Vocabulary
from faithboard.models import AttentionClassifier, build
from faithboard.task import Example, Source, Task

if TYPE_CHECKING:
    from jaxtyping import Float, Int

_TEXTS = 64
_LONGEST = 12
_WORDS = 10
"""Few, so that most texts hold some word twice."""
_DIM = 8
_SURE = 3.0
"""Size of the embeddings, and standard deviation of the logits."""
_DROPOUT = 0.3
_SEED = 0


@dataclass(frozen=True)
class Subject:
    """A model, texts of 1 to 12 words for it, and the training texts of a method that needs them."""

    name: str
    model: Classifier
    batch: Batch
    background: Background


def subjects(device: torch.device) -> list[Subject]:
    """A BiLSTM with additive attention for two classes, and a pair of encoders with dot attention for four."""
    source = Source("texts of made-up words", "none", "Apache-2.0", "generated", access="generated")
    single = Task("single-texts", 1, source, labels=("no", "yes"), folder="none")
    pair = Task("pairs", 1, source, labels=("a", "b", "c", "d"), folder="none", layout="pair")
    return [
        _subject("bilstm-additive, 2 classes", ModelConfig(hidden=6), single, device),
        _subject("bilstm-dot with a query, 4 classes", ModelConfig(attention="dot", hidden=6), pair, device),
    ]


def _subject(name: str, config: ModelConfig, task: Task, device: torch.device) -> Subject:
    vocabulary = Vocabulary.of(f"word{number}" for number in range(_WORDS))
    examples = _examples(task, vocabulary)
    generator = torch.Generator().manual_seed(_SEED)
    matrix = _SURE * torch.randn(len(vocabulary), _DIM, generator=generator)
    model = build(config, task, matrix, vocabulary.specials, seed=_SEED)
    model.embedding = _Dropping(matrix)
    batch = collate(examples, vocabulary, task)
    _sharpen(model, batch)
    encoded = Encoded.of(examples, vocabulary, task)
    background = Background.of_texts(encoded, len(task.labels), len(vocabulary))
    return Subject(name, model.eval().to(device), batch.to(device), background)


@torch.no_grad()
def _sharpen(model: AttentionClassifier, batch: Batch) -> None:
    """Shift and scale the outputs, so that every class is predicted and most of the texts surely."""
    last = [module for module in model.readout.modules() if isinstance(module, nn.Linear)][-1]
    logits = model.eval()(batch).logits
    scale = _SURE / logits.std(0)
    last.bias.sub_(logits.mean(0)).mul_(scale)
    last.weight.mul_(scale[:, None])


def _examples(task: Task, vocabulary: Vocabulary) -> list[Example]:
    generator = torch.Generator().manual_seed(_SEED)

    def words(length: int) -> tuple[str, ...]:
        drawn = torch.randint(5, len(vocabulary), (length,), generator=generator).tolist()
        return tuple(vocabulary.words[word] for word in drawn)

    return [
        Example(
            id=f"text-{number}",
            tokens=words(1 + 5 * number % _LONGEST),
            query=words(1 + number % 3) if task.layout == "pair" else (),
            label=number % len(task.labels),
        )
        for number in range(_TEXTS)
    ]


class _Dropping(nn.Embedding):
    """An embedding with dropout, for the check that none is left on."""

    def __init__(self, matrix: Float[Tensor, "word dim"]) -> None:
        super().__init__(matrix.shape[0], matrix.shape[1], _weight=matrix.clone())

    def forward(self, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token dim"]:
        return nn.functional.dropout(super().forward(ids), _DROPOUT, self.training)
