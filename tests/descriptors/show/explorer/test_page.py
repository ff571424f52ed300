"""A frozen page: one file that opens from disk, holds its answers, and runs no other script than its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import browsers
import pytest
from acts import click, settled, text, visit

from descriptors import DescriptorError
from descriptors.cli import main
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import ENGINES, frozen_page, page, source
from descriptors.show.explorer.question import TABS

AXE = "axe-core"


def baked(document: str) -> dict[str, Any]:
    match = re.search(r'id="baked">(.*?)</script>', document, re.DOTALL)
    assert match is not None
    record: dict[str, Any] = json.loads(match[1])
    return record


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_answer_is_baked_in(engine: str) -> None:
    record = baked(page({"cell": "11,21"}, engine))
    assert record["answer"]["inspector"] == json.loads(json.dumps(answer({"cell": "11,21"})["inspector"]))
    assert set(record["tabs"]) == (set(TABS) if engine == "none" else set())


def test_no_text_ends_the_script_that_holds_it() -> None:
    document = page({"edit": {"stride_byte_offset": "512"}})
    assert document.count("</script>") == 3
    assert "<" not in document.partition('id="baked">')[2].partition("</script>")[0]


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    for engine in ENGINES:
        document = page({}, engine)
        outside = re.findall(r'(?:src|href)="(?!data:|#|about\.html\")[^"]*"|url\(', document)
        assert outside == []
        assert set(re.findall(r"https?://[^\"'\s\\<)]+", document)) <= {"http://www.w3.org/2000/svg"}


def test_the_script_is_plain_and_sets_no_text_as_markup() -> None:
    script = source("page.js")
    assert script.count("innerHTML") == 1, "the engine's own SVG"
    assert not re.search(r"\beval\(|new Function|document\.write|insertAdjacentHTML", script)


def test_a_question_without_an_answer_makes_no_page() -> None:
    with pytest.raises(DescriptorError, match="tile MN is 7"):
        page({"tile": "7x7"})
    assert "tile MN is 7" in frozen_page({"tile": "7x7"})["error"]["message"]


def test_a_minus_writes_the_page_to_standard_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--html", "-", "--cell", "11,21"]) == 0
    assert capsys.readouterr() == (page({"cell": "11,21"}), "")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def disk(page: Any, tmp_path: Path) -> Any:
    """The page from a file that the command wrote."""
    target = tmp_path / "explorer.html"
    assert main(["explore", "--html", str(target), "--cell", "11,21", "--tab", "atom"]) == 0
    visit(page, target.as_uri())
    return page


def test_it_opens_from_disk_with_its_answer(disk: Any) -> None:
    assert text(disk, "#picked").startswith("element (11,21): byte 1434")
    assert disk.get_attribute("#tab-atom", "aria-selected") == "true"
    assert disk.locator("#svg svg").count() == 1
    assert "proved: 16384 elements" in text(disk, "#proof")


def test_its_tabs_turn(disk: Any) -> None:
    for name in TABS:
        disk.click(f"#tab-{name}")
        known = answer({"cell": "11,21", "tab": name, "want": ["stage"]})["stage"]
        disk.locator("#stagetitle", has_text=known["title"]).wait_for()


def facts(opened: Any) -> list[list[str]]:
    """The table of the address inspector, as a person reads it."""
    names, values = (opened.locator(f"#facts {one}").all_text_contents() for one in ("dt", "dd"))
    return [list(pair) for pair in zip(names, values, strict=True)]


def test_every_element_of_it_can_be_chosen(disk: Any) -> None:
    disk.click("#tab-tile")
    disk.locator("#stagetitle", has_text="colored by logical column").wait_for()
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    for cell in ((0, 0), (70, 21), (127, 127), (11, 21)):
        settled(disk, lambda cell=cell: click(disk, grid, *cell))  # type: ignore[misc]
        known = answer({"cell": list(cell), "want": ["told", "inspector", "stage"]})
        assert facts(disk) == known["inspector"]["facts"]
        assert text(disk, "#formula") == known["inspector"]["formula"]
        assert text(disk, "#headword") == known["told"]["word"]
        assert disk.input_value("[data-field=start_address]") == str(known["told"]["fields"][0]["value"])
        box = "['class', 'x', 'y'].map(key => one.getAttribute(key))"
        marks = disk.locator("#marks rect:not(.casing)").evaluate_all(f"all => all.map(one => {box})")
        shown = [[role, float(x), float(y)] for role, x, y in marks]
        enlarged = known["stage"]["grids"][-2]["x"] - 1  # which a frozen page keeps where it was
        assert [one for one in shown if one[1] < enlarged] == [
            [mark["role"], pytest.approx(mark["x"]), pytest.approx(mark["y"])]
            for mark in known["stage"]["marks"]
            if mark["x"] < enlarged
        ]
    disk.focus("#scroll")
    settled(disk, lambda: disk.keyboard.press("ArrowDown"))
    assert text(disk, "#picked").startswith("element (12,21)")
    assert len(disk.content()) < 2_000_000


def test_what_it_cannot_change_is_disabled(disk: Any) -> None:
    for control in ("#controls [name=swizzle]", "#looks [name=swizzled]", "[data-field=version]", "#paste", "#preset"):
        assert disk.is_disabled(control), control
    for control in ("#cell", "#zoomout", "#share", "#language"):
        assert disk.is_enabled(control), control


def test_what_it_does_not_hold_is_said_and_nothing_changes(disk: Any) -> None:
    disk.fill("#cell", "400,3")
    disk.press("#cell", "Enter")
    disk.locator("#status", has_text="This page is frozen: it has no such element.").wait_for()
    assert disk.input_value("#cell") == "11,21"
    settled(disk, lambda: disk.fill("#cell", "3,4") or disk.press("#cell", "Enter"))
    assert text(disk, "#picked").startswith("element (3,4)")
    assert text(disk, "#status") == ""


def test_a_link_into_it_chooses_an_element(page: Any, tmp_path: Path) -> None:
    target = tmp_path / "explorer.html"
    assert main(["explore", "--html", str(target)]) == 0
    page.goto(f"{target.as_uri()}#cell=70,21&tab=memory")
    page.locator("#picked", has_text="element (70,21)").wait_for()
    assert page.get_attribute("#tab-memory", "aria-selected") == "true"


def test_the_first_paint_needs_no_script_and_nothing_moves_after_it(chromium: Any, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text(page({"swizzle": "64B", "cell": "3,20"}), encoding="utf-8")
    for script in (False, True):
        context = chromium.new_context(java_script_enabled=script, viewport={"width": 1400, "height": 1000})
        opened = context.new_page()
        opened.goto(target.as_uri())
        assert text(opened, "#headword").startswith("0x") and "proved" in text(opened, "#proof")
        assert opened.locator("#svg svg").count() == 1
        assert opened.locator("[name=swizzle] option:checked").text_content() == "64B"
        assert opened.locator("[name=tile]").input_value() == "128x128"
        if script:
            moved = "new Promise(done => new PerformanceObserver(list => done(list.getEntries().map(one => one.value)))"
            moved += ".observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => done([]), 300))"
            assert sum(opened.evaluate(moved)) < 0.02
        context.close()


SIZES = {"wide": (1400, 1000), "phone": (360, 740), "400 %": (350, 262)}


@pytest.mark.parametrize("size", SIZES.values(), ids=list(SIZES))
def test_it_fits_the_width_of_every_screen(disk: Any, size: tuple[int, int]) -> None:
    disk.set_viewport_size({"width": size[0], "height": size[1]})
    for name in TABS:
        disk.click(f"#tab-{name}")
        wide = disk.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], name


#: In the dark it is the contrast that is another; the rest of the page is what it was in the light.
CONTRAST = ", runOnly: ['color-contrast']"


@pytest.mark.parametrize(
    ("scheme", "size", "rules"), [("light", "wide", ""), ("light", "400 %", ""), ("dark", "wide", CONTRAST)]
)
def test_axe_finds_nothing_to_mend(chromium: Any, scheme: str, size: str, rules: str, tmp_path: Path) -> None:
    script = (browsers.node_package(AXE) / "axe.min.js").read_text(encoding="utf-8")
    target = tmp_path / "page.html"
    target.write_text(
        page({"edit": {"stride_byte_offset": "512"}, "tile": "128x64x2", "paste": "(64,16):(64,1)"}), encoding="utf-8"
    )
    wide, high = SIZES[size]
    context = chromium.new_context(
        color_scheme=scheme, viewport={"width": wide, "height": high}, bypass_csp=True, reduced_motion="reduce"
    )
    opened = context.new_page()
    visit(opened, target.as_uri())
    opened.evaluate(script)
    for name in TABS:
        opened.click(f"#tab-{name}")
        violations = opened.evaluate(f"axe.run(document, {{ resultTypes: ['violations']{rules} }})")
        assert [(one["id"], [node["html"][:90] for node in one["nodes"]]) for one in violations["violations"]] == []
    context.close()
