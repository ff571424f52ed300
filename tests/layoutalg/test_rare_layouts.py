"""Layouts that the common strategies never draw: 0 beside basis strides, and composed layouts inside composed ones.

The judge is the definition, ``outer(offset + inner(c))`` for each coordinate, with outer extended beyond its shape.
"""

from __future__ import annotations

from itertools import product as cartesian
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutalg as la
from layoutalg import ComposedLayout, E, Layout, LayoutError, Swizzle, parse_layout
from layoutalg.layouts.composed import apply
from layoutalg.layouts.offsets import bounds
from layoutalg.tuples.int_tuple import extended_offset, flatten_tuple

# Basis strides


def test_a_zero_beside_basis_strides_moves_nothing() -> None:
    layout = Layout((4, 2), (E(0), 0))
    assert [layout(i, j) for j in range(2) for i in range(4)] == [(i,) for _ in range(2) for i in range(4)]
    assert layout(5) == (1,)
    assert la.cosize(layout) == 4


@pytest.mark.parametrize("stride", ["(0,1@0)", "(1@0,0)", "(0,0)"])
def test_a_composition_with_a_zero_beside_basis_strides_has_a_zero_there(stride: str) -> None:
    a, b = parse_layout("(4,2):(1,4)"), parse_layout(f"(2,2):{stride}")
    assert isinstance(a, Layout) and isinstance(b, Layout)
    r = la.composition(a, b)
    assert isinstance(r, Layout) and r.shape == b.shape
    steps = [0 if d == 0 else 1 for d in b.stride]
    assert [r(i, j) for i, j in cartesian(range(2), range(2))] == [
        i * steps[0] + j * steps[1] for i, j in cartesian(range(2), range(2))
    ]


def test_the_zero_of_a_composition_with_basis_strides_is_written_0() -> None:
    assert str(la.composition(parse_layout("(4,2):(1,4)"), parse_layout("(4,2):(1@0,0)"))) == "(4,2):(1,0)"
    assert str(la.composition(parse_layout("(4,2):(1@0,1@1)"), parse_layout("(2,2):(0,4)"))) == "(2,2):(0,1@1)"


def leaves() -> st.SearchStrategy[tuple[Any, Any]]:
    stride = st.one_of(st.just(0), st.builds(lambda n, d: n * E(d), st.integers(-3, 3), st.integers(0, 2)))
    return st.tuples(st.integers(1, 4), stride)


@given(st.lists(leaves(), min_size=1, max_size=4))
def test_a_basis_strided_layout_adds_up_what_its_modes_give(modes: list[tuple[Any, Any]]) -> None:
    layout = Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
    for where in cartesian(*(range(n) for n, _ in modes)):
        offset = layout(*where) if len(where) > 1 else layout(where)
        sums = [0] * 3
        for x, (_, d) in zip(where, modes, strict=True):
            if d != 0:
                sums[d.mode[0]] += x * d.value
        if all(d == 0 for _, d in modes):
            assert offset == 0
        else:
            assert list(offset) == sums[: len(offset)] and not any(sums[len(offset) :])


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (Layout((2, 2, 2), (E(0, 0), E(0), E(1))), r"mode \(0,\) is used both as a leaf and as a tuple"),
        (Layout((2, 2, 2), (E(0), E(0, 0), E(1))), r"mode \(0,\) is used both as a leaf and as a tuple"),
        (Layout((2, 2, 2), (E(0), E(0, 0, 1), E(1))), r"mode \(0,?.*\) is used both as a leaf and as a tuple"),
        (Layout((2, 2), (E(0), 1)), "integer stride 1 is used beside basis strides"),
    ],
)
def test_basis_strides_that_make_no_coordinate_are_refused(layout: Layout, reason: str) -> None:
    with pytest.raises(LayoutError, match=f"basis strides: {reason}"):
        layout(0)


@pytest.mark.parametrize("path", [(-1,), (0, -1), (-1, 0), (1, -1, 2), (), (0,) * 65])
def test_a_path_that_no_mode_has_is_refused(path: tuple[int, ...]) -> None:
    with pytest.raises(LayoutError, match=r"^ScaledBasis: \(.*\) is not a path to a mode"):
        la.ScaledBasis(1, path)
    assert la.ScaledBasis(1, (0,) * 64).mode == (0,) * 64


def test_a_mode_addressed_whole_and_in_part_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"b addresses mode \(0,\) of a both as a whole and in part"):
        la.composition(parse_layout("((2,2),2):((1,2),4)"), parse_layout("(2,2):(1@0,1@0@0)"))


