"""What pages are written with: text stays text, and a page may do what it needs and no more."""

from __future__ import annotations

import re

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from builder.markup import LIVE, STILL, document, inline, markdown, part
from descriptors.course.catalog import lessons
from descriptors.course.source import Lesson


@given(st.text())
def test_a_sentence_never_becomes_an_element(text: str) -> None:
    assert set(re.findall(r"<[^>]*>", inline(text))) <= {"<code>", "</code>"}


def test_the_title_is_escaped_and_braces_in_a_page_stay() -> None:
    html = document("<script>", "{{title}}")
    assert "<title>&lt;script&gt;</title>" in html and "{{title}}" in html


def test_html_in_markdown_is_text() -> None:
    pytest.importorskip("markdown_it")
    assert "<script" not in markdown("a <script>b</script>\n\n<script>c</script>")


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_no_arithmetic_of_a_lesson_is_taken_for_emphasis(lesson: Lesson) -> None:
    """`8*4 and 1*2` without backquotes loses its stars."""
    pytest.importorskip("markdown_it")
    for one in lesson.parts:
        if one.kind == "text":
            assert not re.findall(r"\w<(?:em|strong)>.*?</|<(?:em|strong)>[^<]*</(?:em|strong)>\w", markdown(one.text))


def test_a_page_without_an_engine_runs_nothing_and_one_with_it_asks_its_own_site_alone() -> None:
    assert "script-src" not in STILL and STILL.startswith("default-src 'none'")
    sources = {word for rule in LIVE.split("; ") for word in rule.split()[1:]}
    assert sources == {"'none'", "'self'", "'unsafe-inline'", "'wasm-unsafe-eval'", "data:"}
    assert "'unsafe-eval'" not in LIVE


def test_a_template_that_is_not_filled_is_noticed() -> None:
    with pytest.raises(KeyError):
        part("folded.html", kind="hint")
