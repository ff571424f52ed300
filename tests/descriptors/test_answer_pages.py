"""`print` of an answer tells its story, and a notebook shows its tables, with no more than the public names."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from descriptors import decode, derive, diff, match, survey, tell, tma_plan

D = derive((128, 128), "bf16", "MN", "64B", (64, 16))
SW128 = "S<3,3,3> o 0 o (64,16):(64,1)"
ANSWERS: dict[str, Any] = {
    "derive": D,
    "decode": decode(0x4000404000010000, "sm100", dtype="bf16", major="K"),
    "diff": diff(1 << 62 | 32 << 32, SW128, arch="sm90", dtype="bf16", major="K"),
    "tma_plan": tma_plan(D, rank=2),
    "match": match("(64,16):(64,1)", "bf16", swizzle="128B"),
    "survey": survey((64, 16), "bf16", (64, 16)),
}
PAGES = ["derive", "decode", "diff", "tma_plan"]


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_print_tells_what_tell_tells_and_the_headline_is_a_line(answer: Any) -> None:
    assert str(answer) == f"{answer}" == tell(answer)
    assert answer.headline and "\n" not in answer.headline


class Page(HTMLParser):
    """What stands in a page, and whether every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "img":  # has no end
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1], []).append(data)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_the_picture_the_story_and_its_tables_and_no_script(name: str) -> None:
    page = Page(ANSWERS[name]._repr_html_())
    assert "".join(page.texts["pre"]) == tell(ANSWERS[name], steps=True)
    assert page.seen.count("table") >= 1 and page.seen.count("tr") > 2
    assert page.seen.count("img") == 1
    assert set(page.seen) <= {"div", "img", "code", "table", "caption", "tr", "th", "td", "details", "summary", "pre"}


def test_the_table_of_a_word_holds_its_fields_and_that_of_a_comparison_the_change() -> None:
    cells = Page(ANSWERS["decode"]._repr_html_()).texts["td"]
    assert {"stride_byte_offset", "1024 bytes", "64 x 16 bytes"} <= set(cells)
    assert Page(ANSWERS["diff"]._repr_html_()).texts["td"][:3] == ["stride_byte_offset", "512", "1024"]
    assert "table" not in Page(diff(1 << 62 | 64 << 32, SW128, "sm90", dtype="bf16", major="K")._repr_html_()).seen


def test_what_could_be_taken_for_an_element_is_escaped() -> None:
    assert "S&lt;" in D._repr_html_() and "S<" not in D._repr_html_()
