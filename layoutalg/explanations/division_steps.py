"""The steps of ``complement``, the divides, the products and ``tile_to_shape``.

Invariant: a step of a complement is the complement of the modes so far; the steps of the others are operations.

>>> from layoutalg import explain
>>> print(*[step.formula for step in explain("complement((2,2):(1,6), 24)").steps[0].steps[1:]], sep="; ")
complement(2:1, 6) = 3:2; complement((2,2):(1,6), 24) = (3,2):(2,12)
"""

from __future__ import annotations

from typing import Any

from layoutalg.algebra.divide import unpack, zip_modes
from layoutalg.algebra.make import make_ordered_layout
from layoutalg.algebra.products import logical_product
from layoutalg.explanations.step import Board, NotExplainedError, by_mode, need_numbers, through_inner
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.flat import filtered, from_flat, merge
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import modes_of, size
from layoutalg.tuples.int_tuple import flatten_tuple, product

#: The top-level modes that each divide and product replaces by their sub-modes.
_UNPACKED: dict[str, tuple[int, ...]] = {"zipped": (), "tiled": (1,), "flat": (0, 1)}
_FORMS = {
    "zipped": "Collect the {first} of all modes in mode 0, and the rest in mode 1.",
    "tiled": "Collect the {first} of all modes in mode 0; the modes of the rest follow at the top level.",
    "flat": "Put all modes at the top level, first those of the {first}.",
}


