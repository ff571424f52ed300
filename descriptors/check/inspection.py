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
    config = configuration(threads=threads, cluster=cluster, parameters=parameters, tensor_maps=tensor_maps)
    module = parse(text)
    judgements: dict[int, RunJudgement] = {}
    report, differing = _check_module(module, text, config, judgements)
    if differing:
        functions = [without(function, differing.get(number, ())) for number, function in enumerate(module.functions)]
        unaffected = {number: judgement for number, judgement in judgements.items() if number not in differing}
        report_if_agreeing, _ = _check_module(replace(module, functions=tuple(functions)), text, config, unaffected)
        report = _add_differences(report, report_if_agreeing, module, differing)
    return without_ignored(report, text)


def _check_module(
    module: Module, text: str, config: Configuration, judgements: dict[int, RunJudgement]
) -> tuple[Report, dict[int, list[Difference]]]:
    """Return the report of a module, and the accumulations of each function whose instruction descriptors differ.

    Args:
        module, text, config, judgements: as ``executed`` has them.
    """
    tensor_functions = [n for n, function in enumerate(module.functions) if function.having(*FAMILIES)]
    calls = calls_of(module)
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    unresolved: list[tuple[int, str]] = []
    differing: dict[int, list[Difference]] = {}
    multiplied = words = 0
    forms = _merge_target_findings([tuple(forms_of(function, module)) for function in module.functions], module)
    run, sizes = EXECUTION(module, text, config, judgements), shared_sizes(text)
    for number in tensor_functions:
        function = module.functions[number]
        graph = blocks(function)
        values = fold(function, module.variables, observed(function), graph)
        mmas = list(multiplications(function, values, module.target))
        multiplied += len(function.having(*_MULTIPLIES))
        if conflicts := list(differences(function, mmas, graph)):
            differing[number] = conflicts
        local_findings = [*_descriptor_findings(mmas, forms[number]), *_advance_findings(function, mmas, graph)]
        protocol = list(_protocol_findings(number, values, module, graph, calls, function.name in run.settled))
        local_findings += [row for row in protocol if isinstance(row, Finding)]
        undecided += [replace(row, function=function.name) for row in protocol if isinstance(row, Undecided)]
        findings += [replace(row, function=function.name) for row in local_findings]
        for mma in mmas:
            words += len(mma.operands) + (mma.use is not None)
            unresolved += _unresolved_descriptors(mma)
        for open_item in (*words_undecided(function, mmas, graph), *starts_undecided(function, mmas, sizes)):
            line = function.code[open_item.place].line
            if any(_decides(finding, line, open_item.what) for finding in (*local_findings, *run.findings)):
                continue
            undecided.append(
                Undecided(open_item.property, line, open_item.what, open_item.why, open_item.decides, function.name)
            )
        undecided += _unread_multiplications(function, mmas)
    shown, form_findings = [], list[Finding]()
    for number, function in enumerate(module.functions):
        wrong = [replace(row, function=function.name) for row in forms[number]]
        warp = len(function.having(*WARP_MMA))
        if number in tensor_functions or warp or wrong:
            shown.append(function.name)
        multiplied += warp
        form_findings += _drop_repeated(wrong, [*findings, *run.findings], function)
    form_findings += _shared_memory_findings(module, text)
    undecided += _version_doubts(module) if shown else ()
    findings = [*form_findings, *findings]
    reported = {(row.line, row.rule.name) for row in findings}
    run = replace(
        run,
        findings=tuple(
            row for row in run.findings
            if not reported & {(row.line, row.rule.name), (row.line, _FOLLOWS.get(row.rule.name, ""))}
        ),
    )  # fmt: skip
    parts = [
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
        findings=tuple(dict.fromkeys(sorted((row for part in parts for row in part.findings), key=_line_of))),
        scopes=tuple([scope for part in parts for scope in part.scopes]),
        undecided=tuple(sorted((row for part in parts for row in part.undecided), key=_line_of)),
        notes=tuple([note for part in parts for note in part.notes]),
        launches=run.launches,
    )
    return report, differing


def _decides(finding: Finding, line: int, what: str) -> bool:
    """Return whether a finding of the same line reports an error in an item that is otherwise undecided."""
    subject, _, matrix = what.rpartition(" of ")
    rule = {"advance": "word-advance", "base offset": "word-smem"}.get(subject)
    about = finding.line == line and finding.rule.name == rule
    return about and bool(re.search(rf"(^|of ){matrix}[ :]", finding.found))


