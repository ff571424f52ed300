"""Commands that analyse a layout: bank wavefronts, its matrix over GF(2), Triton's form, the swizzle that it needs."""

from __future__ import annotations

import click

from layoutalg.analysis.banks import accesses
from layoutalg.analysis.f2_layouts import to_f2
from layoutalg.analysis.linear_layout import to_linear_layout
from layoutalg.analysis.swizzle_search import find_swizzle as find
from layoutalg.analysis.swizzle_search import modes_that_free
from layoutalg.cli import analyses
from layoutalg.cli.console import json_text, say
from layoutalg.cli.options import EXPRESSIONS, access_of, access_options, dimensions, json_option, layout_of
from layoutalg.layouts.modes import need_layout
from layoutalg.notation.expression import evaluate


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@access_options
@click.option("--base", type=int, default=0, help="Byte address of offset 0.")
@json_option("Write every access as JSON.")
def banks(
    layout: str, given: tuple[str, ...], element_bytes: int, width: int | None, store: bool, base: int, as_json: bool
) -> None:
    """Count the wavefronts that shared memory needs when threads move their values of the tile LAYOUT.

    \b
    A row of a 64x64 tile of 2-byte elements for each lane, 16 bytes at a time; then the same with a swizzle; then all
    of the tile by ldmatrix:
    layoutalg banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access "(32,8):(1,64)@16B,load" --element-bytes 2
    layoutalg banks "S<3,3,3> o 0 o (64,64):(64,1)" --access ldmatrix.x4 --element-bytes 2
    """
    tile = layout_of(layout, "banks")
    found = []
    for text in given:
        one = access_of(text, tile, element_bytes, width, store, "banks")
        served = accesses(
            tile, need_layout(one.lanes, "banks"), element_bytes, one.access_bytes, base=base, store=one.store
        )
        found.append((text, one.store, served))
    say(json_text(analyses.record_served(found)) if as_json else analyses.tell_served(found))


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@json_option("Write the columns of the matrix as JSON.")
def f2(layout: str, as_json: bool) -> None:
    """Show LAYOUT as a matrix over GF(2): which bit of the index goes to which bits of the offset.

    \b
    layoutalg f2 "S<2,1,2> o 0 o (4,8):(8,1)"
    """
    found = to_f2(evaluate(layout))
    say(json_text(analyses.record_matrix(found)) if as_json else analyses.tell_matrix(found))


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@click.option(
    "--in", "in_dims", required=True, help="A name for each mode: lane,register; or sizes: lane=32,register=8."
)
@click.option("--out", "out_dims", help="Names with sizes that the offset is split into: dim0=64,dim1=64.")
@click.option("--invert", is_flag=True, help="From offsets to coordinates: how Triton writes shared memory.")
@json_option("Write the bases as JSON.")
def linear(layout: str, in_dims: str, out_dims: str | None, invert: bool, as_json: bool) -> None:
    """Write LAYOUT as the linear layout that Triton uses: bases for each named dimension.

    \b
    layoutalg linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --out dim0=4,dim1=4
    """
    found = to_linear_layout(layout_of(layout, "linear"), dimensions(in_dims), dimensions(out_dims or "") or ())
    found = found.invert() if invert else found
    say(json_text(analyses.record_linear(found)) if as_json else analyses.tell_linear(found))


@click.command("find-swizzle", context_settings=EXPRESSIONS)
@click.argument("layout")
@access_options
@json_option("Write the swizzle as JSON.")
def find_swizzle(
    layout: str, given: tuple[str, ...], element_bytes: int, width: int | None, store: bool, as_json: bool
) -> None:
    """Find the smallest swizzle with which the accesses to the tile LAYOUT have no bank conflict.

    \b
    Eight lanes read 16 bytes each, down a column of 8 rows of 64 2-byte elements; then a tile that ldmatrix reads and
    that each thread fills with 8 elements of a row:
    layoutalg find-swizzle "(8,64):(64,1)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16
    layoutalg find-swizzle "(64,64):(64,1)" --access ldmatrix.x4 --access "((8,16),8):((512,1),64)@16B,store" \\
        --element-bytes 2
    """
    tile = layout_of(layout, "find-swizzle")
    patterns = [access_of(text, tile, element_bytes, width, store, "find-swizzle") for text in given]
    found = find(tile, patterns, element_bytes)
    modes = modes_that_free(tile, patterns, element_bytes)
    answer = (found, element_bytes, modes)
    say(json_text(analyses.record_swizzle(*answer)) if as_json else analyses.tell_swizzle(*answer))


#: The commands that the group registers.
commands: list[click.Command] = [banks, f2, linear, find_swizzle]
