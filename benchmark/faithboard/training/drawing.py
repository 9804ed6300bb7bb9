"""Training on a part of the training texts, to see what more of them would change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from faithboard.errors import SuiteError
from faithboard.rng import seed_of
from faithboard.task import Example


def drawn(examples: Sequence[Example], size: int | None, seed: int) -> Sequence[Example]:
    """`size` of the examples in the order they had, the same for the same seed and part of every larger draw with it;
    all of them for None.

    Raises SuiteError when there are fewer.
    """
    if size is None:
        return examples
    if size > len(examples):
        raise SuiteError(
            f"train_examples is {size}, but there are {len(examples)} training texts; leave it out to take all of them"
        )
    order = np.random.default_rng(seed_of("train-examples", seed)).permutation(len(examples))
    return [examples[index] for index in sorted(order[:size].tolist())]
