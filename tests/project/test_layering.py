"""Imports run downward, one way, in functions too: the table of rooms is the whole architecture.

Further walls: a model of the hardware shares no code with what it judges, `descriptors` uses `layoutalg` through its
public names only (its programs one module more: the console that they run in; its oracle the service that asks the CuTe
DSL), and no child of a package bears the name
of a public function, so that names can be loaded lazily.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from rooms import FLOORS, ROOMS, imports, modules, ours, room

import descriptors
import layoutalg

HEAVY = ("numpy", "sympy", "cutlass", "click", "rich")
MODULES = sorted(modules())
PACKAGES = {"layoutalg": layoutalg, "descriptors": descriptors}

#: Modules of a room, lines of a module and of a file of tests, and lines of a function without its head and docstring.
MOST_MODULES, MOST_LINES, MOST_LINES_OF_TESTS, MOST_LINES_OF_A_BODY = 12, 300, 400, 40

#: The one door: programs of `descriptors` end as those of `layoutalg` do, for both run in one console.
CONSOLE = "layoutalg.cli.console"

#: The door of the oracle: there is one way to ask the CuTe DSL, in a process that may die, and one reader of its text.
ORACLE = "layoutalg.oracle"
ASKING = ("descriptors.oracle", "descriptors.oracle.dsl", "descriptors.course")


def is_program(module: str) -> bool:
    """Whether a module is what a person calls: a command, or what the scripts of the course run."""
    return room(module).startswith("descriptors.cli") or module == "descriptors.course.script"


def asks(module: str) -> bool:
    """Whether a module puts questions to the CuTe DSL; the commands ask through these."""
    return module == "descriptors.oracle" or room(module) in ASKING


def test_the_table_of_rooms_names_every_module_and_nothing_else() -> None:
    assert len(set(FLOORS)) == len(FLOORS)
    assert sorted(FLOORS) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downward_only(module: str) -> None:
    """At the head of a module and inside its functions alike: there are no exceptions."""
    if module in PACKAGES:  # the face hands everything on, lazily: it stands above the rooms and below the commands
        return
    for imported, _ in imports(module):
        if ours(imported):
            assert FLOORS.index(imported) < FLOORS.index(module), f"{module} imports {imported}, which is not below it"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_face_imports_only_its_own_rooms(package: str) -> None:
    for imported, _ in imports(package):
        assert not ours(imported) or FLOORS.index(imported) < FLOORS.index(package)


@pytest.mark.parametrize("name", [name for name, names in ROOMS.items() if names])
def test_a_room_hands_on_nothing_and_says_its_question_in_one_line(name: str) -> None:
    if name in ("descriptors.cli", "layoutalg.cli", "descriptors.oracle", ORACLE):
        return  # the doors of the two commands, and the oracles, which are used by their own names
    source = modules()[name].strip()
    assert source.startswith('"""') and source.endswith('."""')
    assert "\n" not in source


@pytest.mark.parametrize("package", PACKAGES)
def test_no_child_of_a_package_bears_the_name_of_a_public_function(package: str) -> None:
    children = {name.split(".")[1] for name in MODULES if name.startswith(f"{package}.")}
    assert not children & set(dir(PACKAGES[package]))


@pytest.mark.parametrize("name", [name for name, names in ROOMS.items() if names])
def test_a_room_has_at_most_twelve_modules(name: str) -> None:
    """A room that no longer fits is divided, not stretched."""
    assert len(ROOMS[name].split()) <= MOST_MODULES


@pytest.mark.parametrize("module", [module for module in MODULES if module not in PACKAGES])
def test_a_module_can_be_read_in_one_sitting(module: str) -> None:
    """The faces are tables of names, and as long as there are names."""
    assert modules()[module].count("\n") <= MOST_LINES


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_of_tests_can_be_read_in_one_sitting(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= MOST_LINES_OF_TESTS


@pytest.mark.parametrize("module", MODULES)
def test_a_function_is_no_longer_than_a_page(module: str) -> None:
    for node in ast.walk(ast.parse(modules()[module])):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first, last = node.body[ast.get_docstring(node) is not None :][:1], node.body[-1].end_lineno
            length = 0 if not first or last is None else last + 1 - first[0].lineno
            assert length <= MOST_LINES_OF_A_BODY, f"{node.name} has a body of {length} lines"


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("layoutalg")])
def test_the_algebra_does_not_import_the_descriptors(module: str) -> None:
    assert not [name for name, _ in imports(module) if name.partition(".")[0] == "descriptors"]


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("descriptors")])
def test_descriptors_use_the_algebra_through_its_public_names(module: str) -> None:
    for imported, names in imports(module):
        if (imported == CONSOLE and is_program(module)) or (asks(module) and ORACLE in (imported, room(imported))):
            continue
        if imported.partition(".")[0] == "layoutalg":
            assert imported == "layoutalg", f"{module} reaches into {imported}"
            assert set(names) <= set(dir(layoutalg)), f"{module} imports names that are not public: {names}"


@pytest.mark.parametrize("module", [module for module in MODULES if module.endswith("_model")])
def test_a_model_of_the_hardware_shares_no_code_with_what_it_judges(module: str) -> None:
    """Classes of errors decide nothing, and a model may stand on another."""
    taken = {name for name, _ in imports(module) if ours(name)}
    assert {name for name in taken if not name.endswith("_model")} <= {"descriptors.errors"}


@pytest.mark.parametrize("module", MODULES)
def test_nobody_takes_a_limit_from_a_model_that_judges_it(module: str) -> None:
    """What a model knows it shows by what it reads; a number that both need stands in both."""
    taken = {name for source, names in imports(module) if source.endswith("_model") for name in names}
    assert not [name for name in taken if name.isupper()]


@pytest.mark.parametrize("module", MODULES)
def test_only_the_oracle_imports_the_cute_dsl(module: str) -> None:
    if room(module) not in ("layoutalg.oracle.dsl", "descriptors.oracle.dsl"):
        assert not [name for name, _ in imports(module) if name.partition(".")[0] == "cutlass"]


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_none_of_the_heavy_libraries(package: str) -> None:
    code = f"import sys, {package}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_loaded_when_it_is_asked_for_and_is_that_of_its_module(package: str) -> None:
    """In a fresh interpreter, where none is loaded yet."""
    code = f"""
