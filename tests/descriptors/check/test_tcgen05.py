"""The states of tcgen05: each rule broken and kept."""

from __future__ import annotations

import pytest

from descriptors.check.events import (
    Arrive,
    BarrierWait,
    Cells,
    End,
    Event,
    FenceAfter,
    Issue,
    Load,
    Meeting,
    Place,
    Relinquish,
    Store,
    TensorCommit,
    Touch,
    WaitLoad,
    WaitStore,
)
from descriptors.check.tcgen05 import TensorState, doubts, meet, run
from descriptors.check.tensor_cells import lanes_of
from descriptors.tmem.allocations import Alloc, Dealloc
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
    "an exclusive allocation": ([Alloc(544, exclusive=True), Dealloc(544, exclusive=True), End()], []),
    "an exclusive allocation between others": (
        [Alloc(64), Dealloc(64), Alloc(32, exclusive=True), Dealloc(32, exclusive=True), Alloc(32), Dealloc(32), End()],
        [],
    ),
    "an exclusive allocation beside another": ([Alloc(64), Alloc(32, exclusive=True)], ["tcgen05-alloc-full"]),
    "another beside an exclusive allocation": ([Alloc(64, exclusive=True), Alloc(32)], ["tcgen05-alloc-full"]),
    "an exclusive allocation of no multiple of 32": ([Alloc(48, exclusive=True)], ["tcgen05-alloc-size"]),
    "an exclusive allocation larger than its target has": (
        [Alloc(544, exclusive=True, most=512)],
        ["tcgen05-alloc-size"],
    ),
    "an exclusive allocation freed as another": (
        [Alloc(64, exclusive=True), Dealloc(64), End()],
        ["tcgen05-dealloc-unknown"],
    ),
    "a commit that tells of A alone": (
        [MMA, TensorCommit("b", reads_alone=True), BarrierWait("b"), FenceAfter(), LD],
        ["tcgen05-commit"],
    ),
    "a commit that tells of A beside another": (
        [MMA, TensorCommit("a", reads_alone=True), TensorCommit("b"), BarrierWait("b"), FenceAfter(), LD],
        [],
    ),
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


def test_a_commit_on_one_of_two_paths_leaves_open_what_is_read_behind_them() -> None:
    either = meet(run([MMA])[0], run([MMA, *DONE])[0])
    assert not run([LD], either)[1]
    assert [one.property for one in doubts(either, LD)] == ["order"]
    known = Issue("mma", cells=Cells("t", 0, 64))
    again = run([known], run([known, *DONE])[0])[0]
    assert run([Load((), cells=Cells("t", 32, 8))], again)[1][0].rule.name == "tcgen05-commit"


ONE, TWO = (Issue("mma", cells=Cells("t", column, 64)) for column in (0, 64))
READ_ONE, READ_TWO = (Load((), cells=Cells("t", column, 64)) for column in (0, 64))


def test_a_commit_covers_all_that_was_issued_before_it() -> None:
    pipeline = [ONE, TensorCommit("&empty+0"), TWO, TensorCommit("&full+0"), BarrierWait("&full+0"), FenceAfter()]
    assert not run([*pipeline, READ_ONE, READ_TWO])[1]
    first = [one if one != BarrierWait("&full+0") else BarrierWait("&empty+0") for one in pipeline]
    assert [one.rule.name for one in run([*first, READ_ONE])[1]] == []
    assert [one.rule.name for one in run([*first, READ_TWO])[1]] == ["tcgen05-wait"]


def test_a_wait_for_what_may_be_the_mbarrier_is_open() -> None:
    state = run([ONE, TensorCommit("%r1+0"), BarrierWait("%r2+0"), FenceAfter()])[0]
    assert not run([READ_ONE], state)[1] and len(doubts(state, READ_ONE)) == 1


def test_accumulators_that_share_columns_at_other_lanes_are_apart() -> None:
    low, high = (Cells("t", 0, 64, lanes_of(lane, 16)) for lane in (0, 16))
    state = run([Issue("mma", cells=low), *DONE, Issue("mma", cells=high)])[0]
    assert not run([Load((), cells=low)], state)[1]
    assert run([Load((), cells=high)], state)[1][0].rule.name == "tcgen05-commit"


def test_only_a_relaxed_wait_needs_the_fence() -> None:
    for relaxed, rule in ((True, "tcgen05-fence-relaxed"), (False, "tcgen05-fence-after")):
        told = run([ONE, TensorCommit("b"), BarrierWait("b", relaxed=relaxed), READ_ONE])[1]
        assert [one.rule.name for one in told] == [rule]


def test_a_relaxed_wait_on_one_way_needs_the_fence() -> None:
    waited = run([ONE, TensorCommit("b"), BarrierWait("b", relaxed=True)])[0]
    strict = run([ONE, TensorCommit("b"), BarrierWait("b")])[0]
    for other in (TensorState(), strict, run([FenceAfter()], waited)[0]):
        for state in (meet(waited, other), meet(other, waited)):
            assert "tcgen05-fence-relaxed" in {one.rule.name for one in run([READ_ONE], state)[1]}
    fenced = run([FenceAfter()], waited)[0]
    assert "tcgen05-fence-relaxed" not in {one.rule.name for one in run([READ_ONE], meet(fenced, strict))[1]}


def test_what_is_at_work_must_not_lose_its_memory() -> None:
    assert run([Alloc(64), ONE, TensorCommit("b"), Dealloc(64)])[1][0].rule.name == "tcgen05-dealloc-early"
    assert run([Alloc(64), Load(("r0",)), Dealloc(64)])[1][0].rule.name == "tcgen05-dealloc-early"
    assert not run([Alloc(64), ONE, TensorCommit("b"), BarrierWait("b"), FenceAfter(), Dealloc(64)])[1]
    assert not run([Alloc(64), ONE, TensorCommit("b"), Meeting(), Dealloc(64)])[1]  # another thread may have waited
    assert run([Alloc(64), Dealloc(64), READ_ONE])[1][0].rule.name == "tcgen05-unallocated"


def test_an_arrival_behind_a_load_that_nothing_waited_for_is_asked_about() -> None:
    assert [one.rule.name for one in run([Load(("r0",)), Arrive()])[1]] == ["tcgen05-release"]
    assert not run([Load(("r0",)), WaitLoad(), Arrive()])[1]
