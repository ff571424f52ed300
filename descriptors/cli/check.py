"""The commands ``descriptors check`` and ``descriptors explain``: kernels in PTX, or in CUDA C++ if nvcc is installed.

``check`` reports what is wrong with kernels. A file that cannot be checked is reported, and the others are checked all
the same. Files in TOML, with the values that a project expects, are checked by ``descriptors.cli.contracts``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from descriptors.answers import record, tell
from descriptors.check import kernel_text
from descriptors.check.baseline import UNDECIDED, Baseline, baseline, baseline_text, without_known
from descriptors.check.execution.configuration import of_kernels
from descriptors.check.execution.program import parameter_names
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report, chosen, rule_names
from descriptors.check.ptx.ptx_module import parse
from descriptors.check.rules import ALL_RULES, Level, rule_text
from descriptors.check.sarif import sarif
from descriptors.check.story import explain_ptx
from descriptors.cli.contracts import check_contracts
from descriptors.cli.kernel_files import expanded, files_record, refusal_status, say_json, shown, text_of
from descriptors.cli.options import Grouped, Guide, Option, json_option, together
from descriptors.cli.terminal import answered, draw_beside, for_terminal
from descriptors.cli.values import complete, named_integers, named_texts, numbers
from descriptors.errors import DescriptorError, brief
from descriptors.targets import ARCHITECTURES
from descriptors.text import counted
from layoutalg.cli.console import (
    NotThereError,
    Status,
    color_option,
    complain,
    json_text,
    printable,
    say,
    terminal_width,
    wants_color,
)
from layoutalg.files import write_whole

if TYPE_CHECKING:
    from descriptors.show.pictures.round_picture import RoundPicture


def _option(name: str, group: str, *value: str, **settings: Any) -> Option:
    """Return an option that ``--help`` lists under a heading; ``value`` is the name of its parameter."""
    return click.option(name, *value, cls=Grouped, group=group, **settings)


_FILE = click.argument("file")
_TARGETS = click.Choice([row.target for row in ARCHITECTURES])
_LEVELS = click.Choice([str(one) for one in Level])
_INCLUDE = _option("-I", "Input", "include", multiple=True, metavar="FOLDER", help="Folder of headers for a .cu file.")
_ARCH = _option(
    "--gpu-arch", "Input", type=_TARGETS, default="sm_90a", show_default=True, metavar="TARGET",
    help=f"Target of a .cu file: {' '.join(_TARGETS.choices)}.",
)  # fmt: skip

#: Values of the launch. Without them several launches are tried, and reported.
_LAUNCH = together(
    _option("--threads", "Launch", metavar="X[xYxZ]", callback=numbers("x"), help="Threads per CTA."),
    _option("--cluster", "Launch", metavar="X[xYxZ]", callback=numbers("x"), help="CTAs per cluster."),
    _option(
        "--param", "Launch", "parameters", multiple=True, metavar="NAME=VALUE", callback=named_integers,
        help="Scalar parameter, by name or number (NAME+BYTES within a structure); may be repeated.",
    ),
    _option(
        "--tensormap", "Launch", "tensor_maps", multiple=True, metavar="NAME=BOX", callback=named_texts,
        help="Box of the tensor map in a parameter, or in memory that a parameter points to: 64x128xbf16, or bytes; "
        "may be repeated.",
    ),
)  # fmt: skip


def _list_rules(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        _refuse_formats(context, parameter)
        say(kernel_text.rules_text())
        context.exit()


def _refuse_formats(context: click.Context, parameter: click.Parameter) -> None:
    """Refuse ``--json`` and ``--sarif``, which are read first, together with an option that prints a text and exits."""
    for name in ("as_json", "as_sarif"):
        if context.params.get(name):
            raise click.UsageError(f"{parameter.opts[0]} and {_TYPED[name]} cannot be combined")


def _explain_rule(context: click.Context, parameter: click.Parameter, name: str | None) -> None:
    if name is not None:
        _refuse_formats(context, parameter)
        (rule,) = rule_names([name], "")
        say(rule_text(ALL_RULES[rule]))
        context.exit()


#: Which findings are shown.
_SHOWN = together(
    _option("--level", "Findings", "levels", type=_LEVELS, multiple=True, help="Show findings of this level only."),
    _option("--errors", "Findings", is_flag=True, help="Show errors only: the same as --level error."),
    _option(
        "--rule", "Findings", "only", multiple=True, metavar="RULE", shell_complete=complete,
        help="Show findings of this rule only.",
    ),
    _option(
        "--ignore", "Findings", "without", multiple=True, metavar="RULE", shell_complete=complete,
        help="Hide findings of this rule.",
    ),
    _option("--all", "Findings", "everything", is_flag=True, help="Show each finding instead of grouping equal ones."),
    _option(
        "--baseline", "Findings", "known", metavar="FILE",
        help="Only count findings that FILE already lists. With --strict, undecided items in FILE do not fail.",
    ),
    _option(
        "--write-baseline", "Findings", "write", metavar="FILE",
        help="Write all findings to FILE as a baseline; the exit status is 0.",
    ),
    _option(
        "--strict", "Findings", is_flag=True, help="Return exit status 1 if anything is undecided or was not checked."
    ),
    _option(
        "--rules", "Findings", is_flag=True, expose_value=False, callback=_list_rules,
        help="List all rules and exit.",
    ),
    _option(
        "--explain", "Findings", "rule", metavar="RULE", expose_value=False, callback=_explain_rule,
        shell_complete=complete, help="Explain a rule, with its fix and its source, and exit.",
    ),
)  # fmt: skip


@click.command(cls=Guide)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_LAUNCH
@_SHOWN
@_option("--init", "Expected values", is_flag=True, help="Print the missing `expect` tables of a .toml file.")
@_ARCH
@_INCLUDE
@_option("--sarif", "Output", "as_sarif", is_flag=True, is_eager=True, help="Write the findings as SARIF 2.1.0.")
@_option("--json", "Output", "as_json", is_flag=True, is_eager=True, help="Write the findings as JSON.")
@color_option
def check(
    files: tuple[str, ...], gpu_arch: str, include: tuple[str, ...], init: bool, as_json: bool, as_sarif: bool,
    **options: Any,
) -> Status:  # fmt: skip
    """Check the tensor-core instructions, descriptors and synchronization of kernels, or expected values.

    \b
    descriptors check kernel.ptx
    descriptors check a.ptx b.ptx build/ --baseline known.json
    descriptors check kernel.cu --gpu-arch sm_100a
    cuobjdump -ptx a.out | descriptors check -
    descriptors check expected.toml

    FILE is PTX, CUDA C++ (.cu, if nvcc is on the path), a folder of such files, or - for PTX on standard input. check
    examines the wgmma and tcgen05 instructions of each kernel (forms, descriptors, order, tensor memory), and executes
    the integer instructions of the kernel to check its barriers, the bytes of its copies, proxy fences, and the reuse
    of shared memory. Each property is clean, has errors, is incomplete (with the list of what is undecided), or does
    not occur. Launch values that the file does not contain are assumed and reported; the launch options set them.

    There are three levels of findings: error (an assembler rejects it, or the hazard is certain), asks (printed as
    warning: the PTX manual requires it, and common code omits it), and performance. The comment
    // descriptors: ignore RULE on a line suppresses a finding. Exit status: 0 if there is no error, 1 if there is one,
    2 if a file cannot be checked, 3 if nvcc is missing; the highest of all files.

    A .toml file lists what a project relies on: sections [operand.NAME] with arguments of descriptors derive, or
    [plan.NAME] with those of descriptors plan. Each section has a table `expect`, whose keys are those of --json. check
    derives the values again, reports those that differ, and then exits with 1.
    """
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif cannot be combined")
    if any(Path(file).suffix == ".toml" for file in files):
        typed = {"include": include, **options}
        if other := next((name for name, value in typed.items() if value), None):
            raise click.UsageError(f"{_TYPED.get(other) or '--' + other} needs a kernel, not a .toml file")
        if not all(Path(file).suffix == ".toml" for file in files):
            raise click.UsageError("a .toml file cannot be checked together with kernels")
        return check_contracts(tuple(dict.fromkeys(files)), init, as_json, as_sarif)
    if init:
        raise click.UsageError("--init needs a .toml file")
    output = Output(
        options["strict"], options["everything"], wants_color(), as_sarif, as_json, options["write"] or "",
        len(files) > 1 or Path(files[0]).is_dir(),
    )  # fmt: skip
    selection = Selection(
        {Level.ERROR} if options["errors"] else set(map(Level, options["levels"])),
        rule_names(options["only"], "--rule"),
        rule_names(options["without"], "--ignore"),
        _baseline(options["known"]) if options["known"] else {},
    )
    if output.write:
        _check_writable(output.write)
    launch = Launch(options["threads"], options["cluster"], options["parameters"], options["tensor_maps"])
    unused = {*launch.parameters, *launch.tensor_maps} if output.several else set()

    def check_file(file: str) -> Report:
        text = text_of(file, gpu_arch, include)
        own = launch.of_file(text) if output.several else launch
        unused.difference_update(own.parameters, own.tensor_maps)
        return selection.applied(check_ptx(text, **own._asdict()), shown(file))

    status = _report(files, check_file, output)
    if unused:
        names = ", ".join(map(brief, sorted(unused)[:4]))
        raise DescriptorError(f"check: no kernel of these files has a parameter {names}")
    return status


#: The options whose names differ from those of their values.
_TYPED = {
    "include": "-I", "levels": "--level", "only": "--rule", "without": "--ignore", "everything": "--all",
    "known": "--baseline", "write": "--write-baseline", "parameters": "--param", "tensor_maps": "--tensormap",
    "as_json": "--json", "as_sarif": "--sarif",
}  # fmt: skip


class Launch(NamedTuple):
    """The values of a launch that were given: threads of a CTA, CTAs of a cluster, parameters, boxes of tensor maps."""

    threads: tuple[int, ...] | None
    cluster: tuple[int, ...] | None
    parameters: dict[str, int]
    tensor_maps: dict[str, str]

    def of_file(self, text: str) -> Launch:
        """Return the values for the kernels of one file of several: each takes the parameters that its kernels have."""
        if not (self.parameters or self.tensor_maps):
            return self
        names = [parameter_names(function) for function in parse(text).functions if function.entry]
        return self._replace(
            parameters=of_kernels(self.parameters, names), tensor_maps=of_kernels(self.tensor_maps, names)
        )


class Selection(NamedTuple):
    """Which findings are shown: levels and rules, and those that a baseline does not list."""

    levels: set[Level]
    rules: Any
    without: Any
    known: Baseline

    def applied(self, report: Report, name: str) -> Report:
        """Return the report of a file with the selected findings only."""
        return without_known(chosen(report, self.levels, self.rules, self.without), name, self.known)


class Output(NamedTuple):
    """How reports are written.

    Args:
        strict: whether an undecided property counts as an error in the exit status.
        everything: whether findings that say the same are listed one by one.
        color: whether the text is colored.
        as_sarif, as_json: the format, if it is not text.
        write: the file of a new baseline; "" for none.
        several: whether there are several files, or a folder.
    """

    strict: bool
    everything: bool
    color: bool
    as_sarif: bool
    as_json: bool
    write: str
    several: bool

    @property
    def is_text(self) -> bool:
        """Whether each file is reported as text as soon as it is checked."""
        return not (self.as_sarif or self.as_json or self.write)

    def status(self, report: Report) -> Status:
        """Return the exit status for a report."""
        left = report.verdict == "incomplete" and not (report.accepted and report.accepted == report.undecided)
        if not self.write and (report.verdict == "wrong" or (self.strict and left)):
            return Status.DIFFERENCE
        return Status.UNDECIDED if report.verdict == "incomplete" else Status.ANSWER

    def text(self, name: str, report: Report) -> str:
        """Return a report as text."""
        return tell(report, name=name, everything=self.everything, color=self.color)


class Progress:
    """A line on a terminal that shows how far the work on many files is, after a while.

    Args:
        files: number of files; for a single file nothing is shown.
    """

    #: Seconds before it shows.
    PATIENCE = 2.0

    def __init__(self, files: int) -> None:
        self.files, self.number, self.shown = files, 0, False
        self.begun = time.monotonic()

    def tell(self, name: str) -> None:
        """Count the next file, and show its number and name."""
        self.number += 1
        if self.files < 2 or time.monotonic() - self.begun < self.PATIENCE:
            return
        if (width := terminal_width(sys.stderr)) is not None:
            line = f"{self.number} of {counted(self.files, 'file')}: {printable(name)}"
            self._write(line[: width - 1])
            self.shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self.shown:
            self._write("")
            self.shown = False

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _report(files: Sequence[str], check_file: Callable[[str], Report], output: Output) -> Status:
    """Check each file and write its report, also if others cannot be checked; then write the summary.

    Raises:
        DescriptorError, NotThereError, OSError: if the only file cannot be checked, and the answer is JSON.
    """
    together = output.several or output.as_sarif
    names, refused, left = expanded(files) if together else ([*files], [], 0)
    for name, error in refused if output.is_text else ():
        say(kernel_text.tell_refused(name, error, output.color))
    progress, reports = Progress(len(names)), list[tuple[str, Report]]()
    for file in names:
        progress.tell(shown(file))
        try:
            report = check_file(file)
        except (DescriptorError, NotThereError, OSError) as error:
            if not together:
                if output.as_json:
                    raise
                complain(kernel_text.tell_refused(shown(file), error))
                return refusal_status(error)
            refused.append((shown(file), error))
            text = kernel_text.tell_refused(shown(file), error, output.color)
        else:
            reports.append((shown(file), report))
            text = output.text(shown(file), report) if output.is_text else ""
        if output.is_text:
            progress.clear()
            say(text)
    progress.clear()
    _finish(reports, refused, left, output)
    statuses = [*(output.status(report) for _, report in reports), *(refusal_status(error) for _, error in refused)]
    return max(statuses, key=_WORSE.index, default=Status.ANSWER)


#: The statuses of files, the least serious first.
_WORSE = (Status.ANSWER, Status.UNDECIDED, Status.DIFFERENCE, Status.BAD_INPUT, Status.NOT_THERE)


def _finish(
    reports: Sequence[tuple[str, Report]], refused: Sequence[tuple[str, Exception]], left: int, output: Output
) -> None:
    """Write what concerns all files: a baseline, SARIF, JSON, or the last line of the text."""
    if output.write:
        if refused:
            name, error = refused[0]
            raise DescriptorError(f"check: no baseline was written, because {name} could not be checked; {error}")
        _write_baseline(output, reports)
    elif output.as_sarif:
        say_json(sarif(reports, [(name, str(error)) for name, error in refused]))
    elif output.as_json:
        say(json_text(files_record(reports, refused) if output.several else record(reports[0][1], name=reports[0][0])))
    elif output.several:
        say(kernel_text.tell_summary([report for _, report in reports], len(refused), left, output.color))


def _baseline(file: str) -> Baseline:
    """Read the baseline in a file."""
    return baseline(text_of(file, language="a baseline"))


def _check_writable(file: str) -> None:
    """Refuse to write a baseline over anything that is not a baseline."""
    if file == "-":
        raise click.UsageError("--write-baseline needs a path, because standard output has the findings")
    if os.path.lexists(file):
        try:
            _baseline(file)
        except DescriptorError:
            raise DescriptorError(f"check: {file} exists and is not a baseline; give another path") from None


def _write_baseline(output: Output, reports: Sequence[tuple[str, Report]]) -> None:
    """Write the baseline and report how many findings it has."""
    text = baseline_text(reports)
    write_whole({Path(output.write): text.encode()})
    rows = baseline(text)
    undecided = sum(count for key, count in rows.items() if key[1].startswith(UNDECIDED))
    findings = sum(rows.values()) - undecided
    if output.as_json or output.as_sarif:
        say(json_text({"written": output.write, "findings": findings, "undecided": undecided}))
    else:
        counts = f"{counted(findings, 'finding')} and {undecided} not decided of {counted(len(reports), 'file')}"
        say(f"wrote {printable(output.write)}: {counts}")


@click.command()
@_FILE
@_ARCH
@_INCLUDE
@click.option(
    "--rounds",
    is_flag=True,
    help="Print instead which thread waits for which event, iteration by iteration, in one execution.",
)
@click.option(
    "--draw",
    "picture_path",
    metavar="FILE",
    help="Write a picture of those iterations: .svg, .tex, .txt or .html.",
)
@json_option("Write the story as JSON.")
def explain(
    file: str, gpu_arch: str, include: tuple[str, ...], rounds: bool, picture_path: str | None, as_json: bool
) -> None:
    """Summarize a kernel: its MMAs, operands, tiles, groups in flight, tensor memory and mbarriers.

    \b
    descriptors explain kernel.ptx
    descriptors explain kernel.ptx --rounds --draw rounds.svg

    The mbarriers are described as an execution of the kernel found them: rings, arrivals and bytes per phase, and what
    each warp does. --rounds shows the first execution with an error, or the first one if there is no error. FILE is as
    in descriptors check.
    """
    text = text_of(file, gpu_arch, include)
    pictures = _rounds(text) if rounds or picture_path is not None else []
    if picture_path is not None:
        draw_beside(pictures[0], picture_path)
    if rounds:
        rows = {"kernels": [one.record() for one in pictures]}
        say(json_text(rows) if as_json else for_terminal("\n\n".join(one.text() for one in pictures)))
    else:
        say(answered(explain_ptx(text), as_json))


def _rounds(text: str) -> list[RoundPicture]:
    """Return the rounds of the kernels of a text that use mbarriers, those with something wrong first."""
    from descriptors.check.pipeline import pipelines
    from descriptors.show.pictures.round_picture import RoundPicture  # no story needs a picture

    return [RoundPicture(one) for one in sorted(pipelines(text), key=lambda one: not one.wrong)]


#: The commands that the group registers.
commands = [check, explain]
