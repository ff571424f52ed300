"""The states of tcgen05: each rule broken and kept."""

from __future__ import annotations

import pytest

from descriptors.check.events import (
    Alloc,
    BarrierWait,
    Dealloc,
    End,
    Event,
    FenceAfter,
    Issue,
    Load,
    Place,
    Relinquish,
    Store,
    TensorCommit,
    Touch,
    WaitLoad,
    WaitStore,
)
from descriptors.check.tcgen05 import TensorState, meet, run
from descriptors.tmem.geometry import ALLOCATIONS

MMA, LD, ST, USE = Issue("mma"), Load(("r0", "r1")), Store(("r2",)), Touch(("r0",))
DONE = [TensorCommit("b"), BarrierWait("b"), FenceAfter()]

CASES: dict[str, tuple[list[Event], list[str]]] = {
    "the order of a kernel": (
        [Alloc(64), Relinquish(), Issue("cp"), MMA, MMA, *DONE, LD, WaitLoad(), USE, Dealloc(64), End()],
        [],
    ),
    "no commit": ([MMA, BarrierWait("b"), FenceAfter(), LD], ["tcgen05-commit"]),
    "no wait": ([MMA, TensorCommit("b"), LD], ["tcgen05-wait"]),
    "a wait for another mbarrier": ([MMA, TensorCommit("b"), BarrierWait("c"), FenceAfter(), LD], ["tcgen05-wait"]),
    "a wait for an mbarrier that is not known": ([MMA, TensorCommit("b"), BarrierWait(""), FenceAfter(), LD], []),
    "no fence after the wait": ([MMA, TensorCommit("b"), BarrierWait("b"), LD], ["tcgen05-fence-after"]),
    "no wait::ld before the use": ([LD, USE], ["tcgen05-wait-ld"]),
    "no wait::ld before the cells are overwritten": ([LD, ST], ["tcgen05-wait-ld"]),
    "no wait::st before the mma": ([ST, MMA], ["tcgen05-wait-st"]),
    "wait::st before the mma": ([ST, WaitStore(), MMA], []),
    "no wait::st before the ld of those cells": ([Store((), Place("t")), Load((), Place("t"))], ["tcgen05-wait-st"]),
    "no wait::st before the ld of other cells": ([Store((), Place("t")), Load((), Place("t", 8))], []),
    "alloc after relinquish": ([Alloc(32), Relinquish(), Alloc(32)], ["tcgen05-alloc-relinquished"]),
    "sizes that increase": ([Alloc(32), Alloc(64)], ["tcgen05-alloc-order"]),
    "sizes that do not": ([Alloc(64), Alloc(64), Alloc(32)], []),
    "more than there is": ([Alloc(512), Alloc(32)], ["tcgen05-alloc-full"]),
    "dealloc before alloc": ([Dealloc(32)], ["tcgen05-dealloc-unknown"]),
    "dealloc of other columns": ([Alloc(64), Dealloc(32)], ["tcgen05-dealloc-unknown"]),
    "dealloc of unknown columns": ([Alloc(64), Dealloc(None), End()], []),
    "no dealloc": ([Alloc(64), End()], ["tcgen05-dealloc-missing"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_breaks_these_rules_and_no_other(name: str) -> None:
    events, rules = CASES[name]
    assert [one.rule.name for one in run(events)[1]] == rules


@pytest.mark.parametrize("columns", [0, 16, 31, 32, 48, 64, 96, 128, 256, 300, 512, 576, 1024])
def test_columns_are_a_power_of_two_from_32_to_512(columns: int) -> None:
    told = {one.rule.name for one in run([Alloc(columns)])[1]}
    legal = 32 <= columns <= 512 and columns & (columns - 1) == 0
    assert (columns in ALLOCATIONS) == legal == ("tcgen05-alloc-size" not in told)


def test_a_wait_on_one_of_two_paths_is_believed_and_a_missing_one_is_not() -> None:
    waited, flying = run([MMA, *DONE])[0], run([MMA, TensorCommit("")])[0]
    assert not run([LD], meet(waited, run([MMA, TensorCommit(""), BarrierWait(""), FenceAfter()])[0]))[1]
    assert run([LD], meet(TensorState(), flying))[1][0].rule.name == "tcgen05-wait"
    assert run([LD], meet(TensorState(), run([MMA])[0]))[1][0].rule.name == "tcgen05-commit"


def test_a_commit_on_one_of_two_paths_is_believed_until_the_next_operation() -> None:
    either = meet(run([MMA])[0], run([MMA, *DONE])[0])
    assert not run([LD], either)[1]
    assert run([MMA, LD], either)[1][0].rule.name == "tcgen05-commit"
