"""The commands ``descriptors tma``, which plans the copies that fill a tile, and ``tensor-map``, which decodes a map.

``commands`` is for the group in ``descriptors.cli``, which also turns an error into one line and exit status 2.
"""

from __future__ import annotations

import re
from typing import Any

import click

from descriptors.answers import tell
from descriptors.cli.derive import derive
from descriptors.cli.options import OptionsOnly, advising_tile, json_option, need, option, staged, unit_option
from descriptors.cli.terminal import answered, diff_record, for_terminal, option_name
from descriptors.cli.values import address, numbers, word
from descriptors.smem.derivation.arguments import names
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive as derive_tile
from descriptors.smem.instructions.rules import as_mode
from descriptors.smem.operands.atoms import canonical_atom
from descriptors.smem.operands.explicit import as_unit, contiguous_major, explicit_tile
from descriptors.smem.operands.operand import as_element_type, as_major, as_swizzle_mode, major_of
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.tma.map_check import BoxCheck, MapChanges, WordCheck, box_check, map_changes, word_check
from descriptors.smem.tma.map_notation import parse_tensor_map
from descriptors.smem.tma.tma_planner import tma_plan
from descriptors.smem.words.descriptor import architecture
from descriptors.smem.words.tensor_map import TensorMap
from layoutalg import rank, size
from layoutalg.cli.console import Status, json_text, say, standard_input


@click.command(cls=OptionsOnly, params=[row for row in derive.params if row.name in names("tma") and row.name != "mma"])
@option(
    "mma",
    metavar="MNxK",
    help="Part of the operand that one instruction reads from one CTA, in elements. Without it, no instruction is "
    "checked.",
)
@click.option(
    "--rank",
    type=int,
    metavar="N",
    help="Maximum number of dimensions of the tensor map, 2 to 5.  [default: that with the fewest boxes]",
)
@json_option("Print the plan with all boxes as JSON.")
def tma(rank: int | None, as_json: bool, **options: Any) -> None:
    """Plan the TMA copies that fill a shared-memory tile, and verify them.

    \b
    descriptors tma --dtype bf16 --major K --swizzle 128B --tile 128x128
    descriptors tma --dtype bf16 --major MN --swizzle 64B --tile 128x128x4 --json
    descriptors tma --dtype bf16 --major K --swizzle none --tile 128x64 --rank 2

    The plan contains the arguments of cuTensorMapEncodeTiled (data type, swizzle, box), the number of boxes, and the
    source and destination of each. With --rank 2, the dimensions of the map are those of the tensor. With a
    higher rank, one dimension of the tensor may become several dimensions of the map, so that fewer, larger boxes
    suffice. The verification follows each element of each box to shared memory and compares its address with the tile's
    layout. --mma and --legality only check that an instruction can read the tile; a copy does not depend on them. A
    LAYOUT does not have to be partitioned.
    """
    with advising_tile(options, lambda changed: tma_plan(_filled(changed), rank)):
        tile = filled_tile({**options})
        plan = tma_plan(tile, rank)
    say(answered(plan, as_json, proved=plan.verify(), arch=tile.arch))


@click.command("tensor-map")
@click.argument("text", metavar="MAP")
@click.argument("against", required=False)
@option("dtype", required=False, help="Element type.  [default: the map's data type; u8 for bytes]")
@option("major", help="Dimension 0 of the map; for an interleaved map, the channels of a slice.")
@option(
    "arch",
    callback=None,
    help="GPU that uses the map and reads the descriptor: sm90, sm100, sm103, sm107 or sm110.  "
    "[default: from the descriptor; sm90 for MAP alone]",
)
@click.option(
    "--shape",
    "--mma",
    "shape",
    callback=numbers("x"),
    metavar="MNxK",
    help="With a descriptor: what one instruction reads.  [default: the whole box]",
)
@click.option(
    "--base",
    metavar="ADDRESS",
    callback=address,
    help="With a descriptor: address of the box in bytes.  [default: assumed]",
)
@unit_option
@json_option("Print JSON.")
def tensor_map(text: str, against: str | None, as_json: bool, **options: Any) -> Status:
    """Decode and validate a tensor map, and compare it with another map, a descriptor or a layout.

    \b
    descriptors tensor-map "type=bf16 extents=4096x4096 strides=8192 box=64x128 swizzle=128B"
    descriptors tensor-map "type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B" 0x4000404000010000 --major K
    descriptors tensor-map "type=u8 extents=64x8 strides=64 box=64x8" "(8,64):(64,1)" --major K

    MAP contains the driver's arguments as NAME=VALUE, fastest dimension first, with the names of cuda.h or those above;
    or the 128 bytes as a debugger prints them (x/16gx, or print); or 256 hexadecimal digits. "-" reads it from standard
    input. An im2col map has lower=, upper=, channels= and pixels= instead of a box. The exit status is 1 if the driver
    rejects the map or the comparison finds a difference. A comparison with a descriptor is undecided (exit status 0) if
    the instruction reads more than the box fills; the first line names both.
    """
    tensor_map_ = parse_tensor_map(standard_input().read() if text == "-" else text)
    if against is None:
        _check_options(options, "")
        arch = architecture(options["arch"] or "sm90")
        say(answered(tensor_map_, as_json, arch=arch))
        return Status.DIFFERENCE if tensor_map_.refusals(arch) else Status.ANSWER
    answer = _compare(tensor_map_, against.strip(), options)
    if not isinstance(answer, WordCheck):
        say(answered(answer, as_json))
        return Status.ANSWER if answer.ok else Status.DIFFERENCE
    if as_json:
        say(json_text(diff_record(answer, answer.diff)))
    else:
        say(for_terminal(tell(answer, name_of=option_name)))
    return Status.DIFFERENCE if answer.wrong else Status.ANSWER


