"""The worker gives every question one answer, in order, whatever the questions do to the process that answers them."""

from __future__ import annotations

import faulthandler
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from layoutalg.oracle.worker import run_isolated


def work(questions: list[Any], report: Callable[[str, object], None]) -> None:
    """Echo a number; die at ``"die"``, fall silent at ``"sleep"``."""
    for one in questions:
        if one == "die":
            faulthandler.disable()  # it dies on purpose: no trace among the output of the tests
            os.abort()
        if one == "sleep":
            time.sleep(60)
        report("ok", one)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_a_question_that_kills_its_process_takes_the_blame_and_the_others_are_answered(batch: int) -> None:
    questions = [0, "die", 2, 3, "die", "die", 6]
    replies = list(run_isolated(questions, work, each_s=20, batch=batch))
    assert [status for status, _ in replies] == ["crashed" if one == "die" else "ok" for one in questions]
    assert [value for status, value in replies if status == "ok"] == [0, 2, 3, 6]


def test_a_silent_question_is_ended() -> None:
    replies = list(run_isolated([0, "sleep", 2], work, each_s=0.3, batch=8))
    assert [status for status, _ in replies] == ["ok", "timeout", "ok"]


def test_no_question_starts_no_process() -> None:
    assert list(run_isolated([], work, each_s=0.1, batch=8)) == []
