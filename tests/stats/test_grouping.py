"""Records that cannot stand in one table are refused."""

from __future__ import annotations

import pytest

from faithboard.errors import SuiteError
from tests.boards import noisy, two_seeds


def test_two_explanations_of_one_place_are_refused() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("a", {"comprehensiveness": noisy(0.9)})
    with pytest.raises(SuiteError, match=r"two explanations by 'a' .*seed 0.*keep one"):
        made.board()


def test_an_explanation_without_its_model_is_refused() -> None:
    made = two_seeds(a=noisy(0.9))
    made.models.pop()
    with pytest.raises(SuiteError, match=r"model-toy-1.*`faithboard run` trains"):
        made.board()
