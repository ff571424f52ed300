"""An emitted header gives the words of its derivation in C and in C++, and does not compile with another word."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from emitted import CASES, expected, made, questions

from descriptors.smem.emitters.emit import emit


def header_program(folder: Path) -> str:
    """All cases in one header: each word by the function, and by the macro, in one program that prints both."""
    (folder / "all.h").write_text(emit([made(name) for name in CASES], "header", list(CASES)))
    lines = []
    for name in CASES:
        for address, coordinate in questions(made(name)):
            arguments, big = ", ".join(f"{i}u" for i in coordinate), name.upper()
            for call in (
                f"{name}_subtile({name}_first({address}u), {arguments})",
                f"{big}_SUBTILE_WORD({big}_FIRST_WORD({address}u), {arguments})",
            ):
                lines.append(f'  printf("%llx\\n", (unsigned long long)({call}));')
    return "\n".join(['#include "all.h"', '#include "all.h"', "#include <stdio.h>", "int main(void) {", *lines, "}\n"])


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc")
@pytest.mark.parametrize("standard", ["c99", "c11", "c++11", "c++17"])
def test_a_header_gives_the_words_of_every_subtile_in_every_language(standard: str, tmp_path: Path) -> None:
    source, program = tmp_path / ("all.cpp" if "+" in standard else "all.c"), tmp_path / "all"
    source.write_text(header_program(tmp_path))
    flags = [f"-std={standard}", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["g++" if "+" in standard else "gcc", *flags, "-o", str(program), str(source)], check=True)
    words = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(word, 16) for word in words] == [word for name in CASES for word in expected(made(name)) for _ in "ab"]


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc")
@pytest.mark.parametrize(("compiler", "name"), [("gcc", "a.c"), ("g++", "a.cpp")])
def test_a_header_with_another_word_does_not_compile(compiler: str, name: str, tmp_path: Path) -> None:
    right = emit(made("staged"), "header", "a")
    step = re.sub(r"(A_OFFSET_UNITS.*\(mn\) \* )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", right)
    word = re.sub(r"(A_WORD 0x)(\w{6})", lambda found: f"{found[1]}{int(found[2], 16) ^ 1:06x}", right)
    assert len({right, step, word}) == 3
    for text, status in ((right, 0), (step, 1), (word, 1)):
        (tmp_path / name).write_text(text.replace("#pragma once", ""))
        command = [compiler, "-fsyntax-only", str(tmp_path / name)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ended.returncode, "a_word_1_3_3" in ended.stderr) == (status, bool(status)), ended.stderr
