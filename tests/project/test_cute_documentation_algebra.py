"""The worked examples of the published CuTe documentation on the algebra of layouts, one test each.

Source, in NVIDIA/cutlass: ``media/docs/cpp/cute/02_layout_algebra.md`` ("CuTe Layout Algebra"). Test names begin with
the document and its section.
"""

from __future__ import annotations

import judge
import pytest
from documented import L, tiles

from layoutalg import (
    Layout,
    blocked_product,
    coalesce,
    complement,
    composition,
    cosize,
    flat_divide,
    flat_product,
    logical_divide,
    logical_product,
    make_layout,
    raked_product,
    rank,
    size,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)


def test_algebra_coalesce():
    assert str(coalesce(L("(2,(1,6)):(1,(6,2))"))) == "12:1"


@pytest.mark.parametrize(
    ("layout", "coalesced"),
    [
        ("(2,4):(1,2)", "8:1"),
        ("(3,1):(2,9)", "3:2"),
        ("(1,3):(9,2)", "3:2"),
        ("(3,4):(2,6)", "12:2"),
        ("(3,4):(2,7)", "(3,4):(2,7)"),
    ],
)
def test_algebra_coalesce_the_four_cases(layout, coalesced):
    assert str(coalesce(L(layout))) == coalesced


def test_algebra_coalesce_by_mode():
    a = L("(2,(1,6)):(1,(6,2))")
    assert str(coalesce(a, (1, 1))) == "(2,6):(1,2)"
    assert coalesce(a, (1, 1)) == make_layout(coalesce(a[0]), coalesce(a[1]))


def test_algebra_composition():
    a, b = L("(6,2):(8,2)"), L("(4,3):(3,1)")
    result = composition(a, b)
    assert [result(i) for i in range(12)] == [0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42]
    assert str(result) == "((2,2),3):((24,2),8)"
    assert tiles(b.shape, result.shape)


@pytest.mark.parametrize(
    ("shape", "divisor", "rest"),
    [
        ((6, 2), 2, (3, 2)),
        ((6, 2), 3, (2, 2)),
        ((6, 2), 6, (1, 2)),
        ((6, 2), 12, (1, 1)),
        ((3, 6, 2, 8), 3, (1, 6, 2, 8)),
        ((3, 6, 2, 8), 6, (1, 3, 2, 8)),
        ((3, 6, 2, 8), 9, (1, 2, 2, 8)),
        ((3, 6, 2, 8), 72, (1, 1, 1, 4)),
    ],
)
def test_algebra_computing_composition_dividing_out_a_stride(shape, divisor, rest):
    """Every divisor-th element of a layout has the rest of the shape, and the residues scale the strides."""
    strides = tuple(10**k for k in range(len(shape)))  # such that nothing coalesces
    strided = composition(Layout(shape, strides), Layout(size(rest), divisor))
    expected = [(s, d) for s, d in zip(rest, scaled(shape, strides, rest), strict=True) if s > 1]
    assert judge.pairs(strided) == (expected or [(1, 0)])