def test_coordinates_of_one_dimension_are_a_linear_layout() -> None:
    linear = la.to_linear_layout(Layout((2, 2), (E(0), 2 * E(0))), ["a", "b"], ["x"])
    assert linear.triton_bases() == [("a", [[1]]), ("b", [[2]])]
    beside = la.to_linear_layout(Layout((2, 2, 2), (E(0), 0, 2 * E(0))), ["a", "b", "c"], ["x"])
    assert beside.triton_bases() == [("a", [[1]]), ("b", [[0]]), ("c", [[2]])]
    with pytest.raises(LayoutError, match="is not a coordinate of one of the output dimensions"):
        la.to_linear_layout(Layout((2, 2), (E(0), E(1))), ["a", "b"], ["x"])


# Composed layouts inside composed layouts


def plain(low: int = -6) -> st.SearchStrategy[Layout]:
    modes = st.lists(st.tuples(st.integers(1, 4), st.integers(low, 9)), min_size=1, max_size=3)
    return modes.map(lambda found: Layout(tuple(n for n, _ in found), tuple(d for _, d in found)))


SWIZZLES = st.builds(
    lambda bits, base, sign: Swizzle(bits, base, sign * bits),
    st.integers(1, 2),
    st.integers(0, 2),
    st.sampled_from([1, -1]),
)
OFFSETS = st.integers(0, 9)
COMPOSED = st.recursive(
    st.one_of(SWIZZLES, plain()),
    lambda outer: st.builds(ComposedLayout, outer, OFFSETS, plain(low=0)),
    max_leaves=3,
)
NESTED = st.builds(
    ComposedLayout,
    COMPOSED,
    OFFSETS,
    st.one_of(plain(low=0), st.builds(ComposedLayout, plain(low=0), OFFSETS, plain(low=0))),
)


def by_definition(function: Any, value: int) -> int:
    """A layout at any index, by what composed means."""
    if isinstance(function, Swizzle):
        return function(value)
    if isinstance(function, ComposedLayout):
        return by_definition(function.outer, function.offset + by_definition(function.inner, value))
    return int(extended_offset(value, flatten_tuple(function.shape), flatten_tuple(function.stride)))


@given(NESTED)
def test_a_nested_composition_is_evaluated_from_the_inside(layout: ComposedLayout) -> None:
    values = [by_definition(layout, i) for i in range(la.size(layout))]
    assert [layout(i) for i in range(la.size(layout))] == values
    assert la.offsets(layout).reshape(-1, order="F").tolist() == values
    assert apply(layout, 0) == values[0]


@given(NESTED)
def test_bounds_and_cosize_hold_what_a_nested_composition_reaches(layout: ComposedLayout) -> None:
    values = [by_definition(layout, i) for i in range(la.size(layout))]
    low, high = bounds(layout)
    assert low <= min(values) and max(values) <= high
    assert la.cosize(layout) == max(0, *values, 0) - min(0, *values, 0) + 1


def test_the_bounds_of_a_swizzle_hold_what_a_smaller_offset_becomes() -> None:
    swizzled = ComposedLayout(Swizzle(1, 0, -1), 0, Layout(3))  # 0, 3, 2: not the last offset is the largest
    far = 2**30 - 1  # twice this fits 32 bits, three times does not
    assert la.offsets(ComposedLayout(Layout(4, far), 0, swizzled)).tolist() == [0, 3 * far, 2 * far]


@pytest.mark.parametrize(
    "layout",
    [
        "(16:5 o -3 o 4:-2) o 0 o 4:1",
        "(16:5 o 3 o 4:2) o 0 o 4:1",
        "((4,4):(4,1) o -3 o 8:2) o 1 o (2,2):(1,2)",
        "(16:-5 o -3 o 4:2) o -2 o 4:1",
    ],
)
def test_the_bounds_of_a_layout_within_a_composed_one_hold_negative_offsets(layout: str) -> None:
    composed = parse_layout(layout)
    assert isinstance(composed, ComposedLayout) and isinstance(composed.outer, ComposedLayout)
    values = [by_definition(composed, i) for i in range(la.size(composed))]
    low, high = bounds(composed)
    assert low <= min(values) and max(values) <= high
    assert la.offsets(composed).reshape(-1, order="F").tolist() == values


@given(NESTED, st.data())
def test_a_slice_of_a_nested_composition_keeps_the_law(layout: ComposedLayout, data: st.DataObject) -> None:
    shape = layout.shape
    coord = tuple(data.draw(st.one_of(st.none(), st.integers(0, n - 1))) for n in shape)
    free_modes, offset = la.slice_and_offset(coord, layout)
    free = [range(n) if c is None else [c] for c, n in zip(coord, shape, strict=True)]
    values = [layout(tuple(reversed(where))) for where in cartesian(*reversed(free))]
    assert [free_modes(i) + offset for i in range(la.size(free_modes))] == values


