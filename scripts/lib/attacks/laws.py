"""The definition of each operation, by enumeration: what its result must be, for operands of :mod:`plain`.

A law takes the result and the operands, and raises :class:`Broken` with what is wrong. A refusal is judged only where
it is short to say when there is a result: :func:`needless`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from attacks.plain import Layout, ScaledBasis, at, image, innermost, leaves, mode, plus, rank, size

MOST = 4096  # indices that are looked at; operands are drawn smaller


class Broken(Exception):
    """A result that is not what the definition says."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(what)


def same_function(result: Any, layout: Any) -> None:
    need(size(result) == size(layout), f"size {size(result)} instead of {size(layout)}")
    for i in range(min(size(layout), MOST)):
        need(at(result, i) == at(layout, i), f"index {i} has {at(result, i)} instead of {at(layout, i)}")


def coalesce(result: Layout, layout: Layout, target_profile: Any = None) -> None:
    same_function(result, layout)
    if target_profile is None:
        modes = result.modes
        need(size(layout) == 1 or all(n != 1 for n, _ in modes), "a mode of extent 1 is left")
        for (n, d), (_, e) in pairwise(modes):
            need(at(Layout(n + 1, d), n) != at(Layout(2, e), 1), "two modes are left that could be one")
    else:
        need(rank(result) == rank(layout), "a profile must keep the modes that it names")


def filters(result: Layout, layout: Layout, target_profile: Any = None) -> None:
    need({str(x) for x in image(result)} == {str(x) for x in image(layout)}, "another image")
    need(size(result) == 1 or not any(n > 1 and zero(d) for n, d in result.modes), "a mode of stride 0 is left")


def join(parts: list[Layout]) -> Layout:
    return Layout(tuple(part.shape for part in parts), tuple(part.stride for part in parts))


def zero(stride: Any) -> bool:
    return (stride.value if isinstance(stride, ScaledBasis) else stride) == 0


def composition(result: Any, a: Any, b: Any) -> None:
    if isinstance(b, tuple):
        need(rank(result) == len(b), f"{rank(result)} modes instead of {len(b)}")
        for i, tiler in enumerate(b):
            composition(mode(result, i), mode(a, i), mode(a, i).shape if tiler is None else tiler)
        return
    b = Layout(b, 1) if isinstance(b, int) else b
    need(size(result) == size(b), f"size {size(result)} instead of {size(b)}")
    need(refines(result.shape, b.shape), f"the shape {result.shape} must refine {b.shape}")
    for i in range(min(size(b), MOST)):
        right = at(a, at(b, i))
        need(at(result, i) == right, f"R({i}) is {at(result, i)}, a(b({i})) is {right}")


def refines(fine: Any, coarse: Any) -> bool:
    """Whether a shape has the hierarchy of another, its leaves replaced by modes of the same size."""
    if not isinstance(coarse, tuple):
        return bool(size(fine) == coarse)
    return isinstance(fine, tuple) and len(fine) == len(coarse) and all(map(refines, fine, coarse))


def right_inverse(result: Any, layout: Any) -> None:
    paths = axes_of(layout)
    for i in range(min(size(result), MOST)):
        where = coordinate(i, result.shape, paths) if paths else i
        need(at(layout, at(result, i)) == where, f"A(R({where})) is {at(layout, at(result, i))}")
    if paths:
        return
    strides = [d for _, d in _merged(layout)] if isinstance(layout, Layout) else []
    if strides and len(set(strides)) == len(strides):  # of two modes with one stride the first counts, as in CuTe
        longest = _longest(_merged(layout), 1)
        need(size(result) >= longest, f"size {size(result)}, but the modes continue one another up to {longest}")


def _merged(layout: Layout) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for n, d in layout.modes:
        if merged and merged[-1][0] * merged[-1][1] == d and n > 1:
            merged[-1] = (merged[-1][0] * n, merged[-1][1])
        elif n > 1:
            merged.append((n, d))
    return merged


def _longest(modes: list[tuple[int, int]], offset: int) -> int:
    chains = [_longest(modes[:i] + modes[i + 1 :], offset * n) for i, (n, d) in enumerate(modes) if d == offset]
    return max(chains, default=offset)


