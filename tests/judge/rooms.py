"""The wings of the house and their rooms, lowest floor first.

A room is a folder of a package and answers one question, which its ``__init__`` says. A module may import what
stands in its own room or in one above it in this table, never what stands below; within a room there is no circle. A
line with a single module is a room of its own, or the public face of a package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from places import ROOT

ROOMS = (
    *(
        "layoutalg.frozen",
        "layoutalg.files",
        "layoutalg.errors",
        "layoutalg.installation",
        "layoutalg.messages",
        "layoutalg.tuples",
        "layoutalg.drawing",
    ),
    *("layoutalg.layouts", "layoutalg.algebra"),
    *(
        "layoutalg.analysis",
        "layoutalg.fragments",
        "layoutalg.compilers",
        "layoutalg.pictures",
        "layoutalg.notation",
        "layoutalg.explanations",
        "layoutalg.dsl_programs",
    ),
    *("layoutalg.laws", "layoutalg.oracle", "layoutalg.oracle.dsl", "layoutalg", "layoutalg.cli", "layoutalg.__main__"),
    *("descriptors.errors", "descriptors.answers", "descriptors.targets", "descriptors.text", "descriptors.records"),
    *("descriptors.smem.operands", "descriptors.smem.words", "descriptors.smem.proof", "descriptors.smem.instructions"),
    *("descriptors.smem.derivation", "descriptors.smem.debug", "descriptors.smem.claims", "descriptors.smem.tma"),
    *("descriptors.smem.emitters", "descriptors.smem", "descriptors.tmem"),
    *("descriptors.check.ptx", "descriptors.check.execution"),
    *("descriptors.check", "descriptors.gemm", "descriptors.gemm.programs"),
    *("descriptors.sweep", "descriptors.show.pictures", "descriptors.show.stages"),
    *("descriptors.show.browser", "descriptors.show.explorer", "descriptors.show", "descriptors.oracle"),
    *("descriptors.oracle.dsl", "descriptors.course.judges", "descriptors.course"),
    "descriptors",
    *("descriptors.cli", "descriptors.__main__"),
)


@cache
def modules() -> dict[str, str]:
    """The source of every module of the two packages, by its dotted name."""
    found = {}
    for package in ("layoutalg", "descriptors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path.read_text(encoding="utf-8")
    return found


@cache
def imports(module: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every import of a module, at its head or inside a function: what it imports, and the names taken from it."""
    return tuple(_imports(module))


def _imports(module: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.walk(ast.parse(modules()[module])):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute here"
            source = node.module or ""
            for alias in node.names:
                full = f"{source}.{alias.name}"
                yield (full, ()) if full in modules() else (source, (alias.name,))


def ours(name: str) -> bool:
    """Whether a dotted name is of one of the two packages."""
    return name.partition(".")[0] in ("layoutalg", "descriptors")


def is_folder(module: str) -> bool:
    """Whether a module is the head of a folder, or the face of a package."""
    return any(name.startswith(f"{module}.") for name in modules())


def room(module: str) -> str:
    """The room that a module stands in; a module that is a room of its own is that."""
    return module if module in ROOMS else module.rpartition(".")[0]


def floor(module: str) -> int:
    """The place of a module's room in the table."""
    return ROOMS.index(room(module))
