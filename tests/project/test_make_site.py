"""The site as its script writes it: links lead somewhere, nothing is loaded from elsewhere, every rule has a page."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import browsers
import pytest
from browsers import chromium
from each import each
from page_links import Links, checked
from places import ROOT, VECTORS
from seeds import seed_of_this_run

from descriptors.check.rules import RULES
from descriptors.course.catalog import lessons
from descriptors.show.explorer.answer import answer

sys.path.insert(0, str(ROOT / "scripts"))
import make_rule_examples
from refresh_pages import pages, sessions
from site_links import state
from site_pages import sections

__all__ = ["chromium"]

#: What stands on another site, and is led to with open eyes.
OUTSIDE = (
    "https://www.sphinx-doc.org",
    "https://pradyunsg.me",
    "https://github.com/pradyunsg/furo",
    "https://semver.org",
)
#: Texts and threads that pages are about, which their records name.
RECORDED = tuple(
    url
    for name in ("errata", "published", "tasks")
    for url in re.findall(r'https://[^"]+', (ROOT / "tests" / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
)
EXPLORER = "explorer/index.html#"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, of which the script has nothing to complain."""
    for needed in ("sphinx", "furo", "myst_parser", "markdown_it", "nbformat"):
        pytest.importorskip(needed, reason="the extra `site` is not installed")
    place = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(ROOT / "scripts" / "make_site.py"), "--out", str(place)]
    command += ["--pyodide", str(browsers.node_package("pyodide"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return place


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with browsers.served(folder) as url:
        yield url


def test_every_link_leads_somewhere(files: dict[str, bytes]) -> None:
    def passed(link: str) -> bool:
        return link.startswith(("data:", "./", *OUTSIDE)) or link in RECORDED or EXPLORER in link

    checked(files, passed)
    with pytest.raises(AssertionError, match="nowhere"):
        checked({**files, "index.html": files["index.html"] + b'<a href="rules/index.html#nowhere">'}, passed)


def test_nothing_is_loaded_from_elsewhere(files: dict[str, bytes]) -> None:
    for name, data in files.items():
        if name.endswith(".html"):
            assert [one for one in Links(data.decode()).loads if re.match("(https?:)?//", one)] == [], name
        if name.endswith(".css"):
            assert re.findall(rb"(?:url\(|@import)[^;)]*//[^;)]*", re.sub(rb"data:[^)]*", b"", data)) == [], name


def test_every_page_of_docs_is_a_page(files: dict[str, bytes]) -> None:
    listed = {path.removesuffix(".md") for _, rows in sections() for _, path in rows} - {"README"} | {"index"}
    assert {f"{path}.html" for path in listed} <= files.keys()
    assert {f"{path.relative_to(ROOT).with_suffix('.html')}" for path in (ROOT / "docs").glob("*.md")} <= files.keys()


def test_every_rule_has_its_page_with_what_mends_it(files: dict[str, bytes]) -> None:
    for name, rule in RULES.items():
        text = unescape(re.sub("<[^>]+>", "", files[f"rules/{name}.html"].decode()))
        assert plain(rule.fix) in plain(text) and plain(rule.source) in plain(text), name


def plain(text: str) -> str:
    """A text without its spaces and marks, which typography changes."""
    return re.sub(r"\W", "", text)


def test_the_search_finds_pages_rules_and_lessons(files: dict[str, bytes]) -> None:
    index = json.loads(files["searchindex.js"].decode().removeprefix("Search.setIndex(").removesuffix(")"))
    names = set(index["docnames"])
    assert {"docs/cookbook", "rules/wgmma-wait", "conformance/composition"} <= names
    assert {f"course/{one.number:02}" for one in lessons()} <= names


def test_every_case_of_the_corpus_stands_on_a_page(files: dict[str, bytes]) -> None:
    corpus = json.loads((VECTORS / "conformance.json").read_text(encoding="utf-8"))["cases"]
    for operation in {case["operation"] for case in corpus}:
        numbers = [number for number, case in enumerate(corpus, 1) if case["operation"] == operation]
        told = re.findall(r'<tr id="case-(\d+)"', files[f"conformance/{operation}.html"].decode())
        assert told == list(map(str, numbers)), operation
    assert files["conformance/conformance.json"] == (VECTORS / "conformance.json").read_bytes()


#: Commands of the pages that print a word first, and have a link.
DERIVED = [
    (command, word[1])
    for path in pages()
    for command, output in sessions(path.read_text(encoding="utf-8"))
    if (word := re.match(r"(?:word +)?(0x[0-9a-f]{16}) ", output)) and state(command)
]


@each(("command", "word"), DERIVED)
def test_a_link_to_the_explorer_opens_the_tile_of_its_command(command: str, word: str) -> None:
    """The explorer has the word that the page shows."""
    address, _ = state(command) or ("", "")
    texts = dict(part.split("=", 1) for part in address[1:].split("&") if part)
    found = answer({**{key: unquote(text) for key, text in texts.items()}, "want": ["told"]})
    assert found["told"]["word"] == word


def test_commands_about_no_tile_have_no_link() -> None:
    assert len(DERIVED) > 6
    for line in (
        "descriptors shapes",
        "descriptors nothing",
        "descriptors derive --tile 7x7 --dtype bf16",
        "descriptors",
    ):
        assert state(line) is None


def test_examples_of_rules_are_what_the_checker_says() -> None:
    record = json.loads((VECTORS / "rule_examples.json").read_text(encoding="utf-8"))
    assert set(record) <= set(RULES) and len(record) > 40
    for name in random.Random(seed_of_this_run()).sample(sorted(record), 2):
        assert make_rule_examples.example(name) == record[name]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    command = [sys.executable, str(ROOT / "scripts" / "make_site.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "must be a new folder" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


SHOWN = ("index.html", "docs/errata.html", "rules/wgmma-wait.html", "conformance/select.html", "search.html?q=tile")


@pytest.mark.parametrize(("scheme", "size"), [("light", (1400, 1000)), ("dark", (360, 740))], ids=["light", "dark"])
def test_axe_finds_nothing_to_mend_and_pages_fit(
    chromium: Any, address: str, scheme: str, size: tuple[int, int]
) -> None:
    axe = (browsers.node_package("axe-core") / "axe.min.js").read_text(encoding="utf-8")
    with browsers.faultless(
        chromium, color_scheme=scheme, viewport=dict(zip(("width", "height"), size, strict=True))
    ) as page:
        for name in SHOWN:
            page.goto(f"{address}{name}")
            page.evaluate(axe)
            told = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
            assert [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in told] == [], name
            wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= room, name


def test_the_search_answers_from_a_file_too(chromium: Any, folder: Path) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    page.fill("input[name=q]", "wait_group")
    page.press("input[name=q]", "Enter")
    page.locator("#search-results a", has_text="wgmma-wait-count").first.click()
    page.locator("h1", has_text="wgmma-wait-count").wait_for()
    context.close()


def test_a_tile_of_a_page_opens_in_the_explorer(chromium: Any, address: str) -> None:
    with browsers.faultless(chromium) as page:
        page.goto(f"{address}index.html")
        page.locator(".tiles a").first.click()
        page.locator("#headword", has_text="0x4000004000010000").wait_for(timeout=120_000)
        page.locator("footer a", has_text="Documentation").click()
        page.locator("h1", has_text="layoutalg").wait_for()
