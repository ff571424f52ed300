"""Limits: what is just within one is taken, and what is just beyond is refused in words, or said not to be decided.

Random input practically never comes there, so each limit has a case that was made for it.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import layoutalg as la
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotationError,
    Swizzle,
    UndecidedError,
    parse_layout,
)

NOTHING = Swizzle(0, 0, 0)


def after_nothing(layout: str) -> ComposedLayout:
    """A layout after a swizzle that swizzles nothing: the same function in another form."""
    return la.make_composed_layout(NOTHING, 0, parse_layout(layout))  # type: ignore[arg-type]


def test_equal_functions_of_other_forms_are_proved_where_all_offsets_can_be_compared() -> None:
    assert la.prove(after_nothing("16384:1"), Layout(16384))
    with pytest.raises(UndecidedError, match="for 1 choices of no symbols; the coalesced forms are S<0,0,0> o 0 o"):
        la.prove(after_nothing("16385:1"), Layout(16385))


@pytest.mark.parametrize(
    ("layout", "choices"),
    [
        ("m:1", "for 7 choices of m"),
        ("(a,b,c):(1,1,1)", "for 343 choices of a, b, c"),
        ("(a,b,c,d):(1,1,1,1)", "for 513 choices of a, b, c, d"),
    ],
)
def test_equal_functions_of_other_forms_with_symbols_are_not_decided(layout: str, choices: str) -> None:
    with pytest.raises(UndecidedError, match=f"prove: cannot decide .* difference was found {choices}; the coalesced"):
        la.prove(after_nothing(layout), parse_layout(layout))


def test_modes_are_added_up_to_the_limit() -> None:
    assert la.rank(la.append(Layout(4), Layout(1), 4097)) == 4097
    for operation in (la.append, la.prepend):
        with pytest.raises(LayoutError, match="up_to_rank 4098 adds 4097 modes, more than 4096"):
            operation(Layout(4), Layout(2), 4098)


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63 - 1)])
def test_the_farthest_offsets_are_computed(far: int) -> None:
    assert la.offsets(Layout(2, far)).tolist() == [0, far]
    with pytest.raises(LayoutError, match="may reach 9223372036854775808, which does not fit"):
        la.offsets(Layout((2, 2), (far, far // abs(far))))


@pytest.mark.parametrize(
    ("stride", "dtype"), [(2**31 - 1, np.int32), (-(2**31), np.int32), (2**31, np.int64), (-(2**31) - 1, np.int64)]
)
def test_offsets_are_of_the_narrowest_type_that_holds_them(stride: int, dtype: Any) -> None:
    array = la.offsets(Layout(2, stride))
    assert (array.dtype, array.tolist()) == (np.dtype(dtype), [0, stride])


def test_offsets_are_of_any_type_that_holds_them() -> None:
    assert la.offsets(Layout(2, 127), np.int8).tolist() == [0, 127]
    assert la.offsets(Layout(2, -128), np.int8).tolist() == [0, -128]
    for stride in (128, -129):
        with pytest.raises(LayoutError, match="int8 cannot represent the offsets from"):
            la.offsets(Layout(2, stride), np.int8)


def nested(text: str, levels: int) -> str:
    return "(" * levels + text + ")" * levels


def test_the_depth_of_a_notation_is_that_of_its_deepest_part() -> None:
    siblings = ",".join(["(1)"] * 300)
    assert la.depth(la.parse_int_tuple(f"({siblings},{nested('8', 62)})")) == 63
    with pytest.raises(NotationError, match="the nesting has more than 64 levels"):
        la.parse_int_tuple(f"({siblings},{nested('8', 64)})")


def test_a_shape_may_be_64_levels_deep_and_no_deeper() -> None:
    shape: Any = 4
    for _ in range(64):
        shape = (shape,)
    assert la.depth(Layout(shape)) == 64
    with pytest.raises(LayoutError, match="Layout: shape has more than 64 levels of nesting"):
        Layout((shape,))


# What is shown of a value that is wrong: whole as long as it is short


@pytest.mark.parametrize(
    ("length", "refuse", "begins", "ends"),
    [
        (60, lambda text: la.Swizzle(text, 0, 0), "Swizzle: bits is ", ", which is not an integer"),
        (120, la.coalesce, "coalesce: ", " is not a layout"),
        (80, parse_layout, "text = ", ""),
    ],
)
def test_a_wrong_value_is_shown_whole_up_to_the_limit(length: int, refuse: Any, begins: str, ends: str) -> None:
    for more, whole in ((0, True), (1, False)):
        quoted = 0 if length == 80 or length == 120 else 2
        text = "?" * (length - quoted + more)
        with pytest.raises(LayoutError) as refused:
            refuse(text)
        assert str(refused.value).endswith(ends)
        quoted_text = str(refused.value).partition(begins)[2].removesuffix(ends).strip("'")
        assert (quoted_text == text) is whole
        assert quoted_text.endswith("..." if not whole else "?")
        assert len(quoted_text) <= length


def test_a_value_too_deep_to_print_is_said_to_be(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(1000)  # whatever another test has made of it
    bottomless: Any = 4
    for _ in range(200_000):  # deeper than any Python prints: 3.12 and later go on past the limit in C
        bottomless = (bottomless,)
    with pytest.raises(LayoutError, match="Swizzle: bits is a value too large to print, which is not an integer"):
        la.Swizzle(bottomless, 0, 0)
    with pytest.raises(LayoutError, match="coalesce: a value too large to print is not a layout"):
        la.coalesce(bottomless)
