"""Where the rows of an atlas are kept: a file of JSON Lines, or a folder of Parquet parts. Both can be added to.

Law: what was written is found again when the output is opened anew, in either form.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     for output in ("rows.jsonl", "rows.parquet"):
...         with open_rows(f"{folder}/{output}") as rows:
...             rows.write([{"key": f"tile=8x{k}", "status": "refused"} for k in (8, 16)])
...         with open_rows(f"{folder}/{output}") as rows:
...             assert rows.statuses() == {"tile=8x8": "refused", "tile=8x16": "refused"}, output
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Protocol

from descriptors.errors import DescriptorError, brief
from descriptors.sweeps.json_lines import JsonLines, Row
from descriptors.sweeps.parquet_parts import ParquetParts


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
    """The rows at a path, by its ending: ``.jsonl`` or ``.parquet``.

    Raises:
        DescriptorError: for another ending; for Parquet without pyarrow.

    >>> open_rows("rows.csv")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: atlas: the output must end in .jsonl or .parquet, found 'rows.csv'
    """
    if not isinstance(output, (str, PathLike)):
        raise DescriptorError(f"atlas: the output must be a path, found {brief(output)}")
    path = Path(output)
    if path.suffix == ".jsonl":
        return JsonLines(path)
    if path.suffix == ".parquet":
        return ParquetParts(path)
    raise DescriptorError(f"atlas: the output must end in .jsonl or .parquet, found {path.name!r}")
