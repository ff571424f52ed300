"""The commands of ``descriptors tmem``: layouts in tensor memory, copies and loads, and whole multiplications."""

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
    "--arch",
    default="sm100",
    show_default=True,
    shell_complete=complete,
    metavar="ARCH",
    help="sm100, sm103, sm107 or sm110.",
)
pair_option = click.option(
    "--cta-group",
    type=int,
    default=1,
    show_default=True,
    metavar="1|2",
    help="CTAs that execute the instruction together.",
)
ws_option = click.option("--ws", is_flag=True, help="Use the weight-stationary form.")
sparse_option = click.option("--sparse", is_flag=True, help="The instruction is sparse; A is stored without its zeros.")
d_option = click.option(
    "--d", "dtype", default="f32", show_default=True, metavar="DTYPE", help="Type of the accumulator: f32, s32 or f16."
)


picture_option = click.option(
    "--draw", "picture_path", metavar="FILE", help="Also write a picture: .svg, .tex, .txt or .html."
)


def with_picture(answer: Any, path: str | None) -> Any:
    """Return the answer, after writing its picture to a file if a path is given."""
    draw_beside(answer, path)
    return answer


def shape_options(*, required: bool = True) -> Option:
    """Return the options that describe an accumulator; with ``required``, M and N are mandatory."""
    extents = [
        click.option(name, required=required, type=int, help=text)
        for name, text in (
            ("--m", "M of the instruction, over both CTAs of a pair."),
            ("--n", "N of the instruction."),
        )
    ]
    kind = click.option(
        "--kind",
        shell_complete=complete,
        metavar="KIND",
        help="Kind of the instruction.  [default: from the type of the accumulator]",
    )
    return together(*extents, d_option, pair_option, ws_option, sparse_option, kind, arch_option, legality_option)


@click.command()
@shape_options()
@click.option(
    "--tiles", type=(int, int), default=(1, 1), show_default=True, help="Number of accumulators along M and along N."
)
@click.option("--apart", is_flag=True, help="Place a second tile of M 64 in new columns instead of the free lanes.")
@picture_option
@json_option("Print JSON.")
def accumulator(as_json: bool, apart: bool, picture_path: str | None, **options: Any) -> None:
    """Print the lane and the column of each element (m, n) of an accumulator.

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
@json_option("Print JSON.")
def operand(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Print the lane, column and bit of each element (m, k) of an A operand in tensor memory.

    \b
    descriptors tmem operand --m 128 --k 64 --dtype bf16
    """
    say(answered(with_picture(operand_a(**options), picture_path), as_json))


