"""A tiny task that a tiny model learns in a second: one word of each text tells its class."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from faithboard.data import TaskData
from faithboard.data.vocabulary import Vocabulary
from faithboard.task import SPLITS, Example, Source, Task

PLANTED = {"cold": ("snow",), "warm": ("sand",)}
FILLER = ("a", "b", "c", "d", "e", "f", "g", "h")
TASK = Task(
    name="tiny",
    version=1,
    source=Source("tiny", "none", "none", "none", "generated"),
    labels=tuple(PLANTED),
    folder="tiny",
    rationale="planted",
    planted=PLANTED,
)
PAIR = replace(TASK, name="tiny-pair", layout="pair", labels=("cold", "warm", "mild"), planted={}, rationale=None)


def examples(split: str, count: int, seed: int = 0) -> list[Example]:
    """Texts of 2 to 12 words, the planted one at a random place."""
    dice = random.Random(f"{split}-{seed}")
    made = []
    for number in range(count):
        label = dice.randrange(2)
        words = [dice.choice(FILLER) for _ in range(dice.randint(1, 11))]
        at = dice.randint(0, len(words))
        words.insert(at, "snow" if label == 0 else "sand")
        marks = tuple(place == at for place in range(len(words)))
        made.append(Example(f"{split}-{number}", tuple(words), ("which",), label, rationale=marks))
    return made


def tiny(task: Task = TASK, splits: Mapping[str, Sequence[Example]] | None = None) -> TaskData:
    """The data of the tiny task, or of `task` over the same words."""
    if splits is None:
        splits = {split: examples(split, count) for split, count in zip(SPLITS, (192, 48, 48), strict=True)}
    return TaskData(
        task=task,
        splits=splits,
        vocabulary=Vocabulary.of((*FILLER, "snow", "sand", "which")),
        fingerprint="",
        fingerprint_name="generated",
        origin="generated",
        counts={},
    )
