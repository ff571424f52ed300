"""A model of ``tcgen05.cp``: the cells of tensor memory to which each word of the source is written.

It verifies copies, so it shares no code with the modules that derive them. The source is a matrix of rows, which the
read model reads through the descriptor. Word w (32 bits) of row r is written to, relative to the address::

    128x256b, 128x128b       lane r                                       column w
    64x128b.warpx2::02_13    lanes r, r + 64                              column w
    64x128b.warpx2::01_23    lanes r%32 + 64 (r/32), and 32 on            column w
    32x128b.warpx4           lanes r, r + 32, r + 64, r + 96              column w
    4x256b                   lane 32 r                                    column w

PTX's wording of the two ``.warpx2`` forms also permits the opposite reading. This model follows the layouts of CUTLASS,
which put the halves where the 2x2 arrangement of accumulators needs them. None of this was measured on Blackwell.
Source: CUTLASS ``include/cute/atom/copy_traits_sm100.hpp``; PTX ISA 9.1, tcgen05.cp.

Invariant: a copy writes no cell twice, and writes its source a whole number of times.

>>> for name, (rows, bits, _) in COPY_SHAPES.items():
...     landed = landing(name, lane=0, column=0)
...     assert len({cell for _, _, cell in landed}) == len(landed) and len(landed) % (rows * bits // 32) == 0, name
>>> sorted({lane for r, w, (lane, column) in landing("32x128b.warpx4", lane=0, column=8) if r == 5})
[5, 37, 69, 101]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from descriptors.errors import ChoiceError

#: For each copy, the rows, the bits per row, and the lanes of row r.
COPY_SHAPES: Mapping[str, tuple[int, int, Callable[[int], tuple[int, ...]]]] = {
    "128x256b": (128, 256, lambda r: (r,)),
    "128x128b": (128, 128, lambda r: (r,)),
    "64x128b.warpx2::02_13": (64, 128, lambda r: (r, r + 64)),
    "64x128b.warpx2::01_23": (64, 128, lambda r: (r % 32 + 64 * (r // 32), r % 32 + 64 * (r // 32) + 32)),
    "32x128b.warpx4": (32, 128, lambda r: (r, r + 32, r + 64, r + 96)),
    "4x256b": (4, 256, lambda r: (32 * r,)),
}


def landing(name: str, *, lane: int, column: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Return the cells to which a copy writes the words of its source.

    Args:
        name: shape and multicast.
        lane: lane of the address.
        column: column of the address.

    Returns:
        (row, word of the row, (lane, column)) for every written cell.

    Raises:
        ChoiceError: if the copy does not exist.

    >>> landing("4x256b", lane=31, column=0)[-1]
    (3, 7, (127, 7))
    """
    if name not in COPY_SHAPES:
        raise ChoiceError("tcgen05.cp: the shape", name, COPY_SHAPES)
    rows, bits, lanes = COPY_SHAPES[name]
    return [
        (row, word, (lane + row_lane, column + word))
        for row in range(rows)
        for word in range(bits // 32)
        for row_lane in lanes(row)
    ]
