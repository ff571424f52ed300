"""A PTX text in, every finding out: forms, words, and the protocol, for all functions with tensor-core instructions.

Nothing is guessed: a word that is no constant is counted as unresolved, with its line.
Source: as the rules, each with its own.

Law: a text without a tensor-core instruction has no finding.

>>> check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }").findings
()

Which findings are asked for: by level, by rule, and less those that a comment in the text says are meant.

A comment ``// descriptors: ignore RULE RULE`` is about its own line, or, alone on a line, about the next one with
code. What it leaves out is counted. Source: the form of the comment is ours.

Law: a comment leaves out its own line's findings of its rules, and nothing else.

>>> text = "a; // descriptors: ignore wgmma-wait\\n// descriptors: ignore word-smem wgmma-call\\n\\nb;"
>>> {line: sorted(rules) for line, rules in ignored(text).items()}
{1: ['wgmma-wait'], 4: ['wgmma-call', 'word-smem']}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from descriptors.check.acts import Values, asked
from descriptors.check.finding import Finding, Report, finding, of_protocol
from descriptors.check.flow import Block, blocks
from descriptors.check.fold import fold
from descriptors.check.instruction_uses import complaints
from descriptors.check.kernel_words import Step, advance_findings, smem_findings
from descriptors.check.multiplications import Multiplication, chains, multiplications
from descriptors.check.order import order, stuck
from descriptors.check.ptx_module import MOST, Function, Module, parse, registers
from descriptors.check.rules import ALL_RULES, Level
from descriptors.check.serialized import serialized
from descriptors.check.tcgen05_forms import tcgen05_findings
from descriptors.check.wgmma_forms import wgmma_findings
from descriptors.errors import DescriptorError, brief
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS

_COMMENT = re.compile(r"//[ \t]*descriptors:[ \t]*ignore\b([^\n]*)")


def rule_names(names: Iterable[str], where: str) -> frozenset[str]:
    """Names of rules, each of which has to be one.

    Args:
        names: the names.
        where: what they were found in, for the message.

    Raises:
        DescriptorError: if one is none.

    >>> rule_names(["wait"], "--rule")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: a rule must be one of descriptors check --rules, found 'wait'; --rule
    """
    found = frozenset(names)
    for name in sorted(found - ALL_RULES.keys()):
        near = get_close_matches(name, ALL_RULES, 1)
        close = f" (close to {near[0]})" if near else ""
        raise DescriptorError(
            f"check: a rule must be one of descriptors check --rules, found {brief(name)}{close}; {where}"
        )
    return found


def ignored(text: str) -> Mapping[int, frozenset[str]]:
    """The rules that comments leave out, by the line that they are about.

    Raises:
        DescriptorError: if a comment names no rule, or one that there is not.
    """
    found: dict[int, frozenset[str]] = {}
    if "descriptors:" not in text:
        return found
    waiting: frozenset[str] = frozenset()
    for line, written in enumerate(text.split("\n"), 1):
        if comment := _COMMENT.search(written):
            names = rule_names(comment[1].replace(",", " ").split(), f"the comment in line {line}")
            if not names:
                raise DescriptorError(f"check: a comment must name the rules to ignore, found none; line {line}")
            waiting |= names
        if waiting and written.partition("//")[0].strip():
            found[line], waiting = waiting, frozenset()
    return found


def heeded(report: Report, text: str) -> Report:
    """A report less what comments in its text leave out."""
    meant = ignored(text)
    if not meant:
        return report
    kept = tuple(one for one in report.findings if one.rule.name not in meant.get(one.line, ()))
    return _with(report, kept)


def _with(report: Report, kept: tuple[Finding, ...]) -> Report:
    return replace(report, findings=kept, left_out=report.left_out + len(report.findings) - len(kept))


def chosen(
    report: Report, levels: Collection[Level] = (), rules: Collection[str] = (), without: Collection[str] = ()
) -> Report:
    """A report with the findings that are asked for.

    Args:
        report: what was found.
        levels: the levels to keep; all if there are none.
        rules: the rules to keep, by name; all if there are none.
        without: rules to leave out.

    >>>
    >>> made = check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { wgmma.fence.sync.aligned; }")
    >>> [len(chosen(made, levels).findings) for levels in ((), (Level.ERROR,), (Level.ASKS,))]
    [1, 1, 0]
    >>> chosen(made, without={"form-target"}).headline
    '0 MMA instructions of sm_80: 0 errors and 0 remarks, 1 left out'
    """

    def kept(one: Finding) -> bool:
        name, level = one.rule.name, one.rule.level
        return (not levels or level in levels) and (not rules or name in rules) and name not in without

    return _with(report, tuple(one for one in report.findings if kept(one)))


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
    findings: list[Finding] = []
    unresolved: list[tuple[int, str]] = []
    counted = words = 0
    for number in held:
        function = module.functions[number]
        graph = blocks(function)
        values = fold(function, module.variables, asked(function), graph)
        found = list(multiplications(function, values))
        counted += sum(one.opcode.startswith(("wgmma.mma_async", "tcgen05.mma")) for one in function.code)
        findings += [*_forms(function, module), *_words(found), *_advances(function, found, graph)]
        findings += _protocol(number, values, module, graph)
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
    return heeded(report, text)


def _forms(function: Function, module: Module) -> Iterator[Finding]:
    room = registers(function.head) if function.entry else MOST
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


def _protocol(number: int, values: Values, module: Module, graph: list[Block]) -> Iterator[Finding]:
    function = module.functions[number]
    told = [
        *order(function, values, module.variables, graph),
        *serialized(module, number, graph),
        *stuck(function, values),
    ]
    for index, one in told:
        made = function.code[index]
        yield of_protocol(made.line, one, made.opcode)


def _unresolved(one: Multiplication) -> list[tuple[int, str]]:
    told = [(one.line, f"descriptor of {operand.matrix}") for operand in one.operands if not operand.resolved]
    if one.use is not None and one.idesc is None:
        told.append((one.line, "instruction descriptor"))
    return told
