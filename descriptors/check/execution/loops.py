"""The loops of a function: their nesting, and the blocks that are targets of backward branches.

Source: loops are strongly connected components, and again those of each without the edges to its header.

Invariant: the blocks of a loop inside another are blocks of that loop.

>>> loops = nested_loops([Block(0, 1, (1,)), Block(1, 2, (1, 2)), Block(2, 3, (0, 3)), Block(3, 4, ())])
>>> [sorted(loop.blocks) for loop in loops], loops[1].blocks < loops[0].blocks
([[0, 1, 2], [1]], True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from descriptors.check.ptx.control_flow import Block, components

#: Loops that are nested deeper belong to the loop around them.
DEEPEST = 8


class Loop(NamedTuple):
    """A loop of a function.

    Args:
        blocks: numbers of its blocks.
        around: number of the loop around it; -1 for none.
        depth: how many loops are around it.
    """

    blocks: frozenset[int]
    around: int
    depth: int


def nested_loops(graph: Sequence[Block]) -> list[Loop]:
    """Return the loops of a graph of blocks, outer loops first.

    >>> nested_loops([Block(0, 1, (1,)), Block(1, 2, (1, 2)), Block(2, 3, (0, 3)), Block(3, 4, ())])
    [Loop(blocks=frozenset({0, 1, 2}), around=-1, depth=0), Loop(blocks=frozenset({1}), around=0, depth=1)]
    """
    loops: list[Loop] = []
    level: list[tuple[frozenset[int], int]] = [(frozenset(range(len(graph))), -1)]
    predecessors: dict[int, set[int]] = {}
    for number, block in enumerate(graph):
        for way in block.next:
            predecessors.setdefault(way, set()).add(number)
    for depth in range(DEEPEST):
        inner: list[tuple[frozenset[int], int]] = []
        for region, around in level:
            cut = -1 if around < 0 else _header(predecessors, region)
            for component in _components(graph, region, cut):
                if len(component) > 1 or (
                    cut not in component and any(number in graph[number].next for number in component)
                ):
                    inner.append((component, len(loops)))
                    loops.append(Loop(component, around, depth))
        level = inner
    return loops


def _header(predecessors: dict[int, set[int]], loop: frozenset[int]) -> int:
    """Return the block of a loop that is entered from outside; the first if there are several."""
    return min((number for number in loop if not predecessors.get(number, set()) <= loop), default=min(loop))


def _components(graph: Sequence[Block], region: frozenset[int], cut: int) -> list[frozenset[int]]:
    """Return the strongly connected components of a region without the edges to the block ``cut``."""
    return components(
        {number: [way for way in graph[number].next if way in region and way != cut] for number in region}
    )


def back_edges(graph: Sequence[Block], loops: Sequence[Loop]) -> dict[int, int]:
    """Return the targets of backward branches, each with the number of its loop."""
    innermost: dict[int, int] = {}
    for number, loop in enumerate(loops):
        innermost.update(dict.fromkeys(loop.blocks, number))
    edges: dict[int, int] = {}
    for source, block in enumerate(graph):
        for target in block.next:
            if graph[target].start > block.start or source not in innermost:
                continue
            number = innermost[source]
            while number >= 0 and target not in loops[number].blocks:
                number = loops[number].around
            if number >= 0:
                edges[target] = number
    return edges


def inner_targets(edges: dict[int, int], loops: Sequence[Loop]) -> dict[int, tuple[int, ...]]:
    """Return for each target of a backward branch those of the loops inside its loop, which start again there."""
    inside: dict[int, list[int]] = {}
    for target, number in edges.items():
        around = loops[number].around
        while around >= 0:
            inside.setdefault(around, []).append(target)
            around = loops[around].around
    return {target: tuple(inside.get(number, ())) for target, number in edges.items()}
