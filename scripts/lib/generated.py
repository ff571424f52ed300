"""A file that a script writes: write it, or with --check say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write_or_check(path: Path, text: str, script: str, usage: str | None, arguments: list[str]) -> int:
    """Write ``text`` to the file, or with ``--check`` compare; the exit status of the script."""
    name = path.relative_to(ROOT)
    if arguments == ["--check"]:
        current = path.exists() and path.read_text(encoding="utf-8") == text
        print(f"{name} is {'up to date' if current else f'out of date: run scripts/{script}'}")
        return 0 if current else 1
    if arguments:
        print(usage, file=sys.stderr)
        return 2
    path.write_text(text, encoding="utf-8")
    print(f"wrote {name}")
    return 0
