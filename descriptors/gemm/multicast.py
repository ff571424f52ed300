"""Copies that a cluster shares: each CTA brings a part of a tile that several of them need, and sends it to all.

In a cluster of CM x CN CTAs, CTA (x, y) works on the x-th tile along M and the y-th along N; its rank is ``x + CM y``.
CTAs of one x need the same A, those of one y the same B. The boxes of a stage are dealt out among them; where there are
too few, a box is cut along its slower dimension.

Law: the shares are the whole: as many bytes, at as many places, and the plan of copies still proves itself.

>>> from descriptors import derive, tma_plan
>>> whole = tma_plan(derive((128, 64), "bf16", "K", "128B", (64, 16)))
>>> shares = cut(whole, 4, "A")
>>> shares.box, [box.offset_bytes for box in shares.boxes], shares.verify() == whole.verify()
((64, 32), [0, 4096, 8192, 12288], True)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from descriptors.errors import Advice, DescriptorError, brief
from descriptors.smem.operands.operand import (
    Matrix,
)
from descriptors.smem.tma.tma_plan import DESTINATION_BYTES, Box, TmaPlan
from layoutalg.frozen import replace

#: CTAs that a cluster has on every GPU; more are not portable (CUDA C++ Programming Guide, Thread Block Clusters).
MOST_CTAS = 8


def as_cluster(value: Sequence[int] | None, cta_group: int) -> tuple[int, int]:
    """CTAs of a cluster along M and along N.

    Raises:
        DescriptorError: if it is something else, has more than 8 CTAs, or is asked for with pairs of CTAs.

    >>> as_cluster(None, 1), as_cluster([2, 1], 1)
    ((1, 1), (2, 1))
    """
    if value is None:
        return 1, 1
    whole = isinstance(value, (tuple, list)) and len(value) == 2
    if not whole or not all(type(one) is int and one > 0 for one in value):
        raise DescriptorError(f"plan: the cluster must be CTAs along M x CTAs along N, found {brief(value)}")
    along_m, along_n = value
    if along_m * along_n > MOST_CTAS:
        raise DescriptorError(
            f"plan: a cluster must have at most {MOST_CTAS} CTAs, found {along_m}x{along_n}: more are not portable"
        )
    if cta_group == 2 and along_m * along_n > 1:
        raise DescriptorError(
            "plan: with cta_group 2 the pair of CTAs is the cluster, another one is not supported",
            proposals=[Advice({"cluster": None})],
        )
    return along_m, along_n


def cut(whole: TmaPlan, ctas: int, matrix: Matrix) -> TmaPlan:
    """The copies of a tile, so many that CTAs can share them evenly.

    Args:
        whole: the copies.
        ctas: how many CTAs share them.
        matrix: ``"A"`` or ``"B"``, for messages.

    Raises:
        DescriptorError: if a box cannot be cut into as many pieces.
    """
    count = sum(box.stage == 0 for box in whole.boxes)
    pieces = ctas // gcd(ctas, count)
    if pieces == 1:
        return whole
    slow = whole.dimensions[-1]
    rest = slow.box % pieces
    if rest or whole.box_bytes // pieces % DESTINATION_BYTES:
        what = f"{slow.box} steps and {whole.box_bytes} bytes, found no such cut into {pieces}"
        raise DescriptorError(
            f"plan: {ctas} CTAs must share {matrix} in pieces of {DESTINATION_BYTES} bytes, of a box of {what}; "
            "a smaller cluster, or a larger tile"
        )
    return in_pieces(whole, pieces)


def in_pieces(whole: TmaPlan, pieces: int) -> TmaPlan:
    """The same copies with each box cut along its slowest dimension, which the pieces divide.

    >>> from descriptors import derive, tma_plan
    >>> in_pieces(tma_plan(derive((128, 64), "bf16", "K", "128B", (64, 16))), 2).box
    (64, 64)
    """
    slow = whole.dimensions[-1]
    each = slow.box // pieces
    boxes = [_piece(box, whole, i, each, pieces) for box in whole.boxes for i in range(pieces)]
    return replace(whole, dimensions=(*whole.dimensions[:-1], replace(slow, box=each)), boxes=tuple(boxes))


def _piece(box: Box, whole: TmaPlan, index: int, each: int, pieces: int) -> Box:
    """The index-th piece of a box, whose bytes are dense in shared memory."""
    slow = whole.dimensions[-1]
    moved = [first + index * each * slow.step * (mode == slow.mode) for mode, first in enumerate(box.origin)]
    return replace(
        box,
        origin=(moved[0], moved[1]),
        coordinates=(*box.coordinates[:-1], box.coordinates[-1] + index * each),
        offset_bytes=box.offset_bytes + index * whole.box_bytes // pieces,
    )


def masks(matrix: Matrix, cluster: tuple[int, int]) -> tuple[int, ...]:
    """The CTA mask of a copy: for A by the x of the CTA that issues it, for B by its y.

    >>> masks("A", (2, 2)), masks("B", (2, 2)), masks("B", (4, 1))
    ((5, 10), (3, 12), (15,))
    """
    along_m, along_n = cluster
    if matrix == "A":
        return tuple(sum(1 << x + along_m * y for y in range(along_n)) for x in range(along_m))
    return tuple(sum(1 << x + along_m * y for x in range(along_m)) for y in range(along_n))
