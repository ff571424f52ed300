"""The command ``descriptors chain``: every link of a kernel's data, from global memory and back, against its neighbour.

``commands`` is for the group in ``descriptors.cli``, which also turns an error into one line and exit status 2.
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
@click.option("--tile", metavar="MNxK", help="Rows and columns of the tile that links move; of a file its key tile.")
@click.option("--dtype", shell_complete=complete, help="Type of an element where the chain begins.  [default: bf16]")
@click.option("--arch", shell_complete=complete, help="Of words.  [default: as they say]")
@click.option("--strict", is_flag=True, help="Exit status 1 also where a link was not decided, or a leg is not given.")
@json_option("Write the verdict as JSON.")
def chain(
    links: tuple[str, ...], tile: str | None, dtype: str | None, arch: str | None, strict: bool, as_json: bool
) -> Status:
    """Prove a chain of links, and name the first element on which two neighbours disagree.

    \b
    descriptors chain docs/examples/chain.toml
    descriptors chain --tile 128x64 "tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B" \\
        "layout S<3,3,3> o 0 o (128,64):(64,1)" "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)"
    descriptors chain --tile 128x64 --dtype f32 "accumulator 128x64" tcgen05.ld.32x32b.x32 "convert bf16" \\
        "stmatrix.x4 warps=4x1" "layout S<3,3,3> o 0 o (128,64):(64,1)"

    A LINK has the elements of the tile somewhere, or moves what lies somewhere:

    \b
    tensor LAYOUT [address=]                       a tensor in global memory, (row,column) to elements
    bulk BYTES [from=] [to=]                       bytes from global to shared memory, as they lie
    convolution NxHxWxC filters=KxRxS [padding=] [row=] [tap=R,S] [operand=B]    output pixels, or filters, at a tap
    tma MAP [boxes=X,Y@BYTE;...] [base=] [origin=] [major=K|MN]    copies, either way; MAP as in tensor-map
    layout LAYOUT [base=] [unit=] [swizzle=]       shared memory, (row,column) to elements
    word [WORD] [mma=RxC] [advance=LAYOUT|0,512;0,2,4,6] [major=] [sparse=1]   what instructions read
    ldmatrix.x4.trans[.16x16] [warps=] [pointers=] and stmatrix; pointers: (thread,instruction) to elements
    fragment NAME|LAYOUT [warps=RxC] [tiling=]     registers: an atom, or (thread,value) to row + rows * column
    load, store [NAME|LAYOUT | threads= values=]   by the threads themselves, also as tiled copies
    accumulator MxN [dtype=] [cta_group=] [columns=]               of tcgen05.mma
    tcgen05.ld.32x32b.x32 [column=]                and tcgen05.st, by four warps
    tcgen05.cp.128x256b [WORD] [advance=] [columns=] [blocks=]     from shared to tensor memory
    cells LAYOUT                                   tensor memory, (row,column) to lane << 16 | column in elements
    factors POINTER,... [count=] [each=] [halves=1] [group=]       scale factors that instructions read there
    convert TYPE                                   of values in registers
    shift BITS                                     of narrow elements in registers, left in their bytes

    A fragment smaller than the tile is repeated: warps=RxC below and beside one another, each over its part, rows
    first (tiling=blocked), or piece by piece as in a TiledMMA (raked); a warp's next piece is its next values.
    A FILE has dtype and tile, and links = ["LINK", ...]; or the legs A, B and D of a product, with tile = "MxNxK",
    d_dtype (default f32) and instruction = "m64n128k16". A word without a number is derived from the layout before it.
    Exit status 1 if a link is wrong, 2 if one cannot be.
    """
    if len(links) == 1 and links[0].endswith((".toml", "-")):
        for name, value in (("--tile", tile), ("--dtype", dtype), ("--arch", arch)):
            if value is not None:
                raise click.UsageError(f"{name} goes only with links; a file has it as {name[2:]} = ...")
        report = parse_chain(text_of(links[0], what="TOML", operation="chain")).verify()
    else:
        if tile is None:
            raise click.UsageError("--tile is missing: rows and columns of the tile, as in 128x64")
        report = chain_of(links, tile=tile, dtype=dtype or "bf16", arch=arch or "").verify()
    say(answered(report, as_json))
    return _status(report, strict)


def _status(report: ChainReport, strict: bool) -> Status:
    left = strict and (report.verdict == "incomplete" or report.missing)
    return Status.DIFFERENCE if report.verdict == "wrong" or left else Status.ANSWER


#: The command that the group registers.
commands = [chain]
