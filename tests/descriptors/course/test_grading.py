"""Judges of exercises: right answers of any form are accepted, wrong ones are told where they break."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors.course.catalog import find, lessons
from descriptors.course.grading import JUDGES, grade, verdict
from descriptors.course.source import Exercise, Lesson
from layoutalg import law_names


def question_of(judge: str, *operands: Any, size: int | None = None) -> Exercise:
    return Exercise("one", "", judge, operands, "?", size, ("", "", ""), "", "", ())


TILE = ((64, 64), "bf16", "K", "128B", (64, 16))
CASES = [
    (question_of("complement", "4:2", 24), "(3,2):(8,1)", None),
    (question_of("complement", "4:2", 24), "6:1", "reaches offset 2 twice"),
    (question_of("right_inverse", "(4,8):(8,1)", size=32), "8:4", "has 8 elements, must have 32"),
    (question_of("function", "8:1"), "(2,2)", "cannot be read: (2,2) is not a layout"),
    (question_of("function", "8:1"), "8:1 and more", "cannot be read"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), CASES)
def test_an_answer_is_judged(exercise: Exercise, answer: str, words: str | None) -> None:
    judgement = grade(exercise, answer)
    assert judgement is None if words is None else words in (judgement or "")


#: Forms in which students type what is right, and what is not, by the place of the exercise.
TYPED = {
    "1.1": ("20;2;12;22;24;28", "[20 2 12 22 24 28].", "!16, 24, 1, 9, 2, 31", "!((3,5):(10,2))(2), 2, 12, 22, 24, 28"),
    "1.2": (
        "Layout((4,8),(1,4))",
        "cute.make_layout((4,8), stride=(1,4))",
        "make_layout(make_shape(Int<4>{}, _8), make_stride(1, Int<4>{}))",
        "'(4,8):(1,4)'",
        "(4,8):(1,4",
        "(4,8);(1,4)",
        "shape (4,8), stride (1,4)",
        "（４，８）：（１，４）",
        "\u201c(4,8):(1,4)\u201d\u00a0# by hand",
        "so (4,8):(1,4).",
        "I think it is (4,8):(1,4), but I am not sure",
        "**(4,8):(1,4)** (because a column has 4 elements)",
        "!make_layout((4,8))",
        "!(4,8:(1,4)",
        "!not (4,8):(1,4)",
        "!(4,8):(1,4) or (4,8):(8,1)",
        "!(8,4):(1,8), transposed",
        "!the inverse of (4,8):(1,4)",
        "!coalesce (4,8):(1,4)",
        "!(4,8):(1,4)?",
        "the constant element is apparent: (4,8):(1,4)",
        "!it isn't (4,8):(1,4)",
        "!(4,8):(1,4), because it was (8,4):(1,8), so (4,8):(8,1)",
    ),
    "1.5": ("(8):(9)", "(2,4):(9,18)", "!8", "!9"),
    "1.6": ("a_global = (64,128):(136,1)", "!b_global = (64,128):(136,1)"),
    "3.1": ("size 32, cosize 38", "cosize is 38, size is 32", "!cosize 32, size 38", "32 and 38", "!size, cosize"),
    "3.2": ("(16):(3)", "!coalesce((2,(2,4)):(3,(6,12)))", "!(16,1):(3,0)"),
    "3.4": ("(2,(2,3)):(2,(4,8))", "!((3,4)):((2,6))", "!(12):(2)", "!((12)):((2))", "!Layout((3,4),(2,6))"),
    "4.2": ("((2,2),(3)):((24,2),8)", "!(2,2,3):(24,2,8)"),
    "4.5": ("i = 5", "index 5", "!(2,1)", "!4, 5"),
    "5.2": (
        "I think there is none, because 3 is in the way", "“none”", "!none?", "!none or 3:1", "!none of these",
        "None", "there is none.", "no complement", "impossible", "!nonesuch", "!no idea", "!not sure",
    ),
    "6.7": ("T7 V1", "thread 7, value 1", "!T1 V7", "!v 1, t 7"),
    "7.4": (
        "I think 2, because each row takes 1 turn", "\uff12", "!2*1 = 2", "!1 or 2", "!twice 2",
        "!-> 2 elements", "!2\u00b9", "2 turns", "!8 turns", "!0",
    ),
    "7.5": ("Swizzle<5,0,5> o 0 o (32,32):(32,1)", "!Swizzle<4,0,5> o 0 o (32,32):(32,1)"),
    "8.4": ("2,0,2", "(2 0 2)", "S(2,0,2)", "Swizzle<2,0,2>{}", "cute.make_swizzle(2,0,2)", "!2,0,3", "!2,0"),
    "9.4": (
        "the word is 0x8000002000010000.", "!twice 0x8000002000010000",
        "0x8000 0020 0001 0000", "8000002000010000", "0x8000_0020_0001_0000", "!0x800000200001000",
    ),
    "9.5": ("1024 bytes, 256 bytes", "SBO = 256, LBO = 1024", "!SBO 1024, LBO 256"),
    "9.8": ("word_a = 0x4000 0040 0001 0040", "!0x4000 0040 0001 0000"),
    "9.10": ("+0, +2, +4, +6, +512, +514, +516, +518", "!-0, -2, -4, -6, -512, -514, -516, -518"),
    "10.1": ("0x8000 0020 0001 0000, sbo", "stride byte offset: 0x8000002000010000", "!lbo, sbo 0x8000002000010000"),
    "10.3": ("swizzle mode = 0x4000004000010080", "!0x4000004000010080"),
    "10.9": ("fence -> mma -> commit -> wait(0) -> read", "fence mma commit wait_group 0 read", "!mma wait"),
    "10.11": ("(b) Swizzle<2,3,3> o 0 o (64,16):(32,1)", "a) 0x4000004000010000 and 0x4000004000000000", "!b"),
}  # fmt: skip


@each(("where", "answer"), [(where, answer) for where, answers in TYPED.items() for answer in answers])
def test_an_answer_is_read_as_students_type_it_and_another_is_none(where: str, answer: str) -> None:
    assert (grade(find(where), answer.removeprefix("!")) is None) != answer.startswith("!")


@each(
    ("where", "answer", "slip"),
    [
        ("1.1", "4, 6, 7, 9, 1, 2", "the rightmost coordinate is counted first"),
        ("7.2", "32; 1; 32; 8", "rows of 64 bytes reach two banks"),
        ("8.1", "5, 9, 0, 3", "a number xor itself"),
        ("9.4", "0x800000200001000", "a word has 16 hexadecimal digits, this one 15"),
        ("9.10", "0, 2, 4, 6, 8, 10, 12, 15", "the line is full after four steps"),
    ],
)
def test_a_list_of_numbers_is_told_the_slip_of_its_first_wrong_one(where: str, answer: str, slip: str) -> None:
    assert slip in verdict(find(where), answer)


def test_an_empty_answer_where_a_word_is_asked_for_is_told_to_be_a_word() -> None:
    for answer in ("", "derive", "# later"):
        assert "is not a 64-bit word; write it as 0x and 16 hexadecimal digits" in verdict(find("9.4"), answer)


ODD = [
    "",
    "(",
    "9" * 5000,
    "((((",
    "1:" + "9" * 30,
    "none",
    "S<3,4,3>",
    "\x00",
    "?",
    "-1",
    "1, 2, 3",
    "[1, (2, 3)]",
    "True",
]
ODD += ["(m,8):(1,m)", "(8,8):(m,1)", "S<30,0,30>", "S<3,3,-3> o -5 o (8,64):(64,1)", "(4,8):(0,0), 1", "0b1101"]
ODD += [f"{shape}:{steps}" for shape in ("(8,8)", "(8,64)", "(32,8)", "(32,32)") for steps in ("(1@0,1@1)", "(-1,-9)")]


@each("answer", ODD)
def test_whatever_a_student_types_is_answered_in_one_line(answer: str) -> None:
    for exercise in (
        question_of("complement", "4:2", 24),
        question_of("word", *TILE),
        question_of("numbers", "size(8:1)"),
    ):
        judgement = grade(exercise, answer)
        assert judgement and "\n" not in judgement
    for exercise in (exercise for lesson in lessons() for exercise in lesson.exercises):
        assert "\n" not in (grade(exercise, answer) or "")


BARE = """
import sys
sys.modules.update(dict.fromkeys(("numpy", "sympy", "click"), None))
sys.path.insert(0, "course")
from builder.markup import Example, pieces
from descriptors.course.figures import figure
from descriptors.course.grading import grade
from descriptors.course.page import run
from descriptors.course.catalog import lessons
from descriptors.course.source import FIGURES
for lesson in lessons():
    cells = []
    for part in lesson.parts:
        if part.kind in FIGURES:
            assert figure(part.kind, part.text).svg()
        for one in pieces(part.text) if part.kind == "text" else ():
            if isinstance(one, Example):
                cells.append(one.typed)
                ran = run(cells)
                assert (ran.printed + (ran.error or "")).split() == one.printed.split(), one.typed
    for exercise in lesson.exercises:
        assert grade(exercise, exercise.solution) is None, exercise.name
        assert all(words in grade(exercise, answer) for answer, words, _ in exercise.wrong), exercise.name
