"""The first steps: a row for each kind of machine, links to what was built alone, and commands that are there."""

from __future__ import annotations

import re

import pytest

from builder.notebooks import WHEEL
from builder.pages import first_steps
from descriptors.course.catalog import folder, lessons

pytest.importorskip("markdown_it")

BUILT = {WHEEL, *(f"{one.number:02}.ipynb" for one in lessons())}


@pytest.mark.parametrize("machine", ["Chromebook", "Windows", "macOS", "Linux", "Colab", "JupyterLite"])
def test_there_is_a_row_for_each_machine_that_says_whether_it_was_tried(machine: str) -> None:
    text = first_steps(lessons(), BUILT)
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", text, re.S) if f"<strong>{machine}</strong>" in row]
    *_, tried = re.findall(r"<td>(.*?)</td>", row, re.S)
    assert tried.startswith(("untried", "on Debian", "in Chromium"))


def test_what_was_built_is_linked_and_nothing_else() -> None:
    assert set(re.findall(r'href="([^"]+)"', first_steps(lessons(), BUILT))) == BUILT
    assert "href" not in first_steps(lessons(), ())


def test_no_place_is_open_and_no_index_of_packages_is_promised() -> None:
    text = first_steps(lessons(), BUILT)
    assert "{{" not in text
    assert set(re.findall(r"pip install (\S+)", (folder() / "start.md").read_text(encoding="utf-8"))) == {
        "{{wheelname}}"
    }
