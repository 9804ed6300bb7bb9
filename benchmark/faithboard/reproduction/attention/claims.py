"""The claims of Jain & Wallace (2019), one by one, and what each rests on in every task.

All of them are about additive attention and models that pass the accuracy gate in every seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faithboard.published import adversarial, tau
from faithboard.reproduction.attention.comparing import published_task
from faithboard.reproduction.attention.lines import DivergenceLine, EvidenceLine
from faithboard.reproduction.attention.measured import Measured, paired
from faithboard.reproduction.attention.outputs import MOVED, SMALL
from faithboard.reproduction.estimates import mean_intervals
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

BILSTM, AVERAGE = "bilstm-additive", "average-additive"
OFTEN = 0.5
"""Shuffling changes little often when it does in half of the examples."""
LEAST_DIVERGENCE = 0.35
"""Nats, of the mean; the lowest that was published for the BiLSTM is 0.377."""
FEW_WORDS = ("mimic-diabetes", "planted")
"""Tasks in which a few words decide, and the paper's own is one of them."""
EVIDENT = {"mimic-diabetes": ("diabetes",), "planted": ("north", "south")}
"""Classes that have words of their own in those tasks."""


@dataclass(frozen=True)
class Claim:
    """What the paper says, and what of it is tested here."""

    name: str
    says: str
    test: str
    needs: tuple[str, ...] = (BILSTM,)
    """Models that must be there and pass the gate."""
    except_for: tuple[str, ...] = ()
    """Tasks that the paper itself excepts."""
    of_paper: bool = True
    """Whether the verdict counts the paper's tasks alone."""


CLAIMS = (
    Claim(
        "encoders",
        "Attention agrees less with gradients for the BiLSTM than for the Average encoder.",
        "tau(attention, gradient) of the Average encoder less that of the BiLSTM, paired over examples; it holds for a "
        "task when the interval of the mean lies above 0.",
        needs=(BILSTM, AVERAGE),
    ),
    Claim(
        "pairs",
        "For the BiLSTM, gradients and leave-one-out agree more with each other than either does with attention.",
        "tau(gradient, leave-one-out) less tau(attention, gradient), and less tau(attention, leave-one-out), paired "
        "over examples; it holds for a task when both intervals lie above 0. The paper excepts SNLI.",
        except_for=("snli",),
    ),
    Claim(
        "permutation",
        "Permuting attention often changes little.",
        f"Share of examples whose median change of the output over 100 permutations is below {SMALL}, mean over seeds; "
        f"it holds for a task when the share is at least {OFTEN:.0%}. The paper gives no numbers, only figures.",
    ),
    Claim(
        "adversarial",
        "Very different attention can keep the prediction.",
        f"Mean of the largest JS divergence with the constants of the published code; it holds for a task when it is "
        f"at least {LEAST_DIVERGENCE} for every predicted class.",
    ),
    Claim(
        "adversarial-paper",
        "The same with the constants of the paper, which accept a distribution only as near as it was searched for.",
        f"As before: at least {LEAST_DIVERGENCE} for every predicted class. Nothing was published with these.",
    ),
    Claim(
        "few-words",
        "Where a few words decide, attention is harder to fool for the class that has them.",
        "Mean of the largest JS divergence (constants of the published code) for each class with words of its own, "
        "against the mean over the predicted classes of the other tasks here, or of those in print where no other was "
        "run; it holds when the interval lies below that. The paper shows it on diabetes, whose notes cannot be had "
        "freely; planted words stand in.",
        of_paper=False,
    ),
)


def evidence_lines(
    usable: Sequence[Measured], labels: Mapping[str, Sequence[str]], divergences: Sequence[DivergenceLine]
) -> list[EvidenceLine]:
    """What every claim rests on; `usable` are the models that pass the gate, `divergences` their own."""
    models = {(one.task, one.model): one for one in usable}
    found: list[EvidenceLine] = []
    for (task, model), one in models.items():
        if model != BILSTM:
            continue
        average = models.get((task, AVERAGE))
        if average is not None:
            found.append(_encoders(one, average))
        found += _pairs(one)
        if MOVED in one.columns:
            found.append(_permutation(one))
    own = [line for line in divergences if (line.task, line.model) in models and line.model == BILSTM]
    return [*found, *_adversarial(own), *_few_words(own)]


