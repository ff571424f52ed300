"""A search, told to a person and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from descriptors.sweeps.finding import Finding, Refusal, Survey


#: Refused candidates that are listed, and characters of their reasons, unless all are asked for.
_REFUSALS = 4
_REASON = 100


def _answer(value: object) -> str:
    """``-`` for no answer, yes or no, or the number."""
    return "-" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _orders(entry: Finding | Refusal) -> str:
    """``0,1``, or ``any`` where both orders come to the same."""
    return "any" if len(entry.orders) > 1 else ",".join(map(str, entry.orders[0]))


#: Headings of the table and what stands below them.
_TABLE: dict[str, Callable[[Any], str]] = {
    "major": lambda one: str(one.major),
    "swizzle": lambda one: str(one.swizzle),
    "order": _orders,
    "boxes": lambda one: _answer(one.boxes),
    "wavefronts": lambda one: _answer(one.wavefronts),
    "conflicts": lambda one: _answer(one.conflicts),
    "store": lambda one: _answer(one.store_bytes),
    "align": lambda one: _answer(one.alignment_bytes),
    "padding": lambda one: _answer(one.padding_bytes),
    "slack": lambda one: _answer(one.slack_bytes),
    "waste": lambda one: _answer(one.waste_bytes),
    "total": lambda one: _answer(one.total_bytes),
    "fits": lambda one: _answer(one.fits),
    "carries": lambda one: _answer(one.carries),
    "word": lambda one: f"{one.word:#018x}",
}


def table(findings: Sequence[Finding]) -> list[str]:
    """The lines of the table: a number, then a column for each heading.

    >>> from descriptors.sweeps.search import search
    >>> for line in table(search(tile=(64, 16), dtype="bf16", mma=(64, 16), major="K")):
    ...     print(line[:43])
    #  major  swizzle  order  boxes  wavefronts
    1      K      32B    any      1          16
    2      K     none    0,1      2          32
    3      K     none    1,0     16          32
    """
    rows = [["#", *_TABLE]]
    rows += [[str(i), *(show(one) for show in _TABLE.values())] for i, one in enumerate(findings, 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def as_record(found: Survey, given: dict[str, Any], top: int | None) -> dict[str, Any]:
    """A search as plain data."""
    from descriptors.sweeps.finding import COLUMNS

    return {
        "request": given,
        "sorted_by": list(found.key),
        "columns": dict(COLUMNS),
        "found": len(found.findings),
        "findings": [one.record() for one in found.findings[:top]],
        "refused": [
            {"major": str(one.major), "swizzle": str(one.swizzle), "orders": one.orders, "reason": one.reason}
            for one in found.refusals
        ],
    }


def lines(found: Survey, given: dict[str, Any], top: int | None, every: bool) -> list[str]:
    """The whole answer: request, table, the best one's command, the columns, and what was refused."""
    tile, mma = ("x".join(map(str, given[name])) for name in ("tile", "mma"))
    stages = f"{given['stages']} stage{'s' if given['stages'] > 1 else ''}"
    lines = [
        f"{given['dtype']} tile {tile}, {stages}, mma {mma}, {given['arch']}, producer {given['producer']}, "
        f"{given['smem']} bytes of shared memory",
        "",
    ]
    shown = found.findings[:top]
    if shown:
        lines += [*table(shown), ""]
        if len(shown) < len(found.findings):
            lines += [f"the best {len(shown)} of {len(found.findings)}", ""]
        lines += ["every one proved; the first again, with all its steps:", f"  {shown[0].command}", ""]
        lines += _legend(found)
    else:
        uneven = not given["pad"] and any(": tile extent" in one.reason for one in found.refusals)
        lines += ["nothing found" + ("; --pad would round the tile up to whole atoms and operands" if uneven else "")]
    return lines + _refused(found, every)


def _legend(found: Survey) -> list[str]:
    from descriptors.sweeps.finding import COLUMNS

    key = ", ".join(name.removesuffix("_bytes") for name in found.key)
    width = max(len(name.removesuffix("_bytes")) for name in COLUMNS)
    headings = {"alignment_bytes": "align"}
    return [
        f"sorted by {key}; the columns, all memory in bytes:",
        f"  {'order':<{width}}  stacking order of the atoms: 0,1 along MN first; 1,0 along K first; any: the same",
        *(f"  {headings.get(name, name.removesuffix('_bytes')):<{width}}  {text}" for name, text in COLUMNS.items()),
        *sorted({f"  no boxes: {_short(one.plan_refused)}" for one in found.findings if one.plan_refused}),
        *sorted({f"  no stores: {one.stores_refused}" for one in found.findings if one.stores_refused}),
    ]


def _short(reason: str) -> str:
    return reason if len(reason) <= _REASON else f"{reason[: _REASON - 3]}..."


def _refused(found: Survey, every: bool) -> list[str]:
    if not found.refusals:
        return []
    shown = found.refusals if every or not found.findings else found.refusals[:_REFUSALS]
    lines = ["", f"refused: {sum(len(one.orders) for one in found.refusals)} candidates"]
    for one in shown:
        reason = one.reason if every else _short(one.reason)
        lines.append(f"  {one.major!s:>2}  {one.swizzle!s:<12}  {_orders(one):<3}  {reason}")
    if len(shown) < len(found.refusals):
        lines.append(f"  and {len(found.refusals) - len(shown)} more (--all)")
    return lines
