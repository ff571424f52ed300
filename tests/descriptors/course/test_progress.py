"""What a student has done is kept, and a file that is none of ours is refused and left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from descriptors.course.progress import Progress
from descriptors.errors import DescriptorError


def test_counts_add_up_and_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "course.json"
    first = Progress(path)
    assert first.of("1.1") == {}
    first.note("1.1", tried=1)
    first.note("1.1", tried=1, solved=1)
    assert Progress(path).of("1.1") == {"tried": 2, "solved": 1}
    assert [one.name for one in path.parent.iterdir()] == ["course.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks are those of POSIX")
def test_whoever_notes_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "course.json"
    note = (
        f"from pathlib import Path; from descriptors.course.progress import Progress; p = Progress(Path({str(path)!r}))"
    )
    note += "; [p.note('5.1', tried=1) for _ in range(25)]"
    started = [subprocess.Popen([sys.executable, "-c", note], cwd=ROOT) for _ in range(4)]
    assert [one.wait(60) for one in started] == [0] * 4
    assert Progress(path).of("5.1") == {"tried": 100}


@pytest.mark.parametrize("text", ["", "[]", '{"exercises": 3}', '{"exercises": {"1.1": 2}}', "{"])
def test_another_file_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "course.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DescriptorError, match="is not a progress file of this course"):
        Progress(path)
    assert path.read_text(encoding="utf-8") == text
