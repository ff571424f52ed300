r"""Execute barriers: mbarriers, the barriers of a CTA and of a cluster, and the proxy fence.

Source: PTX ISA 9.1, mbarrier.init, inval, expect_tx, complete_tx, arrive, test_wait, try_wait; barrier,
barrier.cluster; fence.proxy.async; Memory Consistency Model (release and acquire patterns, scopes).

Invariant: a wait ends when as many threads have arrived as the count of the barrier, and not before.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def hangs(count):
...     body = f"mbarrier.init.shared.b64 [b], {count}; mbarrier.arrive.shared.b64 _, [b];"
...     wait = "L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
...     text = f".version 8.8\n.entry k() {{ {body} {wait} }}"
...     launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
...     machine = Machine(program(parse(text).functions[0]), launch, execution)
...     machine.run()
...     return machine.hung
>>> hangs(32), hangs(33)
(False, True)
"""

from __future__ import annotations

from collections import Counter

from descriptors.check.execution.accesses import check_mask
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.lanes import Unknown
from descriptors.check.execution.launch import RANK, address_text, multicast
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.mbarrier import Mbarrier, Touch
from descriptors.check.execution.meetings import Rendezvous
from descriptors.check.execution.outcomes import Reason, Stop
from descriptors.check.execution.program import Step
from descriptors.check.execution.warp_events import check_whole_warp
from descriptors.check.ptx.ptx_operands import Address, Operand, Pair
from descriptors.text import counted

# -- mbarriers


def _address_operand(step: Step) -> tuple[int, Address]:
    """Return the first address of an instruction, and its position among the operands."""
    for place, operand in enumerate(step.instruction.operands):
        if isinstance(operand, Address):
            return place, operand
    raise Stop(step.instruction.line, "an operand is not an address", reason=Reason.BARRIER)


def _operand_after_address(step: Step) -> Operand | None:
    """Return the operand after the address of an mbarrier; the mask of a multicast, which is last, is none."""
    place, _ = _address_operand(step)
    operands = step.instruction.operands[place + 1 : -1 if _is_multicast(step) else None]
    return operands[0] if operands else None


def _is_multicast(step: Step) -> bool:
    return "multicast::cluster::32b" in step.instruction.qualifiers


def _targets(machine: Machine, fragment: Fragment, step: Step) -> list[tuple[int, int]]:
    """Return the mbarriers that the executing lanes name, in each CTA of a mask, with the number of lanes."""
    _, operand = _address_operand(step)
    value, mask = machine.value(fragment, operand), None
    if _is_multicast(step):
        mask = machine.require_scalar(fragment, step.instruction.operands[-1], step, "the CTAs of a multicast")
        check_mask(machine, step, mask)
    if type(value) is int:
        return [(place, fragment.lane_count) for place in multicast(value, mask, machine.ctas)]
    named = Counter(machine.require_lanes(fragment, operand, step, "the address of an mbarrier"))
    return [(place, lanes) for base, lanes in named.items() for place in multicast(base, mask, machine.ctas)]


def _touch(fragment: Fragment, step: Step, barrier: Mbarrier, *, passed: bool = False) -> Touch:
    return Touch(fragment.cta, fragment.warp, step.place, barrier.address, barrier.phase, passed, barrier.life)


def find_barrier(machine: Machine, fragment: Fragment, step: Step, address: int) -> Mbarrier:
    """Return the mbarrier at an address, and record its use.

    Raises:
        Stop: if no mbarrier is initialized there, which is reported.
    """
    barrier = machine.barriers.find(address)
    if barrier is None:
        if any(instruction.opcode.startswith("mbarrier.init") for instruction in machine.program.function.code):
            place = address_text(address, machine.launch)
            machine.report("barrier-init", step, f"no mbarrier is initialized at {place}")
        raise Stop(step.instruction.line, "it is not initialized", reason=Reason.BARRIER)
    machine.barriers.touches.append(_touch(fragment, step, barrier))
    if not machine.lanes.knows(barrier.bit, fragment.known):
        fact = f"nothing orders this use of the mbarrier after its init in line {barrier.line}"
        machine.report("barrier-init-seen", step, fact, barrier.line)
    return barrier


