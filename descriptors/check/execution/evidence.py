"""What one run says of a kernel: what is wrong, and what it did not see.

Something is wrong only if it is so whatever the run does not know: bytes that nobody wrote may be those of a copy whose
box is not known, and columns that nothing wrote those of an instruction that was not followed.
Source: the rules of ``check/rules``; what is not decided is ours.

Law: a wait that nothing ends is found with what it waits for, and what comes after it is not seen.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; setp.eq.u32 p, a, 0; @p bra L; barrier.sync 1, 64; L: ret;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
>>> one = run(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch)
>>> [(row.rule, row.found) for row in witnesses(one)], [row.what for row in blind(one)]
([('barrier-hang', 'found barrier 1 with 31 of 64 threads')], ['what comes after'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from descriptors.check.execution.boxes import NAME_LETTERS, other_rows, suggestion
from descriptors.check.execution.configuration import parameter_text
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.launch import WARP, place_name
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Mbarrier
from descriptors.check.execution.outcomes import PROPERTIES_OF, Reason, Witness
from descriptors.check.execution.rings import WAITS, operation_of
from descriptors.check.execution.runs import Run
from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.text import ranges_text, some_texts

#: The properties that a run decides whatever families of instructions a kernel has.
ALL = ("barriers", "bytes", "proxies", "reuse")
#: What is not decided of a multiplication whose operands nothing writes, and why.
UNFILLED = "what the operands hold", "nothing in the text fills an operand"
#: What the box of a tensor copy is called.
BOX = "the box of a tensor copy"
#: Rules that a copy of unknown bytes may be the answer to.
_OF_COPIES = {"proxy-fence", "proxy-fence-copy", "reuse-unwritten"}
#: Rules that an instruction of the tensor core may be the answer to which was not followed.
_OF_TENSOR_MEMORY = {"tcgen05-unwritten"}


#: So many parameters are named that make a run shorter.
_NAMED = 3


class Blind(NamedTuple):
    """Something that a run could not look at.

    Args:
        properties: what is not decided by it.
        line: of the instruction.
        what: what it is.
        why: where its value comes from.
        reason: of the stop that it comes from; None where the run went on.
        decides: what would decide it; "" where the table of ``run_report`` says it, or nothing does.
    """

    properties: tuple[str, ...]
    line: int
    what: str
    why: str
    reason: Reason | None = None
    decides: str = ""


# -- what is wrong


def witnesses(one: Run) -> Iterator[Witness]:
    """What is wrong whatever a run does not know; nothing where the run rests on integers that were assumed."""
    return iter(()) if one.machine.launch.content else _witnesses(one)


def _witnesses(one: Run) -> Iterator[Witness]:
    machine = one.machine
    unsure = set(_OF_TENSOR_MEMORY if machine.notes.tensor_unknown else ())
    if any(machine.launch.bytes_of(name) is None for _, name, _ in machine.notes.copies):
        unsure |= _OF_COPIES
    # Lanes go on without others where nobody else can; where that did not help, they never came there.
    left_out = machine.notes.of_released if machine.hung else ()
    found = [row for key, row in machine.notes.wrong.items() if key not in left_out]
    if one.stop is None:
        found += (
            hangs(machine)
            if machine.hung
            else [*_unwritten(machine), *_leaks(machine), *_outlived(machine), *_apart(machine)]
        )
    return (_with_run(machine, one.stop is None, row) for row in found if row.rule not in unsure)


def _with_run(machine: Machine, ended: bool, one: Witness) -> Witness:
    """A witness with the count of rounds of its run, and what brought it about."""
    rounds = max((held.times.get(one.place, 0) for held in machine.fragments), default=0)
    known = ended and not machine.hung and one.round
    return one._replace(rounds=rounds if known else 0, parameters=_parameters(machine))


def _parameters(machine: Machine) -> str:
    """The scalar parameters that a run read: the odd ones by name, and what the others are."""
    held = machine.notes.scalars
    common, many = Counter(held.values()).most_common(1)[0] if held else (0, 0)
    if many == len(held) > 1:
        return f"scalar parameters {common}"
    odd = {key: value for key, value in held.items() if value != common or many < 2}
    named = [f"{parameter_text(key)} = {value}" for key, value in odd.items()]
    return ", ".join([*named, *([f"others {common}"] if many > 1 else [])])


def hangs(machine: Machine) -> Iterator[Witness]:
    """Yield the wait that never ends of the thread that came least far, with the other waits that do not end either.

    The other threads may wait for this one, so that they are named beside it. Threads that wait for registers are
    yielded each.
    """
    if _allocations_apart(machine):  # all others may wait for these
        return
    told: set[int] = set()
    waiting = [one for one in machine.fragments if not one.done and one.blocked is not None]
    # Who waits for registers may be whom all others wait for.
    first = [one for one in waiting if one.blocked is not None and one.blocked.awaited is Awaited.REGISTERS]
    stuck = first or [one for one in waiting if not one.released] or waiting
    waits: list[Witness] = []
    for one in sorted(stuck, key=lambda one: one.times.get(machine.steps[one.pc].place, 0)):
        if one.blocked is None:
            continue
        place = machine.steps[one.pc].place
        if place not in told:
            told.add(place)
            made = one.times.get(place, 0) + 1
            found = f"found {_waiting(machine, one, one.blocked)}"
            if one.blocked.awaited is Awaited.REGISTERS:
                if not _may_be_given_back(machine, one.cta, one.blocked.where[1]):
                    yield Witness("barrier-registers", place, f"found {_wanted_registers(machine, one)}", 0, made)
                continue
            waits.append(Witness("barrier-hang", place, found, *_last(machine, one.blocked, made)))
    if waits:
        yield waits[0]._replace(found=waits[0].found + _other_waits(machine, waits[1:]))


def _other_waits(machine: Machine, others: Sequence[Witness]) -> str:
    """Return what else waits forever where one wait does not end, in words; "" if nothing does."""
    waits = [f"line {_code(machine, one.place).line} also waits: {one.found.removeprefix('found ')}" for one in others]
    return "".join(f"; {wait}" for wait in some_texts(waits, 4))


def _allocations_apart(machine: Machine) -> list[int]:
    """Return the allocations that wait although enough columns are free: that these lie apart is an assumption."""
    waits = [one for one in machine.fragments if one.blocked is not None and one.blocked.awaited is Awaited.COLUMNS]
    return [place for one in waits if machine.notes.apart.get(place := machine.steps[one.pc].place)]


def _wanted_registers(machine: Machine, one: Fragment) -> str:
    """What a warp waits for that asks for registers, and who has them."""
    pool, (cta, count) = machine.pools[one.cta], (one.blocked or Wait(Awaited.REGISTERS, (0, 0))).where
    asked = [held for held in machine.fragments if held.cta == cta and held.blocked == one.blocked]
    total = (sum(pool.held.values()) + sum(count - pool.held[held.warp] for held in asked)) * WARP
    made = f"{total} registers in the CTA, which is launched with {pool.total} ({pool.at_launch} per thread)"
    return f".inc to {count} per thread, which makes {made}"


def _may_be_given_back(machine: Machine, cta: int, count: int) -> bool:
    """Whether the registers would suffice if the launch gave them to whole groups of four warps."""
    pool = machine.pools[cta]
    asked = [
        one for one in machine.fragments if one.cta == cta and one.blocked == Wait(Awaited.REGISTERS, (cta, count))
    ]
    most = pool.free + -pool.warps % 4 * pool.at_launch
    return bool(asked) and most >= sum(count - pool.held[one.warp] for one in asked)


def _last(machine: Machine, wait: Wait, made: int) -> tuple[int, int, int]:
    """Of an mbarrier that is waited for: the line that told it something last, the round of the wait, and of that."""
    code, touches = machine.program.function.code, machine.barriers.touches
    last = next(
        (n for n, one in reversed([*enumerate(touches)])
         if wait == Wait(Awaited.MBARRIER, (one.address,)) and operation_of(code[one.place].opcode) != WAITS), None,
    )  # fmt: skip
    if last is None:
        return 0, made, 0
    rounds = sum(one[:3] == touches[last][:3] for one in touches[: last + 1])
    return code[touches[last].place].line, made, rounds


def _waiting(machine: Machine, one: Fragment, wait: Wait) -> str:
    """Return what threads wait for; of a cluster also which CTA they are in, and which others wait there."""
    if machine.ctas == 1:
        return _awaited(machine, wait)
    others = {
        held.cta for held in machine.fragments
        if held.blocked is not None and not held.done and held.pc == one.pc and held.cta != one.cta
    }  # fmt: skip
    too = f"; CTA{'s' * (len(others) > 1)} {ranges_text(sorted(others))} also" if others else ""
    verb = f" wait{'s' * (len(others) == 1)} at this line" if others else ""
    awaited = _awaited(machine, wait).replace(f" of CTA {one.cta},", " of its own,", 1)
    return f"that CTA {one.cta} waits for {awaited}{too}{verb}"


def _awaited(machine: Machine, wait: Wait) -> str:
    if wait.awaited is Awaited.MBARRIER and (barrier := machine.barriers.at(wait.where[0])) is not None:
        return f"{place_name(barrier.address, machine.launch)}, {_state(barrier)}"
    if wait.awaited is Awaited.BARRIER:
        held, (_, number) = machine.rendezvous[wait], wait.where
        return f"barrier {number} with {held.came} of {machine.wanted(held)} threads"
    if wait.awaited is Awaited.CLUSTER:
        held = machine.rendezvous[wait]
        return f"the barrier of the cluster, at which {held.came} of {machine.wanted(held)} threads arrived"
    return f"{wait.awaited.value} that never come"


def _state(barrier: Mbarrier) -> str:
    parts = []
    if barrier.pending:
        parts.append(f"{barrier.count - barrier.pending} of {barrier.count} arrivals")
    if barrier.missing > 0:
        parts.append(f"{barrier.missing} bytes that no copy brings")
    elif barrier.missing < 0 or (barrier.landings and not barrier.missing):
        parts.append(f"{-barrier.missing or 'some'} bytes that nothing expects")
    return f"in phase {barrier.phase} with {', '.join(parts) or 'the other parity'}"


def _unwritten(machine: Machine) -> Iterator[Witness]:
    """Multiplications of bytes that nothing wrote, where something writes operands and nothing was passed over."""
    skipped = (_code(machine, index).opcode for index in machine.notes.skipped)
    if not machine.notes.filled or any(opcode.startswith(("st", "cp")) for opcode in skipped):
        return
    for index, (low, high) in machine.notes.unwritten.items():
        found = f"found {high - low} bytes from {place_name(low, machine.launch)} that nothing wrote"
        yield Witness("reuse-unwritten", index, found)


def _apart(machine: Machine) -> Iterator[Witness]:
    """Changes of registers that not all warps of a warpgroup make."""
    counts = machine.register_counts
    for cta, warp in counts:
        for other in range(warp // 4 * 4, min(warp // 4 * 4 + 4, machine.warps)):
            made, others = counts[cta, warp], counts.get((cta, other), [])
            if len(made) > len(others) or [one[0] for one in made] != [one[0] for one in others[: len(made)]]:
                pairs = zip(made, [*others, *[(0, -1)] * len(made)], strict=False)
                count, place = next(one for one, beside in pairs if one[0] != beside[0])
                found = f"found warp {warp} that changes to {count}, and warp {other} of its warpgroup that does not"
                yield Witness("barrier-registers-group", place, found)
                return


def _outlived(machine: Machine) -> Iterator[Witness]:
    """Accesses of a CTA's shared memory by others that none of its threads knows of when it ends."""
    known = [0] * machine.ctas
    for one in machine.fragments:
        known[one.cta] |= one.known
    for (index, rank), bits in machine.notes.reaches.items():
        # An address beyond the cluster is not shared memory of any CTA that ran.
        if rank < machine.ctas and not all(machine.lanes.knows(bit, known[rank]) for bit in bits):
            yield Witness(
                "barrier-exit", index, f"found that CTA {rank} may end before this access of its shared memory"
            )


