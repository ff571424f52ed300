"""The probe of sparse products: programs that ``descriptors plan --sparse --emit cuda`` writes, compiled and run.

Plans are drawn by seed over types, majors, shapes, stages and clusters. Each program checks itself on codes that it
draws, on whole tiles and on extents that no tile divides; a twin of every few, whose word for B has another swizzle,
must fail. Then the same kernel multiplies a random matrix of which two of four along K are zero, compressed and packed
by the library, and its product is compared with that of the matrix before it was compressed; with the metadata of
other threads it must differ.

    python -m probes.sparse_products --out FOLDER [--number 24] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from descriptors import DescriptorError, compress, pack_metadata, plan
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_kernel import kernel
from probes.cuda import Device, provenance
from probes.held import NUMBERS
from probes.main_loops import FLAGS, built, digest, ran, twin
from probes.runner import main_of, write_json

EVIDENCE = "sparse_products"
#: Types of A, of B, of the accumulators; in turn.
TYPES = (
    ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("tf32", "tf32", "f32"), ("e4m3", "e4m3", "f32"),
    ("e5m2", "e4m3", "f32"), ("s8", "s8", "s32"), ("u8", "s8", "s32"), ("f16", "f16", "f16"),
)  # fmt: skip
_K = {"bf16": 32, "f16": 32, "tf32": 16}
#: One plan of so many has a wrong twin.
_TWIN = 4
HARNESS = Path(__file__).parent / "sparse_product.cu"


def drawn(number: int, seed: int) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each another one.

    >>> [one["instruction"] for one in drawn(3, 1)] == [one["instruction"] for one in drawn(3, 1)]
    True
    """
    chooser, found = random.Random(seed), list[dict[str, Any]]()
    while len(found) < number:
        one = _drawn(chooser, *TYPES[len(found) % len(TYPES)])
        try:
            kernel(plan(**one, verify=False))
        except DescriptorError:
            continue
        if one not in found:
            found.append(one)
    return found


def _drawn(chooser: random.Random, a: str, b: str, d: str) -> dict[str, Any]:
    k = _K.get(a, 64)
    n = chooser.choice((8, 16, 32, 64, 96, 128, 192, 256))
    one = {
        "instruction": f"wgmma.sp.m64n{n}k{k}", "dtype": a, "b_dtype": b, "d_dtype": d,
        "tile": [64 * chooser.choice((1, 2, 3, 4)), n * chooser.choice((1, 1, 2)), k * chooser.choice((1, 2, 4))],
        "stages": chooser.choice((None, 1, 2, 3)), "a_major": chooser.choice(("K", "MN")),
        "b_major": chooser.choice(("K", "MN")), "cluster": chooser.choice((None, None, [2, 1], [1, 2])),
    }  # fmt: skip
    return {name: value for name, value in one.items() if value is not None}


def sizes(made: Plan) -> list[tuple[int, int, int]]:
    """What each program multiplies: whole tiles, and extents a little larger that no tile divides."""
    m, n, k = made.asked.tile
    return [(2 * m, 2 * n, (made.stages + 2) * k), (m + 16, n + 16, (made.stages + 1) * k + 32)]


def coded(numbers: np.ndarray, dtype: str) -> bytes:
    """Small numbers as they lie in memory."""
    bits, patterns = NUMBERS[dtype]
    return np.array(patterns, np.uint64)[numbers].astype(f"<u{bits // 8}").tobytes()


