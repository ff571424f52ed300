"""Files of answers: marks in parts, what is missing, and a class in which many a file is not as it should be."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from places import ROOT

from descriptors.errors import DescriptorError
from papers.hand_in import MOST_BYTES
from papers.paper import FORMS, paper
from papers.submission import marked, read, read_files

KEYS = [item.exercise.solution for item in paper("lab1", "7").items]
GOOD = "name Ada\nseed 7\n" + "".join(f"lab1.{k} {key}\n" for k, key in enumerate(KEYS, 1))


@pytest.mark.parametrize("name", FORMS)
def test_every_key_handed_in_earns_all_marks_and_every_mistake_is_named(name: str) -> None:
    one = paper(name, "17")
    keys = "\n".join(f"{name}.{k} {item.exercise.solution}" for k, item in enumerate(one.items, 1))
    handed = read(keys, seed="17")
    assert handed.earned(name) == one.marks
    assert handed.passed(name) in (True, None)
    wrong = "\n".join(f"{name}.{k} {item.exercise.wrong[0][0]}" for k, item in enumerate(one.items, 1))
    handed = read(wrong, seed="17")
    assert handed.earned(name) < one.marks
    assert [mark.slip for mark in handed.of(name)] == [item.exercise.wrong[0][2] for item in one.items]
    assert handed.passed(name) in (False, None)


def test_numbers_earn_each_its_part_and_a_word_wrong_in_one_field_half() -> None:
    item = next(item for item in paper("lab1", 1).items if item.kind == "offsets")
    numbers = item.exercise.solution.split(", ")
    assert marked("x", item, ", ".join([*numbers[:3], "999"])).earned == Fraction(3, 4)
    assert marked("x", item, ", ".join(numbers[:3])).earned == 0
    word = next(item for seed in range(9) for item in paper("quiz2", seed).items if item.kind == "word of K")
    answers = {slip: answer for answer, _, slip in word.exercise.wrong}
    assert marked("x", word, answers["SBO is divided by 16 twice"]).earned == Fraction(1, 2)
    assert marked("x", word, "0x0").earned == 0
    assert marked("x", word, "zero").earned == 0


def test_what_is_left_out_is_missing_and_the_last_answer_counts() -> None:
    right = paper("pretest").items[0].exercise.solution
    handed = read(f"# mine\n\n name  Ada L \nseed 3\npretest.1 2\npretest.1   {right}\n")
    assert handed.name == "Ada L"
    assert [mark.judgement for mark in handed.of("pretest")][:2] == [None, "is missing"]
    assert handed.earned("pretest") == 1
    assert handed.of("lab1") == ()


def test_a_text_without_an_answer_or_with_no_seed_is_refused_in_one_line() -> None:
    for text, why in (
        ("name Ada", "no line begins with an item"),
        ("", "is empty"),
        ("lab1.1 2", "lab1 must have a seed"),
    ):
        with pytest.raises(DescriptorError, match=why) as refused:
            read(text)
        assert "\n" not in str(refused.value)


#: Slips of students who type a file by hand: the bytes of the file, and what the teacher is told of it.
SLIPS = {
    "colon": (GOOD.replace("lab1.1 ", "lab1.1: ").encode(), ""),
    "letter": (b"Dear Prof, here is my lab.\n" + GOOD.encode(), "line 1 is not an answer: 'Dear Prof, here"),
    "eleven": (GOOD.encode() + b"lab1.11 4\n", "line 13 is not an answer: 'lab1.11 4'"),
    "heading": (GOOD.replace("name Ada", "Name: Ada").encode(), ""),
    "capitals": (GOOD.replace("lab1.", "Lab1.").encode(), ""),
    "unicode": (GOOD.encode("utf-16"), ""),
    "windows": (b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(), ""),
    "blank": (b"", "was not marked: the file is empty"),
    "seedless": (GOOD.replace("seed 7\n", "").encode(), "was not marked: papers: lab1 must have a seed"),
    "picture": (b"\x89PNG\x00\xff\xfe\x80", "was not marked: it is a picture; give a text file or a notebook"),
    "long": (b"#" * (MOST_BYTES + 1), "was not marked: it has more than 65536 bytes"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_one_file_stops_nobody_and_is_told_with_the_files_name(slip: str, tmp_path: Path) -> None:
    content, told = SLIPS[slip]
    path, other = tmp_path / "ada.txt", tmp_path / "bob.txt"
    path.write_bytes(content)
    other.write_text(GOOD.replace("Ada", "Bob"), encoding="utf-8")
    handed = read_files([path, other])
    mine = [one for one in handed.submissions if one.name == "Ada"]
    assert any(one.name == "Bob" and one.earned("lab1") == 10 for one in handed.submissions)
    assert all(one.earned("lab1") == 10 for one in mine) and bool(mine) == ("not marked" not in told)
    about = [one for one in handed.remarks if one.startswith("ada.txt") and "\n" not in one]
    assert any(told in one for one in about) if told else not about


def test_with_the_class_list_its_seed_counts_and_who_is_missing_or_unknown_is_told(tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(GOOD, encoding="utf-8")
    (tmp_path / "carl.txt").write_text(GOOD.replace("Ada", "Carl"), encoding="utf-8")
    (tmp_path / "eve.txt").write_text(GOOD.replace("Ada", "Eve").replace("seed 7", "seed 9"), encoding="utf-8")
    (tmp_path / "again.txt").write_text(GOOD + "# again", encoding="utf-8")
    handed = read_files(sorted(tmp_path.glob("*.txt")), "", {"Ada": "7", "Carl": "8", "Dora": "9"})
    marks = {one.name: one.earned("lab1") for one in handed.submissions}
    assert marks["Ada"] == 10 > marks["Carl"]
    for told in (
        *(
            "carl.txt has the seed 7, but the class list has 8",
            "carl.txt has the answers of ",
            "eve.txt is not in the class: Eve",
        ),
        *("nothing from 1: Dora", "Ada handed in lab1 before"),
    ):
        assert any(told in one for one in handed.remarks), (told, handed.remarks)


def test_two_hand_ins_with_one_seed_are_told(tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(GOOD, encoding="utf-8")
    (tmp_path / "carl.txt").write_text("name Carl\nseed 7\nlab1.1 1, 2, 3, 4\n", encoding="utf-8")
    remarks = read_files(sorted(tmp_path.glob("*.txt"))).remarks
    assert remarks == ("carl.txt has the seed of ada.txt: lab1, seed 7",)


def script(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "scripts" / "course_papers"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_script_draws_prints_and_marks(tmp_path: Path) -> None:
    assert [line.split()[0] for line in script()[1].splitlines()] == list(FORMS)
    status, text = script("lab1", "--seed", "7")
    one = paper("lab1", "7")
    assert status == 0 and all(item.exercise.ask in text and item.exercise.why not in text for item in one.items)
    (tmp_path / "ada.txt").write_text(GOOD, encoding="utf-8")
    status, text = script("--grade", str(tmp_path / "ada.txt"))
    assert (status, text.splitlines()[0]) == (0, "Ada: lab1 10 of 10, passed")
    (tmp_path / "bob.docx").write_bytes(b"PK\x03\x04\xff\xfe")
    (names := tmp_path / "list" / "names").parent.mkdir()
    names.write_text("Ada, 7\nBob, 8\n", encoding="utf-8")
    status, text = script("--grade", str(tmp_path), "--class", str(names))
    assert "bob.docx was not marked: it is a Word document or a zip archive; give a text file" in text
    assert "list is a folder and was not marked" in text
    assert status == 0 and "\n  nothing from 1: Bob\n" in text
    assert script("--grade", str(tmp_path), "--class", str(names), "--feedback", str(tmp_path / "pages"))[0] == 0
    assert {page.name for page in (tmp_path / "pages").iterdir()} == {"overview.md", "Ada.md"}
    for bad in (
        ["lab1"],
        ["exam", "--seed", "1"],
        ["--grade", str(ROOT / "tests")],
        ["--class", "nowhere"],
        ["--feedback", "x"],
    ):
        status, text = script(*bad)
        assert (status, text.count("\n")) == (2, 1)
