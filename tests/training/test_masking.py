"""Saliency-guided training and its control: by hand, against a naive loop, and by finite differences."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output
from faithboard.config import TrainingConfig
from faithboard.data.vocabulary import SPECIAL_WORDS
from faithboard.errors import SuiteError
from faithboard.gradients import class_gradient
from faithboard.operators import previous_kept
from faithboard.rng import Rng
from faithboard.training import RANDOM_MASKING, SALIENCY_GUIDED, STANDARD, CrossEntropy, check_training, procedure_of
from faithboard.training.masking import (
    FILLS,
    Masking,
    divergence,
    gradient_magnitude,
    random_magnitude,
    smallest,
    whole_words,
)
from tests.toy import MIXED, SEVERAL, SPECIALS, BagOfWords, recurrent, texts
from tests.training.tiny import TASK, tiny

WORD = {"good": 0, "nice": 1, "film": 2, "dull": 3, "bad": 4, "what": 5}


class Gained(Classifier):
    """One output: the sum over words of gain[word] * (3, 4) . e, so a word's gradient has the norm 5 p (1 - p) gain."""

    GAINS = (4.0, 3.0, 1.0, 2.0, 5.0, 0.5)
    EMBEDDED = ((0.2, 0.1), (0.1, 0.1), (0.5, 0.0), (-0.1, 0.2), (-0.2, -0.1), (0.0, 0.0))

    def __init__(self) -> None:
        super().__init__()
        specials = torch.zeros(5, 2)
        self.table = nn.Embedding.from_pretrained(torch.cat([torch.tensor(self.EMBEDDED), specials]), freeze=False)
        self.gains = nn.Parameter(torch.cat([torch.tensor(self.GAINS), torch.zeros(5)]))
        self.n_classes, self.specials = 2, SPECIALS
        self.capabilities = frozenset({"gradients"})

    def embed(self, batch: Batch) -> Tensor:
        return self.table(batch.ids)

    def forward(self, batch: Batch, embedded: Tensor | None = None, *_: Any, **__: Any) -> Output:
        states = self.embed(batch) if embedded is None else embedded
        gain = self.gains[batch.ids].masked_fill(~batch.real, 0.0)
        return Output((gain * (states @ states.new_tensor([3.0, 4.0]))).sum(1, keepdim=True))

    @classmethod
    def logit(cls, text: str) -> float:
        places = [WORD[word] for word in text.split()]
        return sum(cls.GAINS[at] * (3 * cls.EMBEDDED[at][0] + 4 * cls.EMBEDDED[at][1]) for at in places)


def masking(share: float = 0.5, fill: str = "previous", weight: float = 1.0, **changes: Any) -> Masking:
    plain = Masking(CrossEntropy("sum"), gradient_magnitude, share, fill, weight, words=len(WORD))
    return replace(plain, **changes)


def cross_entropy(logit: float, label: int) -> float:
    return math.log1p(math.exp(-logit if label else logit))


def kl(logit: float, other: float) -> float:
    """KL(sigmoid(logit) || sigmoid(other)) as a sum over the two classes."""
    p, q = (1 / (1 + math.exp(-z)) for z in (logit, other))
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def loss_of(procedure: Masking, model: Classifier, batch: Batch, labels: list[int], seed: int = 0) -> Tensor:
    return procedure(model, batch, torch.tensor(labels), Rng(seed, batch))


def seen_by(model: Classifier, run: Callable[[], object]) -> tuple[Tensor, Tensor | None]:
    """ids and embeddings of the only forward pass in train mode while `run` runs."""
    seen: list[tuple[Tensor, Tensor | None]] = []

    def note(module: nn.Module, inputs: tuple[Batch], named: dict[str, Tensor]) -> None:
        if module.training:
            seen.append((inputs[0].ids, named.get("embedded")))

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    run()
    handle.remove()
    (only,) = seen
    return only


