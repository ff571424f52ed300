"""Where something lies in tensor memory: its layout, and how each digit of a coordinate moves the place.

Law: the moves of the digits add up to the place of every coordinate.

>>> from descriptors.tmem.accumulator import accumulator
>>> d = accumulator(128, 64, cta_group=2)
>>> moves = [(one["mode"], one["every"], one["lane"], one["column"]) for one in record(d)["digits"]]
>>> moves
[('m', 1, 1, 0), ('n', 1, 0, 1), ('n', 32, 64, 0)]
>>> d.cell(5, 33)[:2] == (5 * 1 + 1 * 64, 1 * 1)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors import text
from descriptors.text import aligned, counted
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, flatten, size


@text.tell.register(TmemFragment)
def tell(fragment: TmemFragment) -> str:
    """A fragment for a person.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> print(tell(accumulator(128, 8)))
    accumulator of 128x8 f32, cta_group 1: layout D (4x1)
       layout   (m, n) -> (128,8):(65536,1), lane << 16 | column
       columns  8
       every 1 of m, 128 times: lane 1
       every 1 of n, 8 times:   column 1
       known    NVIDIA's code, evaluated; not measured on a Blackwell GPU
    """
    unit = "" if fragment.bits == 32 else f", in elements of {counted(fragment.bits, 'bit')}"
    modes = ", ".join(fragment.modes)
    facts = [
        ("layout", f"({modes}) -> {fragment.layout}, lane << 16 | column{unit}"),
        ("columns", fragment.columns),
    ]
    moves = [
        (f"every {one['every']} of {one['mode']}, {counted(one['count'], 'time')}:", _moved(one))
        for one in digits(fragment)
    ]
    known = aligned([*facts, ("known", fragment.evidence)], indent=3)
    lines = [f"{fragment.what}: {fragment.name}", *known[:-1], *aligned(moves, indent=3, gap=1), known[-1]]
    return "\n".join(lines)


def record(fragment: TmemFragment) -> dict[str, Any]:
    """A fragment as plain data.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> record(accumulator(128, 8))["columns"]
    8
    """
    return {
        "what": fragment.what,
        "arrangement": fragment.name,
        "modes": fragment.modes,
        "layout": str(fragment.layout),
        "element_bits": fragment.bits,
        "columns": fragment.columns,
        "digits": list(digits(fragment)),
        "evidence": fragment.evidence,
    }


def digits(fragment: TmemFragment) -> Iterator[dict[str, Any]]:
    """How each digit of a coordinate moves the place: the mode, every so many of it, how often, and by what."""
    for name, mode in zip(fragment.modes, fragment.layout, strict=True):
        every = 1
        for leaf in _leaves(mode):
            count, place = size(leaf), int(leaf.stride) * fragment.bits
            if count > 1:
                moved = {"lane": place >> 21, "column": place >> 5 & 0xFFFF, "bit": place & 31}
                yield {"mode": name, "every": every, "count": count, **moved}
            every *= count


def _leaves(mode: Layout) -> list[Any]:
    flat = flatten(mode)
    return list(flat) if isinstance(flat.shape, tuple) else [flat]


def _moved(digit: dict[str, Any]) -> str:
    """What a digit adds to the place."""
    parts = [f"{name} {digit[name]}" for name in ("lane", "column", "bit") if digit[name]]
    return ", ".join(parts) or "the same place"
