"""Papers in the terminal: shown, answered, handed in and marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from each import each

from descriptors.cli import main
from descriptors.course.papers.paper import FORMS, paper


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.get_app_dir", lambda name: str(tmp_path / name))


def say(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["course", *arguments])
    captured = capsys.readouterr()
    return status, (captured.out + captured.err).rstrip("\n")


def test_the_papers_are_listed_and_shown_without_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = say(capsys, "papers")
    assert status == 0 and [line.split()[0] for line in printed.splitlines()] == list(FORMS)
    assert json.loads(say(capsys, "papers", "--json")[1]) == {"papers": list(FORMS)}
    one = paper("quiz1", "17")
    status, printed = say(capsys, "quiz1", "--seed", "17")
    assert status == 0
    assert all(item.exercise.ask in printed and item.exercise.why not in printed for item in one.items)
    printed = json.loads(say(capsys, "quiz1", "--seed", "17", "--json")[1])
    assert [item["ask"] for item in printed["items"]] == [item.exercise.ask for item in one.items]
    assert "key" not in json.dumps(printed)
    assert "key: " in say(capsys, "cards", "--seed", "1")[1]


def test_an_item_from_the_first_look_to_the_solution(capsys: pytest.CaptureFixture[str]) -> None:
    exercise = paper("lab1", "17").items[2].exercise
    seed = ("--seed", "17")
    assert say(capsys, "lab1.3", *seed)[1] == f"lab1.3\n{exercise.ask}\nstart from: {exercise.starter}"
    assert json.loads(say(capsys, "lab1.3", *seed, "--json")[1])["item"] == "lab1.3"
    assert say(capsys, "lab1.3", *seed, "--solution")[0] == 2
    assert say(capsys, "lab1.3", *seed, "--hint") == (0, f"hint 1 of 3: {exercise.hints[0]}")
    answer, words = exercise.wrong[0]
    assert say(capsys, "lab1.3", answer, *seed) == (1, f"your answer {words}")
    assert say(capsys, "lab1.3", "--solution", "--seed", "18")[0] == 2, "another seed is another item"
    assert say(capsys, "lab1.3", *seed, "--solution") == (0, f"{exercise.solution}\n{exercise.why}")
    assert say(capsys, "lab1.3", exercise.solution, *seed) == (0, "right")
    assert say(capsys, "pretest.1", "16") == (0, "right")


def test_a_file_and_a_folder_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ada.txt").write_text("name Ada\npretest.1 2\nposttest.1 16\n", encoding="utf-8")
    status, printed = say(capsys, "--grade", str(tmp_path / "ada.txt"))
    assert status == 1
    assert printed.splitlines()[0] == "Ada: pretest 0 of 8"
    assert "perhaps: the rightmost mode is counted first, as in C" in printed
    (tmp_path / "bob.txt").write_text("pretest.1 2\nposttest.1 2\n", encoding="utf-8")
    status, printed = say(capsys, "--grade", str(tmp_path))
    assert status == 1
    assert "leftmost first           0 ->   1 of 2  gain 0.5" in printed
    printed = json.loads(say(capsys, "--grade", str(tmp_path), "--json")[1])
    assert [one["name"] for one in printed["students"]] == ["Ada", "bob"]
    keys = [f"lab1.{k} {item.exercise.solution}" for k, item in enumerate(paper("lab1", 5).items, 1)]
    (tmp_path / "eve.txt").write_text("\n".join(keys), encoding="utf-8")
    status, printed = say(capsys, "--grade", str(tmp_path / "eve.txt"), "--seed", "5")
    assert (status, printed.splitlines()[0]) == (0, "eve: lab1 10 of 10, passed")


@each(
    "arguments",
    [
        ["lab1"],
        ["lab1", "--seed", "a b"],
        ["lab1.11", "--seed", "1"],
        ["lab1.", "--seed", "1"],
        ["lab1.x", "2", "--seed", "1"],
        ["lab1", "2", "--seed", "1"],
        ["lab1", "--hint", "--seed", "1"],
        ["papers", "--hint"],
        ["papers.1"],
        ["exam", "--seed", "1"],
        ["--grade", "nowhere.txt"],
        ["--grade", "tests"],
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = say(capsys, *arguments)
    assert (status, printed.count("\n")) == (2, 0)
