"""The atlas: a row for every point, proved; a run that was cut off goes on; any executor will do."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from places import ROOT
from programs import NEEDS_POSIX
from refusals import refusal

import descriptors
from descriptors import DescriptorError, derive
from descriptors.cli.command import main
from descriptors.sweep.atlas import Summary, atlas, key_of, row_of
from descriptors.sweep.lattice import Lattice, lattice
from descriptors.text import word_text

POINT: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


def small(**more: Any) -> Lattice:
    names: dict[str, Any] = {"dtypes": "bf16,e4m3,tf32", "swizzles": "none,128B", "archs": "sm100", **more}
    return lattice("64:128:64x64", "64xauto", **names)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_point_has_a_row_with_its_words_or_its_reason(tmp_path: Path) -> None:
    points = small()
    summary = atlas(points, tmp_path / "rows.jsonl")
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["key"] for row in rows] == [key_of(point) for point in points]
    assert len(rows) == len(points) == sum(summary.counts.values())
    assert {row["status"] for row in rows} == {"proved", "refused"}
    assert summary.elements == sum(row["elements"] for row in rows)
    for row, point in zip(rows, points, strict=True):
        if row["status"] == "proved":
            d = derive(**point)
            assert (row["word"], row["advance"]) == (word_text(d.descriptor.encode()), str(d.advance))
        else:
            with pytest.raises(DescriptorError) as caught:
                derive(**point)
            assert (row["error"], row["error_type"]) == (str(caught.value), type(caught.value).__name__)


def test_a_run_that_is_there_already_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    atlas(small(archs="sm90"), path)
    before = path.read_bytes()
    summary = atlas(small(archs="sm90,sm100"), path)
    assert summary.skipped == len(small())
    assert path.read_bytes().startswith(before)
    assert len(rows_of(path)) == 2 * len(small())
    again = atlas(small(archs="sm90,sm100"), path)
    assert (dict(again.counts), again.skipped) == ({}, 2 * len(small()))


@pytest.mark.parametrize("cut", [1, 40, 3000])
def test_a_last_line_that_was_cut_off_is_made_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows.jsonl"
    atlas(small(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    atlas(small(), path)
    assert path.read_bytes() == whole


def test_a_file_that_is_only_a_cut_line_starts_afresh(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"key": "arch=')
    atlas(small(), path)
    assert len(rows_of(path)) == len(small())


def test_rows_that_were_not_proved_are_made_again_when_proofs_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    unproved = atlas(small(), path, prove=False)
    assert set(unproved.counts) == {"derived", "refused"}
    second = atlas(small(), path)
    assert dict(second.counts) == {"proved": unproved.counts["derived"]}
    assert second.skipped == unproved.counts["refused"]


def test_a_line_that_is_no_row_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for text in ("no json\n", '{"key": "x"}\n', "[]\n", "7\n"):
        path.write_text(text)
        with pytest.raises(DescriptorError, match=r"rows\.jsonl:1 is not a row of an atlas; line = "):
            atlas(small(), path)
        assert path.read_text() == text


class InOrder(Executor):
    """The least that an executor must do."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it is handed on
            future.set_exception(error)
        return future


