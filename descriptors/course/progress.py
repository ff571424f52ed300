"""What a student has done: which exercises were tried, solved, and how many hints were asked for, kept in one file.

Law: what was noted is read again.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as place:
...     kept = Progress(Path(place) / "course.json")
...     kept.note("5.1", tried=1)
...     kept.note("5.1", tried=1, solved=1)
...     Progress(Path(place) / "course.json").of("5.1") == {"tried": 2, "solved": 1}
True
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from descriptors.errors import DescriptorError


class Progress:
    """Counts by exercise, in a JSON file that is written whole after each change.

    Args:
        path: the file; it need not exist.

    Raises:
        DescriptorError: if the file is there and is none of ours.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._done: dict[str, dict[str, int]] = {}
        if path.exists():
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                self._done = {str(k): {str(n): int(c) for n, c in v.items()} for k, v in kept["exercises"].items()}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DescriptorError(
                    f"course: the file of your progress must be JSON of ours, found {path}"
                ) from error

    def of(self, exercise: str) -> Mapping[str, int]:
        """What was counted of an exercise: ``tried``, ``hints``, ``solved``."""
        return dict(self._done.get(exercise, {}))

    def solved(self) -> tuple[str, ...]:
        """The exercises that were solved, as 5.1."""
        return tuple(sorted(exercise for exercise, counts in self._done.items() if counts.get("solved")))

    def note(self, exercise: str, **counts: int) -> None:
        """Add to the counts of an exercise, and keep them."""
        mine = self._done.setdefault(exercise, {})
        for name, count in counts.items():
            mine[name] = mine.get(name, 0) + count
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema": 1, "exercises": self._done}, indent=1, sort_keys=True)
        spare = self.path.with_suffix(".new")
        spare.write_text(text + "\n", encoding="utf-8")
        spare.replace(self.path)
