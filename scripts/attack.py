#!/usr/bin/env python3
"""Attack the project with random and hostile input, and say what does not hold.

    .venv/bin/python scripts/attack.py                          # every fuzzer, 1,000 cases each
    .venv/bin/python scripts/attack.py algebra --minutes 10 --seed 7
    .venv/bin/python scripts/attack.py commands --cases 200 --json

``algebra`` holds each operation against its definition, ``derivations`` walks the words of derived tiles, ``commands``
calls both programs with hostile arguments, ``api`` every public callable with garbage. A line on standard output for
each finding, with what to paste to see it again; progress goes to standard error. Exit status 1 if something was found
that ``scripts/lib/attacks/known.json`` does not know.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from attacks.findings import attack, known_findings  # noqa: E402
from ended import end  # noqa: E402

FUZZERS = ("algebra", "derivations", "commands", "api")


def run(name: str, options: argparse.Namespace) -> int:
    """Run one fuzzer and return how many new findings it has; the same kind of finding is told three times."""
    fuzzer = import_module(f"attacks.{name}")
    counts: dict[str, int] = {}
    new = known = cases = 0
    for cases, finding in enumerate(
        attack(fuzzer, options.seed, options.cases, options.minutes, known_findings()), start=1
    ):
        if cases % 100 == 0 and sys.stderr.isatty():
            print(f"{name}: {cases} cases, {new} new, {known} known", end="\r", file=sys.stderr)
        if finding is None:
            continue
        new, known = new + (not finding.known), known + bool(finding.known)
        operation = re.search(r"\w+(?=\()", str(finding.case))
        kind = finding.known or f"{finding.found.split(':')[0]} {operation[0] if operation else ''}"
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= (1 if finding.known else 3) or options.json:
            print(json.dumps(finding.record()) if options.json else finding, flush=True)
    print(f"{name}: {cases} cases, {new} new, {known} known", file=sys.stderr)
    return new


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("fuzzer", nargs="?", default="all", choices=[*FUZZERS, "all"])
    parser.add_argument("--seed", type=int, default=1, help="of the random cases; the same cases for the same seed")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="for each fuzzer")
    length.add_argument("--cases", type=int, help="for each fuzzer [default: 1000]")
    parser.add_argument("--json", action="store_true", help="a JSON object a finding, all of them")
    options = parser.parse_args()
    return int(sum([run(name, options) for name in (FUZZERS if options.fuzzer == "all" else [options.fuzzer])]) > 0)


if __name__ == "__main__":
    end(main)
