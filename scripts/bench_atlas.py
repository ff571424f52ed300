#!/usr/bin/env python3
"""Prove the strict lattice, whole or in part, and say what it costs: points, rate, memory, and a million and a billion.

Usage: python scripts/bench_atlas.py [--engine inline|processes|dask] [--workers N] [--every N] [--kill]

Every operand that an instruction reads, with every tile of it to 256 x 256 and 8 stages, in both stacking orders
(``scripts/lib/strict.py``); ``--every 10`` takes every tenth kind of operand. ``dask`` needs dask[distributed], as
it stands: a local cluster of one-thread workers. ``--kill`` ends one of its workers in the middle of the run, which
must then count what it counts without. Rates are given by the clock and by the time of the processors: on a machine
that other work shares only the latter says what a core does.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from strict import Tally, kinds, prove_all, summary_line  # noqa: E402

#: Empty tasks by which the cost of handing one over is measured.
EMPTY = 500


def nothing(number: int) -> int:
    """An empty task."""
    return number


def used(number: int) -> tuple[int, float, int]:
    """A worker's process, the seconds of processor that it has used, and the most memory that it had, in KiB."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    return os.getpid(), mine.ru_utime + mine.ru_stime, mine.ru_maxrss


@contextmanager
def inline(workers: int) -> Iterator[tuple[Executor | None, Callable[[], list[tuple[int, float, int]]]]]:
    yield None, lambda: [used(0)]


@contextmanager
def processes(workers: int) -> Iterator[tuple[Executor | None, Callable[[], list[tuple[int, float, int]]]]]:
    with ProcessPoolExecutor(workers) as pool:
        yield pool, lambda: list({row[0]: row for row in pool.map(used, range(64 * workers))}.values())


@contextmanager
def dask(workers: int) -> Iterator[tuple[Executor | None, Callable[[], list[tuple[int, float, int]]]]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        yield client.get_executor(pure=False), lambda: list(client.run(used, 0).values())


def seconds_a_task(pool: Executor | None) -> float:
    """What it costs to hand over one task and take its result, by the clock."""
    if pool is None:
        return 0.0
    list(pool.map(nothing, range(EMPTY)))
    begun = time.perf_counter()
    list(pool.map(nothing, range(EMPTY)))
    return (time.perf_counter() - begun) / EMPTY


def run(options: argparse.Namespace) -> Iterator[str]:
    """One run, told line by line."""
    with {"inline": inline, "processes": processes, "dask": dask}[options.engine](options.workers) as (pool, workers):
        handing = seconds_a_task(pool)
        before = {pid: spent for pid, spent, _ in workers()}
        begun, total, killed = time.perf_counter(), Tally(), 0
        sampled = islice(kinds(), 0, None, options.every)
        early = 0
        for count, tally in enumerate(prove_all(sampled, executor=pool), 1):
            total += tally
            if count == 40:
                early = max(row[2] for row in workers())
                if options.kill:
                    killed = min(before)
                    os.kill(killed, signal.SIGKILL)
        wall = time.perf_counter() - begun
        after = workers()
        cpu = sum(spent - before.get(pid, 0.0) for pid, spent, _ in after)
    yield f"{options.engine}, {options.workers} worker(s), every {options.every}: {summary_line(total, wall)}"
    yield f"  {cpu:.1f} s of processor in the workers left at the end: {total.points / cpu:.0f} points a second a core"
    yield f"  a task handed over and back: {1e6 * handing:.0f} us; {count} tasks; load {os.getloadavg()[0]:.1f}"
    late = max(row[2] for row in after)
    yield f"  most memory of a worker: {early / 1024:.0f} MB after 40 kinds, {late / 1024:.0f} MB at the end"
    for points, name in ((10**6, "a million"), (10**9, "a billion")):
        hours = points * cpu / total.points / 3600
        yield f"  {name} points: {hours:.2f} hours of one core"
    if killed:
        yield f"  worker {killed} was killed in the middle"
    for line in total.wrong:
        yield f"  WRONG {line}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["inline", "processes", "dask"], default="processes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="take every N-th kind of operand (default: all)")
    parser.add_argument("--kill", action="store_true", help="end a worker in the middle of the run")
    for line in run(parser.parse_args()):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    end(main)
