#!/usr/bin/env python3
"""Try the checker on mutants of right kernels: what it says of each kind of fault, as a table and as a record.

Usage: python scripts/try_mutant_kernels.py [--most N] [--seed N] [--jobs N] [--part NAME] [--kind NAME] [--write]
       python scripts/try_mutant_kernels.py --docs [--check]

At most N mutants of a kind and a kernel, one unless it is said, are drawn by the seed. Each is put to ptxas first (CUDA
13.0): one of *forms* that it takes, and one of the others that it refuses, is none, and is left out. The kernels are
those of tests/judge/kernels.py, and what nvcc makes of the CUDA of two plans. --write writes
tests/vectors/mutant_kernels.json; --docs writes the table of docs/checking.md from it, or says whether it is that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402
from kernel_changes import statements  # noqa: E402
from kernel_kinds import KINDS, TRIED_KINDS, Kind  # noqa: E402
from kernels import OUTCOMES, emitted, mutants, outcome, tried  # noqa: E402

from descriptors import check_ptx  # noqa: E402
from descriptors.check.kernel_report import Report  # noqa: E402

RECORD = ROOT / "tests" / "vectors" / "mutant_kernels.json"
PAGE = ROOT / "docs" / "checking.md"
BEGIN, END = "<!-- mutants: scripts/try_mutant_kernels.py --docs -->\n", "<!-- end of mutants -->\n"
#: Kernels that take seconds: one mutant of each kind that running decides.
SLOW = ("kernel_", "gathered", "scaled")


@cache
def compiled(arch: str) -> str:
    """What nvcc makes of the kernel of a plan."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "k.cu"), Path(folder, "k.ptx")
        source.write_text(emitted(arch, "cuda"), encoding="utf-8")
        command = [
            "nvcc",
            "-std=c++17",
            "-O3",
            f"-arch={arch.replace('sm', 'sm_')}a",
            "-ptx",
            str(source),
            "-o",
            str(target),
        ]
        subprocess.run(command, check=True, capture_output=True)
        return statements(target.read_text(encoding="utf-8"))


@cache
def texts() -> dict[str, str]:
    """All right kernels by name."""
    return {**tried(), **{f"kernel_{arch}": compiled(arch) for arch in ("sm90", "sm100")}}


@cache
def report_of(name: str) -> Report:
    """What the checker says of a right kernel."""
    return check_ptx(texts()[name])


