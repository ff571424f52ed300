"""The server: what it answers, whom it refuses; and the page that it serves, in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acts import click, put, settled, text, visit
from places import ROOT

from descriptors import DescriptorError
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import PRESETS
from descriptors.show.explorer.server import MOST_BYTES, Server

JSON = {"Content-Type": "application/json"}


def exchange(
    server: Server, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, json.loads(data) if reply.getheader("Content-Type") == "application/json" else data


def test_the_page_and_its_answers_are_served(server: Server) -> None:
    status, page = exchange(server, "GET", "/")
    assert (status, page[:15]) == (200, b"<!doctype html>")
    question = {"tile": "128x64", "want": ["told", "inspector"]}
    assert exchange(server, "POST", "/answer", json.dumps(question).encode(), JSON) == (200, answer(question))
    status, record = exchange(server, "POST", "/page", b'{"cell": "3,4"}', JSON)
    assert (status, record["ok"], record["html"][:15]) == (200, True, "<!doctype html>")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("GET", "/pyproject.toml", None, {}, 404),
        ("GET", "/../../../../etc/passwd", None, {}, 404),
        ("GET", "/%2e%2e/etc/passwd", None, {}, 404),
        ("POST", "/", b"{}", JSON, 404),
        ("POST", "/answer", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/answer", b"{}", {}, 415),
        ("POST", "/answer", b"not JSON", JSON, 400),
        ("POST", "/answer", b"\xff\xfe", JSON, 400),
        ("POST", "/answer", b"[" * 100_000, JSON, 400),
        ("POST", "/answer", b"{}", {**JSON, "Host": "example.org"}, 403),
        ("GET", "/", None, {"Host": "example.org:80"}, 403),
        ("POST", "/answer", b"{}", {**JSON, "Origin": "http://example.org"}, 403),
        ("POST", "/answer", b"{}", {**JSON, "Origin": "null"}, 403),
        ("POST", "/answer", b"x", {**JSON, "Content-Length": str(MOST_BYTES + 1)}, 413),
        ("POST", "/answer", b"x", {**JSON, "Content-Length": "9" * 40}, 413),
        ("POST", "/answer", b"x", {**JSON, "Content-Length": "-1"}, 411),
        ("POST", "/answer", None, {**JSON, "Transfer-Encoding": "chunked"}, 411),
        ("DELETE", "/", None, {}, 501),
    ],
)
def test_what_is_no_question_to_this_server_is_refused(
    server: Server, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    if status == 411 and "Transfer-Encoding" in headers:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as line:
            request = (
                f"POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Type: application/json\r\n"
            )
            line.sendall(f"{request}Transfer-Encoding: chunked\r\n\r\n".encode())
            assert b"411" in line.recv(200)
        return
    answered_status, told_back = exchange(server, method, path, body, headers)
    assert answered_status == status
    if status not in (501,):
        assert told_back["ok"] is False and told_back["error"]["message"].startswith("explore: ")
    assert exchange(server, "GET", "/")[0] == 200, "the server goes on"


def test_ten_megabytes_are_refused_before_they_are_read(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as line:
        head = f"POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Type: application/json\r\n"
        line.sendall(f"{head}Content-Length: 10485760\r\n\r\n".encode())
        assert b"413" in line.recv(200)


@pytest.mark.parametrize("question", [None, [], 3, {"tile": 7}, {"want": "all"}, {"layout": "<script>"}, {"x": 1}])
def test_wrong_types_are_answered_in_a_sentence(server: Server, question: object) -> None:
    status, record = exchange(server, "POST", "/answer", json.dumps(question).encode(), JSON)
    assert (status, record["ok"]) == (200, False)
    assert record["error"]["message"]


def test_a_port_that_is_taken_and_a_tile_that_is_none_are_refused(server: Server) -> None:
    with pytest.raises(DescriptorError, match=r"port .* is not free"):
        Server({}, server.server_port)
    with pytest.raises(DescriptorError, match="tile MN is 7"):
        Server({"tile": "7x7"})


def test_it_listens_on_the_loopback_address_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "descriptors", "explore", "--no-browser", "--cell", "3,4"]
    # As a terminal gives it: a shell's background job would ignore the signal.
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert started.stdout is not None
    line = started.stdout.readline()
    assert line.startswith("the explorer is at http://127.0.0.1:")
    started.send_signal(signal.SIGINT)
    _, complaint = started.communicate(timeout=30)
    assert (started.returncode, complaint) == (0, "")


# ---- in a browser ----


@pytest.fixture
def home(page: Any, server: Server) -> Any:
    visit(page, server.url)
    return page


def grid(number: int = 0, **asked_for: Any) -> dict[str, Any]:
    """A map of the picture that a page shows."""
    grid_record: dict[str, Any] = answer({**asked_for, "want": ["stage"]})["stage"]["grids"][number]
    return grid_record


def test_a_click_chooses_an_element(home: Any) -> None:
    settled(home, lambda: click(home, grid(), 11, 21))
    assert text(home, "#picked").startswith("element (11,21): byte 1434 (0x59a), line 11, bank 6, subtile (0,1)")
    assert text(home, "#formula") == "0x5aa ^ ((0x5aa >> 7 & 7) << 4) = 0x59a"
    assert text(home, "#headword") == "0x4000404000010002"
    assert home.locator("#marks .cell").count() == 2, "in the tile, and where that is enlarged"


def test_a_click_on_a_place_of_memory_chooses_what_lies_there(home: Any) -> None:
    settled(home, lambda: home.click("#tab-memory"))
    settled(home, lambda: click(home, grid(1, tab="memory"), 3, 0))
    assert text(home, "#picked").startswith("element (3,24): byte 384 (0x180), line 3, bank 0")


def test_arrow_keys_choose_too_and_stop_at_the_edge(home: Any) -> None:
    home.focus("#scroll")
    for key, cell in (
        ("ArrowDown", "1,0"), ("ArrowRight", "1,1"), ("Shift+ArrowDown", "9,1"), ("ArrowLeft", "9,0"),
        ("ArrowLeft", "9,0"), ("Shift+ArrowUp", "1,0"), ("Shift+ArrowUp", "0,0"),
    ):  # fmt: skip
        settled(home, lambda key=key: home.keyboard.press(key))  # type: ignore[misc]
        assert text(home, "#picked").startswith(f"element ({cell})")


def test_tabs_are_turned_by_keys(home: Any) -> None:
    home.focus("#tab-tile")
    for name in ("memory", "atom", "banks", "tensor", "registers", "tile"):
        settled(home, lambda: home.keyboard.press("ArrowRight"))
        assert home.get_attribute(f"#tab-{name}", "aria-selected") == "true"
        assert home.evaluate("document.activeElement.id") == f"tab-{name}"


def test_the_state_stands_in_the_address_and_comes_back(home: Any, server: Server) -> None:
    put(home, "swizzle", "64B")
    settled(home, lambda: home.click("#tab-banks"))
    settled(home, lambda: home.fill("#cell", "9,40") or home.press("#cell", "Enter"))
    address, word = home.url, text(home, "#headword")
    assert address.partition("#")[2] == "swizzle=64B&cell=9%2C40&tab=banks"
    other = home.context.new_page()
    settled(other, lambda: other.goto(address))
    assert text(other, "#headword") == word
    assert text(other, "#picked").startswith("element (9,40)")
    assert other.get_attribute("#tab-banks", "aria-selected") == "true"


def test_the_link_can_be_copied(home: Any, server: Server) -> None:
    home.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url.rstrip("/"))
    put(home, "tile", "128x64")
    home.click("#share")
    home.locator("#status", has_text="copied").wait_for()
    assert home.evaluate("navigator.clipboard.readText()") == home.url == f"{server.url}#tile=128x64"


def test_an_edited_word_shows_what_it_reads_and_the_right_word(home: Any) -> None:
    field = home.locator("[data-field=stride_byte_offset]")
    settled(home, lambda: field.fill("512") or field.press("Tab"))
    assert text(home, "#proof") == "WRONG: 896 of 1024 elements; change stride_byte_offset 512 -> 1024"
    assert text(home, "#headword") == home.input_value("#word") == "0x4000402000010000"
    assert "change: stride_byte_offset 512 -> 1024\nright word: 0x4000404000010000" in text(home, "#edited pre")
    assert home.locator("#svg .f-c7").count() >= 1
    settled(home, lambda: home.click("#reset"))
    assert text(home, "#edited") == ""
    assert home.input_value("#word") == "0x4000404000010000"


def test_a_whole_word_can_be_typed(home: Any) -> None:
    settled(home, lambda: home.fill("#word", "0x4000404000010004") or home.press("#word", "Tab"))
    assert "start_address 64 -> 0" in text(home, "#edited pre")


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,64):(64,1)", "K-major 128B: fits"),
        ("0x4000404000010000\n(64,16):(64,1)", "different: 896 of 1024 elements"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
    ],
)
def test_anything_can_be_pasted(home: Any, pasted: str, said: str) -> None:
    home.fill("#paste", pasted)
    home.click("#tell")
    home.locator("#pasted > *").first.wait_for()
    assert said in text(home, "#pasted")
    assert home.locator("#pasted img").count() == 0


def test_ten_megabytes_in_the_box_are_refused_without_being_shown(home: Any) -> None:
    home.evaluate("""() => {
        const data = new DataTransfer();
        data.setData("text/plain", "(" + "1,".repeat(5000000));
        const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.getElementById("paste").dispatchEvent(event);
    }""")
    assert text(home, "#pasted") == "explore: paste has 10000001 characters, but the maximum is 20000"
    home.fill("#paste", "(64,16):(17,3)")
    home.click("#tell")
    home.locator("#pasted pre", has_text="K-major none").wait_for()


def test_a_server_that_is_gone_is_said(chromium: Any, server: Server) -> None:
    context = chromium.new_context()
    opened, errors = context.new_page(), []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    visit(opened, server.url)
    for path in ("answer", "page"):
        opened.route(f"**/{path}", lambda route: route.abort())
    opened.click("#tab-atom")
    opened.locator("#problem", has_text="no response from the engine: ").wait_for()
    opened.fill("#paste", "0x1")
    opened.click("#tell")
    opened.locator("#pasted", has_text="no response from the engine: ").wait_for()
    opened.click("#savepage")
    opened.wait_for_timeout(100)
    context.close()
    assert errors == []


def test_what_cute_printed_can_be_shown_on_the_stage(home: Any) -> None:
    home.fill("#paste", "Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,64):(64,1)")
    settled(home, lambda: home.click("#tell"))
    assert text(home, "#headword") == "0x4000404000010040"
    assert home.input_value("#controls [name=major]") == "K"
    assert "proved" in text(home, "#proof")
    settled(home, lambda: home.click("#nolayout"))
    assert text(home, "#headword") == "0x4000404000010000"


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=preset["name"], marks=pytest.mark.exhaustive if number % 3 else ())
        for number, preset in enumerate(PRESETS)
    ],
)
def test_every_example_is_shown(home: Any, number: int) -> None:
    settled(home, lambda: home.select_option("#preset", str(number)))
    question = PRESETS[number]["question"]
    said = {"edit": "WRONG: 896 of 1024", "paste": "drawn without a tile: there is no descriptor"}
    home.locator("#proof", has_text=next((said[key] for key in said if key in question), "proved")).wait_for()
    assert home.is_visible("#svg svg") != ("paste" in question), "what is drawn by itself has the page to itself"
    assert home.locator("#pasted .canvas svg").count() == 2 * ("paste" in question)
    assert home.is_hidden("#problem")


def test_an_impossible_choice_is_answered_in_the_engines_sentence(home: Any) -> None:
    home.select_option("#controls [name=swizzle]", "128B_BASE32B")
    home.locator(
        "#problem", has_text="legality: swizzle is 128B_BASE32B, but must be none, 32B, 64B or 128B"
    ).wait_for()
    assert text(home, "#proof") == "", "what was proved before is no longer said"
    assert text(home, "#problem").endswith("The page below shows the last valid state.")
    put(home, "swizzle", "64B")
    assert home.is_hidden("#problem")


def test_a_tab_that_cannot_show_a_tile_says_why(home: Any) -> None:
    put(home, "arch", "sm90")
    settled(home, lambda: home.click("#tab-tensor"))
    assert "sm90 has no tensor memory" in text(home, "#svg")
    assert text(home, "#stagetitle") == "Tensor memory"


def test_a_script_in_a_layout_is_text(home: Any) -> None:
    home.goto(home.url + "#layout=" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E&cell=%3Cb%3E&tile=%00")
    home.wait_for_load_state("networkidle")  # a question that a reload cuts off is an error to the browser
    home.reload()
    home.locator("#problem", has_text="explore: ").wait_for()
    home.goto(home.url.partition("#")[0] + "#layout=%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    home.locator("#problem", has_text="<script>alert(1)</script>").wait_for()
    assert home.locator("script").count() == 3


def test_pictures_and_pages_can_be_saved(home: Any, tmp_path: Path) -> None:
    for button, start in (("#savesvg", "<svg"), ("#savepage", "<!doctype html>")):
        with home.expect_download() as waiting:
            home.click(button)
        waiting.value.save_as(tmp_path / "saved")
        assert (tmp_path / "saved").read_text(encoding="utf-8").startswith(start)


def test_what_is_late_is_dropped(home: Any) -> None:
    control = home.locator("#controls [name=tile]")
    settled(home, lambda: control.press_sequentially("x", delay=5) or control.fill("64x64"))
    home.wait_for_timeout(300)
    assert text(home, "#headword") == "0x4000404000010000"
    assert text(home, "#stagetitle").startswith("64 × 64")
    assert home.is_hidden("#problem")


def test_code_and_story_are_the_engines(home: Any) -> None:
    known = answer({"want": ["code", "story"]})
    for language in ("cuda", "ptx", "cutedsl", "python"):
        home.select_option("#language", language)
        assert home.text_content("#code") == known["code"][language]
    home.click("#story summary")
    home.locator("#story pre", has_text="proved: 16384 elements").wait_for()
    assert home.text_content("#story pre") == known["story"]
