"""One round of questions to a worker process that holds the CuTe DSL, and the language that both sides speak.

The process asking never imports ``cutlass``; it sends the questions as JSON and reads one JSON line for each answer.
Inside the worker every batch runs in a forked child, so a native crash costs one question and a few milliseconds.

CuTe notation goes over as plain data. Its reader shares no code with ``layoutalg``, so that a slip in either notation
shows when the two are compared; it accepts what the DSL prints and nothing more: no blanks inside tuples, no C++
spelling.

Laws: the DSL is required quietly if and only if it is available; what is read is written as it was, and ``layoutalg``
writes the same.

>>> from layoutalg import parse_layout
>>> texts = ["8:1", "(8,(4,2)):(1,(8,0))", "(2,3):(1@0,2@1)", "S<3,4,3> o 16 o (8,64):(64,1)"]
>>> [write(read(text)) for text in texts] == texts == [str(parse_layout(text)) for text in texts]
True
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias, cast

from layoutalg.frozen import frozen
from layoutalg.installation import pip_install

_DISTRIBUTION = "nvidia-cutlass-dsl"

#: The message where it is missing, of an error and of every ``--check``.
MISSING = f"the CuTe DSL is not installed; {pip_install('oracle')} adds it"


class OracleError(RuntimeError):
    """The oracle failed as a tool: its process broke, or gave no answer that can be read."""


class OracleUnavailableError(OracleError):
    """The CuTe DSL is not installed (it is made for Linux only)."""


def available() -> bool:
    """Whether the CuTe DSL is installed, found out without importing it.

    >>> available() or version() is None
    True
    """
    return find_spec("cutlass") is not None and version() is not None


def version() -> str | None:
    """Version of the installed CuTe DSL, or ``None`` where there is none."""
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def require() -> None:
    """Return quietly if the oracle can be asked.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
    """
    if not available():
        raise OracleUnavailableError(MISSING)


_SWIZZLE = re.compile(r"S<(-?\d+),(-?\d+),(-?\d+)>?$")
_TOKEN = re.compile(r"[(),]|-?\d+(?:@\d+)*")


@frozen
class Basis:
    """A stride ``value@m1@m0``: ``value`` steps along mode ``(m0, m1)``, whose outermost index is printed last."""

    value: int
    mode: tuple[int, ...]


Tree: TypeAlias = "int | Basis | tuple[Tree, ...]"


@frozen
class Affine:
    """A layout ``shape:stride``."""

    shape: Tree
    stride: Tree


@frozen
class Swizzling:
    """A swizzle ``S<bits,base,shift>``."""

    bits: int
    base: int
    shift: int


@frozen
class Composed:
    """``outer o offset o inner``, applied from right to left."""

    outer: Term
    offset: Tree
    inner: Term

    @property
    def shape(self) -> Tree:
        """Shape of the rightmost layout, whose coordinates these are."""
        return () if isinstance(self.inner, Swizzling) else self.inner.shape


Term: TypeAlias = "Affine | Swizzling | Composed"


def read(text: str) -> Term:
    """Return the layout, swizzle or composed layout that ``text`` writes.

    Raises:
        ValueError: if the text is not in the notation.

    >>> read("(8,(4,2)):(1,(8,0))")
    Affine(shape=(8, (4, 2)), stride=(1, (8, 0)))
    >>> read("S<3,4,3> o 16 o 8:1").offset
    16
    """
    outer, composed, rest = text.partition(" o ")
    if composed:
        offset, _, inner = rest.partition(" o ")
        return Composed(read(outer), read_tuple(offset), read(inner))
    if match := _SWIZZLE.match(text):  # the DSL forgets the closing bracket after a negative shift
        bits, base, shift = map(int, match.groups())
        return Swizzling(bits, base, shift)
    shape, _, stride = text.partition(":")
    return Affine(read_tuple(shape), read_tuple(stride))


def read_tuple(text: str) -> Tree:
    """Return the nested tuple of integers (or of basis strides) that ``text`` writes; ``(4)`` is a tuple of one.

    Raises:
        ValueError: if the text is not in the notation.

    >>> read_tuple("(8,(4),2@1@0)")
    (8, (4,), Basis(value=2, mode=(0, 1)))
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or not tokens:
        raise ValueError(f"oracle reader: a nested tuple of integers must be written here, found {text[:80]!r}")
    try:
        tree, after = _tree(tokens, 0)
    except (IndexError, ValueError):  # the text ended inside a tuple, or a bracket stood where a number belongs
        after = -1
    if after != len(tokens):
        raise ValueError(f"oracle reader: brackets must match and commas separate, found {text[:80]!r}")
    return tree