def test_a_step_by_hand() -> None:
    model, batch = Gained().train(), texts("film good dull bad", "nice what film")
    # Gains 1 4 2 5: `film` and `dull` fall; 3 0.5 1: one of three words, `what`, falls.
    masked = smallest(
        gradient_magnitude(model, batch, torch.tensor([1, 0]), Rng(0, batch)), batch, whole_words(batch, 0.5)
    )
    assert masked.int().tolist() == [[0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]]
    ids, _ = seen_by(model, lambda: loss_of(masking(), model, batch, [1, 0]))
    assert torch.equal(ids[0::2], batch.ids)
    # `film` comes before the first kept word and becomes that; `dull` and `what` become the kept word before them.
    assert torch.equal(ids[1::2], texts("good good good bad", "nice nice film").ids)

    full = Gained.logit("film good dull bad"), Gained.logit("nice what film")
    changed = Gained.logit("good good good bad"), Gained.logit("nice nice film")
    by_hand = cross_entropy(full[0], 1) + cross_entropy(full[1], 0)
    apart = kl(full[0], changed[0]) + kl(full[1], changed[1])
    assert loss_of(masking(), model, batch, [1, 0]).item() == pytest.approx(by_hand + apart, rel=1e-6)
    assert loss_of(masking(weight=3.0), model, batch, [1, 0]).item() == pytest.approx(by_hand + 3 * apart, rel=1e-6)
    mean = masking(supervised=CrossEntropy("mean"))
    assert loss_of(mean, model, batch, [1, 0]).item() == pytest.approx((by_hand + apart) / 2, rel=1e-6)


@pytest.mark.parametrize("fill", ["unk", "zero", "random"])
def test_other_fills_change_the_masked_words_alone(fill: str) -> None:
    model, batch = Gained().train(), texts("film good dull bad | what")
    ids, embedded = seen_by(model, lambda: loss_of(masking(fill=fill), model, batch, [1]))
    masked = torch.tensor([False, True, False, True, False, False, False])
    assert torch.equal(ids[0], batch.ids[0])
    assert torch.equal(ids[1, ~masked], batch.ids[0, ~masked])
    assert embedded is not None
    assert torch.equal(embedded[0], model.embed(batch)[0])
    if fill == "unk":
        assert ids[1, masked].tolist() == [SPECIALS.unk] * 2
    if fill == "zero":
        assert torch.equal(ids[1], ids[0])
        assert not embedded[1, masked].any()
        assert torch.equal(embedded[1, ~masked], embedded[0, ~masked])


def test_random_words_are_words_and_belong_to_the_example() -> None:
    data = tiny()
    config = TrainingConfig(procedure="random-masking", mask_fill="random")
    procedure = procedure_of(RANDOM_MASKING, data, config)
    assert isinstance(procedure, Masking)
    batch = texts(*MIXED)
    masked = smallest(
        random_magnitude(Gained(), batch, torch.zeros(len(batch)), Rng(1, batch)), batch, whole_words(batch, 0.5)
    )
    found = procedure._fills(batch, masked, Rng(1, batch))
    words = found[batch.real]
    assert int(words.min()) >= len(SPECIAL_WORDS)
    assert int(words.max()) == len(data.vocabulary) - 1
    part = batch.rows([4, 1])
    again = procedure._fills(part, masked[[4, 1], : part.ids.shape[1]], Rng(1, part))
    assert torch.equal(again[part.real], found[[4, 1], : part.ids.shape[1]][part.real])


def naive(magnitude: Tensor, batch: Batch, share: Fraction) -> tuple[list[list[bool]], list[list[int]]]:
    """Mask and replaced ids, one text and one word at a time."""
    masks, ids = [], []
    for row in range(len(batch)):
        places = [t for t in range(batch.ids.shape[1]) if batch.scorable[row, t]]
        count = math.floor(share * len(places))
        lowest = sorted(places, key=lambda t: (float(magnitude[row, t]), t))[:count]
        kept = [t for t in places if t not in lowest]
        new = batch.ids[row].tolist()
        for place in lowest:
            before = [t for t in kept if t < place]
            new[place] = int(batch.ids[row, before[-1] if before else kept[0]])
        masks.append([t in lowest for t in range(batch.ids.shape[1])])
        ids.append(new)
    return masks, ids


