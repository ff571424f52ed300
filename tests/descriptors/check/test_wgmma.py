"""The states of wgmma: each rule broken and kept, and wait_group N held against a queue written down apart."""

from __future__ import annotations

import random

import pytest
from seeds import seed_of_this_run

from descriptors.check.events import Call, Commit, Copy, Event, Fence, Mma, Touch, Wait
from descriptors.check.wgmma import meet, run

F, C, W = Fence(), Commit(), Wait(0)
ONE = Mma(("f0", "f1"), shape="m64n8k16")
OTHER_SHAPE = Mma(("f0", "f1"), shape="m64n8k8")
TWO = Mma(("g0", "g1"), shape="m64n8k16")
FROM_REGISTERS = Mma(("f0", "f1"), ("a0",), shape="m64n8k16")
MOVE = Touch((), ("f0",), moves=True)
READ, WRITE = Touch(("f0",)), Touch((), ("f0",))
READ_TWO, CHANGE_A = Touch(("g0",)), Touch((), ("a0",))

CASES: dict[str, tuple[list[Event], list[str]]] = {
    "fence, mma, commit, wait, read": ([F, ONE, ONE, C, W, READ], []),
    "no fence": ([ONE, C, W, READ], ["wgmma-fence"]),
    "no commit": ([F, ONE, W, READ], ["wgmma-commit"]),
    "no wait": ([F, ONE, C, READ], ["wgmma-wait"]),
    "no commit and no wait": ([F, ONE, READ], ["wgmma-wait"]),
    "one group in flight is one too many": ([F, ONE, C, Wait(1), READ], ["wgmma-wait-count"]),
    "wait 1 covers the older of two groups": ([F, ONE, C, TWO, C, Wait(1), READ, W, READ_TWO], []),
    "wait 1 does not cover the newer": ([F, ONE, C, TWO, C, Wait(1), READ_TWO], ["wgmma-wait-count"]),
    "written between two mma": ([F, ONE, WRITE, ONE], ["wgmma-wait"]),
    "written after the wait, then a fence": ([F, ONE, C, W, WRITE, F, ONE], []),
    "written after the wait, no fence": ([F, ONE, C, W, WRITE, ONE], ["wgmma-fence"]),
    "a mov after the wait, no fence": ([F, ONE, C, W, MOVE, ONE], ["wgmma-fence-moved"]),
    "a mov after the fence": ([F, MOVE, ONE], ["wgmma-fence-moved"]),
    "a mov of what was computed after the fence": ([F, Touch((), ("h0",)), Copy("f0", "h0"), ONE], ["wgmma-fence"]),
    "a mov in flight": ([F, ONE, MOVE], ["wgmma-wait"]),
    "read after the wait, no fence": ([F, ONE, C, W, READ, ONE], ["wgmma-fence-read"]),
    "A changed in flight": ([F, FROM_REGISTERS, C, CHANGE_A, F], ["wgmma-a-changed"]),
    "A read in flight": ([F, FROM_REGISTERS, C, Touch(("a0",))], ["wgmma-a-read"]),
    "A changed before the mma, no fence": ([F, CHANGE_A, FROM_REGISTERS], ["wgmma-fence"]),
    "other shape, no fence": ([F, ONE, OTHER_SHAPE], ["wgmma-fence-shape"]),
    "other shape, fence": ([F, ONE, F, OTHER_SHAPE], []),
    "one shape, no fence": ([F, ONE, C, W, ONE], []),
    "copied in flight": ([F, ONE, C, Copy("h0", "f0"), W, Touch(("h0",))], ["wgmma-copied"]),
    "a copy is in flight too": ([F, ONE, C, Copy("h0", "f0"), Touch(("h0",))], ["wgmma-copied", "wgmma-wait"]),
    "a call in flight": ([F, ONE, Call(), C, W], ["wgmma-call"]),
    "a call with nothing in flight": ([F, ONE, C, W, Call()], []),
    "adds to what nobody wrote": ([F, Mma(("f0",), adds=True)], ["wgmma-start"]),
    "adds to what was written": ([WRITE, F, Mma(("f0",), adds=True)], []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_breaks_these_rules_and_no_other(name: str) -> None:
    events, rules = CASES[name]
    assert [one.rule.name for one in run(events)[1]] == rules


def test_a_breach_names_the_registers() -> None:
    assert run([F, ONE, C, Touch(("f1", "x"))])[1][0].registers == ("f1",)


@pytest.mark.parametrize("case", range(40))
def test_wait_group_leaves_the_newest_groups_in_flight_as_a_queue_has_it(case: int) -> None:
    draw = random.Random(seed_of_this_run() + case)
    open_group: list[str] = []
    queue: list[list[str]] = []
    events: list[Event] = [F]
    for step in range(draw.randrange(1, 20)):
        match draw.choice("mmcw"):
            case "m":
                open_group.append(f"r{step}")
                events.append(Mma((f"r{step}",)))
            case "c":
                queue.append(open_group)
                open_group = []
                events.append(C)
            case _:
                pending = draw.randrange(4)
                queue = queue[len(queue) - pending :] if pending < len(queue) else queue
                events.append(Wait(pending))
    flying = {name for group in [*queue, open_group] for name in group}
    state = run(events)[0]
    assert {name for name, one in state.items() if one.age is not None} == flying


def test_where_two_paths_meet_the_younger_group_and_the_missing_fence_stay() -> None:
    waited, flying = run([F, ONE, C, W])[0], run([F, ONE, C])[0]
    assert run([READ], meet(waited, flying))[1][0].rule.name == "wgmma-wait"
    assert run([ONE], meet(run([F])[0], {}))[1][0].rule.name == "wgmma-fence"
    assert not run([ONE], meet(run([F])[0], run([F, TWO])[0]))[1]
