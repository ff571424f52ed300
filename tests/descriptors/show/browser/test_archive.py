"""The archive of the packages: the same bytes every time, enough to answer, nothing that cannot run in a page."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from descriptors.show.browser.folder import LEFT_OUT, archive, zip_bytes


def test_the_archive_is_the_same_every_time() -> None:
    assert archive() == archive()
    assert zip_bytes({"a": b"1"}) != zip_bytes({"a": b"2"})


def test_what_is_left_out_is_not_there_and_what_was_added_is() -> None:
    names = ZipFile(BytesIO(archive({"descriptors/course/texts/01.md": b"# one"}))).namelist()
    assert len(set(names)) == len(names) > 200
    assert not [name for name in names if set(LEFT_OUT) & set(name.split("/"))]
    assert "descriptors/course/texts/01.md" in names


def test_the_packages_run_from_the_archive(tmp_path: Path) -> None:
    (tmp_path / "packages.zip").write_bytes(archive())
    code = """
import json, sys
sys.path.insert(0, "packages.zip")
from descriptors.show.browser.reply import reply
from descriptors.show.explorer.page import ANSWERS
home = ANSWERS["answer"].__code__.co_filename
print(home.partition("packages.zip")[1], json.loads(reply(ANSWERS, "answer", "{}"))["ok"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False,
                          env={"PATH": ""})  # fmt: skip
    assert (done.stdout, done.stderr) == ("packages.zip True\n", "")