@pytest.mark.parametrize("share", ["0.1", "0.2", "0.3", "0.5", "0.9"])
def test_masks_and_fills_agree_with_a_naive_loop(share: str) -> None:
    batch = texts(*MIXED, *(" ".join(MIXED[:n]).replace("|", "") for n in range(1, 9)))
    generator = torch.Generator().manual_seed(0)
    # Few values, so that some are equal.
    magnitude = torch.randint(6, batch.ids.shape, generator=generator).float()
    masked = smallest(magnitude, batch, whole_words(batch, float(share)))
    masks, ids = naive(magnitude, batch, Fraction(share))
    assert masked.tolist() == masks
    assert batch.replaced(masked, previous_kept(batch, masked)).ids.tolist() == ids


def test_the_number_of_masked_words_is_exact() -> None:
    lengths = torch.arange(1, 1201)
    scorable = torch.arange(1200)[None] < lengths[:, None]
    batch = replace(
        texts("good"), ids=scorable.long(), segment=scorable.long() * 0, real=scorable, scorable=scorable, example_id=()
    )
    for share in ("0.1", "0.2", "0.29", "0.3", "0.5", "0.57", "0.7"):
        count = smallest(torch.zeros(scorable.shape), batch, whole_words(batch, float(share))).sum(1).tolist()
        assert count == [math.floor(Fraction(share) * length) for length in lengths.tolist()]


def test_a_text_too_short_to_mask_has_the_supervised_loss_alone() -> None:
    # Dropout makes two passes over one text differ: their divergence must not enter.
    model = BagOfWords(dropout=0.5).train()
    ids, _ = seen_by(model, lambda: loss_of(masking(share=0.3), model, texts("good", "bad film"), [1, 0]))
    assert len(ids) == 2
    batch, procedure = texts("good", "bad film nice dull what"), masking(share=0.3, fill="unk")
    logits: list[Tensor] = []
    model.register_forward_hook(lambda module, inputs, output: logits.append(output.logits.detach()))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        loss = loss_of(procedure, model, batch, [1, 0]).item()
    full, changed = logits[-1][0::2, 0].tolist(), logits[-1][1::2, 0].tolist()
    assert full[0] != changed[0]
    assert loss == pytest.approx(cross_entropy(full[0], 1) + cross_entropy(full[1], 0) + kl(full[1], changed[1]))


def test_gradients_are_taken_in_eval_mode_and_of_the_gold_class() -> None:
    model, batch = BagOfWords(SEVERAL, attends=True, dropout=0.5), texts("good film dull bad", "nice what")
    labels = torch.tensor([2, 3])
    expected = class_gradient(model.eval(), batch, target=labels).norm(dim=-1)
    found = gradient_magnitude(model.train(), batch, labels, Rng(0, batch))
    torch.testing.assert_close(found, expected, check_dtype=False)
    assert model.training
    other = gradient_magnitude(model, batch, torch.tensor([0, 0]), Rng(0, batch))
    assert not torch.allclose(other, found)


@pytest.mark.parametrize("fill", FILLS)
def test_gradients_flow_through_both_predictions(fill: str) -> None:
    model, batch, labels = recurrent().double(), texts(*MIXED), [n % 2 for n in range(len(MIXED))]
    procedure = masking(fill=fill, magnitude=random_magnitude)

    def value(of: Classifier) -> Tensor:
        return loss_of(procedure, of, batch, labels)

    gradients = torch.autograd.grad(value(model), list(model.parameters()))
    step, generator = 1e-5, torch.Generator().manual_seed(0)
    for (name, parameter), gradient in zip(model.named_parameters(), gradients, strict=True):
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        ends = []
        for sign in (1, -1):
            moved = copy.deepcopy(model)
            with torch.no_grad():
                moved.get_parameter(name).add_(sign * step * direction)
                ends.append(value(moved).item())
        slope = (ends[0] - ends[1]) / (2 * step)
        assert float((gradient * direction).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-7), name


