"""Spoilt programs compiled and run: by themselves, and under the tools of compute-sanitizer.

Who does not end is ended after some seconds, with all that it started.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probes.fault_cases import Fault, source
from probes.main_loops import FLAGS

#: The records: of products, and with a suffix of tools.
EVIDENCE = "faults"
_HOST = Path(__file__).with_name("faults.cu")
#: M, N and K of the product: some tiles for each multiprocessor, and rounds of the ring for each tile.
SIZE = (4096, 4096, 1024)
#: Seconds after which a run hangs; a right one takes about one.
PATIENCE = 5
#: A product that compute-sanitizer ends in seconds; some multiprocessors have two tiles of it.
SMALL_SIZE = (4096, 1024, 512)
TOOLS = ("racecheck", "synccheck")
_SUMMARY = re.compile(r"^========= (?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", re.M)
_MESSAGE = re.compile(r"^========= (?!COMPUTE|RACECHECK|ERROR SUMMARY|Option|Saved|Host)([^ \n].*)$", re.M)
#: Seconds for one run of a tool.
TOOL_PATIENCE = 30


def _nvcc(*arguments: str) -> list[str]:
    """Compile; the codes of what the assembler says of ``wgmma``."""
    done = subprocess.run(["nvcc", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"faults: a program must compile, found:\n{done.stderr[-4000:]}")
    return sorted(set(re.findall(r"\((C75\d\d)\)", done.stdout + done.stderr)))


def ptx(fault: Fault, folder: Path) -> str:
    """The twin in PTX, as nvcc compiles it."""
    unit, target = folder / f"{fault.name}.cu", folder / f"{fault.name}.ptx"
    unit.write_text(source(fault), encoding="utf-8")
    _nvcc(*FLAGS[:2], "-arch=compute_90a", "-DLAYOUTALG_NO_MAIN", "-ptx", "-o", str(target), str(unit))
    return target.read_text(encoding="utf-8")


def program(fault: Fault, folder: Path) -> tuple[Path, list[str]]:
    """The twin and its host, compiled; and the assembler's codes."""
    unit, target = folder / f"{fault.name}.cu", folder / fault.name
    unit.write_text(source(fault), encoding="utf-8")
    codes = _nvcc(*FLAGS, f'-DKERNEL="{unit}"', "-o", str(target), str(_HOST))
    return target, codes


def ended(command: Sequence[str], patience: float) -> tuple[int | None, str, str]:
    """A process that ends, or is ended with all that it started: its status, None where it was ended; what it wrote.

    Args:
        command: the program and its arguments.
        patience: seconds that it may take.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            told, errors = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, *process.communicate()
        return process.returncode, told, errors


def outcome(path: Path, launches: int) -> dict[str, Any]:
    """What became of so many launches: counts, and how it ended: ``"end"``, ``"hang"`` or the driver's error."""
    status, told, errors = ended([str(path), *map(str, SIZE), str(launches)], PATIENCE)
    end = {None: "hang", 0: "end"}.get(status) or errors.strip().splitlines()[-1]
    lines = told.splitlines()
    counts = json.loads(lines[-1]) if lines else {"launches": 0, "wrong_launches": 0, "wrong_elements": 0}
    return {**counts, "ended": end}


def sanitized(path: Path, tool: str) -> dict[str, Any]:
    """What a tool of compute-sanitizer says of one product: errors that it counts, or no end; and its first message."""
    command = ["compute-sanitizer", "--tool", tool, "--kernel-name", "kns=gemm", str(path), *map(str, SMALL_SIZE), "1"]
    status, *streams = ended(command, TOOL_PATIENCE)
    told = "".join(streams)
    messages, count = _MESSAGE.findall(told), _SUMMARY.search(told)
    if status is None:
        return {"errors": None, "message": next(iter(messages), "")}
    many = int(count[1] or count[2]) if count else None
    return {"errors": many, "message": next(iter(messages), told[-200:] if count is None else "")}
