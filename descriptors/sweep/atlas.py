"""Derive and verify all operands of a lattice, and write one row for each; several processes can share the work.

A run can be killed at any time and started again: rows are written in batches, existing rows are kept, and a failed
proof among them still counts. Only one run at a time writes to an output. The work can be distributed by any
``concurrent.futures.Executor``, such as a process pool or the executor of a Dask client.

Invariant: each point has its own key, which identifies its row.

>>> from descriptors.sweep.lattice import lattice
>>> points = list(lattice("64:192:64x64", dtypes="bf16,e4m3", archs="sm100"))
>>> len({key_of(point) for point in points}) == len(points) > 100
True
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from itertools import islice
from os import PathLike
from queue import SimpleQueue
from types import FrameType

from descriptors.errors import DescriptorError, LayoutError, ProofError, as_integer, brief
from descriptors.smem.derivation.derive import derive
from descriptors.smem.derivation.proved import proved
from descriptors.sweep.atlas_files import Row, open_rows
from descriptors.sweep.lattice import Point
from descriptors.text import word_text
from layoutalg import size
from layoutalg.frozen import frozen

#: Points per task: many enough that the transfer costs little, few enough that little is lost if a run is killed.
_BATCH = 64

#: The largest number of tasks in an executor at a time, so that a lattice of any size needs little memory.
_WAITING = 64


@frozen
class Summary:
    """The summary of a run.

    Args:
        counts: number of new rows by status: proved, derived, refused, disproved.
        skipped: number of points that already had a row.
        elements: number of compared elements.
        seconds: duration of the run.
        disproved_before: number of skipped points whose proof had failed.
    """

    counts: Mapping[str, int]
    skipped: int
    elements: int
    seconds: float
    disproved_before: int = 0

    @property
    def ok(self) -> bool:
        """Whether no proof failed, in this run or in the run that wrote the existing rows."""
        return not self.counts.get("disproved") and not self.disproved_before

    def __str__(self) -> str:
        """Return a line such as ``proved 40, refused 8; 0 skipped; 1.3 M elements, 0.2 s: 240 points/s, ...``."""
        points = sum(self.counts.values())
        tally = ", ".join(f"{status} {count}" for status, count in sorted(self.counts.items())) or "nothing to do"
        rate = f"{points / self.seconds:.0f} points/s, {self.elements / self.seconds / 1e6:.1f} M elements/s"
        before = f" ({self.disproved_before} disproved)" if self.disproved_before else ""
        work = f"{self.elements / 1e6:.1f} M elements, {self.seconds:.1f} s"
        return f"{tally}; {self.skipped} skipped{before}; {work}: {rate}"


def atlas(
    points: Iterable[Point],
    output: str | PathLike[str],
    *,
    prove: bool = True,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> Summary:
    """Derive and verify every point, and write a row for it.

    Invariant: afterwards the output has a row for each point, and its previous rows are unchanged.

    Args:
        points: arguments of ``derive`` as plain data, such as a ``Lattice``.
        output: a file ``*.jsonl``. Existing rows are kept.
        prove: whether to verify every descriptor.
        workers: number of processes to start if no executor is given; 1 uses this process. A program that uses more
            calls this function under ``if __name__ == "__main__":``, since Python may start a worker by running the
            program again.
        executor: executor for the work; it is not shut down.
        progress: function that is called with the number of points completed since the last call.

    Raises:
        DescriptorError: if the output is not such a file, contains other data, or is in use by another run; then
            nothing is changed. Also if a worker process is killed.
        OSError: if the output cannot be written.

    >>> import tempfile
    >>> from descriptors.sweep.lattice import lattice
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points = lattice("128x64", "64xauto", dtypes="bf16,tf32", swizzles="64B,128B", archs="sm100")
    ...     first = atlas(points, f"{folder}/rows.jsonl")
    ...     again = atlas(points, f"{folder}/rows.jsonl")
    >>> dict(first.counts), again.skipped
    ({'proved': 12, 'refused': 4}, 16)
    """
    count = as_integer(workers, "atlas: workers", minimum=1, maximum=4096)
    begun, counts, elements = time.perf_counter(), Counter[str](), 0
    with open_rows(output) as rows:
        todo = _Todo(points, rows.statuses(), prove, progress)
        alone = executor is None and count == 1
        with nullcontext() if alone else _deferred_interrupt() as done, _pool(executor, count) as pool:
            for rows_of_batch in _results(_batches(todo), prove, pool, done):
                rows.write(rows_of_batch)
                counts.update(str(row["status"]) for row in rows_of_batch)
                elements += sum(
                    int(row["elements"]) for row in rows_of_batch if row["status"] in ("proved", "disproved")
                )
                if progress is not None:
                    progress(len(rows_of_batch))
    seconds = max(time.perf_counter() - begun, 1e-9)
    return Summary(counts, todo.skipped, elements, seconds, todo.disproved)


def key_of(point: Point) -> str:
    """Return the key of a point, which is unique and readable.

    >>> key_of({"arch": "sm100", "dtype": "bf16", "tile": (128, 64), "order": None})
    'arch=sm100 dtype=bf16 order=default tile=128x64'
    """
    return " ".join(f"{name}={_value_text(point[name])}" for name in sorted(point))


def row_of(point: Point, prove: bool) -> Row:
    """Return the row of a point: its arguments, then the result.

    >>> row = row_of({"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}, True)
    >>> row["status"], row["word"], row["canonical"]
    ('proved', '0x4000404000010000', '((8,8),(1,2)):((8,64),(0,1))')
    """
    row: Row = {"key": key_of(point), **point}
    try:
        d = derive(**point, verify=False)
        status, error = "derived", None
        if prove:
            try:
                proved(d)
                status = "proved"
            except ProofError as wrong:
                status, error = "disproved", str(wrong.proof)
    except LayoutError as refusal:
        return {**row, **_NOTHING, "status": "refused", "error": str(refusal), "error_type": type(refusal).__name__}
    return {
        **row,
        "status": status,
        "word": word_text(d.descriptor.encode()),
        "dont_care_mask": word_text(d.dont_care_mask()),
        "leading_byte_offset": d.descriptor.leading_byte_offset,
        "stride_byte_offset": d.descriptor.stride_byte_offset,
        "smem_tile": str(d.smem_tile),
        "canonical": str(d.canonical),
        "advance": str(d.advance),
        "subtiles": size(d.advance),
        "elements": size(d.tile),
        "error": error,
        "error_type": None if error is None else "ProofError",
    }


#: What a refused point has instead of a derivation.
_NOTHING: Row = {
    "status": "refused",
    "word": None,
    "dont_care_mask": None,
    "leading_byte_offset": None,
    "stride_byte_offset": None,
    "smem_tile": None,
    "canonical": None,
    "advance": None,
    "subtiles": 0,
    "elements": 0,
}


class _Todo:
    """The points without a row in the output; counts the other points, and the failed proofs among them."""

    def __init__(
        self,
        points: Iterable[Point],
        statuses: Mapping[str, str],
        prove: bool,
        progress: Callable[[int], object] | None,
    ) -> None:
        self.points, self.progress, self.skipped, self.disproved = points, progress, 0, 0
        # A row without a proof is made again if proofs are requested; the last row of a key is the valid one.
        self.done = {key: status for key, status in statuses.items() if status != "derived" or not prove}

    def __iter__(self) -> Iterator[Point]:
        names = set(inspect.signature(derive).parameters) - {"verify"}
        for point in self.points:
            if not isinstance(point, Mapping) or not set(point) <= names:
                raise DescriptorError(f"atlas: point {brief(point)} is not a mapping of arguments of derive")
            status = self.done.get(key_of(point))
            if status is None:
                yield point
                continue
            self.skipped += 1
            self.disproved += status == "disproved"
            if self.progress is not None:
                self.progress(1)


def _batches(points: Iterable[Point]) -> Iterator[list[Point]]:
    iterator = iter(points)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


#: A queue of completed tasks; None for a Ctrl-C.
_Done = SimpleQueue[Future[list[Row]] | None]


@contextmanager
def _deferred_interrupt() -> Iterator[_Done]:
    """Provide a queue of completed tasks, in which Ctrl-C appears as None until the block ends.

    An exception can be raised at any instruction, also while a lock of the executor is acquired but not yet recorded;
    then every thread that needs the lock waits forever. A signal handler may write to a ``SimpleQueue``.
    """
    done: _Done = SimpleQueue()
    if threading.current_thread() is not threading.main_thread():
        yield done
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        done.put(None)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield done
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _pool(executor: Executor | None, count: int) -> Iterator[Executor | None]:
    """Provide the executor of the work: the given one, None for one process, or a new process pool.

    Raises:
        DescriptorError: if a process of the new pool is killed; the rows written so far are kept.
    """
    if executor is not None or count == 1:
        yield executor
        return
    try:
        with ProcessPoolExecutor(count, initializer=_begin_worker) as pool:
            yield pool
    except BrokenExecutor:
        raise DescriptorError(
            "atlas: a worker was killed (by hand, or for memory); its rows are missing, all others are kept; start the"
            " same run again, with fewer workers"
            f"{'' if multiprocessing.get_start_method() == 'fork' else _BEGUN_AGAIN}"
        ) from None


#: If workers are not forked, Python starts a worker by running the program again.
_BEGUN_AGAIN = "; a program of your own must call atlas under: if __name__ == '__main__'"


def _begin_worker() -> None:
    """Initialize a worker: ignore Ctrl-C, which the parent process handles, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent process ends for any reason, because this process is then useless."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _rows(batch: list[Point], prove: bool) -> list[Row]:
    """Return the rows of one task."""
    return [row_of(point, prove) for point in batch]


def _results(
    batches: Iterator[list[Point]], prove: bool, pool: Executor | None, done: _Done | None
) -> Iterator[list[Row]]:
    """Yield the rows of every batch when they are ready."""
    if pool is None or done is None:
        for batch in batches:
            yield _rows(batch, prove)
        return
    waiting: set[Future[list[Row]]] = set()
    try:
        for batch in batches:
            task = pool.submit(_rows, batch, prove)
            waiting.add(task)
            task.add_done_callback(done.put)
            if len(waiting) == _WAITING:
                yield _next_rows(done, waiting)
        while waiting:
            yield _next_rows(done, waiting)
    finally:
        for task in waiting:
            task.cancel()


def _next_rows(done: _Done, waiting: set[Future[list[Row]]]) -> list[Row]:
    """Return the rows of the next completed task; tasks completed before a Ctrl-C are returned first.

    Raises:
        KeyboardInterrupt: if the next item is a Ctrl-C.
    """
    task = done.get()
    if task is None:
        raise KeyboardInterrupt
    waiting.discard(task)
    return task.result()


def _value_text(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return "x".join(map(str, value))
    return "default" if value is None else str(value)
