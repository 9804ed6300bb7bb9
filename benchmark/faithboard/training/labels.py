"""Training on shuffled labels: the model knows the texts, and nothing in them tells a class (Adebayo et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from faithboard.rng import seed_of
from faithboard.task import Example
from faithboard.training.definition import Training
from faithboard.training.standard import STANDARD


def shuffled_labels(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples with each other's labels, the same for the same seed.

    Each label stays as frequent as it was; but a text whose answer is chosen among candidates, none of which it was
    dealt, gets one of them at random.
    """
    generator = np.random.default_rng(seed_of("random-labels", seed))
    dealt = generator.permutation([example.label for example in examples]).tolist()
    found = []
    for example, label in zip(examples, dealt, strict=True):
        if example.candidates is not None and label not in example.candidates:
            label = int(generator.choice(example.candidates))
        found.append(replace(example, label=label))
    return found


RANDOM_LABELS = Training(
    "random-labels",
    STANDARD.procedure,
    source="Adebayo et al. 2018, section 4: data randomisation; the settings of `standard`",
    texts=shuffled_labels,
    scored=False,
)
