"""The commands ``descriptors check`` and ``explain``: a kernel in PTX, or in CUDA C++ where there is a compiler.

``check`` has two faces: what is wrong with kernels, and, of a file in TOML, whether what a project relies on holds.
Kernels may be many, and folders of them: a file that cannot be read is told and stops no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from descriptors.cli.kernel_files import expanded, shown, text_of
from descriptors.cli.options import json_option, together
from descriptors.cli.terminal import Progress, answered, for_terminal, note
from descriptors.cli.values import complete, named_integers, named_texts, numbers
from descriptors.errors import DescriptorError, brief
from descriptors.targets import ARCHITECTURES
from descriptors.text import counted
from layoutalg.cli.console import NotThereError, Status, json_text, printable, say, wants_color
from layoutalg.files import write_whole
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from descriptors.show.pictures.round_picture import RoundPicture

_FILE = click.argument("file")
_TARGETS = click.Choice([row.target for row in ARCHITECTURES])
_LEVELS = click.Choice([str(one) for one in Level])
_INCLUDE = click.option(
    "-I", "include", multiple=True, metavar="FOLDER", help="Headers for a .cu file; may be repeated."
)
_ARCH = click.option("--gpu-arch", type=_TARGETS, default="sm_90a", show_default=True, help="The target of a .cu file.")

#: What is known of the launch.
_LAUNCH = together(
    click.option("--threads", metavar="X[xYxZ]", callback=numbers("x"), help="Threads of a CTA, as it is launched."),
    click.option("--cluster", metavar="X[xYxZ]", callback=numbers("x"), help="CTAs of a cluster, as it is launched."),
    click.option(
        "--param", "parameters", multiple=True, metavar="NAME=VALUE", callback=named_integers,
        help="A scalar parameter, by name or number (NAME+BYTES in a structure); may be repeated.",
    ),
    click.option(
        "--tensormap", "tensor_maps", multiple=True, metavar="NAME=BOX", callback=named_texts,
        help="The box of a tensor map in a parameter, or that one points at: 64x128xbf16, or bytes; may be repeated.",
    ),
)  # fmt: skip


def _list_rules(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        say(kernel_text.rules_text())
        context.exit()


def _explain_rule(context: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is not None:
        (rule,) = rule_names([name], "--explain")
        say(rule_text(ALL_RULES[rule]))
        context.exit()


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_ARCH
@_INCLUDE
@_LAUNCH
@click.option("--errors", is_flag=True, help="Show errors only: --level error.")
@click.option("--level", "levels", type=_LEVELS, multiple=True, help="Show findings of this level; may be repeated.")
@click.option(
    "--rule",
    "only",
    multiple=True,
    metavar="RULE",
    shell_complete=complete,
    help="Show findings of this rule; may be repeated.",
)
@click.option(
    "--ignore",
    "without",
    multiple=True,
    metavar="RULE",
    shell_complete=complete,
    help="Leave out this rule; may be repeated.",
)
@click.option("--all", "everything", is_flag=True, help="Show every finding, one a line, also those that say the same.")
@click.option("--strict", is_flag=True, help="Exit status 1 also where something was not decided or not looked at.")
@click.option(
    "--baseline",
    "known",
    metavar="FILE",
    help="Findings of this file stay quiet and are counted; --strict takes what it left open.",
)
@click.option("--write-baseline", "write", metavar="FILE", help="Write all findings as a baseline, and exit with 0.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Write the findings as SARIF 2.1.0.")
@click.option("--init", is_flag=True, help="Write the tables that a .toml file lacks, for it to hold them from now on.")
@json_option("Write the findings as JSON.")
@click.option(
    "--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules, help="List all rules, and end."
)
@click.option(
    "--explain", "rule", metavar="RULE", is_eager=True, expose_value=False, callback=_explain_rule,
    shell_complete=complete, help="Tell of a rule what it means, what mends it and who says so, and end.",
)  # fmt: skip
def check(
    files: tuple[str, ...], gpu_arch: str, include: tuple[str, ...], threads: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None, parameters: dict[str, int], tensor_maps: dict[str, str], errors: bool,
    levels: tuple[str, ...], only: tuple[str, ...], without: tuple[str, ...], everything: bool, strict: bool,
    known: str | None, write: str | None, as_sarif: bool, init: bool, as_json: bool,
) -> Status:  # fmt: skip
    """Check kernels, or what a project relies on.

    \b
    descriptors check kernel.ptx
    descriptors check a.ptx b.ptx build/ --baseline known.json
    descriptors check kernel.cu --gpu-arch sm_100a
    cuobjdump -ptx a.out | descriptors check -
    descriptors check operands.toml

    A KERNEL is PTX, or CUDA C++ (.cu) where nvcc is on the path, or - for PTX on standard input; a folder stands for
    all of them inside. Looked at are its wgmma and tcgen05 instructions: forms, descriptor words, order, tensor memory;
    and the kernel is run, as far as its integers go: barriers, bytes of copies, proxies, reuse of shared memory. Each
    property ends as clean, with errors, incomplete (what was not decided is named), or none of it is there. What a text
    does not say of its launch is assumed, and said; --threads, --cluster, --param, --tensormap say it.
    Three levels: error, an assembler rejects it or the hazard is certain; asks, the manual asks for it and common code
    omits it; performance. Exit status 1 if there is an error, 2 if a file cannot be checked, 3 for want of nvcc: the
    worst of all files. What is meant can be left out: // descriptors: ignore RULE in its line.

    A PROJECT writes what it relies on into a .toml file: sections [operand.NAME] with arguments of descriptors derive,
    [plan.NAME] with those of descriptors plan, and in each a table expect with words, layouts, offsets, under the keys
    that --json has. Exit status 1 if one is wrong; the right one is told. Such files may be many, --sarif goes too.
    """
    if contracts := [file for file in files if Path(file).suffix == ".toml"]:
        given = {"--errors": errors, "--level": levels, "--rule": only, "--ignore": without, "--all": everything,
                 "-I": include, "--strict": strict, "--baseline": known, "--write-baseline": write,
                 "--threads": threads, "--cluster": cluster, "--param": parameters,
                 "--tensormap": tensor_maps}  # fmt: skip
        if any(given.values()):
            raise click.UsageError(f"{next(name for name, one in given.items() if one)} goes only with a kernel")
        if len(contracts) < len(files):
            raise click.UsageError("a .toml file goes without kernels")
        return _contracts(tuple(dict.fromkeys(files)), init, as_json, as_sarif)
    if init:
        raise click.UsageError("--init goes only with a .toml file")
    wanted = {Level.ERROR} if errors else {Level(one) for one in levels}
    rules, fewer = rule_names(only, "--rule"), rule_names(without, "--ignore")
    accepted = _baseline(known) if known else {}
    if write:
        _writable(write)

    several = len(files) > 1 or Path(files[0]).is_dir()
    unused = {*parameters, *tensor_maps} if several else set()

    def checked(file: str) -> Report:
        text = text_of(file, gpu_arch, include)
        values, boxes = parameters, tensor_maps
        if several and (values or boxes):  # each file takes the parameters that its kernels have
            names = [parameter_names(one) for one in parse(text).functions if one.entry]
            values, boxes = of_kernels(parameters, names), of_kernels(tensor_maps, names)
            unused.difference_update(values, boxes)
        report = check_ptx(text, threads=threads, cluster=cluster, parameters=values, tensor_maps=boxes)
        found = chosen(report, wanted, rules, fewer)
        return without_known(found, shown(file), accepted)

    lit = wants_color()
    form = _Form(strict, everything, lit, as_sarif, as_json, write or "")
    if not several and not as_sarif:
        return _of_one(files[0], checked(files[0]), form)
    status = _of_many(files, checked, form)
    if unused:
        names = ", ".join(map(brief, sorted(unused)[:4]))
        raise DescriptorError(f"check: a parameter must be one that a kernel has, found {names}, which no file has")
    return status


@frozen
class _Form:
    """How answers are wanted."""

    strict: bool
    everything: bool
    color: bool
    as_sarif: bool
    as_json: bool
    write: str


def _status(report: Report, form: _Form) -> Status:
    """What a report says to a program that form."""
    left = report.verdict == "incomplete" and not (report.accepted and report.accepted == report.undecided)
    wrong = report.verdict == "errors" or (form.strict and left)
    return Status.DIFFERENCE if wrong and not form.write else Status.ANSWER


def _of_one(file: str, found: Report, form: _Form) -> Status:
    name = shown(file)
    if form.write:
        _write(form, [(name, found)])
    elif form.as_sarif:
        _say_json(sarif([(name, found)]))
    elif form.as_json:
        say(json_text(record(found, name=name)))
    else:
        say(tell(found, name=name, everything=form.everything, color=form.color))
    return _status(found, form)


def _of_many(files: Sequence[str], check_one: Callable[[str], Report], form: _Form) -> Status:
    """Every file, though some cannot be checked; then what there is to say of all of them."""
    names, bad, left = expanded(files)
    progress = Progress(len(names))
    done: list[tuple[str, Report]] = []
    refused: list[tuple[str, Exception]] = [*bad]
    status = max([_refusal(error) for _, error in bad], default=Status.ANSWER)
    plain = not (form.as_sarif or form.as_json or form.write)
    for name, error in bad if plain else ():
        say(kernel_text.tell_refused(name, str(error), form.color))
    for file in names:
        progress.tell(shown(file))
        try:
            found = check_one(file)
        except (DescriptorError, NotThereError, OSError) as error:
            refused.append((shown(file), error))
            status = max(status, _refusal(error))
            text = kernel_text.tell_refused(shown(file), str(error), form.color)
        else:
            done.append((shown(file), found))
            status = max(status, _status(found, form))
            text = tell(found, name=shown(file), everything=form.everything, color=form.color) if plain else ""
        if plain:
            progress.clear()
            say(text)
    progress.clear()
    told = [(name, str(error)) for name, error in refused]
    if form.write:
        if refused:
            raise DescriptorError(f"check: for a baseline every file must be checked, found {told[0][1]}; {told[0][0]}")
        _write(form, done)
    elif form.as_sarif:
        _say_json(sarif(done, told))
    elif form.as_json:
        say(json_text(_record_many(done, refused)))
    else:
        say(kernel_text.tell_summary([one for _, one in done], len(refused), left, form.color))
    return Status(status)


def _refusal(error: Exception) -> Status:
    return Status.NOT_THERE if isinstance(error, NotThereError) else Status.BAD_INPUT


def _record_many(done: Sequence[tuple[str, Any]], refused: Sequence[tuple[str, Exception]]) -> dict[str, Any]:
    errors = [{"file": name, "error": {"type": type(e).__name__, "message": str(e)}} for name, e in refused]
    return {"files": [*(record(one, name=name) for name, one in done), *errors]}


def _say_json(answer: object) -> None:
    import json

    say(json.dumps(answer))


def _baseline(file: str) -> Baseline:
    """The baseline in a file."""
    return baseline(text_of(file, what="a baseline"))


def _writable(file: str) -> None:
    """Refuse to write a baseline where anything else is."""
    if file == "-":
        raise click.UsageError("--write-baseline takes a path, and standard output tells what was found")
    if os.path.lexists(file):
        try:
            _baseline(file)
        except DescriptorError:
            raise DescriptorError(
                f"check: --write-baseline must name a new file or a baseline, found another; {file}"
            ) from None


def _write(form: _Form, done: Sequence[tuple[str, Report]]) -> None:
    text = baseline_text(done)
    write_whole({Path(form.write): text.encode()})
    rows = baseline(text)
    left = sum(count for key, count in rows.items() if key[1].startswith(UNDECIDED))
    many = sum(rows.values()) - left
    if form.as_json or form.as_sarif:
        say(json_text({"written": form.write, "findings": many, "undecided": left}))
    else:
        told = f"{counted(many, 'finding')} and {left} not decided of {counted(len(done), 'file')}"
        say(f"wrote {printable(form.write)}: {told}")


def _contracts(files: tuple[str, ...], init: bool, as_json: bool, as_sarif: bool) -> Status:
    """What a project relies on, in one file or in many; with ``init`` the tables that its file lacks."""
    from descriptors.gemm import contract  # a kernel needs none of it

    if init:
        if as_json or as_sarif or len(files) > 1:
            raise click.UsageError("--init writes TOML for one file, and goes not with --json or --sarif")
        say(contract.missing(text_of(files[0], what="TOML")).removesuffix("\n"))
        return Status.ANSWER
    if len(files) == 1 and not as_sarif:
        found = contract.check_contract(text_of(files[0], what="TOML"))
        say(json_text(record(found, name=files[0])) if as_json else for_terminal(tell(found, name=printable(files[0]))))
        return Status.ANSWER if found.ok else Status.DIFFERENCE
    held: list[tuple[str, contract.ContractReport]] = []
    refused: list[tuple[str, Exception]] = []
    for file in files:
        try:
            held.append((file, contract.check_contract(text_of(file, what="TOML"))))
        except (DescriptorError, OSError) as error:
            refused.append((file, error))
    if as_sarif:
        _say_json(contract.sarif(held, [(name, str(error)) for name, error in refused]))
    elif as_json:
        say(json_text(_record_many(held, refused)))
    else:
        wrong = [kernel_text.tell_refused(name, str(error), wants_color()) for name, error in refused]
        say("\n".join([*(for_terminal(tell(found, name=printable(name))) for name, found in held), *wrong]))
    if refused:
        return Status.BAD_INPUT
    return Status.ANSWER if all(found.ok for _, found in held) else Status.DIFFERENCE


@click.command()
@_FILE
@_ARCH
@_INCLUDE
@click.option("--rounds", is_flag=True, help="Tell instead who waits for whom, round by round, in one run.")
@click.option("--draw", "picture_path", help="Write a picture of those rounds: a file in .svg, .tex, .txt or .html.")
@json_option("Write the story as JSON.")
def explain(
    file: str, gpu_arch: str, include: tuple[str, ...], rounds: bool, picture_path: str | None, as_json: bool
) -> None:
    """Tell the story of a kernel: its MMAs, operands, tiles, groups in flight, tensor memory, mbarriers.

    \b
    descriptors explain kernel.ptx
    descriptors explain kernel.ptx --rounds --draw rounds.svg

    Mbarriers are told as a run of the kernel saw them: rings, arrivals and bytes of a phase, which warps do what. The
    rounds are those of the first run in which something is wrong, and without one of the first. FILE is as for check.
    """
    text = text_of(file, gpu_arch, include)
    pictures = _rounds(text) if rounds or picture_path is not None else []
    if picture_path is not None:
        pictures[0].save(picture_path)
        note(f"wrote {picture_path}")
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
