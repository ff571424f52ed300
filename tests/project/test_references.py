"""What a docstring or a page refers to is there: names of modules and functions, paths of files, scripts."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from places import ROOT
from rooms import ROOMS, is_folder, modules

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PROBES = sorted((ROOT / "tests" / "hardware" / "probes").glob("*.py"))
SOURCES = {**modules()} | {f"probes.{path.stem}": path.read_text(encoding="utf-8") for path in PROBES}


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def in_scope(module: str, name: str) -> bool:
    """Whether a bare name is the module's own or imported there, an attribute of one of its classes, or public."""
    scope, first = import_module(module), name.split(".")[0]
    classes = [value for value in vars(scope).values() if isinstance(value, type)]
    return any(hasattr(place, first) for place in (scope, *classes, *map(import_module, ("layoutalg", "descriptors"))))


def test_every_name_that_a_docstring_refers_to_is_there() -> None:
    missing = []
    for module, source in SOURCES.items():
        for name in re.findall(r":(?:mod|func|class|data|attr|meth|exc):`~?([\w.]+)`", source):
            ours = name.split(".")[0] in ("layoutalg", "descriptors", "probes")
            missing += [] if (resolves(name) if ours else in_scope(module, name)) else [f"{module}: {name}"]
        for name in re.findall(r"``?((?:layoutalg|descriptors|probes)(?:\.\w+)+)``?", source):
            missing += [] if resolves(name) else [f"{module}: {name}"]
    assert not missing


#: What cites the manual: modules, pages, lessons, scripts and tests, but for the page that is about its errors.
CITING = [
    *(path for folder in ("layoutalg", "descriptors", "scripts", "tests") for path in (ROOT / folder).rglob("*.py")),
    *(path for path in [*PAGES, *(ROOT / "course").rglob("*.md")] if path.name != "errata.md"),
]


def test_the_manual_is_cited_by_title_and_version_since_its_numbers_move() -> None:
    left = {}
    for path in CITING:
        if path.name in ("demonstrations.py", "test_references.py"):  # the errors, and this
            continue
        text = re.sub(r"\n(#:?)? *", " ", path.read_text(encoding="utf-8"))
        left[str(path)] = re.findall(r"\b9\.7\.\d+[.\d]*|PTX ISA ?[,;(][^)]{,40}", text)
    assert not {path: numbers for path, numbers in left.items() if numbers}


def test_every_path_and_name_in_a_page_is_there() -> None:
    assert not [missing for page in PAGES for missing in missing_in(page)]


#: What the wheel lays into an environment, as C++ includes it.
HATCH = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
INCLUDED = [place.removeprefix("include/") for place in HATCH["targets"]["wheel"]["shared-data"].values()]


def missing_in(page: Path) -> list[str]:
    """What a page refers to that is not there."""
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"(?<![\w/.-])((?:layoutalg|descriptors|tests|scripts|docs)/[\w/.-]*\w)", text)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)  # a tensor in code looks like a link
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose)
    paths = [path for path in paths if path not in INCLUDED]
    missing = [path for path in paths if not (ROOT / path).exists() and not list(ROOT.glob(f"{path}*"))]
    missing += [link for link in links if not (page.parent / link).exists()]
    names = re.findall(r"`((?:layoutalg|descriptors)(?:\.(?!toml`)\w+)+)`", text)  # descriptors.toml is a user's file
    missing += [name for name in names if not resolves(name)]
    return [f"{page.name}: {one}" for one in missing]


def test_the_map_names_every_room_and_nothing_else() -> None:
    page = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    assert re.findall(r"^((?:layoutalg|descriptors)/\S*)", page, re.MULTILINE) == [place(room) for room in ROOMS]


def place(room: str) -> str:
    """Where a room of the table is: a module, the face of a package, or a folder."""
    path = room.replace(".", "/")
    if room in ("layoutalg", "descriptors"):
        return f"{path}/__init__.py"
    return f"{path}/" if is_folder(room) else f"{path}.py"


def test_every_reference_was_looked_at() -> None:
    assert sum(len(re.findall(r":(?:mod|func|class):`", text)) for text in SOURCES.values()) > 50


#: Where modules have no law of their own: commands, and what asks the CuTe DSL, whose answers are evidence and no law.
WITHOUT_LAWS = (
    *("layoutalg.cli", "layoutalg.__main__", "descriptors.cli", "descriptors.__main__"),
    *("layoutalg.oracle.dsl", "layoutalg.oracle.expressions", "descriptors.oracle.dsl", "descriptors.oracle.words"),
)


def test_the_head_of_a_module_runs_its_law() -> None:
    """Every module but those: a room's own ``__init__`` and the two faces hold no definitions."""
    lawful = [one for one in modules() if not is_folder(one) and "." in one and not one.startswith(WITHOUT_LAWS)]
    assert not [one for one in lawful if ">>> " not in (ast.get_docstring(ast.parse(modules()[one])) or "")]