@given(NESTED)
def test_a_nested_composition_is_written_and_read_back(layout: ComposedLayout) -> None:
    assert eval(repr(layout), {**vars(la), **{name: getattr(la, name) for name in la.__all__}}) == layout  # noqa: S307
    assert parse_layout(str(layout)) == layout


@given(NESTED, plain(low=0))
def test_a_mode_after_a_nested_composition_adds_to_what_is_innermost(layout: ComposedLayout, more: Layout) -> None:
    if isinstance(layout.inner, Layout):
        joined = la.make_layout(layout, more)
        for i, j in cartesian(range(la.size(layout)), range(la.size(more))):
            assert joined(i, j) == by_definition(layout.outer, layout.offset + layout.inner(i) + more(j))


def test_an_offset_that_is_a_coordinate_is_added_place_by_place() -> None:
    composed = ComposedLayout(Layout((4, 8), (8, 1)), (1, 2), la.make_identity_layout((2, 3)))
    assert [composed(i, j) for i, j in cartesian(range(2), range(3))] == [
        8 * (1 + i) + 2 + j for i, j in cartesian(range(2), range(3))
    ]


@pytest.mark.parametrize(
    ("layout", "length"),
    [("S<1,0,1> o 0 o (4,2):(-1,4)", 8), ("8:-1 o 0 o 8:1", 8), ("8:-1 o 3 o 8:1", 11), ("8:1 o 3 o 8:1", 11)],
)
def test_cosize_counts_negative_offsets(layout: str, length: int) -> None:
    composed = parse_layout(layout)
    assert isinstance(composed, ComposedLayout)
    values = [0, *(by_definition(composed, i) for i in range(la.size(composed)))]
    assert la.cosize(composed) == length == max(values) - min(values) + 1


# The simplest form of a slice


@st.composite
def swizzled_slices(draw: st.DrawFn) -> tuple[ComposedLayout, tuple[Any, ...]]:
    """A swizzle after a layout each of whose modes has bits of its own, and a slice of it."""
    bits = draw(st.permutations(range(6)))
    extents = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4).filter(lambda found: sum(found) <= 6))
    shape, stride, taken_bits = [], [], 0
    for n in extents:
        mine = sorted(bits[taken_bits : taken_bits + n])
        taken_bits += n
        shape.append(tuple(2 for _ in mine) or 1)
        stride.append(tuple(1 << bit for bit in mine) or 0)
    shift = draw(st.integers(1, 3)) * draw(st.sampled_from([1, -1]))
    swizzle = Swizzle(draw(st.integers(1, min(2, abs(shift)))), draw(st.integers(0, 2)), shift)
    layout = ComposedLayout(swizzle, 0, Layout(tuple(shape), tuple(stride)))
    coord = tuple(draw(st.one_of(st.none(), st.integers(0, 2**n - 1))) for n in extents)
    return layout, coord


@given(swizzled_slices())
def test_a_slice_is_plain_exactly_where_its_bits_add_up(case: tuple[ComposedLayout, tuple[Any, ...]]) -> None:
    layout, coord = case
    if all(part is None for part in coord):
        return  # nothing is fixed: the whole layout stays as it is
    free_modes, offset = la.slice_and_offset(coord, layout)
    values = [free_modes(i) + offset for i in range(la.size(free_modes))]
    weights = [values[1 << j] - values[0] for j in range((len(values) - 1).bit_length())]
    adds_up = all(
        value == values[0] + sum(weight for j, weight in enumerate(weights) if i >> j & 1)
        for i, value in enumerate(values)
    )
    assert isinstance(free_modes, Layout) == adds_up


# The part of a layout that a thread has


@pytest.mark.parametrize(
    "tiler", [Layout(4, 1), Layout((4, 2)), Layout(((2, 2), 2)), Layout(((2, 2), 2), ((2, 4), 1)), 4]
)
def test_the_threads_of_any_tiler_share_out_a_layout(tiler: Any) -> None:
    layout = Layout((8, 8), (8, 1))
    threads = la.size(tiler)
    offsets: list[int] = []
    for index in range(threads):
        mine, offset = la.local_partition(layout, tiler, index)
        offsets += [mine(i) + offset for i in range(la.size(mine))]
        assert la.rank(mine) == 2 or tiler == 4 or tiler == Layout(4, 1)
    assert sorted(offsets) == list(range(64))


def test_the_thread_of_a_nested_tiler_has_the_coordinate_of_its_modes() -> None:
    mine, offset = la.local_partition(Layout((8, 8), (8, 1)), Layout(((2, 2), 2)), 3)
    assert (str(mine), offset) == ("(2,4):(32,2)", 24)
    mine, offset = la.local_partition(Layout((8, 8), (8, 1)), Layout(4, 1), 1)
    assert (str(mine), offset) == ("(2,8):(32,1)", 8)