def _leaks(machine: Machine) -> Iterator[Witness]:
    """Columns that are held at the end; where nothing is freed anywhere, reading alone tells it."""
    code = machine.program.function.code
    frees = [index for index, one in enumerate(code) if one.opcode.startswith("tcgen05.dealloc")]
    if not frees or any(index in machine.notes.skipped for index in frees):
        return
    for place, low, high in sorted(
        {(tensor.places[str(low)], low, high) for tensor in machine.memory.tensor.values()
         for low, high in tensor.allocated}
    ):  # fmt: skip
        yield Witness("tcgen05-dealloc-missing", place, f"found columns {low} to {high - 1} held at the end")


# -- what is not seen


def blind(one: Run) -> Iterator[Blind]:
    """What a run could not look at."""
    machine, stop = one
    if stop is not None:
        yield Blind(ALL, stop.line, stop.what, stop.why, stop.reason, decides=_smaller(one))
    if machine.hung:
        line = min((_code(machine, held.place).line for held in hangs(machine)), default=machine.program.function.line)
        yield Blind(("bytes", "proxies", "reuse"), line, "what comes after", "a wait that never ends")
    for index in _allocations_apart(machine)[:1]:
        why = "enough columns are free, but apart if each earlier allocation took the first free ones"
        yield Blind(("barriers",), _code(machine, index).line, "the columns of an allocation", why)
    yield from _registers(machine)
    yield from _passed(machine)
    yield from _doubts(one)
    yield from _boxes(machine)


