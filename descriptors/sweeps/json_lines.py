"""Rows in a file of JSON Lines: looked at before it is touched, held by one run at a time, whole after every write.

Law: what is no atlas is refused as it was found, and a run that is killed at any moment leaves every row that it has
written; the last line may then be cut, and only such a line is ever taken away, when the next row is written.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "rows.jsonl")
>>> with JsonLines(path) as rows:
...     rows.write([{"key": "tile=8x8", "status": "refused"}])
>>> with path.open("a") as file:
...     _ = file.write('{"key": "tile=8x16", "sta')
>>> with JsonLines(path) as rows:
...     rows.statuses()
{'tile=8x8': 'refused'}
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from descriptors.errors import DescriptorError, brief

#: One row: plain data, with a key of its own and a status.
Row = dict[str, Any]

STATUSES = ("proved", "derived", "refused", "disproved")

#: No row is as long as this.
_MOST_BYTES = 1 << 20

#: How a row begins, whatever follows: ``key_of`` writes ``name=value`` pairs.
_BEGINNING = re.compile(rb'\{"key": "[a-z_]+=')
_FIRST = b'{"key": "'


class JsonLines:
    """The rows of a file, for as long as it is held.

    Raises:
        DescriptorError: if another run holds the file, or a line of it is no row; the file is left as it was.
        OSError: if it cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, str] = {}
        self.end, self.cut = 0, False

    def __enter__(self) -> JsonLines:
        try:
            self.file: IO[bytes] = open(self.path, "a+b")
        except OSError as error:
            found = f"found {error.strerror}; {self.path}"
            raise DescriptorError(f"atlas: the output must be a file in a folder that is there, {found}") from error
        try:
            _hold(self.file, self.path)
            self._look()
        except BaseException:
            self.file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def statuses(self) -> dict[str, str]:
        """The status of every key; where a key has several rows, of the last."""
        return dict(self.found)

    def rows(self) -> Iterator[Row]:
        """Every whole row of the file."""
        self.file.seek(0)
        while self.file.tell() < self.end:
            yield json.loads(self.file.readline())

    def write(self, rows: list[Row]) -> None:
        """Add rows, and hand them to the system at once."""
        if self.cut:
            self.file.truncate(self.end)
        self.cut = False
        self.file.write("".join(json.dumps(row) + "\n" for row in rows).encode())
        self.file.flush()

    def clear(self) -> None:
        """Take all rows out."""
        self.file.truncate(0)
        self.cut = False

    def _look(self) -> None:
        """Read every line, change none: the rows, where they end, and whether a cut line follows."""
        self.file.seek(0)
        number = 0
        while line := self.file.readline(_MOST_BYTES):
            number += 1
            row = _row(line)
            if not line.endswith(b"\n") and (row or _is_cut(line)):
                self.cut = True
                return
            if row is None:
                text = brief(line.decode(errors="replace").strip())
                raise DescriptorError(
                    f"atlas: every line must be a row of an atlas, found {text}; {self.path}:{number}"
                )
            self.found[row["key"]] = row["status"]
            self.end += len(line)


def _hold(file: IO[bytes], path: Path) -> None:
    """Keep other runs away until the file is closed, by whatever end."""
    import portalocker

    try:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.exceptions.LockException:
        raise DescriptorError(
            f"atlas: one run at a time can write to an output, found another at work; wait for it, or name another"
            f" output; {path}"
        ) from None


def _row(line: bytes) -> Row | None:
    """A line as a row, or None if it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = isinstance(row, dict) and isinstance(row.get("key"), str) and row.get("status") in STATUSES
    return row if named else None


def _is_cut(line: bytes) -> bool:
    """Whether a line is the beginning of a row and no whole JSON of another kind."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return (
            bool(_BEGINNING.match(line)) or _FIRST.startswith(line) or bool(re.fullmatch(rb'\{"key": "[a-z_]*', line))
        )
    return False
