"""Random recurrent models, Captum on them, and a model that is deaf to one word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from faithboard import Batch, Classifier, Output, Rules
from faithboard.config import ModelConfig
from faithboard.models import AttentionClassifier, build
from faithboard.task import Source, Task
from tests.toy import SPECIALS, texts

DIM = 8


def random_bilstm(seed: int = 0, *, classes: int = 3, sharpened: float = 1.0) -> AttentionClassifier:
    """A random BiLSTM with additive attention over the words of `toy`, its logits multiplied by `sharpened`."""
    source = Source("oracle", "none", "none", "none", access="generated")
    labels = ("no", "yes", "perhaps", "never")[:classes]
    task = Task(name="oracle", version=1, source=source, labels=labels, folder="oracle", layout="pair")
    matrix = torch.randn(SPECIALS.pad + 1, DIM, generator=torch.Generator().manual_seed(seed))
    model = build(ModelConfig(hidden=6), task, matrix, SPECIALS, seed=seed)
    with torch.no_grad():
        output = model.readout.output
        assert isinstance(output, nn.Linear)
        output.weight.mul_(sharpened)
        output.bias.mul_(sharpened)
    return model


def random_texts(number: int, seed: int = 0) -> Batch:
    """Texts of 2 to 30 words."""
    generator = torch.Generator().manual_seed(seed)
    words = ("good", "nice", "film", "dull", "bad", "what")
    lengths = torch.randint(2, 31, (number,), generator=generator).tolist()
    drawn = (torch.randint(len(words), (length,), generator=generator).tolist() for length in lengths)
    return texts(*(" ".join(words[word] for word in text) + " | what good" for text in drawn))


def probability(model: Classifier, batch: Batch) -> Callable[[Tensor], Tensor]:
    """Probabilities from embeddings, as Captum wants it: several points of each text may come one after the other."""

    def of(embedded: Tensor) -> Tensor:
        rows = torch.arange(len(embedded)) % len(batch)
        part = batch.rows(rows).padded_to(embedded.shape[1])
        return model(part, embedded=embedded).log_probabilities().exp()

    return of


def captum_gradient(model: Classifier, batch: Batch, point: Tensor, target: Tensor) -> Tensor:
    """Captum's saliency of p_j with its sign."""
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    saliency = captum_attr.Saliency(probability(model, batch))
    found: Tensor = saliency.attribute(point.detach().requires_grad_(), target=target, abs=False)
    return found.detach()


class Deaf(Classifier):
    """A model that reads the zero vector wherever a text has `word`: such tokens are dummies."""

    def __init__(self, inner: Classifier, word: int) -> None:
        super().__init__()
        self.inner = inner
        self.word = word
        self.n_classes = inner.n_classes
        self.specials = inner.specials
        self.capabilities = inner.capabilities

    def counted(self) -> tuple[nn.Module, ...]:
        return self.inner.counted()

    def embed(self, batch: Batch) -> Tensor:
        return self.inner.embed(batch)

    def forward(
        self,
        batch: Batch,
        embedded: Tensor | None = None,
        attention: Tensor | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        heard = (self.embed(batch) if embedded is None else embedded).masked_fill(
            (batch.ids == self.word)[:, :, None], 0.0
        )
        return self.inner(batch, embedded=heard, attention=attention, detach_attention=detach_attention)
