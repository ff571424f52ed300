"""The commands ``descriptors diff`` and ``candidates``: a layout against a word, and against every form."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.options import arch_option, dtype_option, json_option, unit_option, word_options
from descriptors.cli.asking.tiles import derived_tile, major_option, tile_options
from descriptors.cli.asking.values import address, noted, numbers, word
from descriptors.debug.candidates import candidates as try_forms
from descriptors.debug.diff import diff as compare
from descriptors.operands.explicit import Given
from descriptors.output.words import candidates as candidate_list
from descriptors.output.words import diff as difference
from layoutalg.cli.console import Status, json_text, say

_READS = "MNxK that one instruction reads, in elements.  [default: the whole layout]"


@click.command()
@click.argument("word", callback=word)
@click.argument("layout", required=False)
@word_options(known=True, shape=_READS)
@tile_options("LAYOUT")
@click.option(
    "--subtile", callback=numbers(","), help="Which operand of a larger layout, like 0,3.  [default: the first]"
)
@click.option(
    "--base", callback=address, help="Address of the layout's offset 0, in bytes.  [default: as the word starts]"
)
@click.option(
    "--pattern-start", default="0", callback=address, help="Address where the swizzle pattern starts, in bytes."
)
@unit_option
def diff(word: int, layout: str | None, as_json: bool, **given: Any) -> Status:
    """Compare what the tensor core reads for the descriptor WORD with LAYOUT or a tile; exit status 1 if they differ.

    \b
    descriptors diff 0x4000002000010000 "S<3,3,3> o 0 o (64,16):(64,1)" --arch sm90 --dtype bf16 --major K
    descriptors diff 0x4000004000010040 --tile 64x64 --swizzle 64B --mma 64x16 --dtype bf16 --major K --arch sm90
    descriptors diff 0x4000404000010004 "S<3,4,3> o 0 o (64,64):(64,1)" --unit cute --dtype bf16 --major K --shape 64x16

    LAYOUT is (MN, K), plain or swizzled, in CuTe's notation. Shows the word that would be right, if there is one, the
    first elements that differ, and a picture of all of them. Without --base the layout is placed where the word starts.
    """
    found = compare(word, _layout(layout, given), **given)
    say(json_text(difference.record(found)) if as_json else noted(difference.tell(found)))
    return Status.ANSWER if found.ok else Status.DIFFERENCE


@click.command()
@click.argument("layout", required=False)
@dtype_option()
@click.option("--shape", "--mma", "shape", callback=numbers("x"), help=_READS)
@major_option
@tile_options("LAYOUT")
@arch_option
@unit_option
@json_option("Write the answer as JSON.")
def candidates(layout: str | None, major: str | None, as_json: bool, **given: Any) -> None:
    """Which swizzles and majors fit LAYOUT, or a tile, and why each of the others does not.

    \b
    descriptors candidates "(64,16):(64,1)" --dtype bf16
    descriptors candidates "((8,16),(64,2)):((64,512),(1,8192))" --dtype bf16 --shape 64x16 --arch sm90
    descriptors candidates --tile 128x64 --swizzle 64B --major MN --mma 64x16 --dtype bf16

    LAYOUT is (MN, K) in CuTe's notation. Plain, it says where elements lie before a swizzle, and any swizzle may fit;
    swizzled, only its own may. Each descriptor shown has been proved against the layout.
    """
    if layout is not None and major is not None:
        raise click.UsageError("--major goes only with --tile")
    found = try_forms(_layout(layout, given, major), **given)
    say(json_text({"candidates": candidate_list.record(found)}) if as_json else noted(candidate_list.tell(found)))


def _layout(layout: str | None, given: dict[str, Any], major: str | None = None) -> Given:
    """The layout that is asked about: as it was typed, or that of the tile, whose options are taken out."""
    reads = {"dtype": given["dtype"], "major": given.get("major", major), "mma": given["shape"], "arch": given["arch"]}
    tile = derived_tile(layout, "LAYOUT", given, **reads)
    if tile is None:
        return layout or ""
    given["shape"], given["unit"] = tile.mma, "elements"
    return tile.smem_tile


#: The commands that the group registers.
commands = [diff, candidates]
