"""The copy-engine probe: the bytes that boxes leave in shared memory, against given offsets, for each swizzle.

A case is plain data: the array in global memory, the box, the tensor map's swizzle code, where each box comes from and
goes to, and for each element of the tile the shared-memory address that it must arrive at. Shared memory is poisoned
first and compared whole, so a byte too many fails as well as one too few.

    python -m probes.tma --out FOLDER [--cases MODULE:FUNCTION]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from probes.boxes import SWIZZLE_NAMES, Boxes, boxes_of_matrix
from probes.build import build
from probes.cuda import CudaError, Device, Kernel, provenance, tensor_map
from probes.documented import permute, tile_addresses
from probes.runner import cases_of, digest, main_of, shared_window, write_json

#: First shared-memory address that a case may use; below it lies the probe's barrier.
FIRST = 2048
#: Most bytes that a case may use from there on.
ROOM = 192 * 1024
POISON = 0xA5
#: The kernel waits some 2e9 cycles for the bytes that it was told of; who waits so long, in seconds, was told of more.
PATIENCE = 0.5
#: So many rows at most are written to the readable file; of more cases only the failures are.
FEW = 12
#: Code of TFLOAT32 in a tensor map (cuda.h, CUtensorMapDataType).
TFLOAT32 = 11
EVIDENCE = "tma_tiles"


@dataclass(frozen=True)
class Case:
    """A tile and the boxes that bring it.

    Args:
        name: what it is.
        matrix: (rows, columns) of the row-major matrix in global memory, in units of ``unit_bytes``.
        unit_bytes: bytes that stay together: of an element, or of a group of narrow ones.
        boxes: the boxes; the tensor map lies over the matrix.
        origin: (row, column) of the tile's first unit in the matrix.
        addresses: (rows, columns) array: the absolute shared-memory address at which each unit of the tile must lie.
        padded: whether other bytes may change as well (the padding between groups of narrow elements).
        facts: what the case was made from, for the evidence.
        row_step: rows of the matrix from one row of the tile to the next.
    """

    name: str
    matrix: tuple[int, int]
    unit_bytes: int
    boxes: Boxes
    origin: tuple[int, int]
    addresses: np.ndarray
    padded: bool = False
    facts: dict[str, Any] | None = None
    row_step: int = 1


def run_case(device: Device, kernel: Kernel, case: Case, seed: int) -> int:
    """Bytes of shared memory that are not as they must be; one more where fewer bytes were counted than must come.

    Raises:
        CudaError: if the driver refuses the tensor map, or the copy faults.
    """
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 256, (*case.matrix, case.unit_bytes), np.uint8)
    if case.boxes.data_type == TFLOAT32:
        matrix = tf32_bytes(random, case.matrix)
    data = device.upload(matrix)
    made = tensor_map(device, data, case.boxes)
    uploaded, out = device.upload(case.boxes.table()), device.buffer(ROOM)
    numbers = (case.boxes.rank, uploaded, len(case.boxes.places), case.boxes.arriving)
    begun = monotonic()
    kernel.launch(1, 256, made, *numbers, out, ROOM)
    device.synchronize()
    late = monotonic() - begun > PATIENCE
    found = out.get(np.uint8, (ROOM,))
    for buffer in (data, uploaded, out):
        buffer.free()
    want = found.copy() if case.padded else np.full(ROOM, POISON, np.uint8)
    rows, columns = case.addresses.shape
    tile = matrix[case.origin[0] :: case.row_step][:rows, case.origin[1] : case.origin[1] + columns]
    for byte in range(case.unit_bytes):
        want[case.addresses - FIRST + byte] = tile[..., byte]
    return int((found != want).sum()) + late


def tf32_bytes(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random finite tf32 numbers as bytes: the copy engine rounds what is none, see :func:`rounding`."""
    words = random.standard_normal(shape, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return words.view(np.uint8).reshape(*shape, 4)


def rounding(device: Device, kernel: Kernel) -> dict[str, int]:
    """What a copy as TFLOAT32 does to 32-bit floats: how many arrive as each kind of rounding to 10 bits gives."""
    values = np.random.default_rng(0).standard_normal((128, 32), np.float32)
    values.reshape(-1).view(np.uint32)[::7] &= np.uint32(0xFFFFF000)  # ties, so that the two nearest ones differ
    boxes = replace(boxes_of_matrix(4, (128, 32), (128, 32), 0, ((0, 0, FIRST),)), data_type=TFLOAT32)
    data, table, out = device.upload(values), device.upload(boxes.table()), device.buffer(ROOM)
    made = tensor_map(device, data, boxes)
    kernel.launch(1, 256, made, boxes.rank, table, 1, boxes.arriving, out, ROOM)
    device.synchronize()
    found, before = out.get(np.uint32, (128, 32)), values.view(np.uint32)
    kept, odd = before & np.uint32(0xFFFFE000), before >> np.uint32(13) & np.uint32(1)
    ways = {
        "unchanged": before,
        "truncated": kept,
        "nearest, ties to even": (before + np.uint32(0xFFF) + odd) & np.uint32(0xFFFFE000),
        "nearest, ties away from zero": (before + np.uint32(0x1000)) & np.uint32(0xFFFFE000),
    }
    return {"values": before.size} | {way: int((found == want).sum()) for way, want in ways.items()}


def plain_cases() -> Iterator[Case]:
    """Tiles by the documented pattern, without the library: rows of at most a span, boxes one after the other.

    Where the boxes begin off the pattern's alignment, by 128 bytes and more, the swizzle must still follow the absolute
    address.
    """
    for size in (1, 2, 4):
        for code, span in ((0, 16), (0, 64), (1, 32), (2, 64), (3, 128)):
            for rows, pieces, extra in ((8, 1, 0), (64, 2, 0), (128, 1, 0), (256, 2, 0), (64, 2, 128), (40, 3, 640)):
                start, fast = FIRST + extra, span // size
                origin, matrix = (5, 3 * 16 // size), (rows + 9, pieces * fast + 64)
                step = -(-rows * span // 128) * 128
                places = tuple((5, origin[1] + piece * fast, start + piece * step) for piece in range(pieces))
                addresses = tile_addresses(rows, pieces * span, span, code, start, step)[:, ::size]
                name = f"{SWIZZLE_NAMES[code]}, {size}-byte elements, {pieces} boxes of {rows} x {span} bytes"
                boxes = boxes_of_matrix(size, matrix, (rows, fast), code, places)
                yield Case(f"{name}, start +{extra}", matrix, size, boxes, origin, addresses)


def narrow_cases() -> Iterator[Case]:
    """What the driver may refuse on Hopper: 128B with 32-byte atoms, and 4- and 6-bit elements in 16-byte containers.

    The tile has 64 rows of 128 bytes in shared memory; 16 elements are 8 or 12 bytes in global memory.
    """
    rows, span = 64, 128
    i, b = np.arange(rows)[:, None], np.arange(span)[None, :]
    linear = FIRST + i * span + b
    matrix, places = (rows, 64), ((0, 0, FIRST),)
    boxes = boxes_of_matrix(2, matrix, (rows, 64), 4, places)
    yield Case("128B_ATOM_32B, 2-byte elements", matrix, 2, boxes, (0, 0), (linear ^ (linear >> 7 & 3) << 5)[:, ::2])
    for name, code, unit in (("16U4_ALIGN16B", 14, 8), ("16U6_ALIGN16B", 15, 12)):
        for swizzle in (0, 3):
            starts = permute(linear, swizzle)[:, ::16]
            strides = (8 * unit,)
            narrow = Boxes(code, 8, (128, rows), strides, (128, rows), swizzle, places)
            yield Case(f"{name}, {SWIZZLE_NAMES[swizzle]}", (rows, 8), unit, narrow, (0, 0), starts, padded=True)
    packed = Boxes(13, 4, (256, rows), (128,), (256, rows), 3, places)
    yield Case("16U4_ALIGN8B, 128B", (rows, 8), 16, packed, (0, 0), permute(linear, 3)[:, ::16])


def short_cases() -> Iterator[Case]:
    """Boxes whose rows are shorter than the span of the swizzle.

    Rows must lie a span apart, permuted as full ones are; nothing may be written between them; and the copy must count
    the bytes of the rows alone, or its barrier would not let the program go on.
    """
    rows = 16
    for size in (1, 2):
        for code, span in ((1, 32), (2, 64), (3, 128)):
            for short in range(16, span, 16):
                for extra in (0, 128, 640):
                    start = FIRST + extra
                    places, matrix = ((5, 16 // size, start),), (rows + 9, 256 // size)
                    boxes = boxes_of_matrix(size, matrix, (rows, short // size), code, places)
                    addresses = tile_addresses(rows, short, span, code, start, 0)[:, ::size]
                    name = f"{SWIZZLE_NAMES[code]}, {size}-byte elements, {rows} rows of {short} bytes, start +{extra}"
                    yield Case(name, matrix, size, boxes, (5, 16 // size), addresses)


def strided_cases() -> Iterator[Case]:
    """Boxes that take every second, third, fifth or eighth row, of extents that are multiples of that and are not.

    As many rows must land as the extent has multiples of the step in it, the first included, one after the other; and
    so many bytes be counted. A step along the first dimension must change nothing.
    """
    for code, span in ((0, 64), (2, 64), (3, 128)):
        for step, rows in ((1, 8), (2, 16), (2, 15), (3, 24), (3, 23), (3, 22), (5, 16), (8, 40), (8, 41), (8, 47)):
            for inner in (1, 2, 3, 8):
                matrix = (rows + 9, 256)
                boxes = boxes_of_matrix(2, matrix, (rows, span // 2), code, ((5, 8, FIRST),))
                boxes = replace(boxes, element_strides=(inner, step))
                addresses = tile_addresses(-(-rows // step), span, span, code, FIRST, 0)[:, ::2]
                name = f"{SWIZZLE_NAMES[code]}, box of {rows} rows of {span} bytes, element strides {inner}, {step}"
                yield Case(name, matrix, 2, boxes, (5, 8), addresses, row_step=step)


def border_cases() -> Iterator[Case]:
    """A plain tile at several places in the matrix: its first byte along the fast dimension 0, 16, 8, 4, 2 and 2.

    To be run with ``--separately``: a copy that the engine refuses ends the process's use of the GPU.
    """
    for row, column in ((3, 0), (3, 8), (0, 4), (0, 2), (0, 1), (3, 1)):
        places, matrix = ((row, column, FIRST),), (80, 200)
        boxes = boxes_of_matrix(2, matrix, (64, 64), 3, places)
        addresses = tile_addresses(64, 128, 128, 3, FIRST, 0)[:, ::2]
        yield Case(f"2-byte elements, tile at row {row}, column {column}", matrix, 2, boxes, (row, column), addresses)


def many_cases() -> Iterator[Case]:
    """Plain tiles of 64 to 1,024 boxes of 128 bytes each."""
    for count in (64, 256, 512, 768, 1024):
        matrix = (8 * count, 8)
        places = tuple((8 * i, 0, FIRST + 128 * i) for i in range(count))
        addresses = tile_addresses(8 * count, 16, 16, 0, FIRST, 0)[:, ::2]
        yield Case(f"{count} boxes", matrix, 2, boxes_of_matrix(2, matrix, (8, 8), 0, places), (0, 0), addresses)


def try_case(device: Device, kernel: Kernel, case: Case, seed: int, *, control: bool) -> dict[str, Any]:
    """A case, and the control where there is one: the same boxes without the swizzle, which must not pass."""
    row: dict[str, Any] = {"name": case.name, **(case.facts or {})}
    try:
        row["bytes_wrong"] = run_case(device, kernel, case, seed)
    except CudaError as error:
        return {**row, "error": str(error), "passed": False}
    if case.boxes.swizzle and control:
        plain = replace(case, boxes=replace(case.boxes, swizzle=0))
        row["control_bytes_wrong"] = run_case(device, kernel, plain, seed)
    row["passed"] = row["bytes_wrong"] == 0 and row.get("control_bytes_wrong", 1) != 0
    return row


def try_alone(options: argparse.Namespace, number: int) -> dict[str, Any]:
    """One of the cases in a process of its own."""
    command = [sys.executable, "-m", "probes.tma", "--cases", options.cases, "--only", str(number)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a case alone must be tried, found:\n{done.stderr[-2000:]}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def summary(cases: Sequence[Case], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts, and the rows that are worth reading: all of a few, the failures of many."""
    failed = [row for row in rows if not row["passed"]]
    return {
        "tiles": len(rows),
        "elements": sum(case.addresses.size for case in cases),
        "by_swizzle": dict(Counter(SWIZZLE_NAMES[case.boxes.swizzle] for case in cases)),
        "by_rank": dict(Counter(case.boxes.rank for case in cases)),
        "failed": len(failed),
        "controls_run": sum("control_bytes_wrong" in row for row in rows),
        "rows" if len(rows) <= FEW else "failures": list(rows) if len(rows) <= FEW else failed,
    }


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    shared_window(device)  # the fixed addresses of the cases are right only if it begins where they say
    kernel = device.load(build("tma")["tma"]).kernel("copy_and_dump", ROOM + FIRST - 1024)
    cases = list(cases_of(options.cases, plain_cases))
    if options.only is not None:
        print(json.dumps(try_case(device, kernel, cases[options.only], options.only, control=False)))
        return 0
    if options.separately:
        rows = [try_alone(options, number) for number in range(len(cases))]
    else:
        rows = [try_case(device, kernel, case, i, control=options.control) for i, case in enumerate(cases)]
    facts: dict[str, Any] = {**provenance(device, " ".join(["scripts/probe_wgmma tma", *sys.argv[1:]]))}
    facts |= summary(cases, rows)
    if not options.cases:
        facts |= {"copied_as_tfloat32": rounding(device, kernel)}
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / f"{options.name}.json", facts)
    if len(rows) > FEW:
        keys = np.array([digest(case.addresses) for case in cases], np.uint64)
        np.savez_compressed(out / f"{options.name}.npz", rows=np.array(json.dumps(rows)), address_digest=keys)
    print(f"{len(rows)} tiles on {device.name}: {facts['failed']} failed")
    for row in [row for row in rows if not row["passed"]][:8]:
        print("  ", json.dumps(row))
    return 1 if facts["failed"] else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma tma", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--name", default=EVIDENCE, help="name of the evidence file")
    made.add_argument("--cases", help="MODULE:FUNCTION that yields the cases; default: plain ones of the probe's own")
    made.add_argument("--separately", action="store_true", help="a process a case, where copies may fault")
    made.add_argument("--only", type=int, help="one case, its row to standard output (what --separately runs)")
    made.add_argument("--no-control", dest="control", action="store_false", help="leave out the wrong swizzles")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
