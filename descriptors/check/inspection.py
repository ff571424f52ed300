"""A PTX text in, every finding out: forms, words, and the protocol, for all functions with tensor-core instructions.

Nothing is guessed: a word that is no constant is counted as unresolved, with its line.
Source: as the rules, each with its own.

Law: a text without a tensor-core instruction has no finding.

>>> check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }").findings
()
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.check.constant_folding import Values, fold, observed
from descriptors.check.control_flow import Block, blocks
from descriptors.check.instruction_forms import tcgen05_findings, wgmma_findings
from descriptors.check.kernel_report import Finding, Report, finding, of_protocol, without_ignored
from descriptors.check.kernel_words import Step, advance_findings, complaints, smem_findings
from descriptors.check.multiplications import Multiplication, chains, multiplications
from descriptors.check.paths import path_breaches, stuck_waits
from descriptors.check.ptx_module import MOST_REGISTERS, Function, Module, parse, registers
from descriptors.check.serialization import Calls, calls_of, serializations
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS

_FAMILIES = ("wgmma.", "tcgen05.")


def check_ptx(text: str) -> Report:
    """Everything that is wrong, or looks so, with the tensor-core instructions of a PTX text.

    A comment ``// descriptors: ignore RULE`` leaves out what a rule finds in its line, or in the next.

    Args:
        text: the PTX.

    Raises:
        DescriptorError: if it is no PTX text.

    Source: as ``descriptors.check.rules.ALL_RULES``.

    >>> made = check_ptx('''.version 8.8
    ... .target sm_100a
    ... .entry k(.param .u64 p) { tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 48; ret; }''')
    >>> [(one.line, one.rule.name) for one in made.errors]
    [(3, 'form-immediate'), (3, 'tcgen05-alloc-size')]
    """
    module = parse(text)
    held = [n for n, one in enumerate(module.functions) if any(i.opcode.startswith(_FAMILIES) for i in one.code)]
    calls = calls_of(module)
    findings: list[Finding] = []
    unresolved: list[tuple[int, str]] = []
    counted = words = 0
    for number in held:
        function = module.functions[number]
        graph = blocks(function)
        values = fold(function, module.variables, observed(function), graph)
        found = list(multiplications(function, values))
        counted += sum(one.opcode.startswith(("wgmma.mma_async", "tcgen05.mma")) for one in function.code)
        findings += [*_forms(function, module), *_words(found), *_advances(function, found, graph)]
        findings += _protocol(number, values, module, graph, calls)
        for one in found:
            words += len(one.operands) + (one.use is not None)
            unresolved += _unresolved(one)
    ordered = sorted(findings, key=lambda one: one.line)
    report = Report(
        target=module.target,
        functions=tuple(module.functions[number].name for number in held),
        multiplications=counted,
        words=words,
        resolved=words - len(unresolved),
        unresolved=tuple(unresolved),
        findings=tuple(dict.fromkeys(ordered)),
    )
    return without_ignored(report, text)


def _forms(function: Function, module: Module) -> Iterator[Finding]:
    room = registers(function.head) if function.entry else MOST_REGISTERS
    for one in function.code:
        if one.opcode.startswith("wgmma."):
            yield from wgmma_findings(one, module.target, room)
        elif one.opcode.startswith("tcgen05."):
            yield from tcgen05_findings(one, module.target)


def _words(found: list[Multiplication]) -> Iterator[Finding]:
    for one in found:
        if one.use is not None and one.idesc is not None and one.use.kind in INSTRUCTION_DESCRIPTORS:
            for told in complaints(one.idesc, one.use):
                yield finding(one.line, "word-idesc", f"found {one.idesc:#010x}: {told}", one.opcode)
        for operand in one.operands:
            for name, told in smem_findings(operand) if operand.dtype else ():
                yield finding(one.line, name, told, one.opcode)


def _advances(function: Function, found: list[Multiplication], graph: list[Block]) -> Iterator[Finding]:
    """The words of each accumulation; a sparse A and K = 96 go by other blocks of K."""
    lines = {one.index: one for one in found}
    for chain in chains(function, found, graph):
        plain = [one for one in chain if not one.view.sparse and (one.described is None or one.described.k != 96)]
        for index, name, told in advance_findings([Step(one.index, one.operands) for one in plain]):
            yield finding(lines[index].line, name, told, lines[index].opcode)


def _protocol(number: int, values: Values, module: Module, graph: list[Block], calls: Calls) -> Iterator[Finding]:
    function = module.functions[number]
    told = [
        *path_breaches(function, values, module.variables, graph),
        *serializations(module, number, graph, calls),
        *stuck_waits(function, values),
    ]
    for index, one in told:
        made = function.code[index]
        yield of_protocol(made.line, one, made.opcode)


def _unresolved(one: Multiplication) -> list[tuple[int, str]]:
    told = [(one.line, f"descriptor of {operand.matrix}") for operand in one.operands if not operand.resolved]
    if one.use is not None and one.idesc is None:
        told.append((one.line, "instruction descriptor"))
    return told
