"""Where a thread finds an element of a stage: the expression of C, beside the layout of the tile, compiled and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from descriptors import derive
from descriptors.gemm.programs.c_expressions import byte_offset

CASES = [
    ("bf16", "K", "128B", (64, 128), (64, 16)),
    ("bf16", "MN", "64B", (128, 64), (64, 16)),
    ("e4m3", "K", "none", (64, 64), (64, 32)),
    ("tf32", "K", "32B", (128, 32), (64, 8)),
    ("s8", "MN", "128B", (128, 64), (64, 32)),
]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize(("dtype", "major", "swizzle", "tile", "mma"), CASES)
def test_every_element_is_where_the_expression_says(
    dtype: str, major: str, swizzle: str, tile: tuple[int, int], mma: tuple[int, int], tmp_path: Path
) -> None:
    d = derive(tile, dtype, major, swizzle, mma, arch="sm90", legality="off", verify=False)  # type: ignore[arg-type]
    at, turned = byte_offset(d)
    source, binary = tmp_path / "a.c", tmp_path / "a"
    source.write_text(
        "#include <stdio.h>\nint main(void) {"
        f"for (unsigned row = 0; row < {tile[0]}; ++row) for (unsigned column = 0; column < {tile[1]}; ++column)"
        f'{{ unsigned at = {at}; printf("%u\\n", {turned}); }} return 0; }}\n'
    )
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-o", str(binary), str(source)], check=True)
    printed = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout.split()
    width = d.element.storage_bits // 8
    assert list(map(int, printed)) == [d.smem_tile(i, j) * width for i in range(tile[0]) for j in range(tile[1])]
