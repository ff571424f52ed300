r"""The pipeline of a kernel: the iterations of its rings in one execution, the first with a finding if there is one.

Source: ``execution.rounds``; ``execution.runs`` chooses the executions.

Invariant: the pipeline of a kernel without findings is the execution with the first size.

>>> init = "elect.sync _|e, -1; @e mbarrier.init.shared.b64 [b], 32; mbarrier.arrive.shared.b64 _, [b];"
>>> wait = "L: mbarrier.try_wait.parity.shared.b64 q, [b], 0; @!q bra L; ret;"
>>> def law(count):
...     head = ".version 8.8\n.target sm_90a\n.shared .align 8 .b8 b[8];\n.entry k() .reqntid 32"
...     return pipelines(f"{head} {{ {init.replace('32', str(count))} {wait} }}")[0]
>>> law(32).launch, law(32).wrong
('32 threads, one CTA', ())
>>> law(33).wrong
('line 4: barrier-hang: this wait on the mbarrier at [b] never completes: phase 0 has 32 of 33 arrivals',)
"""

from __future__ import annotations

from descriptors.check.execution.configuration import Configuration, parameter_text
from descriptors.check.execution.evidence import witnesses
from descriptors.check.execution.launch import launch_text
from descriptors.check.execution.program import Program, program
from descriptors.check.execution.rounds import Rounds, rounds
from descriptors.check.execution.run_policy import FILE_LIMIT
from descriptors.check.execution.runs import Run, Trial, launches, runs, trials, unlaunchable
from descriptors.check.ptx.ptx_module import parse
from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen


@frozen
class Pipeline:
    """The waits on mbarriers in an execution of a kernel.

    Args:
        name: name of the kernel.
        launch: description of the launch, and where the execution stopped if it was not completed.
        rounds: the iterations of the rings.
        wrong: the findings of the execution: line, rule and fact.
    """

    name: str
    launch: str
    rounds: Rounds
    wrong: tuple[str, ...]


def pipelines(text: str) -> tuple[Pipeline, ...]:
    """Return the pipelines of the kernels of a PTX text that have mbarriers.

    Args:
        text: the PTX text.

    Raises:
        DescriptorError: if the text is not PTX, or no execution of its kernels uses an mbarrier.
    """
    module = parse(text)
    found_pipelines: list[Pipeline] = []
    missing: list[str] = []
    steps = 0
    for function in module.functions:
        places = function.having("mbarrier.init")
        if not places:
            continue
        line, name = function.code[places[0]].line, brief(function.name)
        if not function.entry:
            missing.append(f"line {line} initializes an mbarrier in {name}, which is a function and no kernel")
            continue
        if why := unlaunchable(function, Configuration()):
            missing.append(f"{name} cannot be launched: {why}")
            continue
        if steps > FILE_LIMIT:
            missing.append(f"{name} was not run: the kernels before it took {steps} steps of at most {FILE_LIMIT}")
            continue
        kernel = program(function, module.target)
        attempts, trial_steps = trials(kernel, text, Configuration())
        first = attempts[0]
        run = _find_run(kernel, first)
        steps += trial_steps + run.machine.count
        iterations = rounds(run.machine)
        if iterations.acts:
            found_pipelines.append(
                Pipeline(function.name, _describe_launch(run, first), iterations, tuple(_describe_findings(run)))
            )
        else:
            missing.append(f"{name} initializes an mbarrier (line {line}), but {_why_unused(run)}")
    if not found_pipelines:
        raise DescriptorError(f"explain: no rounds to draw: {missing[0] if missing else 'no mbarrier is initialized'}")
    return tuple(found_pipelines)


def _why_unused(run: Run) -> str:
    """Return why an execution has no event at an mbarrier."""
    if run.stop is not None:
        why = f"{run.stop.what}: {run.stop.why}"
        return f"its run stopped at line {run.stop.line} before an mbarrier ended a wait or a phase ({why})"
    return "its run ended without an arrival, a copy or a wait at an mbarrier"


def _find_run(kernel: Program, first: Trial) -> Run:
    """Return the first execution with a finding; if there is none, the first execution."""
    chosen = first.run
    for number, launch in enumerate(launches(kernel, first)):
        for candidate in runs(kernel, launch):
            if any(witnesses(candidate)):
                return candidate
            chosen = chosen if number else candidate
    return chosen


def _describe_launch(run: Run, first: Trial) -> str:
    launch = run.machine.launch
    values = {parameter_text(key): value for key, value in launch.scalars.items()}
    others = [key for key in first.free if key not in launch.scalars]
    parts = [launch_text(launch), *(f"{name} = {value}" for name, value in values.items())]
    parts += [f"scalar parameters {launch.size}"] if others else []
    parts += [f"stopped at line {run.stop.line} ({run.stop.what}: {run.stop.why})"] if run.stop else []
    return ", ".join(parts)


def _describe_findings(run: Run) -> list[str]:
    code = run.machine.program.function.code
    rows = sorted(witnesses(run), key=lambda witness: (witness.place, witness.rule))
    return [f"line {code[witness.place].line}: {witness.rule}: {witness.found}" for witness in rows]
