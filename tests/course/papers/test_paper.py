"""Each student of a class has an own paper: proved, the same whenever it is drawn, no answer told by its place."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from functools import cache

import pytest
from places import ROOT

from descriptors.course.catalog import lessons
from descriptors.course.grading import grade
from descriptors.errors import DescriptorError
from layoutalg import evaluate
from layoutalg.laws import existence as laws
from layoutalg.laws.points import pairs
from papers.paper import FIXED, FORMS, KINDS, Paper, paper

CLASS = range(1, 13)
#: Every seed's keys are judged again; of so many seeds every wrong answer is, too.
WHOLE = 3
NONE_KINDS = {name for name, kind in KINDS.items() if kind.none}


@cache
def papers_of(name: str) -> tuple[Paper, ...]:
    """The papers of a class; all alike where there is one for all."""
    return tuple(paper(name, seed) for seed in CLASS)


@pytest.mark.parametrize("name", FORMS)
def test_as_many_students_have_as_many_papers_and_every_item_is_proved(name: str) -> None:
    papers = papers_of(name)
    assert len({one.items for one in papers}) == (1 if name in FIXED else len(papers))
    for number, one in enumerate(papers[:1] if name in FIXED else papers):
        assert len({item.exercise.ask for item in one.items}) == len(one.items)
        for item in one.items:
            exercise = item.exercise
            assert grade(exercise, exercise.solution) is None
            assert "still to be filled in" in (grade(exercise, exercise.starter) or "")
            assert len(exercise.hints) == len(set(exercise.hints)) == 3
            assert exercise.ask and exercise.why and 1 <= item.level <= 3
            assert len(exercise.wrong) >= 3
            assert exercise.solution not in [answer for answer, _, _ in exercise.wrong]
            if number < WHOLE:
                assert all(grade(exercise, answer) == words for answer, words, _ in exercise.wrong)


def test_sixty_students_have_sixty_papers() -> None:
    """Of the form with the fewest questions, in which two could be alike soonest."""
    name = min((name for name in FORMS if name not in FIXED), key=lambda name: len(paper(name, 1).items))
    assert len({paper(name, seed).items for seed in range(60)}) == 60


@pytest.mark.parametrize("name", [name for name in FORMS if name not in FIXED])
def test_the_same_seed_gives_the_same_paper_byte_for_byte(name: str) -> None:
    assert repr(paper(name, "17")) == repr(paper(name, 17)) != repr(paper(name, "018"))


def test_a_paper_does_not_depend_on_the_process_that_draws_it() -> None:
    code = "import sys; sys.path.insert(0, 'course'); from papers.paper import paper; "
    code += "print([paper(name, 3) for name in ('lab1', 'quiz1', 'quiz2')])"
    digests = []
    for hashing in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, cwd=ROOT, check=True, env={**os.environ, "PYTHONHASHSEED": hashing},
        )  # fmt: skip
        digests.append(hashlib.sha256(done.stdout.encode()).hexdigest())
    assert digests[0] == digests[1]


def test_the_first_quiz_has_none_for_an_answer_twice_as_it_says_wherever_that_stands() -> None:
    places, questions = set(), {}
    for one in papers_of("quiz1"):
        places_of_none = [k for k, item in enumerate(one.items) if item.exercise.solution == "none"]
        assert len(places_of_none) == 2 and "Two answers are `none`" in one.form.about
        places |= set(places_of_none)
        questions |= {item.kind: item.exercise.ask.split("`")[0] for item in one.items}
        for item in one.items:
            assert item.exercise.judge != "lawful" or decided(*item.exercise.operands) == item.exercise.solution
    assert len(places) >= 7
    twins = {"no composition": "composition", "no complement": "complement", "does not divide": "divides"}
    assert set(twins) == NONE_KINDS
    assert all(questions[name] == questions[twin] for name, twin in twins.items()), "a question must not tell"


def decided(operation: str, *operands: object) -> str | Wildcard:
    """What enumeration decides without the algebra: `none`, or that there is an answer."""
    a, b = (evaluate(one) if isinstance(one, str) else one for one in operands)
    if operation == "composition":
        there = laws.composition(a, b.shape, b.stride)
    elif operation == "complement":
        there = laws.complement(pairs(a), b)
    else:
        there = laws.divide(a, b.shape, b.stride)
    return "none" if there is None else Wildcard()


class Wildcard:
    """Equal to every answer but `none`."""

    def __eq__(self, other: object) -> bool:
        return other != "none"

    __hash__ = None  # type: ignore[assignment]


def test_every_kind_is_asked_for_somewhere() -> None:
    kinds = {name for form in FORMS.values() for slot in form.slots for name in slot.kinds}
    assert set(KINDS) == kinds
    assert {kind.lesson for kind in KINDS.values()} == {one.number for one in lessons()}


@pytest.mark.parametrize(
    ("name", "seed", "why"),
    [
        ("exam", "1", "the paper must be one of pretest, posttest, lab1"),
        ("lab1", "", "must have a seed of letters and digits, as --seed 17, found none"),
        ("lab1", "a b", "must have a seed"),
        ("lab1", "1" * 41, "must have a seed"),
        ("lab1", "../1", "must have a seed"),
        ("quiz2", "١", "must have a seed"),
    ],
)
def test_what_is_no_paper_is_refused(name: str, seed: str, why: str) -> None:
    with pytest.raises(DescriptorError, match=why):
        paper(name, seed)


def test_the_posttest_has_the_kinds_of_the_pretest_and_no_item_of_it_and_none_stands_in_a_lesson() -> None:
    before, after = paper("pretest"), paper("posttest")
    assert [item.kind for item in before.items] == [item.kind for item in after.items]
    asks = [item.exercise.ask for one in (before, after) for item in one.items]
    assert len(set(asks)) == 2 * len(before.items)
    taught = {(one.judge, str(one.operands)) for lesson in lessons() for one in (*lesson.exercises, *lesson.votes)}
    assert not taught & {(item.exercise.judge, str(item.exercise.operands)) for item in (*before.items, *after.items)}


def test_a_paper_asks_no_type_whose_bytes_it_does_not_say() -> None:
    for seed in CLASS:
        for item in (*paper("quiz2", seed).items, *paper("final", seed).items):
            ask = item.exercise.ask
            assert "bytes" in ask or not re.search(r"\b(f16|tf32|s8|f64|f32|e4m3)\b", ask), ask
