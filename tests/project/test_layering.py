"""Imports run downward, one way: the table of rooms below is the whole architecture, and a module not in it fails.

A module may import from the rooms listed before its own. Two further walls: the read model shares no code with what it
judges, and `descriptors` uses `layoutalg` through its public names only.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

import layoutalg

# Lowest first, any order that holds: the table of rooms takes its place when all of them stand.
FLOORS = """
    layoutalg.errors layoutalg.tuples.polynomial layoutalg.tuples.leaf layoutalg.tuples.int_tuple
    layoutalg.drawing.grid layoutalg.drawing.html layoutalg.tuples.frozen layoutalg.tuples.basis
    layoutalg.layouts.layout layoutalg.layouts.flat layoutalg.layouts.jumps layoutalg.layouts.plain_composition
    layoutalg.layouts.swizzle layoutalg.layouts.composed layoutalg.layouts.modes layoutalg.algebra.coalesce
    layoutalg.algebra.complement layoutalg.algebra.composition layoutalg.algebra.divide layoutalg.layouts.offsets
    layoutalg.layouts.cosize layoutalg.algebra.inverse layoutalg.algebra.make layoutalg.algebra.products
    layoutalg.algebra.rearrange layoutalg.algebra.recast layoutalg.algebra.slicing layoutalg.algebra.symbols
    layoutalg.algebra.tiling layoutalg.analysis.banks layoutalg.analysis.f2_matrix layoutalg.analysis.bank_ranks
    layoutalg.analysis.to_f2 layoutalg.analysis.from_f2 layoutalg.analysis.linear_layout
    layoutalg.analysis.swizzle_search layoutalg.analysis.triton layoutalg.layouts.memory layoutalg.layouts.notation
    layoutalg descriptors.errors descriptors.operands.operand descriptors.instructions.tables
    descriptors.instructions.rules descriptors.instructions.operands descriptors.operands.swizzled
    descriptors.operands.canonical descriptors.operands.partition descriptors.proof.read_model
    descriptors.proof.addresses descriptors.text descriptors.proof.mismatch descriptors.words.bitfield
    descriptors.words.sm100 descriptors.words.sm90 descriptors.words.descriptor descriptors.debug.fit
    descriptors.operands.explicit descriptors.debug.candidates descriptors.words.tensor_map
    descriptors.debug.reading descriptors.words.address descriptors.debug.warnings descriptors.debug.decode
    descriptors.proof.picture descriptors.debug.diff descriptors.derivation.advance
    descriptors.derivation.derivation descriptors.derivation.arguments descriptors.derivation.verify
    descriptors.operands.atoms descriptors.derivation.derive descriptors.emitters.recipe descriptors.emitters.cuda
    descriptors.emitters.cutedsl descriptors.emitters.ptx descriptors.emitters.python descriptors.emitters.emit
    descriptors.instructions.checks descriptors.words.instruction descriptors.instructions.idesc
    descriptors.operands.match descriptors.output.explanation descriptors.tma.limits descriptors.proof.copy_model
    descriptors.tma.plan descriptors.tma.planner descriptors.tma descriptors descriptors.cli.command
    descriptors.__main__ descriptors.cli descriptors.sweeps.atlas_files descriptors.sweeps.lattice
    descriptors.sweeps.atlas descriptors.cli.atlas descriptors.cli.options descriptors.output.debug
    descriptors.cli.debug descriptors.derivation.symbolic descriptors.output.closed_forms
    descriptors.output.derivation descriptors.cli.derive descriptors.sweeps.formulas descriptors.cli.formulas
    descriptors.output.instructions descriptors.cli.instructions descriptors.sweeps.finding
    descriptors.output.survey descriptors.sweeps.producer descriptors.sweeps.search descriptors.cli.search
    descriptors.output.plan descriptors.cli.tma descriptors.course descriptors.oracle.installed descriptors.oracle
    descriptors.oracle.service descriptors.oracle.algebra descriptors.oracle.words descriptors.course.claims
    descriptors.course.article descriptors.debug descriptors.derivation descriptors.emitters
    descriptors.instructions descriptors.operands descriptors.oracle.dsl descriptors.oracle.reader
    descriptors.oracle.dsl.algebra descriptors.oracle.dsl.names descriptors.oracle.dsl.emitted
    descriptors.oracle.dsl.instructions descriptors.oracle.dsl.words descriptors.oracle.emitted
    descriptors.oracle.instructions descriptors.oracle.worker descriptors.output descriptors.proof
    descriptors.sweeps descriptors.words layoutalg.cli.analysis layoutalg.cli.expression layoutalg.cli.output
    layoutalg.drawing.text layoutalg.cli.command layoutalg.__main__ layoutalg.algebra layoutalg.analysis
    layoutalg.cli layoutalg.drawing layoutalg.layouts layoutalg.tuples
