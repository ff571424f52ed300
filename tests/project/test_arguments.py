"""Every argument of every documented call, replaced by what it is not: taken, or refused in the packages' own words."""

from __future__ import annotations

import ast
import contextlib
import copy
import doctest
import inspect
import io
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from attacks.api import callables
from each import each

import descriptors
import layoutalg

#: What an argument is replaced by.
GARBAGE = {
    "an array": numpy.array([1, 2]), "a dictionary": {1: 2}, "no number": float("nan"), "an object": object(),
    "bytes": b"x", "a nested list": [1, [2]], "a huge number": -(10**30), "a word": "x", "None": None,
    "a fraction": 2.5, "a range": range(3), "True": True, "a function": len, "a lone surrogate": "\ud800",
    "a set": {1, 2},
}  # fmt: skip

#: What a call may end with.
OURS = (layoutalg.LayoutError, descriptors.DescriptorError)

#: A record of what a comparison found is made by the comparison, and checks nothing.
RECORDS = {"Mismatch"}


def documented(name: str) -> Iterator[tuple[ast.Call, dict[str, Any]]]:
    """The calls of a name in its own examples, with the names that stand there."""
    known = {one: getattr(package, one) for package in (layoutalg, descriptors) for one in dir(package)}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(callables()[name]) or ""):
        tree = ast.parse(example.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield node, known
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            exec(compile(tree, "<example>", "exec"), known)  # noqa: S102  what later lines stand on


def changed(call: ast.Call, function: Any) -> Iterator[tuple[str, ast.Expression]]:
    """The call with one argument after the other as ``GARBAGE``; those that it leaves out too."""
    garbage = ast.Name("GARBAGE", ast.Load())
    parameters = list(inspect.signature(function).parameters.values())
    given = {one.arg for one in call.keywords} | {one.name for one in parameters[: len(call.args)]}
    open_kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for i in range(len(call.args)):
        other = copy.deepcopy(call)
        other.args[i] = garbage
        yield f"argument {i}", ast.fix_missing_locations(ast.Expression(other))
    for i, one in enumerate(call.keywords):
        other = copy.deepcopy(call)
        other.keywords[i].value = garbage
        yield str(one.arg), ast.fix_missing_locations(ast.Expression(other))
    for parameter in parameters:
        if parameter.name not in given and parameter.kind in open_kinds:
            other = copy.deepcopy(call)
            other.keywords.append(ast.keyword(parameter.name, garbage))
            yield parameter.name, ast.fix_missing_locations(ast.Expression(other))


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.exhaustive)])
@each("name", sorted(set(callables()) - RECORDS))
def test_an_argument_of_another_kind_is_taken_or_refused_in_words(name: str, share: int) -> None:
    """Each argument meets one in ``share`` of the garbage, and the next argument the next."""
    for call, known in documented(name):
        needed = {one.id for one in ast.walk(call) if isinstance(one, ast.Name)}
        if not needed <= set(known) | set(dir(__builtins__)) | set(__builtins__):  # type: ignore[arg-type]
            continue  # the example gets a name from a with statement, or a comprehension
        for place, (where, expression) in enumerate(changed(call, callables()[name])):
            code = compile(expression, "<changed>", "eval")
            for what, garbage in list(GARBAGE.items())[place % share :: share]:
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        found = eval(code, {**known, "GARBAGE": garbage})  # noqa: S307  the project's own examples
                        str(found)
                except OURS as error:
                    assert str(error).strip(), (name, where, what)
                except Exception as error:  # noqa: BLE001  that is what is looked for
                    pytest.fail(f"{ast.unparse(expression)} with {what} as {where}: {type(error).__name__}: {error}")
