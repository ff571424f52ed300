"""Fuzzer of the algebra: random operands of all kinds, each operation by its definition, each result round the house.

A case is one line of Python, such as ``composition(Layout((4, 6), (1, 2)), Layout(3, 2))``. It is read twice: with the
package's values, and with those of :mod:`plain`. Symbols m and k stand in the first reading, 3 and 2 in the second.
"""

from __future__ import annotations

import ast
import copy
import json
import pickle
import random
import re
import signal
from collections.abc import Callable
from typing import Any

import layoutalg
from attacks import judge, plain
from attacks.laws import Broken, need
from layoutalg.cli.values import record

NAME = "algebra"
SYMBOLS = {"m": 3, "k": 2}


class TooLong(BaseException):
    """More processor time than a case may take; no ``except Exception`` of the package catches it."""


def timed(function: Callable[[], Any], seconds: int) -> Any:
    """Call a function, with a limit on processor time.

    Raises:
        TooLong: beyond it.
    """

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return function()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# ---- operands, as Python writes them ----


def shape(rng: random.Random, most: int, depth: int = 2, symbols: bool = False) -> Any:
    """A shape of at most so many elements: nested tuples of numbers, or of text where there are symbols."""
    if depth == 0 or rng.random() < 0.4:
        extent = rng.choice([1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16])
        return min(extent, most) if not symbols or rng.random() < 0.6 else rng.choice(["m", "2*m", "4*k", "k"])
    parts = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        parts.append(shape(rng, most, depth - 1, symbols))
        most = max(1, most // _count(parts[-1]))
    return tuple(parts)


def _count(part: Any) -> int:
    total = 1
    for leaf in plain.leaves(part):
        total *= leaf if isinstance(leaf, int) else 12
    return total


def written(value: Any) -> str:
    """A nested tuple as Python, its text leaves without quotes."""
    if isinstance(value, tuple):
        return "(" + "".join(written(part) + ", " for part in value).rstrip(" ") + ")"
    return str(value)


def strides(rng: random.Random, extents: Any, kind: str) -> Any:
    """Strides for a shape: compact in any order, any, of either sign, about 0, huge, or basis strides."""
    flat = plain.leaves(extents)
    step: Any
    if kind == "basis":
        paths = ["0", "1", "2", "(0, 1)", "(1, 0)"]
        picked = [rng.choice([0, *[f"ScaledBasis({rng.choice([1, 1, 2, -1, 0])}, {p})" for p in paths]]) for _ in flat]
    elif kind == "compact":
        order, picked = rng.sample(range(len(flat)), len(flat)), [0] * len(flat)
        step = rng.choice([1, 1, 1, 2, 3])
        for i in order:
            picked[i] = step
            step = step * flat[i] if isinstance(step, int) and isinstance(flat[i], int) else f"{step}*{flat[i]}"
    elif kind == "near":
        picked = [rng.randrange(-3, 4) for _ in flat]
    else:
        pool = [0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64] if kind != "huge" else [1, 2, 2**40, 2**61, 2**62 + 1]
        picked = [rng.choice(pool) * (-1 if kind == "signed" and rng.random() < 0.4 else 1) for _ in flat]
    return _nested(extents, picked)


def _nested(extents: Any, flat: list[Any]) -> Any:
    return tuple(_nested(part, flat) for part in extents) if isinstance(extents, tuple) else flat.pop(0)


def layout(rng: random.Random, kinds: str = "compact compact any signed basis", most: int = 48, deep: int = 2) -> str:
    kind = rng.choice(kinds.split())
    extents = shape(rng, most, deep, kind == "symbols")
    return f"Layout({written(extents)}, {written(strides(rng, extents, 'compact' if kind == 'symbols' else kind))})"


def swizzle(rng: random.Random) -> str:
    bits = rng.choice([0, 1, 1, 2, 2, 3])
    return f"Swizzle({bits}, {rng.randrange(4)}, {rng.choice([1, 1, -1]) * (bits + rng.randrange(3))})"


def composed(rng: random.Random, depth: int = 1) -> str:
    inner = composed(rng, depth - 1) if depth > 1 and rng.random() < 0.5 else layout(rng, "compact compact any")
    outer = swizzle(rng) if rng.random() < 0.8 else layout(rng, "compact any")
    if depth > 1 and rng.random() < 0.3:
        outer = composed(rng, depth - 1)
    return f"ComposedLayout({outer}, {rng.choice([0, 0, 0, 1, 5, 16, 32])}, {inner})"


def operand(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.12:
        return layout(rng, "symbols" if draw < 0.1 else "huge")
    return composed(rng, rng.choice([1, 1, 3])) if draw < 0.35 else layout(rng)


def tiler(rng: random.Random, tuples: bool = True) -> str:
    draw = rng.random()
    if draw < 0.3:
        return str(rng.choice([1, 2, 2, 3, 4, 4, 6, 8]))
    if draw < 0.65 or not tuples:
        return layout(rng, "compact compact any any signed", 12)
    parts = [rng.choice([tiler(rng, False), "None"]) for _ in range(rng.choice([1, 2, 2]))]
    return "(" + ", ".join(parts) + ",)"


def _coordinate(rng: random.Random, extents: Any, keep: float = 0.5) -> Any:
    if rng.random() < keep:
        return None
    if isinstance(extents, tuple) and rng.random() < 0.7:
        return tuple(_coordinate(rng, part, keep) for part in extents)
    return rng.randrange(plain.size(extents))


def _sliced(rng: random.Random) -> str:
    text = composed(rng, rng.choice([1, 1, 2])) if rng.random() < 0.7 else layout(rng)
    return f"slice_and_offset({_coordinate(rng, _read(text, _ours()).shape)}, {text})"


def _whole(rng: random.Random, text: str) -> str:
    """An order of the modes, or some of them."""
    count = plain.rank(_read(text, _ours()))
    return str([rng.randrange(count) for _ in range(rng.choice([1, 2, 3]))])


def draw(rng: random.Random, name: str = "") -> str:
    """A case, of one operation if it is named."""
    name = name or rng.choice(sorted(judge.NAMES))
    if name == "slice_and_offset":
        return _sliced(rng)
    first = operand(rng)
    rest: list[str] = []
    match name.split("_")[-1]:
        case "composition":
            first = rng.choice([operand(rng), operand(rng), swizzle(rng)])
            rest = [rng.choice([operand(rng), tiler(rng), tiler(rng), layout(rng, "basis", 12)])]
        case "divide" | "product":
            plain_only = name.split("_")[0] in ("blocked", "raked")
            gapped = f"Layout({rng.randrange(1, 5)}, {rng.randrange(1, 5)})"  # room for copies between its elements
            first = rng.choice([first, layout(rng, "compact", 12), gapped])
            rest = [layout(rng, "near near compact any", 8, 1) if plain_only or rng.random() < 0.5 else tiler(rng)]
        case "complement":
            rest = [str(rng.choice([1, 7, 24, 48, 100, (3, 8)]))]
        case "cast" | "upcast" | "downcast":
            rest = [str(rng.choice([2, 2, 3, 4, 8]))]
        case "layout" if name == "recast_layout":
            return f"recast_layout({rng.choice([4, 8, 16, 24, 128])}, {rng.choice([4, 8, 16, 32])}, {first})"
        case "layout" if name == "make_ordered_layout" or name == "make_identity_layout":
            extents = shape(rng, 48)
            order = tuple(rng.randrange(4) for _ in extents) if isinstance(extents, tuple) else 0
            return f"{name}({written(extents)}{'' if 'identity' in name else ', ' + written(order)})"
        case "layout" | "vector" if name.startswith("max_common_"):
            rest = [rng.choice([operand(rng), layout(rng, "compact"), first])]
        case "shape":
            count = rng.choice([1, 2, 3])
            rest = [written(tuple(rng.choice([1, 2, 4, 6, 8, 12]) for _ in range(count)))]
            rest += [str(tuple(rng.sample(range(count), count)))] if rng.random() < 0.5 else []
        case "select":
            rest = [_whole(rng, first)]
        case "tv":
            first = layout(rng, "compact", 12)
            rest = [layout(rng, "compact", 8)]
        case "append" | "prepend":
            rest = [layout(rng, "compact any", 6, 1)]
        case "modes":
            rest = sorted(str(rng.randrange(3)) for _ in range(2))
        case "coalesce" if rng.random() < 0.3:
            rest = [rng.choice(["(1,)", "(1, 1)", "((1, 1), 1)"])]
    return f"{name}({', '.join([first, *rest])})"


# ---- the two readings ----


def _ours() -> dict[str, Any]:
    kinds = {kind.__name__: kind for kind in (plain.Layout, plain.ComposedLayout, plain.Swizzle, plain.ScaledBasis)}
    return {**kinds, **SYMBOLS}


def _theirs() -> dict[str, Any]:
    import sympy

    names = {name: getattr(layoutalg, name) for name in dir(layoutalg)}
    return {**names, **{name: sympy.Symbol(name, positive=True, integer=True) for name in SYMBOLS}}


def _read(text: str, names: dict[str, Any]) -> Any:
    return eval(text, {"__builtins__": {}}, names)  # noqa: S307  a line that this module wrote


def _operands(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """The operation that a line calls, and its operands as ours."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    ours = _ours()
    read = [_read(ast.unparse(argument), ours) for argument in call.args]
    return call.func.id, read, {str(one.arg): _read(ast.unparse(one.value), ours) for one in call.keywords}


def has_symbols(text: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id in SYMBOLS for node in ast.walk(ast.parse(text)))


def is_huge(text: str) -> bool:
    """Whether a line has numbers too large to enumerate what it means: then only the round trips are looked at."""
    return "**" in text or any(int(number) > 1 << 12 for number in re.findall(r"\d+", text))


# ---- the check ----


def check(case: str, seconds: int = 5) -> str | None:
    try:
        result = timed(lambda: _read(case, _theirs()), seconds)
    except layoutalg.LayoutError as error:
        return _refused(case, error)
    except TooLong:
        return f"time: more than {seconds} s"
    except Exception as error:  # noqa: BLE001  that is what is looked for
        return f"untyped {type(error).__name__}: {error}"
    try:
        mismatch = round_trips(result)
        if mismatch:
            return mismatch
        name, operands, named = _operands(case)
        number = layoutalg.substitute(result, SYMBOLS) if has_symbols(case) else result
        evaluated(number)
        if not is_huge(case):
            timed(lambda: judge.judge(name, plain.of(number), *operands, **named), 12 * seconds)
    except layoutalg.LayoutError:
        return None  # a layout with basis strides that no coordinate has room for: its evaluation is refused
    except TooLong:
        return f"time: the judge took more than {12 * seconds} s"
    except Broken as error:
        return f"wrong: {error}; the result is {result}"
    except Exception as error:  # noqa: BLE001  a result that cannot even be judged
        return f"wrong: {result} cannot be judged, {type(error).__name__}: {error}"
    return None


def evaluated(value: Any) -> None:
    """Hold what a layout gives when it is called against our own evaluation."""
    if isinstance(value, (layoutalg.Layout, layoutalg.ComposedLayout)):
        count = layoutalg.size(value)
        for index in {0, 1 % count, count // 2, count - 1}:
            value_at, right = value(index), plain.at(plain.of(value), index)
            need(plain.plus(value_at, 0) == right, f"called at {index} it gives {value_at} instead of {right}")


def _refused(case: str, error: Exception) -> str | None:
    if has_symbols(case) or is_huge(case):
        return None  # what symbols leave open may be refused; what is huge cannot be enumerated
    name, operands, named = _operands(case)
    why = judge.needless(name, *operands, **named)
    return f"needless refusal ({why}): {error}" if why else None


def round_trips(value: Any) -> str | None:
    """What a value is not equal to any more, written and read again."""
    if isinstance(value, tuple):
        return next((told for part in value if (told := round_trips(part))), None)
    ways: dict[str, Callable[[Any], Any]] = {
        "pickle": lambda x: pickle.loads(pickle.dumps(x)),
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
    }
    if isinstance(value, (layoutalg.Layout, layoutalg.ComposedLayout, layoutalg.Swizzle)):
        ways["parse_layout(str(x))"] = lambda x: layoutalg.parse_layout(str(x))
        ways["eval(repr(x))"] = lambda x: _read(repr(x), _theirs())
    for way, through in ways.items():
        try:
            again = through(value)
            if again != value or hash(again) != hash(value):
                return f"round trip: {way} of {value} is {again}"
        except Exception as error:  # noqa: BLE001  that is what is looked for
            return f"round trip: {way} of {value} raises {type(error).__name__}: {error}"
    try:
        json.dumps(record(value))
    except Exception as error:  # noqa: BLE001  that is what is looked for
        return f"round trip: JSON of {value} raises {type(error).__name__}: {error}"
    return None


def line(case: str) -> str:
    symbols = "; from sympy import Symbol; m, k = (Symbol(s, positive=True, integer=True) for s in 'mk')"
    return f"from layoutalg import *{symbols if has_symbols(case) else ''}; print({case})"
