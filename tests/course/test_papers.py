"""Papers for print: every question and no key on a sheet, every key in the book, and a class of files that are one."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from builder.papers import book, class_files, sheets, students
from descriptors.course.papers.paper import FORMS, paper
from descriptors.errors import DescriptorError


class Text(HTMLParser):
    """The text of a page, whose tags must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def bare(sentence: str) -> str:
    return sentence.replace("`", "")


@pytest.mark.parametrize("name", [name for name in FORMS if name != "cards"])
def test_a_sheet_has_every_question_and_no_key(name: str) -> None:
    one = paper(name, "17")
    page, keys = Text(sheets([("Ada <1>", one)])).text, Text(book([("Ada <1>", one)])).text
    assert "Ada <1>" in page and one.form.title in page
    for item in one.items:
        assert bare(item.exercise.ask) in page and bare(item.exercise.ask) in keys
        assert bare(item.exercise.why) in keys and bare(item.exercise.why) not in page
        assert item.exercise.solution in keys
        assert all(answer in keys and told in keys for answer, told in item.exercise.wrong)
        assert not any(slip in page for slip in item.slips)
        if len(item.exercise.solution) > 12:  # a short one may stand in a question
            assert item.exercise.solution not in page


def test_a_card_has_both_sides() -> None:
    one = paper("cards", "1")
    assert len(one.items) == 20
    assert sheets([("", one)]).count('class="card"') == 20


def test_the_files_of_a_class_have_a_page_and_all_keys_of_each_student(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Ada Lovelace, a-7\n\nBob\n", encoding="utf-8")
    files = class_files(str(names))
    assert files == class_files(str(names))
    assert set(files) == {f"{name}{end}" for name in FORMS for end in (".html", "-keys.html")} | {
        "keys.csv",
        "keys.json",
    }
    assert files["quiz1.html"].count("<article>") == 2 and files["pretest.html"].count("<article>") == 1
    table = list(csv.DictReader(io.StringIO(files["keys.csv"])))
    mine = [
        row["key"].removeprefix("'") for row in table if row["student"] == "Ada Lovelace" and row["paper"] == "quiz1"
    ]
    assert mine == [item.exercise.solution for item in paper("quiz1", "a-7").items]
    assert not [row for row in table if row["key"].startswith(("=", "+", "-", "@"))]
    papers = json.loads(files["keys.json"])["papers"]
    assert {one["student"] for one in papers} == {"", "Ada Lovelace", "Bob"}
    assert all("key" in item for one in papers for item in one["items"])


@pytest.mark.parametrize("class_text", ["0", "nowhere.txt", "", "-3", "1" * 300, "a\0b"])
def test_what_is_no_class_is_refused_in_one_line(class_text: str) -> None:
    with pytest.raises(DescriptorError, match="class: ") as refused:
        students(class_text)
    assert "\n" not in str(refused.value)


def test_two_students_with_one_seed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Ada, 7\nBob, 7\n", encoding="utf-8")
    with pytest.raises(DescriptorError, match="each with a seed of their own"):
        students(str(tmp_path / "names.txt"))
