"""Calls timed in turns: seconds of the processor, so that other work on the machine meets all of them alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Call = Callable[[], Any]


def seconds(call: Call, rounds: int) -> float:
    """Seconds of the processor for one call: the mean of some rounds."""
    begun = time.process_time()
    for _ in range(rounds):
        call()
    return (time.process_time() - begun) / rounds


def in_turns(calls: list[Call], repeats: int, least: float) -> list[list[float]]:
    """Seconds of one call of each, a row a repeat; each turn takes so many calls that they last ``least`` seconds."""
    rounds = [_rounds(call, least) for call in calls]
    with _uncollected():
        return [[seconds(call, n) for call, n in zip(calls, rounds, strict=True)] for _ in range(repeats)]


def _rounds(call: Call, least: float) -> int:
    rounds = 1
    while rounds * seconds(call, rounds) < least:
        rounds *= 2
    return rounds


@contextmanager
def _uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
