"""Nothing of a user's is ever destroyed: the atlas looks before it touches, holds what it writes, and loses no row."""

from __future__ import annotations

import json
import os
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
from descriptors.sweep.atlas import atlas, key_of
from descriptors.sweep.atlas_files import open_rows
from descriptors.sweep.lattice import Lattice, lattice

OPTIONS = ["--tile", "64x64", "--mma", "64xauto", "--dtype", "bf16", "--arch", "sm100"]
WIDE = ["--tile", "64:256:64x64:256:64", "--arch", "sm90"]


def points() -> Lattice:
    return lattice("64x64", "64xauto", dtypes="bf16", archs="sm100")


def rows_at(path: Path) -> list[tuple[str, str]]:
    """Key and status of every row, read without the code under test."""
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


def test_a_second_run_on_the_same_output_is_told_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with open_rows(path) as rows:
        rows.write([{"key": "tile=8x8", "status": "refused"}])
        with pytest.raises(DescriptorError, match="another run is writing to "):
            atlas(points(), path)
    atlas(points(), path)
    assert len(rows_at(path)) == len(points()) + 1


def test_of_two_commands_at_once_one_makes_every_row_and_the_other_is_told(tmp_path: Path, begin: Begin) -> None:
    path = tmp_path / "rows.jsonl"
    runs = [begin(path, *WIDE) for _ in range(2)]
    outputs = [run.communicate(timeout=300) for run in runs]
    statuses = sorted(run.returncode for run in runs)
    assert statuses in ([0, 2], [0, 0]), outputs  # both, where the second began after the first had ended
    if statuses == [0, 2]:
        assert any(b"another run is writing to" in errors for _, errors in outputs)
    keys = [key for key, _ in rows_at(path)]
    assert len(keys) == len(set(keys)) == len(lattice(WIDE[1], archs="sm90"))


def test_a_run_that_is_killed_leaves_its_rows_and_no_worker_behind(tmp_path: Path, begin: Begin) -> None:
    path = tmp_path / "rows.jsonl"
    run = begin(path, "--workers", "2", *WIDE)
    wait_for(lambda: path.exists() and path.stat().st_size > 50_000, run)
    workers = children(run.pid)
    run.kill()
    run.communicate(timeout=300)
    count = path.read_bytes().count(b"\n")
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


def test_a_proof_that_failed_in_an_earlier_run_still_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    with open_rows(path) as rows:
        rows.write([{"key": key_of(next(iter(points()))), "status": "disproved"}])
    assert main(["atlas", str(path), *OPTIONS]) == 1
    assert "; 1 skipped (1 disproved); " in capsys.readouterr().out
    assert main(["atlas", str(path), *OPTIONS]) == 1
    assert "nothing to do; 20 skipped (1 disproved); " in capsys.readouterr().out