def _tree(tokens: list[str], at: int) -> tuple[Tree, int]:
    if tokens[at] != "(":
        value, *modes = map(int, tokens[at].split("@"))
        return (Basis(value, tuple(reversed(modes))) if modes else value), at + 1
    items: list[Tree] = []
    at += 1
    while tokens[at] != ")":
        item, at = _tree(tokens, at)
        items.append(item)
        at += tokens[at] == ","
    return tuple(items), at + 1


def write_tuple(tree: object) -> str:
    """Write a nested tuple the way the DSL prints one inside a layout: no blanks, ``(4)`` for a tuple of one.

    >>> write_tuple((8, (4,), Basis(2, (0, 1))))
    '(8,(4),2@1@0)'
    """
    if isinstance(tree, tuple):
        return f"({','.join(map(write_tuple, tree))})"
    if isinstance(tree, Basis):
        return "@".join(map(str, (tree.value, *reversed(tree.mode))))
    return str(tree)


def write(term: Term) -> str:
    """Write a layout, swizzle or composed layout in CuTe notation: the inverse of `read`.

    >>> write(read("S<2,4,-3> o 0 o (8,64):(64,1)"))
    'S<2,4,-3> o 0 o (8,64):(64,1)'
    """
    if isinstance(term, Affine):
        return f"{write_tuple(term.shape)}:{write_tuple(term.stride)}"
    if isinstance(term, Swizzling):
        return f"S<{term.bits},{term.base},{term.shift}>"
    return f"{write(term.outer)} o {write_tuple(term.offset)} o {write(term.inner)}"


Status = Literal["ok", "rejected", "crashed", "timeout"]
_STATUSES = ("ok", "rejected", "crashed", "timeout")


@frozen
class Reply:
    """What became of one question: the value under ``ok``, else a text that says what happened."""

    status: Status
    value: Any


def ask(
    answerer: str,
    questions: Sequence[object],
    *,
    each_s: float,
    batch: int,
    limit_s: float = 600.0,
    target: str | None = None,
) -> list[Reply]:
    """Return one reply a question, in order.

    Args:
        answerer: dotted name of the module that answers; its ``prepare()`` runs in the worker, and returns a function
            of a list of questions and of what it reports each status and value to.
        questions: plain data that JSON can carry.
        each_s: seconds a single question may take before its child is killed (status ``timeout``).
        batch: how many questions a forked child answers before the next child takes over.
        limit_s: seconds the whole round may take.
        target: what the DSL believes to compile for (``sm_100a``), where a question does not say it itself.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the worker itself broke or ran past ``limit_s``.
    """
    require()
    if not questions:
        return []
    job = json.dumps({"answerer": answerer, "questions": list(questions), "each_s": each_s, "batch": batch})
    command = [sys.executable, "-m", "layoutalg.oracle.worker"]
    try:
        with TemporaryDirectory() as scratch:  # the DSL leaves its PTX where the process was started
            worker = subprocess.run(
                command,
                input=job,
                capture_output=True,
                encoding="utf-8",
                timeout=limit_s,
                env=_environment(answerer, target, scratch),
                cwd=scratch,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise OracleError(
            f"oracle: {len(questions)} questions to {answerer} must end in {limit_s} s, found no end"
        ) from error
    replies = list(_replies(worker.stdout))
    if worker.returncode or len(replies) != len(questions):
        reason = (worker.stderr.strip().splitlines() or ["no message"])[-1]
        raise OracleError(
            f"oracle: the worker must answer {len(questions)} questions, found {len(replies)} and exit status "
            f"{worker.returncode}: {reason[:200]}"
        )
    return replies


def _environment(answerer: str, target: str | None, scratch: str) -> dict[str, str]:
    """The environment of the worker: what this process would ask, this very copy of the package; the DSL kept quiet."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (_home(answerer), root, os.environ.get("PYTHONPATH", ""))))
    architecture = {"CUTE_DSL_ARCH": target} if target else {}
    quiet = {"CUTE_DSL_LOG_LEVEL": "50", "CUTE_DSL_DUMP_DIR": scratch}
    return {**os.environ, "PYTHONPATH": path, **quiet, **architecture}


def _home(answerer: str) -> str:
    """The folder that a module is imported from; "" where this process does not find it, and the worker may."""
    spec = find_spec(answerer.partition(".")[0])
    return str(Path(spec.origin).parents[bool(spec.submodule_search_locations)]) if spec and spec.origin else ""


def _replies(lines: str) -> Iterator[Reply]:
    for line in lines.splitlines():
        status, value = json.loads(line)
        if status not in _STATUSES:
            raise OracleError(f"oracle: a status must be one of {', '.join(_STATUSES)}, found {str(status)[:60]}")
        yield Reply(cast(Status, status), value)
