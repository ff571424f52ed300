"""The probe of sparse warps: what ``mma.sp.sync`` does with the metadata of each thread, and what a selector selects.

What is stored of A, B and D lie in registers as those of the dense ``mma.sync``, which the fragment probe measures. Two
questions are put to every shape, type and selector. *Registers*: B is an identity, eight columns of K after eight, so
that D is A with its zeros; with the code 4 everywhere, four bits of one thread become e; which row and which group of K
moves? *Products*: random numbers and random codes, and random bits in the threads whose metadata nothing reads.

    python -m probes.sparse_warps --out FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from probes.build import build
from probes.cuda import Device, provenance
from probes.fragments import packed
from probes.held import NUMBERS, SparseMma, every_sparse_mma
from probes.runner import main_of, write_json

EVIDENCE = "sparse_warps"

#: What makes the accumulators of cases (A, B, metadata), by their numbers, of registers: (cases, 32, values).
Issue: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def fragment_of(one: SparseMma, operand: str) -> np.ndarray:
    """Row and column of every value of every thread: (32 * values, 2)."""
    from layoutalg import fragment

    dtype = one.mma.accumulator if operand == "D" else one.mma.dtype
    held = fragment(f"mma.sp.{one.mma.shape}.{operand}.{dtype}")
    return np.array([held.element(t, v) for t in range(32) for v in range(held.values)])


def in_registers(one: SparseMma, operand: str, matrices: np.ndarray) -> np.ndarray:
    """Matrices (count, rows, columns) of small numbers as the registers of 32 threads."""
    places = fragment_of(one, operand)
    return packed(matrices[:, places[:, 0], places[:, 1]].reshape(len(matrices), 32, -1), one.mma.dtype)


def matrices_of(one: SparseMma, d: np.ndarray) -> np.ndarray:
    """Accumulators (count, 32, values) as matrices of 16 x 8."""
    places = fragment_of(one, "D")
    made = np.zeros((len(d), 16, 8), np.int64)
    made[:, places[:, 0], places[:, 1]] = d.reshape(len(d), -1)
    return made


def _identities(one: SparseMma) -> np.ndarray:
    """B for each eight columns of K, in registers."""
    k = one.mma.extents[2]
    return in_registers(one, "B", np.eye(k, dtype=np.int64).reshape(k // 8, 8, k))


def registers(one: SparseMma, issue: Issue) -> np.ndarray:
    """Row and first k of the group that every four bits of every thread say: (32, 8, 2); -1 of bits nothing reads, -2
    of such as move more than one group."""
    k, group = one.mma.extents[2], one.group
    stored = group // 2
    a = in_registers(one, "A", np.tile(np.arange(1, stored + 1), (16, k // group))[None])
    metadata = np.full((1 + 32 * 8, 32), 0x44444444, np.uint32)
    for thread in range(32):
        for nibble in range(8):
            metadata[1 + 8 * thread + nibble, thread] ^= 0xA << 4 * nibble
    blocks = k // 8
    cases = [(0, b, e) for e in range(len(metadata)) for b in range(blocks)]
    d = matrices_of(one, issue(np.array(cases, np.int32), a, _identities(one), metadata))
    whole = d.reshape(len(metadata), blocks, 16, 8).transpose(0, 2, 1, 3).reshape(len(metadata), 16, k)
    found = np.full((32 * 8, 2), -1, np.int32)
    for index, changed in enumerate(whole[1:] != whole[0]):
        where = {(int(m), int(at) // group * group) for m, at in np.argwhere(changed)}
        if where:
            found[index] = where.pop() if len(where) == 1 else -2
    return found.reshape(32, 8, 2)


def by_the_rules(one: SparseMma) -> np.ndarray:
    """What the library says of :func:`registers`: of the threads that the selector selects.

    >>> by_the_rules(every_sparse_mma()[1])[5, :5].tolist()  # f16, K 16, selector 1: lane 5 has rows 1 and 9
    [[1, 0], [1, 4], [1, 8], [1, 12], [9, 0]]
    """
    from layoutalg import fragment

    shape, dtype = one.mma.shape, one.mma.dtype
    held = fragment(f"mma.sp.{shape}.E.{dtype}")
    each, columns = held.values // 8, held.shape[1]
    table = np.array([[held.element(t, each * i) for i in range(8)] for t in range(32)], np.int32)
    lanes = 16 * columns * 4 // one.group // 32  # that have all of the metadata among them
    spare = 32 // lanes
    table[np.arange(32) % 4 // (4 // spare) != one.selector % spare] = -1
    return table


def products(one: SparseMma, issue: Issue, count: int = 64) -> tuple[int, int]:
    """How many elements of random products there were, and how many are not what the rules say."""
    k, group = one.mma.extents[2], one.group
    rng = np.random.default_rng([k, one.selector, group])
    most = len(NUMBERS[one.mma.dtype][1])
    codes = np.array((0x4, 0xE) if group == 2 else (0x4, 0x8, 0x9, 0xC, 0xD, 0xE), np.uint32)
    chosen = codes[rng.integers(0, len(codes), (count, 16, k // group))]
    metadata = rng.integers(0, 1 << 32, (count, 32), dtype=np.uint32)
    places = by_the_rules(one)
    for thread, nibble in np.argwhere(places[..., 0] >= 0):
        row, first = places[thread, nibble]
        metadata[:, thread] &= ~np.uint32(0xF << 4 * nibble)
        metadata[:, thread] |= chosen[:, row, first // group] << np.uint32(4 * nibble)
    a, b = rng.integers(0, most, (count, 16, k // 2)), rng.integers(0, most, (count, 8, k))
    cases = np.repeat(np.arange(count, dtype=np.int32)[:, None], 3, 1)
    d = matrices_of(one, issue(cases, in_registers(one, "A", a), in_registers(one, "B", b), metadata))
    wrong = np.einsum("imk,ink->imn", with_zeros(a, chosen, group), b) != d
    return d.size, int(wrong.sum())


def with_zeros(stored: np.ndarray, codes: np.ndarray, group: int) -> np.ndarray:
    """A with its zeros, of what is stored and the codes of its groups.

    >>> with_zeros(np.array([[[5, 6]]]), np.array([[[0xD]]]), 4).tolist()
    [[[0, 5, 0, 6]]]
    """
    together = {2: 1, 4: 1, 8: 2}[group]  # elements that one index places
    made = np.zeros((*codes.shape, group), stored.dtype)
    pieces = stored.reshape(*codes.shape, -1, together)
    for number in range(pieces.shape[-2]):
        index = codes >> (3 if group == 2 else 2 * number) & (1 if group == 2 else 3)
        for i in range(together):
            at = (together * index + i)[..., None].astype(np.int64)
            np.put_along_axis(made, at, pieces[..., number, i][..., None], -1)
    return made.reshape(*stored.shape[:-1], -1)


def on_gpu(device: Device, module: Any, one: SparseMma) -> Issue:
    """The instruction on the GPU."""

    def issue(cases: np.ndarray, a: np.ndarray, b: np.ndarray, metadata: np.ndarray) -> np.ndarray:
        kind = {"f32": np.float32, "s32": np.int32, "f16": np.float16}[one.mma.accumulator]
        out = device.buffer(len(cases) * 32 * 4 * np.dtype(kind).itemsize).fill(0xFF)
        buffers = [device.upload(x) for x in (cases, a, b, metadata)] + [out]
        module.kernel(one.kernel).launch(min(len(cases), 2048), 32, *buffers, len(cases))
        device.synchronize()
        found = out.get(kind, (len(cases), 32, 4)).astype(np.int64)
        for buffer in buffers:
            buffer.free()
        return found

    return issue


def row_of(one: SparseMma, table: np.ndarray, multiplied: tuple[int, int]) -> dict[str, Any]:
    """A row of the evidence: the table by row * 1000 + k, one text a thread, and how many products were wrong."""
    agrees = bool((table == by_the_rules(one)).all())
    words = [" ".join({-1: "-", -2: "several"}.get(m, f"{m}:{k}") for m, k in thread) for thread in table.tolist()]
    digest = hashlib.sha256(np.ascontiguousarray(table, dtype="<i4").tobytes()).hexdigest()
    shown = {"threads": words[:8]} if agrees else {"threads": words}
    elements, wrong = multiplied
    return {"name": one.name, "agrees": agrees, "sha256": digest, **shown, "elements": elements, "wrong": wrong}


def measure_from(device: Device, first: int) -> None:
    """Print the row of each instruction from one on, a line each; an instruction that the GPU refuses ends it."""
    module = device.load(build("sparse_warps")["sparse_warps"])
    for one in every_sparse_mma()[first:]:
        issue = on_gpu(device, module, one)
        print(json.dumps(row_of(one, registers(one, issue), products(one, issue))), flush=True)


def rows_of_children() -> list[dict[str, Any]]:
    """The rows of all instructions: a child measures until the GPU refuses one, and the next begins behind it."""
    rows: list[dict[str, Any]] = []
    every = every_sparse_mma()
    while len(rows) < len(every):
        command = [sys.executable, "-m", "probes.sparse_warps", "--first", str(len(rows))]
        child = subprocess.run(command, capture_output=True, text=True)
        rows += [json.loads(line) for line in child.stdout.splitlines() if line.startswith("{")]
        if child.returncode:
            why = child.stderr.strip().splitlines()[-1:] or ["no message"]
            rows.append({"name": every[len(rows)].name, "refused": why[0]})
    return rows


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    if options.first is not None:
        measure_from(device, options.first)
        return 0
    facts = provenance(device, " ".join(["scripts/probe_wgmma sparse_warps", *sys.argv[1:]]))
    rows = rows_of_children()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    refused = [row["name"] for row in rows if "refused" in row]
    wrong = [row["name"] for row in rows if "refused" not in row and (row["wrong"] or not row["agrees"])]
    counts = {"cases": len(rows), "different": wrong, "refused": refused}
    write_json(out / f"{EVIDENCE}.json", facts | counts | {"rows": rows})
    print(json.dumps(counts))
    return 1 if wrong else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma sparse_warps", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--first", type=int, help="measure from this instruction on, and print the rows")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
