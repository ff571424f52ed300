"""A PTX text cut into statements: nothing is lost, and what is cut off is refused."""

from __future__ import annotations

import time

import pytest

from descriptors.check.ptx.ptx_module import LIMIT, parse, statements
from descriptors.check.ptx.ptx_operands import Address
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


def test_directives_without_a_semicolon_end_where_they_are_whole() -> None:
    text = '.version 8.8 .target sm_90a, debug .address_size 64 .file 1 "/a;b/*{\\"k.cu", 12, 34 .entry k()'
    text += " { .loc 1 2 3 ret; .loc 1 2 3, function_name $L + 4, inlined_at 1 2 3 exit; }"
    assert [(kind, text) for kind, text, _ in cut(text)] == [
        ("line", ".version 8.8"),
        ("line", ".target sm_90a, debug"),
        ("line", ".address_size 64"),
        ("line", '.file 1 "/a;b/*{\\"k.cu", 12, 34'),
        ("open", ".entry k()"),
        ("line", ".loc 1 2 3"),
        ("code", "ret"),
        ("line", ".loc 1 2 3, function_name $L + 4, inlined_at 1 2 3"),
        ("code", "exit"),
        ("close", ""),
    ]


def test_lines_of_a_preprocessor_are_passed_over() -> None:
    assert cut('#line 3 "a;{b.cu"\n.version 8.8\n# 4 "c\nret;') == [("line", ".version 8.8", 2), ("code", "ret", 4)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " "])
def test_whatever_ends_a_line_is_white_space_and_a_newline_alone_counts(end: str) -> None:
    text = end.join([".version 8.8", ".target sm_90a", ".entry k()", "{", "@%p bra L;", "L: ret;", "}"])
    down = int("\n" in end)
    assert cut(text) == [
        ("line", ".version 8.8", 1),
        ("line", ".target sm_90a", 1 + down),
        ("open", ".entry k()", 1 + 2 * down),
        ("code", "@%p bra L", 1 + 4 * down),
        ("label", "L", 1 + 5 * down),
        ("code", "ret", 1 + 5 * down),
        ("close", "", 1 + 6 * down),
    ]


def test_a_comment_ends_with_its_line_as_the_assembler_has_it() -> None:
    assert [text for _, text, _ in cut("// a\r.version 8.8\r\n.version 8.7\n")] == [".version 8.7"]


def test_white_space_may_stand_before_a_qualifier() -> None:
    text = ".version 8.8\n.entry k() { @p cp.async.bulk\n .L2::cache_hint\t.b8 [%r1], .5; ret; }"
    one = parse(text).functions[0].code[0]
    assert (one.opcode, one.predicate, one.operands[0]) == ("cp.async.bulk.L2::cache_hint.b8", "p", Address("%r1"))


def test_a_qualifier_with_two_colons_is_no_label() -> None:
    assert cut("mbarrier::a.b c;")[0][0] == "code"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a;\n{", r"1 '{' is not closed \(opened in line 2\)"),
        ("{ a; {", r"2 '{' are not closed \(the first is opened in line 1\)"),
        ("}", "a '}' closes no block"),
        ("{" * 100, "more than 64 blocks are nested"),
        ("mov.b32 a, b", "does not end with a semicolon"),
        ('.pragma "nounroll', "a string is not closed"),
        ("mov /* a", "a comment is not closed"),
        ("x" * (LIMIT + 1), "more than 33554432"),
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
