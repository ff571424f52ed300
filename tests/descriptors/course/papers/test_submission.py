"""Files of answers: marks in parts, what is missing, what is no answer."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from each import each

from descriptors.course.papers.paper import paper
from descriptors.course.papers.submission import MOST_BYTES, by_student, marked, read, read_file
from descriptors.errors import DescriptorError


@pytest.mark.parametrize("name", ["pretest", "lab1", "lab2", "quiz1", "quiz2", "homework", "final"])
def test_every_key_handed_in_earns_all_marks_and_every_mistake_is_named(name: str) -> None:
    one = paper(name, "17")
    keys = "\n".join(f"{name}.{k} {item.exercise.solution}" for k, item in enumerate(one.items, 1))
    handed = read(keys, seed="17")
    assert handed.earned(name) == one.marks
    assert handed.passed(name) in (True, None)
    wrong = "\n".join(f"{name}.{k} {item.exercise.wrong[0][0]}" for k, item in enumerate(one.items, 1))
    handed = read(wrong, seed="17")
    assert handed.earned(name) < one.marks
    assert [mark.slip for mark in handed.of(name)] == [item.slips[0] for item in one.items]
    assert handed.passed(name) in (False, None)


def test_numbers_earn_each_its_part_and_a_word_wrong_in_one_field_half() -> None:
    item = next(item for item in paper("lab1", 1).items if item.kind == "offsets")
    numbers = item.exercise.solution.split(", ")
    assert marked("x", item, ", ".join([*numbers[:3], "999"])).earned == Fraction(3, 4)
    assert marked("x", item, ", ".join(numbers[:3])).earned == 0
    word = paper("homework", 1).items[5]
    answers = {slip: answer for (answer, _), slip in zip(word.exercise.wrong, word.slips, strict=True)}
    assert marked("x", word, answers["SBO is divided by 16 twice"]).earned == Fraction(word.marks, 2)
    assert marked("x", word, "0x0").earned == 0
    assert marked("x", word, "zero").earned == 0


def test_an_answer_that_beats_the_par_of_a_trace_is_counted_below_it() -> None:
    item = paper("lab2", 1).items[0]
    assert marked("x", item, item.exercise.solution).over == 0
    plain = item.exercise.wrong[0][0]
    assert (marked("x", item, plain).over or 0) > 0
    assert marked("x", item, "(").over is None


def test_what_is_left_out_is_missing_and_the_last_answer_counts() -> None:
    handed = read("# mine\n\n name  Ada L \nseed 3\npretest.1 2\npretest.1   16\n")
    assert handed.name == "Ada L"
    assert [mark.judgement for mark in handed.of("pretest")][:2] == [None, "is missing"]
    assert handed.earned("pretest") == 1
    assert handed.of("lab1") == ()


@each(
    ("text", "why"),
    [
        ("", "there must be an answer"),
        ("name Ada\nseed 1", "there must be an answer"),
        ("hello", "a line must begin with name, seed or an item of .*, found 'hello' in line 1"),
        ("name", "a line must begin with"),
        ("cards.1 x", "a line must begin with"),
        ("lab1.1 2", "lab1 must have a seed"),
        ("seed 1\nlab1.0 2", "lab1 has items 1 to 10, found 0 in line 2"),
        ("seed 1\nlab1 2", "found none in line 2"),
        ("seed 1\nlab1.1 2\nseed 2\nlab1.2 3", "lab1 must have one seed, found 1 and '2' in line 4"),
        ("seed a/b\nlab1.1 2", "must have a seed"),
    ],
)
def test_a_file_that_is_no_list_of_answers_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(DescriptorError, match=why) as refused:
        read(text)
    assert "\n" not in str(refused.value)


def test_a_file_is_text_of_a_size_that_a_student_types(tmp_path: Path) -> None:
    path = tmp_path / "ada.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DescriptorError, match="must be text in UTF-8"):
        read_file(path)
    path.write_text("#" * (MOST_BYTES + 1), encoding="utf-8")
    with pytest.raises(DescriptorError, match="at most 65536 bytes"):
        read_file(path)
    with pytest.raises(DescriptorError, match="No such file"):
        read_file(tmp_path / "bob.txt")
    path.write_text("﻿pretest.1 16\r\n", encoding="utf-8")
    assert read_file(path).name == "ada"


def test_what_one_student_hands_in_at_two_times_is_one_students() -> None:
    (one,) = by_student([read("name A\npretest.1 2"), read("name A\nposttest.1 16")])
    assert [paper.name for paper, _ in one.marks] == ["pretest", "posttest"]
    with pytest.raises(DescriptorError, match="once, found two of A; paper = pretest"):
        by_student([read("name A\npretest.1 2"), read("name A\npretest.1 3")])
