"""A ``tcgen05.ld.red``: its registers, and the cells that each thread's result is reduced over.

Law: text and data count the same registers.

>>> from descriptors.tmem.moves import tmem_reduction
>>> made = tmem_reduction("32x32b.x2.max.f32")
>>> f"{record(made)['registers']} registers" in tell(made)
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.tmem import fragment, moves
from descriptors.tmem.moves import TARGETS, TmemReduction


@text.tell.register(TmemReduction)
def tell(made: TmemReduction) -> str:
    """A reducing load for a person.

    >>> from descriptors.tmem.moves import tmem_reduction
    >>> print(tell(tmem_reduction("32x32b.x2.max.f32")).splitlines()[0])
    tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32: 3 registers a thread, the last the max of 2 columns
    """
    result = f"{made.registers} registers a thread, the last the {made.operation} of {made.move.num} columns"
    loads = moves.tell(made.move).splitlines()
    digits = [line for line in fragment.tell(made.over).splitlines() if line.startswith("   every ")]
    over = f"   result   (thread, column) -> {made.over.layout}, lane << 16 | column"
    targets = f"   targets  {', '.join(TARGETS)}"
    known = [f"   known    registers: {made.move.cells.evidence}", f"   known    result: {made.over.evidence}"]
    return "\n".join([f"{made.ptx}: {result}", *loads[1:-1], over, *digits, targets, *known])


def record(made: TmemReduction) -> dict[str, Any]:
    """A reducing load as plain data.

    >>> from descriptors.tmem.moves import tmem_reduction
    >>> record(tmem_reduction("32x32b.x2.min.abs.f32"))["qualifiers"]
    ['abs']
    """
    return {
        **moves.record(made.move),
        "ptx": made.ptx,
        "registers": made.registers,
        "operation": made.operation,
        "type": made.dtype,
        "qualifiers": ["abs"] * made.absolute + ["NaN"] * made.nan,
        "reduced_over": str(made.over.layout),
        "targets": list(TARGETS),
        "result_evidence": made.over.evidence,
    }
