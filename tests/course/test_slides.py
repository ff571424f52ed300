"""The slides in a browser: keys, notes, print; nothing runs off a slide; without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from builder.slides import deck
from descriptors.course.catalog import lessons
from descriptors.course.source import EXAMPLE, Lesson, parse

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))
OVER = "[document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]"


def opened(chromium: Any, tmp_path: Path, lesson: Lesson, **options: Any) -> Any:
    path = tmp_path / "slides.html"
    path.write_text(deck(lesson), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1280, "height": 720}, **options)
    page.goto(path.as_uri())
    return page


@LESSONS
def test_a_deck_needs_no_other_file(lesson: Lesson) -> None:
    html = deck(lesson)
    assert not re.search(r'(?:src|href)="(?!#|data:)|url\(|@import', html)
    assert html == deck(lesson)


@LESSONS
def test_nothing_runs_off_a_slide(chromium: Any, tmp_path: Path, lesson: Lesson) -> None:
    page = opened(chromium, tmp_path, lesson)
    count = page.locator(".sheet").count()
    for number in range(1, count + 1):
        assert page.locator(".sheet.here").get_attribute("id") == f"s{number}"
        assert page.evaluate(OVER) == [0, 0], f"slide {number} of lesson {lesson.number}"
        page.keyboard.press("ArrowRight")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1058, "height": 595})  # 280 by 157.5 mm
    cut = "[...document.querySelectorAll('.sheet')].filter(s => s.scrollHeight > s.clientHeight + 1).map(s => s.id)"
    assert page.evaluate(cut) == []


def test_keys_lead_through_the_slides_and_n_shows_the_notes(chromium: Any, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, parse(EXAMPLE))
    sheet = page.locator(".sheet.here")
    steps = [("ArrowRight", 2), ("PageDown", 3), ("ArrowLeft", 2), ("End", 5), ("ArrowRight", 5), ("Home", 1)]
    for key, number in steps:
        page.keyboard.press(key)
        assert sheet.get_attribute("id") == f"s{number}"
        assert page.locator("#where").inner_text() == f"{number} of 5"
    assert page.url.endswith("#s1")
    notes = page.locator(".sheet.here .notes")
    assert not notes.is_visible()
    page.keyboard.press("n")
    assert notes.inner_text() == "Walk."
    page.keyboard.press("n")
    assert not notes.is_visible()
    page.get_by_role("button", name="Next").click()
    assert sheet.get_attribute("id") == "s2"


def test_the_answer_of_a_vote_opens_by_key_and_the_tab_key_leads_out_again(chromium: Any, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, parse(EXAMPLE))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if reached[-1] == "answer":
            page.keyboard.press("Enter")
    assert reached[:4] == ["answer", "Back", "Next", "Notes"]
    assert reached[4] not in reached[:4]  # it left the page
    assert page.locator("details p").inner_text() == "C: 4"


def test_printed_it_is_a_slide_a_page_without_notes(chromium: Any, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, parse(EXAMPLE))
    page.keyboard.press("n")
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == 5
    page.emulate_media(media="print")
    assert not page.locator(".notes").first.is_visible()
    assert page.locator(".sheet").last.is_visible()


def test_without_a_script_the_slides_stand_below_one_another(chromium: Any, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, parse(EXAMPLE), java_script_enabled=False)
    assert page.locator("#s5").is_visible()
    assert not page.locator("#bar").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_can_be_read_in_both_colours(chromium: Any, tmp_path: Path, scheme: str) -> None:
    page = opened(chromium, tmp_path, parse(EXAMPLE), color_scheme=scheme)
    script = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
    colours = {name: page.evaluate(script.format(name)) for name in ("paper", "ink", "muted", "panel", "accent")}
    for ink in ("ink", "muted", "accent"):
        for paper in ("paper", "panel"):
            assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2.1 defines it."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
