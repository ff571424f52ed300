"""The commands ``descriptors check`` and ``explain``: a kernel in PTX, or in CUDA C++ where there is a compiler.

``check`` has two faces: what is wrong with kernels, and, of a file in TOML, whether what a project relies on holds.
Kernels may be many, and folders of them: a file that cannot be read is told and stops no other.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size, which
from typing import TYPE_CHECKING, Any

import click

from descriptors.answers import record, tell
from descriptors.check import kernel_text
from descriptors.check.baseline import UNDECIDED, Baseline, baseline, baseline_text, without_known
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report, chosen, rule_names
from descriptors.check.ptx.ptx_module import LIMIT
from descriptors.check.rules import Level
from descriptors.check.sarif import sarif
from descriptors.check.story import explain_ptx
from descriptors.cli.options import json_option, together
from descriptors.cli.terminal import answered, for_terminal, note
from descriptors.cli.values import complete, numbers
from descriptors.errors import DescriptorError, brief
from descriptors.text import counted
from layoutalg.cli.console import NotThereError, Status, json_text, printable, say, standard_input, wants_color
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from descriptors.show.pictures.round_picture import RoundPicture

#: How long a compiler may take, in seconds.
COMPILE_S = 600

_FILE = click.argument("file")
_TARGETS = click.Choice(["sm_90a", "sm_100a", "sm_103a", "sm_110a"])
_LEVELS = click.Choice([str(one) for one in Level])
_INCLUDE = click.option(
    "-I", "include", multiple=True, metavar="FOLDER", help="Headers for a .cu file; may be repeated."
)
_ARCH = click.option("--gpu-arch", type=_TARGETS, default="sm_90a", show_default=True, help="The target of a .cu file.")


def _pairs(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, str]:
    """What ``NAME=VALUE``, given again and again, says."""
    found: dict[str, str] = {}
    for row in rows:
        name, sign, value = row.partition("=")
        if not (name and sign and value):
            raise click.BadParameter(f"must be {parameter.metavar}, found {row[:60]!r}", context, parameter)
        found[name] = value
    return found


def _whole(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, int]:
    """The same where values are integers, decimal or hexadecimal."""
    found: dict[str, int] = {}
    for name, value in _pairs(context, parameter, rows).items():
        if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", value):
            raise click.BadParameter(f"{name} must be an integer, found {value[:60]!r}", context, parameter)
        found[name] = int(value, 0) if "x" in value.lower() else int(value)
    return found


#: What is known of the launch.
_LAUNCH = together(
    click.option("--threads", metavar="X[xYxZ]", callback=numbers("x"), help="Threads of a CTA, as it is launched."),
    click.option("--cluster", metavar="X[xYxZ]", callback=numbers("x"), help="CTAs of a cluster, as it is launched."),
    click.option(
        "--param", "parameters", multiple=True, metavar="NAME=VALUE", callback=_whole,
        help="A scalar parameter, by name or number (NAME+BYTES in a structure); may be repeated.",
    ),
    click.option(
        "--tensormap", "tensor_maps", multiple=True, metavar="NAME=BOX", callback=_pairs,
        help="The box of a tensor map in a parameter, or that one points at: 64x128xbf16, or bytes; may be repeated.",
    ),
)  # fmt: skip


def _list_rules(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        say(kernel_text.rules_text())
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
    that --json has. Exit status 1 if one is wrong; the right one is told.
    """
    if any(Path(file).suffix == ".toml" for file in files):
        given = {"--sarif": as_sarif, "--errors": errors, "--level": levels, "--rule": only, "--ignore": without,
                 "--all": everything, "-I": include, "--strict": strict, "--baseline": known,
                 "--write-baseline": write, "--threads": threads, "--cluster": cluster, "--param": parameters,
                 "--tensormap": tensor_maps}  # fmt: skip
        if any(given.values()):
            raise click.UsageError(f"{next(name for name, one in given.items() if one)} goes only with a kernel")
        if len(files) > 1:
            raise click.UsageError("a .toml file goes alone")
        return _contract(files[0], init, as_json)
    if init:
        raise click.UsageError("--init goes only with a .toml file")
    wanted = {Level.ERROR} if errors else {Level(one) for one in levels}
    rules, fewer = rule_names(only, "--rule"), rule_names(without, "--ignore")
    accepted = _baseline(known) if known else {}
    if write:
        _writable(write)

    def checked(file: str) -> Report:
        text = text_of(file, gpu_arch, include)
        report = check_ptx(text, threads=threads, cluster=cluster, parameters=parameters, tensor_maps=tensor_maps)
        found = chosen(report, wanted, rules, fewer)
        return without_known(found, shown(file), accepted)

    lit = wants_color()
    asked = _Asked(strict, everything, lit, as_sarif, as_json, write or "")
    if len(files) == 1 and not Path(files[0]).is_dir():
        return _of_one(files[0], checked(files[0]), asked)
    return _of_many(files, checked, asked)