def scaled(shape, strides, rest):
    return [d * (s // r) for s, d, r in zip(shape, strides, rest, strict=True)]


@pytest.mark.parametrize(
    ("shape", "count", "kept"),
    [
        ((6, 2), 2, (2, 1)),
        ((6, 2), 3, (3, 1)),
        ((6, 2), 6, (6, 1)),
        ((6, 2), 12, (6, 2)),
        ((3, 6, 2, 8), 6, (3, 2, 1, 1)),
        ((3, 6, 2, 8), 9, (3, 3, 1, 1)),
        ((1, 2, 2, 8), 2, (1, 2, 1, 1)),
        ((1, 2, 2, 8), 16, (1, 2, 2, 4)),
    ],
)
def test_algebra_computing_composition_keeping_the_first_elements(shape, count, kept):
    strides = tuple(10**k for k in range(len(shape)))
    first = composition(Layout(shape, strides), Layout(count, 1))
    assert judge.pairs(first) == [(s, d) for s, d in zip(kept, strides, strict=True) if s > 1]


def test_algebra_computing_composition_with_both_steps():
    w, x, y, z = 1, 1000, 10**6, 10**9
    result = composition(Layout((3, 6, 2, 8), (w, x, y, z)), L("16:9"))
    assert result == Layout((2, 2, 4), (3 * x, y, z))


def test_algebra_composition_example_1_worked():
    a = L("(6,2):(8,2)")
    assert str(composition(a, L("4:3"))) == "(2,2):(24,2)"
    assert str(composition(a, L("3:1"))) == "3:8"
    assert composition(a, L("(4,3):(3,1)")) == make_layout(composition(a, L("4:3")), composition(a, L("3:1")))


def test_algebra_composition_example_2_reshape_a_layout_into_a_matrix():
    assert str(composition(L("20:2"), L("5:4"))) == "5:8"
    assert str(composition(L("20:2"), L("4:1"))) == "4:2"
    assert str(composition(L("20:2"), L("(5,4):(4,1)"))) == "(5,4):(8,2)"


def test_algebra_composition_example_3_reshape_a_layout_into_a_matrix():
    a = L("(10,2):(16,4)")
    assert str(composition(a, L("5:1"))) == "5:16"
    assert str(composition(a, L("4:5"))) == "(2,2):(80,4)"
    result = composition(a, L("(5,4):(1,5)"))
    assert str(result) == "(5,(2,2)):(16,(80,4))"
    assert judge.values(result) == judge.values(L("((5,1),(2,2)):((16,4),(80,4))"))  # what dynamic integers give


def test_algebra_composition_by_mode_with_layouts():
    a = L("(12,(4,8)):(59,(13,1))")
    tiler = (L("3:4"), L("8:2"))
    result = composition(a, tiler)
    assert str(result) == "(3,(2,4)):(236,(26,1))"
    assert result == make_layout(composition(a[0], tiler[0]), composition(a[1], tiler[1]))


def test_algebra_composition_by_mode_with_a_shape():
    a = L("(12,(4,8)):(59,(13,1))")
    assert str(composition(a, (3, 8))) == "(3,(4,2)):(59,(13,1))"
    assert composition(a, (3, 8)) == composition(a, (L("3:1"), L("8:1")))


@pytest.mark.parametrize(
    ("layout", "expected", "filled"),
    [
        ("4:1", "6:4", "(4,6):(1,4)"),
        ("6:4", "4:1", "(6,4):(4,1)"),
        ("(4,6):(1,4)", "1:0", None),
        ("4:2", "(2,3):(1,8)", "(4,(2,3)):(2,(1,8))"),
        ("(2,4):(1,6)", "3:2", "((2,4),3):((1,6),2)"),
        ("(2,2):(1,6)", "(3,2):(2,12)", "((2,2),(3,2)):((1,6),(2,12))"),
    ],
)
def test_algebra_complement_examples(layout, expected, filled):
    rest = complement(L(layout), 24)
    assert str(rest) == expected
    whole = make_layout(L(layout), rest)
    assert cosize(whole) == 24 and sorted(judge.values(whole)) == list(range(24))
    if filled:
        assert str(whole) == filled


def test_algebra_complement_takes_a_shape_for_its_size():
    assert complement(L("4:1"), (4, 7)) == complement(L("4:1"), 28) == L("7:4")


def test_algebra_logical_divide_1d_example():
    a, b = L("(4,2,3):(2,1,8)"), L("4:2")
    rest = complement(b, 24)
    assert str(rest) == "(2,3):(1,8)"
    assert str(make_layout(b, rest)) == "(4,(2,3)):(2,(1,8))"
    assert str(logical_divide(a, b)) == "((2,2),(2,3)):((4,1),(2,8))"
    assert logical_divide(a, b) == composition(a, make_layout(b, rest))


def test_algebra_logical_divide_2d_example():
    a, tiler = L("(9,(4,8)):(59,(13,1))"), (L("3:3"), L("(2,4):(1,8)"))
    result = logical_divide(a, tiler)
    assert str(result) == "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"
    tile = make_layout(result[0][0], result[1][0])
    assert str(tile) == "(3,(2,4)):(177,(13,2))"
    assert tile == composition(a, tiler)


def test_algebra_zipped_tiled_and_flat_divides():
    a, tiler = L("(9,(4,8)):(59,(13,1))"), (L("3:3"), L("(2,4):(1,8)"))
    zipped = zipped_divide(a, tiler)
    assert str(zipped) == "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    assert str(tiled_divide(a, tiler)) == "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))"
    assert str(flat_divide(a, tiler)) == "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))"
    assert [size(zipped, mode) for mode in (0, 1)] == [24, 12]
    assert zipped[0] == composition(a, tiler)
    assert zipped(0, 7) == zipped(0, (1, 2))


