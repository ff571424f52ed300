"""The command ``descriptors draw``: draw a tile, its parts and its descriptors in the terminal or to files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from descriptors.cli.derive import base_address, derive, tile_of
from descriptors.cli.options import Guide, dtype_option, json_option, need
from descriptors.cli.terminal import for_terminal, note, noted, take_assumption
from descriptors.cli.tma import filled_tile
from descriptors.cli.values import address, elsewhere, numbers
from descriptors.cli.values import word as read_word
from descriptors.cli.words import check_base
from descriptors.errors import DescriptorError, NotCanonicalError
from descriptors.show.browser.folder import write
from descriptors.show.pictures.kinds import KINDS, Gallery, picture
from descriptors.show.pictures.tile_picture import COLOURS
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.diff import diff
from descriptors.smem.derivation.arguments import names
from descriptors.smem.operands.operand import SwizzleMode, as_element_type, as_swizzle_mode
from descriptors.text import known_record
from layoutalg import Picture, Swizzle, evaluate
from layoutalg import draw as plain_picture
from layoutalg.cli.console import json_text, line_width, printable, save_picture, say, wants_color
from layoutalg.messages import Message

#: What can be drawn; two of them of a word.
NAMES = (*KINDS, "diff", "all")

#: The options of pictures besides the operand, with the pictures that support them.
_TAKEN = {
    "colour": ("tile",),
    "stage": ("levels", "tile", "atoms", "chunks", "advance", "banks", "word", "boxes", "all"),
    "subtile": ("levels", "chunks", "banks", "word", "diff", "all"),
    "access": ("banks",),
    "access_bytes": ("banks",),
    "number": ("banks",),
}


class _What(click.Choice[str]):
    """The name of a picture; a descriptor in its place is refused with the correct command."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; refuse a descriptor with the correct command."""
        if re.fullmatch("0x[0-9a-fA-F]+", str(value)):
            raise click.UsageError(f"{value} is a descriptor; use `descriptors draw word {value}`", ctx)
        return super().convert(value, param, ctx)


