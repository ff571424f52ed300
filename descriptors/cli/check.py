"""The commands ``descriptors check`` and ``explain``: a kernel in PTX, or in CUDA C++ where there is a compiler.

``check`` has two faces: what is wrong with a kernel, and, of a file in TOML, whether what a project relies on holds.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import click

from descriptors.answers import record, tell
from descriptors.check import kernel_text
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import chosen, rule_names
from descriptors.check.ptx_module import LIMIT
from descriptors.check.rules import Level
from descriptors.check.story import explain_ptx
from descriptors.cli.options import json_option
from descriptors.cli.values import complete
from descriptors.errors import DescriptorError, brief
from layoutalg.cli.console import NotThereError, Status, json_text, say, standard_input, wants_color

#: How long a compiler may take, in seconds.
COMPILE_S = 600

_FILE = click.argument("file")
_TARGETS = click.Choice(["sm_90a", "sm_100a", "sm_103a", "sm_110a"])
_LEVELS = click.Choice([str(one) for one in Level])
_INCLUDE = click.option(
    "-I", "include", multiple=True, metavar="FOLDER", help="Headers for a .cu file; may be repeated."
)
_ARCH = click.option("--gpu-arch", type=_TARGETS, default="sm_90a", show_default=True, help="The target of a .cu file.")


def _list_rules(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        say(kernel_text.rules_text())
        context.exit()


@click.command()
@_FILE
@_ARCH
@_INCLUDE
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
@click.option("--all", "everything", is_flag=True, help="Show every finding of a rule, and not the first three.")
@click.option("--color/--no-color", default=None, help="Colour places and levels.  [default: on a terminal]")
@click.option("--sarif", "as_sarif", is_flag=True, help="Write the findings as SARIF 2.1.0.")
@click.option("--init", is_flag=True, help="Write the tables that a .toml file lacks, for it to hold them from now on.")
@json_option("Write the findings as JSON.")
@click.option(
    "--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules, help="List all rules, and end."
)
def check(
    file: str, gpu_arch: str, include: tuple[str, ...], errors: bool, levels: tuple[str, ...],
    only: tuple[str, ...], without: tuple[str, ...], everything: bool, color: bool | None,
    as_sarif: bool, init: bool, as_json: bool,
) -> Status:  # fmt: skip
    """Check a kernel, or what a project relies on.

    \b
    descriptors check kernel.ptx
    descriptors check kernel.cu --gpu-arch sm_100a
    cuobjdump -ptx a.out | descriptors check -
    descriptors check operands.toml

    A KERNEL is PTX, or CUDA C++ (.cu) where nvcc is on the path, or - for PTX on standard input: the order of its wgmma
    and tcgen05 instructions, their forms, their descriptor words. Three levels: error, an assembler rejects it or the
    hazard is certain; asks, the manual asks for it and common code omits it; performance. Exit status 1 if there is an
    error. What is meant can be left out: // descriptors: ignore RULE in its line.

    A PROJECT writes what it relies on into a .toml file: sections [operand.NAME] with arguments of descriptors derive,
    [plan.NAME] with those of descriptors plan, and in each a table expect with words, layouts, offsets, under the keys
    that --json has. Exit status 1 if one is wrong; the right one is told.
    """
    if Path(file).suffix == ".toml":
        given = {"--sarif": as_sarif, "--errors": errors, "--level": levels, "--rule": only, "--ignore": without,
                 "--all": everything, "-I": include}  # fmt: skip
        if any(given.values()):
            raise click.UsageError(f"{next(name for name, one in given.items() if one)} goes only with a kernel")
        return _contract(file, init, as_json)
    if init:
        raise click.UsageError("--init goes only with a .toml file")
    wanted = {Level.ERROR} if errors else {Level(one) for one in levels}
    rules, fewer = rule_names(only, "--rule"), rule_names(without, "--ignore")
    found = chosen(check_ptx(text_of(file, gpu_arch, include)), wanted, rules, fewer)
    name = "<stdin>" if file == "-" else file
    if as_sarif:
        import json

        say(json.dumps(kernel_text.sarif(found, name)))
    elif as_json:
        say(json_text(record(found, name=name)))
    else:
        say(tell(found, name=name, everything=everything, color=wants_color(color)))
    return Status.DIFFERENCE if found.errors else Status.ANSWER


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
    say(json_text(record(found, name=file)) if as_json else tell(found, name=file))
    return Status.ANSWER if found.ok else Status.DIFFERENCE


@click.command()
@_FILE
@_ARCH
@_INCLUDE
@json_option("Write the story as JSON.")
def explain(file: str, gpu_arch: str, include: tuple[str, ...], as_json: bool) -> None:
    """Tell the story of a kernel: its MMAs, operands, tiles, groups in flight, tensor memory.

    \b
    descriptors explain kernel.ptx

    FILE is as for check.
    """
    told = explain_ptx(text_of(file, gpu_arch, include))
    say(json_text(record(told)) if as_json else tell(told))


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
