"""The fault probe: what an emitted kernel does on a GPU when one step of its protocol is spoilt.

Each fault is a change of the text that ``descriptors plan --emit cuda`` writes. The twin multiplies small integers over
and over, in a process of its own that is killed after some seconds: wrong products are counted, and who does not end
hangs. ``--check`` needs no GPU: it prints the recorded counts beside what ``descriptors check`` says of the twin's PTX.

    python -m probes.faults --out FOLDER [--launches 1000]
    python -m probes.faults --out FOLDER --sanitizer      what compute-sanitizer says of each, in faults_sanitizer.json
    python -m probes.faults --check tests/vectors/hopper/h200
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from descriptors import check_ptx, plan
from descriptors.gemm.programs.sm90_kernel import kernel
from probes.cuda import Device, provenance
from probes.main_loops import FLAGS
from probes.runner import main_of, write_json

EVIDENCE = "faults"
_HOST = Path(__file__).with_name("faults.cu")
#: M, N and K of the product: some tiles for each multiprocessor, and rounds of the ring for each tile.
SIZE = (4096, 4096, 1024)
#: Seconds after which a run hangs; a right one takes about one.
PATIENCE = 5
#: The plans whose programs are spoilt.
PLANS: dict[str, dict[str, Any]] = {
    "ring": {"stages": 4},
    "cluster": {"stages": 4, "cluster": (2, 1)},
}


#: The boxes of the tensor maps of A and B of each plan.
BOXES = {"ring": {"0": "64x128xbf16", "1": "64x128xbf16"}, "cluster": {"0": "64x128xbf16", "1": "64x64xbf16"}}


class Fault(NamedTuple):
    """One change.

    Args:
        name: what it is called.
        plan: of which of :data:`PLANS`.
        what: in words.
        changes: texts and what stands in their place; each text is there once.
    """

    name: str
    plan: str
    what: str
    changes: tuple[tuple[str, str], ...] = ()


_FULL = "const uint32_t full = base + BARRIERS + 8 * stage;\n      barrier_wait(full, parity);"
_EMPTY = "barrier_wait(full + 8 * STAGES, parity);"
_LATE = "if (before >= 0 && thread % 32 == 0) barrier_arrive(base + BARRIERS + 8 * (STAGES + before));"
_LOOP_ARRIVAL = f"{_LATE}\n      before = stage;"
_LAST_ARRIVAL = f"{_LATE}\n    int row, column;"
_EXPECT = "barrier_expect(full, STAGE_BYTES);"
_WAIT_1 = 'asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");'
_WAIT_0 = 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'
_FULL_INIT = "barrier_init(base + BARRIERS + 8 * stage, 1);"
_EMPTY_INIT = "barrier_init(base + BARRIERS + 8 * (STAGES + stage), 4 * WARPGROUPS"
_CONSUMER = "uint32_t parity = 0;"
_OWN_ARRIVAL = _LATE.replace("before >= 0 && ", "").replace("+ before", "+ stage")
_NEXT = "if (++stage == STAGES) stage = 0, parity ^= 1;\n    }\n  }\n}"
_TURN = "stage = 0, parity ^= 1;\n    }\n    asm"
_ROUNDS = "int before = -1;\n    for (int step = 0; step < steps; ++step)"
_B_STAGE = "base + B_BASE + stage * B_STAGE_BYTES + b_box_at"
_B_MASK = "const uint32_t b_mask = ((1 << CLUSTER_M) - 1) << rank / CLUSTER_M * CLUSTER_M;"
_END = "cluster_sync();\n}\n"

FAULTS = (
    Fault("right", "ring", "nothing"),
    Fault("full-wait", "ring", "no wait for a stage to be full", ((_FULL, _FULL.split("\n")[0]),)),
    Fault(
        "full-wait-late",
        "ring",
        "the wait for a stage to be full comes after its multiplications",
        ((_FULL, _FULL.split("\n")[0]), (_WAIT_1, f"barrier_wait(full, parity);\n      {_WAIT_1}")),
    ),
    Fault("empty-wait", "ring", "no wait for a stage to be empty", ((_EMPTY, ""),)),
    Fault(
        "empty-wait-late",
        "ring",
        "the wait for a stage to be empty comes after its copies",
        ((_EMPTY, ""), (_NEXT, f"barrier_wait(full + 8 * STAGES, parity);\n      {_NEXT}")),
    ),
    Fault("bytes-halved", "ring", "half the bytes expected", ((_EXPECT, "barrier_expect(full, STAGE_BYTES / 2);"),)),
    Fault("bytes-doubled", "ring", "twice the bytes expected", ((_EXPECT, "barrier_expect(full, STAGE_BYTES * 2);"),)),
    Fault("bytes-gone", "ring", "an arrival that expects no bytes", ((_EXPECT, "barrier_arrive(full);"),)),
    Fault("expected-twice", "ring", "bytes expected twice, so two arrivals", ((_EXPECT, _EXPECT * 2),)),
    Fault("copy-gone", "ring", "B is not copied", (("box < B_BOXES; ++box", "box < 0; ++box"),)),
    Fault(
        "copy-in-next",
        "ring",
        "B is copied into the next stage",
        ((_B_STAGE, _B_STAGE.replace("stage *", "(stage + 1) % STAGES *")),),
    ),
    Fault("full-count", "ring", "the full barrier counts 2", ((_FULL_INIT, _FULL_INIT.replace("1)", "2)")),)),
    Fault("empty-count-more", "ring", "the empty barrier counts one warp more", ((_EMPTY_INIT, f"{_EMPTY_INIT} + 1"),)),
    Fault(
        "empty-count-half", "ring", "the empty barrier counts half the warps", ((_EMPTY_INIT, f"{_EMPTY_INIT} / 2"),)
    ),
    Fault("init-gone", "ring", "the empty barriers are not initialised", ((f"{_EMPTY_INIT});", ""),)),
    Fault("init-unseen", "ring", "no __syncthreads after the barriers' init", (("__syncthreads();", ""),)),
    Fault(
        "arrival-gone",
        "ring",
        "no stage is released",
        ((_LOOP_ARRIVAL, "before = stage;"), (_LAST_ARRIVAL, "int row, column;")),
    ),
    Fault(
        "last-arrival-gone", "ring", "the last stage of a tile is not released", ((_LAST_ARRIVAL, "int row, column;"),)
    ),
    Fault(
        "released-early",
        "ring",
        "a stage is released while it is read",
        ((_LOOP_ARRIVAL, f"{_OWN_ARRIVAL}\n      before = stage;"), (_LAST_ARRIVAL, "int row, column;")),
    ),
    Fault("wait-gone", "ring", "no wait for the multiplications before a stage is released", ((_WAIT_1, ""),)),
    Fault("last-wait-gone", "ring", "no wait for the multiplications before the result is stored", ((_WAIT_0, ""),)),
    Fault(
        "parity-constant",
        "ring",
        "who waits for full never turns the parity",
        ((_CONSUMER, f"const {_CONSUMER}"), (_TURN, _TURN.replace(", parity ^= 1", ""))),
    ),
    Fault(
        "parity-turned",
        "ring",
        "who waits for empty begins with the other parity",
        (("uint32_t parity = 1;", "uint32_t parity = 0;"),),
    ),
    Fault(
        "round-more",
        "ring",
        "who multiplies takes one round more than is copied",
        ((_ROUNDS, _ROUNDS.replace("< steps", "< steps + 1")),),
    ),
    Fault("right-cluster", "cluster", "nothing, in clusters of two CTAs"),
    Fault(
        "cluster-init-unseen",
        "cluster",
        "no cluster barrier after the init",
        (("  cluster_sync();\n  if", "  __syncthreads();\n  if"),),
    ),
    Fault("cluster-end", "cluster", "a CTA ends while another still arrives at it", ((_END, "}\n"),)),
    Fault(
        "cluster-count",
        "cluster",
        "the empty barrier counts the own CTA alone",
        (("4 * WARPGROUPS * PEERS", "4 * WARPGROUPS"),),
    ),
    Fault(
        "cluster-own-release",
        "cluster",
        "a stage is released in the own CTA alone",
        (("mapa.shared::cluster.u32 there, %0, %1;", "mov.b32 there, %0;"),),
    ),
    Fault(
        "cluster-mask",
        "cluster",
        "B is copied to the own CTA alone",
        ((_B_MASK, "const uint32_t b_mask = 1 << rank;"),),
    ),
)


def source(fault: Fault) -> str:
    """The emitted program with the fault in it.

    Raises:
        RuntimeError: if a text that is changed is not there once.
    """
    text = kernel(plan("m64n128k16", "bf16", tile=(128, 128, 64), arch="sm90", verify=False, **PLANS[fault.plan]))
    for old, new in fault.changes:
        if text.count(old) != 1:
            raise RuntimeError(
                f"faults: {fault.name}: what it changes must be there once, found {text.count(old)}: {old}"
            )
        text = text.replace(old, new)
    return text


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


def outcome(path: Path, launches: int) -> dict[str, Any]:
    """What became of so many launches: counts, and how it ended: ``"end"``, ``"hang"`` or the driver's error."""
    command = [str(path), *map(str, SIZE), str(launches)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        last: dict[str, Any] = {"launches": 0, "wrong_launches": 0, "wrong_elements": 0}
        try:
            told, errors = process.communicate(timeout=PATIENCE)
            end = "end" if process.returncode == 0 else errors.strip().splitlines()[-1]
        except subprocess.TimeoutExpired:
            process.kill()
            told, _ = process.communicate()
            end = "hang"
    lines = told.splitlines()
    return {**(json.loads(lines[-1]) if lines else last), "ended": end}


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


#: A product that compute-sanitizer ends in seconds; some multiprocessors have two tiles of it.
SMALL_SIZE = (4096, 1024, 512)
TOOLS = ("racecheck", "synccheck")
_SUMMARY = re.compile(r"^========= (?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", re.M)
_MESSAGE = re.compile(r"^========= (?!COMPUTE|RACECHECK|ERROR SUMMARY|Option|Saved|Host)([^ \n].*)$", re.M)
#: Seconds for one run of a tool.
TOOL_PATIENCE = 30


def sanitized(path: Path, tool: str) -> dict[str, Any]:
    """What a tool of compute-sanitizer says of one product: errors that it counts, or no end; and its first message."""
    command = ["compute-sanitizer", "--tool", tool, "--kernel-name", "kns=gemm", str(path), *map(str, SMALL_SIZE), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            told, _ = process.communicate(timeout=TOOL_PATIENCE)
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", "-9", "-f", str(path)], check=False)
            process.kill()
            told, _ = process.communicate()
            return {"errors": None, "message": next(iter(_MESSAGE.findall(told)), "")}
    count = _SUMMARY.search(told)
    errors = int(count[1] or count[2]) if count else None
    return {"errors": errors, "message": next(iter(_MESSAGE.findall(told)), told[-200:] if count is None else "")}


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


def counts(runs: list[dict[str, Any]]) -> str:
    """Runs in words.

    >>> end = {"launches": 50, "wrong_elements": 9, "ended": "end"}
    >>> counts([{**end, "wrong_launches": 50}]), counts([{**end, "wrong_launches": 0}, {**end, "wrong_launches": 2}])
    ('all products wrong', '2 of 100 products wrong')
    """
    launches, wrong = (sum(one[key] for one in runs) for key in ("launches", "wrong_launches"))
    ends = {one["ended"] for one in runs}
    if "hang" in ends:
        return "hangs" if wrong == 0 else "wrong products, then hangs"
    if ends != {"end"}:
        return "the launch fails"
    share = "all" if wrong == launches else f"{wrong:,} of {launches:,}"
    return f"{share} products wrong" if wrong else f"{launches:,} products right"


def mended(row: dict[str, Any]) -> str:
    """The same, and what the assembler did about the fault."""
    codes = ", ".join(row["assembler"])
    return counts(row["runs"]) + (f" (the assembler mends it: {codes})" if codes else "")


def sanitizer_says(row: dict[str, Any]) -> str:
    """Both tools in words; a tool that does not end has no message of what hangs.

    >>> sanitizer_says({"racecheck": {"errors": 0, "message": ""}, "synccheck": {"errors": None, "message": ""}})
    'no end'
    """
    said = [f"{tool}: {row[tool]['message']}" for tool in TOOLS if row[tool]["errors"]]
    if said:
        return "; ".join(re.sub(r"(Barrier error detected\. |Error: )|\.$| between.*", "", one).lower() for one in said)
    return "no end" if any(row[tool]["errors"] is None for tool in TOOLS) else "nothing"


def checker_says(fault: Fault, folder: Path) -> str:
    """Errors that ``descriptors check`` has of the twin's PTX, or what it does not decide."""
    report = check_ptx(ptx(fault, folder), tensor_maps=BOXES[fault.plan])
    rules = sorted({one.rule.name for one in report.errors})
    left = sorted({one.property for one in report.undecided})
    return ", ".join(f"`{one}`" for one in rules) or (f"not decided: {', '.join(left)}" if left else "clean")


def table(records: Path) -> Iterator[tuple[str, ...]]:
    """Each fault that was recorded: what it is, what the GPU did, what compute-sanitizer says, and what the checker."""
    product, tools = (
        {row["fault"]: row for row in json.loads((records / name).read_text(encoding="utf-8"))["faults"]}
        for name in (f"{EVIDENCE}.json", f"{EVIDENCE}_sanitizer.json")
    )
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        for fault in FAULTS:
            yield (
                fault.what,
                mended(product[fault.name]),
                sanitizer_says(tools[fault.name]),
                checker_says(fault, Path(scratch)),
            )


def summary(rows: list[tuple[str, ...]]) -> str:
    """Who tells how many of the faults.

    >>> summary([("nothing", "right", "nothing", "clean"), ("a wait", "hangs", "no end", "`barrier-hang`")])
    'Of 1 fault: descriptors check tells 1, compute-sanitizer 0, which does not end with 1'
    """
    faults = [row for row in rows if not row[0].startswith("nothing")]
    told, ended = sum(row[3].startswith("`") for row in faults), sum(row[2] != "no end" for row in faults)
    theirs = sum(row[2] not in ("nothing", "no end") for row in faults)
    unended = f"which does not end with {len(faults) - ended}"
    many = f"Of {len(faults)} fault{'s' * (len(faults) > 1)}"
    return f"{many}: descriptors check tells {told}, compute-sanitizer {theirs}, {unended}"


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
