"""Papers for print: every page bears title, name and seed, no key stands on a sheet, and a table has them all."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browsers import browser
from paper_pages import pages

from descriptors.errors import DescriptorError
from papers.class_list import student_of_file, students
from papers.paper import FIXED, FORMS, paper
from papers.sheets import CLASS_LIST, class_files, keys, sheets, write_class

pytest.importorskip("markdown_it")


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


@pytest.mark.parametrize("name", FORMS)
def test_a_sheet_has_every_question_and_no_key(name: str) -> None:
    one = paper(name, "17")
    page, table = Text(sheets([("Ada <1>", one)])).text, Text(keys([("Ada <1>", one)])).text
    assert "Ada <1>" in page and one.form.title in page and "`" not in page
    for item in one.items:
        assert bare(item.exercise.ask) in page
        assert bare(item.exercise.why) not in page and item.exercise.solution in table
        assert not any(slip in page for _, _, slip in item.exercise.wrong)
        if len(item.exercise.solution) > 12:  # a short one may stand in a question
            assert item.exercise.solution not in page


@pytest.mark.parametrize("name", [name for name in FORMS if name not in FIXED])
def test_every_printed_page_bears_title_name_and_seed(name: str) -> None:
    of_class = [(who, paper(name, seed)) for who, seed in (("Ada Lovelace", "spring-47"), ("Bob", "b7"))]
    title = of_class[0][1].form.title.replace(" ", "")
    with browser() as started:
        page = started.new_page()
        page.set_content(sheets(of_class))
        printed = pages(page.pdf(prefer_css_page_size=True))
    ada = [one for one in printed if "AdaLovelace" in one and "seedspring-47" in one and title in one]
    bob = [one for one in printed if "Bob" in one and "seedb7" in one and title in one]
    assert len(ada) + len(bob) == len(printed) <= 4 and ada and bob
    assert len("".join(ada)) > 500, "the questions are printed too"


def test_the_files_of_a_class_have_a_sheet_and_all_keys_of_each_student(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Ada Lovelace, a-7\n\nBob\n", encoding="utf-8")
    files = class_files(students(str(names), "spring"))
    assert files == class_files(students(str(names), "spring"))
    expected = {f"{name}{end}" for name in FORMS for end in (".html", "-keys.html")} | {"keys.csv", CLASS_LIST}
    assert set(files) == expected
    assert files["quiz1.html"].count("<thead>") == 2 and files["pretest.html"].count("<thead>") == 1
    table = list(csv.DictReader(io.StringIO(files["keys.csv"])))
    mine = [
        row["key"].removeprefix("'") for row in table if row["student"] == "Ada Lovelace" and row["paper"] == "quiz1"
    ]
    assert mine == [item.exercise.solution for item in paper("quiz1", "a-7").items]
    assert not [row for row in table if row["key"].startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("class_text", ["0", "nowhere.txt", "", "-3", "1" * 300, "a\0b"])
def test_what_is_no_class_is_refused_in_one_line(class_text: str) -> None:
    with pytest.raises(DescriptorError, match="class: ") as refused:
        students(class_text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Ada, 7\nBob, 7\n", "two students have the seed '7'"),
        ("Ada Lo, 7\nlo ada, 8\n", "two students have the name 'ada lo'"),
        ("", "has no students; write one student per line"),
        ("\n \n", "has no students; write one student per line"),
    ],
)
def test_a_class_without_students_or_with_one_seed_twice_is_refused(tmp_path: Path, text: str, fact: str) -> None:
    (tmp_path / "names.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DescriptorError, match=fact):
        students(str(tmp_path / "names.txt"))


def test_seeds_are_drawn_at_random_and_with_a_seed_they_do_not_depend_on_the_other_students(tmp_path: Path) -> None:
    first, second = students("40"), students("40")
    assert len(set(first.values())) == 40 and not set(first.values()) & set(map(str, range(1, 41)))
    assert first != second, "nobody can know the seeds before they are written"
    (tmp_path / "names.txt").write_text("Zoë\nstudent 2\n", encoding="utf-8")
    assert students(str(tmp_path / "names.txt"), "spring")["student 2"] == students("40", "spring")["student 2"]
    assert students("40", "spring") != students("40", "summer")


def test_marking_needs_the_seeds_and_papers_with_other_seeds_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Ada\nBob\n", encoding="utf-8")
    with pytest.raises(DescriptorError, match="2 of 2 students have no seed, the first is 'Ada'; give the file class"):
        students(str(tmp_path / "names.txt"), draw=False)
    write_class(tmp_path / "papers", students(str(tmp_path / "names.txt")))
    seeds = students(str(tmp_path / "papers" / CLASS_LIST), draw=False)
    before = (tmp_path / "papers" / "keys.csv").read_bytes()
    with pytest.raises(DescriptorError, match="has other seeds, whose papers may be printed already"):
        write_class(tmp_path / "papers", students(str(tmp_path / "names.txt")))
    write_class(tmp_path / "papers", seeds)
    assert (tmp_path / "papers" / "keys.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("stem", "student"),
    [
        ("Zoe_ONeil_1234_assignsubmission_file_quiz1", "Zoë O\u2019Neil"),
        ("quiz1-lovelace-ada", "Ada Lovelace"),
        ("adalovelace", "Ada Lovelace"),
        ("king", "Ada King"),
        ("ada", ""),
        ("homework", ""),
    ],
)
def test_the_name_of_a_file_tells_the_student_unless_two_are_possible(stem: str, student: str) -> None:
    assert student_of_file(stem, dict.fromkeys(("Ada Lovelace", "Ada King", "Zoë O\u2019Neil"), "")) == student
