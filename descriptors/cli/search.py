"""The command ``descriptors search``: a table of the ways to lay a tile out, best first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from descriptors.cli.options import address, complete, numbers

if TYPE_CHECKING:
    pass
from descriptors.output.survey import as_record, lines


@click.command()
@click.option("--tile", required=True, callback=numbers("x"), help="MNxK of one stage, in elements.")
@click.option("--dtype", required=True, shell_complete=complete, help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8.")
@click.option("--mma", required=True, callback=numbers("x"), help="MNxK that one instruction reads, in elements.")
@click.option(
    "--arch", default="sm100", show_default=True, shell_complete=complete, help="sm90 (wgmma) or sm100 (tcgen05)."
)
@click.option("--major", shell_complete=complete, help="K or MN only.  [default: both]")
@click.option("--operand", shell_complete=complete, help="A (MN is M) or B (MN is N).  [default: either]")
@click.option("--stages", default=1, show_default=True, help="Copies of the tile, each at an aligned address.")
@click.option(
    "--smem", default=str(227 * 1024), show_default=True, callback=address, help="Bytes of shared memory for them."
)
@click.option(
    "--producer",
    default="tma",
    show_default=True,
    help="Who fills the tile: tma; rows or columns (a warp that stores 16 bytes a lane along K or MN, where those lie "
    "side by side); or a layout (threads, values) to an index into the tile, MN fastest.",
)
@click.option("--pad", is_flag=True, help="Round the tile up, where a candidate needs it, to whole atoms and operands.")
@click.option("--kind", help="Kind of the instruction, as in descriptors shapes.  [default: by the type]")
@click.option("--cta-group", type=click.IntRange(1, 2), help="CTAs that share the instruction.  [default: either]")
@click.option("--sparse", is_flag=True, help="The instruction is a sparse one.")
@click.option("--legality", default="strict", show_default=True, help="strict, lenient or off, as in derive.")
@click.option("--top", type=click.IntRange(1), help="Show only so many of the best.")
@click.option("--all", "every", is_flag=True, help="List every refused candidate with its whole reason.")
@click.option("--json", "as_json", is_flag=True, help="Write everything as JSON.")
def search(top: int | None, every: bool, as_json: bool, **given: Any) -> int:
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
    from descriptors.sweeps.search import survey

    found = survey(**given)
    if as_json:
        click.echo(json.dumps(as_record(found, given, top)))
    else:
        click.echo("\n".join(lines(found, given, top, every)))
    return 0 if found.findings else 1


#: The commands that the group registers.
commands = [search]
