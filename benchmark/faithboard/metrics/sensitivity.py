"""Max-sensitivity: how far do scores move when the embedded text moves a little? (Yeh et al. 2019, definition 3.1)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Decoder, Output
from faithboard.metric import RerunMetric
from faithboard.rng import TOKEN, Rng
from faithboard.rules import Rules

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int

REPEATS = 10
RADIUS = 0.02
"""Norm of the noise over that of the embedded text, both over the scorable tokens."""


class Perturbed(Classifier):
    """A model whose words stand a little elsewhere, for the texts of one batch.

    Every word of a text has one shift of its embedding that it keeps wherever it stands. So a method that deletes or
    moves words asks about the same text as one that reads gradients. Query, begin and end stay where they are.
    """

    _ids: Int[Tensor, "text word"]
    _shift: Float[Tensor, "text word dim"]

    def __init__(self, model: Classifier, batch: Batch, noise: Float[Tensor, "batch token dim"]) -> None:
        """`noise[b, t]` is the shift of the word at t, if it is the first of its kind in text b."""
        super().__init__()
        self.model = model
        self.n_classes, self.specials, self.capabilities = model.n_classes, model.specials, model.capabilities
        self._row = {name: row for row, name in enumerate(batch.example_id)}
        beyond = torch.iinfo(batch.ids.dtype).max
        # Sorted, the first of equal words in front, so that looking an id up finds that one.
        self._ids, order = batch.ids.masked_fill(~batch.scorable, beyond).sort(dim=1, stable=True)
        self._shift = noise.gather(1, order[:, :, None].expand_as(noise))
        self.training = model.training

    def counted(self) -> tuple[torch.nn.Module, ...]:
        return self.model.counted()

    def shift(self, batch: Batch) -> Float[Tensor, "batch token dim"]:
        """What is added to each embedding of texts made of the words of this model's texts."""
        rows = torch.tensor([self._row[name] for name in batch.example_id], device=batch.device)
        known = self._ids[rows]
        place = torch.searchsorted(known, batch.ids.contiguous()).clamp(max=known.shape[1] - 1)
        found = batch.scorable & (known.gather(1, place) == batch.ids)
        return self._shift[rows[:, None], place].masked_fill(~found[:, :, None], 0.0)

    def embed(self, batch: Batch) -> Float[Tensor, "batch token dim"]:
        return self.model.embed(batch) + self.shift(batch)

    def forward(
        self,
        batch: Batch,
        embedded: Float[Tensor, "batch token dim"] | None = None,
        attention: Float[Tensor, "batch token"] | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        given = {} if rules is None else {"rules": rules}
        embedded = self.embed(batch) if embedded is None else embedded
        return self.model(batch, embedded=embedded, attention=attention, detach_attention=detach_attention, **given)

    def decode(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        attention: Float[Tensor, "batch token"],
        batch: Batch,
        query: Float[Tensor, "batch hidden"] | None = None,
    ) -> Float[Tensor, "batch output"]:
        return self.model.decode(hidden, attention, batch, query)

    def decoder(self, output: Output, batch: Batch) -> Decoder:
        return self.model.decoder(output, batch)


def perturbed(model: Classifier, batch: Batch, rng: Rng) -> Perturbed:
    """The model with noise of norm `RADIUS` times that of the embedded text, in a uniform direction.

    In as many dimensions as a text has, nearly all of a ball lies at its surface.
    """
    with torch.no_grad():
        embedded = model.embed(batch)
        noise = rng.normal(TOKEN, embedded.shape[2]).to(embedded.dtype)
        moved = Perturbed(model, batch, noise)
        shift = moved.shift(batch)
        norm = embedded.masked_fill(~batch.scorable[:, :, None], 0.0).flatten(1).norm(dim=1)
        drawn = shift.flatten(1).norm(dim=1)
        scale = torch.where(drawn > 0, RADIUS * norm / drawn, 0.0)
        return Perturbed(model, batch, noise * scale[:, None, None])


def largest_change(
    scores: Float64[Tensor, "batch token"], again: Float64[Tensor, "batch repeat token"]
) -> Float64[Tensor, "batch"]:
    """max over repeats of ||phi(e') - phi(e)|| / ||phi(e)||; NaN where all scores are 0."""
    norm = scores.norm(dim=1)
    change = (again - scores[:, None]).norm(dim=2).amax(1)
    return torch.where(norm > 0, change / norm, torch.nan)


MAX_SENSITIVITY = RerunMetric(
    name="max-sensitivity",
    version=1,
    better="lower",
    source="Yeh et al. 2019, definition 3.1, relative to the norm of the scores",
    parameters={"repeats": REPEATS, "radius": RADIUS, "noise": "one shift per word of a text"},
    repeats=REPEATS,
    changed=lambda model, batch, rng, repeat: perturbed(model, batch, rng),
    score=lambda scores, again, scorable: largest_change(scores, again),
)
