"""Read and extend the rows of an atlas: a JSON Lines file, or a folder of Parquet parts.

Invariant: what was written is found again when the output is opened anew, in either form.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     for output in ("rows.jsonl", "rows.parquet"):
...         with open_rows(f"{folder}/{output}") as rows:
...             rows.write([{"key": f"tile=8x{k}", "status": "refused"} for k in (8, 16)])
...         with open_rows(f"{folder}/{output}") as rows:
...             assert rows.statuses() == {"tile=8x8": "refused", "tile=8x16": "refused"}, output

A file of JSON Lines is looked at before it is touched, held by one run at a time, whole after every write. Law: what
is no atlas is refused as it was found, and a run that is killed at any moment leaves every row that it has written;
the last line may then be cut, and only such a line is ever taken away, when the next row is written.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "rows.jsonl")
>>> with JsonLines(path) as rows:
...     rows.write([{"key": "tile=8x8", "status": "refused"}])
>>> with path.open("ab") as file:
...     _ = file.write(b'{"key": "tile=8x16", "sta')
>>> with JsonLines(path) as rows:
...     rows.statuses()
{'tile=8x8': 'refused'}
>>> folder.cleanup()

A folder of Parquet parts is a data set to every reader of Parquet. A part is there whole or not at all. Rows on their
way to the next part stand in a journal of JSON Lines beside the parts (a hidden file, which readers of data sets pass
over), so that a run that is killed at any moment loses none; who holds the journal holds the folder. Law: a row is in
one part, or in the journal, and after a run that ended in good order every row is in a part.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "rows.parquet")
>>> with ParquetParts(path) as rows:
...     rows.write([{"key": f"tile=8x{k}", "status": "refused"} for k in (8, 16)])
...     held = path.joinpath(".journal.jsonl").stat().st_size, len(list(path.glob("*.parquet")))
>>> held, len(list(path.glob("*.parquet"))), path.joinpath(".journal.jsonl").stat().st_size
((83, 0), 1, 0)
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

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
        self.by_key: dict[str, str] = {}
        self.end, self.cut = 0, False

    def __enter__(self) -> JsonLines:
        try:
            self.file: IO[bytes] = open(self.path, "a+b")
        except OSError as error:
            raise DescriptorError(f"atlas: cannot open the output {self.path}: {error.strerror}") from error
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
        return dict(self.by_key)

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
        try:
            self.file.write("".join(json.dumps(row) + "\n" for row in rows).encode())
            self.file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error  # a full disk names no file

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
                raise DescriptorError(f"atlas: {self.path}:{number} is not a row of an atlas; line = {text}")
            self.by_key[row["key"]] = row["status"]
            self.end += len(line)


def _hold(file: IO[bytes], path: Path) -> None:
    """Lock the file against other runs until it is closed."""
    import portalocker

    try:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.exceptions.LockException:
        raise DescriptorError(
            f"atlas: another run is writing to {path}; use another output, or wait until it ends"
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


#: Rows that make a part; fewer at the end of a run.
PART_ROWS = 20_000

_PART = re.compile(r"part-(\d{5,})\.parquet")


class ParquetParts:
    """The rows of a folder, for as long as it is held.

    Raises:
        DescriptorError: if pyarrow is not installed, another run holds the folder, or something in it is no part of an
            atlas; what was there is left as it was.
        OSError: if it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self.arrow, self.parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise DescriptorError(
                "atlas: Parquet needs pyarrow, which is not installed; use pip install pyarrow, or an output that ends "
                "in .jsonl"
            ) from None
        if path.exists() and not path.is_dir():
            raise DescriptorError(f"atlas: {path} is a file; Parquet output is a folder of parts")
        self.path, self.journal = path, JsonLines(path / ".journal.jsonl")

    def __enter__(self) -> ParquetParts:
        self._need_own()
        self.path.mkdir(parents=True, exist_ok=True)
        self.journal.__enter__()
        try:
            self.by_key = self._parts_read()
        except BaseException:
            self.journal.__exit__()
            raise
        # What a run left that was killed; it may have been killed after the rows had become a part.
        self.pending = [row for row in self.journal.rows() if self.by_key.get(row["key"]) != row["status"]]
        self.by_key |= {row["key"]: row["status"] for row in self.pending}
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            self.journal.__exit__()

    def statuses(self) -> dict[str, str]:
        """The status of every key; where a key has several rows, of the last."""
        return dict(self.by_key)

    def write(self, rows: list[Row]) -> None:
        """Add rows to the journal; make a part of them when there are enough."""
        self.journal.write(rows)
        self.pending += rows
        if len(self.pending) >= PART_ROWS:
            self._flush()

    def _need_own(self) -> None:
        """Refuse a folder that contains files which are not parts of an atlas; hidden files are ignored."""
        for entry in sorted(self.path.iterdir()) if self.path.exists() else ():
            if not entry.name.startswith((".", "_")) and not _PART.fullmatch(entry.name.removesuffix(".begun")):
                raise DescriptorError(
                    f"atlas: the folder {self.path} contains {brief(entry.name)}, which is not a part of an atlas; "
                    "Parquet output needs its own folder"
                )

    def _parts(self) -> list[Path]:
        return sorted(part for part in self.path.iterdir() if _PART.fullmatch(part.name))

    def _parts_read(self) -> dict[str, str]:
        """Key and status of every row of every part."""
        statuses: dict[str, str] = {}
        for part in self._parts():
            try:
                table = self.parquet.read_table(part, columns=["key", "status"])
                statuses |= zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
            except (self.arrow.ArrowException, KeyError, OSError) as error:
                reason = " ".join(str(error).split())[:120]
                raise DescriptorError(
                    f"atlas: {part} is not a Parquet file with the columns key and status; {reason}"
                ) from None
        return statuses

    def _flush(self) -> None:
        """Make a part of the rows that are held, then forget the journal: in this order, nothing is ever lost."""
        if self.pending:
            last = max((int(_PART.fullmatch(part.name)[1]) for part in self._parts()), default=-1)  # type: ignore[index]
            target = self.path / f"part-{last + 1:05d}.parquet"
            begun = target.with_name(target.name + ".begun")
            try:
                self.parquet.write_table(self.arrow.Table.from_pylist(self.pending, schema=self._schema()), begun)
            except OSError as error:
                raise OSError(error.errno, error.strerror or str(error), str(begun)) from error
            begun.replace(target)
            self.pending = []
        self.journal.clear()

    def _schema(self) -> Any:
        numbers, text, count = self.arrow.list_(self.arrow.int64()), self.arrow.string(), self.arrow.int64()
        lists, counts = ("tile", "mma", "order"), ("leading_byte_offset", "stride_byte_offset", "subtiles", "elements")
        named = {**dict.fromkeys(lists, numbers), **dict.fromkeys(counts, count)}
        columns = dict.fromkeys(name for row in self.pending for name in row)
        return self.arrow.schema([(name, named.get(name, text)) for name in columns])


class RowFile(Protocol):
    """Something that holds rows and takes more, while it is entered."""

    def statuses(self) -> dict[str, str]:
        """The status of every key that is there."""
        ...

    def write(self, rows: list[Row]) -> None:
        """Add rows."""
        ...

    def __enter__(self) -> RowFile: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_rows(output: str | PathLike[str]) -> RowFile:
    """Return the row file at a path that ends in ``.jsonl`` or ``.parquet``.

    Raises:
        DescriptorError: if the path has another ending, or pyarrow is missing for Parquet.

    >>> open_rows("rows.csv")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: atlas: the output 'rows.csv' does not end in .jsonl or .parquet
    """
    if not isinstance(output, (str, PathLike)):
        raise DescriptorError(f"atlas: output is {brief(output)}, which is not a path")
    path = Path(output)
    if path.suffix == ".jsonl":
        return JsonLines(path)
    if path.suffix == ".parquet":
        return ParquetParts(path)
    raise DescriptorError(f"atlas: the output {path.name!r} does not end in .jsonl or .parquet")
