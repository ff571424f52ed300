"""The commands ``descriptors tmem ld``, ``cp``, ``scale-factors`` and ``block-scaled``."""

from __future__ import annotations

import re
from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import json_option, legality_option
from descriptors.cli.asking.values import address, numbers
from descriptors.cli.tensor_cores.tmem_layouts import asked_accumulator, m_option, n_option, pair_option, shape_options
from descriptors.errors import DescriptorError
from descriptors.output.chains import block_scaled as told_block_scaled
from descriptors.output.chains import copied as told_copied
from descriptors.output.chains import factors as told_factors
from descriptors.output.tmem import copies as told_copies
from descriptors.output.tmem import fragment, moves, readout, readouts, reductions, widened
from descriptors.scales.block_scaled import block_scaled as block_scaled_of
from descriptors.scales.factors import scale_factors as scale_factors_of
from descriptors.tmem.fragment import TmemFragment
from descriptors.transfer.copied import tmem_copied
from descriptors.transfer.copies import tmem_copies, tmem_copy
from descriptors.transfer.moves import tmem_move
from descriptors.transfer.readout import readout as readout_of
from descriptors.transfer.readout import readouts as readouts_of
from descriptors.transfer.reductions import tmem_reduction
from descriptors.transfer.widening import widened_copy
from layoutalg.cli.console import json_text, say


@click.command()
@click.argument("shape", required=False)
@click.option("--st", "store", is_flag=True, help="The store instead of the load.")
@click.option("--offset", type=int, help="Columns between the halves of 16x32bx2.")
@click.option("--target", help="Refuse a reduction that this architecture has not, such as sm_100a.")
@shape_options(required=False)
@json_option("Write the map, or what the registers hold, as JSON.")
def ld(shape: str | None, store: bool, offset: int | None, target: str | None, as_json: bool, **asked: Any) -> None:
    """Show what registers a tcgen05.ld (or st) of a SHAPE fills, and what they hold of an accumulator.

    \b
    descriptors tmem ld 16x256b.x8
    descriptors tmem ld --m 128 --n 64
    descriptors tmem ld 16x256b --m 128 --n 64 --cta-group 1
    descriptors tmem ld 32x32b.x8.max.abs.f32

    Without an accumulator the answer is the map (thread, register, bit) -> lane, column, bit. With one it is what each
    register holds, (thread, value) -> (m, n), and every load of the four warps; without a SHAPE, a line for each. A
    SHAPE with an operation and a type is tcgen05.ld.red, which has a register more.
    """
    d = asked_accumulator(asked)
    if d is None and shape is None:
        raise click.UsageError("give a SHAPE like 16x256b.x8, an accumulator by --m and --n, or both")
    if d is not None and (store or offset is not None or target is not None):
        raise click.UsageError("--st, --offset and --target go only with a SHAPE alone")
    made, writer = _load(shape or "", store, offset, target) if d is None else _read(d, shape)
    say(json_text(writer.record(made)) if as_json else writer.tell(made))


def _load(shape: str, store: bool, offset: int | None, target: str | None) -> tuple[Any, Any]:
    """A load, a store or a reduction, and what writes it."""
    if target is None and not re.search(r"\.(min|max|[fus]32)\b", shape):
        return tmem_move(shape, "st" if store else "ld", offset=offset), moves
    if store:
        raise click.UsageError("--st goes with no reduction, and --target with nothing else")
    return tmem_reduction(shape, offset=offset, target=target), reductions


def _read(d: TmemFragment, shape: str | None) -> tuple[Any, Any]:
    """How an accumulator is read, by every shape or one, and what writes it."""
    return (readouts_of(d), readouts) if shape is None else (readout_of(d, shape), readout)


