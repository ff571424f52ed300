"""The model of scale factors beside the layouts of tensor memory, which share no code with it."""

from __future__ import annotations

import pytest

from descriptors import scale_cells
from descriptors.tmem.scale_model import factor_bytes


@pytest.mark.parametrize(("rows", "halves"), [(128, False), (256, False), (256, True)])
def test_factors_are_read_from_where_they_lie(rows: int, halves: bool) -> None:
    cells, model = scale_cells(rows, 64, 16, halves=halves), factor_bytes(8, rows, 4, halves=halves)
    for row in range(0, rows, 7):
        for q in range(4):
            lane, column, bit = cells.cell(row, 16 * q, 0)
            assert model[row, q].tolist() == [lane, column + 8, bit // 8]


def test_the_byte_is_in_the_two_top_bits_of_the_pointer() -> None:
    assert factor_bytes(0xC0000010, 32, 1)[3, 0].tolist() == [3, 16, 3]
