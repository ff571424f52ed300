"""Blocks and fixed points, on small graphs that can be drawn by hand."""

from __future__ import annotations

import pytest

from descriptors.check.control_flow import Block, blocks, fixed_point
from descriptors.check.ptx_module import Function, parse
from descriptors.errors import DescriptorError


def function(body: str) -> Function:
    return parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]


def graph(body: str) -> list[tuple[int, int, tuple[int, ...]]]:
    return [(one.start, one.end, one.next) for one in blocks(function(body))]


def test_a_diamond() -> None:
    body = "@p bra A; x; bra B; A: y; B: ret;"
    assert graph(body) == [(0, 1, (1, 2)), (1, 3, (3,)), (3, 4, (3,)), (4, 5, ())]


def test_a_return_with_a_guard_goes_on() -> None:
    assert graph("@p ret; x; exit;") == [(0, 1, (1,)), (1, 3, ())]


def test_a_table_of_branches() -> None:
    body = "T: .branchtargets A, B; brx.idx i, T; A: x; B: ret;"
    assert graph(body)[0][2] == (1, 2)


def test_no_code_has_no_blocks() -> None:
    assert graph("") == []


def test_a_branch_to_nowhere_is_refused() -> None:
    with pytest.raises(DescriptorError, match="a branch must lead to a label, found A; line 2"):
        graph("bra A;")


def test_states_that_do_not_settle_are_refused() -> None:
    with pytest.raises(DescriptorError, match="must settle"):
        fixed_point([Block(0, 1, (0,))], 0, lambda number, state: state + 1, max)


def test_what_no_path_reaches_has_no_state() -> None:
    known = blocks(function("bra A; x; A: ret;"))
    assert fixed_point(known, 0, lambda number, state: state, max) == [0, None, 0]
