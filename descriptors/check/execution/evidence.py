r"""The findings of one run of a kernel: violations of rules, and items that the run did not check.

A violation is reported only if it holds whatever the unknown values are: bytes that nothing wrote may be those of a
copy whose box is unknown, and columns that nothing wrote may be those of an instruction that the run did not follow.

Source: the rules of ``check/rules``; this project defines which items are undecided.

Invariant: a wait that never completes is found with what it waits for, and the code after it is unchecked.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; setp.eq.u32 p, a, 0; @p bra L; barrier.sync 1, 64; L: ret;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
>>> result = run(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch)
>>> [(row.rule, row.found) for row in witnesses(result)], [row.what for row in unchecked(result)]
([('barrier-hang', 'this wait on barrier 1 never completes: 31 of 64 threads arrived')], ['the code after this line'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from descriptors.check.execution.boxes import NAME_LETTERS, row_mismatch, suggestion, type_mismatch
from descriptors.check.execution.configuration import parameter_text
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.launch import WARP, address_text
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Mbarrier
from descriptors.check.execution.outcomes import PROPERTIES_OF, Reason, Witness
from descriptors.check.execution.rings import WAITS, operation_of
from descriptors.check.execution.runs import Run
from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.text import ranges_text, some_texts

#: The properties that a run decides for every kernel.
ALL = ("barriers", "bytes", "proxies", "reuse")
#: What is undecided about a multiplication whose operands nothing writes, and why.
UNFILLED = "the contents of the operands", "no instruction in this file writes the shared memory that the MMA reads"
#: What is undecided if a run cannot continue.
AFTER = "the code after this line"
#: What is undecided about an address of tensor memory on which sources disagree; the run follows it all the same.
LANES = "the lanes of an address"
#: Name of the unknown size of a tensor copy.
BOX = "the box of a tensor copy"
#: Rules whose violations a copy of unknown size may explain.
_OF_COPIES = {"proxy-fence", "proxy-fence-copy", "reuse-unwritten"}
#: Rules whose violations a tensor-core instruction that was not followed may explain.
_OF_TENSOR_MEMORY = {"tcgen05-unwritten"}


#: Largest number of parameters that are named to make a run shorter.
_NAMED = 3


class Blind(NamedTuple):
    """Something that a run could not check.

    Args:
        properties: the properties that it leaves undecided.
        line: line of the instruction.
        what: the unchecked item.
        why: why it is unchecked.
        reason: reason of the stop that it comes from; None if the run continued.
        decides: what would decide it; "" if the table of ``run_report`` has it, or if nothing would.
    """

    properties: tuple[str, ...]
    line: int
    what: str
    why: str
    reason: Reason | None = None
    decides: str = ""


# -- violations


def witnesses(run: Run) -> Iterator[Witness]:
    """Yield the violations that hold whatever the run does not know; none if it assumes integers in global memory."""
    return iter(()) if run.machine.launch.content else _witnesses(run)


def _witnesses(run: Run) -> Iterator[Witness]:
    machine = run.machine
    unsure = set(_OF_TENSOR_MEMORY if machine.notes.tensor_unknown else ())
    if any(machine.launch.bytes_of(name) is None for _, name, _ in machine.notes.copies):
        unsure |= _OF_COPIES
    # Lanes continue without others only if nothing else helps. If the kernel hangs all the same, they never get there.
    left_out = machine.notes.of_released if machine.hung else ()
    witnesses = [witness for key, witness in machine.notes.wrong.items() if key not in left_out]
    if run.stop is None:
        witnesses += (
            hangs(machine)
            if machine.hung
            else [
                *_unwritten(machine),
                *_leaks(machine),
                *_accesses_after_exit(machine),
                *_uneven_register_changes(machine),
            ]
        )
    return (_with_run(machine, run.stop is None, witness) for witness in witnesses if witness.rule not in unsure)


def _with_run(machine: Machine, ended: bool, witness: Witness) -> Witness:
    """Return a violation with the number of iterations of its run and the scalar parameters."""
    rounds = max((fragment.times.get(witness.place, 0) for fragment in machine.fragments), default=0)
    known = ended and not machine.hung and witness.round
    return witness._replace(rounds=rounds if known else 0, parameters=_parameters_text(machine))


def _parameters_text(machine: Machine) -> str:
    """Describe the scalar parameters that a run read: the most frequent value, and the others by name."""
    values = machine.notes.scalars
    common, frequency = Counter(values.values()).most_common(1)[0] if values else (0, 0)
    if frequency == len(values) > 1:
        return f"scalar parameters {common}"
    uncommon = {key: value for key, value in values.items() if value != common or frequency < 2}
    named = [f"{parameter_text(key)} = {value}" for key, value in uncommon.items()]
    return ", ".join([*named, *([f"others {common}"] if frequency > 1 else [])])


def hangs(machine: Machine) -> Iterator[Witness]:
    """Yield the wait that never completes of the thread that advanced least, with notes on the other waits.

    The other threads may wait for this one. Each wait for registers is yielded separately.
    """
    if _fragmented_allocations(machine):  # all other waits may depend on these
        return
    reported: set[int] = set()
    waiting = [fragment for fragment in machine.fragments if not fragment.done and fragment.blocked is not None]
    # All other threads may wait for a warp that waits for registers.
    for_registers = [fragment for fragment in waiting if fragment.awaits(Awaited.REGISTERS)]
    stuck = for_registers or [fragment for fragment in waiting if not fragment.released] or waiting
    waits: list[Witness] = []
    for fragment in sorted(stuck, key=lambda fragment: fragment.times.get(machine.steps[fragment.pc].place, 0)):
        if fragment.blocked is None:
            continue
        place = machine.steps[fragment.pc].place
        if place not in reported:
            reported.add(place)
            iteration = fragment.times.get(place, 0) + 1
            fact = _wait_text(machine, fragment, fragment.blocked)
            if fragment.blocked.awaited is Awaited.REGISTERS:
                if not _may_be_given_back(machine, fragment.cta, fragment.blocked.where[1]):
                    yield Witness("barrier-registers", place, _register_demand_text(machine, fragment), 0, iteration)
                continue
            waits.append(Witness("barrier-hang", place, fact, *_last_event(machine, fragment.blocked, iteration)))
    if waits:
        yield waits[0]._replace(found=waits[0].found + _other_waits(machine, waits[1:]))


def _other_waits(machine: Machine, others: Sequence[Witness]) -> str:
    """Return a note for each other wait that never completes, at most four; "" if there is none."""
    notes = [
        wait.found.replace("this wait", f"the wait in line {_instruction(machine, wait.place).line}", 1)
        for wait in others
    ]
    return "".join(f"; {note}" for note in some_texts(notes, 4))


def _fragmented_allocations(machine: Machine) -> list[int]:
    """Return the allocations that wait although enough columns are free, since only an assumption separates these."""
    waits = [fragment for fragment in machine.fragments if fragment.awaits(Awaited.COLUMNS)]
    return [place for fragment in waits if machine.notes.apart.get(place := machine.steps[fragment.pc].place)]


def _register_demand_text(machine: Machine, fragment: Fragment) -> str:
    """State that a warp waits forever for registers, with how many the CTA would need and how many it has."""
    pool, (cta, count) = machine.pools[fragment.cta], (fragment.blocked or Wait(Awaited.REGISTERS, (0, 0))).where
    waiting = [other for other in machine.fragments if other.cta == cta and other.blocked == fragment.blocked]
    total = (sum(pool.held.values()) + sum(count - pool.held[other.warp] for other in waiting)) * WARP
    launched = f"it is launched with {pool.total} ({pool.at_launch} per thread)"
    return f"this wait for {count} registers per thread never completes: the CTA would need {total}, and {launched}"


def _may_be_given_back(machine: Machine, cta: int, count: int) -> bool:
    """Check whether the registers would suffice if the launch gave them to whole groups of four warps."""
    pool = machine.pools[cta]
    waiting = [
        fragment
        for fragment in machine.fragments
        if fragment.cta == cta and fragment.blocked == Wait(Awaited.REGISTERS, (cta, count))
    ]
    available = pool.free + -pool.warps % 4 * pool.at_launch
    return bool(waiting) and available >= sum(count - pool.held[fragment.warp] for fragment in waiting)


def _last_event(machine: Machine, wait: Wait, iteration: int) -> tuple[int, int, int]:
    """Return the line of the last event on the awaited mbarrier, and the iterations of the wait and of the event."""
    code, touches = machine.program.function.code, machine.barriers.touches
    last = next(
        (n for n, touch in reversed([*enumerate(touches)])
         if wait == Wait(Awaited.MBARRIER, (touch.address,)) and operation_of(code[touch.place].opcode) != WAITS), None,
    )  # fmt: skip
    if last is None:
        return 0, iteration, 0
    rounds = sum(touch[:3] == touches[last][:3] for touch in touches[: last + 1])
    return code[touches[last].place].line, iteration, rounds


def _wait_text(machine: Machine, fragment: Fragment, wait: Wait) -> str:
    """State that a wait never completes, and the state of the awaited barrier; in a cluster, also which CTAs wait."""
    target, state = _awaited_text(machine, wait, fragment.cta)
    suffix = f" never completes{f': {state}' if state else ''}"
    if machine.ctas == 1:
        return f"this wait {target}{suffix}"
    others = {
        other.cta for other in machine.fragments
        if other.blocked is not None and not other.done and other.pc == fragment.pc and other.cta != fragment.cta
    }  # fmt: skip
    note = (
        f"; CTA{'s' * (len(others) > 1)} {ranges_text(sorted(others))} also wait{'s' * (len(others) == 1)} at this line"
    )
    return f"this wait of CTA {fragment.cta} {target}{suffix}{note if others else ''}"


def _awaited_text(machine: Machine, wait: Wait, cta: int) -> tuple[str, str]:
    """Return what a thread of a CTA waits for, with its preposition, and the state of that; "" where it has none."""
    if wait.awaited is Awaited.MBARRIER and (barrier := machine.barriers.find(wait.where[0])) is not None:
        place = address_text(barrier.address, machine.launch)
        own = place.removesuffix(f" of CTA {cta}")
        return f"on {'the' if own == place else 'its own'} mbarrier at {own}", _phase_text(barrier)
    if wait.awaited in (Awaited.BARRIER, Awaited.CLUSTER):
        rendezvous = machine.rendezvous[wait]
        name = f"barrier {wait.where[1]}" if wait.awaited is Awaited.BARRIER else "the barrier of the cluster"
        return f"on {name}", f"{rendezvous.came} of {machine.wanted(rendezvous)} threads arrived"
    return f"for {wait.awaited.value}", ""


def _phase_text(barrier: Mbarrier) -> str:
    parts = []
    if barrier.pending:
        parts.append(f"has {barrier.count - barrier.pending} of {barrier.count} arrivals")
    if barrier.missing > 0:
        parts.append(f"expects {barrier.missing} bytes that no copy brings")
    elif barrier.missing < 0 or (barrier.landings and not barrier.missing):
        parts.append(f"has {-barrier.missing or 'some'} bytes that nothing expects")
    return f"phase {barrier.phase} {' and '.join(parts) or 'has the other parity'}"


def _unwritten(machine: Machine) -> Iterator[Witness]:
    """Yield multiplications that read unwritten bytes, if some operand is written and no store or copy was skipped."""
    skipped = (_instruction(machine, index).opcode for index in machine.notes.skipped)
    if not machine.notes.filled or any(opcode.startswith(("st", "cp")) for opcode in skipped):
        return
    for index, (low, high) in machine.notes.unwritten.items():
        fact = f"this instruction reads {high - low} bytes from {address_text(low, machine.launch)} that nothing wrote"
        yield Witness("reuse-unwritten", index, fact)


def _uneven_register_changes(machine: Machine) -> Iterator[Witness]:
    """Yield the first change of a register count that not all warps of a warpgroup make."""
    counts = machine.register_counts
    for cta, warp in counts:
        for other in range(warp // 4 * 4, min(warp // 4 * 4 + 4, machine.warps)):
            changes, others = counts[cta, warp], counts.get((cta, other), [])
            if len(changes) > len(others) or [change[0] for change in changes] != [
                change[0] for change in others[: len(changes)]
            ]:
                pairs = zip(changes, [*others, *[(0, -1)] * len(changes)], strict=False)
                count, place = next(change for change, other_change in pairs if change[0] != other_change[0])
                fact = f"warp {warp} changes to {count} registers, and warp {other} of its warpgroup does not"
                yield Witness("barrier-registers-group", place, fact)
                return


def _accesses_after_exit(machine: Machine) -> Iterator[Witness]:
    """Yield accesses of a CTA's shared memory by other CTAs that no thread of it knows to be complete when it exits."""
    known = [0] * machine.ctas
    for fragment in machine.fragments:
        known[fragment.cta] |= fragment.known
    for (index, rank), bits in machine.notes.reaches.items():
        # An address beyond the cluster is not shared memory of any CTA that ran.
        if rank < machine.ctas and not all(machine.lanes.knows(bit, known[rank]) for bit in bits):
            yield Witness("barrier-exit", index, f"CTA {rank} may exit before this access of its shared memory")


