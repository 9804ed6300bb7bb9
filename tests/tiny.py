"""A task, a suite and methods small enough to run whole suites in a unit test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

from faithboard import Record, Source, Task, suites
from faithboard.generators import planted
from faithboard.plan import Plan
from faithboard.running import Outcome, run
from faithboard.running.progress import Progress
from faithboard.session import Place, plan_suite
from faithboard.store import Store
from faithboard.suites import Suite

TASK_FILE = str(Path(__file__).resolve())
WORDS = {"north": "aurora", "south": "basalt"}


def generate(split: str) -> Iterator[Record]:
    return planted.records(WORDS, split, {"train": 400, "dev": 60, "test": 150}[split])


TINY = Task(
    name="tiny",
    version=1,
    source=Source("Tiny", "made for tests", "Apache-2.0", "generated, no download", access="generated"),
    labels=tuple(WORDS),
    folder="tiny",
    generate=generate,
    rationale="planted",
    planted={label: (word,) for label, word in WORDS.items()},
    profile={"embedding_dim": 16, "hidden": 8, "epochs": 4, "select": "accuracy", "learning_rate": 0.02},
)

SUITE = suites.parse(
    f"""
    name = "tiny"
    version = 1
    tasks = ["{TASK_FILE}:TINY"]
    models = ["bilstm-additive"]
    methods = ["random", "gradient-l2"]
    metrics = ["comprehensiveness", "precision@k"]
    seeds = [0]
    examples = 100
    budget = 1000000
    """,
    "tiny",
)

BROKEN = """
from faithboard import method
import numpy
import random
import torch

def broken(name):
    return method(name, kind="sensitivity", signed=False, source="a test")

@broken("wrong-shape")
def wrong_shape(model, batch, rng):
    return torch.zeros(len(batch), 3)

@broken("not-finite")
def not_finite(model, batch, rng):
    return torch.where(batch.scorable, torch.nan, 0.0)

@broken("raises")
def raises(model, batch, rng):
    return {}["no such key"]

@broken("changes-the-model")
def changes_the_model(model, batch, rng):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return torch.zeros(batch.ids.shape)

@broken("changes-data")
def changes_data(model, batch, rng):
    for parameter in model.parameters():
        parameter.data.mul_(2)
    return torch.zeros(batch.ids.shape)

@broken("draws-globally")
def draws_globally(model, batch, rng):
    return torch.rand(batch.ids.shape)

@broken("leaves-a-hook")
def leaves_a_hook(model, batch, rng):
    model.register_forward_hook(lambda *_: None)
    return torch.zeros(batch.ids.shape)

@broken("silences-the-model")
def silences_the_model(model, batch, rng):
    for module in model.counted():
        module.register_forward_hook(lambda module, inputs, output: output * 0)
    return torch.zeros(batch.ids.shape)

@broken("changes-a-buffer")
def changes_a_buffer(model, batch, rng):
    model.register_buffer("own", torch.ones(1), persistent=False)
    return torch.zeros(batch.ids.shape)

@broken("draws-from-numpy")
def draws_from_numpy(model, batch, rng):
    return torch.from_numpy(numpy.random.random_sample(tuple(batch.ids.shape)))

@broken("draws-from-random")
def draws_from_random(model, batch, rng):
    return torch.full(batch.ids.shape, random.random())

@broken("too-large")
def too_large(model, batch, rng):
    return torch.full(batch.ids.shape, 1e300, dtype=torch.float64)

@broken("exits")
def exits(model, batch, rng):
    raise SystemExit(3)

@broken("negative")
def negative(model, batch, rng):
    return -torch.ones(batch.ids.shape)

@broken("trains")
def trains(model, batch, rng):
    model.train()
    return torch.zeros(batch.ids.shape)

@broken("flat")
def flat(model, batch, rng):
    return torch.ones(batch.ids.shape)
"""


def place(folder: Path) -> Place:
    return Place(Store(folder), torch.device("cpu"))


def planned(chosen: Suite, where: Place, *, retry_failed: bool = False) -> Plan:
    return plan_suite(chosen, where, Progress(), retry_failed=retry_failed)


def carried_out(chosen: Suite, where: Place, *, retry_failed: bool = False) -> Outcome:
    return run(planned(chosen, where, retry_failed=retry_failed), where.store, where.device, Progress())
