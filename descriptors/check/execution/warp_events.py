r"""Execute what the lanes of a warp do together: elect, shuffle, vote and ``bar.warp.sync``.

All living lanes of a mask execute such an instruction together, whatever fragments they are in. The first lanes wait
until all have arrived. A ``bar.warp.sync`` also meets the ``bar.warp.sync`` of other lines. If no other lane can
continue, the lanes that arrived execute the instruction alone; for a ``bar.warp.sync`` this is undecided, because the
hardware would wait.

Source: PTX ISA 9.1, bar.warp.sync, elect.sync, shfl.sync, vote.sync.

Invariant: lanes that a branch separated vote together.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> vote = "vote.sync.ballot.b32 v, p, 15; st.shared.b32 [s], v; ret;"
>>> body = f"mov.u32 a, %tid.x; setp.lt.u32 p, a, 3; @p bra L; nop; L: {vote}"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
>>> machine.run()
>>> [fragment.registers["v"] for fragment in machine.fragments]
[7]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from descriptors.check.execution.fragment import ANY_SYNC, Awaited, Fragment, Wait
from descriptors.check.execution.lanes import Unknown, Value, join_lanes, lane_values
from descriptors.check.execution.launch import WARP
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_operands import Operand, Pair

#: The effect of an instruction that fragments execute together.
_Finish: TypeAlias = Callable[[Machine, list[Fragment], Step], None]
_ALL_LANES = 0xFFFFFFFF


def check_whole_warp(machine: Machine, fragment: Fragment, step: Step, rule: str) -> None:
    """Report an instruction that only some lanes of a warp execute, although all must."""
    lanes = machine.alive[fragment.cta, fragment.warp]
    if fragment.lane_count < len(lanes):
        machine.report(
            rule, step, f"only {fragment.lane_count} of {len(lanes)} threads of a warp execute this instruction"
        )


def _collective(mask: Callable[[Step], Operand], finish: _Finish) -> Handler:
    """Return the handler of an instruction of several lanes.

    Args:
        mask: returns the operand with the mask of lanes.
        finish: what the fragments do when all lanes are there.
    """

    def execute(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
        value = machine.value(fragment, mask(step))
        lanes = value if isinstance(value, int) else _ALL_LANES
        wanted = {lane for lane in machine.alive[fragment.cta, fragment.warp] if lanes >> lane & 1}
        is_sync = finish is _meet
        wait = Wait(Awaited.WARP, (fragment.cta, fragment.warp, ANY_SYNC if is_sync else step.place))
        parts = [*machine.waiting.get(wait, ()), fragment]
        missing = wanted - {lane for part in parts for lane in part.lanes}
        if missing and not fragment.alone:
            return machine.park(fragment, wait)
        if missing and is_sync:
            why = f"{len(missing)} of the {len(wanted)} lanes for which it waits never execute one"
            machine.notes.unordered.setdefault(step.place, ("a bar.warp.sync", why))
        machine.waiting.pop(wait, None)
        meeting = sum(1 << lane for part in parts for lane in part.executing)
        for part in parts:
            part.meet_lanes(meeting, ordered=is_sync)
        finish(machine, parts, step)
        for part in parts:
            part.alone = False
            if part is not fragment:
                machine.pass_on(part)
        return None

    return execute


def _meet(machine: Machine, parts: list[Fragment], step: Step) -> None:
    """Share the known accesses between the fragments that meet."""
    known = published = 0
    for part in parts:
        known |= part.known
        published |= part.published
    for part in parts:
        part.known, part.published, part.epoch = known, published, -1


def _elect(machine: Machine, parts: list[Fragment], step: Step) -> None:
    target, value = step.instruction.operands[0], machine.value(parts[-1], _second_operand(step))
    mask = value if isinstance(value, int) else _ALL_LANES
    leader = min((lane for part in parts for lane in part.lanes if mask >> lane & 1), default=0)
    for part in parts:
        if isinstance(target, Pair):
            machine.set(part, target.first, leader)
            machine.set(part, target.second, join_lanes([int(lane == leader) for lane in part.executing]))


def _shuffle(machine: Machine, parts: list[Fragment], step: Step) -> None:
    target, source, distances, *_ = step.instruction.operands
    mode, values = step.instruction.qualifiers[2], _by_lane(machine, parts, source)
    name, predicate = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    absent = Unknown("a shuffle from a lane that is not active", step.instruction.line)
    for part in parts:
        results: list[int | Unknown] = []
        for lane, distance in zip(
            part.executing, lane_values(machine.value(part, distances), part.lane_count), strict=True
        ):
            if isinstance(distance, Unknown):
                results.append(distance)
            elif mode == "idx":
                results.append(values.get(distance % WARP, absent))
            else:
                other = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance}.get(mode, -1)
                results.append(values.get(other, values[lane]))
        machine.set(part, name, join_lanes(results))
        if predicate is not None:
            machine.set(part, predicate, Unknown("the source predicate of a shuffle", step.instruction.line))


def _vote(machine: Machine, parts: list[Fragment], step: Step) -> None:
    target, source, *_ = step.instruction.operands
    mode, votes = step.instruction.qualifiers[2], _by_lane(machine, parts, source)
    numbers = [vote for vote in votes.values() if isinstance(vote, int)]
    result: Value
    if len(numbers) < len(votes):
        result = next(vote for vote in votes.values() if isinstance(vote, Unknown))
    elif mode == "ballot":
        result = sum(1 << lane for lane, vote in votes.items() if vote)
    else:
        result = int({"any": any(numbers), "all": all(numbers), "uni": len(set(numbers)) < 2}.get(mode, False))
    for part in parts:
        machine.set(part, target, result)


def _by_lane(machine: Machine, parts: list[Fragment], operand: Operand) -> dict[int, int | Unknown]:
    """Return the value of an operand in each lane of several fragments."""
    return {
        lane: value
        for part in parts
        for lane, value in zip(part.executing, lane_values(machine.value(part, operand), part.lane_count), strict=True)
    }


def _first_operand(step: Step) -> Operand:
    return step.instruction.operands[0] if step.instruction.operands else _ALL_LANES


def _second_operand(step: Step) -> Operand:
    return step.instruction.operands[1] if len(step.instruction.operands) > 1 else _ALL_LANES


def _last_operand(step: Step) -> Operand:
    return step.instruction.operands[-1]


WARPS: dict[str, Handler] = {
    "bar.warp": _collective(_first_operand, _meet),
    "elect": _collective(_second_operand, _elect),
    "shfl": _collective(_last_operand, _shuffle),
    "vote": _collective(_last_operand, _vote),
}
