"""The probe of interleaved tensor maps: single copies, byte for byte beside their definition here.

Maps are drawn of rank 3 to 5, with slices of 16 and of 32 bytes, any swizzle, element strides, strides that are and are
not dense, and boxes that begin before and end behind the tensor; every fourth is of rank 4 and im2col. A box is copied;
what it does not fill must keep its poison, and its bytes must be those that the barrier was told of. Each is held
against controls too: a box that has as many slices of channels as its extent says, rows that a swizzle keeps apart, and
another corner, and a swizzle by the place in the box where it begins off the pattern.

    python -m probes.interleave --out FOLDER [--number 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from descriptors.smem.tma.map_notation import arguments_text
from descriptors.smem.words.tensor_map import Im2colWindow, TensorMap, as_data_type
from layoutalg.frozen import replace
from probes.build import build
from probes.cuda import Device, Kernel, aligned_tensor_map, provenance
from probes.runner import main_of, write_json
from probes.tma import FIRST, PATIENCE, POISON

EVIDENCE = "interleave"
ROOM = 64 * 1024
#: 32-bit words of global memory, numbered from 1.
WORDS = 1 << 19
_TYPES = ("FLOAT32", "BFLOAT16", "UINT8", "INT32", "FLOAT16")


class Case(NamedTuple):
    """A copy: the map, the coordinates of the box, and where it goes in shared memory."""

    map: TensorMap
    place: tuple[int, ...]
    base: int


def drawn(number: int, seed: int) -> list[Case]:
    """Copies by maps that the driver takes.

    >>> drawn(4, 1) == drawn(4, 1)
    True
    """
    chooser, found = random.Random(seed), list[Case]()
    while len(found) < number:
        pixels = len(found) % 4 == 3
        one, place = _of_pixels(chooser) if pixels else _of_a_box(chooser)
        reach = one.slice_bytes * one.extents[0] + sum(
            (extent - 1) * stride for extent, stride in zip(one.extents[1:], one.strides, strict=True)
        )
        if not one.refusals() and one.transaction_bytes <= ROOM // 2 and reach <= 4 * WORDS:
            found.append(Case(one, place, FIRST if pixels else FIRST + 128 * chooser.randrange(8)))
    return found


def _tensor(chooser: random.Random, rank: int, interleave: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents and strides."""
    unit = 16 * interleave
    extents = tuple(chooser.randint(2, 40) if i == 0 else chooser.randint(2, 12) for i in range(rank))
    strides, step = list[int](), unit * chooser.choice((1, extents[0], extents[0] + chooser.randint(0, 3)))
    for extent in extents[1:]:
        strides.append(step)
        step = step * extent + unit * chooser.choice((0, 0, 1, 3))
    if chooser.random() < 0.25:
        chooser.shuffle(strides)
    return extents, tuple(strides)


def _of_a_box(chooser: random.Random) -> tuple[TensorMap, tuple[int, ...]]:
    rank, interleave = chooser.choice((3, 4, 5)), chooser.choice((1, 2))
    data_type = as_data_type(chooser.choice(_TYPES))
    extents, strides = _tensor(chooser, rank, interleave)
    whole = 128 // data_type.bits  # the driver wants whole 16 bytes of elements
    box = tuple(whole * chooser.randint(1, 4) if i == 0 else chooser.randint(1, 6) for i in range(rank))
    steps = tuple(chooser.choice((1, 1, 1, 2, 3)) for _ in range(rank))
    swizzle = chooser.randrange(4)
    place = tuple(chooser.choice((0, 0, -1, chooser.randrange(extent))) for extent in extents)
    return TensorMap(data_type, 0, extents, strides, box, steps, interleave=interleave, swizzle=swizzle), place


def _of_pixels(chooser: random.Random) -> tuple[TensorMap, tuple[int, ...]]:
    interleave, data_type = chooser.choice((1, 2)), as_data_type(chooser.choice(_TYPES))
    extents, strides = _tensor(chooser, 4, interleave)
    lower, upper = (tuple(chooser.randint(*ends) for _ in range(2)) for ends in ((-3, 1), (-3, 2)))
    channels = 128 // data_type.bits * chooser.randint(1, 4)
    window = Im2colWindow(lower, upper, channels, chooser.choice((1, 7, 32, 64, 200)))
    steps = (chooser.randint(1, 3), chooser.randint(1, 3), 1, 1)
    one = TensorMap(data_type, 0, extents, strides, window, steps, interleave=interleave, swizzle=chooser.randrange(4))
    ends = [max(low, extent - 1 + up) for low, up, extent in zip(lower, upper, extents, strict=False)]
    start = [chooser.randint(low, end) for low, end in zip(lower, ends, strict=True)]
    others = [chooser.randrange(extent) for extent in extents[2:]]
    return one, (*start, *others, chooser.randint(0, 3), chooser.randint(0, 3))


