"""The largest runs of scripts/bench.py, each a process of its own, which tells its time and its most memory.

python scripts/lib/bench_largest.py NAME
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def numpy_alone() -> None:
    """What the runs that use numpy have in any case."""
    import numpy  # noqa: F401


def offsets() -> None:
    """16 million offsets, 4 bytes each."""
    from layoutalg import ComposedLayout, Layout, Swizzle
    from layoutalg import offsets as whole

    whole(ComposedLayout(Swizzle(3, 4, 3), 0, Layout((4096, 4096), (4096, 1))))


def picture() -> None:
    """262,144 cells."""
    from layoutalg import ComposedLayout, Layout, Swizzle, draw

    tile = Layout(((8, 64), (64, 8)), ((64, 512), (1, 32768)))
    draw(ComposedLayout(Swizzle(3, 3, 3), 0, tile), "bank", element_bytes=2).svg()


def comparison() -> None:
    """The enumerating proof of 262,144 elements."""
    from descriptors import derive, verify

    verify(derive((512, 512), "bf16", "K", "128B", (64, 16), capacity=None, verify=False))


def lattice() -> None:
    """Every 120th kind of operand of the strict lattice, each with all its tiles, stages and orders."""
    from strict import Tally, kinds, prove_all

    sum(prove_all(list(islice(kinds(), 3, None, 120))), Tally())


def search() -> None:
    """Every way to lay a tile out, proved."""
    from descriptors import search as every_way

    list(every_way((128, 128), "bf16", (64, 16)))


RUNS: dict[str, Callable[[], None]] = {
    "numpy alone": numpy_alone,
    "all offsets of 4096 x 4096, swizzled": offsets,
    "SVG of 512 x 512": picture,
    "512 x 512 compared element by element": comparison,
    "strict lattice, every 120th kind": lattice,
    "search of 128 x 128": search,
}


def measure_largest(repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds of the processor, by the median, and bytes of the most memory, of each run with its start."""
    medians = {}
    for name in RUNS:
        command = [sys.executable, __file__, name]
        runs = [subprocess.check_output(command, text=True).split() for _ in range(repeats)]
        medians[name] = statistics.median(float(one) for one, _ in runs), max(float(one) for _, one in runs)
    return medians


def report_lines(medians: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """A line for each run."""
    for name, (seconds, memory) in medians.items():
        yield f"{name}: {seconds:.2f} s, {memory / 1e6:.0f} MB at most"


def most_memory() -> int:
    """The most memory that this process has held, in bytes; what Linux says of a child includes its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    RUNS[sys.argv[1]]()
    print(time.process_time(), most_memory())