""".split()
DOORS: set[tuple[str, str]] = set()

HEAVY = ("numpy", "sympy", "cutlass", "click", "rich")


def modules() -> Iterator[tuple[str, Path]]:
    for package in ("layoutalg", "descriptors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def room(module: str) -> str:
    """The row of the table that a module stands in: its own, or its package's for the parts of one room."""
    while module not in FLOORS and "." in module:
        module = module.rpartition(".")[0]
    return module


def imports(module: str) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Every import of a module: what it imports, the names taken from it, and whether it is inside a function."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, (), id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute here"
            source = node.module or ""
            for alias in node.names:
                full = f"{source}.{alias.name}"
                # A module, unless the package has given its name to a function: `from layoutalg import coalesce`.
                is_module = full in MODULES and not (source == "layoutalg" and alias.name in layoutalg.__all__)
                yield (full, (), id(node) in inside) if is_module else (source, (alias.name,), id(node) in inside)


def ours(name: str) -> bool:
    return name.partition(".")[0] in ("layoutalg", "descriptors")


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_row_in_the_table_of_rooms(module: str) -> None:
    listed = module in FLOORS or (module.startswith("descriptors.oracle.") and "descriptors.oracle" in FLOORS)
    assert listed, f"{module} is in no room: give it its place in FLOORS"


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downward_only(module: str) -> None:
    for imported, _, lazy in imports(module):
        if not ours(imported) or (lazy and (module, imported) in DOORS):
            continue
        here, there = room(module), room(imported)
        if here == there and here != module:
            continue  # two parts of one room
        assert FLOORS.index(there) < FLOORS.index(here), f"{module} imports {imported}, which is not below it"


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("layoutalg")])
def test_the_algebra_knows_nothing_of_hardware(module: str) -> None:
    assert not [name for name, _, _ in imports(module) if name.partition(".")[0] == "descriptors"]


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("descriptors")])
def test_descriptors_use_the_algebra_through_its_public_names(module: str) -> None:
    for imported, names, _ in imports(module):
        if imported.partition(".")[0] == "layoutalg":
            assert imported == "layoutalg", f"{module} reaches into {imported}"
            assert set(names) <= set(layoutalg.__all__), f"{module} imports names that are not public: {names}"


def test_the_read_model_shares_no_code_with_what_it_judges() -> None:
    forbidden = (
        "layoutalg",
        "descriptors.canonical",
        "descriptors.derive",
        "descriptors.operands",
        "descriptors.derivation",
    )
    seen: set[str] = set()
    todo = ["descriptors.proof.read_model"]
    while todo:
        module = todo.pop()
        seen.add(module)
        if module != "descriptors.errors":  # classes of errors, which decide nothing; they extend the algebra's
            todo.extend(name for name, _, _ in imports(module) if ours(name) and name not in seen)
    assert not [module for module in seen if module.startswith(forbidden)]


@pytest.mark.parametrize("module", MODULES)
def test_only_the_oracle_imports_the_cute_dsl(module: str) -> None:
    if not module.startswith("descriptors.oracle"):
        assert not [name for name, _, _ in imports(module) if name.partition(".")[0] == "cutlass"]


@pytest.mark.parametrize("package", ["layoutalg", "descriptors"])
def test_importing_a_package_loads_none_of_the_heavy_libraries(package: str) -> None:
    code = f"import sys, {package}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == []
