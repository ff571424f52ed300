"""What a pipeline runs: the hooks of pre-commit and the action, as they are written down."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from kernels import kernels
from places import ROOT

ACTION = ROOT / ".github" / "actions" / "check"

CONTRACT = """\
[operand.a]
dtype = "bf16"
major = "K"
swizzle = "128B"
tile = "128x64"
mma = "64x16"
arch = "sm90"

[operand.a.expect]
word = "0x4000004000010000"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with kernels and words that it relies on, right and wrong, and the command on its path."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "descriptors"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m descriptors "$@"\n')
    command.chmod(0o755)
    (tmp_path / "product.ptx").write_text(kernels()["product_f16_128x32x128_nn_sm90"])
    shutil.copy(ROOT / "docs" / "kernels" / "hang.ptx", tmp_path)
    for folder, text in (("right", CONTRACT), ("wrong", CONTRACT.replace("10000", "10001"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "descriptors.toml").write_text(text)
    return tmp_path


def run(project: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]  # as an action's shell: bash
    return subprocess.run(shell, cwd=project, env=environment, capture_output=True, text=True, check=False)


def action() -> dict[str, Any]:
    """The action as it is written down."""
    found: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    return found


def run_action(project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action, the check."""
    return run(project, action()["runs"]["steps"][-1]["run"], ACTION=str(ACTION), SARIF="found.sarif", **inputs)


def hook(name: str) -> dict[str, Any]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return next(one for one in hooks if one["id"] == name)


@pytest.mark.parametrize(
    ("name", "files", "status"),
    [
        ("descriptors-check", ["product.ptx"], 0),
        ("descriptors-check", ["product.ptx", "hang.ptx"], 1),
        ("descriptors-expect", ["right/descriptors.toml"], 0),
        ("descriptors-expect", ["right/descriptors.toml", "wrong/descriptors.toml"], 1),
    ],
)
def test_a_hook_takes_all_its_files_at_once(name: str, files: list[str], status: int, project: Path) -> None:
    one = hook(name)
    assert all(re.search(one["files"], file) for file in files) and not re.search(one["files"], "a/setup.toml")
    done = run(project, f"{one['entry']} {' '.join(files)}")
    assert done.returncode == status, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("files", "status", "annotated"),
    [
        ("product.ptx hang.ptx", 1, {"hang.ptx"}),
        ("right/descriptors.toml wrong/descriptors.toml", 1, {"wrong/descriptors.toml"}),
        ("right/descriptors.toml", 0, set()),
        ("none.ptx", 2, set()),
    ],
)
def test_the_action_leaves_annotations_whatever_it_finds(
    files: str, status: int, annotated: set[str], project: Path
) -> None:
    done = run_action(project, FILES=files, ARGUMENTS="")
    assert done.returncode == status, done.stdout + done.stderr
    (log,) = json.loads((project / "found.sarif").read_text())["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in log["results"] if one["level"] == "error"]
    assert {place["artifactLocation"]["uri"] for place in places} == annotated
    inline = re.findall(r"^::error file=(.+?),line=(\d+),title=\S.*?::\S", done.stdout, re.MULTILINE)
    missing = {"none.ptx"} if "none.ptx" in files else set()
    assert {file for file, _ in inline} == annotated | missing
    assert len(inline) == len(places) + len(missing)


def test_the_action_annotates_nothing_where_the_command_line_is_refused(project: Path) -> None:
    done = run_action(project, FILES="product.ptx", ARGUMENTS="--no-such-option")
    assert (done.returncode, done.stdout) == (2, "") and "--no-such-option" in done.stderr


def test_an_annotation_is_one_line_whatever_is_in_a_name(tmp_path: Path) -> None:
    place = {"artifactLocation": {"uri": "a,b:c%\n.ptx"}, "region": {"startLine": 3}}
    entry = {
        "ruleId": "r", "level": "warning", "message": {"text": "100 %\nand more"},
        "locations": [{"physicalLocation": place}],
    }  # fmt: skip
    (tmp_path / "found.sarif").write_text(json.dumps({"runs": [{"results": [entry]}]}))
    command = [sys.executable, str(ACTION / "annotate.py"), str(tmp_path / "found.sarif")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ("::warning file=a%2Cb%3Ac%25%0A.ptx,line=3,title=r::a,b:c%25%0A.ptx:3: 100 %25%0Aand more\n")


def test_the_action_installs_its_own_checkout_and_needs_no_index() -> None:
    (install,) = [step for step in action()["runs"]["steps"] if "pip install" in step.get("run", "")]
    assert install["env"] == {"ACTION": "${{ github.action_path }}"}
    written = shlex.split(install["run"])[-1].replace("$ACTION", str(ACTION))
    assert Path(written).resolve() == ROOT and (Path(written) / "pyproject.toml").is_file()


def test_a_baseline_is_quiet_about_what_was_there(project: Path) -> None:
    assert run(project, "descriptors check --write-baseline known.json -- *.ptx").returncode == 0
    assert run_action(project, FILES="product.ptx hang.ptx", ARGUMENTS="--baseline known.json").returncode == 0
    assert json.loads((project / "found.sarif").read_text())["runs"][0]["results"] == []
