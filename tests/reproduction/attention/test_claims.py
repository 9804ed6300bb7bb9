from __future__ import annotations

from faithboard.published import adversarial
from faithboard.reproduction.attention.claims import CLAIMS, evidence_lines
from faithboard.reproduction.attention.lines import EvidenceLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.attention.outputs import divergence_lines
from faithboard.reproduction.attention.verdicts import claim_verdict
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS

OF = {claim.name: claim for claim in CLAIMS}


def evidence(*models: Measured) -> list[EvidenceLine]:
    return evidence_lines(models, LABELS, divergence_lines(models, LABELS, {}))


def of(claim: str, found: list[EvidenceLine]) -> list[EvidenceLine]:
    """The evidence of a claim; there must be some."""
    own = [line for line in found if line.claim == claim]
    assert own
    return own


def said(claim: str, found: list[EvidenceLine]) -> str:
    return claim_verdict(OF[claim], found, "nothing was run")


def test_encoders_and_pairs_hold_where_the_numbers_say_so() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.3), invented.full("sst", "average-additive", 0.8))
    (encoders,) = (one for one in found if one.claim == "encoders")
    assert encoders.holds
    assert 0.45 < encoders.low < encoders.value < encoders.high < 0.55
    assert encoders.published is not None
    assert encoders.published > 0.2
    pairs = of("pairs", found)
    assert [one.what for one in pairs] == ["gradient-loo - attention-gradient", "gradient-loo - attention-loo"]
    assert all(one.holds for one in pairs)


def test_they_do_not_hold_where_the_order_is_another() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.8), invented.full("sst", "average-additive", 0.3))
    assert [one.holds for one in of("encoders", found)] == [False]
    assert [one.holds for one in of("pairs", found)] == [False, False]


def test_without_the_other_encoder_there_is_no_comparison() -> None:
    found = evidence(invented.full("sst", "bilstm-additive", 0.3))
    assert not [one for one in found if one.claim == "encoders"]
    assert said("encoders", found) == "not testable here: nothing was run"


def test_permutation_and_divergence_are_held_against_their_thresholds() -> None:
    little = evidence(invented.full("sst", "bilstm-additive", 0.3, jsd=0.36, moved=0.02))
    much = evidence(invented.full("sst", "bilstm-additive", 0.3, jsd=0.2, moved=0.3))
    for claim in ("permutation", "adversarial", "adversarial-paper"):
        assert all(one.holds for one in of(claim, little))
        assert not any(one.holds for one in of(claim, much))
    classes = of("adversarial", little)
    assert [one.what for one in classes] == ["negative", "positive"]
    known = adversarial()
    assert [one.published for one in classes] == [known["sst", "bilstm-additive", label].mean for label in (0, 1)]


def test_few_words_are_held_against_the_other_tasks() -> None:
    usual = invented.full("sst", "bilstm-additive", 0.3, jsd=0.5)
    fooled = evidence(usual, invented.full("planted", "bilstm-additive", 0.3, jsd=0.55))
    hard = evidence(usual, invented.full("planted", "bilstm-additive", 0.3, jsd=0.1))
    assert said("few-words", hard) == "holds (planted)"
    assert said("few-words", fooled) == "does not hold"
    alone = evidence(invented.full("planted", "bilstm-additive", 0.3, jsd=0.1))
    assert said("few-words", alone) == "holds (planted)"
    (in_print,) = {one.threshold for one in of("few-words", alone)}
    assert 0.5 < in_print < 0.69
    assert said("few-words", evidence(usual)) == "not testable here: nothing was run"
