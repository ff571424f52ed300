"""A tile instead of a layout: the options by which the commands for debugging are asked as ``derive`` is.

Law: a question by ``--tile --swizzle --stages --order`` is that with the layout which ``derive`` makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import Option, need, together
from descriptors.cli.asking.values import numbers
from descriptors.derivation.derive import derive
from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.operand import major_of

#: ``--stages``, the third extent of a tile by its own name.
stages_option = click.option(
    "--stages", type=click.IntRange(1, 1 << 16), help="Copies of the tile, as a third extent.  [default: one]"
)

order_option = click.option(
    "--order",
    callback=numbers(","),
    help="Stacking order of the atoms: 0,1 along MN first; 1,0 along K first.  [default: the contiguous one last]",
)

#: What a tile does not tell of itself.
_NEEDED = ("major", "swizzle")

_swizzle_option = click.option(
    "--swizzle", shell_complete=complete, help="Of the tile: none, 32B, 64B, 128B or 128B_BASE32B."
)

major_option = click.option(
    "--major", shell_complete=complete, help="Of the tile: K or MN, the dimension that is contiguous."
)


def tile_options(instead_of: str, *, swizzle: bool = True) -> Option:
    """The options of a tile.

    Args:
        instead_of: the argument that they replace.
        swizzle: whether ``--swizzle`` is one of them; not where the command has it for layouts too.
    """
    tile = click.option(
        "--tile", callback=numbers("x"), help=f"Instead of {instead_of} a tile of atoms, MNxK or MNxKxSTAGES."
    )
    return together(tile, *([_swizzle_option] if swizzle else []), stages_option, order_option)


def staged(tile: tuple[int, ...] | None, stages: int | None) -> tuple[int, ...] | None:
    """The extents of a tile with its stages.

    Raises:
        click.UsageError: if they are given twice, or without a tile.

    >>> staged((128, 64), 4)
    (128, 64, 4)
    """
    if stages is None:
        return tile
    if tile is None:
        raise click.UsageError("--stages goes only with --tile")
    if len(tile) != 2:
        raise click.UsageError("--stages goes only with a --tile MNxK; give the stages once")
    return (*tile, stages)


def derived_tile(
    instead: object, name: str, given: dict[str, Any], own: tuple[str, ...] = (), **reader: Any
) -> Derivation | None:
    """The tile that a command was asked about; None where it was given what the tile replaces.

    Args:
        instead: what it was given instead, None for nothing.
        name: what that is called.
        given: the command's options, of which those of a tile are taken out.
        own: those of a tile's options that the command itself has, so that they stay and go with anything.
        reader: the other arguments of ``derive``. An ``mma`` of None is the whole tile; no instruction need exist.

    Raises:
        click.UsageError: if it was given both, or neither, or options of a tile without one.
    """
    asked: Mapping[str, Any] = {
        one: given[one] if one in own else given.pop(one) for one in ("tile", "stages", "swizzle", "order")
    }
    if (asked["tile"] is None) == (instead is None):
        found = "neither" if instead is None else "both"
        raise click.UsageError(f"give either {name} or --tile, found {found}")
    tile = staged(asked["tile"], asked["stages"])
    if tile is None:
        for one in ("swizzle", "order"):
            if asked[one] is not None and one not in own:
                raise click.UsageError(f"--{one} goes only with --tile")
        return None
    need({"tile": tile, "swizzle": asked["swizzle"], "major": major_of(asked["swizzle"], reader["major"])}, *_NEEDED)
    mma = reader.pop("mma") or tile[:2]
    picked = {"swizzle": asked["swizzle"], "order": asked["order"], "mma": mma, **reader}
    return derive(tile=tile, legality="off", capacity=None, verify=False, **picked)
