"""Commands that analyze a layout: banks, sectors, GF(2) matrix, Triton's linear layout, smallest swizzle."""

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
    Each lane reads one row of a 64x64 tile of 2-byte elements, 16 bytes at a time:
    layoutalg banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
    The same with a swizzle:
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access "(32,8):(1,64)@16B,load" --element-bytes 2
    The whole tile with ldmatrix:
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access ldmatrix.x4 --element-bytes 2
    """
    tile = layout_of(layout, "banks")
    kinds = []
    for text in texts:
        pattern = access_of(text, tile, element_bytes, width, store, "banks")
        lanes = need_layout(pattern.lanes, "banks")
        transfers = accesses(tile, lanes, element_bytes, pattern.access_bytes, base=base, store=pattern.store)
        kinds.append((text, pattern.store, transfers))
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
        pattern = access_of(text, tile, element_bytes, width, store, "sectors")
        lanes = need_layout(pattern.lanes, "sectors")
        transfers = accesses(tile, lanes, element_bytes, pattern.access_bytes, base=base, store=pattern.store)
        kinds.append((text, transfers))
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


#: Number of accesses that a text lists; the text only counts the others.
_LISTED = 64


def tell_accesses(accesses: Sequence[Access], store: bool) -> str:
    """Return the text for accesses: the total, then the wavefronts of each access by phase.

    >>> from layoutalg import Layout, accesses
    >>> print(tell_accesses(accesses(Layout((8, 64), (64, 1)), Layout((8, 8), (1, 8)), 2, 16), store=False))
    1 load access of a warp: 8 wavefronts, 7 of them for bank conflicts
      warp 0, value 0: 8 = 8
    """
    return "\n".join(_access_lines(accesses, store))


def tell_served(served: Sequence[tuple[str, bool, Sequence[Access]]]) -> str:
    """Return the text for several kinds of accesses, each after the text that describes it unless it is the only one.

    Args:
        served: for each kind its description, whether it stores, and its accesses.
    """
    texts = [tell_accesses(accesses, store) for _, store, accesses in served]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{text}: {lines}" for (text, _, _), lines in zip(served, texts, strict=True))


def record_served(served: Sequence[tuple[str, bool, Sequence[Access]]]) -> dict[str, Any]:
    """Return several kinds of accesses as plain data: the totals, and the kind in each row."""
    totals = record_accesses([access for _, _, accesses in served for access in accesses])
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
    for access in accesses[:_LISTED]:
        phases = " + ".join(map(str, access.phase_wavefronts))
        yield f"  warp {access.warp}, value {access.value}: {phases} = {access.wavefronts}"
    if len(accesses) > _LISTED:
        yield f"  ... and {len(accesses) - _LISTED} more (--json lists all)"


def tell_sectors(kinds: Sequence[tuple[str, Sequence[Access]]]) -> str:
    """Return the text for the cost of accesses to global memory: a line for each kind, and one for each access.

    Args:
        kinds: for each kind its description and its accesses.

    >>> from layoutalg import Layout, accesses
    >>> by_row = accesses(Layout((64, 64), (64, 1)), Layout(((8, 4), 8), ((512, 1), 64)), 2, 16)
    >>> print(tell_sectors([("by row", by_row)]))
    1 access of a warp: 16 sectors of 32 bytes, of which 100 % are accessed
      warp 0, value 0: 16 sectors, 100 %
    """
    return "\n".join(
        line for text, accesses in kinds for line in _sector_lines(text if len(kinds) > 1 else "", accesses)
    )


def _sector_lines(text: str, accesses: Sequence[Access]) -> Iterator[str]:
    times = "access" if len(accesses) == 1 else "accesses"
    touched = sum(access.sectors for access in accesses)
    share = round(100 * sum(access.efficiency * access.sectors for access in accesses) / max(1, touched))
    head = f"{len(accesses)} {times} of a warp: {touched} sector{'s' * (touched != 1)} of 32 bytes"
    yield f"{text}{': ' * bool(text)}{head}, of which {share} % are accessed"
    for access in accesses[:_LISTED]:
        sectors = f"{access.sectors} sector{'s' * (access.sectors != 1)}"
        yield f"  warp {access.warp}, value {access.value}: {sectors}, {round(100 * access.efficiency)} %"
    if len(accesses) > _LISTED:
        yield f"  ... and {len(accesses) - _LISTED} more (--json lists all)"


def record_sectors(kinds: Sequence[tuple[str, Sequence[Access]]]) -> dict[str, Any]:
    """Return the cost of all accesses to global memory as plain data."""
    rows = [
        {"access": text, "warp": access.warp, "value": access.value, "addresses": access.addresses}
        | {"sectors": access.sectors, "efficiency": access.efficiency}
        for text, accesses in kinds
        for access in accesses
    ]
    return {"sectors": sum(row["sectors"] for row in rows), "accesses": rows}


def _totals(accesses: Sequence[Access]) -> tuple[int, int]:
    return sum(access.wavefronts for access in accesses), sum(access.conflicts for access in accesses)


def record_accesses(accesses: Sequence[Access]) -> dict[str, Any]:
    """Return accesses as plain data."""
    wavefronts, conflicts = _totals(accesses)
    names = ("warp", "value", "addresses", "phase_wavefronts")
    rows = [{name: getattr(access, name) for name in names} for access in accesses]
    return {"wavefronts": wavefronts, "conflicts": conflicts, "accesses": rows}


def tell_matrix(matrix: F2Matrix) -> str:
    """Return the text for a matrix over GF(2): the matrix, its rank, and how often each offset is reached.

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
    """Return a matrix over GF(2) as plain data."""
    return {"columns": matrix.columns, "rows": matrix.rows, "rank": matrix.rank()}


