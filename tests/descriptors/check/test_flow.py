"""Blocks and fixed points, on small graphs that can be drawn by hand."""

from __future__ import annotations

import random

import pytest
from seeds import seed_of_this_run

from descriptors.check.ptx.control_flow import Block, blocks, cycles, dominators, fixed_point
from descriptors.check.ptx.ptx_module import Function, parse
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
    with pytest.raises(DescriptorError, match="a branch leads to A, which is not a label; line 2"):
        graph("bra A;")


def test_states_that_do_not_settle_are_refused() -> None:
    with pytest.raises(DescriptorError, match="do not settle"):
        fixed_point([Block(0, 1, (0,))], 0, lambda number, state: state + 1, max)


def test_what_no_path_reaches_has_no_state() -> None:
    known = blocks(function("bra A; x; A: ret;"))
    assert fixed_point(known, 0, lambda number, state: state, max) == [0, None, 0]


def test_more_ways_on_than_any_kernel_has_are_refused() -> None:
    labels = [f"L{n}" for n in range(600)]
    body = f"T: .branchtargets {', '.join(labels)}; " + "".join(f"{label}: brx.idx i, T;" for label in labels)
    with pytest.raises(DescriptorError, match="have 360000 labels together, which is more than 262144"):
        graph(body)


def test_blocks_on_a_circle_are_those_that_come_back_to_themselves() -> None:
    draw = random.Random(seed_of_this_run())
    for _ in range(40):
        many = draw.randrange(1, 9)
        drawn = [Block(n, n + 1, tuple({draw.randrange(many) for _ in range(draw.randrange(3))})) for n in range(many)]
        reached = {(n, to) for n, one in enumerate(drawn) for to in one.next}
        for _ in range(many):
            reached |= {(a, d) for a, b in reached for c, d in reached if b == c}
        assert cycles(drawn) == {n for n in range(many) if (n, n) in reached}


def test_a_block_is_dominated_by_what_every_way_to_it_comes_through() -> None:
    draw = random.Random(seed_of_this_run())
    for _ in range(40):
        many = draw.randrange(1, 8)
        drawn = [Block(n, n + 1, tuple({draw.randrange(many) for _ in range(draw.randrange(3))})) for n in range(many)]
        nearest = dominators(drawn)
        for block in range(1, many):
            through = [n for n in range(many) if n != block and block in _reached(drawn, 0, None)
                       and block not in _reached(drawn, 0, n)]  # fmt: skip
            above, up = set[int](), nearest[block]
            while up is not None and up not in above:
                above.add(up)
                up = nearest[up]
            assert above == set(through)


def _reached(drawn: list[Block], start: int, without: int | None) -> set[int]:
    found, waiting = set[int](), [start]
    while waiting:
        number = waiting.pop()
        if number != without and number not in found:
            found.add(number)
            waiting.extend(drawn[number].next)
    return found
