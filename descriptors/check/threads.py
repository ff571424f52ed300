r"""The threads that execute an instruction: a whole warp, one elected thread, or the threads of a role.

A predicate has a known value for each thread if it is computed from the thread's number, an election and constants. A
predicate that is unknown but the same for all threads does not exclude a thread. A predicate that is unknown and may
differ between threads leaves a thread *open*. A thread reaches a block if the branches on some path let it.

``tcgen05.mma``, ``cp``, ``shift`` and ``commit`` must be issued by one thread. An ``.aligned`` instruction must be
executed by all threads of a warp, or of a warpgroup for ``wgmma``. A violation is reported only if it holds whatever
the unknown values are: two threads of a warp that certainly both issue, or a thread that certainly does not take part.
Source: PTX ISA 9.1, tcgen05.mma, tcgen05.commit (issued by a single thread), elect.sync, the meaning of .aligned.

Invariant: an elected thread may multiply, and a warp may not; for an aligned instruction it is the other way round.

>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.ptx_module import parse
>>> text = ".version 8.8\n.entry k() .reqntid 64 {{ elect.sync _|p, -1; {} ret; }}"
>>> def told(body):
...     function = parse(text.format(body)).functions[0]
...     return [one.rule.name for _, one in thread_findings(Threads(function, blocks(function)))]
>>> mma, load = "tcgen05.mma.cta_group::1.kind::f16 [d], x, y, i, q;", "tcgen05.wait::ld.sync.aligned;"
>>> told(mma), told("@p " + mma), told(load), told("@p " + load)
(['tcgen05-elect'], [], [], ['tcgen05-aligned'])
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from descriptors.check.ptx.conditions import Conditions
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.integer_instructions import DECIDES, LOGIC, Computation, IntegerOperation, decode, exact
from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.check.ptx.ptx_operands import Negated, Operand, Pair
from descriptors.check.rules import Broken, Doubt, broken
from descriptors.check.serialization import varying
from layoutalg.frozen import frozen

WARP, WARPGROUP, MOST_THREADS = 32, 128, 1024
#: The value of a register in one thread: a number, "same" (unknown, equal in all threads) or "open" (unknown).
_Value: TypeAlias = "int | Literal['same', 'open']"
_Values: TypeAlias = tuple[_Value, ...]
_SAME: _Value = "same"
_OPEN: _Value = "open"

_SINGLE = tuple(f"tcgen05.{name}." for name in ("mma", "cp", "shift", "commit"))
_DEPTH = 40
_THREADS = re.compile(r"\.(?:reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_LOW, _WIDEST = (1 << 32) - 1, (1 << 64) - 1


@frozen
class Running:
    """The threads that execute an instruction, one bit each: those that do according to the text, and open ones."""

    sure: int
    open: int


class Threads:
    """The threads of a function.

    Args:
        function: the function.
        graph: its basic blocks.
        conditions: its definitions; computed if None.
        differs: its varying registers; computed if None.
    """

    def __init__(
        self, function: Function, graph: list[Block], conditions: Conditions | None = None,
        differs: frozenset[str] | None = None,
    ) -> None:  # fmt: skip
        self.function, self.code, self.graph = function, function.code, graph
        self.conditions = conditions or Conditions(function, graph)
        found = _THREADS.search(function.head)
        self.extent = tuple(int(n or 1) for n in found.groups()) if found else (MOST_THREADS, 1, 1)
        self.bounded = found is not None
        self.count = min(self.extent[0] * self.extent[1] * self.extent[2], MOST_THREADS)
        self.differ = varying(function) if differs is None else differs
        self.made: dict[tuple[int, str], _Values] = {}
        self.open: set[tuple[int, str]] = set()
        self.before = self._before()

    def at(self, index: int) -> Running:
        """Return the threads that execute an instruction."""
        running = self.before[self.conditions.block[index]]
        one = self.code[index]
        return self._let(running, one.predicate, not one.negated, index) if one.predicate else running

    def some(self, index: int) -> bool:
        """Return whether the guard of an instruction certainly holds for some thread that reaches it.

        A guard that is unknown but the same for all threads may hold for none.
        """
        one = self.code[index]
        if not one.predicate:
            return True
        running = self.before[self.conditions.block[index]].sure
        return any(
            isinstance(value, int) and bool(value) is not one.negated and running >> thread & 1
            for thread, value in enumerate(self.value(one.predicate, index))
        )

    def _let(self, running: Running, name: str, wanted: bool, index: int) -> Running:
        """Return those of some threads for which a predicate has the wanted value."""
        sure, left = _holding(self.value(name, index), wanted)
        return Running(running.sure & sure, (running.sure | running.open) & left | running.open & sure)

    def _before(self) -> list[Running]:
        """Return the threads that reach each block."""
        found = [Running(0, 0) for _ in self.graph]
        if not found:
            return found
        found[0] = Running((1 << self.count) - 1, 0)
        waiting = [0]
        while waiting:
            number = waiting.pop()
            for follower in self.graph[number].next:
                come, old = self._over(number, follower, found[number]), found[follower]
                new = Running(old.sure | come.sure, old.open | come.open)
                if new != old:
                    found[follower] = new
                    waiting.append(follower)
        return found

    def _over(self, number: int, follower: int, running: Running) -> Running:
        index = self.graph[number].end - 1
        last = self.code[index]
        if last.opcode.startswith("brx"):
            name = last.operands[0] if last.operands else ""
            apart = isinstance(name, str) and any(value != "same" for value in self.value(name, index))
            return Running(0, running.sure | running.open) if apart else running
        if not last.predicate or not last.opcode.startswith(("bra", "ret", "exit", "trap")):
            return running
        if len(self.graph[number].next) == 1 and not last.opcode.startswith(("ret", "exit", "trap")):
            return running
        taken = follower != number + 1
        return self._let(running, last.predicate, taken is not last.negated, index)

    def value(self, name: str, index: int) -> _Values:
        """Return the value of a register in each thread, as an instruction reads it."""
        if (special := self._special(name)) is not None:
            return special
        places = self._reaching(name, index)
        if not places:
            return self._unknown(name)
        key = places[-1], name
        if key not in self.made:
            if key in self.open or len(self.open) > _DEPTH:
                return self._unknown(name)
            self.open.add(key)
            self.made[key] = self._defined(places, name)
            self.open.discard(key)
        return self.made[key]

    def _reaching(self, name: str, index: int) -> Sequence[int]:
        """Return the definitions of a register that reach a read: an unconditional one, and later guarded ones."""
        places, block = self.conditions.where.get(name, []), self.conditions.block
        before: Sequence[int] = [at for at in places if at < index and block[at] == block[index]]
        if not before and len({block[at] for at in places}) == 1:
            before = places
        plain = [number for number, at in enumerate(before) if not self.code[at].predicate]
        return before[plain[-1] :] if plain else []

    def _unknown(self, name: str) -> _Values:
        """Return the values of a register that is not followed: the same in all threads, unless it is varying."""
        differs = name in self.differ or (name not in self.conditions.where and name.startswith("%"))
        return (_OPEN if differs else _SAME,) * self.count

    def _special(self, name: str) -> _Values | None:
        x, y, _ = self.extent
        if name == "%tid.x":
            return tuple(thread % x for thread in range(self.count))
        if name == "%tid.y" and self.bounded:
            return tuple(thread // x % y for thread in range(self.count))
        if name == "%tid.z" and self.bounded:
            return tuple(thread // (x * y) for thread in range(self.count))
        if name == "%laneid":
            return tuple(thread % WARP for thread in range(self.count))
        if name.startswith(("%ctaid", "%nctaid", "%ntid", "%cluster", "%gridid", "%smid", "%nsmid", "%is_explicit")):
            return (_SAME,) * self.count
        return None

    def _defined(self, places: Sequence[int], name: str) -> _Values:
        found = self._computed(places[0], name)
        for index in places[1:]:
            one = self.code[index]
            guard, made = self.value(one.predicate, index), self._computed(index, name)
            rows = zip(guard, made, found, strict=True)
            found = _settled(tuple(_selected(g, one.negated, m, f) for g, m, f in rows))
        return found

    def _computed(self, index: int, name: str) -> _Values:
        one = self.code[index]
        read = one.operands
        if one.opcode.startswith("elect.") and isinstance(read[0], Pair):
            if name != read[0].second:
                return (_SAME,) * self.count
            return tuple(int(thread % WARP == 0) for thread in range(self.count))
        if one.opcode.startswith("shfl.sync.idx") and len(read) > 2 and read[2] == 0:
            target = read[0].first if isinstance(read[0], Pair) else read[0]
            whole = self._operand(read[1], index)
            return tuple(whole[at - at % WARP] for at in range(self.count)) if name == target else self._unknown(name)
        operation = decode(one.opcode)
        if operation is None or len(read) != operation.operands + 1 or not isinstance(read[0], str):
            return self._unknown(name)
        if not all(isinstance(operand, str | int | Negated) for operand in read):
            return self._unknown(name)
        sides = [self._operand(operand, index) for operand in read[1:]]
        if operation.name == "mov":
            return sides[0]
        if operation.name == "selp":
            return _settled(tuple(_selected(p, False, yes, no) for yes, no, p in zip(*sides, strict=True)))
        if operation.name in DECIDES and operation.type == "pred":
            return _settled(tuple(_logic(operation, a, b) for a, b in zip(*sides, strict=True)))
        return _computed(exact(operation), sides)

    def _operand(self, operand: Operand, index: int) -> _Values:
        if isinstance(operand, int):
            return (operand & _WIDEST,) * self.count
        if isinstance(operand, Negated):
            return tuple(int(not v) if isinstance(v, int) else v for v in self.value(operand.name, index))
        return self.value(operand, index) if isinstance(operand, str) else (_OPEN,) * self.count


def _computed(compute: Computation, sides: Sequence[_Values]) -> _Values:
    """Return the result of an operation in each thread."""
    rows = list(zip(*sides, strict=True))
    results: dict[tuple[_Value, ...], _Value] = {}
    for row in set(rows):
        numbers = [value for value in row if isinstance(value, int)]
        result = compute(*numbers) if len(numbers) == len(row) else None
        results[row] = result if result is not None else _OPEN if len(numbers) == len(row) or _OPEN in row else _SAME
    apart = any(len({value for value in side if isinstance(value, int)}) > 1 for side in sides)
    return _settled(tuple([results[row] for row in rows]), apart=apart)


# A kernel has few predicates, so the same calls repeat.
@lru_cache(maxsize=1024)
def _holding(values: _Values, wanted: bool) -> tuple[int, int]:
    """Return the threads, one bit each, for which a predicate has the wanted value, and those that are open."""
    sure = left = 0
    for thread, value in enumerate(values):
        if value == "open":
            left |= 1 << thread
        elif value == "same" or bool(value) is wanted:
            sure |= 1 << thread
    return sure, left


def _settled(found: _Values, *, apart: bool = False) -> _Values:
    """Return values in which "same" becomes "open" if the values differ between threads."""
    mixed = apart or len(set(found)) > 1
    return tuple("open" if value == "same" and mixed else value for value in found)


def _selected(chosen: _Value, negated: bool, yes: _Value, no: _Value) -> _Value:
    if isinstance(chosen, int):
        return yes if bool(chosen) is not negated else no
    return yes if yes == no else chosen


def _logic(operation: IntegerOperation, a: _Value, b: _Value) -> _Value:
    if isinstance(a, int) and isinstance(b, int):
        return LOGIC[operation.name](a, b) & 1
    if DECIDES[operation.name] in (a, b):
        return DECIDES[operation.name]
    return "open" if "open" in (a, b) else "same"


def thread_findings(threads: Threads) -> Iterator[tuple[int, Broken | Doubt]]:
    """Yield instructions that too many or too few threads execute, and the first doubt of each kind.

    Args:
        threads: the threads of a kernel.
    """
    function = threads.function
    asked = [
        i
        for i in function.having("wgmma.", "tcgen05.")
        if function.code[i].opcode.startswith(_SINGLE) or _group(function.code[i])
    ]
    told: set[str] = set()
    for index in asked:
        one, running = function.code[index], threads.at(index)
        found = _alone(one, running) if one.opcode.startswith(_SINGLE) else _together(one, running, threads.count)
        if isinstance(found, Broken):
            yield index, found
        elif found is not None and found.what not in told:
            told.add(found.what)
            yield index, found


def _group(one: Instruction) -> int:
    """Return how many threads must execute an instruction together; 0 if there is no requirement."""
    if one.opcode.startswith("wgmma.") and ".aligned" in one.opcode:
        return WARPGROUP
    return WARP if one.opcode.startswith("tcgen05.") and ".aligned" in one.opcode else 0


def _alone(one: Instruction, running: Running) -> Broken | Doubt | None:
    name = ".".join(one.qualifiers[:2])
    for first in range(0, MOST_THREADS, WARP):
        sure = (running.sure >> first & _LOW).bit_count()
        if sure > 1:
            return broken("tcgen05-elect", f"{sure} threads of a warp issue this instruction")
    for first in range(0, MOST_THREADS, WARP):
        if ((running.sure | running.open) >> first & _LOW).bit_count() > 1:
            why = "its guard, or a branch before it, does not follow from a thread's number or an election"
            return Doubt("order", f"whether one thread issues {name}", why, "elect.sync, or a comparison of %tid")
    return None


def _together(one: Instruction, running: Running, count: int) -> Broken | Doubt | None:
    group, name = _group(one), ".".join(one.qualifiers[:2])
    for first in range(0, count, group):
        whole = (1 << min(group, count - first)) - 1
        sure, left = running.sure >> first & whole, running.open >> first & whole
        if (sure | left) not in (0, whole):
            rule, kind = ("wgmma-aligned", "warpgroup") if group == WARPGROUP else ("tcgen05-aligned", "warp")
            threads = f"{(sure | left).bit_count()} of {whole.bit_length()} threads"
            return broken(rule, f"only {threads} of a {kind} execute this instruction")
    if running.open & ~running.sure:
        why = "its guard, or a branch before it, may differ between threads"
        return Doubt(
            "order", f"whether all threads run {name}", why, "a branch on a value that shfl.sync.idx makes uniform"
        )
    return None
