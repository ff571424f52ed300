"""What CuTe itself answers to a case of the conformance suite, as a mark beside our answer.

>>> case = {"operation": "coalesce", "operands": ["(2,4):(1,2)"], "answer": "8:1"}
>>> mark(case, "dsl", "ok", "8:1"), mark(case, "dsl", "ok", "(8):(1)")
({'dsl': 'same'}, {'dsl': 'form', 'dsl_answer': '(8):(1)'})
>>> mark(case, "cpp", "ok", "4:1"), mark(case, "cpp", "rejected", "")
({'cpp': 'other', 'cpp_answer': '4:1'}, {'cpp': 'refused'})
>>> mark({"operation": "complement", "refused": "NotInjectiveError"}, "dsl", "rejected", "")
{'dsl': 'same'}
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cases import spelled_value
from dsl import comparable

from layoutalg import LayoutError, oracle, parse_layout, size

#: What a mark says, for the head of the file.
MARKS = {
    "same": "it gives the answer, strides of modes of extent 1 aside; where the case is refused, it gives none either",
    "form": "it gives the same function, with modes of the same sizes, written otherwise: dsl_answer, cpp_answer",
    "other": "it gives something else, which dsl_answer or cpp_answer has; where the case is refused, any answer",
    "refused": "the case has an answer, and it gives none: an exception, a program that the compiler does not accept",
    "crash": "its process dies, or does not end",
    "unasked": "it was not asked",
}
_REFUSALS = {"rejected": "refused", "crashed": "crash", "timeout": "crash"}


def mark(case: dict[str, Any], who: str, status: str, answer: str) -> dict[str, str]:
    """The mark of an implementation, by what became of the question; an answer with an offset reads LAYOUT + OFFSET."""
    if status == "rejected" and "refused" in case:
        return {who: "same"}
    if status != "ok":
        return {who: _REFUSALS[status]}
    ours = None if "refused" in case else _text(case["answer"])
    if ours is not None and _readable(answer) == _readable(ours):
        return {who: "same"}
    found = "form" if ours is not None and _function(answer) == _function(ours) else "other"
    return {who: found, f"{who}_answer": answer}


def remark(case: dict[str, Any], who: str, recorded: dict[str, Any]) -> dict[str, str]:
    """The mark of an implementation for a case whose answer here may have changed since it was asked."""
    if who not in recorded:
        return {}
    if f"{who}_answer" in recorded:
        return mark(case, who, "ok", recorded[f"{who}_answer"])
    if recorded[who] != "same":
        return {who: "same" if recorded[who] == "refused" and "refused" in case else recorded[who]}
    return mark(case, who, *(("rejected", "") if "refused" in recorded else ("ok", _text(recorded["answer"]))))


def _readable(text: str) -> str:
    """A text without what has no meaning; as it is where it is no layout: C++ selects a tuple of composed layouts."""
    try:
        return comparable(text)
    except ValueError:
        return text


def _text(answer: Any) -> str:
    """An answer of the file as both implementations are printed."""
    if isinstance(answer, list) and len(answer) == 2 and isinstance(answer[0], str):
        return f"{answer[0]} + {spelled_value(answer[1])}"
    return spelled_value(answer)


def _function(text: str) -> Any:
    """The sizes of the top-level modes, and the value at every index; the text itself of what is no layout."""
    layout, _, offset = text.partition(" + ")
    before = layout.partition(":")[0]
    if before.count("(") != before.count(")"):  # a tuple of layouts, one of which our notation would read as that one
        return text
    try:
        value = parse_layout(layout)
        start = int(offset or 0)
        modes = [size(mode) for mode in value]
        return modes, [value(i) if not offset else value(i) + start for i in range(size(value))]
    except (LayoutError, ValueError, TypeError):
        return text


def dsl_marks(cases: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The marks of the installed CuTe DSL, which is asked in processes of its own."""
    from layoutalg.oracle.expressions import Case, evaluate

    answers = evaluate([Case(case["operation"], _tuple(case["operands"])) for case in cases])
    return [mark(case, "dsl", one.status, one.text) for case, one in zip(cases, answers, strict=True)]


def cpp_marks(cases: list[dict[str, Any]], include: Path, cuda: Path, batch: int = 150) -> list[dict[str, str]]:
    """The marks of CuTe C++; a quarter of an hour."""
    from cute_cpp import Compiler, statement

    marks = []
    with TemporaryDirectory() as folder:
        compiler = Compiler(include, cuda, Path(folder))
        for start in range(0, len(cases), batch):
            part = cases[start : start + batch]
            answers = compiler.answers([statement(case["operation"], case["operands"]) for case in part])
            marks += [mark(case, "cpp", *one) for case, one in zip(part, answers, strict=True)]
    return marks


def dsl_version() -> str:
    """The installed DSL."""
    return f"CuTe DSL {oracle.version()}"


def cpp_version(include: Path) -> str:
    """The headers and their compiler."""
    from cute_cpp import version

    return version(include)


def counts(cases: list[dict[str, Any]], who: str) -> dict[str, int]:
    """How many cases have each mark."""
    number = Counter(case.get(who) for case in cases)
    return {name: number[name] for name in MARKS}


def _tuple(data: Any) -> Any:
    return tuple(map(_tuple, data)) if isinstance(data, list) else data
