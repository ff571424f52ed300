"""Where results go: tensor memory and registers, against the engines that know it."""

from __future__ import annotations

from typing import Any

import pytest
from derived import K_128

from descriptors import DescriptorError, accumulator, derive, picture, tmem_plan
from descriptors.show.stages.accumulator_stage import registers, tensor_memory
from descriptors.show.stages.view import View
from descriptors.tmem.accumulator_model import tcgen05_cells
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.readout import readout
from descriptors.tmem.scale_factors import scale_factors
from layoutalg import fragment
from layoutalg.drawing.shapes import Cells


@pytest.mark.parametrize("m", [64, 128])
def test_the_frames_of_an_element_are_where_the_model_puts_its_row(m: int) -> None:
    d = derive(**{**K_128, "mma": (m, 16)})
    for cell in ((0, 0), (m - 1, 31), (17, 5)):
        stage = tensor_memory(View(d, across=32, cell=cell))
        whole, corner = stage.grids
        model = tcgen05_cells(m, 32, 1)[cell[0] % m]
        lane, columns = int(model[0][0]), sorted(int(column) for _, column in model)
        assert {int(one) for one, _ in model} == {lane} and columns == list(range(columns[0], columns[0] + 32))
        framed = [(one.x, one.y, one.width) for one in stage.marks]
        x, y, wide, _ = whole.box(lane, columns[0], 1, 32)
        assert framed[0] == pytest.approx((x, y, wide))
        assert len(framed) == 1 + (lane < corner.rows)


@pytest.mark.parametrize(
    ("change", "lying", "command"),
    [
        ({"mma": (128, 16)}, "accumulator", lambda: accumulator(128, 64)),
        ({"mma": (128, 16)}, "loads", lambda: readout(accumulator(128, 64), "16x256b")),
        ({"mma": (128, 16)}, "allocation", lambda: tmem_plan(128, 64, 16)),
        ({}, "copy", lambda: tmem_copied((128, 128), "bf16", "128B", "128x256b")),
        ({"dtype": "e4m3", "mma": (128, 32)}, "scale factors", lambda: scale_factors(128, 128, 32)),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_tensor_memory_has_the_pictures_of_its_commands(change: dict[str, Any], lying: str, command: Any) -> None:
    stage = tensor_memory(View(derive(**{**K_128, **change}), lying=lying, load="16x256b"))
    drawn = picture(command())
    cells = [shape.role for shape in drawn.scene().shapes if isinstance(shape, Cells)]
    assert [shape.role for shape in stage.scene.shapes if isinstance(shape, Cells)] == cells
    assert stage.text == drawn.text()


def test_of_a_b_operand_the_columns_are_its_rows() -> None:
    d = derive(**{**K_128, "mma": (64, 16), "operand": "B"})
    stage = tensor_memory(View(d, across=128, cell=(5, 0)))
    assert stage.scene.title.startswith("Accumulator of 128x64")
    assert all(mark.height > mark.width for mark in stage.marks)


def test_only_narrow_types_have_scale_factors() -> None:
    with pytest.raises(DescriptorError, match="an operand of bf16 has no scale factors"):
        tensor_memory(View(derive(**K_128), lying="scale factors"))


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
        ("sm90", {}, tensor_memory, "sm90 has no tensor memory"),
        ("sm90", {"across": 12}, registers, "N = 8, 16, ..., 256"),
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
