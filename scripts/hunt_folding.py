#!/usr/bin/env python3
"""Hunts for a program of which the checker folds a constant that no thread computes.

Usage: python scripts/hunt_folding.py [SEED [MINUTES [LENGTH]]]      0, 1, 30 unless it is said

Programs are drawn from consecutive seeds, folded whole, and executed by an interpreter that shares no code with the
folding (tests/judge/ptx_interpreter.py). The first that differs is printed, and the exit status is 1.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from folding import judged  # noqa: E402
from ptx_programs import text  # noqa: E402


def main(words: list[str]) -> int:
    asked = [*words, *("0", "1", "30")[len(words) :]]
    seed, minutes, length = int(asked[0]), float(asked[1]), int(asked[2])
    first, ends = seed, time.monotonic() + 60 * minutes
    probes = telling = constant = 0
    while time.monotonic() < ends:
        found = judged(seed, length)
        probes, telling, constant = probes + found.probes, telling + found.telling, constant + found.constant
        if found.wrong:
            print(f"seed {seed}: {found.wrong}\n\n{text(seed, length)}")
            return 1
        seed += 1
    print(f"{seed - first} programs, {probes} probes, {telling} with known bits, {constant} constants: none wrong")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
