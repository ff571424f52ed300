"""Laws of the notation: what is written reads back, and nothing else is read."""

from __future__ import annotations

import corpus
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_layouts, drawn, layouts

from layoutalg import (
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    NotationError,
    ScaledBasis,
    Swizzle,
    make_identity_layout,
    parse_layout,
)
from layoutalg.notation.parser import parse_int_tuple


@given(any_layouts)
def test_the_text_of_every_layout_reads_back(layout):
    assert parse_layout(str(layout)) == layout


@given(drawn(lambda source: ComposedLayout(corpus.composed(source), source.integer(0, 9), corpus.any_layout(source))))
def test_the_text_of_nested_compositions_reads_back(layout):
    assert parse_layout(str(layout)) == layout


@given(drawn(lambda source: make_identity_layout(corpus.shape(source))))
def test_the_text_of_coordinate_layouts_reads_back(layout):
    assert parse_layout(str(layout)) == layout


@given(any_layouts)
def test_the_spelling_of_cpp_denotes_the_same_layout(layout):
    spelled = "".join(f"_{c}" if c.isdigit() and (not p.isdigit() and p != "-") else c for p, c in _pairs(str(layout)))
    assert parse_layout(spelled.replace("S<", "Sw<")) == layout


def _pairs(text):
    return zip(" " + text, text, strict=False)


@given(layouts)
def test_spaces_do_not_matter(layout):
    assert parse_layout(str(layout).replace(",", " , ").replace(":", " : ")) == layout


@given(st.text(alphabet="()0123456789,:@_-So<> x", max_size=24))
def test_any_text_is_read_as_what_it_denotes_or_refused(text):
    try:
        value = parse_layout(text)
    except LayoutError:
        return
    assert parse_layout(str(value)) == value


@each(
    ("text", "value"),
    [
        ("((8,16),(64,2)):((64,512),(1,8192))", Layout(((8, 16), (64, 2)), ((64, 512), (1, 8192)))),
        ("8:1", Layout(8, 1)),
        ("(8):(1)", Layout((8,), (1,))),
        ("((2,3)):((1,2))", Layout(((2, 3),), ((1, 2),))),
        ("():()", Layout((), ())),
        ("(4,2):(-1,4)", Layout((4, 2), (-1, 4))),
        ("(4,8):(1@0,1@1)", Layout((4, 8), (E(0), E(1)))),
        ("4:3@0@1", Layout(4, ScaledBasis(3, (1, 0)))),
        ("S<3,4,3>", Swizzle(3, 4, 3)),
        ("Sw<3,4,3>", Swizzle(3, 4, 3)),
        ("S<2,4,-3>", Swizzle(2, 4, -3)),
        ("S<3,4,3> o 0 o (8,64):(64,1)", ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))),
        ("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))),
    ],
)
def test_notation_denotes(text, value):
    assert parse_layout(text) == value


def test_a_swizzle_of_negative_shift_reads_as_the_dsl_prints_it():
    # CuTe DSL 4.8.1 leaves out the closing bracket there.
    tile = ComposedLayout(Swizzle(2, 4, -3), 5, Layout((16, 64), (64, 1)))
    assert parse_layout("S<2,4,-3 o 5 o (16,64):(64,1)") == tile == parse_layout(str(tile))


@each(
    "text",
    [
        *("", " ", "8", "(8,4)", "8:", ":1", "8:1:1", "(8,4):(1,8", "(8,4):(1,8))", "8;1", "8:1 x", "8.0:1", "0x8:1"),
        *("S<3,4>", "S<3,4,3,3>", "S<a,4,3>", "S<3,4,3> o", "o 8:1", "S<3,4,3> o 0", "__import__('os')", "8:1\x00"),
        *("(" * 100_000, "((" * 50 + "8" + "))" * 50 + ":1", "9" * 400 + ":1", "8:" + "9" * 400, "1@0:1", "_:1"),
    ],
)
def test_what_is_no_notation_is_refused(text):
    with pytest.raises(LayoutError):
        parse_layout(text)


def test_a_refusal_points_at_the_place():
    with pytest.raises(NotationError) as caught:
        parse_layout("(8,4):(1;8)")
    assert caught.value.position == 8 and caught.value.text == "(8,4):(1;8)"


@pytest.mark.parametrize("value", [None, 8, b"8:1", ["8:1"]])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(LayoutError):
        parse_layout(value)


def test_a_shape_and_stride_that_are_not_congruent_are_refused():
    with pytest.raises(LayoutError, match="congruent"):
        parse_layout("(4,8):1")


def test_int_tuples_are_read_with_their_nesting():
    assert parse_int_tuple("(8,(_,64))") == (8, (None, 64))
    assert parse_int_tuple("(8,)") == parse_int_tuple("(8)") == (8,)
    with pytest.raises(NotationError):
        parse_int_tuple("8:1")


@pytest.mark.parametrize("text", ["S<3,4,3 o 0 o (8,8):(8,1)", "S<3,4,3", "S<3,4,-3,", "S<3,4,3:1"])
def test_a_swizzle_of_positive_shift_needs_its_closing_bracket(text: str) -> None:
    with pytest.raises(NotationError, match="expected '>'"):
        parse_layout(text)
