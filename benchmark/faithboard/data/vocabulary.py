"""The words a model knows, and their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from faithboard.batch import Specials

SPECIAL_WORDS = ("<pad>", "<unk>", "<begin>", "<end>", "<sep>")


@dataclass(frozen=True)
class Vocabulary:
    """Words by id. Special tokens come first; a text that happens to contain one of their names gets `<unk>` there."""

    words: tuple[str, ...]
    specials: Specials

    @classmethod
    def from_documents(
        cls, documents: Iterable[Sequence[str]], min_document_frequency: int = 1, answers: Collection[str] = ()
    ) -> Vocabulary:
        """The words of at least `min_document_frequency` documents, most frequent first, ties in alphabetical order.

        A document is one training text together with its query. The order of the documents does not matter. Of
        `answers` every word in the documents is kept, however rare: a model cannot point at what it cannot tell apart.
        """
        frequency = Counter(word for document in documents for word in set(document))
        often = {word for word, count in frequency.items() if count >= min_document_frequency}
        kept = [word for word in frequency if (word in often or word in answers) and word not in SPECIAL_WORDS]
        kept.sort(key=lambda word: (-frequency[word], word))
        return cls.of(kept)

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """The special tokens, then `words` in their order."""
        pad, unk, begin, end, sep = range(len(SPECIAL_WORDS))
        return cls((*SPECIAL_WORDS, *words), Specials(pad=pad, unk=unk, begin=begin, end=end, sep=sep))

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """Id of `word`, that of `<unk>` when it is not known."""
        return self._ids.get(word, self.specials.unk)

    def ids(self, words: Iterable[str]) -> list[int]:
        """Id of each word, in order."""
        known, unk = self._ids, self.specials.unk
        return [known.get(word, unk) for word in words]

    @cached_property
    def _ids(self) -> dict[str, int]:
        first = len(SPECIAL_WORDS)
        return {word: first + at for at, word in enumerate(self.words[first:])}
