"""Read and extend the rows of an atlas, a file in JSON Lines.

Invariant: the file is checked before it is changed, one run at a time writes to it, and each write adds whole rows. A
file that is not an atlas is refused and stays as it is. If a run is killed, its written rows remain. The last line may
then be cut; it is removed when the next row is written.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "rows.jsonl")
>>> with open_rows(path) as rows:
...     rows.write([{"key": "tile=8x8", "status": "refused"}])
>>> with path.open("ab") as file:
...     _ = file.write(b'{"key": "tile=8x16", "sta')
>>> with open_rows(path) as rows:
...     rows.statuses()
{'tile=8x8': 'refused'}
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import re
from os import PathLike
from pathlib import Path
from typing import IO, Any

from descriptors.errors import DescriptorError, brief

#: One row as plain data, with a unique key and a status.
Row = dict[str, Any]

STATUSES = ("proved", "derived", "refused", "disproved")

#: A line of this length or longer is not a row.
_MOST_BYTES = 1 << 20

#: The beginning of each row, since ``key_of`` writes ``name=value`` pairs.
_BEGINNING = re.compile(rb'\{"key": "[a-z_]+=')
_FIRST = b'{"key": "'


class JsonLines:
    """The rows of a file, which is locked while the context is open.

    Raises:
        DescriptorError: if another run has the lock, or a line is not a row; the file is not changed.
        OSError: if it cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_key: dict[str, str] = {}
        self.end, self.cut = 0, False

    def __enter__(self) -> JsonLines:
        try:
            self.file: IO[bytes] = open(self.path, "a+b")
        except OSError as error:
            raise DescriptorError(f"atlas: cannot open the output {self.path}: {error.strerror}") from error
        try:
            _lock(self.file, self.path)
            self._read()
        except BaseException:
            self.file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def statuses(self) -> dict[str, str]:
        """Return the status of each key: that of its last row."""
        return dict(self.by_key)

    def write(self, rows: list[Row]) -> None:
        """Append rows and flush them to the operating system."""
        if self.cut:
            self.file.truncate(self.end)
        self.cut = False
        try:
            self.file.write("".join(json.dumps(row) + "\n" for row in rows).encode())
            self.file.flush()
        except OSError as error:
            raise OSError(
                error.errno, error.strerror, str(self.path)
            ) from error  # the error of a full disk does not name the file

    def _read(self) -> None:
        """Read the statuses, the end of the last whole row, and whether a cut line follows it."""
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
                raise DescriptorError(f"atlas: {self.path}:{number} is not a row of an atlas; line = {text}")
            self.by_key[row["key"]] = row["status"]
            self.end += len(line)


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock the file against other runs until it is closed."""
    import portalocker

    try:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.exceptions.LockException:
        raise DescriptorError(
            f"atlas: another run is writing to {path}; use another output, or wait until it ends"
        ) from None


def _row(line: bytes) -> Row | None:
    """Return a line as a row, or None if it is not one."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_row = isinstance(row, dict) and isinstance(row.get("key"), str) and row.get("status") in STATUSES
    return row if is_row else None


def _is_cut(line: bytes) -> bool:
    """Return whether a line is the beginning of a row, and not whole JSON of another kind."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return (
            bool(_BEGINNING.match(line)) or _FIRST.startswith(line) or bool(re.fullmatch(rb'\{"key": "[a-z_]*', line))
        )
    return False


def open_rows(output: str | PathLike[str]) -> JsonLines:
    """Return the row file at a path that ends in ``.jsonl``.

    Raises:
        DescriptorError: if the path has another ending.

    >>> open_rows("rows.csv")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: atlas: the output 'rows.csv' does not end in .jsonl
    """
    if not isinstance(output, (str, PathLike)):
        raise DescriptorError(f"atlas: output is {brief(output)}, which is not a path")
    path = Path(output)
    if path.suffix != ".jsonl":
        raise DescriptorError(f"atlas: the output {path.name!r} does not end in .jsonl")
    return JsonLines(path)
