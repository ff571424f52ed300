"""The cases of NVIDIA's CuTe IR tests, evaluated with the public functions and compared with the recorded results.

A case is one use of an operation: the kinds and texts of its operands and of its result. Each ``?`` of an operand, a
number known only at run time, becomes a symbol of its own; each ``?`` of a result matches any number or expression. If
the algebra cannot decide a case for all values of the symbols, numbers are tried for them. The divides and
``tile_to_shape`` are called with ``round_up=True``, which is what CuTe IR documents for them.

Whether two texts are the same function is decided by
``layoutalg.laws.points``, which shares no code with the algebra.

>>> case = {"operation": "coalesce", "operands": [["layout", "(2,(1,6)):(1,(6,2))"]], "result": ["layout", "12:1"]}
>>> print(compare(case))
Comparison(verdict='same', answer='12:1')
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import layoutalg as cute
from layoutalg import ComposedLayout, Layout, LayoutError, Polynomial, ScaledBasis, Swizzle, UndecidedError
from layoutalg.laws.points import count as size_of
from layoutalg.laws.points import items, point, same, values
from layoutalg.notation.expression import ExpressionParser
from layoutalg.tuples.int_tuple import flatten_tuple

RECORDED = Path(__file__).resolve().parents[2] / "tests" / "vectors" / "cute_ir.json"

#: The verdicts of a case that CuTe IR answers, best first. In "same for numbers", the numbers are samples.
ANSWERED = ("same", "same function", "more exact", "same for numbers", "undecided", "refused", "different")
#: The verdicts of a case that CuTe IR rejects.
REJECTED = ("refused too", "another result than annotated", "accepted")
#: Operations that only put parts together or change the kind of a tuple; here the kinds are plain Python tuples.
CONSTRUCTORS = ("make_int_tuple", "make_shape", "make_stride", "make_coord", "make_tile")


class Comparison(NamedTuple):
    """The verdict of a case, and our answer or the message of our refusal."""

    verdict: str
    answer: str


def read_cases(path: Path = RECORDED) -> list[dict[str, Any]]:
    """Return the cases of a file: a JSON object with ``cases``, or one JSON object per line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        cases: list[dict[str, Any]] = json.loads(text)["cases"]
        return cases
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [{**row, "operation": row.get("operation") or row["op"], "error": row.get("error_test")} for row in rows]


def compare(case: dict[str, Any]) -> Comparison:
    """Evaluate a case and compare the result with the recorded one."""
    kind, expected = case["result"]
    answer: Any
    try:
        answer = evaluate(case["operation"], case["operands"])
        verdict = compare_values(answer, kind, expected)
    except UndecidedError as error:
        verdict, answer = "undecided", error
    except LayoutError as error:
        verdict, answer = "refused", error
    if case.get("error"):
        refused = verdict in ("undecided", "refused")
        verdict = REJECTED[0] if refused else REJECTED[2] if answer_text(answer) == expected else REJECTED[1]
    elif verdict in ("undecided", "different") and group(case) == "dynamic" and same_for_numbers(case):
        verdict = "same for numbers"
    return Comparison(verdict, answer_text(answer))


def evaluate(operation: str, operands: Iterable[tuple[str, str]]) -> Any:
    """Return our result of an operation.

    Raises:
        LayoutError: if we have no such operation, or it does not accept the operands.
    """
    symbols = count()
    read = [parse(kind, text, symbols) for kind, text in operands]
    if operation not in OPERATIONS:
        raise LayoutError(f"{operation}: is not offered")
    try:
        return OPERATIONS[operation](*read)
    except (TypeError, AttributeError) as error:
        raise LayoutError(f"{operation}: the operands do not fit; {error}") from error


def parse(kind: str, text: str, symbols: Any) -> Any:
    """Return the value of an operand or result; every ``?`` becomes a new symbol, ``x`` is the extent of ``_``."""
    named = "".join(f"q{next(symbols)}" if letter == "?" else letter for letter in text)
    value = ExpressionParser(named.replace(";", ",").replace(",x", ",_")).parse_all()
    if kind in ("shape", "int_tuple", "stride", "coord") and isinstance(value, (Layout, ComposedLayout, Swizzle)):
        raise LayoutError(f"{kind}: {text} is a layout")
    return value


