"""Explain single texts with a stored model: words of a person's own, or test examples by id. Nothing is trained."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from faithboard.attribution import Method
from faithboard.background import Background
from faithboard.classifier import Classifier, predict
from faithboard.data import TaskData, load
from faithboard.data.collate import collate
from faithboard.data.text import words_of
from faithboard.errors import DataError, FaithboardError, SuiteError, near
from faithboard.records import ModelRecord
from faithboard.resolve import asks_for_training, resolve, resolve_all, shortened, submitted_models
from faithboard.running.explaining import explain_batch
from faithboard.session import Place, chosen_origin
from faithboard.stored_models import Own, loaded, stored_model
from faithboard.task import Example, Record, Task


@dataclass(frozen=True)
class Word:
    """One word of an explained text, in its order."""

    text: str
    part: Literal["text", "query"]
    scored: bool
    """Whether explanations give it a score; a query that the task does not explain is only shown."""
    known: bool
    """False for a word that the model reads as `<unk>`."""
    rationale: bool
    """Whether people, or the generator, marked it."""


@dataclass(frozen=True)
class MethodScores:
    """What one method says of one text."""

    method: str
    signed: bool
    scores: tuple[float, ...] | None
    """One per scored word, in order, the mean over draws; None when it has none."""
    reason: str = ""
    """Why it has none."""
    failed: bool = False
    """True when it broke; a method that does not apply to the model has only a reason."""


@dataclass(frozen=True)
class ExplainedText:
    """A text, what the model predicts, and what the methods say."""

    example: str
    """Id of the example; of a person's own text a hash."""
    words: tuple[Word, ...]
    labels: tuple[str, ...]
    """Names of the classes, in the order of `probabilities`."""
    probabilities: tuple[float, ...]
    gold: str | None
    """Label of a test example; None for a person's own text."""
    truncated: int
    """Words cut off at the task's length limit."""
    methods: tuple[MethodScores, ...]
    changed: tuple[tuple[str, str], ...] = ()
    """Words of a person's own text that the task's rules made others, beyond case: (as written, as read)."""

    @property
    def predicted(self) -> str:
        return self.labels[max(range(len(self.labels)), key=self.probabilities.__getitem__)]


@dataclass(frozen=True)
class Answer:
    """What was asked of a stored model."""

    record: ModelRecord
    private: bool
    """Whether texts of the task must stay out of files that are shown."""
    texts: tuple[ExplainedText, ...]

    @property
    def model(self) -> str:
        """One line about the model."""
        own, measure = self.record, self.record.performance_measure
        reached = f" ({measure} {own.performance[measure]:.3f})" if measure in own.performance else ""
        return f"{own.model} on {own.task}, {own.training} training, seed {own.seed}{reached}"


def ask(
    place: Place,
    task: str,
    methods: Sequence[str],
    *,
    texts: Sequence[str | Sequence[str]] = (),
    query: str | Sequence[str] = (),
    examples: Sequence[str] = (),
    model: str = "",
    training: str = "standard",
    seed: int | None = None,
) -> Answer:
    """Explain texts of a person's own, then test examples by id, with a stored model of the task.

    Task, methods and a model that is not a reference model are references as everywhere. The data is taken from where
    the model's came from, unless `place` says otherwise. Raises SuiteError for nothing to explain and for no stored
    model (with the command that trains it), DataError for data that is not here, ResolveError for a reference that
    leads nowhere. What a method raises is in its `MethodScores`.
    """
    if not texts and not examples:
        raise SuiteError("there is nothing to explain: give a text, or the id of a test example (--example)")
    definition = resolve("task", task).value
    found = [one.value for one in resolve_all("method", methods)]
    own = submitted_models([model]).get(model)
    asked = Own(own.name, own.sha256, model) if own else None
    record = stored_model(place.store, definition.name, model, training, seed, task, asked)
    origin = chosen_origin(str(record.data.get("origin", "auto"))) if place.origin == "auto" else place.origin
    place = replace(place, origin=origin)
    data = load(definition, cache=place.store.root, root=place.data, origin=place.origin)
    network = loaded(record, data, place.store, place.device, own.value if own else None)
    written = [worded(definition, text, query) for text in texts]
    tested = named(data, examples)
    said = explained(network, record, data, written, found, gold=False) if written else []
    said = [replace(one, changed=changed(definition, text, query)) for one, text in zip(said, texts, strict=True)]
    said += explained(network, record, data, tested, found, gold=True) if tested else []
    return Answer(record, definition.private, tuple(said))


