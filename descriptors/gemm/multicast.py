"""Divide the copies of a stage among the CTAs of a cluster, which multicast them to one another.

In a cluster of CM x CN CTAs, CTA (x, y) computes the x-th tile along M and the y-th along N; its rank is ``x + CM y``.
CTAs with the same x need the same A, and CTAs with the same y the same B. Each of them copies a share of the boxes of a
stage and sends it to all. If there are too few boxes, each box is cut along its slowest dimension.

Invariant: the shares together copy the same bytes to the same addresses, and ``TmaPlan.verify`` still succeeds.

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
from descriptors.smem.operands.operand import Matrix
from descriptors.smem.tma.tma_plan import DESTINATION_BYTES, Box, TmaPlan
from layoutalg.frozen import replace

#: The largest number of CTAs of a cluster that every GPU supports (CUDA C++ Programming Guide, Thread Block Clusters).
MOST_CTAS = 8


def as_cluster(value: Sequence[int] | None, cta_group: int) -> tuple[int, int]:
    """Return the number of CTAs of a cluster along M and along N.

    Raises:
        DescriptorError: if the value is not two positive numbers, has more than 8 CTAs, or more than one CTA with
            ``cta_group`` 2.

    >>> as_cluster(None, 1), as_cluster([2, 1], 1)
    ((1, 1), (2, 1))
    """
    if value is None:
        return 1, 1
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2
    if not is_pair or not all(type(count) is int and count > 0 for count in value):
        raise DescriptorError(f"plan: the cluster is {brief(value)}, not CTAs along M x CTAs along N")
    along_m, along_n = value
    if along_m * along_n > MOST_CTAS:
        raise DescriptorError(
            f"plan: the cluster {along_m}x{along_n} has {along_m * along_n} CTAs, more than the {MOST_CTAS} that every "
            "GPU supports"
        )
    if cta_group == 2 and along_m * along_n > 1:
        raise DescriptorError(
            f"plan: the cluster {along_m}x{along_n} is not supported with cta_group 2; the pair of CTAs is the cluster",
            proposals=[Advice({"cluster": None})],
        )
    return along_m, along_n


def cut(plan: TmaPlan, ctas: int, matrix: Matrix) -> TmaPlan:
    """Return the copies of a tile, with boxes cut so that the CTAs can share them evenly.

    Args:
        plan: the copies of the tile.
        ctas: number of CTAs that share them.
        matrix: ``"A"`` or ``"B"``, for messages.

    Raises:
        DescriptorError: if a box cannot be cut into as many pieces.
    """
    count = sum(box.stage == 0 for box in plan.boxes)
    pieces = ctas // gcd(ctas, count)
    if pieces == 1:
        return plan
    slow = plan.dimensions[-1]
    remainder = slow.box % pieces
    if remainder or plan.box_bytes // pieces % DESTINATION_BYTES:
        raise DescriptorError(
            f"plan: {ctas} CTAs cannot share the copies of {matrix} evenly; a box of {plan.box_bytes} bytes with "
            f"{slow.box} steps along its slowest dimension does not split into {pieces} pieces of a multiple of "
            f"{DESTINATION_BYTES} bytes; use a smaller cluster or a larger tile"
        )
    return in_pieces(plan, pieces)


def in_pieces(plan: TmaPlan, pieces: int) -> TmaPlan:
    """Return the copies with each box cut into ``pieces`` equal parts along its slowest dimension.

    >>> from descriptors import derive, tma_plan
    >>> in_pieces(tma_plan(derive((128, 64), "bf16", "K", "128B", (64, 16))), 2).box
    (64, 64)
    """
    slow = plan.dimensions[-1]
    each = slow.box // pieces
    boxes = [_piece(box, plan, i, each, pieces) for box in plan.boxes for i in range(pieces)]
    return replace(plan, dimensions=(*plan.dimensions[:-1], replace(slow, box=each)), boxes=tuple(boxes))


def _piece(box: Box, plan: TmaPlan, index: int, each: int, pieces: int) -> Box:
    """Return the index-th piece of a box. The bytes of a box are contiguous in shared memory."""
    slow = plan.dimensions[-1]
    moved = [first + index * each * slow.step * (mode == slow.mode) for mode, first in enumerate(box.origin)]
    return replace(
        box,
        origin=(moved[0], moved[1]),
        coordinates=(*box.coordinates[:-1], box.coordinates[-1] + index * each),
        offset_bytes=box.offset_bytes + index * plan.box_bytes // pieces,
    )


def masks(matrix: Matrix, cluster: tuple[int, int]) -> tuple[int, ...]:
    """Return the CTA masks of the copies: for A indexed by the x of the issuing CTA, for B by its y.

    >>> masks("A", (2, 2)), masks("B", (2, 2)), masks("B", (4, 1))
    ((5, 10), (3, 12), (15,))
    """
    along_m, along_n = cluster
    if matrix == "A":
        return tuple(sum(1 << x + along_m * y for y in range(along_n)) for x in range(along_m))
    return tuple(sum(1 << x + along_m * y for x in range(along_m)) for y in range(along_n))
