"""What nobody should type, typed: one line says what is wrong, in bounded time and memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from each import each
from refusals import refusal, refuses

from descriptors import Word, canonical_atom, decode_idesc, derive, emit, idesc, tma_plan
from descriptors.cli.command import main
from descriptors.errors import DescriptorError
from descriptors.smem.derivation.symbolic import symbolic_extents
from descriptors.sweep.lattice import lattice
from layoutalg import UndecidedError

DERIVED = derive(tile=(64, 64), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
OTHER = derive(tile=(64, 64), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16))
TMA = ["tma", "--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--capacity", "none", "--tile"]


def nested() -> Any:
    value: Any = 2
    for _ in range(3000):
        value = (value,)
    return value


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["read", "0x40003fff00010000", "--dtype", "bf16", "--major", "K", "--shape", "16384x16", "--arch", "sm90"],
            "the operand reaches address 0x1ffb8020, beyond the limit 0x10000000; 0x40003fff00010000",
        ),
        ([*TMA, "65536x8192"], "the tile has 536870912 elements, more than the 8388608 that can be compared"),
        ([*TMA, "64x64x100000"], "the plan needs 100000 boxes, more than 65536"),
        ([*TMA, "1048576x1048576"], "the tile has 1099511627776 elements, more than the 8388608 that can be "),
        (["shapes", "bf16", "\x7f", "sm90"], r"arguments (\x7f sm90)"),
    ],
)
def test_one_line_says_what_is_wrong(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and refuses(err, words)


def test_a_word_that_reads_beyond_all_memory_is_different(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["diff", "0x40003fff00010000", "(16384,16):(16,1)", "--dtype", "e4m3", "--major", "K", "--arch", "sm90"]
    assert main(line) == 1
    assert capsys.readouterr().out.startswith(
        "different: the operand reaches address 0x1ffb8010, beyond the limit 0x10000000"
    )


@each(
    ("call", "words"),
    [
        (lambda: tma_plan(64), "tma: 64 is not a derivation"),  # type: ignore[arg-type]
        (lambda: emit(None, "cuda"), "emit: None is not a derivation or a list of derivations"),  # type: ignore[arg-type]
        (lambda: decode_idesc(0, []), "idesc: kind"),  # type: ignore[arg-type]
        (lambda: idesc("bf16", m=64, n=64, kind={}), "idesc: kind"),  # type: ignore[arg-type]
        (lambda: idesc(nested(), m=64, n=64), "sm100 has no kind of MMA instruction for "),
        (lambda: Word("w", "MN", ()), "are not a text, an integer and a tuple"),  # type: ignore[arg-type]
        (lambda: Word("w", 8, 3), "are not a text, an integer and a tuple"),  # type: ignore[arg-type]
        (lambda: Word("w", 8, (1,)), "Word: 1 is not a Field"),  # type: ignore[arg-type]
        (lambda: canonical_atom(nested(), "128B"), "major"),
        (lambda: canonical_atom("K", "96B"), "swizzle"),
    ],
)
def test_an_operand_of_another_kind_is_refused_in_words(call: Callable[[], object], words: str) -> None:
    with pytest.raises(DescriptorError) as refusal:
        call()
    assert words in str(refusal.value)


def test_an_atom_is_found_by_names_too() -> None:
    assert canonical_atom("K", "128B").name == "K_SW128"


@pytest.mark.parametrize("language", ["python", "cutedsl"])
def test_operands_whose_names_differ_in_case_alone_share_no_name(language: str) -> None:
    names = ["ab", "AB", "Ab", "aB"]
    defined = [
        {line.split("=")[0].split("(")[0] for line in emit(DERIVED, language, name).splitlines() if defines(line)}
        for name in names
    ]
    assert all(len(one) >= 3 for one in defined)
    assert all(not one & other for one, other in combinations(defined, 2))


def defines(line: str) -> bool:
    return line.startswith("def ") or (line[:1].isalpha() and " = " in line)


def test_programs_of_two_operands_named_alike_give_the_word_of_each() -> None:
    namespace: dict[str, Any] = {}
    for derivation, name in ((DERIVED, "a"), (OTHER, "A")):
        exec(emit(derivation, "python", name), namespace)  # noqa: S102
    assert [namespace["a_first"](0), namespace["A_first"](0)] == [DERIVED.words(0)[0][0], OTHER.words(0)[0][0]]


def test_a_lattice_without_end_is_refused_and_a_long_one_begins_at_once(tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match="points, and the maximum is 100000000000"):
        lattice(tile="1:1000000x1:1000000")
    points = lattice(tile="1:100000x1:10000", mma="64x64", dtypes="bf16", majors="K", swizzles="128B", orders="mn")
    assert next(iter(points))["tile"] == (64, 64)
    assert main(["atlas", str(tmp_path / "x.jsonl"), "--tile", "1:1000000x1:1000000"]) == 2
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize(("digits", "complaint"), [(16, "tile extents|must fit|at most"), (17, "must be numbers like")])
def test_an_extent_has_sixteen_digits_at_most(digits: int, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--dtype bf16 --major K --swizzle 128B --mma 64x16".split()
    assert main(["derive", *options, "--tile", f"{'9' * digits}x64"]) == 2
    message = capsys.readouterr().err
    assert ("is not of the form" in message) == (digits == 17)
    assert refusal(message)


def test_extents_that_are_not_positive_for_all_values_are_not_decided() -> None:
    with pytest.raises(UndecidedError, match="cannot decide whether m-4 is less than 1"):
        symbolic_extents(("m-4", 64))
