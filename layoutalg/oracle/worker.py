"""The process that holds the CuTe DSL: reads a job from standard input, writes one JSON line a question.

A batch of questions runs inside a forked child, which reports each answer as soon as it has it. When a child dies (the
DSL's native code may raise SIGFPE, SIGABRT or SIGSEGV) or falls silent, the question it was at is blamed, and the next
child goes on after it. Run as ``python -m layoutalg.oracle.worker`` by `layoutalg.oracle.service`.

Law: every question has one answer, in order, wherever children die and however many questions they are given.

>>> def work(numbers, report):
...     for number in numbers:
...         os._exit(9) if number % 3 == 2 else report("ok", number)
>>> told = [list(run_isolated(list(range(7)), work, each_s=10, batch=batch)) for batch in (1, 3, 8)]
>>> [number if status == "ok" else status for status, number in told[0]]
[0, 1, 'crashed', 3, 4, 'crashed', 6]
>>> told[0] == told[1] == told[2]
True
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

__all__ = ["main", "run_isolated"]

Reporter = Callable[[str, object], None]
Work = Callable[[list[Any], Reporter], None]


def run_isolated(questions: list[Any], work: Work, *, each_s: float, batch: int) -> Iterator[tuple[str, object]]:
    """Yield ``(status, value)`` for every question, whatever the questions do to the process that answers them.

    Args:
        questions: what to answer.
        work: answers a list of questions in order, calling its second argument once for each.
        each_s: seconds of silence after which a child is killed.
        batch: questions a child is given.

    >>> import os
    >>> def work(numbers, report):
    ...     for number in numbers:
    ...         os._exit(9) if number == 2 else report("ok", number)
    >>> list(run_isolated([1, 2, 3], work, each_s=10, batch=8))
    [('ok', 1), ('crashed', 'exit status 9'), ('ok', 3)]
    """
    at = 0
    while at < len(questions):
        chunk = questions[at : at + batch]
        replies = 0
        end: tuple[str, object] = ("crashed", "no report")
        for kind, value in _child(chunk, work, each_s):
            if kind == "end":
                end = value
            else:
                replies += 1
                yield kind, value
        at += replies
        if replies < len(chunk):  # the child ended at a question: that one takes the blame
            at += 1
            yield end


def _child(chunk: list[Any], work: Work, each_s: float) -> Iterator[tuple[str, Any]]:
    """Fork, let the child work, yield its reports and last ``("end", (status, why))``."""
    source, sink = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.close(source)
        _work_and_exit(chunk, work, sink)
    os.close(sink)
    silent = False
    with os.fdopen(source, "rb", buffering=0) as stream:
        rest = b""
        while True:
            ready, _, _ = select.select([stream], [], [], each_s)
            if not ready:
                silent = True
                os.kill(process, signal.SIGKILL)
                break
            piece = stream.read(1 << 16)
            if not piece:
                break
            *lines, rest = (rest + piece).split(b"\n")
            yield from (tuple(json.loads(line)) for line in lines)
    _, ended = os.waitpid(process, 0)
    if silent:
        yield "end", ("timeout", f"no answer in {each_s} s")
    else:
        yield "end", ("crashed", _cause(ended))


def _work_and_exit(chunk: list[Any], work: Work, sink: int) -> None:
    """The child's whole life; it leaves without the clean-up that belongs to its parent."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # the DSL prints its diagnostics; standard output carries the answers
    os.dup2(quiet, 2)

    def report(status: str, value: object) -> None:
        os.write(sink, json.dumps((status, value)).encode() + b"\n")

    with suppress(BaseException):
        work(chunk, report)
    os._exit(0)


def _cause(ended: int) -> str:
    if os.WIFSIGNALED(ended):
        return signal.Signals(os.WTERMSIG(ended)).name
    return f"exit status {os.waitstatus_to_exitcode(ended)}"


def main() -> None:
    """Answer the job on standard input."""
    job = json.load(sys.stdin)
    answerer: Any = import_module(job["answerer"])
    work: Work = answerer.prepare()  # imports the DSL once, before any fork
    for status, value in run_isolated(job["questions"], work, each_s=job["each_s"], batch=job["batch"]):
        sys.stdout.write(json.dumps((status, value)) + "\n")


if __name__ == "__main__":
    main()
