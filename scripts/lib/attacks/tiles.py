"""The definitions of what tiles and fills: complements, divides and products, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product as every
from typing import Any

from attacks.laws import axes_of, join, need, same_function, zero
from attacks.plain import Layout, at, image, mode, plus, rank, size


def injective(layout: Layout) -> bool:
    """Whether no two indices share an offset, but for modes of stride 0."""
    real = [(n, d) for n, d in layout.modes if not zero(d)]
    offsets = image(Layout(tuple(n for n, _ in real), tuple(d for _, d in real)))
    return len({str(x) for x in offsets}) == len(offsets)


def filled(layout: Layout, count: int) -> list[int] | None:
    """The first places, ``count`` of them, for copies of a layout; None if there is no room for one.

    Where copies fill an interval each is the lowest offset that is still free, which leaves no choice. Where none do,
    as the steps are padded, they are those between the steps, period after period.
    """
    room = _room(layout)
    return None if room is None else [room[0][i % len(room[0])] + i // len(room[0]) * room[1] for i in range(count)]


def _room(layout: Layout) -> tuple[list[int], int] | None:
    """The places of copies in one period, and the period."""
    block = {x for x in image(layout) if isinstance(x, int)}
    if min(block) < 0:
        return None
    period = _period(block)
    if period is not None:
        return _places(block, period), period
    places, period = [0], 1
    for d, n in sorted((d, n) for n, d in layout.modes if n > 1 and not zero(d)):
        if not isinstance(d, int) or d < period:
            return None
        places = [place + i * period for i in range(d // period) for place in places]
        period = d * n
    copies = [place + x for place in places for x in sorted(block)]
    need(len(set(copies)) == len(copies), "two copies between the steps overlap")
    return places, period


def _period(block: set[int]) -> int | None:
    """The shortest interval that copies fill: every other one is a whole number of it."""
    covered: set[int] = set()
    for start in range(2 * max(block) + 3):
        if covered and len(covered) == start and max(covered) == start - 1:
            return start
        if start not in covered:
            copy = {start + x for x in block}
            if copy & covered:
                return None
            covered |= copy
    return None


def _places(block: set[int], period: int) -> list[int]:
    places, covered = [], set()
    for start in range(period):
        if start not in covered:
            places.append(start)
            covered |= {start + x for x in block}
    return places


def on_axes(layout: Layout) -> bool:
    return bool(axes_of(layout))


def apart(block: Layout, copies: list[Any]) -> None:
    """No two different copies of a block share a coordinate."""
    owner: dict[str, tuple[str, int]] = {}
    for start in copies:
        for x, element in enumerate(image(block)):
            mine = (str(start), x)
            need(
                owner.setdefault(str(plus(start, element)), mine)[0] == mine[0],
                f"two copies share {plus(start, element)}",
            )


def complement(result: Layout, layout: Layout, cotarget: Any = 1) -> None:
    if on_axes(layout):
        copies = image(result)
        need(len({str(start) for start in copies}) == len(copies), "a copy occurs twice")
        apart(layout, copies)
        return
    room = _room(layout) if injective(layout) else None
    need(room is not None, "nothing fits into the gaps of this layout")
    assert room is not None
    places = filled(layout, -(-size(cotarget) // room[1]) * len(room[0]))
    need(image(result) == places, f"the copies start at {image(result)[:20]} instead of {(places or [])[:20]}")


def tile_of(tiler: Any) -> Layout:
    return Layout(tiler, 1) if isinstance(tiler, int) else tiler


def by_mode(
    judge: Callable[[Layout, Layout, Any], None], result: Layout, whole: Layout, tiler: tuple[Any, ...]
) -> None:
    """Each mode by its own tiler; one without a tiler stays as it is."""
    for i in range(rank(whole)):
        part = tiler[i] if i < len(tiler) else None
        if part is None:
            same_function(mode(result, i), mode(whole, i))
        else:
            judge(mode(result, i), mode(whole, i), part)


def divide(result: Layout, target: Layout, tiler: Any) -> None:
    """The tile comes first, in the order of the tiler; then the other tiles, so that each element occurs once."""
    if isinstance(tiler, tuple):
        by_mode(divide, result, target, tiler)
        return
    tile = tile_of(tiler)
    need(size(result) == size(target), f"size {size(result)} instead of {size(target)}")
    for i in range(size(tile)):
        need(at(result, i) == at(target, at(tile, i)), f"element {i} of the tile is at {at(result, i)}")
    need(Counter(map(str, image(result))) == Counter(map(str, image(target))), "not each element once")


def product(result: Layout, block: Layout, tiler: Any) -> None:
    """The block comes first; copy j starts at the place, of those that fill an interval, that the tiler has at j."""
    if isinstance(tiler, tuple):
        by_mode(product, result, block, tiler)
        return
    tile = tile_of(tiler)
    if on_axes(block):
        whole = image(result)
        need(whole[: size(block)] == image(block), "the block does not come first")
        copies = whole[:: size(block)]
        apart(block, copies)
        need(len({str(start) for start in copies}) == len({str(x) for x in image(tile)}), "two copies are one")
        return
    right = [start + at(block, i) for start in _starts(block, tile) for i in range(size(block))]
    need(image(result) == right, f"the elements are {image(result)[:20]} instead of {right[:20]}")
    if injective(tile) and injective(block):
        distinct = size(tuple(n for one in (tile, block) for n, d in one.modes if not zero(d)))
        need(len(set(right)) == distinct, "two copies overlap")


def _starts(block: Layout, tile: Layout) -> list[int]:
    need(injective(block), "the block reaches an offset twice, so that there are no copies")
    reached = image(tile)
    places = filled(block, max(map(abs, reached)) + 1)
    need(places is not None, "the block leaves no room for copies")
    assert places is not None
    return [places[x] if x >= 0 else -places[-x] for x in reached]


def regrouped(pairs: Callable[..., None], kind: str) -> Callable[..., None]:
    """The law of a zipped, tiled or flat operation: its parts, put back into pairs, are the logical one's."""

    def law(result: Layout, first: Layout, tiler: Any) -> None:
        if not isinstance(tiler, tuple):
            pairs(result, first, tiler)  # the same function of the index
            return
        count, more = len(tiler), rank(first) - len(tiler)
        modes = _flat_modes(result, kind, count)
        need(len(modes) == 2 * count + more, f"{len(modes)} parts instead of {2 * count + more}")
        zipped = [join([modes[i], modes[count + i]]) for i in range(count)] + modes[2 * count :]
        pairs(join(zipped), first, tiler)

    return law


