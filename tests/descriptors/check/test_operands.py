"""Operands from their text: each form, and that nothing is guessed."""

from __future__ import annotations

import pytest

from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Other, Pair, Vector, names, number, operands


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("%r1", "%r1"),
        ("-16", -16),
        ("0xFFU", 255),
        ("0f3F800000", 0x3F800000),
        ("{%f0, %f1}", Vector(("%f0", "%f1"))),
        ("[%r1]", Address("%r1")),
        ("[ %rd7 + 0 ]", Address("%rd7")),
        ("[%r1+-4]", Address("%r1", -4)),
        ("[%r1-4]", Address("%r1", -4)),
        ("[smem+0x10]", Address("smem", 16)),
        ("[16]", Address("", 16)),
        ("[%rd1, {%r1, 0}]", Address("%rd1", 0, (Vector(("%r1", 0)),))),
        ("%r3|%p1", Pair("%r3", "%p1")),
        ("!%p1", Negated("%p1")),
        ("(g0)", Other("(g0)")),
        ("a.x+4", Other("a.x+4")),
        ("_", "_"),
        ("%tid.x", "%tid.x"),
    ],
)
def test_an_operand_is_read_as_what_it_is(text: str, wanted: Operand) -> None:
    assert operands(text) == (wanted,)


def test_names_are_all_that_is_named() -> None:
    assert [names(one) for one in operands("{a, {b}}, [c+4, {d}], !e, (f, 1), 7")] == [
        ("a", "b"), ("c", "d"), ("e",), ("f",), (),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("07", 7), ("08", 8), ("0b101", 5), ("-0x1", -1), ("1U", 1)])
def test_numbers(text: str, value: int) -> None:
    assert number(text) == value


def test_brackets_are_looked_into_as_deep_as_ptx_has_them_and_kept_as_text_below() -> None:
    for deep in (2, 8, 9, 10_000):
        (found,) = operands("{" * deep + "a" + "}" * deep)
        while isinstance(found, Vector):
            (found,) = found.items
            deep -= 1
        assert (found == "a") == (deep == 0) and isinstance(found, str | Other)
