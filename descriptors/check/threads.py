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
>>> def violated_rules(body):
...     function = parse(text.format(body)).functions[0]
...     return [item.rule.name for _, item in thread_findings(Threads(function, blocks(function)))]
>>> mma, load = "tcgen05.mma.cta_group::1.kind::f16 [d], x, y, i, q;", "tcgen05.wait::ld.sync.aligned;"
>>> violated_rules(mma), violated_rules("@p " + mma), violated_rules(load), violated_rules("@p " + load)
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
        bounds = _THREADS.search(function.head)
        self.extent = tuple(int(n or 1) for n in bounds.groups()) if bounds else (MOST_THREADS, 1, 1)
        self.bounded = bounds is not None
        self.count = min(self.extent[0] * self.extent[1] * self.extent[2], MOST_THREADS)
        self.differ = varying(function) if differs is None else differs
        self.made: dict[tuple[int, str], _Values] = {}
        self.open: set[tuple[int, str]] = set()
        self.before = self._before()

    def at(self, index: int) -> Running:
        """Return the threads that execute an instruction."""
        running = self.before[self.conditions.block[index]]
        instruction = self.code[index]
        return (
            self._let(running, instruction.predicate, not instruction.negated, index)
            if instruction.predicate
            else running
        )

    def some(self, index: int) -> bool:
        """Return whether the guard of an instruction certainly holds for some thread that reaches it.

        A guard that is unknown but the same for all threads may hold for none.
        """
        instruction = self.code[index]
        if not instruction.predicate:
            return True
        running = self.before[self.conditions.block[index]].sure
        return any(
            isinstance(value, int) and bool(value) is not instruction.negated and running >> thread & 1
            for thread, value in enumerate(self.value(instruction.predicate, index))
        )

    def _let(self, running: Running, name: str, wanted: bool, index: int) -> Running:
        """Return those of some threads for which a predicate has the wanted value."""
        sure, unknown = _threads_with(self.value(name, index), wanted)
        return Running(running.sure & sure, (running.sure | running.open) & unknown | running.open & sure)

    def _before(self) -> list[Running]:
        """Return the threads that reach each block."""
        running = [Running(0, 0) for _ in self.graph]
        if not running:
            return running
        running[0] = Running((1 << self.count) - 1, 0)
        waiting = [0]
        while waiting:
            number = waiting.pop()
            for follower in self.graph[number].next:
                passing, old = self._over(number, follower, running[number]), running[follower]
                new = Running(old.sure | passing.sure, old.open | passing.open)
                if new != old:
                    running[follower] = new
                    waiting.append(follower)
        return running

    def _over(self, number: int, follower: int, running: Running) -> Running:
        index = self.graph[number].end - 1
        last = self.code[index]
        if last.opcode.startswith("brx"):
            name = last.operands[0] if last.operands else ""
            may_diverge = isinstance(name, str) and any(value != "same" for value in self.value(name, index))
            return Running(0, running.sure | running.open) if may_diverge else running
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
        earlier: Sequence[int] = [place for place in places if place < index and block[place] == block[index]]
        if not earlier and len({block[place] for place in places}) == 1:
            earlier = places
        unguarded = [number for number, place in enumerate(earlier) if not self.code[place].predicate]
        return earlier[unguarded[-1] :] if unguarded else []

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
        values = self._compute(places[0], name)
        for index in places[1:]:
            instruction = self.code[index]
            guard, guarded_values = self.value(instruction.predicate, index), self._compute(index, name)
            rows = zip(guard, guarded_values, values, strict=True)
            values = _settle(tuple(_select(g, instruction.negated, m, f) for g, m, f in rows))
        return values

    def _compute(self, index: int, name: str) -> _Values:
        instruction = self.code[index]
        operands = instruction.operands
        if instruction.opcode.startswith("elect.") and isinstance(operands[0], Pair):
            if name != operands[0].second:
                return (_SAME,) * self.count
            return tuple(int(thread % WARP == 0) for thread in range(self.count))
        if instruction.opcode.startswith("shfl.sync.idx") and len(operands) > 2 and operands[2] == 0:
            target = operands[0].first if isinstance(operands[0], Pair) else operands[0]
            source_values = self._operand(operands[1], index)
            return (
                tuple(source_values[at - at % WARP] for at in range(self.count))
                if name == target
                else self._unknown(name)
            )
        operation = decode(instruction.opcode)
        if operation is None or len(operands) != operation.operands + 1 or not isinstance(operands[0], str):
            return self._unknown(name)
        if not all(isinstance(operand, str | int | Negated) for operand in operands):
            return self._unknown(name)
        sides = [self._operand(operand, index) for operand in operands[1:]]
        if operation.name == "mov":
            return sides[0]
        if operation.name == "selp":
            return _settle(tuple(_select(p, False, yes, no) for yes, no, p in zip(*sides, strict=True)))
        if operation.name in DECIDES and operation.type == "pred":
            return _settle(tuple(_apply_logic(operation, a, b) for a, b in zip(*sides, strict=True)))
        return _compute(exact(operation), sides)

    def _operand(self, operand: Operand, index: int) -> _Values:
        if isinstance(operand, int):
            return (operand & _WIDEST,) * self.count
        if isinstance(operand, Negated):
            return tuple(int(not v) if isinstance(v, int) else v for v in self.value(operand.name, index))
        return self.value(operand, index) if isinstance(operand, str) else (_OPEN,) * self.count


