"""The content of a data set as one hash, whichever way it came."""

from __future__ import annotations

import hashlib
import json

from faithboard.data.text import Words


class Fingerprint:
    """Collects records; order and ids do not matter, repeats do.

    Each record is hashed as (split, words of text, words of query, label, rationale flags), and those of the query
    where there are any, after tokenising and the word rules, before any record is excluded or cut. Rows a task drops by
    rule are no part of it.
    """

    def __init__(self) -> None:
        self._records: list[bytes] = []

    def add(self, split: str, words: Words, label: str) -> None:
        content = [split, words.text, words.query, label, words.rationale]
        if words.query_rationale is not None:
            content.append(words.query_rationale)
        self._records.append(hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).digest())

    def hexdigest(self) -> str:
        return hashlib.sha256(b"".join(sorted(self._records))).hexdigest()
