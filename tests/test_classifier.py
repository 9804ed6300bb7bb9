from __future__ import annotations

import pytest
import torch

from faithboard.classifier import Classifier, log_probabilities
from faithboard.errors import ContractError
from tests.toy import texts


def gradient_of_top(gap: float) -> tuple[float, float]:
    """d log p_top / d z_top for logits (gap, 0, 0, 0): by autograd, and exactly."""
    logits = torch.tensor([[gap, 0.0, 0.0, 0.0]], requires_grad=True)
    log_probabilities(logits)[0, 0].backward()
    assert logits.grad is not None
    others = 3 * torch.exp(torch.tensor(-gap, dtype=torch.float64))
    return float(logits.grad[0, 0]), float(others / (1 + others))


@pytest.mark.parametrize("gap", [1.0, 10.0, 30.0, 36.0, 50.0, 80.0])
def test_a_very_sure_model_of_many_classes_keeps_its_digits(gap: float) -> None:
    found, exact = gradient_of_top(gap)
    assert found == pytest.approx(exact, rel=1e-5)
    logits = torch.tensor([[gap, 0.0, 0.0, 0.0]])
    assert -float(log_probabilities(logits)[0, 0]) == pytest.approx(exact, rel=max(1e-6, exact))


def test_log_probabilities_are_those_of_a_softmax() -> None:
    logits = torch.randn(20, 5, generator=torch.Generator().manual_seed(0)) * 4
    torch.testing.assert_close(log_probabilities(logits), logits.double().log_softmax(-1))


def test_candidates_share_all_the_probability() -> None:
    logits = torch.randn(3, 4)
    candidates = torch.tensor([[True, True, False, False], [False, True, True, True], [False, False, True, False]])
    p = log_probabilities(logits, candidates).exp()
    torch.testing.assert_close(p.sum(-1), torch.ones(3, dtype=torch.float64))
    assert not p[~candidates].any()


def test_a_single_candidate_has_no_gradient_and_no_nan() -> None:
    logits = torch.randn(1, 3, requires_grad=True)
    log_probabilities(logits, torch.tensor([[False, True, False]]))[0, 1].backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("z", [-80.0, -5.0, 0.0, 40.0, 80.0])
def test_two_classes_are_one_sigmoid(z: float) -> None:
    log_p = log_probabilities(torch.tensor([[z]]))
    exact = -torch.nn.functional.softplus(torch.tensor([z, -z], dtype=torch.float64))
    torch.testing.assert_close(log_p[0], exact)


def test_a_class_without_a_method_of_the_contract_is_told_which_and_what_it_returns() -> None:
    class Unfinished(Classifier):
        pass

    model, batch = Unfinished(), texts("good film")
    states = torch.zeros(*batch.ids.shape, 2)
    for name, ask in (
        ("counted", model.counted),
        ("embed", lambda: model.embed(batch)),
        ("forward", lambda: model(batch)),
        ("decode", lambda: model.decode(states, states[..., 0], batch)),
    ):
        with pytest.raises(ContractError, match=f"Unfinished lacks the method `{name}`; it must return "):
            ask()
