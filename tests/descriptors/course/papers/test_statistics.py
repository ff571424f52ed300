"""Statistics of a class: what is counted by hand here is what is told."""

from __future__ import annotations

import json
from fractions import Fraction

from descriptors.course.papers.paper import paper
from descriptors.course.papers.report import record_class, tell_class
from descriptors.course.papers.statistics import board, gains, rows
from descriptors.course.papers.submission import Submission, read


def student(name: str, before: str, after: str) -> Submission:
    return read(f"name {name}\npretest.1 {before}\nposttest.1 {after}")


CLASS = [student("A", "2", "16"), student("B", "2", "2"), student("C", "16", "16"), read("name D\npretest.1 9")]


def test_items_are_counted_by_kind_with_the_mistake_that_was_made_most() -> None:
    first = rows(CLASS)[0]
    assert (first.paper, first.kind, first.students, first.right, first.missing) == (
        "pretest",
        "leftmost first",
        4,
        1,
        0,
    )
    assert first.slips[0] == ("the rightmost mode is counted first, as in C", 2)
    second = rows(CLASS)[1]
    assert (second.kind, second.right, second.missing) == ("cosize is not size", 0, 4)


def test_the_gain_is_of_those_who_were_wrong_and_handed_in_both() -> None:
    first, second, *_ = gains(CLASS)
    assert (first.misconception, first.students, first.before, first.after) == ("leftmost first", 3, 1, 2)
    assert first.gain == Fraction(1, 2)
    assert second.gain == 0
    assert gains(CLASS[3:]) == []
    assert gains([student("C", "16", "16")])[0].gain is None


def lab2(name: str, seed: str, solved: int) -> Submission:
    items = paper("lab2", seed).items
    answers = [item.exercise.solution if k < solved else item.exercise.wrong[0][0] for k, item in enumerate(items)]
    return read("\n".join([f"name {name}", f"seed {seed}", *(f"lab2.{k} {one}" for k, one in enumerate(answers, 1))]))


def test_the_leaderboard_counts_turns_beyond_the_par_so_that_seeds_are_alike() -> None:
    leaders = board([lab2("half", "1", 2), lab2("all", "2", 4), lab2("other", "3", 4), CLASS[0]])
    assert [name for name, _, _ in leaders] == ["all", "other", "half"]
    assert [over for _, _, over in leaders][:2] == [0, 0]
    assert leaders[2][2] > 0


def test_one_kind_of_two_seeds_is_one_row() -> None:
    both = [lab2("A", "1", 4), lab2("B", "2", 4)]
    assert [(row.kind, row.students, row.right) for row in rows(both)][:1] == [("trace of a column", 2, 2)]


def test_what_is_told_and_recorded_has_all_of_it() -> None:
    text = tell_class([*CLASS, lab2("E", "1", 4)])
    assert "leftmost first           1 ->   2 of 3  gain 0.5" in text
    assert "1. E                      4 of 4, +0 turns" in text
    record = json.loads(json.dumps(record_class(CLASS)))
    assert [len(record[key]) for key in ("students", "gains", "lab2")] == [4, 8, 0]
    assert record["students"][0]["papers"][0]["items"][0]["slip"] == "the rightmost mode is counted first, as in C"
