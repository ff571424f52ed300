"""A file is written whole or not at all, and nothing else is left beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from layoutalg import Layout, LayoutError, draw
from layoutalg.files import write_whole


def test_a_file_takes_the_place_of_another_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    write_whole({path: b"after\n"})
    assert path.read_bytes() == b"after\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    write_whole({tmp_path / "new": b"text"})
    (tmp_path / "other").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("where", ["nosuch/b", "a_file/b", "folder", "b\0"])
def test_of_several_files_all_are_written_or_none(where: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").write_text("before")
    (tmp_path / "folder").mkdir()
    with pytest.raises((OSError, ValueError)):
        write_whole({tmp_path / "a_file": b"after", tmp_path / where: b"", tmp_path / "c": b""})
    assert (tmp_path / "a_file").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a_file", "folder"]


@pytest.mark.parametrize("where", ["nosuch/a.svg", "a_file/a.svg", "folder.svg", "a\0b.svg"])
def test_a_place_that_takes_no_picture_is_refused_in_one_line(where: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").touch()
    (tmp_path / "folder.svg").mkdir()
    refusal = r"save: .* cannot be written: .*; give another path"
    with pytest.raises(LayoutError, match=refusal) as refused:
        draw(Layout(4)).save(tmp_path / where)
    assert "\n" not in str(refused.value)
    assert sorted(os.listdir(tmp_path)) == ["a_file", "folder.svg"]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")
def test_a_link_is_followed_and_a_pipe_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.svg").write_text("before")
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    write_whole({tmp_path / "link.svg": b"after"})
    assert (tmp_path / "link.svg").is_symlink() and (tmp_path / "real.svg").read_text() == "after"
    os.mkfifo(tmp_path / "pipe.svg")
    reader = os.open(tmp_path / "pipe.svg", os.O_RDONLY | os.O_NONBLOCK)
    write_whole({tmp_path / "pipe.svg": b"through"})
    assert os.read(reader, 20) == b"through"
    os.close(reader)
    assert (tmp_path / "pipe.svg").is_fifo()


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    """A limit on the size of files ends a write as a full disk does: the system's own error names no file."""
    program = (
        "import resource, sys; from pathlib import Path; from layoutalg.files import write_whole\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_whole({Path(sys.argv[1]): b'x' * 5000})\n"
        "except OSError as error: print(error.filename)"
    )
    pytest.importorskip("resource", reason="limits of a process are of Unix")
    target = tmp_path / "picture.svg"
    done = subprocess.run([sys.executable, "-c", program, str(target)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{target}\n" and list(tmp_path.iterdir()) == []
