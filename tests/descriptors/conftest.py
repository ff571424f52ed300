"""A browser for each module of tests, and a page for each test that must end without an error of its script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import browsers
import pytest


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.browser() as found:
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
    with faultless(chromium, accept_downloads=True) as opened:
        yield opened
