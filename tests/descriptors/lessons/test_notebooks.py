"""The notebooks: valid, without outputs, the same each time, and every cell but the empty answers runs."""

from __future__ import annotations

import json

import pytest

from descriptors.errors import DescriptorError
from descriptors.lessons.notebooks import check, notebook
from descriptors.lessons.source import lessons


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_a_notebook_is_valid_and_runs_and_untouched_answers_are_not_right(lesson) -> None:
    pytest.importorskip("nbformat")
    text = notebook(lesson)
    assert text == notebook(lesson)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert not [cell for cell in cells if cell["outputs"] or cell["execution_count"]]
    known: dict[str, object] = {}
    asked = 0
    for cell in cells:
        source = "".join(cell["source"])
        if source.startswith("check("):
            asked += 1
            assert "still to be filled in" in eval(source, known)  # noqa: S307
        elif "a = (6,2):(1,7)" not in source and "Layout((6, 2), (1, 7))" not in source:
            exec(source, known)  # noqa: S102
    assert asked == len(lesson.exercises)


def test_an_exercise_that_is_not_there_is_refused() -> None:
    with pytest.raises(DescriptorError, match="must be one of the course"):
        check("99.1", "2:1")