def _word(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the descriptor to draw; refuse a value of ``--color-by`` that was typed after ``--color``."""
    if text in COLOURS:
        raise click.UsageError(
            f"--color takes no value; use --color-by {text} to choose what the color of a cell means"
        )
    if text is not None and elsewhere(text).endswith("a layout"):
        raise click.UsageError(f"{text!r} is a layout; use --layout {text!r}")
    return read_word(context, parameter, text)


#: The arguments and options of the command that are not added by decorators.
_PARAMETERS: list[click.Parameter] = [
    click.Argument(["what"], type=_What(NAMES), metavar="WHAT"),
    click.Argument(["word"], required=False, callback=_word),
    *(row for row in derive.params if row.name in names() and row.name != "dtype"),
]


@click.command("draw", cls=Guide, params=_PARAMETERS)
@dtype_option(required=False)
@click.option(
    "--colour-by",
    "--color-by",
    "colour",
    metavar="PROPERTY",
    help="tile: color by order, bank, atom, subtile or chunk.  [default: order]",
)
@click.option("--stage", type=int, metavar="N", help="Stage of the tile to draw.  [default: 0]")
@click.option(
    "--subtile",
    metavar="MN,K",
    callback=numbers(","),
    help="Subtile to enlarge, or whose descriptor to draw.  [default: 0,0]",
)
@click.option(
    "--access",
    metavar="LAYOUT",
    help="banks: layout from (threads, values) to an index of the tile.  [default: the rows of a chunk]",
)
@click.option(
    "--access-bytes",
    type=int,
    metavar="BYTES",
    help="banks: bytes that one thread of --access moves at once.  [default: 16]",
)
@click.option("--number", type=int, metavar="N", help="banks: index of the access to draw.  [default: 0]")
@click.option(
    "--pattern-start",
    metavar="ADDRESS",
    callback=address,
    help="diff: address where the swizzle pattern starts, in bytes.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: .svg, .tex, .txt or .html; - is SVG on standard output; for `all`, a folder. An existing file "
    "is replaced only if this program wrote it; a .txt file, only with the same content.",
)
@json_option("Print the numbers of the picture as JSON.")
def draw(what: str, word: int | None, output: str | None, as_json: bool, **operand: Any) -> None:
    """Draw a tile or a descriptor in the terminal, or to a file with -o.

    \b
    levels   the four levels: tile, atom, subtile, chunk      chunks   one subtile's chunks, LBO and SBO as arrows
    tile     16-byte chunks, colored by --color-by            advance  start of each subtile, and the steps
    atoms    the atoms in memory order                        banks    an access over 32 banks, before and after
    boxes    the TMA boxes over the atoms                     word     a descriptor's fields (or: draw word 0x...)
    swizzle  a swizzle alone: a mode or S<B,M,S>              diff     a wrong descriptor: draw diff 0x... and a tile
    all      all of them as SVG files with an index.html, in the folder -o

    \b
    descriptors draw levels --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16 -o levels.svg
    descriptors draw banks --dtype bf16 --major MN --swizzle 64B --tile 128x128 --mma 64x16
    descriptors draw word 0x4000404000010000 --dtype bf16 --major K
    descriptors draw diff 0x4000002000010000 --arch sm90 --dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16
    descriptors draw all --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16 -o pictures
    """
    _check(what, word, output, as_json, operand)
    picture_options = {name: operand.pop(name) for name in _TAKEN}
    options = {name: value for name, value in picture_options.items() if value is not None}
    if isinstance(options.get("access"), str):
        options["access"] = evaluate(options["access"])
    if what == "all":
        say(_draw_all(operand, options, Path(output or "")))
        return
    drawing = _picture(what, word, operand, options)
    if what == "swizzle":
        take_assumption()  # it is the same on every architecture
    grades = {} if what == "swizzle" else known_record(operand["arch"])
    if output is not None:
        message = save_picture(drawing, output, as_json=as_json)
        say(message if as_json or output == "-" else noted(message))
    elif as_json:
        say(json_text({**drawing.record(), **grades}))
    else:
        for grade in grades.values():
            note(grade, "known")
        say(drawing.text(color=wants_color(), width=line_width()) + for_terminal(""))


def _check(what: str, word: int | None, output: str | None, as_json: bool, operand: dict[str, Any]) -> None:
    """Refuse options that the requested picture does not support."""
    for name, kinds in _TAKEN.items():
        if operand[name] is not None and what not in kinds:
            option = "--colour-by" if name == "colour" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs {' or '.join(kinds)}")
    if operand["access"] is None:
        for name in ("access_bytes", "number"):
            if operand[name] is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --access")
    if operand["pattern_start"] is not None and what != "diff":
        raise click.UsageError("--pattern-start needs diff")
    if word is not None and what not in ("word", "diff"):
        raise click.UsageError(f"{word:#x} is a descriptor, which only word and diff draw")
    if what == "diff" and word is None:
        raise click.UsageError("diff needs the descriptor to compare; use `descriptors draw diff 0x...`")
    if what == "all" and (output in (None, "", "-") or as_json):
        raise click.UsageError("all writes several files and needs a folder; use -o DIR")
    if operand["dtype"] is None and what != "swizzle" and not (what == "word" and word is not None):
        context = click.get_current_context()
        dtype = next(parameter for parameter in context.command.params if parameter.name == "dtype")
        raise click.MissingParameter(ctx=context, param=dtype)


def _picture(what: str, word: int | None, operand: dict[str, Any], options: dict[str, Any]) -> Picture:
    if what == "swizzle":
        need({**operand, "tile": "any"}, "swizzle")
        return picture(_any_swizzle(operand["swizzle"]))
    if what == "diff":
        return _draw_difference(word, operand, options.get("subtile"))
    if what == "word" and word is not None:
        operand_type = {name: operand[name] for name in ("dtype", "major")}
        shape = operand["mma"] if isinstance(operand["mma"], tuple) else None
        return picture(decode(word, operand["arch"], **operand_type, shape=shape))
    if what == "banks" and operand["swizzle"] is not None and as_swizzle_mode(operand["swizzle"]) is SwizzleMode.NONE:
        note(
            "without a swizzle a canonical tile consists of core matrices (8 rows of 16 contiguous bytes); "
            'for a row-major tile use --layout "(64,64):(64,1)"'
        )
    if operand["layout"] is None and operand["mma"] is None and operand["cp"] is None and what in _WITHOUT_MMA:
        return picture(filled_tile({name: operand[name] for name in names("tma")}), what, **options)
    try:
        derivation = tile_of(operand)
    except DescriptorError as error:
        is_plain = type(error) is DescriptorError and not any(operand[name] for name in ("mma", "cp", "swizzle"))
        if (
            operand["layout"] is None
            or what not in ("tile", "banks")
            or not (is_plain or type(error) is NotCanonicalError)
        ):
            raise
        return _draw_plain(operand)
    return picture(derivation, what, base=base_address(operand), **options)


#: Pictures that do not depend on the instruction, so that --mma may be left out.
_WITHOUT_MMA = ("boxes", "tile", "atoms", "banks")


def _any_swizzle(text: str) -> SwizzleMode | Swizzle:
    """Return a swizzle mode from its name, or any other swizzle on bytes in CuTe's notation."""
    if "<" in text:
        swizzle = evaluate(text)
        if isinstance(swizzle, Swizzle):
            return swizzle
    return as_swizzle_mode(text)


def _draw_plain(operand: dict[str, Any]) -> Picture:
    """Return the picture of a layout without a descriptor: its offsets, colored by bank."""
    note("no descriptor reads this layout, so it is drawn without one, colored by bank")
    width = as_element_type(operand["dtype"]).storage_bits // 8
    return plain_picture(evaluate(operand["layout"]), colour="bank", element_bytes=max(width, 1))


def _draw_difference(word: int | None, operand: dict[str, Any], subtile: tuple[int, int] | None) -> Picture:
    """Return the picture that compares a descriptor with a tile or a layout."""
    derivation = tile_of(operand)
    if operand["base"] is not None:
        check_base(derivation, operand["base"])
    position = None if subtile is None else (*subtile, *(0,) * (len(derivation.tile) - 2))
    difference = diff(
        word or 0,
        derivation.smem_tile,
        derivation.arch,
        dtype=derivation.element,
        major=derivation.major,
        shape=derivation.mma,
        subtile=position,
        base=operand["base"],
        pattern_start=operand["pattern_start"],
    )
    return picture(difference)


def _draw_all(operand: dict[str, Any], options: dict[str, Any], folder: Path) -> str:
    """Write every picture of a tile to a folder, after drawing all; report pictures that cannot be drawn."""
    base, derivation, left_out = base_address(operand), tile_of(operand), list[str]()
    pictures = {kind: picture(derivation, kind, base=base, **options) for kind in KINDS if kind != "boxes"}
    pictures["tile_bank"] = picture(derivation, "tile", **{**options, "colour": "bank"})
    for name in [*pictures, "boxes"]:
        try:
            drawing = pictures[name] if name in pictures else picture(derivation, name, **options)
            drawing.scene()  # refuses a picture that is too large, before the folder is created
        except DescriptorError as error:
            pictures.pop(name, None)
            left_out.append(f"\nleft out {name}: {Message.of(error)}")
        else:
            pictures[name] = drawing
    files = {f"{name}.svg": f"{drawing.svg()}\n" for name, drawing in pictures.items()}
    files["index.html"] = Gallery(derivation.headline, tuple(pictures.items())).html()
    write(folder, {name: text.encode() for name, text in files.items()}, "-o", "draw")
    return noted(f"wrote {len(pictures)} pictures and index.html to {printable(str(folder))}{''.join(left_out)}")


#: The commands that the group registers.
commands = [draw]
