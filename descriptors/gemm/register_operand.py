"""Plan A in registers (sm90): the fragment of a K block, and the loads that fill it from shared memory.

The copies fill shared memory as for an A that is read by a descriptor. Then every warpgroup loads the rows of its M
blocks and passes ``wgmma`` four registers per thread instead of a descriptor. A may therefore have either major,
because the order of the registers is always the same. K-major tiles are loaded with ``ldmatrix``, MN-major tiles of
16-bit elements with ``ldmatrix.trans``, and others element by element.

Invariant: the loads leave every element in the register from which the instruction reads it.

>>> from descriptors.gemm.plan_operands import operand
>>> from descriptors.gemm.plan_request import main_loop
>>> loop = main_loop("m64n8k16", "bf16", tile=(64, 8, 32), a_major="MN", a_source="registers")
>>> a = a_in_registers(loop, operand(loop, "A", 2))
>>> a.move, a.fragment.element(37, 2), a.registers
('ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16', (25, 2), 8)
"""

from __future__ import annotations

from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_request import MainLoop
from descriptors.smem.operands.operand import Major
from descriptors.text import Told, counted
from layoutalg import Fragment, fragment
from layoutalg.frozen import frozen

#: Rows of an M block, registers of a thread for a K block, and threads of a warp.
ROWS, REGISTERS, WARP = 64, 4, 32


@frozen
class LoadedOperand:
    """A in the registers of the warpgroups.

    Args:
        fragment: (thread, value) of a warpgroup -> element ``row + 64 column`` of a K block.
        move: the load instruction: ``ldmatrix``, or ``ld.shared`` of one element.
        blocks: number of K blocks of a stage; they are loaded together, so that no load waits for an instruction.
    """

    fragment: Fragment
    move: str
    blocks: int

    @property
    def each(self) -> int:
        """Number of elements of a register."""
        return self.fragment.values // REGISTERS

    @property
    def registers(self) -> int:
        """Number of registers of a thread for one M block of a stage."""
        return REGISTERS * self.blocks

    @property
    def loads(self) -> int:
        """Number of loads of a thread for one K block of one M block."""
        return 1 if self.move.startswith("ldmatrix") else self.fragment.values

    def pointer(self, thread: int) -> tuple[int, int]:
        """Return row and column, in a K block, of the element whose address a thread passes to ``ldmatrix``.

        >>> LoadedOperand(fragment("wgmma.m64n8k16.A"), "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 1).pointer(57)
        (25, 8)
        """
        warp, lane = divmod(thread, WARP)
        matrix, line = divmod(lane, 8)
        row, column = 16 * warp + 8 * (matrix % 2), 4 * self.each * (matrix // 2)
        return (row, column + line) if ".trans" in self.move else (row + line, column)


@frozen
class LoadedReport(Told):
    """The proof of A in registers.

    Args:
        elements: number of elements of all stages, all of which were compared.
        differing: number of elements that are not in the register from which the instruction reads them.
        first: description of the first of these; "" if there is none.
        evidence: how the model is known.
    """

    elements: int
    differing: int
    first: str
    evidence: str = "measured on a Hopper GPU"

    @property
    def ok(self) -> bool:
        """Whether every element is in its register."""
        return not self.differing

    def __str__(self) -> str:
        if self.ok:
            return f"proved: {counted(self.elements, 'element')} in registers"
        return f"disproved: {self.differing} of {self.elements} elements are not in their register; {self.first}"


def a_in_registers(loop: MainLoop, side: StagedOperand) -> LoadedOperand:
    """Return the loads of A into registers.

    Args:
        loop: the instruction and the tile, with A in registers.
        side: A in shared memory.
    """
    a_fragment = fragment(f"wgmma.{'sp.' * loop.sparse}{loop.name}.A.{loop.a.name}")
    move = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    if side.derivation.major is Major.MN:
        bits = loop.a.storage_bits
        move = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" if bits == 16 else f"ld.shared.b{bits}"
    return LoadedOperand(a_fragment, move, loop.blocks[2])
