#!/usr/bin/env python3
"""How fast the checker reads PTX, and what memory it takes: a line for each length of text.

Usage: python scripts/bench_checker.py [LINES...]      10000 50000 200000 unless it is said

The text is the kernels of tests/vectors/kernels.json.xz, one after the other, as one module of sm_90a or sm_100a. Each
length is measured in a process of its own, the best of three, in seconds of the processor: others may use the machine.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from kernels import kernels  # noqa: E402

from descriptors.check.inspection import check_ptx  # noqa: E402


def module_of(target: str, lines: int) -> str:
    """A module of so many lines: kernels of the record under names of their own."""
    texts = [text for _, text in sorted(kernels().items()) if f".target {target}" in text]
    head, bodies, many = f".version 8.8\n.target {target}\n.address_size 64\n", list[str](), 0
    while many < lines:
        text = texts[len(bodies) % len(texts)]
        body = text[text.index(".visible .entry") :] if ".visible .entry" in text else text.partition(".entry")[2]
        body = body.replace("global_smem", f"smem{len(bodies)}")
        bodies.append(body)
        many += body.count("\n")
    return head + "\n".join(bodies)


def measure(target: str, lines: int) -> tuple[int, float, int]:
    """Lines, seconds of the processor, and the most memory that the process had, in MiB."""
    text = module_of(target, lines)
    best = min(_timed(text) for _ in range(3))
    return text.count("\n"), best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _timed(text: str) -> float:
    begun = time.process_time()
    check_ptx(text)
    return time.process_time() - begun


def main(lengths: list[str]) -> int:
    for target in ("sm_90a", "sm_100a"):
        for lines in map(int, lengths or ("10000", "50000", "200000")):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                many, seconds, memory = pool.apply(measure, (target, lines))
            print(f"{target}: {many} lines in {seconds:.2f} s, {many / seconds:.0f} lines a second, {memory} MiB")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