def _registers(machine: Machine) -> Iterator[Blind]:
    """Changes of registers of which it is not known whether the pool has as many."""
    for index, why in machine.notes.unpooled.items():
        yield Blind(("barriers",), _code(machine, index).line, "the registers of setmaxnreg", why)
    for one in machine.fragments if machine.hung else ():
        waits = one.blocked is not None and one.blocked.awaited is Awaited.REGISTERS
        if waits and one.blocked is not None and _may_be_given_back(machine, one.cta, one.blocked.where[1]):
            why = "enough only if the launch gives registers to whole warpgroups"
            yield Blind(("barriers",), machine.steps[one.pc].instruction.line, "the registers of setmaxnreg", why)
            return


def _smaller(one: Run) -> str:
    """Name the scalar parameters that a run read which was given up; "" for other runs."""
    if not one.endless:
        return ""
    names = [parameter_text(key) for key in one.machine.notes.scalars][:_NAMED]
    options = " ".join(f"--param {name}=N" for name in names if len(name) <= NAME_LETTERS)
    return f"smaller scalar parameters: {options}" if options else ""


def _passed(machine: Machine) -> Iterator[Blind]:
    """Instructions that were passed over, or not followed."""
    for index, why in machine.notes.unseen.items():
        held = _code(machine, index)
        yield Blind(("tensor memory",), held.line, _stem(held), why)
    if machine.notes.unwritten and not machine.notes.filled:
        line = _code(machine, min(machine.notes.unwritten)).line
        yield Blind(("reuse",), line, *UNFILLED)
    for index, why in machine.notes.skipped.items():
        held = _code(machine, index)
        of_tensor = held.opcode.startswith(("tcgen05.ld", "tcgen05.st", "tcgen05.dealloc"))
        yield Blind(("tensor memory",) if of_tensor else ("proxies", "reuse"), held.line, _stem(held), why)


