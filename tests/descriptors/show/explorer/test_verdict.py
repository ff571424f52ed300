"""One verdict, in view, of exactly what is on the screen; what is not computed yet is grey and says so."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from acts import settled, text, visit

from descriptors.show.explorer.page import page as page_of
from descriptors.show.explorer.server import Server

OTHER = "#tile=128x64&dtype=e4m3&swizzle=64B&mma=64x32"


@pytest.fixture
def home(page: Any, server: Server) -> Any:
    visit(page, server.url)
    return page


def hold(opened: Any) -> Event:
    """An engine that answers when it is let go."""
    free = Event()

    def late(route: Any) -> None:
        if free.is_set():
            route.continue_()
        else:
            held.append(route)

    held: list[Any] = []
    opened.route("**/answer", late)
    opened.held = held
    return free


def let_go(opened: Any, free: Event) -> None:
    free.set()
    for route in opened.held:
        route.continue_()


def is_green(opened: Any) -> bool:
    """Whether a word is called right: by its colour, or by what stands there."""
    return opened.get_attribute("#proof", "class").strip() == "badge" or "proved" in text(opened, "#proof")


def test_a_link_to_another_state_shows_no_verdict_of_the_frozen_one(page: Any, server: Server) -> None:
    free = hold(page)
    page.goto(server.url + OTHER)
    page.wait_for_selector("html[data-painted]", state="attached")
    assert not is_green(page)
    assert text(page, "#proof") == "not computed yet"
    assert "0x4000404000010000" not in text(page, "#headword")
    assert page.evaluate("getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)"
    let_go(page, free)
    page.locator("#proof", has_text="proved: 8192 elements in 4 subtiles").wait_for()
    assert text(page, "#headword") == "0x8000402000010000"
    assert page.evaluate("getComputedStyle(document.querySelector('main')).filter") == "none"


def test_not_even_before_its_script_has_run(chromium: Any) -> None:
    """What stands before the script of the page hides the verdict of a page whose link says another state."""
    document = page_of({}, "server")
    context = chromium.new_context(bypass_csp=True)
    opened = context.new_page()
    cut = document.rpartition("<script>")[0]
    opened.route("**/*", lambda route: route.fulfill(body=cut, content_type="text/html"))
    for link, visible in (("http://127.0.0.1:9/", True), ("http://127.0.0.1:9/" + OTHER, False)):
        opened.goto("about:blank")
        opened.goto(link)
        assert opened.is_visible("#proof") is visible
    context.close()


def test_what_a_link_asks_for_is_said_before_the_script_has_run(chromium: Any) -> None:
    """Whoever comes by a link sees what it asks for, and neither tile nor picture of the state that was baked in."""
    cut = page_of({}, "worker").rpartition("<script>")[0]
    context = chromium.new_context(bypass_csp=True)
    opened = context.new_page()
    opened.route("**/*", lambda route: route.fulfill(body=cut, content_type="text/html"))
    opened.goto("http://127.0.0.1:9/#tile=64x64&word=0x8000402000010000&paste=%22%5C%3C")
    said = opened.evaluate("getComputedStyle(document.getElementById('summary'), '::after').content")
    assert "tile=64x64, word=0x8000402000010000" in said
    assert "not computed yet" in opened.evaluate(
        "getComputedStyle(document.getElementById('verdict'), '::before').content"
    )
    assert opened.evaluate("getComputedStyle(document.getElementById('canvas')).visibility") == "hidden"
    context.close()


def test_what_is_drawn_by_itself_has_no_verdict_of_the_tile_beside_it(home: Any) -> None:
    home.fill("#paste", "Swizzle<3,4,4>")
    home.press("#paste", "Enter")
    home.locator("#pasted .canvas svg").first.wait_for()
    assert text(home, "#proof") == "drawn by itself: no tile, no word to prove"
    assert home.is_hidden("#headword") and home.is_hidden("main") and home.is_hidden("#operand")
    home.fill("#paste", "0x4000404000010000\n0x4000402000010000")
    home.press("#paste", "Enter")
    home.locator("#proof.bad", has_text="different: 0x4000404000010000 and 0x4000402000010000").wait_for()
    home.click("#untell")
    assert home.is_visible("main") and text(home, "#proof").startswith("proved")


def test_a_changed_field_takes_the_verdict_away_until_there_is_one_of_the_changed_word(home: Any) -> None:
    assert is_green(home)
    free = hold(home)
    home.fill("[data-field=stride_byte_offset]", "512")
    home.press("[data-field=stride_byte_offset]", "Tab")
    assert not is_green(home) and text(home, "#proof") == "not computed yet"
    let_go(home, free)
    home.locator("#proof", has_text="WRONG: 896 of 1024 elements; change stride_byte_offset 512 -> 1024").wait_for()
    assert text(home, "#headword") == "0x4000402000010000", "the word as it was typed"
    assert home.locator("#svg .f-c7").count() >= 1, "the wrong cells, whatever the colour"


def test_a_changed_tile_takes_it_away_too(home: Any) -> None:
    free = hold(home)
    home.select_option("#controls [name=swizzle]", "64B")
    assert text(home, "#proof") == "not computed yet"
    let_go(home, free)
    home.locator("#proof", has_text="proved").wait_for()


@pytest.mark.parametrize("size", [(1440, 900), (1366, 768), (390, 844)])
def test_it_stays_in_view_wherever_one_scrolls(home: Any, size: tuple[int, int]) -> None:
    home.set_viewport_size({"width": size[0], "height": size[1]})
    settled(home, lambda: home.fill("#word", "0x4000402000010000") or home.press("#word", "Tab"))
    for y in (0, 700, 100_000):
        home.evaluate(f"scrollTo(0, {y})")
        box = home.locator("#proof").bounding_box()
        assert box["height"] > 0 and box["y"] >= 0 and box["y"] + box["height"] <= size[1], y


def test_a_field_that_is_not_read_leaves_the_word_right_and_a_word_that_nobody_reads_is_wrong(home: Any) -> None:
    field = home.locator("[data-field=leading_byte_offset]")
    settled(home, lambda: field.fill("4096") or field.press("Tab"))
    assert (text(home, "#proof"), text(home, "#headword")) == ("right: all 1024 elements", "0x4000404001000000")
    field = home.locator("[data-field=version]")
    settled(home, lambda: field.fill("0") or field.press("Tab"))
    assert text(home, "#proof").startswith("WRONG: ") and "version" in text(home, "#proof")
    assert text(home, "#headword") == "0x4000004001000000"
    settled(home, lambda: home.click("#reset"))
    assert text(home, "#proof") == "proved: 16384 elements in 16 subtiles, each walked"
    assert home.is_hidden("#reset")
    assert "edit" not in home.url


def test_what_is_half_typed_turns_nothing_red(home: Any) -> None:
    control = home.locator("#controls [name=tile]")
    control.fill("256x")
    home.locator("#status", has_text="not an answer yet").wait_for()
    assert home.is_hidden("#problem")
    assert not is_green(home) and home.get_attribute("#proof", "class") == "badge wait"
    settled(home, lambda: control.fill("256x64"))
    assert text(home, "#status") == "" and is_green(home)
    control.fill("25x")
    home.locator("#status", has_text="not an answer yet").wait_for()
    control.press("Tab")
    home.locator("#problem", has_text="tile must be").wait_for()
