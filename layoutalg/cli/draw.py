"""The command ``layoutalg draw``, which draws a layout in the terminal or to an SVG, TikZ, text or HTML file."""

from __future__ import annotations

from typing import Any

import click

from layoutalg.cli.console import color_option, json_text, line_width, save_picture, say, wants_color
from layoutalg.cli.options import EXPRESSIONS, json_option, layout_of, source
from layoutalg.fragments.fragment_names import fragment, is_name
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import TiledMma
from layoutalg.layouts.modes import need_layout
from layoutalg.notation.expression import evaluate
from layoutalg.notation.printed import parse_encoding, parse_pointer
from layoutalg.pictures.layout_picture import draw
from layoutalg.pictures.quantities import COLOURS, LABELS


def extents(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[tuple[int, int]]:
    """Parse pairs of numbers such as ``8x64``."""
    blocks = []
    for value in values:
        rows, _, columns = value.partition("x")
        if not (rows.isdecimal() and columns.isdecimal()):
            raise click.BadParameter(f"{value[:40]!r} is not ROWSxCOLUMNS, such as 8x64")
        blocks.append((int(rows), int(columns)))
    return blocks


def _named_or_layout(text: str) -> Any:
    """Return the fragment of a name, the layout of a compiler's or CuTe's print, or the value of an expression."""
    if is_name(text):
        return fragment(text)
    encoding = parse_encoding(text)
    if encoding is not None:
        return encoding.fragment() if encoding.space == "rmem" else encoding.layout
    value = evaluate(text)
    return value if isinstance(value, (TiledCopy, TiledMma)) else need_layout(value, "draw")


@click.command("draw", context_settings=EXPRESSIONS)
@click.argument("layout")
@click.option(
    "--colour-by",
    "--color-by",
    "colour",
    type=click.Choice(COLOURS),
    help="Property that determines the color of a cell.  [default: offset]",
)
@click.option("--label", type=click.Choice(LABELS), help="Text of a cell.  [default: offset]")
@click.option("--element-bytes", type=int, metavar="BYTES", help="Bytes per element; required for banks.")
@click.option("--access", metavar="LAYOUT", help="(threads, values) to an index of LAYOUT, or the name of a fragment.")
@click.option("--before", metavar="LAYOUT", help="Layout to draw first, with each cell in its color in LAYOUT.")
@click.option(
    "--level",
    "levels",
    multiple=True,
    callback=extents,
    metavar="RxC",
    help="Block to frame, for example 8x64; up to three.",
)
@click.option("--title", default="", metavar="TEXT", help="Title of the picture.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: .svg, .tex, .txt or .html; - writes SVG to standard output. An existing file is replaced only "
    "if this program wrote it; a .txt file, only with the same content.",
)
@json_option("Print the content of the picture as JSON.")
@color_option
def draw_(
    layout: str,
    colour: str | None,
    label: str | None,
    element_bytes: int | None,
    access: str | None,
    before: str | None,
    levels: list[tuple[int, int]],
    title: str,
    output: str | None,
    as_json: bool,
) -> None:
    """Draw LAYOUT in the terminal, or to a file with -o.

    Mode 0 runs down, mode 1 across; each slice of further modes is a table. LAYOUT is a layout, any expression that
    gives one, or the name of a fragment (`layoutalg atoms`). - reads it from standard input.

    \b
    layoutalg draw "S<3,3,3> o 0 o (8,64):(64,1)" --colour-by bank --element-bytes 2 -o atom.svg
    layoutalg draw "flat_divide((8,16):(16,1), (4,8))" --before "(8,16):(16,1)" -o tiles.html
    layoutalg draw mma.m16n8k16.C -o accumulator.tex
    """
    text = source(layout)
    if element_bytes is None and colour == "bank" and (pointer := parse_pointer(text)) and pointer.bits % 8 == 0:
        element_bytes = pointer.bits // 8
    picture = draw(
        _named_or_layout(text),
        colour,
        label,
        element_bytes=element_bytes,
        thread_values=None if access is None else _named_or_layout(access),
        before=None if before is None else layout_of(before, "draw"),
        levels=levels or None,
        title=title,
    )
    if output is not None:
        say(save_picture(picture, output, as_json=as_json))
    elif as_json:
        say(json_text(picture.record()))
    else:
        say(picture.text(color=wants_color(), width=line_width(), max_rows=64, max_columns=256))


#: The commands that the group registers.
commands: list[click.Command] = [draw_]
