"""Names and codes are those of the driver's header."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from descriptors.smem.words.tensor_map import DATA_TYPES, INTERLEAVE, SWIZZLES


def _toolkit() -> Path | None:
    nvcc = shutil.which("nvcc")
    folders = [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    return next((one for one in (*folders, Path("/usr/local/cuda/include")) if (one / "cuda.h").is_file()), None)


@pytest.mark.skipif(shutil.which("g++") is None or _toolkit() is None, reason="no g++ or no cuda.h")
def test_names_and_codes_are_those_of_the_drivers_header(tmp_path: Path) -> None:
    rows = {*DATA_TYPES.values(), *SWIZZLES.values(), INTERLEAVE}
    source = tmp_path / "codes.cpp"
    source.write_text(
        "#include <cuda.h>\n" + "".join(f'static_assert({name} == {code}, "{name}");\n' for name, code in sorted(rows))
    )
    command = ["g++", "-std=c++14", "-fsyntax-only", f"-I{_toolkit()}", str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
