"""Compositions that symbols leave open are not decided, and a refused one is told where it breaks."""

from __future__ import annotations

import re

import pytest

import layoutalg as la
from layoutalg import NotDivisibleError, UndecidedError, parse_layout


@pytest.mark.parametrize(
    ("a", "b", "because"),
    [
        ("(4,m):(1,100)", "(2,2):(1,m)", "whether 4 divides m; give it as 4*m"),
        ("(m,4):(1,100)", "(3,2):(2,3)", "whether m divides 2"),
        ("(6,m):(1,7)", "(3,2):(2,3)", "because the modes of b may carry in a"),
    ],
)
def test_a_composition_that_the_symbols_leave_open_is_not_decided(a: str, b: str, because: str) -> None:
    with pytest.raises(UndecidedError) as refused:
        la.composition(parse_layout(a), parse_layout(b))
    assert because in str(refused.value)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("(6,2):(1,7)", "(3,2):(2,3)"),
        ("(6,2):(1,7)", "(2,3,2):(0,2,3)"),
        ("(6,2):(1,7)", "(1,3,2):(5,2,3)"),
        ("(6,2):(1,7)", "(3,1,4,2):(2,5,0,3)"),
        ("(2,6,2):(9,1,7)", "(2,(4,1),(3,(2,2))):(0,(0,3),(4,(1,6)))"),
    ],
)
def test_a_refused_sum_names_a_coordinate_at_which_it_breaks_whatever_modes_stand_still(a: str, b: str) -> None:
    first, second = parse_layout(a), parse_layout(b)
    with pytest.raises(NotDivisibleError) as refused:
        la.composition(first, second)
    match = re.search(r"at coordinate (\S+) of b, a\((.+?)\) = (\d+), but (.+) = (\d+);", str(refused.value))
    assert match is not None
    coordinate, index, offset, terms, expected = (eval(part, {"a": first}) for part in match.groups())  # noqa: S307
    assert second(coordinate) == index and first(index) == offset != expected == terms
    leaves = flat(coordinate)
    assert len(leaves) == len(flat(second.shape))
    assert expected == sum(first(x * t) for x, t in zip(leaves, flat(second.stride), strict=True))


def test_a_refused_leaf_is_told_after_how_many_steps_its_stride_breaks() -> None:
    """Eight steps of 1 through modes of 2 and 3: two in the first mode, three times two to the end of the second."""
    with pytest.raises(NotDivisibleError, match=r"stride of a\(1\*i\) changes at i = 6, which does not divide 8,"):
        la.composition(parse_layout("(2,3,5):(1,7,100)"), parse_layout("8:1"))


def flat(value: object) -> list[int]:
    """The leaves of a nested tuple."""
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, tuple) else [value]  # type: ignore[list-item]
