"""Barriers executed: mbarriers, the barriers of a CTA and of a cluster, and what the lanes of a warp do together.

Source: PTX ISA 9.1, mbarrier.init, inval, expect_tx, complete_tx, arrive, test_wait, try_wait; barrier, bar.warp.sync,
barrier.cluster; elect.sync, shfl.sync, vote.sync; fence.proxy.async.

Law: who waits goes on when as many threads arrived as the barrier counts, and not before.

>>> from descriptors.check.execution.machine import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def hangs(count):
...     body = f"mbarrier.init.shared.b64 [b], {count}; mbarrier.arrive.shared.b64 _, [b];"
...     wait = "L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
...     text = f".version 8.8\\n.entry k() {{ {body} {wait} }}"
...     launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
...     held = Machine(program(parse(text).functions[0]), launch, BARRIERS)
...     held.run()
...     return held.hung
>>> hangs(32), hangs(33)
(False, True)
"""

from __future__ import annotations

from descriptors.check.execution.lanes import Unknown, Value, lane_values, together
from descriptors.check.execution.machine import Fragment, Handler, Machine, Rendezvous, Stop
from descriptors.check.execution.mbarrier import Mbarrier
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_operands import Address, Operand, Pair


def _address(step: Step) -> tuple[int, Address]:
    """The first address of an instruction, and its place among the operands."""
    for place, operand in enumerate(step.instruction.operands):
        if isinstance(operand, Address):
            return place, operand
    raise Stop(step.instruction.line, "an mbarrier", "an operand that is no address")


def _after(step: Step, place: int) -> Operand | None:
    rest = step.instruction.operands[place + 1 :]
    return rest[0] if rest else None


def _targets(machine: Machine, one: Fragment, step: Step) -> list[tuple[int, int]]:
    """The mbarriers that the executing lanes name, and how many lanes name each."""
    _, operand = _address(step)
    value = machine.value(one, operand)
    values = lane_values(value, one.many) if type(value) is tuple else None
    if type(value) is int:
        return [(value, one.many)]
    unknown = value if type(value) is Unknown else next((v for v in values or () if type(v) is Unknown), None)
    if unknown is not None or values is None:
        why = f"{unknown.why}, line {unknown.line}" if isinstance(unknown, Unknown) else "not known"
        raise Stop(step.instruction.line, "the address of an mbarrier", why)
    counts: dict[int, int] = {}
    for v in values:
        assert isinstance(v, int)
        counts[v] = counts.get(v, 0) + 1
    return list(counts.items())


def barrier_at(machine: Machine, one: Fragment | None, step: Step, address: int) -> Mbarrier:
    """The mbarrier at an address.

    Raises:
        Stop: if none was initialised there, which is told.
    """
    found = machine.barriers.get(address)
    if found is None:
        if any(one.opcode.startswith("mbarrier.init") for one in machine.program.function.code):
            machine.tell("barrier-init", step, f"found none initialised at {place_name(machine, address)}")
        raise Stop(step.instruction.line, "an mbarrier", "nothing initialised it")
    if one is not None and not one.known >> found.bit & 1:
        machine.tell("barrier-init-seen", step, f"found no order after its init, line {found.line}", found.line)
    return found


def place_name(machine: Machine, address: int) -> str:
    """A shared address as the variable that it is in, and how far.

    >>> place_name.__name__
    'place_name'
    """
    rank, offset = address >> 24, address & 0xFFFFFF
    held = [(at, name) for name, at in machine.launch.variables.items() if at <= offset]
    at, name = max(held, default=(0, "shared"))
    of = f" of CTA {rank}" if machine.ctas > 1 else ""
    return f"[{name}+{offset - at}]{of}" if offset - at else f"[{name}]{of}"


def _init(machine: Machine, one: Fragment, step: Step) -> bool | None:
    count = machine.known(one, _after(step, 0) or 0, step, "the count of an mbarrier")
    for address, _ in _targets(machine, one, step):
        bit = machine.access(one, step, "init", generic=True).bit
        before = machine.barriers.get(address)
        if before is not None:
            machine.every_barrier.append(before)
        machine.barriers[address] = Mbarrier(address, bit, count, step.instruction.line)
    return None


def _invalidate(machine: Machine, one: Fragment, step: Step) -> bool | None:
    for address, _ in _targets(machine, one, step):
        if (before := machine.barriers.pop(address, None)) is not None:
            machine.every_barrier.append(before)
    return None


def _tell(machine: Machine, one: Fragment, barrier: Mbarrier) -> None:
    barrier.learn(one.known, one.published)
    one.epoch = -1


def arrived(machine: Machine, step: Step, barrier: Mbarrier, ended: bool) -> None:
    """After an arrival or bytes: wake who waits, and tell of too many."""
    if barrier.over:
        barrier.over = False
        found = f"found one more, with {place_name(machine, barrier.address)} initialised to {barrier.count}"
        machine.tell("barrier-count", step, found, barrier.line)
    if ended:
        machine.wake(("m", barrier.address))


