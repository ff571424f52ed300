"""Commands that analyse a layout: bank wavefronts, its matrix over GF(2), Triton's form, the swizzle that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from layoutalg.analysis.banks import Access, accesses
from layoutalg.analysis.f2_layouts import to_f2
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.linear_layout import LinearLayout, to_linear_layout
from layoutalg.analysis.swizzle_search import find_swizzle as find
from layoutalg.analysis.swizzle_search import modes_that_free, swizzle_mode
from layoutalg.cli import analysis
from layoutalg.cli.console import json_text, say
from layoutalg.cli.options import EXPRESSIONS, access_of, access_options, dimensions, json_option, layout_of
from layoutalg.layouts.modes import need_layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.expression import evaluate


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@access_options
@click.option("--base", type=int, default=0, metavar="ADDRESS", help="Byte address of offset 0.")
@json_option("Print all accesses as JSON.")
def banks(
    layout: str, texts: tuple[str, ...], element_bytes: int, width: int | None, store: bool, base: int, as_json: bool
) -> None:
    """Count the shared-memory wavefronts of an access to the tile LAYOUT.

    \b
    Each lane reads one row of a 64x64 tile of 2-byte elements, 16 bytes at a time; the same with a swizzle; the whole
    tile with ldmatrix:
    layoutalg banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access "(32,8):(1,64)@16B,load" --element-bytes 2
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access ldmatrix.x4 --element-bytes 2
    """
    tile = layout_of(layout, "banks")
    kinds = []
    for text in texts:
        one = access_of(text, tile, element_bytes, width, store, "banks")
        transfers = accesses(
            tile, need_layout(one.lanes, "banks"), element_bytes, one.access_bytes, base=base, store=one.store
        )
        kinds.append((text, one.store, transfers))
    say(json_text(analysis.record_served(kinds)) if as_json else analysis.tell_served(kinds))


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@access_options
@click.option("--base", type=int, default=0, metavar="ADDRESS", help="Byte address of offset 0.")
@json_option("Print all accesses as JSON.")
def sectors(
    layout: str, texts: tuple[str, ...], element_bytes: int, width: int | None, store: bool, base: int, as_json: bool
) -> None:
    """Count the global-memory sectors (32 bytes) of an access to LAYOUT.

    \b
    Each lane reads 16 bytes, eight lanes per row of 64 2-byte elements; then one row per lane:
    layoutalg sectors "(64,64):(64,1)" --access "((8,4),8):((512,1),64)@16B" --element-bytes 2
    layoutalg sectors "(64,64):(64,1)" --access "(32,8):(1,64)@16B" --element-bytes 2
    """
    tile = layout_of(layout, "sectors")
    kinds = []
    for text in texts:
        one = access_of(text, tile, element_bytes, width, store, "sectors")
        lanes = need_layout(one.lanes, "sectors")
        kinds.append((text, accesses(tile, lanes, element_bytes, one.access_bytes, base=base, store=one.store)))
    say(json_text(analysis.record_sectors(kinds)) if as_json else analysis.tell_sectors(kinds))


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@json_option("Print the columns of the matrix as JSON.")
def f2(layout: str, as_json: bool) -> None:
    """Print LAYOUT as a matrix over GF(2), which maps the bits of the index to the bits of the offset.

    \b
    layoutalg f2 "S<2,1,2> o 0 o (4,8):(8,1)"
    """
    matrix = to_f2(evaluate(layout))
    say(json_text(analysis.record_matrix(matrix)) if as_json else analysis.tell_matrix(matrix))


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@click.option(
    "--in",
    "in_dims",
    required=True,
    metavar="NAMES",
    help="A name for each mode (lane,register), or names with sizes (lane=32,register=8).",
)
@click.option(
    "--out", "out_dims", metavar="NAMES", help="Dimensions of the offset: names with sizes (dim0=64,dim1=64)."
)
@click.option("--invert", is_flag=True, help="Map offsets to coordinates, as Triton does for shared memory.")
@json_option("Print the bases as JSON.")
def linear(layout: str, in_dims: str, out_dims: str | None, invert: bool, as_json: bool) -> None:
    """Convert LAYOUT to Triton's linear layout: the bases of each named dimension.

    \b
    layoutalg linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --out dim0=4,dim1=4
    """
    bases = to_linear_layout(layout_of(layout, "linear"), dimensions(in_dims), dimensions(out_dims or "") or ())
    bases = bases.invert() if invert else bases
    say(json_text(analysis.record_linear(bases)) if as_json else analysis.tell_linear(bases))


@click.command("find-swizzle", context_settings=EXPRESSIONS)
@click.argument("layout")
@access_options
@json_option("Print the swizzle as JSON.")
def find_swizzle(
    layout: str, texts: tuple[str, ...], element_bytes: int, width: int | None, store: bool, as_json: bool
) -> None:
    """Find the smallest swizzle that makes the accesses to the tile LAYOUT conflict-free.

    \b
    Eight lanes read 16 bytes each from one column of 8 rows of 64 2-byte elements; then a tile that ldmatrix reads and
    that each thread fills with 8 elements of a row:
    layoutalg find-swizzle "(8,64):(64,1)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16
    layoutalg find-swizzle "(64,64):(64,1)" --access ldmatrix.x4 --access "((8,16),8):((512,1),64)@16B,store" \\
        --element-bytes 2
    """
    tile = layout_of(layout, "find-swizzle")
    patterns = [access_of(text, tile, element_bytes, width, store, "find-swizzle") for text in texts]
    swizzle = find(tile, patterns, element_bytes)
    modes = modes_that_free(tile, patterns, element_bytes)
    answer = (swizzle, element_bytes, modes)
    say(json_text(analysis.record_swizzle(*answer)) if as_json else analysis.tell_swizzle(*answer))


#: Accesses that are listed; the others are counted.
_LISTED = 64


def tell_accesses(accesses: Sequence[Access], store: bool) -> str:
    """Accesses for a person: the total, then the wavefronts of each access, phase by phase.

    >>> from layoutalg import Layout, accesses
    >>> print(tell_accesses(accesses(Layout((8, 64), (64, 1)), Layout((8, 8), (1, 8)), 2, 16), store=False))
    1 load access of a warp: 8 wavefronts, 7 of them for bank conflicts
      warp 0, value 0: 8 = 8
    """
    return "\n".join(_access_lines(accesses, store))


def tell_served(served: Sequence[tuple[str, bool, Sequence[Access]]]) -> str:
    """Several kinds of accesses for a person, each under what it was called by; one kind is told alone.

    Args:
        served: for each kind how it was written, whether it stores, and its accesses.
    """
    texts = [tell_accesses(accesses, store) for _, store, accesses in served]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{text}: {lines}" for (text, _, _), lines in zip(served, texts, strict=True))


def record_served(served: Sequence[tuple[str, bool, Sequence[Access]]]) -> dict[str, Any]:
    """Several kinds of accesses as plain data: the totals of all, and in each row which kind it is of."""
    totals = record_accesses([one for _, _, accesses in served for one in accesses])
    kinds = [(text, store) for text, store, accesses in served for _ in accesses]
    rows = [
        row | {"access": text, "store": store} for row, (text, store) in zip(totals["accesses"], kinds, strict=True)
    ]
    return totals | {"accesses": rows}


def _access_lines(accesses: Sequence[Access], store: bool) -> Iterator[str]:
    kind, times = "store" if store else "load", "access" if len(accesses) == 1 else "accesses"
    total, conflicts = _totals(accesses)
    waves = "wavefront" if total == 1 else "wavefronts"
    yield f"{len(accesses)} {kind} {times} of a warp: {total} {waves}, {conflicts} of them for bank conflicts"
    for one in accesses[:_LISTED]:
        phases = " + ".join(map(str, one.phase_wavefronts))
        yield f"  warp {one.warp}, value {one.value}: {phases} = {one.wavefronts}"
    if len(accesses) > _LISTED:
        yield f"  ... and {len(accesses) - _LISTED} more (--json has them all)"


def tell_sectors(kinds: Sequence[tuple[str, Sequence[Access]]]) -> str:
    """What accesses cost in global memory for a person, a line for each kind of access and one for each access.

    Args:
        kinds: how each was written, and its accesses.

    >>> from layoutalg import Layout, accesses
    >>> by_row = accesses(Layout((64, 64), (64, 1)), Layout(((8, 4), 8), ((512, 1), 64)), 2, 16)
    >>> print(tell_sectors([("by row", by_row)]))
    1 access of a warp: 16 sectors of 32 bytes, of which 100 % are accessed
      warp 0, value 0: 16 sectors, 100 %
    """
    return "\n".join(line for text, found in kinds for line in _sector_lines(text if len(kinds) > 1 else "", found))


def _sector_lines(text: str, found: Sequence[Access]) -> Iterator[str]:
    times = "access" if len(found) == 1 else "accesses"
    touched = sum(one.sectors for one in found)
    share = round(100 * sum(one.efficiency * one.sectors for one in found) / max(1, touched))
    head = f"{len(found)} {times} of a warp: {touched} sector{'s' * (touched != 1)} of 32 bytes"
    yield f"{text}{': ' * bool(text)}{head}, of which {share} % are accessed"
    for one in found[:_LISTED]:
        sectors = f"{one.sectors} sector{'s' * (one.sectors != 1)}"
        yield f"  warp {one.warp}, value {one.value}: {sectors}, {round(100 * one.efficiency)} %"
    if len(found) > _LISTED:
        yield f"  ... and {len(found) - _LISTED} more (--json has them all)"


def record_sectors(kinds: Sequence[tuple[str, Sequence[Access]]]) -> dict[str, Any]:
    """The same as plain data, all accesses."""
    rows = [
        {"access": text, "warp": one.warp, "value": one.value, "addresses": one.addresses}
        | {"sectors": one.sectors, "efficiency": one.efficiency}
        for text, found in kinds
        for one in found
    ]
    return {"sectors": sum(one.sectors for _, found in kinds for one in found), "accesses": rows}


def _totals(accesses: Sequence[Access]) -> tuple[int, int]:
    return sum(one.wavefronts for one in accesses), sum(one.conflicts for one in accesses)


def record_accesses(accesses: Sequence[Access]) -> dict[str, Any]:
    """Accesses as plain data, all of them."""
    wavefronts, conflicts = _totals(accesses)
    rows = [
        {"warp": one.warp, "value": one.value, "addresses": one.addresses, "phase_wavefronts": one.phase_wavefronts}
        for one in accesses
    ]
    return {"wavefronts": wavefronts, "conflicts": conflicts, "accesses": rows}


def tell_matrix(matrix: F2Matrix) -> str:
    """A matrix over GF(2) for a person, and how often each value is reached.

    >>> print(tell_matrix(F2Matrix((1, 2, 2))))
    1 . .
    . 1 1
    2 bits of the offset from 3 bits of the index, lowest first; rank 2: each offset is reached 2 times
    """
    columns, rank = len(matrix.columns), matrix.rank()
    share = "injective" if rank == columns else f"each offset is reached {1 << columns - rank} times"
    sizes = f"{matrix.rows} bits of the offset from {columns} bits of the index, lowest first"
    return f"{matrix}\n{sizes}; rank {rank}: {share}"


def record_matrix(matrix: F2Matrix) -> dict[str, Any]:
    """A matrix over GF(2) as plain data."""
    return {"columns": matrix.columns, "rows": matrix.rows, "rank": matrix.rank()}


def tell_linear(linear: LinearLayout) -> str:
    """A linear layout for a person, as Triton prints it."""
    return str(linear)


def record_linear(linear: LinearLayout) -> dict[str, Any]:
    """A linear layout as plain data: its bases by the names of the dimensions."""
    return dict(linear.triton_bases())


def tell_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> str:
    """A swizzle on byte addresses for a person, what it is on elements, and which mode of tensor cores.

    Args:
        swizzle: the smallest that frees all accesses.
        element_bytes: bytes of an element.
        modes: the modes that free them too.

    >>> tell_swizzle(Swizzle(3, 4, 3), 2, ["128B"])
    'S<3,4,3> on byte addresses; S<3,3,3> on elements of 2 bytes; this is 128B'
    """
    elements, mode = _on_elements(swizzle, element_bytes), swizzle_mode(swizzle)
    text = f"{swizzle} on byte addresses" + (f"; {elements} on elements of {element_bytes} bytes" if elements else "")
    if mode == "none":
        return f"{text}: none is needed"
    if mode:
        return f"{text}; this is {mode}"
    return f"{text}; this is no mode of tensor cores, {' and '.join(modes) or 'none of which'} would do"


def record_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> dict[str, Any]:
    """A swizzle on byte addresses as plain data; no ``elements`` where their size is no power of 2."""
    fields = {"bytes": str(swizzle), "elements": _on_elements(swizzle, element_bytes)}
    return fields | {"mode": swizzle_mode(swizzle), "modes": list(modes)}


def _on_elements(swizzle: Swizzle, element_bytes: int) -> str | None:
    if element_bytes & (element_bytes - 1):
        return None
    return f"S<{swizzle.bits},{swizzle.base - (element_bytes.bit_length() - 1)},{swizzle.shift}>"


#: The commands that the group registers.
commands: list[click.Command] = [banks, f2, linear, find_swizzle, sectors]
