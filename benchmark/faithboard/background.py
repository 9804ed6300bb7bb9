"""What a method may know of the training texts: their words and labels, never those of the texts it explains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from faithboard.rng import TOKEN, Rng

if TYPE_CHECKING:
    from jaxtyping import Int

    from faithboard.data import TaskData
    from faithboard.data.encoded import Encoded


@dataclass(frozen=True, eq=False)
class Background:
    """The explained words of all training texts, one text after the other, on the CPU.

    A method that needs it says `needs={"background"}` and takes it as a fourth argument.
    """

    words: Int[torch.Tensor, "word"]
    """Ids of the words, special tokens and kept queries apart, as often as they stand there."""
    text: Int[torch.Tensor, "word"]
    """Number of the text that each word stands in."""
    labels: Int[torch.Tensor, "text"]
    n_classes: int
    vocabulary_size: int

    @classmethod
    def of(cls, data: TaskData) -> Background:
        """The background of a task's training split."""
        from faithboard.data.encoded import Encoded

        train = Encoded.of(data.splits["train"], data.vocabulary, data.task)
        return cls.of_texts(train, len(data.task.labels), len(data.vocabulary))

    @classmethod
    def of_texts(cls, texts: Encoded, n_classes: int, vocabulary_size: int) -> Background:
        """The background that encoded texts are."""
        text = torch.repeat_interleave(torch.arange(len(texts)), texts.lengths)
        return cls(texts.ids[texts.scorable], text[texts.scorable], texts.labels, n_classes, vocabulary_size)

    @cached_property
    def document_frequency(self) -> Int[torch.Tensor, "vocabulary"]:
        """In how many texts each word of the vocabulary stands."""
        pairs = torch.unique(torch.stack([self.text, self.words]), dim=1)
        return torch.bincount(pairs[1], minlength=self.vocabulary_size)

    def drawn(self, rng: Rng) -> Int[torch.Tensor, "batch token"]:
        """A word for every token of the batch of `rng`, drawn as often as it stands in the training texts."""
        place = rng.integers(len(self.words), TOKEN)
        return self.words.to(place.device)[place]
