"""The emission protocol as a function: the document's four operations, its quirks, and its wrong sentences."""

from __future__ import annotations

from descriptors.check.events import Commit, Event, Fence, Issue, Load, Mma, Touch, Wait
from descriptors.check.rules import RULES, Level
from descriptors.check.sequence import breaches, first_broken
from descriptors.tmem.allocations import Alloc

F, C = Fence(), Commit()
MMA, READ = Mma(("f0",), shape="m64n128k16"), Touch(("f0",))


def rule(*events: Event) -> str:
    found = first_broken(events)
    return found.broken.rule.name if found else ""


def test_the_four_operations_in_their_order_break_nothing() -> None:
    assert rule(F, MMA, MMA, MMA, C, Wait(0), READ) == ""


def test_quirk_wait_group_is_how_many_may_stay_and_not_how_many_to_wait_for() -> None:
    two = [F, MMA, C, Mma(("g0",), shape="m64n128k16"), C]
    assert rule(*two, Wait(1), READ) == ""
    assert rule(*two, Wait(1), Touch(("g0",))) == "wgmma-wait-count"
    assert rule(*two, Wait(2), READ) == "wgmma-wait-count"


def test_wrong_sentence_one_fence_one_commit_and_one_wait_are_a_style_and_no_rule() -> None:
    assert rule(F, MMA, C, MMA, C, MMA, C, Wait(2), Wait(1), Wait(0), READ) == ""
    assert rule(F, F, MMA, C, C, Wait(0), Wait(0), READ) == ""


def test_wrong_sentence_the_fence_is_about_registers() -> None:
    found = first_broken([F, Touch((), ("f0",)), MMA])
    assert found is not None
    assert (found.broken.rule.name, found.broken.registers, found.index) == ("wgmma-fence", ("f0",), 2)


def test_both_families_may_stand_in_one_sequence() -> None:
    told = [one.broken.rule.name for one in breaches([MMA, Alloc(48), Issue("mma"), Load(("r0",)), READ])]
    assert told == ["wgmma-fence", "tcgen05-alloc-size", "tcgen05-commit", "wgmma-wait"]


def test_a_level_may_be_asked_for() -> None:
    events = [F, MMA, C, Wait(0), READ, MMA]
    assert first_broken(events) is None
    found = first_broken(events, Level.ASKS)
    assert found is not None
    assert str(found).startswith("event 5, Mma(accumulators=('f0',)")


def test_every_rule_says_what_to_do_and_where_it_is_published() -> None:
    assert all(one.fix and one.source and one.demands for one in RULES.values())
    assert len(RULES) >= 24
