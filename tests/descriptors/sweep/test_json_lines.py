"""Rows in JSON Lines: what is no atlas is refused as it was found, and a cut line costs one row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from derived import K_128
from refusals import refusal

from descriptors.cli.command import main
from descriptors.sweep.atlas import atlas, row_of
from descriptors.sweep.atlas_files import open_rows
from descriptors.sweep.lattice import Lattice, lattice

OPTIONS = ["--tile", "64x64", "--mma", "64xauto", "--dtype", "bf16", "--arch", "sm100"]


def points() -> Lattice:
    return lattice("64x64", "64xauto", dtypes="bf16", archs="sm100")


@pytest.mark.parametrize(
    "text",
    [
        "my notes 1\nmy notes 2\nprecious last line",
        '{"user":"data","precious":true}',
        '{"user":"data"}\n',
        '{"key": "mine", "user": "data"}',
        '{"key": "a=b", "status": "proved"}\nand a remark',
        "x",
        "\n",
        '{"key": [1], "status": "proved"}\n',
        '{"key": "a=b", "status": 2}\n',
        "[" * 100_000,
        "[" * 100_000 + "\n",
        "9" * 3_000_000,
        "\x00\xff",
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_no_atlas_is_refused_as_it_was_found(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foreign.jsonl"
    path.write_text(text)
    assert main(["atlas", str(path), *OPTIONS]) == 2
    assert path.read_text() == text
    captured = capsys.readouterr()
    assert captured.out == "" and refusal(captured.err)
    assert "is not a row of an atlas" in captured.err and len(captured.err) < 500


def test_a_cut_line_is_taken_away_only_when_the_next_row_is_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    atlas(points(), path)
    cut = path.read_bytes()[:-30]
    path.write_bytes(cut)
    with open_rows(path):
        pass
    assert path.read_bytes() == cut


def test_rows_are_on_the_disk_as_soon_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with open_rows(path) as rows:
        rows.write([row_of({**K_128, "arch": "sm100"}, prove=False)])
        assert json.loads(path.read_text())["status"] == "derived"