def axes_of(layout: Any) -> set[tuple[int, ...]]:
    """The modes of the coordinate that the basis strides of a layout name."""
    plain = layout if isinstance(layout, Layout) else Layout(1, 0)
    return {d.path for _, d in plain.modes if isinstance(d, ScaledBasis)}


def coordinate(index: int, shape: Any, paths: set[tuple[int, ...]], path: tuple[int, ...] = ()) -> Any:
    """The coordinate of an index in a shape whose modes at these paths are one number each."""
    if path in paths or not isinstance(shape, tuple):
        return {path: index} if index else 0
    total: Any = 0
    for i, part in enumerate(shape):
        total = plus(total, coordinate(index % size(part), part, paths, (*path, i)))
        index //= size(part)
    return total


def left_inverse(result: Any, layout: Any, *, strict: bool = False) -> None:
    """Each offset gets one of its indices back: that of the offset, where no other index has it."""
    first = image(layout) if size(layout) <= MOST else [at(layout, i) for i in range(MOST)]
    injective = len({str(offset) for offset in first}) == len(first)
    need(injective or not strict, "an inverse of a layout that is not injective")
    for i, offset in enumerate(first):
        back = at(result, offset)
        need(back == i if injective else at(layout, back) == offset, f"R(A({i})) is {back}")


def nullspace(result: Layout, layout: Layout) -> None:
    count = size(tuple(n for n, d in layout.modes if zero(d)))
    need(size(result) == count, f"size {size(result)} instead of {count}")
    need(len(set(image(result))) == count, "an index occurs twice")
    need(all(at(layout, i) == 0 for i in image(result)), "an index that does not map to 0")


def common(result: Layout, a: Any, b: Any) -> None:
    for i in range(min(size(result), MOST)):
        index = at(result, i)
        need(index < min(size(a), size(b)) and at(a, index) == i == at(b, index), f"offset {i} is elsewhere")
    vector(size(result), a, b)


def vector(length: int, a: Any, b: Any) -> None:
    total = min(size(a), size(b))
    if total > MOST:
        return
    left = Counter((at(a, i), at(b, i)) for i in range(total))
    need(length == 1 or (0, 0) in left, "the first run must begin at offset 0 of both")
    for x, y in sorted(left):  # the lowest element that is left begins a run
        copies = left[x, y]
        for step in range(length if copies else 0):
            left[x + step, y + step] -= copies
            need(left[x + step, y + step] >= 0, f"the run from offsets {x} and {y} ends after {step} elements")


def ordered(result: Layout, shape: Any, order: Any) -> None:
    need(result.shape == shape and sorted(image(result)) == list(range(size(shape))), "the result must be compact")
    if isinstance(order, tuple) and all(isinstance(part, int) for part in leaves(order)):
        tops = [(key, min((d for n, d in mode(result, i).modes if n > 1), default=0)) for i, key in enumerate(order)]
        steps = [d for _, d in sorted(tops, key=lambda pair: pair[0]) if d]
        need(len(set(order)) < len(order) or steps == sorted(steps), "strides must grow with the order")


def like_another(result: Layout, imitated: Any) -> None:
    layout = innermost(imitated)
    for (n, d), (m, e) in zip(result.modes, layout.modes, strict=True):
        need(n == m and (n == 1 or (d == 0) == (e == 0)), "a stride of 0 must stay, and no other be 0")
    moving = [pair for pair in result.modes if pair[1]]
    real = Layout(tuple(n for n, _ in moving), tuple(d for _, d in moving))
    need(sorted(image(real)) == list(range(size(real))), "the result must be compact")


def identity(result: Layout, shape: Any) -> None:
    same_function(result, _coordinates(shape, ()))


def _coordinates(shape: Any, path: tuple[int, ...]) -> Layout:
    if not isinstance(shape, tuple):
        return Layout(shape, ScaledBasis(1, path) if path else 1)
    return join([_coordinates(part, (*path, i)) for i, part in enumerate(shape)])


