"""What a warp's registers hold of an accumulator: every element once, and the fragments that people know."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.operand_cells import operand_a
from descriptors.tmem.readout import Readout, readout, readouts
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, size

ACCUMULATORS = {
    "D": accumulator(128, 32),
    "F": accumulator(64, 32),
    "A": accumulator(256, 32, cta_group=2),
    "B": accumulator(128, 64, cta_group=2),
    "E": accumulator(64, 64, ws=True),
    "G": accumulator(32, 64, ws=True),
    "F, f16": accumulator(64, 32, "f16"),
    "B, f16": accumulator(128, 64, "f16", cta_group=2),
}


def elements_of(one: Readout) -> list[tuple[int, int]]:
    return [
        one.element(load, thread, value)
        for load in one.loads
        for thread in range(one.threads)
        for value in range(one.values)
    ]


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_all_loads_together_hold_each_element_once(name: str) -> None:
    d = ACCUMULATORS[name]
    every = readouts(d)
    assert len(every) >= 5
    for one in every:
        elements = elements_of(one)
        assert len(set(elements)) == len(elements) == size(d.layout), one.move.ptx


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_each_register_holds_the_element_of_its_cell(name: str) -> None:
    """The other way round: the cell that a register is loaded from is that of the element that it is said to hold."""
    d = ACCUMULATORS[name]
    for one in readouts(d):
        for load in one.loads:
            for thread in (0, 3, 13, one.threads - 1):
                for value in range(one.values):
                    register, half = divmod(value, 2) if one.move.packed else (value, 0)
                    place = one.move.cells.cell(thread, register, 16 * half)
                    at = (load.lane + place.lane, load.column + place.column, place.bit)
                    assert d.cell(*one.element(load, thread, value)) == at, one.move.ptx


def test_16x256b_gives_the_quads_of_an_mma_sync_accumulator() -> None:
    one = readout(accumulator(128, 8), "16x256b.x1")
    for thread in range(32):
        for value in range(4):
            want = thread // 4 + 8 * (value // 2), 2 * (thread % 4) + value % 2
            assert one.element(one.loads[0], thread, value) == want


def test_the_half_arrangement_leaves_threads_of_32x32b_with_nothing() -> None:
    assert readout(accumulator(64, 8), "32x32b").threads == 16
    assert readout(accumulator(64, 8), "16x64b").threads == readout(accumulator(128, 8), "32x32b").threads == 32


def test_warps_read_the_halves_of_n_where_they_lie_apart() -> None:
    one = readout(accumulator(128, 64, cta_group=2), "32x32b")
    assert [load.origin for load in one.loads] == [(0, 0), (32, 0), (0, 32), (32, 32)]


@pytest.mark.parametrize(
    ("fragment", "name", "message"),
    [
        (accumulator(128, 24), "32x32b.x16", "has 24 columns, which is not a multiple of the load's 16"),
        (accumulator(128, 24), "16x256b.x2", "has 24 columns, which is not a multiple of the load's 16"),
        (accumulator(128, 64), "32x32b.x8.pack::16b", "elements have 32 bits, but .pack::16b reads 16-bit elements"),
        (accumulator(64, 64, tiles=(2, 1)), "32x32b.x8", r"is not an accumulator of one tile \(m, n\)"),
        (operand_a(128, 16, "f16"), "32x32b.x8", r"is not an accumulator of one tile \(m, n\)"),
        ("d", "32x32b.x8", "'d' is not an accumulator of one tile"),
        (accumulator(128, 64), 7, "7 is not a shape with a repetition count"),
    ],
)
def test_what_does_not_fit_is_refused(fragment: Any, name: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        readout(fragment, name)


@pytest.mark.parametrize(("name", "pack"), [("16x256b.x4", True), ("16x256b.x2.pack::16b", False)])
def test_pack_that_contradicts_the_name_of_the_load_is_refused(name: str, pack: bool) -> None:
    fragment = accumulator(128, 64, "f16")
    assert readout(fragment, name, pack=not pack).move == readout(fragment, name).move
    with pytest.raises(DescriptorError, match=f"tmem ld: pack={pack} contradicts the name '{name}'"):
        readout(fragment, name, pack=pack)


def test_a_single_column_has_no_second_half() -> None:
    column = TmemFragment("a column", ("m", "n"), Layout((128, 1), (65536, 1)), 32, "by hand")
    assert [one.move.shape for one in readouts(column)] == ["32x32b"]
