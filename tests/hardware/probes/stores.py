"""The probe of stores: how kernels of sm100 store C, on a Hopper GPU.

What follows ``tcgen05.ld`` in such a kernel are instructions that sm_90 has too. Of kernels that ``descriptors plan
--emit cuda`` writes the operands, the multiplication and tensor memory are cut out, and a load gives each thread
numbers of the elements that its cells have, as ``tcgen05_cells`` says; all that stores C stays as it is written: terms,
rounding, pieces in shared memory, their boxes, parts along K and the kernel that adds them, and the host's comparison.
Plans are drawn by seed. Of every few a twin is run whose pieces are written without their swizzle, or with two rows in
each other's place: that must fail.

    python -m probes.stores --out FOLDER [--number 60] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from descriptors import DescriptorError, plan
from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm100_kernel import kernel
from descriptors.tmem.accumulator_model import tcgen05_cells
from probes.cuda import Device, provenance
from probes.main_loops import built, digest, parser, ran
from probes.runner import main_of, write_json

EVIDENCE = "stores"
#: Type of A, and of the accumulators; in turn.
TYPES = (("bf16", "f32"), ("e4m3", "f32"), ("f16", "f16"), ("tf32", "f32"), ("s8", "s32"), ("bf16", "f32"))
_K = {"bf16": 16, "f16": 16, "tf32": 8}
_TWIN = 4
_LANES, _COLUMNS = 128, 512


def drawn(number: int, seed: int) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each another one.

    >>> [one["instruction"] for one in drawn(3, 1)] == [one["instruction"] for one in drawn(3, 1)]
    True
    """
    chooser, found = random.Random(seed), list[dict[str, Any]]()
    while len(found) < number:
        one = {name: value for name, value in _drawn(chooser, *TYPES[len(found) % len(TYPES)]).items() if value}
        try:
            kernel(plan(**one, verify=False), "gemm")
        except DescriptorError:
            continue
        if one not in found:
            found.append(one)
    return found


def _drawn(chooser: random.Random, a: str, d: str) -> dict[str, Any]:
    pair = chooser.choice((1, 1, 2))
    m = chooser.choice((64, 128) if pair == 1 else (128, 256))
    n = chooser.randrange(16, 257, 32 if m == 256 else 16)
    k = _K.get(a, 32)
    terms = [name for name in ("row-scales", "alpha-beta", "bias") if d == "f32" and chooser.random() < 0.3]
    return {
        "instruction": f"m{m}n{n}k{k}", "dtype": a, "d_dtype": d, "arch": "sm100", "cta_group": pair, "stages": 2,
        "tile": [m * chooser.choice((1, 2)), n * chooser.choice((1, 1, 2, 3)), 2 * k],
        "accumulators": chooser.choice((1, 2)), "splits": chooser.choice((1, 1, 2, 3)), "terms": terms,
        "c_dtype": chooser.choice((None, "bf16", "f16", "e4m3", "e5m2")) if d == "f32" else None,
        "store": chooser.choice((None, "tma")),
    }  # fmt: skip


def cells(made: Plan) -> np.ndarray:
    """The element of the CTA's tile that each cell of a set has, row by row; -1 of none. Axes: lane, column."""
    held, loop = made.accumulators, made.asked
    assert isinstance(held, TensorColumns)
    table = np.full((_LANES, _COLUMNS), -1, dtype=np.int32)
    rows, columns = loop.extents[0] // loop.cta_group, loop.extents[1]
    at = tcgen05_cells(loop.extents[0], columns, loop.cta_group)
    down, across = np.ogrid[:rows, :columns]
    for index, first in enumerate(held.firsts):
        i, j = index % loop.blocks[0], index // loop.blocks[0]
        table[at[..., 0], first + at[..., 1]] = (i * rows + down) * loop.tile[1] + j * columns + across
    return table


_LOAD = """\
// In place of tcgen05.ld: what a cell would have.
__host__ __device__ inline int number_of(uint32_t row, uint32_t column) { return (row * 131 + column * 7) % 251 - 125; }
__device__ const int kCells[] = {@cells@};
template <size_t kCount>
__device__ __forceinline__ void load(
    uint32_t (&v)[kCount], uint32_t from, uint32_t tile_m, uint32_t tile_n, uint32_t part) {
#pragma unroll
  for (uint32_t i = 0; i < kCount; ++i) {
    const int cell = kCells[((from >> 16) + threadIdx.x % 32) * @columns@ + (from & 0xffff) + i];
    const uint32_t row = tile_m * TILE_M + blockIdx.x % CTA_GROUP * (TILE_M / CTA_GROUP) + cell / TILE_N;
    const int number = number_of(row, tile_n * TILE_N + cell % TILE_N) + int(part);
    v[i] = cell < 0 ? 0xdeadbeefu : @bits@;
  }
}
"""
_BITS = {
    "f32": "__float_as_uint(float(number))", "s32": "uint32_t(number)",
    "f16": "uint32_t{__half_as_ushort(__float2half(float(number)))}",
}  # fmt: skip


