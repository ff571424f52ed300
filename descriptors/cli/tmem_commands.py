"""The commands of ``descriptors tmem``: where things lie, how they get there and back, and whole multiplications."""

from __future__ import annotations

import re
from typing import Any

import click

from descriptors.check.event_report import check_events
from descriptors.cli.options import Option, json_option, legality_option, together
from descriptors.cli.terminal import answered, draw_beside
from descriptors.cli.values import address, complete, numbers
from descriptors.errors import DescriptorError
from descriptors.tmem.accumulator import accumulator as accumulator_of
from descriptors.tmem.block_scaled import block_scaled as block_scaled_of
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.copies import tmem_copies, tmem_copy, widened_copy
from descriptors.tmem.copy_text import OPEN
from descriptors.tmem.moves import TmemMove, tmem_move
from descriptors.tmem.operand_cells import operand_a, sparse_metadata
from descriptors.tmem.readout import readout as readout_of
from descriptors.tmem.readout import readouts as readouts_of
from descriptors.tmem.reductions import TmemReduction, tmem_reduction
from descriptors.tmem.scale_factors import scale_factors as scale_factors_of
from descriptors.tmem.shift_convolution import shift_convolution
from descriptors.tmem.shift_views import needs_views, shift_views
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg.cli.console import Status, say

m_option = click.option("--m", required=True, type=int, help="M of the instruction, over both CTAs of a pair.")
n_option = click.option("--n", required=True, type=int, help="N of the instruction.")
arch_option = click.option(
    "--arch", default="sm100", show_default=True, shell_complete=complete, help="sm100 sm103 sm107 sm110."
)
pair_option = click.option("--cta-group", type=int, default=1, show_default=True, help="1 or 2.")
ws_option = click.option("--ws", is_flag=True, help="The weight-stationary form.")
sparse_option = click.option("--sparse", is_flag=True, help="A is stored without its zeros.")
d_option = click.option(
    "--d", "dtype", default="f32", show_default=True, help="Type of the accumulator: f32, s32, f16."
)


picture_option = click.option(
    "--draw", "picture_path", help="Write a picture too: a file's name in .svg, .tex, .txt, .html."
)


def with_picture(answer: Any, path: str | None) -> Any:
    """The answer, its picture written to the file, if there is a name."""
    draw_beside(answer, path)
    return answer


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
    return together(*extents, d_option, pair_option, ws_option, sparse_option, kind, arch_option, legality_option)


@click.command()
@shape_options()
@click.option("--tiles", type=(int, int), default=(1, 1), show_default=True, help="Accumulators along M and along N.")
@click.option("--apart", is_flag=True, help="A second tile of M 64 takes new columns, not the lanes left free.")
@picture_option
@json_option("Write the layout as JSON.")
def accumulator(as_json: bool, apart: bool, picture_path: str | None, **options: Any) -> None:
    """Show where an accumulator lies: (m, n) -> lane and column.

    \b
    descriptors tmem accumulator --m 128 --n 256 --cta-group 2
    descriptors tmem accumulator --m 64 --n 128 --tiles 2 1
    """
    say(answered(with_picture(accumulator_of(**options, interleaved=not apart), picture_path), as_json))


