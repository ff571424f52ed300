"""Hand-ins as students make them: no mark is lost silently, and none is given for a wrong answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from descriptors.errors import DescriptorError
from papers.class_list import Seeds
from papers.feedback import OVERVIEW, write_feedback
from papers.hand_in import FileLine, HandIn, read_hand_in
from papers.paper import FORMS, paper
from papers.report import record_class, tell_class
from papers.submission import Handed, read_files

STUDENT, SEEDS = "Ada Lovelace", {"Ada Lovelace": "amber-oak-17", "Bob": "pine-fox-30"}
PAPERS = ("quiz1", "quiz2")


def keys_of(name: str, student: str = STUDENT, seeds: Seeds = SEEDS) -> list[str]:
    return [item.exercise.solution for item in paper(name, seeds[student]).items]


def handed_in(folder: Path, file: str, content: str | bytes, paper_name: str = "") -> Handed:
    (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_files([folder / file], "", SEEDS, paper_name)


def full_width(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


#: How students write a right answer; all of them have full marks.
DRESSES: dict[str, Callable[[str], str]] = {
    "prose": lambda key: f"I think it is {key}",
    "doubt": lambda key: f"the answer is {key}, but I am not sure",
    "reason": lambda key: f"{key} (because the first mode has 4 and 2*3 = 6)",
    "so": lambda key: f"so {key}.",
    "comment": lambda key: f"{key}  # by hand, 3 steps",
    "full width": full_width,
    "quotes": lambda key: f"\u201c{key}\u201d",
    "no-break space": lambda key: f"\u00a0{key}\u00a0",
    "semicolon": lambda key: key.replace(":", ";"),
    "stride": lambda key: key if "<" in key else key.replace(":", " stride "),
    "last bracket": lambda key: key[:-1] if ":" in key and key.endswith(")") else key,
    "bold": lambda key: f"**{key}**",
    "code": lambda key: f"`{key}`",
    "label": lambda key: f"c = {key}",
}


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("dress", DRESSES)
def test_a_right_answer_in_another_dress_has_all_marks(dress: str, name: str, tmp_path: Path) -> None:
    lines = [f"{name}.{k} {DRESSES[dress](key)}" for k, key in enumerate(keys_of(name), 1)]
    handed = handed_in(tmp_path, "a.txt", "\n".join([f"name {STUDENT}", *lines]))
    assert [
        (mark.where, mark.answer, mark.judgement) for mark in handed.submissions[0].of(name) if not mark.right
    ] == []


#: Words beside a right answer that change it, or leave it open: no marks, and each is listed.
CHANGED = (
    "not {}",
    "twice {}",
    "{} or 3:3",
    "3:3 or {}",
    "the inverse of {}",
    "{}?",
    "{} is wrong",
    "about {}",
    "coalesce({})",
)


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("changed", CHANGED)
def test_an_answer_with_two_readings_has_no_marks_and_is_listed(changed: str, name: str, tmp_path: Path) -> None:
    lines = [f"{name}.{k} {changed.format(key)}" for k, key in enumerate(keys_of(name), 1)]
    handed = handed_in(tmp_path, "a.txt", "\n".join([f"name {STUDENT}", *lines]))
    submission, text, record = handed.submissions[0], tell_class(handed), record_class(handed)
    assert submission.earned(name) == 0
    assert len(submission.unread) == len(lines) == len(record["unread"])
    assert f"{STUDENT}: 10 answers could not be read" in text
    assert all(mark.where in text and mark.answer[:20] in text for mark in submission.unread)


def notebook(*cells: tuple[str, str]) -> str:
    return json.dumps({"cells": [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells]})


def numbered(form: str, name: str = "quiz1", head: str = f"name {STUDENT}", between: str = "\n") -> str:
    return "\n".join([head, between.join(form.format(k=k, key=key) for k, key in enumerate(keys_of(name), 1))])


#: Files with all keys of a quiz, by the name of the file; all of them have full marks and no remark.
FILES = {
    "bracket.txt": numbered("quiz1.{k}) {key}"),
    "dash.txt": numbered("quiz1-{k}: {key}"),
    "blank.txt": numbered("Quiz1. {k} {key}"),
    "question.txt": numbered("Quiz 1, question {k}: {key}"),
    "bullets.txt": numbered("- quiz1.{k}: {key}", head=f"- Name: {STUDENT}"),
    "next.txt": numbered("quiz1.{k}:\n\n   {key}\n"),
    "below.txt": numbered("quiz1.{k}\nI get\n{key}\n"),
    "line.txt": numbered("{k}. {key}", head=f"quiz1\nname: {STUDENT}"),
    "title.txt": numbered("({k}) {key}", head=f"Quiz 1: the algebra\nname: {STUDENT}"),
    "quiz1.txt": numbered("{k}) {key}"),
    "windows.txt": "\ufeff" + numbered("quiz1.{k} {key}").replace("\n", "\r\n"),
    "unicode.txt": numbered("quiz1.{k} {key}").encode("utf-16"),
    "surname.txt": numbered("quiz1.{k} {key}", head="Name: LOVELACE, Ada"),
    "ada_lovelace_12_file.txt": numbered("quiz1.{k} {key}", head=""),
    "bold.md": numbered("**quiz1.{k}** {key}", head=f"# Homework\n\n**Name:** {STUDENT}\n", between="\n\n"),
    "heading.md": numbered("## quiz1.{k}\n\n`{key}`", head=f"# Name: {STUDENT}\n", between="\n\n"),
    "table.md": numbered("| quiz1.{k} | `{key}` | |", head=f"Name: {STUDENT}\n| item | answer | why |\n|---|:--|---|"),
    "numbers.md": numbered("| {k} | {key} |", head=f"quiz1\nName: {STUDENT}\n| item | answer |\n|---|---|"),
    "cells.ipynb": notebook(
        ("markdown", f"# My answers\n\n**Name:** {STUDENT}"),
        *(("markdown", f"### quiz1.{k}\n\n{key}") for k, key in enumerate(keys_of("quiz1"), 1)),
    ),
    "code.ipynb": notebook(
        ("code", f'import layoutalg\nname = "{STUDENT}"'),
        *(("code", f'check("quiz1.{k}", "{key}")') for k, key in enumerate(keys_of("quiz1"), 1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_read_as_students_write_it(file: str, tmp_path: Path) -> None:
    handed = handed_in(tmp_path, file, FILES[file])
    (submission,) = handed.submissions
    assert (submission.name, submission.earned("quiz1")) == (STUDENT, 10)
    assert handed.remarks == ()


#: Files that cannot be marked, and what the teacher reads.
UNMARKED = {
    "a.txt": (numbered("{k}. {key}"), "line 2 does not name its paper: '1. "),
    "a.docx": (b"PK\x03\x04 ...", "it is a Word document or a zip archive; give a text file or a notebook"),
    "a.pdf": (b"%PDF-1.7\xff\x00", "it is a PDF document; give a text file or a notebook"),
    "a.ipynb": ("{}", "it is not a notebook; give a text file or a notebook"),
    "b.txt": (
        f"name {STUDENT}\nDear Prof,\nquizz1.1 8:1",
        "no line begins with an item; 2 lines are not answers, such as line 3",
    ),
    "eve.txt": (numbered("quiz1.{k} {key}", head=""), "eve is not in the class list; correct the name in the file"),
}


@pytest.mark.parametrize("file", UNMARKED)
def test_a_file_that_cannot_be_marked_is_told_with_a_way_out(file: str, tmp_path: Path) -> None:
    content, told = UNMARKED[file]
    handed = handed_in(tmp_path, file, content)
    assert handed.submissions == () and handed.remarks[0].startswith(f"{file} was not marked: ")
    assert told in handed.remarks[0] and "\n" not in handed.remarks[0]


def test_the_teacher_can_name_the_paper_of_numbers(tmp_path: Path) -> None:
    assert handed_in(tmp_path, "a.txt", numbered("{k}. {key}"), "quiz1").submissions[0].earned("quiz1") == 10


def lines(*texts: str) -> HandIn:
    return read_hand_in([FileLine(f"line {k}", text) for k, text in enumerate(texts, 1)])


def test_a_line_with_two_readings_is_not_an_answer() -> None:
    assert lines("lab1: 4, 8, 2, 1").answers == {}
    assert lines("lab1.1-4 8:1").answers == {}
    assert lines("lab1.1 16", "# lab1.2 8:1").others == (FileLine("line 2", "# lab1.2 8:1"),)
    assert lines("final answer: 8").answers == {}
    assert lines("lab1.1 > 8", "lab1.2 => 8").answers == {"lab1.1": "> 8", "lab1.2": "8"}


def test_an_item_may_be_in_a_numbered_list_or_in_quotes() -> None:
    assert lines("1. quiz1.3 4:2", '"quiz1.4": "8:1",').answers == {"quiz1.3": "4:2", "quiz1.4": "8:1"}


def test_a_number_alone_does_not_replace_an_answer_with_its_paper() -> None:
    hand_in = lines("lab1.1 16, 24", "1. first I looked at the rows", "lab1.2 8:1")
    assert hand_in.answers == {"lab1.1": "16, 24", "lab1.2": "8:1"} and len(hand_in.others) == 1


def test_an_empty_item_does_not_replace_an_answer_and_a_list_may_go_on_below() -> None:
    assert lines("lab1.1 16,", "24", "lab1.2 8:1", "", "lab1.2", "lab1.3").answers == {
        "lab1.1": "16, 24",
        "lab1.2": "8:1",
        "lab1.3": "",
    }
    assert lines("quiz1", "1.", "8: 1", "2. 4:2").answers == {"quiz1.1": "8: 1", "quiz1.2": "4:2"}


def test_feedback_has_each_item_and_no_key_and_replaces_only_its_own_files(tmp_path: Path) -> None:
    keys, items = keys_of("quiz1"), paper("quiz1", SEEDS[STUDENT]).items
    wrong = next(k for k, item in enumerate(items) if len(keys[k]) > 12 and item.exercise.wrong)
    keys[wrong], right = items[wrong].exercise.wrong[0][0], keys[wrong]
    keys[0 if wrong else 1] = "<b>no</b> `idea`"
    handed = handed_in(
        tmp_path, "a.txt", "\n".join([f"name {STUDENT}", *(f"quiz1.{k} {key}" for k, key in enumerate(keys, 1))])
    )
    assert write_feedback(tmp_path / "pages", handed) == write_feedback(tmp_path / "pages", handed) == 2
    page = (tmp_path / "pages" / f"{STUDENT}.md").read_text(encoding="utf-8")
    exercise = items[wrong].exercise
    assert all(item.exercise.ask in page for item in items) and right not in page
    for expected in (
        exercise.wrong[0][2],
        exercise.hints[0],
        f"lesson {items[wrong].lesson}, ",
        "8 of 10 marks, passed",
    ):
        assert expected in page
    assert ": not read, 0 of 1" in page
    table = (tmp_path / "pages" / OVERVIEW).read_text(encoding="utf-8")
    assert f"| 1 | quiz1 | {items[wrong].kind} | {exercise.wrong[0][2]} |" in table and "\\<b>no" in table
    (tmp_path / "pages" / f"{STUDENT}.md").write_text("mine", encoding="utf-8")
    with pytest.raises(
        DescriptorError, match="exists and was not written by this program; give another folder to --feedback"
    ):
        write_feedback(tmp_path / "pages", handed)


def test_every_paper_can_be_handed_in_by_its_name_and_by_its_title() -> None:
    for name, form in FORMS.items():
        assert lines(f"{name}.1 8").answers == lines(form.title, "1. 8").answers == {f"{name}.1": "8"}
