"""Tensor memory drawn: what is written in a cell is what lies there, by models that share no code with the layouts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from drawn import read
from each import each

from descriptors import picture, tmem_plan
from descriptors.cli import main
from descriptors.errors import DescriptorError
from descriptors.show.pictures.cell_picture import CellsPicture
from descriptors.show.pictures.column_picture import ColumnsPicture
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.accumulator_model import tcgen05_cells
from descriptors.tmem.columns import Part, plan_columns
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.landing_model import landing
from descriptors.tmem.moves import tmem_move
from descriptors.tmem.operand_cells import operand_a, sparse_metadata
from descriptors.tmem.readout import readout
from descriptors.tmem.reductions import tmem_reduction
from descriptors.tmem.scale_factors import scale_factors
from layoutalg import Layout
from layoutalg.frozen import replace


@each(("m", "n", "cta_group"), [(128, 64, 1), (64, 32, 1), (128, 128, 2), (256, 96, 2)])
def test_a_cell_of_an_accumulator_holds_what_the_model_says(m: int, n: int, cta_group: int) -> None:
    held = CellsPicture(accumulator(m, n, cta_group=cta_group)).cells()
    model = tcgen05_cells(m, n, cta_group)
    assert held == {
        tuple(model[row, column].tolist()): (((row, column), 32),) for row, column in np.ndindex(*model.shape[:2])
    }


@each("name", ["128x256b", "64x128b.warpx2::01_23", "32x128b.warpx4", "4x256b"])
def test_a_cell_of_a_copy_holds_a_row_of_the_model(name: str) -> None:
    held = CellsPicture(tmem_copy(name)).cells()
    expected = {place: row for row, _, place in landing(name, lane=0, column=0)}
    assert {place: parts[0][0][0] for place, parts in held.items()} == expected
    assert all(sum(bits for _, bits in parts) == 32 for parts in held.values())


def test_what_is_written_in_the_corner_is_in_the_record() -> None:
    compressing = tmem_reduction("32x32b.x8.max.sp::2:4.f32")
    moves = (tmem_move("16x256b.x2"), tmem_copy("4x256b"), compressing)
    for answer in (accumulator(128, 64), operand_a(128, 64, "bf16"), *moves):
        drawn = CellsPicture(answer)
        words = [word for _, _, word, _ in read(drawn.svg()).texts]
        for row in drawn.record()["corner"]:
            for parts in row:
                for coordinate, _ in parts:
                    assert ",".join(map(str, coordinate)) in words


def test_a_cell_of_many_parts_says_the_first_and_the_last() -> None:
    words = [word for _, _, word, _ in read(CellsPicture(sparse_metadata(128, 32, "bf16")).svg()).texts]
    assert "0,0 to 8,15" in words


def test_loads_and_steps_are_framed() -> None:
    loads = CellsPicture(readout(accumulator(128, 64), "16x256b.x8")).record()["frames"]
    assert loads[:2] == [(0, 0, 16, 64), (16, 0, 16, 64)]
    factors = scale_factors(128, 256, 32, step=64)
    assert CellsPicture(factors).record()["frames"] == [(0, 0, 128, 4), (0, 4, 128, 4)]


def test_parts_of_a_plan_overlap_nowhere_and_lie_where_the_plan_says() -> None:
    plan = tmem_plan(64, 64, 64, accumulators=2, interleaved=True)
    record = ColumnsPicture(plan).record()
    first, second = (set(part["lanes"]) for part in record["parts"])
    assert not first & second and len(first | second) == 128
    assert record["allocate"] == plan.allocate == 64
    assert picture(plan) == ColumnsPicture(plan)


def test_all_columns_of_an_exclusive_allocation_are_drawn() -> None:
    plan = plan_columns([Part("D", 512), Part("SFA", 40)], arch="sm107")
    words = [word for _, _, word, _ in read(ColumnsPicture(plan).svg()).texts]
    assert "544" in words and "SFA at 512" in words


COMMANDS = {
    "plan": ["--m", "128", "--n", "128", "--k", "64"],
    "accumulator": ["--m", "64", "--n", "32"],
    "operand": ["--m", "128", "--k", "64", "--dtype", "bf16"],
    "metadata": ["--m", "128", "--k", "32", "--dtype", "bf16"],
    "ld": ["16x256b.x1"],
    "cp": ["128x256b"],
    "scale-factors": ["--mn", "128", "--k", "64", "--vector", "16"],
    "block-scaled": ["--a", "e2m1", "--scale-dtype", "ue4m3", "--m", "128", "--n", "8", "--k", "64"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_tensor_memory_draws(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cells.svg"
    assert main(["tmem", command, *COMMANDS[command], "--draw", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert path.read_text(encoding="utf-8").startswith("<svg ")


@each("arguments", [["ld", "--m", "128", "--n", "64"], ["cp"], ["cp", "128x256b.b8x16.b4x16_p64"]])
def test_what_has_no_picture_says_what_has(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tmem", *arguments, "--draw", "x.svg"]) == 2
    assert "--draw needs a SHAPE" in capsys.readouterr().err


def test_too_many_elements_are_refused() -> None:
    fragment = operand_a(128, 64, "bf16")
    with pytest.raises(DescriptorError, match="elements, but at most 1048576 are drawn"):
        CellsPicture(replace(fragment, layout=Layout((128, 1 << 15), (1 << 15, 1)))).scene()
