"""Emitted CUDA C++ gives the words of its derivation: on the host, with g++, and on the device, where nvcc is."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from emitted import CASES, expected, made, questions

from descriptors.smem.emitters.emit import emit


def cuda_program(folder: Path) -> str:
    """All cases in one program that prints a word a line; half of them in one header, the others in one each."""
    parts, lines, together = [], [], list(CASES)[::2]
    headers = {name: emit(made(name), "cuda", name) for name in CASES if name not in together}
    headers["together"] = emit([made(name) for name in together], "cuda", together)
    for name, header in headers.items():
        (folder / f"{name}.h").write_text(header)
        parts += [f'#include "{name}.h"'] * 2
    for name in CASES:
        d = made(name)
        space = f"{name}_descriptor"
        for address, coordinate in questions(d):
            call = f"{space}::subtile({space}::first({address}u), {', '.join(f'{i}u' for i in coordinate)})"
            lines.append(f'  std::printf("%llx\\n", static_cast<unsigned long long>({call}));')
    return "\n".join([*parts, "#include <cstdio>", "int main() {", *lines, "}\n"])


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_cuda_gives_the_words_of_every_subtile(tmp_path: Path) -> None:
    source, program = tmp_path / "all.cpp", tmp_path / "all"
    source.write_text(cuda_program(tmp_path))
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["g++", *flags, "-o", str(program), str(source)], check=True)
    words = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(word, 16) for word in words] == [word for name in CASES for word in expected(made(name))]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_both_headers_compile_for_the_device(arch: str, tmp_path: Path) -> None:
    parts, lines = [], []
    for (case, language), name in {one: "_".join(one) for one in product(CASES, ["cuda", "header"])}.items():
        d, space = made(case), f"{name}_descriptor::" if language == "cuda" else f"{name}_"
        (tmp_path / f"{name}.h").write_text(emit(d, language, name))
        parts.append(f'#include "{name}.h"')
        coordinate, last = ", ".join(["i", "j", "i + j", "j"][: len(tuple(d.advance))]), expected(d)[-1]
        lines.append(f"  *out++ = {space}subtile({space}first(address), {coordinate});")
        address, indices = questions(d)[-1]
        call = f"{space}subtile({space}first({address}u), {', '.join(map(str, indices))})"
        parts.append(f'static_assert({call} == {last:#x}ull, "{name}");\n')
    kernel = "__global__ void all(uint64_t* out, uint32_t address, uint32_t i, uint32_t j) {"
    source = tmp_path / "all.cu"
    source.write_text("\n".join([*parts, kernel, *lines, "}\n"]))
    command = ["nvcc", "-c", f"-arch={arch}", "-Werror", "all-warnings", "-o", str(tmp_path / "all.o"), str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_a_misplaced_tile_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(emit(made("kmajor"), "cuda", "a"))
    source, command = tmp_path / "a.cpp", ["g++", "-std=c++17", "-fsyntax-only", str(tmp_path / "a.cpp")]
    for address, status in ((0x2000, 0), (0x2010, 1)):
        word = made("kmajor").words(0x2000)[0][0]
        source.write_text(f'#include "a.h"\nstatic_assert(a_descriptor::first_at<{address}u>() == {word:#x}ull, "");\n')
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == status
        assert ("must start at a multiple of kAlignmentBytes" in ended.stderr) is bool(status)