def _compute(compute: Computation, sides: Sequence[_Values]) -> _Values:
    """Return the result of an operation in each thread."""
    rows = list(zip(*sides, strict=True))
    results: dict[tuple[_Value, ...], _Value] = {}
    for row in set(rows):
        numbers = [value for value in row if isinstance(value, int)]
        result = compute(*numbers) if len(numbers) == len(row) else None
        results[row] = result if result is not None else _OPEN if len(numbers) == len(row) or _OPEN in row else _SAME
    varies = any(len({value for value in side if isinstance(value, int)}) > 1 for side in sides)
    return _settle(tuple([results[row] for row in rows]), varies=varies)


# A kernel has few predicates, so the same calls repeat.
@lru_cache(maxsize=1024)
def _threads_with(values: _Values, wanted: bool) -> tuple[int, int]:
    """Return the threads, one bit each, for which a predicate has the wanted value, and those that are open."""
    sure = unknown = 0
    for thread, value in enumerate(values):
        if value == "open":
            unknown |= 1 << thread
        elif value == "same" or bool(value) is wanted:
            sure |= 1 << thread
    return sure, unknown


def _settle(values: _Values, *, varies: bool = False) -> _Values:
    """Return values in which "same" becomes "open" if the values differ between threads."""
    mixed = varies or len(set(values)) > 1
    return tuple("open" if value == "same" and mixed else value for value in values)


def _select(chosen: _Value, negated: bool, yes: _Value, no: _Value) -> _Value:
    if isinstance(chosen, int):
        return yes if bool(chosen) is not negated else no
    return yes if yes == no else chosen


def _apply_logic(operation: IntegerOperation, a: _Value, b: _Value) -> _Value:
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
    checked = [
        i
        for i in function.having("wgmma.", "tcgen05.")
        if function.code[i].opcode.startswith(_SINGLE) or _group_size(function.code[i])
    ]
    reported: set[str] = set()
    for index in checked:
        instruction, running = function.code[index], threads.at(index)
        result = (
            _check_single_thread(instruction, running)
            if instruction.opcode.startswith(_SINGLE)
            else _check_group(instruction, running, threads.count)
        )
        if isinstance(result, Broken):
            yield index, result
        elif result is not None and result.what not in reported:
            reported.add(result.what)
            yield index, result


def _group_size(instruction: Instruction) -> int:
    """Return how many threads must execute an instruction together; 0 if there is no requirement."""
    if instruction.opcode.startswith("wgmma.") and ".aligned" in instruction.opcode:
        return WARPGROUP
    return WARP if instruction.opcode.startswith("tcgen05.") and ".aligned" in instruction.opcode else 0


def _check_single_thread(instruction: Instruction, running: Running) -> Broken | Doubt | None:
    name = ".".join(instruction.qualifiers[:2])
    for first in range(0, MOST_THREADS, WARP):
        sure = (running.sure >> first & _LOW).bit_count()
        if sure > 1:
            return broken("tcgen05-elect", f"{sure} threads of a warp issue this instruction")
    for first in range(0, MOST_THREADS, WARP):
        if ((running.sure | running.open) >> first & _LOW).bit_count() > 1:
            why = "its guard, or a branch before it, does not follow from a thread's number or an election"
            return Doubt("order", f"whether one thread issues {name}", why, "elect.sync, or a comparison of %tid")
    return None


def _check_group(instruction: Instruction, running: Running, count: int) -> Broken | Doubt | None:
    group, name = _group_size(instruction), ".".join(instruction.qualifiers[:2])
    for first in range(0, count, group):
        all_threads = (1 << min(group, count - first)) - 1
        sure, unknown = running.sure >> first & all_threads, running.open >> first & all_threads
        if (sure | unknown) not in (0, all_threads):
            rule, kind = ("wgmma-aligned", "warpgroup") if group == WARPGROUP else ("tcgen05-aligned", "warp")
            threads = f"{(sure | unknown).bit_count()} of {all_threads.bit_length()} threads"
            return broken(rule, f"only {threads} of a {kind} execute this instruction")
    if running.open & ~running.sure:
        why = "its guard, or a branch before it, may differ between threads"
        return Doubt(
            "order", f"whether all threads run {name}", why, "a branch on a value that shfl.sync.idx makes uniform"
        )
    return None
