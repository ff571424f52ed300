"""Where results go: tensor memory and registers, against the engines that know it."""

from __future__ import annotations

import pytest
from derived import K_128

from descriptors import DescriptorError, accumulator, derive
from descriptors.show.stages.accumulator_stage import registers, tensor_memory
from descriptors.show.stages.view import View
from layoutalg import fragment


@pytest.mark.parametrize("m", [64, 128])
def test_every_cell_of_tensor_memory_shows_the_element_that_lies_there(m: int) -> None:
    stage = tensor_memory(View(derive(**{**K_128, "mma": (m, 16)}), across=32))
    known = accumulator(m, 32)
    lines = stage.text.splitlines()[1:]
    for row, column in ((0, 0), (m - 1, 31), (17, 5)):
        cell = known.cell(row, column)
        if cell.lane < len(lines) - 1:
            assert lines[cell.lane].split()[1 + cell.column] == f"{row},{column}"


def test_of_a_b_operand_the_columns_are_its_rows() -> None:
    d = derive(**{**K_128, "mma": (64, 16), "operand": "B"})
    stage = tensor_memory(View(d, across=128, cell=(5, 0)))
    assert stage.scene.title.startswith("Accumulator 128 × 64")
    assert len(stage.marks) == 1 and stage.marks[0].height > stage.marks[0].width


def test_the_registers_of_wgmma_are_those_of_its_fragment() -> None:
    stage = registers(View(derive(**{**K_128, "arch": "sm90"}), across=16))
    rows = [line.split()[1:] for line in stage.text.splitlines()[1:]]
    layout = fragment("wgmma.m64n16k16.D").layout
    for t, v in ((0, 0), (5, 3), (31, 7)):
        place = layout(t, v)
        assert isinstance(place, int)
        if place % 64 < 40:
            assert rows[place % 64][place // 64] == f"{t}:{v}"


def test_loads_of_one_row_a_thread_hold_the_row() -> None:
    stage = registers(View(derive(**{**K_128, "mma": (128, 16)}), across=16, load="32x32b"))
    assert stage.text.splitlines()[8].split()[1:4] == ["7:0", "7:1", "7:2"]


@pytest.mark.parametrize(
    ("arch", "change", "draw", "message"),
    [
        ("sm90", {}, tensor_memory, "tensor memory must be that of sm100"),
        ("sm90", {"across": 12}, registers, "N 8 to 256 by 8"),
        ("sm100", {"across": 7}, tensor_memory, "n"),
    ],
)
def test_what_no_instruction_has_is_refused(arch: str, change: dict[str, int], draw: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(View(derive(**{**K_128, "arch": arch}), **change))  # type: ignore[operator, arg-type]


def test_a_copy_has_no_accumulator() -> None:
    d = derive((128, 64), "u8", "K", "none", cp="128x256b")
    with pytest.raises(DescriptorError, match="only an MMA instruction has an accumulator"):
        tensor_memory(View(d))
