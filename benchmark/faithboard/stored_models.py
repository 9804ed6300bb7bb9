"""Trained models taken from the results folder again, by what a person calls them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import torch

from faithboard.classifier import Classifier
from faithboard.config import ModelConfig
from faithboard.errors import ContractError, StoreError, SuiteError
from faithboard.models import build, names
from faithboard.records import ModelRecord
from faithboard.running.submitted import made
from faithboard.running.weights import weights_sha256
from faithboard.store import Store
from faithboard.submitted import ModelDefinition

if TYPE_CHECKING:
    from faithboard.data import TaskData

DEFAULT_MODEL = "bilstm-additive"


@dataclass(frozen=True)
class Own:
    """A model of a person's own that is asked for."""

    name: str
    sha256: str
    """Of everything it is made of; see `Resolved`."""
    reference: str
    """What the person calls it: `file.py:attribute`, or the name an installed package gives it."""


def stored_model(
    store: Store,
    task: str,
    model: str = "",
    training: str = "standard",
    seed: int | None = None,
    reference: str = "",
    own: Own | None = None,
) -> ModelRecord:
    """The stored model of a task: by default a `bilstm-additive` if there is one, of the lowest seed, the newest.

    `own` is a model of a person's own, in place of `model`: weights of another content of its file are not its.

    Raises SuiteError when there is none, with the command that trains it, in which the task is called `reference`.
    """
    model = own.name if own else model
    trained = [one for one in store.models() if one.task == task and one.status == "ok"]
    of_training = [one for one in trained if one.training == training]
    kinds = {one.model for one in of_training}
    wanted = model or (DEFAULT_MODEL if DEFAULT_MODEL in kinds or len(kinds) != 1 else next(iter(kinds)))
    found = [one for one in of_training if one.model == wanted and seed in (None, one.seed)]
    if own and found:
        found = [one for one in found if one.config.get("own_model") == own.sha256]
        if not found:
            file = own.reference.rpartition(":")[0] or own.reference
            again = _command(reference or task, own.reference, training, seed, store)
            raise SuiteError(
                f"the {wanted} of {task} in {store.root} was made by another content of {file}; run again: {again}"
            )
    if not found:
        what = f"{wanted} model of {task}, {training} training" + ("" if seed is None else f", seed {seed}")
        command = _command(reference or task, own.reference if own else wanted, training, seed, store)
        others = ", ".join(sorted({f"{one.model} ({one.training}, seed {one.seed})" for one in trained}))
        raise SuiteError(
            f"{store.root} holds no trained {what}; train it: {command}" + (f"; stored are {others}" if others else "")
        )
    lowest = min(one.seed for one in found)
    return max(
        (one for one in found if one.seed == lowest), key=lambda one: (str(one.provenance.get("time", "")), one.key)
    )


def _command(task: str, model: str, training: str, seed: int | None, store: Store) -> str:
    return (
        f"faithboard train --tasks {task} --models {model} --trainings {training} --seeds {seed or 0} "
        f"--results {store.root}"
    )


def loaded(
    record: ModelRecord,
    data: TaskData,
    store: Store,
    device: torch.device,
    definition: ModelDefinition | None = None,
) -> Classifier:
    """The model of a record with its stored weights, in eval mode on `device`.

    `definition` makes a model of a person's own; without it, it is a reference model. Raises SuiteError for data other
    than it was trained on, StoreError for weights that are not those of the record, and ContractError for a definition
    that fails, or whose model does not take the weights.
    """
    if data.fingerprint != record.fingerprint:
        raise SuiteError(
            f"the {record.model} of {record.task} in {store.root} was trained on other data ({record.fingerprint_name} "
            f"{record.fingerprint[:8]}, here is {data.fingerprint_name} {data.fingerprint[:8]}); give the same data "
            "(--data, --origin) or train it again"
        )
    weights = store.load_weights(record.key)
    if weights_sha256(weights) != record.weights_sha256:
        raise StoreError(f"the stored weights of {record.key} are not those of its record; train the model again")
    if definition is not None:
        model = made(definition, data, record.seed, device, stored=True)
    else:
        model = _reference(record, data)
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ContractError(
            f"model {record.model}: what its function returns with `data.stored` does not take the stored weights; it "
            f"must have the shape of the trained one: {error}"
        ) from error
    return model.eval().to(device)


def _reference(record: ModelRecord, data: TaskData) -> Classifier:
    if record.model not in names():
        raise SuiteError(f"{record.model} is a model of a person's own; give its definition: --model file.py:attribute")
    known = {field.name for field in fields(ModelConfig)}
    config = ModelConfig(**{name: value for name, value in record.config.items() if name in known})
    empty = torch.zeros(record.config["embedding"])
    return build(config, data.task, empty, data.vocabulary.specials, seed=record.seed)
