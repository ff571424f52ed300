"""Blocks under branches, against paths that are enumerated."""

from __future__ import annotations

import random

import pytest
from seeds import seed_of_this_run

from descriptors.check.ptx.control_flow import Block, postdominators, under


def graph_of(draw: random.Random) -> list[Block]:
    many = draw.randrange(1, 9)
    nexts = [tuple(sorted(draw.sample(range(many), min(many, draw.randrange(3))))) for _ in range(many)]
    return [Block(number, number + 1, follow) for number, follow in enumerate(nexts)]


def reaches(graph: list[Block], start: int, without: int | None) -> bool:
    """Whether a way leads from a block to the end that leaves out another."""
    waiting, seen = [start], {without, start}
    if start == without:
        return False
    while waiting:
        one = waiting.pop()
        if not graph[one].next:
            return True
        for follower in graph[one].next:
            if follower not in seen:
                seen.add(follower)
                waiting.append(follower)
    return False


def always(graph: list[Block], start: int) -> set[int]:
    """The blocks that all ways from one to the end come to, itself among them."""
    return {one for one in range(len(graph)) if not reaches(graph, start, one)}


@pytest.mark.parametrize("case", range(60))
def test_the_nearest_post_dominator_is_the_first_that_all_ways_come_to(case: int) -> None:
    graph = graph_of(random.Random(seed_of_this_run() + case))
    found = postdominators(graph)
    for number in range(len(graph)):
        if not reaches(graph, number, None):
            assert found[number] == len(graph)
            continue
        behind = always(graph, number) - {number}
        # The nearest is that one of them from which all ways come to the others.
        nearest = [one for one in behind if always(graph, one) - {one} == behind - {one}]
        assert found[number] == (nearest[0] if nearest else len(graph))


@pytest.mark.parametrize("case", range(60))
def test_a_block_stands_under_a_branch_if_one_way_always_comes_to_it_and_another_may_not(case: int) -> None:
    draw = random.Random(seed_of_this_run() + case)
    graph = graph_of(draw)
    if not all(reaches(graph, number, None) for number in range(len(graph))):
        return
    start = draw.randrange(len(graph))
    wanted: set[int] = set()
    waiting, done = [start], {start}
    while waiting:
        branch = waiting.pop()
        if len(graph[branch].next) < 2:
            continue
        for one in range(len(graph)):
            ways = [one in always(graph, follower) for follower in graph[branch].next]
            if any(ways) and one not in always(graph, branch) - {branch}:
                wanted.add(one)
                if one not in done:
                    done.add(one)
                    waiting.append(one)
    assert under(graph, {start}) == wanted