import sys, {package} as face
from importlib import import_module
for name, home in face._HOMES.items():
    taken = getattr(face, name)
    assert taken is not None and taken is getattr(import_module(f"{package}.{{home}}"), name), name
assert set(face._HOMES) == set(dir(face)) - {{"__version__"}}
assert set(face.__all__) == set(face._HOMES) - {{"filter"}}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("package", PACKAGES)
def test_readers_of_types_are_told_the_same_names_as_readers_of_the_face(package: str) -> None:
    told = {(source, name) for source, names in imports(package) for name in names if ours(source)}
    assert told == {(f"{package}.{home}", name) for name, home in PACKAGES[package]._HOMES.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_a_face_does_not_have_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nothing'"):
        PACKAGES[package].nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_star_leaves_the_builtin_functions_alone() -> None:
    code = "from layoutalg import *; from descriptors import *; print(list(filter(None, [1, 0])), slice_, derive)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout[:3]) == (0, "[1]")


def test_the_door_to_the_console_is_used_and_leads_to_nothing_of_the_algebra() -> None:
    through = {module for module in MODULES for name, _ in imports(module) if name == CONSOLE}
    assert {".".join(room(m).split(".")[:2]) for m in through} == {
        "layoutalg.cli",
        "descriptors.cli",
        "descriptors.course",
    }
    assert not [name for name, _ in imports(CONSOLE) if ours(name)]
