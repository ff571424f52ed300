"""Installed means reachable: from a public name, a command or ``python -m``, by imports or by the name of a module.

Some modules are loaded by name: a command by the group that lists it or the distribution that declares it, what answers
in the process of the CuTe DSL by who asks there, what an answer shows by the table of answers, and what a page of the
course asks by the page, which the builder of the course writes.
"""

from __future__ import annotations

import ast
import tomllib

from places import ROOT
from rooms import imports, modules

from descriptors.answers import ANSWERS

#: Public names are those of the faces; the programs are run by these, and the pages of the course name their answers.
DOORS = ("layoutalg", "descriptors", "layoutalg.__main__", "descriptors.__main__")
PAGE = "descriptors.course.page"


def declared() -> set[str]:
    """The modules whose commands the distribution declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {place.partition(":")[0] for place in project["entry-points"]["layoutalg.commands"].values()}


def named(source: str) -> set[str]:
    """The modules whose names stand in a source as texts of their own."""
    texts = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and text in modules()}


def leads_to(module: str) -> set[str]:
    """What a module loads: what it imports or names, and the folders that it stands in."""
    folders = {module[:at] for at, sign in enumerate(module) if sign == "."}
    tellers = {f"descriptors.{name.partition(':')[0]}" for row in ANSWERS.values() for name in row.split()}
    by_name = tellers if module == "descriptors.answers" else set()
    return folders | by_name | {name for name, _ in imports(module) if name in modules()} | named(modules()[module])


def test_every_installed_module_is_reached() -> None:
    assert PAGE in named((ROOT / "course" / "builder" / "site.py").read_text(encoding="utf-8"))
    reached: set[str] = set()
    waiting = {*DOORS, *declared(), PAGE}
    while waiting:
        module = waiting.pop()
        reached.add(module)
        waiting |= leads_to(module) - reached
    assert sorted(set(modules()) - reached) == []
