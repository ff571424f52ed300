"""Laws of Layout and ComposedLayout as functions and as values, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from strategies import any_layouts, composed_layouts, drawn, layouts, located

from layoutalg import (
    ComposedLayout,
    CoordinateError,
    Layout,
    LayoutError,
    ScaledBasis,
    Swizzle,
    cosize,
    crd2idx,
    depth,
    idx2crd,
    make_layout,
    rank,
    size,
)


@given(any_layouts)
def test_a_layout_at_an_index_is_the_inner_product_of_its_digits_with_the_strides(layout):
    assert [layout(index) for index in range(size(layout))] == judge.values(layout)


@given(located)
def test_equivalent_coordinates_have_the_same_offset(case):
    layout, coordinate = case
    natural = idx2crd(coordinate, layout.shape)
    expected = judge.at_coordinate(layout, coordinate)
    assert layout(coordinate) == layout(natural) == crd2idx(coordinate, layout) == expected
    if isinstance(coordinate, tuple) and len(coordinate) > 1:
        assert layout(*coordinate) == expected


@given(layouts)
def test_a_layout_is_the_sum_of_its_modes(layout):
    modes = list(layout)
    assert len(modes) == len(layout) == rank(layout)
    extents = [size(mode) for mode in modes]
    for index in range(size(layout)):
        digits = judge.digits(index, extents)
        assert layout(index) == sum(mode(digit) for mode, digit in zip(modes, digits, strict=True))


@given(any_layouts)
def test_layouts_are_values(layout):
    names = {"Layout": Layout, "ComposedLayout": ComposedLayout, "Swizzle": Swizzle, "ScaledBasis": ScaledBasis}
    copy = eval(repr(layout), names)  # noqa: S307
    assert copy == layout and hash(copy) == hash(layout)
    with pytest.raises(AttributeError):
        setattr(layout, "inner" if isinstance(layout, ComposedLayout) else "shape", (1,))


@given(layouts)
def test_cosize_is_the_length_of_the_interval_around_zero_and_every_offset(layout):
    image = [0, *judge.values(layout)]
    assert cosize(layout) == max(image) - min(image) + 1


@given(composed_layouts)
def test_cosize_of_a_swizzled_layout_is_that_of_its_image(layout):
    image = [0, *judge.values(layout)]
    assert cosize(layout) == max(image) - min(image) + 1


@given(drawn(corpus.shape))
def test_a_layout_without_strides_is_the_identity_on_indices(shape):
    layout = Layout(shape)
    assert judge.values(layout) == list(range(size(layout)))
    assert layout == make_layout(shape)
    assert depth(layout) == depth(shape)


@given(drawn(lambda source: (corpus.layout(source, 24), corpus.layout(source, 24))))
def test_concatenation_adds_the_offsets_of_its_parts(case):
    a, b = case
    both = make_layout(a, b)
    assert rank(both) == 2 and both[0] == a and both[1] == b
    assert judge.values(both) == [x + y for y in judge.values(b) for x in judge.values(a)]


def test_a_layout_of_one_mode_is_told_apart_from_its_mode():
    assert Layout((4,), (1,)) != Layout(4, 1)
    assert str(Layout((4,), (1,))) == "(4):(1)" and str(Layout(4, 1)) == "4:1"
    assert Layout((4,), (1,))[0] == Layout(4, 1) == Layout(4, 1)[0]


@each(
    ("shape", "stride"),
    [
        (0, 1),
        (-4, 1),
        ((4, 0), (1, 4)),
        ((4, 8), 1),
        (4, (1,)),
        ((4, (2, 2)), (1, (4, 8, 16))),
        ("8", 1),
        (True, 1),
        (1.5, 1),
        (None, 1),
        (10**400, 1),
        (2**63, 1),
        (4, 10**400),
        ((2**40, 2**40), (1, 1)),
        ([4, 8], [1, 4]),
    ],
)
def test_what_is_no_layout_is_refused(shape, stride):
    with pytest.raises(LayoutError):
        Layout(shape, stride)


def test_absurd_nesting_is_refused():
    shape: object = 2
    for _ in range(100_000):
        shape = (shape,)
    with pytest.raises(LayoutError, match="64 levels"):
        Layout(shape)


@pytest.mark.parametrize("coordinate", [-1, 32, (4, 0), (0, 8), (0, (0, 4)), (0, (0, 0), 0), ((0, 0), 0), 1.5, "a"])
def test_a_call_outside_the_domain_is_refused(coordinate):
    with pytest.raises(CoordinateError):
        Layout((4, (2, 4)), (2, (1, 8)))(coordinate)


def test_a_mode_that_does_not_exist_is_refused_as_python_refuses_it():
    with pytest.raises(IndexError):
        Layout((4, 8))[2]
