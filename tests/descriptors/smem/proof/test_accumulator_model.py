"""The model of accumulators beside the fragments and layouts of the package, which share no code with it."""

from __future__ import annotations

import numpy as np
import pytest

from descriptors import DescriptorError, accumulator
from descriptors.tmem.accumulator_model import joined, tcgen05_cells, wgmma_elements
from layoutalg import fragment


@pytest.mark.parametrize("n", [8, 24, 128, 256])
def test_the_registers_are_those_of_the_fragments_measured_on_hopper(n: int) -> None:
    registers, model = fragment(f"wgmma.m64n{n}k16.D"), wgmma_elements(n)
    assert model.shape == (128, n // 2, 2)
    for thread in (0, 1, 5, 31, 32, 77, 127):
        assert [tuple(one) for one in model[thread].tolist()] == [registers.element(thread, v) for v in range(n // 2)]


@pytest.mark.parametrize(("m", "pair"), [(64, 1), (128, 1), (128, 2), (256, 2)])
def test_the_cells_are_those_of_the_accumulators(m: int, pair: int) -> None:
    cells, model = accumulator(m, 64, cta_group=pair), tcgen05_cells(m, 64, pair)
    for row in range(m // pair):
        for n in (0, 1, 31, 32, 63):
            assert tuple(model[row, n].tolist()) == cells.cell(row, n)[:2]


def test_an_arrangement_that_is_not_modelled_is_refused() -> None:
    with pytest.raises(DescriptorError, match="M 32 with cta_group 1 is not supported"):
        tcgen05_cells(32, 64, 1)


@pytest.mark.parametrize("instructions", [1, 2, 3])
def test_the_rows_of_an_instruction_are_together_and_cta_0_comes_first(instructions: int) -> None:
    rows = [np.array([[100 * cta + 10 * i + r for i in range(instructions) for r in range(2)]]) for cta in (0, 1)]
    right = [100 * cta + 10 * i + r for i in range(instructions) for cta in (0, 1) for r in range(2)]
    assert joined(rows, instructions, axis=1).tolist() == [right]


def test_one_cta_gives_its_rows_as_they_are() -> None:
    assert joined([np.arange(12)], 3, axis=0).tolist() == list(range(12))