"""


def test_a_page_in_a_browser_can_run_and_draw_and_judge_without_numpy() -> None:
    run = subprocess.run([sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_every_judge_that_the_lessons_name_is_known() -> None:
    assert {e.judge for lesson in lessons() for e in lesson.exercises} <= {*JUDGES, *law_names()}


BIG = "S<3,3,3> o 0 o ((8,8192),(64,1024)):((64,512),(1,4194304))"


@pytest.mark.parametrize("lesson", [one for one in lessons() if one.number > 8], ids=lambda lesson: str(lesson.number))
def test_the_rows_of_the_errata_that_a_lesson_names_are_there(lesson: Lesson) -> None:
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (\d+) \|", errata, flags=re.M))
    text = "\n".join([*(part.text for part in lesson.parts), *(exercise.why for exercise in lesson.exercises)])
    lines = re.findall(r"[Rr]ows? ([\d and]+) of (?:the|this)[\w' ]* errata", text)
    named = {row for line in lines for row in line.split(" and ")}
    assert named <= rows and (lesson.number != 10 or named)


HOSTILE = (
    "", "(", "9" * 5000, "1:" + "9" * 30, "\x00", "yes", "-1, -1, -1, -1", "0xffffffffffffffff, 1", BIG,
    "99999999999999999999, 2", "sbo 0xffffffffffffffff", "fence, " * 200, "wait 9", "e2m1 99999999999999999999",
    "(1048576,1048576):(1,1048576)", "4:1@0", "(0,0):(1,1)", "(a,b):(b,1)",
)  # fmt: skip


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_no_exercise_raises_or_tells_more_than_a_line_whatever_is_typed(lesson: Lesson) -> None:
    for exercise in lesson.exercises:
        for answer in HOSTILE:
            judgement = grade(exercise, answer)
            assert judgement and "\n" not in judgement, (exercise.name, answer)


@pytest.mark.parametrize("lesson", [one for one in lessons() if one.number > 8], ids=lambda lesson: str(lesson.number))
def test_what_a_wrong_answer_is_told_is_not_the_solution(lesson: Lesson) -> None:
    for exercise in lesson.exercises:
        for answer, _, _ in exercise.wrong:
            assert len(exercise.solution) < 4 or exercise.solution not in (grade(exercise, answer) or "")


def test_no_layout_in_the_text_of_lesson_4_breaks_the_composition_of_its_exercise() -> None:
    (lesson,) = (lesson for lesson in lessons() if lesson.number == 4)
    (exercise,) = (exercise for exercise in lesson.exercises if exercise.judge == "no composition")
    others = [other for other in lesson.exercises if other is not exercise]
    text = "\n".join([*(part.text for part in lesson.parts), *(f"{other.ask} {other.solution}" for other in others)])
    tree = r"(?:\([\d, ()]*\)|\d+)"
    pairs = re.findall(rf"({tree}):({tree})", text) + re.findall(rf"Layout\(({tree}), ({tree})\)", text)
    layouts = {":".join(pair).replace(" ", "") for pair in pairs}
    assert {"(2,2):(1,3)", "3:2"} <= layouts
    assert [layout for layout in sorted(layouts) if grade(exercise, layout) is None] == []