def worded(task: Task, text: str | Sequence[str], query: str | Sequence[str] = ()) -> Example:
    """A person's own text as an example, by the word rules of the task. Words that are given apart are kept apart.

    Its label is not known and stands as class 0. Raises DataError for a text without words, for a query where the task
    has none, and for none where it has one.
    """
    if query and task.layout == "single":
        raise DataError(f"task {task.name} has no query; leave it out")
    if not query and task.layout == "pair":
        raise DataError(f"task {task.name} needs a query (--query) beside the text")
    own = [one if isinstance(one, str) else tuple(one) for one in (text, query)]
    name = hashlib.sha256("\x1f".join(map(str, own)).encode()).hexdigest()[:12]
    words = words_of(Record(f"text-{name}", own[0], task.labels[0], own[1]), task.text)
    if not words.text:
        raise DataError(f"there is no word in the text {text!r}")
    limit = task.text.max_tokens
    kept = words.text if limit is None else words.text[:limit]
    return Example(f"text-{name}", kept, words.query, 0, truncated=len(words.text) - len(kept))


def changed(task: Task, text: str | Sequence[str], query: str | Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Words that the task's rules replace by others, each once: (as written, as read). Case alone does not count."""
    own = [one if isinstance(one, str) else tuple(one) for one in (text, query)]
    record = Record("text", own[0], task.labels[0], own[1])
    plain = words_of(record, replace(task.text, lower=False, digits=None))
    ruled = words_of(record, task.text)
    kept = slice(task.text.max_tokens)
    before, after = ((*words.text[kept], *words.query) for words in (plain, ruled))
    pairs = zip(before, after, strict=True)
    return tuple(dict.fromkeys(pair for pair in pairs if pair[0].lower() != pair[1].lower()))


def named(data: TaskData, ids: Iterable[str]) -> list[Example]:
    """The test examples of these ids. Raises SuiteError for an unknown id, and for a task whose texts are private."""
    ids = list(ids)
    if ids and data.task.private:
        raise SuiteError(f"the texts of {data.task.name} are private: no example of it is shown")
    known = {example.id: example for example in data.splits["test"]}
    for name in ids:
        if name not in known:
            ordered = sorted(known)
            hint = near(name, ordered if len(ordered) < 20 else [*ordered[:3], *ordered[-1:]])
            raise SuiteError(f"{data.task.name} has no test example {name!r} ({len(known):,} there are); {hint}")
    return [known[name] for name in ids]


def explained(
    model: Classifier,
    record: ModelRecord,
    data: TaskData,
    examples: Sequence[Example],
    methods: Sequence[Method],
    *,
    gold: bool,
) -> list[ExplainedText]:
    """What every method says of every example, with the draws of a run; `gold` says whether labels are true ones.

    A method that fails or does not apply says so in its `MethodScores`; the others go on.
    """
    batch = collate(examples, data.vocabulary, data.task, model.device)
    probabilities = predict(model, batch).tolist()
    said: list[list[MethodScores]] = [[] for _ in examples]
    for method in methods:
        for own, scores in zip(said, _said(model, record, data, examples, method), strict=True):
            own.append(scores)
    return [
        ExplainedText(
            example=example.id,
            words=_words(example, data),
            labels=data.task.labels,
            probabilities=tuple(p),
            gold=data.task.labels[example.label] if gold else None,
            truncated=example.truncated,
            methods=tuple(own),
        )
        for example, p, own in zip(examples, probabilities, said, strict=True)
    ]


def _said(
    model: Classifier, record: ModelRecord, data: TaskData, examples: Sequence[Example], method: Method
) -> list[MethodScores]:
    missing = method.needs - model.capabilities - {"background"}
    reason, failed = "", False
    if missing:
        reason = f"needs {', '.join(sorted(missing))}, which {record.model} has not on this task"
    elif method.kind != "reference" and asks_for_training(method) and method.training != record.training:
        reason = f"explains models of {method.training} training, and this one is of {record.training}"
    else:
        try:
            ready = method.given(Background.of(data)) if "background" in method.needs else method
            batch = collate(examples, data.vocabulary, data.task, model.device)
            # A copy, so that a method that changes the model does not spoil the next.
            found = explain_batch(copy.deepcopy(model), ready, batch, record.seed)
            means = found.groupby("example")["scores"].apply(lambda draws: sum(draws) / len(draws))
            return [MethodScores(method.name, method.signed, tuple(means[one.id].tolist())) for one in examples]
        except (Exception, SystemExit) as error:  # noqa: BLE001  a method is anybody's code: the others go on
            reason = str(error) if isinstance(error, FaithboardError) else f"it raised\n{shortened(error)}"
            failed = True
    return [MethodScores(method.name, method.signed, None, reason, failed) for _ in examples]


def _words(example: Example, data: TaskData) -> tuple[Word, ...]:
    words: list[Word] = []
    parts: tuple[tuple[Literal["text", "query"], tuple[str, ...], tuple[bool, ...] | None], ...] = (
        ("text", example.tokens, example.rationale),
        ("query", example.query, example.query_rationale),
    )
    for part, tokens, marked in parts:
        flags = marked or (False,) * len(tokens)
        for token, flag in zip(tokens, flags, strict=True):
            known = data.vocabulary.id(token) != data.vocabulary.specials.unk
            words.append(Word(token, part, part in data.task.explained, known, flag))
    return tuple(words)
