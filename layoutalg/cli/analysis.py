"""Commands that analyse a layout: bank wavefronts, its matrix over GF(2), Triton's form, the swizzle that it needs."""

from __future__ import annotations

import json
from typing import Any

import click

_EXPRESSIONS = {"ignore_unknown_options": True}


def _layout(text: str, what: str) -> Any:
    from layoutalg.layouts.modes import need_layout
    from layoutalg.layouts.notation import parse_layout

    return need_layout(parse_layout(text), what)


@click.command(context_settings=_EXPRESSIONS)
@click.argument("layout")
@click.option("--access", "threads", required=True, metavar="TV", help="(threads, values) -> index into LAYOUT.")
@click.option("--element-bytes", type=int, required=True, help="Bytes of an element of LAYOUT.")
@click.option("--bytes", "width", type=int, help="Bytes that a lane moves at once.  [default: one element]")
@click.option("--store", is_flag=True, help="The access is a store.  [default: a load]")
@click.option("--base", type=int, default=0, help="Byte address of offset 0.")
@click.option("--json", "as_json", is_flag=True, help="Write every access as JSON.")
def banks(
    layout: str, threads: str, element_bytes: int, width: int | None, store: bool, base: int, as_json: bool
) -> None:
    """Count the wavefronts that shared memory needs when threads move their values of the tile LAYOUT.

    \b
    A row of a 64x64 tile of 2-byte elements for each lane, 16 bytes at a time; then the same with a swizzle:
    layoutalg banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
    """
    from layoutalg.analysis.warp_accesses import accesses

    found = accesses(_layout(layout, "banks"), _layout(threads, "banks"), element_bytes, width, base=base, store=store)
    total, conflicts = sum(one.wavefronts for one in found), sum(one.conflicts for one in found)
    if as_json:
        rows = [
            {"warp": one.warp, "value": one.value, "addresses": one.addresses, "phase_wavefronts": one.phase_wavefronts}
            for one in found
        ]
        click.echo(json.dumps({"wavefronts": total, "conflicts": conflicts, "accesses": rows}))
        return
    kind, times = "store" if store else "load", "access" if len(found) == 1 else "accesses"
    click.echo(f"{len(found)} {kind} {times} of a warp: {total} wavefronts, {conflicts} of them for bank conflicts")
    for one in found[:64]:
        phases = " + ".join(map(str, one.phase_wavefronts))
        click.echo(f"  warp {one.warp}, value {one.value}: {phases} = {one.wavefronts}")
    if len(found) > 64:
        click.echo(f"  ... and {len(found) - 64} more (--json has them all)")


@click.command(context_settings=_EXPRESSIONS)
@click.argument("layout")
@click.option("--json", "as_json", is_flag=True, help="Write the columns of the matrix as JSON.")
def f2(layout: str, as_json: bool) -> None:
    """Show LAYOUT as a matrix over GF(2): which bit of the index goes to which bits of the offset.

    \b
    layoutalg f2 "S<2,1,2> o 0 o (4,8):(8,1)"
    """
    from layoutalg.analysis.to_f2 import to_f2
    from layoutalg.layouts.notation import parse_layout

    matrix = to_f2(parse_layout(layout))
    columns, rank = len(matrix.columns), matrix.rank()
    if as_json:
        click.echo(json.dumps({"columns": matrix.columns, "rows": matrix.rows, "rank": rank}))
        return
    click.echo(str(matrix))
    click.echo(
        f"{matrix.rows} bits of the offset from {columns} bits of the index, lowest first; rank {rank}: ", nl=False
    )
    click.echo("injective" if rank == columns else f"each offset is reached {1 << columns - rank} times")


@click.command(context_settings=_EXPRESSIONS)
@click.argument("layout")
@click.option(
    "--in", "in_dims", required=True, help="A name for each mode: lane,register; or sizes: lane=32,register=8."
)
@click.option("--out", "out_dims", help="Names with sizes that the offset is split into: dim0=64,dim1=64.")
@click.option("--invert", is_flag=True, help="From offsets to coordinates: how Triton writes shared memory.")
@click.option("--json", "as_json", is_flag=True, help="Write the bases as JSON.")
def linear(layout: str, in_dims: str, out_dims: str | None, invert: bool, as_json: bool) -> None:
    """Write LAYOUT as the linear layout that Triton uses: bases for each named dimension.

    \b
    layoutalg linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --out dim0=4,dim1=4
    """
    from layoutalg.analysis.triton import to_linear_layout

    found = to_linear_layout(_layout(layout, "linear"), _dimensions(in_dims), _dimensions(out_dims or "") or ())
    found = found.invert() if invert else found
    click.echo(json.dumps(dict(found.triton_bases())) if as_json else str(found))


def _dimensions(text: str) -> Any:
    """Names, or names with sizes, from ``a,b`` or ``a=4,b=8``."""
    parts = [part.partition("=") for part in text.split(",") if part]
    if not any(sign for _, sign, _ in parts):
        return [name for name, _, _ in parts]
    try:
        return {name: int(number) for name, _, number in parts}
    except ValueError:
        raise click.BadParameter(f"sizes must be integers, as in lane=32,register=8, found {text!r}") from None


@click.command("find-swizzle", context_settings=_EXPRESSIONS)
@click.argument("layout")
@click.option("--access", "threads", required=True, multiple=True, metavar="TV", help="An access; give it for each.")
@click.option("--element-bytes", type=int, required=True, help="Bytes of an element of LAYOUT.")
@click.option("--bytes", "width", type=int, help="Bytes that a lane moves at once.  [default: one element]")
@click.option("--store", is_flag=True, help="The accesses are stores.  [default: loads]")
@click.option("--json", "as_json", is_flag=True, help="Write the swizzle as JSON.")
def find_swizzle(
    layout: str, threads: tuple[str, ...], element_bytes: int, width: int | None, store: bool, as_json: bool
) -> None:
    """Find the smallest swizzle with which the accesses to the tile LAYOUT have no bank conflict.

    \b
    Eight lanes read 16 bytes each, down a column of 8 rows of 64 2-byte elements:
    layoutalg find-swizzle "(8,64):(64,1)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16
    """
    from layoutalg.analysis.swizzle_search import find_swizzle as find

    patterns = [_layout(text, "find-swizzle") for text in threads]
    found = find(_layout(layout, "find-swizzle"), patterns, element_bytes, width, store=store)
    base = found.base - (element_bytes.bit_length() - 1)
    in_elements = f"S<{found.bits},{base},{found.shift}>" if not element_bytes & (element_bytes - 1) else None
    if as_json:
        click.echo(json.dumps({"bytes": str(found), "elements": in_elements}))
        return
    click.echo(
        f"{found} on byte addresses" + (f"; {in_elements} on elements of {element_bytes} bytes" if in_elements else "")
    )


commands: list[click.Command] = [banks, f2, linear, find_swizzle]
