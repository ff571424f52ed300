"""Both programs as processes, and a command line that answers for each of their commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from places import ROOT

OPERAND = ["--dtype", "bf16", "--major", "K"]
TILE = [*OPERAND, "--swizzle", "128B", "--tile", "128x128"]
FAMILY = [*OPERAND, "--swizzle", "128B", "--tile", "64*m x 64*k", "--mma", "64x16", "--symbolic"]
ACCESS = ["--access", "(8,8):(1,8)", "--element-bytes", "2", "--bytes", "16"]
SW128 = "S<3,3,3> o 0 o (64,16):(64,1)"

#: By program and command; ``atlas`` wants a file to write to before these.
ANSWERED: Mapping[str, Mapping[str, list[str]]] = {
    "descriptors": {
        "derive": [*TILE, "--mma", "64x16"],
        "draw": ["levels", *TILE, "--mma", "64x16"],
        "explore": ["--html", os.devnull],
        "emit": ["python", f"a: {' '.join([*TILE, '--mma', '64x16'])}"],
        "match": ["(64,16):(64,1)", "--dtype", "bf16", "--swizzle", "128B"],
        "candidates": ["(64,16):(64,1)", "--dtype", "bf16"],
        "decode": ["0x4000404000010000"],
        "read": ["0x4000404000010000", *OPERAND, "--shape", "64x16"],
        "diff": ["0x4000404000010000", SW128, *OPERAND],
        "shapes": [],
        "idesc": ["--a", "bf16", "--m", "128", "--n", "256"],
        "decode-idesc": ["0x08410490", "--kind", "f16"],
        "check": ["docs/kernels/pipeline.ptx"],
        "explain": ["docs/kernels/pipeline.ptx"],
        "tma": TILE,
        "tensor-map": ["type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B"],
        "chain": ["--tile", "64x16", "layout (64,16):(16,1)", "ldmatrix.x4 warps=4x1", "fragment wgmma.m64n8k16.A"],
        "plan": ["m64n16k16", "bf16", "--tile", "64x16x32", "--stages", "2"],
        "tmem": ["accumulator", "--m", "128", "--n", "64"],
        "search": ["--tile", "64x16", "--dtype", "bf16", "--mma", "64x16"],
        "formulas": ["--bits", "16", "--swizzle", "128B"],
        "schema": ["decode"],
        "course": ["1.1"],
        "atlas": ["--tile", "64x64", "--dtype", "bf16", "--swizzle", "128B"],
    },
    "layoutalg": {
        "eval": ["(4,8):(8,1)"],
        "show": ["(4,8):(8,1)"],
        "draw": ["(4,8):(8,1)", "--colour-by", "thread"],
        "same": ["(4,8):(1,4)", "32:1"],
        "ops": [],
        "atoms": [],
        "feeds": ["mma.m16n8k16.C", "mma.m16n8k16.A.f16"],
        "banks": ["(8,64):(64,1)", *ACCESS],
        "schema": ["banks"],
        "sectors": ["(64,64):(64,1)", "--access", "(32,8):(1,64)@16B", "--element-bytes", "2"],
        "f2": ["(4,8):(8,1)"],
        "linear": ["(4,8):(8,1)", "--in", "lane,register"],
        "find-swizzle": ["(8,64):(64,1)", *ACCESS],
    },
}

#: Tests that are left out, with a word, on a system that has not what they do.
NEEDS_POSIX = pytest.mark.skipif(os.name != "posix", reason="bash, forks, and signals to others are those of POSIX")
NEEDS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")

#: All of them, for tests with a case for each.
COMMANDS = [(program, name) for program, commands in ANSWERED.items() for name in commands]


#: Forks for each line once both programs are imported whole, so that a line costs its answer and not the start and
#: the end of Python; what is left to be written is written at last, as Python does when it ends.
_FORKS = """
import json, os, sys, tempfile
from importlib import import_module
import numpy, sympy
COMMANDS = {name: import_module(f"{name}.cli.command") for name in ("layoutalg", "descriptors")}
for command in COMMANDS.values():
    for module, *_ in command.COMMANDS.values():
        import_module(module)
reader, gone = os.pipe()
os.close(reader)
ends = []
for program, arguments in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.dup2(gone, 1)
            os.dup2(errors.fileno(), 2)
            try:
                status = COMMANDS[program].main(arguments)
                sys.stdout.flush()
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                status = 120
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        ends.append((status, errors.read()))
print(json.dumps(ends))
"""


def all_unread(lines: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[int, str]]:
    """Exit status and standard error of many lines, a program and its arguments, whose reader is gone."""
    command = [sys.executable, "-c", _FORKS, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    return [(status, errors) for status, errors in json.loads(done.stdout)]


def closed_pipe(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program whose reader is gone before it writes."""
    return unread([sys.executable, "-m", program, *arguments])


def unread(command: Sequence[str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command line, run in a folder, whose reader is gone before it writes."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=cwd, check=False)
    finally:
        os.close(writer)
