"""What the registers of a warp hold of an accumulator.

Law: text and data have a line for each load.

>>> from descriptors.tmem.accumulator import accumulator
>>> from descriptors.tmem.readout import readout
>>> made = readout(accumulator(128, 64), "16x256b.x4")
>>> len(record(made)["loads"]) == len(made.loads) == sum(line.lstrip()[0].isdigit() for line in tell(made).splitlines())
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.text import aligned, counted, tuple_text
from descriptors.tmem.readout import Load, Readout


@text.tell.register(Readout)
def tell(readout: Readout) -> str:
    """A readout for a person.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readout
    >>> print(*tell(readout(accumulator(64, 8), "16x256b")).splitlines()[:4], sep="\\n")
    tcgen05.ld.sync.aligned.16x256b.x1.b32 of an accumulator of 64x8 f32, cta_group 1
       registers  4 a thread; 1 load a warp
       elements   (thread, value) -> (m, n): ((4,8),(2,2)):((2@1,1@0),(1@1,8@0)), from the origin of a load
       thread 1   (0,2) (0,3) (8,2) (8,3)
    """
    made, each = readout.move, len(readout.loads) // 4
    values = "value" if not made.packed else "value, two a register"
    rows: list[tuple[object, object]] = [
        ("registers", f"{made.registers} a thread; {counted(each, 'load')} a warp"),
        ("elements", f"(thread, {values}) -> (m, n): {readout.elements}, from the origin of a load"),
        ("thread 1", _held(readout)),
    ]
    if readout.threads < 32:
        rows.append(("threads", f"0 to {readout.threads - 1} hold elements, the others nothing"))
    rows.append(("known", readout.evidence))
    loads = [(one.warp, one.lane, one.column, tuple_text(one.origin)) for one in readout.loads]
    head = f"{made.ptx} of an {readout.fragment.what}"
    table = aligned([("warp", "lane", "column", "origin"), *loads], ">", indent=3)
    return "\n".join([head, *aligned(rows, indent=3), *table])


def record(readout: Readout) -> dict[str, Any]:
    """A readout as plain data.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readout
    >>> record(readout(accumulator(128, 8), "32x32b"))["elements"]
    '(32,8):(1@0,1@1)'
    """
    return {
        "ptx": readout.move.ptx,
        "of": readout.fragment.what,
        "registers": readout.move.registers,
        "threads": readout.threads,
        "values": readout.values,
        "elements": str(readout.elements),
        "loads": [_load(one) for one in readout.loads],
        "evidence": readout.evidence,
    }


def _load(one: Load) -> dict[str, Any]:
    return {"warp": one.warp, "lane": one.lane, "column": one.column, "origin": one.origin}


def _held(readout: Readout) -> str:
    """The first elements of thread 1 after the first load."""
    first = [tuple_text(readout.element(readout.loads[0], 1, value)) for value in range(min(readout.values, 8))]
    return " ".join(first) + (" ..." if readout.values > 8 else "")