@click.command()
@click.option("--m", required=True, type=int, help="Rows of A in the CTA.")
@click.option("--k", required=True, type=int, help="Logical K of the tile, including zeros.")
@click.option("--dtype", required=True, shell_complete=complete, help="Element type of A.")
@ws_option
@picture_option
@json_option("Print JSON.")
def metadata(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Print the lane, column and bit of the metadata of each logical element (m, k) of a sparse A.

    \b
    descriptors tmem metadata --m 128 --k 32 --dtype bf16
    """
    say(answered(with_picture(sparse_metadata(**options), picture_path), as_json))


@click.command()
@m_option
@n_option
@click.option("--k", type=int, help="K of the tile whose A, scale factors or metadata are in tensor memory.")
@click.option(
    "--a",
    "dtype",
    default="bf16",
    metavar="DTYPE",
    show_default=True,
    shell_complete=complete,
    help="Element type of A.",
)
@click.option(
    "--b", "b_dtype", metavar="DTYPE", shell_complete=complete, help="Element type of B.  [default: that of A]"
)
@click.option("--d", "d_dtype", metavar="DTYPE", help="Type of the accumulator.  [default: f32; s32 for integers]")
@click.option(
    "--kind", metavar="KIND", shell_complete=complete, help="Kind of the instruction.  [default: from the types]"
)
@pair_option
@ws_option
@sparse_option
@click.option("--a-source", default="smem", show_default=True, metavar="smem|tmem", help="Memory that contains A.")
@click.option(
    "--scale-dtype",
    metavar="DTYPE",
    shell_complete=complete,
    help="Type of the scale factors: ue8m0, ue4m3, or ue5m3 (sm107).",
)
@click.option("--scale-vector", type=int, help="Elements per scale factor: 16, 32 or 64.")
@click.option("--accumulators", type=int, default=1, show_default=True, help="Number of accumulators at the same time.")
@click.option(
    "--stages",
    type=int,
    default=1,
    show_default=True,
    help="Number of tiles of A, scale factors and metadata at the same time.",
)
@click.option("--interleaved", is_flag=True, help="Let two accumulators of M 64 share their columns.")
@click.option(
    "--blocks",
    type=int,
    nargs=2,
    default=(1, 1),
    show_default=True,
    help="Number of instructions along M and along N of a tile.",
)
@click.option("--ctas", type=int, default=1, show_default=True, help="Number of CTAs that must fit on an SM.")
@arch_option
@legality_option
@picture_option
@json_option("Print JSON.")
def plan(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Plan the tensor-memory columns of a CTA: the range of each part, the allocation, and the CTAs per SM.

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
@json_option("Print the findings as JSON.")
def check(events_: tuple[str, ...], as_json: bool) -> Status:
    """Check a sequence of tensor-memory instructions; exit status 1 if there is an error.

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
    """Return the accumulator that the options describe; None if neither M nor N is given.

    Raises:
        DescriptorError: if only one of M and N is given.
    """
    if (options["m"] is None) != (options["n"] is None):
        raise DescriptorError("tmem ld: an accumulator needs both --m and --n")
    return None if options["m"] is None else accumulator_of(**options)


@click.command()
@click.argument("shape", required=False)
@click.option("--st", "store", is_flag=True, help="Describe the store instead of the load.")
@click.option("--offset", type=int, help="Distance in columns between the halves of 16x32bx2.")
@click.option("--target", metavar="TARGET", help="Target that must support the reduction, such as sm_100a.")
@shape_options(required=False)
@picture_option
@json_option("Print JSON.")
def ld(
    shape: str | None,
    store: bool,
    offset: int | None,
    target: str | None,
    picture_path: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the registers that a tcgen05.ld (or st) of a SHAPE fills, and the accumulator elements they hold.

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
        raise click.UsageError(
            "neither a SHAPE nor an accumulator is given; use a SHAPE such as 16x256b.x8, --m and --n, or both"
        )
    if d is not None and (store or offset is not None or target is not None):
        raise click.UsageError("--st, --offset and --target need a SHAPE and cannot be combined with an accumulator")
    if shape is None and picture_path is not None:
        raise click.UsageError("--draw needs a SHAPE, such as 16x256b")
    load = _load(shape or "", store, offset, target) if d is None else readout_of(d, shape) if shape else readouts_of(d)
    say(answered(with_picture(load, picture_path), as_json))


def _load(shape: str, store: bool, offset: int | None, target: str | None) -> TmemMove | TmemReduction:
    """Return the load, the store or the reduction with a name."""
    if target is None and not re.search(r"\.(min|max|[fus]32)\b", shape):
        return tmem_move(shape, "st" if store else "ld", offset=offset)
    if store:
        raise click.UsageError("--st cannot be combined with a reduction, and --target needs one")
    return tmem_reduction(shape, offset=offset, target=target)


@click.command()
@click.argument("shape", required=False)
@click.option("--tile", callback=numbers("x"), metavar="MNxK", help="K-major tile in shared memory, in elements.")
@click.option("--dtype", shell_complete=complete, metavar="DTYPE", help="Element type of the tile.")
@click.option(
    "--swizzle",
    shell_complete=complete,
    metavar="MODE",
    help="Swizzle of the tile: none, 32B, 64B or 128B.  [default: none]",
)
@picture_option
@json_option("Print JSON.")
def cp(
    shape: str | None,
    tile: tuple[int, ...] | None,
    dtype: str | None,
    swizzle: Any,
    picture_path: str | None,
    as_json: bool,
) -> None:
    """Print where a tcgen05.cp of a SHAPE writes; for a tile, the verified descriptor and column of each copy.

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
        raise click.UsageError("--tile and --dtype need each other and a SHAPE, and --swizzle needs both")
    if picture_path is not None and (shape is None or ".b8x16" in shape.casefold()):
        raise click.UsageError("--draw needs a SHAPE without .b8x16, such as 128x256b")
    if shape is None:
        say(answered(tmem_copies(), as_json))
    elif ".b8x16" in shape.casefold():
        if tile is not None:
            raise DescriptorError(f"tmem cp: {shape} expands the elements while it copies, and {OPEN} is not settled")
        say(answered(widened_copy(shape), as_json))
    elif tile is None or dtype is None:
        say(answered(with_picture(tmem_copy(shape).cells, picture_path), as_json))
    else:
        copied = tmem_copied(tile, dtype, swizzle or "none", shape)
        say(answered(with_picture(copied, picture_path), as_json, report=copied.verify()))


@click.command("scale-factors")
@click.option("--mn", required=True, type=int, help="Rows: M of the CTA, or all of N.")
@click.option("--k", required=True, type=int, help="Elements along K.")
@click.option("--vector", required=True, type=int, help="Elements per scale factor: 16, 32 or 64.")
@click.option("--step", type=int, help="K of one instruction.  [default: that of four scale factors]")
@click.option("--of-64", is_flag=True, help="A, if each CTA of a pair has 64 rows (M 128).")
@click.option("--halves", is_flag=True, help="B in that case: the halves of N are stored separately.")
@click.option(
    "--base", default="0", callback=address, metavar="ADDRESS", help="Address in shared memory, in bytes.  [default: 0]"
)
@picture_option
@json_option("Print JSON.")
def scale_factors(as_json: bool, base: int, picture_path: str | None, **options: Any) -> None:
    """Plan the scale factors of an operand: shared memory, copies, tensor memory, IDs of the K steps; verified.

    \b
    descriptors tmem scale-factors --mn 128 --k 256 --vector 32 --step 64
    descriptors tmem scale-factors --mn 8 --k 64 --vector 16
    """
    factors = scale_factors_of(**options, base=base)
    say(answered(with_picture(factors, picture_path), as_json, report=factors.verify() if base == 0 else None))


@click.command("block-scaled")
@click.option(
    "--a",
    "a_dtype",
    metavar="DTYPE",
    required=True,
    shell_complete=complete,
    help="Element type of A in shared memory.",
)
@click.option(
    "--b", "b_dtype", metavar="DTYPE", shell_complete=complete, help="Element type of B.  [default: that of A]"
)
@m_option
@n_option
@click.option("--k", required=True, type=int, help="K of the tile: one or more K steps.")
@click.option(
    "--kind",
    metavar="KIND",
    shell_complete=complete,
    help="mxf8f6f4, mxf4 or mxf4nvf4.  [default: from the types]",
)
@click.option(
    "--scale-dtype",
    metavar="DTYPE",
    shell_complete=complete,
    help="Type of the scale factors: ue8m0, ue4m3 or ue5m3.  [default: from the kind]",
)
@click.option("--scale-vector", type=int, help="Elements per scale factor: 16, 32 or 64.  [default: from the kind]")
@pair_option
@click.option("--a-swizzle", metavar="MODE", help="Swizzle of A.  [default: the widest that a row fills]")
@click.option("--b-swizzle", metavar="MODE", help="Swizzle of B.  [default: the widest that a row fills]")
@click.option("--accumulators", type=int, default=1, show_default=True, help="Number of accumulators at the same time.")
@click.option(
    "--step", type=int, help="K of one instruction: 96 on sm103, 64 to 128 on sm107.  [default: from the kind]"
)
@arch_option
@legality_option
@picture_option
@json_option("Print JSON.")
def block_scaled(as_json: bool, picture_path: str | None, **options: Any) -> None:
    """Plan a block-scaled multiplication: operands, scale factors, columns, and the descriptors of each K step.

    \b
    descriptors tmem block-scaled --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    descriptors tmem block-scaled --a e4m3 --m 256 --n 128 --k 128 --cta-group 2
    descriptors tmem block-scaled --a e2m1 --kind mxf4nvf4 --m 256 --n 128 --k 768 --cta-group 2 --step 96 --arch sm103
    """
    product = block_scaled_of(**options)
    say(answered(with_picture(product, picture_path), as_json, reports=product.verify()))


@click.command()
@click.option("--images", default=1, show_default=True, type=int, help="Number of images (N of the activations).")
@click.option("--height", required=True, type=int, help="Height of an image.")
@click.option("--width", required=True, type=int, help="Width of an image.")
@click.option("--channels", required=True, type=int, help="Number of channels: one or more K steps.")
@click.option("--filters", required=True, type=int, help="Number of filters (N of the instruction).")
@click.option("--taps", required=True, callback=numbers("x"), metavar="RxS", help="Size of a filter.")
@click.option(
    "--padding",
    metavar="HxW",
    default="0x0",
    show_default=True,
    callback=numbers("x"),
    help="Padding on each side.",
)
@click.option("--stride", metavar="HxW", default="1x1", show_default=True, callback=numbers("x"), help="Stride.")
@click.option("--dilation", metavar="HxW", default="1x1", show_default=True, callback=numbers("x"), help="Dilation.")
@click.option(
    "--dtype", metavar="DTYPE", default="bf16", show_default=True, shell_complete=complete, help="Element type."
)
@pair_option
@click.option(
    "--quarters",
    default="all",
    show_default=True,
    shell_complete=complete,
    metavar="all|one",
    help="Quarters of 32 lanes that one tcgen05.shift moves: all, or the one of its address. PTX does not say which.",
)
@click.option(
    "--start",
    default="clear",
    show_default=True,
    shell_complete=complete,
    metavar="clear|middle",
    help="Initial value of D: zeros (clear), or the tap that masks no lane (middle).",
)
@click.option("--row", default=0, show_default=True, type=int, help="Output row whose steps are shown.")
@click.option("--tile", default=0, show_default=True, type=int, help="Tile of that row.")
@click.option(
    "--draw", "picture_path", metavar="FILE", help="Also write a picture of the taps: .svg, .tex, .txt or .html."
)
@click.option("--no-verify", is_flag=True, help="Skip the simulation.")
@click.option("--emit", type=click.Choice(["ptx"]), help="Generate the steps of that tile as code.")
@legality_option
@json_option("Print JSON.")
def shift(
    as_json: bool, no_verify: bool, row: int, tile: int, picture_path: str | None, emit: str | None, **options: Any
) -> None:
    """Plan a convolution that shifts its activations by one lane per tap (tcgen05.shift), and verify it.

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
            raise click.UsageError("--emit and --json cannot be combined")
        from descriptors.gemm.programs.shift_ptx import write  # imported only to generate code

        say(write(convolution, "conv", row, tile).removesuffix("\n"))
        return
    if picture_path is not None:
        from descriptors.show.pictures.shift_picture import ShiftPicture  # a picture is not needed otherwise

        draw_beside(ShiftPicture(convolution, row, tile), picture_path)
    say(answered(convolution, as_json, report=report, row=row, tile=tile))


def _views(options: dict[str, Any], as_json: bool, *, verify: bool, other: bool) -> None:
    """Write the answer about a convolution through views."""
    if other:
        raise click.UsageError("--row, --tile, --draw and --emit need stride 1 and dilation 1 along W")
    names = ("images", "height", "width", "channels")
    activations = [options.pop(name) for name in names]
    filters = [options.pop("filters"), *options.pop("taps")]
    views = shift_views(activations, filters, **options)
    say(answered(views, as_json, report=views.verify() if verify else None))


#: The commands that the group registers.
commands = [accumulator, operand, metadata, plan, check, ld, cp, scale_factors, block_scaled, shift]
