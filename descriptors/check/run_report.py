"""What running a kernel says of its barriers, bytes, proxies and reuse, as a part of its report.

A property is looked at where all kernels of a text were run to their ends; what a run could not look at is told. A
verdict names what was run: threads, clusters, and the values of scalar parameters.

Law: what was not run is not clean.

>>> from descriptors.check.ptx.ptx_module import parse
>>> head = ".version 8.8\\n.target sm_90a\\n.shared .align 8 .b8 b[8];\\n.entry k() .reqntid 32"
>>> wait = "wgmma.fence.sync.aligned; L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
>>> def of(text):
...     told = executed(parse(text), text)
...     return [one.rule.name for one in told.findings]
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
from descriptors.check.execution.counts import Counts
from descriptors.check.execution.evidence import ALL, UNFILLED, Blind
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
#: Letters of a name that are told.
NAME = 40
#: Most scalar parameters that a note names one by one.
NAMED = 8
#: What would decide what is open, by what it is.
_DECIDES = {
    CLUSTER: "the launch: --cluster 2x1x1",
}


def executed(
    module: Module, text: str, known: Configuration = _UNKNOWN, judgements: dict[int, RunJudgement] | None = None
) -> Judgement:
    """What running the kernels of a module finds.

    Args:
        module: the module.
        text: the PTX that it was read from.
        known: what is known of their launch.
        judgements: those of kernels that were run before, by the number of the function; those of the other kernels
            are added.

    Raises:
        DescriptorError: if that is of a parameter that no kernel has.
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
                Undecided(name, function.line, function.name, "a function that is called", "", function.name)
                for name in ALL
            ]
            ran = False
            continue
        if why := unlaunchable(function, known):
            undecided += _not_run(function, why, "a launch within these limits: --threads, --cluster")
            ran = False
            continue
        if steps > FILE_LIMIT:
            why = f"not executed: the kernels before it took {steps} steps, and a file has at most {FILE_LIMIT}"
            undecided += _not_run(function, why, "a file with this kernel alone")
            ran = False
            continue
        if _is_idle(function):
            undecided += _unfilled(function)
            notes.append(f"{_name(function)} was not run: nothing in it writes shared memory or waits for a barrier")
            continue
        if number not in judgements:
            own = judge(function, text, known, module.target)
            judgements[number] = _agreed(own, function, text, known, module.target)
        told = judgements[number]
        steps += told.steps
        ran = ran and bool(told.ended)
        if told.ended and not any(row.properties == ALL or "tensor memory" in row.properties for row in told.blind):
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
    """Return what is not decided of a kernel that is not run."""
    return [Undecided(name, function.line, "what a run decides", why, decides, function.name) for name in ALL]


#: What leads threads apart, if it is guarded by what differs between them.
_GUARDED = ("bra", "ret", "exit", "trap", "wgmma.")
#: Spaces that an ordinary store may name which are not shared memory.
_OTHER_SPACES = {"global", "local", "param", "param::func", "param::entry"}


