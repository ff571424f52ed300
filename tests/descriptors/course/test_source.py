"""The gates of the course: every lesson whole, every solution right, every wrong answer told its own hint."""

from __future__ import annotations

import re
import tomllib

import pytest
from each import each
from places import ROOT

from descriptors.course.catalog import find, find_lesson, folder, lessons
from descriptors.course.figures import figure
from descriptors.course.grading import grade
from descriptors.course.source import EXAMPLE, FIGURES, Exercise, Lesson, parse
from descriptors.errors import DescriptorError

LESSONS = lessons()
EXERCISES = [
    pytest.param(exercise, id=f"{lesson.number}.{k + 1}")
    for lesson in LESSONS
    for k, exercise in enumerate(lesson.exercises)
]
WRONG = [
    pytest.param(exercise, answer, words, id=f"{lesson.number}.{k + 1}-{answer}")
    for lesson in LESSONS
    for k, exercise in enumerate(lesson.exercises)
    for answer, words, _ in exercise.wrong
]


def test_the_lessons_are_numbered_from_1_without_a_gap() -> None:
    texts = [{one.name: one.read_bytes() for one in place.glob("*.md")} for place in (folder(), ROOT / "course")]
    assert texts[0] == texts[1] and texts[0], "those of the wheel are those of the sources"
    assert [lesson.number for lesson in LESSONS] == list(range(1, len(LESSONS) + 1)) == list(range(1, 11))


@each("lesson", LESSONS, ids=lambda lesson: str(lesson.number))
def test_a_lesson_is_whole(lesson: Lesson) -> None:
    assert len(lesson.exercises) >= 4
    assert [part for part in lesson.parts if part.kind in FIGURES]
    assert 30 <= lesson.minutes <= 90
    assert lesson.aim and lesson.misconception and "min:" in lesson.teacher and "Without machines" in lesson.teacher
    assert len({exercise.name for exercise in lesson.exercises}) == len(lesson.exercises)


@each("lesson", LESSONS, ids=lambda lesson: str(lesson.number))
def test_every_figure_is_drawn(lesson: Lesson) -> None:
    for part in lesson.parts:
        if part.kind in FIGURES:
            assert figure(part.kind, part.text).svg().startswith("<svg")


def test_every_lesson_has_examples_which_pytest_runs() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        options = tomllib.load(file)["tool"]["pytest"]["ini_options"]
    assert "course" in options["testpaths"] and "--doctest-glob=course/*.md" in options["addopts"]
    assert all(">>> " in path.read_text(encoding="utf-8") for path in folder().glob("[0-9][0-9]-*.md"))


@each("exercise", EXERCISES)
def test_the_solution_passes_and_the_untouched_starter_fails(exercise: Exercise) -> None:
    assert grade(exercise, exercise.solution) is None
    assert "still to be filled in" in (grade(exercise, exercise.starter) or "")


@each("exercise", EXERCISES)
def test_there_are_five_wrong_answers_and_three_hints_that_do_not_tell_the_solution(exercise: Exercise) -> None:
    assert len({answer for answer, _, _ in exercise.wrong}) >= 5
    assert len(set(exercise.hints)) == 3
    assert not [hint for hint in exercise.hints if f"`{exercise.solution}`" in hint or exercise.solution == hint]


@each(("exercise", "answer", "words"), WRONG)
def test_a_listed_wrong_answer_fails_with_its_own_hint(exercise: Exercise, answer: str, words: str) -> None:
    judgement = grade(exercise, answer)
    assert judgement is not None
    assert words in judgement


def prose(lesson: Lesson) -> str:
    """What a student reads of a lesson, in its order, without the examples."""
    parts = []
    for part in lesson.parts:
        if part.kind == "exercise":
            exercise = lesson.exercises[int(part.text) - 1]
            parts += [exercise.ask, *exercise.hints, exercise.why]
        elif part.kind == "text":
            parts.append(re.sub(r"```.*?```|`[^`]*`", " ", part.text, flags=re.S))
    return "\n".join(parts)


def early(lessons: tuple[Lesson, ...]) -> list[str]:
    """The words of the glossary that are read before they are defined; a definition has its word in italics."""
    text = "\n".join(map(prose, lessons))
    words = []
    for word, _ in (pair for lesson in lessons for pair in lesson.words):
        first = re.search(rf"(\*?)\b{word}s?\b(\*?)", text, flags=re.I)
        if first is None or first[1] + first[2] != "**":
            words.append(word)
    return words


def test_every_new_word_is_defined_before_it_is_used() -> None:
    assert early(LESSONS) == []
    words = [word for lesson in LESSONS for word, _ in lesson.words]
    assert len(set(words)) == len(words)


def test_a_word_that_comes_too_early_is_noticed() -> None:
    assert early((parse(EXAMPLE),)) == []
    assert early((parse(EXAMPLE.replace("A *step* is", "Steps: a *step* is")),)) == ["step"]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("```lesson\n", "```figure\n", "the first block is not `lesson`"),
        ("title = ", "titel = ", "a block has the keys .*titel.*; the keys are aim, minutes"),
        ("minutes = 5", "minutes = ", "a block is not TOML; "),
        ("```hint\nthree\n```\n", "", "not three hints, a solution and wrong answers"),
        ("\n---\nThe second lies at 4.", "", "the solution has no reason"),
        ("2:3 -> is 3 at index 1", "2:3", "a wrong answer has no message or no mistake after"),
        ("# A step\n", "", "slide 1: the first line .* is not a heading"),
        ("```figure\n2:4\n```", "```hint\nlost\n```", "a block `hint` does not belong to an exercise"),
    ],
)
def test_a_lesson_that_is_not_well_written_is_refused(before: str, after: str, why: str) -> None:
    assert before in EXAMPLE
    with pytest.raises(DescriptorError, match=why):
        parse(EXAMPLE.replace(before, after))


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("99", "lesson 99 does not exist; lessons: 1, 2, 3"),
        ("", "no lesson is given; lessons: 1, 2, 3"),
        ("05.1", "lesson 05 does not exist; lessons: 1, 2, 3"),
        ("5", "no exercise of lesson 5 is given; its exercises are 1 to 5$"),
        ("5.6", "lesson 5 has no exercise 6; its exercises are 1 to 5$"),
        ("5.1.1", "lesson 5 has no exercise 1.1; "),
        ("5." + "9" * 999, "lesson 5 has no exercise 9{20}; "),
    ],
)
def test_a_place_that_is_none_is_refused_with_those_that_are(where: str, why: str) -> None:
    with pytest.raises(DescriptorError, match=f"^course: .*{why}"):
        find(where)


def test_each_place_has_its_lesson_and_its_exercise() -> None:
    for lesson in LESSONS:
        assert find_lesson(str(lesson.number)) is lesson
        assert [find(f"{lesson.number}.{k + 1}") for k in range(len(lesson.exercises))] == list(lesson.exercises)