def fragments(function: Function, looked_at: Mapping[int, str]) -> Iterator[Blind]:
    """Of the ``mma.sync`` whose operands were not decided the first of each reason, with how many it has.

    Args:
        function: the kernel.
        looked_at: what of each was not decided in any run, "" for nothing; those to which no run came are not there.
    """
    rows: dict[str, list[int]] = {}
    for index in function.having("mma."):
        if why := looked_at.get(index, "no run comes to them"):
            rows.setdefault(why, []).append(index)
    for why, places in rows.items():
        yield Blind(("fragments",), function.code[places[0]].line, f"the operands of {len(places)} mma.sync", why)


_UNREAD = "a bulk store that nothing waits for before its CTA ends"
_UNREAD_WHY = "no cp.async.bulk.wait_group says that it has read shared memory by then"


def _doubts(one: Run) -> Iterator[Blind]:
    """What is wrong if something is so that a run does not know."""
    machine = one.machine
    for index, (what, why) in machine.notes.doubts.items():
        yield Blind(("reuse",), _code(machine, index).line, what, why)
    for index, why in machine.notes.unordered.items() if not machine.hung else ():
        yield Blind(("barriers",), _code(machine, index).line, "the phase of an arrival", why)
    # Where lanes met, each has the groups of all: a group is done if the lane that waited for it knows so.
    pending = waited = 0
    for held in machine.fragments if one.stop is None and not machine.hung else ():
        pending |= held.groups.all("bulk")
        waited |= held.known
    for index, bits in machine.notes.bulk_stores.items():
        if bits & pending & ~waited:  # kernels in use leave the wait out
            yield Blind(("reuse",), _code(machine, index).line, _UNREAD, _UNREAD_WHY)
    for row in _witnesses(one) if machine.launch.content and not machine.hung else ():
        if row.rule in (
            "barrier-hang",
            "barrier-init",
            "barrier-init-again",
        ):  # other data may be what the kernel is for
            continue
        line = _code(machine, row.place).line
        other = f", line {row.other}" if row.other else ""
        why = f"{row.found}{other}, if integers in global memory are multiples of {machine.launch.size}"
        yield Blind(PROPERTIES_OF[row.rule.partition("-")[0]], line, f"{row.rule} with assumed data", why)


def _boxes(machine: Machine) -> Iterator[Blind]:
    """Tensor copies, of whose boxes the text does not say the bytes."""
    for index, name, place in machine.notes.copies:
        if name in machine.launch.boxes:
            if why := other_rows(machine, _code(machine, index), name, place):
                made = _code(machine, index)
                yield Blind(("bytes",), made.line, BOX, why, decides=suggestion(machine, made, name, place))
            continue
        size = machine.launch.bytes_of(name)
        why = "its tensor map is a parameter"
        if size:
            why += f"; what is expected and read is consistent with {size} bytes"
        else:
            why += "; what is expected and read does not determine its bytes"
        made, properties = _code(machine, index), ("bytes",) if size else ("barriers", "bytes", "proxies", "reuse")
        yield Blind(properties, made.line, BOX, why, decides=suggestion(machine, made, name, place))


def _code(machine: Machine, index: int) -> Instruction:
    return machine.program.function.code[index]


def _stem(one: Instruction) -> str:
    return ".".join(one.opcode.split(".")[:2])
