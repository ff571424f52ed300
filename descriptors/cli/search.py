"""The command ``descriptors search``: a table of the ways to lay a tile out, best first."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.elsewhere import OptionsOnly
from descriptors.cli.asking.options import (
    arch_option,
    dtype_option,
    instruction_options,
    json_option,
    legality_option,
    which_option,
)
from descriptors.cli.asking.values import address, extents_or_name, noted, numbers
from descriptors.output import search as found_text
from descriptors.sweeps.search import survey
from descriptors.words.address import SMEM_BYTES
from layoutalg.cli.console import Status, json_text, say


@click.command(cls=OptionsOnly)
@click.option("--tile", required=True, callback=numbers("x"), help="MNxK of one stage, in elements.")
@dtype_option()
@click.option("--mma", required=True, callback=extents_or_name, help="MNxK that one instruction reads, or m64n128k16.")
@arch_option
@click.option("--major", shell_complete=complete, help="K or MN only.  [default: both]")
@which_option
@click.option("--stages", default=1, show_default=True, help="Copies of the tile, each at an aligned address.")
@click.option(
    "--smem", default=str(SMEM_BYTES), show_default=True, callback=address, help="Bytes of shared memory for them."
)
@click.option(
    "--producer",
    default="tma",
    show_default=True,
    help="Who fills the tile: tma; rows or columns (a warp that stores 16 bytes a lane along K or MN, where those lie "
    "side by side); or a layout (threads, values) to an index into the tile, MN fastest.",
)
@click.option("--pad", is_flag=True, help="Round the tile up, where a candidate needs it, to whole atoms and operands.")
@instruction_options
@legality_option
@click.option("--top", type=click.IntRange(1), help="Show only so many of the best.")
@click.option("--all", "every", is_flag=True, help="List every refused candidate with its whole reason.")
@json_option("Write everything as JSON.")
def search(top: int | None, every: bool, as_json: bool, **given: Any) -> Status:
    """Find every way to lay a tile out that the tensor core reads, proved, the cheapest first.

    \b
    descriptors search --tile 128x64 --dtype bf16 --mma 64x16
    descriptors search --tile 128x64 --dtype bf16 --mma 64x16 --stages 6 --smem 65536 --top 3
    descriptors search --tile 128x64 --dtype e4m3 --mma 128x32 --producer rows --json
    descriptors search --tile 64x64 --dtype bf16 --mma 64x16 --producer "((8,4),8):((512,1),64)"

    Each (major, swizzle, stacking order of the atoms) is checked against the tables of instructions, derived, and
    compared with what the tensor core reads, element by element, at every stage. What fits and does not carry comes
    first; then, with --producer tma, the fewest boxes, waste and wavefronts; with plain stores the fewest wavefronts,
    waste and boxes. The table ends with what its columns mean. Exit status 1 if nothing was found.
    """
    found = survey(**given)
    if as_json:
        say(json_text({**found_text.record(found, top), "request": given}))  # the request as it was typed
    else:
        say(noted(found_text.tell(found, top, every)))
    return Status.ANSWER if found.findings else Status.DIFFERENCE


#: The commands that the group registers.
commands = [search]
