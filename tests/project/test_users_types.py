"""A user's type checker understands the public names: it infers what calls give, and refuses what they refuse."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys

import pytest
from places import ROOT

PROGRAM = ROOT / "tests" / "project" / "users_program.py"
HAS_MYPY = importlib.util.find_spec("mypy") is not None

#: Lines that a checker must refuse, each by itself.
MISUSES = """
Layout("4")
Layout((8, None))
Layout(8, stride="x")
tile("x")
composition(tile, "x")
zipped_divide(tile, "x")
zipped_divide("x", 4)
make_layout(tile, swizzled)
offset: int = tile(None, 2)
part: Layout = swizzled(None, 2)
plain: Layout = composition(tile, swizzled)
tile.shape = (4, 8)
size(None)
draw(3)
symbol(3)
derive(tile=(128, 64), dtype="bf16", major="M", swizzle="128B", mma=(64, 16))
""".split("\n")[1:-1]

HEAD = """from descriptors import derive
from layoutalg import *
tile = Layout((8, 64), (64, 1))
swizzled = ComposedLayout(Swizzle(3, 4, 3), 0, tile)
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy has to say of the program and of the misuses, in strict mode, in one run."""
    if not HAS_MYPY:
        pytest.skip("mypy is not installed: it is of the extra `dev`")
    folder = tmp_path_factory.mktemp("user")
    (folder / "misuses.py").write_text(HEAD + "\n".join(MISUSES) + "\n", encoding="utf-8")
    (folder / "program.py").write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary", "--hide-error-context"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir=cache", "program.py", "misuses.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 1, done.stderr  # the misuses
    return done.stdout


def test_both_packages_say_that_they_are_typed() -> None:
    for package in ("layoutalg", "descriptors"):
        assert (ROOT / package / "py.typed").exists()


def test_a_users_program_has_the_types_that_it_asserts(checked: str) -> None:
    assert [line for line in checked.splitlines() if line.startswith("program.py")] == []


def test_a_users_program_runs() -> None:
    runpy.run_path(str(PROGRAM))


def test_a_checker_refuses_what_the_operations_refuse(checked: str) -> None:
    found = {int(line) for line in re.findall(r"^misuses\.py:(\d+): error", checked, re.MULTILINE)}
    first = HEAD.count("\n") + 1
    missed = [misuse for number, misuse in enumerate(MISUSES, first) if number not in found]
    assert missed == []
    assert found == set(range(first, first + len(MISUSES)))