# Operations of CuTe IR by name; those that are not listed have the name of ours.


def _tile_shape(value: Any) -> Any:
    """Return the shape of a layout, or the shapes of the layouts of a tile."""
    if type(value) is tuple:
        return tuple(map(_tile_shape, value))
    return value if value is None or isinstance(value, int) else value.shape


def _without_none(value: Any) -> Any:
    if None in flatten_tuple(value):
        raise LayoutError(f"to_int_tuple: {value} has a mode that is kept")
    return value


def _composed(outer: Any, offset: Any, inner: Any) -> Any:
    if not isinstance(outer, (Layout, ComposedLayout, Swizzle)):
        raise LayoutError("make_composed_layout: the first operand is not a function")
    return cute.make_composed_layout(outer, offset, inner)


def _rounded(name: str) -> Callable[..., Any]:
    function = getattr(cute, name)
    return lambda *operands: function(*operands, round_up=True)


def _layout_eval(coordinate: Any, layout: Any) -> Any:
    if not isinstance(layout, (Layout, ComposedLayout)):
        raise LayoutError("layout_eval: the second operand is not a layout")
    return layout(coordinate)


OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(cute, name) for name in cute.__all__ if name[0].islower()},
    **{
        name: _rounded(name)
        for name in ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "tile_to_shape")
    },
    "composed_get_offset": lambda layout: layout.offset,
    "composed_get_outer": lambda layout: layout.inner,  # CuTe IR calls the layout of the domain outer
    "composed_get_inner": lambda layout: layout.outer,
    "make_composed_layout": _composed,
    "get": lambda layout: cute.get(layout, None),
    "get_shape": _tile_shape,
    "get_stride": lambda layout: layout.stride,
    "layout_eval": _layout_eval,
    "to_coord": lambda value: value,
    "to_int_tuple": _without_none,
    "to_shape": _without_none,
    "to_stride": _without_none,
    "tuple_product": cute.product,
    "tuple_product_each": lambda value: cute.product_each(items(value)),  # a tuple of one for an integer
}


# Comparison


def compare_values(answer: Any, kind: str, expected: str) -> str:
    """Return the verdict of an answer, given the recorded result as text."""
    if answer_text(answer) == expected:
        return "same"
    known = parse(kind, expected, count())
    if "?" in expected:
        return _match(answer, known)
    if _has_symbols(answer):
        return "different"
    return "same function" if same_function(answer, known) else "different"


def answer_text(answer: Any) -> str:
    """Return a result as CuTe IR prints it: ``?`` for each number with symbols."""
    if isinstance(answer, LayoutError):
        return str(answer)
    if isinstance(answer, Layout):
        return f"{answer_text(answer.shape)}:{answer_text(answer.stride)}"
    if isinstance(answer, ComposedLayout):
        return f"{answer_text(answer.outer)} o {answer_text(answer.offset)} o {answer_text(answer.inner)}"
    if type(answer) is tuple:
        return "(" + ",".join(map(answer_text, answer)) + ")"
    if isinstance(answer, ScaledBasis):
        return f"{answer_text(answer.value)}@" + "@".join(map(str, reversed(answer.mode)))
    if isinstance(answer, Polynomial):
        return "?"
    return "_" if answer is None else str(answer)


def _has_symbols(value: Any) -> bool:
    return "?" in answer_text(value)


def same_function(a: Any, b: Any) -> bool:
    """Check by enumeration if two results without symbols are the same function, with top modes of the same sizes."""
    if isinstance(a, (Layout, ComposedLayout)) and isinstance(b, (Layout, ComposedLayout)):
        left, right = values(a), values(b)
        sizes = [[size_of(mode) for mode in items(layout.shape)] for layout in (a, b)]
        profile = sizes[0] == sizes[1] or 1 in map(len, sizes)
        return profile and len(left) == len(right) and all(map(same, left, right))
    if isinstance(a, (Layout, ComposedLayout)) or isinstance(b, (Layout, ComposedLayout)):
        return False
    return bool(a == b or same(point(a), point(b)))


#: The most choices of numbers for the symbols of a case, and the fewest that the operation must accept.
_TRIES, _ACCEPTED = 400, 8


