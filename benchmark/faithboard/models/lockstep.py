"""An LSTM over texts with one token deleted: all of them in lock step, and nothing twice that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.models.deletion import Deletion

if TYPE_CHECKING:
    from jaxtyping import Float

_SHUT = 1e4
"""A sigmoid of minus this is 0 in every precision."""


def run_without(
    lstm: nn.LSTM,
    states: Float[Tensor, "text token dim"],
    deleted: Deletion,
    out: Float[Tensor, "row kept hidden"],
    *,
    backward: bool,
) -> None:
    """Write one direction's states of every row of `deleted` into `out`.

    All rows run in lock step over the positions of the whole texts. A row joins where its token is deleted, with the
    state that its whole text has there: until then the two are the same, and inputs are projected once per text.
    """
    n_texts, length, _ = states.shape
    own = dict(lstm.named_parameters())
    inputs = nn.functional.linear(states, own["weight_ih_l0"], own["bias_ih_l0"] + own["bias_hh_l0"])
    # On padding all gates are shut, so that a backward run comes to the last token with a state of zeros.
    inputs = inputs.masked_fill(~deleted.real[:, :, None], -_SHUT).transpose(0, 1).contiguous()
    recurrent = own["weight_hh_l0"].t().contiguous()
    bounds, text, rows = deleted.bounds(), deleted.text, len(deleted.text)
    # Whole texts stand beside the rows that join first, so that all that run are one slice at any time.
    whole = torch.arange(n_texts, device=text.device)
    owner = torch.cat([text, whole] if backward else [whole, text])
    first_row, first_text = (0, rows) if backward else (n_texts, 0)
    h, c = states.new_zeros(2, len(owner), lstm.hidden_size)
    texts = slice(first_text, first_text + n_texts)
    for t in reversed(range(length)) if backward else range(length):
        before, upto = bounds[t], bounds[t + 1]
        joining = slice(first_row + before, first_row + upto)
        running = slice(upto, len(owner)) if backward else slice(0, first_row + before)
        h[joining] = h[texts].index_select(0, text[before:upto])
        c[joining] = c[texts].index_select(0, text[before:upto])
        _step(inputs[t].index_select(0, owner[running]), recurrent, h[running], c[running])
        if t > 0:
            out[:before, t - 1] = (
                h[texts].index_select(0, text[:before]) if backward else h[first_row : first_row + before]
            )
        if t < length - 1:
            out[upto:, t] = h[upto:rows] if backward else h[texts].index_select(0, text[upto:])


def _step(
    gates: Float[Tensor, "row gates"],
    recurrent: Float[Tensor, "hidden gates"],
    h: Float[Tensor, "row hidden"],
    c: Float[Tensor, "row hidden"],
) -> None:
    """One step of an LSTM in place: `gates` holds the projected inputs, `h` and `c` the state, which moves on."""
    gates.addmm_(h, recurrent)
    size = h.shape[1]
    entering, kept = gates[:, : 2 * size].sigmoid_().chunk(2, 1)
    new, shown = gates[:, 2 * size : 3 * size].tanh_(), gates[:, 3 * size :].sigmoid_()
    c.mul_(kept).addcmul_(entering, new)
    torch.mul(shown, c.tanh(), out=h)