def explain_complement(board: Board, layout: Any, cotarget: Any = 1) -> Layout:
    """Explain :func:`layoutalg.complement`."""
    need_numbers(layout)
    target = size(cotarget) if isinstance(cotarget, Layout) else product(cotarget)
    if type(target) is not int or target < 1:
        raise NotExplainedError
    extents, strides = filtered(layout)
    modes = sorted(zip(strides, extents, strict=True))
    if modes and modes[0][0] < 0:
        board.fail("Offsets below 0 have no complement: a stride is negative.", f"{modes[0][0]} >= 0")
    ordered = from_flat([s for _, s in modes], [d for d, _ in modes])
    if ordered != layout and modes:
        sentence = "Sort the modes by stride; join neighbors and leave out those of stride 0 and of extent 1."
        board.write(sentence, "offsets", (layout,), ordered)
    counts: list[int] = []
    steps: list[int] = []
    period = 1
    compact = all(
        d == size(from_flat([n for _, n in modes[:number]], [1] * number)) for number, (d, _) in enumerate(modes)
    )
    if compact and modes:
        board.write(
            f"The offsets of A are 0 to {size(ordered) - 1} without a gap.", "cosize", (ordered,), size(ordered)
        )
    for number, (d, s) in enumerate(modes):
        below = from_flat([n for _, n in modes[:number]], [step for step, _ in modes[:number]])
        if d < period:
            _fail_overlap(board, modes[: number + 1], period)
        if d == period and not compact:
            why = f"its stride is {period}, where the modes below it end" if number else "its stride is 1"
            board.write(f"The mode {s}:{d} leaves no gap: {why}.")
        elif d != period:
            copies = d // period
            counts.append(copies)
            steps.append(period)
            used = "the offset 0" if period == 1 else f"offsets below {period}"
            left = f", which leaves {_plural(d % period, 'offset')} unused" if d % period else ""
            sentence = f"The modes so far use {used}. That fits {_times(copies)} below {d}, the stride of {s}:{d}{left}"
            result = from_flat(*merge(tuple(counts), tuple(steps)))
            added = f"add {copies}:{period}" if copies > 1 else "no mode is added"
            board.write(f"{sentence}: {added}.", "complement", (below, copies * period), result)
        period = d * s
    count = -(-target // period)
    result = from_flat(*merge((*counts, count), (*steps, period)))
    if count == 1:
        sentence = f"One period of {_plural(period, 'offset')} covers {target}, so no mode is added above."
    else:
        sentence = (
            f"One period has {_plural(period, 'offset')}, and {count} of them cover {target}: add {count}:{period}."
        )
    return board.write(sentence, "complement", (layout, target), result)  # type: ignore[no-any-return]


def _plural(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _fail_overlap(board: Board, modes: list[tuple[int, int]], period: int) -> None:
    """Write the step of a stride that is less than the period of the modes below it."""
    d, s = modes[-1]
    below = from_flat([n for _, n in modes[:-1]], [step for step, _ in modes[:-1]])
    board.fail(
        f"The stride of {s}:{d} is inside the period of the modes below it, {below}, which ends at {period}.",
        f"{d} >= {period}",
    )


def explain_logical_divide(board: Board, target: Any, tiler: Any) -> Any:
    """Explain :func:`layoutalg.logical_divide`."""
    if isinstance(target, ComposedLayout):
        return through_inner(board, "logical_divide", target, tiler)
    need_numbers(target)
    if type(tiler) is tuple:
        return by_mode(board, "logical_divide", target, tiler)
    if tiler is None:
        return target
    tile = _tile(board, tiler)
    total = board.write("Count the elements of A.", "size", (target,), size(target))
    rest = board.call("complement", tile, total)
    both = Layout((tile.shape, rest.shape), (tile.stride, rest.stride))
    board.write(
        "Join the two: mode 0 moves inside a tile, mode 1 from tile to tile.", "make_layout", (tile, rest), both
    )
    counts = f"{size(tile)} * {size(rest)} = {total}"
    if size(tile) * size(rest) != total:
        elements = f"{size(tile)} * {size(rest)} = {size(tile) * size(rest)}"
        board.fail(f"Whole tiles have {elements} elements, but A has {total}.", counts)
    if cosize(both) != total:
        board.fail(
            f"The tiles leave indices of A out: their {total} indices reach up to {cosize(both) - 1}.",
            f"{cosize(both)} = {total}",
        )
    board.write("The tiles have exactly the elements of A.", condition=counts)
    return board.call("composition", target, both)


def explain_divide(form: str) -> Any:
    """Return the explanation of ``zipped_divide``, ``tiled_divide`` or ``flat_divide``."""
    return _rearranged("logical_divide", f"{form}_divide", form, "tiles")


def explain_product(form: str) -> Any:
    """Return the explanation of ``zipped_product``, ``tiled_product`` or ``flat_product``."""
    return _rearranged("logical_product", f"{form}_product", form, "blocks")


def _rearranged(logical: str, operation: str, form: str, first: str) -> Any:
    def explain(board: Board, layout: Any, tiler: Any) -> Any:
        if isinstance(layout, ComposedLayout):
            return through_inner(board, operation, layout, tiler)
        pairs = board.call(logical, layout, tiler)
        zipped = board.refused(zip_modes, pairs, tiler, operation)
        modes = _UNPACKED[form]
        result = unpack(zipped, *modes) if modes else zipped
        return board.write(_FORMS[form].format(first=first), operation, (layout, tiler), result)

    return explain


def _tile(board: Board, tiler: Any) -> Layout:
    """Return a tiler as a layout.

    Raises:
        NotExplainedError: if it is neither a layout of integers nor a positive integer.
    """
    if isinstance(tiler, Layout):
        need_numbers(tiler)
        if not flatten_tuple(tiler.shape):
            raise NotExplainedError
        return tiler
    if type(tiler) is not int or tiler < 1:
        raise NotExplainedError
    board.write(f"The integer {tiler} stands for the layout {tiler}:1.")
    return Layout(tiler, 1)


def explain_logical_product(board: Board, block: Any, tiler: Any) -> Any:
    """Explain :func:`layoutalg.logical_product`."""
    if isinstance(block, ComposedLayout):
        return through_inner(board, "logical_product", block, tiler)
    need_numbers(block)
    if type(tiler) is tuple:
        return by_mode(board, "logical_product", block, tiler)
    if tiler is None:
        return block
    tile = _tile(board, tiler)
    copies = board.write(
        "The offsets of B number the copies. There are as many numbers as the cosize of B.",
        "cosize",
        (tile,),
        cosize(tile),
    )
    starts = board.call("complement", block, _reach(board, block, copies))
    placed = board.call("composition", starts, tile)
    result = Layout((block.shape, placed.shape), (block.stride, placed.stride))
    board.refused(logical_product, block, tile)  # copies may overlap if the strides of B have both signs
    return board.write("Mode 0 is the block, mode 1 the copies.", "logical_product", (block, tiler), result)


def _reach(board: Board, block: Layout, copies: int) -> int:
    """Explain how far the complement of a block must reach to have a start for each copy."""
    extents, strides = filtered(block)
    period, inside, filled = 1, 1, True
    for d, s in sorted(zip(strides, extents, strict=True)):
        if d < period:  # the complement refuses the block
            return size(block) * copies
        inside *= d // period
        filled = filled and d % period == 0
        period = d * s
    elements = size(block) * copies
    if filled:
        board.write(f"The copies need N = {elements} offsets.", condition=f"{copies} * {size(block)} = {elements}")
        return elements
    periods = -(-copies // inside)
    room = "1 copy" if inside == 1 else f"{inside} copies"
    board.write(
        f"A is padded: one period of {period} offsets has room for {room}, so the copies need N = {period * periods} "
        f"offsets, which are {_plural(periods, 'period')}.",
        condition=f"{periods} * {inside} = {periods * inside} >= {copies}",
    )
    return period * periods


def explain_blocked_product(board: Board, block: Any, tiler: Any) -> Any:
    """Explain :func:`layoutalg.blocked_product`."""
    if isinstance(block, ComposedLayout):
        return through_inner(board, "blocked_product", block, tiler)
    need_numbers(block, tiler)
    if type(block.shape) is not tuple and type(tiler.shape) is tuple and len(tiler.shape) == 1:
        pair = board.call("logical_product", block, tiler)
        result = Layout((pair.shape,), (pair.stride,))
    else:
        pair = _padded_product(board, block, tiler)
        result = _zipped(pair[0], pair[1])
    sentence = "Pair the modes of block and copies, the block first, so that each block stays together."
    return board.write(sentence, "blocked_product", (block, tiler), result)


def explain_raked_product(board: Board, block: Any, tiler: Any) -> Any:
    """Explain :func:`layoutalg.raked_product`."""
    if isinstance(block, ComposedLayout):
        return through_inner(board, "raked_product", block, tiler)
    need_numbers(block, tiler)
    pair = _padded_product(board, block, tiler)
    zipped = _zipped(pair[1], pair[0])
    merged = [_merged(mode) for mode in zipped]
    result = Layout(tuple([mode.shape for mode in merged]), tuple([mode.stride for mode in merged]))
    sentence = "Pair the modes of copies and block, the copies first, so that the blocks are interleaved."
    if result == zipped:
        return board.write(sentence, "raked_product", (block, tiler), result)
    board.write(f"{sentence} They are {zipped}.")
    return board.write("Coalesce each mode.", "raked_product", (block, tiler), result)


def _merged(mode: Layout) -> Layout:
    return from_flat(*merge(flatten_tuple(mode.shape), flatten_tuple(mode.stride)))


def _padded_product(board: Board, block: Layout, tiler: Layout) -> Layout:
    """Explain the logical product of a block and a tiler after both got the larger rank."""
    rank = max(len(block), len(tiler))
    padded = [_padded(layout, rank) for layout in (block, tiler)]
    for layout, with_rank in zip((block, tiler), padded, strict=True):
        if with_rank != layout:
            board.write(f"Append modes 1:0 up to rank {rank}.", "", (layout,), with_rank)
    return board.call("logical_product", *padded)  # type: ignore[no-any-return]


def _padded(layout: Layout, rank: int) -> Layout:
    if type(layout.shape) is tuple and len(layout.shape) == rank:
        return layout
    shape, stride = modes_of(layout.shape), modes_of(layout.stride)
    more = rank - len(shape)
    return Layout(shape + (1,) * more, stride + (0,) * more)


def _zipped(first: Layout, second: Layout) -> Layout:
    """Return the layout of the pairs of the modes of two layouts."""
    return Layout(
        tuple(zip(modes_of(first.shape), modes_of(second.shape), strict=True)),
        tuple(zip(modes_of(first.stride), modes_of(second.stride), strict=True)),
    )


def explain_tile_to_shape(board: Board, atom: Any, target_shape: Any, order: Any = None) -> Any:
    """Explain :func:`layoutalg.tile_to_shape`."""
    if isinstance(atom, ComposedLayout):
        return through_inner(board, "tile_to_shape", atom, target_shape, *([] if order is None else [order]))
    need_numbers(atom)
    extents = [product(mode) for mode in modes_of(target_shape)]
    if len(atom) > len(extents) or any(type(extent) is not int for extent in extents):
        raise NotExplainedError
    padded = _padded(atom, len(extents))
    parts = [product(part) for part in modes_of(padded.shape)]
    counts = tuple(extent // part for extent, part in zip(extents, parts, strict=True))
    for mode, (extent, part) in enumerate(zip(extents, parts, strict=True)):
        if extent % part:
            board.fail(f"The atom must divide mode {mode} of the shape.", f"{extent} mod {part} = 0")
    board.write(
        f"Count the atoms along each mode: {counts}.".replace(",)", ")"),
        condition=", ".join(
            f"{part} * {count} = {extent}" for part, count, extent in zip(parts, counts, extents, strict=True)
        ),
    )
    order = tuple(range(len(extents))) if order is None else order
    copies = board.write(
        "Number the atoms in the given order.",
        "make_ordered_layout",
        (counts, order),
        board.refused(make_ordered_layout, counts, order),
    )
    return board.call("blocked_product", atom if len(extents) == 1 else padded, copies)
