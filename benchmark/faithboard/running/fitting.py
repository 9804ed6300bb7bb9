"""The trained model of a job: loaded when it is stored, else trained, tested, gated and stored."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.classifier import Classifier
from faithboard.config import ModelConfig
from faithboard.data.embeddings import Embedding, load_embedding
from faithboard.errors import ContractError, DataError, FaithboardError, StoreError
from faithboard.importing import shortened
from faithboard.models import AttentionClassifier, build
from faithboard.plan import PlannedJob
from faithboard.records import ModelRecord
from faithboard.running.model_record import tested, untested
from faithboard.running.progress import Progress
from faithboard.running.recording import submitted_files
from faithboard.running.submitted import made
from faithboard.running.weights import weights_sha256
from faithboard.store import Store
from faithboard.submitted import ModelDefinition
from faithboard.training import Checkpoint, train
from faithboard.training.cost import step_memory

if TYPE_CHECKING:
    from faithboard.data import TaskData


@dataclass(frozen=True)
class Fitted:
    """The model of a job, in eval mode, and its record."""

    model: Classifier
    record: ModelRecord
    fresh: bool = False
    """True when it was trained or made now, not taken from the store."""


def fitted(
    job: PlannedJob, store: Store, device: torch.device, progress: Progress, sources: Mapping[str, str]
) -> Fitted:
    """The model of a job on `device`. `sources` are the submitted files that its record may rest on.

    A model whose stored weights are missing, unreadable or not those its record has the hash of is trained again; a
    training that was killed goes on after its last whole epoch. Raises FaithboardError when training fails, whatever a
    submitted procedure raises; the failure is stored as a record first.
    """
    record = store.model(job.key)
    if record is not None and record.status == "ok":
        model = _stored(job, record, store, device, progress)
        if model is not None:
            return Fitted(model.to(device), record)
    try:
        if isinstance(job.model, ModelDefinition):
            return _made(job, job.model, store, device, progress, sources)
        return _trained(job, job.model, store, device, progress, sources)
    except (DataError, StoreError):
        # A vectors file with a broken line or a full disk is no failure of this model: nothing is stored of it.
        raise
    except (Exception, SystemExit) as error:  # a procedure is anybody's code: what it raises is its model's failure
        reason = str(error) if isinstance(error, FaithboardError) else f"training raised\n{shortened(error)}"
        store.save_model(dataclasses.replace(_blank(job, device, sources), status="failed", reason=reason), None)
        raise FaithboardError(reason) from error


def fresh_model(config: ModelConfig, data: TaskData, seed: int) -> tuple[AttentionClassifier, Embedding]:
    """An untrained model on the CPU, and the vectors that its embedding starts from."""
    counts = Counter(token for example in data.splits["train"] for token in (*example.tokens, *example.query))
    embedded = load_embedding(
        config.vectors,
        data.vocabulary,
        dim=config.embedding_dim,
        missing=config.missing,
        seed=seed,
        token_counts=counts,
    )
    return build(config, data.task, embedded.matrix, data.vocabulary.specials, seed=seed), embedded


def _stored(
    job: PlannedJob, record: ModelRecord, store: Store, device: torch.device, progress: Progress
) -> Classifier | None:
    """The stored model of a job; None, and said, when its weights are damaged."""
    data = job.prepared.data
    try:
        weights = store.load_weights(job.key)
    except StoreError as error:
        progress.say(f"{error}; training {job.title} again")
        return None
    if weights_sha256(weights) != record.weights_sha256:
        progress.say(f"the stored weights of {job.title} are not those of its record (checksum); training it again")
        return None
    if isinstance(job.model, ModelDefinition):
        return _made_again(job, job.model, weights, device, progress)
    empty = torch.zeros(record.config["embedding"])
    model = build(job.model, data.task, empty, data.vocabulary.specials, seed=job.seed)
    model.load_state_dict(weights)
    return model


def _made(
    job: PlannedJob,
    definition: ModelDefinition,
    store: Store,
    device: torch.device,
    progress: Progress,
    sources: Mapping[str, str],
) -> Fitted:
    """Make a person's own model by its own function, test it and store it."""
    started = time.perf_counter()
    with progress.bar(f"make {job.title}", 1) as advance:
        model = made(definition, job.prepared.data, job.seed, device)
        advance(1)
    seconds = time.perf_counter() - started
    # Copies, since weights that two modules share cannot be stored as they are.
    weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
    measures, predictions = tested(model, job)
    record = dataclasses.replace(_blank(job, device, sources), weights_sha256=weights_sha256(weights), **measures)
    record.provenance["train_seconds"] = round(seconds, 2)
    store.save_model(record, weights, predictions)
    return Fitted(model, record, fresh=True)


