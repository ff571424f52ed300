#!/usr/bin/env python3
"""Runs every command that the README and the pages of docs/ show, and writes its output back into them.

    .venv/bin/python scripts/refresh_pages.py

The tests compare with the same function, so that what a page shows is what the commands print.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

#: How a command of a page is run here: by this Python, without making an environment.
PROGRAMS = {
    "layoutalg": ["-m", "layoutalg"],
    "descriptors": ["-m", "descriptors"],
    "scripts/derive": ["-m", "descriptors", "derive", "--steps"],
    "scripts/evidence.py": ["scripts/evidence.py"],
    "scripts/bench_gemm": ["scripts/bench_gemm"],
}
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def sessions(text: str) -> list[tuple[str, str]]:
    """Every command that a text shows, with the output it shows, of the programs that can be run here."""
    pairs = [pair for block in _BLOCK.findall(text) for pair in _COMMAND.findall(block)]
    return [(command, output) for command, output in pairs if shlex.split(command)[0] in PROGRAMS]


def run(command: str) -> str:
    """What a command prints, standard error last."""
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, *PROGRAMS[program], *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return (done.stdout + done.stderr).rstrip("\n") + "\n"


def pages() -> list[Path]:
    """The pages that show commands: the README, those of docs/ that are written by hand, and drafts."""
    docs = ROOT / "docs"
    paths = [
        ROOT / "README.md",
        *sorted(docs.glob("*.md")),
        docs / "skill" / "SKILL.md",
        *sorted(docs.glob("drafts/*")),
    ]
    return [path for path in paths if "<!-- Written by" not in path.read_text(encoding="utf-8")]


def main() -> None:
    for path in pages():
        before = text = path.read_text(encoding="utf-8")
        for command, output in sessions(text):
            text = text.replace(f"$ {command}\n{output}", f"$ {command}\n{run(command)}")
        if text != before:
            path.write_text(text, encoding="utf-8")
            print(f"refreshed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    end(main)
