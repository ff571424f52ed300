"""The command ``descriptors atlas``."""

from __future__ import annotations

import sys

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import legality_option
from descriptors.instructions.rules import as_mode
from descriptors.output import summary
from descriptors.sweeps.atlas import atlas as make
from descriptors.sweeps.lattice import lattice
from layoutalg.cli.console import Status, say


@click.command()
@click.argument("output", type=click.Path(dir_okay=True))
@click.option(
    "--tile", required=True, help="Ranges MNxK or MNxKxSTAGES: 64:256:64x64,128 is (64,128,192,256) x (64,128)."
)
@click.option(
    "--mma", default="64,128xauto", show_default=True, help="Ranges MNxK that one instruction reads; auto is 32 bytes."
)
@click.option(
    "--dtype",
    default="all",
    show_default=True,
    shell_complete=complete,
    help="Element types, with commas between them.",
)
@click.option("--major", default="all", show_default=True, shell_complete=complete, help="K, MN or both.")
@click.option(
    "--swizzle",
    default="all",
    show_default=True,
    shell_complete=complete,
    help="Swizzle modes, with commas between them.",
)
@click.option("--order", default="all", show_default=True, help="mn (atoms stacked along MN first), k, default.")
@click.option("--arch", default="all", show_default=True, shell_complete=complete, help="sm90, sm100 or both.")
@click.option("--operand", default="either", show_default=True, help="A, B, either, or several.")
@legality_option
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 4096), help="Processes.")
@click.option("--no-verify", "unproved", is_flag=True, help="Derive only; no proofs.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def atlas(
    output: str, tile: str, mma: str, dtype: str, major: str, swizzle: str, order: str, arch: str, operand: str,
    legality: str, workers: int, unproved: bool, quiet: bool,
) -> Status:  # fmt: skip
    """Derive and prove a whole lattice of operands; write a row for each to OUTPUT (.jsonl, or .parquet: a folder).

    \b
    descriptors atlas rows.jsonl --tile 64:256:64x64:256:64 --dtype bf16,e4m3 --workers 2
    descriptors atlas rows.parquet --tile 128x64x1:4 --mma 64,128xauto --arch sm100 --swizzle 128B

    A run that was killed goes on where it stopped when it is started again, and loses no row; one run at a time writes
    to an output, and what is no atlas is never touched. A point that has no descriptor is a row with the reason. Exit
    status 1 if a proof failed, in this run or in one before it.
    """
    points = lattice(
        tile, mma, dtypes=dtype, majors=major, swizzles=swizzle, orders=order, archs=arch, operands=operand,
        legality=as_mode(legality),
    )  # fmt: skip
    if quiet or not sys.stderr.isatty():
        done = make(points, output, prove=not unproved, workers=workers)
    else:
        with click.progressbar(length=len(points), label="atlas", file=sys.stderr) as bar:
            done = make(points, output, prove=not unproved, workers=workers, progress=bar.update)
    say(summary.tell(done))
    return Status.ANSWER if done.ok else Status.DIFFERENCE


#: The commands that the group registers.
commands = [atlas]
