"""One round of questions to a worker process that holds the CuTe DSL.

The process asking never imports ``cutlass``; it sends the questions as JSON and reads one JSON line for each answer.
Inside the worker every batch runs in a forked child, so a native crash costs one question and a few milliseconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from layoutalg.oracle.installed import OracleError, require

__all__ = ["Reply", "Status", "ask"]

Status = Literal["ok", "rejected", "crashed", "timeout"]
_STATUSES = ("ok", "rejected", "crashed", "timeout")


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of one question: the value under ``ok``, else a text that says what happened."""

    status: Status
    value: Any


def ask(
    answerer: str,
    questions: Sequence[object],
    *,
    each_s: float,
    batch: int,
    limit_s: float = 600.0,
    target: str | None = None,
) -> list[Reply]:
    """Return one reply a question, in order.

    Args:
        answerer: dotted name of the module that answers; its ``prepare()`` runs in the worker, and returns a function
            of a list of questions and of what it reports each status and value to.
        questions: plain data that JSON can carry.
        each_s: seconds a single question may take before its child is killed (status ``timeout``).
        batch: how many questions a forked child answers before the next child takes over.
        limit_s: seconds the whole round may take.
        target: what the DSL believes to compile for (``sm_100a``), where a question does not say it itself.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the worker itself broke or ran past ``limit_s``.
    """
    require()
    if not questions:
        return []
    job = json.dumps({"answerer": answerer, "questions": list(questions), "each_s": each_s, "batch": batch})
    command = [sys.executable, "-m", "layoutalg.oracle.worker"]
    try:
        with TemporaryDirectory() as scratch:  # the DSL leaves its PTX where the process was started
            done = subprocess.run(
                command,
                input=job,
                capture_output=True,
                text=True,
                timeout=limit_s,
                env=_environment(target, scratch),
                cwd=scratch,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise OracleError(
            f"oracle: {len(questions)} questions to {answerer} must end in {limit_s} s, found no end"
        ) from error
    replies = list(_replies(done.stdout))
    if done.returncode or len(replies) != len(questions):
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise OracleError(
            f"oracle: the worker must answer {len(questions)} questions, found {len(replies)} and exit status "
            f"{done.returncode}: {reason[:200]}"
        )
    return replies


def _environment(target: str | None, scratch: str) -> dict[str, str]:
    """The environment of the worker: this very copy of the package first, and the DSL's own log kept quiet."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    chosen = {"CUTE_DSL_ARCH": target} if target else {}
    quiet = {"CUTE_DSL_LOG_LEVEL": "50", "CUTE_DSL_DUMP_DIR": scratch}
    return {**os.environ, "PYTHONPATH": path, **quiet, **chosen}


def _replies(lines: str) -> Iterator[Reply]:
    for line in lines.splitlines():
        status, value = json.loads(line)
        if status not in _STATUSES:
            raise OracleError(f"oracle: a status must be one of {', '.join(_STATUSES)}, found {str(status)[:60]}")
        yield Reply(cast(Status, status), value)
