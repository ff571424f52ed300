"""A plan as a header: it compiles in C, C++ and CUDA C++, and its macros give every word of the plan."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from descriptors import DescriptorError, Plan, plan
from descriptors.gemm.programs.emit_plan import emit_plan

PLANS: list[dict[str, Any]] = [
    {"instruction": "m64n128k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 4, "b_major": "MN"},
    {"instruction": "m64n64k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "a_source": "registers"},
    {"instruction": "m256n256k32", "dtype": "e4m3", "tile": (256, 256, 128), "cta_group": 2},
    {"instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 256), "kind": "mxf4nvf4", "scale_vector": 16},
    {
        "instruction": "m256n64k32",
        "dtype": "e4m3",
        "tile": (512, 192, 128),
        "cta_group": 2,
        "kind": "mxf8f6f4",
        "stages": 1,
    },
]
NAMES = [f"gemm{i}" for i in range(len(PLANS))]


def plan_at(index: int) -> Plan:
    return plan(**PLANS[index], verify=False)


def _constants_of(one: Plan) -> list[tuple[str, int]]:
    """Numbers of pairs and of scale factors, from what was asked."""
    (m, n, _), pair = one.asked.extents, one.asked.cta_group
    constants = [("A_RUN", one.asked.tile[0] // 2), ("B_RUN", n // 2)] * (pair == 2)
    if one.scales is not None:
        along = zip(("SFA", "SFB"), one.asked.blocks, (m // pair, n), strict=False)
        constants += [(f"{name}_BLOCK_COLUMNS", rows // 32 * (count > 1)) for name, count, rows in along]
    return constants


def program(folder: Path) -> tuple[str, list[int]]:
    """A program that prints every word of every plan, and some numbers; and what it shall print."""
    lines, numbers, heads = [], list[int](), []
    for i, name in enumerate(NAMES):
        (folder / f"{name}.h").write_text(emit_plan(plan_at(i), "header", name))
        heads.append(f'#include "{name}.h"')
        for side in (plan_at(i).a, plan_at(i).b):
            big = f"{name.upper()}_{side.matrix}"
            if side.matrix == "A" and plan_at(i).loads is not None:
                continue
            for at in product(*(range(len(one)) for one in (side.mn_steps, side.k_steps, side.stage_steps))):
                call = f"{big}_SUBTILE_WORD({big}_FIRST_WORD({big}_BASE), {', '.join(map(str, at))})"
                lines.append(f'  printf("%llx\\n", (unsigned long long)({call}));')
                numbers.append(side.word_at(*at))
        for what, number in (("TRANSACTION_BYTES", plan_at(i).transaction_bytes), *_constants_of(plan_at(i))):
            lines.append(f'  printf("%llx\\n", (unsigned long long)({name.upper()}_{what}));')
            numbers.append(number)
    return "\n".join([*heads, *heads, "#include <stdio.h>", "int main(void) {", *lines, "  return 0;", "}\n"]), numbers


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc")
@pytest.mark.parametrize("standard", ["c99", "c11", "c++17"])
def test_the_macros_give_every_word_of_the_plan(standard: str, tmp_path: Path) -> None:
    source, binary = tmp_path / ("all.cpp" if "+" in standard else "all.c"), tmp_path / "all"
    text, numbers = program(tmp_path)
    source.write_text(text)
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["g++" if "+" in standard else "gcc", *flags, "-o", str(binary), str(source)], check=True)
    printed = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(one, 16) for one in printed] == numbers


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_the_header_compiles_for_the_device(tmp_path: Path) -> None:
    text, _ = program(tmp_path)
    (tmp_path / "all.cu").write_text(text)
    command = [
        "nvcc",
        "-c",
        "-arch=sm_100a",
        "-Werror",
        "all-warnings",
        "-o",
        str(tmp_path / "o"),
        str(tmp_path / "all.cu"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize(("old", "new"), [("B_BASE 65536u", "B_BASE 32768u"), ("B_BASE 65536u", "B_BASE 65552u")])
def test_operands_that_overlap_or_are_misplaced_do_not_compile(old: str, new: str, tmp_path: Path) -> None:
    text = emit_plan(plan_at(0), "header", "gemm").replace("#pragma once", "")
    assert old in text
    for variant, status in ((text, 0), (text.replace(old, new), 1)):
        (tmp_path / "a.c").write_text(variant)
        done = subprocess.run(
            ["gcc", "-fsyntax-only", str(tmp_path / "a.c")], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr


def test_a_name_that_is_no_identifier_and_what_is_no_plan_are_refused() -> None:
    for name in ("", "1a", "a b", "x" * 65):
        with pytest.raises(DescriptorError, match=r"^emit: name .* is not an identifier"):
            emit_plan(plan_at(0), "header", name)
    with pytest.raises(DescriptorError, match=r"^emit: 7 is not a plan"):
        emit_plan(7, "header")  # type: ignore[arg-type]
