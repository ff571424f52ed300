"""A function in a child process with limits: 5 seconds of processor time, 2 GB of memory, small files, no terminal.

Processor time is counted, not the clock, so that a busy machine changes no verdict.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY_BYTES = 2 << 30
_FILE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended.

    Args:
        value: what the function returned; None if it did not.
        status: exit status; the negative number of the signal that ended it.
        output: the first megabyte that it wrote to standard output.
        errors: likewise to standard error.
    """

    value: Any
    status: int
    output: bytes
    errors: bytes

    @property
    def ended_by(self) -> str:
        """The name of the limit or signal that ended it; "" if none did."""
        if self.status >= 0:
            return ""
        name = signal.Signals(-self.status).name
        return "time: more than the limit of processor time" if name in ("SIGXCPU", "SIGKILL") else name


def run(function: Callable[[], Any], seconds: int = 5, closed: str = "", stdin: bytes = b"") -> Outcome:
    """Run a function in a forked child, in an empty folder of its own.

    Args:
        function: what to run; its value must be picklable.
        seconds: of processor time.
        closed: names of the streams that are closed, with spaces between them: ``stdin stdout stderr``.
        stdin: what standard input holds.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("stdin", "stdout", "stderr", "value")}
        for path in files.values():
            path.write_bytes(stdin if path.name == "stdin" else b"")
        Path(folder, "work").mkdir()
        child = os.fork()
        if child == 0:
            _child(function, seconds, closed.split(), files, Path(folder, "work"))
        status = _wait(child, 60 + 12 * seconds)
        value = files["value"].read_bytes()
        texts = [files[name].read_bytes()[: 1 << 20] for name in ("stdout", "stderr")]
        return Outcome(pickle.loads(value) if value else None, status, *texts)


def _wait(child: int, patience: float) -> int:
    """The status of a child and the end of all that it started; one that sleeps beyond all patience is killed."""
    started = time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        time.sleep(0.002)
        if time.monotonic() - started > patience:
            os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(ended[1])
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    return status


def _child(function: Callable[[], Any], seconds: int, closed: list[str], files: dict[str, Path], work: Path) -> None:
    status = 70
    try:
        os.setsid()
        faulthandler.disable()
        os.chdir(work)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if name in closed:
                os.close(number)
                setattr(sys, name, None)
                continue
            mode = "r" if name == "stdin" else "w"
            opened = os.open(files[name], os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_APPEND)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            errors = {"stdin": "surrogateescape", "stdout": "strict", "stderr": "backslashreplace"}[name]
            setattr(sys, name, open(number, mode, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        value = function()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        files["value"].write_bytes(pickle.dumps(value))
        status = 0
    except BaseException:  # noqa: BLE001  the parent is told whatever it is
        status = 1
        with contextlib.suppress(Exception):
            files["stderr"].open("a").write(traceback.format_exc())
    finally:
        os._exit(status)
