"""The course in the terminal, from either program: list, lesson, exercise, hints, answers, solution."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from io import StringIO
from pathlib import Path

import pytest
from places import ROOT
from refusals import refusal, refuses

import layoutalg.cli.command as algebra
from descriptors.cli import main as descriptors_main
from descriptors.course.catalog import exercises, lessons
from descriptors.course.figures import figure
from descriptors.course.progress import Progress, Receipt
from descriptors.course.source import FIGURES
from descriptors.course.workbook import ON_A_GPU
from layoutalg.cli import main as layoutalg_main


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.get_app_dir", lambda name: str(tmp_path / name))


def say(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = descriptors_main(["course", *arguments])
    captured = capsys.readouterr()
    return status, (captured.out + captured.err).rstrip("\n")


def test_the_list_has_every_lesson_and_says_where_progress_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = say(capsys)
    assert status == 0
    assert all(f"{one.number:>2}  {one.title}" in printed for one in lessons())
    assert printed.endswith("course.json")


def test_every_lesson_is_shown_with_its_exercises_and_figure(capsys: pytest.CaptureFixture[str]) -> None:
    for lesson in lessons():
        status, printed = say(capsys, str(lesson.number))
        assert status == 0
        assert f"{lesson.number}.4  " in printed
        figures = [figure(part.kind, part.text) for part in lesson.parts if part.kind in FIGURES]
        assert all(one.text(width=110) in printed for one in figures)


def test_an_exercise_from_the_first_look_to_the_solution(capsys: pytest.CaptureFixture[str]) -> None:
    (lesson,) = (one for one in lessons() if one.number == 5)
    exercise = lesson.exercises[0]
    assert say(capsys, "5.1")[1].endswith(f"start from: {exercise.starter}")
    status, printed = say(capsys, "5.1", "--solution")
    assert status == 2 and refusal(f"{printed}\n")
    assert "after an attempt" in printed
    hints = [say(capsys, "5.1", "--hint")[1] for _ in range(4)]
    assert hints == [f"hint {min(k, 2) + 1} of 3: {exercise.hints[min(k, 2)]}" for k in range(4)]
    wrong = "your answer reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0). Perhaps: "
    assert say(capsys, "5.1", "6:1") == (1, f"{wrong}{exercise.wrong[0][2]}.")
    assert say(capsys, "5.1", "--solution") == (0, f"{exercise.solution}\n{exercise.why}")
    assert say(capsys, "5.1", "(3,2):(6,1)") == (0, "right")
    assert f"1 of {len(lessons()[4].exercises)} solved" in say(capsys)[1]


def test_the_card_is_told_in_lines_of_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = say(capsys, "card")
    assert status == 0
    assert re.search(r"zipped_divide\(\(8,8\):\(8,1\), \(4,2\)\) +\(\(4,2\),\(2,4\)\):\(\(8,1\),\(32,2\)\)", printed)
    assert max(map(len, printed.splitlines())) <= 160


def test_what_was_solved_is_handed_in_and_read_by_the_teacher(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in ("1.2", "1.1", "5.1"):
        number, _, k = where.partition(".")
        assert say(capsys, where, lessons()[int(number) - 1].exercises[int(k) - 1].solution) == (0, "right")
    status, line = say(capsys, "--hand-in", "Ada 4711")
    total = sum(len(one.exercises) for one in lessons())
    summary = f"Ada 4711: 3 of {total} solved: 1.1-2 5.1"
    assert say(capsys, "--verify", line) == (status, summary) == (0, summary)
    slip = line.replace("4711", "4712")
    wrong = f"course: checksum {line[-9:]} does not belong to this name and these exercises; {slip}"
    assert say(capsys, "--verify", slip) == (1, wrong)
    monkeypatch.setattr("sys.stdin", StringIO(f"{line}\n\n{slip}\nnone\n"))
    status, all_of_them = say(capsys, "--verify", "-")
    assert (status, all_of_them.splitlines()[:2]) == (1, [summary, wrong])
    assert "'none' is not a line of the form 'layoutalg-1; NAME; EXERCISES; CHECKSUM'" in all_of_them
    strange = str(Receipt("Ada", ("99.1",)))
    assert say(capsys, "--verify", strange) == (
        1,
        f"course: 99.1 is not an exercise of the course; {strange}",
    )
    assert say(capsys, "--hand-in", "a;b")[0] == 2


def test_the_next_exercise_is_the_first_that_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert say(capsys, "next")[1].startswith("1.1  ")
    assert say(capsys, "1.1", lessons()[0].exercises[0].solution) == (0, "right")
    assert say(capsys, "next")[1].startswith("1.2  ")


def test_a_file_is_made_and_checked_at_each_save_until_it_multiplies(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    command = [sys.executable, "-m", "descriptors", "course", "watch", str(path)]
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PYTHONUNBUFFERED": ""}  # as a pipe is without it
    started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | home)
    assert started.stdout is not None
    assert "fill in a line" in started.stdout.readline()
    lines = {one.line: one.solution for one in exercises().values() if one.line}
    seen = [started.stdout.readline() for _ in range(len(lines) + 1)]
    assert all(line.split()[-1] == "open" for line in seen) and path.read_text().count(" = ") == len(lines)
    text = "\n".join(f"{name} = {value}" for name, value in lines.items())
    path.write_text(text.replace("word_b = 0x4000004000010440", "word_b = 0x4000004000010040"))
    seen = [started.stdout.readline() for _ in range(len(lines) + 1)]
    assert "Perhaps: this is the word of A." in "".join(seen) and sum(" right" in line for line in seen) == 15
    path.write_text(text)
    rest, _ = started.communicate(timeout=60)
    assert started.returncode == 0 and "your matrices are multiplied" in rest
    progress = Progress(next(tmp_path.rglob("course.json")))
    assert len(progress.solved()) == len(lines) + 1


def test_what_the_planner_says_for_a_gpu_is_the_students_own() -> None:
    """The program that `plan --emit cuda` writes has the words and steps of the lessons."""
    words = ON_A_GPU.split()
    emitted = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    planned = subprocess.run(
        [sys.executable, "-m", *words[: words.index("--emit")]], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    own = {one.line: one.solution for one in exercises().values() if one.line}
    starts = [hex(int(own[name], 16) - 1024 // 16) for name in ("word_a", "word_b")]  # the planner's A is at byte 0
    assert all(word in planned for word in starts) and "proved: 64x32x128 product" in planned
    assert all(f"add {own[name]} for K block" in planned for name in ("steps_a", "steps_b"))
    assert starts[0] in emitted and f"{{{own['steps_a']}}}" in emitted and f"{{{own['steps_b']}}}" in emitted


@pytest.mark.parametrize("answer", [lessons()[4].exercises[0].starter, "x", "complement(3:2, 18)"])
def test_what_is_no_answer_is_no_attempt(answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert say(capsys, "5.1", answer)[0] == 1
    assert say(capsys, "5.1", "--solution")[0] == 2


@pytest.mark.parametrize("where", ["99", "x", "5.9", "5.x", "5.1.1", "", "-1"])
def test_a_lesson_that_is_not_there_is_one_line_and_status_2(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = say(capsys, where)
    assert status == 2 and refusal(f"{printed}\n")


def test_a_file_of_progress_that_is_broken_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "layoutalg").mkdir()
    (tmp_path / "layoutalg" / "course.json").write_text("broken", encoding="utf-8")
    status, printed = say(capsys, "5.1", "2:1")
    assert status == 2 and refusal(f"{printed}\n")


def test_layoutalg_course_is_the_same_command_by_its_entry_point(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = EntryPoint("course", "descriptors.cli.course:course", "layoutalg.commands")
    monkeypatch.setitem(algebra.command.__dict__, "others", {"course": entry})
    assert layoutalg_main(["course", "5.1", "6:1"]) == 1
    assert "reaches offset 2 twice" in capsys.readouterr().out
    assert layoutalg_main(["course", "77"]) == 2
    assert refuses(capsys.readouterr().err, "lesson 77 does not exist; lessons: 1, 2")
    assert layoutalg_main(["--help"]) == 0
    assert "course" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line", [["5", "6:1"], ["5", "--hint"], ["5", "--solution"], ["card", "6:1"], ["--hint"]], ids=str
)
def test_what_goes_with_an_exercise_alone_is_refused_elsewhere(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed = say(capsys, *line)
    assert status == 2 and "need an exercise, such as 5.1" in refusal(f"{printed}\n")
