"""The pages of the course for everyone: axe finds nothing to mend, light and dark, and every screen is wide enough.

Every page must fit; axe looks at all pages but the slides, of which a few decks stand for those of the same template.
What the colours change is their contrast alone, so that in the dark axe is asked for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import browsers
import pytest
from lesson_pages import counted, exercise, opened_hint, printed, said

from descriptors.course.catalog import find, lessons

SIZES = {"wide": (1200, 900), "phone": (360, 740), "400 %": (320, 256)}
SLIDES = [f"{one.number:02}-slides" for one in lessons()]
PAGES = ["index", "lines", "handout", "solutions", "card", "teacher", *(f"{one.number:02}" for one in lessons())]
#: Lessons are pages of one kind: two of them are looked at each time, the others in an exhaustive run.
SAMPLED = [
    pytest.param(name, marks=pytest.mark.exhaustive if name in PAGES[7:-1] else ()) for name in [*PAGES, *SLIDES[::5]]
]
RULES = {"light": "", "dark": ", runOnly: ['color-contrast']"}


def violations(page: Any, rules: str = "") -> list[Any]:
    """What axe finds by all rules or by those that are named, with the elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((browsers.node_package("axe-core") / "axe.min.js").read_text(encoding="utf-8"))
    axe_report = page.evaluate(f"axe.run(document, {{ resultTypes: ['violations']{rules} }})")
    return [(one["id"], [node["html"][:120] for node in one["nodes"]][:4]) for one in axe_report["violations"]]


@contextmanager
def quiet(chromium: Any, scheme: str) -> Iterator[Any]:
    """A page whose engine is kept from starting, so that many can be looked at quickly."""
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True, service_workers="block")
    context.route("**/worker.js*", lambda route: route.abort())
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module", params=RULES)
def scheme(request: pytest.FixtureRequest) -> str:
    """Light or dark."""
    return str(request.param)


@pytest.fixture(scope="module")
def still(chromium: Any, scheme: str) -> Iterator[Any]:
    with quiet(chromium, scheme) as page:
        yield page


def test_every_page_fits_every_screen(chromium: Any, address: str) -> None:
    wider = []
    with quiet(chromium, "light") as page:
        for name in [*PAGES, *SLIDES]:
            page.goto(f"{address}{name}.html")
            for wide, high in SIZES.values():
                page.set_viewport_size({"width": wide, "height": high})
                width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                wider += [(name, wide)] if width > room else []
    assert wider == []


@pytest.mark.parametrize("name", SAMPLED)
def test_axe_finds_nothing_to_mend(still: Any, scheme: str, address: str, name: str) -> None:
    still.set_viewport_size({"width": 360, "height": 740})
    still.goto(f"{address}{name}.html")
    assert violations(still, RULES[scheme]) == []


def test_axe_would_find_something(still: Any, scheme: str) -> None:
    still.set_content('<p style="color:#999;background:#aaa">grey</p><input>')
    assert {one for one, _ in violations(still)} >= {"color-contrast", "label"}
    assert {one for one, _ in violations(still, RULES["dark"])} == {"color-contrast"}


def test_axe_finds_nothing_in_what_the_engine_answers(chromium: Any, address: str, scheme: str) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True, service_workers="block")
    page = context.new_page()
    page.goto(f"{address}05.html")
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    said(page, "5.1", find("5.1").solution)
    said(page, "5.2", find("5.2").wrong[0][0])
    opened_hint(page, "5.2", 0)
    page.click(f"{exercise('5.2')} .solution summary")
    page.fill(".example textarea >> nth=0", "1 / 0")
    assert "ZeroDivisionError" in printed(page, 0)
    page.fill("#f1", "nothing")
    counted(page, ".draw:has(#f1)", "drawn", lambda: page.press("#f1", "Enter"))
    assert violations(page, RULES[scheme]) == []
    context.close()


def test_a_page_is_printed_without_its_buttons(still: Any, address: str, tmp_path: Path) -> None:
    still.goto(f"{address}05.html")
    still.emulate_media(media="print")
    assert still.locator("button:visible").count() == 0
    assert still.locator(".exercise:visible").count() >= 4
    still.emulate_media(media="screen")


def test_what_is_no_text_has_words(still: Any, address: str) -> None:
    """Pictures have a name, and what changes is read aloud."""
    still.goto(f"{address}05.html")
    assert still.locator("figure svg[role=img]").count() == still.locator("figure svg").count() >= 1
    for live in (".out", ".draw .verdict", ".try .verdict", "#engine", "#busytext"):
        assert still.locator(live).count() == still.locator(f"{live}[role=status]").count() >= 1
