"""A in registers: what each thread holds of a K block, the load that brings it there from shared memory, and its proof.

The copies fill shared memory as for A read by a descriptor; then every warpgroup loads the rows of its M blocks, and
gives ``wgmma`` four registers a thread instead of a word. So A may have any major: the registers have only one order.
K-major tiles are read by ``ldmatrix``, MN-major ones of 16 bits by ``ldmatrix.trans``, others element by element.

Law: what the loads leave in the registers is what the instruction takes from them, element by element.

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

#: Rows that a warpgroup holds of A, registers of each thread for a K block, and threads of a warp.
ROWS, REGISTERS, WARP = 64, 4, 32


@frozen
class LoadedOperand:
    """A in the registers of the warpgroups.

    Args:
        fragment: (thread, value) of a warpgroup -> element ``row + 64 column`` of a K block.
        move: the instruction that loads it: ``ldmatrix``, or ``ld.shared`` of one element.
        blocks: K blocks of a stage, which are loaded together, so that no load waits for an instruction.
    """

    fragment: Fragment
    move: str
    blocks: int

    @property
    def each(self) -> int:
        """Elements of a register."""
        return self.fragment.values // REGISTERS

    @property
    def registers(self) -> int:
        """Registers of a thread for one M block of a stage."""
        return REGISTERS * self.blocks

    @property
    def loads(self) -> int:
        """Loads of a thread for one K block of one M block."""
        return 1 if self.move.startswith("ldmatrix") else self.fragment.values

    def pointer(self, thread: int) -> tuple[int, int]:
        """Row and column, in a K block, of the element whose address a thread gives ``ldmatrix``.

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
        elements: of all stages, each of them compared.
        differing: that the loads do not bring to the register that the instruction takes them from.
        first: the first of those; "" if none.
        evidence: how the model is known.
    """

    elements: int
    differing: int
    first: str
    evidence: str = "measured on a Hopper GPU"

    @property
    def ok(self) -> bool:
        """Whether every register holds what the instruction takes from it."""
        return not self.differing

    def __str__(self) -> str:
        if self.ok:
            return f"proved: {counted(self.elements, 'element')} in registers"
        return f"disproved: {self.differing} of {self.elements} elements are not in their register; {self.first}"


def a_in_registers(loop: MainLoop, side: StagedOperand) -> LoadedOperand:
    """How A gets into registers.

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
