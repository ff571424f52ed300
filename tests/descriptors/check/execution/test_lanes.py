"""Lanes that a guard lets through do together what is theirs, and leave the registers of the others as they were; lanes
of tensor memory end."""

from __future__ import annotations

import pytest

from descriptors.check.execution.dispatch import execution
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import program
from descriptors.check.execution.recurrence import state
from descriptors.check.ptx.ptx_module import parse


def run(body: str, threads: int = 4) -> Machine:
    """Threads that execute a body, four if nobody says how many."""
    text = f".version 8.8\n.entry k() {{ mov.u32 a, %tid.x; setp.lt.u32 p, a, 2; {body} ret; }}"
    launch = Launch((threads, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
    machine = Machine(program(parse(text).functions[0]), launch, execution)
    machine.run()
    return machine


@pytest.mark.parametrize(
    ("instruction", "values"),
    [
        ("shfl.sync.bfly.b32 b, a, 1, 31, 3", (1, 0, 9, 9)),
        ("shfl.sync.idx.b32 b, a, 1, 31, 3", (1, 1, 9, 9)),
        ("vote.sync.ballot.b32 b, p, 3", (3, 3, 9, 9)),
        ("elect.sync b|q, 3", (0, 0, 9, 9)),
    ],
)
def test_what_lanes_do_together_under_a_guard_is_of_those_lanes(instruction: str, values: tuple[int, ...]) -> None:
    machine = run(f"mov.u32 b, 9; @p {instruction}; st.shared.b32 [s], b;")
    assert [one.registers["b"] for one in machine.fragments] == [values]


ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; ld.shared.b32 t, [s];"


@pytest.mark.parametrize("lane", [0, 96, 112, 127])
def test_a_load_of_tensor_memory_ends_where_there_are_no_more_lanes(lane: int) -> None:
    load = f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{b}}, [t+{lane << 16}]; tcgen05.wait::ld.sync.aligned;"
    machine = run(f"{ALLOC} {load} tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32;")
    other = ["tcgen05-warp"] if lane else []  # lanes from 96 on are not those of the first warp
    assert [one.rule for one in machine.notes.wrong.values()] == [*other, "tcgen05-unwritten"]


# An accumulator with M 64 has 16 of the 32 lanes of a quarter: a store of 16 lanes stands for the tcgen05.mma here.
HALF = "tcgen05.st.sync.aligned.16x64b.x1.b32 [t], {b}; tcgen05.wait::st.sync.aligned;"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {b}, [t]; tcgen05.wait::ld.sync.aligned;"
FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32;"


@pytest.mark.parametrize(
    ("use", "wrong", "unseen"),
    [
        ("setp.lt.u32 q, a, 16; @q st.global.b32 [g], b;", [], False),
        ("setp.ge.u32 q, a, 16; @q bra END; st.global.b32 [g], b; END:", [], False),
        ("setp.lt.u32 q, a, 17; @q st.global.b32 [g], b;", ["tcgen05-unwritten"], False),
        ("st.shared.b32 [s], b;", ["tcgen05-unwritten"], False),
        ("add.f32 c, b, b; st.global.b32 [g], c;", [], True),
        ("", [], False),
    ],
)
def test_lanes_that_nothing_wrote_must_not_be_stored(use: str, wrong: list[str], unseen: bool) -> None:
    machine = run(f"{ALLOC} mov.u32 b, 1; {HALF} {LOAD} {use} {FREE}", 32)
    assert [one.rule for one in machine.notes.wrong.values()] == wrong
    assert bool(machine.notes.unseen) is unseen, machine.notes.unseen


def test_lanes_of_which_none_is_written_are_told_at_once() -> None:
    machine = run(f"{ALLOC} {LOAD} {FREE}", 32)
    assert [one.rule for one in machine.notes.wrong.values()] == ["tcgen05-unwritten"]


def test_an_address_is_followed_to_the_store_that_first_uses_a_load() -> None:
    store = "shl.b32 c, a, 2; add.s32 c, c, s; st.shared.v2.b32 [c], {b, d};"
    load = LOAD.replace("x1", "x2").replace("{b}", "{b, d}")
    machine = run(f"{ALLOC} mov.u32 b, 1; {HALF.replace('16x64b.x1', '32x32b.x1')} {load} {store} {FREE}", 32)
    assert not machine.notes.skipped


def test_the_state_of_a_run_distinguishes_reconvergence_points() -> None:
    """Two branches that lanes leave at the same step have two names, which fragments are compared by."""
    launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
    machine = Machine(program(parse(".version 8.8\n.entry k() { ret; }").functions[0]), launch, execution)
    for _ in range(2):
        machine.split(machine.fragments[0], [0], pc=0, meeting=0)
    names = [[name for name, *_ in joins] for *_, joins in state(machine)[0]]
    assert names == [[0], [0, 1], [0, 1]]
