"""The launches of a kernel: exactly what was executed is reported, and what no completed launch covers is undecided."""

from __future__ import annotations

import pytest

from descriptors.check.execution import judgement, runs
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import Program
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report
from descriptors.check.kernel_text import record_report, tell_report
from descriptors.check.sarif import sarif

_WAIT = "mbarrier.try_wait.parity.shared.b64 w, "


def ring(stages: int = 2, *, others: int = 0, lost: int = 0, tail: str = "") -> str:
    """Return a kernel whose producer and consumer hand on ``k / 64`` stages of a ring.

    Args:
        stages: mbarriers of each kind.
        others: scalar parameters that bound no loop, and are read first.
        lost: the iteration whose slot is not given back; 0 for none.
        tail: instructions at the end.
    """
    names = [f"p{number}" for number in range(others)]
    parameters = ", ".join([f".param .u32 {name}" for name in (*names, "k")])
    reads = "\n".join(f"ld.param.u32 x, [{name}]; and.b32 x, x, 0; or.b32 o, o, x;" for name in names)
    inits = "\n".join(
        f"mbarrier.init.shared.b64 [full+{8 * n}], 1; mbarrier.init.shared.b64 [slot+{8 * n}], 1;"
        for n in range(stages)
    )
    step = f"""
add.u32 i, i, 1; add.u32 s, s, 8; setp.eq.u32 e, s, {8 * stages}; selp.b32 s, 0, s, e; selp.b32 t, 1, 0, e;
xor.b32 q, q, t; mov.u32 f, full; add.u32 f, f, s; mov.u32 g, slot; add.u32 g, g, s;"""
    return f""".version 8.8
.target sm_90a
.shared .align 8 .b64 full[{stages}];
.shared .align 8 .b64 slot[{stages}];
.visible .entry ring({parameters}) .reqntid 64
{{
.reg .pred w, p, e, z, u; .reg .b32 o, x, k, i, s, t, q, f, g, id;
mov.u32 o, 0;
{reads}
ld.param.u32 k, [k];
shr.u32 k, k, 6;
mov.u32 id, %tid.x;
setp.ne.u32 p, id, 0;
@p bra READY;
{inits}
READY: bar.sync 0;
mov.u32 i, 0; mov.u32 s, o; mov.u32 f, full; mov.u32 g, slot;
setp.eq.u32 p, id, 32;
@p bra CONSUMER;
setp.ne.u32 p, id, 0;
@p bra END;
mov.u32 q, 1;
PRODUCE: setp.ge.u32 p, i, k;
@p bra END;
A: {_WAIT}[g], q; @!w bra A;
mbarrier.arrive.shared.b64 _, [f];
{step}
bra PRODUCE;
CONSUMER: mov.u32 q, 0;
CONSUME: setp.ge.u32 p, i, k;
@p bra END;
B: {_WAIT}[f], q; @!w bra B;
setp.ne.u32 z, i, {lost - 1 if lost else 9999};
@z mbarrier.arrive.shared.b64 _, [g];
{step}
bra CONSUME;
END: {tail}
ret;
}}
"""


def barriers(report: Report) -> str:
    return next(one.verdict for one in report.properties if one.property == "barriers")


@pytest.mark.parametrize("others", [0, 3, 12])
@pytest.mark.parametrize("stages", [2, 5])
def test_a_slot_that_is_lost_in_a_later_iteration_is_found_whatever_else_is_a_parameter(
    others: int, stages: int
) -> None:
    assert barriers(check_ptx(ring(stages, others=others))) == "clean"
    report = check_ptx(ring(stages, others=others, lost=8))
    assert [one.rule.name for one in report.errors][:1] == ["barrier-hang"]


def executed(report: Report) -> list[tuple[int, bool]]:
    return [(dict(one.parameters)["k"], one.completed) for one in report.launches]


def test_the_launches_of_a_report_are_those_that_the_machine_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, bool]] = []
    plain = runs.run

    def watched(program: Program, launch: Launch, budget: int = runs.BUDGET) -> runs.Run:
        found = plain(program, launch, budget)
        if launch.sizes is not None:
            made.append((launch.scalars.get(("k", 0), launch.size), found.stop is None))
        return found

    monkeypatch.setattr(runs, "run", watched)
    report = check_ptx(ring(others=2))
    assert executed(report) == made and all(completed for _, completed in made)


