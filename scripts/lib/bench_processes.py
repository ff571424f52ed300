"""Whole processes in scripts/bench.py: what the programs take to start."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[2]
DERIVE = "--dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16".split()


class Spent(TypedDict):
    """What a process took: seconds of the processor, by the median and the least."""

    seconds: float
    least: float


def spent_by(commands: Mapping[str, list[str]], repeats: int) -> dict[str, Spent | None]:
    """What the processes take, which run in turns, so that a busy moment hits all of them; None where one fails."""
    samples: dict[str, list[float]] = {name: [] for name in commands}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled modules are cached where a package is installed
    broken = set()
    for turn in range(repeats + 1):
        for name, command in commands.items():
            if name in broken:
                continue
            spent = _run(command, environment)
            if spent is None:
                print(f"bench: {name} failed", file=sys.stderr)
                broken.add(name)
            elif turn:  # the first turn warms the caches
                samples[name].append(spent)
    return {
        name: None if name in broken else Spent(seconds=statistics.median(found), least=min(found))
        for name, found in samples.items()
    }


def _run(command: list[str], environment: dict[str, str]) -> float | None:
    """Seconds of the processor of one process; None if it failed."""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if process.returncode else used.ru_utime + used.ru_stime


def measure_processes(repeats: int, with_dsl: bool) -> dict[str, Spent | None]:
    """Python alone, the imports, the help and a derivation with its proof."""
    python = sys.executable
    commands = {
        "python": [python, "-c", "pass"],
        "import click": [python, "-c", "import click"],
        "import layoutalg": [python, "-c", "import layoutalg"],
        "import descriptors": [python, "-c", "import descriptors"],
        "layoutalg --help": [python, "-m", "layoutalg", "--help"],
        "descriptors --help": [python, "-m", "descriptors", "--help"],
        "descriptors derive": [python, "-m", "descriptors", "derive", *DERIVE],
    }
    if with_dsl:
        commands["the same derivation in the CuTe DSL"] = [
            python,
            str(ROOT / "scripts" / "lib" / "bench_derivation.py"),
        ]
    return spent_by(commands, repeats)


def process_lines(spent_by_command: Mapping[str, Spent | None]) -> Iterator[str]:
    """A line for each process, with what it takes beyond Python alone."""
    bare = spent_by_command["python"]
    for name, spent in spent_by_command.items():
        if spent is None or bare is None:
            yield f"{name}: absent"
            continue
        beyond, least = 1e3 * (spent["seconds"] - bare["seconds"]), 1e3 * (spent["least"] - bare["least"])
        more = "" if name == "python" else f", {beyond:.1f} ms beyond bare python, {least:.1f} ms at best"
        yield f"{name}: {1e3 * spent['seconds']:.0f} ms{more}"
