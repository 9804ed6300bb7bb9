"""The gradient of p_j: solved by hand, exact where the model is sure, and without a trace on the model."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from faithboard import Batch, Classifier, class_gradient, class_gradients, predict
from tests.toy import MIXED, SEVERAL, BagOfWords, recurrent, texts


def test_two_classes_by_hand() -> None:
    # z = 2 for "good film", -2 for "bad film": d p_j / d e = sigmoid'(2) in the sign of the predicted class.
    gradient = class_gradient(BagOfWords(), texts("good film", "bad film"))
    slope = 1 / (1 + math.exp(-2)) / (1 + math.exp(2))
    torch.testing.assert_close(gradient[:, 1:3, 0], torch.tensor([[slope, slope], [-slope, -slope]]))


def test_several_classes_by_hand() -> None:
    batch = texts("good film")
    p = predict(BagOfWords(SEVERAL), batch)[0]
    expected = p[0] * (torch.tensor([1.0, 0.0, 0.0, 0.0]) - p)
    torch.testing.assert_close(class_gradient(BagOfWords(SEVERAL), batch)[0, 1].double(), expected, rtol=1e-6, atol=0)


def test_a_class_that_is_no_candidate_has_no_gradient() -> None:
    batch = texts("good film", candidates=[[False, True, True, True]])
    p = predict(BagOfWords(SEVERAL), batch)[0]
    assert p[0] == 0
    assert p.argmax() == 3
    expected = p[3] * (torch.tensor([0.0, 0.0, 0.0, 1.0]) - p)
    torch.testing.assert_close(class_gradient(BagOfWords(SEVERAL), batch)[0, 1].double(), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("bias", [30.0, -30.0, 60.0])
def test_a_sure_model_keeps_its_digits(bias: float) -> None:
    batch = texts("good film")
    gradient = float(class_gradient(BagOfWords(bias=bias), batch)[0, 1, 0])
    z = bias + 2
    expected = math.copysign(math.exp(-abs(z)) / (1 + math.exp(-abs(z))) ** 2, z)
    assert gradient == pytest.approx(expected, rel=1e-5)


def test_the_target_stays_where_the_input_moves() -> None:
    batch = texts("good film")
    moved = -BagOfWords().embed(batch).detach()
    predicted_there = class_gradient(BagOfWords(), batch, embedded=moved)
    of_class_1 = class_gradient(BagOfWords(), batch, embedded=moved, target=torch.tensor([1]))
    torch.testing.assert_close(of_class_1, -predicted_there)


def test_attention_held_fixed() -> None:
    batch = texts("good dull")
    model = BagOfWords(attends=True)
    alpha = model(batch).attention
    p = predict(model, batch)[0]
    gradient = class_gradient(model, batch, detach_attention=True)
    expected = float(p.prod()) * alpha[0]
    torch.testing.assert_close(gradient[0, :, 0] * batch.scorable[0], expected.detach())
    assert not torch.allclose(gradient, class_gradient(model, batch))


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_left_as_it_was(training: bool) -> None:
    model = BagOfWords(dropout=0.5).train(training)
    model.bias.requires_grad_(False)
    random_state = torch.get_rng_state()
    first = class_gradient(model, texts(*MIXED))
    assert model.training is training
    assert model.dropout.training is training
    assert model.table.weight.requires_grad
    assert not model.bias.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), random_state)
    torch.testing.assert_close(first, class_gradient(BagOfWords(), texts(*MIXED)))


def test_the_callers_embedding_stays_a_plain_tensor() -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    with torch.no_grad():
        embedded = model.embed(batch)
        class_gradient(model, batch, embedded=embedded)
    assert not embedded.requires_grad
    assert embedded.grad is None


def test_recurrent_layers_run_outside_cudnn_and_it_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    model = recurrent()
    lstm = next(module for module in model.modules() if isinstance(module, nn.LSTM))
    lstm.register_forward_hook(lambda *_: seen.append(torch.backends.cudnn.enabled))
    monkeypatch.setattr(torch.backends.cudnn, "enabled", True)
    class_gradient(model, texts(*MIXED))
    assert seen == [False]
    assert torch.backends.cudnn.enabled


def test_equals_finite_differences_on_a_recurrent_model() -> None:
    model, batch = recurrent(), texts("nice film film what good bad film | what")
    model.double()
    gradient = class_gradient(model, batch)
    j = predict(model, batch).argmax(-1)
    embedded = model.embed(batch).detach()
    for token, dim in ((1, 0), (4, 3), (7, 5)):
        step = torch.zeros_like(embedded)
        step[0, token, dim] = 1e-5
        with torch.no_grad():
            up, down = (
                model(batch, embedded=embedded + sign * step).log_probabilities().exp()[0, j] for sign in (1, -1)
            )
        assert float(gradient[0, token, dim]) == pytest.approx(float(up - down) / 2e-5, rel=1e-5, abs=1e-12)


def test_logits_by_hand() -> None:
    # Class 1 is predicted first and class 0 second: the logit of class 0 is -z.
    gradient = class_gradient(BagOfWords(), texts("good film", "bad film"), of="logit")
    assert gradient[:, 1:3, 0].tolist() == [[1.0, 1.0], [-1.0, -1.0]]
    several = class_gradient(BagOfWords(SEVERAL), texts("bad"), of="logit", target=torch.tensor([3]))
    assert several[0, 1].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_the_logit_is_that_of_the_best_candidate() -> None:
    batch = texts("good film", candidates=[[False, True, True, True]])
    assert class_gradient(BagOfWords(SEVERAL), batch, of="logit")[0, 1].tolist() == [0.0, 0.0, 0.0, 1.0]


def points_of(model: Classifier, batch: Batch, number: int) -> Tensor:
    embedded = model.embed(batch).detach()
    return embedded * torch.linspace(-1, 1, number)[:, None, None, None]


@pytest.mark.parametrize("budget", [None, 1, 7, 30, 100, 10_000])
@pytest.mark.parametrize("number", [1, 5, 40])
def test_many_points_equal_one_after_the_other(budget: int | None, number: int) -> None:
    model, batch = recurrent(), texts(*MIXED)
    points, target = points_of(model, batch, number), predict(model, batch).argmax(-1)
    found = list(class_gradients(model, batch, points, target=target, budget=budget))
    assert len(found) == number
    for point, gradient in zip(points, found, strict=True):
        expected = class_gradient(model, batch, embedded=point, target=target)
        expected = expected.masked_fill(~batch.real[:, :, None], 0.0)
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-7)


def test_no_points_no_gradients() -> None:
    batch = texts("good")
    assert list(class_gradients(BagOfWords(), batch, iter(()), target=torch.tensor([1]))) == []


def passes(model: Classifier) -> list[tuple[int, int]]:
    """(rows, tokens with padding) of every pass from now on."""
    seen: list[tuple[int, int]] = []
    model.register_forward_pre_hook(lambda _, given: seen.append((len(given[0]), given[0].ids.numel())))
    return seen


def test_points_of_a_short_text_share_a_pass() -> None:
    model, batch = recurrent(), texts("good film")
    seen = passes(model)
    list(class_gradients(model, batch, points_of(model, batch, 50), target=torch.tensor([1])))
    assert seen == [(50, 50 * 4)]


def test_no_pass_is_over_the_budget_and_points_are_drawn_when_needed() -> None:
    model = recurrent()
    batch = texts("nice bad " * 300, "film")
    drawn, seen = 0, passes(model)
    alone = int(batch.lengths.max())

    def points() -> Iterator[Tensor]:
        nonlocal drawn
        for _ in range(50):
            drawn += 1
            yield model.embed(batch)

    for number, _ in enumerate(class_gradients(model, batch, points(), target=torch.tensor([0, 1]), budget=900)):
        # In hand are at most eight passes, here of one long text and one short one padded to its length.
        assert drawn - number <= 8 * 900 // (2 * alone)
    assert drawn == 50
    assert max(tokens for _, tokens in seen) <= 900
    assert sum(rows for rows, _ in seen) == 100


def test_little_padding_between_texts_of_other_lengths() -> None:
    model, batch = recurrent(), texts(*(("film " * length) for length in range(2, 42)))
    seen = passes(model)
    target = torch.zeros(len(batch), dtype=torch.long)
    list(class_gradients(model, batch, points_of(model, batch, 30), target=target, budget=2000))
    real = 30 * int(batch.lengths.sum())
    assert sum(tokens for _, tokens in seen) < 1.2 * real


def test_a_pass_that_does_not_fit_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = recurrent(), texts(*MIXED)
    points, target = points_of(model, batch, 6), predict(model, batch).argmax(-1)
    expected = list(class_gradients(model, batch, points, target=target))
    asked = []

    def small(model: Classifier, part: Batch, **named: Tensor) -> Tensor:
        asked.append(len(part))
        if len(part) > 4:
            raise torch.OutOfMemoryError("pretended")
        return class_gradient(model, part, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("faithboard.gradients.class_gradient", small)
    found = list(class_gradients(model, batch, points, target=target))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)
    assert max(asked) > 4
    assert sum(rows for rows in asked if rows <= 4) == 54


def test_a_single_text_that_does_not_fit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **named: object) -> Tensor:
        raise torch.OutOfMemoryError("pretended")

    monkeypatch.setattr("faithboard.gradients.class_gradient", full)
    model, batch = recurrent(), texts("good film")
    with pytest.raises(torch.OutOfMemoryError, match="pretended"):
        list(class_gradients(model, batch, points_of(model, batch, 2), target=torch.tensor([1])))


def test_equals_captum() -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = recurrent(), texts(*MIXED)
    j = predict(model, batch).argmax(-1)

    def probability(embedded: torch.Tensor) -> torch.Tensor:
        return model(batch, embedded=embedded).log_probabilities().exp()

    expected = captum_attr.Saliency(probability).attribute(
        model.embed(batch).detach().requires_grad_(), target=j, abs=False
    )
    torch.testing.assert_close(class_gradient(model, batch), expected, rtol=1e-5, atol=1e-8)
