"""From records to examples under a task's rules, with every row accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from faithboard.data.fingerprint import Fingerprint
from faithboard.data.marks import Marks
from faithboard.data.text import Words, words_of
from faithboard.errors import DataError, near
from faithboard.task import Example, Record, Task


@dataclass(frozen=True)
class SplitCounts:
    """What became of the rows of one split: those read are excluded by rule, too short, too long, or used."""

    read: int
    excluded_rule: int
    """Rows the task drops by rule (neutral trees, unlabelled pairs)."""
    excluded_short: int
    excluded_long: int
    used: int
    truncated: int
    """Used texts that were cut at the length limit."""
    tokens_cut: int
    per_class_before: dict[str, int]
    """Texts per class before the length filters."""
    per_class: dict[str, int]
    """Texts per class that are used."""
    average_length: float
    """Tokens of a used text, query and special tokens apart."""
    rationale_share: float | None = None
    """Marked share of the scorable tokens, mean over the used texts that have a marked one; None without any."""
    agreement: float | None = None
    """Where several people marked every text: token F1 of each against the union of the others, mean over texts."""

    @property
    def here(self) -> int:
        """Texts the task is about, before any length filter: what compares with the published number of rows."""
        return self.read - self.excluded_rule


def examples_of(
    task: Task, split: str, records: Iterable[Record | None], fingerprint: Fingerprint
) -> tuple[list[Example], SplitCounts]:
    """The examples of one split that are used, in the published order; each record is added to `fingerprint`.

    Raises DataError for a label outside the task's, a rationale outside its text, and a split without usable text.
    """
    rules = task.text
    label_ids = {label: at for at, label in enumerate(task.labels)}
    examples: list[Example] = []
    rows: Counter[str] = Counter()
    before: Counter[str] = Counter()
    marks = Marks(task)
    for record in records:
        rows["read"] += 1
        if record is None:
            rows["rule"] += 1
            continue
        for label in (record.label, *(record.candidates or ())):
            if label not in label_ids:
                raise DataError(f"task {task.name}, record {record.id}: label {label!r}; {near(label, task.labels)}")
        words = words_of(record, rules)
        fingerprint.add(split, words, record.label)
        before[record.label] += 1
        length = len(words.text)
        if _short(task, words):
            rows["short"] += 1
        elif rules.fewer_than is not None and length >= rules.fewer_than:
            rows["long"] += 1
        else:
            kept = length if rules.max_tokens is None else min(length, rules.max_tokens)
            marks.add(words, kept)
            examples.append(
                Example(
                    id=record.id,
                    tokens=words.text[:kept],
                    query=words.query,
                    label=label_ids[record.label],
                    rationale=None if words.rationale is None else words.rationale[:kept],
                    query_rationale=words.query_rationale,
                    candidates=_candidates(record, label_ids),
                    truncated=length - kept,
                )
            )
    if not examples:
        raise DataError(f"task {task.name}: the {split} split has no usable text ({rows['read']} rows read)")
    used = Counter(task.labels[example.label] for example in examples)
    return examples, SplitCounts(
        read=rows["read"],
        excluded_rule=rows["rule"],
        excluded_short=rows["short"],
        excluded_long=rows["long"],
        used=len(examples),
        truncated=sum(example.truncated > 0 for example in examples),
        tokens_cut=sum(example.truncated for example in examples),
        per_class_before={label: before[label] for label in task.labels},
        per_class={label: used[label] for label in task.labels},
        average_length=sum(len(example.tokens) for example in examples) / len(examples),
        rationale_share=marks.share,
        agreement=marks.agreement,
    )


def _short(task: Task, words: Words) -> bool:
    """True when a part that is explained is not long enough, or the query of a layout that has one is empty."""
    parts = {"text": words.text, "query": words.query}
    too_short = any(len(parts[part]) <= task.text.more_than for part in task.explained)
    return too_short or (task.layout != "single" and not words.query)


def _candidates(record: Record, label_ids: dict[str, int]) -> tuple[int, ...] | None:
    if record.candidates is None:
        return None
    return tuple(sorted(label_ids[label] for label in record.candidates))
