"""Constants folded out of a function: what is known of the operands of the instructions that one asks about.

Only registers on which those depend are looked at. A register is what its last definition in the same basic block made
it; at the head of a block, what all its definitions agree on. A shared-memory variable is its name plus an offset, of
known alignment. What ``tcgen05.alloc`` writes and ``ld.shared`` reads back is an address of tensor memory, of which
only the bits of lane and column can be set. A *counter* is a register that counts up and starts again, as the stage of
a pipeline does: all its definitions are constants, or ``selp`` of a constant and of the register plus a constant, by a
comparison of that sum with a constant. Its values are enumerated.
Source: PTX ISA 9.1: integer arithmetic, logic and shift, data movement and conversion instructions, selp, setp; Tensor
Memory Addressing; the loops that compilers write.

Law: a constant that is folded is what the instructions compute.

>>> from descriptors.check.ptx_module import parse
>>> body = "mov.b32 %r1, 5; shl.b32 %r2, %r1, 4; or.b32 %r3, %r2, 3; cvt.u64.u32 %d, %r3; st.use %d;"
>>> function = parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]
>>> fold(function, {}, [4])[4]["%d"].constant(64)
83
>>> instructions = ("add.s32", "shr.u32", "xor.b32")
>>> [computed(Instruction(1, name, ()), [exactly(12), exactly(3)], 32).value for name in instructions]
[15, 1, 15]

Law: a counter has the values that the loop gives it, and no other.

>>> loop = "mov.u32 %s, 0; L: add.s32 %t, %s, 1; setp.gt.s32 %p, %t, 2; selp.b32 %s, 0, %t, %p; bra L;"
>>> counters(parse(f".version 8.8\\n.entry k() {{ {loop} }}").functions[0].code, {"%s": [0, 3], "%t": [1], "%p": [2]})
{'%s': (0, 1, 2)}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from descriptors.check.control_flow import Block, blocks
from descriptors.check.known_bits import (
    NOTHING,
    Known,
    add,
    both,
    differ,
    either,
    exactly,
    meet,
    modulo,
    narrow,
    shift_left,
    shift_right,
    subtract,
)
from descriptors.check.ptx_module import Function, Instruction
from descriptors.check.ptx_operands import Address, Operand, Vector, names
from descriptors.tmem.geometry import ADDRESS_MASK

#: What is known of the registers of an instruction, by its index.
Values = Mapping[int, Mapping[str, Known]]
#: Instructions that wait for an mbarrier.
WAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
_OBSERVED = ("mma", "cp", "commit", "alloc", "dealloc", "ld", "st")
#: A counter of more values is none.
MOST = 64

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def counters(code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The counters of a function, and the values of each.

    Args:
        code: the instructions.
        where: for each register that is looked at, the instructions that define it.
    """
    found = {}
    for name, places in where.items():
        made = [code[index] for index in places]
        if len(made) > 1 and any(one.opcode.startswith("selp") for one in made):
            values = _values(name, made, code, where)
            if values is not None:
                found[name] = values
    return found