def _leaks(machine: Machine) -> Iterator[Witness]:
    """Yield columns that are allocated at the end; if the kernel has no deallocation, the text check reports it."""
    code = machine.program.function.code
    frees = [index for index, instruction in enumerate(code) if instruction.opcode.startswith("tcgen05.dealloc")]
    if not frees or any(index in machine.notes.skipped for index in frees):
        return
    for place, low, high in sorted(
        {(tensor.places[str(low)], low, high) for tensor in machine.memory.tensor.values()
         for low, high in tensor.allocated}
    ):  # fmt: skip
        fact = f"columns {low} to {high - 1} are still allocated when the kernel exits"
        yield Witness("tcgen05-dealloc-missing", place, fact)


# -- unchecked items


def unchecked(run: Run) -> Iterator[Blind]:
    """Yield the parts of the kernel that a run could not check."""
    machine, stop = run
    if stop is not None:
        yield Blind(ALL, stop.line, stop.what, stop.why, stop.reason, decides=_smaller_parameters(run))
    if machine.hung:
        line = min(
            (_instruction(machine, witness.place).line for witness in hangs(machine)),
            default=machine.program.function.line,
        )
        yield Blind(("bytes", "proxies", "reuse"), line, AFTER, "this wait never completes")
    for index in _fragmented_allocations(machine)[:1]:
        why = "enough columns are free, but not adjacent if each earlier allocation got the first free ones"
        yield Blind(("barriers",), _instruction(machine, index).line, "the columns of an allocation", why)
    yield from _undecided_registers(machine)
    yield from _skipped(machine)
    yield from _doubts(run)
    yield from _unknown_boxes(machine)