def _init(machine: Machine, fragment: Fragment, step: Step) -> None:
    count = machine.require_scalar(fragment, _operand_after_address(step) or 0, step, "the count of an mbarrier")
    for address, lanes in _targets(machine, fragment, step):
        previous = machine.barriers.find(address)
        if previous is not None and not machine.lanes.knows(previous.bit, fragment.known):
            fact = f"the mbarrier is initialized again, and nothing orders this after its init in line {previous.line}"
            machine.report("barrier-init-seen", step, fact, previous.line)
        elif previous is not None:
            fact = f"the mbarrier is still live since its init in line {previous.line}"
            machine.report("barrier-init-again", step, fact, previous.line)
        elif lanes > 1:
            machine.report("barrier-init-again", step, f"{lanes} threads of a warp execute this init")
        bit = machine.access(fragment, step, "init", generic=True).bit
        machine.unfenced_inits |= 1 << bit
        machine.barriers.add(Mbarrier(address, bit, count, step.instruction.line))


def _invalidate(machine: Machine, fragment: Fragment, step: Step) -> None:
    for address, _ in _targets(machine, fragment, step):
        machine.barriers.retire(address)


def _note_arrival(machine: Machine, fragment: Fragment, step: Step, barrier: Mbarrier, known: int) -> None:
    """Record an arrival; if it may come before the end of the previous phase, its own phase is undecided.

    A thread that arrives knows of this arrival, so that it may arrive on both sides of the end of a phase.

    Args:
        machine: the machine.
        fragment: the threads.
        step: the instruction.
        barrier: the mbarrier.
        known: accesses that the arrival comes after.
    """
    if barrier.events_before & ~known:
        place = address_text(barrier.address, machine.launch)
        why = f"nothing orders it after the end of the previous phase of the mbarrier at {place}"
        machine.notes.unordered.setdefault(step.place, ("the phase of an arrival", why))
    bit = machine.new_bit()
    fragment.known |= 1 << bit
    barrier.note(bit)


def finish_arrival(machine: Machine, step: Step, barrier: Mbarrier, ended: bool) -> None:
    """Wake the waiting threads after an arrival or bytes, and report too many arrivals."""
    if barrier.excess:
        excess, barrier.excess = counted(barrier.excess, "arrival"), 0
        place = address_text(barrier.address, machine.launch)
        phase = f"a phase of the mbarrier at {place}"
        fact = f"with this arrival, {phase} has {excess} too many (its count is {barrier.count})"
        machine.report("barrier-count", step, fact, barrier.line)
    if ended:
        machine.wake(Wait(Awaited.MBARRIER, (barrier.address,)))


def _released(machine: Machine, fragment: Fragment, step: Step, barrier: Mbarrier) -> tuple[int, int]:
    """Return the accesses that an arrival signals: complete ones, and published ones.

    An arrival that is relaxed, or whose scope does not contain the CTA of the mbarrier, does not order the accesses
    before it; only a fence before it does.
    """
    words, is_remote = step.instruction.qualifiers, barrier.address >> RANK != fragment.cta
    if "relaxed" in words or (is_remote and "cta" in words):
        return fragment.fenced, fragment.fenced_published
    return machine.release_set(fragment)


def _arrive(machine: Machine, fragment: Fragment, step: Step) -> None:
    words, operand = step.instruction.qualifiers, _operand_after_address(step)
    expects = "expect_tx" in words
    subject = "a number of bytes" if expects else "a number of arrivals"
    number = 1 if operand is None else machine.require_scalar(fragment, operand, step, subject)
    for address, lanes in _targets(machine, fragment, step):
        barrier = find_barrier(machine, fragment, step, address)
        fragment.known |= _note_remote_use(machine, fragment, step, barrier)
        _note_arrival(machine, fragment, step, barrier, fragment.known)
        barrier.learn(*_released(machine, fragment, step, barrier))
        fragment.epoch = -1
        state, ended, arrivals = barrier.phase, False, lanes if expects else number * lanes
        if expects:
            ended |= barrier.expect(number * lanes, step.instruction.line)
        if "arrive_drop" in words:
            barrier.count -= arrivals
        ended |= barrier.arrive(arrivals)
        if isinstance(step.instruction.operands[0], str):
            machine.set(fragment, step.instruction.operands[0], state)
        if ended and "noComplete" in words:
            fact = "this arrival is .noComplete, but it completes the phase"
            machine.report("barrier-count", step, fact, barrier.line)
        finish_arrival(machine, step, barrier, ended)