def _encoders(bilstm: Measured, average: Measured) -> EvidenceLine:
    pair = "attention-gradient"
    difference = paired(average, bilstm, f"tau-{pair}")
    known = [tau().get((published_task(bilstm.task), model, pair, None)) for model in (AVERAGE, BILSTM)]
    published = known[0].mean - known[1].mean if known[0] and known[1] else None
    return _line("encoders", bilstm, f"{AVERAGE} - {BILSTM}", difference, 0.0, published, lambda value, low: low > 0)


def _pairs(one: Measured) -> Iterator[EvidenceLine]:
    first = "gradient-loo"
    for second in ("attention-gradient", "attention-loo"):
        difference = one.mean(f"tau-{first}") - one.mean(f"tau-{second}")
        known = [tau().get((published_task(one.task), BILSTM, pair, None)) for pair in (first, second)]
        published = known[0].mean - known[1].mean if known[0] and known[1] else None
        yield _line("pairs", one, f"{first} - {second}", difference, 0.0, published, lambda value, low: low > 0)


def _permutation(one: Measured) -> EvidenceLine:
    moved = one.columns[MOVED]
    with np.errstate(invalid="ignore"):
        little = np.where(np.isfinite(moved), (moved < SMALL).astype(float), np.nan)
    share = resampling.mean_defined(little, 1)
    what = f"share below {SMALL}"
    return _line("permutation", one, what, share, OFTEN, None, lambda value, low: value >= OFTEN)


def _line(
    claim: str,
    one: Measured,
    what: str,
    values: Float[ndarray, "example"],
    threshold: float,
    published: float | None,
    holds: Callable[[float, float], bool],
) -> EvidenceLine:
    """`holds` sees the mean and the lower bound of its interval."""
    defined = values[np.isfinite(values)]
    low, high = mean_intervals(defined[:, None])
    mean = float(defined.mean()) if len(defined) else 0.0
    return EvidenceLine(
        claim=claim,
        task=one.task,
        model=one.model,
        what=what,
        value=resampling.rounded(mean),
        low=resampling.rounded(low[0]) if len(defined) else 0.0,
        high=resampling.rounded(high[0]) if len(defined) else 0.0,
        n=len(defined),
        threshold=threshold,
        published=None if published is None else resampling.rounded(published),
        holds=bool(len(defined)) and holds(mean, float(low[0])),
    )


def _by_class(lines: Sequence[DivergenceLine], profile: str) -> Iterator[DivergenceLine]:
    """One line per predicted class; of a task without a breakdown, the one over all."""
    own = [line for line in lines if line.profile == profile]
    broken_down = {line.task for line in own if line.predicted is not None}
    return (line for line in own if line.predicted is not None or line.task not in broken_down)


def _adversarial(lines: Sequence[DivergenceLine]) -> Iterator[EvidenceLine]:
    known = adversarial()
    for claim, profile in (("adversarial", "code-2019"), ("adversarial-paper", "paper")):
        for line in _by_class(lines, profile):
            theirs = known.get((published_task(line.task), BILSTM, line.predicted)) if profile == "code-2019" else None
            yield _of_divergence(
                claim, line, LEAST_DIVERGENCE, theirs.mean if theirs else None, line.mean >= LEAST_DIVERGENCE
            )


def _few_words(lines: Sequence[DivergenceLine]) -> Iterator[EvidenceLine]:
    classes = list(_by_class(lines, "code-2019"))
    known = adversarial()
    others = [line.mean for line in classes if line.task not in FEW_WORDS]
    in_print = [cell.mean for (task, model, _), cell in known.items() if model == BILSTM and task not in FEW_WORDS]
    usual = resampling.rounded(np.mean(others or in_print))
    for line in classes:
        if line.label in EVIDENT.get(line.task, ()):
            theirs = known.get((published_task(line.task), BILSTM, line.predicted))
            yield _of_divergence("few-words", line, usual, theirs.mean if theirs else None, line.high < usual)


def _of_divergence(
    claim: str, line: DivergenceLine, threshold: float, published: float | None, holds: bool
) -> EvidenceLine:
    return EvidenceLine(
        claim=claim,
        task=line.task,
        model=line.model,
        what=line.label or "all",
        value=line.mean,
        low=line.low,
        high=line.high,
        n=line.n,
        threshold=threshold,
        published=published,
        holds=holds,
    )
