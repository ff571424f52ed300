"""The first view, closer and farther, back and forward: what a person does with wheel, fingers and keys."""

from __future__ import annotations

from typing import Any

import pytest
from acts import click, put, settled, text, visit

from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.server import Server


@pytest.fixture
def home(page: Any, server: Server) -> Any:
    visit(page, server.url)
    return page


@pytest.mark.parametrize("size", [(1440, 900), (1366, 768), (390, 844)])
def test_the_whole_picture_is_in_the_first_screen(page: Any, server: Server, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(server.url)
    page.wait_for_selector("html[data-painted]", state="attached")
    box = page.locator("#svg svg").bounding_box()
    assert box["y"] + box["height"] <= size[1]
    assert size[0] < 900 or box["width"] >= 600
    assert page.is_hidden("#controls"), "the other controls are in a drawer"


def selected(home: Any) -> str:
    return str(home.get_attribute("[role=tab][aria-selected=true]", "id"))


#: The smallest type of the pictures that are in view, in pixels of the screen.
SMALLEST = """() => Math.min(...[...document.querySelectorAll('#svg text, #inset text, .canvas text')].map((one) => {
    const m = one.getScreenCTM();
    return one.getClientRects().length ? Math.hypot(m.a, m.b) * parseFloat(getComputedStyle(one).fontSize) : 99; }))"""


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_no_text_of_a_picture_is_below_nine_pixels(page: Any, server: Server, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for tab in ("tile", "memory", "atom", "banks", "tensor", "registers"):
        page.goto("about:blank")
        page.goto(f"{server.url}#cell=70,21&tab={tab}")
        page.wait_for_selector("html[data-settled]", state="attached")
        assert page.evaluate(SMALLEST) >= 8.99, tab
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab


def test_zoom_is_by_wheel_keys_buttons_and_a_double_click_and_keeps_the_element_in_view(home: Any) -> None:
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    settled(home, lambda: click(home, grid, 70, 21))
    home.evaluate("scrollTo(0, 0)")
    home.hover("#scroll")
    settled(home, lambda: home.mouse.wheel(0, -120))
    assert selected(home) == "tab-memory" and "70:2" in text(home, "#astext pre")
    assert home.locator("#marks .cell").count() == 1
    settled(home, lambda: home.click("#zoomin"))
    assert selected(home) == "tab-atom" and home.locator("#marks .cell").count() == 1
    assert home.is_disabled("#zoomin")
    home.focus("#scroll")
    settled(home, lambda: home.keyboard.press("-"))
    settled(home, lambda: home.keyboard.press("-"))
    assert selected(home) == "tab-tile" and home.is_disabled("#zoomout")
    home.locator("#scroll").dblclick(position={"x": 90, "y": 120})
    home.locator("#tab-memory[aria-selected=true]").wait_for()


def test_two_fingers_zoom(chromium: Any, server: Server) -> None:
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    opened = context.new_page()
    visit(opened, server.url)
    pinch = """([from, to]) => {
        const at = document.getElementById("scroll");
        const touch = (x, identifier) => new Touch({ identifier, target: at, clientX: 150 + x / 2, clientY: 300 });
        const fire = (type, apart) => at.dispatchEvent(
            new TouchEvent(type, { bubbles: true, cancelable: true, touches: [-apart, apart].map(touch) }));
        fire("touchstart", from); fire("touchmove", to);
    }"""
    settled(opened, lambda: opened.evaluate(pinch, [80, 120]))
    assert selected(opened) == "tab-memory"
    settled(opened, lambda: opened.evaluate(pinch, [120, 80]))
    assert selected(opened) == "tab-tile"
    context.close()


def test_the_swizzle_is_taken_away_at_a_click_and_only_memory_changes(home: Any) -> None:
    def rows() -> list[str]:
        return list(home.evaluate("[...document.querySelectorAll('#svg text')].map(one => one.textContent)"))

    home.wait_for_selector("#svg text")
    before = rows()
    settled(home, lambda: home.uncheck("#looks [name=swizzled]"))
    after = rows()
    assert "shared memory, without the swizzle" in after and "shared memory, swizzled" in before
    grids = answer({"swizzled": False, "want": ["stage"]})["stage"]["grids"]
    assert [at[1] // 8 for at in grids[-1]["cells"][3]] == list(range(8))


def test_back_undoes_and_forward_does_again(home: Any) -> None:
    assert home.is_disabled("#undo")
    put(home, "swizzle", "64B")
    word = text(home, "#headword")
    settled(home, lambda: home.click("#tab-banks"))
    settled(home, lambda: home.click("#undo"))
    assert selected(home) == "tab-tile" and text(home, "#headword") == word
    settled(home, lambda: home.go_back())
    assert home.input_value("#controls [name=swizzle]") == "128B" and home.is_disabled("#undo")
    settled(home, lambda: home.go_forward())
    assert home.input_value("#controls [name=swizzle]") == "64B" and text(home, "#headword") == word
    home.locator("#proof", has_text="proved").wait_for()


def test_what_is_typed_into_a_control_is_one_step_back(home: Any) -> None:
    control = home.locator("#controls [name=tile]")
    settled(home, lambda: control.fill("") or control.press_sequentially("64x64", delay=90))
    home.locator("#summary", has_text="64x64 bf16").wait_for()
    settled(home, lambda: home.click("#undo"))
    assert text(home, "#summary").startswith("128x128") and home.is_disabled("#undo")


def test_a_link_holds_what_was_pasted(home: Any) -> None:
    home.fill("#paste", "0x4000404000010000\n0x4000402000010000")
    home.click("#tell")
    home.locator("#pasted pre", has_text="stride_byte_offset").wait_for()
    address = home.url
    other = home.context.new_page()
    other.goto(address)
    other.locator("#pasted pre", has_text="stride_byte_offset [32,46): 1024 and 512").wait_for()


def test_the_title_says_the_state(home: Any) -> None:
    assert home.title() == "128x128 bf16 K-major 128B, mma 64x16, sm100"
    settled(home, lambda: home.fill("#word", "0x4000402000010000") or home.press("#word", "Tab"))
    assert home.title().startswith("WRONG: 896 of 1024 elements")


def test_any_swizzle_is_drawn_without_an_operand_and_set_freely(home: Any) -> None:
    home.fill("#paste", "Swizzle<3,4,4>")
    home.click("#tell")
    home.locator("#pasted .canvas svg").first.wait_for()
    assert "descriptors do not support S<3,4,4>" in text(home, "#pasted")
    inputs = home.locator("#pasted input")
    assert inputs.evaluate_all("all => all.map(one => one.value)") == ["3,4,4", "2x2", "", "0,0"]
    inputs.nth(1).fill("1x3")
    inputs.nth(1).press("Tab")
    home.wait_for_url(lambda url: "grid%3D1x3" in url)
    canvas = home.locator("#pasted .canvas").bounding_box()
    drawn = answer({"paste": "Swizzle<3,4,4> grid=1x3", "want": ["pasted"]})["pasted"]["picture"]
    grid, scale = drawn["grids"][0], canvas["width"] / drawn["width"]
    x, y = grid["x"] + 13.5 * grid["width"] / grid["columns"], grid["y"] + 3.5 * grid["height"] / grid["rows"]
    home.mouse.click(canvas["x"] + scale * x, canvas["y"] + scale * y)
    home.locator("#pasted", has_text="row_tile_idx 0, col_tile_idx 1, row in it 3, column in it 5").wait_for()
    other = home.context.new_page()
    other.goto(home.url)
    other.locator("#pasted", has_text="col_tile_idx 1, row in it 3, column in it 5").wait_for()
    home.click("#untell")
    assert home.is_hidden("#told") and "paste" not in home.url


@pytest.mark.parametrize(
    ("pasted", "said"),
    [("0x4000402000010000", "WRONG: 896 of 1024"), ("0x40004040 00010000", "right: all 1024 elements")],
)
def test_a_pasted_word_is_compared_with_the_tile_on_the_stage(home: Any, pasted: str, said: str) -> None:
    home.fill("#paste", pasted)
    settled(home, lambda: home.press("#paste", "Enter"))
    assert text(home, "#proof").startswith(said)
    assert home.input_value("#word") == text(home, "#headword")
