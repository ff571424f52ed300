#!/usr/bin/env python3
"""Measure layoutalg against its peers in one run: the same inputs, one machine, ratios.

    scripts/test --version >/dev/null       # once: the environment with the peers
    .venv/bin/python scripts/bench.py       # a table
    .venv/bin/python scripts/bench.py --json

Each operation gets a set of varied inputs, drawn from a printed seed; an input that one of the sides present refuses is
left out for all. The time of one call is the median over the repeats of (time for all inputs, several rounds / calls).
Two sides that are compared are timed in turns, so that a machine that changes its pace changes it for both. The CuTe
DSL is timed inside one trace, in a process of its own without forks: what a call costs while a kernel is being traced;
ours is timed there once more, beside it. A peer that is not installed has "absent" in its column. Progress goes to
standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from bench_largest import measure_largest  # noqa: E402
from bench_largest import report_lines as largest_lines  # noqa: E402
from bench_pictures import measure_pictures, report_lines  # noqa: E402
from bench_processes import measure_processes, process_lines  # noqa: E402
from bench_proofs import measure_proofs  # noqa: E402
from bench_proofs import report_lines as proof_lines  # noqa: E402
from bench_sides import Absent, Spelling, builder, ours, spellings, tensor_layouts  # noqa: E402
from ended import end  # noqa: E402
from turns import in_turns  # noqa: E402


def installed(distribution: str) -> str:
    """The version of a distribution; empty where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


# ---- timing ----


