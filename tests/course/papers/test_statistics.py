"""Statistics of a class: what is counted by hand here is what is told."""

from __future__ import annotations

import json
from fractions import Fraction

from papers.paper import paper
from papers.report import record_class, tell_class
from papers.statistics import gains, rows
from papers.submission import Handed, Submission, read

BEFORE, AFTER = (paper(name).items[0].exercise for name in ("pretest", "posttest"))
#: Of both the likeliest mistake, and its name.
(WRONG, _, SLIP), (WRONG_AFTER, _, _) = BEFORE.wrong[0], AFTER.wrong[0]


def student(name: str, before: str, after: str) -> Submission:
    return read(f"name {name}\npretest.1 {before}\nposttest.1 {after}")


CLASS = [
    student("A", WRONG, AFTER.solution),
    student("B", WRONG, WRONG_AFTER),
    student("C", BEFORE.solution, AFTER.solution),
    read("name D\npretest.1 9"),
]


def test_items_are_counted_by_kind_with_the_mistake_that_was_made_most() -> None:
    first, second, *_ = rows(CLASS)
    assert (first.paper, first.kind, first.students, first.right, first.missing) == ("pretest", "offsets", 4, 1, 0)
    assert first.slips[0] == (SLIP, 2)
    assert (second.kind, second.right, second.missing) == ("memory", 0, 4)


def test_the_gain_is_of_those_who_were_wrong_and_handed_in_both() -> None:
    first, second, *_ = gains(CLASS)
    assert (first.misconception, first.students, first.before, first.after) == ("offsets", 3, 1, 2)
    assert first.gain == Fraction(1, 2)
    assert second.gain == 0
    assert gains(CLASS[3:]) == []
    assert gains([CLASS[2]])[0].gain is None


def test_what_is_told_and_recorded_has_all_of_it() -> None:
    handed = Handed(tuple(CLASS), ("eve.txt was not marked",))
    text = tell_class(handed)
    assert "offsets                  1 ->   2 of 3  gain 0.5" in text and text.endswith("eve.txt was not marked")
    record = json.loads(json.dumps(record_class(handed)))
    assert [len(record[key]) for key in ("students", "gains", "remarks")] == [4, 8, 1]
    assert record["students"][0]["papers"][0]["items"][0]["slip"] == SLIP
