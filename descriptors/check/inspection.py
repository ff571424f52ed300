r"""The check of a PTX text: forms, descriptors, protocol and execution of all functions with tensor-core instructions.

The check does not guess: a descriptor that is not a constant is undecided, and the report has its line. This module
combines the findings of the text with the judgement of ``EXECUTION``, which executes the kernels.
Source: the source of each rule.

Invariant: a text without tensor-core instructions has no finding.

>>> check_ptx(".version 8.8\n.target sm_80\n.entry k() { ret; }").findings
()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from descriptors.check.accumulation_descriptors import Difference, differences, without
from descriptors.check.execution.configuration import Configuration, configuration
from descriptors.check.execution.judgement import RunJudgement
from descriptors.check.execution.runs import shared_sizes
from descriptors.check.instruction_forms import (
    column_findings,
    group_findings,
    limit_findings,
    tcgen05_findings,
    wgmma_findings,
)
from descriptors.check.instruction_syntax import SYNTAX, syntax_findings
from descriptors.check.k_steps import Step, advance_findings
from descriptors.check.kernel_report import (
    Finding,
    Judgement,
    Report,
    Scope,
    Undecided,
    finding,
    of_protocol,
    without_ignored,
)
from descriptors.check.paths import path_findings, stuck_waits
from descriptors.check.ptx.constant_folding import Values, fold, observed
from descriptors.check.ptx.control_flow import Block, blocks
from descriptors.check.ptx.kernel_words import common_complaints, smem_findings
from descriptors.check.ptx.multiplications import Multiplication, TensorMma, chains, multiplications
from descriptors.check.ptx.ptx_module import MOST_REGISTERS, Function, Module, parse, registers
from descriptors.check.register_classes import class_findings
from descriptors.check.rules import Doubt
from descriptors.check.run_report import executed
from descriptors.check.scope import FAMILIES, WARP_MMA, read_of
from descriptors.check.serialization import Calls, calls_of, serializations, varying
from descriptors.check.warp_multiplications import warp_findings
from descriptors.check.words_undecided import starts_undecided, words_undecided
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS
from descriptors.targets import ARCHITECTURES, NEWEST, as_version, static_shared
from descriptors.text import ranges_text
from descriptors.tmem.accumulator import datapath_of
from layoutalg.frozen import replace

#: The function that judges the properties that need an execution: barriers, bytes, proxies, reuse and fragments.
EXECUTION: Callable[[Module, str, Configuration, dict[int, RunJudgement]], Judgement] = executed


def check_ptx(
    text: str,
    *,
    threads: Sequence[int] | None = None,
    cluster: Sequence[int] | None = None,
    parameters: Mapping[str, int] | None = None,
    tensor_maps: Mapping[str, int | str] | None = None,
) -> Report:
    """Check the tensor-core instructions of a PTX text.

    A comment ``// descriptors: ignore RULE`` removes the findings of a rule from its line, or from the next line.

    Args:
        text: the PTX text.
        threads: threads of a CTA along x, y, z, if the text does not have them.
        cluster: CTAs of a cluster along x, y, z, if the text does not have them.
        parameters: scalar parameters of the launch by name or number, with ``+`` and an offset in bytes in a structure.
        tensor_maps: boxes of tensor maps, as ``"64x128xbf16"`` or in bytes, by the parameter that is the tensor map or
            points to it.

    Raises:
        DescriptorError: if the text is not PTX, or no kernel has one of the parameters.

    Source: ``descriptors.check.rules.ALL_RULES``.

    >>> report = check_ptx('''.version 8.8
    ... .target sm_100a
    ... .entry k(.param .u64 p) { tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 48; ret; }''')
    >>> [(finding.line, finding.rule.name) for finding in report.errors]
    [(3, 'tcgen05-alloc-size'), (3, 'tcgen05-dealloc-missing')]
    """
    known = configuration(threads=threads, cluster=cluster, parameters=parameters, tensor_maps=tensor_maps)
    module = parse(text)
    judgements: dict[int, RunJudgement] = {}
    report, differing = _checked(module, text, known, judgements)
    if differing:
        functions = [without(one, differing.get(number, ())) for number, one in enumerate(module.functions)]
        others = {number: one for number, one in judgements.items() if number not in differing}
        agreeing, _ = _checked(replace(module, functions=tuple(functions)), text, known, others)
        report = _with_differences(report, agreeing, module, differing)
    return without_ignored(report, text)


def _checked(
    module: Module, text: str, known: Configuration, judgements: dict[int, RunJudgement]
) -> tuple[Report, dict[int, list[Difference]]]:
    """Return the report of a module, and the accumulations of each function whose instruction descriptors differ.

    Args:
        module, text, known, judgements: as ``executed`` has them.
    """
    held = [n for n, one in enumerate(module.functions) if one.having(*FAMILIES)]
    calls = calls_of(module)
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    unresolved: list[tuple[int, str]] = []
    differing: dict[int, list[Difference]] = {}
    multiplied = words = 0
    forms = _with_target([tuple(forms_of(function, module)) for function in module.functions], module)
    run, sizes = EXECUTION(module, text, known, judgements), shared_sizes(text)
    for number in held:
        function = module.functions[number]
        graph = blocks(function)
        values = fold(function, module.variables, observed(function), graph)
        found = list(multiplications(function, values, module.target))
        multiplied += len(function.having(*_MULTIPLIES))
        if conflicts := list(differences(function, found, graph)):
            differing[number] = conflicts
        made = [*_words(found, forms[number]), *_advances(function, found, graph)]
        protocol = list(_protocol(number, values, module, graph, calls, function.name in run.settled))
        made += [one for one in protocol if isinstance(one, Finding)]
        undecided += [replace(one, function=function.name) for one in protocol if isinstance(one, Undecided)]
        findings += [replace(one, function=function.name) for one in made]
        for one in found:
            words += len(one.operands) + (one.use is not None)
            unresolved += _unresolved(one)
        for row in (*words_undecided(function, found, graph), *starts_undecided(function, found, sizes)):
            line = function.code[row.place].line
            if any(_decides(finding, line, row.what) for finding in (*made, *run.findings)):
                continue
            undecided.append(Undecided(row.property, line, row.what, row.why, row.decides, function.name))
        undecided += _not_understood(function, found)
    shown, formed = [], list[Finding]()
    for number, function in enumerate(module.functions):
        wrong = [replace(one, function=function.name) for one in forms[number]]
        warp = len(function.having(*WARP_MMA))
        if number in held or warp or wrong:
            shown.append(function.name)
        multiplied += warp
        formed += _without_repeats(wrong, [*findings, *run.findings], function)
    formed += _shared(module, text)
    undecided += _newer_version(module) if shown else ()
    findings = [*formed, *findings]
    told = {(one.line, one.rule.name) for one in findings}
    run = replace(
        run,
        findings=tuple(
            one for one in run.findings
            if not told & {(one.line, one.rule.name), (one.line, _FOLLOWS.get(one.rule.name, ""))}
        ),
    )  # fmt: skip
    judged = [
        Judgement(
            (Scope("words", words, "descriptor word", words - len(unresolved)),), tuple(undecided), tuple(findings)
        ),
        read_of(module),
        run,
    ]
    report = Report(
        target=module.target,
        functions=tuple(shown),
        multiplications=multiplied,
        words=words,
        resolved=words - len(unresolved),
        unresolved=tuple(unresolved),
        findings=tuple(dict.fromkeys(sorted((row for one in judged for row in one.findings), key=_line))),
        scopes=tuple([scope for one in judged for scope in one.scopes]),
        undecided=tuple(sorted((row for one in judged for row in one.undecided), key=_line)),
        notes=tuple([note for one in judged for note in one.notes]),
        launches=run.launches,
    )
    return report, differing


def _decides(finding: Finding, line: int, what: str) -> bool:
    """Return whether a finding of the same line reports that what is undecided otherwise is wrong."""
    subject, _, matrix = what.rpartition(" of ")
    rule = {"advance": "word-advance", "base offset": "word-smem"}.get(subject)
    about = finding.line == line and finding.rule.name == rule
    return about and bool(re.search(rf"(^|of ){matrix}[ :]", finding.found))


def _with_differences(
    report: Report, agreeing: Report, module: Module, differing: Mapping[int, Sequence[Difference]]
) -> Report:
    """Return a report with the instruction descriptors that differ within an accumulation.

    A difference that may be intended is an error if other errors disappear without it. If a difference is an error, its
    consequences are left out: the rest of the report is that of the module in which the descriptors agree.

    Args:
        report: the report of the module.
        agreeing: the report of the module with descriptors that agree.
        module: the module.
        differing: the differences, by the number of the function.
    """
    rows = [(module.functions[number].name, one) for number, row in differing.items() for one in row]
    followed = len(agreeing.errors) < len(report.errors)
    wrong = [(name, one) for name, one in rows if followed or one.is_certain]
    findings = [
        replace(finding(one.line, "word-accumulation", one.found, one.opcode), function=name) for name, one in wrong
    ]
    what = "whether the instruction descriptors of an accumulation may differ"
    doubts = [
        Undecided("words", one.line, what, f"{one.found}; no error follows from it", "", name)
        for name, one in rows if (name, one) not in wrong
    ]  # fmt: skip
    if wrong:
        report = agreeing
        lines = ranges_text([one.line for _, one in wrong])
        note = f"the rest was checked as if the instruction descriptors agreed (line {lines})"
        report = replace(report, notes=(*report.notes, note))
    return replace(
        report,
        findings=tuple(sorted((*findings, *report.findings), key=_line)),
        undecided=tuple(sorted((*doubts, *report.undecided), key=_line)),
    )


def _with_target(forms: list[tuple[Finding, ...]], module: Module) -> list[tuple[Finding, ...]]:
    """Return the findings of form of each function; replace those caused by a missing .target by one finding."""
    if module.target:
        return forms
    lacking = ("form-target", "form-version")
    kept = [tuple(one for one in found if one.rule.name not in lacking) for found in forms]
    first = next(
        ((number, one) for number, found in enumerate(forms) for one in found if one.rule.name in lacking), None
    )
    if first is not None:
        number, one = first
        missing = finding(one.line, "form-directive", "the module has no .target directive", one.instruction)
        kept[number] = (missing, *kept[number])
    return kept


def _newer_version(module: Module) -> Iterator[Undecided]:
    """Yield an undecided item if the version of a module is newer than the known forms."""
    newest = max((NEWEST, *(row.ptx for row in ARCHITECTURES)), key=as_version)
    if as_version(module.version) > as_version(newest):
        why = f"it is newer than {newest}, the newest version whose instructions are known"
        yield Undecided("forms", 1, f".version {module.version}", why)


_MULTIPLIES = ("wgmma.mma_async", "tcgen05.mma")
#: Rules of form, each with the rules of the protocol that are more specific about the same operand.
_MORE_SPECIFIC = {"form-immediate": ("tcgen05-alloc-size", "tcgen05-dealloc-unknown")}
#: Rules of the execution whose finding at a line follows from that of a rule of the protocol at the same line.
_FOLLOWS = {"barrier-hang": "tcgen05-alloc-full", "tcgen05-dealloc-early": "tcgen05-unallocated"}


def _without_repeats(formed: Iterable[Finding], findings: Iterable[Finding], function: Function) -> Iterator[Finding]:
    """Yield the findings of form, without those that a more specific rule of the protocol reports."""
    told = {(one.line, one.instruction, one.rule.name) for one in findings if one.function == function.name}
    specific = _MORE_SPECIFIC if function.having("tcgen05.alloc") else {}  # without one, the size is a fault of its own
    for one in formed:
        if not any((one.line, one.instruction, name) in told for name in specific.get(one.rule.name, ())):
            yield one


def _line(one: Finding | Undecided) -> int:
    return one.line


def forms_of(function: Function, module: Module) -> Iterator[Finding]:
    r"""Yield what an assembler would reject in the instructions of a function.

    >>> module = parse(".version 9.5\n.target sm_107a\n.entry k() { fence.proxy.alias; fence.proxy.other; }")
    >>> [one.instruction for one in forms_of(module.functions[0], module)]
    ['fence.proxy.other']
    """
    class_of = lru_cache(maxsize=None)(function.classes.get)
    tensor = [function.code[index] for index in function.having("tcgen05.")]
    yield from group_findings(tensor)
    yield from column_findings(tensor)
    room = registers(function.head) if function.entry else MOST_REGISTERS
    yield from limit_findings([function.code[index] for index in function.having("wgmma.mma_async")], room)
    target, version = module.target, module.version
    for index in function.having(*FAMILIES, *WARP_MMA, *SYNTAX):
        one = function.code[index]
        violations: Iterable[tuple[str, str]] = ()
        if one.opcode.startswith(FAMILIES):
            violations = class_findings(one, class_of)
        elif one.opcode.startswith(WARP_MMA):
            violations = warp_findings(one, target, version, class_of)
        else:
            violations = syntax_findings(one, target, version, class_of)
        yield from (finding(one.line, name, fact, one.opcode) for name, fact in violations)
        if one.opcode.startswith("wgmma."):
            yield from wgmma_findings(one, target, version)
        elif one.opcode.startswith("tcgen05."):
            yield from tcgen05_findings(one, target, version)


def _shared(module: Module, text: str) -> Iterator[Finding]:
    """Yield the kernels whose static shared memory, as far as they name it, is more than their target allows."""
    sizes, most = shared_sizes(text), static_shared(module.target)
    for function in module.functions:
        size = sum(size for name, (_, size) in sizes.items() if name in function.names)
        if function.entry and size > most:
            fact = f"{function.name} has {size} bytes of static shared memory, and {module.target} allows {most}"
            yield replace(finding(function.line, "form-shared", fact), function=function.name)


def _words(found: list[Multiplication], forms: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings about descriptors, except those in registers whose class is already reported."""
    other = {(one.line, one.instruction): one.found for one in forms if one.rule.name == "form-class"}
    for one in found:
        wrong = other.get((one.line, one.opcode), "")
        if one.use is not None and one.use.kind in INSTRUCTION_DESCRIPTORS:
            shown = " or ".join(f"{word:#010x}" for word in one.idescs[:2])
            for told in (*common_complaints(one.idescs, one.use)[0], *_of_table(one)):
                yield finding(one.line, "word-idesc", f"instruction descriptor {shown}: {told}", one.opcode)
        for operand in one.operands:
            for name, told in smem_findings(operand) if f"descriptor of {operand.matrix}" not in wrong else ():
                yield finding(one.line, name, told, one.opcode)


