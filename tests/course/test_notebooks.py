"""The notebooks: valid, without outputs, the same each time, and every cell but the empty answers runs."""

from __future__ import annotations

import json
import tomllib

import pytest
from each import each
from places import ROOT

from builder.notebooks import WHEEL, notebook
from descriptors.course.catalog import lessons
from descriptors.course.grading import check
from descriptors.errors import DescriptorError
from layoutalg import __version__


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_a_notebook_is_valid_and_runs_and_untouched_answers_are_not_right(lesson) -> None:
    pytest.importorskip("nbformat")
    text = notebook(lesson)
    assert text == notebook(lesson)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert not [cell for cell in cells if cell["outputs"] or cell["execution_count"]]
    known: dict[str, object] = {}
    count = 0
    for cell in cells:
        source = "".join(cell["source"])
        if source.startswith("check("):
            count += 1
            assert "still to be filled in" in eval(source, known)  # noqa: S307
        elif "%pip" in source:
            assert source.endswith(f"\n    %pip install -q {WHEEL}")
            exec(source.replace("%pip install -q ", "raise AssertionError  # "), known)  # noqa: S102  (it is installed here)
        elif "composition(Layout((4, 3), (1, 5))" not in source:  # the one example that is refused
            exec(source, known)  # noqa: S102
    assert count == len(lesson.exercises)


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_a_notebook_tells_no_solution_and_no_note_of_the_teacher(lesson) -> None:
    pytest.importorskip("nbformat")
    cells = ["".join(cell["source"]) for cell in json.loads(notebook(lesson))["cells"]]
    places = [k for k, cell in enumerate(cells) if cell.startswith("check(")]
    for at, exercise in zip(places, lesson.exercises, strict=True):
        question, answer = cells[at - 1], cells[at]
        assert f"`{exercise.solution}`" not in question or exercise.solution == "none"
        assert exercise.starter in answer and exercise.starter != exercise.solution
        assert exercise.why not in "".join(cells)
    assert lesson.teacher.strip() not in "".join(cells)


def test_the_wheel_has_the_name_that_the_build_gives_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"{project['name']}-{__version__}-py3-none-any.whl" == WHEEL


def test_an_exercise_that_is_not_there_is_refused() -> None:
    with pytest.raises(DescriptorError, match="lesson 99 does not exist; lessons: 1, 2"):
        check("99.1", "2:1")
