"""What stands on the slides: every idea, exercise, figure and word of a lesson; one right choice in every vote."""

from __future__ import annotations

import pytest

from builder.slides import Sheet, sentences, sheets, votes
from descriptors.course.grading import grade
from descriptors.course.source import EXAMPLE, FIGURES, Lesson, lessons, parse

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))


def of(lesson: Lesson, kind: str) -> list[Sheet]:
    return [sheet for sheet in sheets(lesson) if sheet.kind == kind]


@LESSONS
def test_every_part_of_a_lesson_has_its_slide(lesson: Lesson) -> None:
    ideas = of(lesson, "idea")
    assert [sheet.figure for sheet in ideas if sheet.figure] == [part for part in lesson.parts if part.kind in FIGURES]
    examples = sum(part.text.count("```") // 2 for part in lesson.parts if part.kind == "text")
    assert sum(bool(sheet.code) for sheet in ideas) == examples
    assert not [sheet for sheet in ideas if "```" in "".join((sheet.code, *sheet.lines, *sheet.notes))]
    text = " ".join(part.text for part in lesson.parts if part.kind == "text").split()
    assert set(" ".join(note for sheet in ideas for note in sheet.notes).split()) <= set(text)
    assert len(of(lesson, "exercise")) == len(lesson.exercises)


@LESSONS
def test_a_slide_is_short(lesson: Lesson) -> None:
    for sheet in of(lesson, "idea"):
        assert len(" ".join(sheet.lines).split()) <= (30 if sheet.figure else 60 if sheet.code else 85), sheet.heading
        assert sheet.code.count("\n") <= 14, sheet.heading
        assert sheet.lines or sheet.table or sheet.code or sheet.figure, sheet.heading


@LESSONS
def test_a_vote_has_one_right_choice_and_each_other_its_hint(lesson: Lesson) -> None:
    for vote, sheet in zip(votes(lesson), of(lesson, "vote"), strict=True):
        right = [choice for choice in vote.choices if grade(vote, choice) is None]
        assert right == [sheet.choices[sheet.right]]
        assert len(set(vote.choices)) == len(vote.choices) == len(sheet.notes) + 1 >= 3


@LESSONS
def test_the_words_and_the_misconception_close_the_lesson(lesson: Lesson) -> None:
    assert len(of(lesson, "cure")[0].lines) >= 2
    if lesson.words:
        assert len(of(lesson, "words")[0].lines) == len(lesson.words)


def test_a_slide_says_something_else_where_the_lesson_says_so() -> None:
    block = "next element lies.\n```slide\n# A step\nOne more, *then* another.\n```\n"
    changed = sheets(parse(EXAMPLE.replace("next element lies.\n", block)))[1]
    assert (changed.heading, changed.lines) == ("A step", ("One more, *then* another.",))
    assert changed.notes == ("A *step* is how far the next element lies.",)
    assert changed.figure is not None


def test_a_list_is_taken_apart_and_a_number_at_the_end_of_a_sentence_is_no_item() -> None:
    assert sentences("Take one:\n\n- **this**\n- that. Or\nnot\n\n13 is written\n1101. So.") == [
        "Take one:",
        "**this**",
        "that.",
        "Or not",
        "13 is written 1101.",
        "So.",
    ]


def test_a_table_stands_on_a_slide() -> None:
    table = "| a | b |\n| --- | --- |\n| c | d |\n"
    one, other = sheets(parse(EXAMPLE.replace("next element lies.\n", f"next element lies.\n\n{table}\n")))[1:3]
    assert (one.table, one.figure) == (table.strip(), None)
    assert (other.table, other.lines) == ("", ())
    assert other.figure is not None


def test_text_without_a_new_word_is_told_by_its_first_sentence() -> None:
    one, other = sheets(parse(EXAMPLE.replace("A *step* is how", "It is so. It is how")))[1:3]
    assert (one.lines, other.kind) == (("It is so.",), "exercise")
