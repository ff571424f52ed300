"""The folder of the course: its files and links, and a student's way through it: keys, reloads, no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from zipfile import ZipFile

import browsers
import pytest
from lesson_pages import counted, exercise, opened_hint, printed, said
from page_links import Links, checked
from places import ROOT

from builder.site import site, write_course, write_zip
from descriptors.course.catalog import lessons
from descriptors.course.progress import read_receipt
from descriptors.errors import DescriptorError

LESSON = lessons()[0]
PAGE = f"{LESSON.number:02}.html"
FIRST = f"{LESSON.number}.1"


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_every_link_leads_somewhere(files: dict[str, bytes]) -> None:
    checked(files)
    with pytest.raises(AssertionError, match="nowhere"):
        checked({**files, "index.html": files["index.html"] + b'<a href="nowhere.html">'})


def test_every_page_can_be_reached_from_the_first(files: dict[str, bytes]) -> None:
    reached, waiting = set(), ["index.html"]
    while waiting:
        name = waiting.pop()
        if name not in reached and name.endswith(".html"):
            reached.add(name)
            waiting += [urlparse(one).path for one in Links(files[name].decode()).links]
    assert reached == {name for name in files if name.endswith(".html")}


def test_the_service_worker_keeps_every_page_and_asset_by_its_hash(files: dict[str, bytes]) -> None:
    cached = json.loads(re.search(r"const FILES = (\{.*?\});", files["offline.js"].decode(), re.S)[1])  # type: ignore[index]
    assert set(cached) == {name for name in files if not name.endswith(".ipynb") and name != "offline.js"}
    pinned = {name.partition("/")[0] for name in cached if "/" in name}
    assert sorted(re.sub(r"-[0-9a-f]{12}$", "", one) for one in pinned) == ["engine", "pyodide"]


def test_the_same_course_gives_the_same_bytes_and_a_change_another_name(tmp_path: Path) -> None:
    for needed in ("markdown_it", "nbformat"):
        pytest.importorskip(needed)
    package = browsers.node_package("pyodide")
    assert site(lessons()[:1], package) == (first := site(lessons()[:1], package))
    other = tmp_path / "pyodide"
    other.mkdir()
    for one in package.iterdir():
        (other / one.name).write_bytes(one.read_bytes())
    (other / "pyodide.mjs").write_bytes((package / "pyodide.mjs").read_bytes() + b"\n")
    second = site(lessons()[:1], other)
    assert {name for name in first if name.startswith("pyodide-")}.isdisjoint(second)


def test_a_folder_of_the_course_can_be_written_again(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it")
    pytest.importorskip("nbformat")
    assert write_course(tmp_path) == write_course(tmp_path)


def test_it_is_built_by_the_script_with_and_without_an_engine(tmp_path: Path) -> None:
    for needed in ("markdown_it", "nbformat"):
        pytest.importorskip(needed)
    command = [sys.executable, str(ROOT / "scripts" / "build_course"), str(tmp_path / "plain"), "--zip"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    plain = {one.name: one.read_bytes() for one in (tmp_path / "plain").iterdir()}
    checked(plain)
    pages = {name: data for name, data in plain.items() if name.endswith(".html") and "-slides" not in name}
    assert not [name for name, data in pages.items() if b"<script" in data]
    names = ZipFile(BytesIO((tmp_path / "plain.zip").read_bytes())).namelist()
    assert sorted(names) == sorted(f"plain/{name}" for name in plain)
    done = subprocess.run([*command[:3], "--pyodide", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("build_course: site: --pyodide is ") and done.stderr.count("\n") == 1


def test_a_zip_is_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "a.html").write_text("a")
    first = write_zip(tmp_path / "course").read_bytes()
    assert write_zip(tmp_path / "course").read_bytes() == first
    assert write_course is not None


def test_a_zip_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "a.html").write_text("a")
    (tmp_path / "course.zip").write_text("mine")
    with pytest.raises(DescriptorError, match="was not written by this program"):
        write_zip(tmp_path / "course")
    assert (tmp_path / "course.zip").read_text() == "mine"


# ---- in a browser ----


@pytest.fixture
def home(page: Any, address: str) -> Any:
    """A lesson, its engine running."""
    page.goto(f"{address}{PAGE}")
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    return page


def focus(page: Any, selector: str, keys: int = 60) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(keys):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def test_an_exercise_is_solved_with_the_keyboard_alone(home: Any) -> None:
    focus(home, ".example textarea")
    home.keyboard.press("Control+End")
    home.keyboard.type("\nprint('typed')")
    counted(home, ".example >> nth=0", "ran", lambda: home.keyboard.press("Control+Enter"))
    assert home.text_content(".out >> nth=0").strip().endswith("typed")
    section = exercise(FIRST)
    focus(home, f"{section} .try input")
    home.keyboard.press("Control+A")
    home.keyboard.type(LESSON.exercises[0].wrong[0][0])
    counted(home, section, "checked", lambda: home.keyboard.press("Enter"))
    assert LESSON.exercises[0].wrong[0][1] in home.text_content(f"{section} .verdict")
    for number, hint in enumerate(LESSON.exercises[0].hints):
        assert home.locator(f"{section} .hint:visible").count() == number + 1, "one by one"
        focus(home, f"{section} .hint:nth-of-type({number + 1}) summary")
        home.keyboard.press("Enter")
        home.locator(f"{section} .hint[open]").nth(number).wait_for()
        assert home.inner_text(f"{section} .hint >> nth={number}").replace("`", "").endswith(hint.replace("`", ""))
    home.keyboard.press("Shift+Tab")
    focus(home, f"{section} .solution summary")
    home.keyboard.press("Enter")
    assert LESSON.exercises[0].solution in home.inner_text(f"{section} .solution")
    home.focus(f"{section} .try input")
    home.keyboard.press("Control+A")
    home.keyboard.type(LESSON.exercises[0].solution)
    home.keyboard.press("Tab")
    counted(home, section, "checked", lambda: home.keyboard.press("Enter"))
    assert home.text_content(f"{section} .verdict") == "Right."


def test_progress_survives_a_reload_and_makes_a_line(home: Any, address: str) -> None:
    one, other = LESSON.exercises[:2]
    said(home, FIRST, one.solution)
    said(home, f"{LESSON.number}.2", other.wrong[0][0])
    opened_hint(home, FIRST, 0)
    home.reload()
    assert home.locator(f"{exercise(FIRST)} .solved").is_visible()
    assert home.input_value(f"{exercise(FIRST)} .try input") == one.solution
    assert home.locator(f"{exercise(FIRST)} .hint:visible").count() == 2
    second = exercise(f"{LESSON.number}.2")
    assert (home.locator(f"{second} .solved").is_visible(), home.locator(f"{second} .solution").is_visible()) == (0, 1)
    home.goto(address)
    count = len(LESSON.exercises)
    assert home.text_content(f"[data-lesson='{LESSON.number}']") == f"1 of {count} solved"
    home.fill("#name", "Ada Löwe 4711")
    home.press("#name", "Enter")
    home.wait_for_selector("#handin .verdict.good")
    line = home.input_value("#line")
    assert (read_receipt(line).name, read_receipt(line).solved) == ("Ada Löwe 4711", (FIRST,))
    home.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address.rstrip("/"))
    home.click("#copy")
    home.locator("#handin .verdict", has_text="Copied.").wait_for()
    assert home.evaluate("navigator.clipboard.readText()") == line
    home.goto(f"{address}lines.html")
    home.fill("#lines", f"{line}\n{line.replace('4711', '4712')}")
    home.click("#read button")
    home.locator("#read .verdict.bad").wait_for()
    assert home.locator("#handed tbody tr").all_inner_texts() == [
        f"1\tAda Löwe 4711\t1\t{FIRST}",
        f"2\tcourse: checksum {line[-9:]} does not belong to this name and these exercises; "
        + line.replace("4711", "4712"),
    ]
    home.goto(address)
    home.on("dialog", lambda dialog: dialog.accept())
    home.click("#forget")
    assert home.text_content(f"[data-lesson='{LESSON.number}']") == f"0 of {count} solved"


def test_what_never_ends_is_stopped_and_what_ends_the_engine_is_said(chromium: Any, address: str) -> None:
    """After either the next question starts another engine; Python's own end is an error of the console too."""
    home = chromium.new_page()
    home.set_default_timeout(60_000)
    home.goto(f"{address}{PAGE}")
    home.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    home.fill(".example textarea >> nth=0", "while True: pass")
    home.click(".example .run >> nth=0")
    home.locator("#busy", has_text="Working").wait_for()
    counted(home, ".example >> nth=0", "ran", lambda: home.click("#stop"))
    assert "stopped" in home.text_content(".out >> nth=0")
    home.fill(".example textarea >> nth=0", "import json\njson.loads('[' * 100_000)")
    assert "the engine ended: " in (output := printed(home, 0)) and "Maximum call stack" in output
    home.click(".example .back >> nth=0")
    assert printed(home, 0).split() == home.text_content(".out >> nth=0").split() != []
    home.close()


