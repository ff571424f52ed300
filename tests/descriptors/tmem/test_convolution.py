"""Convolutions with shifts: the published example and drawn ones are right, on either reading of one shift."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from each import each
from places import VECTORS
from seeds import seeds_of

from descriptors import ChoiceError, DescriptorError, IllegalError, shift_convolution
from descriptors.tmem.columns import tmem_plan

EXAMPLE: dict[str, Any] = {"images": 2, "height": 9, "width": 9, "channels": 16, "filters": 16, "taps": (3, 3)}


@each("quarters", ["all", "one"])
@each("start", ["clear", "middle"])
@each("cta_group", [1, 2])
@each("padding", [(1, 1), (0, 1), (0, 0)])
@each("images", [2, 16])
def test_the_published_example_is_right(
    images: int, padding: tuple[int, int], cta_group: int, start: str, quarters: str
) -> None:
    arguments = {**EXAMPLE, "images": images, "padding": padding, "filters": 32}
    assert shift_convolution(**arguments, cta_group=cta_group, start=start, quarters=quarters).verify().ok


def random_problem(source: random.Random) -> dict[str, Any]:
    """A convolution that can be shifted."""
    dtype, step = source.choice((("bf16", 16), ("f16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32)))
    height, width, s = source.randint(1, 6), source.randint(1, 70), source.randint(1, 9)
    pad_w = source.randint(0, (s - 1) // 2)
    dilation, stride, pad_h = source.randint(1, 2), source.randint(1, 2), source.randint(0, 2)
    r = source.randint(1, max(1, (height + 2 * pad_h - 1) // dilation + 1))
    return {
        "images": source.randint(1, 9), "height": height, "width": max(width, s),
        "channels": step * source.randint(1, 2), "filters": 32 * source.randint(1, 3),
        "taps": (min(r, 4), s), "padding": (pad_h, pad_w), "dtype": dtype,
        "stride": (stride, 1), "dilation": (dilation, 1), "cta_group": source.randint(1, 2),
        "quarters": source.choice(("all", "one")), "start": source.choice(("clear", "middle")),
    }  # fmt: skip


@pytest.mark.parametrize("seed", seeds_of("test_a_drawn_convolution_is_right"))
def test_a_drawn_convolution_is_right(seed: int) -> None:
    source = random.Random(seed)
    for arguments in (random_problem(source) for _ in range(25)):
        convolution = shift_convolution(**arguments)
        report = convolution.verify(seed)
        assert report.ok, (arguments, report)
        assert (report.outputs, report.multiplications) == (convolution.problem.outputs, convolution.multiplications)


def test_what_one_shift_moves_matters_where_lanes_beyond_the_first_quarter_count() -> None:
    wide, narrow = ({**EXAMPLE, "images": images, "padding": (1, 1)} for images in (8, 2))
    for quarters in ("all", "one"):
        report = shift_convolution(**wide, quarters=quarters).verify()
        assert report.ok and report.otherwise.wrong
    assert shift_convolution(**narrow).verify().otherwise.wrong == 0  # 18 places, all of them in the first quarter


def test_the_columns_are_those_of_the_plan() -> None:
    convolution, plan = shift_convolution(**EXAMPLE), tmem_plan(128, 16, 16, a_source="tmem", stages=2)
    assert convolution.allocate == plan.allocate and plan.used == convolution.a_columns[-1] + 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"channels": 24}, "C is 24, which is not a multiple of 16; dtype = bf16"),
        ({"dtype": "e2m1"}, "e2m1 has 4 bits, which are not 8, 16 or 32"),
        ({"dtype": "e3m2"}, "e3m2 has 6 bits, which are not 8, 16 or 32"),
        ({"dtype": "f17"}, "dtype is "),
        ({"cta_group": 3}, "cta_group is 3, but the maximum is 2"),
        ({"stride": (1, 2)}, "the stride along W is 2"),
        ({"height": 1 << 16, "taps": (1 << 16, 3)}, "a tile has 196608 multiplications, and the maximum is 10000; R"),
        ({"filters": 512, "legality": "off"}, "there are 512 filters, but A leaves 496 columns for D"),
    ],
)
def test_what_has_no_instruction_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        shift_convolution(**{**EXAMPLE, **arguments})


def test_refusals_have_the_kind_that_a_caller_acts_on() -> None:
    with pytest.raises(IllegalError, match="N is 9, but must be"):
        shift_convolution(**{**EXAMPLE, "filters": 9})
    for name in ("quarters", "start"):
        with pytest.raises(ChoiceError, match=f"shift: {name} is .*not supported"):
            shift_convolution(**EXAMPLE, **{name: "x"})


def test_steps_are_those_of_a_row_and_a_tile_that_there_is() -> None:
    convolution = shift_convolution(**EXAMPLE)
    for p, tile, message in (
        (7, 0, "an output row is 7, but the maximum is 6"),
        (0, 1, "a tile is 1, but the maximum is 0"),
    ):
        with pytest.raises(DescriptorError, match=message):
            convolution.steps(p, tile)


def test_a_simulation_that_takes_too_long_is_refused_and_the_steps_are_told_all_the_same() -> None:
    large = shift_convolution(32, 56, 56, 256, 256, (3, 3), (1, 1))
    assert len(large.steps()) > 1
    with pytest.raises(DescriptorError, match="multiplications, and the maximum is 10000"):
        large.verify()
    with pytest.raises(DescriptorError, match="elements, and the maximum is 4194304"):
        shift_convolution(1, 1 << 16, 64, 16, 16, (1, 3), stride=(60000, 1)).verify()


def test_masks_have_as_many_words_as_the_assembler_takes() -> None:
    rows = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))["shifts"]
    accepted = {row["asked"] for row in rows if row["accepted"]}
    assert {"shift", "shift, a pair"} <= accepted and not {"shift without .down", "shift .up"} & accepted
    for dtype in ("bf16", "tf32", "e4m3", "s8"):
        for pair in (1, 2):
            convolution = shift_convolution(**{**EXAMPLE, "channels": 32, "filters": 32}, dtype=dtype, cta_group=pair)
            counts = {len(step.masks) for step in convolution.steps() if step.kind == "multiply"}
            about = f"mma kind::{convolution.kind}, cta_group {pair}, A in tensor memory, {{}} mask words"
            assert counts == {count for count in (4, 8) if about.format(count) in accepted}


@pytest.mark.parametrize("seed", seeds_of("test_multiplications_are_counted_as_the_steps_are"))
def test_multiplications_are_counted_as_the_steps_are(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(40):
        convolution = shift_convolution(**random_problem(source))
        tiles = [(p, tile) for p in range(convolution.problem.rows) for tile in range(convolution.tiles)]
        assert convolution.multiplications == sum(
            step.kind == "multiply" for where in tiles for step in convolution.steps(*where)
        )


def test_the_largest_convolution_is_told_in_no_time() -> None:
    convolution = shift_convolution(1 << 16, 1 << 16, 1 << 16, 16, 16, (99, 101), (7, 50), dilation=(600, 1))
    assert convolution.copied.rows < convolution.copied.plain and "tap 0" in str(convolution)
