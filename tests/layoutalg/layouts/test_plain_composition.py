"""Compositions that symbols leave open are not decided."""

from __future__ import annotations

import pytest

import layoutalg as la
from layoutalg import UndecidedError, parse_layout


@pytest.mark.parametrize(
    ("a", "b", "because"),
    [
        ("(4,m):(1,100)", "(2,2):(1,m)", "whether 4 divides m; give it as 4*m"),
        ("(m,4):(1,100)", "(3,2):(2,3)", "whether m divides 2"),
        ("(6,m):(1,7)", "(3,2):(2,3)", "whether the modes of b add up without a carry"),
    ],
)
def test_a_composition_that_the_symbols_leave_open_is_not_decided(a: str, b: str, because: str) -> None:
    with pytest.raises(UndecidedError) as refused:
        la.composition(parse_layout(a), parse_layout(b))
    assert because in str(refused.value)
