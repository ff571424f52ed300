"""Lanes that a guard lets through do together what is theirs, and leave the registers of the others as they were; lanes
of tensor memory end."""

from __future__ import annotations

import pytest

from descriptors.check.execution.dispatch import execution
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import program
from descriptors.check.ptx.ptx_module import parse


def run(body: str) -> Machine:
    """Four threads that execute a body."""
    text = f".version 8.8\n.entry k() {{ mov.u32 a, %tid.x; setp.lt.u32 p, a, 2; {body} ret; }}"
    launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
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
