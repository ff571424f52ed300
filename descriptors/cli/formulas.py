"""The command ``descriptors formulas``."""

from __future__ import annotations

import click

from descriptors.cli.asking.completion import complete
from descriptors.operands.operand import as_major, as_swizzle_mode
from descriptors.output.tiles.formulas import record, write_table
from descriptors.sweeps.formulas import formulas as every_row
from layoutalg.cli.console import json_text, say


@click.command()
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    shell_complete=complete,
    help="text, markdown, latex or json.",
)
@click.option("--major", shell_complete=complete, help="Only the rows of this major: K or MN.")
@click.option(
    "--swizzle",
    shell_complete=complete,
    help="Only the rows of this swizzle: none, 32B, 64B, 128B or 128B_BASE32B.",
)
@click.option("--bits", type=click.Choice(["4", "8", "16", "32"]), help="Only the rows of elements this wide.")
def formulas(form: str, major: str | None, swizzle: str | None, bits: str | None) -> None:
    """LBO, SBO and the steps of the start address as formulas in the extents of the tile, for every operand.

    \b
    descriptors formulas
    descriptors formulas --format latex --major MN
    descriptors formulas --swizzle 128B --bits 16

    For one family of tiles with its own symbols: descriptors derive --symbolic.
    """
    wanted_major = None if major is None else as_major(major)
    wanted_mode = None if swizzle is None else as_swizzle_mode(swizzle)
    kept = tuple(
        row
        for row in every_row()
        if wanted_major in (None, row.derivation.major)
        and wanted_mode in (None, row.derivation.swizzle)
        and bits in (None, str(row.derivation.element.storage_bits))
    )
    say(json_text({"formulas": record(kept)}) if form == "json" else write_table(kept, form))


#: The commands that the group registers.
commands = [formulas]
