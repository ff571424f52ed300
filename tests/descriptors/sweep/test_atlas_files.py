"""Nothing of a user's is ever destroyed: the atlas looks before it touches, holds what it writes, and loses no row."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from places import ROOT
from refusals import refusal

from descriptors import DescriptorError
from descriptors.cli.command import main
from descriptors.sweep import atlas_files as parquet_parts
from descriptors.sweep.atlas import atlas, key_of
from descriptors.sweep.atlas_files import open_rows
from descriptors.sweep.lattice import Lattice, lattice

FORMATS = ["jsonl", "parquet"]
OPTIONS = ["--tile", "64x64", "--mma", "64xauto", "--dtype", "bf16", "--arch", "sm100"]
WIDE = ["--tile", "64:256:64x64:256:64", "--arch", "sm90"]


def points() -> Lattice:
    return lattice("64x64", "64xauto", dtypes="bf16", archs="sm100")


def needs(kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def rows_at(path: Path) -> list[tuple[str, str]]:
    """Key and status of every row, read without the code under test."""
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(path, columns=["key", "status"]).to_pylist()
        return [(row["key"], row["status"]) for row in table]
    return [(row["key"], row["status"]) for row in map(json.loads, path.read_text().splitlines())]


Begin = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Runs of the command, each in a process group of its own, none of which outlives the test."""
    if os.name != "posix":
        pytest.skip("groups of processes are those of POSIX")
    runs: list[subprocess.Popen[bytes]] = []

    def one(path: Path, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "descriptors", "atlas", str(path), *options, "--quiet"]
        pipe = subprocess.PIPE
        runs.append(subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=pipe, stderr=pipe))
        return runs[-1]

    yield one
    for run in runs:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def wait_for(condition: Any, run: subprocess.Popen[bytes], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["notes.txt", "part-abc.parquet", "part-00000.csv", "table.parquet"])
def test_a_folder_that_holds_something_else_is_refused(name: str, tmp_path: Path) -> None:
    needs("parquet")
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(DescriptorError, match=rf"contains '{name}', which is not a part of an atlas"):
        atlas(points(), folder)
    assert [entry.name for entry in folder.iterdir()] == [name]


@pytest.mark.parametrize("spoil", ["truncated", "garbage", "empty", "other columns"])
def test_a_part_that_is_no_part_of_an_atlas_is_refused_by_its_name(spoil: str, tmp_path: Path) -> None:
    needs("parquet")
    import pyarrow
    from pyarrow import parquet

    folder = tmp_path / "rows.parquet"
    atlas(points(), folder)
    part = folder / "part-00000.parquet"
    match spoil:
        case "truncated":
            part.write_bytes(part.read_bytes()[:-100])
        case "garbage":
            part.write_bytes(b"not parquet at all, but long enough to look at")
        case "empty":
            part.write_bytes(b"")
        case _:
            parquet.write_table(pyarrow.table({"a": [1]}), part)
    before = part.read_bytes()
    with pytest.raises(DescriptorError, match=r"part-00000.* is not a Parquet file with the columns key and status"):
        atlas(points(), folder)
    assert part.read_bytes() == before


@pytest.mark.parametrize("kind", FORMATS)
def test_a_second_run_on_the_same_output_is_told_and_changes_nothing(kind: str, tmp_path: Path) -> None:
    needs(kind)
    path = tmp_path / f"rows.{kind}"
    with open_rows(path) as rows:
        rows.write([{"key": "tile=8x8", "status": "refused"}])
        with pytest.raises(DescriptorError, match="another run is writing to "):
            atlas(points(), path)
    atlas(points(), path)
    assert len(rows_at(path)) == len(points()) + 1


