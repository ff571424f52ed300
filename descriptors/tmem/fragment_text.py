"""Tensor memory, told: where something lies, digit by digit of its coordinates, and the columns of a CTA.

Law: the moves of the digits add up to the place of every coordinate.

>>> from descriptors.tmem.accumulator import accumulator
>>> d = accumulator(128, 64, cta_group=2)
>>> [(one["mode"], one["every"], one["lane"], one["column"]) for one in record_fragment(d)["digits"]]
[('m', 1, 1, 0), ('n', 1, 0, 1), ('n', 32, 64, 0)]
>>> d.cell(5, 33)[:2] == (5 * 1 + 1 * 64, 1 * 1)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors.answers import fields
from descriptors.text import aligned, counted
from descriptors.tmem.columns import ColumnPlan
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, flatten, size


def tell_fragment(fragment: TmemFragment) -> str:
    """A fragment for a person.

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
        (f"every {one['every']} of {one['mode']}, {counted(one['count'], 'time')}:", _step_text(one))
        for one in digits(fragment)
    ]
    table = aligned([*facts, ("known", fragment.evidence)], indent=3)
    lines = [f"{fragment.what}: {fragment.name}", *table[:-1], *aligned(moves, indent=3, gap=1), table[-1]]
    return "\n".join(lines)


def record_fragment(fragment: TmemFragment) -> dict[str, Any]:
    """A fragment as plain data.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> record_fragment(accumulator(128, 8))["columns"]
    8
    """
    return {
        "what": fragment.what,
        "arrangement": fragment.name,
        **fields(fragment, "modes layout"),
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
                step = {"lane": place >> 21, "column": place >> 5 & 0xFFFF, "bit": place & 31}
                yield {"mode": name, "every": every, "count": count, **step}
            every *= count


def _leaves(mode: Layout) -> list[Any]:
    flat = flatten(mode)
    return list(flat) if isinstance(flat.shape, tuple) else [flat]


def _step_text(digit: dict[str, Any]) -> str:
    """What a digit adds to the place."""
    parts = [f"{name} {digit[name]}" for name in ("lane", "column", "bit") if digit[name]]
    return ", ".join(parts) or "the same place"


def tell_columns(plan: ColumnPlan) -> str:
    """The columns of a CTA for a person: what lies where, what to allocate, how many CTAs fit an SM.

    >>> from descriptors.tmem.columns import tmem_plan
    >>> print(tell_columns(tmem_plan(128, 256, 64)))
    allocate 256 columns, 256 of them used; 2 CTAs fit an SM
       part  columns  lane  what
       D     [0,256)  0     accumulator of 128x256 f32, cta_group 1
       known  NVIDIA's code, evaluated; not measured on a Blackwell GPU
    """
    rows: list[tuple[object, ...]] = [("part", "columns", "lane", "what")]
    for part in plan.parts:
        what = part.fragment.what if part.fragment is not None else ""
        rows.append((part.name, f"[{part.column},{part.column + part.columns})", part.lane, what))
    facts = [("note", note) for note in plan.notes]
    fit = f"{counted(plan.ctas, 'CTA')} {'fits' if plan.ctas == 1 else 'fit'} an SM"
    alone = ", exclusively" * plan.exclusive
    head = f"allocate {counted(plan.allocate, 'column')}{alone}, {plan.used} of them used; {fit}"
    return "\n".join([head, *aligned(rows, indent=3), *aligned([*facts, ("known", plan.evidence)], indent=3)])


def record_columns(plan: ColumnPlan) -> dict[str, Any]:
    """The same as plain data.

    Law: text and data have the same columns.

    >>> from descriptors.tmem.columns import tmem_plan
    >>> made = tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3")
    >>> told = [line.split()[1] for line in tell_columns(made).splitlines()[2:5]]
    >>> told == [f"[{part['column']},{part['column'] + part['columns']})" for part in record_columns(made)["parts"]]
    True
    """
    return {
        **fields(plan, "used allocate"),
        "ctas_per_sm": plan.ctas,
        "exclusive": plan.exclusive,
        "parts": [
            {
                **fields(part, "name column columns lane"),
                "layout": None if part.fragment is None else str(part.fragment.layout),
                "evidence": None if part.fragment is None else part.fragment.evidence,
            }
            for part in plan.parts
        ],
        **fields(plan, "notes evidence"),
    }
