"""Masked texts: against a naive loop, by hand, and how few the model is really asked."""

from __future__ import annotations

import math

import pytest
import torch

from faithboard import Batch, Classifier, ContractError, Output, evaluate_masks, predict, without_each_token
from faithboard.classifier import count_steps
from faithboard.erasure import MaskCount
from faithboard.operators import OPERATORS
from faithboard.rules import Rules
from tests.toy import MIXED, SEVERAL, BagOfWords, recurrent, texts

ON_TEXTS = ("delete", "unk", "zero", "previous")
"""Operators that change what every model reads."""


def random_masks(batch: Batch, masks: int, seed: int = 0) -> torch.Tensor:
    shape = (len(batch), masks, batch.ids.shape[1])
    return (torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5) & batch.scorable[:, None]


def one_at_a_time(model: Classifier, batch: Batch, drop: torch.Tensor) -> torch.Tensor:
    rows = [
        torch.stack([predict(model, batch.rows([b]).without(mask[None, : int(batch.lengths[b])]))[0] for mask in masks])
        for b, masks in enumerate(drop)
    ]
    return torch.stack(rows)


@pytest.mark.parametrize("budget", [None, 1, 40])
@pytest.mark.parametrize("make", [BagOfWords, lambda: BagOfWords(SEVERAL, attends=True), recurrent])
def test_equals_deleting_one_at_a_time(make: type[BagOfWords], budget: int | None) -> None:
    model, batch = make(), texts(*MIXED)
    drop = random_masks(batch, 6)
    found = evaluate_masks(model, batch, drop, budget=budget)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, one_at_a_time(model, batch, drop), rtol=0, atol=1e-6)


def test_by_hand_with_kept_order_and_a_query_that_stays() -> None:
    batch = texts("good film bad | nice", "dull")
    drop = torch.zeros(2, 3, batch.ids.shape[1], dtype=torch.bool)
    drop[0, 0, 1] = True
    drop[0, 1, 1:4] = True
    p = evaluate_masks(BagOfWords(), batch, drop)[:, :, 1]
    logistic = [[1 / (1 + math.exp(-z)) for z in row] for row in ((-1.0, 1.0, 1.0), (-1.0, -1.0, -1.0))]
    torch.testing.assert_close(p, torch.tensor(logistic, dtype=torch.float64))


def test_kept_tokens_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = BagOfWords(), texts("good film bad nice dull | what good")
    seen: list[torch.Tensor] = []

    def embed(part: Batch) -> torch.Tensor:
        seen.append(part.ids)
        return model.table(part.ids)

    monkeypatch.setattr(model, "embed", embed)
    drop = torch.zeros(1, 1, batch.ids.shape[1], dtype=torch.bool)
    drop[0, 0, [2, 4]] = True
    evaluate_masks(model, batch, drop)
    assert torch.equal(seen[0][0], batch.ids[0][~drop[0, 0]])


def test_candidates_stay_those_of_the_full_text() -> None:
    batch = texts("good film", "bad bad", candidates=[[False, True, True, False], [True, True, False, False]])
    p = evaluate_masks(BagOfWords(SEVERAL), batch, batch.scorable[:, None])
    torch.testing.assert_close(p[:, 0], torch.tensor([[0, 0.5, 0.5, 0], [0.5, 0.5, 0, 0]], dtype=torch.float64))


def test_equal_masks_of_a_text_are_evaluated_once() -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    drop = random_masks(batch, 3).repeat(1, 4, 1)
    count = MaskCount()
    with count_steps(model) as steps:
        evaluate_masks(model, batch, drop, count=count)
    distinct = {(b, tuple(mask)) for b, masks in enumerate(drop.tolist()) for mask in masks}
    assert count == MaskCount(asked=len(MIXED) * 12, evaluated=len(distinct))
    assert steps.forward == sum(int(batch.lengths[b]) - sum(mask) for b, mask in distinct)
    evaluate_masks(model, batch, drop, count=count)
    assert count.asked == 2 * len(MIXED) * 12


def test_equal_masks_of_different_texts_are_not_mixed_up() -> None:
    batch = texts("good bad", "bad good")
    drop = torch.zeros(2, 1, 4, dtype=torch.bool)
    drop[:, 0, 1] = True
    p = evaluate_masks(BagOfWords(), batch, drop)[:, 0, 1]
    assert p[0] < 0.5 < p[1]


def test_masks_that_differ_in_the_last_of_many_tokens_are_two() -> None:
    batch = texts(" ".join(["film"] * 99 + ["good"]))
    drop = torch.zeros(1, 2, batch.ids.shape[1], dtype=torch.bool)
    drop[0, 1, 100] = True
    p = evaluate_masks(BagOfWords(), batch, drop)[0, :, 1]
    assert p.tolist() == pytest.approx([1 / (1 + math.exp(-2)), 0.5])


def test_no_more_tokens_at_once_than_the_budget() -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    sizes: list[int] = []
    model.encoder.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[1].numel()))
    budget = int(batch.lengths.max())
    evaluate_masks(model, batch, random_masks(batch, 20), budget=budget)
    without_each_token(model, batch, budget=budget)
    assert max(sizes) <= budget


def test_no_masks_and_nothing_dropped() -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    nothing = torch.zeros(len(batch), 1, batch.ids.shape[1], dtype=torch.bool)
    torch.testing.assert_close(evaluate_masks(model, batch, nothing)[:, 0], predict(model, batch))
    assert evaluate_masks(model, batch, nothing[:, :0]).shape == (len(batch), 0, 2)


