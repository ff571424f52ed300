#!/usr/bin/env python3
"""Prove the strict lattice, whole or in part, and print the number of points, the rates and the memory.

Usage: python scripts/bench_atlas.py [--workers N] [--every N]

The lattice has each operand that an instruction reads, with tiles up to 256 x 256 and 8 stages, in both stacking orders
(``scripts/lib/strict.py``). ``--every 10`` takes every tenth kind of operand. Rates are given per second of wall-clock
time and per second of processor time, because other work on the machine affects the first one.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from strict import Tally, kinds, prove_all, summary_line  # noqa: E402

#: Number of empty tasks with which the cost of a task is measured.
EMPTY = 500


def return_number(number: int) -> int:
    """Do nothing: an empty task."""
    return number


def usage(number: int) -> tuple[int, float, int]:
    """Return the process number, the processor seconds and the largest memory in KiB of the process that runs this."""
    resources = resource.getrusage(resource.RUSAGE_SELF)
    return os.getpid(), resources.ru_utime + resources.ru_stime, resources.ru_maxrss


def task_seconds(pool: Executor | None) -> float:
    """Return the wall-clock seconds that it takes to send one task and receive its result."""
    if pool is None:
        return 0.0
    list(pool.map(return_number, range(EMPTY)))
    start = time.perf_counter()
    list(pool.map(return_number, range(EMPTY)))
    return (time.perf_counter() - start) / EMPTY


def worker_usage(pool: Executor | None, workers: int) -> dict[int, tuple[float, int]]:
    """Return the processor seconds and the largest memory in KiB of each worker process."""
    rows = [usage(0)] if pool is None else pool.map(usage, range(64 * workers))
    return {process: (seconds, memory) for process, seconds, memory in rows}


def run(options: argparse.Namespace) -> Iterator[str]:
    """Prove the lattice and yield the lines of the report."""
    workers = options.workers
    with nullcontext() if workers == 1 else ProcessPoolExecutor(workers) as pool:
        seconds_per_task = task_seconds(pool)
        usage_before = worker_usage(pool, workers)
        start, total, early_memory = time.perf_counter(), Tally(), 0
        for count, tally in enumerate(prove_all(islice(kinds(), 0, None, options.every), executor=pool), 1):
            total += tally
            if count == 40:
                early_memory = max(memory for _, memory in worker_usage(pool, workers).values())
        wall = time.perf_counter() - start
        usage_after = worker_usage(pool, workers)
    before = {process: seconds for process, (seconds, _) in usage_before.items()}
    cpu = sum(seconds - before.get(process, 0.0) for process, (seconds, _) in usage_after.items())
    late_memory = max(memory for _, memory in usage_after.values())
    yield f"{workers} process(es), every {options.every}: {summary_line(total, wall)}"
    yield f"  {cpu:.1f} s of processor time: {total.points / cpu:.0f} points a second and core"
    yield f"  {1e6 * seconds_per_task:.0f} us to send a task and receive its result; {count} tasks"
    yield f"  memory of a worker: {early_memory / 1024:.0f} MB after 40 kinds, {late_memory / 1024:.0f} MB at the end"
    for points, name in ((10**6, "a million"), (10**9, "a billion")):
        yield f"  {name} points: {points * cpu / total.points / 3600:.2f} hours of one core"
    for line in total.wrong:
        yield f"  WRONG {line}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--every", type=int, default=1, help="take every N-th kind of operand (default: all)")
    for line in run(parser.parse_args()):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    end(main)
