"""The packages in a browser's Python: their doctests inside Pyodide under Node, where there is no numpy and no sympy.

What needs numpy or sympy may say so; all else has to pass, and what a page of the explorer asks must be among it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib

import browsers
import pytest
from places import ROOT

#: What says that a library is not there that a browser does not have.
ABSENT = re.compile(r"No module named '(numpy|sympy|portalocker)|must have markdown-it-py")
#: Modules whose functions a page calls, and which therefore need neither.
NEEDED = (
    "layoutalg.layouts.offsets.offset_table",
    "descriptors.smem.proof.read_model.read_rows",
    "descriptors.smem.derivation.derive.derive",
    "descriptors.smem.derivation.verify",
    "descriptors.smem.debug.diff",
    "descriptors.smem.debug.candidates",
    "descriptors.smem.debug.decode",
    "descriptors.smem.debug.read",
    "descriptors.smem.emitters.emit",
    "descriptors.show.explorer",
    "descriptors.show.stages",
)


@pytest.mark.parametrize("modules", [NEEDED, pytest.param((), marks=pytest.mark.exhaustive)], ids=["needed", "all"])
def test_the_doctests_pass_inside_pyodide_but_for_what_needs_numpy(modules: tuple[str, ...]) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node on this machine")
    package = browsers.node_package("pyodide")
    done = subprocess.run(
        [node, str(ROOT / "tests" / "judge" / "doctests.mjs"), str(package), str(ROOT), *modules],
        capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    failed = {name: one["reasons"] for name, one in found.items() if one["reasons"]}
    wrong = {name: told for name, told in failed.items() if not any(map(ABSENT.search, told))}
    assert wrong == {}
    assert [name for name in failed if name.startswith(NEEDED)] == []
    assert len(found) - len(failed) > (60 if modules else 800), "most of both packages runs there"


def test_what_a_browser_does_not_have_is_not_required_there() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        required = tomllib.load(file)["project"]["dependencies"]
    elsewhere = [one.partition(";")[0] for one in required if "sys_platform != 'emscripten'" in one]
    assert [re.split("[>=]", one)[0] for one in elsewhere] == ["numpy", "portalocker", "sympy"]