def assembled(text: str) -> bool:
    """Whether ptxas takes a text."""
    found = re.search(r"\.target\s+(\w+)", text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.ptx")
        path.write_text(text, encoding="utf-8")
        command = [
            "ptxas",
            f"-arch={found[1] if found else 'sm_90a'}",
            "-o",
            str(path.with_suffix(".cubin")),
            str(path),
        ]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def try_kind(task: tuple[str, str, int, int, int]) -> tuple[str, str, Counter[str], float]:
    """What is said of the mutants of one kind and one kernel, and in how many seconds of the processor."""
    name, group, number, most, seed = task
    kind, begun = TRIED_KINDS[group][number], time.process_time()
    named = "words" if group == "unclaimed" else group
    said: Counter[str] = Counter()
    for mutant in mutants(name, texts()[name], named, kind, most, seed):
        if assembled(mutant.text) == (group == "forms"):
            said["none"] += 1
        else:
            told = outcome(mutant, report_of(name))
            verdict = next(one.verdict for one in report_of(name).properties if one.property == named)
            said[told if told != "not decided" or verdict != "incomplete" else "open before"] += 1
    return name, kind.name, said, time.process_time() - begun


def tasks(arguments: argparse.Namespace) -> list[tuple[str, str, int, int, int]]:
    """Kernel and kind of everything that is tried."""
    found = []
    for name in texts():
        for group, kinds in TRIED_KINDS.items():
            for number, kind in enumerate(kinds):
                slow = name.startswith(SLOW)
                if slow and group in ("forms", "words") and name.startswith("kernel_"):
                    continue
                if arguments.part in name and arguments.kind in kind.name:
                    found.append((name, group, number, 1 if slow else arguments.most, arguments.seed))
    return found


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """The record of a run."""
    asked, spent, made = tasks(arguments), 0.0, 0
    wrong = [name for name in {one[0] for one in asked} if not assembled(texts()[name]) or report_of(name).errors]
    if wrong:
        raise SystemExit(f"not right: {wrong}")
    said: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    with multiprocessing.Pool(arguments.jobs) as pool:
        for place, (name, kind, counts, seconds) in enumerate(pool.imap_unordered(try_kind, asked, 8), 1):
            for outcome_, number in counts.items():
                said[kind][outcome_][name] += number
            spent, made = spent + seconds, made + counts.total()
            if place % 200 == 0:
                print(f"{place} of {len(asked)}: {made} mutants, {spent:.0f} s", file=sys.stderr, flush=True)
    rows = [_row(group, kind, said[kind.name]) for group, kinds in TRIED_KINDS.items() for kind in kinds]
    command = f"python scripts/try_mutant_kernels.py --most {arguments.most} --seed {arguments.seed} --write"
    return {"tool": "ptxas and nvcc 13.0", "command": command, "kernels": sorted(texts()), "rows": rows}


def _row(group: str, kind: Kind, said: dict[str, Counter[str]]) -> dict[str, Any]:
    """A kind in the record: how many mutants there were of each outcome, and of which kernels but for the best."""
    numbers = {outcome_: counts.total() for outcome_, counts in sorted(said.items())}
    where = {outcome_: sorted(said[outcome_]) for outcome_ in numbers if outcome_ != OUTCOMES[0]}
    return {"property": group, "kind": kind.name, "why": kind.why, "said": numbers, "where": where}


#: What may be said, in the order of the table; what the right kernel leaves open too stands by itself.
SAID = (*OUTCOMES[:3], "open before", "clean")


def table(record: dict[str, Any]) -> str:
    """The table of the record, by property."""
    lines = ["| property | kinds | mutants | by its rule | by another | not decided | open before | clean |"]
    lines.append("|---" * (len(SAID) + 3) + "|")
    total: Counter[str] = Counter()
    for group in TRIED_KINDS:
        rows = [row["said"] for row in record["rows"] if row["property"] == group and set(row["said"]) & set(SAID)]
        counts = Counter({one: sum(row.get(one, 0) for row in rows) for one in SAID})
        if group in KINDS:
            total += Counter({"kinds": len(rows), **counts})
        else:
            lines.append(_line("*together*", total["kinds"], total))
        lines.append(_line(group, len(rows), counts))
    return "\n".join(lines) + "\n"


def _line(name: str, kinds: int, counts: Counter[str]) -> str:
    numbers = [counts[one] for one in SAID]
    return f"| {name} | {kinds} | {sum(numbers):,} | {' | '.join(f'{one:,}' for one in numbers)} |"


def rest(record: dict[str, Any]) -> str:
    """The kinds of which some mutants were not told by their rule, and where."""
    rows = [row for row in record["rows"] if row["where"]]
    return "\n".join(f"{row['property']:14} {row['kind']:55} {row['said']} {row['where']}" for row in rows)


def page(record: dict[str, Any]) -> str:
    """The page with the table of a record."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, tail = text.partition(BEGIN)
    return head + BEGIN + table(record) + END + tail.partition(END)[2]


def main(asked: list[str]) -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    for name, value in (("--most", 1), ("--seed", 1), ("--jobs", 1)):
        parser.add_argument(name, type=int, default=value)
    for name in ("--part", "--kind"):
        parser.add_argument(name, default="")
    for name in ("--write", "--docs", "--check"):
        parser.add_argument(name, action="store_true")
    arguments = parser.parse_args(asked)
    if arguments.docs:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        options = ["--check"] if arguments.check else []
        return write_or_check(PAGE, page(record), "try_mutant_kernels.py --docs", __doc__, options)
    record = measured(arguments)
    print(rest(record))
    print(table(record))
    if arguments.write:
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
