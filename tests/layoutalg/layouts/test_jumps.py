"""Jumps: the first index that leaves the line, and every carry, by enumeration."""

from __future__ import annotations

from itertools import product as cartesian

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import layoutalg as la
from layoutalg import NotDivisibleError, UndecidedError, parse_layout
from layoutalg.layouts import plain_composition as jumps
from layoutalg.layouts.plain_composition import ExtendedLayout


def test_a_carry_that_only_the_exhaustive_search_finds_is_found() -> None:
    with pytest.raises(NotDivisibleError, match=r"at coordinate \(2,3\) of b, a\(10 \+ 15\) = 2, but .* = 5;"):
        la.composition(parse_layout("(2,4,5):(-1,1,1)"), parse_layout("(4,4):(5,5)"))


FUNCTIONS = st.lists(st.tuples(st.integers(2, 5), st.integers(-6, 6)), min_size=2, max_size=4)


def prepared(modes: list[tuple[int, int]]) -> ExtendedLayout:
    return ExtendedLayout([n for n, _ in modes], [d for _, d in modes])


@given(FUNCTIONS, st.integers(1, 40), st.integers(1, 60))
def test_the_first_jump_is_the_first_index_that_leaves_the_line(
    modes: list[tuple[int, int]], step: int, count: int
) -> None:
    f = prepared(modes)
    leaves = [x for x in range(count) if f(step * x) != x * f(step)]
    assert f.first_jump(step, count) == f.first_jump(-step, count) == (leaves[0] if leaves else None)


@given(FUNCTIONS, st.lists(st.tuples(st.integers(2, 6), st.integers(-12, 12)), min_size=2, max_size=3))
def test_a_carry_is_found_exactly_where_the_modes_do_not_add_up(
    modes: list[tuple[int, int]], index: list[tuple[int, int]]
) -> None:
    f = prepared(modes)
    assume(all(f.first_jump(t, n) is None for n, t in index))

    def differs(where: tuple[int, ...]) -> bool:
        return bool(
            f(sum(x * t for x, (_, t) in zip(where, index, strict=True)))
            != sum(x * f(t) for x, (_, t) in zip(where, index, strict=True))
        )

    carry = f.first_carry(index)
    if carry is None:
        assert not any(map(differs, cartesian(*(range(n) for n, _ in index))))
    else:
        assert differs(carry) and all(x < n for x, (n, _) in zip(carry, index, strict=True))


def test_jumps_are_followed_up_to_the_limit_and_not_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ExtendedLayout([2, 3, 4], [1, 5, 12])
    assert f.first_jump(1, 8) == 2
    f = ExtendedLayout([2, 2, 2], [1, 3, 5])  # by steps of 3 the jumps of two boundaries cancel before one stays
    jump = f.first_jump(3, 100)
    assert jump is not None
    monkeypatch.setattr(jumps, "MAX_STEPS", 0)
    with pytest.raises(UndecidedError, match=r"along steps of 3 have .* the first 0 jumps cancel"):
        f.first_jump(3, 100)


def test_coordinates_are_searched_up_to_the_limit_and_not_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = parse_layout("(2,4,5):(-1,1,1)"), parse_layout("(4,4):(5,5)")
    monkeypatch.setattr(jumps, "MAX_STEPS", 16)
    with pytest.raises(NotDivisibleError):
        la.composition(a, b)
    monkeypatch.setattr(jumps, "MAX_STEPS", 15)
    with pytest.raises(UndecidedError, match=r"additive over the modes 4:5,4:5 of .* more than 15 comparisons"):
        la.composition(a, b)
