"""The examples build: CMake projects, one that writes a header, one that finds the derivation itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("cc") is None, reason="no cmake, or no compiler; PyPI has cmake"
)
COMMAND = f"{sys.executable};-m;descriptors"


def run(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def configured(folder: Path) -> Path:
    shutil.copytree(ROOT / "docs" / "examples" / "cmake", folder / "source")
    done = run(folder, "cmake", "-S", "source", "-B", "build", f"-DDESCRIPTORS={COMMAND}")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_project_builds_and_its_programs_agree(tmp_path: Path) -> None:
    done = run(configured(tmp_path), "cmake", "--build", "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 values hold, of 1 section" in done.stdout
    words = run(tmp_path / "build", "./words_c")
    assert words.returncode == 0 and "stage 3, K block 3: B 0x4000004002001d80" in words.stdout
    assert run(tmp_path / "build", "./words_cpp").stdout.splitlines()[-1] == "K block 3: A + 6"


def test_the_build_ends_where_what_is_relied_on_is_wrong(tmp_path: Path) -> None:
    file = configured(tmp_path) / "source" / "gemm.toml"
    file.write_text(file.read_text().replace("32768", "16384"))
    done = run(tmp_path, "cmake", "--build", "build")
    assert done.returncode != 0
    assert "plan.gemm: transaction_bytes is 16384; the derived value is 32768" in done.stdout + done.stderr
    assert not (tmp_path / "build" / "words_c").exists()


@pytest.fixture
def activated(tmp_path: Path) -> str:
    """A path of programs that begins with an environment, in which the wheel's data are as pip leaves them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    prefix = tmp_path / "environment"
    (prefix / "bin").mkdir(parents=True)
    for source, place in project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"].items():
        (prefix / place).parent.mkdir(parents=True)
        shutil.copy(ROOT / source, prefix / place)
    return f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"


def test_a_project_finds_the_derivation_in_the_environment(tmp_path: Path, activated: str) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "docs" / "examples" / "find_package", source)
    done = run(tmp_path, "cmake", "-S", "source", "-B", "build", PATH=activated)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path, "cmake", "--build", "build").returncode == 0
    words = run(tmp_path / "build", "./words")
    assert words.returncode == 0 and "stage 3, K block 3: A 0x4000004000010c46" in words.stdout
    program = source / "main.cpp"
    program.write_text(program.read_text().replace("OperandA<128, 64, 4>", "OperandA<128, 64, 40>"))
    refused = run(tmp_path, "cmake", "--build", "build")
    assert refused.returncode != 0 and "the stages of A do not fit shared memory" in refused.stdout + refused.stderr


def test_a_project_without_the_environment_is_told(tmp_path: Path) -> None:
    active = str(Path(sys.executable).parent)  # where an environment is active, CMake finds what it holds
    outside = os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if one != active)
    source = str(ROOT / "docs" / "examples" / "find_package")
    done = run(tmp_path, "cmake", "-S", source, "-B", "build", PATH=outside)
    assert done.returncode != 0 and "layoutalg-config.cmake" in done.stderr
