"""Programs for the CuTe DSL run here with only their import changed, and print the same bytes.

The two programs are ours: they make the five calls of the worked examples, print every step and assert every number,
as scripts that go with a lesson do.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from places import ROOT

from descriptors import oracle

OURS, DSL = "import layoutalg as cute", "import cutlass.cute as cute"

KMAJOR = """
{imported}

@cute.jit
def main():
    atom = cute.make_layout((8, 64), stride=(64, 1))
    tile = cute.tile_to_shape(atom, (128, 128), order=(0, 1))
    print("tile        ", tile, "elements:", cute.size(tile), "K:", cute.size(tile, mode=[1]))
    split = cute.zipped_divide(tile, (64, 16))
    print("partitioned ", split)
    wide = cute.recast_layout(128, 16, split)
    print("in 16 bytes ", wide)
    form = cute.logical_divide(wide[0], (8, 1))
    print("canonical   ", form, "shape", form.shape, "stride", form.stride)
    sbo, lbo = form.stride[0][1], form.stride[1][1]
    print(f"SBO {{sbo}} = {{sbo * 16}} B, LBO {{lbo}} = {{lbo * 16}} B")
    advance = cute.make_layout(wide[1].shape, stride=wide[1].stride)
    print("starts      ", [[16 * advance((m, k)) for k in range(8)] for m in range(2)])
    print("advance     ", advance, advance((1, 5)))
    assert (sbo, lbo) == (64, 1)
    assert str(form) == "((8,8),(1,2)):((8,64),(0,1))"
    assert str(advance) == "(2,(4,2)):(512,(2,1024))"
    assert cute.cosize(tile) == 16384 and cute.rank(tile) == 2 and cute.depth(tile) == 2

main()
"""
MNMAJOR = """
{imported}

@cute.jit
def main():
    atom = cute.make_composed_layout(cute.make_swizzle(2, 4, 3), 0, cute.make_layout((32, 8), stride=(1, 32)))
    print("atom        ", atom)
    tile = cute.tile_to_shape(cute.make_layout((32, 8), stride=(1, 32)), (128, 128), order=(1, 0))
    print("tile        ", tile)
    split = cute.zipped_divide(tile, (64, 16))
    print("partitioned ", split)
    wide = cute.recast_layout(128, 16, split)
    print("in 16 bytes ", wide)
    form = cute.logical_divide(wide[0], (4, 8))
    print("canonical   ", form)
    lbo, sbo = form.stride[0][1], form.stride[1][1]
    print(f"SBO {{sbo}} = {{sbo * 16}} B, LBO {{lbo}} = {{lbo * 16}} B")
    advance = cute.make_layout(wide[1].shape, stride=wide[1].stride)
    print("advance     ", advance, advance((1, 7)))
    print("starts      ", [[16 * advance((m, k)) for k in range(8)] for m in range(2)])
    assert (lbo, sbo) == (512, 32)
    assert str(form) == "((4,2),(8,2)):((1,512),(4,32))"
    assert cute.coalesce(advance).shape == advance.shape

main()
"""
PROGRAMS = {"sw128_kmajor": KMAJOR, "sw64_mnmajor": MNMAJOR}
#: Lines of the articles' steps that have to be among what is printed.
PRINTED = {
    "sw128_kmajor": ["SBO 64 = 1024 B, LBO 1 = 16 B", "advance      (2,(4,2)):(512,(2,1024)) 1538"],
    "sw64_mnmajor": ["SBO 32 = 512 B, LBO 512 = 8192 B", "advance      (2,8):(1024,64) 1472"],
}


def run(program: str) -> bytes:
    """What a program prints, in a process of its own; a failed assertion of it is a failure here.

    It is a file, as the CuTe DSL compiles a function from its source.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(program, encoding="utf-8")
        paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        done = subprocess.run([sys.executable, path], capture_output=True, env={**os.environ, **paths}, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_five_calls_runs_with_its_import_changed(name: str) -> None:
    told = run(PROGRAMS[name].format(imported=OURS)).decode().splitlines()
    assert set(PRINTED[name]) <= set(told)


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_prints_the_same_bytes_as_under_the_cute_dsl(name: str) -> None:
    assert run(PROGRAMS[name].format(imported=OURS)) == run(PROGRAMS[name].format(imported=DSL))


def calls_of(script: str, imported: str) -> str:
    """The five calls of one of the scripts as a program that prints what they give."""
    tree = ast.parse((ROOT / "scripts" / f"{script}.py").read_text(encoding="utf-8"))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "five_calls")
    shown = "@cute.jit\ndef show():\n    for step in five_calls():\n        print(step)\nshow()\n"
    return f"{imported}\n{ast.unparse(function)}\n{shown}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_script_shows_the_five_calls_by_name(name: str) -> None:
    tree = ast.parse(calls_of(name, OURS))
    called = [node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "attr")]
    five = ["tile_to_shape", "zipped_divide", "recast_layout", "logical_divide", "make_layout"]
    assert [one for one in called if one in five][1:] == five  # after the atom's own make_layout
    assert len(run(calls_of(name, OURS)).splitlines()) == 5


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_five_calls_of_each_script_give_the_same_under_the_cute_dsl(name: str) -> None:
    assert run(calls_of(name, OURS)) == run(calls_of(name, DSL))
