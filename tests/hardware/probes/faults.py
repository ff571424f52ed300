"""The fault probe: what an emitted kernel does on a GPU when one step of its protocol is spoilt.

Each fault (``fault_cases``) is a change of the text that ``descriptors plan --emit cuda`` writes. The twin multiplies
small integers over and over, in a process of its own that is ended after some seconds (``fault_programs``): wrong
products are counted, and who does not end hangs. ``--check`` needs no GPU: it prints the recorded counts beside what
``descriptors check`` says of the twin's PTX (``fault_report``).

    python -m probes.faults --out FOLDER [--launches 1000]
    python -m probes.faults --out FOLDER --sanitizer      what compute-sanitizer says of each, in faults_sanitizer.json
    python -m probes.faults --check tests/vectors/hopper/h200
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from probes.cuda import Device, provenance
from probes.fault_cases import FAULTS
from probes.fault_programs import EVIDENCE, SIZE, SMALL_SIZE, TOOLS, outcome, program, sanitized
from probes.fault_report import counts, summary, table
from probes.runner import main_of, write_json


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a program without a fault is wrong."""
    if shutil.which("nvcc") is None:
        raise RuntimeError("faults: nvcc must be on the PATH, found none")
    facts = provenance(device, " ".join(["scripts/probe_wgmma faults", *sys.argv[1:]]))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault, (path, codes) in zip(FAULTS, pool.map(lambda one: program(one, Path(scratch)), FAULTS), strict=True):
            runs = [outcome(path, options.launches) for _ in range(options.processes)]
            rows.append({"fault": fault.name, "what": fault.what, "assembler": codes, "runs": runs})
            print(f"{fault.name}: {counts(runs)} {' '.join(codes)}", flush=True)
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{EVIDENCE}.json", {**facts, "size": SIZE, "faults": rows})
    right = [one for row in rows if row["fault"].startswith("right") for one in row["runs"]]
    return int(any(one["wrong_launches"] or one["ended"] != "end" for one in right))


def run_sanitizer(device: Device, options: argparse.Namespace) -> int:
    """What compute-sanitizer says of each fault; its status is 1 if it says something of a program without one."""
    if shutil.which("compute-sanitizer") is None:
        raise RuntimeError("faults: compute-sanitizer must be on the PATH, found none")
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout
    facts = provenance(device, " ".join(["scripts/probe_wgmma faults", *sys.argv[1:]]))
    facts["sanitizer"] = next(iter(re.findall(r"Version (\S+)", version)), version.strip())
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = list(pool.map(lambda one: program(one, Path(scratch))[0], FAULTS))
        asked = [(path, tool) for path in paths for tool in TOOLS]
        with ThreadPoolExecutor(4) as few:
            found = list(few.map(lambda one: sanitized(*one), asked))
    for number, fault in enumerate(FAULTS):
        says = dict(zip(TOOLS, found[2 * number : 2 * number + 2], strict=True))
        rows.append({"fault": fault.name, "what": fault.what, **says})
        print(fault.name, says, flush=True)
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{EVIDENCE}_sanitizer.json", {**facts, "size": SMALL_SIZE, "faults": rows})
    return int(any(row[tool]["errors"] for row in rows if row["fault"].startswith("right") for tool in TOOLS))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma faults", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--launches", type=int, default=1000, help="products of a run")
    made.add_argument("--processes", type=int, default=3, help="runs of each fault")
    made.add_argument("--sanitizer", action="store_true", help="ask compute-sanitizer about each instead")
    made.add_argument("--check", metavar="FOLDER", help="print the records beside what the checker says; needs no GPU")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    options = parser().parse_args(None if arguments is None else list(arguments))
    if options.check is None:
        return main_of(parser(), run_sanitizer if options.sanitizer else run, arguments)
    rows = list(table(Path(options.check)))
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
