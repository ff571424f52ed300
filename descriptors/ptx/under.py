"""Blocks that stand under a branch: those that run or not as it goes, found by post-dominators.

A block stands under a branch if one way out of the branch always comes to it and another may not, or if it stands under
a branch of such a block.
Source: control dependence, as compilers have it (Ferrante, Ottenstein, Warren 1987; post-dominators as Cooper, Harvey
and Kennedy 2001 compute dominators); its judge is enumeration of paths.

Law: where two ways out of a branch meet again, nothing stands under it any more.

>>> graph = [Block(0, 1, (1, 2)), Block(1, 2, (2,)), Block(2, 3, ())]
>>> postdominators(graph), under(graph, {0})
([2, 2, 3], {1})
"""

from __future__ import annotations

from collections.abc import Iterable

from descriptors.ptx.flow import Block

#: Steps after which blocks under branches are no longer looked for: far more than any kernel needs.
STEPS = 2_000_000


def postdominators(graph: list[Block]) -> list[int]:
    """For each block the nearest block that every way from it to the end comes to; ``len(graph)`` is the end itself.

    A block from which no way leads to the end has the end.

    >>> postdominators([Block(0, 1, (0,))])
    [1]
    """
    end = len(graph)
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for number, one in enumerate(graph):
        for follower in one.next or (end,):
            before[follower].append(number)
    order = _from_the_end(before, end)
    place = {number: index for index, number in enumerate(order)}
    nearest: list[int | None] = [None] * (end + 1)
    nearest[end] = end
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            known = [n for n in graph[number].next or (end,) if nearest[n] is not None]
            found = known[0]
            for other in known[1:]:
                found = _common(found, other, nearest, place)
            if nearest[number] != found:
                nearest[number], changed = found, True
    return [end if one is None else one for one in nearest[:end]]


def _from_the_end(before: list[list[int]], end: int) -> list[int]:
    """Blocks that lead to the end, each after one to which it leads: reverse postorder of the graph turned round."""
    seen, done, waiting = {end}, list[int](), [(end, iter(before[end]))]
    while waiting:
        number, others = waiting[-1]
        fresh = next((n for n in others if n not in seen), None)
        if fresh is None:
            done.append(number)
            waiting.pop()
        else:
            seen.add(fresh)
            waiting.append((fresh, iter(before[fresh])))
    return done[::-1]


def _common(a: int, b: int, nearest: list[int | None], place: dict[int, int]) -> int:
    while a != b:
        if place[a] < place[b]:
            a, b = b, a
        up = nearest[a]
        assert up is not None
        a = up
    return a


def under(graph: list[Block], branches: Iterable[int]) -> set[int]:
    """The blocks that stand under the branches at the ends of some blocks.

    >>> sorted(under([Block(0, 1, (1, 3)), Block(1, 2, (2, 1)), Block(2, 3, (3,)), Block(3, 4, ())], {1}))
    [1]
    """
    nearest = postdominators(graph)
    found: set[int] = set()
    waiting = [number for number in set(branches) if len(graph[number].next) > 1]
    done = set(waiting)
    steps = 0
    while waiting:
        number = waiting.pop()
        for start in graph[number].next:
            while start not in (nearest[number], len(graph)) and steps < STEPS:
                steps += 1
                found.add(start)
                if len(graph[start].next) > 1 and start not in done:
                    done.add(start)
                    waiting.append(start)
                start = nearest[start]
    return found