def _undecided_registers(machine: Machine) -> Iterator[Blind]:
    """Yield changes of registers for which it is unknown whether the pool has enough."""
    for index, why in machine.notes.unpooled.items():
        yield Blind(("barriers",), _instruction(machine, index).line, "the registers of setmaxnreg", why)
    for fragment in machine.fragments if machine.hung else ():
        wait = fragment.blocked if fragment.awaits(Awaited.REGISTERS) else None
        if wait is not None and _may_be_given_back(machine, fragment.cta, wait.where[1]):
            why = "they suffice only if the launch gives registers to whole warpgroups"
            yield Blind(("barriers",), machine.steps[fragment.pc].instruction.line, "the registers of setmaxnreg", why)
            return


def _smaller_parameters(run: Run) -> str:
    """Name the scalar parameters that a run read which did not end; "" for other runs."""
    if not run.endless:
        return ""
    names = [parameter_text(key) for key in run.machine.notes.scalars][:_NAMED]
    options = " ".join(f"--param {name}=N" for name in names if len(name) <= NAME_LETTERS)
    return f"smaller scalar parameters: {options}" if options else ""


def _skipped(machine: Machine) -> Iterator[Blind]:
    """Yield instructions that were skipped or not followed."""
    for index, why in machine.notes.unseen.items():
        instruction = _instruction(machine, index)
        yield Blind(("tensor memory",), instruction.line, _opcode_stem(instruction), why)
    for index, why in machine.notes.disputed.items():
        yield Blind(("tensor memory",), _instruction(machine, index).line, LANES, why)
    if machine.notes.unwritten and not machine.notes.filled:
        line = _instruction(machine, min(machine.notes.unwritten)).line
        yield Blind(("reuse",), line, *UNFILLED)
    for index, why in machine.notes.skipped.items():
        instruction = _instruction(machine, index)
        of_tensor = instruction.opcode.startswith(("tcgen05.ld", "tcgen05.st", "tcgen05.dealloc"))
        yield Blind(
            ("tensor memory",) if of_tensor else ("proxies", "reuse"), instruction.line, _opcode_stem(instruction), why
        )


