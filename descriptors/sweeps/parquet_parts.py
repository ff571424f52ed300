"""Rows in a folder of Parquet files, which is a data set to every reader of Parquet.

A part is there whole or not at all. Rows on their way to the next part stand in a journal of JSON Lines beside the
parts (a hidden file, which readers of data sets pass over), so that a run that is killed at any moment loses none; who
holds the journal holds the folder. Law: a row is in one part, or in the journal, and after a run that ended in good
order every row is in a part.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "rows.parquet")
>>> with ParquetParts(path) as rows:
...     rows.write([{"key": f"tile=8x{k}", "status": "refused"} for k in (8, 16)])
...     held = path.joinpath(".journal.jsonl").read_text().count("tile="), len(list(path.glob("*.parquet")))
>>> held, len(list(path.glob("*.parquet"))), path.joinpath(".journal.jsonl").read_text()
((2, 0), 1, '')
>>> folder.cleanup()
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from descriptors.errors import DescriptorError, brief
from descriptors.sweeps.json_lines import JsonLines, Row

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
                "atlas: Parquet needs pyarrow, found none; pip install pyarrow, or write .jsonl"
            ) from None
        if path.exists() and not path.is_dir():
            raise DescriptorError(f"atlas: Parquet output must be a folder of parts, found a file; {path}")
        self.path, self.journal = path, JsonLines(path / ".journal.jsonl")

    def __enter__(self) -> ParquetParts:
        self._need_own()
        self.path.mkdir(parents=True, exist_ok=True)
        self.journal.__enter__()
        try:
            self.found = self._parts_read()
        except BaseException:
            self.journal.__exit__()
            raise
        # What a run left that was killed; it may have been killed after the rows had become a part.
        self.held = [row for row in self.journal.rows() if self.found.get(row["key"]) != row["status"]]
        self.found |= {row["key"]: row["status"] for row in self.held}
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            self.journal.__exit__()

    def statuses(self) -> dict[str, str]:
        """The status of every key; where a key has several rows, of the last."""
        return dict(self.found)

    def write(self, rows: list[Row]) -> None:
        """Add rows to the journal; make a part of them when there are enough."""
        self.journal.write(rows)
        self.held += rows
        if len(self.held) >= PART_ROWS:
            self._flush()

    def _need_own(self) -> None:
        """Refuse a folder that holds what no atlas has written; hidden files are nobody's business."""
        for entry in sorted(self.path.iterdir()) if self.path.exists() else ():
            if not entry.name.startswith((".", "_")) and not _PART.fullmatch(entry.name.removesuffix(".begun")):
                raise DescriptorError(
                    f"atlas: Parquet output must be a folder of its own, found {brief(entry.name)} in it; {self.path}"
                )

    def _parts(self) -> list[Path]:
        return sorted(part for part in self.path.iterdir() if _PART.fullmatch(part.name))

    def _parts_read(self) -> dict[str, str]:
        """Key and status of every row of every part."""
        found: dict[str, str] = {}
        for part in self._parts():
            try:
                table = self.parquet.read_table(part, columns=["key", "status"])
                found |= zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
            except (self.arrow.ArrowException, KeyError, OSError) as error:
                reason = " ".join(str(error).split())[:120]
                raise DescriptorError(
                    f"atlas: every part must be Parquet with the columns key and status, found {reason}; {part}"
                ) from None
        return found

    def _flush(self) -> None:
        """Make a part of the rows that are held, then forget the journal: in this order, nothing is ever lost."""
        if self.held:
            last = max((int(_PART.fullmatch(part.name)[1]) for part in self._parts()), default=-1)  # type: ignore[index]
            target = self.path / f"part-{last + 1:05d}.parquet"
            begun = target.with_name(target.name + ".begun")
            self.parquet.write_table(self.arrow.Table.from_pylist(self.held, schema=self._schema()), begun)
            begun.replace(target)
            self.held = []
        self.journal.clear()

    def _schema(self) -> Any:
        numbers, text, count = self.arrow.list_(self.arrow.int64()), self.arrow.string(), self.arrow.int64()
        lists, counts = ("tile", "mma", "order"), ("leading_byte_offset", "stride_byte_offset", "subtiles", "elements")
        named = {**dict.fromkeys(lists, numbers), **dict.fromkeys(counts, count)}
        columns = dict.fromkeys(name for row in self.held for name in row)
        return self.arrow.schema([(name, named.get(name, text)) for name in columns])
