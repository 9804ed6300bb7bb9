"""The trained model of a job: loaded when it is stored, else trained, tested, gated and stored."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

import faithboard
from faithboard.classifier import Classifier
from faithboard.data.embeddings import Embedding, load_embedding
from faithboard.errors import FaithboardError
from faithboard.known_truth import verify_shortcut
from faithboard.models import build
from faithboard.performance import gate, measure, probabilities
from faithboard.plan import PlannedJob
from faithboard.records import ModelRecord
from faithboard.running.progress import Progress
from faithboard.store import Store
from faithboard.training import train


def fitted(job: PlannedJob, store: Store, device: torch.device, progress: Progress) -> tuple[Classifier, ModelRecord]:
    """The model of a job in eval mode on `device`, and its record.

    Raises FaithboardError when training fails; the failure is stored as a record of its own first.
    """
    data = job.prepared.data
    specials = data.vocabulary.specials
    if job.state == "stored":
        record = next(one for one in store.models() if one.key == job.key)
        weights = store.load_weights(job.key)
        empty = torch.zeros(record.config["embedding"])
        model = build(job.model, data.task, empty, specials, seed=job.seed)
        model.load_state_dict(weights)
        return model.to(device), record
    counts = Counter(token for example in data.splits["train"] for token in (*example.tokens, *example.query))
    embedded = load_embedding(
        job.model.vectors,
        data.vocabulary,
        dim=job.model.embedding_dim,
        missing=job.model.missing,
        seed=job.seed,
        token_counts=counts,
    )
    model = build(job.model, data.task, embedded.matrix, specials, seed=job.seed).to(device)
    record = _record(job, device, embedded)
    start = time.perf_counter()
    try:
        with progress.bar(f"train {job.title}", job.training.epochs) as advance:
            trained = train(model, data, job.training, job.seed, progress=lambda epoch, total, now: advance(1))
    except FaithboardError as error:
        store.save_model(dataclasses.replace(record, status="failed", reason=str(error)), None)
        raise
    seconds = time.perf_counter() - start
    record = dataclasses.replace(record, history=trained.history, **_tested(model, job))
    record.provenance["train_seconds"] = round(seconds, 2)
    record.provenance["best_epoch"] = trained.best_epoch
    weights = {name: value.detach().cpu() for name, value in model.state_dict().items()}
    record = dataclasses.replace(record, weights_sha256=weights_sha256(weights))
    store.save_model(record, weights)
    return model, record


def provenance(device: torch.device) -> dict[str, Any]:
    """Where and with what something was computed. Not part of any key."""
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "dtype": "float32",
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "faithboard": faithboard.__version__,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def weights_sha256(weights: Mapping[str, Tensor]) -> str:
    """Hash of all parameters, names and shapes included; equal weights are the condition of a paired comparison."""
    found = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name].detach().cpu().contiguous()
        found.update(f"{name}{tuple(value.shape)}{value.dtype}".encode())
        found.update(value.numpy().tobytes())
    return found.hexdigest()


def _record(job: PlannedJob, device: torch.device, embedded: Embedding) -> ModelRecord:
    data = job.prepared.data
    return ModelRecord(
        key=job.key,
        task=data.task.name,
        task_version=data.task.version,
        fingerprint=data.fingerprint,
        fingerprint_name=data.fingerprint_name,
        model=job.model.name,
        training=job.training.procedure,
        seed=job.seed,
        config=dataclasses.asdict(job.model)
        | dataclasses.asdict(job.training)
        | {"embedding": list(embedded.matrix.shape)},
        performance_measure=data.task.performance,
        data={
            "origin": data.origin,
            "vocabulary": len(data.vocabulary),
            "words_with_vector": embedded.found,
            "words": embedded.words,
            "token_coverage": embedded.token_coverage,
            "splits": {
                split: dataclasses.asdict(counts) | {"here": counts.here} for split, counts in data.counts.items()
            },
            "published_rows": dict(data.task.published_rows),
        },
        provenance=provenance(device),
    )


def _tested(model: Classifier, job: PlannedJob) -> dict[str, Any]:
    data = job.prepared.data
    test = data.splits["test"]
    found = probabilities(model, test, data, model.device)
    labels = [example.label for example in test]
    passed = gate(found, labels, data.task, seed=job.seed)
    return {
        "performance": measure(found, labels, data.task),
        "gate_passed": passed.passed,
        "gate": {"bound": passed.bound, "threshold": passed.threshold},
        "known_truth": verify_shortcut(model, data) if data.task.rationale == "planted" else {},
    }