def _of_table(one: Multiplication) -> Iterator[str]:
    """Yield the violations of an instruction descriptor if B is decompressed by a lookup table."""
    view, read = one.view, one.described
    if not isinstance(view, TensorMma) or view.table is None or read is None:
        return
    if (read.b_dtype, str(read.b_major)) != ("e4m3", "K"):
        yield f"B is {read.b_major}-major {read.b_dtype}, but .decompress::lut::b needs K-major e4m3"
    if (letter := datapath_of(read.m, read.cta_group, view.ws, read.sparse)[1]) in "BCF":
        yield f"M {read.m} has data path layout {letter}, which does not support a lookup table"


def _advances(function: Function, found: list[Multiplication], graph: list[Block]) -> Iterator[Finding]:
    """Yield the findings about the advance of descriptors in each accumulation, except for K = 96."""
    lines = {one.index: one for one in found}
    for chain in chains(function, found, graph):
        plain = [one for one in chain if one.described is None or one.described.k != 96]
        for index, name, told in advance_findings([Step(one.index, one.operands, one.elsewhere) for one in plain]):
            yield finding(lines[index].line, name, told, lines[index].opcode)


def _protocol(
    number: int, values: Values, module: Module, graph: list[Block], calls: Calls, settled: bool
) -> Iterator[Finding | Undecided]:
    """Yield the findings and undecided items about the order, without doubts that an execution resolved."""
    function = module.functions[number]
    differs = varying(function)
    told = [
        *path_findings(function, values, module.variables, graph, differs, module.target),
        *serializations(module, number, graph, calls, differs),
        *stuck_waits(function, values),
    ]
    for index, one in told:
        instruction = function.code[index]
        if isinstance(one, Doubt):
            if settled and (instruction.opcode.startswith("tcgen05.") or one.what.startswith("whether all threads")):
                continue
            yield Undecided(one.property, instruction.line, one.what, one.why, one.decides)
        else:
            yield of_protocol(instruction.line, one, instruction.opcode)


def _unresolved(one: Multiplication) -> list[tuple[int, str]]:
    """Return the line and name of each descriptor of a multiplication that is not known."""
    told = [(one.line, f"descriptor of {operand.matrix}") for operand in one.operands if not operand.checked]
    if one.use is not None and not one.idescs:
        told.append((one.line, "instruction descriptor"))
    return told


def _not_understood(function: Function, found: list[Multiplication]) -> Iterator[Undecided]:
    """Yield an undecided item for each multiplication whose operands could not be read."""
    read = {one.index for one in found}
    for index in function.having(*_MULTIPLIES):
        if index not in read:
            line = function.code[index].line
            yield Undecided("words", line, "the descriptors", "the operands could not be read", "", function.name)