def _is_idle(function: Function) -> bool:
    """Whether running a kernel decides nothing: its only events are ``wgmma`` that all threads execute together.

    Nothing in it writes shared memory, so that no two accesses of the same bytes need an order, and nothing waits but
    for multiplications that every warp issues.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> def of(body):
    ...     text = f".version 8.8\\n.entry k() {{ wgmma.fence.sync.aligned; {body} ret; }}"
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
    """Return what is not decided of the operands of a kernel that nothing fills."""
    places = function.having("wgmma.mma_async")[:1]
    return [Undecided("reuse", function.code[index].line, *UNFILLED, "", function.name) for index in places]


def _agreed(told: RunJudgement, function: Function, text: str, known: Configuration, target: str) -> RunJudgement:
    """Return a judgement with one finding where the given boxes contradict the bytes that the kernel expects, or reads.

    All else that goes wrong then may follow from that, so it is counted and left out. That they contradict what is read
    is certain only if nothing is wrong with the boxes that are consistent with it.
    """
    if not known.tensor_maps or not is_wrong(told.witnesses):
        return told
    made = program(function, target)
    boxes = known.boxes(made.names)
    cause = next((one for machine in _unsized(made, text, known) if (one := disagreement(machine, boxes))), None)
    bytes_ = "expected bytes"
    if cause is None:
        free = known._replace(tensor_maps={}, box_rows={})
        consistent = judge(function, text, free, target)
        if not consistent.ended or is_wrong(consistent.witnesses):
            return told
        machine = next(_unsized(made, text, known))
        cause, bytes_ = misfit(machine, boxes, box_sizes(machine)), "bytes that are read"
    if cause is None:
        return told
    others = len(told.witnesses)
    why = f"the given boxes contradict the {bytes_}; {counted(others, 'finding')} left out"
    row = Blind(("bytes", "proxies", "reuse"), function.code[cause.place].line, "what comes after", why)
    return told._replace(witnesses=(cause,), blind=(*(one for one in told.blind if one.what != row.what), row))


def _unsized(made: Program, text: str, known: Configuration) -> Iterator[Machine]:
    """Yield the runs of a kernel without the given boxes, up to as many steps as its runs may take."""
    held, steps = trials(made, text, known._replace(tensor_maps={}))
    yield held[0].run.machine
    for launch in launches(made, held[0]):
        if steps > LIMIT:
            return
        machine = run(made, launch._replace(sizes=None)).machine
        steps += machine.count
        yield machine


def _asks(function: Function) -> bool:
    return any(one.opcode.startswith(EVENTS) and is_event(one) for one in function.code)


def _findings(function: Function, told: RunJudgement) -> Iterator[Finding]:
    for one in told.witnesses:
        made = function.code[one.place]
        moment = Moment(one.round, one.rounds, one.other, one.other_round, one.parameters)
        yield Finding(made.line, ALL_RULES[one.rule], one.found, made.opcode, (), function.name, moment)


def _undecided(function: Function, told: RunJudgement) -> Iterator[Undecided]:
    wrong = any(one.rule.startswith("fragment") for one in told.witnesses)
    for one in told.blind:
        for name in () if wrong and one.properties == ("fragments",) else one.properties:
            yield Undecided(name, one.line, one.what, one.why, one.decides or _DECIDES.get(one.what, ""), function.name)


def _not_modeled(function: Function, properties: Collection[str], functions: Collection[str]) -> Iterator[Undecided]:
    """The instructions whose effect no run knows, for each property that they leave undecided.

    Args:
        function: the kernel.
        properties: those of which the text has anything.
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
    """Which values of a parameter follow from those that were run."""
    start = f" from {one.start} on" if one.start > one.step else ""
    others = "" if one.alone else f" where others are {LITTLE}"
    rounds = f"{one.turns} round{'s' * (one.turns > 1)}"
    values = "value" if one.step == 1 else f"multiple of {one.step}"
    of = f"every {values} of {_parameter(function, one.parameter)}"
    return f"; {of}{start}{others} follows, by periods of {rounds}"


def _name(function: Function) -> str:
    """Return the name of a kernel, cut where it is long."""
    return function.name if len(function.name) <= NAME else f"{function.name[:NAME]}..."


def _note(function: Function, told: RunJudgement) -> str:
    """The launches that were executed, in one line."""
    launch = told.launch
    given = [f"{_parameter(function, key)} = {value}" for key, value in launch.scalars.items()]
    parts = [launch_text(launch), *given]
    shown = list(_launches(function, told))
    follows = "".join(_closed(function, one) for one in told.closed)
    assumed = f"; assumed: {', '.join(told.assumed)}" if told.assumed else ""
    name = _name(function)
    values = f"; scalar parameters: {'; '.join(shown)}" if shown else ""
    never = "" if told.ended else "; no run was completed"
    return f"{name} was run with {', '.join(parts)}{values}{never}{follows}{assumed}"


def _launches(function: Function, told: RunJudgement) -> Iterator[str]:
    """The scalar parameters of the launches that were executed, and which of them were not completed."""
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
    """A parameter as it is written to ``--param``; a long name is told without that of its kernel."""
    name, offset = key
    shown = name.removeprefix(f"{function.name}_") if len(name) > NAME // 2 else name
    return parameter_text((shown, offset))


def _record(function: Function, told: RunJudgement) -> Iterator[ExecutedLaunch]:
    """The launches that were executed, for a program."""
    for one in told.executed:
        values = {parameter_text(key): value for key, value in one.parameters.items()}
        launch = told.launch
        yield ExecutedLaunch(function.name, launch.threads, launch.cluster, tuple(values.items()), one.ended, one.steps)
