"""Draws stay what they are: the numbers are written down here, for every version of Python to come."""

from __future__ import annotations

import ast
from pathlib import Path

from places import ROOT

from papers.item import below, pick, seeded, shuffled, some

NUMBERS = [307, 27, 114, 892, 0, 531, 984, 904]
ORDER = [6, 3, 5, 0, 7, 2, 4, 1]
SOME = ["c", "e", "h"]


def test_the_numbers_of_a_seed_are_those_that_were_written_down() -> None:
    rng = seeded("quiz1", "4711")
    assert [below(rng, 1000) for _ in range(8)] == NUMBERS
    assert shuffled(rng, range(8)) == ORDER
    assert some(rng, "abcdefgh", 3) == SOME


def test_every_number_comes_and_none_beyond() -> None:
    rng = seeded("lab1", "1")
    assert {below(rng, 5) for _ in range(200)} == set(range(5))
    assert {pick(rng, "xyz") for _ in range(100)} == set("xyz")
    assert {tuple(shuffled(rng, (1, 2, 3))) for _ in range(200)}.__len__() == 6


def test_no_item_draws_by_a_method_that_python_may_change() -> None:
    """`random()` and the seeding by a text are what Python promises to keep."""
    for path in sorted((ROOT / "course" / "papers").rglob("*.py")):
        called = {
            node.attr
            for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rng"
        }
        assert called <= {"random"}, path
