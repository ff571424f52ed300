"""Kernels in files: which files a command line names, and the PTX of each; CUDA C++ goes through nvcc.

A folder stands for the kernels inside it. A file that is no text, or too long, or machine code, is refused.

Invariant: a kernel that is named twice is one.

>>> expanded(["a.ptx", "./a.ptx", "-"])
(['a.ptx', '-'], [], 0)
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from descriptors.answers import record
from descriptors.check.ptx.ptx_module import LIMIT
from descriptors.errors import DescriptorError, brief
from layoutalg.cli.console import NotThereError, Status, say, standard_input
from layoutalg.messages import Message

#: How long a compiler may take, in seconds.
COMPILE_S = 600


def shown(file: str) -> str:
    """What a file is called."""
    return "<stdin>" if file == "-" else file


def expanded(files: Sequence[str]) -> tuple[list[str], list[tuple[str, Exception]], int]:
    """The files that a command line names, and those of its folders.

    Args:
        files: paths of files and folders; ``-`` for standard input.

    Returns:
        The files, each once; folders without a kernel, with what is wrong; and how many .cu files of folders are left
        out, since there is no compiler.
    """
    kernels: dict[str, str] = {}
    empty_folders: list[tuple[str, Exception]] = []
    has_compiler, left = which("nvcc") is not None, 0
    for file in files:
        if file == "-" or not Path(file).is_dir():
            kernels.setdefault(file if file == "-" else os.path.realpath(file), file)
            continue
        paths = list(_kernels_in(file))
        if not has_compiler:
            left += sum(path.endswith(".cu") for path in paths)
            paths = [path for path in paths if not path.endswith(".cu")]
        if not paths:
            empty_folders.append((file, DescriptorError("check: the folder has no .ptx file")))
        for path in paths:
            kernels.setdefault(os.path.realpath(path), path)
    return list(kernels.values()), empty_folders, left


def _kernels_in(folder: str) -> Iterator[str]:
    """Yield the kernels of a folder and of its subfolders, in order."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith((".ptx", ".cu")))


def refusal_status(error: Exception) -> Status:
    """Return the exit status for a file that cannot be checked."""
    return Status.NOT_THERE if isinstance(error, NotThereError) else Status.BAD_INPUT


def files_record(reports: Sequence[tuple[str, Any]], refused: Sequence[tuple[str, Exception]]) -> dict[str, Any]:
    """Return the reports of several files, and why others could not be checked, as plain data."""
    errors = [{"file": name, "error": Message.of(e).record(type(e).__name__)} for name, e in refused]
    return {"files": [*(record(report, name=name) for name, report in reports), *errors]}


def say_json(answer: object) -> None:
    """Print an answer whose form another standard sets."""
    import json

    say(json.dumps(answer))


def text_of(
    file: str, gpu_arch: str = "sm_90a", include: tuple[str, ...] = (), what: str = "PTX", operation: str = "check"
) -> str:
    """The PTX of a file, of standard input, or of CUDA C++ that is compiled now.

    Raises:
        DescriptorError: if there is no such file, or it is too long, or no text, or does not compile.
        NotThereError: if a .cu file is given and there is no nvcc.

    >>> text_of("no/such.ptx")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: 'no/such.ptx' does not exist
    """
    if file == "-":
        return _decoded(standard_input().buffer.read(LIMIT + 1), "<stdin>", what, operation)
    path = Path(file)
    if path.is_dir():
        raise DescriptorError(f"{operation}: {brief(file)} is a folder, not a file")
    if not path.is_file():
        raise DescriptorError(f"{operation}: {brief(file)} does not exist")
    if path.suffix == ".cu":
        return _compiled(path, gpu_arch, include)
    with path.open("rb") as opened:
        return _decoded(opened.read(LIMIT + 1), file, what, operation)


#: How cubins, objects and programs begin (ELF), and fat binaries.
_BINARY = (b"\x7fELF", b"\x50\xed\x55\xba")


def _decoded(data: bytes, name: str, what: str = "PTX", operation: str = "check") -> str:
    if len(data) > LIMIT:
        raise DescriptorError(f"{operation}: {brief(name)} is longer than {LIMIT} bytes")
    if data.startswith(_BINARY):
        way_out = "use `cuobjdump -ptx` to print the PTX that it may contain"
        raise DescriptorError(f"{operation}: {brief(name)} is machine code, not {what}; {way_out}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DescriptorError(f"{operation}: {brief(name)} is not {what}, because it is not UTF-8 text") from None


def _compiled(path: Path, gpu_arch: str, include: tuple[str, ...]) -> str:
    name = brief(str(path))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "kernel.ptx"
        folders = [f"-I{path}" for path in include]
        line = ["nvcc", "-std=c++17", "--expt-relaxed-constexpr", "-ptx", f"-arch={gpu_arch}", *folders]
        line += [str(path), "-o", str(output)]
        try:
            done = subprocess.run(
                line, capture_output=True, encoding="locale", errors="replace", timeout=COMPILE_S, check=False
            )
        except FileNotFoundError:
            raise NotThereError("check: nvcc is not on the path; give the PTX of the .cu file instead") from None
        except subprocess.TimeoutExpired:
            raise DescriptorError(f"check: nvcc did not finish compiling {name} in {COMPILE_S} seconds") from None
        if done.returncode or not output.exists():
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            first = next((line for line in lines if "error" in line), lines[0])
            raise DescriptorError(f"check: nvcc does not compile {name}; {brief(first, 200)}")
        return _decoded(output.read_bytes(), str(path))
