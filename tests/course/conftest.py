"""The course as a site with an engine, written once for a run of tests, and one lesson of it in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsers
import pytest
from browsers import chromium, page

from builder.site import write_course
from descriptors.course.catalog import lessons
from descriptors.course.source import Lesson

__all__ = ["address", "chromium", "folder", "lesson", "opened", "page"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the course."""
    for needed in ("markdown_it", "nbformat"):
        pytest.importorskip(needed)
    course_folder = tmp_path_factory.mktemp("course")
    write_course(course_folder, browsers.node_package("pyodide"))
    return course_folder


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    """Where it is served."""
    with browsers.served(folder) as url:
        yield url


#: With figures and with pictures, of the algebra and of the descriptors, short and long. What the engine answers in the
#: others is tried without a browser and without numpy, in test_grading.
SHOWN = (1, 5, 8, 9)


@pytest.fixture(scope="module", params=[lessons()[number] for number in SHOWN], ids=lambda lesson: str(lesson.number))
def lesson(request: pytest.FixtureRequest) -> Lesson:
    """Lessons that stand for all, one after the other."""
    parameter: Lesson = request.param
    return parameter


@pytest.fixture(scope="module")
def opened(chromium: Any, address: str, lesson: Lesson) -> Iterator[Any]:
    """The page of the lesson, its engine running; it ends without an error, and has asked nobody but its own server."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900}, service_workers="block")
    tab, errors = context.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("requestfailed", lambda request: errors.append(f"{request.url} {request.failure}"))
    tab.on("request", lambda one: errors.append(one.url) if not one.url.startswith((address, "blob:", "data:")) else 0)
    tab.set_default_timeout(60_000)
    tab.goto(f"{address}{lesson.number:02}.html")
    tab.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    yield tab
    context.close()
    assert errors == []
