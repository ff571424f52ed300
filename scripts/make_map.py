#!/usr/bin/env python3
"""Write docs/map.md, the rooms of the two packages and what each module is, from the layering table and the docstrings.

Usage: python scripts/make_map.py [--check]      --check only compares, and exits 1 if the page is out of date
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402
from rooms import ROOMS, imports, modules, ours, room  # noqa: E402

PAGE = ROOT / "docs" / "map.md"
INTRODUCTION = """\
<!-- Written by scripts/make_map.py. Do not edit. -->

# The map

Where is the rule for X? A folder is a *room* and answers one question; a module in it is one definition, or one table.
The rooms stand lowest first: a module imports only what stands before it on this page, never what comes after, not even
inside a function (`tests/project/test_layering.py`). Tests mirror the rooms: `layoutalg/algebra/divide.py` is tested by
`tests/layoutalg/algebra/test_divide.py`.

`import layoutalg` and `import descriptors` load nothing but the names that are asked for.
"""
PACKAGES = {
    "layoutalg": "## `layoutalg`: the algebra\n\nIt knows nothing of descriptors; what it knows of GPUs, shared-memory"
    " banks, is in the room of analysis.",
    "descriptors": "## `descriptors`: the hardware\n\nIt uses `layoutalg` by its public names alone, and its oracle.",
}


def head(module: str) -> str:
    """The first sentence of a module's docstring, its markup made plain."""
    doc = ast.get_docstring(ast.parse(modules()[module])) or ""
    line = " ".join(doc.split("\n\n", 1)[0].split())
    text = re.split(r"\.(?:\s|$)", line, maxsplit=1)[0]
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")


def uses(name: str) -> str:
    """The rooms that a room imports from, in the order of the table."""
    inside = [module for module in modules() if room(module) == name]
    found = {room(target) for module in inside for target, _ in imports(module) if ours(target)} - {name}
    return ", ".join(f"`{other}`" for other in ROOMS if other in found)


def section(name: str, names: list[str]) -> list[str]:
    """One room: its question, what it stands on, and a line for each module."""
    folder = name.replace(".", "/")
    if not names:
        path = f"{folder}/__init__.py" if name in PACKAGES else f"{folder}.py"
        return ["", f"**`{path}`**: {head(name)}."]
    below = uses(name)
    lines = ["", f"### `{folder}/`", "", head(name) + "." + (f" On {below}." if below else "")]
    return [*lines, "", *(f"- [`{one}`](../{folder}/{one}.py): {head(f'{name}.{one}')}" for one in names)]


def page() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for package, title in PACKAGES.items():
        lines.append(title)
        for name, names in ROOMS.items():
            if name.partition(".")[0] == package and not name.endswith("__main__"):
                lines += section(name, names.split())
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    return write_or_check(PAGE, page(), "make_map.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
