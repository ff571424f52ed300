r"""Check a kernel by executing it: run its launches, and combine the violations and the unchecked items.

The modules of this package, lowest first: values of lanes (``lanes``); the ``launch`` and the prepared ``program``;
threads (``fragment``, ``meetings``, ``mbarrier``, ``schedule``) and memory (``knowledge``, ``lane_knowledge``,
``contents``, ``tensor_memory``, ``footprints``); the ``machine`` that executes; the handlers of instructions
(``integers``, ``branches``, and the modules of events, which use ``accesses``), in one table (``dispatch``); the
``runs`` of a kernel, as many as ``run_policy`` allows, with the sizes of copies (``copy_sizes``); the ``evidence`` of
one run; what completed runs cover (``bounded_loops``, ``coverage``); and this judgement.

Source: as the rules. The project does not claim that a few iteration counts stand for all: a verdict names those that
were run. A violation in a launch with few iterations is a doubt, since the kernel may never be launched like that. If
the cluster shape was tried out, so is a wait that never completes.

Invariant: a loop that waits for something that never happens is found, with the place of the wait.

>>> from descriptors.check.ptx.ptx_module import parse
>>> def facts_with(count):
...     init = f"elect.sync _|q, -1; @q mbarrier.init.shared.b64 [b], {count}; mbarrier.arrive.shared.b64 _, [b];"
...     wait = "L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
...     text = f".version 8.8\n.shared .b64 b;\n.entry k() .reqntid 32 {{ {init} {wait} }}"
...     return [(witness.rule, witness.found) for witness in judge(parse(text).functions[0], text).witnesses]
>>> facts_with(32), facts_with(33)
([], [('barrier-hang', 'this wait on the mbarrier at [b] never completes: phase 0 has 32 of 33 arrivals')])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from descriptors.check.execution.bounded_loops import bounded_loops
from descriptors.check.execution.configuration import Configuration
from descriptors.check.execution.counts import Counts, counts
from descriptors.check.execution.coverage import Coverage
from descriptors.check.execution.evidence import ALL, Blind, unchecked, unchecked_fragments, witnesses
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.outcomes import PROPERTIES_OF, Reason, Stop, Witness, is_wrong
from descriptors.check.execution.program import Program, program
from descriptors.check.execution.run_policy import (
    BUDGET,
    CLOSING,
    FARTHER,
    FARTHER_LAUNCHES,
    LARGE,
    LIMIT,
    LITTLE,
    REMAINDERS,
    SIZES,
    SMALL,
)
from descriptors.check.execution.runs import (
    ASSUMED_THREADS,
    Run,
    Trial,
    bounding_parameters,
    launches,
    runs,
    trials,
    with_parameter,
    with_sizes,
)
from descriptors.check.ptx.ptx_module import Function

_UNKNOWN = Configuration()
#: What is undecided if the cluster shape is unknown.
CLUSTER = "the shape of the cluster"


class Executed(NamedTuple):
    """A launch that was executed.

    Args:
        parameters: the scalar parameters that it read and their values, by name and offset.
        others: value of all parameters other than ``varied``.
        varied: the parameter that had another value; None if all had one value.
        ended: whether the launch ran to its end; otherwise it was stopped.
        steps: number of steps.
    """

    parameters: Mapping[tuple[str, int], int]
    others: int
    varied: tuple[str, int] | None
    ended: bool
    steps: int


class RunJudgement(NamedTuple):
    """The findings of all runs of a kernel.

    Args:
        witnesses: violations, in the order of the text.
        blind: what was not checked.
        executed: the launches, in order.
        launch: how the kernel was launched.
        assumed: the properties of the launch that the text does not give.
        steps: number of steps of all runs.
        closed: parameters whose larger values all follow from those that were run.
    """

    witnesses: tuple[Witness, ...]
    blind: tuple[Blind, ...]
    executed: tuple[Executed, ...]
    launch: Launch
    assumed: tuple[str, ...]
    steps: int
    closed: tuple[Counts, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether a launch ran to its end."""
        return any(launch.ended for launch in self.executed)


def judge(function: Function, text: str, config: Configuration = _UNKNOWN, target: str = "") -> RunJudgement:
    """Check a kernel by running it.

    Args:
        function: the kernel.
        text: the PTX that contains the kernel, for its shared variables.
        config: the values of its launch that the user gave.
        target: the ``.target`` of its module; "" if any target is possible.
    """
    judgement = _judge_clusters(function, text, config, target)
    return _without_thread_errors(judgement, function) if ASSUMED_THREADS in judgement.assumed else judgement


