"""`tcgen05.ld` and `st` load the registers that CUTLASS's own traits say, every atom of them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from each import each
from places import VECTORS
from tmem_maps import digest, rows

from descriptors import ChoiceError, DescriptorError
from descriptors.tmem.moves import MOST, move_columns, tmem_move

ATOMS = rows("LDST")
PTXAS = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))


def ptx_name(name: str) -> tuple[str, str]:
    """What PTX calls an atom of CUTLASS: shape with repetitions, and direction."""
    match = re.fullmatch(r"(LOAD|STORE)_(\d+)dp(\d+)b(\d+)x(_16b)?", name)
    assert match is not None
    direction, lanes, bits, num, packed = match.groups()
    shape = f"{lanes}x{bits}b" + ("x2" if (lanes, bits) == ("16", "32") else "")
    qualifier = {"LOAD": ".pack::16b", "STORE": ".unpack::16b"}[direction] if packed else ""
    return f"{shape}.x{num}{qualifier}", {"LOAD": "ld", "STORE": "st"}[direction]


@each("row", ATOMS, ids=lambda row: row["name"])
def test_a_move_is_that_of_cutlass(row: dict[str, Any]) -> None:
    move = tmem_move(*ptx_name(row["name"]))
    cells = move.cells.cells()[:, :, ::16]  # (thread, register, half): the first bit of each half
    entries = np.moveaxis(cells, 0, 2).reshape(-1, 3)  # register, half, thread: the thread fastest
    assert digest(entries) == row["sha256"]


def test_all_atoms_of_cutlass_are_there() -> None:
    move = {ptx_name(row["name"]) for row in ATOMS}
    assert len(move) == len(ATOMS) == 2 * 2 * sum(most.bit_length() for most in MOST.values())


def test_a_packed_register_has_the_low_halves_of_two_columns() -> None:
    for shape in MOST:
        plain, packed = tmem_move(f"{shape}.x1"), tmem_move(f"{shape}.x1.pack::16b")
        for thread, register in np.ndindex(32, plain.registers):
            lane, column, _ = plain.cells.cell(thread, register, 0)
            if shape == "16x32bx2":
                continue  # its offset counts columns in both
            assert packed.cells.cell(thread, register, 0) == (lane, 2 * column, 0)
            assert packed.cells.cell(thread, register, 16) == (lane, 2 * column + 1, 0)
        assert move_columns(shape, packed=True) == 2 * move_columns(shape)


@each("case", PTXAS["moves"], ids=lambda case: case["asked"])
def test_a_move_exists_where_the_assembler_takes_it_with_as_many_registers(case: dict[str, Any]) -> None:
    direction, name = case["asked"].split()
    try:
        move = tmem_move(name, direction)
    except DescriptorError:
        assert case["registers"] == []
    else:
        assert case["registers"] == [move.registers]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("16x256b",), "'16x256b' is not a shape with a repetition count, such as 16x256b.x8"),
        (("16x256b.x64",), ".16x256b has no .x64; supported: x1, x2, x4, x8, x16, x32"),
        (("32x32b.x3",), ".32x32b has no .x3; supported: x1, x2, x4"),
        (("8x32b.x1",), "supported: 32x32b"),
        (
            ("16x128b.x1.pack::16b", "st"),
            r"tcgen05.st: .pack::16b is a qualifier of the other direction; use .unpack::16b",
        ),
        (("16x128b.x1", "cp"), "supported: ld, st"),
        ((7,), "7 is not a shape with a repetition count"),
    ],
)
def test_what_is_no_move_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        tmem_move(*arguments)


def test_an_offset_goes_with_one_shape_only() -> None:
    with pytest.raises(DescriptorError, match=r".32x32b has no offset; offset = 8; only .16x32bx2 has one"):
        tmem_move("32x32b.x8", offset=8)
    with pytest.raises(ChoiceError):
        tmem_move("32x32b.x8", "load")
    assert tmem_move("16x32bx2.x2", offset=100).columns == 102


def test_the_cells_of_a_move_bear_the_name_of_its_instruction() -> None:
    assert tmem_move("32x32b.x2.unpack::16b", "st").cells.what == "registers of tcgen05.st.32x32b.x2.unpack::16b"
    assert tmem_move("32x32b.x2.pack::16b").cells.what == "registers of tcgen05.ld.32x32b.x2.pack::16b"