def _flat_modes(result: Layout, kind: str, count: int) -> list[Layout]:
    tops = [mode(result, i) for i in range(rank(result))]
    if kind == "flat":
        return tops
    insides = [mode(tops[0], i) for i in range(rank(tops[0]))]
    return insides + (tops[1:] if kind == "tiled" else [mode(tops[1], i) for i in range(rank(tops[1]))])


def _padded(layout: Layout, count: int) -> list[Layout]:
    modes = [mode(layout, i) for i in range(rank(layout))]
    return modes + [Layout(1, 0)] * (count - len(modes))


def side_by_side(raked: bool) -> Callable[..., None]:
    """Mode i of a blocked product is (block i, copies i), of a raked one (copies i, block i)."""

    def law(result: Layout, block: Layout, tiler: Layout) -> None:
        count = max(rank(block), rank(tiler))
        blocks, tilers = _padded(block, count), _padded(tiler, count)
        if on_axes(block):
            need(size(result) == size(block) * size(tiler), "not as many elements as the copies have")
            return
        starts = _starts(block, tiler)
        need(rank(result) == count, f"{rank(result)} modes instead of {count}")
        for where in every(*(range(size(b) * size(t)) for b, t in zip(blocks, tilers, strict=True))):
            inside = outside = 0
            steps, copies = 0, 1
            for w, b, t in zip(where, blocks, tilers, strict=True):
                i, j = (w // size(t), w % size(t)) if raked else (w % size(b), w // size(b))
                inside, steps, copies = inside + at(b, i), steps + j * copies, copies * size(t)
            outside = starts[steps]
            value = sum(at(mode(result, m), w) for m, w in enumerate(where))
            need(value == inside + outside, f"coordinate {where} has {value} instead of {inside + outside}")

    return law


def tile_to_shape(result: Layout, atom: Layout, target_shape: Any, order: Any = None) -> None:
    extents = [size(part) for part in target_shape] if isinstance(target_shape, tuple) else [size(target_shape)]
    atoms = _padded(atom, len(extents))
    need([size(mode(result, i)) for i in range(rank(result))] == extents, "another shape")
    ranks = list(range(len(extents))) if order is None else list(order)
    counts = [n // size(part) for n, part in zip(extents, atoms, strict=True)]
    strides, step = [0] * len(extents), 1
    for i in sorted(range(len(extents)), key=lambda i: (ranks[i], i)):
        strides[i], step = step, step * counts[i]
    side_by_side(False)(result, atom, Layout(tuple(counts), tuple(strides)))
