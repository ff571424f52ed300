"""The command ``descriptors tma``: the tensor copies that fill a tile, told and proved.

``commands`` is for the group in ``descriptors.cli``, which also turns an error into one line and exit status 2.
"""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.derive import derive
from descriptors.cli.options import OptionsOnly, json_option, need, staged
from descriptors.cli.terminal import answered
from descriptors.smem.derivation.arguments import names
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive as derive_tile
from descriptors.smem.instructions.rules import as_mode
from descriptors.smem.operands.atoms import canonical_atom
from descriptors.smem.operands.operand import as_element_type, as_major, as_swizzle_mode, major_of
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.tma.tma_planner import tma_plan
from layoutalg.cli.console import say


@click.command(cls=OptionsOnly, params=[one for one in derive.params if one.name in names("tma")])
@click.option("--rank", default=2, show_default=True, help="Most dimensions of the tensor map: 2 to 5.")
@json_option("Write the plan as JSON, with every box.")
def tma(rank: int, as_json: bool, **options: Any) -> None:
    """Plan the tensor copies (TMA) that fill a shared-memory tile, and prove them.

    \b
    descriptors tma --dtype bf16 --major K --swizzle 128B --tile 128x128
    descriptors tma --dtype bf16 --major MN --swizzle 64B --tile 128x128x4 --json
    descriptors tma --dtype bf16 --major K --swizzle none --tile 128x64 --rank 3

    The plan: what cuTensorMapEncodeTiled is told (data type, swizzle, box), how many boxes there are, and where each
    comes from and goes to. With --rank 3 or more a dimension of the tensor may appear as two, for fewer and larger
    boxes. The proof follows every element of every box to shared memory and compares it with the tile's layout.
    --mma and --legality only check that an instruction can read the tile; a copy does not depend on them.
    """
    tile = filled_tile(options)
    plan = tma_plan(tile, rank)
    say(answered(plan, as_json, proved=plan.verify(), arch=tile.arch))


def filled_tile(options: dict[str, Any]) -> Derivation:
    """The tile that copies fill; without an instruction it is cut into atoms, which every canonical form allows."""
    options["tile"] = staged(options["tile"], options.pop("stages"))
    as_mode(options["legality"])  # of single atoms no instruction is asked, so that nobody else would look at it
    if options["tile"] is None and options["layout"] is None:
        raise click.UsageError("give either --tile or --layout, found neither")
    if options["mma"] is None and options["layout"] is None:
        need(options, "major", "swizzle")
        atom = canonical_atom(
            as_major(major_of(options["swizzle"], options["major"])), as_swizzle_mode(options["swizzle"])
        )
        extents = plain(atom.in_elements(as_element_type(options["dtype"]))).shape
        options = {**options, "mma": extents, "legality": "off"}
    return derive_tile(**options, verify=False)


#: The commands that the group registers.
commands = [tma]
