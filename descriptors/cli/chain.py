"""The command ``descriptors chain``: compare each link of a kernel's data path with the next.

The path leads from global memory through shared memory and registers and back.

``commands`` is for the group in ``descriptors.cli``, which also prints an error and returns exit status 2.
"""

from __future__ import annotations

import click

from descriptors.cli.kernel_files import text_of
from descriptors.cli.options import json_option
from descriptors.cli.terminal import answered
from descriptors.cli.values import complete
from descriptors.gemm.chain import ChainReport
from descriptors.gemm.chain_notation import chain as chain_of
from descriptors.gemm.chain_notation import parse_chain
from layoutalg.cli.console import Status, say


@click.command()
@click.argument("links", nargs=-1, required=True, metavar="FILE.toml|LINK...")
@click.option(
    "--tile",
    metavar="MNxK",
    help="Rows and columns of the tile that the links move; required, unless a FILE contains it.",
)
@click.option(
    "--dtype", metavar="DTYPE", shell_complete=complete, help="Element type at the start of the chain.  [default: bf16]"
)
@click.option(
    "--arch",
    metavar="ARCH",
    shell_complete=complete,
    help="Architecture of the descriptors.  [default: from the descriptor]",
)
@click.option(
    "--strict", is_flag=True, help="Also exit with 1 if a link is undecided or a chain of the product is missing."
)
@json_option("Write the verdict as JSON.")
def chain(
    links: tuple[str, ...], tile: str | None, dtype: str | None, arch: str | None, strict: bool, as_json: bool
) -> Status:
    """Compare tensor map, layout, descriptor, fragment and store of a kernel; name the first element that differs.

    \b
    descriptors chain docs/examples/chain.toml
    descriptors chain --tile 128x64 "tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B" \\
        "layout S<3,3,3> o 0 o (128,64):(64,1)" "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)"
    descriptors chain --tile 128x64 --dtype f32 "accumulator 128x64" tcgen05.ld.32x32b.x32 "convert bf16" \\
        "stmatrix.x4 warps=4x1" "layout S<3,3,3> o 0 o (128,64):(64,1)"

    A LINK describes where the elements of the tile are stored, or how they are moved:

    \b
    tensor LAYOUT [address=]                       tensor in global memory, (row,column) to elements
    bulk BYTES [from=] [to=]                       bytes from global to shared memory, unchanged
    convolution NxHxWxC filters=KxRxS [padding=] [row=] [tap=R,S] [operand=B]    output pixels, or filters, at a tap
    tma MAP [boxes=X,Y@BYTE;...] [base=] [origin=] [major=K|MN]    copies, either way; MAP as in tensor-map
    layout LAYOUT [base=] [unit=] [swizzle=]       shared memory, (row,column) to elements
    word [WORD] [mma=RxC] [advance=LAYOUT|0,512;0,2,4,6] [major=] [sparse=1]   descriptor of an operand
    ldmatrix.x4.trans[.16x16] [warps=] [pointers=] and stmatrix; pointers: (thread,instruction) to elements
    fragment NAME|LAYOUT [warps=RxC] [tiling=]     registers: an atom, or (thread,value) to row + rows * column
    load, store [NAME|LAYOUT | threads= values=]   by the threads, also as tiled copies
    accumulator MxN [dtype=] [cta_group=] [columns=]               tensor memory, written by tcgen05.mma
    tcgen05.ld.32x32b.x32 [column=]                and tcgen05.st, by four warps
    tcgen05.cp.128x256b [WORD] [advance=] [columns=] [blocks=]     from shared to tensor memory
    cells LAYOUT                                   tensor memory, (row,column) to lane << 16 | column in elements
    factors POINTER,... [count=] [each=] [halves=1] [group=]       scale factors in tensor memory
    convert TYPE                                   conversion of values in registers
    shift BITS                                     shift of narrow elements to the left in their bytes

    A fragment smaller than the tile is repeated over RxC warps: each warp has one contiguous part, rows first
    (tiling=blocked), or the warps alternate as in a TiledMMA (tiling=raked). A FILE of one chain contains dtype, tile
    and links = ["LINK", ...]. A FILE of a product contains the chains A, B and D, tile = "MxNxK", d_dtype (default
    f32) and instruction = "m64n128k16". A word link without a number is derived from the layout before it. The exit
    status is 1 if a link is wrong, and 2 if one is impossible.
    """
    if len(links) == 1 and links[0].endswith((".toml", "-")):
        for name, value in (("--tile", tile), ("--dtype", dtype), ("--arch", arch)):
            if value is not None:
                raise click.UsageError(f"{name} needs links on the command line; in a file, write {name[2:]} = ...")
        report = parse_chain(text_of(links[0], language="TOML", operation="chain")).verify()
    else:
        if tile is None:
            raise click.UsageError("--tile is missing; --tile: rows and columns of the tile, such as 128x64")
        report = chain_of(links, tile=tile, dtype=dtype or "bf16", arch=arch or "").verify()
    say(answered(report, as_json))
    return _status(report, strict)


def _status(report: ChainReport, strict: bool) -> Status:
    left = strict and (report.verdict == "incomplete" or report.missing)
    return Status.DIFFERENCE if report.verdict == "wrong" or left else Status.ANSWER


#: The command that the group registers.
commands = [chain]
