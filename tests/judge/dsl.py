"""The judge between the package and the CuTe DSL: which of the two answers satisfies the definition of the operation?

Both texts are read with the oracle's own reader and judged by ``postconditions``; no algorithm of the package is
called, and neither side's answer is taken for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from notation import essential, normal
from postconditions import REFUSED, broken, fault

from layoutalg.laws.points import TooLargeError
from layoutalg.oracle.expressions import Answer, Case
from layoutalg.oracle.service import read, read_tuple, write_tuple

#: A slice of a swizzled layout may have a plain form, or a constant that can stand in front, by accident of its
#: offsets. Where additions carry, the DSL finds more of them (it ignores carries, and is wrong elsewhere for it), and
#: the package finds some that the DSL does not see. Both kinds are rare: the test bounds how often.
SLICES = ("slice_", "slice_and_offset", "local_tile", "local_partition")
STAYS_SWIZZLED = "stays swizzled"
SIMPLER = "simpler than the DSL's"

_WORDS = {"True": True, "False": False, "None": None}


def value(data: Any) -> Any:
    """An argument of a case as the judge takes it: texts are layouts."""
    if isinstance(data, tuple):
        return tuple(map(value, data))
    return read(data) if isinstance(data, str) else data


def answer_of(text: str) -> Any:
    """An answer's text as a value: a layout, a layout with its offset, a number, a tuple, a word.

    Raises:
        ValueError: if the text is not in the notation.
    """
    layout, apart, offset = text.partition(" + ")
    if apart:
        return read(layout), read_tuple(offset)
    if text in _WORDS:
        return _WORDS[text]
    return read(text) if ":" in text or text.startswith("S<") else read_tuple(text)


def comparable(text: str) -> str:
    """A text with the strides of extent-1 modes written 0 and identity swizzles dropped; other texts as they are."""
    layout, plus, offset = text.partition(" + ")
    if ":" not in layout and not layout.startswith("S<"):
        return text
    return normal(essential(read(layout))) + plus + offset


def satisfies(operation: str, arguments: tuple[Any, ...], text: str) -> bool:
    """Whether ``text`` is a result of the operation on these arguments that its definition allows."""
    try:
        answer = answer_of(text)
        return broken(operation, tuple(map(value, arguments)), answer) is None
    except (TooLargeError, ValueError, TypeError):  # far too large; not the notation of any layout; not of this kind
        return False


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


def compare(case: Case, ours: Answer, dsl: Answer) -> tuple[str, Finding | None]:
    """Judge one case: how it counts, and what is wrong with the package's answer, if anything.

    In lower case the package did as it should: ``agree`` text for text, ``both refuse``, or a right answer (or a
    refusal with a reason) where the DSL is wrong, refuses or crashes. In capitals it did not.
    """
    dsl_right = dsl.status == "ok" and satisfies(case.operation, case.arguments, dsl.text)

    def finding(kind: str, why: str) -> tuple[str, Finding]:
        return kind, Finding(why, case, dsl, dsl_right, ours)

    if ours.status == "crashed":
        return finding("CRASHED", "not a LayoutError")
    if ours.status != "ok" and dsl_right:
        return finding("REFUSED", "refused, though the DSL's answer is right")
    if wrong := _fault(case, ours):
        return finding("WRONG" if ours.status == "ok" else "REFUSED", wrong)
    if dsl_right and comparable(dsl.text) != comparable(ours.text):
        if case.operation in SLICES and " o " in ours.text + dsl.text:
            return (STAYS_SWIZZLED if " o " in ours.text else SIMPLER), None
        return finding("OTHER TEXT", "right, but not the DSL's text")
    if dsl_right:
        return "agree", None
    if dsl.status == "ok":
        return "dsl wrong", None
    if dsl.status == "rejected":
        return ("dsl refuses" if ours.status == "ok" else "both refuse"), None
    return "dsl crashes", None


def _fault(case: Case, ours: Answer) -> str | None:
    """What is wrong with the package's answer or refusal."""
    arguments = tuple(map(value, case.arguments))
    try:
        return fault(case.operation, arguments, answer_of(ours.text) if ours.status == "ok" else REFUSED)
    except TooLargeError:
        return None if ours.status != "ok" else "too large to judge"
