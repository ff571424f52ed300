"""Imports run downward, one way, in functions too: the table of wings and rooms is the whole architecture.

Further walls: a model of the hardware shares no code with what it judges, `descriptors` uses `layoutalg` through its
public names only (besides them two mechanisms that are no algebra, `layoutalg.frozen` and `layoutalg.files`; its
programs the console that they run in and the notation of their schemas; its oracle the service that asks the CuTe
DSL), and no child of a package bears the name of a public function, so that names can be loaded lazily.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module

import pytest
from places import ROOT
from rooms import ROOMS, floor, imports, is_folder, modules, ours, room

import descriptors
import layoutalg

HEAVY = ("numpy", "sympy", "cutlass", "click", "rich")
PACKAGES = {"layoutalg": layoutalg, "descriptors": descriptors}
MODULES = sorted(modules())

#: The wings below the commands, and the modules of each that are open to the others.
WINGS: dict[str, dict[str, str]] = {
    wing: import_module(wing).INTERFACE
    for wing in (f"descriptors.{name}" for name in "smem tmem sweep check gemm show course".split())
}

#: The doors of programs: those of `descriptors` end as those of `layoutalg` do, for both run in one console, and the
#: schemas of both are written in one notation.
CONSOLE = ("layoutalg.cli.console", "layoutalg.cli.schema")

#: The one way to make a value, to write a file and to say how to install, and the length of a message: mechanisms of
#: both packages, and no algebra, so that they are no public names.
MECHANISMS = ("layoutalg.frozen", "layoutalg.files", "layoutalg.installation", "layoutalg.messages")

#: The door of the oracle: there is one way to ask the CuTe DSL, in a process that may die, and one reader of its text.
ORACLE = "layoutalg.oracle"


def asks(module: str) -> bool:
    """Whether a module puts questions to the CuTe DSL; the commands ask through these."""
    return module.startswith("descriptors.oracle")


def test_the_table_names_every_room_and_nothing_else() -> None:
    assert len(set(ROOMS)) == len(ROOMS)
    assert not [name for name in MODULES if room(name) not in ROOMS]
    assert not [name for name in ROOMS if name not in MODULES]


def test_imports_run_downward_only() -> None:
    """At the head of a module and inside its functions alike. A face hands everything below it on, lazily."""
    up = [
        f"{module} imports {name}"
        for module in MODULES
        for name, _ in imports(module)
        if ours(name) and floor(name) > floor(module)
    ]
    assert not up


def test_there_is_no_circle_within_a_room() -> None:
    graph = {
        module: {name for name, _ in imports(module) if ours(name) and room(name) == room(module)} - {module}
        for module in MODULES
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


def test_a_room_hands_on_nothing_and_says_its_question_in_one_line() -> None:
    """Its ``__init__`` is a line; a wing's declares the interface too, which is data."""
    doors = ("descriptors.cli", "layoutalg.cli", "descriptors.oracle", ORACLE, *PACKAGES)
    for name in (one for one in MODULES if is_folder(one) and one not in doors):
        docstring, *rest = ast.parse(modules()[name]).body
        assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant), name
        text = docstring.value.value
        assert isinstance(text, str) and text.endswith(".") and "\n" not in text, name
        assert [ast.unparse(one).partition(" = ")[0] for one in rest] == ["INTERFACE"] * (name in WINGS), name


def wing_of(module: str) -> str:
    """The wing that a module stands in, or the folder or module of `descriptors` that is none."""
    return ".".join(module.split(".")[:2])


def names_taken_from_other_wings() -> Iterator[tuple[str, str, str]]:
    """Yield (module, source, name) for each name that a module imports from another wing and that is not public."""
    for module in (one for one in MODULES if one.startswith("descriptors.")):
        for source, names in imports(module):
            if wing_of(source) in WINGS and wing_of(source) != wing_of(module):
                private = [name for name in names if f"descriptors.{descriptors._HOMES.get(name)}" != source]
                yield from ((module, source, name) for name in (private if names else ["the module"]))


def test_a_wing_imports_only_public_names_and_open_modules_of_another_wing() -> None:
    private = [
        f"{module} imports {name} from {source}, which is not in INTERFACE of {wing_of(source)}"
        for module, source, name in names_taken_from_other_wings()
        if source.removeprefix(f"{wing_of(source)}.") not in WINGS[wing_of(source)]
    ]
    assert not private, "\n".join(private)


def test_another_wing_needs_every_open_module() -> None:
    """A module from which other wings import public names only, or nothing, is not open."""
    needed = {source for _, source, _ in names_taken_from_other_wings()}
    assert {f"{wing}.{name}" for wing, interface in WINGS.items() for name in interface} <= needed


def test_no_child_of_a_package_bears_the_name_of_a_public_function() -> None:
    for package, face in PACKAGES.items():
        children = {name.split(".")[1] for name in MODULES if name.startswith(f"{package}.")}
        assert not children & set(dir(face))


def test_the_algebra_does_not_import_the_descriptors() -> None:
    for module in (one for one in MODULES if one.startswith("layoutalg")):
        assert not [name for name, _ in imports(module) if name.partition(".")[0] == "descriptors"], module


def test_descriptors_use_the_algebra_through_its_public_names() -> None:
    for module in (one for one in MODULES if one.startswith("descriptors")):
        for imported, names in imports(module):
            if imported in MECHANISMS:
                continue
            if imported in CONSOLE and module.startswith("descriptors.cli"):
                continue
            if asks(module) and ORACLE in (imported, room(imported)):
                continue
            if imported.partition(".")[0] == "layoutalg":
                assert imported == "layoutalg", f"{module} reaches into {imported}"
                assert set(names) <= set(dir(layoutalg)), f"{module} imports names that are not public: {names}"


def test_a_model_of_the_hardware_shares_no_code_with_what_it_judges() -> None:
    """Classes of errors decide nothing, and a model may stand on another."""
    for module in (one for one in MODULES if one.endswith("_model")):
        taken = {name for name, _ in imports(module) if ours(name)}
        assert {name for name in taken if not name.endswith("_model")} <= {"descriptors.errors"}, module


def test_nobody_takes_a_limit_from_a_model_that_judges_it() -> None:
    """What a model knows it shows by what it reads; a number that both need stands in both."""
    for module in MODULES:
        taken = {name for source, names in imports(module) if source.endswith("_model") for name in names}
        assert not [name for name in taken if name.isupper()], module


def test_only_the_oracle_imports_the_cute_dsl() -> None:
    for module in MODULES:
        if room(module) not in ("layoutalg.oracle.dsl", "descriptors.oracle.dsl"):
            assert not [name for name, _ in imports(module) if name.partition(".")[0] == "cutlass"], module


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
    typed = {(source, name) for source, names in imports(package) for name in names if ours(source)}
    assert typed == {(f"{package}.{home}", name) for name, home in PACKAGES[package]._HOMES.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_a_face_does_not_have_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nothing'"):
        PACKAGES[package].nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_star_leaves_the_builtin_functions_alone() -> None:
    code = "from layoutalg import *; from descriptors import *; print(list(filter(None, [1, 0])), slice_, derive)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout[:3]) == (0, "[1]")


def test_the_doors_of_programs_lead_to_nothing_of_the_algebra() -> None:
    assert not [
        name for door in CONSOLE for name, _ in imports(door) if ours(name) and name not in (*CONSOLE, *MECHANISMS)
    ]
