"""The steps of ``right_inverse``, ``left_inverse`` and ``nullspace``.

Invariant: A composed with the modes of the right inverse so far is the identity.

>>> from layoutalg import explain
>>> print(*[step.formula for step in explain("right_inverse((4,8):(8,1))").steps[0].steps[:2]], sep="; ")
composition((4,8):(8,1), 8:4) = 8:1; composition((4,8):(8,1), (8,4):(4,1)) = (8,4):(1,8)
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from layoutalg.algebra.inverse import left_inverse, right_inverse
from layoutalg.explanations.step import Board, NotExplainedError, listed, need_numbers
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.tuples.int_tuple import flatten_tuple

#: Extent, stride and the distance of two neighboring indices of a mode.
_Mode = tuple[int, int, int]


def explain_right_inverse(board: Board, layout: Any) -> Any:
    """Explain :func:`layoutalg.right_inverse`."""
    if isinstance(layout, ComposedLayout):
        return _swizzled(board, "right_inverse", layout)
    modes = _modes(board, layout)
    by_stride: dict[int, _Mode] = {}
    for mode in modes:
        by_stride.setdefault(mode[1], mode)
    extents: list[int] = []
    strides: list[int] = []
    offset = 1
    while offset in by_stride:
        s, d, index = by_stride[offset]
        extents.append(s)
        strides.append(index)
        offset *= s
        inverse = from_flat(*merge(tuple(extents), tuple(strides)))
        board.write(
            f"Stride {d} is that of {s}:{d}, whose elements are {index} apart in the index: add {s}:{index}. The next "
            f"stride needed is {d} * {s} = {offset}.",
            "composition",
            (layout, inverse),
            Layout(inverse.shape),
        )
    result = from_flat(*merge(tuple(extents), tuple(strides)))
    return board.write(f"No mode has stride {offset}, so the inverse ends here.", "right_inverse", (layout,), result)


def explain_left_inverse(board: Board, layout: Any) -> Any:
    """Explain :func:`layoutalg.left_inverse`."""
    if isinstance(layout, ComposedLayout):
        return _swizzled(board, "left_inverse", layout)
    all_modes = _modes(board, layout)
    modes = sorted([mode for mode in all_modes if mode[1] != 0], key=lambda mode: (mode[1], mode[2]))
    if any(s > 1 and d == 0 for s, d, _ in all_modes):
        board.write("A mode of stride 0 does not move the offset: R returns coordinate 0 in it.")
    if modes and modes[0][1] < 0:
        board.fail("A negative stride has no inverse of this form.", f"{modes[0][1]} >= 0")
    if len(modes) > 1:
        board.write(f"Take the modes in the order of their strides: {listed([f'{s}:{d}' for s, d, _ in modes])}.")
    extents: list[int] = []
    strides: list[int] = []
    stride, count, index = 1, 1, 0
    overlap = False
    for s, d, weight in modes:
        if d % stride:
            board.fail(
                f"Stride {d} is not a multiple of {stride}, the stride below it.",
                f"{d} mod {stride} = {d % stride} = 0",
            )
        overlap = overlap or d < stride * count
        if d // stride > 1:
            extents.append(d // stride)
            strides.append(index)
            sentence = f"From stride {stride} to stride {d} there are {d} / {stride} = {d // stride} steps"
            sentence += f", each of which moves the index by {index}"
            sentence = sentence if index else f"A has no offset between 0 and {d}"
            board.write(f"{sentence}: add {d // stride}:{index}.")
        stride, count, index = d, s, weight
    if overlap:
        _explain_digits(board, layout, modes)
    extents.append(count)
    strides.append(index)
    result = from_flat(*merge(tuple(extents), tuple(strides)))
    sentence = f"The largest stride, {stride}, has {count} coordinates, whose elements are {index} apart in the index: "
    sentence = sentence + f"add {count}:{index}." if modes else "A has offset 0 only, and R returns index 0 for it."
    return board.write(sentence, "left_inverse", (layout,), result)


def _explain_digits(board: Board, layout: Layout, modes: list[_Mode]) -> None:
    """Explain whether the digits of each offset are coordinates of overlapping modes, which are sorted by stride.

    The last mode of the layout has no bound, because the layout extends beyond it; see :func:`layoutalg.left_inverse`.
    """
    board.write("The modes overlap, so an offset is split into digits, with the largest stride first.")
    last_extent, last_stride = flatten_tuple(layout.shape)[-1], flatten_tuple(layout.stride)[-1]
    reach = 0
    for (s, d, index), above in zip_longest(modes, [stride for _, stride, _ in modes[1:]]):
        reach += (s - 1) * d
        digit = reach // d if above is None else min(reach // d, above // d - 1)
        extends = index * s == size(layout) and (last_extent != 1 or last_stride == s * d)
        if not extends:
            sentence = f"The largest digit of stride {d} is {digit}, and the mode {s}:{d} has {s} coordinates."
            if digit >= s:
                board.fail(sentence, f"{digit} < {s}")
            board.write(sentence, condition=f"{digit} < {s}")


def explain_nullspace(board: Board, layout: Any) -> Any:
    """Explain :func:`layoutalg.nullspace`."""
    need_numbers(layout)
    zeros = []
    index = 1
    for s, d in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True):
        if d == 0:
            zeros.append((s, index))
        index *= s
    names = listed([f"{s}:0 with indices {step} apart" for s, step in zeros])
    sentence = f"The modes of stride 0 are {names}." if zeros else "No mode has stride 0."
    result = from_flat([s for s, _ in zeros], [step for _, step in zeros])
    return board.write(sentence, "nullspace", (layout,), result)


def _modes(board: Board, layout: Any) -> list[_Mode]:
    """Explain the coalesced modes of a layout and where their elements are in the index."""
    need_numbers(layout)
    if not flatten_tuple(layout.shape):
        raise NotExplainedError
    extents, strides = merge(flatten_tuple(layout.shape), flatten_tuple(layout.stride))
    flat = from_flat(extents, strides)
    if flat != layout:
        board.call("coalesce", layout)
    modes = []
    index = 1
    for s, d in zip(extents, strides, strict=True):
        modes.append((s, d, index))
        index *= s
    return modes


def _swizzled(board: Board, operation: str, layout: ComposedLayout) -> Any:
    """Explain the inverse of a swizzle after a layout, with the inverse of the layout."""
    operate = right_inverse if operation == "right_inverse" else left_inverse
    result = board.refused(operate, layout)
    board.call(operation, layout.inner)
    sentence = "A swizzle is its own inverse, so the inverse of S o L is the inverse of L after S."
    return board.write(sentence, operation, (layout,), result)
