"""Text and JSON records of tensor-memory fragments and column plans.

A fragment is described digit by digit of its coordinates: each digit moves the position by a number of lanes, columns
and bits.

Invariant: the moves of the digits of a coordinate add up to its cell.

>>> from descriptors.tmem.accumulator import accumulator
>>> d = accumulator(128, 64, cta_group=2)
>>> [(digit["mode"], digit["every"], digit["lane"], digit["column"]) for digit in record_fragment(d)["digits"]]
[('m', 1, 1, 0), ('n', 1, 0, 1), ('n', 32, 64, 0)]
>>> d.cell(5, 33)[:2] == (5 * 1 + 1 * 64, 1 * 1)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors.records import TEXT, Record, Row, attributes, each
from descriptors.text import aligned, counted
from descriptors.tmem.columns import ColumnPlan
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, flatten, size


def tell_fragment(fragment: TmemFragment) -> str:
    """Return the text of a fragment.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> print(tell_fragment(accumulator(128, 8)))
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
        (f"every {digit['every']} of {digit['mode']}, {counted(digit['count'], 'time')}:", _step_text(digit))
        for digit in digits(fragment)
    ]
    table = aligned([*facts, ("known", fragment.evidence)], indent=3)
    lines = [f"{fragment.what}: {fragment.name}", *table[:-1], *aligned(moves, indent=3, gap=1), table[-1]]
    return "\n".join(lines)


def digits(fragment: TmemFragment) -> Iterator[dict[str, Any]]:
    """Yield the digits of the coordinates.

    Each digit has the name of its mode, its period in that mode (``every``), its number of values (``count``), and the
    lanes, columns and bits by which it moves the position.
    """
    for name, mode in zip(fragment.modes, fragment.layout, strict=True):
        every = 1
        for leaf in _leaves(mode):
            count, stride_bits = size(leaf), int(leaf.stride) * fragment.bits
            if count > 1:
                step = {"lane": stride_bits >> 21, "column": stride_bits >> 5 & 0xFFFF, "bit": stride_bits & 31}
                yield {"mode": name, "every": every, "count": count, **step}
            every *= count


def _leaves(mode: Layout) -> list[Any]:
    flat = flatten(mode)
    return list(flat) if isinstance(flat.shape, tuple) else [flat]


#: The record of a digit of a coordinate.
DIGIT = Record("Digit", mode=str, **each(int, "every count lane column bit"))
#: The record of a fragment.
record_fragment = Record(
    "Cells",
    what=str,
    arrangement=Row(str, "name"),
    modes=[str],
    layout=str,
    element_bits=Row(int, "bits"),
    columns=int,
    digits=Row([DIGIT], digits),
    evidence=str,
)


def _step_text(digit: dict[str, Any]) -> str:
    """Return the move of a digit in words."""
    parts = [f"{name} {digit[name]}" for name in ("lane", "column", "bit") if digit[name]]
    return ", ".join(parts) or "the same place"


#: The record of a part of a column plan.
PART = Record(
    name=Row(str, label="part"),
    column=int,
    columns=Row(int, label="columns", text=lambda part: f"[{part.column},{part.column + part.columns})"),
    lane=Row(int, label="lane"),
    layout=Row((str, None), "fragment.layout"),
    evidence=Row(str, "fragment.evidence"),
    what=Row(TEXT, label="what", text=lambda part: "" if part.fragment is None else part.fragment.what),
)


def tell_columns(plan: ColumnPlan) -> str:
    """Return the text of a column plan: the parts, the allocation, and the number of CTAs that fit an SM.

    >>> from descriptors.tmem.columns import tmem_plan
    >>> print(tell_columns(tmem_plan(128, 256, 64)))
    allocate 256 columns, 256 of them used; 2 CTAs fit an SM
       part  columns  lane  what
       D     [0,256)  0     accumulator of 128x256 f32, cta_group 1
       known  NVIDIA's code, evaluated; not measured on a Blackwell GPU
    """
    facts = [("note", note) for note in plan.notes]
    fit = f"{counted(plan.ctas, 'CTA')} {'fits' if plan.ctas == 1 else 'fit'} an SM"
    exclusively = ", exclusively" * plan.exclusive
    head = f"allocate {counted(plan.allocate, 'column')}{exclusively}, {plan.used} of them used; {fit}"
    known = aligned([*facts, ("known", plan.evidence)], indent=3)
    return "\n".join([head, *aligned(PART.table(plan.parts), indent=3), *known])


#: The record of a column plan.
record_columns = Record(
    "Columns",
    **attributes(ColumnPlan, "used allocate ctas_per_sm=ctas exclusive"),
    parts=[PART],
    **attributes(ColumnPlan, "notes evidence"),
)
