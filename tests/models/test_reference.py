"""The composed model: layouts, the contract of its outputs, overrides, and texts with nothing left in them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from faithboard.classifier import count_steps
from faithboard.config import ModelConfig
from faithboard.errors import SuiteError
from faithboard.models import build, capabilities, check_combination
from faithboard.task import Task
from tests.models.composed import COMBINATIONS, LAYOUTS, SINGLE, SPECIALS, TASKS, TEXTS, WORDS, batch_of, model_of

WITH_ATTENTION = [combination for combination in COMBINATIONS if combination[1] != "none"]


@pytest.mark.parametrize(("encoder", "attention", "layout"), WITH_ATTENTION)
def test_outputs_are_aligned_with_the_batch(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    out = model(batch)
    assert out.logits.shape == (3, 3 if layout == "pair" else 1)
    assert out.attention is not None
    assert out.hidden is not None
    assert out.attention.shape == batch.ids.shape
    assert out.hidden.shape[:2] == batch.ids.shape
    torch.testing.assert_close(out.attention.sum(1), torch.ones(3))
    attended = batch.scorable | ((batch.segment == 1) & (batch.ids >= 5) if layout == "sequence" else False)
    assert torch.equal(out.attention > 0, attended)
    unread = ~batch.real | ((batch.segment == 1) if layout == "pair" else False)
    assert not out.hidden[unread].any()
    assert (out.query is not None) == (layout == "pair")


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_batch_size_order_and_padding_change_nothing(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    logits = model(batch).logits
    alone = torch.cat([model(batch.rows([row])).logits for row in range(3)])
    torch.testing.assert_close(alone, logits, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(model(batch.rows([2, 0, 1])).logits, logits[[2, 0, 1]], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(model(batch.padded_to(40)).logits, logits, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "layout"), WITH_ATTENTION)
def test_nothing_left_means_no_attention_and_a_zero_context(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    empty = batch.without(batch.scorable)
    embedded = model.embed(empty).detach().requires_grad_()
    out = model(empty, embedded=embedded)
    assert torch.isfinite(out.logits).all()
    if layout != "sequence":
        assert not out.attention.any()
        torch.testing.assert_close(out.logits, model.readout(torch.zeros(3, model.encoder.width), out.query))
    assert torch.isfinite(torch.autograd.grad(out.logits.sum(), embedded)[0]).all()


def test_texts_without_a_single_token() -> None:
    model = model_of("single")
    bare = replace(batch_of("single", [], []), real=torch.zeros(2, 2, dtype=torch.bool))
    nothing_read = model.readout(torch.zeros(2, model.encoder.width), None)
    torch.testing.assert_close(model(bare).logits, nothing_read)
    torch.testing.assert_close(model(bare.rows([0, 1])).logits, nothing_read)


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_what_a_model_can_do_is_known_before_it_is_built(encoder: str, attention: str, layout: str) -> None:
    model = model_of(layout, encoder, attention)
    assert model.capabilities == capabilities(ModelConfig(encoder=encoder, attention=attention), TASKS[layout])
    assert ("attention" in model.capabilities) == ("decode" in model.capabilities) == (attention != "none")
    assert "gradients" in model.capabilities


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_without_attention_the_summary_is_read_out(encoder: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, "none"), batch_of(layout, *TEXTS)
    out = model(batch)
    assert out.attention is None
    assert out.hidden is not None
    read = batch.real if layout == "sequence" else batch.real & (batch.segment == 0)
    last = read.sum(1) - 1
    rows = torch.arange(3)
    if encoder == "bilstm":
        context = torch.cat([out.hidden[rows, last, :4], out.hidden[rows, 0, 4:]], 1)
    else:
        context = out.hidden.amax(1)
    torch.testing.assert_close(out.logits, model.readout(context, out.query))
    empty = batch.without(batch.scorable)
    assert torch.isfinite(model(empty).logits).all()
    with pytest.raises(ValueError, match="no attention that could be replaced"):
        model(batch, attention=torch.ones(batch.ids.shape))


def test_frozen_attention_has_nothing_to_train() -> None:
    for attention in ("uniform", "random"):
        model = model_of("single", "cnn", attention)
        assert not [name for name, _ in model.named_parameters() if name.startswith("attention.")]


def test_random_attention_is_the_same_in_training_and_test_and_another_for_another_seed() -> None:
    batch = batch_of("single", *TEXTS)
    model, same, other = (model_of("single", "average", "random", seed=seed) for seed in (0, 0, 1))
    alpha = model(batch).attention
    assert torch.equal(model.train()(batch).attention, alpha)
    assert torch.equal(same(batch).attention, alpha)
    assert not torch.allclose(other(batch).attention, alpha)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_decode_repeats_the_forward_pass(layout: str) -> None:
    model, batch = model_of(layout), batch_of(layout, *TEXTS)
    out = model(batch)
    torch.testing.assert_close(model.decode(out.hidden, out.attention, batch, out.query), out.logits)
    torch.testing.assert_close(model.decode(out.hidden, out.attention, batch), out.logits)


def test_given_attention_is_used() -> None:
    model, batch = model_of("single"), batch_of("single", [5, 6, 7])
    alpha = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0]])
    out = model(batch, attention=alpha)
    torch.testing.assert_close(out.logits, model.readout(out.hidden[:, 2], None))
    assert torch.equal(out.attention, alpha)


def test_detached_attention_lets_no_gradient_through() -> None:
    model, batch = model_of("single"), batch_of("single", *TEXTS)
    embedded = model.embed(batch).detach().requires_grad_()
    fixed = model(batch, embedded=embedded, detach_attention=True)
    given = model(batch, embedded=embedded, attention=fixed.attention)
    free = model(batch, embedded=embedded)

    def gradient(logits: Tensor) -> Tensor:
        return torch.autograd.grad(logits.sum(), embedded, retain_graph=True)[0]

    torch.testing.assert_close(fixed.logits, free.logits)
    torch.testing.assert_close(gradient(fixed.logits), gradient(given.logits))
    assert not torch.allclose(gradient(fixed.logits), gradient(free.logits))


def test_embedded_replaces_the_embeddings() -> None:
    model, batch = model_of("pair"), batch_of("pair", [5, 6, 7])
    torch.testing.assert_close(model(batch, embedded=model.embed(batch)).logits, model(batch).logits)
    other = batch_of("pair", [8, 6, 7])
    torch.testing.assert_close(model(batch, embedded=model.embed(other)).logits, model(other).logits)


def test_the_query_matters_in_pairs_and_sequences() -> None:
    for layout in ("pair", "sequence"):
        model = model_of(layout)
        asked, otherwise = batch_of(layout, [5, 6, 7]), batch_of(layout, [5, 6, 7], query=(15, 16))
        assert not torch.allclose(model(asked).logits, model(otherwise).logits)


def test_steps_of_text_and_query_are_counted_once_each() -> None:
    model, batch = model_of("pair"), batch_of("pair", *TEXTS)
    with count_steps(model) as steps:
        model(batch).logits.sum().backward()
    assert (steps.forward, steps.backward) == (int(batch.real.sum()), int(batch.real.sum()))


def test_dropout_rests_in_eval_mode() -> None:
    model, batch = model_of("sequence"), batch_of("sequence", *TEXTS)
    assert not model.training
    assert torch.equal(model(batch).logits, model(batch).logits)
    assert any(isinstance(module, nn.Dropout) for module in model.modules())


def test_weights_belong_to_the_seed_and_leave_the_global_state_alone() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (list(model_of("pair", seed=seed).parameters()) for seed in (0, 0, 1))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one[1:], other[1:], strict=True))


def test_the_matrix_is_copied_and_trained() -> None:
    matrix = torch.zeros(WORDS, 6)
    model = build(ModelConfig(hidden=4), SINGLE, matrix, SPECIALS, seed=0)
    assert model.embedding.weight.requires_grad
    assert model.embedding.weight.data_ptr() != matrix.data_ptr()


@pytest.mark.parametrize(
    ("config", "task", "message"),
    [
        (ModelConfig(encoder="bilsmt"), SINGLE, "did you mean bilstm"),
        (ModelConfig(attention="aditive"), SINGLE, "did you mean additive"),
        (ModelConfig(hidden=0), SINGLE, "hidden"),
        (ModelConfig(embedding_dim=0), SINGLE, "embedding_dim must be at least 1"),
        (ModelConfig(missing="zeros"), SINGLE, "missing must be one of zero, normal"),  # type: ignore[arg-type]
        (ModelConfig(activation="gelu"), SINGLE, "activation must be one of relu, tanh, got .gelu."),
        (ModelConfig("average", "none"), SINGLE, "average-none.*no summary of its own.*average-uniform"),
        (ModelConfig(), replace(TASKS["pair"], explained=("text", "query")), "layout `sequence`"),
    ],
)
def test_senseless_combinations_are_refused(config: ModelConfig, task: Task, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        check_combination(config, task)
    with pytest.raises(SuiteError, match=message):
        build(config, task, torch.zeros(WORDS, 6), SPECIALS, seed=0)
