"""Operations of the layout algebra, evaluated by the CuTe DSL.

A case names an operation and gives its arguments as plain data; the answer is text, the way the DSL prints the result.
Whatever the case does to the DSL (an exception, a native crash, no end), it gets an answer and the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from layoutalg.oracle.service import Status, ask

__all__ = ["Answer", "Argument", "Case", "evaluate"]

Argument: TypeAlias = "int | str | Sequence[Argument] | None"


@dataclass(frozen=True, slots=True)
class Case:
    """One question: ``operation`` with ``arguments`` in the order of the DSL's function of that name.

    Attributes:
        operation: a name of the DSL's layout algebra, or one of ``call`` (a layout and a coordinate), ``text`` (a
            layout, read and written back), ``upcast`` and ``downcast`` (a layout and a factor), ``concatenate``
            (layouts, as ``make_layout(layout, ...)``).
        arguments: integers, ``None``, tuples of these, and texts in CuTe notation for layouts, composed layouts and
            swizzles, alone or inside a tuple (a tiler of layouts).
    """

    operation: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the DSL said.

    Attributes:
        status: ``ok``; ``rejected`` (it raised an exception); ``crashed`` (its native code died); ``timeout``.
        text: the result as the DSL prints it, or the reason. A result with an offset (`slice_and_offset`,
            `local_tile`, `local_partition`) reads ``LAYOUT + OFFSET``; identity swizzles are left out.
    """

    status: Status
    text: str


def evaluate(cases: Iterable[Case], *, each_s: float = 20.0, batch: int = 1000) -> list[Answer]:
    """Return the DSL's answer to every case, in order.

    Args:
        cases: the questions.
        each_s: seconds that one case may take.
        batch: cases traced together; one trace is what makes thousands of cases a matter of seconds.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> case = Case("zipped_divide", ("((8,16),(64,2)):((64,512),(1,8192))", (64, 16)))
    >>> evaluate([case])[0].text if available() else "((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))"
    '((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))'
    """
    questions = [(case.operation, case.arguments) for case in cases]
    return [
        Answer(reply.status, str(reply.value))
        for reply in ask("layoutalg.oracle.dsl.algebra", questions, each_s=each_s, batch=batch)
    ]
