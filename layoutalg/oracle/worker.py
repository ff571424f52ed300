"""Worker process of the oracle: imports the CuTe DSL, reads a job from standard input, writes a JSON line per question.

A batch of questions runs in a forked child process, which reports each answer immediately. If a child dies (the DSL's
native code may raise SIGFPE, SIGABRT or SIGSEGV) or does not report for too long, the question that it was answering
gets this result, and the next child continues after it. `layoutalg.oracle.service` runs this module as ``python -m
layoutalg.oracle.worker``.

Invariant: every question has one answer, in order, for every batch size and regardless of where children die.

>>> def work(numbers, report):
...     for number in numbers:
...         os._exit(9) if number % 3 == 2 else report("ok", number)
>>> results = [list(run_isolated(list(range(7)), work, each_s=10, batch=batch)) for batch in (1, 3, 8)]
>>> [number if status == "ok" else status for status, number in results[0]]
[0, 1, 'crashed', 3, 4, 'crashed', 6]
>>> results[0] == results[1] == results[2]
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
    """Yield ``(status, value)`` for every question, also for a question that crashes the process that answers it.

    Args:
        questions: the questions.
        work: a function that answers a list of questions in order and calls its second argument once for each.
        each_s: seconds without a report after which a child is killed.
        batch: the most questions of a child.

    >>> import os
    >>> def work(numbers, report):
    ...     for number in numbers:
    ...         os._exit(9) if number == 2 else report("ok", number)
    >>> list(run_isolated([1, 2, 3], work, each_s=10, batch=8))
    [('ok', 1), ('crashed', 'exit status 9'), ('ok', 3)]
    """
    position = 0
    while position < len(questions):
        chunk = questions[position : position + batch]
        replies = 0
        end: tuple[str, object] = ("crashed", "no report")
        for kind, value in _child(chunk, work, each_s):
            if kind == "end":
                end = value
            else:
                replies += 1
                yield kind, value
        position += replies
        if replies < len(chunk):  # the child ended while it answered the next question
            position += 1
            yield end


def _child(chunk: list[Any], work: Work, each_s: float) -> Iterator[tuple[str, Any]]:
    """Run a forked child; yield its reports and finally ``("end", (status, reason))``."""
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
    """Answer the questions in the child, then exit without the cleanup that belongs to the parent."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # the DSL prints diagnostics, and the standard output of the worker is for answers
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
    """Read a job from standard input and write its answers."""
    job = json.load(sys.stdin)
    answerer: Any = import_module(job["answerer"])
    work: Work = answerer.prepare()  # imports the DSL once, before all forks
    for status, value in run_isolated(job["questions"], work, each_s=job["each_s"], batch=job["batch"]):
        sys.stdout.write(json.dumps((status, value)) + "\n")


if __name__ == "__main__":
    main()
