"""Two sets of accumulators in turn: one is read and stored while the next tile is multiplied into the other.

Output tile t of a CTA has set t mod 2. The warp that multiplies waits until its set is free, and commits it; the warps
that read wait for that, and free it. Where tensor memory has not the columns for both, as of N 256 with scale factors,
the last columns of set 0 are the first of set 1. Those are read first, of either set, and then the next tile may be
multiplied: one barrier, on which tile t + 1 waits for tile t. It waits thereby for all of tile t - 1 too, since warps
read tile after tile. NVIDIA's example of a persistent block-scaled product overlaps accumulators likewise (CuTe DSL,
``overlapping_accum``); the rule as it stands here, and its proof, are ours. Nobody ran it here.

Law: in no order of what the warps do is a column written that is to be read, or read that is being written.

>>> from descriptors.gemm.accumulators import tensor_columns
>>> from descriptors.gemm.plan_request import main_loop
>>> loop = main_loop("m128n256k64", "e2m1", tile=(128, 256, 256), kind="mxf4")
>>> print(prove_turns(tensor_columns(loop, 2)))
proved: 2 sets in turn, 6 tiles, no race and no deadlock in 3347 states
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.turn_model import Operation, explored
from descriptors.text import Told, counted
from layoutalg.frozen import frozen

#: Warps that read are alike, so that two show whatever any number does; tiles until all parities have come again.
_READERS, _TILES = 2, 6


@frozen
class TurnReport(Told):
    """What was found in all orders of a turn.

    Args:
        sets: of accumulators.
        tiles: that were followed.
        states: that were looked at.
        first: the first race, or the wait that nothing ends; "" if none.
    """

    sets: int
    tiles: int
    states: int
    first: str

    @property
    def ok(self) -> bool:
        """Whether there is none."""
        return not self.first

    def __str__(self) -> str:
        about = f"{self.sets} sets in turn, {counted(self.tiles, 'tile')}"
        if self.ok:
            return f"proved: {about}, no race and no deadlock in {self.states} states"
        return f"disproved: {about}, {self.first}"


def free_barriers(held: TensorColumns) -> int:
    """How many barriers say that a set is free: one for both where they share columns.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> from descriptors.gemm.accumulators import tensor_columns
    >>> free_barriers(tensor_columns(main_loop("m128n128k16", "bf16", tile=(128, 128, 64)), 2))
    2
    """
    return 1 if held.shared else held.sets


def multiplier(held: TensorColumns, tiles: int) -> Iterator[Operation]:
    """What the warp that multiplies does with so many tiles, in the words of ``turn_model``."""
    barriers = free_barriers(held)
    for tile in range(tiles):
        first = held.of(tile % held.sets).firsts[0]
        yield "wait", f"free{tile % barriers}", tile // barriers % 2 ^ 1
        yield "write", tile, first, first + held.columns
        yield "commit", f"done{tile % held.sets}"


def reader(held: TensorColumns, tiles: int) -> Iterator[Operation]:
    """What a warp that reads accumulators does with them."""
    barriers, width = free_barriers(held), held.readout.move.columns
    for tile in range(tiles):
        number = tile % held.sets
        (loads, first), one = held.reads(number), held.of(number)
        begins = [one.firsts[index] + load.column for index, load in loads]
        yield "wait", f"done{number}", tile // held.sets % 2
        yield from (("read", tile, at, at + width) for at in sorted({*begins[:first]}))
        yield "arrive", f"free{tile % barriers}"
        yield from (("read", tile, at, at + width) for at in sorted({*begins[first:]}))


def prove_turns(held: TensorColumns) -> TurnReport:
    """Every order in which the warps of a plan may come to its accumulators.

    Args:
        held: accumulators in tensor memory, in two sets.
    """
    programs = tuple(reader(held, _TILES) for _ in range(_READERS))
    arrivals = {f"free{index}": _READERS for index in range(free_barriers(held))}
    return TurnReport(
        held.sets, _TILES, *explored(tuple(multiplier(held, _TILES)), tuple(map(tuple, programs)), arrivals)
    )
