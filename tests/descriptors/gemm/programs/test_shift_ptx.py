"""Tiles of convolutions by shifts in PTX: ptxas takes them, our checker finds nothing, their numbers are the steps'."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from each import each
from gemm_plans import assembled, need_ptxas

from descriptors import DescriptorError, check_ptx, shift_convolution
from descriptors.gemm.programs.shift_ptx import write

ONE: dict[str, Any] = {
    "images": 2, "height": 9, "width": 9, "channels": 16, "filters": 16, "taps": (3, 3), "padding": (1, 1),
}  # fmt: skip
CASES: list[dict[str, Any]] = [
    {}, {"dtype": "e4m3", "channels": 64}, {"dtype": "s8", "channels": 32, "filters": 32, "quarters": "one"},
    {"dtype": "tf32", "filters": 64, "taps": (1, 5), "padding": (0, 2), "images": 20},
]  # fmt: skip


@need_ptxas
@each("changes", CASES)
def test_a_tile_assembles_and_our_checker_finds_nothing(changes: dict[str, Any], tmp_path: Path) -> None:
    text = write(shift_convolution(**{**ONE, **changes}), "conv", 1)
    assert assembled(text, "sm100", tmp_path) == ""
    report = check_ptx(text)
    assert (report.findings, report.unresolved) == ((), ())


@each("tile", [0, 1])
@each("changes", CASES)
def test_masks_columns_and_lanes_are_those_of_the_steps(changes: dict[str, Any], tile: int) -> None:
    made = shift_convolution(**{**ONE, "images": 20, **changes})
    text, steps = write(made, "conv", 2, tile), made.steps(2, tile)
    words = [int(one, 16) for one in re.findall(r"mov\.b32 %m\d, (0x\w+);", text)]
    assert words == [mask for step in steps for mask in step.masks]
    places = [int(one, 16) for one in re.findall(r"add\.u32 %a_tmem, %tmem, (0x\w+);", text)]
    wanted = [made.a_columns[step.tap.a_range] + (step.lane << 16) for step in steps if step.kind != "clear"]
    assert places == wanted
    loads = sum(step.kind == "load" for step in steps)
    assert text.count("mbarrier.try_wait") == loads + 1 and text.count("tcgen05.commit") == loads + 1


def test_what_a_stage_holds_does_not_overlap() -> None:
    text = write(shift_convolution(**{**ONE, "taps": (3, 5), "padding": (1, 2), "filters": 48}), "conv", 1)
    line = next(line for line in text.splitlines() if line.startswith("// A stage of"))
    stage, rows, each_row, filters, each_filter, barriers = map(
        int, re.findall(r"\d+", line.replace("(s - 1)", ""))[:1] + re.findall(r"\d+", line.replace("(s - 1)", ""))[2:7]
    )
    assert rows == 128 * 32 and filters == rows + 4 * each_row and stage >= filters + 5 * each_filter
    assert barriers == 2 * stage and each_row == 1024 and each_filter == 48 * 32


@pytest.mark.parametrize(
    ("changes", "name", "message"),
    [
        ({"cta_group": 2, "filters": 32}, "conv", "a program of a pair is not supported, only one CTA"),
        ({"start": "middle"}, "conv", "begins with middle"),
        ({}, "2", "is not an identifier"),
    ],
)
def test_what_is_not_written_is_refused(changes: dict[str, Any], name: str, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        write(shift_convolution(**{**ONE, **changes}), name)
