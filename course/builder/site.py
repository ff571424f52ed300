"""The course as a folder: pages, slides, handout, card, solutions, notebooks, the teacher's page; with Pyodide the
engine too, and all of it offline.

Files that never change under their name have a hash in it: a folder of the engine, one of Pyodide. A service worker
keeps every file after the first visit, each checked against its hash. Law: what has changed has another name.

>>> one, other = pinned("engine", {"course.js": b"1"}), pinned("engine", {"course.js": b"2"})
>>> sorted(one), set(one) & set(other)
(['engine-4fde2493cc34/course.js'], set())
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode
from zipfile import BadZipFile, ZipFile

from builder.handout import card, handout, solution_book
from builder.markup import part, web
from builder.notebooks import notebook
from builder.pages import Engine, annex, first_steps, index, lines_page, page
from builder.slides import deck
from builder.teacher import teacher_page
from descriptors.course.catalog import folder, lessons
from descriptors.course.source import Lesson
from descriptors.errors import DescriptorError
from descriptors.show.browser.folder import archive, runtime, source, write, zip_bytes
from layoutalg.files import write_whole


def write_course(
    target: Path, pyodide: Path | None = None, more: Mapping[str, bytes] | None = None, home: str = ""
) -> list[tuple[str, int]]:
    """Write the course into a folder.

    Args:
        target: where to; made if it is not there.
        pyodide: the folder of the npm package ``pyodide``; None for pages on which nothing runs.
        more: further files by their names, as the wheel that notebooks install.
        home: the address of the documentation, as the first page sees it; "" if there is none beside it.

    Returns:
        Name and bytes of each file.

    Raises:
        DescriptorError: if Pyodide is not there, a file cannot be written, or the extra ``course`` is not installed.
    """
    return write(target, site(lessons(), pyodide, more, home), "FOLDER")


def write_zip(target: Path) -> Path:
    """Pack a folder that was written, as it is, into a zip file beside it: for a stick, or a learning platform.

    Raises:
        DescriptorError: if the file cannot be written.
    """
    contents = {
        f"{target.name}/{one.relative_to(target).as_posix()}": one.read_bytes()
        for one in sorted(target.rglob("*"))
        if one.is_file()
    }
    path = target.parent / f"{target.name}.zip"
    if path.exists() and not _is_of(path, target.name):
        raise DescriptorError(f"site: {path} exists and was not written by this program; remove it, or write elsewhere")
    write_whole({path: zip_bytes(contents)})
    return path


def _is_of(path: Path, folder: str) -> bool:
    """Whether a file is a zip file that holds one folder of this name and no more."""
    try:
        with ZipFile(path) as held:
            return all(name.startswith(f"{folder}/") for name in held.namelist())
    except (BadZipFile, OSError):
        return False


def site(
    course: Sequence[Lesson], pyodide: Path | None = None, more: Mapping[str, bytes] | None = None, home: str = ""
) -> dict[str, bytes]:
    """Every file of the course by its name; it raises as :func:`write_course`."""
    assets = {} if pyodide is None else _assets(pyodide)
    engine = _engine(assets) if assets else None
    books = {f"{lesson.number:02}.ipynb": notebook(lesson).encode() for lesson in course} | dict(more or {})
    texts = {"index.html": index(course, engine, first_steps(course, books), home), "handout.html": handout(course)}
    texts |= {"solutions.html": solution_book(course), "card.html": card(), "annex.html": annex()}
    texts |= {f"{lesson.number:02}-slides.html": deck(lesson) for lesson in course}
    if engine is not None:
        texts["lines.html"] = lines_page(engine)
    for lesson in course:
        texts[f"{lesson.number:02}.html"] = page(lesson, course, engine)
    files = {name: text.encode() for name, text in texts.items()} | assets
    sizes = {name: len(data) for name, data in (files | books).items()}
    files["teacher.html"] = teacher_page(course, sizes).encode()
    if engine is not None:
        files["offline.js"] = _offline(files)
    return files | books


def _assets(pyodide: Path) -> dict[str, bytes]:
    """The folders of Pyodide and of the engine, each with its hash in its name."""
    texts = {f"descriptors/course/texts/{one.name}": one.read_bytes() for one in folder().glob("*.md")}
    script = source("descriptors.show.browser", "asking.js") + web("course.js")
    ours = {
        "course.js": script.encode(),
        "worker.js": source("descriptors.show.browser", "worker.js").encode(),
        "packages.zip": archive(texts),
    }
    return pinned("engine", ours) | pinned("pyodide", runtime(pyodide))


def pinned(name: str, contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files in a folder whose name ends in the hash of them all."""
    digest = sha256()
    for one, data in sorted(contents.items()):
        digest.update(f"{one}\n{sha256(data).hexdigest()}\n".encode())
    return {f"{name}-{digest.hexdigest()[:12]}/{one}": data for one, data in contents.items()}


def _engine(assets: Mapping[str, bytes]) -> Engine:
    place = {name.rpartition("/")[2]: name for name in assets}
    pyodide = place["pyodide.mjs"].partition("/")[0]
    query = urlencode({"answers": "descriptors.course.page", "pyodide": f"../{pyodide}/"}, safe="./")
    return Engine(place["course.js"], f"{place['worker.js']}?{query}")


def _offline(contents: Mapping[str, bytes]) -> bytes:
    """The service worker, which knows each file by its hash."""
    hashes = {name: f"sha256-{b64encode(sha256(data).digest()).decode()}" for name, data in sorted(contents.items())}
    files = json.dumps(hashes, indent=1)
    return part("offline.js", version=sha256(files.encode()).hexdigest()[:12], files=files).encode()
