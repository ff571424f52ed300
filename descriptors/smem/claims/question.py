"""A question to a solver: premises, what is denied, and what is expected; several of them as one text.

Law: a script is the premises, then the denial, then ``(check-sat)``; without the denial it asks whether anything at all
meets the premises.

>>> one = Question("trivial", "QF_BV", "(declare-const x Bool)", "(and x (not x))", "Is x true and false?")
>>> print(one.script)
(set-option :produce-models true)
(set-logic QF_BV)
(declare-const x Bool)
(assert (and x (not x)))
(check-sat)
>>> one.premises_alone.script.endswith("Bool)\\n(check-sat)")
True
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

from descriptors.smem.claims.terms import remark

#: Characters of a line of a comment.
_WIDTH = 116


class Question(NamedTuple):
    """One question of a claim.

    Args:
        name: which one.
        logic: of SMT-LIB.
        premises: declarations, definitions and what is assumed.
        denial: what would refute the claim; "" where only the premises are asked for.
        text: the question in words, to which *unsat* is no, *sat* yes.
        values: terms whose values show what was found.
        vacuous: whether the premises could be such that nothing meets them: then that is a question too.
    """

    name: str
    logic: str
    premises: str
    denial: str
    text: str
    values: tuple[str, ...] = ()
    vacuous: bool = False

    @property
    def expected(self) -> str:
        """What a solver must answer: ``"unsat"``, or ``"sat"`` where nothing is denied."""
        return "unsat" if self.denial else "sat"

    @property
    def script(self) -> str:
        """The commands, without a head."""
        denied = [f"(assert {self.denial})"] if self.denial else []
        options = f"(set-option :produce-models true)\n(set-logic {self.logic})"
        return "\n".join([options, self.premises, *denied, "(check-sat)"])

    @property
    def premises_alone(self) -> Question:
        """Whether anything meets the premises: else the claim would hold of nothing."""
        text = f"Is there anything at all of which {self.name!r} asks?"
        return self._replace(name=f"{self.name}, not of nothing", denial="", text=text, vacuous=False)


def every(questions: Sequence[Question]) -> list[Question]:
    """The questions, each followed by that of its premises where nothing might meet them.

    >>> one = Question("q", "ALL", "", "false", "", vacuous=True)
    >>> [(each.name, each.expected) for each in every([one])]
    [('q', 'unsat'), ('q, not of nothing', 'sat')]
    """
    return [each for one in questions for each in ((one, one.premises_alone) if one.vacuous else (one,))]


def text_of(head: str, questions: Sequence[Question]) -> str:
    """A text that a solver reads and a person too: a head, then the questions.

    Args:
        head: what is claimed, in words.
        questions: what to ask.
    """
    asked = every(questions)
    lines = [remark(f"{head}\n\nExpected: {' '.join(one.expected for one in asked)}")]
    for number, one in enumerate(asked):
        lines.append("" if not number else "\n(reset)")
        question = f"Question {number + 1} of {len(asked)}, {one.name}: {one.text} Expected: {one.expected}."
        lines.append(remark(fill(question, _WIDTH)))
        lines.append(one.script)
        if one.values and one.denial:
            lines.append(f"; Where it is sat: (get-value ({' '.join(one.values)}))")
    return "\n".join(lines) + "\n"