@frozen
class _Asked:
    """How answers are wanted."""

    strict: bool
    everything: bool
    color: bool
    as_sarif: bool
    as_json: bool
    write: str


def shown(file: str) -> str:
    """What a file is called."""
    return "<stdin>" if file == "-" else file


def _status(report: Report, asked: _Asked) -> Status:
    """What a report says to a program that asked."""
    left = report.verdict == "incomplete" and not (report.accepted and report.accepted == report.undecided)
    wrong = report.verdict == "errors" or (asked.strict and left)
    return Status.DIFFERENCE if wrong and not asked.write else Status.ANSWER


def _of_one(file: str, found: Report, asked: _Asked) -> Status:
    name = shown(file)
    if asked.write:
        _write(asked, [(name, found)])
    elif asked.as_sarif:
        _say_json(sarif([(name, found)]))
    elif asked.as_json:
        say(json_text(record(found, name=name)))
    else:
        say(tell(found, name=name, everything=asked.everything, color=asked.color))
    return _status(found, asked)


def _of_many(files: Sequence[str], check_one: Callable[[str], Report], asked: _Asked) -> Status:
    """Every file, though some cannot be checked; then what there is to say of all of them."""
    names, bad, left = _expanded(files)
    progress = _Progress(len(names))
    done: list[tuple[str, Report]] = []
    refused: list[tuple[str, Exception]] = [*bad]
    status = max([_refusal(error) for _, error in bad], default=Status.ANSWER)
    plain = not (asked.as_sarif or asked.as_json or asked.write)
    for name, error in bad if plain else ():
        say(kernel_text.tell_refused(name, str(error), asked.color))
    for file in names:
        progress.tell(shown(file))
        try:
            found = check_one(file)
        except (DescriptorError, NotThereError, OSError) as error:
            refused.append((shown(file), error))
            status = max(status, _refusal(error))
            text = kernel_text.tell_refused(shown(file), str(error), asked.color)
        else:
            done.append((shown(file), found))
            status = max(status, _status(found, asked))
            text = tell(found, name=shown(file), everything=asked.everything, color=asked.color) if plain else ""
        if plain:
            progress.clear()
            say(text)
    progress.clear()
    told = [(name, str(error)) for name, error in refused]
    if asked.write:
        if refused:
            raise DescriptorError(f"check: for a baseline every file must be checked, found {told[0][1]}; {told[0][0]}")
        _write(asked, done)
    elif asked.as_sarif:
        _say_json(sarif(done, told))
    elif asked.as_json:
        say(json_text(_record_many(done, refused)))
    else:
        say(kernel_text.tell_summary([one for _, one in done], len(refused), left, asked.color))
    return Status(status)


def _refusal(error: Exception) -> Status:
    return Status.NOT_THERE if isinstance(error, NotThereError) else Status.BAD_INPUT


def _record_many(done: Sequence[tuple[str, Report]], refused: Sequence[tuple[str, Exception]]) -> dict[str, Any]:
    errors = [{"file": name, "error": {"type": type(e).__name__, "message": str(e)}} for name, e in refused]
    return {"files": [*(record(one, name=name) for name, one in done), *errors]}


def _say_json(answer: object) -> None:
    import json

    say(json.dumps(answer))


def _expanded(files: Sequence[str]) -> tuple[list[str], list[tuple[str, Exception]], int]:
    """The files, each once, and those of folders; folders that have none; how many a compiler is wanting for."""
    found: dict[str, str] = {}
    bad: list[tuple[str, Exception]] = []
    compiler, left = which("nvcc") is not None, 0
    for file in files:
        if file == "-" or not Path(file).is_dir():
            found.setdefault(file if file == "-" else os.path.realpath(file), file)
            continue
        held = list(_inside(file))
        sources = [one for one in held if one.endswith(".cu")]
        left += 0 if compiler else len(sources)
        kept = [one for one in held if compiler or not one.endswith(".cu")]
        if not kept:
            bad.append((file, DescriptorError("check: a folder must have a .ptx file, found none")))
        for one in kept:
            found.setdefault(os.path.realpath(one), one)
    return list(found.values()), bad, left


