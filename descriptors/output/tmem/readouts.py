"""Every shape of ``tcgen05.ld`` that reads an accumulator, a line each.

Law: text and data name the same loads.

>>> from descriptors.tmem.accumulator import accumulator
>>> from descriptors.tmem.readout import readouts
>>> made = readouts(accumulator(128, 64))
>>> [line.split()[0] for line in tell(made).splitlines()[2:-1]] == [one["load"] for one in record(made)["loads"]]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.text import aligned
from descriptors.tmem.geometry import weakest
from descriptors.tmem.readout import Readout


def tell(readouts: Sequence[Readout]) -> str:
    """The shapes for a person.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readouts
    >>> print(tell(readouts(accumulator(128, 8))).splitlines()[0])
    tcgen05.ld of an accumulator of 128x8 f32, cta_group 1
    """
    rows: list[tuple[object, ...]] = [("load", "registers", "loads a warp", "threads", "(thread, value) -> (m, n)")]
    rows += [(_name(one), one.move.registers, len(one.loads) // 4, one.threads, one.elements) for one in readouts]
    known = weakest(*(one.evidence for one in readouts))
    return "\n".join([f"tcgen05.ld of an {readouts[0].fragment.what}", *aligned(rows, indent=3), f"   known  {known}"])


def record(readouts: Sequence[Readout]) -> dict[str, Any]:
    """The shapes as plain data.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readouts
    >>> record(readouts(accumulator(128, 8)))["loads"][0]["load"]
    '32x32b.x8'
    """
    return {
        "of": readouts[0].fragment.what,
        "loads": [
            {
                "load": _name(one),
                "registers": one.move.registers,
                "loads_per_warp": len(one.loads) // 4,
                "threads": one.threads,
                "elements": str(one.elements),
            }
            for one in readouts
        ],
        "evidence": weakest(*(one.evidence for one in readouts)),
    }


def _name(readout: Readout) -> str:
    """The load in the words that ``descriptors tmem ld`` takes."""
    return f"{readout.move.shape}.x{readout.move.num}{'.pack::16b' if readout.move.packed else ''}"
