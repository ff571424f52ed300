"""The commands ``descriptors tmem accumulator``, ``operand``, ``metadata``, ``plan`` and ``check``."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import Option, json_option, legality_option, together
from descriptors.errors import DescriptorError
from descriptors.output.tmem import columns, events
from descriptors.output.tmem import fragment as written
from descriptors.tmem.accumulator import accumulator as accumulator_of
from descriptors.tmem.fragment import TmemFragment
from descriptors.tmem.metadata import sparse_metadata
from descriptors.tmem.operand import operand_a
from descriptors.tmem.planner import tmem_plan
from descriptors.transfer.guardrails import check_events
from layoutalg.cli.console import Status, json_text, say

m_option = click.option("--m", required=True, type=int, help="M of the instruction, over both CTAs of a pair.")
n_option = click.option("--n", required=True, type=int, help="N of the instruction.")
pair_option = click.option("--cta-group", type=int, default=1, show_default=True, help="1 or 2.")
ws_option = click.option("--ws", is_flag=True, help="The weight-stationary form.")
sparse_option = click.option("--sparse", is_flag=True, help="A is stored without its zeros.")
d_option = click.option(
    "--d", "dtype", default="f32", show_default=True, help="Type of the accumulator: f32, s32, f16."
)


def shape_options(*, required: bool = True) -> Option:
    """The options that name an accumulator; ``required``: the command has no other answer."""
    extents = [
        click.option(name, required=required, type=int, help=told)
        for name, told in (
            ("--m", "M of the instruction, over both CTAs of a pair."),
            ("--n", "N of the instruction."),
        )
    ]
    kind = click.option(
        "--kind",
        default="f16",
        show_default=True,
        shell_complete=complete,
        help="Kind of the instruction, for its shapes.",
    )
    return together(*extents, d_option, pair_option, ws_option, sparse_option, kind, legality_option)


@click.command()
@shape_options()
@click.option("--tiles", type=(int, int), default=(1, 1), show_default=True, help="Accumulators along M and along N.")
@click.option("--apart", is_flag=True, help="A second tile of M 64 takes new columns, not the lanes left free.")
@json_option("Write the layout as JSON.")
def accumulator(as_json: bool, apart: bool, **asked: Any) -> None:
    """Show where an accumulator lies: (m, n) -> lane and column.

    \b
    descriptors tmem accumulator --m 128 --n 256 --cta-group 2
    descriptors tmem accumulator --m 64 --n 128 --tiles 2 1
    """
    _say(accumulator_of(**asked, interleaved=not apart), as_json)


@click.command()
@m_option
@click.option("--k", required=True, type=int, help="K of the tile, in stored elements.")
@click.option("--dtype", required=True, shell_complete=complete, help="Element type of A.")
@pair_option
@ws_option
@sparse_option
@json_option("Write the layout as JSON.")
def operand(as_json: bool, **asked: Any) -> None:
    """Show where an A operand lies in tensor memory: (m, k) -> lane, column and bit.

    \b
    descriptors tmem operand --m 128 --k 64 --dtype bf16
    """
    _say(operand_a(**asked), as_json)


@click.command()
@click.option("--m", required=True, type=int, help="Rows of A in the CTA.")
@click.option("--k", required=True, type=int, help="Logical K of the tile, zeros counted.")
@click.option("--dtype", required=True, shell_complete=complete, help="Element type of A.")
@ws_option
@json_option("Write the layout as JSON.")
def metadata(as_json: bool, **asked: Any) -> None:
    """Show where the metadata of a sparse A lie: logical (m, k) -> lane, column and bit.

    \b
    descriptors tmem metadata --m 128 --k 32 --dtype bf16
    """
    _say(sparse_metadata(**asked), as_json)


@click.command()
@m_option
@n_option
@click.option("--k", required=True, type=int, help="K of the tile whose A, scale factors, metadata are kept at once.")
@click.option("--a", "dtype", default="bf16", show_default=True, shell_complete=complete, help="Element type of A.")
@click.option("--b", "b_dtype", shell_complete=complete, help="Element type of B.  [default: that of A]")
@click.option("--d", "d_dtype", help="Type of the accumulator.  [default: f32, s32 for integers]")
@click.option("--kind", shell_complete=complete, help="The kind.  [default: found from the types]")
@pair_option
@ws_option
@sparse_option
@click.option("--a-source", default="smem", show_default=True, help="Where A lies: smem or tmem.")
@click.option("--scale-dtype", shell_complete=complete, help="ue8m0 or ue4m3, for the kinds with scale factors.")
@click.option("--scale-vector", type=int, help="Elements that share a scale factor: 16 or 32.")
@click.option("--accumulators", type=int, default=1, show_default=True, help="How many are kept at once.")
@click.option(
    "--stages", type=int, default=1, show_default=True, help="Tiles of A, scale factors, metadata kept at once."
)
@click.option("--interleaved", is_flag=True, help="Two accumulators of M 64 share their columns.")
@click.option("--ctas", type=int, default=1, show_default=True, help="CTAs that must fit an SM at once.")
@legality_option
@json_option("Write the plan as JSON.")
def plan(as_json: bool, **asked: Any) -> None:
    """Plan the columns of a CTA: what lies where, what to allocate, how many CTAs fit an SM.

    \b
    descriptors tmem plan --m 128 --n 256 --k 64 --accumulators 2
    descriptors tmem plan --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    """
    made = tmem_plan(**asked)
    say(json_text(columns.record(made)) if as_json else columns.tell(made))


@click.command()
@click.argument("events_", metavar="EVENT...", nargs=-1, required=True)
@json_option("Write the findings as JSON.")
def check(events_: tuple[str, ...], as_json: bool) -> Status:
    """Check the order in which a kernel uses tensor memory; exit status 1 if something is wrong.

    \b
    descriptors tmem check "alloc d 64" relinquish "mma d 64" "ld d 32x32b.x64 warp 0" "dealloc d 64"

    Events: alloc NAME COLUMNS; relinquish; dealloc NAME [COLUMNS]; ld or st PLACE SHAPE.xN [warp W]; cp PLACE SHAPE;
    mma PLACE COLUMNS [sparse] [idesc WORD]; shift PLACE. A PLACE is NAME, NAME+COLUMN, with @LANE behind it.
    """
    report = check_events(events_)
    say(json_text(events.record(report)) if as_json else events.tell(report))
    return Status.ANSWER if report.ok else Status.DIFFERENCE


def _say(found: TmemFragment, as_json: bool) -> None:
    say(json_text(written.record(found)) if as_json else written.tell(found))


def asked_accumulator(asked: dict[str, Any]) -> TmemFragment | None:
    """The accumulator that a command was asked about; None where it was given neither M nor N.

    Raises:
        DescriptorError: if only one of them is there.
    """
    if (asked["m"] is None) != (asked["n"] is None):
        raise DescriptorError("tmem ld: an accumulator must have both --m and --n, found one of them")
    return None if asked["m"] is None else accumulator_of(**asked)


#: The commands that the group registers.
commands = [accumulator, operand, metadata, plan, check]
