"""Lines from an invented board, the rules of the answers, and the page they make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from faithboard.errors import SuiteError
from faithboard.report import files as board_files
from faithboard.reproduction.elephant.form import FORM
from faithboard.reproduction.elephant.lines import Answers, AttentionLine, DuelLine, OperatorLine
from faithboard.reproduction.elephant.making import answers
from faithboard.reproduction.elephant.page import page
from faithboard.reproduction.elephant.reporting import answering, newest, report_boards
from faithboard.reproduction.elephant.verdicts import UNANSWERED, checklist
from faithboard.reproduction.files import lines_folder, page_of, read
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.board import Board
from faithboard.stats.checks import ModelCheck
from tests import boards
from tests.boards import Records, model, noisy


def board() -> Board:
    """Attention is behind integrated gradients, ahead of leave-one-out, level with gradient-x-input."""
    made = boards.two_seeds(
        attention=noisy(0.5, salt=1),
        gradient_x_input=noisy(0.5, salt=2),
        integrated_gradients=noisy(0.9, salt=3),
        leave_one_out=noisy(0.1, salt=4),
        gradient_l2=noisy(0.1, salt=5),
    ).board()
    key = made.tables[0].key
    place = (key, "toy", "bilstm-additive", "standard")
    return replace(
        made,
        method_agreement=[MethodAgreement(*place, "gradient-l2", "gradient-x-input", 40, 0.3, 0.2, 0.4, 0.0)],
        metric_agreement=[
            MetricAgreement(
                *place,
                "comprehensiveness",
                "comprehensiveness-unk",
                "operator",
                5,
                0.8,
                0.6,
                1.0,
                decided=6,
                reversed=0,
            )
        ],
        checks=[check("additive"), check("none", against="bilstm-additive", loss=0.1, loss_low=0.05, loss_high=0.15)],
    )


def check(attention: str, **changes: object) -> ModelCheck:
    plain = ModelCheck("toy", "0123456789abcdef", "bilstm", attention, "standard", [0, 1], 40, 0.9, 0.85, 0.95, 0.01)
    return replace(plain, **changes)  # type: ignore[arg-type]


def duel(better: str, task: str = "toy", metric: str = "comprehensiveness") -> DuelLine:
    return DuelLine(
        "b-v1", task, "m", metric, "higher", "attention", "leave-one-out", 0.4, 0.5, -0.1, -0.2, 0.0, 0.01, 40, better
    )


def attention_line(low: float, control: str = "none") -> AttentionLine:
    return AttentionLine("b-v1", "toy", "bilstm", control, [0, 1], 40, 0.9, low + 0.05, low, low + 0.1)


def operator_line(reversed_: int, task: str = "toy") -> OperatorLine:
    return OperatorLine("b-v1", task, "m", "sufficiency", "sufficiency-unk", 5, 0.5, 0.2, 0.8, 10, reversed_)


def test_duels_are_seen_from_attention_whatever_the_order_of_their_names() -> None:
    found = {line.b: line for line in answers({"toy-v1": board()}).duels if line.a == "attention"}
    assert set(found) == {"gradient-x-input", "integrated-gradients", "leave-one-out"}
    for line in found.values():
        assert line.difference == pytest.approx(line.value_a - line.value_b, abs=2e-6)
        assert line.low <= line.difference <= line.high
    assert found["integrated-gradients"].better == "integrated-gradients"
    assert found["leave-one-out"].better == "attention"
    assert found["gradient-x-input"].better == ""


@pytest.mark.parametrize(("truth", "asked"), [({}, False), ({"verified": 0.0}, False), ({"verified": 1.0}, True)])
def test_marks_count_only_where_they_are_known_truth(truth: dict[str, float], asked: bool) -> None:
    made = Records([model(seed=seed, known_truth=truth) for seed in (0, 1)])
    for salt, method in enumerate(("attention", "leave-one-out", "random")):
        values = {name: noisy(0.5, salt=salt) for name in ("comprehensiveness", "precision@k")}
        made.add(method, values)
    metrics = {line.metric for line in answers({"toy-v1": made.board()}).duels}
    # Without known truth precision@k is agreement with what people marked.
    assert metrics == ({"comprehensiveness", "precision@k"} if asked else {"comprehensiveness"})


def test_every_question_is_answered_with_its_numbers() -> None:
    which, apart, matter, erase = checklist(answers({"toy-v1": board()}))
    assert which.verdict == "neither (toy)"
    assert which.numbers == "attention better in 1, a saliency method in 1, not told apart in 1 of 3 comparisons"
    assert apart.verdict == "yes, they answer differently (toy)"
    assert "tau between their scores 0.30 to 0.30" in apart.numbers
    assert matter.verdict == "it matters (toy)"
    assert erase.verdict == "it survives (toy)"
    assert erase.numbers == "0 of 6 pairs swapped; tau 0.80 to 0.80"


def test_a_difference_that_not_every_seed_has_is_no_plain_tie_on_the_page() -> None:
    line = replace(duel(""), a="gradient-l2", b="gradient-x-input")
    assert "| p <= 0.05, but not in every seed |" in page(Answers(duels=[line]), "elephant")
    assert "| not told apart |" in page(Answers(duels=[replace(line, p_holm=0.2)]), "elephant")


def test_whoever_wins_more_comparisons_says_it_better() -> None:
    duels = [
        *(duel("leave-one-out"), duel("leave-one-out", metric="sufficiency"), duel("attention", metric="precision@k")),
        duel("attention", "other"),
        duel("", "third"),
    ]
    (which, *_) = checklist(Answers(duels=duels))
    assert which.verdict == "saliency says it better (toy); attention says it better (other); neither (third)"


def test_attention_matters_only_when_every_control_loses() -> None:
    both = [attention_line(0.01), attention_line(0.02, "uniform")]
    assert checklist(Answers(attention=both))[2].verdict == "it matters (toy)"
    assert checklist(Answers(attention=[*both, attention_line(0.0, "random")]))[2].verdict == "not shown (toy)"


def test_one_seed_is_said_to_be_one() -> None:
    single = replace(attention_line(0.01), seeds=[0])
    found = Answers(attention=[single, replace(attention_line(0.01), task="other")])
    assert checklist(found)[2].verdict == "it matters (other); it matters by the one seed trained (toy)"
    assert "| matters by one seed |" in page(found, "elephant")
    lost = replace(attention_line(0.0), seeds=[0])
    assert checklist(Answers(attention=[lost]))[2].verdict == "not shown (toy)"


def test_attention_matters_only_when_every_seed_loses() -> None:
    steady, turned = ({"0": 0.05, "1": second} for second in (0.04, 0.0))
    for losses, verdict, count in ((steady, "it matters (toy)", 1), (turned, "not shown (toy)", 0)):
        answer = checklist(Answers(attention=[replace(attention_line(0.01), seed_losses=losses)]))[2]
        assert (answer.verdict, answer.numbers) == (verdict, f"{count} of 1 controls lose accuracy")


def test_the_accuracy_of_learned_attention_is_that_of_the_seeds_compared() -> None:
    control = check("none", against="bilstm-additive", loss=0.1, loss_low=0.05, loss_high=0.15)
    told = replace(control, against_accuracy=0.8, seed_losses={"0": 0.1})
    (line,) = answers({"toy-v1": replace(board(), checks=[check("additive"), told])}).attention
    assert (line.accuracy, line.seed_losses, line.seeds) == (0.8, {"0": 0.1}, [0])
    (line,) = answers({"toy-v1": replace(board(), checks=[check("additive"), control])}).attention
    assert (line.accuracy, line.seed_losses) == (0.9, {})


def test_one_swapped_pair_is_enough_for_a_ranking_not_to_survive() -> None:
    (*_, erase) = checklist(Answers(operators=[operator_line(0), operator_line(1, "other")]))
    assert erase.verdict == "it survives (toy); it does not (other)"
    assert erase.numbers.startswith("1 of 20 pairs swapped")


def test_a_ranking_of_which_nothing_is_told_apart_is_not_decided() -> None:
    nothing = replace(operator_line(0, "third"), decided=0)
    (*_, erase) = checklist(Answers(operators=[operator_line(0), nothing]))
    assert erase.verdict == "it survives (toy); not decided, as nothing is told apart (third)"


def test_the_page_that_is_committed_is_made_of_the_boards_that_are() -> None:
    root = Path(__file__).parents[3] / "leaderboards"
    folder = lines_folder(root, "elephant")
    if folder.is_dir():
        assert read(FORM, folder) == answers({path.name: board_files.read(path) for path in answering(root)})


def test_what_was_not_measured_is_not_answered() -> None:
    assert {one.verdict for one in checklist(Answers())} == {UNANSWERED}


def test_models_below_the_gate_or_of_another_training_answer_nothing() -> None:
    good = board()
    weak = replace(
        good, tables=[replace(good.tables[0], gate_passed=False, reason="the model fails the accuracy gate")]
    )
    found = answers({"toy-v1": weak})
    assert not found.duels
    assert not found.alike
    assert not found.operators
    assert not found.attention
    assert found.sources[0].left_out == ["toy, bilstm-additive: the model fails the accuracy gate"]
    guided = replace(good, tables=[replace(good.tables[0], training="saliency-guided")])
    assert answers({"toy-v1": guided}).sources[0].left_out == []


def test_of_two_boards_with_the_same_control_the_one_with_more_seeds_counts() -> None:
    few = replace(board(), checks=[check("additive"), replace(check("none", against="bilstm-additive"), seeds=[0])])
    few = replace(few, checks=[few.checks[0], replace(few.checks[1], loss=0.3, loss_low=0.2, loss_high=0.4)])
    found = answers({"few-v1": few, "toy-v1": board()})
    assert [(line.board, line.loss) for line in found.attention] == [("toy-v1", 0.1)]


def test_the_page_is_written_from_the_boards_of_a_folder_and_regenerates(tmp_path: Path) -> None:
    made = board()
    tables = [replace(table, suite="standard") for table in made.tables]
    board_files.write(replace(made, tables=tables), tmp_path)
    shown = report_boards(tmp_path, "elephant")
    assert shown.page == tmp_path / "reproduction" / "elephant.md"
    text = shown.page.read_text()
    assert "**0.4" in text.replace("**0.3", "**0.4"), "a saliency method that is better stands out"
    assert "| toy" in text
    assert "standard-v1 (seeds 0, 1): toy, bilstm-additive." in text
    assert "it matters (toy)" in shown.text
    assert page_of(FORM, lines_folder(tmp_path, "elephant")) == (shown.page, text)


def test_without_a_leaderboard_it_says_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="faithboard run --suite standard"):
        report_boards(tmp_path, "elephant")


def test_the_newest_version_counts_by_number_and_others_are_no_version(tmp_path: Path) -> None:
    for name in ("standard-v2", "standard-v10", "standard-vx", "standard-models-v99"):
        (tmp_path / name).mkdir()
        (tmp_path / name / board_files.TABLES).write_text("")
    (tmp_path / "standard-v11").mkdir()
    assert newest(tmp_path, "standard") == tmp_path / "standard-v10"
    assert newest(tmp_path, "quick") is None


def test_values_of_the_invented_board_are_what_they_were_made_of() -> None:
    values = {line.b: line.value_b for line in answers({"toy-v1": board()}).duels if line.a == "attention"}
    assert values["integrated-gradients"] == pytest.approx(float(np.mean(noisy(0.9, salt=3))), abs=1e-6)
