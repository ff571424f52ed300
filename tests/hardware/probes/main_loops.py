"""The main-loop probe: programs that ``descriptors plan --emit cuda`` writes, compiled, run and checked by themselves.

Plans are drawn by seed over types, majors, swizzles, shapes, stages, the source of A and the way of C. Each program
multiplies twice: whole tiles, often enough to go around its stages, and extents that no tile divides. It compares every
element with a plain product. Of every few plans a twin is run whose word for B has another swizzle: that must fail.
With ``--promoted`` the plans have a factor for 128 elements, and promote their accumulators.

    python -m probes.main_loops --out FOLDER [--number 72] [--seed 1] [--promoted]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from descriptors import DescriptorError, plan
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_kernel import kernel
from probes.cuda import Device, provenance
from probes.runner import main_of, write_json

EVIDENCE = "main_loops"
#: Types of A, of B, of the accumulators; in turn.
TYPES = (
    ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f16", "f16", "f16"), ("tf32", "tf32", "f32"),
    ("e4m3", "e4m3", "f32"), ("e5m2", "e4m3", "f32"), ("e4m3", "e5m2", "f16"), ("s8", "s8", "s32"),
    ("u8", "s8", "s32"), ("u8", "u8", "s32"),
)  # fmt: skip
_K = {"bf16": 16, "f16": 16, "tf32": 8}
_SWIZZLES = (None, "128B", "64B", "32B", "none")
#: One plan of so many has a wrong twin.
_TWIN = 4
#: What nvcc is told for an emitted program.
FLAGS = ("-std=c++17", "-O3", "-gencode", "arch=compute_90a,code=sm_90a")


def drawn(number: int, seed: int, *, promoted: bool = False) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each another one; promoted: with a factor for 128 elements.

    >>> [one["instruction"] for one in drawn(3, 1)] == [one["instruction"] for one in drawn(3, 1)]
    True
    """
    return legal(number, seed, _promoted if promoted else _drawn)


