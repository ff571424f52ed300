"""A browser for each module of tests, and a page for each test that must end without an error of its script."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any

import browsers
import pytest

from descriptors.explorer.server import Server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.browser() as found:
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server({})
    Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1400, "height": 1000}, accept_downloads=True)
    opened, errors = context.new_page(), []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("requestfailed", lambda request: errors.append(f"{request.url} {request.failure}"))
    opened.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    opened.set_default_timeout(60_000)
    yield opened
    context.close()
    assert errors == []
