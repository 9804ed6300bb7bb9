"""From leaderboards to the lines of the page. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from faithboard.reproduction.elephant.lines import (
    AlikeLine,
    Answers,
    AttentionLine,
    DuelLine,
    OperatorLine,
    SourceLine,
)
from faithboard.stats.board import Board, Comparison, Table

ATTENTION = "attention"
SALIENCY = ("gradient-x-input", "integrated-gradients", "lrp-epsilon", "leave-one-out")
"""The paper's families: gradients, their integral, propagation, occlusion. All say what counts for a class."""
SENSITIVITY, CONTRIBUTION = "gradient-l2", "gradient-x-input"
METRICS = ("comprehensiveness", "sufficiency", "precision@k")
"""What is asked of a method that shall say which tokens mattered; the last where the truth is known."""
TRAINING = "standard"


def answers(boards: Mapping[str, Board]) -> Answers:
    """Every line, from boards by the name of their folder."""
    taking_part = {
        name: {table.key: table for table in board.tables if _counts(table)} for name, board in boards.items()
    }
    return Answers(
        sources=[_source(name, board, taking_part[name]) for name, board in boards.items()],
        duels=[line for name, board in boards.items() for line in _duels(name, board, taking_part[name])],
        alike=[line for name, board in boards.items() for line in _alike(name, board, taking_part[name])],
        attention=_attention(boards, taking_part),
        operators=[line for name, board in boards.items() for line in _operators(name, board, taking_part[name])],
    )


def _counts(table: Table) -> bool:
    """Whether a model can answer: trained as usual, better than chance, nothing amiss in any seed."""
    return table.training == TRAINING and table.gate_passed and not table.reason


def _source(name: str, board: Board, taking_part: Mapping[str, Table]) -> SourceLine:
    usual = [table for table in board.tables if table.training == TRAINING]
    return SourceLine(
        board=name,
        seeds=sorted({seed for table in board.tables for seed in table.seeds}),
        models=[f"{table.task}, {table.model}" for table in taking_part.values()],
        left_out=[
            f"{table.task}, {table.model}: {table.reason or 'fails the accuracy gate'}"
            for table in usual
            if table.key not in taking_part
        ],
    )


def _duels(name: str, board: Board, taking_part: Mapping[str, Table]) -> Iterator[DuelLine]:
    pairs = {frozenset((ATTENTION, one)): (ATTENTION, one) for one in SALIENCY}
    pairs[frozenset((SENSITIVITY, CONTRIBUTION))] = (SENSITIVITY, CONTRIBUTION)
    standings = {(one.table, one.method, one.metric): one for one in board.standings}
    for one in board.comparisons:
        pair = pairs.get(frozenset((one.a, one.b)))
        if pair is None or one.metric not in METRICS or one.table not in taking_part:
            continue
        a, b = (standings[one.table, method, one.metric] for method in pair)
        # Marks that nobody verified the model to use say what a reader likes, under the same name.
        plausibility = a.metric_kind == "rationale" and not taking_part[one.table].has_known_truth
        if plausibility or a.value is None or b.value is None:
            continue
        difference, low, high = _turned(one, pair[0])
        yield DuelLine(
            board=name,
            task=one.task,
            model=one.model,
            metric=one.metric,
            better_end=a.better,
            a=pair[0],
            b=pair[1],
            value_a=a.value,
            value_b=b.value,
            difference=difference,
            low=low,
            high=high,
            p_holm=one.p_holm,
            n=one.n,
            better=one.better,
        )


def _turned(one: Comparison, first: str) -> tuple[float, float, float]:
    """Difference and interval of a comparison, seen from `first`."""
    if one.a == first:
        return one.difference, one.low, one.high
    return -one.difference, -one.high, -one.low


def _alike(name: str, board: Board, taking_part: Mapping[str, Table]) -> Iterator[AlikeLine]:
    wanted = {frozenset((ATTENTION, one)) for one in SALIENCY} | {frozenset((SENSITIVITY, CONTRIBUTION))}
    for one in board.method_agreement:
        if one.table not in taking_part or frozenset((one.a, one.b)) not in wanted:
            continue
        if one.tau is None or one.low is None or one.high is None:
            continue
        first, second = (one.a, one.b) if one.a in (ATTENTION, SENSITIVITY) else (one.b, one.a)
        yield AlikeLine(name, one.task, one.model, first, second, one.n, one.tau, one.low, one.high)


def _attention(boards: Mapping[str, Board], taking_part: Mapping[str, Mapping[str, Table]]) -> list[AttentionLine]:
    """The controls of every task and encoder, all of one board: that with the most of them, then the most seeds."""
    found: dict[tuple[str, str], list[AttentionLine]] = {}
    for name, board in boards.items():
        for (task, encoder), lines in _controls(name, board, taking_part[name]).items():
            known = found.get((task, encoder), [])
            if _weight(lines) > _weight(known):
                found[task, encoder] = lines
    return [line for place in sorted(found) for line in found[place]]


def _weight(lines: Sequence[AttentionLine]) -> tuple[int, int]:
    return len(lines), sum(len(line.seeds) for line in lines)


def _controls(
    name: str, board: Board, taking_part: Mapping[str, Table]
) -> Mapping[tuple[str, str], list[AttentionLine]]:
    counting = {(table.task, table.fingerprint, table.model) for table in taking_part.values()}
    with_attention = {(one.task, one.fingerprint, one.model, one.training): one for one in board.checks}
    found: dict[tuple[str, str], list[AttentionLine]] = {}
    for check in board.checks:
        learned = with_attention.get((check.task, check.fingerprint, check.against, check.training))
        if check.training != TRAINING or learned is None or check.loss is None:
            continue
        if check.loss_low is None or check.loss_high is None:
            continue
        if (check.task, check.fingerprint, check.against) not in counting:
            continue
        found.setdefault((check.task, check.encoder), []).append(
            AttentionLine(
                board=name,
                task=check.task,
                encoder=check.encoder,
                control=check.attention,
                seeds=sorted(map(int, check.seed_losses)) or check.seeds,
                n=check.n,
                accuracy=learned.accuracy if check.against_accuracy is None else check.against_accuracy,
                loss=check.loss,
                low=check.loss_low,
                high=check.loss_high,
                seed_losses=check.seed_losses,
            )
        )
    return found


def _operators(name: str, board: Board, taking_part: Mapping[str, Table]) -> Iterable[OperatorLine]:
    for one in board.metric_agreement:
        if one.relation == "operator" and one.table in taking_part and one.tau is not None:
            yield OperatorLine(
                board=name,
                task=one.task,
                model=one.model,
                a=one.a,
                b=one.b,
                methods=one.methods,
                tau=one.tau,
                low=one.low,
                high=one.high,
                decided=one.decided,
                reversed=one.reversed,
            )
