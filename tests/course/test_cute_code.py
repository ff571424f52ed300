"""What stands beside an idea in the CuTe DSL runs there, and no line of a lesson's code is too long for its box."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from builder.markup import Example, pieces
from descriptors import oracle
from descriptors.course.source import Lesson, lessons

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


@LESSONS
def test_no_line_of_code_is_wider_than_its_box(lesson: Lesson) -> None:
    assert [part for part in lesson.parts if part.kind == "cute"]
    for part in lesson.parts:
        if part.kind == "cute":
            assert max(map(len, part.text.splitlines())) <= 90
        elif part.kind == "text":
            for one in pieces(part.text):
                lines = one.typed.splitlines() if isinstance(one, Example) else [""]
                assert max(map(len, lines)) <= 78, one
