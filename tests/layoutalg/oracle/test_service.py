"""The oracle as a tool: what its worker reports is passed on as it is, or called broken."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from layoutalg.oracle import OracleError, service
from layoutalg.oracle.service import Reply, ask


def worker_that_prints(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.CompletedProcess([], 0, stdout=lines, stderr="")
    monkeypatch.setattr(service.subprocess, "run", lambda *args, **options: ended)
    monkeypatch.setattr(service, "require", lambda: None)


def test_each_reply_is_passed_on_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["ok", 1]\n["rejected", "no"]\n["crashed", "SIGFPE"]\n["timeout", "3 s"]\n', monkeypatch)
    replies = ask("layoutalg.oracle.dsl.algebra", [1, 2, 3, 4], each_s=1, batch=8)
    assert replies == [Reply("ok", 1), Reply("rejected", "no"), Reply("crashed", "SIGFPE"), Reply("timeout", "3 s")]


def test_a_status_that_nobody_knows_is_the_end_of_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["fine", 1]\n', monkeypatch)
    with pytest.raises(OracleError, match="fine is not a status; supported: ok, rejected, crashed, timeout"):
        ask("layoutalg.oracle.dsl.algebra", [1], each_s=1, batch=8)


def test_a_worker_that_leaves_questions_open_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_that_prints('["ok", 1]\n', monkeypatch)
    with pytest.raises(OracleError, match="answered 1 of 2 questions"):
        ask("layoutalg.oracle.dsl.algebra", [1, 2], each_s=1, batch=8)


ANSWERER = """
import os, time

def prepare():
    def work(questions, report):
        for question in questions:
            if question == "die":
                os.abort()
            if question == "sleep":
                time.sleep(60)
            report("ok", question)
    return work
"""


def test_the_worker_asks_the_module_that_it_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the DSL: whoever has questions brings the module that answers, crashes and all."""
    (tmp_path / "an_answerer.py").write_text(ANSWERER, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(service, "require", lambda: None)
    replies = ask("an_answerer", [1, "die", "sleep", 4], each_s=0.5, batch=8)
    assert [reply.status for reply in replies] == ["ok", "crashed", "timeout", "ok"]
    assert [reply.value for reply in replies] == [1, "SIGABRT", "no answer in 0.5 s", 4]
    with pytest.raises(
        OracleError, match=r"the worker answered 0 of 1 questions and ended with exit status 1: .*no_such"
    ):
        ask("no_such_answerer", [1], each_s=1, batch=8)
