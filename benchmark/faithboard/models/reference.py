"""The reference model: embedding, encoder, attention and readout, put together once for every combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from faithboard.batch import Batch, Specials
from faithboard.classifier import Classifier, Decoder, Output
from faithboard.models.deletion import Deletion
from faithboard.models.encoders import Encoder
from faithboard.models.primitives import PLAIN, Primitives, UnderRules
from faithboard.models.readout import Readout
from faithboard.rules import Rules

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def capabilities_of(attends: bool, n_classes: int) -> frozenset[str]:
    """What a model with or without attention can do (see `Classifier.capabilities`)."""
    own = {"gradients", "rules"}
    if attends:
        own |= {"attention", "decode"}
    if n_classes > 2:
        own |= {"several-classes"}
    return frozenset(own)


class AttentionClassifier(Classifier):
    """`readout(sum_t alpha_t h_t)`: h the encoder's states, alpha the attention (Jain & Wallace 2019, section 2).

    In the layout `pair` a second encoder reads the query and its summary enters attention and readout; in `sequence`
    one encoder and one attention run over text and query together; in `single` there is no query. Without attention
    the encoder's summary of all that it reads, begin and end included, is the context, and there is no `decode`.
    """

    def __init__(
        self,
        *,
        embedding: nn.Embedding,
        encoder: Encoder,
        attention: nn.Module | None,
        readout: Readout,
        layout: Literal["single", "pair", "sequence"],
        n_classes: int,
        specials: Specials,
        query_encoder: Encoder | None = None,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.attention = attention
        self.readout = readout
        self.query_encoder = query_encoder
        self.layout = layout
        self.n_classes = n_classes
        self.specials = specials
        self.capabilities = capabilities_of(attention is not None, n_classes)

    def counted(self) -> tuple[nn.Module, ...]:
        return (self.encoder,) if self.query_encoder is None else (self.encoder, self.query_encoder)

    def embed(self, batch: Batch) -> Float[Tensor, "batch token dim"]:
        return self.embedding(batch.ids)

    def forward(
        self,
        batch: Batch,
        embedded: Float[Tensor, "batch token dim"] | None = None,
        attention: Float[Tensor, "batch token"] | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        ops = PLAIN if rules is None else UnderRules(rules)
        if embedded is None:
            embedded = self.embed(batch)
        hidden = self._encoded(embedded, batch, ops)
        query = self._query(embedded, batch, ops)
        if self.attention is None:
            if attention is not None:
                raise ValueError("this model has no attention that could be replaced")
            return Output(self.readout(self._summary(hidden, batch, ops), query, ops), None, hidden, query)
        if attention is None:
            attention = ops.softmax(self.attention(hidden, query, batch, ops), self.attended(batch))
        if detach_attention:
            attention = attention.detach()
        return Output(self._read(hidden, attention, batch, query, ops), attention, hidden, query)

    def decode(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        attention: Float[Tensor, "batch token"],
        batch: Batch,
        query: Float[Tensor, "batch hidden"] | None = None,
    ) -> Float[Tensor, "batch output"]:
        if query is None and self.query_encoder is not None:
            query = self._query(self.embed(batch), batch, PLAIN)
        return self._read(hidden, attention, batch, query, PLAIN)

    @torch.no_grad()
    def without_token(
        self, batch: Batch, text: Int[Tensor, "row"], position: Int[Tensor, "row"]
    ) -> Float[Tensor, "row output"]:
        order = position.argsort()
        position = position[order]
        needed, text = text[order].unique(return_inverse=True)
        whole = batch.rows(needed)
        left = whole.rows(text)
        left = left.without(nn.functional.one_hot(position, left.ids.shape[1]).bool())
        embedded = self.embed(whole)
        hidden = self._encoded_without(embedded, whole, left, text, position)
        query = self._query(embedded, whole, PLAIN)
        if query is not None:
            query = query[text]
        if self.attention is None:
            logits = self.readout(self._summary(hidden, left, PLAIN), query)
        else:
            attention = PLAIN.softmax(self.attention(hidden, query, left), self.attended(left))
            logits = self._read(hidden, attention, left, query, PLAIN)
        return torch.empty_like(logits).index_copy_(0, order, logits)

    def decoder(self, output: Output, batch: Batch) -> Decoder:
        if output.hidden is None:
            raise ValueError("this model gave no states that could be decoded")
        # The readout begins with a linear map, so the states are mapped once and no context is ever formed.
        projected, query = self.readout.project(output.hidden), output.query

        def decode(attention: Float[Tensor, "batch several token"]) -> Float[Tensor, "batch several output"]:
            return self.readout.finish(torch.bmm(attention, projected), query)

        return decode

    def attended(self, batch: Batch) -> Bool[Tensor, "batch token"]:
        """Tokens that share the attention: the words of what the explained encoder reads, without begin, end, <sep>."""
        own, ids = batch.specials, batch.ids
        wrapping = (ids == own.begin) | (ids == own.end) | (ids == own.sep) | (ids == own.pad)
        # A scorable position stays attended when a perturbation puts a special token there.
        return self._read_by_encoder(batch) & (batch.scorable | ~wrapping)

    def _read_by_encoder(self, batch: Batch) -> Bool[Tensor, "batch token"]:
        return batch.real if self.layout == "sequence" else batch.real & (batch.segment == 0)

    def _encoded(
        self, embedded: Float[Tensor, "batch token dim"], batch: Batch, ops: Primitives
    ) -> Float[Tensor, "batch token hidden"]:
        real, width = self._read_by_encoder(batch), batch.ids.shape[1]
        # The text comes first, so cutting at the longest one spares the steps over queries and padding.
        longest = int(real.sum(1).max()) if len(batch) else 0
        hidden = self.encoder(embedded[:, :longest], real[:, :longest], ops)
        return nn.functional.pad(hidden, (0, 0, 0, width - longest))

    def _encoded_without(
        self,
        embedded: Float[Tensor, "text token dim"],
        whole: Batch,
        left: Batch,
        text: Int[Tensor, "row"],
        position: Int[Tensor, "row"],
    ) -> Float[Tensor, "row kept hidden"]:
        """States of the rows of `left`, which are the texts `text` of `whole` without the tokens at `position`."""
        real = self._read_by_encoder(whole)
        longest = int(real.sum(1).max())
        deleted = Deletion(text, position, real[:, :longest])
        kept = self._read_by_encoder(left)[:, : longest - 1]
        hidden = self.encoder(embedded[:, :longest], kept, PLAIN, deleted)
        width = left.ids.shape[1]
        return hidden if hidden.shape[1] == width else nn.functional.pad(hidden, (0, 0, 0, width - hidden.shape[1]))

    def _summary(
        self, hidden: Float[Tensor, "batch token hidden"], batch: Batch, ops: Primitives
    ) -> Float[Tensor, "batch hidden"]:
        return self.encoder.summarise(hidden, self._read_by_encoder(batch), ops)

    def _query(
        self, embedded: Float[Tensor, "batch token dim"], batch: Batch, ops: Primitives
    ) -> Float[Tensor, "batch hidden"] | None:
        if self.query_encoder is None:
            return None
        states, real = to_front(embedded, batch.real & (batch.segment == 1))
        return self.query_encoder.summarise(self.query_encoder(states, real, ops), real, ops)

    def _read(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        attention: Float[Tensor, "batch token"],
        batch: Batch,
        query: Float[Tensor, "batch hidden"] | None,
        ops: Primitives,
    ) -> Float[Tensor, "batch output"]:
        return self.readout(ops.weighted_sum(attention, hidden, self.attended(batch)), query, ops)


def to_front(
    states: Float[Tensor, "batch token dim"], keep: Bool[Tensor, "batch token"]
) -> tuple[Float[Tensor, "batch kept dim"], Bool[Tensor, "batch kept"]]:
    """The states marked in `keep`, moved to the front in order, and the mask of those that are real there."""
    lengths = keep.sum(1)
    longest = int(lengths.max()) if keep.shape[0] else 0
    order = (~keep).to(torch.uint8).argsort(dim=1, stable=True)[:, :longest]
    real = torch.arange(longest, device=keep.device)[None, :] < lengths[:, None]
    return states.gather(1, order[:, :, None].expand(-1, -1, states.shape[2])), real
