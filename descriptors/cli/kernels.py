"""The commands ``descriptors check`` and ``explain``: a kernel in PTX, or in CUDA C++ where there is a compiler."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import click

from descriptors.cli.asking.options import json_option
from descriptors.errors import DescriptorError, brief
from descriptors.kernels.inspect import check_ptx
from descriptors.kernels.story import explain_ptx
from descriptors.output import report, story
from descriptors.protocol.broken import Level
from descriptors.ptx.statements import LIMIT
from layoutalg.cli.console import NotThereError, Status, json_text, say

#: How long a compiler may take, in seconds.
COMPILE_S = 600

_FILE = click.argument("file")
_TARGETS = click.Choice(["sm_90a", "sm_100a", "sm_103a", "sm_110a"])
_ARCH = click.option("--gpu-arch", type=_TARGETS, default="sm_90a", show_default=True, help="The target of a .cu file.")


@click.command()
@_FILE
@_ARCH
@click.option("--errors", is_flag=True, help="Show errors only, and no remarks.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Write the findings as SARIF 2.1.0.")
@json_option("Write the findings as JSON.")
def check(file: str, gpu_arch: str, errors: bool, as_sarif: bool, as_json: bool) -> Status:
    """Check the wgmma and tcgen05 instructions of a kernel: their order, their forms, their descriptor words.

    \b
    descriptors check kernel.ptx
    descriptors check kernel.cu --gpu-arch sm_100a
    cuobjdump -ptx a.out | descriptors check -

    FILE is PTX, or CUDA C++ (.cu) where nvcc is on the path, or - for PTX on standard input. Three levels: error, an
    assembler rejects it or the hazard is certain; asks, the manual asks for it and common code omits it; performance.
    Exit status 1 if there is an error.
    """
    found = check_ptx(text_of(file, gpu_arch))
    name = "<stdin>" if file == "-" else file
    if as_sarif:
        import json

        say(json.dumps(report.sarif(found, name)))
    elif as_json:
        say(json_text(report.record(found, name)))
    else:
        say(report.tell(found, name, (Level.ERROR,) if errors else tuple(Level)))
    return Status.DIFFERENCE if found.errors else Status.ANSWER


@click.command()
@_FILE
@_ARCH
@json_option("Write the story as JSON.")
def explain(file: str, gpu_arch: str, as_json: bool) -> None:
    """Tell the story of a kernel: its MMAs, operands, tiles, groups in flight, tensor memory.

    \b
    descriptors explain kernel.ptx

    FILE is as for check.
    """
    told = explain_ptx(text_of(file, gpu_arch))
    say(json_text(story.record(told)) if as_json else story.tell(told))


def text_of(file: str, gpu_arch: str = "sm_90a") -> str:
    """The PTX of a file, of standard input, or of CUDA C++ that is compiled now.

    Raises:
        DescriptorError: if there is no such file, or it is too long, or no text, or does not compile.
        NotThereError: if a .cu file is given and there is no nvcc.

    >>> text_of("no/such.ptx")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: the file must exist, found 'no/such.ptx'
    """
    if file == "-":
        return _decoded(sys.stdin.buffer.read(LIMIT + 1), "<stdin>")
    path = Path(file)
    if not path.is_file():
        raise DescriptorError(f"check: the file must exist, found {brief(file)}")
    if path.suffix == ".cu":
        return _compiled(path, gpu_arch)
    with path.open("rb") as opened:
        return _decoded(opened.read(LIMIT + 1), file)


def _decoded(data: bytes, name: str) -> str:
    if len(data) > LIMIT:
        raise DescriptorError(f"check: a file must have at most {LIMIT} bytes, found more; {name}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DescriptorError(f"check: a file must be PTX, found bytes that are no text; {name}") from None


def _compiled(path: Path, gpu_arch: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "kernel.ptx"
        line = ["nvcc", "-std=c++17", "-ptx", f"-arch={gpu_arch}", str(path), "-o", str(made)]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        except FileNotFoundError:
            raise NotThereError("check: a .cu file needs nvcc on the path; give its PTX instead") from None
        except subprocess.TimeoutExpired:
            raise DescriptorError(f"check: nvcc must end in {COMPILE_S} seconds, found it running; {path}") from None
        if done.returncode or not made.exists():
            told = (done.stderr or done.stdout).strip().splitlines()
            raise DescriptorError(f"check: the file must compile, found {brief(told[0] if told else 'no output', 200)}")
        return _decoded(made.read_bytes(), str(path))


#: The commands that the group registers.
commands = [check, explain]