def _judge_clusters(function: Function, text: str, config: Configuration, target: str) -> RunJudgement:
    """Check a kernel with the first cluster shapes until one has no violation."""
    kernel = program(function, target)
    first_runs, steps = trials(kernel, text, config)
    judgements: list[RunJudgement] = []
    for trial in first_runs:
        judgements.append(_run_launches(kernel, trial, steps))
        steps = judgements[-1].steps
        if (
            judgements[-1].ended
            and not is_wrong(judgements[-1].witnesses)
            and CLUSTER not in {blind.what for blind in judgements[-1].blind}
        ):
            return judgements[-1]
        if steps > LIMIT:
            break
    return judgements[0] if len(judgements) == len(first_runs) else _without_cluster_errors(judgements[0], function)


def _run_launches(kernel: Program, first: Trial, steps: int) -> RunJudgement:
    """Run the launches that follow a first run, and combine their findings."""
    record = _Record(kernel, first, steps)
    for launch in launches(kernel, first):
        if not record.run_launch(launch) or record.steps > record.limit:
            break
    record.go_farther()
    closed = () if first.stop is not None else record.close(kernel, first)
    if first.stop is not None:
        record.record_stop(first.stop)
    witnesses = sorted(record.witnesses.values(), key=lambda witness: (witness.place, witness.rule, witness.other))
    blind = (*record.rows(closed), *unchecked_fragments(kernel.function, record.fragments))
    judgement = RunJudgement(
        tuple(witnesses), blind, tuple(record.executed), first.launch, first.assumed, record.steps, closed
    )
    hangs = any(witness.rule in ("barrier-hang", "barrier-init") for witness in witnesses)
    if hangs and first.stop is not None:  # the kernel may be meant for other data
        return judgement._replace(witnesses=())
    return _without_cluster_errors(judgement, kernel.function) if hangs and first.clustered else judgement


def _without_cluster_errors(judgement: RunJudgement, function: Function) -> RunJudgement:
    """Return a judgement without violations, because the launch may have another cluster shape; undecided instead."""
    blind = Blind(ALL, function.line, CLUSTER, "only the launch determines it")
    return (
        judgement._replace(witnesses=(), blind=(*judgement.blind, blind))
        if is_wrong(judgement.witnesses)
        else judgement
    )


#: Families of rules whose violations further threads could prevent.
_OF_SEVERAL_THREADS = ("barrier-", "reuse-")


def _without_thread_errors(judgement: RunJudgement, function: Function) -> RunJudgement:
    """Return a judgement whose violations that other threads could prevent are undecided.

    Further threads may arrive at barriers and may order accesses. They cannot prevent other violations: a thread that
    lacks a proxy fence, for example, still lacks it.
    """
    uncertain = [witness for witness in judgement.witnesses if witness.rule.startswith(_OF_SEVERAL_THREADS)]
    certain = [witness for witness in judgement.witnesses if not witness.rule.startswith(_OF_SEVERAL_THREADS)]
    rows = [
        Blind(
            PROPERTIES_OF[witness.rule.partition("-")[0]],
            function.code[witness.place].line,
            f"{witness.rule} with an assumed number of threads",
            f"{witness.fact}, if a CTA has {judgement.launch.threads[0]} threads",
            decides="the launch: --threads N",
        )
        for witness in uncertain
    ]
    return judgement._replace(witnesses=tuple(certain), blind=(*judgement.blind, *rows))


