"""Check double-buffered accumulators: one set is read and stored while the next tile is multiplied into the other.

Output tile t of a CTA uses set t mod 2. The warp that multiplies waits until its set is free, and commits it when the
tile is complete. The warps that read wait for the commit, and free the set. If tensor memory has too few columns for
both sets, as for N 256 with scale factors, the last columns of set 0 are the first columns of set 1. The shared
columns are read first, from either set, and then the next tile may be multiplied. This needs one barrier, on which tile
t + 1 waits for tile t; it also waits for all of tile t - 1, because warps read one tile after the other. NVIDIA's
example of a persistent block-scaled product overlaps accumulators in a similar way (CuTe DSL, ``overlapping_accum``).
The rule and its proof are ours, and were not run on hardware.

Invariant: in no order of the warps' operations is a column written that is still to be read, or read while it is being
written.

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

#: Number of reading warps in the model (they are identical, so two suffice), and of tiles, until all parities repeat.
_READERS, _TILES = 2, 6


@frozen
class TurnReport(Told):
    """The result of checking double-buffered accumulators in every order.

    Args:
        sets: number of sets of accumulators.
        tiles: number of tiles that were simulated.
        states: number of states that were visited.
        first: the first race, or a wait that never ends; "" if there is none.
    """

    sets: int
    tiles: int
    states: int
    first: str

    @property
    def ok(self) -> bool:
        """Whether there is neither a race nor a deadlock."""
        return not self.first

    def __str__(self) -> str:
        about = f"{self.sets} sets in turn, {counted(self.tiles, 'tile')}"
        if self.ok:
            return f"proved: {about}, no race and no deadlock in {self.states} states"
        return f"disproved: {about}, {self.first}"


def free_barriers(accumulators: TensorColumns) -> int:
    """Return the number of barriers for free sets: one for both sets if they share columns.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> from descriptors.gemm.accumulators import tensor_columns
    >>> free_barriers(tensor_columns(main_loop("m128n128k16", "bf16", tile=(128, 128, 64)), 2))
    2
    """
    return 1 if accumulators.shared else accumulators.sets


def multiplier(accumulators: TensorColumns, tiles: int) -> Iterator[Operation]:
    """Yield the operations of the warp that multiplies, as in ``turn_model``, for a number of tiles."""
    barriers = free_barriers(accumulators)
    for tile in range(tiles):
        first = accumulators.of(tile % accumulators.sets).firsts[0]
        yield "wait", f"free{tile % barriers}", tile // barriers % 2 ^ 1
        yield "write", tile, first, first + accumulators.columns
        yield "commit", f"done{tile % accumulators.sets}"


def reader(accumulators: TensorColumns, tiles: int) -> Iterator[Operation]:
    """Yield the operations of a warp that reads accumulators, as in ``turn_model``, for a number of tiles."""
    barriers, width = free_barriers(accumulators), accumulators.readout.move.columns
    for tile in range(tiles):
        number = tile % accumulators.sets
        (loads, first), accumulator_set = accumulators.reads(number), accumulators.of(number)
        begins = [accumulator_set.firsts[index] + load.column for index, load in loads]
        yield "wait", f"done{number}", tile // accumulators.sets % 2
        yield from (("read", tile, column, column + width) for column in sorted({*begins[:first]}))
        yield "arrive", f"free{tile % barriers}"
        yield from (("read", tile, column, column + width) for column in sorted({*begins[first:]}))


def prove_turns(accumulators: TensorColumns) -> TurnReport:
    """Check every order in which the warps of a plan may access its accumulators.

    Args:
        accumulators: two sets of accumulators in tensor memory.
    """
    programs = tuple(reader(accumulators, _TILES) for _ in range(_READERS))
    arrivals = {f"free{index}": _READERS for index in range(free_barriers(accumulators))}
    return TurnReport(
        accumulators.sets,
        _TILES,
        *explored(tuple(multiplier(accumulators, _TILES)), tuple(map(tuple, programs)), arrivals),
    )