@pytest.fixture(params=["in order", "threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "in order":
        yield InOrder()
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    else:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool


def test_any_executor_makes_the_rows(executor: Executor, tmp_path: Path) -> None:
    progress: list[int] = []
    points = small(archs="all", dtypes="all")
    summary = atlas(points, tmp_path / "rows.jsonl", executor=executor, progress=progress.append)
    atlas(points, tmp_path / "here.jsonl")
    assert sorted(rows_of(tmp_path / "rows.jsonl"), key=str) == sorted(rows_of(tmp_path / "here.jsonl"), key=str)
    assert sum(progress) == sum(summary.counts.values()) == len(points)


def test_an_executor_that_breaks_ends_the_run_and_keeps_the_rows(tmp_path: Path) -> None:
    class Breaks(InOrder):
        left = 2

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.left -= 1
            if self.left < 0:
                raise RuntimeError("the cluster is gone")
            return super().submit(fn, *args, **kwargs)

    path = tmp_path / "rows.jsonl"
    points = small(dtypes="all", archs="all")
    with pytest.raises(RuntimeError, match="the cluster is gone"):
        atlas(points, path, executor=Breaks())
    atlas(points, path)
    assert sorted(row["key"] for row in rows_of(path)) == sorted(map(key_of, points))


def test_a_proof_that_fails_is_a_row_and_a_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from descriptors.smem.words.descriptor import SmemDescriptor

    honest = SmemDescriptor.encode
    monkeypatch.setattr(SmemDescriptor, "encode", lambda d: honest(d) ^ 2)
    row = row_of(POINT, prove=True)
    assert (row["status"], row["error_type"]) == ("disproved", "ProofError")
    assert "are read from elsewhere" in row["error"]
    assert not Summary({"disproved": 1}, 0, 0, 1.0).ok
    options = ["--tile", "128x128", "--mma", "64xauto", "--dtype", "bf16", "--major", "K", "--swizzle", "128B"]
    assert main(["atlas", str(tmp_path / "rows.jsonl"), *options, "--order", "mn", "--arch", "sm100"]) == 1


@pytest.mark.parametrize("points", [[7], [{"nothing": 1}], [{**POINT, "verify": False}]])
def test_what_is_no_point_is_refused(points: Any, tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match="is not a mapping of arguments of derive"):
        atlas(points, tmp_path / "rows.jsonl")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", 4097])
def test_workers_are_counted(workers: Any, tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match="atlas: workers is "):
        atlas([], tmp_path / "rows.jsonl", workers=workers)


def test_the_command_tells_what_it_did_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tile", "64:128:64x64", "--mma", "64xauto", "--dtype", "bf16", "--arch", "sm90", "--workers", "2"]
    assert main(["atlas", str(tmp_path / "rows.jsonl"), *options]) == 0
    assert capsys.readouterr().out.startswith("proved 32, refused 8; 0 skipped; ")
    assert main(["atlas", str(tmp_path / "rows.jsonl"), *options, "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("nothing to do; 40 skipped; ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["atlas"],
        ["atlas", "rows.jsonl"],
        ["atlas", "rows.csv", "--tile", "128x128"],
        ["atlas", "/nowhere/at/all/rows.jsonl", "--tile", "128x128"],
        ["atlas", "rows.jsonl", "--tile", "128"],
        ["atlas", "rows.jsonl", "--tile", "128x128", "--workers", "0"],
        ["atlas", "rows.jsonl", "--tile", "128x128", "--legality", "loose"],
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and refusal(captured.err)


@NEEDS_POSIX
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_ends_in_good_order_and_goes_on(workers: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    options = ["--tile", "64:256:64x64:256:64", "--arch", "sm90", "--workers", workers]
    command = [sys.executable, "-m", "descriptors", "atlas", str(path), *options]
    run = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (path.exists() and path.stat().st_size) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)  # as the terminal does: to the workers too
    _, printed = run.communicate(timeout=60)
    assert (run.returncode, printed.strip()) in ((130, b""), (0, b""))
    points = lattice("64:256:64x64:256:64", archs="sm90")
    summary = atlas(points, path)
    assert summary.skipped > 0
    assert sorted(row["key"] for row in rows_of(path)) == sorted(map(key_of, points))


@pytest.mark.parametrize("guard", ["if True:", 'if __name__ == "__main__":'])
@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_a_program_that_each_worker_begins_again_is_refused_with_the_way_out(
    start: str, guard: str, tmp_path: Path
) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} on this system")
    (tmp_path / "program.py").write_text(
        "import multiprocessing\nfrom descriptors import atlas, lattice\n"
        f"{guard}\n    multiprocessing.set_start_method({start!r}, force=True)\n"
        "    points = list(lattice('64x64', '64xauto', dtypes='bf16', archs='sm90'))\n"
        "    print(atlas(points, 'rows.jsonl', workers=2).counts['proved'])\n",
        encoding="utf-8",
    )
    words = {**os.environ, "PYTHONPATH": str(Path(descriptors.__file__).parents[1])}
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=words, capture_output=True, text=True, check=False)
    if "main" in guard:
        assert done.returncode == 0 and int(done.stdout) > 0, done.stderr
    else:
        assert "a program of your own must call atlas under: if __name__ == '__main__'" in done.stderr.splitlines()[-1]


class _Interrupted(ThreadPoolExecutor):
    """An executor to which Ctrl-C comes while it holds a lock, as it may at any instruction."""

    finished = 0

    def submit(self, *arguments: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        self.finished += 1
        return super().submit(*arguments, **options)


def test_an_interrupt_waits_until_the_executor_holds_no_lock(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with _Interrupted(1) as executor, pytest.raises(KeyboardInterrupt):
        atlas([{**POINT, "arch": "sm100"}], tmp_path / "rows.jsonl", executor=executor)
    assert executor.finished == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_counts_the_rows_that_were_there_too(tmp_path: Path) -> None:
    point = {**POINT, "arch": "sm100"}
    progress: list[int] = []
    atlas([point], tmp_path / "rows.jsonl", progress=progress.append)
    atlas([point, {**point, "swizzle": "64B"}], tmp_path / "rows.jsonl", progress=progress.append)
    assert progress == [1, 1, 1]
