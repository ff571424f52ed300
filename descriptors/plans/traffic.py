"""What a stage moves: bytes copied in, bytes that instructions read, their wavefronts, and operations for a byte.

An instruction reads its operands core matrix by core matrix: 8 rows of 16 bytes. How many wavefronts each takes is said
by the bank model of ordinary accesses; for the reads of tensor cores nobody has measured it.

Law: every canonical layout has the 8 rows of a core matrix in different banks: one wavefront each.

>>> from descriptors.plans.planner import plan
>>> for mode in ("128B", "64B", "32B", "none"):
...     made = traffic(plan("m64n64k16", "bf16", tile=(64, 64, 64), a_swizzle=mode, b_swizzle=mode, verify=False))
...     assert made.wavefronts == made.core_matrices == made.read_bytes // 128
"""

from __future__ import annotations

from descriptors.frozen import frozen
from descriptors.operands.operand import Major
from descriptors.plans.parts.operands import StagedOperand
from descriptors.plans.plan import Plan
from layoutalg import wavefronts

#: Rows of a core matrix, and their bytes (PTX ISA 9.1, asynchronous warpgroup level matrix shared memory layout).
_ROWS, _ROW_BYTES = 8, 16


@frozen
class Traffic:
    """What one stage of one CTA moves.

    Args:
        operations: multiplications and additions of the CTA's share of the tile.
        copied_bytes: that this CTA's copies bring in; what other CTAs of its cluster send is not among them.
        read_bytes: that the instructions read, an operand as often as there are instructions that take it.
        core_matrices: of 8 rows of 16 bytes, that these are.
        wavefronts: that those take, by the bank model.
    """

    operations: int
    copied_bytes: int
    read_bytes: int
    core_matrices: int
    wavefronts: int

    @property
    def per_byte_read(self) -> float:
        """Operations for a byte that instructions read."""
        return self.operations / self.read_bytes

    @property
    def per_byte_copied(self) -> float:
        """Operations for a byte that is copied: arithmetic intensity toward global memory."""
        return self.operations / self.copied_bytes


def read_bytes(made: Plan) -> int:
    """Bytes of shared memory that the instructions of a stage read, over both CTAs of a pair.

    >>> from descriptors.plans.planner import plan
    >>> read_bytes(plan("m64n128k16", "bf16", tile=(128, 128, 64), verify=False))
    49152
    """
    return sum(_times(made, side) * side.stage_bytes * made.asked.cta_group for side in (made.a, made.b))


def traffic(made: Plan) -> Traffic:
    """What one stage of one CTA of a plan moves.

    Args:
        made: the plan.
    """
    m, n, k = made.asked.tile
    matrices = fronts = 0
    for side in (made.a, made.b):
        each = _wavefronts(side)
        matrices += _times(made, side) * len(each)
        fronts += _times(made, side) * sum(each)
    return Traffic(
        operations=2 * m * n * k // made.asked.cta_group,
        copied_bytes=made.transaction_bytes
        - sum(side.transaction_bytes // side.ctas * (side.ctas - 1) for side in (made.a, made.b)),
        read_bytes=read_bytes(made) // made.asked.cta_group,
        core_matrices=matrices,
        wavefronts=fronts,
    )


def _times(made: Plan, side: StagedOperand) -> int:
    """How often a stage of an operand is read: A for every N block, B for every M block; A that is loaded once."""
    m, n, _ = made.asked.blocks
    if side.matrix == "B":
        return m
    return 1 if made.loads is not None else n


def _wavefronts(side: StagedOperand) -> list[int]:
    """Of every core matrix of a stage, row by row where it lies."""
    d = side.derivation
    each = 8 * _ROW_BYTES // d.element.storage_bits
    width, height = (each, _ROWS) if d.major is Major.MN else (_ROWS, each)
    found = []
    for mn in range(0, d.tile[0], width):
        for k in range(0, d.tile[1], height):
            rows = [(mn, k + i) if d.major is Major.MN else (mn + i, k) for i in range(_ROWS)]
            places = [side.base + d.smem_tile((*row, 0)) * d.element.storage_bits // 8 for row in rows]
            found.append(wavefronts(places, _ROW_BYTES))
    return found
