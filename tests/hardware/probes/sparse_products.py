"""The probe of sparse products: programs that ``descriptors plan --sparse --emit cuda`` writes, compiled and run.

Plans are drawn by seed over types, majors, shapes, stages and clusters. Each program checks itself on codes that it
draws, on whole tiles and on extents that no tile divides; a twin of every few, whose word for B has another swizzle,
must fail. Then the same kernel multiplies a random matrix of which two of four along K are zero, compressed and packed
by the library, and its product is compared with that of the matrix before it was compressed; with the metadata of
other threads it must differ. With ``--registers`` the instructions take A from registers.

    python -m probes.sparse_products --out FOLDER [--number 24] [--seed 1] [--registers]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from descriptors import compress, pack_metadata
from descriptors.gemm.plan import Plan
from probes.cuda import Device
from probes.held import NUMBERS
from probes.main_loops import FLAGS, Beside, legal, parser, run_programs, sizes
from probes.runner import main_of

EVIDENCE = "sparse_products"
#: Types of A, of B, of the accumulators; in turn.
TYPES = (
    ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("tf32", "tf32", "f32"), ("e4m3", "e4m3", "f32"),
    ("e5m2", "e4m3", "f32"), ("s8", "s8", "s32"), ("u8", "s8", "s32"), ("f16", "f16", "f16"),
)  # fmt: skip
_K = {"bf16": 32, "f16": 32, "tf32": 16}
HARNESS = Path(__file__).parent / "sparse_product.cu"


def drawn(number: int, seed: int, *, registers: bool = False) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each another one; registers: with A there.

    >>> [one["instruction"] for one in drawn(3, 1)] == [one["instruction"] for one in drawn(3, 1)]
    True
    """
    source = {"a_source": "registers"} if registers else {}
    return legal(number, seed, lambda chooser, before: _drawn(chooser, before) | source)


def _drawn(chooser: random.Random, before: int) -> dict[str, Any]:
    a, b, d = TYPES[before % len(TYPES)]
    k = _K.get(a, 64)
    n = chooser.choice((8, 16, 32, 64, 96, 128, 192, 256))
    return {
        "instruction": f"wgmma.sp.m64n{n}k{k}", "dtype": a, "b_dtype": b, "d_dtype": d,
        "tile": [64 * chooser.choice((1, 2, 3, 4)), n * chooser.choice((1, 1, 2)), k * chooser.choice((1, 2, 4))],
        "stages": chooser.choice((None, 1, 2, 3)), "a_major": chooser.choice(("K", "MN")),
        "b_major": chooser.choice(("K", "MN")), "cluster": chooser.choice((None, None, [2, 1], [1, 2])),
    }  # fmt: skip


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


def host(source: Path) -> Path:
    """The kernel with the program that feeds it from a file."""
    program = source.with_name(f"{source.stem}_host")
    command = ["nvcc", *FLAGS, f'-DKERNEL="{source}"', "-o", str(program), str(HARNESS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"sparse_products: {source.stem} must compile, found:\n{done.stderr[-4000:]}")
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


def packed_products(made: Plan, program: Path, seed: int) -> dict[str, Any]:
    """What a kernel makes of matrices that the library compressed and packed."""
    return {
        "packed_products_that_differ": [differing(made, program, size, seed) for size in sizes(made)],
        "of_spoiled_metadata_that_differ": differing(made, program, sizes(made)[0], seed, spoiled=True),
    }


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    plans = drawn(options.number, options.seed, registers=options.registers)
    beside = Beside(host, packed_products)
    return run_programs(device, options, EVIDENCE, plans, "_registers" * options.registers, beside)


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    made = parser(EVIDENCE, __doc__, 24)
    made.add_argument("--registers", action="store_true", help="plans whose instructions take A from registers")
    return main_of(made, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
