#!/usr/bin/env python3
"""Bring tests/vectors/forms_ptxas.json up to date: on which targets NVIDIA's assembler takes each of its forms.

Usage: python scripts/make_forms_ptxas.py PTXAS [BODIES]      needs no GPU; BODIES has further forms, one a line

Forms are put to the assembler a hundred in a text, a line each: it tells every error with its line. What it
takes is asked for once more without the others, since it looks at some things only where nothing else is wrong.
Some rows have a first version too: those of ``since``, each on its target.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

RECORD = ROOT / "tests" / "vectors" / "forms_ptxas.json"
#: Forms that are put together into one text: the assembler is slow with long ones.
CHUNK = 100
_ERROR = re.compile(r"line (\d+);\s*(?:error|fatal)\s*:")
_RANGE = re.compile(r"%([a-z]+)(\d+)\.\.%\1(\d+)")


def spelled(body: str) -> str:
    """A body with its ranges of registers written out, on one line."""
    return _RANGE.sub(lambda m: ",".join(f"%{m[1]}{n}" for n in range(int(m[2]), int(m[3]) + 1)), body)


def taken(tool: str, target: str, version: str, frame: str, bodies: list[str]) -> list[bool]:
    """Which bodies an assembler takes on a target."""
    if not bodies:
        return []
    text = frame.format(version=version, target=target, body="\n".join(map(spelled, bodies)))
    first = frame.partition("{body}")[0].count("\n") + 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forms.ptx"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [tool, f"-arch={target}", "-O0", "-o", str(path.with_suffix(".cubin")), str(path)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    told = done.stdout + done.stderr
    wrong = {int(line) - first for line in _ERROR.findall(told)}
    if not done.returncode:
        return [True] * len(bodies)
    if len(bodies) == 1:
        return [False]
    if not wrong or "arsing error" in told:  # nothing behind a syntax error is read, and some errors have no line
        half = len(bodies) // 2
        return [one for row in (bodies[:half], bodies[half:]) for one in taken(tool, target, version, frame, row)]
    rest = iter(taken(tool, target, version, frame, [one for n, one in enumerate(bodies) if n not in wrong]))
    return [n not in wrong and next(rest) for n in range(len(bodies))]


def write(record: dict[str, Any]) -> None:
    """The record, a row a line."""
    text = json.dumps({name: value for name, value in record.items() if name not in ("since", "rows")}, indent=1)[:-2]
    for name in ("since", "rows"):
        text += f',\n "{name}": [\n' + ",\n".join(json.dumps(row) for row in record[name]) + "\n]"
    RECORD.write_text(f"{text}}}\n", encoding="utf-8")


def first_versions(tool: str, record: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The forms of ``since``, each with the first version of PTX in which its target has it."""
    for row in record["since"]:
        ask = (
            one for one in record["versions"] if all(taken(tool, row["target"], one, record["frame"], [row["body"]]))
        )
        yield {"target": row["target"], "version": next(ask, ""), "body": row["body"]}


def main(arguments: list[str]) -> int:
    tool, *files = arguments
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    more = [line for name in files for line in Path(name).read_text(encoding="utf-8").splitlines()]
    bodies = list(dict.fromkeys([*(row["body"] for row in record["rows"]), *more]))
    found = re.search(r"V[0-9.]+", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    record["tool"] = f"ptxas {found.group() if found else '?'}"
    chunks = [bodies[n : n + CHUNK] for n in range(0, len(bodies), CHUNK)]
    ask = record["version"], record["frame"]
    columns = {t: [one for chunk in chunks for one in taken(tool, t, *ask, chunk)] for t in record["targets"]}
    record["rows"] = [
        {"body": body, "taken": " ".join(t for t in record["targets"] if columns[t][n])}
        for n, body in enumerate(bodies)
    ]
    record["since"] = list(first_versions(tool, record))
    write(record)
    print(f"wrote {RECORD.name}, {len(bodies)} forms")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
