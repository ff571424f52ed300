"""The CUDA files that programs are put together from: each opens by itself, and asks options that there are."""

from __future__ import annotations

import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from gemm_plans import compiled, need_nvcc

from descriptors import DescriptorError, emit_plan, mma_plan, plan
from descriptors.gemm.programs import cuda_files, mma_kernel, sm90_kernel, sm100_kernel
from descriptors.gemm.programs.cuda_files import OPTIONS, assemble, resolve, source

FOLDER = files("descriptors.gemm.programs")
NAMES = sorted(one.name.removesuffix(".cuh") for one in FOLDER.iterdir() if one.name.endswith(".cuh"))
#: What CUDA and the user of a header define.
OUTSIDE = {"CUDART_VERSION", "LAYOUTALG_NO_MAIN"}


def conditions(text: str) -> list[str]:
    return re.findall(r"^#(?:if|elif|ifdef|ifndef) +(.*)", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_asks_options_that_there_are_and_includes_files_that_there_are(name: str) -> None:
    text = source(name)
    asked = {word for one in conditions(text) for word in re.findall(r"[A-Za-z_]\w*", one)}
    assert asked <= {*OPTIONS, *OUTSIDE}
    included = set(re.findall(r'#include "(\w+)\.cuh"', text))
    assert {one for one in included if not one.startswith("plan")} <= set(NAMES)
    assert "#pragma once" in text


def test_every_option_is_asked_by_a_file() -> None:
    asked = " ".join(one for name in NAMES for one in conditions(source(name)))
    assert [one for one in OPTIONS if not re.search(rf"\b{one}\b", asked)] == []


def test_conditions_on_options_are_resolved_and_others_stay() -> None:
    text = (
        "#if SPLIT == 0 && (PAIR || !TURNS)\na\n#if OTHER\nb\n#endif\n#else\n#ifdef OTHER\nc\n#else\nd\n#endif\n#endif"
    )
    assert resolve(text, {}) == "a\n#if OTHER\nb\n#endif"
    assert resolve(text, {"SPLIT": 1}) == "#ifdef OTHER\nc\n#else\nd\n#endif"
    assert resolve("#if PAIR\n1\n#elif TURNS\n2\n#elif !SPLIT\n3\n#else\n4\n#endif", {"SPLIT": 1, "TURNS": 1}) == "2"


def test_a_list_is_closed_behind_a_condition() -> None:
    text = "f(a,\n#if PAIR\n  b,\n#endif\n  c\n#if SPLIT\n  , d\n#endif\n);"
    assert resolve(text, {}) == "f(a, c);"
    assert resolve(text, {"PAIR": 1, "SPLIT": 1}) == "f(a, b, c, d);"


def test_a_kernel_has_the_name_that_it_is_given() -> None:
    made = plan("m64n64k16", "bf16", tile=(64, 64, 64), arch="sm90", verify=False)
    text = emit_plan(made, "cuda", "product")
    assert "product<<<" in text and "product: %s" in text and not re.search(r"\bgemm\b", text)


ALONE: dict[str, tuple[Any, str, Any]] = {
    "sm90": (sm90_kernel, "90a", plan("m64n64k16", "bf16", tile=(64, 64, 64), arch="sm90", verify=False)),
    "sm90 pieces": (
        sm90_kernel, "90a",
        plan("m64n64k16", "bf16", tile=(64, 64, 64), arch="sm90", c_dtype="bf16", terms="bias", verify=False),
    ),
    "sm100": (sm100_kernel, "100a", plan("m128n64k16", "bf16", tile=(128, 64, 64), store="tma", verify=False)),
    "mma": (mma_kernel, "80", mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 32), verify=False)),
}  # fmt: skip


@need_nvcc
@pytest.mark.parametrize("name", ALONE)
def test_a_file_compiles_by_itself_with_what_a_plan_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options are macros then: the compiler takes the branches that a program is put together from."""
    module, target, made = ALONE[name]

    def kept(file: str, pieces: dict[str, str], options: dict[str, int], kernel: str = "gemm") -> str:
        defined = "".join(f"#define {one} {options.get(one, 0)}\n" for one in OPTIONS)
        for one, text in {**pieces, "plan_headers": defined + pieces["plan_headers"]}.items():
            (tmp_path / f"{one}.cuh").write_text(f"#pragma once\n{text}\n", encoding="utf-8")
        (tmp_path / "unit.cu").write_text(f'#include "{file}.cuh"\n', encoding="utf-8")
        return assemble(file, pieces, options, kernel)

    monkeypatch.setattr(module, "assemble", kept)
    module.kernel(made, "gemm")
    code = f"arch=compute_{target},code=sm_{target}"
    command = ["nvcc", "-cubin", "-std=c++17", "-gencode", code, "-I.", f"-I{FOLDER}", "-o", "a.cubin", "unit.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_the_folder_has_no_other_template() -> None:
    assert cuda_files.source("barriers").startswith("// ")
    assert not [one.name for one in FOLDER.iterdir() if one.name.endswith(".in")]


@pytest.mark.parametrize("program", ALONE)
@pytest.mark.parametrize(
    "name", ["a", "main", "check", "int", "THREADS", "class", "uint4", "cudaMalloc", "linux", "time_t", "_Reserved"]
)
def test_a_kernel_cannot_have_a_name_that_means_something_else(program: str, name: str) -> None:
    with pytest.raises(DescriptorError, match=rf"^emit: {name} cannot be the name of the kernel; .*gemm_"):
        emit_plan(ALONE[program][2], "cuda", name)


@need_nvcc
@pytest.mark.parametrize("program", ["sm90", "sm100"])
def test_a_word_of_comments_and_texts_can_be_the_name_of_a_kernel(program: str, tmp_path: Path) -> None:
    text = emit_plan(ALONE[program][2], "cuda", "sync")
    assert "sync(const __grid_constant__" in text
    assert compiled(text, program, tmp_path) == ""
