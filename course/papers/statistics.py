r"""What a class handed in, by kinds of items: how many were right, which mistakes were made, what was gained.

Items are counted by their kind, as every student has other numbers. The gain of a misconception is the share of those
who had it before and have it no longer, among the students who handed in both tests.

Law: what every student has right is right in all.

>>> from papers.paper import paper
>>> from papers.submission import read
>>> before, after = "pretest.1 2, 3, 4, 5", f"posttest.1 {paper('posttest').items[0].exercise.solution}"
>>> row = gains([read(f"name A\n{before}\n{after}"), read(f"name B\n{before}")])[0]
>>> row.misconception, row.before, row.after, str(row.gain)
('offsets', 0, 1, '1')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from layoutalg.frozen import frozen
from papers.paper import FORMS
from papers.submission import Mark, Submission


@frozen
class ItemRow:
    """How a class did a kind of item.

    Args:
        paper: the paper.
        kind: the kind of item; the name of the misconception in a pretest.
        lesson: the lesson to go back to.
        students: how many had one.
        right: answers that are right.
        missing: answers that are missing.
        unread: answers that could not be read.
        earned, marks: marks that were earned, and all marks.
        slips: known mistakes with how often they were made, the commonest first.
    """

    paper: str
    kind: str
    lesson: int
    students: int
    right: int
    missing: int
    unread: int
    earned: Fraction
    marks: int
    slips: tuple[tuple[str, int], ...]


@frozen
class Gain:
    """What became of a misconception between pretest and posttest.

    Args:
        misconception: its item.
        students: who handed in both.
        before, after: how many of them were right.
    """

    misconception: str
    students: int
    before: int
    after: int

    @property
    def gain(self) -> Fraction | None:
        """The share of those who were wrong before by which more are right now; None if nobody was wrong."""
        wrong = self.students - self.before
        return Fraction(self.after - self.before, wrong) if wrong else None


def rows(submissions: Iterable[Submission]) -> list[ItemRow]:
    """A row for each kind of item of each paper, in the order of papers, then of lessons.

    >>> from papers.submission import read
    >>> row = rows([read("name A\\npretest.1 2, 3, 4, 5")])[0]
    >>> row.kind, row.students, row.right
    ('offsets', 1, 0)
    """
    marks: dict[tuple[str, str], list[Mark]] = {}
    for one in submissions:
        for paper, items in one.marks:
            for mark in items:
                marks.setdefault((paper.name, mark.item.kind), []).append(mark)
    rows_told = [_row(paper, kind, several) for (paper, kind), several in marks.items()]
    return sorted(rows_told, key=lambda row: (list(FORMS).index(row.paper), row.lesson))


def _row(paper: str, kind: str, marks: Sequence[Mark]) -> ItemRow:
    slips = Counter(mark.slip for mark in marks if mark.slip)
    return ItemRow(
        paper=paper,
        kind=kind,
        lesson=marks[0].item.lesson,
        students=len(marks),
        right=sum(mark.right for mark in marks),
        missing=sum(not mark.answer for mark in marks),
        unread=sum(not mark.is_read for mark in marks),
        earned=sum((mark.earned for mark in marks), Fraction(0)),
        marks=sum(mark.item.marks for mark in marks),
        slips=tuple(sorted(slips.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def gains(submissions: Iterable[Submission]) -> list[Gain]:
    """A row for each item of the pretest, of the students who handed in both tests; none if nobody did."""
    both = [(one.of("pretest"), one.of("posttest")) for one in submissions if one.of("pretest") and one.of("posttest")]
    if not both:
        return []
    return [
        Gain(
            mark.item.kind,
            len(both),
            sum(before[k].right for before, _ in both),
            sum(after[k].right for _, after in both),
        )
        for k, mark in enumerate(both[0][0])
    ]
