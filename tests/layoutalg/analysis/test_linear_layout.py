"""Triton's form of layouts: what Triton 3.9.0 says of the same layouts (vectors), and laws by enumeration."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from each import each
from f2 import few, linear_forms, linear_layouts, points, values_of
from hypothesis import given
from places import VECTORS

from layoutalg import Layout, LayoutError, NotInjectiveError, size
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.linear_layout import LinearLayout, from_linear_layout, from_matrix, to_linear_layout

TRITON = json.loads((VECTORS / "triton.json").read_text(encoding="utf-8"))
ALGEBRA = TRITON["algebra"]


def recorded_layout(record: Any) -> LinearLayout:
    return LinearLayout([tuple(pair) for pair in record["bases"]], [tuple(pair) for pair in record["out_dims"]])


# Vectors: Triton ------------------------------------------------------------------------------------------------------


@each("case", ALGEBRA)
def test_a_linear_layout_is_what_triton_says(case):
    layout = recorded_layout(case)
    assert f"\n{layout}" == case["text"]
    assert [[name, rows] for name, rows in layout.triton_bases()] == case["bases"]
    assert (layout.is_surjective(), layout.is_injective()) == (case["surjective"], case["injective"])
    for point, value in case["values"]:
        assert layout(**point) == value
    if case["matrix"] is not None:
        rows = [[column >> row & 1 for column in layout.matrix().columns] for row in range(layout.matrix().rows)]
        assert rows == case["matrix"]


@each("case", ALGEBRA)
def test_inverses_and_compositions_are_those_of_triton(case):
    layout = recorded_layout(case)
    assert layout.compose(recorded_layout(case["outer"])) == recorded_layout(case["composed"])
    if "inverse" in case:
        assert layout.invert() == recorded_layout(case["inverse"])
    elif layout.matrix().rows == len(layout.matrix().columns):
        with pytest.raises(NotInjectiveError):
            layout.invert()
    if "pseudoinverse" in case:
        assert layout.pseudoinvert() == recorded_layout(case["pseudoinverse"])
    else:
        with pytest.raises(LayoutError, match="right inverse"):
            layout.pseudoinvert()


def test_the_swizzled_example_of_the_header_is_the_classic_swizzle():
    layout = LinearLayout({"t": [(1, 1), (2, 2)], "w": [(0, 1), (0, 2)]}, ["x", "y"])
    for t, w in itertools.product(range(4), range(4)):
        assert layout(t=t, w=w) == {"x": t, "y": w ^ t}
    assert str(from_linear_layout(layout)) == "S<2,0,-2> o 0 o (4,4):(1,4)"


def test_an_input_that_is_left_out_is_0():
    layout = LinearLayout({"register": [(1, 2), (2, 0)], "lane": [(4, 1), (0, 4)]}, {"row": 8, "column": 8})
    assert layout(lane=2) == layout(register=0, lane=2)
    assert layout() == {"row": 0, "column": 0}


def test_layouts_without_dimensions_print_as_in_triton():
    assert str(LinearLayout({}, {})) == "(empty layout)"
    assert str(LinearLayout({}, {"x": 1})) == "(empty layout with out-dims [x (size 1)])"
    assert (
        str(LinearLayout({"lane": []}, {"x": 1})) == " - lane is a size 1 dimension\nwhere out dims are: [x (size 1)]"
    )


# Laws -----------------------------------------------------------------------------------------------------------------


def flat(where: dict[str, int], extents: dict[str, int]) -> int:
    """A coordinate as one number, the first dimension fastest."""
    value, step = 0, 1
    for name, extent in extents.items():
        value += step * where[name]
        step *= extent
    return value


@few
@given(linear_forms(), st.data())
def test_a_linear_layout_is_linear_and_its_matrix_is_it_flattened(layout, data):
    extents, sizes = layout.in_dims(), dict(layout.out_dims)
    other = {name: data.draw(st.integers(0, extent - 1)) for name, extent in extents.items()}
    for where in points(extents):
        value = layout(**where)
        assert flat(value, sizes) == layout.matrix()(flat(where, extents))
        both = layout(**{name: where[name] ^ other[name] for name in extents})
        assert both == {name: part ^ layout(**other)[name] for name, part in value.items()}


@few
@given(linear_forms())
def test_a_linear_layout_is_a_value_and_its_matrix_gives_it_back(layout):
    assert eval(repr(layout), {"LinearLayout": LinearLayout}) == layout  # noqa: S307  # its own repr
    assert pickle.loads(pickle.dumps(layout)) == layout == copy.deepcopy(layout)
    assert len({layout, LinearLayout(dict(layout.bases), dict(layout.out_dims))}) == 1
    assert from_matrix(layout.matrix(), layout.in_dims(), dict(layout.out_dims)) == layout


@few
@given(linear_layouts(), st.data())
def test_index_and_offset_are_split_with_the_first_dimension_fastest(layout, data):
    bits = size(layout).bit_length() - 1
    lane_bits = data.draw(st.integers(0, bits))
    inputs = {"lane": 1 << lane_bits, "register": 1 << (bits - lane_bits)}
    rows = max(values_of(layout)).bit_length()
    low = data.draw(st.integers(0, rows))
    sizes = {"dim0": 1 << low, "dim1": 1 << (rows - low + 1)}
    linear = to_linear_layout(layout, inputs, sizes)
    for where in points(inputs):
        assert flat(linear(**where), sizes) == layout(flat(where, inputs))


# Errors ---------------------------------------------------------------------------------------------------------------


@each(
    ("bases", "out_dims", "message"),
    [
        ({"lane": [(1,)]}, {"x": 3}, "size of x is 3, which is not a power of two"),
        ({"lane": [(4,)]}, {"x": 4}, r"the basis \(4,\) of lane is not within the output dimensions \{'x': 4\}"),
        ({"lane": [(-1,)]}, {"x": 4}, r"the basis \(-1,\) of lane is not within"),
        ({"lane": [(1, 0)]}, {"x": 4}, r"the basis \(1, 0\) of lane is not within"),
        ({"lane": [(4,), (0,)]}, ["x"], "do not reach every output: their rank is 1, but the outputs have 3 bits"),
        ({"lane": [1, 2]}, ["x"], r"bases of lane are \[1, 2\], which are not sequences"),
        ({"lane": 3}, ["x"], "bases of lane are 3, which are not sequences"),
        ({"lane": [("a",)]}, ["x"], "a basis is 'a', which is not an integer"),
        ([("a", []), ("a", [])], {"x": 1}, "the names a, a are not all different"),
        ({}, [("x", 1), ("x", 1)], "the names x, x are not all different"),
        ({3: []}, {"x": 1}, "3 is not a name of a dimension"),
        ({}, {"": 1}, "'' is not a name of a dimension"),
        (3, {"x": 1}, "bases is 3, which is neither a mapping nor a sequence of pairs"),
        ({}, [("x", 1, 2)], "out_dims is .*, which is neither a mapping nor a sequence of pairs"),
        ({}, 3, "out_dims is 3, which is neither a mapping nor a sequence of pairs"),
    ],
)
def test_what_is_no_linear_layout_is_a_typed_error(bases, out_dims, message):
    with pytest.raises(LayoutError, match=message):
        LinearLayout(bases, out_dims)


def test_a_single_name_stands_for_one_dimension():
    assert LinearLayout({"lane": [(1,)]}, "dim0") == LinearLayout({"lane": [(1,)]}, {"dim0": 2})
    assert to_linear_layout(Layout(8), "lane", "dim0") == to_linear_layout(Layout(8), ["lane"], {"dim0": 8})


@each(
    ("call", "message"),
    [
        (
            lambda: LinearLayout({"lane": [(1,)]}, "x")(lane=2),
            r"lane = 2 is not within the input dimensions \{'lane': 2\}",
        ),
        (lambda: LinearLayout({"lane": [(1,)]}, "x")(warp=0), "warp = 0 is not within the input"),
        (
            lambda: LinearLayout({"lane": [(1,)]}, "x").compose(LinearLayout({"y": [(1,)]}, "z")),
            "do not fit the inputs",
        ),
        (
            lambda: LinearLayout({"a": [(2,)]}, {"x": 4}).compose(LinearLayout({"x": [(1,)]}, "z")),
            "do not fit the inputs",
        ),
        (lambda: LinearLayout({"lane": [(1,), (0,)]}, "x").invert(), "square"),
        (lambda: from_matrix(F2Matrix((1, 2)), {"a": 2}, {"x": 4}), "2 input bits and 2 output bits"),
        (lambda: from_matrix(F2Matrix((1, 2)), {"a": 4}, {"x": 2}), "2 input bits and 2 output bits"),
        (
            lambda: to_linear_layout(Layout((2, 4)), ["a"]),
            r"the layout has rank 2, but the input dimensions are \['a'\]",
        ),
        (
            lambda: to_linear_layout(Layout((2, 4)), ["a", "b"], ["x", "y"]),
            r"the output dimensions \['x', 'y'\] have no sizes",
        ),
        (lambda: to_linear_layout(Layout((2, 4)), {"a": 4}, ["x"]), "3 input bits"),
        (lambda: to_linear_layout(3, ["a"]), "3 is not a layout"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_a_typed_error(call, message):
    with pytest.raises(LayoutError, match=message):
        call()
