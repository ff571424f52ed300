"""Layouts as the published CuTe documentation writes them, for the tests of its worked examples."""

from __future__ import annotations

from layoutalg import Layout, parse_layout, size
from layoutalg.tuples.int_tuple import compact_strides


def L(text):  # as short as the documents write it
    return parse_layout(text)


def right_major(shape):
    """LayoutRight: compact strides from right to left, whatever the hierarchy."""

    def mirrored(value):
        return tuple(map(mirrored, reversed(value))) if isinstance(value, tuple) else value

    return Layout(shape, mirrored(compact_strides(mirrored(shape))))


def tiles(a, b):
    """Whether every coordinate of shape a is one of b: compatible in the sense of "Layout compatibility"."""
    if not isinstance(a, tuple):
        return size(a) == size(b)
    return isinstance(b, tuple) and len(a) == len(b) and all(map(tiles, a, b))