def _made_again(
    job: PlannedJob,
    definition: ModelDefinition,
    weights: dict[str, Tensor],
    device: torch.device,
    progress: Progress,
) -> Classifier | None:
    """A person's own model with its stored weights; None, and said, when they do not fit what its function makes."""
    try:
        model = made(definition, job.prepared.data, job.seed, device, stored=True)
        model.load_state_dict(weights)
    except (ContractError, RuntimeError) as error:
        progress.say(f"the stored weights of {job.title} cannot be loaded into it ({error}); making it anew")
        return None
    return model.eval()


def _trained(
    job: PlannedJob,
    config: ModelConfig,
    store: Store,
    device: torch.device,
    progress: Progress,
    sources: Mapping[str, str],
) -> Fitted:
    """Train the model of a job, from its last checkpoint if there is one, test it and store it."""
    data = job.prepared.data
    model, embedded = fresh_model(config, data, job.seed)
    model.to(device)
    if job.start is not None:
        model.load_state_dict(_start(job.start, store, device, progress, sources))
    resume = _checkpoint(job, store, progress)
    with progress.bar(f"train {job.title}", job.training.epochs) as advance:
        advance(len(resume["history"]) if resume else 0)
        trained = train(
            model,
            data,
            job.training,
            job.seed,
            job.procedure,
            resume=resume,
            save=lambda state: store.save_checkpoint(job.key, state),
            progress=lambda epoch, epochs, entry: advance(1),
        )
    weights = {name: value.detach().cpu() for name, value in model.state_dict().items()}
    measures, predictions = tested(model, job)
    record = dataclasses.replace(
        _blank(job, device, sources),
        weights_sha256=weights_sha256(weights),
        history=trained.history,
        **measures,
    )
    record.data.update(words_with_vector=embedded.found, words=embedded.words, token_coverage=embedded.token_coverage)
    record.config["embedding"] = list(embedded.matrix.shape)
    record.provenance["train_seconds"] = round(trained.seconds, 2)
    record.provenance["train_memory_mb"] = round(step_memory(model, data, job.training, job.procedure), 2)
    record.provenance["best_epoch"] = trained.best_epoch
    store.save_model(record, weights, predictions)
    return Fitted(model, record, fresh=True)


def _blank(job: PlannedJob, device: torch.device, sources: Mapping[str, str]) -> ModelRecord:
    """The record before testing, with the submitted files it rests on."""
    record = untested(job, device)
    return dataclasses.replace(record, provenance=record.provenance | submitted_files(job, sources))


def _start(
    job: PlannedJob, store: Store, device: torch.device, progress: Progress, sources: Mapping[str, str]
) -> dict[str, Tensor]:
    """The weights of the model that another goes on from, which is trained now if it never was."""
    try:
        if job.state == "failed":
            raise FaithboardError(f"{job.reason} (--retry-failed trains again)")
        return fitted(job, store, device, progress, sources).model.state_dict()
    except (DataError, StoreError):
        raise  # as in `fitted`: no failure of a model
    except FaithboardError as error:
        raise FaithboardError(f"the model it goes on from, {job.title}, could not be trained: {error}") from error


def _checkpoint(job: PlannedJob, store: Store, progress: Progress) -> Checkpoint | None:
    """Where the training of a job stands; None for the beginning, and said when that is for damage."""
    try:
        found = store.checkpoint(job.key)
    except StoreError as error:
        progress.say(f"{error}; training {job.title} from the beginning")
        return None
    if found is not None:
        progress.say(f"training {job.title} goes on after epoch {len(found['history'])}")
    return found
