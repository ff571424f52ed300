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
>>> def violated_rules(*parts):
...     return [violation.rule.name for _, violation in serializations(parse(text.format(*parts)), 0)]
>>> violated_rules("%tid.x", mma), violated_rules("%ctaid.x", mma)
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
    visited = set(function.having(*_SAME)).difference(waiting)
    names: set[str] = set()
    while waiting:
        index = waiting.pop()
        if index not in visited:
            visited.add(index)
            for name in targets(function.code[index]):
                if name not in names:
                    names.add(name)
                    waiting += function.names[name]
    return frozenset(names)


_MMA = "wgmma.mma_async"


def serializations(
    module: Module, number: int, graph: list[Block] | None = None, calls: Calls | None = None,
    varying_registers: frozenset[str] | None = None,
) -> Iterator[tuple[int, Broken]]:  # fmt: skip
    """Yield the reasons for which an assembler serializes, each with the index of its instruction.

    Args:
        module: the module.
        number: index of the function in the module.
        graph: the basic blocks of the function; computed if None.
        calls: the calls of the module; computed if None. Pass them if the module has many functions.
        varying_registers: the varying registers of the function; computed if None.
    """
    function = module.functions[number]
    wgmma_indices = function.having("wgmma.")
    if not wgmma_indices:
        return
    if not function.entry:
        yield (
            wgmma_indices[0],
            broken("wgmma-function", f"this instruction is in {function.name}, which is not a kernel"),
        )
    if function.having(_MMA):
        yield from _call_findings(function, calls_of(module) if calls is None else calls)
    yield from _divergent_stages(
        function,
        blocks(function) if graph is None else graph,
        varying(function) if varying_registers is None else varying_registers,
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
    places = {function.name: number for number, function in enumerate(module.functions)}
    called = [[_callee(function.code[index]) for index in function.having("call")] for function in module.functions]
    graph = [Block(0, 0, tuple({places[name] for name in row if name in places})) for row in called]
    in_cycles = cycles(graph)
    return Calls(
        frozenset(places), frozenset(function.name for n, function in enumerate(module.functions) if n in in_cycles)
    )


def _call_findings(function: Function, calls: Calls) -> Iterator[tuple[int, Broken]]:
    for index in function.having("call"):
        name = _callee(function.code[index])
        if name not in calls.names:
            yield (
                index,
                broken("wgmma-call-kept", f"{name or 'a register'} is called, which is not in this file"),
            )
        elif name in calls.circles:
            yield index, broken("wgmma-call-kept", f"{name} is called, which calls itself")


def _callee(instruction: Instruction) -> str:
    """Return the name of the called function, or the register with its address."""
    return next((operand for operand in instruction.operands if isinstance(operand, str)), "")


def _divergent_stages(
    function: Function, graph: list[Block], varying_registers: frozenset[str]
) -> Iterator[tuple[int, Broken]]:
    """Yield multiplications whose stage, from fence to commit, has a branch or guard that may differ."""
    code = function.code
    for index in function.having("wgmma."):
        instruction = code[index]
        # A predicate that the function does not write may differ, too.
        if instruction.predicate and (
            instruction.predicate in varying_registers or instruction.predicate not in function.writes
        ):
            guard = f"@{'!' * instruction.negated}{instruction.predicate}"
            yield index, broken("wgmma-divergent", f"the guard {guard} may differ between threads")
    ends = {number: code[block.end - 1] for number, block in enumerate(graph)}
    branches = {number for number, instruction in ends.items() if _branch_registers(instruction) & varying_registers}
    if not branches:
        return
    divergent = under(graph, branches)
    for run in _block_runs(graph):
        if run[0] in divergent:
            indices = [index for number in run for index in range(graph[number].start, graph[number].end)]
            yield from _unprotected_mma(code, [index for index in indices if code[index].opcode.startswith("wgmma.")])


def _branch_registers(instruction: Instruction) -> set[str]:
    """Return the registers that decide where a branch leads."""
    registers = {instruction.predicate} if instruction.predicate else set()
    if instruction.opcode.startswith("brx") and instruction.operands and isinstance(instruction.operands[0], str):
        registers.add(instruction.operands[0])
    return registers


def _block_runs(graph: list[Block]) -> Iterator[list[int]]:
    """Yield runs of blocks that only labels separate: each block has one predecessor, of which it is the successor."""
    predecessors: dict[int, list[int]] = {}
    for number, block in enumerate(graph):
        for follower in block.next:
            predecessors.setdefault(follower, []).append(number)

    def joined(number: int) -> int | None:
        """Return the block of which a block is the only successor and which is its only predecessor."""
        before = predecessors.get(number, [])
        previous = before[0] if len(before) == 1 else number
        return previous if previous < number and graph[previous].next == (number,) else None

    run: list[int] = []
    for number in range(len(graph)):
        if run and joined(number) != run[-1]:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _unprotected_mma(code: tuple[Instruction, ...], indices: list[int]) -> Iterator[tuple[int, Broken]]:
    """Yield the first multiplication of a run without a fence before it or a commit after it."""
    fenced, last = False, max((i for i in indices if "commit_group" in code[i].opcode), default=-1)
    for index in indices:
        fenced |= code[index].opcode.startswith("wgmma.fence")
        if code[index].opcode.startswith(_MMA) and not (fenced and index < last):
            missing = "commit_group" if fenced else "fence"
            fact = f"a branch that may differ between threads is between this mma_async and its {missing}"
            yield index, broken("wgmma-divergent", fact)
            return
