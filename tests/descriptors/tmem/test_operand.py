"""An A operand lies in tensor memory where CUTLASS's own fragments have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tmem_maps import digest, in_order, rows

from descriptors import DescriptorError
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.geometry import DOCUMENTED, NVIDIA
from descriptors.tmem.operand_cells import operand_a

_TYPES = {"half_t": "f16", "tfloat32_t": "tf32", "int8_t": "s8", "float_e4m3_t": "e4m3"}
OPERANDS = [row for row in rows("D") if row["name"].split()[0] == row["name"].split()[1]]


@pytest.mark.parametrize("row", OPERANDS, ids=lambda row: row["name"])
def test_an_operand_lies_where_cutlass_has_it(row: dict[str, Any]) -> None:
    value, _, pair, mode, extents = row["name"].split()
    m, k = map(int, extents.split("x"))
    operand = operand_a(m * int(pair[-1]), k, _TYPES[value], cta_group=int(pair[-1]))
    cells = operand.cells()
    if mode == "Duplicated":  # CuTe counts the rows of both copies as one mode
        assert operand.modes == ("m", "k", "copy")
        cells = np.concatenate([cells[:, :, 0], cells[:, :, 1]])
    assert digest(in_order(cells)) == row["sha256"]
    assert operand.evidence == NVIDIA


def test_there_are_operands_of_every_arrangement() -> None:
    assert len(OPERANDS) >= 8 and sum("Duplicated" in row["name"] for row in OPERANDS) == 1


def test_a_k_step_of_an_instruction_is_8_columns_of_every_type() -> None:
    for dtype, k in (("tf32", 8), ("f16", 16), ("e5m2", 32), ("u8", 32), ("e2m3", 32), ("e2m1", 64)):
        for m, pair in ((64, 1), (128, 1), (128, 2), (256, 2)):
            operand = operand_a(m, 3 * k, dtype, cta_group=pair)
            copy = [0] if "copy" in operand.modes else []
            assert operand.columns == 24 and operand.cell(0, 2 * k, *copy) == (0, 16, 0)


def test_for_the_ws_form_nothing_says_which_rows_a_lane_holds() -> None:
    for m in (32, 64, 128):
        with pytest.raises(
            DescriptorError, match=r"A of the .ws form is not supported in tensor memory, because no source"
        ):
            operand_a(m, 16, "f16", ws=True)
        with pytest.raises(DescriptorError, match=r"A of the .ws form"):
            tmem_plan(m, 64, 64, ws=True, a_source="tmem")
    assert [part.columns for part in tmem_plan(64, 64, 64, ws=True).parts] == [32]


def test_narrow_elements_in_bytes_are_only_documented() -> None:
    assert operand_a(128, 32, "e2m1_unpacksmem").evidence == DOCUMENTED
    assert operand_a(128, 32, "e2m3").cell(0, 1) == (0, 0, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((128, 24, "f16"), "K is 24, which is not a multiple of 16; dtype = f16"),
        ((96, 16, "f16"), "no instruction with cta_group 1 has M 96; supported: M 64 or 128"),
        ((128, 16, "f17"), "is "),
        ((128, 16384, "f16"), "needs 8192 columns, tensor memory has 512"),
    ],
)
def test_what_is_no_operand_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        operand_a(*arguments)


def test_an_operand_of_a_sparse_pair_is_only_documented() -> None:
    assert operand_a(128, 16, "f16", cta_group=2, sparse=True).evidence == DOCUMENTED
    assert operand_a(256, 16, "f16", cta_group=2, sparse=True).evidence == NVIDIA
