"""The pages of the course: they are HTML whose links lead somewhere, and the handout tells no solution."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from descriptors.lessons.handout import handout, solution_book
from descriptors.lessons.pages import index, page
from descriptors.lessons.source import lessons

pytest.importorskip("markdown_it")

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_a_page_has_its_figure_and_each_exercise_with_hints_and_solution(lesson) -> None:
    text = page(lesson)
    Balanced(text)
    assert "<svg" in text
    assert text.count("<summary>hint 1</summary>") == text.count("<summary>solution") == len(lesson.exercises)
    assert "```" not in text


def test_a_page_needs_no_other_file_and_no_network() -> None:
    for lesson in lessons():
        assert not re.search(r'(?:src|href)="(?!#)', page(lesson))


def test_the_links_of_the_index_are_files_that_are_written() -> None:
    links = Balanced(index(lessons())).links
    assert links == [*(f"{one.number:02}.html" for one in lessons()), "handout.html", "solutions.html"]


def test_the_handout_tells_no_solution_and_the_book_all() -> None:
    questions, answers = handout(lessons()), solution_book(lessons())
    Balanced(questions), Balanced(answers)
    assert questions.count('<section class="exercise">') == answers.count("<b>Right:</b>")
    assert "<details" not in questions and "solution" not in questions
