"""Print a plan of tensor copies as text, and convert it into plain data.

Invariant: text and data list the same boxes, each with its address in shared memory.

>>> from descriptors import derive, tma_plan
>>> plan = tma_plan(derive((128, 128), "bf16", "K", "32B", (64, 16)), rank=2)
>>> lines = [line.split() for line in tell_tma_plan(plan).splitlines()[-len(plan.boxes) :]]
>>> [int(line[-1]) for line in lines] == [box["offset_bytes"] for box in record_tma_plan(plan)["boxes"]]
True
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from descriptors.answers import Table
from descriptors.records import PAIR, TEXT, Named, Record, Row, each, evidence_row
from descriptors.smem.operands.operand import DTYPES, Major, SwizzleMode
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.text import aligned, counted, known_line, known_record

#: The largest number of boxes in a printed table.
_LISTED = 32


def tell_tma_plan(plan: TmaPlan, proved: int | None = None, arch: str = "sm90") -> str:
    r"""Return the text of a plan.

    Args:
        plan: the plan.
        proved: number of elements that ``plan.verify()`` compared, for a last line.
        arch: the architecture; the copies do not depend on it, but their evidence does.

    >>> from descriptors import derive, tma_plan
    >>> plan = tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16)), rank=2)
    >>> print(*tell_tma_plan(plan, plan.verify()).splitlines()[-4:], sep="\n")
       number   K  MN  shared memory
            0   0   0              0
            1  64   0          16384
    proved: 16384 elements in 2 boxes (copy model: measured on a Hopper GPU)
    """
    stages = len({box.stage for box in plan.boxes})
    signals = len(plan.boxes) // stages * plan.transaction_bytes
    boxes, fill = counted(len(plan.boxes), "box"), "fills" if len(plan.boxes) == 1 else "fill"
    box = " x ".join(map(str, plan.box))
    title = f"{boxes} of {box}, {signals} bytes a stage for expect_tx, {fill} the tile"
    lines = [
        f"{title}: {plan.element}, {plan.major}-major, swizzle {plan.swizzle}",
        f"   layout       {plan.layout}",
        "",
        *_tensor_map(plan),
        "",
        *_copies(plan),
        *_box_table(plan),
    ]
    if proved is not None:
        lines.append(f"proved: {proved} elements in {boxes} (copy model: {_evidence(plan, arch)})")
    return "\n".join([*lines, *known_line(arch)])


def tables_tma_plan(plan: TmaPlan) -> list[Table]:
    """Return the table of the boxes, with their coordinates and addresses."""
    return [("boxes", list(_box_rows(plan, staged=True)))]


def _box_rows(plan: TmaPlan, *, staged: bool) -> Iterator[tuple[object, ...]]:
    """Yield the heading, then a row for each listed box: its stage (with ``staged``), coordinates and address."""
    yield (*["stage"] * staged, *(dimension.name for dimension in plan.dimensions), "shared memory")
    for box in plan.boxes[:_LISTED]:
        yield (*[box.stage] * staged, *box.coordinates, box.offset_bytes)


#: A name of the driver's header and its code.
_CODE = Named("Code", {"name": str, "code": int})


def _code(label: str, path: str) -> Row:
    """Return the row of an argument that has a name and a code."""
    value = attrgetter(f"{path}_name", f"{path}_code")
    return Row(_CODE, value, label, lambda plan: "{} ({})".format(*value(plan)))


#: The arguments of the driver.
TENSOR_MAP = Record(
    data_type=_code("data type", "data_type"),
    swizzle=_code("swizzle", "swizzle"),
    interleave=_code("interleave", "interleave"),
    rank=Row(int, lambda plan: len(plan.dimensions)),
    dimensions=Row(
        [{"name": str, "step": int, "extent": (int, None), "box": int}],
        label="dimensions",
        text=lambda plan: f"{', '.join(one.name for one in plan.dimensions)} (fastest first)",
    ),
    box=Row(
        TEXT,
        label="box",
        text=lambda plan: f"{' x '.join(map(str, plan.box))}, {plan.box_bytes} bytes of shared memory",
    ),
    global_alignment_bytes=Row(
        int,
        label="global",
        text=lambda plan: f"address and strides are multiples of {plan.global_alignment_bytes} bytes",
    ),
)


def _tensor_map(plan: TmaPlan) -> Iterator[str]:
    """Yield the arguments of the driver, and the requirements on them."""
    yield "Tensor map, for cuTensorMapEncodeTiled"
    rows = list(zip(*TENSOR_MAP.table([plan]), strict=True))
    for mode, name in enumerate(("MN", "K")):
        steps = [dimension.step for dimension in plan.dimensions if dimension.mode == mode]
        if len(steps) > 1:
            digits = f"the extent along {name}, presented as {len(steps)} digits,"
            rows.append(("", f"{digits} is a multiple of {max(steps)}; for any other extent use --rank 2"))
    yield from aligned(rows, indent=3, gap=3)


def _copies(plan: TmaPlan) -> Iterator[str]:
    """Yield the alignment of the tile, and the bytes that each box signals."""
    mn, k = plan.origin_multiples
    yield "Coordinates and shared memory count from the start of the tile"
    yield f"   The tile must start at a multiple of {plan.alignment_bytes} bytes of shared memory,"
    yield f"   and in the tensor at a multiple of {mn} along MN and {k} along K."
    yield f"   Each box adds {plan.transaction_bytes} bytes to the transaction count of its mbarrier."


def _box_table(plan: TmaPlan) -> Iterator[str]:
    """Yield the table of the boxes, with a column for the stage if there are several."""
    heading, *rows = _box_rows(plan, staged=any(box.stage for box in plan.boxes))
    numbered = ((number, *row) for number, row in enumerate(rows))
    yield from aligned([("number", *heading), *numbered], ">", indent=3)
    if len(plan.boxes) > _LISTED:
        yield f"   ... and {len(plan.boxes) - _LISTED} more (--json has them all)"


#: A plan as plain data; names and codes are those of the driver's header.
BOXES = Record(
    "Boxes",
    layout=str,
    dtype=Row(DTYPES, "element"),
    major=Major,
    swizzle=SwizzleMode,
    tensor_map=Row(TENSOR_MAP, "."),
    box=[int],
    **each(int, "box_bytes transaction_bytes alignment_bytes"),
    boxes=[{"stage": int, "origin": PAIR, "coordinates": [int], "offset_bytes": int}],
    origin_multiples=PAIR,
    proved=Row(({"elements": int, "boxes": int, "evidence": str}, None), lambda plan: None),
    evidence=evidence_row(),
)


def record_tma_plan(plan: TmaPlan, proved: int | None = None, arch: str = "sm90") -> dict[str, Any]:
    """Return a plan as plain data; names and codes are those of the driver's header.

    Args:
        plan: the plan.
        proved: number of elements that ``plan.verify()`` compared.
        arch: the architecture.

    >>> from descriptors import derive, tma_plan
    >>> plan = tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16)), rank=2)
    >>> record_tma_plan(plan)["boxes"][1]
    {'stage': 0, 'origin': (0, 64), 'coordinates': (64, 0), 'offset_bytes': 16384}
    """
    proof = None if proved is None else (proved, len(plan.boxes), _evidence(plan, arch))
    return BOXES(plan, proved=proof, evidence=known_record(arch).get("evidence"))


def _evidence(plan: TmaPlan, arch: str) -> str:
    """Return the evidence of the copy model on an architecture."""
    return known_record(arch).get("evidence", plan.evidence)