def _inside(folder: str) -> Iterator[str]:
    """The kernels of a folder and of those inside it, in order."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith((".ptx", ".cu")))


class _Progress:
    """A line on a terminal that says how far a check of many files is, after a while."""

    #: Seconds before it shows.
    PATIENCE = 2.0

    def __init__(self, files: int) -> None:
        self.files, self.number, self.shown = files, 0, False
        self.begun = time.monotonic()
        self.live = files > 1 and sys.stderr is not None and sys.stderr.isatty()

    def tell(self, name: str) -> None:
        """The next file."""
        self.number += 1
        if self.live and time.monotonic() - self.begun >= self.PATIENCE:
            line = f"{self.number} of {counted(self.files, 'file')}: {printable(name)}"
            sys.stderr.write(f"\r\x1b[K{line[: get_terminal_size().columns - 1]}")
            sys.stderr.flush()
            self.shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.shown = False


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


def _write(asked: _Asked, done: Sequence[tuple[str, Report]]) -> None:
    text = baseline_text(done)
    Path(asked.write).write_text(text, encoding="utf-8", newline="\n")
    rows = baseline(text)
    left = sum(count for key, count in rows.items() if key[1].startswith(UNDECIDED))
    many = sum(rows.values()) - left
    if asked.as_json or asked.as_sarif:
        say(json_text({"written": asked.write, "findings": many, "undecided": left}))
    else:
        told = f"{counted(many, 'finding')} and {left} not decided of {counted(len(done), 'file')}"
        say(f"wrote {printable(asked.write)}: {told}")


def _contract(file: str, init: bool, as_json: bool) -> Status:
    """What a project relies on; with ``init`` the tables that its file lacks."""
    from descriptors.gemm import contract  # a kernel needs none of it

    text = text_of(file, what="TOML")
    if init:
        if as_json:
            raise click.UsageError("--init writes TOML, and goes not with --json")
        say(contract.missing(text).removesuffix("\n"))
        return Status.ANSWER
    found = contract.check_contract(text)
    say(json_text(record(found, name=file)) if as_json else for_terminal(tell(found, name=printable(file))))
    return Status.ANSWER if found.ok else Status.DIFFERENCE


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
    """The rounds of the kernels of a text that have mbarriers, those with something wrong first."""
    from descriptors.check.pipeline import pipelines
    from descriptors.show.pictures.round_picture import RoundPicture  # no story needs a picture

    found = sorted(pipelines(text), key=lambda one: not one.wrong)
    if not found:
        raise DescriptorError(
            "explain: rounds are those of mbarriers, found no kernel that initialises one and uses it"
        )
    return [RoundPicture(one) for one in found]


def text_of(file: str, gpu_arch: str = "sm_90a", include: tuple[str, ...] = (), what: str = "PTX") -> str:
    """The PTX of a file, of standard input, or of CUDA C++ that is compiled now.

    Raises:
        DescriptorError: if there is no such file, or it is too long, or no text, or does not compile.
        NotThereError: if a .cu file is given and there is no nvcc.

    >>> text_of("no/such.ptx")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: the file must exist, found 'no/such.ptx'
    """
    if file == "-":
        return _decoded(standard_input().buffer.read(LIMIT + 1), "<stdin>")
    path = Path(file)
    if path.is_dir():
        raise DescriptorError(f"check: the file must be a file, found a folder; {file}")
    if not path.is_file():
        raise DescriptorError(f"check: the file must exist, found {brief(file)}")
    if path.suffix == ".cu":
        return _compiled(path, gpu_arch, include)
    with path.open("rb") as opened:
        return _decoded(opened.read(LIMIT + 1), file, what)


#: How cubins, objects and programs begin (ELF), and fat binaries.
_BINARY = (b"\x7fELF", b"\x50\xed\x55\xba")


def _decoded(data: bytes, name: str, what: str = "PTX") -> str:
    if len(data) > LIMIT:
        raise DescriptorError(f"check: a file must have at most {LIMIT} bytes, found more; {name}")
    if data.startswith(_BINARY):
        found = "found machine code, whose PTX, if it has any, cuobjdump -ptx prints"
        raise DescriptorError(f"check: a file must be PTX, {found}; {name}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DescriptorError(f"check: a file must be {what}, found bytes that are no text; {name}") from None


def _compiled(path: Path, gpu_arch: str, include: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "kernel.ptx"
        folders = [f"-I{one}" for one in include]
        line = ["nvcc", "-std=c++17", "--expt-relaxed-constexpr", "-ptx", f"-arch={gpu_arch}", *folders]
        line += [str(path), "-o", str(made)]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        except FileNotFoundError:
            raise NotThereError("check: a .cu file needs nvcc on the path; give its PTX instead") from None
        except subprocess.TimeoutExpired:
            raise DescriptorError(f"check: nvcc must end in {COMPILE_S} seconds, found it running; {path}") from None
        if done.returncode or not made.exists():
            told = (done.stderr or done.stdout).strip().splitlines()
            first = next((one for one in told if "error" in one), told[0] if told else "no output")
            raise DescriptorError(f"check: the file must compile, found {brief(first, 200)}")
        return _decoded(made.read_bytes(), str(path))


#: The commands that the group registers.
commands = [check, explain]