def _add_differences(
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
    rows = [(module.functions[number].name, difference) for number, row in differing.items() for difference in row]
    causes_errors = len(agreeing.errors) < len(report.errors)
    certain = [(name, difference) for name, difference in rows if causes_errors or difference.is_certain]
    findings = [
        replace(finding(difference.line, "word-accumulation", difference.found, difference.opcode), function=name)
        for name, difference in certain
    ]
    question = "whether the instruction descriptors of an accumulation may differ"
    doubts = [
        Undecided("words", difference.line, question, f"{difference.found}; no error follows from it", "", name)
        for name, difference in rows if (name, difference) not in certain
    ]  # fmt: skip
    if certain:
        report = agreeing
        lines = ranges_text([difference.line for _, difference in certain])
        note = f"the rest was checked as if the instruction descriptors agreed (line {lines})"
        report = replace(report, notes=(*report.notes, note))
    return replace(
        report,
        findings=tuple(sorted((*findings, *report.findings), key=_line_of)),
        undecided=tuple(sorted((*doubts, *report.undecided), key=_line_of)),
    )


def _merge_target_findings(forms: list[tuple[Finding, ...]], module: Module) -> list[tuple[Finding, ...]]:
    """Return the findings of form of each function; replace those caused by a missing .target by one finding."""
    if module.target:
        return forms
    lacking = ("form-target", "form-version")
    remaining = [tuple(row for row in findings if row.rule.name not in lacking) for findings in forms]
    first = next(
        ((number, row) for number, findings in enumerate(forms) for row in findings if row.rule.name in lacking), None
    )
    if first is not None:
        number, first_finding = first
        missing = finding(
            first_finding.line, "form-directive", "the module has no .target directive", first_finding.instruction
        )
        remaining[number] = (missing, *remaining[number])
    return remaining


def _version_doubts(module: Module) -> Iterator[Undecided]:
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


def _drop_repeated(formed: Iterable[Finding], findings: Iterable[Finding], function: Function) -> Iterator[Finding]:
    """Yield the findings of form, without those that a more specific rule of the protocol reports."""
    reported = {(row.line, row.instruction, row.rule.name) for row in findings if row.function == function.name}
    specific = _MORE_SPECIFIC if function.having("tcgen05.alloc") else {}  # without one, the size is a fault of its own
    for row in formed:
        if not any((row.line, row.instruction, name) in reported for name in specific.get(row.rule.name, ())):
            yield row


def _line_of(item: Finding | Undecided) -> int:
    return item.line


def forms_of(function: Function, module: Module) -> Iterator[Finding]:
    r"""Yield what an assembler would reject in the instructions of a function.

    >>> module = parse(".version 9.5\n.target sm_107a\n.entry k() { fence.proxy.alias; fence.proxy.other; }")
    >>> [finding.instruction for finding in forms_of(module.functions[0], module)]
    ['fence.proxy.other']
    """
    class_of = lru_cache(maxsize=None)(function.classes.get)
    tensor = [function.code[index] for index in function.having("tcgen05.")]
    yield from group_findings(tensor)
    yield from column_findings(tensor)
    register_limit = registers(function.head) if function.entry else MOST_REGISTERS
    yield from limit_findings([function.code[index] for index in function.having("wgmma.mma_async")], register_limit)
    target, version = module.target, module.version
    for index in function.having(*FAMILIES, *WARP_MMA, *SYNTAX):
        instruction = function.code[index]
        violations: Iterable[tuple[str, str]] = ()
        if instruction.opcode.startswith(FAMILIES):
            violations = class_findings(instruction, class_of)
        elif instruction.opcode.startswith(WARP_MMA):
            violations = warp_findings(instruction, target, version, class_of)
        else:
            violations = syntax_findings(instruction, target, version, class_of)
        yield from (finding(instruction.line, name, fact, instruction.opcode) for name, fact in violations)
        if instruction.opcode.startswith("wgmma."):
            yield from wgmma_findings(instruction, target, version)
        elif instruction.opcode.startswith("tcgen05."):
            yield from tcgen05_findings(instruction, target, version)


def _shared_memory_findings(module: Module, text: str) -> Iterator[Finding]:
    """Yield the kernels whose static shared memory, as far as they name it, is more than their target allows."""
    sizes, limit = shared_sizes(text), static_shared(module.target)
    for function in module.functions:
        size = sum(size for name, (_, size) in sizes.items() if name in function.names)
        if function.entry and size > limit:
            fact = f"{function.name} has {size} bytes of static shared memory, and {module.target} allows {limit}"
            yield replace(finding(function.line, "form-shared", fact), function=function.name)


def _descriptor_findings(mmas: list[Multiplication], forms: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings about descriptors, except those in registers whose class is already reported."""
    class_findings_by_place = {
        (form.line, form.instruction): form.found for form in forms if form.rule.name == "form-class"
    }
    for mma in mmas:
        class_fact = class_findings_by_place.get((mma.line, mma.opcode), "")
        if mma.use is not None and mma.use.kind in INSTRUCTION_DESCRIPTORS:
            shown = " or ".join(f"{word:#010x}" for word in mma.idescs[:2])
            for fact in (*common_complaints(mma.idescs, mma.use)[0], *_lookup_table_violations(mma)):
                yield finding(mma.line, "word-idesc", f"{fact}; the instruction descriptor is {shown}", mma.opcode)
        for operand in mma.operands:
            for name, fact in smem_findings(operand) if f"descriptor of {operand.matrix}" not in class_fact else ():
                yield finding(mma.line, name, fact, mma.opcode)


def _lookup_table_violations(mma: Multiplication) -> Iterator[str]:
    """Yield the violations of an instruction descriptor if B is decompressed by a lookup table."""
    view, idesc = mma.view, mma.described
    if not isinstance(view, TensorMma) or view.table is None or idesc is None:
        return
    if (idesc.b_dtype, str(idesc.b_major)) != ("e4m3", "K"):
        yield f"B is {idesc.b_major}-major {idesc.b_dtype}, but .decompress::lut::b needs K-major e4m3"
    if (letter := datapath_of(idesc.m, idesc.cta_group, view.ws, idesc.sparse)[1]) in "BCF":
        yield f"M {idesc.m} has data path layout {letter}, which does not support a lookup table"


def _advance_findings(function: Function, mmas: list[Multiplication], graph: list[Block]) -> Iterator[Finding]:
    """Yield the findings about the advance of descriptors in each accumulation, except for K = 96."""
    mmas_by_index = {mma.index: mma for mma in mmas}
    for chain in chains(function, mmas, graph):
        other_mmas = [mma for mma in chain if mma.described is None or mma.described.k != 96]
        for index, name, fact in advance_findings([Step(mma.index, mma.operands, mma.elsewhere) for mma in other_mmas]):
            yield finding(mmas_by_index[index].line, name, fact, mmas_by_index[index].opcode)


def _protocol_findings(
    number: int, values: Values, module: Module, graph: list[Block], calls: Calls, settled: bool
) -> Iterator[Finding | Undecided]:
    """Yield the findings and undecided items about the order, without doubts that an execution resolved."""
    function = module.functions[number]
    differs = varying(function)
    rows = [
        *path_findings(function, values, module.variables, graph, differs, module.target),
        *serializations(module, number, graph, calls, differs),
        *stuck_waits(function, values),
    ]
    for index, item in rows:
        instruction = function.code[index]
        if isinstance(item, Doubt):
            if settled and (instruction.opcode.startswith("tcgen05.") or item.what.startswith("whether all threads")):
                continue
            yield Undecided(item.property, instruction.line, item.what, item.why, item.decides)
        else:
            yield of_protocol(instruction.line, item, instruction.opcode)


def _unresolved_descriptors(mma: Multiplication) -> list[tuple[int, str]]:
    """Return the line and name of each descriptor of a multiplication that is not known."""
    rows = [(mma.line, f"descriptor of {operand.matrix}") for operand in mma.operands if not operand.checked]
    if mma.use is not None and not mma.idescs:
        rows.append((mma.line, "instruction descriptor"))
    return rows


def _unread_multiplications(function: Function, mmas: list[Multiplication]) -> Iterator[Undecided]:
    """Yield an undecided item for each multiplication whose operands could not be read."""
    understood = {mma.index for mma in mmas}
    for index in function.having(*_MULTIPLIES):
        if index not in understood:
            line = function.code[index].line
            yield Undecided("words", line, "the descriptors", "the operands could not be read", "", function.name)