def _arrive(machine: Machine, one: Fragment, step: Step) -> bool | None:
    words = step.instruction.qualifiers
    place, _ = _address(step)
    operand = _after(step, place)
    expects = "expect_tx" in words
    number = (
        machine.known(one, operand, step, "a number of bytes" if expects else "a number of arrivals")
        if (operand is not None)
        else 1
    )
    for address, lanes in _targets(machine, one, step):
        barrier = barrier_at(machine, one, step, address)
        _tell(machine, one, barrier)
        state = barrier.phase
        ended = False
        if expects:
            ended |= barrier.expect(number * lanes, step.instruction.line)
        if "arrive_drop" in words:
            barrier.count -= lanes if expects else number * lanes
        ended |= barrier.arrive(lanes if expects else number * lanes)
        if place and isinstance(step.instruction.operands[0], str):
            machine.set(one, step.instruction.operands[0], state)
        arrived(machine, step, barrier, ended)
    return None


def _expect(machine: Machine, one: Fragment, step: Step) -> bool | None:
    number = machine.known(one, _after(step, _address(step)[0]) or 0, step, "a number of bytes")
    for address, lanes in _targets(machine, one, step):
        barrier = barrier_at(machine, one, step, address)
        _tell(machine, one, barrier)
        arrived(machine, step, barrier, barrier.expect(number * lanes, step.instruction.line))
    return None


def _complete(machine: Machine, one: Fragment, step: Step) -> bool | None:
    number = machine.known(one, _after(step, _address(step)[0]) or 0, step, "a number of bytes")
    for address, lanes in _targets(machine, one, step):
        barrier = barrier_at(machine, one, step, address)
        arrived(machine, step, barrier, barrier.complete(number * lanes))
    return None


def _wait(machine: Machine, one: Fragment, step: Step) -> bool | None:
    place, _ = _address(step)
    number = machine.known(one, _after(step, place) or 0, step, "the parity of a wait")
    passed: list[bool] = []
    barrier = None
    new, held = 0, list[Mbarrier]()
    for address, _ in _targets(machine, one, step):
        barrier = barrier_at(machine, one, step, address)
        by_parity = "parity" in step.instruction.qualifiers
        if by_parity and number > 1:
            machine.tell("barrier-parity", step, f"found {number}")
        passed.append(barrier.passes(number) if by_parity else barrier.phase > number)
        new |= barrier.known & ~one.known
        held.append(barrier)
    target = step.instruction.operands[0]
    names = (target.first,) if isinstance(target, Pair) else (target,)
    assert barrier is not None
    if all(passed) and new and one.failed != (one.pc, barrier.phase):
        # The phase may end later than this: who asks once and goes on, whatever the answer, has not waited.
        one.failed = (one.pc, barrier.phase)
        machine.set(one, names[0], 0)
        return None
    if all(passed):
        for barrier in held:
            one.known |= barrier.known
            one.published |= barrier.published
        machine.set(one, names[0], 1)
        one.failed = (-1, -1)
        return None
    if one.failed == (one.pc, barrier.phase):
        one.failed = (-1, -1)
        one.active = None
        why = f"{step.place}:{barrier.address}"
        return machine.park(one, ("m", barrier.address), why)
    one.failed = (one.pc, barrier.phase)
    machine.set(one, names[0], 0)
    # What others do may end the phase before the thread asks again.
    one.pc += 1
    one.active = None
    machine.resume(one)
    return True


def _bar(machine: Machine, one: Fragment, step: Step) -> bool | None:
    words, operands = step.instruction.qualifiers, list(step.instruction.operands)
    reduces = "red" in words
    if reduces:
        machine.set(one, operands.pop(0), Unknown("what a barrier reduces", step.instruction.line))
    number = machine.known(one, operands[0], step, "the number of a barrier") if operands else 0
    plain = [o for o in operands[1:] if not reduces or isinstance(o, int)]
    target = machine.known(one, plain[0], step, "the threads of a barrier") if plain else None
    key = ("bar", one.cta, number)
    held = machine.rendezvous.get(key)
    if held is None:
        held = machine.rendezvous[key] = Rendezvous(key, target, one.cta)
    if held.came and held.target != target:
        machine.tell("barrier-threads", step, f"found {target or 'all'} where others have {held.target or 'all'}")
    held.target = target
    held.known |= one.known
    held.published |= one.published
    held.came += one.many
    one.epoch = -1
    if "arrive" in words:
        held.check(machine)
        return None
    one.blocked = f"{step.place}:barrier {number}"
    held.waiters.append(one)
    held.check(machine)
    return True


def _cluster(machine: Machine, one: Fragment, step: Step) -> bool | None:
    key = ("cluster",)
    held = machine.rendezvous.get(key)
    if held is None:
        held = machine.rendezvous[key] = Rendezvous(key, None, None)
    if "arrive" in step.instruction.qualifiers:
        held.known |= one.known
        held.published |= one.published
        held.came += one.many
        one.cluster_phase = held.phase + 1
        one.epoch = -1
        held.check(machine)
        return None
    if held.phase >= one.cluster_phase:
        one.known |= held.known
        one.published |= held.published
        return None
    one.blocked = f"{step.place}:the cluster's barrier"
    held.waiters.append(one)
    return True


# -- what lanes do together


