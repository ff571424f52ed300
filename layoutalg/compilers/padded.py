"""Triton's padded encoding of shared memory, which adds unused elements after regular intervals.

Bit i of an offset counts ``2**i`` elements and ``2**i // interval`` paddings of each interval. The contributions of the
bits add up, so that the layout is a plain one.

Source: Triton ``python/triton/experimental/gluon/language/_layouts.py`` (PaddedSharedLayout). The tests compare with
its tables.

>>> from layoutalg.compilers.syntax import Reader
>>> text = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>"
>>> print(*padded(Reader(text).value(), (32, 64)))
(32,64):(72,1) 2304
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutalg.compilers.syntax import Fields, Node, extents_text, field_text, is_power
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout


def padded(node: Node, shape: Sequence[int]) -> tuple[Layout, int]:
    """Return the layout, coordinates to offsets in elements, and the first offset after the tensor.

    Raises:
        NotationError: if a field is missing or not supported; the message contains its name.
    """
    fields = Fields(node, "intervals order shape offset block CGALayout")
    pairs = fields.get("intervals", next(iter(node.items), None))
    if type(pairs) is not tuple or not pairs or not all(type(pair) is tuple and len(pair) == 2 for pair in pairs):
        fields.refuse(f"{field_text(pairs)} are not intervals with their paddings, such as [64:+8]")
    if not all(is_power(number) for pair in pairs for number in pair):
        fields.refuse(f"the intervals and paddings {field_text(pairs)} are not all powers of two")
    if "shape" in node.fields and fields.numbers("shape") != tuple(shape):
        fields.refuse(
            f"the tensor is {extents_text(shape)}, and the field shape is {field_text(fields.numbers('shape'))}"
        )
    if any(any(row) for name in ("block", "CGALayout") for row in fields.bases(name, len(shape))):
        fields.refuse("several thread blocks share the tensor; supported: the layout of one thread block")
    if any(not is_power(extent) for extent in shape):
        fields.refuse(f"the extents {extents_text(shape)} are not all powers of two")
    strides: list[dict[int, int]] = [{} for _ in shape]
    bases = fields.bases("offset", len(shape)) or _identity(fields, shape)
    for bit, row in enumerate(bases):
        moved = [dim for dim, part in enumerate(row) if part]
        if len(moved) != 1 or not is_power(row[moved[0]]) or row[moved[0]] in strides[moved[0]]:
            fields.refuse(f"the offset basis {list(row)} is a duplicate or not a power of two along one dimension")
        place = 1 << bit
        strides[moved[0]][row[moved[0]]] = place + sum(place // interval * padding for interval, padding in pairs)
    for dim, extent in enumerate(shape):
        if sorted(strides[dim]) != [1 << bit for bit in range(extent.bit_length() - 1)]:
            fields.refuse(f"dimension {dim} has {extent} elements, and its offset bases are {sorted(strides[dim])}")
    modes = [from_flat(*merge((2,) * len(steps), tuple(steps[key] for key in sorted(steps)))) for steps in strides]
    whole = 1 << len(bases)
    return (
        Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes)),
        whole + sum(whole // interval * padding for interval, padding in pairs),
    )


def _identity(fields: Fields, shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the offset bases of a tensor without padding whose dimensions have the order of the field ``order``."""
    order = fields.order()
    if len(order) != len(shape):
        fields.refuse(f"order is {list(order)}, and the tensor has {len(shape)} dimensions")
    return [
        tuple(1 << bit if dim == fast else 0 for dim in range(len(shape)))
        for fast in order
        for bit in range(shape[fast].bit_length() - 1)
    ]