def same_for_numbers(case: dict[str, Any]) -> bool:
    """Check a case for samples of numbers in place of each ``?`` of the operands, in those that the operation accepts.

    The result must match the recorded one, or be the same function for some numbers in place of each ``?`` of it.
    """
    rng = random.Random(json.dumps(case["operands"]))
    accepted = 0
    for _ in range(_TRIES):
        operands = []
        for kind, text in case["operands"]:
            lowest = 0 if kind in ("coord", "int_tuple") else 1
            operands.append((kind, "".join(str(rng.randint(lowest, 8)) if c == "?" else c for c in text)))
        try:
            answer = evaluate(case["operation"], operands)
        except LayoutError:
            continue
        if not _fits(answer, *case["result"], operands):
            return False
        accepted += 1
        if accepted == _ACCEPTED:
            return True
    return False


def _fits(answer: Any, kind: str, expected: str, operands: list[tuple[str, str]]) -> bool:
    """Check if some numbers in place of each ``?`` of a recorded result make it the same function as an answer."""
    if _match(answer, parse(kind, expected, count())) != "different":
        return True
    unknown = expected.count("?")
    digits = "".join(c if c.isdigit() else " " for c in answer_text(answer) + " ".join(text for _, text in operands))
    pool = sorted({int(word) for word in digits.split()})
    for numbers in product(pool, repeat=unknown) if unknown < 3 else ():
        filled = iter(numbers)
        text = "".join(str(next(filled)) if c == "?" else c for c in expected)
        try:
            if same_function(answer, parse(kind, text, count())):
                return True
        except LayoutError:
            continue
    return False


def _match(answer: Any, known: Any) -> str:
    """Return the verdict for a recorded result with symbols: a number of ours where it has ``?`` is more exact."""
    if type(answer) is not type(known):
        simple = (int, Polynomial)
        return "more exact" if isinstance(answer, simple) and isinstance(known, Polynomial) else "different"
    if isinstance(answer, Layout):
        return _worse(_match_tuples(answer.shape, known.shape), _match_strides(answer, known))
    if isinstance(answer, ComposedLayout):
        parts = ((answer.outer, known.outer), (answer.offset, known.offset), (answer.inner, known.inner))
        return _worse(*(("same" if a == k else _match(a, k)) for a, k in parts))
    return _match_tuples(answer, known)


def _match_strides(answer: Any, known: Any) -> str:
    """Compare strides leaf by leaf; the stride of a mode of extent 1 does not matter."""
    if not cute.is_congruent(answer.shape, known.shape):
        return "different"
    leaves = zip(*map(flatten_tuple, (answer.shape, answer.stride, known.stride)), strict=True)
    used = [(d, e) for n, d, e in leaves if n != 1]
    return _worse("same", *(_match_tuples(d, e) for d, e in used))


def _match_tuples(answer: Any, known: Any) -> str:
    if type(answer) is tuple or type(known) is tuple:
        if type(answer) is not type(known) or len(answer) != len(known):
            return "different"
        return _worse("same", *map(_match_tuples, answer, known))
    if isinstance(answer, ScaledBasis) and isinstance(known, ScaledBasis) and answer.mode == known.mode:
        return _match_tuples(answer.value, known.value)
    if isinstance(known, Polynomial):
        return "same" if isinstance(answer, Polynomial) else "more exact" if isinstance(answer, int) else "different"
    return "same" if answer == known else "different"


def _worse(*verdicts: str) -> str:
    return max(verdicts, key=ANSWERED.index)


# The table


def table(cases: list[dict[str, Any]]) -> tuple[Counter[tuple[str, str]], list[tuple[dict[str, Any], Comparison]]]:
    """Return the number of cases by group and verdict, and every compared case.

    The groups are ``static`` and ``dynamic`` (with a ``?``), and ``rejected`` for uses that CuTe IR rejects.
    """
    compared = [(case, compare(case)) for case in cases if case["operation"] not in CONSTRUCTORS]
    return Counter((group(case), comparison.verdict) for case, comparison in compared), compared


def group(case: dict[str, Any]) -> str:
    """Return the group of a case in :func:`table`."""
    if case.get("error"):
        return "rejected"
    return "dynamic" if "?" in json.dumps([case["operands"], case["result"]]) else "static"