def unchecked_fragments(function: Function, looked_at: Mapping[int, str]) -> Iterator[Blind]:
    """Yield an entry for each reason why operands of ``mma.sync`` are undecided, with the number of instructions.

    Args:
        function: the kernel.
        looked_at: reason for each ``mma.sync``, "" if it is decided; those that no run reached are absent.
    """
    places_by_reason: dict[str, list[int]] = {}
    for index in function.having("mma."):
        if why := looked_at.get(index, "no run reaches them"):
            places_by_reason.setdefault(why, []).append(index)
    for why, places in places_by_reason.items():
        yield Blind(("fragments",), function.code[places[0]].line, f"the operands of {len(places)} mma.sync", why)


_UNAWAITED = "a bulk load that nothing waits for before its CTA exits"
_UNAWAITED_WHY = "no thread of the CTA waits for the phase of its mbarrier"
_UNREAD = "a bulk store without a wait before its CTA exits"
_UNREAD_WHY = "no cp.async.bulk.wait_group waits until it has read shared memory"


def _doubts(run: Run) -> Iterator[Blind]:
    """Yield violations that depend on something that a run does not know."""
    machine = run.machine
    for index, (subject, why) in machine.notes.doubts.items():
        yield Blind(("reuse",), _instruction(machine, index).line, subject, why)
    for index, (subject, why) in machine.notes.unordered.items() if not machine.hung else ():
        yield Blind(("barriers",), _instruction(machine, index).line, subject, why)
    # Lanes that met share their groups: a group is complete if the lane that waited for it knows so.
    pending = waited = 0
    known = [0] * machine.ctas
    at_end = run.stop is None and not machine.hung
    for fragment in machine.fragments if at_end else ():
        pending |= fragment.groups.all("bulk")
        waited |= fragment.known
        known[fragment.cta] |= fragment.known
    for index, bits in machine.notes.bulk_stores.items():
        if bits & pending & ~waited:  # kernels in use omit the wait
            yield Blind(("reuse",), _instruction(machine, index).line, _UNREAD, _UNREAD_WHY)
    for (index, rank), bits in machine.notes.loads.items() if at_end else ():
        if rank < machine.ctas and bits & ~known[rank]:
            values = _parameters_text(machine)
            why = f"{_UNAWAITED_WHY}{f' ({values})' if values else ''}"
            yield Blind(("reuse",), _instruction(machine, index).line, _UNAWAITED, why)
    for witness in _witnesses(run) if machine.launch.content and not machine.hung else ():
        if witness.rule in (
            "barrier-hang",
            "barrier-init",
            "barrier-init-again",
        ):  # other data may be what the kernel is for
            continue
        line = _instruction(machine, witness.place).line
        why = f"{witness.fact}, if integers in global memory are multiples of {machine.launch.size}"
        yield Blind(PROPERTIES_OF[witness.rule.partition("-")[0]], line, f"{witness.rule} with assumed data", why)


def _unknown_boxes(machine: Machine) -> Iterator[Blind]:
    """Yield tensor copies whose boxes have a size that the text does not give."""
    for index, name, place in machine.notes.copies:
        if name in machine.launch.boxes:
            instruction = _instruction(machine, index)
            if why := row_mismatch(machine, instruction, name, place) or type_mismatch(machine, name, place):
                yield Blind(
                    ("bytes",), instruction.line, BOX, why, decides=suggestion(machine, instruction, name, place)
                )
            continue
        size = machine.launch.bytes_of(name)
        why = "its size is not in the file, because its tensor map is not in the file"
        if size:
            why += f"; {size} bytes would match the barriers and the MMA operands"
        else:
            why += "; the barriers and the MMA operands do not determine it"
        instruction, properties = (
            _instruction(machine, index),
            ("bytes",) if size else ("barriers", "bytes", "proxies", "reuse"),
        )
        yield Blind(properties, instruction.line, BOX, why, decides=suggestion(machine, instruction, name, place))


def _instruction(machine: Machine, index: int) -> Instruction:
    return machine.program.function.code[index]


def _opcode_stem(instruction: Instruction) -> str:
    return ".".join(instruction.opcode.split(".")[:2])
