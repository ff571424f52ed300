"""The commands about many operands: ``search``, ``formulas`` and ``atlas``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.options import (
    OptionsOnly,
    dtype_option,
    instruction_options,
    json_option,
    legality_option,
    option,
    smt2_option,
)
from descriptors.cli.terminal import for_terminal, note, smt2_text, take_assumption
from descriptors.cli.values import address, complete
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.rules import as_mode
from descriptors.smem.operands.operand import as_major, as_swizzle_mode
from descriptors.sweep.atlas import atlas as make
from descriptors.sweep.formulas import formulas as every_row
from descriptors.sweep.formulas import record_formulas, record_proof, tell_proof, write_table
from descriptors.sweep.lattice import lattice
from descriptors.sweep.search import survey
from descriptors.text import extents_text
from layoutalg.cli.console import Status, json_text, say


@click.command(cls=OptionsOnly)
@option("tile", required=True, metavar="MNxK", help="Tile of one stage, in elements.")
@dtype_option()
@option(
    "mma",
    help="Part of the tile that one instruction reads, or its name.  "
    "[default: the largest part of the tile that one instruction reads]",
)
@option("arch")
@option("major", help="Only this major.  [default: both]")
@option("operand")
@click.option(
    "--stages", default=1, show_default=True, help="Number of copies of the tile, each at an aligned address."
)
@click.option(
    "--smem",
    metavar="BYTES",
    callback=address,
    help="Shared memory for the stages.  [default: that of the architecture, 232448 for sm90 and sm100]",
)
@click.option(
    "--producer",
    default="tma",
    show_default=True,
    metavar="PRODUCER",
    help="Writer of the tile: tma; rows or columns (a warp stores 16 contiguous bytes per lane along K or MN); or a "
    "layout from (threads, values) to an index of the tile, MN fastest.",
)
@click.option(
    "--contiguous",
    metavar="K|MN",
    shell_complete=complete,
    help="Contiguous dimension in global memory; TMA does not transpose.  [default: --major, else K]",
)
@click.option("--pad", is_flag=True, help="Round the tile up to whole atoms and subtiles if a candidate needs it.")
@instruction_options
@legality_option
@click.option("--top", metavar="N", type=click.IntRange(1), help="Number of candidates to show.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print all columns with their meaning, and each refused candidate with its reason.",
)
@json_option("Print everything as JSON.")
def search(top: int | None, every: bool, as_json: bool, **options: Any) -> Status:
    """Rank the shared-memory layouts of a tile that the tensor core can read by cost, and verify each of them.

    \b
    descriptors search --tile 128x64 --dtype bf16
    descriptors search --tile 128x64 --dtype bf16 --mma 64x16 --stages 6 --smem 65536 --top 3
    descriptors search --tile 128x64 --dtype e4m3 --mma 128x32 --producer rows --json
    descriptors search --tile 64x64 --dtype bf16 --mma 64x16 --producer "((8,4),8):((512,1),64)"

    A candidate is a combination of major, swizzle and stacking order of the atoms. Each one is checked against the
    instruction tables, derived, and compared with the addresses that the tensor core reads, for every element and
    stage. The first candidates are those that fit into shared memory, whose subtile addresses do not carry out of the
    14-bit address field, that keep the contiguous dimension of global memory (TMA does not transpose), and that need
    no padding. Ties are ordered by boxes and waste (--producer tma), or by wavefronts, waste and boxes (plain stores).
    The exit status is 1 if no candidate fits.
    """
    result = survey(**options)
    if options["mma"] is None:
        note(
            f"assuming --mma {extents_text(result.asked.mma)}, the largest part of the tile that one instruction reads"
        )
    if as_json:
        request = {**options, "smem": result.asked.smem}  # as it was typed, with the memory of the architecture
        say(json_text({**record(result, top=top), "request": request}))
    else:
        if not every:
            note("--all prints all columns with their meaning, and all refusals in full", "more")
        say(for_terminal(tell(result, top=top, everything=every, because=take_assumption())))
    fits = any(finding.fits for finding in result.findings)
    return Status.ANSWER if fits else Status.DIFFERENCE


@click.command()
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    shell_complete=complete,
    metavar="FORMAT",
    help="text, markdown, latex or json.",
)
@option("major", help="Only the rows of this major.")
@option("swizzle", help="Only the rows of this swizzle: none, 32B, 64B, 128B or 128B_BASE32B.")
@click.option(
    "--bits", type=click.Choice(["4", "8", "16", "32"]), help="Only the rows of elements with this many bits."
)
@click.option("--prove", is_flag=True, help="Prove each row for all sizes; exit status 1 if one is wrong.")
@smt2_option
def formulas(form: str, major: str | None, swizzle: str | None, bits: str | None, prove: bool, smt2: bool) -> Status:
    """Print LBO, SBO and the advance of the start address as formulas in the tile size, one row for each kind of tile.

    \b
    descriptors formulas
    descriptors formulas --format latex --major MN
    descriptors formulas --swizzle 128B --bits 16
    descriptors formulas --prove
    descriptors formulas --swizzle 128B --smt2

    For one family of tiles with its own symbols: descriptors derive --symbolic.
    """
    wanted_major = None if major is None else as_major(major)
    wanted_mode = None if swizzle is None else as_swizzle_mode(swizzle)
    selected = tuple(
        row
        for row in every_row()
        if wanted_major in (None, row.derivation.major)
        and wanted_mode in (None, row.derivation.swizzle)
        and bits in (None, str(row.derivation.element.storage_bits))
    )
    if not selected:
        rows = [row for row in every_row() if wanted_mode in (None, row.derivation.swizzle)]
        combinations = dict.fromkeys(
            f"{row.derivation.major}-major with {row.derivation.element.storage_bits} bits" for row in rows
        )
        raise DescriptorError(
            f"formulas: no tile has {_filter_text(major, swizzle, bits)}; "
            f"supported{f' with swizzle {wanted_mode}' if wanted_mode else ''}: {', '.join(combinations)}"
        )
    if smt2:
        if prove or form != "text":
            raise click.UsageError("--smt2 cannot be combined with --prove or --format")
        say(smt2_text(*(row.derivation for row in selected)))
        return Status.ANSWER
    proof = record_proof(selected) if prove else {}
    say(json_text({"formulas": record_formulas(selected), **proof}) if form == "json" else write_table(selected, form))
    if prove and form != "json":
        say(("" if form == "text" else "% " if form == "latex" else "\n") + tell_proof(selected))
    return Status.ANSWER if all(row["proved"] for row in proof.get("proof", ())) else Status.DIFFERENCE


def _filter_text(major: str | None, swizzle: str | None, bits: str | None) -> str:
    """Return the filters of ``formulas`` in words."""
    filters = (("major", major), ("swizzle", swizzle), ("bits", bits))
    return " and ".join(f"{name} {value}" for name, value in filters if value is not None)


@click.command()
@click.argument("output", type=click.Path(dir_okay=True))
@click.option(
    "--tile",
    required=True,
    metavar="RANGES",
    help="MNxK or MNxKxSTAGES: 64:256:64x64,128 is (64,128,192,256) x (64,128).",
)
@click.option(
    "--mma",
    default="64,128xauto",
    show_default=True,
    metavar="RANGES",
    help="MNxK that one instruction reads; auto is 32 bytes of K.",
)
@click.option(
    "--dtype",
    default="all",
    show_default=True,
    shell_complete=complete,
    metavar="DTYPES",
    help="Element types, separated by commas.",
)
@click.option("--major", default="all", show_default=True, shell_complete=complete, metavar="K|MN|K,MN", help="Majors.")
@click.option(
    "--swizzle",
    default="all",
    show_default=True,
    shell_complete=complete,
    metavar="MODES",
    help="Swizzle modes, separated by commas.",
)
@click.option(
    "--order", default="all", show_default=True, metavar="ORDERS", help="mn (atoms stacked along MN first), k, default."
)
@click.option(
    "--arch", default="all", show_default=True, shell_complete=complete, metavar="ARCHES", help="sm90, sm100, or both."
)
@click.option("--operand", default="either", show_default=True, metavar="OPERANDS", help="A, B, either, or several.")
@legality_option
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 4096), metavar="N", help="Number of processes."
)
@click.option("--no-verify", "unproved", is_flag=True, help="Do not verify the descriptors.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def atlas(
    output: str, tile: str, mma: str, dtype: str, major: str, swizzle: str, order: str, arch: str, operand: str,
    legality: str, workers: int, unproved: bool, quiet: bool,
) -> Status:  # fmt: skip
    """Derive and verify a range of operands; write one row for each to OUTPUT (.jsonl).

    \b
    descriptors atlas rows.jsonl --tile 64:256:64x64:256:64 --dtype bf16,e4m3 --workers 2
    descriptors atlas rows.jsonl --tile 128x64x1:4 --mma 64,128xauto --arch sm100 --swizzle 128B

    If a run is killed, start it again: it keeps the existing rows and continues. Only one run at a time can write to
    an output, and a file that is not an atlas is never changed. A tile and an instruction are combined only if the tile
    is a multiple of the instruction's operand. If a combination has no descriptor, its row contains the reason. The
    exit status is 1 if a proof failed, in this run or in an earlier one.
    """
    points = lattice(
        tile, mma, dtypes=dtype, majors=major, swizzles=swizzle, orders=order, archs=arch, operands=operand,
        legality=as_mode(legality),
    )  # fmt: skip
    shows_progress = not quiet and sys.stderr.isatty()
    with (
        click.progressbar(length=len(points), label="atlas", file=sys.stderr) if shows_progress else nullcontext()
    ) as bar:
        progress = None if bar is None else bar.update
        summary = make(points, output, prove=not unproved, workers=workers, progress=progress)
    say(tell(summary))
    return Status.ANSWER if summary.ok else Status.DIFFERENCE


#: The commands that the group registers.
commands = [search, formulas, atlas]
