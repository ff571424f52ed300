"""Questions to a worker process that runs the CuTe DSL, and the notation that both processes use.

The process that asks never imports ``cutlass``. It sends the questions as JSON and reads one JSON line for each answer.
The worker answers every batch in a forked child, so that a native crash costs one question and a few milliseconds.

Layouts are sent in CuTe notation. The parser of this module shares no code with ``layoutalg``, so that a comparison of
the two reveals an error in either. It accepts only what the DSL prints: no blanks inside tuples, no C++ spelling.

Invariants: :func:`require` returns if and only if the DSL is available; :func:`write` of what :func:`read` returns is
the text that was read, and ``layoutalg`` writes the same text.

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

#: The message of errors and of every ``--check`` if the DSL is not installed.
MISSING = f"the CuTe DSL is not installed; {pip_install('oracle')} adds it"


class OracleError(RuntimeError):
    """A failure of the oracle as a tool: its process failed, or its output cannot be parsed."""


class OracleUnavailableError(OracleError):
    """The CuTe DSL is not installed. It exists only for Linux."""


def available() -> bool:
    """Return whether the CuTe DSL is installed, without importing it.

    >>> available() or version() is None
    True
    """
    return find_spec("cutlass") is not None and version() is not None


def version() -> str | None:
    """Return the version of the installed CuTe DSL, or ``None`` if it is not installed."""
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def require() -> None:
    """Check that the oracle is available.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
    """
    if not available():
        raise OracleUnavailableError(MISSING)


_SWIZZLE = re.compile(r"S<(-?\d+),(-?\d+),(-?\d+)>?$")
_TOKEN = re.compile(r"[(),]|-?\d+(?:@\d+)*")


@frozen
class Basis:
    """A stride ``value@m1@m0``: ``value`` steps along mode ``(m0, m1)``. The outermost index is printed last."""

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
        """Shape of the rightmost layout, which is the domain."""
        return () if isinstance(self.inner, Swizzling) else self.inner.shape


Term: TypeAlias = "Affine | Swizzling | Composed"


def read(text: str) -> Term:
    """Parse a layout, swizzle or composed layout.

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
    if match := _SWIZZLE.match(text):  # the DSL omits the closing bracket after a negative shift
        bits, base, shift = map(int, match.groups())
        return Swizzling(bits, base, shift)
    shape, _, stride = text.partition(":")
    return Affine(read_tuple(shape), read_tuple(stride))


def read_tuple(text: str) -> Tree:
    """Parse a nested tuple of integers or basis strides; ``(4)`` is a tuple of one.

    Raises:
        ValueError: if the text is not in the notation.

    >>> read_tuple("(8,(4),2@1@0)")
    (8, (4,), Basis(value=2, mode=(0, 1)))
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or not tokens:
        raise ValueError(f"oracle reader: {text[:80]!r} is not a nested tuple of integers")
    try:
        tree, after = _tree(tokens, 0)
    except (IndexError, ValueError):  # the text ends inside a tuple, or has a bracket in place of a number
        after = -1
    if after != len(tokens):
        raise ValueError(f"oracle reader: the brackets or commas of {text[:80]!r} are not those of a tuple")
    return tree


def _tree(tokens: list[str], start: int) -> tuple[Tree, int]:
    if tokens[start] != "(":
        value, *modes = map(int, tokens[start].split("@"))
        return (Basis(value, tuple(reversed(modes))) if modes else value), start + 1
    items: list[Tree] = []
    position = start + 1
    while tokens[position] != ")":
        item, position = _tree(tokens, position)
        items.append(item)
        position += tokens[position] == ","
    return tuple(items), position + 1


def write_tuple(tree: object) -> str:
    """Write a nested tuple as the DSL prints it inside a layout: without blanks, ``(4)`` for a tuple of one.

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
    """The result of a question: for the status ``ok`` the value, else a text that describes what happened."""

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
    """Send questions to a worker process, and return one reply for each, in order.

    Args:
        answerer: dotted name of the module that answers. The worker calls its ``prepare()``, which returns a function
            of a list of questions and of a callback that receives the status and value of each.
        questions: plain data for JSON.
        each_s: seconds for a single question, after which its child is killed (status ``timeout``).
        batch: the most questions that a forked child answers.
        limit_s: seconds for all questions.
        target: the target for which the DSL compiles (``sm_100a``) if a question does not contain one.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the worker failed or took more than ``limit_s``.
    """
    require()
    if not questions:
        return []
    job = json.dumps({"answerer": answerer, "questions": list(questions), "each_s": each_s, "batch": batch})
    command = [sys.executable, "-m", "layoutalg.oracle.worker"]
    try:
        with TemporaryDirectory() as scratch:  # the DSL writes PTX files to the working directory
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
        raise OracleError(f"oracle: {answerer} has not answered {len(questions)} questions in {limit_s} s") from error
    replies = list(_replies(worker.stdout))
    if worker.returncode or len(replies) != len(questions):
        reason = (worker.stderr.strip().splitlines() or ["no message"])[-1]
        raise OracleError(
            f"oracle: the worker answered {len(replies)} of {len(questions)} questions and ended with exit status "
            f"{worker.returncode}: {reason[:200]}"
        )
    return replies


def _environment(answerer: str, target: str | None, scratch: str) -> dict[str, str]:
    """Return the environment of the worker: it imports this copy of the package, and the DSL does not print logs."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (_home(answerer), root, os.environ.get("PYTHONPATH", ""))))
    architecture = {"CUTE_DSL_ARCH": target} if target else {}
    quiet = {"CUTE_DSL_LOG_LEVEL": "50", "CUTE_DSL_DUMP_DIR": scratch}
    return {**os.environ, "PYTHONPATH": path, **quiet, **architecture}


def _home(answerer: str) -> str:
    """Return the folder from which a module is imported; "" if this process does not find it."""
    spec = find_spec(answerer.partition(".")[0])
    return str(Path(spec.origin).parents[bool(spec.submodule_search_locations)]) if spec and spec.origin else ""


def _replies(lines: str) -> Iterator[Reply]:
    for line in lines.splitlines():
        status, value = json.loads(line)
        if status not in _STATUSES:
            raise OracleError(f"oracle: {str(status)[:60]} is not a status; supported: {', '.join(_STATUSES)}")
        yield Reply(cast(Status, status), value)
