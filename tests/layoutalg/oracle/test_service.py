"""The oracle as a tool: what its worker reports is passed on as it is, or called broken."""

from __future__ import annotations

import subprocess

import pytest

from layoutalg.oracle import OracleError, service
from layoutalg.oracle.service import Reply, ask


def worker_that_prints(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 0, stdout=lines, stderr="")
    monkeypatch.setattr(service.subprocess, "run", lambda *args, **options: done)
    monkeypatch.setattr(service, "require", lambda: None)


def test_each_reply_is_passed_on_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["ok", 1]\n["rejected", "no"]\n["crashed", "SIGFPE"]\n["timeout", "3 s"]\n', monkeypatch)
    replies = ask("layoutalg.oracle.dsl.algebra", [1, 2, 3, 4], each_s=1, batch=8)
    assert replies == [Reply("ok", 1), Reply("rejected", "no"), Reply("crashed", "SIGFPE"), Reply("timeout", "3 s")]


def test_a_status_that_nobody_knows_is_the_end_of_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["fine", 1]\n', monkeypatch)
    with pytest.raises(OracleError, match="a status must be one of ok, rejected, crashed, timeout, found fine"):
        ask("layoutalg.oracle.dsl.algebra", [1], each_s=1, batch=8)


def test_a_worker_that_leaves_questions_open_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["ok", 1]\n', monkeypatch)
    with pytest.raises(OracleError, match="must answer 2 questions, found 1"):
        ask("layoutalg.oracle.dsl.algebra", [1, 2], each_s=1, batch=8)