class _Record:
    """The results of the runs of a kernel so far.

    Args:
        kernel: the kernel.
        first: the first run.
        steps: steps of the runs before.
    """

    def __init__(self, kernel: Program, first: Trial, steps: int) -> None:
        self.kernel, self.first, self.steps = kernel, first, steps
        self.function, self.free, self.limit = kernel.function, first.free, max(LIMIT, steps + BUDGET)
        self.witnesses: dict[tuple[str, int], Witness] = {}  # first of each rule and instruction
        self.blind: dict[tuple[object, ...], Blind] = {}  # first of each line, subject and properties
        self.executed: list[Executed] = []
        self.launches: list[Launch] = []  # all launches that were run, as requested
        self.fragments: dict[int, str] = {}  # why each mma.sync is undecided, "" if it is decided
        self.long: dict[tuple[str, int], int] = {}  # steps of the runs with one large parameter
        self.coverage = Coverage(kernel, set(first.launch.scalars))
        for run in first.cut:
            self.coverage.add_run(run)
            self._add_launch([run], run.machine.launch.size, None)

    def run_launch(self, launch: Launch) -> bool:
        """Run a launch; return whether more launches make sense."""
        launch_runs = list(runs(self.kernel, launch))
        self.launches.append(launch)
        for run in launch_runs:
            self.steps += run.machine.count
            self._add_run(run, small=launch.size in SMALL)
            scalars = run.machine.launch.scalars
            self.long.update({key: run.machine.count for key in self.free if scalars.get(key) == LARGE})
            self.coverage.add_run(run)
        varied = next((key for key in launch.scalars if key not in self.first.launch.scalars), None)
        self._add_launch(launch_runs, launch.size, varied)
        stopped = [run for run in launch_runs if run.stop is not None]
        return not stopped or all(run.endless for run in stopped)

    def _add_launch(self, launch_runs: Sequence[Run], others: int, varied: tuple[str, int] | None) -> None:
        """Record a launch; it has several runs if a branch depends on a floating-point parameter."""
        parameters: dict[tuple[str, int], int] = {}
        for run in launch_runs:
            parameters.update({**run.machine.notes.scalars, **run.machine.launch.scalars})
        ended, steps = all(run.stop is None for run in launch_runs), sum(run.machine.count for run in launch_runs)
        self.executed.append(Executed(parameters, others, varied, ended, steps))

    def go_farther(self) -> None:
        """Run loops again with larger parameters if no completed run took them far enough."""
        launch, limit = with_sizes(self.first), self.steps + FARTHER
        if self.first.stop is not None or not any(executed.ended for executed in self.executed):
            return
        bounding = bounding_parameters(self.kernel, self.first)
        for key in bounding:
            for value in REMAINDERS:
                if is_wrong(self.witnesses.values()) or not self.coverage.missed or self.steps + BUDGET > limit:
                    break
                for others in (SIZES[0], LITTLE):  # several tiles, to see conflicts between them
                    farther = with_parameter(launch, key, value, others)
                    if farther not in self.launches and not self.run_launch(farther):
                        return
                    if self.executed[-1].ended:
                        break
        for loop in bounded_loops(self.kernel):
            for key in [bound for bound in bounding if bound in self.coverage.keys(loop)]:
                for value, others in FARTHER_LAUNCHES:
                    tried = value > LARGE and self.coverage.is_saturated(loop, key)
                    if tried or is_wrong(self.witnesses.values()) or not self.coverage.is_short(loop):
                        break
                    if self.steps + BUDGET > limit:
                        return
                    farther = with_parameter(launch, key, value, others)
                    if farther not in self.launches and not self.run_launch(farther):
                        return

    def rows(self, closed: Sequence[Counts]) -> Iterator[Blind]:
        """Yield the undecided items; those of stopped launches only if no completed launch covers them."""
        ended = any(executed.ended for executed in self.executed)
        yield from (blind for blind in self.blind.values() if not ended or blind.reason is not Reason.ENDLESS)
        if ended and not is_wrong(self.witnesses.values()):
            yield from self.coverage.rows({result.parameter for result in closed})

    def close(self, kernel: Program, first: Trial) -> tuple[Counts, ...]:
        """Find the parameters whose larger values follow, if there is no violation and all launches ended."""
        launch = with_sizes(first)._replace(size=LITTLE)
        closed: list[Counts] = []
        least = min(self.long.values(), default=0)
        for key in self.free:
            if len(self.long) > 1 and self.long.get(key) == least:  # it makes no loop longer
                continue
            budget = min(CLOSING, self.limit - self.steps)
            if (
                is_wrong(self.witnesses.values())
                or any(blind.properties == ALL and blind.reason is not Reason.ENDLESS for blind in self.blind.values())
                or budget <= 0
            ):
                return ()
            result = counts(kernel, launch, key, budget)
            # Two parameters may have the same meaning in different units, so that no launch changes only one of them.
            for run in result.runs if len(self.free) == 1 else ():
                self._add_run(run, small=run.machine.launch.scalars[key] < SIZES[0])
                self._add_launch([run], launch.size, key)
            self.steps += result.steps
            if result.whole and result.step:
                closed.append(result)
        return () if is_wrong(self.witnesses.values()) else tuple(closed)

    def _add_run(self, run: Run, small: bool) -> None:
        for place, why in run.machine.notes.fragments.items():
            if not (small and why):  # if a tile is larger than the problem, part of it is zeros
                self.fragments[place] = self.fragments.get(place) or why
        for witness in witnesses(run):
            if (witness.rule, witness.place) in self.witnesses:
                continue
            if small:
                self._add_doubt(witness, run.machine.launch.size)
                continue
            self.witnesses[witness.rule, witness.place] = witness
            if witness.rule == "proxy-fence-copy":
                why = "the manual requires a fence, which Triton 3.5.0 omits and 3.9.0 has"
                line = self.function.code[witness.place].line
                self.blind.setdefault((line, "cp.async"), Blind(("proxies",), line, "the bytes of a cp.async", why))
        for blind in unchecked(run):
            self.blind.setdefault((blind.line, blind.what, blind.properties), blind)

    def _add_doubt(self, witness: Witness, size: int) -> None:
        """Record a violation in a launch that may never occur."""
        line = self.function.code[witness.place].line
        properties = PROPERTIES_OF[witness.rule.partition("-")[0]]
        why = f"{witness.fact} (scalar parameters: {size})"
        blind = Blind(properties, line, f"possible {witness.rule}, seen only in a short run", why)
        self.blind.setdefault((line, witness.rule), blind)

    def record_stop(self, stop: Stop) -> None:
        """Record why the run without assumptions stopped. Runs with assumptions can only add errors."""
        self.blind[stop.line, stop.what] = Blind(ALL, stop.line, stop.what, stop.why, stop.reason)