def test_an_error_is_the_engines_own_sentence_in_one_line(home: Any) -> None:
    home.fill(".example textarea >> nth=0", "from layoutalg import *\nprint(1)\ncomplement(Layout((2, 2), (2, 3)), 24)")
    lines = printed(home, 0).split("\n")
    assert (
        lines[0] == "1"
        and lines[-1].startswith("layoutalg.errors.")
        and "complement: stride 3 is less than 4" in lines[-1]
    )


def test_it_works_offline_after_the_first_visit(chromium: Any, folder: Path) -> None:
    """The server is gone, and no name is found: only what the browser has kept is left; until then pages are fresh."""
    context = chromium.new_context()
    page = context.new_page()
    with browsers.served(folder) as url:
        page.goto(url)
        page.wait_for_selector("html[data-offline=yes]", state="attached", timeout=120_000)
        before = (folder / "lines.html").read_bytes()
        (folder / "lines.html").write_bytes(before.replace(b"<h1>Lines", b"<h1>New lines"))
        later = time.time() + 60  # servers tell dates to the second
        os.utime(folder / "lines.html", (later, later))
        until = time.monotonic() + 90  # a network that takes seconds, as on a busy machine, is not waited for
        while time.monotonic() < until:
            page.goto(f"{url}lines.html")
            if page.text_content("h1") == "New lines that were handed in":
                break
            page.wait_for_timeout(500)
        assert page.text_content("h1") == "New lines that were handed in"
        (folder / "lines.html").write_bytes(before)
    page.set_default_timeout(90_000)
    page.goto(f"{url}{PAGE}")
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    assert printed(page, 0).split() == page.text_content(".out >> nth=0").split() != []
    assert said(page, FIRST, LESSON.exercises[0].solution) == "Right."
    page.click("nav [rel=next]")
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    page.goto(url)
    assert page.locator(".lessons li").count() == len(lessons())
    context.close()


def test_a_page_from_disk_is_read_and_says_how_to_serve_it(page: Any, folder: Path) -> None:
    page.goto((folder / PAGE).as_uri())
    assert "python3 -m http.server --bind 127.0.0.1 8000" in page.text_content("#engine")
    page.fill(f"{exercise(FIRST)} .try input", "1, 2, 3")
    counted(page, exercise(FIRST), "checked", lambda: page.press(f"{exercise(FIRST)} .try input", "Enter"))
    assert "opened from disk, the page has no engine" in page.text_content(f"{exercise(FIRST)} .verdict")
    opened_hint(page, FIRST, 0)
