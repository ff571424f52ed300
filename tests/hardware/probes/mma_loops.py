"""The probe of ``mma.sync``: programs that ``descriptors plan mma... --emit cuda`` writes, compiled, run and checked.

Plans of sm_80 and sm_89 are drawn by seed over types, majors, tiles, warps, stages and the type of C. Each program is
translated for its own target, and that PTX assembled for Hopper. It multiplies whole tiles, often enough to go around
its stages, extents that no tile divides, and fewer steps than it has stages, and compares every element with a plain
product. Every program has a twin in which one thing is spoilt: the swizzle of a load, the order of two fragments, the
stage that is filled: that must fail. Of every few the wait for the copies is left out instead, which fails only where
copies are late, so that this twin multiplies more.

With ``--engine`` the plans are of sm_120 with the types that sm_90 has too: their programs, whose stages the copy
engine fills, are compiled for Hopper, and nothing else of them is changed.

    python -m probes.mma_loops --out FOLDER [--number 60] [--seed 1] [--engine]
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

from descriptors import DescriptorError
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_planner import mma_plan
from descriptors.gemm.mma_request import K_BYTES
from descriptors.gemm.programs.mma_kernel import kernel
from probes.cuda import Device, provenance
from probes.main_loops import built, digest, ran
from probes.runner import main_of, write_json

EVIDENCE = "mma_loops"
#: Types of A, of B, of the accumulators; in turn.
TYPES = (
    ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f16", "f16", "f16"), ("tf32", "tf32", "f32"),
    ("s8", "s8", "s32"), ("u8", "s8", "s32"), ("u8", "u8", "s32"), ("e4m3", "e4m3", "f32"), ("e5m2", "e4m3", "f32"),
    ("e4m3", "e5m2", "f32"),
)  # fmt: skip
_BYTES = {"bf16": 2, "f16": 2, "tf32": 4}
#: What is spoilt of a twin: a pattern of the program, and what takes its place.
SPOILT = {
    "swizzle": (r"from \+ (b_byte\(b_load_mn\(.*?\) \+ mn, b_load_k\(.*?\) \+ k\))", r"from + (\1 ^ 16u)"),
    "fragment": (r"\[2 \* \(j % 2\)\]", "[2 - 2 * (j % 2)]"),
    "stage": (r"before = stage == 0 \? STAGES - 1 : stage - 1;", "before = stage;"),
    "wait": (r'asm volatile\("cp.async.wait_group %0;".*|barrier_wait\(base \+ BARRIERS \+ 8 \* stage, parity\);', ""),
}
#: What the twins without a wait multiply.
MUCH = (4096, 4096, 2048)


def drawn(number: int, seed: int, *, engine: bool = False) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each another one; engine: of sm_120.

    >>> [one["instruction"] for one in drawn(3, 1)] == [one["instruction"] for one in drawn(3, 1)]
    True
    """
    chooser, found = random.Random(seed), list[dict[str, Any]]()
    while len(found) < number:
        one = _drawn(chooser, *TYPES[len(found) % len(TYPES)]) | ({"arch": "sm120"} if engine else {})
        try:
            mma_plan(**one, verify=False)
        except DescriptorError:
            continue
        if one not in found:
            found.append(one)
    return found


def _drawn(chooser: random.Random, a: str, b: str, d: str) -> dict[str, Any]:
    k = K_BYTES // _BYTES.get(a, 1)
    m, n, depth = (chooser.choice(some) for some in ((1, 2, 3, 4, 6, 8, 16), (1, 2, 3, 4, 6, 8, 16), (1, 2, 3, 4, 8)))
    one = {
        "instruction": f"mma.m16n8k{k}", "dtype": a, "b_dtype": b, "d_dtype": d, "tile": [16 * m, 16 * n, k * depth],
        "warps": chooser.choice((None, None, [1, 1], [1, 2], [2, 1], [2, 2], [3, 2], [2, 4], [4, 1])),
        "stages": chooser.choice((None, None, 2, 3, 5)), "a_major": chooser.choice(("K", "K", "MN")),
        "b_major": chooser.choice(("K", "K", "MN")),
        "c_dtype": chooser.choice((None, "bf16", "f16")) if d == "f32" else None,
    }  # fmt: skip
    return {name: value for name, value in one.items() if value is not None}


