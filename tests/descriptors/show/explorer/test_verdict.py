"""One verdict, in view, of exactly what is on the screen; what is not computed yet is grey and says so."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote

import pytest
from acts import settled, text, visit

from descriptors.show.explorer.page import first_state
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
    return opened.get_attribute("#proof", "class") == "badge good" or "proved" in text(opened, "#proof")


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
    assert text(home, "#proof") == "drawn without a tile: there is no descriptor to prove"
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
    known = "(read model: documented, not measured on a Blackwell GPU)"
    assert text(home, "#proof") == f"right: all 1024 elements {known}"
    assert text(home, "#headword") == "0x4000404001000000"
    field = home.locator("[data-field=version]")
    settled(home, lambda: field.fill("2") or field.press("Tab"))
    assert text(home, "#proof").startswith("WRONG: ") and "version" in text(home, "#proof")
    assert text(home, "#headword") == "0x4000804001000000"
    settled(home, lambda: home.click("#reset"))
    assert text(home, "#proof") == f"proved: 16384 elements in 16 subtiles, each walked {known}"
    assert home.is_hidden("#reset")
    assert "edit" not in home.url


def test_what_is_half_typed_turns_nothing_red(home: Any) -> None:
    control = home.locator("#controls [name=tile]")
    control.fill("256x")
    home.locator("#status", has_text="incomplete input").wait_for()
    assert home.is_hidden("#problem")
    assert not is_green(home) and home.get_attribute("#proof", "class") == "badge wait"
    settled(home, lambda: control.fill("256x64"))
    assert text(home, "#status") == "" and is_green(home)
    control.fill("25x")
    home.locator("#status", has_text="incomplete input").wait_for()
    control.press("Tab")
    home.locator("#problem", has_text="which is not 1 to 4 numbers").wait_for()


def test_the_head_of_the_page_has_the_grade_and_the_theorem(home: Any) -> None:
    documented = "(read model: documented, not measured on a Blackwell GPU)"
    assert text(home, "#proof") == f"proved: 16384 elements in 16 subtiles, each walked {documented}"
    assert text(home, "#covers") == "by theorem for every tile 64*m x 64*k, any base that is a multiple of 1024"
    assert home.locator("#covers").bounding_box()["y"] < 200, "in the first view"
    settled(home, lambda: home.select_option("#controls [name=arch]", "sm90"))
    home.locator("#proof.good", has_text="(read model: measured on a Hopper GPU)").wait_for()


@pytest.mark.parametrize("arch", ["sm90", "sm100"])
@pytest.mark.parametrize("how", ["link", "typed", "frozen"])
def test_a_warning_is_in_view_and_the_verdict_is_amber(
    page: Any, server: Server, arch: str, how: str, tmp_path: Path
) -> None:
    if how == "frozen":
        (tmp_path / "frozen.html").write_text(page_of({"base": 128, "arch": arch}), encoding="utf-8")
        visit(page, (tmp_path / "frozen.html").as_uri())
    else:
        visit(page, f"{server.url}#arch={arch}" + "&base=128" * (how == "link"))
        if how == "typed":
            settled(page, lambda: page.fill("#controls [name=base]", "128"))
    page.locator("#proof.warn", has_text="proved, with 1 warning: 16384 elements").wait_for()
    assert text(page, "#warnings").startswith("warning: base 128 is not a multiple of 1024, so base_offset is 1")
    assert page.locator("#warnings").bounding_box()["y"] < 200, "in the first view"
    if how == "typed":
        field = page.locator("[data-field=leading_byte_offset]")
        settled(page, lambda: field.fill("4096") or field.press("Tab"))
        page.locator("#proof.warn", has_text="right: all 1024 elements (read model").wait_for()
        assert text(page, "#warnings").startswith("warning: base 128")
        settled(page, lambda: page.fill("#controls [name=base]", "1024"))
        page.locator("#proof.good", has_text="proved").wait_for()
        assert text(page, "#warnings") == ""


#: What nobody should give a key of the page, beside numbers that are too small, too large, or no numbers.
BAD = {
    "tile": ["7x7", "0x0", "1000000x64", "128", "x", "", "64x64x0", "128x128x99"],
    "mma": ["1x1", "64x0", "m64n8", "m64n999k16", "63x16"],
    "order": ["0,0", "5,6", "1"],
    "cell": ["999,0", "0", "x", "", "1,2,3", "0,128"],
    "base": ["7", "16", "64", "262016", "262144", "999999", "-128", "0x40", "0xfffff"],
    "layout": ["(", "8:1", "(128,64):(65,1)", "S<9,9,9> o 0 o (64,64):(64,1)"],
    "lanes": ["(", "S<3,4,3>", "(1000,1000):(0,0)"],
    "word": ["0x", "zz", "0x1ffffffffffffffff", "0x0", "0xffffffffffffffff"],
    "edit": ['{"version": "9"}', '{"nothing": "1"}', '{"stride_byte_offset": "7"}', "[]", "7"],
    "paste": ["(", "0x", "S<1"],
}
OFTEN = ["-1", "99999999999999999999", "none such", "<b>"]


#: Keys whose values are of different kinds: extents, an address, a notation, a word. The others are exhaustive.
TRIED = ("tile", "base", "layout", "word")


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=() if key in TRIED else pytest.mark.exhaustive) for key in first_state()]
)
def test_a_bad_value_of_any_key_is_answered_or_refused_in_words(page: Any, server: Server, key: str) -> None:
    """Whatever a link holds, the page shows an answer or a refusal: no empty word, and no error of a script."""
    for value in [*BAD.get(key, []), *OFTEN]:
        page.goto("about:blank")
        page.goto(f"{server.url}#{key}={quote(value, safe='')}")
        page.wait_for_selector("html[data-painted]", state="attached")
        page.locator("#proof:not(.wait), #problem:not([hidden])").first.wait_for()
        refused = page.is_visible("#problem")
        assert refused or re.fullmatch("0x[0-9a-f]{16}", text(page, "#headword")) or key == "paste", value
        said = text(page, "#problem") if refused else text(page, "#proof")
        assert said and not re.search("undefined|Traceback|TypeError|object has no|NoneType", said), value
        if refused:
            assert not is_green(page), value


@pytest.mark.parametrize("base", ["7", "262144"])
def test_a_base_that_no_tile_can_have_is_refused_and_a_good_one_answered_again(home: Any, base: str) -> None:
    home.fill("#controls [name=base]", base)
    home.press("#controls [name=base]", "Enter")
    home.locator("#problem", has_text="base").wait_for()
    assert not is_green(home)
    settled(home, lambda: home.fill("#controls [name=base]", "2048") or home.press("#controls [name=base]", "Enter"))
    assert home.is_hidden("#problem") and is_green(home) and text(home, "#headword") == "0x4000404000010080"


def test_enter_before_the_answer_to_what_was_typed_is_answered_in_words(home: Any) -> None:
    free = hold(home)
    home.fill("#controls [name=base]", "7")
    home.wait_for_timeout(200)  # the question of what was typed is asked, and not answered yet
    home.press("#controls [name=base]", "Enter")
    let_go(home, free)
    home.locator("#problem", has_text="the base address 7 is not a multiple of 128 bytes").wait_for()
