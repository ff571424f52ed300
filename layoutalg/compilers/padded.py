"""Triton's padded encoding of shared memory: after every so many elements, some that hold nothing.

The bit of an offset that counts ``2**i`` elements counts besides ``2**i / interval`` paddings of each interval that is
not larger. As no padding is there in between, the bits add up, and the layout is a plain one.
Source: Triton ``python/triton/experimental/gluon/language/_layouts.py`` (PaddedSharedLayout), whose tables the tests
compare with.

>>> from layoutalg.compilers.syntax import Reader
>>> text = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>"
>>> print(*padded(Reader(text).value(), (32, 64)))
(32,64):(72,1) 2304
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutalg.compilers.syntax import Fields, Node, is_power
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout


def padded(node: Node, shape: Sequence[int]) -> tuple[Layout, int]:
    """The layout, coordinates to offsets in elements, and where what comes next may begin.

    Raises:
        NotationError: if a field is missing or cannot be honoured; the message names it.
    """
    fields = Fields(node, "intervals order shape offset block CGALayout")
    pairs = fields.get("intervals", next(iter(node.items), None))
    if type(pairs) is not tuple or not pairs or not all(type(one) is tuple and len(one) == 2 for one in pairs):
        fields.refuse("there must be intervals with their paddings, [64:+8]", pairs)
    if not all(is_power(number) for pair in pairs for number in pair):
        fields.refuse("intervals and paddings must be powers of two", pairs)
    if "shape" in node.fields and fields.numbers("shape") != tuple(shape):
        fields.refuse(f"the tensor must be {'x'.join(map(str, fields.numbers('shape')))}", "x".join(map(str, shape)))
    if any(any(row) for name in ("block", "CGALayout") for row in fields.bases(name, len(shape))):
        fields.refuse("the layout must be of one thread block", "bases of several")
    if any(not is_power(extent) for extent in shape):
        fields.refuse("extents must be powers of two", list(shape))
    strides: list[dict[int, int]] = [{} for _ in shape]
    bases = fields.bases("offset", len(shape)) or _identity(fields, shape)
    for bit, row in enumerate(bases):
        moved = [dim for dim, part in enumerate(row) if part]
        if len(moved) != 1 or not is_power(row[moved[0]]) or row[moved[0]] in strides[moved[0]]:
            fields.refuse("each offset basis must be one power of two along one dimension, each once", list(row))
        place = 1 << bit
        strides[moved[0]][row[moved[0]]] = place + sum(place // interval * padding for interval, padding in pairs)
    for dim, extent in enumerate(shape):
        if sorted(strides[dim]) != [1 << bit for bit in range(extent.bit_length() - 1)]:
            fields.refuse(f"the tensor must have {1 << len(strides[dim])} elements along dimension {dim}", extent)
    modes = [from_flat(*merge((2,) * len(one), tuple(one[step] for step in sorted(one)))) for one in strides]
    whole = 1 << len(bases)
    return (
        Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes)),
        whole + sum(whole // interval * padding for interval, padding in pairs),
    )


def _identity(fields: Fields, shape: Sequence[int]) -> list[tuple[int, ...]]:
    """The bases of a tensor whose dimensions follow one another in an order."""
    order = fields.order()
    if len(order) != len(shape):
        fields.refuse(f"order must have {len(shape)} dimensions", list(order))
    return [
        tuple(1 << bit if dim == fast else 0 for dim in range(len(shape)))
        for fast in order
        for bit in range(shape[fast].bit_length() - 1)
    ]
