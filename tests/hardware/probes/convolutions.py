"""The convolution probe: programs of ``descriptors plan --conv ... --emit cuda``, run and checked by themselves.

Convolutions are drawn by seed over types, taps, strides, dilations, padding and extents that no tile divides, with
tiles, stages, swizzles, clusters, the source of A and the way of C. Each program computes two of them, of its own
extents and of others, and compares every output with the definition. Of every other one a twin is run that is spoilt: a
corner of the im2col map, its stride, or the order of taps. The proof of the plan says beforehand which twins are
wrong: those must fail, and no others.

    python -m probes.convolutions --out FOLDER [--number 40] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from descriptors import DescriptorError, plan
from descriptors.gemm.gathered import gathered
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_kernel import kernel
from layoutalg.frozen import replace
from probes.cuda import Device, provenance
from probes.main_loops import TYPES, built, digest, ran
from probes.runner import main_of, write_json

EVIDENCE = "convolutions"
_K = {"bf16": 16, "f16": 16, "tf32": 8}
#: Elements of 16 bytes, of which the channels must be a multiple.
_PIECE = {"bf16": 8, "f16": 8, "tf32": 4}
#: How a twin is spoilt: what stands in the program, and what instead.
SPOILT = {
    "corner": ("upper[] = {PADDING_W", "upper[] = {PADDING_W + 1"),
    "stride": ("steps[] = {1, STRIDE_W", "steps[] = {1, STRIDE_W + 1"),
    "taps": ('"r"(tap), "r"(filter)', '"r"(TAPS - 1 - tap), "r"(filter)'),
}


def drawn(number: int, seed: int) -> list[dict[str, Any]]:
    """Arguments of plans that there are, each with the extents of a second convolution as ``other``.

    >>> [one["plan"]["convolution"]["filters"] for one in drawn(2, 1)] == [
    ...     one["plan"]["convolution"]["filters"] for one in drawn(2, 1)]
    True
    """
    chooser, found = random.Random(seed), list[dict[str, Any]]()
    while len(found) < number:
        one = _drawn(chooser, *TYPES[len(found) % len(TYPES)])
        try:
            kernel(plan(**one["plan"], verify=False))
            plan(**{**one["plan"], "convolution": second(one)}, verify=False)
        except DescriptorError:
            continue
        found.append(one)
    return found


def second(one: dict[str, Any]) -> dict[str, Any]:
    """The second convolution of a program."""
    *activations, filters = one["other"]
    first = one["plan"]["convolution"]
    return {**first, "activations": activations, "filters": [filters, *first["filters"][1:]]}


def _drawn(chooser: random.Random, a: str, b: str, d: str) -> dict[str, Any]:
    k, piece = _K.get(a, 32), _PIECE.get(a, 16)
    n = chooser.choice((8, 16, 32, 48, 64, 96, 128))
    taps = [chooser.choice((1, 2, 3, 3, 5)) for _ in range(2)]
    made = {
        "instruction": f"m64n{n}k{k}", "dtype": a, "b_dtype": b, "d_dtype": d, "arch": "sm90",
        "tile": [64 * chooser.choice((1, 1, 2, 3)), n * chooser.choice((1, 1, 2)), k * chooser.choice((1, 2, 4))],
        "stages": chooser.choice((None, 1, 2, 3)), "a_swizzle": chooser.choice((None, None, "64B", "32B", "none")),
        "cluster": chooser.choice((None, None, None, [2, 1], [1, 2])),
        "a_source": chooser.choice(("smem", "smem", "registers")),
        "c_dtype": chooser.choice((None, "bf16")) if d == "f32" else None,
        "splits": chooser.choice((1, 1, 1, 2)) if d == "f32" else None,
        "convolution": {
            "activations": _extents(chooser, piece), "filters": [chooser.choice((8, 40, 72, 128)), *taps],
            "stride": [chooser.choice((1, 1, 2, 3)) for _ in range(2)],
            "dilation": [chooser.choice((1, 1, 2, 3)) for _ in range(2)],
            "padding": [chooser.choice((0, 1, 1, 2, 4)) for _ in range(2)],
        },
    }  # fmt: skip
    other = [*_extents(chooser, piece), chooser.choice((16, 56, 96))]
    return {"plan": {name: value for name, value in made.items() if value is not None}, "other": other}


def _extents(chooser: random.Random, piece: int) -> list[int]:
    return [
        chooser.choice((1, 2, 5)),
        chooser.choice((7, 9, 14, 23, 30)),
        chooser.choice((7, 9, 14, 19, 33)),
        piece * chooser.choice((1, 2, 5, 8)),
    ]


def sizes(one: dict[str, Any]) -> list[list[int]]:
    """N, H, W, C and K of the convolutions that a program computes."""
    first = one["plan"]["convolution"]
    return [[*first["activations"], first["filters"][0]], one["other"]]


def spoilt(made: Plan, how: str) -> bool:
    """Whether the proof says that a twin is wrong."""
    implicit = made.implicit
    assert implicit is not None
    one, (a, b) = implicit.convolution, (implicit.a, implicit.b)
    if how == "taps":
        return one.taps != (1, 1)
    steps = a.element_strides
    if how == "corner":
        box = replace(a.box, upper=(a.box.upper[0] + 1, a.box.upper[1]))  # type: ignore[union-attr]
        wrong = replace(a, box=box)
    else:
        wrong = replace(a, element_strides=(1, steps[1] + 1, *steps[2:]))
    return not gathered(replace(implicit, a=wrong, b=b), made).ok


def twin(text: str, how: str) -> str:
    """The program, spoilt."""
    before, after = SPOILT[how]
    assert text.count(before) == 1
    return text.replace(before, after)


def row(one: dict[str, Any], text: str, program: Path, wrong: tuple[str, Path] | None) -> dict[str, Any]:
    """What became of one plan."""
    told = [ran(program, tuple(size)) for size in sizes(one)]
    found = {**one, "program": digest(text), "exact": all(status == 0 for status, _ in told)}
    found["found"] = [said for _, said in told]
    if wrong is not None:
        how, path = wrong
        status, said = ran(path, tuple(sizes(one)[0]))
        found["twin"] = {"spoilt": how, "predicted": spoilt(plan(**one["plan"], verify=False), how)}
        found["twin"] |= {"fails": status != 0, "found": said}
    return found


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if anything is not as the proofs say."""
    if shutil.which("nvcc") is None:
        raise RuntimeError("convolutions: nvcc must be on the PATH, found none")
    facts = provenance(device, " ".join(["scripts/probe_wgmma convolutions", *sys.argv[1:]]))
    cases = drawn(options.number, options.seed)
    texts = [kernel(plan(**one["plan"], verify=False)) for one in cases]
    ways = {i: tuple(SPOILT)[i // 2 % len(SPOILT)] for i in range(0, len(cases), 2)}
    with tempfile.TemporaryDirectory(prefix="convolutions-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(scratch)
        programs = list(pool.map(lambda i: built(folder, f"conv{i}", texts[i]), range(len(cases))))
        spoilt_texts = {i: twin(texts[i], how) for i, how in ways.items()}
        twins = dict(zip(ways, pool.map(lambda i: built(folder, f"twin{i}", spoilt_texts[i]), ways), strict=True))
        rows = [
            row(one, texts[i], programs[i], (ways[i], twins[i]) if i in ways else None) for i, one in enumerate(cases)
        ]
    odd = [
        one
        for one in rows
        if not one["exact"] or one.get("twin", {}).get("fails") != one.get("twin", {}).get("predicted")
    ]
    for one in odd:
        print(one)
    failing = sum(one["twin"]["fails"] for one in rows if "twin" in one)
    print(
        f"{sum(one['exact'] for one in rows)} of {len(rows)} convolutions exact, {failing} of {len(twins)} twins fail, "
        f"{len(odd)} not as predicted"
    )
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{EVIDENCE}.json", {**facts, "seed": options.seed, "programs": rows})
    return int(bool(odd))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma convolutions", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=40, help="convolutions that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which ones")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
