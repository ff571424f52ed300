"""A real browser for the tests of the page, and what of npm they need; what is not there is skipped with a word.

Chromium is the system's own, driven by playwright. Nothing that a page asks for by name is found: only the loopback
address is, so that a page that needs the network fails.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from places import ROOT

#: Where npm may have put packages.
NODE_FOLDERS = (os.environ.get("LAYOUTALG_NODE_MODULES", ""), str(ROOT / "node_modules"), f"{sys.prefix}/node_modules")
NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")


def chromium_path() -> str:
    """The system's Chromium, or the test is skipped."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


def node_package(name: str) -> Path:
    """The folder of a package of npm, or the test is skipped."""
    for folder in filter(None, NODE_FOLDERS):
        if (Path(folder) / name).is_dir():
            return Path(folder) / name
    pytest.skip(f"the npm package {name} is not installed")


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a name service."""
    path = chromium_path()
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with driver.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=list(OPTIONS))
        try:
            yield launched
        finally:
            launched.close()


class Files(SimpleHTTPRequestHandler):
    """A plain server of files, as any host of static pages is."""

    def guess_type(self, path: Any) -> str:
        """Modules and WebAssembly under their own types, whatever the system's table says."""
        known = {"mjs": "text/javascript", "wasm": "application/wasm"}
        return known.get(str(path).rpartition(".")[2]) or super().guess_type(path)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def handle(self) -> None:
        """A request; a browser that closes its page in the middle of one is no error."""
        with suppress(ConnectionError):
            super().handle()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder on the loopback address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for each module of tests."""
    with browser() as found:
        yield found


@contextmanager
def faultless(chromium: Any, **given: Any) -> Iterator[Any]:
    """A page in a context of its own; errors of its scripts, and files that it asked for in vain, are failures."""
    context = chromium.new_context(**{"viewport": {"width": 1400, "height": 1000}, **given})
    opened, errors = context.new_page(), []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    # What is aborted was asked for by a page that was left.
    opened.on("requestfailed", lambda one: "ABORTED" in one.failure or errors.append(f"{one.url} {one.failure}"))
    opened.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    opened.set_default_timeout(60_000)
    yield opened
    context.close()
    assert errors == []


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page for each test, which must end without an error of its script."""
    with faultless(chromium, accept_downloads=True) as opened:
        yield opened
