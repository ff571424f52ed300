"""Canonical forms: a layout of that form is recognised with its two offsets, any other is refused with the reason."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, NotCanonicalError, derive
from descriptors.smem.operands.canonical import match_form
from descriptors.smem.operands.forms import BASE, LEADING, STRIDE, Form, form
from descriptors.smem.operands.operand import Major, SwizzleMode, as_element_type
from descriptors.smem.proof.read_model import read_addresses
from layoutalg import Layout, make_identity_layout, parse_layout, size

FORMS = [
    form(major, mode) for major in Major for mode in SwizzleMode if (major, mode.value) != (Major.K, "128B_BASE32B")
]
forms = st.sampled_from(FORMS)


def layout_of_form(target: Form, rest: tuple[int, int], leading: int, stride: int) -> Layout:
    """The layout of a form with the given extents of the rest modes and its two steps, in 16-byte units."""
    fixed = dict(target.fixed)
    steps = {target.leading: leading, target.stride: stride, **fixed}
    shape = tuple((target.chunk[i], rest[i]) for i in (0, 1))
    return Layout(shape, tuple((steps.get((i, 0), 0), steps[i, 1]) for i in (0, 1)))


@given(target=forms, rest=st.tuples(st.integers(2, 8), st.integers(2, 8)), data=st.data())
def test_a_layout_of_a_form_matches_it_with_its_two_steps(
    target: Form, rest: tuple[int, int], data: st.DataObject
) -> None:
    leading, stride = data.draw(st.integers(0, 16383)), data.draw(st.integers(0, 16383))
    match = match_form(layout_of_form(target, rest, leading, stride), target)
    expected = dict(target.fixed).get(target.leading, leading)
    assert (match.leading_byte_offset, match.stride_byte_offset) == (expected * 16, stride * 16)
    assert match.idle == ()


@given(target=forms, rest=st.tuples(st.integers(1, 6), st.integers(1, 6)), data=st.data())
def test_the_canonical_layout_is_the_same_function_as_the_operand(
    target: Form, rest: tuple[int, int], data: st.DataObject
) -> None:
    operand = layout_of_form(target, rest, data.draw(st.integers(0, 999)), data.draw(st.integers(0, 999)))
    match = match_form(operand, target)
    extents = [size(mode) for mode in operand]
    assert all(match.layout(i, k) == operand(i, k) for i in range(extents[0]) for k in range(extents[1]))


@given(target=forms, data=st.data())
def test_a_step_that_is_never_taken_is_written_as_by_cutlass_and_marked_idle(target: Form, data: st.DataObject) -> None:
    match = match_form(layout_of_form(target, (1, 1), data.draw(st.integers(0, 99)), 77), target)
    leading = 16 if target.major is Major.K else 0
    assert (match.leading_byte_offset, match.stride_byte_offset) == (leading, 0)
    assert match.idle == match.dont_care[:2] == (LEADING, STRIDE)
    assert match.dont_care[2:] == ((BASE,) if target.mode is SwizzleMode.NONE else ())


def test_the_leading_offset_of_a_swizzled_k_major_operand_is_a_dont_care() -> None:
    assert match_form(Layout((64, 2), (8, 1)), form(Major.K, SwizzleMode.B128)).dont_care == (LEADING,)
    assert match_form(Layout((64, 2), (1, 64)), form(Major.K, SwizzleMode.NONE)).dont_care == (BASE,)


@each("arch", ["sm90", "sm100"])
@each("major", ["K", "MN"])
@each("swizzle", ["none", "32B", "64B", "128B"])
def test_the_base_offset_is_a_dont_care_where_nothing_that_is_read_depends_on_it(
    arch: Any, major: Any, swizzle: Any
) -> None:
    d = derive(tile=(64, 64), dtype="bf16", major=major, swizzle=swizzle, mma=(64, 16), arch=arch)
    walk: dict[str, Any] = {"arch": arch, "dtype": "bf16", "major": major, "shape": (64, 16)}
    plain_word = d.words()[0][0]
    depends = [
        (read_addresses(plain_word | i << 49, **walk) != read_addresses(plain_word, **walk)).any() for i in range(8)
    ]
    assert any(depends) is (BASE not in d.dont_care)
    assert (d.dont_care_mask() & 7 << 49 == 7 << 49) is (BASE in d.dont_care)


@each("arch", ["sm90", "sm100"])
@each("major", ["K", "MN"])
@each("swizzle", ["none", "32B", "64B", "128B"])
def test_the_mask_has_every_bit_of_a_field_that_nothing_depends_on_and_no_other(
    arch: Any, major: Any, swizzle: Any
) -> None:
    d = derive(tile=(128, 64), dtype="bf16", major=major, swizzle=swizzle, mma=(128, 16), arch=arch)
    walk: dict[str, Any] = {"arch": arch, "dtype": "bf16", "major": major, "shape": (128, 16)}
    word, unread = d.words()[0][0], 0
    for bit in (
        i for i in range(64) if d.descriptor.word.mask(field.name for field in d.descriptor.word.fields) >> i & 1
    ):
        try:
            unread |= (read_addresses(word ^ 1 << bit, **walk) == read_addresses(word, **walk)).all() << bit
        except DescriptorError:  # a version, or a swizzle, that is none
            continue
    assert d.dont_care_mask() == unread


@pytest.mark.parametrize(
    "text", ["(64,2):(8,1)", "((8,8),2):((8,64),1)", "((2,4,8),(1,2)):((8,16,64),(0,1))", "((4,16),2):((8,32),1)"]
)
def test_the_nesting_of_an_operand_does_not_matter(text: str) -> None:
    match = match_form(parse_layout(text), form(Major.K, SwizzleMode.B128))
    assert str(match.layout) == "((8,8),(1,2)):((8,64),(0,1))"


def test_an_mn_major_operand_narrower_than_the_swizzled_row_still_matches() -> None:
    match = match_form(Layout((2, 16), (1, 8)), form(Major.MN, SwizzleMode.B128))
    assert str(match.layout) == "((2,1),(8,2)):((1,0),(8,64))"
    assert (match.leading_byte_offset, match.stride_byte_offset) == (0, 1024)
    assert match.idle == (LEADING,)


@each(
    ("text", "major", "swizzle", "mode", "expected", "found"),
    [
        ("(64,2):(4,1)", "K", "128B", (0, 0), "stride 8", "stride 4"),
        ("(64,2):(8,2)", "K", "128B", (1, 1), "stride 1", "stride 2"),
        ("((8,(2,4)),2):((8,(64,256)),1)", "K", "128B", (0, 1), "a single stride", "(2,4):(64,256)"),
        ("((4,2),2):((8,64),1)", "K", "128B", (0, 0), "a single stride", "(4,2):(8,64)"),
        ("(12,2):(8,1)", "K", "128B", (0,), "an extent that is a multiple of 8", "extent 12"),
        ("((3,8),2):((8,100),1)", "K", "128B", (0,), "a first part of 8 pieces", "(3,8):(8,100)"),
        ("((8,8),2):((8,-64),1)", "K", "128B", (0, 1), f"a stride of at least 0 ({STRIDE})", "stride -64"),
        ("((4,2),16):((1,512),8)", "MN", "64B", (1, 0), "stride 4", "stride 8"),
        ("((4,2),16):((2,512),4)", "MN", "64B", (0, 0), "stride 1", "stride 2"),
        ("((4,2),12):((1,512),4)", "MN", "64B", (1,), "an extent that is a multiple of 8", "extent 12"),
        ("(6,16):(1,4)", "MN", "64B", (0,), "an extent that is a multiple of 4", "extent 6"),
        ("((8,2),(8,4)):((1,64),(8,128))", "MN", "128B_BASE32B", (1, 1), "a single stride", "(2,4):(32,128)"),
    ],
)
def test_a_layout_of_no_form_is_refused_naming_the_mode(
    text: str, major: str, swizzle: str, mode: tuple[int, ...], expected: str, found: str
) -> None:
    target = form(Major(major), SwizzleMode(swizzle))
    with pytest.raises(NotCanonicalError) as caught:
        match_form(parse_layout(text), target)
    error = caught.value
    assert (error.mode, error.expected, error.found) == (mode, expected, found)
    assert (error.form, error.layout) == (str(target), text)
    path = ",".join(map(str, mode))
    rule = f"in 16-byte units mode ({path}) has {found}, expected {expected}; layout = {text}, form = {target}"
    fits = f"forms that fit: {', '.join(error.fits)}" if error.fits else ""
    assert str(error) == "canonical: " + "; ".join(filter(None, (error.why, rule, fits, error.way_out)))
    assert error.why


@each(
    ("text", "major", "swizzle", "why", "way_out"),
    [
        ("(64,2):(8,1)", "K", "64B",
         "row 1 of MN begins 128 bytes after row 0, where swizzle 64B has 64 bytes", ""),
        ("(64,2):(9,1)", "K", "none",
         "row 1 of MN begins 144 bytes after row 0, where a layout without swizzle has 16 bytes",
         "no swizzle mode has rows 144 bytes apart, only 16, 32, 64 or 128"),
        ("((8,(2,4)),2):((8,(64,256)),1)", "K", "128B",
         "rows 16 to 23 of MN begin 4096 bytes after rows 0 to 7, where a single stride_byte_offset gives 2048 bytes",
         ""),
        ("((8,8),2):((8,-64),1)", "K", "128B",
         "rows 8 to 15 of MN begin 1024 bytes before rows 0 to 7, but stride_byte_offset cannot be negative", ""),
        ("(12,2):(8,1)", "K", "128B", "MN has 12 rows, which is not a multiple of 8", ""),
        ("(64,2):(8,1017)", "K", "128B",
         "columns 8 to 15 of K begin 16272 bytes after columns 0 to 7, where swizzle 128B has 16 bytes",
         "K crosses from one atom to the next: let a slice start at a multiple of 16 columns"),
        ("(64,16):(8,1)", "K", "64B",
         "row 1 of MN begins 128 bytes after row 0, where swizzle 64B has 64 bytes", ""),
        ("(64,(8,2)):(8,(1,512))", "K", "128B",
         "columns 64 to 71 of K begin 8192 bytes after columns 0 to 7, where swizzle 128B has 128 bytes",
         "the instruction reads 256 bytes along K, but a swizzled row has 128"),
        ("((4,2),16):((1,1020),8)", "MN", "128B",
         "rows 32 to 39 of MN begin 16320 bytes after rows 0 to 7, where swizzle 128B has 64 bytes",
         "MN crosses from one atom to the next: let a slice start at a multiple of 64 rows"),
        ("(8,(4,4)):(1,(8,1000))", "MN", "128B",
         "column 4 of K begins 16000 bytes after column 0, where swizzle 128B has 512 bytes",
         "K crosses from one atom to the next: let a slice start at a multiple of 8 columns"),
    ],
)  # fmt: skip
def test_a_refusal_counts_rows_columns_and_bytes(text: str, major: str, swizzle: str, why: str, way_out: str) -> None:
    with pytest.raises(NotCanonicalError) as caught:
        match_form(parse_layout(text), form(Major(major), SwizzleMode(swizzle)), as_element_type("bf16"))
    assert (caught.value.why, caught.value.way_out) == (why, way_out)


@pytest.mark.parametrize("target", FORMS, ids=str)
def test_what_a_refusal_says_of_a_row_is_so(target: Form) -> None:
    """The first distance is that of the layout itself, and the expected one is another."""
    sentence = re.compile(r"(\w+) (\d+)(?: to \d+)? of \w+ begins? (-?\d+) bytes after .*, where .* (\d+) bytes$")
    refused = 0
    for rest, steps in product(((1, 2), (2, 1), (2, 3)), product((1, 2, 9, 64), repeat=4)):
        shape = tuple((target.chunk[i], rest[i]) for i in (0, 1))
        operand = Layout(shape, (steps[:2], steps[2:]))
        try:
            match_form(operand, target, as_element_type("bf16"))
        except NotCanonicalError as error:
            match = sentence.match(error.why)
            if match:
                refused, mode = refused + 1, match[1].startswith("column")
                at = int(match[2]) // (8 if mode == target.major.contiguous_mode else 1)
                begins = operand(0, at) if mode else operand(at, 0)
                assert 16 * begins == int(match[3]) != int(match[4]), (str(operand), str(error))
    assert refused > 100


def test_the_forms_that_a_layout_does_have_are_named() -> None:
    with pytest.raises(NotCanonicalError) as caught:
        match_form(Layout((64, 2), (4, 1)), form(Major.K, SwizzleMode.B128))
    assert caught.value.fits == ("K-major 64B",)


@pytest.mark.parametrize(
    ("extents", "layout"), [((4, 2), "((4,1),(1,2)):((8,0),(0,1))"), ((1, 1), "((1,1),(1,1)):((0,0),(0,0))")]
)
def test_an_operand_of_fewer_rows_than_a_piece_matches(extents: tuple[int, int], layout: str) -> None:
    assert str(match_form(Layout(extents, (8, 1)), form(Major.K, SwizzleMode.B128)).layout) == layout


@pytest.mark.parametrize("text", ["64:1", "(8,8,2):(8,64,1)", "(64):(1)", "S<3,0,3> o 0 o (64,2):(8,1)"])
def test_an_operand_is_a_plain_layout_of_two_modes(text: str) -> None:
    with pytest.raises(DescriptorError, match="an operand is a plain layout of two modes") as caught:
        match_form(parse_layout(text), form(Major.K, SwizzleMode.B128))
    assert text in str(caught.value)


@pytest.mark.parametrize("operand", [None, 64, (64, 2), "(64,2):(8,1)"])
def test_what_is_no_layout_is_refused(operand: Any) -> None:
    with pytest.raises(DescriptorError, match="an operand is a plain layout of two modes"):
        match_form(operand, form("K", "128B"))


def test_an_operand_of_coordinates_is_refused() -> None:
    with pytest.raises(DescriptorError):
        match_form(make_identity_layout((64, 2)), form("K", "none"))
