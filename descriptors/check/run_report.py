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
    module: Module, text: str, known: Configuration = _UNKNOWN, judgements: dict[int, RunJudgement] | None = None
) -> Judgement:
    """Return the judgement from executing the kernels of a module.

    Args:
        module: the module.
        text: the PTX text of the module.
        known: the values of the launch that the user gave.
        judgements: judgements of kernels that were executed before, by the number of the function; those of the other
            kernels are added.

    Raises:
        DescriptorError: if the user gave a parameter that no kernel has.
    """
    known.require([parameter_names(one) for one in module.functions if one.entry])
    unseen = not_run(module)
    scopes = unseen.scopes
    if not any(scope.number for scope in scopes):
        return Judgement(scopes)
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    notes: list[str] = []
    recorded: list[ExecutedLaunch] = []
    settled: set[str] = set()
    ran, steps = True, 0
    judgements = {} if judgements is None else judgements
    for number, function in enumerate(module.functions):
        if not _asks(function):
            continue
        if not function.entry:
            undecided += [
                Undecided(name, function.line, function.name, "only kernels are executed", "", function.name)
                for name in ALL
            ]
            ran = False
            continue
        if why := unlaunchable(function, known):
            undecided += _not_run(function, why, "a launch within these limits: --threads, --cluster")
            ran = False
            continue
        if steps > FILE_LIMIT:
            why = f"the kernels before it took {steps} steps, and the limit of a file is {FILE_LIMIT}"
            undecided += _not_run(function, why, "a file with this kernel alone")
            ran = False
            continue
        if _is_idle(function):
            undecided += _unfilled(function)
            notes.append(f"{_name(function)} was not executed: it does not write shared memory or wait for a barrier")
            continue
        if number not in judgements:
            own = judge(function, text, known, module.target)
            judgements[number] = _agreed(own, function, text, known, module.target)
        told = judgements[number]
        steps += told.steps
        ran = ran and bool(told.ended)
        unfollowed = [row for row in told.blind if row.what != LANES]
        if told.ended and not any(row.properties == ALL or "tensor memory" in row.properties for row in unfollowed):
            settled.add(function.name)
        findings += _findings(function, told)
        undecided += _undecided(function, told)
        functions = RUNTIME.union(one.name for one in module.functions)
        undecided += _not_modeled(function, {one.property for one in scopes if one.number}, functions)
        notes.append(_note(function, told))
        recorded += _record(function, told)
    looked = tuple([Scope(one.property, one.number, one.unit, one.number if ran else 0) for one in scopes])
    return Judgement(
        looked, tuple(dict.fromkeys(undecided)), tuple(findings), tuple(notes), frozenset(settled), tuple(recorded)
    )


def _not_run(function: Function, why: str, decides: str) -> list[Undecided]:
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
    differs = varying(function)
    for one in function.code:
        words = set(one.qualifiers)
        stores = one.qualifiers[0] in ("st", "atom", "red") and not words & _OTHER_SPACES
        apart = one.predicate in differs and one.opcode.startswith(_GUARDED)
        unknown = effect_of(one.opcode).effect is Effect.NOT_MODELED or one.opcode.startswith(("call", "brx"))
        if stores or apart or unknown:
            return False
        if one.opcode.startswith(EVENTS) and is_event(one) and not one.opcode.startswith("wgmma."):
            return False
    return True


def _unfilled(function: Function) -> list[Undecided]:
    """Return the undecided item for the operands of a kernel that does not fill them."""
    places = function.having("wgmma.mma_async")[:1]
    return [Undecided("reuse", function.code[index].line, *UNFILLED, "", function.name) for index in places]


def _agreed(told: RunJudgement, function: Function, text: str, known: Configuration, target: str) -> RunJudgement:
    """Return the judgement with one finding if the given boxes contradict the bytes that the kernel expects or reads.

    The other findings may follow from the wrong boxes, so they are counted and left out. A contradiction with the bytes
    that are read is certain only if the kernel has no finding with boxes that are consistent with them.
    """
    if not known.tensor_maps or not is_wrong(told.witnesses):
        return told
    made = program(function, target)
    boxes = known.boxes(made.names)
    cause = next((one for machine in _unsized(made, text, known) if (one := disagreement(machine, boxes))), None)
    bytes_ = "expected bytes"
    if cause is None:
        free = known._replace(tensor_maps={}, box_rows={}, box_types={})
        consistent = judge(function, text, free, target)
        if not consistent.ended or is_wrong(consistent.witnesses):
            return told
        machine = next(_unsized(made, text, known))
        cause, bytes_ = misfit(machine, boxes, box_sizes(machine)), "bytes that are read"
    if cause is None:
        return told
    others = len(told.witnesses)
    why = f"the given boxes contradict the {bytes_}; {counted(others, 'finding')} left out"
    row = Blind(("bytes", "proxies", "reuse"), function.code[cause.place].line, AFTER, why)
    return told._replace(witnesses=(cause,), blind=(*(one for one in told.blind if one.what != row.what), row))


def _unsized(made: Program, text: str, known: Configuration) -> Iterator[Machine]:
    """Yield the executions of a kernel without the given boxes, up to the limit of steps."""
    held, steps = trials(made, text, known._replace(tensor_maps={}))
    yield held[0].run.machine
    for launch in launches(made, held[0]):
        if steps > LIMIT:
            return
        machine = run(made, launch._replace(sizes=None)).machine
        steps += machine.count
        yield machine


