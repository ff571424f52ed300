"""Fragments as ``layoutalg atoms`` lists them, and one of them explained: text and data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from layoutalg.fragments.catalogue import FAMILIES, Family, family_of
from layoutalg.fragments.families import LANES, MMA_TYPES, WGMMA_TYPES
from layoutalg.fragments.fragment import Fragment

#: How the columns of a tile are called, by the operand; of the rest, columns.
_TILES = {"A": "M x K", "B": "N x K", "C": "M x N", "D": "M x N", "SFA": "M x K", "SFB": "N x K"}


def tell_families() -> str:
    """Every family for a person: names, tile, threads, what they hold, who checked it; the sources below.

    >>> print(tell_families().splitlines()[1])
      tile 64 x N, 128 threads; measured on Hopper; b1 is PTX's text [1]
    """
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    sources = list(dict.fromkeys(one.source for one in FAMILIES))
    for one in FAMILIES:
        yield one.form
        yield f"  tile {one.tile}, {one.threads} threads; {one.grade} [{sources.index(one.source) + 1}]"
        yield f"  {one.holds}"
    yield "Shapes and types"
    yield "  wgmma       N 8..256 step 8; " + "; ".join(f"k{k}: {types}" for k, types in WGMMA_TYPES.items())
    for shape, widths in MMA_TYPES.items():
        yield f"  mma.{shape:<10}  {' '.join(widths.values())}"
    yield "  tcgen05.ld  " + ", ".join(f"{shape}.x1..x{most}" for shape, most in LANES.items())
    yield "  ldmatrix    x1 (8x8), x2 (16x8), x4 (16x16), or the tile that is named: ldmatrix.x4.32x8"
    yield from (f"[{number}] {source}" for number, source in enumerate(sources, 1))


def record_families() -> list[dict[str, Any]]:
    """Every family as plain data."""
    return [_record(one) for one in FAMILIES]


def _record(one: Family) -> dict[str, Any]:
    return dict(zip(one.__match_args__, one.fields(), strict=True))


def tell_fragment(one: Fragment) -> str:
    """A fragment for a person: its layout, its tile, what it holds, where that is published.

    >>> from layoutalg.fragments.names import fragment
    >>> print(tell_fragment(fragment("mma.m16n8k16.C")).splitlines()[1])
    tile     16 x 8 (M x N); an index is row + 16 * column
    """
    family = family_of(one.name)
    tile = _TILES.get((one.name.split(".") + ["", ""])[2], "rows x columns")
    if one.name.startswith("tcgen05"):
        tile = "lanes x columns"
    rows = (
        f"{one.name}  {one.layout}",
        f"tile     {one.shape[0]} x {one.shape[1]} ({tile}); an index is row + {one.shape[0]} * column",
        f"threads  {one.threads}, {one.values} values each",
        f"holds    {family.holds}",
        f"source   {family.source}",
        f"grade    {family.grade}",
    )
    return "\n".join(rows)


def record_fragment(one: Fragment) -> dict[str, Any]:
    """A fragment as plain data."""
    told = {"name": one.name, "layout": str(one.layout), "tile": list(one.shape)}
    return told | {"threads": one.threads, "values": one.values, "family": _record(family_of(one.name))}