def test_only_scorable_tokens_can_be_deleted() -> None:
    batch = texts("good | bad")
    with pytest.raises(ValueError, match="only scorable tokens"):
        evaluate_masks(BagOfWords(), batch, (batch.segment == 1)[:, None])


class LookingAtOrder(Classifier):
    """Logit of class 1: the sum of the words' embeddings, each times its position in the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = BagOfWords()
        self.n_classes, self.specials = 2, self.inner.specials
        with torch.no_grad():
            self.inner.table.weight[self.specials.unk] = 0.5

    def counted(self) -> tuple[torch.nn.Module, ...]:
        return self.inner.counted()

    def embed(self, batch: Batch) -> torch.Tensor:
        return self.inner.embed(batch)

    def forward(
        self,
        batch: Batch,
        embedded: torch.Tensor | None = None,
        attention: torch.Tensor | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        embedded = self.embed(batch) if embedded is None else embedded
        position = torch.arange(batch.ids.shape[1])[:, None]
        return Output((embedded * position * batch.real[:, :, None]).sum(1))


def logits_after(operator: str, line: str, *places: int) -> float:
    """The logit of a text without the words at `places`, by an operator, from a model that looks at their order."""
    batch = texts(line)
    drop = torch.zeros(1, 1, batch.ids.shape[1], dtype=torch.bool)
    drop[0, 0, list(places)] = True
    return float(torch.logit(evaluate_masks(LookingAtOrder(), batch, drop, operator=operator)[0, 0, 1]))


@pytest.mark.parametrize(
    ("operator", "places", "logit"),
    [
        # good 2, nice 1, bad -2 at 1, 2, 3 and the query's dull -1 at 5, after the end; the rest moves up, or not.
        ("delete", (2,), 2 * 1 - 2 * 2 - 1 * 4),
        ("unk", (2,), 2 * 1 + 0.5 * 2 - 2 * 3 - 1 * 5),
        ("zero", (2,), 2 * 1 - 2 * 3 - 1 * 5),
        ("previous", (2,), 2 * 1 + 2 * 2 - 2 * 3 - 1 * 5),
        # Before the first kept word: that one. Nothing kept: `<unk>`.
        ("previous", (1, 2), -2 * 1 - 2 * 2 - 2 * 3 - 1 * 5),
        ("previous", (2, 3), 2 * 1 + 2 * 2 + 2 * 3 - 1 * 5),
        ("previous", (1, 2, 3), 0.5 * (1 + 2 + 3) - 1 * 5),
    ],
)
def test_operators_by_hand(operator: str, places: tuple[int, ...], logit: float) -> None:
    assert logits_after(operator, "good nice bad | dull", *places) == pytest.approx(logit, abs=1e-6)


@pytest.mark.parametrize("operator", ON_TEXTS)
def test_operators_equal_one_text_at_a_time_and_count_duplicates_once(operator: str) -> None:
    model, batch = recurrent(), texts(*MIXED)
    drop = random_masks(batch, 4).repeat(1, 2, 1)
    apply, count = OPERATORS[operator].apply, MaskCount()
    assert apply is not None
    found = evaluate_masks(model, batch, drop, operator=operator, budget=40, count=count)
    assert count.evaluated <= count.asked / 2
    for b, masks in enumerate(drop):
        one = batch.rows([b])
        for point, mask in enumerate(masks[:4]):
            with torch.no_grad():
                changed, embedded = apply(model, one, mask[None, : one.ids.shape[1]])
                expected = model(changed, embedded=embedded).log_probabilities()[0].exp()
            torch.testing.assert_close(found[b, point], expected, rtol=0, atol=1e-6)
            torch.testing.assert_close(found[b, point + 4], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("operator", ON_TEXTS)
def test_operators_stay_within_the_budget_and_leave_the_rest_alone(operator: str) -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    sizes: list[int] = []
    model.encoder.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[1].numel()))
    budget = int(batch.lengths.max())
    evaluate_masks(model, batch, random_masks(batch, 5), operator=operator, budget=budget)
    assert max(sizes) <= budget
    with pytest.raises(ValueError, match="only scorable tokens"):
        evaluate_masks(model, batch, batch.real[:, None], operator=operator)


def test_an_unknown_operator_is_named() -> None:
    batch = texts("good")
    with pytest.raises(ContractError, match="unknown operator 'remove'"):
        evaluate_masks(BagOfWords(), batch, batch.scorable[:, None], operator="remove")


def test_dropout_is_off_and_the_mode_is_put_back() -> None:
    model, batch = BagOfWords(dropout=0.5).train(), texts(*MIXED)
    drop = random_masks(batch, 2)
    torch.testing.assert_close(evaluate_masks(model, batch, drop), evaluate_masks(BagOfWords(), batch, drop))
    assert model.training


@pytest.mark.parametrize("make", [BagOfWords, recurrent])
def test_without_each_token_equals_a_naive_loop(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    found = without_each_token(model, batch)
    assert bool(torch.isnan(found[~batch.scorable]).all())
    for b, token in batch.scorable.nonzero().tolist():
        one = batch.rows([b])
        drop = torch.zeros_like(one.real)
        drop[0, token] = True
        torch.testing.assert_close(found[b, token], predict(model, one.without(drop))[0], rtol=0, atol=1e-6)


def test_more_short_remains_than_are_built_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithboard.erasure._ROWS", 3)
    model, batch = BagOfWords(), texts(*MIXED)
    drop = random_masks(batch, 5)
    torch.testing.assert_close(evaluate_masks(model, batch, drop), one_at_a_time(model, batch, drop))
