"""The judge between the package and the CuTe DSL: does this text satisfy the definition of the operation?

Both texts are read with the oracle's own reader and decided by enumeration with the functions of ``judge``; no
algorithm of the package is called, and neither side's answer is taken for the truth. The definitions
are in ``support_oracle_plans`` (with ``support_oracle_fit``), ``support_oracle_laws`` and ``support_oracle_texts``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import judge as J
from support_oracle_fit import NoAnswer, fits, has_answer
from support_oracle_laws import LAWS, normal_term
from support_oracle_plans import PLANS
from support_oracle_texts import TEXTS

import layoutalg
from descriptors.oracle.algebra import Answer, Case
from descriptors.oracle.reader import read, read_tuple, write_tuple

#: A slice of a swizzled layout whose additions carry may have a plain form by accident, which the DSL finds because it
#: ignores carries (and is wrong elsewhere for it); the package then keeps the swizzle. Rare: the test bounds how often.
SLICES = ("slice_", "slice_and_offset", "local_tile", "local_partition")
STAYS_SWIZZLED = "stays swizzled"

OPERATIONS = sorted({*LAWS, *PLANS, *TEXTS, "max_common_vector"})


def normal(text: str) -> str:
    """A text with strides of extent-1 modes written 0 and identity swizzles dropped; other texts as they are."""
    layout, plus, offset = text.partition(" + ")
    return normal_term(read(layout)) + plus + offset if ":" in layout else text


def satisfies(operation: str, arguments: tuple[Any, ...], text: str) -> bool:
    """Whether ``text`` is a result of the operation on these arguments that its definition allows."""
    if operation in TEXTS:
        return normal(text) == normal(TEXTS[operation](*arguments))
    if operation == "max_common_vector":
        return _is_common(int(text), *arguments)
    layout, _, apart = text.partition(" + ")
    try:
        result = read(layout)
        if any(extent < 1 for extent in J.leaves(result.shape)):
            return False
        if operation in PLANS:
            offset = J.point(read_tuple(apart)) if apart else 0
            return fits(result, PLANS[operation](*arguments), offset, free_offset=operation == "slice_")
        return LAWS[operation](result, *arguments)
    except (NoAnswer, J.TooLarge, ValueError):  # no answer exists; far too large; not the notation of any layout
        return False


def answerable(operation: str, arguments: tuple[Any, ...]) -> bool:
    """Whether some layout is known to satisfy the definition; for operations without a plan nothing is known."""
    try:
        if operation == "complement":
            cotarget = read(arguments[1]).shape if isinstance(arguments[1], str) else arguments[1]
            return J.complement(J.pairs(read(arguments[0])), J.count(cotarget)) is not None
        # Under a swizzle the result's rightmost layout is what must exist.
        plain = tuple(map(_rightmost, arguments))
        return operation in PLANS and has_answer(PLANS[operation](*plain))
    except (NoAnswer, J.TooLarge):
        return False


def _rightmost(argument: Any) -> Any:
    return argument.rpartition(" o ")[2] if isinstance(argument, str) else argument


def _is_common(length: int, a: str, b: str) -> bool:
    """Whether both layouts have the offsets 0..length-1 at the same indices."""
    pairs = set(zip(J.values(read(a)), J.values(read(b)), strict=False))
    return length == 1 or all((offset, offset) in pairs for offset in range(length))


# The package under test -----------------------------------------------------------------------------------------


def ours(case: Case) -> Answer:
    """What the package answers, in the oracle's form."""
    arguments = [_value(argument) for argument in case.arguments]
    try:
        return Answer("ok", _show(_operation(case.operation)(*arguments)))
    except layoutalg.LayoutError as error:
        return Answer("rejected", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - anything else is a finding, and the run goes on
        return Answer("crashed", f"{type(error).__name__}: {error}")


def _value(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tuple(map(_value, argument))
    return layoutalg.parse_layout(argument) if isinstance(argument, str) else argument


def _operation(name: str) -> Any:
    match name:
        case "text":
            return lambda value: value
        case "call":
            return lambda layout, coordinate: layout(coordinate)
        case "concatenate":
            return layoutalg.make_layout
    return getattr(layoutalg, name)


def _show(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], layoutalg.Layout | layoutalg.ComposedLayout):
        layout, offset = value
        return f"{layout} + {write_tuple(offset)}"
    return write_tuple(value)


# The comparison -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """A disagreement, with what each side said and which of them satisfies the definition."""

    kind: str
    case: Case
    dsl: Answer
    dsl_right: bool
    ours: Answer

    def __str__(self) -> str:
        arguments = ", ".join(map(write_tuple, self.case.arguments))
        right = "right" if self.dsl_right else "not by the definition"
        return (
            f"{self.kind}: {self.case.operation}({arguments})\n    ours: {self.ours.text}\n"
            f"    DSL:  {self.dsl.status}: {self.dsl.text[:160]}" + (f" [{right}]" if self.dsl.status == "ok" else "")
        )


def compare(case: Case, dsl: Answer) -> tuple[str, Finding | None]:
    """Judge one case: how it counts, and what is wrong with the package's answer, if anything.

    In lower case the package did as it should: ``agree`` text for text, ``both refuse``, or a right answer (or a
    refusal with a reason) where the DSL is wrong, refuses or crashes. In capitals it did not.
    """
    mine = ours(case)
    dsl_right = dsl.status == "ok" and satisfies(case.operation, case.arguments, dsl.text)

    def finding(kind: str) -> Finding:
        return Finding(kind, case, dsl, dsl_right, mine)

    if mine.status == "crashed":
        return "CRASHED", finding("not a LayoutError")
    if mine.status == "ok" and not satisfies(case.operation, case.arguments, mine.text):
        return "WRONG", finding("wrong by the definition")
    if dsl_right and mine.status != "ok":
        return "REFUSED", finding("refused, though the DSL's answer is right")
    if mine.status != "ok" and answerable(case.operation, case.arguments):
        return "REFUSED", finding("refused, though an answer exists")
    if dsl_right and normal(dsl.text) != normal(mine.text):
        if case.operation in SLICES and " o " in mine.text:
            return STAYS_SWIZZLED, None
        return "OTHER TEXT", finding("right, but not the DSL's text")
    if dsl_right:
        return "agree", None
    if dsl.status == "ok":
        return "dsl wrong", None
    if dsl.status == "rejected":
        return ("dsl refuses" if mine.status == "ok" else "both refuse"), None
    return "dsl crashes", None


def summary(counts: dict[str, Counter[str]]) -> str:
    """One line of counts an operation, and one for all."""
    total: Counter[str] = sum(counts.values(), Counter())
    lines = [f"  {name:22} {sum(c.values()):5}  {_text(c)}" for name, c in sorted(counts.items())]
    return "\n".join([*lines, f"  {'all':22} {sum(total.values()):5}  {_text(total)}"])


def _text(counter: Counter[str]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in sorted(counter.items()))
