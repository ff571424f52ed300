"""Coq as a judge: compile the folder ``proofs``, evaluate its definitions, and check files that use it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from places import ROOT

PROOFS, COMPILED = ROOT / "proofs", ROOT / "build" / "proofs"

needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None or shutil.which("bash") is None,
    reason="Coq is not installed: apt-get install --no-install-recommends coq",
)


def compile_proofs() -> None:
    """Compile the files that changed; the first call of a checkout takes about half a minute."""
    done = subprocess.run(["bash", str(ROOT / "scripts" / "prove"), "--compile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def run_coq(path: Path, proofs: Path = COMPILED) -> subprocess.CompletedProcess[str]:
    """Compile one file with the library."""
    command = ["coqc", "-q", "-Q", str(proofs), "LayoutAlg", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True)


def evaluate(folder: Path, imports: str, *expressions: str) -> list[str]:
    """Return the text of the value of each expression."""
    path = folder / "Evaluation.v"
    head = ["From Coq Require Import ZArith List.", f"From LayoutAlg Require Import {imports}."]
    head += [
        "Import ListNotations.",
        "Open Scope Z_scope.",
        "Set Printing Depth 1000000.",
        "Set Printing Width 100000.",
    ]
    path.write_text("\n".join([*head, *(f"Eval vm_compute in ({text})." for text in expressions)]) + "\n")
    done = run_coq(path)
    assert done.returncode == 0, done.stderr[:2000]
    return re.findall(r"^ +=\s(.*?)\n +: ", done.stdout, re.S | re.M)


def integers(text: str) -> list[int]:
    """Return all integers in a value."""
    return [int(number) for number in re.findall(r"-?\d+", text)]


def layout_text(modes: Sequence[tuple[int, int]]) -> str:
    """Write a layout as a list of modes."""
    return "[" + "; ".join(f"({extent}, ({stride}))" for extent, stride in modes) + "]"


def arch_text(word_format: str) -> str:
    """Write the name of a word format as a constructor."""
    return word_format.capitalize()
