"""The model of A in registers, beside the fragments of the algebra's package, which share no code with it."""

from __future__ import annotations

import numpy as np
import pytest

from descriptors.gemm.fragment_model import ldmatrix_bytes, wgmma_a_elements
from layoutalg import fragment


@pytest.mark.parametrize(("k", "each"), [(8, 1), (16, 2), (32, 4)])
def test_the_instruction_takes_what_the_fragment_holds(k: int, each: int) -> None:
    registers = fragment(f"wgmma.m64n8k{k}.A")
    elements = wgmma_a_elements(each).reshape(128, -1, 2)
    assert [[registers.element(t, v) for v in range(registers.values)] for t in range(128)] == [
        [tuple(one) for one in row] for row in elements.tolist()
    ]


@pytest.mark.parametrize("trans", [False, True])
def test_ldmatrix_brings_what_its_fragment_holds(trans: bool) -> None:
    """A tile of 16 x 16 elements of 16 bits, rows one after the other; matrices down first."""
    registers, lane = fragment("ldmatrix.x4.trans" if trans else "ldmatrix.x4"), np.arange(32)
    rows, columns = 8 * (lane // 8 % 2) + lane % 8, 8 * (lane // 16)
    elements = ldmatrix_bytes(32 * rows + 2 * columns, 2, trans=trans) // 2
    right = [[registers.element(t, v) for v in range(8)] for t in range(32)]
    assert [[(at // 16, at % 16) for at in row] for row in elements.reshape(32, 8).tolist()] == right