def _expect(machine: Machine, fragment: Fragment, step: Step) -> None:
    number = machine.require_scalar(fragment, _operand_after_address(step) or 0, step, "a number of bytes")
    for address, lanes in _targets(machine, fragment, step):
        barrier = find_barrier(machine, fragment, step, address)
        fragment.known |= _note_remote_use(machine, fragment, step, barrier)
        barrier.learn(*_released(machine, fragment, step, barrier))
        fragment.epoch = -1
        finish_arrival(machine, step, barrier, barrier.expect(number * lanes, step.instruction.line))


def _complete(machine: Machine, fragment: Fragment, step: Step) -> None:
    number = machine.require_scalar(fragment, _operand_after_address(step) or 0, step, "a number of bytes")
    for address, lanes in _targets(machine, fragment, step):
        barrier = find_barrier(machine, fragment, step, address)
        finish_arrival(machine, step, barrier, barrier.complete(number * lanes))


def _wait(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    """Execute ``test_wait`` or ``try_wait``, which return a predicate; a thread that asks repeatedly is parked.

    The phase may end later than in this schedule, so that a thread that asks once and continues has not waited. The
    first answer from which the thread would learn something new is therefore no.
    """
    number = machine.require_scalar(fragment, _operand_after_address(step) or 0, step, "the parity of a wait")
    by_parity = "parity" in step.instruction.qualifiers
    barriers = [find_barrier(machine, fragment, step, address) for address, _ in _targets(machine, fragment, step)]
    if by_parity and number > 1:
        machine.report("barrier-parity", step, f"the parity of this wait is {number}")
    passed = all(barrier.passes(number) if by_parity else barrier.phase > number for barrier in barriers)
    has_news = any(barrier.known & ~fragment.known for barrier in barriers)
    target, last_barrier = step.instruction.operands[0], barriers[-1]
    name = target.first if isinstance(target, Pair) else target
    is_repeated = fragment.failed == (fragment.pc, last_barrier.address, last_barrier.phase)
    if passed and (is_repeated or not has_news):
        for barrier in barriers:
            if "relaxed" in step.instruction.qualifiers:
                fragment.known |= barrier.events_before & ~barrier.copies
                fragment.unacquired |= barrier.known
                fragment.unacquired_published |= barrier.published
            else:
                fragment.learn(barrier.known, barrier.published)
            machine.barriers.touches.append(_touch(fragment, step, barrier, passed=True))
        machine.set(fragment, name, 1)
        fragment.count(step.place)
        fragment.failed = (-1, -1, -1)
        return None
    if not passed and is_repeated:
        fragment.failed = (-1, -1, -1)
        return machine.park(fragment, Wait(Awaited.MBARRIER, (last_barrier.address,)))
    fragment.failed = (fragment.pc, last_barrier.address, last_barrier.phase)
    machine.set(fragment, name, 0)
    if passed:
        return None
    return machine.pass_on(fragment)  # others may end the phase before the thread asks again


def _note_remote_use(machine: Machine, fragment: Fragment, step: Step, barrier: Mbarrier) -> int:
    """Return the access of a barrier of another CTA, as a bit; 0 for the own CTA.

    The barrier of the own CTA lives as long as the threads.
    """
    if barrier.address >> RANK == fragment.cta:
        return 0
    reach = machine.new_bit()
    machine.notes.reach(step.place, barrier.address >> RANK, reach)
    barrier.note(reach)
    return 1 << reach


def arrive_at(machine: Machine, fragment: Fragment, step: Step, address: int, known: int, published: int) -> int:
    """Let the executing threads arrive at an mbarrier, with accesses that they may not know themselves.

    Returns:
        the access of a barrier of another CTA, as a bit; 0 for one of the own CTA.
    """
    barrier = find_barrier(machine, fragment, step, address)
    reach = _note_remote_use(machine, fragment, step, barrier)
    _note_arrival(machine, fragment, step, barrier, known | fragment.known)
    barrier.learn(known | reach, published)
    finish_arrival(machine, step, barrier, barrier.arrive(fragment.lane_count))
    return reach


# -- barriers of a CTA and of a cluster


def _bar(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    """Execute ``bar`` or ``barrier``: arrive, and wait unless the instruction only arrives."""
    words, operands = step.instruction.qualifiers, list(step.instruction.operands)
    reduces = "red" in words
    _check_aligned(machine, fragment, step)
    if reduces:
        machine.set(fragment, operands.pop(0), Unknown("the result of barrier.red", step.instruction.line))
    number = machine.require_scalar(fragment, operands[0], step, "the number of a barrier") if operands else 0
    plain = [o for o in operands[1:] if not reduces or isinstance(o, int)]
    target = machine.require_scalar(fragment, plain[0], step, "the thread count of a barrier") if plain else None
    wait = Wait(Awaited.BARRIER, (fragment.cta, number))
    rendezvous = machine.rendezvous.setdefault(wait, Rendezvous(fragment.cta, target))
    if rendezvous.came and rendezvous.target != target:
        others = rendezvous.target or "all"
        fact = f"this instruction names {target or 'all'} threads for barrier {number}, and others name {others}"
        machine.report("barrier-threads", step, fact)
    rendezvous.target = target
    rendezvous.arrive(fragment, *machine.release_set(fragment))
    waits = "arrive" not in words and rendezvous.wait(fragment, wait)
    machine.gather(rendezvous)
    return waits


def _check_aligned(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Report an aligned barrier that only some lanes of a warp execute."""
    words = step.instruction.qualifiers
    if words[0] == "bar" or "aligned" in words:
        check_whole_warp(machine, fragment, step, "barrier-aligned")


def _cluster(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    """Execute ``barrier.cluster``: an arrival, or the wait for the phase of the last arrival."""
    wait = Wait(Awaited.CLUSTER, ())
    rendezvous = machine.rendezvous.setdefault(wait, Rendezvous(None, None))
    _check_aligned(machine, fragment, step)
    arrives, pending = "arrive" in step.instruction.qualifiers, fragment.cluster_phase > fragment.cluster_waits
    if arrives == pending:
        second_arrival = "this is a second arrival at the barrier of the cluster, without a wait in between"
        early_wait = "this wait for the barrier of the cluster has no arrival before it"
        machine.report("barrier-cluster", step, second_arrival if arrives else early_wait)
    if arrives:
        fragment.cluster_phase = rendezvous.phase + 1
        accesses, published = machine.release_set(fragment)
        if "relaxed" in step.instruction.qualifiers:
            accesses &= ~machine.unfenced_inits
        rendezvous.arrive(fragment, accesses, published)
        machine.gather(rendezvous)
        return None
    fragment.cluster_waits = fragment.cluster_phase
    if rendezvous.phase < fragment.cluster_phase:
        return rendezvous.wait(fragment, wait)
    rendezvous.leave(fragment)
    return None


def _publish(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a proxy fence, which publishes the writes that the thread knows."""
    if not step.instruction.opcode.startswith("fence.proxy.async.global"):
        fragment.published |= machine.release_set(fragment)[0]
        fragment.epoch = -1


def _fence(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a fence of memory accesses: it orders what relaxed operations before and after it do not."""
    machine.unfenced_inits &= ~fragment.known
    fragment.learn(fragment.unacquired, fragment.unacquired_published)
    if not step.instruction.opcode.startswith(_NARROW_FENCES):
        fragment.fenced, fragment.fenced_published = machine.release_set(fragment)
        fragment.epoch = -1


#: Fences that order only the init of mbarriers, or only accesses of tensor memory, before later signals.
_NARROW_FENCES = ("fence.mbarrier_init", "tcgen05.fence")
#: Fences; one whose guard is unknown is taken as absent.
FENCES: dict[str, Handler] = dict.fromkeys(
    (*_NARROW_FENCES, "fence.acq_rel", "fence.sc", "fence.acquire", "fence.release", "membar"), _fence
)
BARRIERS: dict[str, Handler] = {
    "mbarrier.init": _init,
    "mbarrier.inval": _invalidate,
    "mbarrier.arrive": _arrive,
    "mbarrier.arrive_drop": _arrive,
    "mbarrier.expect_tx": _expect,
    "mbarrier.complete_tx": _complete,
    "mbarrier.try_wait": _wait,
    "mbarrier.test_wait": _wait,
    "bar": _bar,
    "barrier": _bar,
    "barrier.cluster": _cluster,
    "fence.proxy.async": _publish,
}