@pytest.mark.parametrize("kind", FORMATS)
def test_of_two_commands_at_once_one_makes_every_row_and_the_other_is_told(
    kind: str, tmp_path: Path, begin: Begin
) -> None:
    needs(kind)
    path = tmp_path / f"rows.{kind}"
    runs = [begin(path, *WIDE) for _ in range(2)]
    outputs = [run.communicate(timeout=300) for run in runs]
    statuses = sorted(run.returncode for run in runs)
    assert statuses in ([0, 2], [0, 0]), outputs  # both, where the second began after the first had ended
    if statuses == [0, 2]:
        assert any(b"another run is writing to" in errors for _, errors in outputs)
    keys = [key for key, _ in rows_at(path)]
    assert len(keys) == len(set(keys)) == len(lattice(WIDE[1], archs="sm90"))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_that_is_killed_leaves_its_rows_and_no_worker_behind(kind: str, tmp_path: Path, begin: Begin) -> None:
    needs(kind)
    path = tmp_path / f"rows.{kind}"
    journal = path / ".journal.jsonl" if kind == "parquet" else path
    run = begin(path, "--workers", "2", *WIDE)
    wait_for(lambda: journal.exists() and journal.stat().st_size > 50_000, run)
    workers = children(run.pid)
    run.kill()
    run.communicate(timeout=300)
    count = journal.read_bytes().count(b"\n")
    assert count > 50 and len(workers) >= 2
    deadline = time.monotonic() + 30
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [worker for worker in workers if alive(worker)]
    every = lattice(WIDE[1], archs="sm90")
    assert atlas(every, path).skipped >= count
    keys = [key for key, _ in rows_at(path)]
    assert len(keys) == len(set(keys)) == len(every)


def children(process: int) -> list[int]:
    """The processes that a process has begun, and those that they have; the one that worked the most first.

    Python starts workers as it thinks best on a system: beside them, or as their parent, may stand a server that forks.
    """
    if not Path("/proc").is_dir():
        pytest.skip("processes are looked up in /proc")
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    begun = [one for word in text.split() for one in (int(word), *children(int(word)))]
    return sorted(begun, key=lambda one: -ticks(one))


def ticks(process: int) -> int:
    """How long a process has worked by itself."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_that_is_killed_ends_the_run_in_a_sentence_and_the_rows_are_kept(tmp_path: Path, begin: Begin) -> None:
    path = tmp_path / "rows.jsonl"
    run = begin(path, "--workers", "2", *WIDE)
    wait_for(lambda: path.exists() and path.stat().st_size > 20_000, run)
    os.kill(children(run.pid)[0], signal.SIGKILL)
    _, errors = run.communicate(timeout=300)
    assert run.returncode == 2 and refusal(errors.decode())
    assert b"a worker was killed (by hand, or for memory)" in errors
    assert len(rows_at(path)) > 20


def test_rows_that_had_become_a_part_when_the_run_was_killed_are_not_doubled(tmp_path: Path) -> None:
    needs("parquet")
    folder = tmp_path / "rows.parquet"
    with open_rows(folder) as rows:
        rows.write([{"key": "tile=8x8", "status": "refused"}])
        shutil.copy(folder / ".journal.jsonl", tmp_path / "journal")
    shutil.copy(tmp_path / "journal", folder / ".journal.jsonl")  # killed after the part stood, before the journal went
    with open_rows(folder) as rows:
        assert rows.statuses() == {"tile=8x8": "refused"}
    assert rows_at(folder) == [("tile=8x8", "refused")]


def test_parts_are_made_while_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("parquet")
    monkeypatch.setattr(parquet_parts, "PART_ROWS", 5)
    folder = tmp_path / "rows.parquet"
    with open_rows(folder) as rows:
        rows.write([{"key": f"tile={n}", "status": "refused"} for n in range(4)])
        assert not list(folder.glob("part-*.parquet"))
        rows.write([{"key": "tile=4", "status": "refused"}])
        assert len(rows_at(folder)) == 5
        assert (folder / ".journal.jsonl").stat().st_size == 0


@pytest.mark.parametrize("kind", FORMATS)
def test_a_proof_that_failed_in_an_earlier_run_still_counts(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs(kind)
    path = tmp_path / f"rows.{kind}"
    with open_rows(path) as rows:
        rows.write([{"key": key_of(next(iter(points()))), "status": "disproved"}])
    assert main(["atlas", str(path), *OPTIONS]) == 1
    assert "; 1 skipped (1 disproved); " in capsys.readouterr().out
    assert main(["atlas", str(path), *OPTIONS]) == 1
    assert "nothing to do; 20 skipped (1 disproved); " in capsys.readouterr().out
