"""A file is written whole or not at all, and nothing else is left beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from layoutalg import LayoutError
from layoutalg.drawing.picture import write_whole


def test_a_file_takes_the_place_of_another_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    write_whole(path, "after \u00d7\n")
    assert path.read_bytes() == "after \u00d7\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "new", "text")
    (tmp_path / "other").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_text_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(LayoutError, match=r"save: .*a.svg must be a file that can be written, found: "):
        write_whole(path, "half \ud800")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("where", ["nosuch/a.svg", "a_file/a.svg", "folder"])
def test_a_place_that_takes_no_file_is_refused_in_one_line(where: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(
        LayoutError, match=r"must be a file that can be written, found: .*; give another path"
    ) as refused:
        write_whole(tmp_path / where, "text")
    assert "\n" not in str(refused.value)
    assert sorted(os.listdir(tmp_path)) == ["a_file", "folder"]


def test_a_name_with_a_zero_byte_is_refused() -> None:
    with pytest.raises(LayoutError, match="must be a file that can be written"):
        write_whole(Path("a\0b.svg"), "text")


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")
def test_a_link_is_followed_and_a_pipe_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.svg").write_text("before")
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    write_whole(tmp_path / "link.svg", "after")
    assert (tmp_path / "link.svg").is_symlink() and (tmp_path / "real.svg").read_text() == "after"
    os.mkfifo(tmp_path / "pipe.svg")
    reader = os.open(tmp_path / "pipe.svg", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe.svg", "through")
    assert os.read(reader, 20) == b"through"
    os.close(reader)
    assert (tmp_path / "pipe.svg").is_fifo()
    assert not list(tmp_path.glob(".*.part"))
