"""The bank probe: wavefronts of a warp's access to shared memory, counted by the hardware, one launch a pattern.

The counter is ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` (``_st.sum`` for stores), read by Nsight
Compute, which starts this module again with ``--launch``.

    python -m probes.banks --out FOLDER
"""

from __future__ import annotations

import argparse
import csv
import glob
import io
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from probes.build import build
from probes.cuda import Device, provenance
from probes.patterns import Pattern, matrix_patterns, patterns
from probes.runner import main_of, write_json

COUNTERS = {
    "load": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
#: Which of the two an operation counts as.
KINDS = {"load": "load", "ldmatrix": "load", "store": "store", "stmatrix": "store"}
#: By the options of the command: the evidence's name.
EVIDENCE = {False: "bank_wavefronts", True: "matrix_wavefronts"}


def find_ncu() -> str:
    """The profiler's path.

    Raises:
        RuntimeError: if there is none.
    """
    found = shutil.which("ncu")
    places = sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu") + glob.glob("/usr/local/cuda*/bin/ncu"))
    if not found and not places:
        raise RuntimeError("the bank probe needs Nsight Compute (ncu) on the PATH, found none")
    return found or places[-1]


def launch(device: Device, chosen: Sequence[Pattern]) -> None:
    """Launch the patterns, one kernel each, in order."""
    module = device.load(build("banks")["banks"])
    kernels = {
        (op, size): module.kernel(f"{op}_{size}", 65536) for op, size in {(one.op, one.access_bytes) for one in chosen}
    }
    sink = device.buffer(128)
    for one in chosen:
        offsets = device.upload(np.array(one.offsets, np.int32))
        kernels[one.op, one.access_bytes].launch(1, 32, offsets, sink)
        device.synchronize()
        offsets.free()


def read_counters(text: str) -> list[dict[str, str]]:
    """The rows of ``ncu --csv --page raw``, without the row of units.

    >>> read_counters('==PROF== hello\\n"ID","Kernel Name"\\n"","unit"\\n"0","load_4"\\n')
    [{'ID': '0', 'Kernel Name': 'load_4'}]
    """
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise RuntimeError(f"ncu must print a table, found:\n{text[-2000:]}")
    table = [line for line in lines[begin:] if line.startswith('"')]
    return [row for row in csv.DictReader(io.StringIO("\n".join(table))) if row["ID"]]


def count(chosen: Sequence[Pattern], seed: int, first: int, *, matrix: bool = False) -> list[int]:
    """Wavefronts of patterns ``first`` and on, by the profiler; of matrices, where these are what is probed.

    Raises:
        RuntimeError: if the profiler fails, or its launches are not the patterns.
    """
    span = f"{first}:{first + len(chosen)}"
    command = [
        find_ncu(),
        "--metrics",
        ",".join(COUNTERS.values()),
        "--clock-control",
        "none",
        "--cache-control",
        "none",
    ]
    command += ["--csv", "--page", "raw", sys.executable, "-m", "probes.banks", "--seed", str(seed), "--launch", span]
    command += ["--matrix"] if matrix else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ncu must succeed, exit status {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    rows = read_counters(done.stdout)
    names = [row["Kernel Name"].split("(")[0] for row in rows]
    if names != [f"{one.op}_{one.access_bytes}" for one in chosen]:
        raise RuntimeError(f"ncu must report one launch a pattern, {len(chosen)} wanted, {len(rows)} found")
    values = [int(float(row[COUNTERS[KINDS[one.op]]].replace(",", ""))) for row, one in zip(rows, chosen, strict=True)]
    others = {"load": "store", "store": "load"}
    for row, one in zip(rows, chosen, strict=True):
        if float(row[COUNTERS[others[KINDS[one.op]]]].replace(",", "")):
            raise RuntimeError(f"a {one.op} must not count as the other kind, pattern {one.name}")
    if not all(values):
        raise RuntimeError("every access must take a wavefront, found a counter of 0")
    return values


def model(one: Pattern) -> int:
    """What the library says of a pattern."""
    from layoutalg.analysis.banks import wavefronts

    lanes = [None if offset < 0 else offset for offset in one.offsets]
    return wavefronts(lanes, one.access_bytes, store=one.op != "load")  # matrices know no exception of two phases


def save(path: Path, chosen: Sequence[Pattern], values: Sequence[int], facts: dict[str, str]) -> None:
    """One row a pattern, as arrays; the readable summary as JSON."""
    np.savez_compressed(
        path.with_suffix(".npz"),
        name=np.array([one.name for one in chosen]),
        store=np.array([KINDS[one.op] == "store" for one in chosen]),
        access_bytes=np.array([one.access_bytes for one in chosen], np.uint8),
        offsets=np.array([one.offsets for one in chosen], np.int16),
        wavefronts=np.array(values, np.uint16),
        provenance=np.array(json.dumps(facts)),
    )
    wrong = [
        {"name": one.name, "op": one.op, "access_bytes": one.access_bytes, "measured": value, "model": model(one)}
        for one, value in zip(chosen, values, strict=True)
        if model(one) != value
    ]
    sizes = sorted({(one.op, one.access_bytes) for one in chosen})
    counts = {f"{op} {size}": sum((one.op, one.access_bytes) == (op, size) for one in chosen) for op, size in sizes}
    summary = {**facts, "counters": COUNTERS, "patterns": len(values), "by_access": counts}
    summary |= {"patterns_that_differ_from_the_model": len(wrong), "different": wrong[:200]}
    write_json(path.with_suffix(".json"), summary)
    print(f"{len(values)} access patterns on {facts['gpu']}: {len(wrong)} differ from the model")


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    chosen = matrix_patterns(options.seed) if options.matrix else patterns(options.seed)
    if options.launch:
        first, last = map(int, options.launch.split(":"))
        launch(device, chosen[first:last])
        return 0
    facts = provenance(device, " ".join(["scripts/probe_wgmma banks", *sys.argv[1:]]))
    values: list[int] = []
    deadline = time.monotonic() + options.seconds
    while len(values) < len(chosen) and time.monotonic() < deadline:
        batch = chosen[len(values) : len(values) + options.batch]
        values += count(batch, options.seed, len(values), matrix=options.matrix)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    save(out / EVIDENCE[options.matrix], chosen[: len(values)], values, facts)
    return 0 if all(model(one) == value for one, value in zip(chosen, values, strict=False)) else 1


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma banks", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--batch", type=int, default=300, help="patterns a start of the profiler")
    made.add_argument("--seconds", type=float, default=3600, help="start no batch after this long")
    made.add_argument("--matrix", action="store_true", help="ldmatrix and stmatrix instead of loads and stores")
    made.add_argument("--launch", help="FIRST:LAST, only launch these (what the profiler runs)")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
