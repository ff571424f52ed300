"""The pages of the course, with an engine and without: whole HTML, every part of a lesson, working links."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from each import each

from builder.pages import Engine, index, lines_page, page
from descriptors.course.catalog import lessons
from descriptors.course.source import EXAMPLE, FIGURES, parse

pytest.importorskip("markdown_it")

VOID = {"meta", "br", "hr", "img", "input", "link"}
ENGINE = Engine("engine-1/course.js", "engine-1/worker.js?answers=x")


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


@each("engine", [None, ENGINE], ids=["plain", "live"])
@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_a_page_has_its_figures_and_each_exercise_with_hints_and_solution(lesson, engine) -> None:
    text = page(lesson, lessons(), engine)
    Balanced(text)
    assert text.count("<figure") == len([part for part in lesson.parts if part.kind in FIGURES])
    assert text.count("<summary>hint 1</summary>") == text.count("<summary>solution") == len(lesson.exercises)
    assert "```" not in text
    assert text.count('<form class="try"') == (0 if engine is None else len(lesson.exercises))
    assert text.count("<p>Check it: <code>layoutalg course") == (len(lesson.exercises) if engine is None else 0)


def test_a_page_without_an_engine_needs_no_other_file_and_no_network() -> None:
    for lesson in lessons():
        assert not re.search(r'(?:src|href)="(?!#|data:,)', page(lesson))


def test_a_page_leads_to_the_lessons_beside_it() -> None:
    first, second, third = lessons()[:3]
    links = Balanced(page(second, lessons())).links
    assert links[-3:] == [f"{first.number:02}.html", "index.html", f"{third.number:02}.html"]
    assert 'rel="prev"' not in page(first, lessons()) and 'rel="next"' not in page(lessons()[-1], lessons())


def test_the_links_of_the_index_are_files_that_are_written() -> None:
    links = [link for link in Balanced(index(lessons())).links if link.endswith(".html")]
    more = ["annex.html", "handout.html", "card.html", "teacher.html"]
    assert links == [*(f"{one.number:02}.html" for one in lessons()), *more]
    assert "lines.html" in Balanced(index(lessons(), ENGINE)).links
    assert ENGINE.script in Balanced(lines_page(ENGINE)).links


def test_what_an_author_writes_is_text_on_the_page() -> None:
    text = EXAMPLE.replace('"two"', '"<i>two</i>"')
    text = text.replace('"2:?"', "'\"><script>?'").replace("one\n", "<img src=x>\n", 1)
    for engine in (None, ENGINE):
        html = page(parse(text), engine=engine)
        assert "<i>" not in html and "<img" not in html and '"><script>?' not in html


def test_an_answer_of_several_lines_has_a_box_of_several_lines() -> None:
    html = page(parse(EXAMPLE.replace('"2:?"', '"one\\ntwo?"')), engine=ENGINE)
    assert re.search(r'<textarea id="a1\.1"[^>]* rows="2">\none\ntwo\?</textarea>', html)
