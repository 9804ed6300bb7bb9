"""What the page tells of k: the dev accuracies that the rule sees, its verdict, and a warning where it fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from faithboard.records import ModelRecord
from faithboard.reproduction.saliency_guided import shares
from faithboard.reproduction.saliency_guided.form import FORM
from faithboard.reproduction.saliency_guided.lines import Reproduction, ShareLine
from faithboard.reproduction.saliency_guided.making import reproduction_of
from faithboard.reproduction.saliency_guided.page import console_report
from tests.reproduction.saliency_guided.invented import explained, results, trained
from tests.reproduction.saliency_guided.test_values import GRADIENT, ROW, SUITE


def model(training: str, seed: int, reached: float, measure: str = "accuracy", share: float = 0.5) -> ModelRecord:
    """Three epochs, of which the second, with `reached` on dev, is kept."""
    one = trained("movies", training, seed, provenance={"best_epoch": 2})
    if training != "standard":
        one.config["mask_share"] = share
    one.history.extend({"epoch": at, f"dev-{measure}": reached if at == 2 else 0.1} for at in (1, 2, 3))
    return one


def made(models: Sequence[ModelRecord]) -> Reproduction:
    explanations = [explained(one, GRADIENT, {ROW: [0.1, 0.2, 0.3, 0.4]}) for one in models]
    return reproduction_of(results(models, explanations), SUITE, "hash")


def both(standard: Sequence[float], guided: Sequence[float], measure: str = "accuracy") -> list[ModelRecord]:
    of_training = {"standard": standard, "saliency-guided": guided}
    return [
        model(training, seed, reached, measure)
        for training, values in of_training.items()
        for seed, reached in enumerate(values)
    ]


def test_a_line_has_the_dev_accuracy_of_the_epoch_kept_in_every_common_seed() -> None:
    (line,) = made(both([0.8, 0.82, 0.9], [0.81, 0.8])).shares
    assert line == ShareLine(
        "movies", "bilstm-additive", 0.5, [0, 1], "accuracy", [0.8, 0.82], [0.81, 0.8], -0.005, shares.PASSES
    )


@pytest.mark.parametrize(
    ("share", "standard", "guided", "verdict"),
    [
        (0.5, 0.8, 0.79, shares.PASSES),
        (0.5, 0.8, 0.789, shares.FAILS),
        (0.5, 0.8, 0.9, shares.PASSES),
        (0.3, 0.8, 0.79, shares.SMALLER),
        (0.3, 0.8, 0.78, shares.FAILS),
    ],
    ids=["a point less", "over a point", "better", "a smaller k", "a smaller k over a point"],
)
def test_the_largest_k_within_a_point_passes(share: float, standard: float, guided: float, verdict: str) -> None:
    assert shares.share_verdict(share, standard, guided) == verdict


def test_k_is_judged_by_the_mean_over_seeds() -> None:
    (line,) = made(both([0.8, 0.8], [0.78, 0.81])).shares
    assert line.verdict == shares.PASSES


def test_another_measure_is_shown_under_its_name_and_decides_nothing() -> None:
    (line,) = made(both([0.8, 0.8], [0.9, 0.9], "roc-auc")).shares
    assert (line.measure, line.guided, line.verdict) == ("roc-auc", [0.9, 0.9], shares.UNKNOWN)


def test_accuracy_of_some_models_alone_is_not_compared() -> None:
    models = both([0.8], [0.8])
    models[0].history.clear()
    (line,) = made(models).shares
    assert (line.measure, line.standard, line.difference, line.verdict) == ("", [], None, shares.UNKNOWN)
    assert "| - " in shares.table([line])


def test_no_line_without_both_trainings_on_the_same_data() -> None:
    assert not made(both([0.8], [])).shares
    standard, guided = model("standard", 0, 0.8), trained("movies", "saliency-guided", 0, fingerprint="other")
    assert not made([standard, guided]).shares
    assert not made([standard, model("saliency-guided", 1, 0.8)]).shares


def test_the_page_shows_the_evidence_and_warns_where_k_fails() -> None:
    good, bad = made(both([0.8, 0.8], [0.81, 0.8])), made(both([0.8, 0.8], [0.75, 0.8]))
    for shown in (FORM.page(good, ""), FORM.page(bad, "")):
        assert "**Share of the words.**" in shown
        assert "+0.010 / +0.000" in shown or "-0.050 / +0.000" in shown
    said = "movies, bilstm-additive: k = 0.5 is not shown to pass the rule that chooses it** (fails"
    for text in (FORM.page(bad, ""), console_report(bad)):
        assert said in text
        assert "faithboard choose-share --suite saliency-guided-training --tasks movies" in text
    assert said not in FORM.page(good, "")