def _gathered(machine: Machine, one: Fragment, step: Step, mask: Operand) -> list[Fragment] | None:
    """The fragments whose lanes execute an instruction together; None while some have not come."""
    value = machine.value(one, mask)
    wanted = {lane for lane in range(32) if type(value) is not int or value >> lane & 1}
    wanted &= machine.alive[one.cta, one.warp]
    key = ("warp", one.cta, one.warp, step.place)
    parts = [*machine.waiting.get(key, ()), one]
    have = {lane for part in parts for lane in part.lanes}
    if wanted <= have or "\0alone" in one.registers:
        machine.waiting.pop(key, None)
        return parts
    machine.park(one, key, "warp")
    return None


def _together(machine: Machine, one: Fragment, step: Step, mask: Operand, finish: object) -> bool | None:
    parts = _gathered(machine, one, step, mask)
    if parts is None:
        return True
    for part in parts:
        part.registers.pop("\0alone", None)
    finish(parts)  # type: ignore[operator]
    for part in parts:
        if part is not one:
            part.pc += 1
            machine.resume(part)
    return None


def _warp_sync(machine: Machine, one: Fragment, step: Step) -> bool | None:
    def finish(parts: list[Fragment]) -> None:
        known = published = 0
        for part in parts:
            known |= part.known
            published |= part.published
        for part in parts:
            part.known, part.published, part.epoch = known, published, -1

    return _together(machine, one, step, step.instruction.operands[0] if step.instruction.operands else -1, finish)


def _elect(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands

    def finish(parts: list[Fragment]) -> None:
        mask = machine.value(one, operands[1]) if len(operands) > 1 else 0xFFFFFFFF
        lanes = [lane for part in parts for lane in part.lanes if type(mask) is not int or mask >> lane & 1]
        leader = min(lanes, default=0)
        target = operands[0]
        for part in parts:
            if isinstance(target, Pair):
                machine.set(part, target.first, leader)
                machine.set(part, target.second, together([int(lane == leader) for lane in part.lanes]))

    return _together(machine, one, step, operands[1] if len(operands) > 1 else -1, finish)


def _shuffle(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands, mode = step.instruction.operands, step.instruction.qualifiers[2]

    def finish(parts: list[Fragment]) -> None:
        values: dict[int, int | Unknown] = {}
        for part in parts:
            values.update(zip(part.lanes, lane_values(machine.value(part, operands[1]), len(part.lanes)), strict=True))
        for part in parts:
            by = lane_values(machine.value(part, operands[2]), len(part.lanes))
            rows: list[int | Unknown] = []
            for lane, step_ in zip(part.lanes, by, strict=True):
                if type(step_) is Unknown:
                    rows.append(step_)
                    continue
                assert isinstance(step_, int)
                source = {"idx": step_ & 31, "up": lane - step_, "down": lane + step_, "bfly": lane ^ step_}.get(
                    mode, -1
                )
                missing = Unknown("a shuffle from a lane that is not there", step.instruction.line)
                rows.append(values.get(source, values[lane] if mode != "idx" else missing))
            target = operands[0]
            name = target.first if isinstance(target, Pair) else target
            machine.set(part, name, together(rows))
            if isinstance(target, Pair):
                machine.set(part, target.second, Unknown("whether a shuffle had a source", step.instruction.line))

    return _together(machine, one, step, operands[-1], finish)


def _vote(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands, mode = step.instruction.operands, step.instruction.qualifiers[2]

    def finish(parts: list[Fragment]) -> None:
        votes: dict[int, int | Unknown] = {}
        for part in parts:
            votes.update(zip(part.lanes, lane_values(machine.value(part, operands[1]), len(part.lanes)), strict=True))
        unknown = next((v for v in votes.values() if type(v) is Unknown), None)
        numbers = [v for v in votes.values() if isinstance(v, int)]
        result: Value
        if unknown is not None:
            result = unknown
        elif mode == "ballot":
            result = sum(1 << lane for lane, v in votes.items() if v)
        else:
            result = int({"any": any(numbers), "all": all(numbers), "uni": len(set(numbers)) < 2}.get(mode, False))
        for part in parts:
            machine.set(part, operands[0], result)

    return _together(machine, one, step, operands[-1], finish)


def _proxy(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """A proxy fence publishes what the thread knows to be written."""
    if not step.instruction.opcode.startswith("fence.proxy.async.global"):
        one.published |= one.known
        one.epoch = -1
    return None


def _nothing(machine: Machine, one: Fragment, step: Step) -> bool | None:
    return None


def _trap(machine: Machine, one: Fragment, step: Step) -> bool | None:
    places = one.active if one.active is not None else list(range(len(one.lanes)))
    one.active = None
    machine._end(one, list(places))
    return one.done or None


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
    "bar.warp": _warp_sync,
    "elect": _elect,
    "shfl": _shuffle,
    "vote": _vote,
    "fence.proxy.async": _proxy,
    "fence.proxy.async::generic": _nothing,
    "trap": _trap,
    "call": _nothing,
    "nanosleep": _nothing,
    "setmaxnreg": _nothing,
    "mbarrier.pending_count": _nothing,
}
