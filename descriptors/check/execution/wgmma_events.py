r"""Execute ``wgmma``: one operation of the four warps of a warpgroup, which reads when the last warp has issued it.

A wait for a group ends when all four warps have issued the operations of the group. The thread then knows the accesses
that these warps knew.

Source: PTX ISA 9.1, wgmma.mma_async, wgmma.commit_group, wgmma.wait_group; Asynchronous Warpgroup Level Matrix
Instructions.

Invariant: a wait for a multiplication ends when every warp has issued it.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def hangs(guard):
...     mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
...     wait = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
...     body = f"mov.b64 x, 0x4000004000010000; mov.b64 y, x; mov.u32 w, %warpid; {guard} {mma} L: {wait} ret;"
...     launch = Launch((128, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
...     machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     machine.run()
...     return machine.hung
>>> hangs(""), hangs("setp.eq.u32 p, w, 3; @p bra L;")
(False, True)
"""

from __future__ import annotations

from descriptors.check.execution.accesses import Operation, Runs, check_patterns, descriptor_of, read_operand
from descriptors.check.execution.footprints import line_bytes, operand_runs
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.meetings import Issue
from descriptors.check.execution.program import Step
from descriptors.check.execution.warp_events import check_whole_warp
from descriptors.check.ptx.multiplications import wgmma, wgmma_sides

#: Warps of a warpgroup.
_WARPGROUP = 4


def _warpgroup(fragment: Fragment) -> tuple[int, int]:
    return fragment.cta, fragment.warp // _WARPGROUP


def _multiply(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``wgmma.mma_async``: the last warp of the warpgroup that issues it makes it read its operands."""
    check_whole_warp(machine, fragment, step, "wgmma-aligned")
    view = wgmma(step.instruction)
    if view is None:
        return
    issue = _issue(machine, fragment)
    words = [(side, descriptor_of(machine, fragment, step, side.operand)) for side in wgmma_sides(view)]
    if issue.warps < min(_WARPGROUP, machine.warps):
        return
    issue.complete = True
    machine.wake(Wait(Awaited.WARPGROUP, _warpgroup(fragment)))
    access = Access(issue.bit, step.instruction.line, "a multiplication", iteration=machine.iteration(fragment, step))
    operation = Operation(access, issue.known, issue.published)
    read: dict[str, tuple[int, Runs | None]] = {}
    for side, word in words:
        if word is not None:
            runs = operand_runs(word, "sm90", side.dtype, side.major, side.shape, fragment.cta)
            read_operand(machine, step, runs, operation, padded=False)
            read[side.matrix] = word, runs
            if runs:
                machine.notes.tiles[runs[0][0]] = side.dtype, line_bytes(word, "sm90")
    check_patterns(machine, step, read, "sm90")


def _issue(machine: Machine, fragment: Fragment) -> Issue:
    """Return the operation that a warp issues, after adding the warp to it."""
    (cta, warpgroup), number = _warpgroup(fragment), fragment.sequence
    fragment.sequence += 1
    issue = machine.issues.open(cta, warpgroup, number)
    if issue is None:
        issue = machine.issues.begin(cta, warpgroup, number, machine.new_bit())
    issue.add_warp(fragment.known, fragment.published)
    fragment.groups.add("wgmma", issue.bit)
    return issue


def _commit(machine: Machine, fragment: Fragment, step: Step) -> None:
    fragment.groups.commit("wgmma")


def _wait(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    pending = machine.require_scalar(fragment, step.instruction.operands[0], step, "the groups of a wait")
    covered = 0
    for group in fragment.groups.closed("wgmma", pending):
        covered |= group
    issues = machine.issues.with_bits(covered)
    if not all(issue.complete for issue in issues):
        return machine.park(fragment, Wait(Awaited.WARPGROUP, _warpgroup(fragment)))
    for issue in issues:
        fragment.known |= issue.known
        fragment.published |= issue.published
    fragment.wait_groups("wgmma", pending)
    return None


WGMMA: dict[str, Handler] = {
    "wgmma.mma_async": _multiply,
    "wgmma.commit_group": _commit,
    "wgmma.wait_group": _wait,
}