@click.command()
@click.argument("shape", required=False)
@click.option("--tile", callback=numbers("x"), help="MNxK of a K-major tile in shared memory, in elements.")
@click.option("--dtype", shell_complete=complete, help="Its element type.")
@click.option("--swizzle", shell_complete=complete, help="Its swizzle: none, 32B, 64B, 128B.  [default: none]")
@json_option("Write the map, or the copies and their proof, as JSON.")
def cp(shape: str | None, tile: tuple[int, ...] | None, dtype: str | None, swizzle: Any, as_json: bool) -> None:
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
    if shape is None:
        found = tmem_copies()
        say(json_text(told_copies.record(found)) if as_json else told_copies.tell(found))
    elif ".b8x16" in shape.casefold():
        if tile is not None:
            raise DescriptorError(
                f"tmem cp: a tile must be copied as it is, found {shape}; {widened.OPEN} is not settled"
            )
        wide = widened_copy(shape)
        say(json_text(widened.record(wide)) if as_json else widened.tell(wide))
    elif tile is None or dtype is None:
        cells = tmem_copy(shape).cells
        say(json_text(fragment.record(cells)) if as_json else fragment.tell(cells))
    else:
        made = tmem_copied(tile, dtype, swizzle or "none", shape)
        report = made.verify()
        say(json_text(told_copied.record(made, report)) if as_json else told_copied.tell(made, report))


@click.command("scale-factors")
@click.option("--mn", required=True, type=int, help="Rows: M of the CTA, or all of N.")
@click.option("--k", required=True, type=int, help="Elements along K.")
@click.option("--vector", required=True, type=int, help="Elements that share a factor: 16 or 32.")
@click.option("--step", type=int, help="K of one instruction.  [default: that of four factors]")
@click.option("--of-64", is_flag=True, help="Of A where each CTA of a pair has 64 rows (M 128).")
@click.option("--halves", is_flag=True, help="Of B there: the halves of N lie apart.")
@click.option("--base", default="0", callback=address, help="Their address in shared memory, in bytes.  [default: 0]")
@json_option("Write layouts, words and the proof as JSON.")
def scale_factors(as_json: bool, base: int, **asked: Any) -> None:
    """Show the scale factors of an operand on their way: memory, copies, tensor memory, ids of the K steps; proved.

    \b
    descriptors tmem scale-factors --mn 128 --k 256 --vector 32 --step 64
    descriptors tmem scale-factors --mn 8 --k 64 --vector 16
    """
    made = scale_factors_of(**asked, base=base)
    report = made.verify() if base == 0 else None
    say(json_text(told_factors.record(made, report)) if as_json else told_factors.tell(made, report))


@click.command("block-scaled")
@click.option("--a", "a_dtype", required=True, shell_complete=complete, help="Element type of A in shared memory.")
@click.option("--b", "b_dtype", shell_complete=complete, help="Element type of B.  [default: that of A]")
@m_option
@n_option
@click.option("--k", required=True, type=int, help="K of the tile: one or more K steps.")
@click.option("--kind", shell_complete=complete, help="mxf8f6f4, mxf4 or mxf4nvf4.  [default: found from the types]")
@click.option("--scale-dtype", shell_complete=complete, help="ue8m0 or ue4m3.  [default: by the kind]")
@click.option("--scale-vector", type=int, help="Elements that share a factor: 16 or 32.  [default: by the kind]")
@pair_option
@click.option("--a-swizzle", help="Swizzle of A.  [default: the widest that a row fills]")
@click.option("--b-swizzle", help="Swizzle of B.  [default: the widest that a row fills]")
@click.option("--accumulators", type=int, default=1, show_default=True, help="How many are kept at once.")
@legality_option
@json_option("Write everything as JSON.")
def block_scaled(as_json: bool, **asked: Any) -> None:
    """Show a block-scaled multiplication whole: operands, scale factors, columns, and the words of each K step.

    \b
    descriptors tmem block-scaled --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    descriptors tmem block-scaled --a e4m3 --m 256 --n 128 --k 128 --cta-group 2
    """
    made = block_scaled_of(**asked)
    reports = made.verify()
    say(json_text(told_block_scaled.record(made, reports)) if as_json else told_block_scaled.tell(made, reports))


#: The commands that the group registers.
commands = [ld, cp, scale_factors, block_scaled]
