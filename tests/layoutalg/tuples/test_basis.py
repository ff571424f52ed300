"""Laws of basis strides and coordinate layouts, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import drawn, shapes

from layoutalg import (
    E,
    Layout,
    LayoutError,
    ScaledBasis,
    composition,
    cosize,
    idx2crd,
    logical_divide,
    make_identity_layout,
    parse_layout,
    size,
    slice_and_offset,
    zipped_divide,
)
from layoutalg.tuples.scaled_basis import Vector

paths = st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple)


@given(shapes)
def test_the_identity_layout_maps_every_coordinate_to_itself(shape):
    identity = make_identity_layout(shape)
    for index in range(size(shape)):
        assert identity(index) == idx2crd(index, shape)
        assert identity(idx2crd(index, shape)) == idx2crd(index, shape)


@given(st.integers(-50, 50), paths, st.integers(-50, 50))
def test_scaling_a_basis_stride_scales_its_value(value, path, factor):
    assert factor * ScaledBasis(value, path) == ScaledBasis(factor * value, path) == ScaledBasis(value, path) * factor
    assert -ScaledBasis(value, path) == ScaledBasis(-value, path)


@given(st.integers(-50, 50), paths)
def test_the_text_of_a_basis_stride_names_the_innermost_mode_first(value, path):
    assert str(ScaledBasis(value, path)) == f"{value}@" + "@".join(map(str, reversed(path)))
    layout = Layout(4, ScaledBasis(value, path))
    assert parse_layout(str(layout)) == layout


def test_unit_vectors_are_written_with_or_without_a_list():
    assert E(1, 0) == E([1, 0]) == E((1, 0)) == ScaledBasis(1, (1, 0))
    assert E(2) == E([2]) == ScaledBasis(1, (2,))


@given(drawn(lambda source: (lambda a: (a, corpus.tiler(source, Layout(a), keep=False)))(corpus.shape(source))))
def test_dividing_the_identity_layout_shows_the_coordinate_of_every_element_of_every_tile(case):
    # What a divided layout does to offsets, the divided identity layout shows on coordinates.
    shape, tiler = case
    identity = make_identity_layout(shape)
    try:
        divided, coordinates = logical_divide(Layout(shape), tiler), logical_divide(identity, tiler)
    except LayoutError:
        return
    for index in range(size(shape)):
        assert judge.same(judge.at(coordinates, index), judge.point(identity(divided(index))))


@given(drawn(lambda source: (lambda a: (a, corpus.indexer(source, size(a))))(corpus.shape(source))))
def test_composing_the_identity_layout_with_b_gives_the_coordinates_of_b_or_none_exists(case):
    shape, b = case
    identity = make_identity_layout(shape)
    expected = judge.composition(identity, b.shape, b.stride)
    try:
        result = composition(identity, b)
    except LayoutError:
        assert expected is None
    else:
        assert expected is not None
        assert judge.normal(result) == judge.plain_text(*expected)


@given(drawn(lambda source: corpus.layout(source, kinds=corpus.KINDS[:5])))
def test_composing_a_layout_with_the_identity_of_its_own_shape_keeps_the_function(layout):
    result = composition(layout, make_identity_layout(layout.shape))
    assert judge.values(result) == judge.values(layout)


def test_basis_strides_address_the_modes_of_the_layout_they_index():
    tile = composition(Layout((8, 8), (8, 1)), Layout((4, 2), (2 * E(1), E(0))))
    assert str(tile) == "(4,2):(2,8)"


def test_the_tiles_of_a_coordinate_layout_are_named_by_their_first_coordinate():
    tiles = zipped_divide(make_identity_layout((128, 128)), (64, 16))
    assert str(tiles) == "((64,16),(2,8)):((1@0,1@1),(64@0,16@1))"
    assert tiles((0, 0), (1, 3)) == (64, 48)
    assert slice_and_offset((None, 3), tiles)[1] == (64, 16)


def test_a_coordinate_has_a_place_for_every_mode_that_a_stride_names():
    layout = Layout((2, 3), (E(0), 2 * E(1, 1)))
    assert layout(1, 2) == (1, (0, 4))
    assert cosize(make_identity_layout((4, 8))) == 32


@pytest.mark.parametrize("path", [(), (-1,), (1.5,), "x", (0,) * 100])
def test_what_is_no_mode_is_refused(path):
    with pytest.raises(LayoutError):
        ScaledBasis(1, path)


def test_integer_and_basis_strides_do_not_mix():
    with pytest.raises(LayoutError):
        composition(Layout((4, 8)), Layout((2, 2), (E(0), 1)))


def test_only_the_vector_without_terms_is_a_number_and_that_number_is_0() -> None:
    assert Vector() == 0
    assert [Vector() == other for other in (1, -1, None)] == [False] * 3
    assert [Vector.of(E(1)) == other for other in (0, 1, -1)] == [False] * 3
