"""Judges of sequences: any clean one that does what was asked, and the first broken rule of the others."""

from __future__ import annotations

import pytest
from each import each

from descriptors.course.judges.instructions import JUDGES, broken, names_of
from descriptors.errors import DescriptorError

READ = (["mma d", "read d"],)
LOST = ("fence, mma d, commit, mma e, wait 0, read e, commit",)
TWO = ("read d", "read e", ["mma d", "mma e", "read d", "read e"])
THREE = ("fence, mma d, commit, mma e, commit, mma f, commit", "read d")

CASES = [
    ("ordered", READ, "fence, mma d, commit, wait 0, read d", None),
    ("ordered", READ, "fence, fence, mma d, mma+ d, commit, commit, wait 1, read d", None),
    ("ordered", READ, "write d, fence, mma+ d, mma d, commit, wait 0, read d, write d", None),
    ("ordered", READ, "FENCE,mma  d,commit,wait 0,read d.", None),
    ("ordered", READ, "fence, commit, wait 0, read d", "mma d is missing"),
    ("ordered", READ, "fence, mma d, commit, read d", "breaks a rule at event 4, read d"),
    ("inserted", LOST, "fence, mma d, commit, mma e, commit, wait 0, read e, commit", None),
    ("inserted", LOST, "fence, mma d, commit, mma e, commit, wait 1, wait 0, read e, read d, commit", None),
    ("inserted", LOST, "fence, mma d, commit, mma e, commit, wait 0, read e", "has lost an event"),
    ("overlapped", TWO, "fence, mma d, commit, mma e, commit, wait 1, read d, wait 0, read e", None),
    ("overlapped", TWO, "fence, mma d, commit, mma e, commit, wait 0, read d, read e", "has waited for everything"),
    ("overlapped", TWO, "fence, mma e, commit, mma d, commit, wait 0, read d, read e", "does not do these in order"),
    ("largest wait", THREE, "2", None),
    ("largest wait", THREE, "3", "leaves too many groups in flight"),
    ("largest wait", THREE, "1", "waits for more than it must"),
    ("largest wait", THREE, "8", "must be 0 to 7"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


@pytest.mark.parametrize("text", ["", "fence,", "fence, wait", "wait 8", "mma", "read D!", "mma d" + ", mma d" * 64])
def test_what_is_no_event_is_named(text: str) -> None:
    with pytest.raises(DescriptorError, match="answer:"):
        names_of(text)


@pytest.mark.parametrize("lost", ["fence", "commit", "wait 0"])
def test_each_event_of_the_four_is_needed(lost: str) -> None:
    names = ["fence", "mma d", "commit", "wait 0", "read d"]
    assert broken(names) is None
    assert broken([one for one in names if one != lost])
