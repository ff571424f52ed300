r"""Execute ``setmaxnreg``: a warp gives registers back to the pool of its CTA, or waits until it can take more.

Source: PTX ISA 9.1, setmaxnreg.

Invariant: a warp that takes registers continues when another warp has given as many back.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def result_of(few, more):
...     branch = "mov.u32 t, %tid.x; setp.lt.u32 p, t, 128; @p bra L;"
...     body = f"{branch} setmaxnreg.inc.sync.aligned.u32 {more}; ret; L: setmaxnreg.dec.sync.aligned.u32 {few}; ret;"
...     text = f".version 8.8\n.entry k() .reqntid 256 .maxnreg 128 {{ {body} }}"
...     launch = Launch((256, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
...     machine = Machine(program(parse(text).functions[0]), launch, execution)
...     machine.run()
...     return machine.hung, machine.pools[0].free
>>> result_of(56, 200), result_of(56, 208)
((False, 0), (True, 48))
"""

from __future__ import annotations

from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.program import Step
from descriptors.check.execution.register_pool import RegisterPool, launch_registers
from descriptors.check.execution.warp_events import check_whole_warp


def pool_of(machine: Machine, cta: int) -> RegisterPool | None:
    """Return the registers of a CTA; None if the text does not give the number per thread at launch."""
    if cta not in machine.pools:
        at_launch = launch_registers(machine.program.function)
        if at_launch is None:
            return None
        machine.pools[cta] = RegisterPool(at_launch, machine.warps)
    return machine.pools[cta]


def _set(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    """Execute ``setmaxnreg``."""
    count = machine.require_scalar(fragment, step.instruction.operands[0], step, "a number of registers")
    grows = step.instruction.qualifiers[1] == "inc"
    check_whole_warp(machine, fragment, step, "barrier-registers-group")
    changes = machine.register_counts.setdefault((fragment.cta, fragment.warp), [])
    pool = pool_of(machine, fragment.cta)
    if pool is None:
        why = "this file does not give the registers at launch, by .maxnreg or by .minnctapersm beside .reqntid"
        machine.notes.unpooled.setdefault(step.place, why)
        changes.append((count, step.place))
        return None
    count_now = pool.held[fragment.warp]
    if (count < count_now) if grows else (count > count_now):
        direction = step.instruction.qualifiers[1]
        machine.report(
            "barrier-registers",
            step,
            f"this .{direction} to {count} registers is executed by a warp that has {count_now}",
        )
    elif count - count_now > pool.free:
        return machine.park(fragment, Wait(Awaited.REGISTERS, (fragment.cta, count)))
    changes.append((count, step.place))
    pool.held[fragment.warp] = count
    for wait in [
        wait for wait in machine.waiting if wait.awaited is Awaited.REGISTERS and wait.where[0] == fragment.cta
    ]:
        machine.wake(wait)
    return None


REGISTERS: dict[str, Handler] = {"setmaxnreg.inc": _set, "setmaxnreg.dec": _set}
