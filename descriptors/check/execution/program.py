r"""Prepare a kernel for execution: keep the instructions that decide its events, and find where branches reconverge.

The events of a kernel are its barriers, copies and multiplications. They depend on their operands, on the branches, and
on all instructions that these are computed from. The arithmetic on data, nine tenths of a kernel, is left out.

Source: slices as defined by Weiser (1981); a branch reconverges at its nearest post-dominator.

Invariant: exactly the instructions that no event depends on are left out.

>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; add.f32 x, y, z; setp.eq.u32 p, a, 0; @p mbarrier.init.shared.b64 [b], 1; ret;"
>>> kernel = program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0])
>>> [step.instruction.opcode for step in kernel.steps]
['mov.u32', 'setp.eq.u32', 'mbarrier.init.shared.b64', 'ret']
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from descriptors.check.execution.loops import Loop, back_edges, inner_targets, nested_loops
from descriptors.check.ptx.control_flow import Block, blocks, postdominators
from descriptors.check.ptx.ptx_module import Function, Instruction, targets
from descriptors.check.ptx.ptx_operands import Operand, names
from descriptors.errors import DescriptorError
from descriptors.targets import ARCHITECTURES, architecture

#: Instructions that are events: they wait, or move data that other threads can see.
EVENTS = (
    "mbarrier.",
    "bar.",
    "barrier.",
    "cp.async",
    "cp.reduce",
    "wgmma.",
    "tcgen05.",
    "fence.",
    "elect.",
    "ldmatrix",
    "stmatrix",
    "st.shared",
    "red.async",
    "st.async",
    "multimem",
    "clusterlaunchcontrol.try_cancel",
    "call",
    "trap",
    "membar",
    "griddepcontrol",
    "tensormap.",
    "mma.",
    "setmaxnreg.",
)
#: Events that a branch on unknown data may skip without an effect on barriers.
SOFT = (
    "st.shared",
    "ldmatrix",
    "stmatrix",
    "fence.",
    "membar",
    "tcgen05.wait",
    "tcgen05.fence",
    "call",
    "trap",
    "tensormap.",
    "prefetch",
    "mma.",
)
_IGNORED = (
    "tcgen05.relinquish",
    "cp.async.bulk.prefetch",
    "cp.async.bulk.prefetch.tensor",
    "griddepcontrol",
    "tensormap.",
    "fence.proxy.tensormap",
    "fence.proxy.alias",
)
_CONTROL = ("bra", "brx", "ret", "exit")
#: Largest number of blocks in regions that are kept, and of bits for the registers that are live in blocks.
MOST_BETWEEN, MOST_LIVE = 1 << 20, 1 << 29


class Step(NamedTuple):
    """An instruction that is executed.

    Args:
        place: index of the instruction in its function.
        instruction: the instruction.
        block: number of the block that contains it.
    """

    place: int
    instruction: Instruction
    block: int


class Region(NamedTuple):
    """The blocks between a branch and its reconvergence point: the registers that they write, and their events.

    Hard events are needed for the barriers; a branch on unknown data may skip soft events (``SOFT``).
    """

    written: frozenset[str]
    hard: tuple[int, ...]
    soft: tuple[int, ...]


_PARAMETER = re.compile(r"\.param\b[^,()]*?([\w$]+)\s*(?:\[\d*\])?\s*(?=[,)])")


def parameter_names(function: Function) -> tuple[str, ...]:
    r"""Return the names of the parameters of a function, in order.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> head = ".entry k(.param .u64 a, .param .align 64 .b8 map[128], .param .u32 k)"
    >>> parameter_names(parse(f".version 8.8\n{head} {{ ret; }}").functions[0])
    ('a', 'map', 'k')
    """
    return tuple(_PARAMETER.findall(function.head))


class Program:
    """A function that is ready for execution.

    Args:
        function: the function.
        target: the ``.target`` of its module; "" if any target is possible.
    """

    def __init__(self, function: Function, target: str = "") -> None:
        self.function, self.target = function, target
        self.graph = blocks(function)
        self.uses = _first_uses(function)
        self._blocks = {
            self.function.code[index].line: number
            for number, block in enumerate(self.graph)
            for index in range(block.start, block.end)
        }
        self._nearest = postdominators([self._with_fall_through(number) for number in range(len(self.graph))])
        self._regions: dict[int, Region] = {}
        self.carries, self.followed = _find_carried(function)
        needed = self._find_needed() | self.carries | _find_accumulator_writers(function)
        self.steps: list[Step] = []
        self.behind_sync: set[int] = set()  # steps before which lanes met in an instruction that is no step
        self.first: list[int] = []
        for number, block in enumerate(self.graph):
            self.first.append(len(self.steps))
            self._add_steps(block, number, needed)
        self.names = parameter_names(function)
        self.parameters = {name: number for number, name in enumerate(self.names)}
        self._starts = {block.start: number for number, block in enumerate(self.graph)}
        self._names, self._live = self._registers_live()
        self._sets: tuple[int, frozenset[str]] = (-1, frozenset())  # the last result of ``live``

    @cached_property
    def shared_bytes(self) -> int:
        """The largest number of bytes of shared memory of a CTA, on the target or on any architecture."""
        try:
            return architecture(self.target).shared
        except DescriptorError:
            return max(row.shared for row in ARCHITECTURES)

    @cached_property
    def loops(self) -> list[Loop]:
        """The loops of the function, outer loops first."""
        return nested_loops(self.graph)

    @cached_property
    def back_edges(self) -> dict[int, int]:
        """The blocks that are targets of backward branches, each with the number of its loop."""
        return back_edges(self.graph, self.loops)

    @cached_property
    def inner(self) -> dict[int, tuple[int, ...]]:
        """The targets of the loops inside the loop of each target of a backward branch."""
        return inner_targets(self.back_edges, self.loops)

    def up_to(self, block: int, branch: int) -> Iterator[int]:
        """Yield a block and the blocks that always follow it, up to where the paths from a branch reconverge."""
        while block < len(self.graph) and block != self._nearest[branch]:
            yield block
            block = self._nearest[block]

    def block_at(self, label: str) -> int:
        """Return the block at a label; -1 if no instruction follows the label."""
        return self._starts.get(self.function.labels[label], -1)

    def _add_steps(self, block: Block, number: int, needed: set[int]) -> None:
        """Add the steps of a block.

        An instruction with ``.sync`` that is left out is noted for the next step, or becomes the last step of the
        block.
        """
        code, met = self.function.code, -1
        for index in range(block.start, block.end):
            if index in needed:
                if met >= 0:
                    self.behind_sync.add(len(self.steps))
                self.steps.append(Step(index, code[index], number))
                met = -1
            elif "sync" in code[index].qualifiers:
                met = index
        if met >= 0:
            self.steps.append(Step(met, code[met], number))

    def block_of(self, line: int) -> int:
        """Return the block of the last instruction in a line."""
        return self._blocks[line]

    def _with_fall_through(self, number: int) -> Block:
        """Return a block; if it ends in a trap, with the next block as its successor.

        No thread reaches the next block from the trap.
        """
        block = self.graph[number]
        ends = not block.next and self.function.code[block.end - 1].opcode == "trap" and number + 1 < len(self.graph)
        return Block(block.start, block.end, (number + 1,)) if ends else block

    def step_at(self, label: str) -> int | None:
        """Return the step at a label; None if no instruction follows the label."""
        start = self.function.labels[label]
        return self.first[self._starts[start]] if start in self._starts else None

    def meeting(self, block: int) -> int | None:
        """Return the step where the paths from the end of a block reconverge; None if they do not."""
        nearest = self._nearest[block]
        return self.first[nearest] if nearest < len(self.graph) else None

    def live(self, step: int) -> frozenset[str] | None:
        """Return the registers that are read at or after a reconvergence step before they are written.

        None if the table would need too much memory; then all registers may be live.
        """
        bits = self._live.get(step)
        if bits is None:
            return None
        if self._sets[0] != step:
            registers = frozenset(self._names[n] for n in range(bits.bit_length()) if bits >> n & 1)
            self._sets = step, registers
        return self._sets[1]

    def _registers_live(self) -> tuple[list[str], dict[int, int]]:
        """Return the registers, and for each first step of a block those that are live, as bits."""
        steps_of_blocks: list[list[Step]] = [[] for _ in self.graph]
        for step in self.steps:
            steps_of_blocks[step.block].append(step)
        numbers: dict[str, int] = {}  # bit of each register in a set
        uses, defines = [0] * len(steps_of_blocks), [0] * len(steps_of_blocks)
        for number, steps in enumerate(steps_of_blocks):
            for step in steps:
                instruction = step.instruction
                written = _bits(targets(instruction), numbers)
                read = _bits(_live_reads(instruction), numbers)
                if instruction.predicate:  # a guarded instruction may leave its register as it was
                    read |= written
                uses[number] |= read & ~defines[number]
                defines[number] |= 0 if instruction.predicate else written
        if len(steps_of_blocks) * len(numbers) > MOST_LIVE:
            return [], {}
        live = _propagate_liveness(self.graph, uses, defines)
        live_at: dict[int, int] = {}
        for first, bits in zip(self.first, live, strict=True):
            live_at[first] = live_at.get(first, 0) | bits
        return list(numbers), live_at

    def _find_needed(self) -> set[int]:
        """Return the instructions that are executed: events, what they are computed from, and branches that skip one.

        A branch that skips no such instruction is not executed (``idle``).
        """
        code = self.function.code
        writers: dict[str, list[int]] = {}
        for index, instruction in enumerate(code):
            for name in targets(instruction):
                writers.setdefault(name, []).append(index)
        ends = {block.end - 1: number for number, block in enumerate(self.graph)}
        skippable: dict[int, set[int]] = {}
        budget = MOST_BETWEEN
        for index, instruction in enumerate(code):
            if (
                instruction.predicate
                and instruction.opcode.startswith("bra")
                and self._nearest[ends[index]] < len(self.graph)
            ):
                inner = self._blocks_between(ends[index], budget)
                if inner is None:  # a branch that skips too many blocks is executed
                    budget //= 2
                else:
                    skippable[index] = inner
                    budget -= len(inner)
        roots = [
            i
            for i, candidate in enumerate(code)
            if _is_relevant(candidate) or (_is_jump(candidate) and i not in skippable)
        ]
        roots += [i for i in self.carries if code[i].opcode.startswith("ld")]
        # The first use of a load is executed only as such, by the lanes that its guard selects. If it is an event, its
        # address is needed as well.
        roots += [i for use in self.uses for i in writers.get(code[use].predicate, ())]
        needed, registers = set(self.uses).difference(roots), set[str]()
        while roots:
            _add_sources(code, writers, roots, needed, registers)
            blocks_with_needed = {
                number
                for number, block in enumerate(self.graph)
                if not needed.isdisjoint(range(block.start, block.end))
            }
            roots = [index for index, inner in skippable.items() if not inner.isdisjoint(blocks_with_needed)]
            for index in roots:
                del skippable[index]
        self.idle = frozenset(skippable)
        return needed | self.idle

    def _blocks_between(self, block: int, most: int) -> set[int] | None:
        """Return the blocks between the end of a block and its reconvergence point; None if more than ``most``."""
        end, waiting, seen = self._nearest[block], list(self.graph[block].next), set[int]()
        while waiting:
            if len(seen) > most:
                return None
            number = waiting.pop()
            if number != end and number not in seen:
                seen.add(number)
                waiting += self.graph[number].next
        return seen

    def region(self, block: int) -> Region:
        """Return the region between the end of a block and its reconvergence point."""
        if block not in self._regions:
            self._regions[block] = self._region(block)
        return self._regions[block]

    def _region(self, block: int) -> Region:
        end, seen = self._nearest[block], self._blocks_between(block, len(self.graph)) or set()
        written: set[str] = set()
        hard: list[int] = []
        soft: list[int] = []
        for number in seen:
            for index in range(self.graph[number].start, self.graph[number].end):
                instruction = self.function.code[index]
                written.update(targets(instruction))
                if is_event(instruction):
                    (soft if instruction.opcode.startswith(SOFT) else hard).append(index)
        if end == len(self.graph) and any(not self.graph[n].next for n in seen):
            # A path ends the thread, so that not all threads reach the code after the region.
            hard += [self.graph[n].end - 1 for n in seen if not self.graph[n].next]
        return Region(frozenset(written), tuple(sorted(hard)), tuple(sorted(soft)))


def program(function: Function, target: str = "") -> Program:
    """Prepare a function for execution on a target; "" if any target is possible."""
    return Program(function, target)


def is_event(instruction: Instruction) -> bool:
    """Check whether an instruction is an event."""
    return instruction.opcode.startswith(EVENTS) and not instruction.opcode.startswith(_IGNORED)


def _bits(names: Iterable[str], numbers: dict[str, int]) -> int:
    """Return registers as the bits of an integer; a register that is new gets the next number."""
    bits = 0
    for name in names:
        bits |= 1 << numbers.setdefault(name, len(numbers))
    return bits


def _live_reads(instruction: Instruction) -> list[str]:
    """Return the registers that an instruction reads, without labels."""
    read = [instruction.predicate] if instruction.predicate else []
    if instruction.opcode.startswith(_CONTROL):
        return read + (_registers_of(instruction.operands[:1]) if instruction.opcode.startswith("brx") else [])
    return read + _registers_of(instruction.operands[bool(targets(instruction)) :])


def _propagate_liveness(graph: Sequence[Block], uses: Sequence[int], defines: Sequence[int]) -> list[int]:
    """Return the registers that are live at the beginning of each block, each set as the bits of an integer."""
    predecessors: list[list[int]] = [[] for _ in graph]
    for number, block in enumerate(graph):
        for follower in block.next:
            predecessors[follower].append(number)
    live, waiting, queued = [*uses], deque(range(len(graph) - 1, -1, -1)), set(range(len(graph)))
    while waiting:
        number = waiting.popleft()
        queued.discard(number)
        live_after = 0
        for follower in graph[number].next:
            live_after |= live[follower]
        live_before = uses[number] | live_after & ~defines[number]
        if live_before != live[number]:
            live[number] = live_before
            unqueued = [predecessor for predecessor in predecessors[number] if predecessor not in queued]
            waiting.extend(unqueued)
            queued.update(unqueued)
    return live


def _first_uses(function: Function) -> dict[int, list[int]]:
    """Return where the registers of each ``tcgen05.ld`` are first used in the text: by then the load is complete."""
    pending: dict[str, int] = {}
    uses: dict[int, list[int]] = {}
    for index, instruction in enumerate(function.code):
        written = targets(instruction)
        for name in _registers_of(instruction.operands[bool(written) :] if written else instruction.operands):
            if (load := pending.pop(name, None)) is not None:
                uses.setdefault(index, []).append(load)
                pending = {register: index for register, index in pending.items() if index != load}
        if instruction.opcode.startswith("tcgen05.ld"):
            pending.update(dict.fromkeys(written, index))
    return uses


def _is_jump(instruction: Instruction) -> bool:
    """Check whether an instruction decides where a thread continues, or ends it."""
    return instruction.opcode.startswith(_CONTROL)


def _is_relevant(instruction: Instruction) -> bool:
    """Check whether an instruction is an event or accesses memory that other threads can see."""
    name = instruction.opcode
    return (
        is_event(instruction)
        or name.startswith(("ld.shared", "atom.shared", "red.shared"))
        or (name.startswith("st.") and not name.startswith(("st.global", "st.param")))
    )


def _add_sources(
    code: Sequence[Instruction], writers: dict[str, list[int]], roots: list[int], needed: set[int], registers: set[str]
) -> None:
    """Add instructions, and all instructions that they are computed from, to the needed ones."""
    waiting = list(roots)
    while waiting:
        index = waiting.pop()
        if index in needed:
            continue
        needed.add(index)
        instruction = code[index]
        read = [instruction.predicate] if instruction.predicate else []
        if instruction.opcode.startswith("brx"):
            read += [name for operand in instruction.operands[:1] for name in names(operand)]
        elif not instruction.opcode.startswith(_CONTROL):
            read += _read_registers(instruction)
        for register in read:
            if register not in registers:
                registers.add(register)
                waiting += writers.get(register, ())


def _find_carried(function: Function) -> tuple[frozenset[int], frozenset[str]]:
    """Find the loads and moves that only carry bytes to operands of ``mma.sync`` or to stores into shared memory.

    Returns:
        the indices of these instructions, and their registers, which no other instruction writes.
    """
    code = function.code
    writers: dict[str, list[int]] = {}
    waiting = [name for index in function.having("mma.") for name in _registers_of(code[index].operands[1:])]
    for index, instruction in enumerate(code):
        for name in targets(instruction):
            writers.setdefault(name, []).append(index)
    waiting += [name for index in function.having("st.shared") for name in _registers_of(code[index].operands[1:])]
    carrying, seen, followed = set[int](), set[str](), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        makers = writers.get(name, [])
        if not makers or not all(_copies_bytes(code[index]) for index in makers):
            continue
        carrying.update(makers)
        followed.add(name)
        waiting += [
            name
            for index in makers
            if code[index].opcode.startswith("mov")
            for name in _registers_of(code[index].operands[1:])
        ]
    return frozenset(carrying), frozenset(followed)


def _find_accumulator_writers(function: Function) -> frozenset[int]:
    """Find the instructions other than ``mma.sync`` that write or move the first register of an accumulator.

    They decide which multiplications are of one accumulation. A load with a guard is left out, since an unknown guard
    would leave memory undecided.
    """
    code = function.code
    writers: dict[str, list[int]] = {}
    for index, instruction in enumerate(code):
        for name in targets(instruction):
            writers.setdefault(name, []).append(index)
    multiplications = function.having("mma.")
    waiting = [name for index in multiplications for name in _registers_of(code[index].operands[3:4])[:1]]
    found, seen = set[int](), set[str]()
    while waiting:
        if (name := waiting.pop()) in seen:
            continue
        seen.add(name)
        for index in set(writers.get(name, ())).difference(multiplications):
            instruction = code[index]
            if is_event(instruction) or (instruction.predicate and instruction.opcode.startswith(("ld", "call"))):
                continue
            found.add(index)
            if instruction.opcode.startswith("mov"):
                waiting += _registers_of(instruction.operands[1:])
    return frozenset(found)


def _copies_bytes(instruction: Instruction) -> bool:
    """Check whether an instruction brings bytes to registers unchanged."""
    name = instruction.opcode
    if name.startswith("mov."):
        return len(instruction.operands) == 2 and all(isinstance(operand, str) for operand in instruction.operands)
    return name.startswith(("ldmatrix", "ld.shared", "ld.global"))


_DATA = (".f16", ".bf16", ".f32", ".f64", ".v2", ".v4", ".v8", ".b128")


def _read_registers(instruction: Instruction) -> list[str]:
    """Return the registers that decide the effect of an instruction; for one that moves data, only the address."""
    name = instruction.opcode
    if name.startswith("wgmma.mma_async"):
        return [n for operand in instruction.operands[1:] if isinstance(operand, str) for n in names(operand)]
    if name.startswith(("stmatrix", "tcgen05.st")) or (name.startswith("st.shared") and any(t in name for t in _DATA)):
        return _registers_of(instruction.operands[:1])
    if name.startswith("tcgen05.ld"):
        return _registers_of(instruction.operands[-2:])
    if name.startswith("mma."):
        return _registers_of(instruction.operands[-3::2]) if "block_scale" in instruction.qualifiers else []
    written = targets(instruction)
    return _registers_of(instruction.operands[bool(written) :]) if written else _registers_of(instruction.operands)


def _registers_of(operands: tuple[Operand, ...]) -> list[str]:
    """Return the registers in operands."""
    return [name for operand in operands for name in names(operand)]