def sparse_matrix(rng: np.random.Generator, m: int, k: int, dtype: str) -> np.ndarray:
    """Numbers from 0 to 2 of which no group along K has more than its half that are not zero."""
    group = 2 if dtype == "tf32" else 4
    kept = rng.random((m, k // group, group)).argsort(axis=2) < group // 2
    return (rng.integers(0, 3, kept.shape) * kept).reshape(m, k)


def operands(
    made: Plan, size: tuple[int, int, int], rng: np.random.Generator, spoiled: bool = False
) -> tuple[bytes, np.ndarray]:
    """The file of a product, and the product; spoiled: every thread has the metadata of another one."""
    (m, n, k), loop = size, made.asked
    a, b = sparse_matrix(rng, m, k, loop.a.name), rng.integers(0, 3, (n, k))
    whole = [-(-extent // unit) * unit for extent, unit in ((m, 64), (k, 64))]
    padded = np.zeros(whole, np.int64)
    padded[:m, :k] = a
    values, positions = compress(padded, loop.a)
    covered = made.metadata.packed.covered if made.metadata else 64
    words = pack_metadata(positions[:, : -(-k // covered) * covered // 2], loop.a)
    stored = values[:m, : k // 2]
    words = np.roll(words, 4, axis=2) if spoiled else words
    a_lies, b_lies = (x.T if side.transposed else x for x, side in ((stored, made.a), (b, made.b)))
    parts = [np.array(size, "<i4").tobytes(), coded(a_lies, loop.a.name), coded(b_lies, loop.b.name)]
    return b"".join([*parts, words.astype("<u4").tobytes()]), a @ b.T


def host(folder: Path, name: str) -> Path:
    """The kernel with the program that feeds it from a file."""
    program = folder / f"{name}_host"
    command = ["nvcc", *FLAGS, f'-DKERNEL="{folder / name}.cu"', "-o", str(program), str(HARNESS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"sparse_products: {name} must compile, found:\n{done.stderr[-4000:]}")
    return program


def differing(made: Plan, program: Path, size: tuple[int, int, int], seed: int, spoiled: bool = False) -> int:
    """How many elements of a product are not those of the matrix before it was compressed; -1 where it did not run."""
    given, expected = operands(made, size, np.random.default_rng(seed), spoiled)
    source, result = program.with_suffix(".in"), program.with_suffix(".out")
    source.write_bytes(given)
    if subprocess.run([program, source, result], timeout=60).returncode:
        return -1
    kind = {"f32": "<f4", "s32": "<i4", "f16": "<f2"}[made.asked.d]
    return int((np.fromfile(result, kind).reshape(expected.shape) != expected).sum())


def row(one: dict[str, Any], text: str, programs: tuple[Path, Path], wrong: Path | None, seed: int) -> dict[str, Any]:
    """What became of one plan."""
    made = plan(**one, verify=False)
    own = [ran(programs[0], size) for size in sizes(made)]
    found = {
        "plan": one,
        "program": digest(text),
        "products": [list(size) for size in sizes(made)],
        "exact": all(status == 0 for status, _ in own),
        "packed_products_that_differ": [differing(made, programs[1], size, seed) for size in sizes(made)],
        "of_spoiled_metadata_that_differ": differing(made, programs[1], sizes(made)[0], seed, spoiled=True),
    }
    if not found["exact"]:
        found["found"] = [said for _, said in own]
    if wrong is not None:
        status, said = ran(wrong, sizes(made)[0])
        found["twin_fails"], found["twin"] = status != 0, said
    return found


def right(one: dict[str, Any]) -> bool:
    """Whether all that was run of a plan came out as it must."""
    exact = one["exact"] and not any(one["packed_products_that_differ"])
    return bool(exact and one["of_spoiled_metadata_that_differ"] > 0 and one.get("twin_fails", True))


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a program is wrong, or a twin is not."""
    if shutil.which("nvcc") is None:
        raise RuntimeError("sparse_products: nvcc must be on the PATH, found none")
    facts = provenance(device, " ".join(["scripts/probe_wgmma sparse_products", *sys.argv[1:]]))
    plans = drawn(options.number, options.seed)
    texts = [kernel(plan(**one, verify=False)) for one in plans]
    with tempfile.TemporaryDirectory(prefix="sparse_products-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(scratch)
        programs = list(pool.map(lambda i: built(folder, f"gemm{i}", texts[i]), range(len(plans))))
        hosts = list(pool.map(lambda i: host(folder, f"gemm{i}"), range(len(plans))))
        some = range(0, len(plans), _TWIN)
        twins = dict(zip(some, pool.map(lambda i: built(folder, f"twin{i}", twin(texts[i])), some), strict=True))
        rows = [
            row(one, texts[i], (programs[i], hosts[i]), twins.get(i), options.seed + i) for i, one in enumerate(plans)
        ]
    for one in rows:
        if not right(one):
            print(one)
    print(f"{sum(map(right, rows))} of {len(rows)} sparse programs right, {len(twins)} twins")
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{EVIDENCE}.json", {**facts, "seed": options.seed, "programs": rows})
    return int(not all(map(right, rows)))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma sparse_products", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=24, help="plans that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which plans")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