def test_text_json_and_sarif_name_the_values_of_each_parameter() -> None:
    report = check_ptx(ring(others=2))
    text = " ".join(tell_report(report, "k.ptx").split())
    assert (
        "scalar parameters, one execution for each value: p0 = p1 = k = 256" in text
        and "; k = 1024, others = 128; " in text
    )
    first, second = record_report(report)["launches"][:2]
    assert first["parameters"] == {"p0": 256, "p1": 256, "k": 256} and first["completed"]
    assert second["parameters"] == {"p0": 128, "p1": 128, "k": 1024}
    (run,) = sarif([("k.ptx", report)])["runs"]
    notes = [one for row in run["invocations"] for one in row["toolExecutionNotifications"]]
    assert [one["message"]["text"] for one in notes if one["descriptor"]["id"] == "executed"] == list(report.notes)


def test_a_kernel_without_scalar_parameters_is_executed_once() -> None:
    text = ".version 8.8\n.target sm_90a\n.shared .b64 b;\n.entry k() .reqntid 32 {\n"
    body = "elect.sync _|q, -1; @q mbarrier.init.shared.b64 [b], 1; @q mbarrier.arrive.shared.b64 _, [b]; ret; }"
    assert [one.parameters for one in check_ptx(text + body).launches] == [()]


def test_an_operation_that_only_a_value_of_a_parameter_leads_to_is_not_decided() -> None:
    guarded = "setp.ne.u32 u, k, 77; @u bra OUT; mbarrier.arrive.shared.b64 _, [slot]; OUT:"
    report = check_ptx(ring(tail=guarded))
    (line,) = {one.line for one in report.undecided if one.property == "barriers"}
    assert barriers(report) == "incomplete" and "slot" in ring(tail=guarded).split("\n")[line - 1]
    reached = check_ptx(ring(tail=guarded), parameters={"k": 77 * 64})
    assert not any("no completed run" in one.why for one in reached.undecided)


def test_an_operation_that_no_parameter_leads_to_stays_clean() -> None:
    dead = "setp.ne.u32 u, 1, 2; @u bra OUT; mbarrier.arrive.shared.b64 _, [slot]; OUT:"
    assert barriers(check_ptx(ring(tail=dead))) == "clean"


def test_a_loop_that_is_cut_before_its_ring_comes_around_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = runs.run

    def short(program: Program, launch: Launch, budget: int = runs.BUDGET) -> runs.Run:
        return plain(program, launch, 400)

    monkeypatch.setattr(runs, "run", short)
    monkeypatch.setattr(judgement, "CLOSING", 1)
    report = check_ptx(ring(6, others=2))
    assert not all(completed for _, completed in executed(report))
    assert barriers(report) == "incomplete"
    assert any(one.what == "the later iterations of the loop" for one in report.undecided)
    assert "not completed" in " ".join(report.notes)


def test_a_larger_parameter_is_executed_until_the_ring_comes_around() -> None:
    report = check_ptx(ring(12, others=2))
    assert barriers(report) == "clean"
    assert max(value for value, completed in executed(report) if completed) >= 2 * 12 * 64


def test_a_machine_counts_the_iterations_in_a_row() -> None:
    from descriptors.check.execution.bounded_loops import bounded_loops
    from descriptors.check.execution.coverage import executed_places, measure_reach
    from descriptors.check.execution.program import program
    from descriptors.check.ptx.ptx_module import parse

    made = program(parse(ring(3)).functions[0])
    variables = {"full": 0, "slot": 64}
    launch = Launch((64, 1, 1), (1, 1, 1), (1, 1, 1), 10 * 64, {}, variables, None, {})
    machine: Machine = runs.run(made, launch).machine
    found = [measure_reach(machine, loop, executed_places(machine)) for loop in bounded_loops(made)]
    assert [one.needed for one in found] == [7, 7] and all(10 <= one.iterations <= 11 for one in found)