def legal(number: int, seed: int, draw: Callable[[random.Random, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """So many different plans that there are, of those that are drawn; a draw knows how many there are before it."""
    chooser, found = random.Random(seed), list[dict[str, Any]]()
    while len(found) < number:
        one = {name: value for name, value in draw(chooser, len(found)).items() if value is not None}
        try:
            kernel(plan(**one, verify=False))
        except DescriptorError:
            continue
        if one not in found:
            found.append(one)
    return found


def _drawn(chooser: random.Random, before: int) -> dict[str, Any]:
    a, b, d = TYPES[before % len(TYPES)]
    k = _K.get(a, 32)
    n = chooser.choice((8, 16, 24, 32, 40, 64, 72, 96, 128, 160, 192, 256))
    m_blocks, n_blocks, k_blocks = (
        chooser.choice((1, 1, 2, 3, 4)),
        chooser.choice((1, 1, 2)),
        chooser.choice((1, 2, 4, 8)),
    )
    one = {
        "instruction": f"m64n{n}k{k}", "dtype": a, "b_dtype": b, "d_dtype": d, "arch": "sm90",
        "tile": [64 * m_blocks, n * n_blocks, k * k_blocks], "stages": chooser.choice((None, 1, 2, 3, 5)),
        "a_major": chooser.choice(("K", "MN")), "b_major": chooser.choice(("K", "MN")),
        "a_swizzle": chooser.choice(_SWIZZLES), "b_swizzle": chooser.choice(_SWIZZLES),
        "cluster": chooser.choice((None, None, None, [2, 1], [1, 2], [2, 2], [4, 1], [2, 4])),
        "a_source": chooser.choice(("smem", "smem", "registers")),
    }  # fmt: skip
    one |= _stored(chooser, one)
    if one["d_dtype"] == "f32":
        one |= {"terms": chooser.choice((None, None, ["bias"], ["row-scales", "alpha-beta", "bias"]))}
    return one


def _stored(chooser: random.Random, one: dict[str, Any]) -> dict[str, Any]:
    """How C is stored: from registers, through shared memory, as another type, or in parts along K."""
    way = chooser.choice(("registers", "tma", "narrow", "narrow", "parts"))
    if way == "narrow" and one["d_dtype"] == "f32":
        fits = not one["tile"][1] % 16  # rows of C are whole 16 bytes
        return {"c_dtype": chooser.choice(("bf16", "f16", "e4m3", "e5m2") if fits else ("bf16", "f16"))}
    if way == "parts" and one["d_dtype"] != "f16":
        return {"splits": 2, "c_dtype": chooser.choice((None, "bf16")) if one["d_dtype"] == "f32" else None}
    return {"store": "registers" if way == "registers" else "tma"}


def _promoted(chooser: random.Random, _: int) -> dict[str, Any]:
    n = chooser.choice((8, 16, 32, 64, 128))
    return {
        "instruction": f"m64n{n}k32", "dtype": chooser.choice(("e4m3", "e5m2")), "arch": "sm90", "scale_vector": 128,
        "b_dtype": chooser.choice(("e4m3", "e5m2")), "stages": chooser.choice((None, 1, 2, 3)),
        "tile": [64 * chooser.choice((1, 2, 3, 4)), n * chooser.choice((1, 2, 4)), 128 * chooser.choice((1, 1, 2))],
        "cluster": chooser.choice((None, None, [2, 1], [1, 2])), "c_dtype": chooser.choice((None, None, "bf16")),
        "splits": chooser.choice((None, None, None, 2)),
    }  # fmt: skip


def sizes(made: Plan) -> list[tuple[int, int, int]]:
    """What each program multiplies: whole tiles, and extents a little larger that no tile divides."""
    (m, n, k), more = made.asked.tile, 16 * (1 + made.asked.sparse)
    return [(2 * m, 2 * n, (made.stages + 2) * k), (m + 16, n + 16, (made.stages + 1) * k + more)]


def digest(text: str) -> str:
    """What a program is known by."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def twin(text: str) -> str:
    """The program with another swizzle in the word of B.

    >>> twin("constexpr uint64_t B_WORD = 0x4000000000010000;")
    'constexpr uint64_t B_WORD = 0x4000000000010000 ^ (1ull << 62);'
    """
    return re.sub(r"(B_WORD = 0x[0-9a-f]{16})", r"\1 ^ (1ull << 62)", text)


def built(folder: Path, name: str, text: str, flags: Iterable[str] = FLAGS) -> Path:
    """The program, compiled."""
    source, program = folder / f"{name}.cu", folder / name
    source.write_text(text, encoding="utf-8")
    done = subprocess.run(["nvcc", *flags, "-o", str(program), str(source)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"main_loops: {name} must compile, found:\n{done.stderr[-4000:]}")
    return program


def ran(program: Path, given: tuple[int, ...]) -> tuple[int, str]:
    """Exit status, and what the program said."""
    try:
        done = subprocess.run([program, *map(str, given)], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 124, "no end within a minute"
    return done.returncode, (done.stdout + done.stderr).strip()


def row(one: dict[str, Any], text: str, program: Path, wrong: Path | None) -> dict[str, Any]:
    """What became of one plan."""
    made = plan(**one, verify=False)
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
    if wrong is not None:
        status, said = ran(wrong, sizes(made)[0])
        found["twin_fails"], found["twin"] = status != 0, said
    return found


class Beside(NamedTuple):
    """What else is done with each program.

    Args:
        prepare: compiles what that needs, of the program's source.
        examine: what is found, of a plan, of what was prepared, and of a seed.
    """

    prepare: Callable[[Path], Path]
    examine: Callable[[Plan, Path, int], dict[str, Any]]


def right(one: dict[str, Any]) -> bool:
    """Whether all that was run of a plan came out as it must."""
    exact = one["exact"] and not any(one.get("packed_products_that_differ", ()))
    return bool(exact and one.get("of_spoiled_metadata_that_differ", 1) > 0 and one.get("twin_fails", True))


def run_programs(
    device: Device,
    options: argparse.Namespace,
    probe: str,
    plans: list[dict[str, Any]],
    variant: str = "",
    beside: Beside | None = None,
) -> int:
    """Every program compiled and run, with a twin of every few; the status is 1 if one is wrong, or a twin is not."""
    if shutil.which("nvcc") is None:
        raise RuntimeError(f"{probe}: nvcc must be on the PATH, found none")
    facts = provenance(device, " ".join([f"scripts/probe_wgmma {probe}", *sys.argv[1:]]))
    texts, some = [kernel(plan(**one, verify=False)) for one in plans], range(0, len(plans), _TWIN)
    with tempfile.TemporaryDirectory(prefix=f"{probe}-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(scratch)
        programs = list(pool.map(lambda i: built(folder, f"gemm{i}", texts[i]), range(len(plans))))
        twins = dict(zip(some, pool.map(lambda i: built(folder, f"twin{i}", twin(texts[i])), some), strict=True))
        others = list(pool.map(beside.prepare, (one.with_suffix(".cu") for one in programs))) if beside else []
        rows = [row(one, texts[i], programs[i], twins.get(i)) for i, one in enumerate(plans)]
        for i, other in enumerate(others):
            assert beside is not None
            rows[i] |= beside.examine(plan(**plans[i], verify=False), other, options.seed + i)
    for one in rows:
        if not right(one):
            print(one)
    print(f"{sum(map(right, rows))} of {len(rows)} programs right, {len(twins)} of them with a twin that fails")
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{probe}{variant}.json", {**facts, "seed": options.seed, "programs": rows})
    return int(not all(map(right, rows)))


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    plans = drawn(options.number, options.seed, promoted=options.promoted)
    return run_programs(device, options, EVIDENCE, plans, "_promoted" * options.promoted)


def parser(evidence: str, about: str | None, number: int) -> argparse.ArgumentParser:
    """The command line, with so many plans if nobody says how many."""
    made = argparse.ArgumentParser(prog=f"probe_wgmma {evidence}", description=(about or "").split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=number, help="plans that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which plans")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    made = parser(EVIDENCE, __doc__, 72)
    made.add_argument("--promoted", action="store_true", help="plans whose accumulators are promoted every 128 of K")
    return main_of(made, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
