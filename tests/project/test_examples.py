"""The examples build: a CMake project that writes a header, checks what it relies on, and runs both its programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("cc") is None, reason="no cmake, or no compiler; PyPI has cmake"
)
COMMAND = f"{sys.executable};-m;descriptors"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
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
    assert "plan.gemm: transaction_bytes must be 32768, found 16384" in done.stdout + done.stderr
    assert not (tmp_path / "build" / "words_c").exists()
