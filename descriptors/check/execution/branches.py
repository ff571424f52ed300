r"""Execute branches and the ends of threads.

A branch that skips no needed instruction is not executed. A branch on an unknown value is skipped if its paths contain
no events other than stores, loads and fences, which are recorded as unchecked. If a floating-point parameter decides a
branch, both ways are run. At any other branch on an unknown value the run stops.

Source: PTX ISA 9.1, bra, brx.idx, ret, exit, trap.

Invariant: a branch on data is skipped, and the registers that its paths write are unknown after it.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "ld.global.u32 a, [g]; setp.eq.u32 p, a, 0; mov.u32 c, 1; @p bra L; mov.u32 c, 2; L: st.shared.b32 [s], c;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} ret; }}").functions[0]), launch, execution)
>>> machine.run()
>>> [(fragment.lanes, str(fragment.registers["c"].why)) for fragment in machine.fragments]
[((0, 1, 2, 3), 'a value loaded from global memory')]
"""

from __future__ import annotations

from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.lanes import Cause, Unknown, first_unknown, lane_values, origin_text
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.outcomes import Stop
from descriptors.check.execution.program import Step


def _target(machine: Machine, label: object) -> int:
    """Return the step at a label; the end if no instruction follows it."""
    step = machine.program.step_at(str(label))
    return len(machine.steps) if step is None else step


def _branch(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``bra``: take it, pass it, or split the fragment if its lanes decide differently."""
    instruction = step.instruction
    goal = _target(machine, instruction.operands[-1])
    if step.place in machine.program.idle:
        fragment.pc = (machine.program.meeting(step.block) or 0) - 1
        return
    value = machine.value(fragment, instruction.predicate) if instruction.predicate else int(not instruction.negated)
    if type(value) is int:
        if bool(value) != instruction.negated:
            machine.count_iteration(fragment, step)
            fragment.pc = goal - 1
        return
    if (unknown := first_unknown(value)) is not None:
        _unknown_branch(machine, fragment, step, unknown)
        return
    values = lane_values(value, len(fragment.lanes))
    taken = [place for place, v in enumerate(values) if bool(v) != instruction.negated]
    if taken:
        machine.count_iteration(fragment, step)
    if len(taken) == len(fragment.lanes):
        fragment.pc = goal - 1
    elif taken:
        machine.split(fragment, taken, goal, machine.program.meeting(step.block))


def _unknown_branch(machine: Machine, fragment: Fragment, step: Step, unknown: Unknown) -> None:
    """Skip a branch on an unknown value if its paths have no hard event; otherwise stop, or take the chosen way."""
    region, meeting = machine.program.region(step.block), machine.program.meeting(step.block)
    if not region.hard and meeting is not None:
        for index in region.soft:
            machine.notes.skipped.setdefault(index, f"a branch on {origin_text(unknown)}")
        for name in region.written:
            fragment.set_unknown(name, unknown)
        if region.soft:
            machine.memory.origins.clear()
        fragment.pc = meeting - 1
        return
    choice = machine.launch.choices.get(step.place)
    constant = unknown.why is Cause.PARAMETER
    if not constant or choice is None:
        raise Stop(step.instruction.line, unknown, "a branch", fork=step.place if constant else -1)
    if choice:
        machine.count_iteration(fragment, step)
        fragment.pc = _target(machine, step.instruction.operands[-1]) - 1


def _table_branch(machine: Machine, fragment: Fragment, step: Step) -> None:
    subject = "a table branch"
    labels = machine.program.function.tables.get(str(step.instruction.operands[-1]))
    place = machine.require_scalar(fragment, step.instruction.operands[0], step, subject)
    if labels is None:
        raise Stop(step.instruction.line, "its table is not in this file", subject)
    if place >= len(labels):
        raise Stop(step.instruction.line, f"entry {place} of a table with {len(labels)} entries", subject)
    fragment.pc = _target(machine, labels[place]) - 1


def _leave(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    instruction = step.instruction
    value = machine.value(fragment, instruction.predicate) if instruction.predicate else int(not instruction.negated)
    if (unknown := first_unknown(value)) is not None:
        raise Stop(instruction.line, unknown, "the guard of a return")
    values = lane_values(value, len(fragment.lanes))
    places = [place for place, v in enumerate(values) if bool(v) != instruction.negated]
    return machine.end(fragment, places) if places else None


def _trap(machine: Machine, fragment: Fragment, step: Step) -> bool:
    places, fragment.active = fragment.places, None
    return machine.end(fragment, places)


#: Branches; their handlers evaluate the guard.
BRANCHES: dict[str, Handler] = {"bra": _branch, "ret": _leave, "exit": _leave}
#: Other jumps and ends of threads.
JUMPS: dict[str, Handler] = {"brx": _table_branch, "trap": _trap}