def tell_linear(linear: LinearLayout) -> str:
    """Return the text for a linear layout, in Triton's notation."""
    return str(linear)


def record_linear(linear: LinearLayout) -> dict[str, Any]:
    """Return a linear layout as plain data: its bases by dimension."""
    return dict(linear.triton_bases())


def tell_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> str:
    """Return the text for a swizzle: on byte addresses, on elements, and as a swizzle mode.

    Args:
        swizzle: the smallest swizzle that makes all accesses conflict-free.
        element_bytes: bytes of an element.
        modes: the swizzle modes that do so.

    >>> tell_swizzle(Swizzle(3, 4, 3), 2, ["128B"])
    'S<3,4,3> on byte addresses; S<3,3,3> on elements of 2 bytes; this is the 128B swizzle'
    """
    elements, mode = _on_elements(swizzle, element_bytes), swizzle_mode(swizzle)
    text = f"{swizzle} on byte addresses" + (f"; {elements} on elements of {element_bytes} bytes" if elements else "")
    if mode == "none":
        return f"{text}: no swizzle is needed"
    if mode:
        return f"{text}; this is the {mode} swizzle"
    usable = f"{' and '.join(modes)} would also be conflict-free" if modes else "no swizzle mode is conflict-free"
    return f"{text}; this is not a swizzle mode of descriptors; {usable}"


def record_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> dict[str, Any]:
    """Return a swizzle as plain data; ``elements`` is None if their size is not a power of 2."""
    fields = {"bytes": str(swizzle), "elements": _on_elements(swizzle, element_bytes)}
    return fields | {"mode": swizzle_mode(swizzle), "modes": list(modes)}


def _on_elements(swizzle: Swizzle, element_bytes: int) -> str | None:
    if element_bytes & (element_bytes - 1):
        return None
    return f"S<{swizzle.bits},{swizzle.base - (element_bytes.bit_length() - 1)},{swizzle.shift}>"


#: The commands that the group registers.
commands: list[click.Command] = [banks, f2, linear, find_swizzle, sectors]
