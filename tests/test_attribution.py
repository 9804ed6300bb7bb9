from __future__ import annotations

from typing import Any

import pytest
import torch

from faithboard import method, variant
from faithboard.errors import ContractError


def declare(name: str = "mine", kind: Any = "sensitivity", needs: tuple[str, ...] = (), function: Any = None) -> None:
    explain: Any = function or (lambda model, batch, rng: None)
    method(name, kind=kind, signed=False, source="a test", needs=needs)(explain)


@pytest.mark.parametrize("name", ["", "Mine", "a/b", "../x", "a b"])
def test_a_name_can_be_part_of_a_file_name(name: str) -> None:
    with pytest.raises(ContractError, match="a name is made of"):
        declare(name)


def test_what_is_declared_must_exist() -> None:
    with pytest.raises(ContractError, match="did you mean contribution"):
        declare(kind="contributon")
    with pytest.raises(ContractError, match="unknown need"):
        declare(needs=("gradient",))


def test_a_function_of_other_parameters_is_refused_at_once() -> None:
    with pytest.raises(ContractError, match=r"takes \(model, batch, rng\)"):
        declare(function=lambda model, batch: torch.zeros(1))


def test_a_good_declaration_is_a_method() -> None:
    made = method("mine", kind="sensitivity", signed=False, source="a test", draws=3)(
        lambda model, batch, rng: batch.ids
    )
    assert (made.name, made.draws, made.stochastic, made.training) == ("mine", 3, True, "standard")


def test_only_a_stochastic_method_is_drawn_more_than_once() -> None:
    for draws, rule in ((10, "only a stochastic method"), (0, "one draw at least")):
        with pytest.raises(ContractError, match=rule):
            method("mine", kind="sensitivity", signed=False, source="a test", draws=draws, stochastic=False)


@pytest.mark.parametrize("name", ["Mine", "a name", "../mine"])
def test_the_name_of_a_variant_is_a_name_too(name: str) -> None:
    with pytest.raises(ContractError, match="a name is made of"):
        variant("attention", training="gentle", name=name)
    with pytest.raises(ContractError, match="a name is made of"):
        variant("attention", training=name)