def accepted(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[int]:
    good = []
    for index, args in enumerate(arguments):
        try:
            function(*args)
        except Exception:  # noqa: BLE001  a peer may refuse in any way it likes
            continue
        good.append(index)
    return good


#: A function and the arguments that it is called with, in turn.
Calls = tuple[Callable[..., Any], list[tuple[Any, ...]]]


def time_calls(sides: list[Calls], repeats: int, least: float) -> list[float]:
    """Seconds for one call of each side: the median over the repeats, the sides in turns, each over all its inputs."""
    samples = in_turns([partial(call_all, *side) for side in sides], repeats, least)
    medians = map(statistics.median, zip(*samples, strict=True))
    return [total / len(side[1]) for total, side in zip(medians, sides, strict=True)]


def call_all(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> None:
    for args in arguments:
        function(*args)


def dsl_worker(inputs: dict[str, list[Any]], repeats: int, least: float) -> None:
    """Time every operation inside one trace of the CuTe DSL, ours in turns with it, and write a line for each."""
    from cutlass import cute

    la, build_ours = ours()
    cases = spellings(la, Absent(), cute)
    build = builder(
        lambda shape, stride: cute.make_layout(shape, stride=stride),
        lambda s, x: cute.make_composed_layout(cute.make_swizzle(*s), 0, x),
    )

    def measure() -> None:
        for name, rows in inputs.items():
            mine, function = cases[name][1], cases[name][3]
            print(json.dumps({"begun": name}), flush=True)
            if function is None or mine is None:
                continue
            arguments = [tuple(map(build, row)) for row in rows]
            good = accepted(function, arguments)
            sides = [
                (mine, [tuple(map(build_ours, rows[i])) for i in good]),
                (function, [arguments[i] for i in good]),
            ]
            beside, seconds = time_calls(sides, repeats, least) if good else (None, None)
            print(json.dumps({"name": name, "good": good, "seconds": seconds, "ours": beside}), flush=True)

    @cute.jit  # type: ignore[untyped-decorator]
    def trace() -> None:
        measure()

    trace()


def run_dsl(inputs: dict[str, list[Any]], options: argparse.Namespace) -> dict[str, Any]:
    """The DSL's measurements. A crash costs the operation in hand, not the run."""
    results: dict[str, Any] = {}
    todo = dict(inputs)
    while todo:
        command = [sys.executable, __file__, "--dsl-worker", f"--repeats={options.repeats}", f"--least={options.least}"]
        done = subprocess.run(command, input=json.dumps(todo), capture_output=True, text=True, check=False)
        begun = None
        for line in done.stdout.splitlines():
            message = json.loads(line) if line.startswith("{") else {}
            if "begun" in message:
                begun = message["begun"]
                todo.pop(begun)
            elif "name" in message:
                results[message["name"]] = message
        if done.returncode == 0 or begun is None:
            return results
        if begun not in results:
            say(f"the CuTe DSL crashed on {begun}")
    return results


def measure_whole_layouts(repeats: int) -> list[dict[str, Any]]:
    """All offsets of 4096 x 4096 layouts, beside one numpy expression of the same result, in turns."""
    import numpy as np

    from layoutalg import ComposedLayout, Layout, Swizzle, offsets

    plain = Layout((4096, 4096), (4096, 1))
    nested = Layout(((8, 512), (64, 64)), ((64, 512), (1, 8 * 64 * 512)))
    swizzled = ComposedLayout(Swizzle(3, 4, 3), 0, plain)
    rows, columns = np.arange(4096, dtype=np.int32) * 4096, np.arange(4096, dtype=np.int32)
    inner = np.array([nested(0, i) for i in range(4096)], dtype=np.int32)
    outer = np.array([nested(i, 0) for i in range(4096)], dtype=np.int32)

    def bare_swizzle() -> Any:
        values = np.add.outer(rows, columns)
        return values ^ (values & 0b1110000000) >> 3

    pairs: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("plain", lambda: offsets(plain), lambda: np.add.outer(rows, columns)),
        ("nested", lambda: offsets(nested), lambda: np.add.outer(outer, inner)),
        ("swizzled", lambda: offsets(swizzled), bare_swizzle),
    ]
    medians = []
    for name, mine, bare in pairs:
        if not np.array_equal(mine(), bare()):
            raise SystemExit(f"bench: the offsets of the {name} layout must be those of numpy, found others")
        times: dict[str, list[float]] = {"layoutalg": [], "numpy": []}
        for _ in range(repeats):
            for side, function in (("layoutalg", mine), ("numpy", bare)):
                started = time.perf_counter()
                function()
                times[side].append(time.perf_counter() - started)
        medians.append({"layout": name, **{side: statistics.median(samples) for side, samples in times.items()}})
    return medians


# ---- the run ----


def say(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)


def mutual(name: str, rows: list[Any], sides: list[tuple[Any, dict[str, Spelling]]]) -> list[Any]:
    """The inputs that every side takes which offers the operation."""
    for build, functions in sides:
        function = functions[name]
        if function is not None:
            rows = [rows[index] for index in accepted(function, [tuple(map(build, row)) for row in rows])]
    return rows


def measure_operations(options: argparse.Namespace) -> dict[str, Any]:
    la, build_ours = ours()
    versions = {"layoutalg": la.__version__, "tensor-layouts": installed("tensor-layouts")}
    versions["cute-dsl"] = installed("nvidia-cutlass-dsl")
    tl, build_theirs = tensor_layouts() if versions["tensor-layouts"] else (Absent(), None)
    cases = {
        name: case for name, case in spellings(la, tl, Absent()).items() if not options.only or options.only in name
    }
    inputs = {
        name: [case[0](random.Random(f"{options.seed} {name} {index}")) for index in range(options.inputs)]
        for name, case in cases.items()
    }
    # An input counts only if every side present takes it: first ours and the Python peer's, then the DSL's.
    sides = [(build_ours, {name: case[1] for name, case in cases.items()})]
    if build_theirs:
        sides.append((build_theirs, {name: case[2] for name, case in cases.items()}))
    inputs = {name: mutual(name, rows, sides) for name, rows in inputs.items()}
    say("the CuTe DSL, inside one trace")
    dsl = run_dsl(inputs, options) if versions["cute-dsl"] else {}
    rows = []
    for name in cases:
        say(name)
        dsl_row = dsl.get(name, {})
        common = [inputs[name][index] for index in dsl_row["good"]] if dsl_row.get("good") else inputs[name]
        offered = {
            side: (functions[name], [tuple(map(build, given)) for given in common])
            for side, (build, functions) in zip(("layoutalg", "tensor-layouts"), sides, strict=False)
            if functions[name]
        }
        times = time_calls(list(offered.values()), options.repeats, options.least)
        row: dict[str, Any] = {"operation": name, "inputs": len(common), "cute-dsl": dsl_row.get("seconds")}
        row |= {"layoutalg beside cute-dsl": dsl_row.get("ours"), "tensor-layouts": None}
        rows.append(row | dict(zip(offered, times, strict=True)))
    return {"versions": versions, "operations": rows}


def ratio(row: dict[str, Any], peer: str) -> float:
    """How many times as long a peer takes, by what was timed in turns with it."""
    mine = row["layoutalg beside cute-dsl"] if peer == "cute-dsl" else row["layoutalg"]
    return float(row[peer] / mine)


def ratios(rows: list[dict[str, Any]], peer: str) -> list[float]:
    return [ratio(row, peer) for row in rows if row.get(peer)]


def report(result: dict[str, Any]) -> Iterator[str]:
    versions, rows = result["versions"], result["operations"]
    yield (
        f"layoutalg {versions['layoutalg']}, tensor-layouts {versions['tensor-layouts'] or 'absent'}, "
        f"CuTe DSL {versions['cute-dsl'] or 'absent'} (trace time); Python {versions['python']}, {versions['machine']}"
    )
    yield (
        f"seed {result['seed']}; median of {result['repeats']} repeats; microseconds of processor a call, and how many "
        "times ours"
    )
    yield ""
    yield f"{'operation':28} {'inputs':>6} {'layoutalg':>10} {'tensor-layouts':>17} {'CuTe DSL':>17}"
    for row in rows:
        line = f"{row['operation']:28} {row['inputs']:6} {row['layoutalg'] * 1e6:10.2f}"
        for peer in ("tensor-layouts", "cute-dsl"):
            seconds = row.get(peer)
            missing = "-" if versions[peer] else "absent"
            line += f" {seconds * 1e6:9.2f} {ratio(row, peer):6.1f}x" if seconds else f" {missing:>17}"
        yield line
    for peer in ("tensor-layouts", "cute-dsl"):
        quotients = ratios(rows, peer)
        if quotients:
            slower = sum(ratio < 1 for ratio in quotients)
            yield (
                f"against {peer}: median {statistics.median(quotients):.1f}x, least {min(quotients):.1f}x over "
                f"{len(quotients)} operations; slower than it in {slower}"
            )
    yield ""
    for row in result["whole layouts"]:
        yield (
            f"all offsets of 4096 x 4096, {row['layout']}: {1e3 * row['layoutalg']:.1f} ms; bare numpy "
            f"{1e3 * row['numpy']:.1f} ms; {row['layoutalg'] / row['numpy']:.2f} of it"
        )
    yield ""
    if result["pictures"]:
        yield from report_lines(result["pictures"])
        yield ""
    if result["proofs"]:
        yield from proof_lines(result["proofs"])
        yield ""
    yield from process_lines(result["processes"])
    if result["largest runs"]:
        yield ""
        yield from largest_lines(result["largest runs"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="write the measurements as JSON, in seconds")
    parser.add_argument("--repeats", type=int, default=9, help="repeats of each measurement (default: 9)")
    parser.add_argument("--inputs", type=int, default=24, help="inputs of each operation (default: 24)")
    parser.add_argument(
        "--least", type=float, default=0.02, help="seconds that one repeat lasts at least (default: 0.02)"
    )
    parser.add_argument("--seed", type=int, default=1, help="what the inputs are drawn from (default: 1)")
    parser.add_argument("--only", default="", help="only operations whose name contains this")
    parser.add_argument("--dsl-worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dsl_worker:
        dsl_worker(json.load(sys.stdin), options.repeats, options.least)
        return
    result = {"seed": options.seed, "repeats": options.repeats, **measure_operations(options)}
    say("whole layouts")
    result["whole layouts"] = [] if options.only else measure_whole_layouts(options.repeats)
    say("pictures")
    result["pictures"] = [] if options.only else measure_pictures(options.repeats)
    say("proofs")
    result["proofs"] = {} if options.only else measure_proofs(options.repeats)
    say("whole processes")
    result["processes"] = measure_processes(options.repeats, bool(result["versions"]["cute-dsl"]))
    say("the largest runs")
    result["largest runs"] = {} if options.only else measure_largest(3)
    result["versions"] |= {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    print(json.dumps(result, indent=1) if options.json else "\n".join(report(result)))


if __name__ == "__main__":
    end(main)
