"""The model of a shift: each function against a table written out by hand, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from descriptors import ChoiceError
from descriptors.tmem import shift_model

CELLS = np.random.default_rng(3).integers(0, 1 << 32, (128, 512)).astype(np.uint32)


def test_a_shift_takes_the_next_lane_and_keeps_the_last_of_each_quarter() -> None:
    cells = CELLS.copy()
    shift_model.shift(cells, 0, 40, quarters="all")
    for lane in range(128):
        source = lane if lane in (31, 63, 95, 127) else lane + 1
        assert (cells[lane, 40:48] == CELLS[source, 40:48]).all(), lane
    cells[:, 40:48] = CELLS[:, 40:48]
    assert (cells == CELLS).all()


@pytest.mark.parametrize("lane", [0, 32, 64, 96])
def test_a_shift_of_one_quarter_leaves_the_others(lane: int) -> None:
    cells, all_moved = CELLS.copy(), CELLS.copy()
    shift_model.shift(cells, lane, 8, quarters="one")
    shift_model.shift(all_moved, 0, 8, quarters="all")
    own = [at // 32 == lane // 32 for at in range(128)]
    assert (cells == np.where(np.array(own)[:, None], all_moved, CELLS)).all()


def test_four_shifts_of_one_quarter_are_one_of_all() -> None:
    cells, all_moved = CELLS.copy(), CELLS.copy()
    for lane in (96, 0, 64, 32):
        shift_model.shift(cells, lane, 8, quarters="one")
    shift_model.shift(all_moved, 0, 8, quarters="all")
    assert (cells == all_moved).all()


def test_a_shift_moves_all_quarters_or_one() -> None:
    with pytest.raises(ChoiceError, match=r"quarters is .*not supported.*supported: all, one"):
        shift_model.shift(CELLS.copy(), 0, 0, quarters="two")


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("added", [False, True])
def test_a_product_is_that_of_plain_numbers_and_masked_lanes_stay(bits: int, added: bool) -> None:
    source = np.random.default_rng(bits)
    count, masks = 256 // bits, (0x80000001, 0, 0xFFFFFFFF, 2)
    a, b = source.integers(-100, 100, (128, count)), source.integers(-100, 100, (3, count))
    cells = CELLS.copy()
    shift_model.load(cells, 0, np.ascontiguousarray(a.astype(f"<i{bits // 8}")).view("<u4"))
    shift_model.multiply(cells, 20, 0, b, bits=bits, masks=masks, enable_input_d=added)
    for lane in range(128):
        off = masks[lane // 32] >> (lane % 32) & 1
        for n in range(3):
            before = int(CELLS[lane, 20 + n])
            product = sum(int(x) * int(y) for x, y in zip(a[lane], b[n], strict=True))
            right = before if off else (product + (before if added else 0)) % 2**32
            assert int(cells[lane, 20 + n]) == right, (lane, n)
    assert (cells[:, 23:] == CELLS[:, 23:]).all()


def test_a_refresh_writes_one_lane_of_each_quarter() -> None:
    cells, rows = CELLS.copy(), np.arange(32, dtype=np.uint32).reshape(4, 8)
    shift_model.refresh(cells, 31, 16, rows)
    assert (cells[[31, 63, 95, 127], 16:24] == rows).all()
    assert int((cells != CELLS).any(axis=1).sum()) == 4
