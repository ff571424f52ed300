"""Files of a site: Pyodide whole or refused, scripts of a room, and a folder that is written or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from descriptors.errors import DescriptorError
from descriptors.show.browser.folder import PYODIDE, runtime, source, write
from layoutalg.files import PAGE_MARK


def test_the_runtime_is_the_files_that_a_page_loads(tmp_path: Path) -> None:
    for name in PYODIDE:
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "README.md").write_text("more")
    assert runtime(tmp_path) == {name: name.encode() for name in PYODIDE}


@pytest.mark.parametrize("missing", PYODIDE)
def test_a_runtime_that_is_not_whole_is_refused(missing: str, tmp_path: Path) -> None:
    for name in set(PYODIDE) - {missing}:
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DescriptorError, match=f"which has no {missing} of the npm package pyodide; use "):
        runtime(tmp_path)


def test_folders_are_made_as_files_need_them(tmp_path: Path) -> None:
    contents = {"index.html": b"1", "deep/er/one.js": b"22"}
    assert write(tmp_path / "new", contents, "FOLDER") == [("index.html", 1), ("deep/er/one.js", 2)]
    assert (tmp_path / "new" / "deep" / "er" / "one.js").read_bytes() == b"22"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(DescriptorError, match=r"site: --site is .*, which cannot be written") as refusal:
        write(tmp_path / "site", {"a": b"1"}, "--site")
    assert "\n" not in str(refusal.value)


def test_an_index_of_another_site_stays(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my own page")
    with pytest.raises(DescriptorError, match=r"index\.html exists and was not written by this program"):
        write(tmp_path, {"index.html": b"1", "a.js": b"2"}, "--site")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("index.html", "my own page")]
    (tmp_path / "index.html").write_bytes(PAGE_MARK)
    write(tmp_path, {"index.html": PAGE_MARK + b"new"}, "--site")
    assert (tmp_path / "index.html").read_bytes() == PAGE_MARK + b"new"
    assert PAGE_MARK in source("descriptors.show.explorer", "page.html").encode()


def test_a_site_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_bytes(PAGE_MARK)
    (tmp_path / "a.js").write_text("before")
    (tmp_path / "b").write_text("a file where a folder should be")
    with pytest.raises(DescriptorError, match=r"--site is .*, which cannot be written"):
        write(tmp_path, {"a.js": b"after", "b/c.js": b"2"}, "--site")
    assert (tmp_path / "a.js").read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.js", "b", "index.html"]


def test_scripts_of_rooms_are_read() -> None:
    assert "engineIn" in source("descriptors.show.browser", "asking.js")
    assert "engineIn" in source("descriptors.show.explorer", "page.js")


def test_a_file_of_somebody_else_stays_also_where_there_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "worker.js").write_text("mine")
    with pytest.raises(DescriptorError, match=r"worker\.js exists and was not written by this program; give"):
        write(tmp_path, {"index.html": PAGE_MARK, "worker.js": b"2"}, "--site")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("worker.js", "mine")]