def test_algebra_shapes_of_the_divides_keep_the_modes_beyond_the_tiler():
    a = Layout((8, 6, 5))
    assert logical_divide(a, (4, 2)).shape == ((4, 2), (2, 3), 5)
    assert zipped_divide(a, (4, 2)).shape == ((4, 2), (2, 3, 5))
    assert tiled_divide(a, (4, 2)).shape == ((4, 2), 2, 3, 5)
    assert flat_divide(a, (4, 2)).shape == (4, 2, 2, 3, 5)


def test_algebra_logical_product_1d_example():
    a, b = L("(2,2):(4,1)"), L("6:1")
    room = complement(a, 24)
    assert str(room) == "(2,3):(2,8)"
    assert str(composition(room, b)) == "(2,3):(2,8)"
    assert str(logical_product(a, b)) == "((2,2),(2,3)):((4,1),(2,8))"
    assert logical_product(a, b) == logical_divide(L("(4,2,3):(2,1,8)"), L("4:2"))


def test_algebra_logical_product_1d_example_in_another_order():
    assert str(logical_product(L("(2,2):(4,1)"), L("(4,2):(2,1)"))) == "((2,2),(4,2)):((4,1),(8,2))"


def test_algebra_logical_product_2d_example_by_mode():
    result = logical_product(L("(2,5):(5,1)"), (L("3:5"), L("4:6")))
    assert str(result) == "((2,3),(5,4)):((5,10),(1,30))"


def test_algebra_blocked_and_raked_products():
    block, tiler = L("(2,5):(5,1)"), L("(3,4):(1,3)")
    assert str(blocked_product(block, tiler)) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(coalesce(blocked_product(block, tiler), (1, 1))) == "(6,(5,4)):(5,(1,30))"
    assert blocked_product(block, tiler) == logical_product(block, (L("3:5"), L("4:6")))
    assert str(raked_product(block, tiler)) == "((3,2),(4,5)):((10,5),(30,1))"


def test_algebra_products_are_compatible_with_their_factors():
    a, b = L("(2,5):(5,1)"), L("(3,4):(1,3)")
    result = logical_product(a, b)
    assert rank(result) == 2 and tiles(a.shape, result[0].shape) and tiles(b.shape, result[1].shape)


def test_algebra_zipped_and_tiled_products():
    a, b = L("(2,5):(5,1)"), L("(3,4):(1,3)")
    assert str(zipped_product(a, b)) == "((2,5),(3,4)):((5,1),(10,30))"
    assert str(tiled_product(a, b)) == "((2,5),3,4):((5,1),10,30)"
    assert str(flat_product(a, b)) == "(2,5,3,4):(5,1,10,30)"
    by_mode = (L("3:5"), L("4:6"))
    assert zipped_product(a, by_mode).shape == ((2, 5), (3, 4))
    assert tiled_product(a, by_mode).shape == ((2, 5), 3, 4)
