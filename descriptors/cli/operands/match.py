"""The command ``descriptors match``: whether a layout has a canonical form."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.options import json_option, operand_options
from descriptors.cli.asking.tiles import derived_tile, tile_options
from descriptors.cli.asking.values import numbers
from descriptors.matching.match import match as match_layout
from descriptors.output.tiles import match as matched
from layoutalg.cli.console import json_text, say


@click.command()
@operand_options
@click.argument("layout", required=False)
@tile_options("LAYOUT", swizzle=False)
@click.option("--mma", callback=numbers("x"), help="MNxK of the tile that one instruction reads.  [default: all]")
@json_option("Write the match as JSON.")
def match(layout: str | None, mma: tuple[int, int] | None, as_json: bool, **given: Any) -> None:
    """Match the LAYOUT of one operand (MN, K), or a tile's, with its canonical form, or say which mode fails.

    \b
    descriptors match "(64,16):(64,1)" --dtype bf16 --swizzle 128B
    descriptors match "S<3,3,3> o 0 o (64,16):(64,1)" --dtype bf16
    descriptors match "S<3,4,3> o 0 o (64,16):(64,1)" --dtype bf16 --unit cute
    descriptors match --tile 64x64 --dtype bf16 --major MN --swizzle 128B --mma 64x16
    """
    tile = derived_tile(layout, "LAYOUT", given, own=("swizzle",), dtype=given["dtype"], major=given["major"], mma=mma)
    if tile is None and mma is not None:
        raise click.UsageError("--mma goes only with --tile")
    found = match_layout(layout or "", **given) if tile is None else tile.match
    say(json_text(matched.record(found)) if as_json else matched.tell(found))


#: The commands that the group registers.
commands = [match]
