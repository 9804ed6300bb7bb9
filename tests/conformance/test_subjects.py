from __future__ import annotations

import pytest
import torch

from faithboard import Batch, Classifier, Rng, method, predict
from faithboard.attribution import NEEDS
from faithboard.conformance import CHECKS
from faithboard.conformance.checking import judged
from faithboard.conformance.subjects import Subject, subjects
from faithboard.report.verdicts import verdict_text

ALL = subjects(torch.device("cpu"))


@pytest.mark.parametrize("subject", ALL, ids=lambda subject: subject.name)
def test_the_models_are_sure_and_do_not_always_say_the_same(subject: Subject) -> None:
    p = predict(subject.model, subject.batch)
    assert len(p.argmax(1).unique()) == subject.model.n_classes
    assert p.amax(1).mean() > 0.7
    assert sorted(subject.batch.scorable_lengths.unique().tolist()) == list(range(1, 13))


@pytest.mark.parametrize("subject", ALL, ids=lambda subject: subject.name)
def test_dropout_is_on_in_train_mode_alone(subject: Subject) -> None:
    model = subject.model
    assert torch.equal(model.embed(subject.batch), model.embed(subject.batch))
    model.train()
    try:
        assert not torch.equal(model.embed(subject.batch), model.embed(subject.batch))
    finally:
        model.eval()


def test_every_need_is_met_by_some_model() -> None:
    assert set().union(*(subject.model.capabilities for subject in ALL)) | {"background"} >= NEEDS


def test_the_same_models_come_out_again() -> None:
    for one, again in zip(ALL, subjects(torch.device("cpu")), strict=True):
        assert torch.equal(predict(one.model, one.batch), predict(again.model, again.batch))


def flat(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return batch.scorable.cumsum(1).float()


def test_a_model_that_lacks_a_need_is_said_and_the_other_is_tried() -> None:
    declared = method("choosy", kind="sensitivity", signed=False, source="a test", needs=["several-classes"])
    verdict = judged(declared(flat), ALL)
    assert verdict.passed
    assert verdict.unsupported == {ALL[0].name: "several-classes"}
    assert f"unsupported on {ALL[0].name}: it has no several-classes" in verdict_text(verdict, "choosy.py")


def test_a_method_that_no_model_can_serve_is_not_checked_and_does_not_pass() -> None:
    declared = method("choosy", kind="sensitivity", signed=False, source="a test", needs=["several-classes"])
    verdict = judged(declared(flat), ALL[:1])
    assert not verdict.passed
    assert "not checked: none of the models here has what it needs" in verdict_text(verdict, "choosy.py")


def test_a_verdict_names_every_check_in_eighty_columns() -> None:
    declared = method("broken", kind="sensitivity", signed=False, source="a test")
    broken = declared(lambda model, batch, rng: batch.ids.float() * len(batch))
    verdict = judged(broken, ALL)
    text = verdict_text(verdict, "broken.py")
    assert not verdict.passed
    assert "batch-size" in verdict.failures
    assert "rule: a text has the same scores in batches of 1, 2, 7 and all texts" in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(check.name in text for check in CHECKS)
