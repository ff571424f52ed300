"""The lines of a kernel of sm100 that read accumulators and store them, element by element where the plan has them.

Law: the sums that the lines hold are the plan's (thread, value) to element, at every thread and value of every load.

>>> from descriptors.plans.planner import plan
>>> made = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> steps = element_steps(made.accumulators.readout)
>>> steps
((1, 0), (0, 1), (32, 0))
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.plans.parts.accumulators import TensorColumns
from descriptors.plans.plan import Plan
from descriptors.transfer.readout import Readout


def element_steps(read: Readout) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """What (m, n) grows by from a thread to the next, from a value to the next, from a warp to the next.

    Args:
        read: of the shape ``32x32b``, where these are everywhere the same.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.transfer.readout import readout
    >>> element_steps(readout(accumulator(64, 32), "32x32b"))
    ((1, 0), (0, 1), (16, 0))
    """
    loads = {load.warp: load for load in reversed(read.loads)}
    begin = read.element(loads[0], 0, 0)

    def step(to: tuple[int, int]) -> tuple[int, int]:
        return to[0] - begin[0], to[1] - begin[1]

    value = step(read.element(loads[0], 0, 1)) if read.values > 1 else (0, 0)
    return step(read.element(loads[0], 1, 0)), value, step(read.element(loads[1], 0, 0))


def stores(made: Plan) -> Iterator[str]:
    """The lines: one load after the other, each of its registers stored.

    Args:
        made: a plan of sm100.

    >>> from descriptors.plans.planner import plan
    >>> made = plan("m64n16k16", "bf16", tile=(64, 16, 64), stages=2, arch="sm100", verify=False)
    >>> [line.strip() for line in stores(made) if "row" in line][0]
    'const uint32_t row = tile_m * kTileM + rank * 64 + lane * 1 + warp * 16, column = tile_n * kTileN;'
    """
    held, one = made.accumulators, made.asked
    assert isinstance(held, TensorColumns)
    read = held.readout
    thread, value, warp = element_steps(read)
    rows = one.extents[0] // one.cta_group
    m = f"lane * {thread[0]}" + (f" + warp * {warp[0]}" if warp[0] else "")
    # Of the pair with M 128, warps 2 and 3 have the second half of N: two warps lie below one another.
    if (one.extents[0], one.cta_group) == (128, 2):
        m = f"lane * {thread[0]} + warp % 2 * {warp[0]}"
    begin = f"tile_m * kTileM + rank * {one.tile[0] // one.cta_group}"
    yield f"    const uint32_t row = {begin} + {m}, column = tile_n * kTileN;"
    yield f"    uint32_t v[{read.values}];"
    mine = [load for load in read.loads if load.warp == 0]
    across = read.element(next(load for load in read.loads if load.warp == 2), 0, 0)[1]
    for index, first in enumerate(held.firsts):
        i, j = index % one.blocks[0], index // one.blocks[0]
        for load in mine:
            origin = read.element(load, 0, 0)
            yield f"    load(v, tmem + (warp << 21) + {(load.lane << 16) + first + load.column});"
            right = f"column + {j * one.extents[1] + origin[1]}" + (f" + warp / 2 * {across}" if across else "")
            to = f"d[static_cast<size_t>(row + {i * rows + origin[0]}) * columns + {right} + i * {value[1]}]"
            guard = f"if (lane < {read.threads}) " if read.threads < 32 else ""
            told = {"f32": "__uint_as_float(v[i])", "s32": "static_cast<int32_t>(v[i])"}.get(
                one.d, "__ushort_as_half(static_cast<uint16_t>(v[i]))"
            )
            yield f"    {guard}for (uint32_t i = 0; i < {read.values}; ++i) {to} = {told};"