def taken(one: TensorMap, place: tuple[int, ...], *, slices: bool = False) -> tuple[list[list[int]], int]:
    """The coordinates of each slice that is copied, in their order, and how many are a row.

    Args:
        one: the map.
        place: coordinates of the box; of an im2col map the offsets along W and H behind them.
        slices: whether a box has as many slices of channels as its extent there says; that is a control.
    """
    if isinstance(one.box, Im2colWindow):
        (w, h, c, n, right, down), found = place, list[list[int]]()
        for _ in range(one.box.pixels):
            found.append([w + right, h + down, c, n])
            w += one.element_strides[0]
            if w > one.extents[0] - 1 + one.box.upper[0]:
                w, h = one.box.lower[0], h + one.element_strides[1]
                if h > one.extents[1] - 1 + one.box.upper[1]:
                    h, n = one.box.lower[1], n + 1
        return found, 1
    counts = [-(-extent // step) for extent, step in zip(one.box, one.element_strides, strict=True)]
    if not slices:
        counts[-2] = 1
    indices = product(*(range(count) for count in reversed(counts)))
    each = [
        [x + i * step for x, i, step in zip(place, reversed(index), one.element_strides, strict=True)]
        for index in indices
    ]
    return each, counts[0]


def expected(case: Case, *, slices: bool = False, apart: bool = False) -> np.ndarray:
    """Shared memory after a copy.

    Args:
        case: the copy.
        slices: as of ``taken``.
        apart: whether a swizzle keeps rows of slices as far apart as its span is wide; that is a control.
    """
    one, place, base = case
    each, count = taken(one, place, slices=slices)
    unit, span = 16 * one.interleave, (0, 32, 64, 128)[one.swizzle]
    pitch = max(count * unit, span) if apart else count * unit
    shared = np.full(ROOM, POISON, np.uint8)
    for number, at in enumerate(each):
        inside = all(0 <= x < extent for x, extent in zip(at, one.extents, strict=True))
        source = sum(x * stride for x, stride in zip(at, (unit, *one.strides), strict=True))
        for part in range(0, unit, 16):
            to = base + number // count * pitch + number % count * unit + part
            to ^= ((to >> 7) & (0, 1, 3, 7)[one.swizzle]) << 4
            if to - FIRST + 16 <= ROOM:
                words = np.arange((source + part) // 4 + 1, (source + part) // 4 + 5) * inside
                shared[to - FIRST : to - FIRST + 16] = words.astype(np.uint32).view(np.uint8)
    return shared


def controls(case: Case) -> list[np.ndarray]:
    """What other definitions give; of a base off the pattern also a swizzle by the place in the box."""
    one = case.map
    found = [expected(case, apart=True)]
    if isinstance(one.box, Im2colWindow):
        corner = replace(one.box, upper=(one.box.upper[0] + 1, one.box.upper[1]))
        return [*found, expected(case._replace(map=replace(one, box=corner)))]
    moved, by = np.full(ROOM, POISON, np.uint8), case.base - FIRST
    moved[by:] = expected(case._replace(base=FIRST))[: ROOM - by]
    return [*found, expected(case, slices=True), moved]


def copied(device: Device, kernels: tuple[Kernel, Kernel], case: Case, data: Any) -> tuple[np.ndarray, bool]:
    """Shared memory after a copy on the GPU, and whether fewer or more bytes came than were counted on."""
    one, place, base = case
    table = device.upload(np.array([[*place, *[0] * 5][:5] + [base]], np.int32))
    out, made = device.buffer(ROOM), aligned_tensor_map()
    words = replace(one, address=int(data.pointer.value)).encode()
    for i in range(16):
        made.words[i] = words >> 64 * i & (1 << 64) - 1
    begun = monotonic()
    if isinstance(one.box, Im2colWindow):
        kernels[1].launch(1, 256, made, *place, one.transaction_bytes, out, ROOM)
    else:
        kernels[0].launch(1, 256, made, one.rank, table, 1, one.transaction_bytes, out, ROOM)
    device.synchronize()
    late = monotonic() - begun > PATIENCE
    found = out.get(np.uint8, (ROOM,))
    for buffer in (table, out):
        buffer.free()
    return found, late


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a byte is not where it must be."""
    kernels = (
        device.load(build("tma")["tma"]).kernel("copy_and_dump", 1024 + ROOM),
        device.load(build("im2col")["im2col"]).kernel("im2col_and_dump", 1024 + ROOM),
    )
    data, rows = device.upload(np.arange(1, WORDS + 1, dtype=np.uint32)), list[dict[str, Any]]()
    for case in drawn(options.number, options.seed):
        found, late = copied(device, kernels, case, data)
        wanted = expected(case)
        differ = [other for other in controls(case) if (other != wanted).any()]
        row: dict[str, Any] = {"map": arguments_text(case.map), "place": list(case.place), "base": case.base}
        row |= {"bytes": case.map.transaction_bytes, "late": late}
        row |= {"differing": int((found != wanted).sum()), "controls": len(differ)}
        row |= {"controls_that_passed": sum(int((found == other).all()) for other in differ)}
        rows.append(row)
        if row["differing"] or row["controls_that_passed"] or late:
            print(row)
    right = sum(not row["differing"] and not row["late"] for row in rows)
    print(
        f"{right} of {len(rows)} interleaved copies land and count so, {sum(row['controls'] for row in rows)} controls"
    )
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    facts = provenance(device, " ".join(["scripts/probe_wgmma interleave", *sys.argv[1:]]))
    write_json(folder / f"{EVIDENCE}.json", {**facts, "seed": options.seed, "cases": rows})
    return int(right < len(rows) or any(row["controls_that_passed"] for row in rows))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma interleave", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=200, help="copies that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which ones")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
