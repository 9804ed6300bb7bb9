"""The padded, reversed BiLSTM against PyTorch's packed bidirectional one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from faithboard.models.recurrent import BiLSTM, reversal

LENGTHS = torch.tensor([5, 1, 9, 3])


def padded(dim: int = 4) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    real = torch.arange(9)[None] < LENGTHS[:, None]
    return torch.randn(4, 9, dim, generator=generator), real


def packed_twin(encoder: BiLSTM, dim: int, hidden: int) -> nn.LSTM:
    """A bidirectional LSTM with the weights of `encoder`."""
    twin = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
    weights = {**encoder.ahead.state_dict()}
    weights |= {f"{name}_reverse": value for name, value in encoder.back.state_dict().items()}
    twin.load_state_dict(weights)
    return twin


def test_reversal_stays_within_the_length() -> None:
    real = torch.tensor([[True, True, True, False], [False, False, False, False]])
    assert reversal(real).tolist() == [[2, 1, 0, 3], [0, 1, 2, 3]]


def test_equals_packed_sequences_forward_and_backward() -> None:
    torch.manual_seed(0)
    encoder = BiLSTM(4, 3)
    twin = packed_twin(encoder, 4, 3)
    states, real = padded()
    ours_in, theirs_in = states.clone().requires_grad_(), states.clone().requires_grad_()

    ours = encoder(ours_in, real)
    packed = nn.utils.rnn.pack_padded_sequence(theirs_in, LENGTHS, batch_first=True, enforce_sorted=False)
    output, (last, _) = twin(packed)
    theirs, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)

    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)
    torch.testing.assert_close(encoder.summarise(ours, real), torch.cat([last[0], last[1]], -1), atol=1e-6, rtol=0)
    (ours.sin().sum()).backward()
    (theirs.sin().sum()).backward()
    torch.testing.assert_close(ours_in.grad, theirs_in.grad, atol=1e-6, rtol=0)
    torch.testing.assert_close(encoder.back.weight_hh_l0.grad, twin.weight_hh_l0_reverse.grad, atol=1e-5, rtol=1e-5)
