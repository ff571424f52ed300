"""Layouts of CuTe as linear layouts in named dimensions, and back: recorded answers of Triton, and the map itself."""

from __future__ import annotations

import json

import pytest
from each import each
from f2 import few, linear_forms, linear_layouts, points, values_of
from hypothesis import given
from places import VECTORS

from layoutalg import (
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    Swizzle,
    composition,
    make_identity_layout,
    offsets,
    size,
    tile_to_shape,
)
from layoutalg.analysis.f2_layouts import NotLinearError
from layoutalg.analysis.linear_layout import LinearLayout, from_linear_layout, to_linear_layout

TRITON = json.loads((VECTORS / "triton.json").read_text(encoding="utf-8"))


@each("case", TRITON["shared"], ids=lambda case: "-".join(str(v) for v in list(case.values())[:4]))
def test_the_shared_memory_layouts_of_tensor_cores_are_cutes_tiles_inverted(case):
    width, unit = max(case["swizzle_bytes"], 16), case["element_bits"] // 8
    bits = (width // 16).bit_length() - 1
    swizzle = Swizzle(bits, 4 - (unit.bit_length() - 1), 3)
    row = width // unit
    if case["swizzle_bytes"] == 0:  # Triton keeps whole rows where nothing is swizzled
        row = case["shape"][0 if case["transposed"] else 1]
    atom = Layout((row, 8), (1, row)) if case["transposed"] else Layout((8, row), (row, 1))
    order = (1, 0) if case["transposed"] else (0, 1)
    tile = tile_to_shape(ComposedLayout(swizzle, 0, atom), tuple(case["shape"]), order)
    theirs = to_linear_layout(tile, ["dim0", "dim1"]).invert()
    assert theirs.triton_bases() == [("offset", case["offset_bases"])]
    # And back: the linear layout, inverted, is a swizzled tile.
    sizes = {"dim0": case["shape"][0], "dim1": case["shape"][1]}
    back = from_linear_layout(LinearLayout({"offset": case["offset_bases"]}, sizes).invert())
    assert (offsets(back).ravel("F") == offsets(tile).ravel("F")).all()


@pytest.mark.parametrize("case", TRITON["blocked"], ids=lambda case: "-".join(str(v) for v in list(case.values())[:4]))
def test_the_register_layouts_of_triton_are_thread_value_layouts_of_cute(case):
    sizes = {"dim0": case["shape"][0], "dim1": case["shape"][1]}
    linear = LinearLayout(case["bases"], sizes)
    layout = from_linear_layout(linear)
    assert isinstance(layout, Layout)
    assert to_linear_layout(layout, linear.in_dims(), sizes) == linear
    registers, lanes, warps = layout.shape if isinstance(layout.shape, tuple) else ()
    assert (size(lanes), size(warps)) == (32, 4)
    # A lane holds a block of per_thread elements, lanes and warps lie in the order's fastest dimension first.
    fast, slow = case["order"]
    step = [1, case["shape"][0]]
    per_thread, threads = case["per_thread"], case["threads"]
    for lane in range(32):
        at = {fast: lane % threads[fast] * per_thread[fast], slow: lane // threads[fast] * per_thread[slow]}
        assert layout(0, lane, 0) == sum(step[dim] * at[dim] for dim in (0, 1))
    assert size(registers) * 32 * 4 == size(tuple(case["shape"]))


@few
@given(linear_layouts())
def test_a_layout_in_named_dimensions_maps_coordinates_to_offsets(layout):
    rank = len(layout)
    names = [f"m{mode}" for mode in range(rank)]
    linear = to_linear_layout(layout, names)
    for where in points(linear.in_dims()):
        coord = tuple(where.values())
        assert linear(**where) == {"offset": layout(coord if isinstance(layout.shape, tuple) else coord[0])}
    back = from_linear_layout(linear)
    assert values_of(back) == values_of(layout)


@few
@given(linear_forms())
def test_what_comes_back_as_a_layout_is_the_same_map(layout):
    try:
        cute = from_linear_layout(layout)
    except LayoutError:
        return
    assert values_of(cute) == [layout.matrix()(i) for i in range(size(cute))]
    assert to_linear_layout(cute, layout.in_dims(), dict(layout.out_dims)) == layout


def test_a_layout_to_coordinates_has_an_output_for_each_of_them():
    tile = make_identity_layout((8, 4))
    tv = Layout(((4, 2), (2, 2)), ((2, 8), (1, 16)))
    linear = to_linear_layout(composition(tile, tv), ["lane", "register"], {"dim0": 8, "dim1": 8})
    assert linear == to_linear_layout(tv, ["lane", "register"], {"dim0": 8, "dim1": 8})
    assert dict(to_linear_layout(tile, ["dim0", "dim1"], ["x", "y"]).out_dims) == {"x": 8, "y": 4}
    for strides in ((E(0), E(2)), (E(0), E(1, 0)), (E(0), 3)):
        with pytest.raises(LayoutError, match="is not a coordinate of one of the output dimensions"):
            to_linear_layout(Layout((8, 4), strides), ["a", "b"], ["x", "y"])
    with pytest.raises(LayoutError, match="is less than 8, which the layout needs"):
        to_linear_layout(tile, ["a", "b"], {"x": 4, "y": 4})
    with pytest.raises(LayoutError):
        to_linear_layout(tile, ["a", "b"])


def test_a_layout_that_carries_has_no_linear_form():
    with pytest.raises(NotLinearError, match="overlaps with itself in bits"):
        to_linear_layout(Layout((4, 2), (3, 16)), ["a", "b"])
