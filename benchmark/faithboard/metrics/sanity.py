"""Parameter randomisation: does an explanation change when what the model has learned is taken away?

A method whose scores stay alike shows the data or the architecture, not the model (Adebayo et al. 2018).
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.metric import RerunMetric
from faithboard.models.seeding import seeded
from faithboard.order import TIE
from faithboard.probes.kendall import kendall_tau
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

LAYERS = (("readout",), ("attention",), ("encoder", "query_encoder"), ("embedding",))
"""From the output down: names of the modules of a model that are re-initialised together."""
POINTS = ("readout", "attention", "encoder", "whole model")


def reinitialised(model: Classifier, seed: int, depth: int) -> Classifier | None:
    """A copy with the first `depth` of `LAYERS` drawn anew; at the last depth with every parameter it has.

    None where the model has no module of the layer at `depth`. A module is drawn as torch initialises its kind, on the
    CPU, so that all devices draw the same; parameters of modules that do not say how they begin are normal with the
    mean and deviation that they had. Embeddings are N(0, 1), whatever vectors they once came from.
    """
    named = [[one for name in names if (one := getattr(model, name, None)) is not None] for names in LAYERS[:depth]]
    if depth < len(LAYERS) and not any(list(one.parameters()) for one in named[-1]):
        return None
    changed = copy.deepcopy(model).cpu()
    for at, names in enumerate(LAYERS[:depth]):
        for name in names:
            if (own := getattr(changed, name, None)) is not None:
                with seeded(seed, POINTS[at], name):
                    _drawn_anew(own)
    if depth == len(LAYERS):
        known = {name for names in LAYERS for name in names}
        for name, own in changed.named_children():
            if name not in known:
                with seeded(seed, "child", name):
                    _drawn_anew(own)
        with seeded(seed, "own"):
            _normal(changed)
    return changed.to(model.device).train(model.training)


def _drawn_anew(module: nn.Module) -> None:
    for one in module.modules():
        if callable(reset := getattr(one, "reset_parameters", None)):
            reset()
        else:
            _normal(one)


@torch.no_grad()
def _normal(module: nn.Module) -> None:
    """The parameters of the module itself, not of those in it."""
    for value in module.parameters(recurse=False):
        spread = float(value.std()) if value.numel() > 1 else 1.0
        value.normal_(float(value.mean()), spread)


def magnitude_taus(
    scores: Float64[Tensor, "batch token"],
    again: Float64[Tensor, "batch repeat token"],
    scorable: Bool[Tensor, "batch token"],
) -> Float64[Tensor, "batch repeat"]:
    """Kendall tau-b between |scores| and |scores again| over the scorable tokens.

    NaN where either is constant, to within `TIE` of its largest value, or has fewer than two tokens.
    """
    first = _varying(scores.abs(), scorable)
    taus = [kendall_tau(first, _varying(one.abs(), scorable), scorable.cpu().numpy())[0] for one in again.unbind(1)]
    return torch.stack([torch.from_numpy(tau) for tau in taus], 1).to(scores.device)


def _varying(values: Float64[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]) -> Tensor:
    """On the CPU; NaN in rows that are constant."""
    highest = values.masked_fill(~scorable, 0.0).amax(1, keepdim=True)
    lowest = values.masked_fill(~scorable, torch.inf).amin(1, keepdim=True)
    return values.masked_fill(highest - lowest <= TIE * highest, torch.nan).cpu()


def _changed(model: Classifier, batch: Batch, rng: Rng, repeat: int) -> Classifier | None:
    return reinitialised(model, rng.seed, repeat + 1)


PARAMETER_RANDOMISATION = RerunMetric(
    name="parameter-randomisation",
    version=1,
    better="neither",
    source="Adebayo et al. 2018, section 3: cascading randomisation, Kendall tau on |scores|",
    parameters={"layers": list(POINTS)},
    repeats=len(LAYERS),
    changed=_changed,
    score=magnitude_taus,
    points=POINTS,
    kind="sanity",
)
