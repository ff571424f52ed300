r"""Conditions under which an assembler serializes the multiplications of ``wgmma``: they are correct, but slow.

The conditions are calls that are not inlined, multiplications outside of a kernel, and branches that may differ between
threads inside a pipeline stage. Groups in flight across a loop and missing registers are reported by ``paths``. A
register is *varying* if it may differ between the threads of a warp: it is computed from a thread's number or an
election. As for the assembler, a value that is loaded from one address, or exchanged by a vote or by ``shfl.sync.idx``
from one lane, is the same in all threads. A register that differs only because of the path taken counts as the same.
Source: the messages C7509, C7510, C7518 and C7520 of ptxas 12.9, 13.0 and 13.5 (C7519 is 13.5's for C7520), tried on
kernels with one thing changed; PTX ISA 9.1, Special Registers; elect.sync, shfl.sync.

Invariant: a multiplication that does not depend on a thread's number is not reported.

>>> from descriptors.check.ptx.ptx_module import parse
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
>>> text = ".version 8.8\n.entry k() {{ mov.u32 r, {}; setp.eq.u32 p, r, 3; @p bra L; {} L: ret; }}"
>>> def told(*parts): return [one.rule.name for _, one in serializations(parse(text.format(*parts)), 0)]
>>> told("%tid.x", mma), told("%ctaid.x", mma)
(['wgmma-divergent'], [])

Invariant: a register is varying if it is computed from a varying register.

>>> body = "mov.u32 a, %tid.x; shr.u32 b, a, 7; shfl.sync.idx.b32 c, b, 0, 31, -1; ld.global.u32 d, [e+4]; ret;"
>>> sorted(varying(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]))
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.check.ptx.control_flow import Block, blocks, cycles, under
from descriptors.check.ptx.ptx_module import Function, Instruction, Module, targets
from descriptors.check.rules import Broken, broken
from layoutalg.frozen import frozen

_SPECIAL = ("%tid", "%laneid", "%lanemask", "%warpid", "%clock", "%globaltimer")
_MADE = ("elect.sync", "atom", "activemask", "match.", "ldmatrix", "wgmma.", "tcgen05.ld", "clock")
_SAME = ("vote", "redux", "shfl.sync.idx", "mbarrier")


def varying(function: Function) -> frozenset[str]:
    """Return the registers of a function that may differ between threads."""
    waiting = function.having(*_MADE)
    waiting += [index for name, places in function.names.items() if name.startswith(_SPECIAL) for index in places]
    seen = set(function.having(*_SAME)).difference(waiting)
    found: set[str] = set()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            for name in targets(function.code[index]):
                if name not in found:
                    found.add(name)
                    waiting += function.names[name]
    return frozenset(found)


_MMA = "wgmma.mma_async"


def serializations(
    module: Module, number: int, known: list[Block] | None = None, calls: Calls | None = None,
    differs: frozenset[str] | None = None,
) -> Iterator[tuple[int, Broken]]:  # fmt: skip
    """Yield the reasons for which an assembler serializes, each with the index of its instruction.

    Args:
        module: the module.
        number: index of the function in the module.
        known: the basic blocks of the function; computed if None.
        calls: the calls of the module; computed if None. Pass them if the module has many functions.
        differs: the varying registers of the function; computed if None.
    """
    function = module.functions[number]
    found = function.having("wgmma.")
    if not found:
        return
    if not function.entry:
        yield found[0], broken("wgmma-function", f"this instruction is in {function.name}, which is not a kernel")
    if function.having(_MMA):
        yield from _calls(function, calls_of(module) if calls is None else calls)
    yield from _divergent(
        function, blocks(function) if known is None else known, varying(function) if differs is None else differs
    )


@frozen
class Calls:
    """The functions of a module.

    Args:
        names: names of all functions.
        circles: names of the functions that call themselves, directly or through others.
    """

    names: frozenset[str]
    circles: frozenset[str]


def calls_of(module: Module) -> Calls:
    r"""Return the functions of a module, and which of them call themselves.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> def text(name, other): return f".func {name}() {{ call {other}; ret; }} "
    >>> module = parse(".version 8.8\n" + text("a", "b") + text("b", "c") + text("c", "b") + text("d", "e"))
    >>> sorted(calls_of(module).circles), sorted(calls_of(module).names)
    (['b', 'c'], ['a', 'b', 'c', 'd'])
    """
    places = {one.name: number for number, one in enumerate(module.functions)}
    called = [[_called(one.code[index]) for index in one.having("call")] for one in module.functions]
    graph = [Block(0, 0, tuple({places[name] for name in row if name in places})) for row in called]
    inside = cycles(graph)
    return Calls(frozenset(places), frozenset(one.name for n, one in enumerate(module.functions) if n in inside))


def _calls(function: Function, calls: Calls) -> Iterator[tuple[int, Broken]]:
    for index in function.having("call"):
        name = _called(function.code[index])
        if name not in calls.names:
            yield (
                index,
                broken("wgmma-call-kept", f"{name or 'a register'} is called, which is not in this file"),
            )
        elif name in calls.circles:
            yield index, broken("wgmma-call-kept", f"{name} is called, which calls itself")


def _called(one: Instruction) -> str:
    """Return the name of the called function, or the register with its address."""
    return next((operand for operand in one.operands if isinstance(operand, str)), "")


def _divergent(function: Function, graph: list[Block], differs: frozenset[str]) -> Iterator[tuple[int, Broken]]:
    """Yield multiplications whose stage, from fence to commit, has a branch or guard that may differ."""
    code = function.code
    for index in function.having("wgmma."):
        one = code[index]
        # A predicate that the function does not write may differ, too.
        if one.predicate and (one.predicate in differs or one.predicate not in function.writes):
            guard = f"@{'!' * one.negated}{one.predicate}"
            yield index, broken("wgmma-divergent", f"the guard {guard} may differ between threads")
    ends = {number: code[block.end - 1] for number, block in enumerate(graph)}
    branches = {number for number, one in ends.items() if _decided(one) & differs}
    if not branches:
        return
    apart = under(graph, branches)
    for run in _runs(graph):
        if run[0] in apart:
            held = [index for number in run for index in range(graph[number].start, graph[number].end)]
            yield from _cut(code, [index for index in held if code[index].opcode.startswith("wgmma.")])


def _decided(one: Instruction) -> set[str]:
    """Return the registers that decide where a branch leads."""
    chosen = {one.predicate} if one.predicate else set()
    if one.opcode.startswith("brx") and one.operands and isinstance(one.operands[0], str):
        chosen.add(one.operands[0])
    return chosen


def _runs(graph: list[Block]) -> Iterator[list[int]]:
    """Yield runs of blocks that only labels separate: each block has one predecessor, of which it is the successor."""
    into: dict[int, list[int]] = {}
    for number, block in enumerate(graph):
        for follower in block.next:
            into.setdefault(follower, []).append(number)

    def joined(number: int) -> int | None:
        """Return the block of which a block is the only successor and which is its only predecessor."""
        before = into.get(number, [])
        one = before[0] if len(before) == 1 else number
        return one if one < number and graph[one].next == (number,) else None

    run: list[int] = []
    for number in range(len(graph)):
        if run and joined(number) != run[-1]:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _cut(code: tuple[Instruction, ...], found: list[int]) -> Iterator[tuple[int, Broken]]:
    """Yield the first multiplication of a run without a fence before it or a commit after it."""
    fenced, last = False, max((i for i in found if "commit_group" in code[i].opcode), default=-1)
    for index in found:
        fenced |= code[index].opcode.startswith("wgmma.fence")
        if code[index].opcode.startswith(_MMA) and not (fenced and index < last):
            what = "commit_group" if fenced else "fence"
            fact = f"a branch that may differ between threads is between this mma_async and its {what}"
            yield index, broken("wgmma-divergent", fact)
            return
