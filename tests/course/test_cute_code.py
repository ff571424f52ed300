"""What stands beside an idea in the CuTe DSL runs there, and no line of a lesson's code is too long for its box."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from cute_cpp import headers

from builder.markup import Example, pieces
from descriptors import oracle
from descriptors.course.catalog import lessons
from descriptors.course.source import Lesson

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))
#: What is there before the code: a tile to be taken apart, and a thread.
FRAME = """
import cutlass
import cutlass.cute as cute

@cute.jit
def lesson():
    tile = cute.make_layout((8, 8), stride=(8, 1))
    tidx = 3
{code}

lesson()
"""


def codes(lesson: Lesson) -> list[str]:
    """The DSL halves of a lesson's pieces; memory and a tiled instruction need a kernel, and are left out."""
    halves = [part.text.partition("\n---\n")[2] for part in lesson.parts if part.kind == "cute"]
    return [code for code in halves if "smem." not in code and "tiled_mma" not in code]


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
def test_the_code_of_the_dsl_runs_there(tmp_path: Path) -> None:
    every = [code for lesson in lessons() for code in codes(lesson)]
    assert len(every) >= 9
    text = "\n".join(every)
    head = "\n".join(line for line in text.splitlines() if line.startswith("from "))
    body = "\n".join(f"    {line}" for line in text.splitlines() if not line.startswith("from "))
    path = tmp_path / "lesson.py"
    path.write_text(f"{head}\n{FRAME.format(code=body)}", encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-800:]


#: What is there before the C++: a thread, memory, a matrix; and how a value is printed, static or not.
FRAME_CPP = """
#include <cuda_runtime.h>
#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
using namespace cute;
using namespace cute::SM90;
struct {{ int x = 37; }} threadIdx;
alignas(1024) bfloat16_t bytes[64 * 16];
float sums[64 * 32];
{lessons}
int main() {{ {calls} }}
"""
LESSON_CPP = """
void lesson_{number}() {{
  auto tile = make_layout(make_shape(8, 8), make_stride(8, 1));
  auto lines = tile_to_shape(GMMA::Layout_K_SW32_Atom<bfloat16_t>{{}}, Shape<_64, _16>{{}});
  auto operand = make_tensor(make_smem_ptr(bytes), lines);
  auto c = make_tensor(&sums[0], make_layout(Shape<_64, _32>{{}}));
  {{
{code}
  }}
}}
"""


def shown(code: str) -> tuple[str, list[str]]:
    """C++ that prints what its remarks say, and the remarks: ``auto a = ...;  // 4:1`` or ``a(2);  // 2``."""
    said, lines = [], []
    for line in re.sub(r"(?<=[(,])\n +", " ", code).splitlines():
        lines.append(line)
        if remark := re.match(r"(?:auto (\w+) = )?(.*); +// ([\d(][^ a-z]*)", line):
            said.append(remark[3].rstrip(":"))
            lines.append(f'print({remark[1] or remark[2]}); print("\\n");')
    return "\n".join(lines), said


@pytest.mark.skipif(not headers(), reason="no g++, or no headers of CuTe (the package nvidia-cutlass) or of CUDA")
def test_the_code_of_cpp_compiles_and_gives_what_its_remarks_say(tmp_path: Path) -> None:
    every = [part.text.partition("\n---\n")[0] for lesson in lessons() for part in lesson.parts if part.kind == "cute"]
    bodies, said = zip(*map(shown, every), strict=True)
    texts = [LESSON_CPP.format(number=number, code=body) for number, body in enumerate(bodies)]
    calls = " ".join(f"lesson_{number}();" for number in range(len(texts)))
    (tmp_path / "lessons.cpp").write_text(FRAME_CPP.format(lessons="".join(texts), calls=calls), encoding="utf-8")
    options = ["-std=c++17", "-O0", "-w", *(f"-I{folder}" for folder in headers()), "-o", "lessons", "lessons.cpp"]
    done = subprocess.run(["g++", *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    ran = subprocess.run([str(tmp_path / "lessons")], capture_output=True, text=True, check=True)
    printed = [line.replace("_", "") for line in ran.stdout.splitlines() if "ERROR" not in line]
    assert printed == [one for some in said for one in some] and len(printed) >= 8


@LESSONS
def test_no_line_of_code_is_wider_than_its_box(lesson: Lesson) -> None:
    assert [part for part in lesson.parts if part.kind == "cute"]
    for part in lesson.parts:
        if part.kind == "cute":
            assert max(map(len, part.text.splitlines())) <= 81
        elif part.kind == "text":
            for one in pieces(part.text):
                lines = one.typed.splitlines() if isinstance(one, Example) else [""]
                assert max(map(len, lines)) <= 78, one