def _asks(function: Function) -> bool:
    """Return whether a function has instructions that an execution checks."""
    return any(one.opcode.startswith(EVENTS) and is_event(one) for one in function.code)


def _findings(function: Function, told: RunJudgement) -> Iterator[Finding]:
    for witness in told.witnesses:
        instruction = function.code[witness.place]
        moment = Moment(witness.round, witness.rounds, witness.other, witness.other_round, witness.parameters)
        rule = ALL_RULES[witness.rule]
        yield Finding(instruction.line, rule, witness.found, instruction.opcode, (), function.name, moment)


def _undecided(function: Function, told: RunJudgement) -> Iterator[Undecided]:
    wrong = any(one.rule.startswith("fragment") for one in told.witnesses)
    for one in told.blind:
        for name in () if wrong and one.properties == ("fragments",) else one.properties:
            yield Undecided(name, one.line, one.what, one.why, one.decides or _DECIDES.get(one.what, ""), function.name)


def _not_modeled(function: Function, properties: Collection[str], functions: Collection[str]) -> Iterator[Undecided]:
    """Yield the instructions whose effect is not modeled, for each property that they leave undecided.

    Args:
        function: the kernel.
        properties: the properties of which the text has items.
        functions: functions that are in the text or have no effect on these properties.
    """
    rows: dict[tuple[str, str, str], list[int]] = {}
    for one in function.code:
        found = effect_of(one.opcode)
        called = any(isinstance(name, str) and name in functions for name in one.operands)
        if one.opcode.startswith("call") and not called:
            found = EXTERNAL
        if found.effect is Effect.NOT_MODELED:
            for name in [name for name in found.properties if name in properties]:
                rows.setdefault((name, ".".join(one.qualifiers[:2]), found.reason), []).append(one.line)
    for (name, opcode, reason), lines in rows.items():
        what = opcode if len(lines) == 1 else f"{len(lines)} {opcode}"
        why = f"{Effect.NOT_MODELED.value}: {reason}"
        yield Undecided(name, lines[0], what, why, "", function.name)


def _closed(function: Function, one: Counts) -> str:
    """Return the values of a parameter for which the verdict is valid because the state of the kernel repeats."""
    start = f" from {one.start} on" if one.start > one.step else ""
    others = "" if one.alone else f" if the others are {LITTLE}"
    period = f"every {one.turns} iterations" if one.turns > 1 else "every iteration"
    values = "value" if one.step == 1 else f"multiple of {one.step}"
    of = f"every {values} of {_parameter(function, one.parameter)}"
    overflows = one.end < MOST - one.step * one.turns
    end = f" up to {one.end // one.step * one.step}" if overflows else ""
    return f"; valid for {of}{start}{end}{others} (behavior repeats {period})"


def _name(function: Function) -> str:
    """Return the name of a kernel, cut to ``NAME`` characters."""
    return function.name if len(function.name) <= NAME else f"{function.name[:NAME]}..."


def _note(function: Function, told: RunJudgement) -> str:
    """Return one line about the launches that were executed."""
    launch = told.launch
    given = [f"{_parameter(function, key)} = {value}" for key, value in launch.scalars.items()]
    parts = [launch_text(launch), *given]
    shown = list(_launches(function, told))
    follows = "".join(_closed(function, one) for one in told.closed)
    assumed = f"; assumes {', '.join(told.assumed)}" if told.assumed else ""
    name = _name(function)
    values = f"; scalar parameters: {'; '.join(shown)}" if shown else ""
    never = "" if told.ended else "; no execution was completed"
    return f"{name} was executed with {', '.join(parts)}{values}{never}{follows}{assumed}"


def _launches(function: Function, told: RunJudgement) -> Iterator[str]:
    """Yield the scalar parameters of the executed launches, and which executions were not completed."""
    free = list(dict.fromkeys(key for one in told.executed for key in one.parameters if key not in told.launch.scalars))
    if not free:
        return
    all_of = ", ".join(_parameter(function, key) for key in free)
    if len(free) > NAMED:
        all_of = f"all {len(free)} that are not given"
    rows: dict[tuple[str, str], dict[str, None]] = {}
    for one in told.executed:
        varied = one.varied is not None and free != [one.varied]
        name = _parameter(function, one.varied) if varied and one.varied is not None else all_of
        value = one.parameters.get(one.varied, one.others) if one.varied is not None else one.others
        end = "" if one.ended else f" (not completed, {one.steps} steps)"
        rows.setdefault((name, f", others = {one.others}" if varied else ""), {})[f"{value}{end}"] = None
    for (name, others), values in rows.items():
        yield f"{name} = {', '.join(values)}{others}"


def _parameter(function: Function, key: tuple[str, int]) -> str:
    """Return a parameter as ``--param`` accepts it; a long name is shown without the name of its kernel."""
    name, offset = key
    shown = name.removeprefix(f"{function.name}_") if len(name) > NAME // 2 else name
    return parameter_text((shown, offset))


def _record(function: Function, told: RunJudgement) -> Iterator[ExecutedLaunch]:
    """Yield the launches that were executed."""
    for one in told.executed:
        values = {parameter_text(key): value for key, value in one.parameters.items()}
        launch = told.launch
        yield ExecutedLaunch(function.name, launch.threads, launch.cluster, tuple(values.items()), one.ended, one.steps)
