"""A ``tcgen05.ld`` or ``tcgen05.st``: its registers and the cells that they are loaded from.

Law: text and data count the same registers.

>>> from descriptors.tmem.moves import tmem_move
>>> made = tmem_move("16x256b.x2")
>>> f"{record(made)['registers']} registers" in tell(made)
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.tmem import fragment
from descriptors.text import counted
from descriptors.tmem.moves import TmemMove


@text.tell.register(TmemMove)
def tell(move: TmemMove) -> str:
    """A move for a person.

    >>> from descriptors.tmem.moves import tmem_move
    >>> print(tell(tmem_move("32x32b.x2")).splitlines()[0])
    tcgen05.ld.sync.aligned.32x32b.x2.b32: 2 registers a thread, 32 lanes, 2 columns
    """
    counts = f"{counted(move.registers, 'register')} a thread, {move.lanes} lanes, {counted(move.columns, 'column')}"
    _, *rest = fragment.tell(move.cells).splitlines()
    apart = [f"   offset   {move.offset} columns between the two halves"] if move.shape == "16x32bx2" else []
    return "\n".join([f"{move.ptx}: {counts}", *rest[:1], *apart, *rest[2:]])


def record(move: TmemMove) -> dict[str, Any]:
    """A move as plain data.

    >>> from descriptors.tmem.moves import tmem_move
    >>> record(tmem_move("32x32b.x2"))["layout"]
    '(32,2,32):(2097152,32,1)'
    """
    return {
        "ptx": move.ptx,
        "registers": move.registers,
        "lanes": move.lanes,
        "columns": move.columns,
        "offset": move.offset if move.shape == "16x32bx2" else None,
        "layout": str(move.cells.layout),
        "digits": list(fragment.digits(move.cells)),
        "evidence": move.cells.evidence,
    }
