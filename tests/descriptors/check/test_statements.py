"""A PTX text cut into statements: nothing is lost, and what is cut off is refused."""

from __future__ import annotations

import time

import pytest

from descriptors.check.ptx_module import LIMIT, statements
from descriptors.errors import DescriptorError


def cut(text: str) -> list[tuple[str, str, int]]:
    return [tuple(one) for one in statements(text)]


def test_braces_of_vectors_and_of_blocks_are_told_apart() -> None:
    text = ".entry k()\n{\n{\n.reg .pred p;\nmov.b64 d, {a, b};\n}\n}"
    assert cut(text) == [
        ("open", ".entry k()", 1),
        ("open", "", 3),
        ("directive", ".reg .pred p", 4),
        ("code", "mov.b64 d, {a, b}", 5),
        ("close", "", 6),
        ("close", "", 7),
    ]


def test_comments_are_passed_over_wherever_they_stand() -> None:
    assert cut("// a; {\n.version 8.8 // b\n/* c\n; */ ret /* d */ ;") == [
        ("line", ".version 8.8", 2),
        ("code", "ret", 4),
    ]


def test_initialisers_sections_and_strings_are_one_statement_each() -> None:
    text = '.global .b8 x[2] = {1, 2};\n.section .debug_str\n{\ninfo:\n.b8 72\n}\n.pragma "a;b";\n.loc 1 2 3\nL: ret;'
    assert [kind for kind, _, _ in cut(text)] == ["directive", "line", "directive", "line", "label", "code"]


def test_a_qualifier_with_two_colons_is_no_label() -> None:
    assert cut("mbarrier::a.b c;")[0][0] == "code"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "every block must be closed"),
        ("}", "a brace too many"),
        ("{" * 100, "at most 64 nested"),
        ("mov.b32 a, b", "must end with a semicolon"),
        ('.pragma "nounroll', "a string must be closed"),
        ("mov /* a", "a comment must end"),
        ("x" * (LIMIT + 1), "at most 33554432 bytes"),
    ],
)
def test_what_is_cut_off_or_too_much_is_refused_in_a_line(text: str, told: str) -> None:
    with pytest.raises(DescriptorError, match=told):
        cut(text)


@pytest.mark.parametrize("piece", ["\x00\xff", "a:b:", '""', "/**/", "@", "; ", "{}", "// \n", ".loc\n"])
def test_garbage_ends_soon(piece: str) -> None:
    begun = time.perf_counter()
    try:
        cut(piece * 50_000)
    except DescriptorError as error:
        assert str(error).startswith("ptx: ")
    assert time.perf_counter() - begun < 20
