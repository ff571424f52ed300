r"""The summary of a kernel: multiplications, operands and tiles, groups in flight, tensor memory, and mbarriers.

Consecutive multiplications into one accumulator are one *accumulation*. Together they read a tile of K.
Source: the instructions and descriptors as ``multiplications`` reads them.

Invariant: each multiplication that is understood is in exactly one accumulation.

>>> summary = explain_ptx(".version 8.8\n.target sm_90a\n.entry k() { ret; }")
>>> summary.kernels
()
"""

from __future__ import annotations

from typing import Any

from descriptors.check.execution.configuration import Configuration
from descriptors.check.execution.launch import launch_text
from descriptors.check.execution.program import program
from descriptors.check.execution.rings import Ring, rings
from descriptors.check.execution.run_policy import FILE_LIMIT
from descriptors.check.execution.runs import trials, unlaunchable
from descriptors.check.k_steps import distance
from descriptors.check.ptx.constant_folding import Values, fold, number, observed
from descriptors.check.ptx.control_flow import Block, blocks
from descriptors.check.ptx.kernel_words import START_FREE, SmemOperand, field_value, word_shown
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.multiplications import Multiplication, Wgmma, chains, multiplications
from descriptors.check.ptx.ptx_module import Function, parse
from descriptors.check.scope import FAMILIES, WARP_MMA, WMMA
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.text import Told, counted
from layoutalg.frozen import frozen


@frozen
class Accumulation:
    """Consecutive multiplications into one accumulator.

    Args:
        lines: the line of each multiplication.
        opcode: the opcode with its qualifiers.
        shape: M, N, K of one multiplication, over both CTAs of a pair; zeros if the shape is not known.
        first_adds: whether the first multiplication adds to the accumulator; None if that is not known.
        operands: descriptions of A and B.
        in_loop: whether they are in a loop.
    """

    lines: tuple[int, ...]
    opcode: str
    shape: tuple[int, int, int]
    first_adds: bool | None
    operands: tuple[str, ...]
    in_loop: bool


@frozen
class Kernel:
    """The summary of one function.

    Args:
        name: name of the function.
        line: its first line.
        accumulations: its accumulations, in the order of the text.
        warp_multiplications: the opcodes of ``mma.sync`` and ``wmma.mma`` instructions, with the lines of each.
        columns: columns of each allocation of tensor memory; None if a register determines them.
        waits: line and N of each ``wgmma.wait_group``.
        commits: number of ``wgmma.commit_group`` and ``tcgen05.commit``.
        loads: number of ``tcgen05.ld``.
        stores: number of ``tcgen05.st``.
        rings: mbarriers and their uses, as an execution of the kernel saw them.
        launch: the launch of that execution; "" if there are no rings.
    """

    name: str
    line: int
    accumulations: tuple[Accumulation, ...]
    warp_multiplications: tuple[tuple[str, tuple[int, ...]], ...]
    columns: tuple[int | None, ...]
    waits: tuple[tuple[int, int], ...]
    commits: int
    loads: int
    stores: int
    rings: tuple[Ring, ...]
    launch: str

    @property
    def in_flight(self) -> int:
        """The largest number of ``wgmma`` groups in flight: one more than a wait leaves."""
        return max((n for _, n in self.waits), default=-1) + 1


@frozen
class Story(Told):
    """The summary of a PTX text.

    Args:
        target: the ``.target``.
        kernels: summaries of the functions with tensor-core instructions.
    """

    target: str
    kernels: tuple[Kernel, ...]

    @property
    def headline(self) -> str:
        """The first line of the text."""
        return f"{self.target or 'no target'}: {counted(len(self.kernels), 'function')} with tensor-core instructions"


def explain_ptx(text: str) -> Story:
    r"""Summarize each function of a PTX text that has tensor-core instructions.

    Args:
        text: the PTX text.

    Raises:
        DescriptorError: if the text is not PTX.

    Source: as ``check_ptx``.

    >>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 1;"
    >>> explain_ptx(f".version 8.8\n.target sm_90a\n.entry k() {{ {mma} }}").kernels[0].accumulations[0].shape
    (64, 8, 16)
    """
    module = parse(text)
    kernels: list[Kernel] = []
    steps = 0
    for function in module.functions:
        if function.having(*FAMILIES, *WARP_MMA, *WMMA):
            graph = blocks(function)
            ring_fields, run_steps = (
                _run_rings(function, text) if steps <= FILE_LIMIT else ({"rings": (), "launch": ""}, 0)
            )
            steps += run_steps
            values = fold(function, module.variables, observed(function), graph)
            kernels.append(_summarize_kernel(function, values, graph, ring_fields))
    return Story(module.target, tuple(kernels))


