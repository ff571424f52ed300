"""The fragment probe: which element does each register of each thread hold, of wgmma, mma.sync, ldmatrix, stmatrix?

What is measured knows no map of registers. D of ``wgmma``: A and B lie in shared memory, and say row and column in the
digits of what D becomes. A of ``wgmma``: every register says its own number in digits, times an identity. ``mma.sync``
has no operand outside of registers, so that what can be measured is what meets what: for each element of A, with all
others zero, the accumulators that it reaches, and the element of B that it meets there. ``ldmatrix`` and ``stmatrix``:
which thread's row, and which element of it.

    python -m probes.fragments --out FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from probes.build import build
from probes.cuda import Device, provenance
from probes.held import (
    MATRIX_BYTES,
    NUMBERS,
    Mma,
    every_mma,
    every_wgmma,
    every_wgmma_of_a,
    matrix_name,
)
from probes.instructions import Instruction
from probes.runner import main_of, write_json

EVIDENCE = "fragments"

#: What a warp makes of the registers of A (number, thread, register) and B: those of D (A's times B's number, ...).
Issue: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: The table that the rules have under a name.
Rules: TypeAlias = Callable[[str], np.ndarray]

_RESULTS = {"f32": np.float32, "f64": np.float64, "s32": np.int32, "f16": np.float16}


def digits_of(values: np.ndarray, base: int) -> np.ndarray:
    """The digits of numbers, the lowest first, in a new first dimension.

    >>> digits_of(np.array([0, 9, 63]), 8).tolist()
    [[0, 1, 7], [0, 1, 7]]
    """
    count = 1
    while base**count <= int(values.max()):
        count += 1
    return np.stack([values // base**i % base for i in range(count)])


def packed(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """Small numbers as the words of registers, values from the low bits up: the last dimension becomes words.

    >>> [hex(word) for word in packed(np.array([1, 0, 2, 1]), "f16")]
    ['0x3c00', '0x3c004000']
    """
    bits, patterns = NUMBERS[dtype]
    word = np.uint64 if bits == 64 else np.uint32
    each = max(1, 32 // bits)
    coded = np.array(patterns, np.uint64)[numbers].reshape(*numbers.shape[:-1], -1, each)
    shifts = (np.arange(each) * bits).astype(np.uint64)
    return np.bitwise_or.reduce(coded << shifts, axis=-1).astype(word)


# mma.sync -------------------------------------------------------------------------------------------------------------


def meetings(one: Mma, issue: Issue) -> np.ndarray:
    """What meets what: for each element of A, the accumulators that it reaches, and the element of B it meets there.

    Args:
        one: the instruction.
        issue: who runs it: the GPU, or a model.

    Returns:
        (elements of A, N, 2): accumulator and element of B, each ``thread * values + value``, in accumulators' order.

    Raises:
        RuntimeError: if an element of A does not reach N accumulators.
    """
    count_a, count_b, n = 32 * one.values("A"), 32 * one.values("B"), one.extents[1]
    base = len(NUMBERS[one.dtype][1])
    alone = np.eye(count_a, dtype=np.int64).reshape(count_a, 32, -1)
    patterns = np.concatenate([np.ones((1, count_b), np.int64), digits_of(np.arange(count_b), base)])
    d = issue(packed(alone, one.dtype), packed(patterns.reshape(len(patterns), 32, -1), one.dtype))
    d = d.reshape(count_a, len(patterns), -1)
    reached = d[:, 0] == 1
    if (reached.sum(1) != n).any() or d[:, 1:][~np.broadcast_to(reached[:, None], d[:, 1:].shape)].any():
        raise RuntimeError(f"fragments: an element of A must reach {n} accumulators, found otherwise; {one.name}")
    element = (d[:, 1:] * base ** np.arange(len(patterns) - 1)[:, None]).sum(1)
    where = np.nonzero(reached)[1].reshape(count_a, n)
    return np.stack([where, np.take_along_axis(element, where, 1)], 2).astype(np.int32)


def on_gpu(device: Device, module: Any, one: Mma) -> Issue:
    """The instruction on the GPU."""

    def issue(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        launches = len(a) * len(b)
        kind = _RESULTS[one.accumulator]
        nbytes = launches * 32 * one.values("D") * np.dtype(kind).itemsize
        out = device.buffer(nbytes).fill(0xFF)
        buffers = [device.upload(a), device.upload(b), out]
        module.kernel(f"mma_{one.name}").launch(min(launches, 4096), 32, *buffers, launches, len(b))
        device.synchronize()
        found = out.get(kind, (launches, 32, one.values("D"))).astype(np.int64)
        for buffer in buffers:
            buffer.free()
        return found

    return issue


# wgmma ----------------------------------------------------------------------------------------------------------------


#: Where B begins behind A in an image, and bytes of the whole.
A_BYTES, IMAGE_BYTES = 64 * 32, 64 * 32 + 256 * 32


def image(a: np.ndarray, b: np.ndarray, dtype: str, nbytes: int = IMAGE_BYTES) -> np.ndarray:
    """Small numbers A (64, K) and B (N, K) as bytes of shared memory: core matrices of 8 rows of 16 bytes, K first."""
    size = NUMBERS[dtype][0] // 8
    made = np.zeros(nbytes, np.uint8)
    for start, operand in ((0, a), (A_BYTES, b)):
        coded = np.array(NUMBERS[dtype][1], np.uint64)[operand].astype(f"u{size}").view(np.uint8)
        rows = coded.reshape(len(operand), -1, 16)
        made[start : start + rows.size] = rows.reshape(-1, 8, rows.shape[1], 16).swapaxes(1, 2).reshape(-1)
    return made


def _held(device: Device, module: Any, one: Instruction, images: np.ndarray, a: np.ndarray | None = None) -> np.ndarray:
    """The accumulators of every thread, as integers, for each image (and for each A in registers)."""
    registers = np.zeros((len(images), 128, 4), np.uint32) if a is None else a
    kind = _RESULTS[one.accumulator]
    out = device.buffer(len(images) * 128 * one.accumulators * 4).fill(0xFF)
    buffers = [device.upload(images), device.upload(registers), out]
    module.kernel(f"held_{one.name}", images.shape[1]).launch(len(images), 128, *buffers, len(images))
    device.synchronize()
    found = out.get(kind, (len(images), 128, one.n // 2)).astype(np.int64)
    for buffer in buffers:
        buffer.free()
    return found


def accumulators(device: Device, module: Any, one: Instruction) -> np.ndarray:
    """Row and column that each accumulator of each thread is: (128, values, 2).

    The first column of A and of B says a digit of the row, or of the column; the other of the two is 1 throughout.
    """
    rows, columns = digits_of(np.arange(64), 8), digits_of(np.arange(one.n), 8)
    images = [image(_first(digit, one.k), _first(np.ones(one.n, int), one.k), one.dtype) for digit in rows]
    images += [image(_first(np.ones(64, int), one.k), _first(digit, one.k), one.dtype) for digit in columns]
    found = _held(device, module, one, np.stack(images))
    return np.stack([_number(found[: len(rows)]), _number(found[len(rows) :])], 2)


def _first(column: np.ndarray, k: int) -> np.ndarray:
    """An operand of zeros but for its first column."""
    return np.pad(column[:, None], ((0, 0), (0, k - 1)))


def _number(digits: np.ndarray) -> np.ndarray:
    return np.tensordot(8 ** np.arange(len(digits)), digits, 1).astype(np.int32)


def operand_a(device: Device, module: Any, one: Instruction, d: np.ndarray) -> np.ndarray:
    """Row and column that each element of A in registers is: (128, values, 2).

    Args:
        device, module: the GPU and its kernels.
        one: an instruction with A in registers whose N is K.
        d: what :func:`accumulators` found of the same shape.
    """
    values = 64 * one.k // 128
    digits = digits_of(np.arange(128 * values), 8)
    coded = packed(digits.reshape(len(digits), 128, values), one.dtype)
    identity = image(np.zeros((64, one.k), int), np.eye(one.n, one.k, dtype=int), one.dtype)
    found = _number(_held(device, module, one, np.stack([identity] * len(digits)), coded)).reshape(-1)
    if sorted(found.tolist()) != list(range(128 * values)):
        raise RuntimeError(f"fragments: every element of A must come out once, found otherwise; {one.name}")
    made = np.empty((128 * values, 2), np.int32)
    made[found] = d.reshape(-1, 2)
    return made.reshape(128, values, 2)


# ldmatrix and stmatrix ------------------------------------------------------------------------------------------------


def rows_moved(device: Device, module: Any, kind: str, count: int, trans: bool) -> np.ndarray:
    """Whose row each element comes from or goes to, and its place in that row: (32, values, 2).

    The rows that threads point at are drawn anew four times; each time the same must come out.
    """
    kernel, random = module.kernel(matrix_name(kind, count, trans).replace(".", "_")), np.random.default_rng(0)
    results = []
    for _ in range(4):
        slots = random.permutation(MATRIX_BYTES // 16)[:32]
        owner = np.full(MATRIX_BYTES // 16, -1)
        owner[slots] = np.arange(32)
        codes = np.arange(MATRIX_BYTES // 2, dtype=np.uint16)
        memory, out = device.buffer(MATRIX_BYTES).fill(0xFF), device.buffer(128 * count)
        filled = codes if kind == "ld" else np.full_like(codes, 0xFFFF)
        given = np.arange(64 * count, dtype=np.uint16)
        buffers = [device.upload(one) for one in (filled, (slots * 16).astype(np.uint32), given)]
        kernel.launch(1, 32, *buffers, memory, out)
        device.synchronize()
        if kind == "ld":
            place = out.get(np.uint16, (64 * count,)).astype(np.int64)
        else:
            left = memory.get(np.uint16, (MATRIX_BYTES // 2,))
            place = np.empty(64 * count, np.int64)
            place[left[left != 0xFFFF]] = np.nonzero(left != 0xFFFF)[0]
        results.append(np.stack([owner[place // 8], place % 8], 1).reshape(32, -1, 2).astype(np.int32))
        for buffer in (*buffers, memory, out):
            buffer.free()
    if any((one != results[0]).any() for one in results):
        raise RuntimeError(
            f"fragments: {matrix_name(kind, count, trans)} must not depend on where rows lie, found it does"
        )
    return results[0]


# All of them ----------------------------------------------------------------------------------------------------------


def measured(device: Device) -> Iterator[tuple[str, np.ndarray]]:
    """Every case by its name, and what was found."""
    cubins = build("fragments")
    modules = {name: device.load(path) for name, path in cubins.items()}
    of_d: dict[tuple[str, int], np.ndarray] = {}
    for one in every_wgmma():
        found = accumulators(device, modules[f"fragments_{one.dtype}"], one)
        of_d.setdefault((one.dtype, one.n), found)
        yield f"wgmma.m64n{one.n}k{one.k}.D.{one.accumulator} of {one.dtype}", found
    for one in every_wgmma_of_a():
        found = operand_a(device, modules[f"fragments_{one.dtype}"], one, of_d[one.dtype, one.n])
        yield f"wgmma.m64n{one.n}k{one.k}.A.{one.dtype}", found
    for mma in every_mma():
        yield (
            f"mma.{mma.shape} {mma.dtype} {mma.accumulator}",
            meetings(mma, on_gpu(device, modules["fragments_mma"], mma)),
        )
    for kind in ("ld", "st"):
        for count in (1, 2, 4):
            for trans in (False, True):
                found = rows_moved(device, modules["fragments_matrix"], kind, count, trans)
                yield matrix_name(kind, count, trans), found


def by_the_rules(name: str) -> np.ndarray:
    """What the library says of a case: the table that :func:`measured` should find.

    >>> by_the_rules("ldmatrix.x1")[5].tolist()  # thread 5: row 1, elements 2 and 3
    [[1, 2], [1, 3]]
    """
    from layoutalg.fragments.fragment_names import fragment

    def elements(called: str) -> np.ndarray:
        one = fragment(called)
        return np.array([[one.element(t, v) for v in range(one.values)] for t in range(one.threads)], np.int32)

    if name.startswith("wgmma"):
        return elements(name.split(" ")[0])
    if "matrix" in name:
        return elements(f"{name}.{8 * int(name.split('.x')[1][0])}x8")
    shape, dtype, accumulator = name.removeprefix("mma.").split()
    a, b, d = (
        elements(f"mma.{shape}.{which}").reshape(-1, 2) for which in (f"A.{dtype}", f"B.{dtype}", f"D.{accumulator}")
    )
    places_b = {(n, k): place for place, (n, k) in enumerate(b.tolist())}
    rows = [[place for place, (m, _) in enumerate(d.tolist()) if m == row] for row in range(int(d[:, 0].max()) + 1)]
    met = [[(place, places_b[int(d[place, 1]), k]) for place in rows[m]] for m, k in a.tolist()]
    return np.array(met, np.int32)


def digest(table: np.ndarray) -> str:
    """SHA-256 of a table as little-endian int32, row by row."""
    return hashlib.sha256(np.ascontiguousarray(table, dtype="<i4").tobytes()).hexdigest()


def every_case() -> list[str]:
    """The names of all cases, in the order of :func:`measured`."""
    wgmma = [f"wgmma.m64n{one.n}k{one.k}.D.{one.accumulator} of {one.dtype}" for one in every_wgmma()]
    wgmma += [f"wgmma.m64n{one.n}k{one.k}.A.{one.dtype}" for one in every_wgmma_of_a()]
    mma = [f"mma.{one.shape} {one.dtype} {one.accumulator}" for one in every_mma()]
    return wgmma + mma + [matrix_name(k, n, t) for k in ("ld", "st") for n in (1, 2, 4) for t in (False, True)]


def record(
    device: Device, options: argparse.Namespace, evidence: str, tables: dict[str, np.ndarray], rules: Rules
) -> int:
    """Tables compared with the rules and written, whole and as digests; the exit status is 1 where one differs."""
    facts = provenance(device, " ".join([f"scripts/probe_wgmma {evidence}", *sys.argv[1:]]))
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / f"{evidence}.npz", provenance=np.array(json.dumps(facts)), **tables)
    wrong = [name for name, table in tables.items() if digest(table) != digest(rules(name))]
    rows = [{"name": name, "shape": list(table.shape), "sha256": digest(table)} for name, table in tables.items()]
    entries = sum(table.size // 2 for table in tables.values())
    summary = {**facts, "cases": len(rows), "entries": entries, "cases_that_differ_from_the_rules": len(wrong)}
    write_json(out / f"{evidence}.json", summary | {"different": wrong, "tables": rows})
    print(f"{len(rows)} tables of {evidence} on {facts['gpu']}, {entries} entries: {len(wrong)} differ from the rules")
    for name in wrong:
        print(f"  {name}")
    return 1 if wrong else 0


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    return record(device, options, EVIDENCE, dict(measured(device)), by_the_rules)


def parser(evidence: str = EVIDENCE, about: str | None = __doc__) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog=f"probe_wgmma {evidence}", description=(about or "").split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
