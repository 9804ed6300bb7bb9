"""From a task to its data: found, read, tokenised, filtered, counted, fingerprinted and cached."""

from __future__ import annotations

import hashlib
import heapq
import importlib.metadata
import inspect
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from faithboard.data import arrow
from faithboard.data.examples import SplitCounts, examples_of
from faithboard.data.fingerprint import Fingerprint
from faithboard.data.splits import lacking, records_by_split
from faithboard.data.vocabulary import SPECIAL_WORDS, Vocabulary
from faithboard.errors import DataError
from faithboard.readers import files, hub
from faithboard.task import SPLITS, Example, Record, Task

log = logging.getLogger(__name__)

Origin = Literal["files", "hub", "generated"]
UNVERIFIED = "unverified"
OWN = "own data"
"""Name of what a person brings: nobody else has published it, so there is nothing to verify it by."""


@dataclass(frozen=True)
class TaskData:
    """The splits of a task, ready to be collated."""

    task: Task
    splits: Mapping[str, Sequence[Example]]
    vocabulary: Vocabulary
    fingerprint: str
    fingerprint_name: str
    """Name under which the task knows this fingerprint, `own data` of a person's own file, or `unverified`."""
    origin: Origin
    counts: Mapping[str, SplitCounts]
    cut: tuple[str, ...] = ()
    """Splits the data does not have, cut off its training texts (`Task.cut`)."""


def sample(data: TaskData, split: str, n: int) -> list[Example]:
    """The first `n` examples of a split by SHA-256(task name, example id).

    Larger samples contain smaller ones, and the published order of a file plays no part.
    """

    def order(example: Example) -> bytes:
        return hashlib.sha256(f"{data.task.name}\x1f{example.id}".encode()).digest()

    return heapq.nsmallest(n, data.splits[split], key=order)


def load(
    task: Task,
    *,
    cache: Path,
    root: Path | None = None,
    origin: Literal["auto", "files", "hub", "generated"] = "auto",
) -> TaskData:
    """The data of `task`, from the cache when its sources, its definition and the code that reads it are unchanged.

    `files` reads the published files below `root`; `hub` reads the Hugging Face hub, or, with a `root`, a copy of the
    hub's parquet files there; `generated` needs nothing. `auto` takes the files when `root` holds the task's folder,
    else generates. Raises DataError when the data is missing, malformed, or not what the task's fingerprints say.
    """
    source = _source(task, root, origin)
    entry = cache / "data" / f"{task.name}-{_key(task, source)[:20]}"
    stored = arrow.read(entry)
    if stored is None:
        log.info("reading and tokenising %s (%s)", task.name, source.origin)
        arrow.write(entry, *_build(task, source))
        stored = arrow.read(entry)
        if stored is None:
            raise DataError(f"cached data {entry} does not read back as it was written; is the disk damaged?")
    splits, meta = stored
    return TaskData(
        task=task,
        splits={split: splits[split] for split in SPLITS},
        vocabulary=Vocabulary.of(meta["words"]),
        fingerprint=meta["fingerprint"],
        fingerprint_name=_verified(task, source.origin, meta["fingerprint"]),
        origin=source.origin,
        counts={split: SplitCounts(**meta["counts"][split]) for split in SPLITS},
        cut=tuple(meta["cut"]),
    )


@dataclass(frozen=True)
class _Source:
    """Where the records of a task come from."""

    origin: Origin
    identity: Mapping[str, str]
    """What tells its content from any other: hashes of files, or id and revision."""
    read: Callable[[str], Iterable[Record | None]]
    """split -> records; None for a row dropped by rule."""


def _source(task: Task, root: Path | None, origin: str) -> _Source:
    if task.own_file is not None and task.read is not None:
        own = task.own_file
        return _Source("files", {"file": files.sha256(own)}, partial(task.read, own))
    if root is not None and not root.is_dir():
        raise DataError(f"the data folder {root} does not exist")
    if origin == "auto":
        here = root is not None and files.data_folder(root, task) is not None
        origin = "files" if here or task.generate is None else "generated"
    if origin == "generated":
        if task.generate is None:
            raise DataError(f"task {task.name} cannot be generated; give the folder of its published files")
        return _Source("generated", {}, task.generate)
    if origin == "hub":
        if task.hub is None:
            raise DataError(f"task {task.name} is not on the hub; give the folder of its published files")
        copy = root / task.folder if root is not None and (root / task.folder).is_dir() else root
        return _Source("hub", hub.identity(task.hub, copy), partial(hub.records, task.hub, copy))
    if task.read is None:
        raise DataError(f"task {task.name} has no published files; it is generated")
    if root is None:
        raise DataError(
            f"task {task.name} needs the folder of its published files ({task.source.url}; licence: "
            f"{task.source.licence})" + ("" if task.hub is None else ", or the hub as its origin")
        )
    folder, found = files.find(root, task)
    return _Source("files", {part: files.sha256(path) for part, path in found.items()}, partial(task.read, folder))


