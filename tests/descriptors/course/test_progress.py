"""What a student has done is kept, and a file that is none of ours is refused and left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("text", ["", "[]", '{"exercises": 3}', '{"exercises": {"1.1": 2}}', "{"])
def test_another_file_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "course.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DescriptorError, match="must be JSON of ours"):
        Progress(path)
    assert path.read_text(encoding="utf-8") == text
