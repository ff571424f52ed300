"""The command ``descriptors formulas``."""

from __future__ import annotations

import click

from descriptors.cli.asking.completion import complete
from descriptors.operands.operand import as_major, as_swizzle_mode
from descriptors.output.tiles.formulas import record, record_proof, tell_proof, write_table
from descriptors.sweeps.formulas import formulas as every_row
from layoutalg.cli.console import Status, json_text, say


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
@click.option("--prove", is_flag=True, help="Prove every row for all sizes; exit status 1 if one does not hold.")
def formulas(form: str, major: str | None, swizzle: str | None, bits: str | None, prove: bool) -> Status:
    """LBO, SBO and the steps of the start address as formulas in the extents of the tile, for every operand.

    \b
    descriptors formulas
    descriptors formulas --format latex --major MN
    descriptors formulas --swizzle 128B --bits 16
    descriptors formulas --prove

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
    proof = record_proof(kept) if prove else {}
    say(json_text({"formulas": record(kept), **proof}) if form == "json" else write_table(kept, form))
    if prove and form != "json":
        say(("" if form == "text" else "% " if form == "latex" else "\n") + tell_proof(kept))
    return Status.ANSWER if all(row["proved"] for row in proof.get("proof", ())) else Status.DIFFERENCE


#: The commands that the group registers.
commands = [formulas]