@click.command()
@m_option
@click.option("--k", required=True, type=int, help="K of the tile, in stored elements.")
@click.option("--dtype", required=True, shell_complete=complete, help="Element type of A.")
@pair_option
@ws_option
@sparse_option
@picture_option
@json_option("Write the layout as JSON.")
def operand(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Show where an A operand lies in tensor memory: (m, k) -> lane, column and bit.

    \b
    descriptors tmem operand --m 128 --k 64 --dtype bf16
    """
    say(answered(with_picture(operand_a(**options), picture_path), as_json))


@click.command()
@click.option("--m", required=True, type=int, help="Rows of A in the CTA.")
@click.option("--k", required=True, type=int, help="Logical K of the tile, zeros counted.")
@click.option("--dtype", required=True, shell_complete=complete, help="Element type of A.")
@ws_option
@picture_option
@json_option("Write the layout as JSON.")
def metadata(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Show where the metadata of a sparse A lie: logical (m, k) -> lane, column and bit.

    \b
    descriptors tmem metadata --m 128 --k 32 --dtype bf16
    """
    say(answered(with_picture(sparse_metadata(**options), picture_path), as_json))


@click.command()
@m_option
@n_option
@click.option("--k", type=int, help="K of the tile whose A, scale factors, metadata are kept at once, if any are.")
@click.option("--a", "dtype", default="bf16", show_default=True, shell_complete=complete, help="Element type of A.")
@click.option("--b", "b_dtype", shell_complete=complete, help="Element type of B.  [default: that of A]")
@click.option("--d", "d_dtype", help="Type of the accumulator.  [default: f32, s32 for integers]")
@click.option("--kind", shell_complete=complete, help="The kind.  [default: found from the types]")
@pair_option
@ws_option
@sparse_option
@click.option("--a-source", default="smem", show_default=True, help="Where A lies: smem or tmem.")
@click.option(
    "--scale-dtype", shell_complete=complete, help="ue8m0, ue4m3, or ue5m3 of sm107, for the kinds with scale factors."
)
@click.option("--scale-vector", type=int, help="Elements that share a scale factor: 16, 32 or 64.")
@click.option("--accumulators", type=int, default=1, show_default=True, help="How many are kept at once.")
@click.option(
    "--stages", type=int, default=1, show_default=True, help="Tiles of A, scale factors, metadata kept at once."
)
@click.option("--interleaved", is_flag=True, help="Two accumulators of M 64 share their columns.")
@click.option(
    "--blocks", type=int, nargs=2, default=(1, 1), show_default=True, help="Instructions along M and along N of a tile."
)
@click.option("--ctas", type=int, default=1, show_default=True, help="CTAs that must fit an SM at once.")
@arch_option
@legality_option
@picture_option
@json_option("Write the plan as JSON.")
def plan(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Plan the columns of a CTA: what lies where, what to allocate, how many CTAs fit an SM.

    \b
    descriptors tmem plan --m 128 --n 256 --accumulators 2
    descriptors tmem plan --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    descriptors tmem plan --a e2m1 --scale-dtype ue4m3 --m 128 --n 128 --k 256 --blocks 1 2
    descriptors tmem plan --a e2m1 --kind mxf4nvf4 --m 256 --n 256 --k 128 --accumulators 2 --cta-group 2 --arch sm107
    """
    tensor_plan = tmem_plan(**options)
    say(answered(with_picture(tensor_plan, picture_path), as_json))


@click.command()
@click.argument("events_", metavar="EVENT...", nargs=-1, required=True)
@json_option("Write the findings as JSON.")
def check(events_: tuple[str, ...], as_json: bool) -> Status:
    """Check the order in which a kernel uses tensor memory; exit status 1 if something is wrong.

    \b
    descriptors tmem check "alloc d 64" relinquish "mma d 64" "ld d 32x32b.x64 warp 0" "dealloc d 64"

    Events: alloc NAME COLUMNS [exclusive]; relinquish; dealloc NAME [COLUMNS] [exclusive]; ld or st PLACE SHAPE.xN
    [warp W]; cp PLACE SHAPE; mma PLACE COLUMNS [sparse] [idesc WORD]; shift PLACE. A PLACE is NAME, NAME+COLUMN, with
    @LANE behind it.
    """
    report = check_events(events_)
    say(answered(report, as_json))
    return Status.ANSWER if report.ok else Status.DIFFERENCE


def asked_accumulator(options: dict[str, Any]) -> TmemFragment | None:
    """The accumulator that a command was asked about; None where it was given neither M nor N.

    Raises:
        DescriptorError: if only one of them is there.
    """
    if (options["m"] is None) != (options["n"] is None):
        raise DescriptorError("tmem ld: an accumulator must have both --m and --n, found one of them")
    return None if options["m"] is None else accumulator_of(**options)


@click.command()
@click.argument("shape", required=False)
@click.option("--st", "store", is_flag=True, help="The store instead of the load.")
@click.option("--offset", type=int, help="Columns between the halves of 16x32bx2.")
@click.option("--target", help="Refuse a reduction that this architecture has not, such as sm_100a.")
@shape_options(required=False)
@picture_option
@json_option("Write the map, or what the registers hold, as JSON.")
def ld(
    shape: str | None,
    store: bool,
    offset: int | None,
    target: str | None,
    picture_path: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what registers a tcgen05.ld (or st) of a SHAPE fills, and what they hold of an accumulator.

    \b
    descriptors tmem ld 16x256b.x8
    descriptors tmem ld --m 128 --n 64
    descriptors tmem ld 16x256b --m 128 --n 64 --cta-group 1
    descriptors tmem ld 32x32b.x8.max.abs.f32

    Without an accumulator the answer is the map (thread, register, bit) -> lane, column, bit. With one it is what each
    register holds, (thread, value) -> (m, n), and every load of the four warps; without a SHAPE, a line for each. A
    SHAPE with an operation and a type is tcgen05.ld.red, which has a register more, or with sp::2:4 between them
    .spcompress, which keeps half: 32x32b.x8.max.sp::2:4.f32, with red. before it to reduce besides.
    """
    d = asked_accumulator(options)
    if d is None and shape is None:
        raise click.UsageError("give a SHAPE like 16x256b.x8, an accumulator by --m and --n, or both")
    if d is not None and (store or offset is not None or target is not None):
        raise click.UsageError("--st, --offset and --target go only with a SHAPE alone")
    if shape is None and picture_path is not None:
        raise click.UsageError("--draw needs a SHAPE like 16x256b")
    one = _load(shape or "", store, offset, target) if d is None else readout_of(d, shape) if shape else readouts_of(d)
    say(answered(with_picture(one, picture_path), as_json))


def _load(shape: str, store: bool, offset: int | None, target: str | None) -> TmemMove | TmemReduction:
    """A load, a store or a reduction."""
    if target is None and not re.search(r"\.(min|max|[fus]32)\b", shape):
        return tmem_move(shape, "st" if store else "ld", offset=offset)
    if store:
        raise click.UsageError("--st goes with no reduction, and --target with nothing else")
    return tmem_reduction(shape, offset=offset, target=target)


@click.command()
@click.argument("shape", required=False)
@click.option("--tile", callback=numbers("x"), help="MNxK of a K-major tile in shared memory, in elements.")
@click.option("--dtype", shell_complete=complete, help="Its element type.")
@click.option("--swizzle", shell_complete=complete, help="Its swizzle: none, 32B, 64B, 128B.  [default: none]")
@picture_option
@json_option("Write the map, or the copies and their proof, as JSON.")
def cp(
    shape: str | None,
    tile: tuple[int, ...] | None,
    dtype: str | None,
    swizzle: Any,
    picture_path: str | None,
    as_json: bool,
) -> None:
    """Show where a tcgen05.cp of a SHAPE writes; of a tile, each copy's descriptor word and column, proved.

    \b
    descriptors tmem cp
    descriptors tmem cp 64x128b.warpx2::01_23
    descriptors tmem cp 128x256b.b8x16.b4x16_p64
    descriptors tmem cp 128x256b --tile 128x64 --dtype bf16 --swizzle 128B
    """
    if (
        (tile is None) != (dtype is None)
        or (tile is None and swizzle is not None)
        or (shape is None and tile is not None)
    ):
        raise click.UsageError("--tile and --dtype go together and with a SHAPE, --swizzle with them")
    if picture_path is not None and (shape is None or ".b8x16" in shape.casefold()):
        raise click.UsageError("--draw needs a SHAPE like 128x256b, without .b8x16")
    if shape is None:
        say(answered(tmem_copies(), as_json))
    elif ".b8x16" in shape.casefold():
        if tile is not None:
            raise DescriptorError(f"tmem cp: a tile must be copied as it is, found {shape}; {OPEN} is not settled")
        say(answered(widened_copy(shape), as_json))
    elif tile is None or dtype is None:
        say(answered(with_picture(tmem_copy(shape).cells, picture_path), as_json))
    else:
        copied = tmem_copied(tile, dtype, swizzle or "none", shape)
        say(answered(with_picture(copied, picture_path), as_json, report=copied.verify()))


@click.command("scale-factors")
@click.option("--mn", required=True, type=int, help="Rows: M of the CTA, or all of N.")
@click.option("--k", required=True, type=int, help="Elements along K.")
@click.option("--vector", required=True, type=int, help="Elements that share a factor: 16, 32 or 64.")
@click.option("--step", type=int, help="K of one instruction.  [default: that of four factors]")
@click.option("--of-64", is_flag=True, help="Of A where each CTA of a pair has 64 rows (M 128).")
@click.option("--halves", is_flag=True, help="Of B there: the halves of N lie apart.")
@click.option("--base", default="0", callback=address, help="Their address in shared memory, in bytes.  [default: 0]")
@picture_option
@json_option("Write layouts, words and the proof as JSON.")
def scale_factors(as_json: bool, base: int, picture_path: str | None, **options: Any) -> None:
    """Show the scale factors of an operand on their way: memory, copies, tensor memory, ids of the K steps; proved.

    \b
    descriptors tmem scale-factors --mn 128 --k 256 --vector 32 --step 64
    descriptors tmem scale-factors --mn 8 --k 64 --vector 16
    """
    factors = scale_factors_of(**options, base=base)
    say(answered(with_picture(factors, picture_path), as_json, report=factors.verify() if base == 0 else None))


@click.command("block-scaled")
@click.option("--a", "a_dtype", required=True, shell_complete=complete, help="Element type of A in shared memory.")
@click.option("--b", "b_dtype", shell_complete=complete, help="Element type of B.  [default: that of A]")
@m_option
@n_option
@click.option("--k", required=True, type=int, help="K of the tile: one or more K steps.")
@click.option("--kind", shell_complete=complete, help="mxf8f6f4, mxf4 or mxf4nvf4.  [default: found from the types]")
@click.option("--scale-dtype", shell_complete=complete, help="ue8m0, ue4m3 or ue5m3.  [default: by the kind]")
@click.option("--scale-vector", type=int, help="Elements that share a factor: 16, 32 or 64.  [default: by the kind]")
@pair_option
@click.option("--a-swizzle", help="Swizzle of A.  [default: the widest that a row fills]")
@click.option("--b-swizzle", help="Swizzle of B.  [default: the widest that a row fills]")
@click.option("--accumulators", type=int, default=1, show_default=True, help="How many are kept at once.")
@click.option("--step", type=int, help="K of one instruction: 96 of sm103, 64 to 128 of sm107.  [default: by the kind]")
@arch_option
@legality_option
@picture_option
@json_option("Write everything as JSON.")
def block_scaled(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Show a block-scaled multiplication whole: operands, scale factors, columns, and the words of each K step.

    \b
    descriptors tmem block-scaled --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    descriptors tmem block-scaled --a e4m3 --m 256 --n 128 --k 128 --cta-group 2
    descriptors tmem block-scaled --a e2m1 --kind mxf4nvf4 --m 256 --n 128 --k 768 --cta-group 2 --step 96 --arch sm103
    """
    product = block_scaled_of(**options)
    say(answered(with_picture(product, picture_path), as_json, reports=product.verify()))


@click.command()
@click.option("--images", default=1, show_default=True, type=int, help="Images: N of the activations.")
@click.option("--height", required=True, type=int, help="H of an image.")
@click.option("--width", required=True, type=int, help="W of an image.")
@click.option("--channels", required=True, type=int, help="C: one or more K steps.")
@click.option("--filters", required=True, type=int, help="How many filters: N of the instruction.")
@click.option("--taps", required=True, callback=numbers("x"), help="RxS, the extents of a filter.")
@click.option("--padding", default="0x0", show_default=True, callback=numbers("x"), help="HxW, on each side.")
@click.option("--stride", default="1x1", show_default=True, callback=numbers("x"), help="HxW.")
@click.option("--dilation", default="1x1", show_default=True, callback=numbers("x"), help="HxW.")
@click.option("--dtype", default="bf16", show_default=True, shell_complete=complete, help="Element type.")
@pair_option
@click.option(
    "--quarters",
    default="all",
    show_default=True,
    shell_complete=complete,
    help="What one tcgen05.shift is taken to move, which is not settled: all, or the one of its address.",
)
@click.option(
    "--start",
    default="clear",
    show_default=True,
    shell_complete=complete,
    help="What D begins with: clear for zeros, middle for the tap that masks no lane.",
)
@click.option("--row", default=0, show_default=True, type=int, help="The output row whose steps are shown.")
@click.option("--tile", default=0, show_default=True, type=int, help="The tile of that row.")
@click.option(
    "--draw", "picture_path", help="Write a picture of the taps too: a file's name in .svg, .tex, .txt, .html."
)
@click.option("--no-verify", is_flag=True, help="Simulate nothing.")
@click.option("--emit", type=click.Choice(["ptx"]), help="Write the steps of that tile as code.")
@legality_option
@json_option("Write steps, masks, traffic and the proof as JSON.")
def shift(
    as_json: bool, no_verify: bool, row: int, tile: int, picture_path: str | None, emit: str | None, **options: Any
) -> None:
    """Show a convolution whose activations move a lane for the next tap (tcgen05.shift), step by step; proved.

    \b
    descriptors tmem shift --images 2 --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1
    descriptors tmem shift --height 1 --width 300 --channels 32 --filters 32 --taps 1x5 --padding 0x2 --cta-group 2

    The outputs of the steps, simulated on whole numbers from N H W C memory on, are compared with the definition of a
    convolution. With a stride or a dilation along W, or more padding there than the taps reach, the activations are
    cut into views of one residue, each of which can be shifted.
    """
    if needs_views(options["taps"], options["stride"], options["dilation"], options["padding"]):
        _views(options, as_json, verify=not no_verify, other=bool(row or tile or picture_path or emit))
        return
    convolution = shift_convolution(**options)
    convolution.steps(row, tile)
    report = None if no_verify else convolution.verify()
    if emit is not None:
        if as_json:
            raise click.UsageError("--emit goes not with --json")
        from descriptors.gemm.programs.shift_ptx import write  # no writer of code, unless it is asked for

        say(write(convolution, "conv", row, tile).removesuffix("\n"))
        return
    if picture_path is not None:
        from descriptors.show.pictures.shift_picture import ShiftPicture  # a picture is not needed otherwise

        draw_beside(ShiftPicture(convolution, row, tile), picture_path)
    say(answered(convolution, as_json, report=report, row=row, tile=tile))


def _views(options: dict[str, Any], as_json: bool, *, verify: bool, other: bool) -> None:
    """A convolution through views."""
    if other:
        raise click.UsageError("--row, --tile, --draw and --emit go with stride and dilation 1 along W")
    names = ("images", "height", "width", "channels")
    activations = [options.pop(name) for name in names]
    filters = [options.pop("filters"), *options.pop("taps")]
    made = shift_views(activations, filters, **options)
    say(answered(made, as_json, report=made.verify() if verify else None))


#: The commands that the group registers.
commands = [accumulator, operand, metadata, plan, check, ld, cp, scale_factors, block_scaled, shift]
