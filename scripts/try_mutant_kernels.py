#!/usr/bin/env python3
"""Try the checker on mutants of right kernels: what it says of each kind of fault, as a table and as a record.

Usage: python scripts/try_mutant_kernels.py [--most N] [--seed N] [--jobs N] [--part NAME] [--kind NAME] [--write]
       python scripts/try_mutant_kernels.py --docs [--check]

At most N mutants of a kind and a kernel, one unless it is said, are drawn by the seed. Each is put to ptxas first
(CUDA 13.0): one of *forms* that it takes, and one of the others that it refuses, is none, and is left out. The kernels
are those of tests/judge/kernels.py, and what nvcc makes of the CUDA of two plans. --write puts what is said of the
kernels that were tried into tests/vectors/mutant_kernels.json; --docs writes the table of docs/checking-evidence.md
from it, or says whether it is that.
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
from kernel_kinds import KINDS, TRIED_KINDS  # noqa: E402
from kernels import OUTCOMES, emitted, mutants, outcome, tried  # noqa: E402

from descriptors import check_ptx  # noqa: E402
from descriptors.check.kernel_report import Report  # noqa: E402

RECORD = ROOT / "tests" / "vectors" / "mutant_kernels.json"
PAGE = ROOT / "docs" / "checking-evidence.md"
BEGIN, END = "<!-- mutants: scripts/try_mutant_kernels.py --docs -->\n", "<!-- end of mutants -->\n"
#: Of kernels that take seconds, what is broken.
SLOW = {
    "kernel_": ("bytes", "reuse"),
    "gathered": ("order", "proxies"),
    "scaled": ("words", "tensor memory", "proxies"),
    "attention_64x64x64_sm100": ("order", "tensor memory"),
}


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


#: What nvcc compiles, by the plan of it.
COMPILED = {"kernel_sm90": "sm90", "kernel_sm100": "sm100"}


def text_of(name: str) -> str:
    """A right kernel."""
    return compiled(COMPILED[name]) if name in COMPILED else tried()[name]


@cache
def report_of(name: str) -> Report:
    """What the checker says of a right kernel."""
    return check_ptx(text_of(name))


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
    for mutant in mutants(name, text_of(name), named, kind, most, seed):
        if assembled(mutant.text) == (group == "forms"):
            said["none"] += 1
        else:
            told = outcome(mutant, report_of(name))
            verdict = next(one.verdict for one in report_of(name).properties if one.property == named)
            said[told if told != "not decided" or verdict != "incomplete" else "open before"] += 1
    return name, kind.name, said, time.process_time() - begun


def tasks(arguments: argparse.Namespace) -> list[tuple[str, str, int, int, int]]:
    """Kernel and kind of everything that is tried, and how many of it; those that take long first."""
    found = []
    for name in sorted([*tried(), *COMPILED], key=lambda one: not one.startswith(tuple(SLOW))):
        groups = next((groups for begin, groups in SLOW.items() if name.startswith(begin)), tuple(TRIED_KINDS))
        for group in groups:
            for number, kind in enumerate(TRIED_KINDS[group]):
                if arguments.part in name and arguments.kind in kind.name:
                    found.append((name, group, number, arguments.most, arguments.seed))
    return found


def measured(arguments: argparse.Namespace) -> dict[str, dict[str, Counter[str]]]:
    """What was said, by kernel and kind."""
    asked, spent, made = tasks(arguments), 0.0, 0
    wrong = [name for name in {one[0] for one in asked} if not assembled(text_of(name)) or report_of(name).errors]
    if wrong:
        raise SystemExit(f"not right: {wrong}")
    said: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    with multiprocessing.Pool(arguments.jobs) as pool:
        for place, (name, kind, counts, seconds) in enumerate(pool.imap_unordered(try_kind, asked, 8), 1):
            if counts:
                said[name][kind] = counts
            spent, made = spent + seconds, made + counts.total()
            if place % 200 == 0:
                print(f"{place} of {len(asked)}: {made} mutants, {spent:.0f} s", file=sys.stderr, flush=True)
    return said


def written(said: dict[str, dict[str, Counter[str]]], arguments: argparse.Namespace) -> None:
    """The record with what was said of these kernels and kinds in the place of what was."""
    held = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"kernels": {}}
    command = f"python scripts/try_mutant_kernels.py --most {arguments.most} --seed {arguments.seed} --write"
    kernels = held["kernels"]
    for name, kinds in said.items():
        kernels[name] = dict(sorted({**kernels.get(name, {}), **kinds}.items()))
    record = {"tool": "ptxas and nvcc 13.0", "command": command, "kernels": dict(sorted(kernels.items()))}
    RECORD.write_text(record_text(record), encoding="utf-8")


def record_text(record: dict[str, Any]) -> str:
    """The record as JSON, with a kind of a kernel in a line."""
    *head, (last, kernels) = record.items()
    rows = [
        f"{json.dumps(name)}: {{\n" + ",\n".join(f" {json.dumps(kind)}: {json.dumps(of)}" for kind, of in kinds.items())
        for name, kinds in kernels.items()
    ]
    return f'{json.dumps(dict(head))[:-1]}, "{last}": {{\n' + "\n},\n".join(rows) + "\n}}}\n"


Rows = list[tuple[str, str, Counter[str], dict[str, list[str]]]]


def rows_of(said: dict[str, dict[str, Any]]) -> Rows:
    """Property and kind, how many mutants there were of each outcome, and of which kernels but for the best."""
    found: Rows = []
    for group, kinds in TRIED_KINDS.items():
        for kind in kinds:
            counts: Counter[str] = Counter()
            where: dict[str, list[str]] = defaultdict(list)
            for name, of_kernel in said.items():
                counts.update(of_kernel.get(kind.name, {}))
                for one in of_kernel.get(kind.name, {}):
                    where[one].append(name)
            found.append((group, kind.name, counts, {one: where[one] for one in where if one != OUTCOMES[0]}))
    return found


#: What may be said, in the order of the table; what the right kernel leaves open too stands by itself.
SAID = (*OUTCOMES[:3], "open before", "clean")


def table(rows: Rows) -> str:
    """The table of the outcomes, by property."""
    lines = ["| property | kinds | variants | its rule | another rule | not decided | not decided before | clean |"]
    lines.append("|---" * (len(SAID) + 3) + "|")
    total: Counter[str] = Counter()
    for group in TRIED_KINDS:
        of_group = [counts for named, _, counts, _ in rows if named == group and set(counts) & set(SAID)]
        counts = Counter({one: sum(row[one] for row in of_group) for one in SAID})
        if group in KINDS:
            total += Counter({"kinds": len(of_group), **counts})
        else:
            lines.append(_line("*total*", total["kinds"], total))
        lines.append(_line(group, len(of_group), counts))
    return "\n".join(lines) + "\n"


def _line(name: str, kinds: int, counts: Counter[str]) -> str:
    numbers = [counts[one] for one in SAID]
    return f"| {name} | {kinds} | {sum(numbers):,} | {' | '.join(f'{one:,}' for one in numbers)} |"


def rest(rows: Rows) -> str:
    """The kinds of which some mutants were not told by their rule, and where."""
    return "\n".join(f"{group:14} {kind:55} {dict(counts)} {where}" for group, kind, counts, where in rows if where)


def page() -> str:
    """The page with the table of the record."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    head, _, tail = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return head + BEGIN + table(rows_of(record["kernels"])) + END + tail.partition(END)[2]


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
        options = ["--check"] if arguments.check else []
        return write_or_check(PAGE, page(), "try_mutant_kernels.py --docs", __doc__, options)
    said = measured(arguments)
    print(rest(rows_of(said)))
    print(table(rows_of(said)))
    if arguments.write:
        written(said, arguments)
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