def _values(
    name: str, made: list[Instruction], code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> tuple[int, ...] | None:
    starts: set[int] = set()
    steps: list[Callable[[int], int]] = []
    for one in made:
        if one.opcode.startswith("mov.") and len(one.operands) == 2 and not one.predicate:
            start = _constant(one.operands[1], code, where)
            if start is None:
                return None
            starts.add(start)
        elif one.opcode.startswith("selp") and (step := _step(name, one, code, where)) and not one.predicate:
            steps.append(step)
        else:
            return None
    waiting, seen = list(starts), set(starts)
    while waiting:
        value = waiting.pop()
        for after in (step(value) for step in steps):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(seen) > MOST:
            return None
    return tuple(sorted(seen)) if min(seen, default=-1) >= 0 else None


def _single(operand: Operand, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> Instruction | None:
    """The only instruction that defines a register."""
    places = where.get(operand, ()) if isinstance(operand, str) else ()
    return code[places[0]] if len(places) == 1 and not code[places[0]].predicate else None


def _constant(operand: Operand, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> int | None:
    for _ in range(8):
        if isinstance(operand, int):
            return operand
        made = _single(operand, code, where)
        if made is None or not made.opcode.startswith("mov.") or len(made.operands) != 2:
            return None
        operand = made.operands[1]
    return None


def _step(
    name: str, one: Instruction, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> Callable[[int], int] | None:
    """What a ``selp`` makes of the value before."""
    if len(one.operands) != 4:
        return None
    _, yes, no, predicate = one.operands
    test = _single(predicate, code, where)
    if test is None or not test.opcode.startswith("setp.") or len(test.operands) != 3:
        return None
    compare, bound = _COMPARE.get(test.qualifiers[1]), test.operands[2]
    sides = [_side(side, name, code, where) for side in (yes, no, test.operands[1])]
    if compare is None or not isinstance(bound, int) or None in sides or (".u" in test.opcode and bound < 0):
        return None
    first, second, tested = sides

    def step(value: int) -> int:
        assert first is not None and second is not None and tested is not None
        return first(value) if compare(tested(value), bound) else second(value)

    return step


def _side(
    side: Operand, name: str, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> Callable[[int], int] | None:
    """An operand as a function of the counter: a constant, or the counter plus one."""
    constant = _constant(side, code, where)
    if constant is not None:
        return lambda _: constant
    made = _single(side, code, where)
    if made is None or not made.opcode.startswith("add.") or len(made.operands) != 3:
        return None
    by = _constant(made.operands[2], code, where)
    return (lambda value: value + by) if made.operands[1] == name and by is not None else None


_LOGIC = {"and": both, "or": either, "xor": differ, "add": add, "sub": subtract}


def computed(one: Instruction, read: list[Known], bits: int) -> Known:
    """What an instruction makes of what is known of its operands; nothing where it is not one that is folded.

    Args:
        one: the instruction.
        read: what is known of its operands after the first.
        bits: its width.
    """
    name = one.opcode.partition(".")[0]
    wide = ".wide" in one.opcode
    if name in ("mov", "cvta"):
        return narrow(read[0], bits)
    if name == "cvt":
        return _converted(one, read[0])
    if name == "not":
        return differ(read[0], exactly(-1, bits), bits)
    if name == "selp":
        return meet(narrow(read[0], bits), narrow(read[1], bits)) if len(read) > 1 else NOTHING
    if name in _LOGIC and len(read) == 2:
        return _LOGIC[name](narrow(read[0], bits), narrow(read[1], bits), bits)
    by = read[1].constant(32) if len(read) > 1 else None
    if by is not None and name == "shl":
        return shift_left(read[0], by, bits)
    if by is not None and name == "shr" and (".s" not in one.opcode or _positive(read[0], bits)):
        return shift_right(narrow(read[0], bits), by, bits)
    if name == "bfe" and by is not None and len(read) > 2 and (length := read[2].constant(32)) is not None:
        return modulo(shift_right(read[0], by, bits), min(length, bits)) if ".u" in one.opcode else NOTHING
    if name in ("mul", "mad") and by is not None and (".lo" in one.opcode or wide):
        return _product(read, by, bits * (2 if wide else 1), name == "mad")
    return NOTHING


def _product(read: list[Known], by: int, bits: int, more: bool) -> Known:
    whole = read[0].constant(bits)
    if whole is not None:
        made = exactly(whole * by, bits)
    elif by & (by - 1) == 0 and by:
        made = shift_left(read[0], by.bit_length() - 1, bits)
    else:
        return NOTHING
    return add(made, read[2], bits) if more and len(read) > 2 else made


def _positive(one: Known, bits: int) -> bool:
    return bool(one.mask >> (bits - 1) & 1) and not one.value >> (bits - 1) & 1


def _converted(one: Instruction, read: Known) -> Known:
    """A conversion between integers; of what is signed only what is known to be positive."""
    kinds = one.qualifiers[1:]
    if len(kinds) != 2 or kinds[0][:1] not in "usb" or kinds[1][:1] not in "usb":
        return NOTHING
    source = int(kinds[1][1:]) if kinds[1][1:].isdigit() else 64
    if kinds[1][0] == "s" and not _positive(read, source):
        whole = read.constant(source)
        return NOTHING if whole is None else exactly(whole - (1 << source) if whole >> (source - 1) else whole)
    return narrow(narrow(read, source), int(kinds[0][1:]) if kinds[0][1:].isdigit() else 64)


#: Rounds over the definitions before what still changes is taken as not known.
ROUNDS = 12
#: Rounds after which what loses a bit in each is taken to lose all that are above it, as a register that counts does.
PATIENT = 3

_ALL, _HALF = (1 << 64) - 1, 1 << 31


def fold(
    function: Function, variables: Mapping[str, int], asked: Iterable[int], known: list[Block] | None = None
) -> dict[int, dict[str, Known]]:
    """What is known of the registers that some instructions read, at each of them.

    Args:
        function: the function.
        variables: variables of the module and their alignment in bytes.
        asked: indices of the instructions.
        known: its basic blocks, if they are at hand.
    """
    wanted = sorted(set(asked))
    needed, defining, where = _slice(function, wanted)
    folder = _Folder(function, {**variables, **function.variables}, needed)
    folder.rounds = {name: _one_of(values) for name, values in counters(function.code, where).items()}
    runs = _runs(blocks(function) if known is None else known, sorted({*defining, *wanted}))
    for round_ in range(ROUNDS):
        folder.changed = False
        for run in runs:
            folder.local = {}
            for index in run:
                folder.define(index, round_)
        if not folder.changed:
            break
    found: dict[int, dict[str, Known]] = {}
    marked = set(wanted)
    for run in runs:
        folder.local = {}
        for index in run:
            if index in marked:
                read = {name for operand in function.code[index].operands for name in names(operand)}
                found[index] = {name: folder.value(name) for name in read | {function.code[index].predicate} if name}
            folder.define(index)
    return found


def _one_of(values: tuple[int, ...]) -> Known:
    """What is known of a register that has one of these values."""
    made = exactly(values[0])
    for value in values[1:]:
        made = meet(made, exactly(value))
    return made


def _slice(function: Function, asked: list[int]) -> tuple[set[str], list[int], dict[str, list[int]]]:
    """The registers on which the instructions depend, the instructions that define them, and those of each register."""
    where: dict[str, list[int]] = {}
    for index, one in enumerate(function.code):
        for name in targets(one):
            where.setdefault(name, []).append(index)
    needed: set[str] = set()
    defining: set[int] = {i for i, one in enumerate(function.code) if one.opcode.startswith("tcgen05.alloc")}
    waiting = [n for i in {*asked, *defining} for n in _reads_all(function.code[i])]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        for index in where.get(name, ()):
            defining.add(index)
            if foldable(function.code[index]):
                waiting.extend(_reads_all(function.code[index]))
    return needed, sorted(defining), {name: where[name] for name in needed if name in where}


def _reads_all(one: Instruction) -> list[str]:
    return [name for operand in one.operands for name in names(operand)] + ([one.predicate] if one.predicate else [])


def targets(one: Instruction) -> tuple[str, ...]:
    """The registers that an instruction writes, by the rule that the first operand is the result."""
    if not one.operands or one.opcode.startswith(_NO_RESULT):
        return ()
    first = one.operands[0]
    return () if isinstance(first, Address | int) else names(first)


_NO_RESULT = (
    "st.", "red.", "bar", "bra", "brx", "ret", "exit", "wgmma", "fence", "membar", "prefetch", "cp.", "mbarrier.init",
    "mbarrier.inval", "tcgen05.st", "tcgen05.mma", "tcgen05.cp", "tcgen05.wait", "tcgen05.commit", "tcgen05.dealloc",
    "tcgen05.alloc", "tcgen05.shift", "tcgen05.fence", "tcgen05.relinquish", "stmatrix", "tensormap", "trap", "call",
    "setmaxnreg", "griddepcontrol", "nanosleep", "pmevent", "multimem.st", "multimem.red", "discard", "applypriority",
)  # fmt: skip


def foldable(one: Instruction) -> bool:
    """Whether the result of an instruction can be told from what is known of its operands."""
    name = one.opcode.partition(".")[0]
    return name in _FOLDED or one.opcode.startswith(("ld.shared", "shfl"))


_FOLDED = frozenset("mov and or xor add sub not shl shr cvt cvta bfe mul mad selp setp".split())


def _runs(known: list[Block], order: list[int]) -> list[list[int]]:
    """The instructions by basic block, those without any left out."""
    runs: list[list[int]] = []
    place = 0
    for block in known:
        first = place
        while place < len(order) and order[place] < block.end:
            place += 1
        if place > first:
            runs.append(order[first:place])
    return runs


class _Folder:
    """The values that are known so far: of a basic block, and of the whole function."""

    def __init__(self, function: Function, variables: Mapping[str, int], needed: set[str]) -> None:
        self.code, self.variables, self.needed = function.code, variables, needed
        self.whole: dict[str, Known] = {}
        self.local: dict[str, Known] = {}
        self.made: dict[str, dict[int, Known]] = {}
        self.allocated: set[tuple[str, int]] = set()
        self.origins: dict[str, Known] = {}
        self.rounds: dict[str, Known] = {}
        self.changed = False

    def value(self, operand: Operand) -> Known:
        """What is known of an operand."""
        if isinstance(operand, int):
            return exactly(operand)
        if not isinstance(operand, str):
            return NOTHING
        found = self.local.get(operand) or self.whole.get(operand)
        if found is not None:
            return found
        if operand in self.variables:
            low = (self.variables[operand] & -self.variables[operand]) - 1
            return Known(0, low | 0xFFFFFFFF00000000, f"&{operand}", 0)
        return NOTHING

    def define(self, index: int, round_: int = 0) -> None:
        """Note what an instruction writes, in one of the rounds over all of them."""
        one = self.code[index]
        if one.opcode.startswith("tcgen05.alloc"):
            place = self.place(one.operands[0] if one.operands else 0)
            self.allocated |= {place} if place else set()
            return
        for number, name in enumerate(targets(one)):
            if name not in self.needed:
                continue
            made = self.rounds.get(name) or self.result(index, one, number)
            if made.base:
                made = self._refined(made)
            elif made.constant(64) is None:
                made = narrow(made, 32) if result_bits(one) == 32 else made
                base = f"{name}@{index}"
                old = self.origins.get(base)
                self.origins[base] = made if old is None else meet(old, made)
                made = made._replace(base=base, offset=0)
            if one.predicate:
                made = meet(made, self.value(name)) if name in self.whole else made
            self.local[name] = made
            before = self.made.setdefault(name, {})
            if before.get(index) != made:
                before[index] = made
                old = self.whole.get(name)
                # What a definition made in an earlier round was believed too soon.
                self.whole[name] = NOTHING if round_ == ROUNDS - 1 else _all(before.values())
                if old is not None and PATIENT <= round_ < ROUNDS - 1:
                    self.whole[name] = _given_up(old, self.whole[name])
                self.changed |= self.whole[name] != old

    def _refined(self, made: Known) -> Known:
        """What is known by the steps, and by one step from the base, which loses less to carries."""
        # A base that is shifted or taken modulo something has no origin of its own.
        origin, low = self.origins.get(made.base), made.offset & 0xFFFFFFFF
        if origin is None or (origin.value | ~origin.mask) & _ALL >= _HALF or low >= _HALF:
            return made  # the steps in 32 bits may have gone round
        once = add(origin, exactly(made.offset), 64)
        return made._replace(value=made.value | once.value, mask=made.mask | once.mask)

    def place(self, operand: Operand) -> tuple[str, int] | None:
        """The shared-memory place that an address names, as a base and an offset."""
        if not isinstance(operand, Address):
            return None
        one = self.value(operand.base) if operand.base else exactly(0)
        return (one.base, one.offset + operand.offset) if one.base else None

    def result(self, index: int, one: Instruction, number: int) -> Known:
        """What an instruction makes of its operands; nothing where it is not one that is folded."""
        name, read = one.opcode.partition(".")[0], one.operands
        if one.opcode.startswith("ld.shared") and len(read) == 2 and self.place(read[1]) in self.allocated:
            return Known(0, ((1 << 64) - 1) & ~ADDRESS_MASK)
        if one.opcode.startswith("shfl.sync.idx") and len(read) > 1 and number == 0:
            return self.value(read[1])._replace()  # the value of some lane: what is known of all of them
        if name not in _FOLDED or len(read) < 2:
            return NOTHING
        bits = 64 if one.opcode.endswith("64") else 16 if one.opcode.endswith("16") else 32
        if one.opcode.endswith("pred"):
            value = self.value(read[1]) if name == "mov" else NOTHING
            return exactly(int(value.value != 0)) if value.constant(64) is not None else NOTHING
        if name == "mov" and isinstance(read[1], Vector):
            return self._joined(read[1], bits)
        if name == "mov" and isinstance(read[0], Vector):
            part = bits // max(1, len(read[0].items))
            return narrow(shift_right(self.value(read[1]), number * part, bits), part)
        return computed(one, [self.value(operand) for operand in read[1:]], bits)

    def _joined(self, parts: Vector, bits: int) -> Known:
        """A value put together from parts, the lowest first."""
        part, made = bits // max(1, len(parts.items)), exactly(0)
        for number, item in enumerate(parts.items):
            made = add(made, _lifted(narrow(self.value(item), part), number * part, bits), bits)
        return made


def _all(definitions: Iterable[Known]) -> Known:
    """What is known of a register at the head of a block: what all its definitions agree on."""
    return reduce(meet, definitions)


def _given_up(old: Known, new: Known) -> Known:
    """What is left of a value that loses known bits from round to round: those below them, and the upper half.

    >>> _given_up(exactly(0), Known(0, (1 << 64) - 3)) == Known(0, 0xFFFFFFFF00000001)
    True
    """
    lost = old.mask & ~new.mask
    kept = new.mask & ((lost & -lost) - 1 | _ALL & ~0xFFFFFFFF) if lost else new.mask
    return new._replace(value=new.value & kept, mask=kept)


def result_bits(one: Instruction) -> int:
    """Bits of a result, where its type says so: 32, or 64 for all else.

    >>> [result_bits(Instruction(1, name, ())) for name in ("add.s32", "mul.wide.u32", "cvt.u64.u32", "cvt.u32.u64")]
    [32, 64, 64, 32]
    """
    kinds = [word for word in one.qualifiers[1:] if word[:1] in "usb" and word[1:].isdigit()]
    return 32 if kinds and kinds[0][1:] == "32" and ".wide" not in one.opcode else 64


def _lifted(one: Known, by: int, bits: int) -> Known:
    return one if by == 0 else shift_left(one, by, bits)


def observed(function: Function) -> list[int]:
    """The instructions whose operands have to be folded.

    >>> from descriptors.check.ptx_module import parse
    >>> observed(parse(".version 8.8\\n.entry k() { x; tcgen05.alloc [a], b; }").functions[0])
    [1]
    """
    wanted = ("wgmma.mma_async", *(f"tcgen05.{name}" for name in _OBSERVED))
    return [index for index, one in enumerate(function.code) if one.opcode.startswith((*wanted, *WAITS))]


def number(operand: Operand, values: Mapping[str, Known], bits: int = 32) -> int | None:
    """The value of an operand, if it is a constant.

    >>> number(5, {}), number("%r1", {})
    (5, None)
    """
    if isinstance(operand, int):
        return operand
    return values[operand].constant(bits) if isinstance(operand, str) and operand in values else None