def storing(made: Plan) -> str:
    """The program: a kernel of sm100 without operands, multiplication and tensor memory.

    Args:
        made: a plan of sm100.

    >>> text = storing(plan("m128n16k16", "bf16", tile=(128, 16, 64), store="tma", verify=False))
    >>> [word in text for word in ("store_rows(v, pieces, slot, &map_c", "gemm<<<", "allocate(smem", "map_a")]
    [True, True, False, False]
    """
    text, d = kernel(made, "gemm"), made.asked.d
    load = _LOAD.replace("@cells@", ",".join(map(str, cells(made).ravel()))).replace("@columns@", str(_COLUMNS))
    load = load.replace("@bits@", _BITS[d])
    begin, main = text.index("__global__ void __launch_bounds__(THREADS)"), text.index("int main(")
    end = text.index("\n}\n", begin) + 1
    functions = re.sub(
        r"__device__ __forceinline__ void load\(.*?\n}\n", lambda _: load, text[:begin], count=1, flags=re.DOTALL
    )
    body = text[begin:end]
    for pattern, by in _CUT:
        body = re.sub(pattern, by, body, flags=re.DOTALL)
    part = "part" if made.epilogue.splits > 1 else "0"
    place = r"load\(v, (?:set|tmem \+ \(warp << 21\)) \+ (\d+)\);"
    body = re.sub(place, rf"load(v, (warp << 21) + \1, tile_m, tile_n, {part});", body)
    parts = made.epilogue.splits
    sums = f"Sum({parts} * number_of(i, j) + {parts * (parts - 1) // 2})"
    test = re.sub(r"  std::vector<int> a\(.*?(?=  TypeC\* c = nullptr;)", "", text[main:], flags=re.DOTALL)
    test = re.sub(r" +for \(uint32_t q = 0; [^\n]*\n +sum \+=[^;]*;\n", f"    sum = {sums};\n", test)
    test = re.sub(r"\(map_a, map_b,\s*", "(", test)
    functions = functions.replace("CAPABILITY = 100", "CAPABILITY = 90")
    return "#include <cuda_fp16.h>\n" + functions + body + text[end:main] + test


#: What is cut out of a kernel.
_CUT = (
    (r"\s*__cluster_dims__\(CTA_GROUP, 1, 1\)", ""),
    (r"const __grid_constant__ CUtensorMap map_(?:a|b|e|sfa|sfb),\s*", ""),
    (r"  if \(warp == 5\) allocate\(.*?uint32_t tmem;\n  asm[^\n]*\n", "  __syncthreads();\n"),
    (r"  if \(warp == 4 && lane == 0\) \{.*\} else if \(warp < 4\) \{", "  if (warp < 4) {"),
    (r" +(?:barrier_wait\(smem \+ DONE|fence_after|set_free)[^\n]*\n", ""),
    (r"  __syncwarp\(\);\n  together\(\);\n  if \(warp == 5\) deallocate\(tmem\);\n", ""),
    (r"const uint32_t set = tmem [^\n]*\n", "\n"),
)


def twin(text: str) -> str:
    """The program with pieces that lie elsewhere than their boxes take them from.

    >>> twin("return at ^ ((at & 0x380u) >> 3u);"), twin("to + piece_at(lane, at)")
    ('return at;', 'to + piece_at(lane ^ 1, at)')
    """
    plain, count = re.subn(r"at \^ \(\(at & 0x\w+u\) >> 3u\)", "at", text)
    return plain if count else text.replace("piece_at(lane, at)", "piece_at(lane ^ 1, at)")


def row(one: dict[str, Any], text: str, program: Path, wrong: Path | None) -> dict[str, Any]:
    """What became of one plan."""
    status, said = ran(program, ())
    found = {"plan": one, "program": digest(text), "exact": status == 0, "found": said}
    if wrong is not None:
        status, said = ran(wrong, ())
        found |= {"twin_fails": status != 0, "twin": said}
    return found


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a program is wrong, or a twin is not."""
    if shutil.which("nvcc") is None:
        raise RuntimeError(f"{EVIDENCE}: nvcc must be on the PATH, found none")
    plans = drawn(options.number, options.seed)
    made = [plan(**one, verify=False) for one in plans]
    texts = [storing(one) for one in made]
    some = [i for i, one in enumerate(made) if one.epilogue.staged is not None][::_TWIN]
    with tempfile.TemporaryDirectory(prefix="stores-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(scratch)
        programs = list(pool.map(lambda i: built(folder, f"store{i}", texts[i]), range(len(plans))))
        twins = dict(zip(some, pool.map(lambda i: built(folder, f"twin{i}", twin(texts[i])), some), strict=True))
        rows = [row(one, texts[i], programs[i], twins.get(i)) for i, one in enumerate(plans)]
    right = [one["exact"] and one.get("twin_fails", True) for one in rows]
    for one, well in zip(rows, right, strict=True):
        if not well:
            print(one)
    print(f"{sum(right)} of {len(rows)} programs right, {len(twins)} of them with a twin that fails")
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    facts = provenance(device, " ".join([f"scripts/probe_wgmma {EVIDENCE}", *sys.argv[1:]]))
    write_json(out_folder / f"{EVIDENCE}.json", {**facts, "seed": options.seed, "programs": rows})
    return int(not all(right))


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(EVIDENCE, __doc__, 60), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
