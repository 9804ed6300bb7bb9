"""Parameter randomisation: what is drawn anew, and the metric on methods whose change is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from faithboard import Batch, Classifier, Method, Rng, method
from faithboard.metrics.sanity import LAYERS, PARAMETER_RANDOMISATION, POINTS, magnitude_taus, reinitialised
from faithboard.running.explaining import explain_batch
from faithboard.running.rerunning import rerun
from faithboard.running.rows import metric_row
from tests import toy
from tests.metrics.scored import batch_of, data_of
from tests.toy import MIXED, BagOfWords, recurrent, texts

DEPTHS = range(1, len(LAYERS) + 1)


def changed_layers(model: Classifier, other: Classifier) -> set[str]:
    pairs = zip(model.named_parameters(), other.parameters(), strict=True)
    return {name.split(".")[0] for (name, a), b in pairs if not torch.equal(a, b)}


@pytest.mark.parametrize("depth", DEPTHS)
def test_layers_are_drawn_anew_from_the_output_down(depth: int) -> None:
    model = recurrent()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = reinitialised(model, 3, depth)
    assert found is not None
    assert changed_layers(model, found) == {name for names in LAYERS[:depth] for name in names}
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    if depth == len(LAYERS):
        assert not any(torch.equal(a, b) for a, b in zip(model.parameters(), found.parameters(), strict=True))


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first, second, other = (reinitialised(recurrent(), seed, 4) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), state)
    assert first is not None
    assert second is not None
    assert other is not None
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert changed_layers(first, other) == {name for names in LAYERS for name in names}
    # The readout of the first stage is that of the last.
    early = reinitialised(recurrent(), 3, 1)
    assert early is not None
    assert not changed_layers(early, first) & {"readout"}


def test_a_model_of_other_layers_is_drawn_anew_as_a_whole_alone() -> None:
    model = BagOfWords()
    assert [reinitialised(model, 0, depth) for depth in (1, 2)] == [None, None]
    found = reinitialised(model, 0, 4)
    assert found is not None
    assert changed_layers(model, found) == {"table", "bias"}
    assert found.training == model.training


def test_taus_of_magnitudes_equal_scipy_and_count_words_alone() -> None:
    generator = np.random.default_rng(0)
    scores, again = generator.normal(size=(3, 9)), generator.normal(size=(3, 2, 9))
    scorable = np.arange(9)[None] < np.array([9, 5, 1])[:, None]
    again[0, 1] = 0.25
    found = magnitude_taus(
        torch.from_numpy(scores * scorable), torch.from_numpy(again * scorable[:, None]), torch.from_numpy(scorable)
    )
    for row, length in enumerate((9, 5)):
        for repeat in range(2):
            expected = kendalltau(np.abs(scores[row, :length]), np.abs(again[row, repeat, :length])).statistic
            assert float(found[row, repeat]) == pytest.approx(expected, nan_ok=True)
    assert found[0, 1].isnan()
    assert found[2].isnan().all()
    one = torch.from_numpy(scores[:1])
    assert magnitude_taus(one, torch.stack([-one, 1 / one], 1), torch.ones(1, 9, dtype=torch.bool)).tolist() == [
        [1, -1]
    ]


@method("position", kind="reference", signed=False, source="a test")
def position(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return torch.arange(batch.ids.shape[1]).float().expand(batch.ids.shape)


@method("constant", kind="reference", signed=False, source="a test")
def constant(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return torch.ones(batch.ids.shape)


@method("embedding", kind="sensitivity", signed=True, source="a test", draws=2, stochastic=True)
def embedding(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return model.embed(batch)[:, :, 0]


LINES = ["good film bad nice dull what", "nice what dull bad", "good", "bad good film"]


@pytest.mark.parametrize(("one", "curve"), [(position, [1, 1, 1, 1]), (embedding, [1, 1, 1, None])])
def test_a_method_that_does_not_read_what_changed_keeps_its_order(one: Method, curve: list[float | None]) -> None:
    data, model = data_of(LINES), recurrent()
    scores = explain_batch(model, one, batch_of(data), 0)
    found = rerun(model, one, data, data.splits["test"], scores, PARAMETER_RANDOMISATION, 0, advance=lambda done: None)
    assert found.excluded == {"parameter-randomisation": 1}
    row = metric_row("key", PARAMETER_RANDOMISATION, found, 0)
    assert (row.kind, row.better, row.points) == ("sanity", "neither", list(POINTS))
    assert row.value == row.curve[-1]
    assert all(got == want if want is not None else got < 1 for got, want in zip(row.curve, curve, strict=True))


def test_constant_scores_are_undefined_and_absent_layers_have_no_point() -> None:
    data, model = data_of(LINES), BagOfWords()
    rows = {}
    for one in (constant, embedding):
        scores = explain_batch(model, one, batch_of(data), 0)
        found = rerun(
            model, one, data, data.splits["test"], scores, PARAMETER_RANDOMISATION, 0, advance=lambda done: None
        )
        rows[one.name] = metric_row("key", PARAMETER_RANDOMISATION, found, 0)
    assert (rows["constant"].value, rows["constant"].n, rows["constant"].undefined) == (None, 3, 3)
    assert rows["embedding"].points == ["whole model"]


@pytest.mark.parametrize("one", toy.builtin_methods().values(), ids=lambda one: one.name)
def test_every_method_runs_on_a_model_drawn_anew(one: Method) -> None:
    batch = texts(*MIXED[:3])
    model = reinitialised(recurrent(), 0, 4)
    assert model is not None
    assert torch.isfinite(one(model, batch, Rng(0, batch)).scores).all()
