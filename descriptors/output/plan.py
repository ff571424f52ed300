"""A plan of tensor copies, told to a person and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from descriptors.tma.plan import TmaPlan

#: Boxes that are listed; the others are counted.
_LISTED = 32


def as_record(plan: TmaPlan, proved: int) -> dict[str, Any]:
    """A plan as plain data; names and codes are those of the driver's header.

    Args:
        plan: the plan.
        proved: how many elements ``plan.verify()`` compared.

    >>> from descriptors import derive
    >>> from descriptors import tma_plan
    >>> plan = tma_plan(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)))
    >>> as_record(plan, plan.verify())["boxes"][1]
    {'stage': 0, 'origin': (0, 64), 'coordinates': (64, 0), 'offset_bytes': 16384}
    """
    return {
        "layout": str(plan.layout),
        "dtype": plan.element.name,
        "major": str(plan.major),
        "swizzle": str(plan.swizzle),
        "tensor_map": {
            "data_type": {"name": plan.data_type_name, "code": plan.data_type_code},
            "swizzle": {"name": plan.swizzle_name, "code": plan.swizzle_code},
            "interleave": {"name": plan.interleave_name, "code": plan.interleave_code},
            "rank": len(plan.dimensions),
            "dimensions": [
                {"name": one.name, "step": one.step, "extent": one.extent, "box": one.box} for one in plan.dimensions
            ],
            "global_alignment_bytes": plan.global_alignment_bytes,
        },
        "box": plan.box,
        "box_bytes": plan.box_bytes,
        "transaction_bytes": plan.transaction_bytes,
        "alignment_bytes": plan.alignment_bytes,
        "boxes": [
            {
                "stage": box.stage,
                "origin": box.origin,
                "coordinates": box.coordinates,
                "offset_bytes": box.offset_bytes,
            }
            for box in plan.boxes
        ],
        "origin_multiples": plan.origin_multiples,
        "proved": {"elements": proved, "boxes": len(plan.boxes), "evidence": plan.evidence},
    }


def tell(plan: TmaPlan, proved: int) -> Iterator[str]:
    """A plan for a person, line by line.

    >>> from descriptors import derive
    >>> from descriptors import tma_plan
    >>> plan = tma_plan(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)))
    >>> print(*list(tell(plan, plan.verify()))[-4:], sep="\\n")
       number   K  MN  shared memory
            0   0   0              0
            1  64   0          16384
    proved: 16384 elements in 2 boxes (copy model: measured on a Hopper GPU)
    """
    names = [dimension.name for dimension in plan.dimensions]
    yield f"Tensor copies of a tile in shared memory: {plan.element}, {plan.major}-major, swizzle {plan.swizzle}"
    yield f"   layout       {plan.layout}"
    yield ""
    yield "Tensor map, for cuTensorMapEncodeTiled"
    yield f"   data type    {plan.data_type_name} ({plan.data_type_code})"
    yield f"   swizzle      {plan.swizzle_name} ({plan.swizzle_code})"
    yield f"   interleave   {plan.interleave_name} ({plan.interleave_code})"
    yield f"   dimensions   {', '.join(names)} (fastest first)"
    yield f"   box          {' x '.join(map(str, plan.box))}, {plan.box_bytes} bytes of shared memory"
    yield f"   global       address and strides are multiples of {plan.global_alignment_bytes} bytes"
    for mode, name in enumerate(("MN", "K")):
        steps = [dimension.step for dimension in plan.dimensions if dimension.mode == mode]
        if len(steps) > 1:
            digits = f"the extent along {name}, presented as {len(steps)} digits,"
            yield f"                {digits} is a multiple of {max(steps)}"
    yield ""
    count = len(plan.boxes)
    yield f"{count} {'box' if count == 1 else 'boxes'}; coordinates and shared memory from the start of the tile"
    mn, k = plan.origin_multiples
    yield f"   The tile must start at a multiple of {plan.alignment_bytes} bytes of shared memory,"
    yield f"   and in the tensor at a multiple of {mn} along MN and {k} along K."
    yield f"   Each box adds {plan.transaction_bytes} bytes to the transaction count of its mbarrier."
    staged = any(box.stage for box in plan.boxes)
    rows: list[Sequence[str]] = [("number", *(("stage",) if staged else ()), *names, "shared memory")]
    for number, box in enumerate(plan.boxes[:_LISTED]):
        stage = (str(box.stage),) if staged else ()
        rows.append((str(number), *stage, *map(str, box.coordinates), str(box.offset_bytes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "   " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    if count > _LISTED:
        yield f"   ... and {count - _LISTED} more (--json has them all)"
    yield f"proved: {proved} elements in {count} {'box' if count == 1 else 'boxes'} (copy model: {plan.evidence})"