def sizes(made: MmaPlan) -> list[tuple[int, int, int]]:
    """What each program multiplies: whole tiles; extents that no tile divides; less than the stages hold.

    Rows of A and B are whole 16 bytes, those of C are not where nothing but C has N in a row.
    """
    m, n, k = made.asked.tile
    more = [13 if str(side.major) == "K" else 16 for side in (made.a, made.b)]
    return [
        (2 * m, 2 * n, (made.stages + 2) * k),
        (m + more[0], n + more[1], (made.stages + 1) * k + 16),
        (16 + 3 * (more[0] == 13), 16 + 3 * (more[1] == 13), 16),
    ]


def twin(text: str, kind: str) -> str:
    """The program with one thing spoilt.

    >>> twin("multiply(d, a, &fb[kb % 2][j / 2][2 * (j % 2)]);", "fragment")
    'multiply(d, a, &fb[kb % 2][j / 2][2 - 2 * (j % 2)]);'
    """
    changed, count = re.subn(*SPOILT[kind], text)
    if count != 1:
        raise RuntimeError(f"mma_loops: one place must be spoilt of {kind}, found {count}")
    return changed


def flags(made: MmaPlan) -> tuple[str, ...]:
    """What nvcc is told: PTX of the plan's own target, assembled for Hopper."""
    target = made.asked.arch.removeprefix("sm")
    code = "arch=compute_90a,code=sm_90a" if made.by_engine else f"arch=compute_{target},code=sm_90"
    return "-std=c++17", "-O3", "-gencode", code


def on_hopper(text: str) -> str:
    """The program without its refusal of another GPU than its own."""
    return text.replace("CAPABILITY = 120", "CAPABILITY = 90")


def row(made: MmaPlan, one: dict[str, Any], text: str, program: Path, kind: str, wrong: Path) -> dict[str, Any]:
    """What became of one plan."""
    told = [ran(program, size) for size in sizes(made)]
    found = {
        "plan": one,
        "program": digest(text),
        "products": [list(size) for size in sizes(made)],
        "elements": sum(size[0] * size[1] for size in sizes(made)),
        "exact": all(status == 0 for status, _ in told),
    }
    if not found["exact"]:
        found["found"] = [said for _, said in told]
    status, said = ran(wrong, MUCH if kind == "wait" else sizes(made)[0])
    return found | {"spoilt": kind, "twin_fails": status != 0, "twin": said}


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a program is wrong, or a twin is not."""
    if shutil.which("nvcc") is None:
        raise RuntimeError("mma_loops: nvcc must be on the PATH, found none")
    facts = provenance(device, " ".join(["scripts/probe_wgmma mma_loops", *sys.argv[1:]]))
    plans = drawn(options.number, options.seed, engine=options.engine)
    made = [mma_plan(**one, verify=False) for one in plans]
    texts, kinds = list(map(kernel, made)), [list(SPOILT)[i % len(SPOILT)] for i in range(len(plans))]
    with tempfile.TemporaryDirectory(prefix="mma_loops-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder, numbers = Path(scratch), range(len(plans))
        programs = list(pool.map(lambda i: built(folder, f"gemm{i}", on_hopper(texts[i]), flags(made[i])), numbers))
        twins = list(
            pool.map(lambda i: built(folder, f"twin{i}", twin(on_hopper(texts[i]), kinds[i]), flags(made[i])), numbers)
        )
        rows = list(pool.map(lambda i: row(made[i], plans[i], texts[i], programs[i], kinds[i], twins[i]), numbers))
    for one in rows:
        if not one["exact"] or not one["twin_fails"]:
            print(one)
    exact, wrong = sum(one["exact"] for one in rows), sum(one["twin_fails"] for one in rows)
    passed = sum(not one["twin_fails"] and one["spoilt"] != "wait" for one in rows)
    print(f"{exact} of {len(rows)} programs exact, {wrong} of {len(rows)} twins fail")
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(
        out_folder / f"{EVIDENCE}{'_engine' * options.engine}.json", {**facts, "seed": options.seed, "programs": rows}
    )
    return int(exact < len(rows) or passed > 0)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma mma_loops", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=60, help="plans that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which plans")
    made.add_argument("--engine", action="store_true", help="plans of sm_120, whose stages the copy engine fills")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
