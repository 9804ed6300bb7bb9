"""Rows to compare with: what an explanation reaches that says nothing about the model."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

from faithboard import TOKEN, Background, Batch, Classifier, ContractError, Rng, method, predict, predicted_class

PENALTY = 1.0
"""Weight of the squared coefficients against the summed loss over the training texts, as C = 1 elsewhere."""


LARGEST = 500_000_000
"""Distinct words of texts times classes from which the regression would take hours, or more memory than there is."""


def nothing(length: int) -> tuple[int, int]:
    """Planned token steps of a method that never asks the model."""
    return 0, 0


@method(
    "random",
    kind="reference",
    signed=False,
    source="uniform scores; every metric is the mean over ten draws",
    draws=10,
    steps=nothing,
)
def random(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """A uniform number per token, whatever the model says."""
    return rng.uniform(TOKEN)


@method(
    "word-rarity",
    kind="reference",
    signed=False,
    source="Spärck Jones 1972: log of the inverse document frequency, (1 + N) / (1 + n_w), in the training texts",
    needs={"background"},
    steps=nothing,
)
def word_rarity(model: Classifier, batch: Batch, rng: Rng, background: Background) -> Tensor:
    """How rare the word is in the training texts; a word that stands in all of them has 0."""
    return _rarity(background).to(batch.device)[batch.ids]


@method(
    "tfidf-logistic",
    kind="reference",
    signed=True,
    source="logistic regression on tf-idf of the training texts: coefficient x idf for the model's class",
    needs={"background"},
    steps=lambda length: (length, 0),
)
def tfidf_logistic(model: Classifier, batch: Batch, rng: Rng, background: Background) -> Tensor:
    """What a bag-of-words model would say for the class that the explained model predicts.

    A method that is no better than this row says as much about the data as about the model. For more than two classes
    the evidence is the logit of the class less the mean of all.
    """
    j = predicted_class(predict(model, batch).log())
    weights = _weights(background).to(batch.device)
    return weights[j[:, None], batch.ids]


def _rarity(background: Background) -> Tensor:
    frequency = background.document_frequency.double()
    # Of a word in every text the difference may miss 0 by a rounding, to either side.
    return (math.log1p(len(background.labels)) - torch.log1p(frequency)).clamp(min=0.0)


@functools.lru_cache(maxsize=4)
def _weights(background: Background) -> Tensor:
    """`[class, word]`: coefficient x inverse document frequency of a ridge-penalised softmax regression on tf-idf."""
    idf = _rarity(background).double()
    shape = (len(background.labels), background.vocabulary_size)
    pairs, count = torch.unique(torch.stack([background.text, background.words]), dim=1, return_counts=True)
    value = count * idf[pairs[1]]
    norm = value.new_zeros(shape[0]).index_add(0, pairs[0], value**2).sqrt()
    if len(value) * background.n_classes > LARGEST:
        raise ContractError(
            f"tfidf-logistic: {len(value):,} words of training texts times {background.n_classes} classes are more "
            f"than the {LARGEST:,} that its regression is meant for; leave it out of the methods for this task"
        )
    scaled = value / norm[pairs[0]].where(norm[pairs[0]] > 0, 1.0)
    features = torch.sparse_coo_tensor(pairs, scaled, shape, check_invariants=True)
    with torch.enable_grad():
        coefficients = torch.zeros(shape[1], background.n_classes, dtype=torch.float64, requires_grad=True)
        bias = torch.zeros(background.n_classes, dtype=torch.float64, requires_grad=True)
        # Ten pairs of past steps: each takes as much memory as all coefficients twice.
        optimiser = torch.optim.LBFGS(
            [coefficients, bias], max_iter=200, history_size=10, line_search_fn="strong_wolfe"
        )

        def loss() -> Tensor:
            optimiser.zero_grad()
            logits = torch.sparse.mm(features, coefficients) + bias
            summed = torch.nn.functional.cross_entropy(logits, background.labels, reduction="sum")
            whole = summed + PENALTY / 2 * coefficients.square().sum()
            whole.backward()
            return whole

        optimiser.step(loss)
    found = coefficients.detach()
    return ((found - found.mean(1, keepdim=True)) * idf[:, None]).T.contiguous()
