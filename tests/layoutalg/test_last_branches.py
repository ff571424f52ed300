"""The last branch of each decision: where every rule that answers early has failed, and where a limit is reached.

Random input practically never comes here (the carry that only the exhaustive search finds is one in 270,000 random
pairs), so each branch has a case that was made for it. These lines keep the promise that an answer is right or is not
given.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

import layoutalg as la
from layoutalg import (
    ComposedLayout,
    CoordinateError,
    F2Matrix,
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


# Inverses


@pytest.mark.parametrize("operation", ["right_inverse", "left_inverse", "max_common_layout"])
@pytest.mark.parametrize("layout", ["S<1,0,1> o 1 o 4:1", "4:1 o 0 o 4:1", "S<1,0,1> o 0 o 4:1 o 0 o 4:1"])
def test_an_inverse_is_only_taken_of_a_swizzle_after_a_layout(operation: str, layout: str) -> None:
    operands = [parse_layout(layout)] * (2 if operation == "max_common_layout" else 1)
    with pytest.raises(LayoutError, match=f"^{operation}: a composed layout must be a swizzle after a plain layout at"):
        getattr(la, operation)(*operands)


@pytest.mark.parametrize(("operation", "layout"), [("right_inverse", "(2,m):(m,1)"), ("left_inverse", "(2,m):(m,1)")])
def test_an_inverse_that_the_symbols_leave_open_is_not_decided(operation: str, layout: str) -> None:
    with pytest.raises(UndecidedError, match="cannot decide whether"):
        getattr(la, operation)(parse_layout(layout))


COMMON = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 8)), min_size=1, max_size=3).map(
    lambda modes: Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
)


@given(COMMON, COMMON)
def test_a_common_layout_holds_indices_at_which_both_are_the_offset(a: Layout, b: Layout) -> None:
    common = la.max_common_layout(a, b)
    assert all(a(common(i)) == i == b(common(i)) for i in range(la.size(common)))
    assert la.max_common_vector(a, b) == la.size(common)


def test_a_common_layout_stops_before_the_first_carry() -> None:
    # b's offsets 0..11 lie at the indices 0..5, 12..17; there a carries, so that only whole steps below it are common
    a, b = Layout((3, 2, 2), (1, 3, 6)), Layout((3, 2, 2), (1, 3, 6))
    assert la.max_common_layout(a, b) == Layout(12, 1)
    assert la.max_common_layout(Layout((6, 2), (1, 7)), Layout((6, 2), (1, 6))) == Layout(6, 1)


@given(COMMON)
def test_the_nullspace_reaches_each_index_of_the_zero_strides_once(layout: Layout) -> None:
    kernel = la.nullspace(layout)
    found = [kernel(i) for i in range(la.size(kernel))]
    assert all(layout(i) == 0 for i in found)
    assert len(set(found)) == len(found)
    zeros = [n for n, d in zip(layout.shape, layout.stride, strict=True) if d == 0]
    assert len(found) == np.prod([1, *zeros])


# Symbols


def test_equal_functions_of_other_forms_are_proved_where_all_offsets_can_be_compared() -> None:
    assert la.prove(after_nothing("16384:1"), Layout(16384))
    with pytest.raises(UndecidedError, match="for 1 choices of no symbols, yet the coalesced forms are S<0,0,0> o 0 o"):
        la.prove(after_nothing("16385:1"), Layout(16385))


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        ("m:1", "for 7 choices of m"),
        ("(a,b,c):(1,1,1)", "for 343 choices of a, b, c"),
        ("(a,b,c,d):(1,1,1,1)", "for 513 choices of a, b, c, d"),
    ],
)
def test_equal_functions_of_other_forms_with_symbols_are_not_decided(layout: str, told: str) -> None:
    with pytest.raises(UndecidedError, match=f"prove: no difference was found {told}, yet the coalesced forms are"):
        la.prove(after_nothing(layout), parse_layout(layout))


# Refusals that another check would make too, with words that mislead


@each(
    ("call", "told"),
    [
        (lambda: la.tile_to_shape(Layout(8), (16, 16), (0, 1, 2)), "tile_to_shape: the order must have 2 modes, found"),
        (lambda: la.tile_to_shape(Layout((8, 8)), 16), "tile_to_shape: the shape must have at least 2 modes, found 1"),
        (lambda: la.recast_layout(0, 0, Layout(4)), "recast_layout: element sizes must be positive, found 0 and 0"),
        (lambda: la.complement(Layout(4), after_nothing("8:1")), "complement: the cotarget must be a shape or a plain"),
        (lambda: la.crd2idx((1, None), Layout((4, 2))), r"crd2idx: a coordinate must have no None, found \(1,_\)"),
        (lambda: la.max_common_layout(Layout(4), 8), "max_common_layout: the operand must be a layout, found 8"),
        (lambda: la.composition(Layout((4, 2)), (after_nothing("2:1"),)), "composition: a tiler of modes must hold"),
        (lambda: la.composition(Layout((4, 2)), (2, 2, 2)), "composition: a tiler must have at most 2 modes"),
        (lambda: la.make_layout(Layout(4), Layout(2), stride=(1, 4)), "make_layout: a stride goes with a shape"),
        (lambda: la.upcast(ComposedLayout(Layout(4), 0, Layout(4)), 2), "upcast: a composed layout must be a swizzle"),
        (lambda: la.downcast(ComposedLayout(Layout(4), 0, Layout(4)), 2), "downcast: a composed layout must be a swiz"),
        (lambda: la.dice(Layout((4, 2)), (1, None, 1)), "dice: the dicer must be weakly congruent to the shape"),
        (lambda: la.idx2crd((1, 2, 3), (4, 2)), "idx2crd: the index must be weakly congruent to the shape"),
        (lambda: F2Matrix((1, 2))(1.0), "F2Matrix: a vector must be an integer, found 1.0"),  # type: ignore[arg-type]
        (lambda: F2Matrix((1, 2))("x"), "F2Matrix: a vector must be an integer, found 'x'"),  # type: ignore[arg-type]
        (lambda: F2Matrix((1, 2))(True), "F2Matrix: a vector must be an integer, found True"),
        (lambda: F2Matrix((1, 2))(4), "F2Matrix: a vector must have at most 2 bits, found 4"),
        (lambda: la.filter_zeros(Layout((4, 2)), (1, 2, 3)), "filter_zeros: target_profile must be congruent"),
        (lambda: la.filter_zeros(Layout((4, 2)), 1), "filter_zeros: target_profile must be congruent"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong_here(call: Any, told: str) -> None:
    with pytest.raises(LayoutError, match=f"^{told}"):
        call()


def test_a_coordinate_with_none_is_no_index() -> None:
    with pytest.raises(CoordinateError):
        la.crd2idx((1, None), (4, 2))


@pytest.mark.parametrize("text", ["S<3,4,3 o 0 o (8,8):(8,1)", "S<3,4,3", "S<3,4,-3,", "S<3,4,3:1"])
def test_a_swizzle_of_positive_shift_needs_its_closing_bracket(text: str) -> None:
    with pytest.raises(NotationError, match="expected '>'"):
        parse_layout(text)


# Limits: what is just within is taken


def test_modes_are_added_up_to_the_limit() -> None:
    assert la.rank(la.append(Layout(4), Layout(1), 4097)) == 4097
    for operation in (la.append, la.prepend):
        with pytest.raises(LayoutError, match="up_to_rank must be at most the rank plus 4096, found 4098"):
            operation(Layout(4), Layout(2), 4098)


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63 - 1)])
def test_the_farthest_offsets_are_computed(far: int) -> None:
    assert la.offsets(Layout(2, far)).tolist() == [0, far]
    with pytest.raises(LayoutError, match="every offset must fit 64 bits, found up to"):
        la.offsets(Layout((2, 2), (far, far // abs(far))))


@pytest.mark.parametrize(
    ("stride", "dtype"), [(2**31 - 1, np.int32), (-(2**31), np.int32), (2**31, np.int64), (-(2**31) - 1, np.int64)]
)
def test_offsets_are_of_the_narrowest_type_that_holds_them(stride: int, dtype: Any) -> None:
    found = la.offsets(Layout(2, stride))
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), [0, stride])


def test_offsets_are_of_any_type_that_holds_them() -> None:
    assert la.offsets(Layout(2, 127), np.int8).tolist() == [0, 127]
    assert la.offsets(Layout(2, -128), np.int8).tolist() == [0, -128]
    for stride in (128, -129):
        with pytest.raises(LayoutError, match="int8 must hold offsets from"):
            la.offsets(Layout(2, stride), np.int8)


def nested(text: str, levels: int) -> str:
    return "(" * levels + text + ")" * levels


def test_the_depth_of_a_notation_is_that_of_its_deepest_part() -> None:
    siblings = ",".join(["(1)"] * 300)
    assert la.depth(la.parse_int_tuple(f"({siblings},{nested('8', 62)})")) == 63
    with pytest.raises(NotationError, match="nesting must not exceed 64 levels"):
        la.parse_int_tuple(f"({siblings},{nested('8', 64)})")


def test_a_shape_may_be_64_levels_deep_and_no_deeper() -> None:
    shape: Any = 4
    for _ in range(64):
        shape = (shape,)
    assert la.depth(Layout(shape)) == 64
    with pytest.raises(LayoutError, match="nesting must not exceed 64 levels"):
        Layout((shape,))


# What is shown of a value that is wrong: whole as long as it is short


@pytest.mark.parametrize(
    ("length", "refuse", "begins"),
    [
        (60, lambda text: la.Swizzle(text, 0, 0), "Swizzle: bits must be an integer, found "),
        (120, la.coalesce, "coalesce: the operand must be a layout, found "),
        (80, parse_layout, "text = "),
    ],
)
def test_a_wrong_value_is_shown_whole_up_to_the_limit(length: int, refuse: Any, begins: str) -> None:
    for more, whole in ((0, True), (1, False)):
        quoted = 0 if length == 80 or length == 120 else 2
        text = "?" * (length - quoted + more)
        with pytest.raises(LayoutError) as refused:
            refuse(text)
        shown = str(refused.value).partition(begins)[2].strip("'")
        assert (shown == text) is whole
        assert shown.endswith("..." if not whole else "?")
        assert len(shown) <= length


def test_a_value_too_deep_to_print_is_said_to_be(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(1000)  # mypy, which another test calls, raises it for its whole process
    bottomless: Any = 4
    for _ in range(5000):
        bottomless = (bottomless,)
    with pytest.raises(LayoutError, match="Swizzle: bits must be an integer, found a value too large to print"):
        la.Swizzle(bottomless, 0, 0)
    with pytest.raises(LayoutError, match="coalesce: the operand must be a layout, found a value too large to print"):
        la.coalesce(bottomless)


@pytest.mark.parametrize("offset", [0, 2**41])
def test_the_matrix_of_a_large_composition_comes_from_those_of_its_parts(offset: int) -> None:
    swizzled = ComposedLayout(Swizzle(1, 0, 1), 0, Layout(2**40))
    matrix, constant = la.to_f2_affine(ComposedLayout(Layout(2**42, 2), offset, swizzled))
    assert constant == 2 * offset
    assert matrix.columns == tuple(2 * swizzled(1 << bit) for bit in range(40))
