"""Fuzzer of the interface: every public callable of both packages with garbage and with operands that nearly fit.

A case is one line of Python in the public names of both packages. It must end with a value or with the packages' own
errors; where the number of arguments is wrong, Python's TypeError is right. Each runs in a child with limits.
"""

from __future__ import annotations

import ast
import enum
import inspect
import random
from functools import cache
from typing import Any

import descriptors
import layoutalg
from attacks import isolated
from attacks.algebra import composed, layout, swizzle
from attacks.commands import warm

NAME = "api"
_GARBAGE = [
    "None", "True", "0", "-1", "1.5", "float('nan')", "float('inf')", "10**30", "-10**30", "''", "'x'", "b'x'", "()",
    "[]", "{}", "set()", "{1: 2}", "{1, 2}", "object()", "object", "len", "lambda *a: 1", "range(3)", "iter([1, 2])",
    "(None,)", "((), 4)", "(1, 'x')", "[1, [2]]", "(4, (2, None))", "Ellipsis", "NotImplemented", "3j", "'9' * 5000",
    "'(' * 900", "(1,) * 5000", "numpy.int64(4)", "numpy.float32(4)", "numpy.array([1, 2])", "numpy.bool_(True)",
    "Fraction(4)", "Decimal('4')", "nested(900)", "nested(40)", "cyclic()", "deep(300)", "Exception()", "E(0)",
    "ScaledBasis(0, 1)", "Swizzle(3, 4, 3)", "m", "8 * m", "Layout(m, 1)",
]  # fmt: skip
_NEAR = [
    "1", "2", "4", "8", "16", "64", "(4, 8)", "(8, 64)", "((2, 2), 4)", "[0, 1]", "'(4,8):(8,1)'",
    "'S<3,4,3> o 0 o (8,64):(64,1)'", "Layout(64, 1)", "Layout((8, 64), (64, 1))", "Layout((32, 8), (1, 64))",
    "ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))", "'bf16'", "'K'", "'MN'", "'128B'", "'none'",
    "'sm90'", "'sm100'", "'f8f6f4'", "'e4m3'", "'python'", "'cuda'", "'elements'", "'bytes'", "0x4000404000010000",
    "(64, 16)", "(128, 128)", "(1, 0)", "'A'", "'128x256b'", "derive((128, 128), 'bf16', 'K', '128B', (64, 16))",
    "SwizzleMode.B128", "Major.K", "ELEMENT_TYPES['bf16']", "{'lane': 32}", "('lane', 'register')", "1 << 64",
    "1 << 62", "{'m': 2}", "to_f2(Layout((4, 8), (8, 1)))", "to_linear_layout(Layout((4, 8), (8, 1)), ('a', 'b'))",
    "AccessPattern(Layout((32, 2), (2, 1)), 2)", "SmemDescriptor('sm100', 16, 1024, '128B')", "ATOMS[3]",
    "[[0, 1], [1, 0]]", "fragment('ldmatrix.x4')", "'mma.m16n8k16.C'", "mma_atom('mma.m16n8k16.f16')", "copy_atom(4)",
    "make_tiled_mma('mma.m16n8k16.f16', (2, 2, 1))", "make_tiled_copy(4, Layout((32, 4)), (8, 16))",
]  # fmt: skip


@cache
def callables() -> dict[str, Any]:
    """The public callables but errors, which are raised and not called, and enumerations, whose calls are Python's."""
    by_name: dict[str, Any] = {}
    for package in (layoutalg, descriptors):
        for name in dir(package):
            one = getattr(package, name)
            kind = one if isinstance(one, type) else None
            called = inspect.isroutine(one) or inspect.isclass(one)  # and no alias of types, which Python lets one call
            if called and not name.startswith("_") and not (kind and issubclass(kind, (Exception, enum.Enum))):
                by_name[name] = one
    return by_name


def draw(rng: random.Random) -> str:
    name = rng.choice(sorted(callables()))
    words = []
    for parameter in inspect.signature(callables()[name]).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            words += [_operand(rng) for _ in range(rng.choice([0, 1, 2]))]
        elif parameter.kind is not parameter.VAR_KEYWORD and (
            parameter.default is parameter.empty or rng.random() < 0.25
        ):
            positional = parameter.kind is not parameter.KEYWORD_ONLY and parameter.default is parameter.empty
            words.append(_operand(rng) if positional else f"{parameter.name}={_operand(rng)}")
    if rng.random() < 0.03:
        words = words[:-1] if rng.random() < 0.5 else [*words, "surplus=1"]
    return f"{name}({', '.join(words)})"


def _operand(rng: random.Random) -> str:
    draws = rng.random()
    if draws < 0.35:
        return rng.choice(_GARBAGE)
    if draws < 0.75:
        return rng.choice(_NEAR)
    return rng.choice([layout(rng), composed(rng), swizzle(rng), layout(rng, "symbols")]).replace("k", "m")


# ---- the check ----


def _names() -> dict[str, Any]:
    from decimal import Decimal
    from fractions import Fraction

    import numpy
    import sympy

    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = (value,)
        return value

    def cyclic() -> list[Any]:
        value: list[Any] = [1]
        value.append(value)
        return value

    def deep(depth: int) -> Any:
        value = layoutalg.Layout(4, 1)
        for _ in range(depth):
            value = layoutalg.ComposedLayout(layoutalg.Swizzle(0, 0, 0), 0, value)  # type: ignore[assignment]
        return value

    public = {name: getattr(package, name) for package in (layoutalg, descriptors) for name in dir(package)}
    m = sympy.Symbol("m", positive=True, integer=True)
    helpers = {"nested": nested, "cyclic": cyclic, "deep": deep, "numpy": numpy, "m": m}
    return {**public, **helpers, "Fraction": Fraction, "Decimal": Decimal}


def check(case: str, seconds: int = 5) -> str | None:
    warm()
    outcome = isolated.run(lambda: _called(case), seconds)
    if outcome.ended_by or outcome.status:
        last = outcome.errors.decode("utf-8", "replace").strip().split("\n")[-1]
        return outcome.ended_by or f"untyped end of the child: {last[:200]}"
    complaint: str | None = outcome.value
    return complaint


def _called(case: str) -> str | None:
    """What an expression must not end with."""
    names = _names()
    call = ast.parse(case, mode="eval").body
    assert isinstance(call, ast.Call)
    try:  # the operands themselves: what refuses to be made is no case
        read = [_value(one, names) for one in call.args]
        named = {str(one.arg): _value(one.value, names) for one in call.keywords}
    except Exception:  # noqa: BLE001  whatever it is
        return None
    function = names[ast.unparse(call.func)]
    try:
        inspect.signature(function).bind(*read, **named)
        fits = True
    except TypeError:
        fits = False
    try:
        function(*read, **named)
    except (layoutalg.LayoutError, descriptors.DescriptorError):
        return None
    except TypeError as error:
        return f"untyped TypeError: {error}"[:300] if fits else None
    except BaseException as error:  # noqa: BLE001  that is what is looked for
        return f"untyped {type(error).__name__}: {error}"[:300]
    return None


def _value(node: Any, names: dict[str, Any]) -> Any:
    return eval(ast.unparse(node), dict(names))  # noqa: S307  a line that this module wrote


def line(case: str) -> str:
    return f"from descriptors import *; from layoutalg import *; {case}"
