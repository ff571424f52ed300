"""The worked examples of the published CuTe documentation on tensors and in its notebooks, one test each.

Sources, in NVIDIA/cutlass: slices and partitions of ``media/docs/cpp/cute/03_tensor.md`` ("CuTe Tensors"), strides of
``0z_tma_tensors.md`` ("CuTe TMA Tensors"), and the DSL's notebooks ``cute_layout_algebra.ipynb`` and
``composed_layout.ipynb``. Test names begin with the document and its section.
"""

from __future__ import annotations

import judge
import pytest
from documented import L

from layoutalg import (
    E,
    Layout,
    LayoutError,
    ScaledBasis,
    Swizzle,
    coalesce,
    composition,
    depth,
    is_congruent,
    local_partition,
    local_tile,
    make_composed_layout,
    make_identity_layout,
    make_layout_like,
    rank,
    size,
    slice_and_offset,
    zipped_divide,
)


def test_notebook_coalesce_post_conditions():
    layout = L("((2,(3,4)),(3,2),1):((4,(8,24)),(2,6),12)")
    result = coalesce(layout)
    assert str(result) == "(24,6):(4,2)" and size(result) == size(layout) == 144 and depth(result) == 1
    assert [layout(i) for i in (1, 23, 24, 47, 96, 143)] == [result(i) for i in (1, 23, 24, 47, 96, 143)]
    assert [result(i) for i in (1, 23, 24, 47, 96, 143)] == [4, 92, 2, 94, 8, 102]


def test_tensors_make_tensor_like_keeps_the_order_of_strides():
    assert str(make_layout_like(L("(4,8):(32,2)"))) == "(4,8):(8,1)"


@pytest.mark.parametrize(
    ("coordinate", "expected"),
    [
        ((2, None), "((2,5,2)):((2,13,100))"),
        ((None, 5), "((3,2)):((4,1))"),
        (((None, None), 5), "(3,2):(4,1)"),
        (((None, 1), (0, None, 1)), "(3,5):(4,13)"),
        (((2, None), (None, 3, None)), "(2,2,2):(1,2,100)"),
    ],
)
def test_tensors_slicing_a_tensor(coordinate, expected):
    layout = L("((3,2),(2,5,2)):((4,1),(2,13,100))")
    result, offset = slice_and_offset(coordinate, layout)
    assert str(result) == expected == str(layout(*coordinate))
    flat = [c for part in coordinate for c in (part if isinstance(part, tuple) else (part,))]
    assert rank(result) == flat.count(None)
    assert offset == layout(*zeroed(coordinate))


def zeroed(coordinate):
    return tuple(zeroed(c) if isinstance(c, tuple) else c or 0 for c in coordinate)


def test_tensors_inner_and_outer_partitioning():
    a = Layout((8, 24))
    tiled = zipped_divide(a, (4, 8))
    assert tiled.shape == ((4, 8), (2, 3))
    tile, offset = local_tile(a, (4, 8), (1, 2))
    assert tile.shape == (4, 8) and offset == a(4, 16)
    mine, offset = local_partition(a, Layout((4, 8)), 13)
    assert mine.shape == (2, 3) and offset == a(1, 3)


def test_tensors_thread_value_partitioning():
    tv_layout = L("((2,4),(2,2)):((8,1),(4,16))")
    assert sorted(judge.values(tv_layout)) == list(range(32))
    a = L("(4,8):(8,1)")
    tv = composition(a, tv_layout)
    assert [size(tv, mode) for mode in (0, 1)] == [8, 4]
    for thread in range(8):
        values, offset = slice_and_offset((thread, None), tv)
        assert [values(i) + offset for i in range(4)] == [a(tv_layout(thread, i)) for i in range(4)]


def test_tensors_copy_a_subtile():
    gmem = Layout((24, 16))
    tiled = zipped_divide(gmem, (8, 4))
    assert tiled.shape == ((8, 4), (3, 4))
    assert tiled(None, 0).shape == ((8, 4),)
    strided = zipped_divide(gmem, (L("8:3"), L("4:2")))
    assert [size(strided, mode) for mode in (0, 1)] == [32, 12]


@pytest.mark.parametrize(
    ("basis", "text"),
    [(E(0), "1@0"), (E(1), "1@1"), (E(0, 0), "1@0@0"), (E(0, 1), "1@1@0"), (E(1, 0), "1@0@1"), (E(1, 1), "1@1@1")],
)
def test_tma_tensors_basis_elements(basis, text):
    assert str(basis) == text


def test_tma_tensors_scaled_basis_elements():
    assert str(5 * E(1)) == "5@1" and str(5 * E(0, 1)) == "5@1@0"


def test_tma_tensors_linear_combinations_of_strides():
    """Sums of basis elements are coordinates: ((7,4),23)."""
    layout = Layout((3, 4, 5, 8), (ScaledBasis(2, (0, 1)), 1 * E(1), 5 * E(1), E(0, 0)))
    assert layout(2, 3, 4, 7) == ((7, 4), 23)


def test_tma_tensors_strides_may_name_the_modes_in_any_order():
    a, b = Layout((4, 5), (E(0), E(1))), Layout((4, 5), (E(1), E(0)))
    assert (str(a), str(b)) == ("(4,5):(1@0,1@1)", "(4,5):(1@1,1@0)")
    assert all(a(i, j) == (i, j) and b(i, j) == (j, i) for i in range(4) for j in range(5))
    assert a == make_identity_layout((4, 5))


def test_tma_tensors_the_layout_of_the_introduction():
    layout = Layout(((128, 64), 2, 3, 1), ((E(0), E(1)), 64 * E(1), E(2), E(3)))
    assert str(layout) == "((128,64),2,3,1):((1@0,1@1),64@1,1@2,1@3)"
    assert layout((5, 7), 1, 2, 0) == (5, 71, 2, 0)


def test_notebook_composed_layout_applies_the_visible_layout_first():
    # make_composed_layout(inner, offset, outer) is inner(offset + outer(c)) in the DSL's words.
    layout = make_composed_layout(Swizzle(2, 0, 3), 4, L("(8,8):(8,1)"))
    assert all(layout(i, j) == Swizzle(2, 0, 3)(4 + 8 * i + j) for i in range(8) for j in range(8))


def test_shape_and_stride_must_be_congruent():
    assert is_congruent((2, (3, 4)), (1, (2, 6)))
    with pytest.raises(LayoutError):
        Layout((2, (3, 4)), (1, 2, 6))