def _compare(tensor_map_: TensorMap, against: str, options: dict[str, Any]) -> MapChanges | BoxCheck | WordCheck:
    """Compare a map with another map, a descriptor, or a layout."""
    arch: dict[str, Any] = {} if options["arch"] is None else {"arch": architecture(options["arch"])}
    if "=" in against or len(against) >= 128:
        _check_options(options, "")
        return map_changes(tensor_map_, parse_tensor_map(against), **arch)
    if options["major"] is None:
        raise click.UsageError("--major is missing; --major: K or MN, the dimension 0 of the map")
    if re.fullmatch("(0x)?[0-9a-f_']+", against, re.ASCII | re.IGNORECASE):
        context = click.get_current_context()
        number = word(context, context.command.params[1], against)
        assert number is not None  # it was typed
        return word_check(
            tensor_map_, number, **{name: options[name] for name in ("arch", "dtype", "major", "shape", "base")}
        )
    _check_options(options, "a layout")
    return box_check(tensor_map_, against, **{name: options[name] for name in ("dtype", "major", "unit")}, **arch)


def _check_options(options: dict[str, Any], against: str) -> None:
    """Refuse options that only a comparison with a word or a layout takes."""
    takers = dict.fromkeys(("dtype", "major"), ("a word", "a layout")) | dict.fromkeys(("shape", "base"), ("a word",))
    for name, kinds in takers.items():
        if options[name] is not None and against not in kinds:
            raise click.UsageError(f"--{name} needs {' or '.join(kinds)} as AGAINST")


def filled_tile(options: dict[str, Any]) -> Derivation:
    """Return the tile that copies fill; without an instruction, and not partitioned, it is cut into atoms."""
    as_mode(options["legality"])  # of single atoms no instruction is asked, so that nobody else would look at it
    if options["tile"] is None and options["layout"] is None:
        raise click.UsageError("neither --tile nor --layout is given")
    if options["mma"] is None and options["layout"] is None:
        need(options, "major", "swizzle")
    with advising_tile(options, _filled):
        return _filled({**options})


def _filled(options: dict[str, Any]) -> Derivation:
    """Derive the tile of these options."""
    options["tile"] = staged(options["tile"], options.pop("stages"))
    if options["mma"] is None and (extents := _atom_extents(options)):
        options = {**options, "mma": extents, "legality": "off"}
    return derive_tile(**options, verify=False)


def _atom_extents(options: dict[str, Any]) -> tuple[int, ...] | None:
    """Return the extents of an atom of a tile, or of the part of one that a layout has; None if it is partitioned.

    Every canonical form allows that a tile is cut into atoms.
    """
    element, swizzle, major = as_element_type(options["dtype"]), options["swizzle"], options["major"]
    tile: tuple[int, ...] = ()
    if options["layout"] is not None:
        layout, swizzle = explicit_tile(options["layout"], element, swizzle, as_unit(options["unit"]))
        rows = plain(layout)
        if rank(rows) > 2 and rank(rows[0]) == 2:  # as partition_A makes it
            return None
        major = major or contiguous_major(rows, element)
        tile = tuple(size(mode) for mode in rows)
    atom = canonical_atom(as_major(major_of(swizzle, major)), as_swizzle_mode(swizzle))
    extents = [size(mode) for mode in plain(atom.in_elements(element))]
    return tuple(map(min, extents, tile or extents))


#: The commands that the group registers.
commands = [tma, tensor_map]