def recast(result: Any, new_bits: int, old_bits: int, layout: Any) -> None:
    """The bits that an element has, seen in the other unit: the same set of bits where whole units are full."""
    if new_bits == old_bits:
        same_function(result, layout)
        return
    old = {at(layout, i) for i in range(size(layout))}
    new = {at(result, i) for i in range(size(result))}
    modes = innermost(layout).modes
    contiguous = sum(d == 1 and n > 1 for n, d in modes)
    if new_bits % old_bits == 0:
        n = new_bits // old_bits
        need(new == {x // n for x in old}, f"units {sorted(new)[:12]} instead of {sorted({x // n for x in old})[:12]}")
    elif old_bits % new_bits == 0 and (contiguous or all(d != 1 for _, d in modes)):
        n = old_bits // new_bits
        right = {x * n + p for x in old for p in range(n if contiguous else 1)}
        need(new == right, f"parts {sorted(new)[:12]} instead of {sorted(right)[:12]}")


def upcast(result: Any, layout: Any, n: int) -> None:
    recast(result, n, 1, layout)


def downcast(result: Any, layout: Any, n: int) -> None:
    recast(result, 1, n, layout)


def slices(result: Any, coord: Any, layout: Any) -> None:
    """The kept modes and the offset give what the layout has at the whole coordinate."""
    rest, offset = result
    kept = [extent for extent, part in _spread(coord, layout.shape) if part is None]
    need(size(rest) == size(tuple(kept)), f"{size(rest)} elements instead of {size(tuple(kept))}")
    for i in range(min(size(rest), MOST)):
        right = at(layout, _index(coord, layout.shape, [i])[0])
        place = plus(offset, at(rest, i))
        need(place == right, f"element {i} is at {place} instead of {right}")


def _spread(coord: Any, shape: Any) -> list[tuple[Any, Any]]:
    if isinstance(coord, tuple):
        return [pair for part, inner in zip(coord, shape, strict=True) for pair in _spread(part, inner)]
    return [(shape, coord)]


def _index(coord: Any, shape: Any, free: list[int]) -> tuple[int, int]:
    """The index of a coordinate whose kept modes take their digits from ``free[0]``, and the size of its shape."""
    if isinstance(coord, tuple):
        index, step = 0, 1
        for part, inner in zip(coord, shape, strict=True):
            inner_index, extent = _index(part, inner, free)
            index, step = index + inner_index * step, step * extent
        return index, step
    extent = size(shape)
    if coord is not None:
        return coord, extent
    free[0], digit = divmod(free[0], extent)
    return digit, extent


def grouped(result: Any, layout: Any, *_: Any) -> None:
    same_function(result, layout)


def sizes(result: int, layout: Any) -> None:
    need(result == size(layout), f"{result} instead of {size(layout)}")


def cosizes(result: int, layout: Any) -> None:
    reached = [0, *image(layout)]
    if all(isinstance(x, int) for x in reached):
        right = max(reached) - min(reached) + 1
        need(result == right, f"{result} instead of {right}")


def selected(result: Layout, layout: Layout, modes: Any) -> None:
    need(rank(result) == len(modes), f"{rank(result)} modes instead of {len(modes)}")
    for i, m in enumerate(modes):
        same_function(mode(result, i), mode(layout, m))


def extended(front: bool) -> Callable[..., None]:
    def law(result: Layout, layout: Layout, added: Layout) -> None:
        tops = [mode(layout, i) for i in range(rank(layout))]
        same_function(result, join([added, *tops] if front else [*tops, added]))

    return law


def thread_values(result: Any, threads: Layout, values: Layout) -> None:
    """Thread t's value v is the element whose place among threads has number t, and its place within them number v."""
    tiler, values_layout = result
    parts = [[size(mode(one, i)) if i < rank(one) else 1 for i in range(len(tiler))] for one in (threads, values)]
    need(list(tiler) == [t * v for t, v in zip(*parts, strict=True)], f"another tile: {tiler}")
    count = size(threads)
    need(
        size(values_layout) == count * size(values), f"{size(values_layout)} elements instead of {count * size(values)}"
    )
    for i in range(min(size(values_layout), MOST)):
        rest, thread, value, t_step, v_step = at(values_layout, i), 0, 0, 1, 1
        for t_extent, v_extent in zip(*parts, strict=True):
            rest, place = divmod(rest, t_extent * v_extent)
            thread, value = thread + place // v_extent * t_step, value + place % v_extent * v_step
            t_step, v_step = t_step * t_extent, v_step * v_extent
        number = at(threads, thread) + count * at(values, value)
        need(rest == 0 and number == i, f"index {i} has element {at(values_layout, i)}, which is number {number}")