def _key(task: Task, source: _Source) -> str:
    """Hash of everything the cached data depends on."""
    content = {
        "task": [task.name, task.version, task.labels, asdict(task.text), task.distinct, dict(task.cut)],
        "origin": source.origin,
        "identity": dict(source.identity),
        "code": _code(task),
        "tokeniser": _version("spacy"),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _code(task: Task) -> str:
    """Hash of the code that parses: readers, generators, text rules and the task's own file.

    A mended parser thus never meets what the broken one had cached, without a version number to forget.
    """
    here = Path(__file__).parent
    paths = [*here.parent.glob("readers/*.py"), *here.parent.glob("generators/*.py")]
    paths += [
        here / f"{name}.py"
        for name in ("arrow", "examples", "fingerprint", "loading", "marks", "splits", "text", "vocabulary")
    ]
    functions: list[Callable[..., Any] | None] = [task.read, task.generate, task.hub.convert if task.hub else None]
    for function in functions:
        while isinstance(function, partial):
            function = function.func
        if function is not None:
            paths.append(Path(inspect.getfile(inspect.unwrap(function))))
    return hashlib.sha256("".join(files.sha256(path) for path in sorted(set(paths))).encode()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _build(task: Task, source: _Source) -> tuple[dict[str, list[Example]], dict[str, Any]]:
    """Examples per split, and what is stored beside them."""
    fingerprint = Fingerprint()
    splits: dict[str, list[Example]] = {}
    counts: dict[str, SplitCounts] = {}
    cut = lacking(task, source.read)
    for split, records in records_by_split(task, source.read, cut):
        splits[split], counts[split] = examples_of(task, split, records, fingerprint)
        _check_classes(task, split, counts[split])
    _check_ids(task, splits)
    vocabulary = Vocabulary.from_documents(
        ((*example.tokens, *example.query) for example in splits["train"]),
        task.text.min_document_frequency,
        answers=frozenset(task.labels) if task.chooses_candidates else (),
    )
    _verified(task, source.origin, fingerprint.hexdigest())
    return splits, {
        "words": vocabulary.words[len(SPECIAL_WORDS) :],
        "fingerprint": fingerprint.hexdigest(),
        "counts": {split: asdict(count) for split, count in counts.items()},
        "cut": cut,
    }


def _check_classes(task: Task, split: str, counts: SplitCounts) -> None:
    """Scores on a split of one class would mean nothing, and nothing is learnt from one."""
    classes = [label for label, number in counts.per_class.items() if number]
    if task.binary and len(classes) == 1:
        raise DataError(
            f"task {task.name}: every usable text of the {split} split is of class {classes[0]!r} ({counts.used} of "
            f"{counts.read} rows used); scores on it would mean nothing. Is the file whole?"
        )
    lacking_here = [label for label in counts.per_class if label not in classes]
    if task.own_file is not None and lacking_here:
        raise DataError(
            f"{task.own_file}: no text of class {lacking_here[0]!r} can be used in the {split} split "
            f"({counts.per_class_before[lacking_here[0]]} there before texts of one word were left out); every class "
            "needs texts in every split" + ("" if split not in task.cut else ". Add some, or a column split")
        )


def _check_ids(task: Task, splits: Mapping[str, Sequence[Example]]) -> None:
    """Samples and random draws belong to an id, so no two texts may share one."""
    seen = Counter(example.id for examples in splits.values() for example in examples)
    repeated, times = seen.most_common(1)[0]
    if times > 1:
        raise DataError(
            f"task {task.name}: example id {repeated} occurs {times} times; ids must differ over all splits"
        )


def _verified(task: Task, origin: Origin, fingerprint: str) -> str:
    """The name the task knows this content by.

    Raises DataError for data from the hub that is not what the task knows as published, where it should be.
    """
    for name, known in task.fingerprints.items():
        if known == fingerprint:
            return name
    if task.own_file is not None:
        return OWN
    published = task.fingerprints.get("published")
    complete = task.hub is not None and task.hub.complete
    if origin == "hub" and published is not None and complete:
        raise DataError(
            f"task {task.name}: the data from the hub has the fingerprint {fingerprint}, the published data set has "
            f"{published}. It is another data set or another version, and is refused; use the published files "
            f"({task.source.url})"
        )
    return UNVERIFIED
