"""The public laws: a right answer is accepted, a wrong one told its first broken instance; another judge agrees."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attacks.judge import NAMES, judge
from attacks.laws import Broken
from attacks.plain import Layout as PlainLayout
from each import each
from places import ROOT

from layoutalg import Layout, LayoutError, broken_law, law_names, parse_layout
from layoutalg.laws.existence import product

RIGHT = [
    ("complement", "(2,3):(1,8)", ("4:2", 24)),
    ("complement", "(3,2):(8,1)", ("4:2", 24)),
    ("complement", "2:1", ("4:2", 8)),
    ("composition", "(2,2):(16,1)", ("(4,8):(8,1)", "4:2")),
    ("coalesce", "12:1", ("(2,(1,6)):(1,(6,2))",)),
    ("right_inverse", "(8,4):(4,1)", ("(4,8):(8,1)",)),
    ("right_inverse", "1:0", ("(4,8):(8,1)",)),
    ("left_inverse", "(4,8):(1,4)", ("(4,8):(1,4)",)),
    ("zipped_divide", "((4,2),(2,4)):((8,1),(32,2))", ("(8,8):(8,1)", (4, 2))),
    ("tile_to_shape", "((8,16),(64,2)):((64,512),(1,8192))", ("(8,64):(64,1)", (128, 128), (0, 1))),
    ("logical_product", "((16,3),(2,3)):((32,6),(3,1))", ("(16,3):(32,6)", "(2,3):(3,1)")),
    ("logical_product", "((16,3),(6,2)):((32,6),(1,512))", ("(16,3):(32,6)", "12:1")),
    ("recast_layout", "(8,8):(8,1)", (128, 16, "(8,64):(64,1)")),
    ("logical_product", "(4,(8,2)):(8,(1,8))", ("(4,8):(8,1)", (None, 2))),
    ("logical_product", "((4,2),8):((8,1),1)", ("(4,8):(8,1)", (2,))),
    ("max_common_layout", "4:1", ("(4,8):(1,4)", "(4,8):(1,8)")),
    ("max_common_vector", 4, ("(4,8):(1,4)", "(4,8):(1,8)")),
    ("nullspace", "(4,2):(1,12)", ("(4,3,2):(0,1,0)",)),
    ("filter", "(4,2):(1,8)", ("(4,3,2):(1,0,8)",)),
    ("make_ordered_layout", "(2,3):(3,1)", ((2, 3), (1, 0))),
    ("make_layout_like", "(2,3,4):(3,1,0)", ("(2,3,4):(9,2,0)",)),
    ("local_tile", ("(4,2,3):(8,1,64)", 38), ("(8,8,3):(8,1,64)", (4, 2), (1, 3))),
    ("composition", "(2,4):(2@0,1@1)", ("(4,8):(1@0,1@1)", "(2,4):(2,4)")),
    ("composition", "(2,2):(1,16)", ("(4,8):(8,1)", "(2,2):(1@1,2@0)")),
    ("slice_", "(4):(8)", ("(4,8):(8,1)", (None, 3))),
    ("upcast", "S<0,0,2> o 2 o (2,8):(1,2)", ("S<0,0,2> o 8 o (8,8):(1,8)", 4)),
    ("upcast", "S<2,1,2> o 3 o (8,8):(1,8)", ("S<2,1,2> o 3 o (8,8):(1,8)", 1)),
    ("recast_layout", "S<0,1,3> o 6 o (4,2):(18,9)", (2, 3, "S<0,2,3> o 4 o (4,2):(12,6)")),
    ("slice_and_offset", ("(4):(8)", 3), ((None, 3), "(4,8):(8,1)")),
]
WRONG = [
    ("complement", "6:1", ("4:2", 24), "reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)"),
    ("complement", "(2,2):(1,8)", ("4:2", 24), "reaches 4 x 4 = 16 offsets, must reach 24"),
    ("complement", "(2,6):(1,8)", ("4:2", 24), "reaches 4 x 12 = 48 offsets, must reach 24"),
    ("complement", "(2,3):(1,16)", ("4:2", 24), "has no copy at offset 8"),
    ("complement", "(2,2):(1,11)", ("(2,2):(2,5)", 16), "has no copy at offset 10"),
    ("composition", "(2,2):(1,16)", ("(4,8):(8,1)", "4:2"), "is 1 at index 1, must be 16"),
    ("composition", "(3,2):(2,3)", ("(6,2):(1,7)", "(3,2):(2,3)"), "is 7 at index 5, must be 8"),
    ("complement", "2:1", ("2:-1", 4), "is no complement, as there is none"),
    ("tile_to_shape", "(9,9):(9,1)", ("(8,8):(8,1)", (9, 9)), "is an answer where there is none"),
    (
        "logical_product",
        "((16,3),(2,4)):((32,6),(1,2))",
        ("(16,3):(32,6)", "(2,4):(1,2)"),
        "is 6 at index 288, must be 512",
    ),
    ("right_inverse", "(4,8):(8,1)", ("(4,8):(8,1)",), "is 8 at index 1, where the layout is 2, must be 1"),
    ("coalesce", "(2,6):(1,2)", ("(2,6):(1,2)",), "has modes that could be one"),
    ("max_common_layout", "8:1", ("(4,8):(1,4)", "(4,8):(1,8)"), "is 4 at index 4, where not both layouts are 4"),
    ("max_common_layout", "8:1", ("4:1", "8:1"), "is 4 at index 4, where not both layouts are 4"),
    (
        "max_common_vector",
        8,
        ("(4,8):(1,4)", "(4,8):(1,8)"),
        "is 8, but the run from offset 0 in the first layout and 0 in the second ends after 4",
    ),
    (  # the first 128 elements are contiguous in both; of the others only runs of 16 are
        "max_common_vector",
        128,
        ("S<3,4,3> o 0 o (8,64):(64,1)", "(8,64):(64,1)"),
        "is 128, but the run from offset 128 in the first layout and 144 in the second ends after 16",
    ),
    (
        "max_common_layout",
        "128:8",
        ("S<3,4,3> o 0 o (8,128):(128,1)", "(8,128):(128,1)"),
        "is 128, but the run from offset 128 in the first layout and 144 in the second ends after 16",
    ),
    (
        "max_common_vector",
        4,
        ("6:1", "(2,3):(1,2)"),
        "is 4, but the run from offset 4 in the first layout and 4 in the second ends after 2",
    ),
    (
        "max_common_vector",
        2,
        ("4:-1", "4:1"),
        "is 2, but the run from offset -3 in the first layout and 3 in the second ends after 1",
    ),
    ("max_common_vector", 0, ("4:1", "4:1"), "is 0, must be at least 1"),
    ("nullspace", "4:1", ("(4,3,2):(0,1,0)",), "has 4 indices, must have 8"),
    ("nullspace", "(4,2):(1,4)", ("(4,3,2):(0,1,0)",), "is 4 at index 4, where the layout is not 0"),
    ("left_inverse", "(4,8):(1,8)", ("(4,8):(1,4)",), "is 8 at offset 4, must be 4"),
    ("filter", "(4,2):(1,9)", ("(4,3,2):(1,0,8)",), "is 9 at index 4, must be 8"),
    ("make_ordered_layout", "(2,3):(1,2)", ((2, 3), (1, 0)), "has strides in another order"),
    ("make_ordered_layout", "(2,3):(1,3)", ((2, 3), (1, 0)), "is not compact"),
    ("make_layout_like", "(2,3,4):(1,2,0)", ("(2,3,4):(9,2,0)",), "has strides in another order"),
    ("make_layout_like", "(2,3,4):(12,4,1)", ("(2,3,4):(9,2,0)",), "has strides of 0 at other modes"),
    ("slice_and_offset", ("(4):(8)", 4), ((None, 3), "(4,8):(8,1)"), "is 4 at index 0, must be 3"),
    ("slice_", "(4):(7)", ("(4,8):(8,1)", (None, 3)), "is 10 at index 1, must be 11"),
    ("upcast", "((1,4)):((0,1))", ("(8,4):(1,8)", 8), "is nested otherwise than the layout"),
    ("downcast", "((16,4)):((1,16))", ("(8,4):(1,8)", 2), "is nested otherwise than the layout"),
    ("downcast", "(4,2):(1,2)", ("(2,2):(1,1)", 2), "is no downcast, as two modes are contiguous"),
    ("upcast", "S<1,0,3> o 0 o 4:1", ("S<1,0,3> o 0 o 8:1", 2), "is no upcast, as units straddle"),
    (
        "recast_layout",
        "S<0,1,3> o 6 o (4,2):(18,8)",
        (2, 3, "S<0,2,3> o 4 o (4,2):(12,6)"),
        "puts element 4 into unit 14, must be 15",
    ),
    (
        "recast_layout",
        "S<1,2,3> o 0 o 4:18",
        (2, 3, "S<1,2,3> o 0 o 4:12"),
        "is no recast, as there is none to the common unit",
    ),
]


@each(("operation", "answer", "operands"), RIGHT)
def test_every_right_answer_is_accepted(operation: str, answer: Any, operands: tuple[Any, ...]) -> None:
    assert broken_law(operation, answer, *operands) is None


@each(("operation", "answer", "operands", "why"), WRONG)
def test_a_wrong_answer_is_told_its_first_broken_instance(
    operation: str, answer: Any, operands: tuple[Any, ...], why: str
) -> None:
    assert broken_law(operation, answer, *operands) == why


def test_a_product_of_a_padded_block_is_decided_with_the_places_of_its_next_period() -> None:
    """A period of 512 holds six places, 0 to 5: the copies at places 0 and 6 lie 512 apart."""
    assert product(Layout((16, 3), (32, 6)), 2, 6) == (((16, 3), 2), ((32, 6), 512))
    assert product(Layout((16, 3), (32, 6)), 8, 1) is None


def test_layouts_are_taken_as_values_too() -> None:
    assert broken_law("complement", Layout((3, 2), (8, 1)), Layout(4, 2), 24) is None


@pytest.mark.parametrize(
    ("operation", "operands", "why"),
    [
        ("complementt", ("2:1", 4), "'complementt' is not an operation with a law; these are blocked_product, "),
        ("complement", ("2:1", 1 << 40), "has more than 2\\*\\*16 indices"),
        ("complement", (), r"the operands \(\) do not fit complement"),
        ("composition", ("2:1",), r"the operands \('2:1'\) do not fit composition"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(operation: str, operands: tuple[Any, ...], why: str) -> None:
    with pytest.raises(LayoutError, match=why) as refused:
        broken_law(operation, "2:1", *operands)
    assert "\n" not in str(refused.value)


CASES = [
    case
    for case in json.loads((ROOT / "tests/vectors/conformance.json").read_text(encoding="utf-8"))["cases"]
    if case["operation"] in NAMES & set(law_names()) and "slice" not in case["operation"] and "answer" in case
]


def plain(data: Any) -> Any:
    """A value of the data file as the other judge takes it; None where it is no plain layout of integers."""
    if isinstance(data, str):
        layout = parse_layout(data)
        if not isinstance(layout, Layout) or "@" in data:
            raise ValueError(data)
        return PlainLayout(layout.shape, layout.stride)
    return tuple(map(plain, data)) if isinstance(data, list) else data


def spoilt(layout: PlainLayout) -> PlainLayout:
    """The layout with its last leaf of two or more elements moving one further."""
    spoilt_leaves = []

    def change(shape: Any, stride: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(reversed([change(s, d) for s, d in zip(reversed(shape), reversed(stride), strict=True)]))
        if shape == 1 or spoilt_leaves:
            return stride
        spoilt_leaves.append(shape)
        return stride + 1

    return PlainLayout(layout.shape, change(layout.shape, layout.stride))


def accepted(operation: str, answer: PlainLayout, operands: list[Any]) -> bool:
    """Whether the other judge accepts an answer."""
    try:
        judge(operation, answer, *operands)
    except Broken:
        return False
    return True


#: What the definition leaves free is stricter here or there: the other judge wants the form that the package promises.
FREE = {"right_inverse", "left_inverse", "max_common_layout", "nullspace", "make_ordered_layout"}


def test_a_judge_that_shares_no_line_says_the_same_of_right_and_spoilt_answers() -> None:
    compared = 0
    for case in CASES[::4]:
        try:
            answer, operands = plain(case["answer"]), [plain(one) for one in case["operands"]]
        except ValueError:
            continue
        if not isinstance(answer, PlainLayout) or case["operation"] in FREE:
            continue
        for one in (answer, spoilt(answer)):
            layouts = [Layout(x.shape, x.stride) if isinstance(x, PlainLayout) else x for x in operands]
            wrong = broken_law(case["operation"], Layout(one.shape, one.stride), *layouts)
            assert (wrong is None) == accepted(case["operation"], one, operands), (case, one, wrong)
            compared += 1
    assert compared > 200