def _summarize_kernel(function: Function, values: Values, graph: list[Block], ring_fields: dict[str, Any]) -> Kernel:
    """Return the summary of a function; ``ring_fields`` has its rings and their launch."""
    mmas = list(multiplications(function, values))
    loops = [(b.end, t) for b in graph for t in (graph[n].start for n in b.next) if t < b.end]
    code = function.code
    sizes = [
        number(instruction.operands[1], values.get(i, {}))
        for i, instruction in enumerate(code)
        if instruction.opcode.startswith("tcgen05.alloc") and len(instruction.operands) > 1
    ]
    waits = [
        (instruction.line, instruction.operands[0])
        for instruction in code
        if instruction.opcode.startswith("wgmma.wait_group")
        and instruction.operands
        and isinstance(instruction.operands[0], int)
    ]
    return Kernel(
        name=function.name,
        line=function.line,
        accumulations=tuple(_summarize_accumulation(c, loops) for c in chains(function, mmas, graph) if c),
        warp_multiplications=_warp_multiplications(function),
        columns=tuple(sizes),
        waits=tuple((line, n) for line, n in waits if isinstance(n, int)),
        commits=sum(instruction.opcode.startswith(("wgmma.commit_group", "tcgen05.commit")) for instruction in code),
        loads=sum(instruction.opcode.startswith("tcgen05.ld") for instruction in code),
        stores=sum(instruction.opcode.startswith("tcgen05.st") for instruction in code),
        **ring_fields,
    )


def _warp_multiplications(function: Function) -> tuple[tuple[str, tuple[int, ...]], ...]:
    lines: dict[str, list[int]] = {}
    for index in function.having(*WARP_MMA, *WMMA):
        instruction = function.code[index]
        lines.setdefault(instruction.opcode, []).append(instruction.line)
    return tuple((opcode, tuple(numbers)) for opcode, numbers in lines.items())


def _run_rings(function: Function, text: str) -> tuple[dict[str, Any], int]:
    """Return the rings of a kernel, from the execution that infers the sizes of its copies, and its steps."""
    config = Configuration()
    if not function.entry or not function.having("mbarrier.init") or unlaunchable(function, config):
        return {"rings": (), "launch": ""}, 0
    attempts, steps = trials(program(function), text, config)
    first = attempts[0]
    end = "" if all(fragment.done for fragment in first.run.machine.fragments) else ", not completed"
    launch = f"{launch_text(first.launch)}, scalar parameters {first.launch.size}{end}"
    return {"rings": tuple(rings(first.run.machine)), "launch": launch}, steps


def _summarize_accumulation(chain: list[Multiplication], loops: list[tuple[int, int]]) -> Accumulation:
    first = chain[0]
    shape = (0, 0, 0)
    if isinstance(first.view, Wgmma):
        shape = first.view.shape
    elif first.described is not None:
        shape = (first.described.m, first.described.n, first.described.k)
    operands = [_describe_operand(name, chain) for name in ("A", "B")]
    in_loop = any(start <= first.index < end for end, start in loops)
    return Accumulation(tuple(mma.line for mma in chain), first.opcode, shape, first.adds, tuple(operands), in_loop)


def _describe_operand(matrix: str, chain: list[Multiplication]) -> str:
    row = [(mma.line, operand) for mma in chain for operand in mma.operands if operand.matrix == matrix]
    if not row:
        view = chain[0].view
        place = "registers" if isinstance(view, Wgmma) else "tensor memory"
        return f"{matrix} in {place}"
    lines: dict[str, list[int]] = {}
    for line, operand in row:
        lines.setdefault(_describe_kind(operand), []).append(line)
    first, *others = lines
    suffixes = (f"; {kind} at line{'s' * (len(lines[kind]) > 1)} {_join_numbers(lines[kind])}" for kind in others)
    return f"{matrix} {first}{_describe_advance([operand for _, operand in row])}{''.join(suffixes)}"


def _join_numbers(lines: list[int]) -> str:
    return ", ".join(map(str, lines))


def _describe_kind(operand: SmemOperand) -> str:
    type_text = (
        f"{operand.dtype} {operand.major}-major {operand.shape[0]}x{operand.shape[1]}"
        if operand.dtype
        else "of unknown type"
    )
    return f"{type_text} in shared memory, {_describe_descriptor(operand)}"


def _describe_descriptor(operand: SmemOperand) -> str:
    if not operand.checked:
        return "descriptor not known"
    values = {name: field_value(operand, name) for name in ("swizzle", "leading_byte_offset", "stride_byte_offset")}
    mode, lbo, sbo = ("?" if value is None else value for value in values.values())
    swizzle = f"swizzle {mode}" if isinstance(mode, SwizzleMode) else str(mode)
    word = word_shown(Known(operand.word.value & START_FREE, operand.word.mask), operand.arch)
    return f"{swizzle}, LBO {lbo}, SBO {sbo}, descriptor {word} + start"


def _describe_advance(row: list[SmemOperand]) -> str:
    distances = [distance(row[0], operand) for operand in row[1:]]
    if not distances:
        return ""
    return f", advanced by {', '.join('?' if m is None else str(16 * m) for m in distances)} bytes"
