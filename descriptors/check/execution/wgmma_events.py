"""``wgmma`` executed: one operation of the four warps of a warpgroup, which reads when the last of them has issued it.

A wait for a group ends when all four warps have issued what it covers; then it is known what they knew.
Source: PTX ISA 9.1, wgmma.mma_async, wgmma.commit_group, wgmma.wait_group; Asynchronous Warpgroup Level Matrix
Instructions.

Law: what waits for a multiplication goes on when every warp has issued it.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def hangs(guard):
...     mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
...     wait = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
...     body = f"mov.b64 x, 0x4000004000010000; mov.b64 y, x; mov.u32 w, %warpid; {guard} {mma} L: {wait} ret;"
...     launch = Launch((128, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
...     held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     held.run()
...     return held.hung
>>> hangs(""), hangs("setp.eq.u32 p, w, 3; @p bra L;")
(False, True)
"""

from __future__ import annotations

from descriptors.check.execution.accesses import Operation, read_operand
from descriptors.check.execution.footprints import line_bytes, operand_runs
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import origin
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.meetings import Issue
from descriptors.check.execution.program import Step
from descriptors.check.execution.warp_events import whole_warp
from descriptors.check.ptx.multiplications import Side, wgmma, wgmma_sides
from descriptors.check.ptx.ptx_operands import Vector

#: Warps of a warpgroup.
_WARPGROUP = 4


def _warpgroup(one: Fragment) -> tuple[int, int]:
    return one.cta, one.warp // _WARPGROUP


def _multiply(machine: Machine, one: Fragment, step: Step) -> None:
    whole_warp(machine, one, step, "wgmma-aligned")
    view = wgmma(step.instruction)
    if view is None:
        return
    issue = _issue(machine, one)
    words = [(side, _word(machine, one, step, side)) for side in wgmma_sides(view)]
    if issue.warps < min(_WARPGROUP, machine.warps):
        return
    issue.complete = True
    machine.wake(Wait(Awaited.WARPGROUP, _warpgroup(one)))
    access = Access(issue.bit, step.instruction.line, "a multiplication", round=machine.round(one, step))
    operation = Operation(access, issue.known, issue.published)
    for side, word in words:
        if word is not None:
            runs = operand_runs(word, "sm90", side.dtype, side.major, side.shape, one.cta)
            read_operand(machine, step, runs, operation, padded=False)
            if runs:
                machine.notes.tiles[runs[0][0]] = side.dtype, line_bytes(word, "sm90")


def _issue(machine: Machine, one: Fragment) -> Issue:
    """The operation that a warp issues, with it as one of its warps."""
    (cta, warpgroup), number = _warpgroup(one), one.sequence
    one.sequence += 1
    issue = machine.issues.open(cta, warpgroup, number)
    if issue is None:
        issue = machine.issues.begin(cta, warpgroup, number, machine.fresh())
    issue.take(one.known, one.published)
    one.groups.add("wgmma", issue.bit)
    return issue


def _word(machine: Machine, one: Fragment, step: Step, side: Side) -> int | None:
    """The descriptor of an operand; None for one in registers, or one that is not known."""
    if isinstance(side.operand, Vector):
        return None
    value = machine.value(one, side.operand)
    if isinstance(value, int):
        return value
    machine.skip(step, f"a descriptor that depends on {origin(value)}")
    return None


def _commit(machine: Machine, one: Fragment, step: Step) -> None:
    one.groups.commit("wgmma")


def _wait(machine: Machine, one: Fragment, step: Step) -> bool | None:
    left = machine.known(one, step.instruction.operands[0], step, "the groups of a wait")
    covered = 0
    for group in one.groups.closed("wgmma", left):
        covered |= group
    issues = machine.issues.of(covered)
    if not all(issue.complete for issue in issues):
        return machine.park(one, Wait(Awaited.WARPGROUP, _warpgroup(one)))
    for issue in issues:
        one.known |= issue.known
        one.published |= issue.published
    one.wait_groups("wgmma", left)
    return None


WGMMA: dict[str, Handler] = {
    "wgmma.mma_async": _multiply,
    "wgmma.commit_group": _commit,
    "wgmma.wait_group": _wait,
}
