"""Where the rows of an atlas are kept: a file of JSON Lines, or a folder of Parquet parts. Both can be added to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from descriptors.errors import DescriptorError

#: One row: plain data.
Row = dict[str, Any]

#: Rows that make a Parquet part; fewer at the end of a run.
_PART_ROWS = 20_000


class RowFile(Protocol):
    """Something that holds rows and takes more."""

    def statuses(self) -> Iterator[tuple[str, str]]:
        """Key and status of every row that is there."""
        ...

    def write(self, rows: list[Row]) -> None:
        """Add rows."""
        ...

    def __enter__(self) -> RowFile: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_rows(output: str | Path) -> RowFile:
    """The rows at a path, by its ending: ``.jsonl`` or ``.parquet``.

    Raises:
        DescriptorError: for another ending; for Parquet without pyarrow.

    >>> open_rows("rows.csv")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: atlas: the output must end in .jsonl or .parquet, found 'rows.csv'
    """
    path = Path(output)
    if path.suffix == ".jsonl":
        return JsonLines(path)
    if path.suffix == ".parquet":
        return ParquetParts(path)
    raise DescriptorError(f"atlas: the output must end in .jsonl or .parquet, found {path.name!r}")


class JsonLines:
    """A file of JSON Lines. A last line without its end, as a run leaves it that was cut off, is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> JsonLines:
        self.file: IO[bytes] = open(self.path, "a+b")
        self._drop_cut_line()
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def statuses(self) -> Iterator[tuple[str, str]]:
        """Key and status of every line.

        Raises:
            DescriptorError: if a line is no row.
        """
        self.file.seek(0)
        for number, line in enumerate(self.file, 1):
            try:
                row = json.loads(line)
                yield row["key"], row["status"]
            except (ValueError, KeyError, TypeError):
                raise DescriptorError(f"atlas: every line must be a row of an atlas; {self.path}:{number}") from None

    def write(self, rows: list[Row]) -> None:
        """Add lines, and hand them to the system at once."""
        self.file.write("".join(json.dumps(row) + "\n" for row in rows).encode())
        self.file.flush()

    def _drop_cut_line(self) -> None:
        end = self.file.seek(0, 2)
        step = 1 << 16
        while end:
            start = max(0, end - step)
            self.file.seek(start)
            at = self.file.read(end - start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        self.file.truncate(end)
        self.file.seek(0, 2)


class ParquetParts:
    """A folder of Parquet files, a data set to every reader of Parquet. A part is there whole or not at all.

    Raises:
        DescriptorError: if pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        try:
            self.arrow, self.parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise DescriptorError(
                "atlas: Parquet needs pyarrow, found none; pip install pyarrow, or write .jsonl"
            ) from None
        self.path, self.held = path, list[Row]()
        if path.exists() and not path.is_dir():
            raise DescriptorError(f"atlas: Parquet output must be a folder of parts, found a file; {path}")

    def __enter__(self) -> ParquetParts:
        self.path.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()

    def statuses(self) -> Iterator[tuple[str, str]]:
        """Key and status of every row of every part."""
        for part in self._parts():
            table = self.parquet.read_table(part, columns=["key", "status"])
            yield from zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)

    def write(self, rows: list[Row]) -> None:
        """Hold rows until they make a part."""
        self.held += rows
        if len(self.held) >= _PART_ROWS:
            self._flush()

    def _parts(self) -> list[Path]:
        return sorted(self.path.glob("part-*.parquet"))

    def _flush(self) -> None:
        if not self.held:
            return
        number = 1 + max((int(part.stem.removeprefix("part-")) for part in self._parts()), default=-1)
        target = self.path / f"part-{number:05d}.parquet"
        begun = target.with_suffix(".begun")
        self.parquet.write_table(self.arrow.Table.from_pylist(self.held, schema=self._schema()), begun)
        begun.replace(target)
        self.held = []

    def _schema(self) -> Any:
        numbers, text, count = self.arrow.list_(self.arrow.int64()), self.arrow.string(), self.arrow.int64()
        lists, counts = ("tile", "mma", "order"), ("leading_byte_offset", "stride_byte_offset", "subtiles", "elements")
        named = {**dict.fromkeys(lists, numbers), **dict.fromkeys(counts, count)}
        columns = dict.fromkeys(name for row in self.held for name in row)
        return self.arrow.schema([(name, named.get(name, text)) for name in columns])
