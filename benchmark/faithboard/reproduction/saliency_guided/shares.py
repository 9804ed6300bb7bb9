"""Does k, the share of words that saliency-guided training masks, pass the rule that chooses it? Pure.

k is not published for text: it is the largest that is tried whose dev accuracy is within a point of standard training.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from faithboard.records import ModelRecord
from faithboard.report import markdown
from faithboard.report.markdown import number
from faithboard.reproduction.parts import signed
from faithboard.reproduction.saliency_guided.comparing import GUIDED, STANDARD
from faithboard.reproduction.saliency_guided.lines import ShareLine
from faithboard.reproduction.saliency_guided.measured import Measured
from faithboard.reproduction.saliency_guided.values import comparable
from faithboard.stats import resampling
from faithboard.training.share import MARGIN, SHARES, chosen

ACCURACY = "accuracy"
POINT = f"{MARGIN * 100:g} point"
PASSES = f"passes: within {POINT}"
SMALLER = f"within {POINT}, but a larger k is not tried here"
FAILS = f"fails: costs more than {POINT}"
UNKNOWN = "not known: dev accuracy is not recorded"
RULE = (
    f"**Share of the words.** k is not published for text. The rule: of {', '.join(f'{share:g}' for share in SHARES)}, "
    f"the largest whose accuracy on the dev split, mean over seeds, is within {POINT} of standard training; no "
    "faithfulness metric takes part. The numbers are those of the epoch that is kept, one per seed."
)


def share_lines(group: Sequence[Measured]) -> list[ShareLine]:
    """The evidence for k on one task and model; none where one of the two trainings is missing."""
    of = {one.training: one for one in group}
    if STANDARD not in of or GUIDED not in of or not comparable(of[STANDARD], of[GUIDED]):
        return []
    standard, guided = ({record.seed: record for record in of[name].records} for name in (STANDARD, GUIDED))
    seeds = [seed for seed in standard if seed in guided]
    if not seeds:
        return []
    measure = _measure([*(standard[seed] for seed in seeds), *(guided[seed] for seed in seeds)])
    own, others = ([_kept(one[seed])[f"dev-{measure}"] for seed in seeds if measure] for one in (guided, standard))
    share = float(of[GUIDED].records[0].config["mask_share"])
    return [
        ShareLine(
            task=of[GUIDED].task,
            model=of[GUIDED].model,
            share=share,
            seeds=seeds,
            measure=measure,
            standard=[resampling.rounded(value) for value in others],
            guided=[resampling.rounded(value) for value in own],
            difference=resampling.rounded(fmean(own) - fmean(others)) if measure else None,
            verdict=share_verdict(share, fmean(others), fmean(own)) if measure == ACCURACY else UNKNOWN,
        )
    ]


def share_verdict(share: float, standard: float, guided: float) -> str:
    """Whether `share` passes the rule by dev accuracies, means over seeds."""
    if chosen(standard, {share: guided}) is None:
        return FAILS
    return PASSES if share >= max(SHARES) else SMALLER


def warnings(lines: Iterable[ShareLine], suite: str) -> Iterator[str]:
    """One for each task and model on which k does not pass its rule, as far as is known."""
    for line in lines:
        if line.verdict == PASSES:
            continue
        place = f"{line.task}, {line.model}: k = {line.share:g}"
        yield (
            f"**{place} is not shown to pass the rule that chooses it** ({line.verdict}). `faithboard choose-share "
            f"--suite {suite} --tasks {line.task}` tries every k; `--set mask_share=K` trains with another."
        )


def table(lines: Iterable[ShareLine]) -> str:
    """What the rule sees, one number per seed, and its verdict."""
    rows = [
        (
            line.task,
            line.model,
            f"{line.share:g}",
            ", ".join(map(str, line.seeds)),
            line.measure or markdown.NOTHING,
            _each(map(number, line.standard)),
            _each(map(number, line.guided)),
            _each(signed(own - other) for own, other in zip(line.guided, line.standard, strict=True)),
            signed(line.difference),
            line.verdict,
        )
        for line in lines
    ]
    headers = ("task", "model", "k", "seeds", "on dev", STANDARD, GUIDED, "difference", "mean", "the rule")
    return markdown.table(headers, rows, right=(2, 8))


def _measure(records: Sequence[ModelRecord]) -> str:
    """The dev measure that all of them have of the epoch they keep, accuracy before the one that picked it; empty when
    there is none."""
    kept = [_kept(record) for record in records]
    measures = (ACCURACY, str(records[0].config.get("select", "")))
    return next((one for one in measures if all(f"dev-{one}" in entry for entry in kept)), "")


def _kept(record: ModelRecord) -> dict[str, float]:
    """What is recorded of the epoch whose weights are kept; empty when it is not known."""
    best = record.provenance.get("best_epoch")
    return next((entry for entry in record.history if entry.get("epoch") == best), {})


def _each(values: Iterable[str]) -> str:
    return " / ".join(values) or markdown.NOTHING
