"""Plan the tensor map and the copies of a tile, with the largest boxes that its layout allows.

A copy writes a dense box, or rows that are the span of a swizzle apart. The box is therefore a dense prefix of the
layout: its strides in increasing order, as long as each is the product of the extents before it, up to the limits of
the engine. The remaining strides are the loop over boxes.

Invariant: for every rank, every element is copied to where the layout has it. A higher rank does not need more boxes.
The default is the smallest rank with the fewest boxes.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "MN", "64B", (64, 16))
>>> plans = [tma_plan(d, rank) for rank in (2, 3, 4)]
>>> [plan.verify() for plan in plans], [len(plan.boxes) for plan in plans]
([16384, 16384, 16384], [4, 1, 1])
>>> tma_plan(d) == plans[1]
True
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import plain, start_of
from descriptors.smem.tma.tma_plan import (
    ALGEBRA,
    COPY,
    DESTINATION_BYTES,
    Box,
    Dimension,
    TmaPlan,
)
from descriptors.smem.words.tensor_map import (
    ENCODE,
    GUIDE,
    INNER_BYTES,
    MAX_BOX_EXTENT,
    MAX_RANK,
    MEASURED,
    PADDED,
    PADDED_INNER,
    PADDED_SWIZZLES,
    SM100_DATA_TYPES,
    SM100_SWIZZLES,
    SWIZZLES,
    TmaError,
    row_pitch_bits,
)
from descriptors.targets import has_wgmma
from layoutalg import Layout, flatten, size
from layoutalg.frozen import frozen, replace

#: The largest number of boxes of a plan; a tile in shared memory has far fewer.
_MOST_BOXES = 1 << 16


@frozen
class _Leaf:
    """A stride of the tile: ``extent`` steps of ``step`` elements along a mode, ``stride`` apart in shared memory."""

    stride: int
    extent: int
    mode: int
    step: int

    def tail(self, steps: int) -> _Leaf:
        """Return the leaf over groups of ``steps`` steps."""
        return _Leaf(self.stride * steps, self.extent // steps, self.mode, self.step * steps)


def tma_plan(derivation: Derivation, rank: int | None = None) -> TmaPlan:
    """Plan the tensor map and the copies that fill a derivation's tile.

    Invariant: `TmaPlan.verify` compares every element. Every box is as large as the tile's layout, the limits of the
    engine and ``rank`` permit. A box never covers several stages, because they are filled at different times.

    Args:
        derivation: the derivation of the tile.
        rank: largest number of dimensions of the tensor map; the default is the smallest rank with the fewest boxes.
            With rank 2, the dimensions are those of the tensor. With a higher rank, a dimension may appear as several
            digits (``K`` and ``K/64``), which gives fewer and larger boxes. The tensor's extent along it must then be a
            multiple of the last digit's step, and `TmaPlan.origin_multiples` are larger.

    Raises:
        TmaError: if no copy can fill the tile; the error cites the rule.
        DescriptorError: if the plan needs more than 65,536 copies.

    Source: CUDA Driver API, ``cuTensorMapEncodeTiled``; article "Blackwell MMA SMEM Descriptor", sections 3.1, 4.1.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> tma_plan(d).box
    (64, 128, 2)
    >>> plan = tma_plan(d, rank=2)
    >>> plan.box, [(box.origin, box.offset_bytes) for box in plan.boxes]
    ((64, 128), [((0, 0), 0), ((0, 64), 16384)])
    """
    if not isinstance(derivation, Derivation):
        raise DescriptorError(f"tma: {brief(derivation)} is not a derivation")
    ranks = range(2, MAX_RANK + 1) if rank is None else [as_integer(rank, "tma: rank", minimum=2, maximum=MAX_RANK)]
    leaves = _leaves(derivation)
    parts, rest = min((_densest(derivation, leaves, most) for most in ranks), key=lambda cut: _count(cut[1]))
    dimensions = _dimensions(parts)
    boxes = tuple(_boxes(derivation, dimensions, rest))
    plan = TmaPlan(
        layout=derivation.smem_tile,
        element=derivation.element,
        major=derivation.major,
        swizzle=derivation.swizzle,
        dimensions=dimensions,
        boxes=boxes,
    )
    _check(plan, derivation.arch)
    return plan


def _leaves(derivation: Derivation) -> list[_Leaf]:
    """Return the strides of MN and K in increasing order, after joining those that continue each other."""
    leaves = []
    for mode, layout in enumerate(tuple(plain(derivation.smem_tile))[:2]):
        step = 1
        for part in flatten(layout):
            extent = size(part)
            if extent > 1:
                leaves.append(_Leaf(_stride(part, derivation), extent, mode, step))
            step *= extent
    joined: list[_Leaf] = []
    for leaf in sorted(leaves, key=lambda leaf: leaf.stride):
        last = joined[-1] if joined else None
        end = last.tail(last.extent) if last else None
        if last and end and (end.mode, end.stride, end.step) == (leaf.mode, leaf.stride, leaf.step):
            joined[-1] = replace(last, extent=last.extent * leaf.extent)
        else:
            joined.append(leaf)
    return joined


def _stride(part: Layout, derivation: Derivation) -> int:
    stride = part(1)
    if not isinstance(stride, int) or stride < 1:
        raise TmaError(f"a stride is {stride}, which is not positive; tile = {derivation.smem_tile}", ALGEBRA)
    return stride


def _densest(derivation: Derivation, leaves: list[_Leaf], rank: int) -> tuple[list[_Leaf], list[_Leaf]]:
    """Return the box, as a leaf for each of its dimensions, and the leaves of the loop over boxes."""
    contiguous, bits = derivation.major.contiguous_mode, derivation.element.storage_bits
    if not leaves or (leaves[0].stride, leaves[0].mode, leaves[0].step) != (1, contiguous, 1):
        raise TmaError(
            f"dimension 0 of the tensor does not have stride 1 in shared memory; tile = {derivation.smem_tile}",
            ALGEBRA,
        )
    parts: list[_Leaf] = []
    pending, dense = list(leaves), 1
    while pending and pending[0].stride == dense and _rank([*parts, pending[0]]) <= rank:
        leaf = pending[0]
        limit = MAX_BOX_EXTENT if parts else _inner_limit(derivation)
        extent = _largest(leaf.extent, limit, dense * bits)
        if not extent:
            break
        parts.append(replace(leaf, extent=extent))
        row_pitch = row_pitch_bits(extent * bits, SWIZZLES[derivation.swizzle][1]) // bits
        dense = dense * extent if len(parts) > 1 else row_pitch
        pending[:1] = [leaf.tail(extent)] if extent < leaf.extent else []
    return parts, pending


def _count(rest: list[_Leaf]) -> int:
    """Return the number of boxes of a stage: one for each combination of the remaining leaves."""
    return prod(leaf.extent for leaf in rest)


def _rank(parts: list[_Leaf]) -> int:
    """Return the rank that a tensor map needs for a box: its parts, and MN or K if no part has step 1 along it."""
    return len(parts) + sum((mode, 1) not in {(part.mode, part.step) for part in parts} for mode in (0, 1))


def _inner_limit(derivation: Derivation) -> int:
    """Return the largest number of elements in a row of a box."""
    if derivation.swizzle is SwizzleMode.NONE:
        return MAX_BOX_EXTENT
    return derivation.swizzle.span_bytes * 8 // derivation.element.storage_bits


def _largest(extent: int, limit: int, unit_bits: int) -> int:
    """Return the largest part of an extent within a limit: all of it, or a divisor that keeps the boxes aligned."""
    if extent <= limit:
        return extent
    aligned = (n for n in range(limit, 0, -1) if extent % n == 0 and n * unit_bits % (DESTINATION_BYTES * 8) == 0)
    return next(aligned, 0)


def _dimensions(parts: list[_Leaf]) -> tuple[Dimension, ...]:
    """Return the dimensions of the tensor map: those of the box, then the missing ones with box extent 1."""
    steps = {mode: {1, *(part.step for part in parts if part.mode == mode)} for mode in (0, 1)}
    extents = {(part.mode, part.step): part.extent for part in parts}
    missing = [(mode, 1) for mode in (0, 1) if (mode, 1) not in extents]
    dimensions = []
    for mode, step in [*extents, *missing]:
        above = min((other for other in steps[mode] if other > step), default=None)
        extent = None if above is None else above // step
        dimensions.append(Dimension(mode, step, extent, extents.get((mode, step), 1)))
    return tuple(dimensions)


def _boxes(derivation: Derivation, dimensions: tuple[Dimension, ...], rest: list[_Leaf]) -> Iterator[Box]:
    """Yield a box for each combination of the remaining leaves, stage by stage."""
    bits, start = derivation.element.storage_bits, start_of(derivation.smem_tile)
    modes = tuple(plain(derivation.smem_tile))[2:]
    count = prod(size(mode) for mode in modes) * _count(rest)
    if count > _MOST_BOXES:
        raise DescriptorError(
            f"tma: the plan needs {count} boxes, more than {_MOST_BOXES}; tile = {derivation.smem_tile}"
        )
    stages = [sum(places) for places in product(*([mode(i) for i in range(size(mode))] for mode in reversed(modes)))]
    for stage, base in enumerate(stages):
        for digits in product(*(range(leaf.extent) for leaf in reversed(rest))):
            turned = list(zip(reversed(rest), digits, strict=True))
            mn, k = (sum(leaf.step * i for leaf, i in turned if leaf.mode == mode) for mode in (0, 1))
            offset_bits = (start + base + sum(leaf.stride * i for leaf, i in turned)) * bits
            coordinates = tuple(dimension.index((mn, k)[dimension.mode]) for dimension in dimensions)
            yield Box(stage, (mn, k), coordinates, offset_bits // 8)


def _check(plan: TmaPlan, arch: str) -> None:
    """Check the limits that did not determine the box."""
    element, tile = plan.element, f"tile = {plan.layout}"
    inner = plan.box[0]
    code = plan.data_type_code
    if has_wgmma(arch) and (code in SM100_DATA_TYPES or plan.swizzle_code in SM100_SWIZZLES):
        name = plan.data_type_name if code in SM100_DATA_TYPES else plan.swizzle_name
        raise TmaError(f"sm90 has no tensor map with {name}; {tile}", MEASURED)
    if inner * element.storage_bits % (INNER_BYTES * 8):
        fact = f"a row of a box has {inner} {element} elements, which is not a multiple of {INNER_BYTES} bytes"
        raise TmaError(f"{fact}; {tile}", ENCODE)
    if code in PADDED and plan.swizzle not in PADDED_SWIZZLES:
        allowed = ", ".join(str(mode) for mode in SwizzleMode if mode in PADDED_SWIZZLES)
        raise TmaError(
            f"{element} in 16-byte containers does not support swizzle {plan.swizzle}; supported: {allowed}; {tile}",
            ENCODE,
        )
    if code in PADDED and inner != PADDED_INNER:
        fact = (
            f"a box has {inner} elements along dimension 0, but a box of {element} in 16-byte containers has "
            f"{PADDED_INNER}"
        )
        raise TmaError(f"{fact}; {tile}", f"{ENCODE}; {COPY}")
    for box in plan.boxes:
        if box.offset_bytes % DESTINATION_BYTES:
            fact = (
                f"the box at ({box.origin[0]},{box.origin[1]}) starts at byte {box.offset_bytes} of shared memory, "
                f"which is not a multiple of {DESTINATION_BYTES}"
            )
            raise TmaError(f"{fact}; {tile}", GUIDE)
