"""Rows in Parquet parts: a part is there whole or not at all, and what is no part is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from derived import K_128

from descriptors import DescriptorError
from descriptors.sweep import atlas, atlas_files
from descriptors.sweep import atlas_files as parquet_parts


def test_a_part_is_written_when_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    monkeypatch.setattr(parquet_parts, "PART_ROWS", 2)
    row = atlas.row_of({**K_128, "arch": "sm100"}, prove=False)
    parts: list[int] = []
    with atlas_files.open_rows(tmp_path / "rows.parquet") as rows:
        for n in range(5):
            rows.write([{**row, "key": f"{row['key']} {n}"}])
            parts.append(len(list((tmp_path / "rows.parquet").glob("part-*.parquet"))))
    assert parts == [0, 1, 1, 2, 2]
    assert len(list((tmp_path / "rows.parquet").glob("part-*.parquet"))) == 3
    with atlas_files.open_rows(tmp_path / "rows.parquet") as rows:
        assert rows.statuses() == {f"{row['key']} {n}": "derived" for n in range(5)}


def test_parquet_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    (tmp_path / "rows.parquet").write_text("")
    with pytest.raises(DescriptorError, match="is a file; Parquet output is a folder of parts"):
        atlas.atlas([], tmp_path / "rows.parquet")