def test_which_words_are_masked_is_a_constant() -> None:
    model, batch, labels = recurrent(), texts(*MIXED), [n % 2 for n in range(len(MIXED))]
    guided = torch.autograd.grad(loss_of(masking(), model, batch, labels), list(model.parameters()))
    magnitude = gradient_magnitude(model, batch, torch.tensor(labels), Rng(0, batch))
    given = masking(magnitude=lambda *_: magnitude)
    fixed = torch.autograd.grad(loss_of(given, model, batch, labels), list(model.parameters()))
    for one, other in zip(guided, fixed, strict=True):
        torch.testing.assert_close(one, other)


def test_classes_that_are_no_candidates_do_not_enter() -> None:
    candidates = torch.tensor([[True, True, False, False], [True, False, True, True]])
    one, other = (torch.randn(2, 4, generator=torch.Generator().manual_seed(n)).requires_grad_() for n in (0, 1))
    found = divergence(Output(one), Output(other), candidates)
    by_hand = 0.0
    for row, allowed in enumerate(candidates.tolist()):
        places = [place for place, here in enumerate(allowed) if here]
        p, q = (logits.detach().double()[row, places].softmax(0) for logits in (one, other))
        by_hand += float((p * (p / q).log()).sum())
    assert found.item() == pytest.approx(by_hand)
    for gradient in torch.autograd.grad(found, [one, other]):
        assert torch.isfinite(gradient).all()
        assert not gradient[~candidates].any()


def test_one_output_diverges_as_two_classes_do() -> None:
    logits = torch.tensor([[0.3], [-40.0], [200.0]]), torch.tensor([[-1.0], [30.0], [190.0]])
    as_two = [Output(torch.cat([torch.zeros_like(z), z], 1)) for z in logits]
    one = divergence(Output(logits[0]), Output(logits[1]), None)
    assert float(one) == pytest.approx(float(divergence(as_two[0], as_two[1], None)))
    assert float(divergence(Output(logits[0]), Output(logits[0]), None)) == 0.0


def test_random_masking_masks_as_many_words_and_others_in_each_epoch() -> None:
    batch, labels = texts(*MIXED), torch.zeros(len(MIXED), dtype=torch.long)
    guided = smallest(gradient_magnitude(recurrent(), batch, labels, Rng(0, batch)), batch, whole_words(batch, 0.5))
    one, other = (
        smallest(random_magnitude(recurrent(), batch, labels, Rng(seed, batch)), batch, whole_words(batch, 0.5))
        for seed in (0, 1)
    )
    assert torch.equal(one.sum(1), guided.sum(1))
    assert not torch.equal(one, other)
    part = batch.rows([5, 3])
    alone = smallest(random_magnitude(recurrent(), part, labels[:2], Rng(0, part)), part, whole_words(part, 0.5))
    assert torch.equal(alone, one[[5, 3], : part.ids.shape[1]])


def test_the_settings_make_the_procedure() -> None:
    config = TrainingConfig(mask_share=0.2, mask_fill="unk", mask_weight=0.5, loss_reduction="mean")
    guided, random = (procedure_of(one, tiny(), config) for one in (SALIENCY_GUIDED, RANDOM_MASKING))
    assert isinstance(guided, Masking)
    assert (guided.share, guided.fill, guided.weight) == (0.2, "unk", 0.5)
    assert guided.supervised.reduction == "mean"
    assert random == replace(guided, magnitude=random_magnitude)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask_share": 0.0}, "mask_share must lie between 0 and 1"),
        ({"mask_share": 1.0}, "mask_share must lie between 0 and 1"),
        ({"mask_fill": "previos"}, "mask_fill must be one of previous, unk, zero, random"),
        ({"mask_weight": 0.0}, "mask_weight must be above 0"),
        ({"mask_weight": math.inf}, "mask_weight must be above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_where_they_are_read(settings: dict[str, Any], message: str) -> None:
    config = replace(TrainingConfig(), **settings)
    with pytest.raises(SuiteError, match=message):
        check_training(config, TASK, SALIENCY_GUIDED)
    check_training(config, TASK, STANDARD)
