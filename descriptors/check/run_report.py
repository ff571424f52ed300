r"""The part of a report that comes from executing the kernels: barriers, bytes, proxies, reuse and fragments.

These properties are checked if all kernels of a text were executed to their ends. The report lists what an execution
could not check, and names the launches: threads, clusters, and the values of scalar parameters.

Invariant: a property of a kernel that was not executed is not clean.

>>> from descriptors.check.ptx.ptx_module import parse
>>> head = ".version 8.8\n.target sm_90a\n.shared .align 8 .b8 b[8];\n.entry k() .reqntid 32"
>>> wait = "wgmma.fence.sync.aligned; L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
>>> def of(text):
...     judgement = executed(parse(text), text)
...     return [finding.rule.name for finding in judgement.findings]
>>> init = "elect.sync _|e, -1; @e mbarrier.init.shared.b64 [b], 32; bar.sync 0;"
>>> of(f"{head} {{ {init} {wait} }}")
['barrier-hang']
>>> of(f"{head} {{ {init} mbarrier.arrive.shared.b64 _, [b]; {wait} }}")
[]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from descriptors.check.execution.boxes import disagreement, misfit
from descriptors.check.execution.configuration import Configuration, parameter_text
from descriptors.check.execution.counts import MOST, Counts
from descriptors.check.execution.evidence import AFTER, ALL, LANES, UNFILLED, Blind
from descriptors.check.execution.judgement import CLUSTER, RunJudgement, judge
from descriptors.check.execution.launch import launch_text
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.outcomes import is_wrong
from descriptors.check.execution.program import EVENTS, Program, is_event, parameter_names, program
from descriptors.check.execution.run_policy import FILE_LIMIT, LIMIT, LITTLE
from descriptors.check.execution.runs import box_sizes, launches, run, trials, unlaunchable
from descriptors.check.kernel_report import ExecutedLaunch, Finding, Judgement, Moment, Scope, Undecided
from descriptors.check.opcode_effects import EXTERNAL, RUNTIME, Effect, effect_of
from descriptors.check.ptx.ptx_module import Function, Module
from descriptors.check.rules import ALL_RULES
from descriptors.check.scope import not_run
from descriptors.check.serialization import varying
from descriptors.text import counted

_UNKNOWN = Configuration()
#: Largest number of characters of a name in a note.
NAME = 40
#: Largest number of scalar parameters that a note names one by one.
NAMED = 8
#: The information that would decide an undecided item.
_DECIDES = {
    CLUSTER: "the launch: --cluster 2x1x1",
}


def executed(
    module: Module, text: str, config: Configuration = _UNKNOWN, judgements: dict[int, RunJudgement] | None = None
) -> Judgement:
    """Return the judgement from executing the kernels of a module.

    Args:
        module: the module.
        text: the PTX text of the module.
        config: the values of the launch that the user gave.
        judgements: judgements of kernels that were executed before, by the number of the function; those of the other
            kernels are added.

    Raises:
        DescriptorError: if the user gave a parameter that no kernel has.
    """
    config.require([parameter_names(function) for function in module.functions if function.entry])
    unchecked = not_run(module)
    scopes = unchecked.scopes
    if not any(scope.number for scope in scopes):
        return Judgement(scopes)
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    notes: list[str] = []
    launches_run: list[ExecutedLaunch] = []
    settled: set[str] = set()
    completed, steps = True, 0
    judgements = {} if judgements is None else judgements
    for number, function in enumerate(module.functions):
        if not _needs_execution(function):
            continue
        if not function.entry:
            undecided += [
                Undecided(name, function.line, function.name, "only kernels are executed", "", function.name)
                for name in ALL
            ]
            completed = False
            continue
        if why := unlaunchable(function, config):
            undecided += _not_executed(function, why, "a launch within these limits: --threads, --cluster")
            completed = False
            continue
        if steps > FILE_LIMIT:
            why = f"the kernels before it took {steps} steps, and the limit of a file is {FILE_LIMIT}"
            undecided += _not_executed(function, why, "a file with this kernel alone")
            completed = False
            continue
        if _is_idle(function):
            undecided += _unfilled_operands(function)
            notes.append(
                f"{_shorten_name(function)} was not executed: it does not write shared memory or wait for a barrier"
            )
            continue
        if number not in judgements:
            own = judge(function, text, config, module.target)
            judgements[number] = _merge_box_contradiction(own, function, text, config, module.target)
        judgement = judgements[number]
        steps += judgement.steps
        completed = completed and bool(judgement.ended)
        doubts = [row for row in judgement.blind if row.what != LANES]
        if judgement.ended and not any(row.properties == ALL or "tensor memory" in row.properties for row in doubts):
            settled.add(function.name)
        findings += _witness_findings(function, judgement)
        undecided += _undecided_items(function, judgement)
        functions = RUNTIME.union(called.name for called in module.functions)
        undecided += _not_modeled(function, {scope.property for scope in scopes if scope.number}, functions)
        notes.append(_launch_note(function, judgement))
        launches_run += _executed_launches(function, judgement)
    checked = tuple(
        [Scope(scope.property, scope.number, scope.unit, scope.number if completed else 0) for scope in scopes]
    )
    return Judgement(
        checked, tuple(dict.fromkeys(undecided)), tuple(findings), tuple(notes), frozenset(settled), tuple(launches_run)
    )


def _not_executed(function: Function, why: str, decides: str) -> list[Undecided]:
    """Return the undecided items of a kernel that is not executed."""
    return [Undecided(name, function.line, "the kernel was not executed", why, decides, function.name) for name in ALL]


#: Instructions that make threads diverge if their guard differs between threads.
_GUARDED = ("bra", "ret", "exit", "trap", "wgmma.")
#: State spaces of ordinary stores that are not shared memory.
_OTHER_SPACES = {"global", "local", "param", "param::func", "param::entry"}


def _is_idle(function: Function) -> bool:
    r"""Return whether an execution decides nothing: the only events are ``wgmma`` that all threads execute together.

    Such a kernel does not write shared memory, so no two accesses of the same bytes need an order, and it waits only
    for multiplications that every warp issues.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> def of(body):
    ...     text = f".version 8.8\n.entry k() {{ wgmma.fence.sync.aligned; {body} ret; }}"
    ...     return _is_idle(parse(text).functions[0])
    >>> apart = "mov.u32 a, %tid.x; setp.eq.u32 p, a, 0; @p ret;"
    >>> of("@p bra L; L: st.global.u32 [q], 0;"), of("st.u32 [q], 0;"), of(apart)
    (True, False, False)
    """
    varying_registers = varying(function)
    for instruction in function.code:
        qualifiers = set(instruction.qualifiers)
        stores = instruction.qualifiers[0] in ("st", "atom", "red") and not qualifiers & _OTHER_SPACES
        diverges = instruction.predicate in varying_registers and instruction.opcode.startswith(_GUARDED)
        unknown = effect_of(instruction.opcode).effect is Effect.NOT_MODELED or instruction.opcode.startswith(
            ("call", "brx")
        )
        if stores or diverges or unknown:
            return False
        if (
            instruction.opcode.startswith(EVENTS)
            and is_event(instruction)
            and not instruction.opcode.startswith("wgmma.")
        ):
            return False
    return True


def _unfilled_operands(function: Function) -> list[Undecided]:
    """Return the undecided item for the operands of a kernel that does not fill them."""
    places = function.having("wgmma.mma_async")[:1]
    return [Undecided("reuse", function.code[index].line, *UNFILLED, "", function.name) for index in places]


def _merge_box_contradiction(
    judgement: RunJudgement, function: Function, text: str, config: Configuration, target: str
) -> RunJudgement:
    """Return the judgement with one finding if the given boxes contradict the bytes that the kernel expects or reads.

    The other findings may follow from the wrong boxes, so they are counted and left out. A contradiction with the bytes
    that are read is certain only if the kernel has no finding with boxes that are consistent with them.
    """
    if not config.tensor_maps or not is_wrong(judgement.witnesses):
        return judgement
    kernel = program(function, target)
    boxes = config.boxes(kernel.names)
    cause = next(
        (
            contradiction
            for machine in _run_without_boxes(kernel, text, config)
            if (contradiction := disagreement(machine, boxes))
        ),
        None,
    )
    bytes_ = "expected bytes"
    if cause is None:
        config_without_boxes = config._replace(tensor_maps={}, box_rows={}, box_types={})
        consistent = judge(function, text, config_without_boxes, target)
        if not consistent.ended or is_wrong(consistent.witnesses):
            return judgement
        machine = next(_run_without_boxes(kernel, text, config))
        cause, bytes_ = misfit(machine, boxes, box_sizes(machine)), "bytes that are read"
    if cause is None:
        return judgement
    others = len(judgement.witnesses)
    why = f"the given boxes contradict the {bytes_}; {counted(others, 'finding')} left out"
    note = Blind(("bytes", "proxies", "reuse"), function.code[cause.place].line, AFTER, why)
    return judgement._replace(
        witnesses=(cause,), blind=(*(item for item in judgement.blind if item.what != note.what), note)
    )


def _run_without_boxes(kernel: Program, text: str, config: Configuration) -> Iterator[Machine]:
    """Yield the executions of a kernel without the given boxes, up to the limit of steps."""
    attempts, steps = trials(kernel, text, config._replace(tensor_maps={}))
    yield attempts[0].run.machine
    for launch in launches(kernel, attempts[0]):
        if steps > LIMIT:
            return
        machine = run(kernel, launch._replace(sizes=None)).machine
        steps += machine.count
        yield machine


def _needs_execution(function: Function) -> bool:
    """Return whether a function has instructions that an execution checks."""
    return any(instruction.opcode.startswith(EVENTS) and is_event(instruction) for instruction in function.code)


def _witness_findings(function: Function, judgement: RunJudgement) -> Iterator[Finding]:
    for witness in judgement.witnesses:
        instruction = function.code[witness.place]
        moment = Moment(witness.round, witness.rounds, witness.other, witness.other_round, witness.parameters)
        rule = ALL_RULES[witness.rule]
        yield Finding(instruction.line, rule, witness.found, instruction.opcode, (), function.name, moment)


def _undecided_items(function: Function, judgement: RunJudgement) -> Iterator[Undecided]:
    has_fragment_errors = any(witness.rule.startswith("fragment") for witness in judgement.witnesses)
    for item in judgement.blind:
        for name in () if has_fragment_errors and item.properties == ("fragments",) else item.properties:
            yield Undecided(
                name, item.line, item.what, item.why, item.decides or _DECIDES.get(item.what, ""), function.name
            )


def _not_modeled(function: Function, properties: Collection[str], functions: Collection[str]) -> Iterator[Undecided]:
    """Yield the instructions whose effect is not modeled, for each property that they leave undecided.

    Args:
        function: the kernel.
        properties: the properties of which the text has items.
        functions: functions that are in the text or have no effect on these properties.
    """
    rows: dict[tuple[str, str, str], list[int]] = {}
    for instruction in function.code:
        effect = effect_of(instruction.opcode)
        called = any(isinstance(name, str) and name in functions for name in instruction.operands)
        if instruction.opcode.startswith("call") and not called:
            effect = EXTERNAL
        if effect.effect is Effect.NOT_MODELED:
            for name in [name for name in effect.properties if name in properties]:
                rows.setdefault((name, ".".join(instruction.qualifiers[:2]), effect.reason), []).append(
                    instruction.line
                )
    for (name, opcode, reason), lines in rows.items():
        what = opcode if len(lines) == 1 else f"{len(lines)} {opcode}"
        why = f"{Effect.NOT_MODELED.value}: {reason}"
        yield Undecided(name, lines[0], what, why, "", function.name)


def _validity_text(function: Function, counts: Counts) -> str:
    """Return the values of a parameter for which the verdict is valid because the state of the kernel repeats."""
    start = f" from {counts.start} on" if counts.start > counts.step else ""
    others = "" if counts.alone else f" if the others are {LITTLE}"
    period = f"every {counts.turns} iterations" if counts.turns > 1 else "every iteration"
    values = "value" if counts.step == 1 else f"multiple of {counts.step}"
    subject = f"every {values} of {_parameter_name(function, counts.parameter)}"
    overflows = counts.end < MOST - counts.step * counts.turns
    end = f" up to {counts.end // counts.step * counts.step}" if overflows else ""
    return f"; valid for {subject}{start}{end}{others} (behavior repeats {period})"


def _shorten_name(function: Function) -> str:
    """Return the name of a kernel, cut to ``NAME`` characters."""
    return function.name if len(function.name) <= NAME else f"{function.name[:NAME]}..."


def _launch_note(function: Function, judgement: RunJudgement) -> str:
    """Return one line about the launches that were executed."""
    launch = judgement.launch
    scalars = [f"{_parameter_name(function, key)} = {value}" for key, value in launch.scalars.items()]
    parts = [launch_text(launch), *scalars]
    parameter_values = list(_parameter_values(function, judgement))
    validity = "".join(_validity_text(function, counts) for counts in judgement.closed)
    assumed = f"; assumes {', '.join(judgement.assumed)}" if judgement.assumed else ""
    name = _shorten_name(function)
    each = ", one execution for each value" if len(judgement.executed) > 1 else ""
    values = f"; scalar parameters{each}: {'; '.join(parameter_values)}" if parameter_values else ""
    unfinished = "" if judgement.ended else "; no execution was completed"
    return f"{name} was executed with {', '.join(parts)}{values}{unfinished}{validity}{assumed}"


def _parameter_values(function: Function, judgement: RunJudgement) -> Iterator[str]:
    """Yield the scalar parameters of the executed launches, and which executions were not completed."""
    free = list(
        dict.fromkeys(
            key
            for execution in judgement.executed
            for key in execution.parameters
            if key not in judgement.launch.scalars
        )
    )
    if not free:
        return
    all_names = " = ".join(_parameter_name(function, key) for key in free)
    if len(free) > NAMED:
        all_names = f"all {len(free)} that are not given"
    rows: dict[tuple[str, str], dict[str, None]] = {}
    for execution in judgement.executed:
        varied = execution.varied is not None and free != [execution.varied]
        name = _parameter_name(function, execution.varied) if varied and execution.varied is not None else all_names
        value = (
            execution.parameters.get(execution.varied, execution.others)
            if execution.varied is not None
            else execution.others
        )
        end = "" if execution.ended else f" (not completed, {execution.steps} steps)"
        rows.setdefault((name, f", others = {execution.others}" if varied else ""), {})[f"{value}{end}"] = None
    for (name, others), values in rows.items():
        yield f"{name} = {', '.join(values)}{others}"


def _parameter_name(function: Function, key: tuple[str, int]) -> str:
    """Return a parameter as ``--param`` accepts it; a long name is shown without the name of its kernel."""
    name, offset = key
    short_name = name.removeprefix(f"{function.name}_") if len(name) > NAME // 2 else name
    return parameter_text((short_name, offset))


def _executed_launches(function: Function, judgement: RunJudgement) -> Iterator[ExecutedLaunch]:
    """Yield the launches that were executed."""
    for execution in judgement.executed:
        values = {parameter_text(key): value for key, value in execution.parameters.items()}
        launch = judgement.launch
        yield ExecutedLaunch(
            function.name, launch.threads, launch.cluster, tuple(values.items()), execution.ended, execution.steps
        )
