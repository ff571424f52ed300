r"""Solver queries in SMT-LIB 2: premises, the denial of a claim, and the expected answer.

Invariant: a script consists of the premises, the denial and ``(check-sat)``. Without the denial, it asks whether the
premises can be satisfied.

>>> question = Question("trivial", "QF_BV", "(declare-const x Bool)", "(and x (not x))", "Is x true and false?")
>>> print(question.script)
(set-option :produce-models true)
(set-logic QF_BV)
(declare-const x Bool)
(assert (and x (not x)))
(check-sat)
>>> question.premises_alone.script.endswith("Bool)\n(check-sat)")
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
    """A query that decides a part of a claim.

    Args:
        name: name of the query.
        logic: logic of SMT-LIB.
        premises: declarations, definitions and assumptions.
        denial: the condition that refutes the claim; "" if only the premises are queried.
        text: the query as an English question; *unsat* means no, *sat* means yes.
        values: terms whose values describe a counterexample.
        vacuous: whether the premises might be unsatisfiable, so that this must be queried too.
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
        """The expected answer of a solver: ``"unsat"``, or ``"sat"`` without a denial."""
        return "unsat" if self.denial else "sat"

    @property
    def script(self) -> str:
        """The commands of the query."""
        denied = [f"(assert {self.denial})"] if self.denial else []
        options = f"(set-option :produce-models true)\n(set-logic {self.logic})"
        return "\n".join([options, self.premises, *denied, "(check-sat)"])

    @property
    def premises_alone(self) -> Question:
        """The query whether the premises can be satisfied; otherwise the claim would be vacuous."""
        text = f"Can the premises of {self.name!r} be satisfied?"
        return self._replace(name=f"premises of {self.name}", denial="", text=text, vacuous=False)


def every(questions: Sequence[Question]) -> list[Question]:
    """Return the questions, each followed by the query of its premises if they might be unsatisfiable.

    >>> question = Question("q", "ALL", "", "false", "", vacuous=True)
    >>> [(each.name, each.expected) for each in every([question])]
    [('q', 'unsat'), ('premises of q', 'sat')]
    """
    return [each for q in questions for each in ((q, q.premises_alone) if q.vacuous else (q,))]


def text_of(head: str, questions: Sequence[Question]) -> str:
    """Write a solver input with explanations as comments: a head, then the questions.

    Args:
        head: the claim, as text.
        questions: the questions.
    """
    all_questions = every(questions)
    count = len(all_questions)
    lines = [remark(f"{head}\n\nExpected: {' '.join(question.expected for question in all_questions)}")]
    for number, question in enumerate(all_questions, 1):
        lines.append("" if number == 1 else "\n(reset)")
        title = f"Question {number} of {count}, {question.name}: {question.text} Expected: {question.expected}."
        lines.append(remark(fill(title, _WIDTH)))
        lines.append(question.script)
        if question.values and question.denial:
            lines.append(f"; If the answer is sat: (get-value ({' '.join(question.values)}))")
    return "\n".join(lines) + "\n"
