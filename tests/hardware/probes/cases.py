"""A product to be run, as plain data: an instruction, and for each operand its addresses, its word and its advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from probes.boxes import Boxes
from probes.instructions import Instruction


@dataclass(frozen=True)
class Side:
    """An operand.

    Args:
        addresses: (MN, K) absolute shared-memory byte address of each element.
        word: descriptor of subtile (0, 0).
        advance: (MN subtiles, K subtiles) bytes to add to the start address for each subtile.
        boxes: how the copy engine brings it, from a compact array whose fast dimension is the operand's contiguous one;
            None for a plain copy.
    """

    addresses: np.ndarray
    word: int
    advance: np.ndarray
    boxes: Boxes | None = None

    def words(self, word: int | None = None) -> np.ndarray:
        """The word of every subtile."""
        base = self.word if word is None else word
        sums = [(base & 0x3FFF) + int(step) // 16 for step in np.ravel(self.advance)]
        if any(not 0 <= start <= 0x3FFF for start in sums):
            raise RuntimeError("gemm: an advance must stay within the start address's 14 bits")
        return np.array([base & ~0x3FFF | start for start in sums], np.uint64).reshape(self.advance.shape)


@dataclass(frozen=True)
class Case:
    """A product of an (M, K) and an (N, K) tile by one kind of instruction.

    Args:
        name: what it is.
        instruction: both operands from shared memory.
        a, b: the operands.
        facts: what the case was made from, for the evidence.
    """

    name: str
    instruction: Instruction
    a: Side
    b: Side
    facts: dict[str, Any] | None = None
