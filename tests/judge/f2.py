"""Random matrices over GF(2), and layouts that are linear over it."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.strategies as st
from corpus import like, nested
from hypothesis import settings
from strategies import DrawnSource

from layoutalg import Layout, size
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.linear_layout import LinearLayout

#: For laws so regular that a third of the profile's examples shows what all of them would.
few = settings(max_examples=max(1, settings().max_examples // 3))


def values_of(layout: Any) -> list[int]:
    return [layout(i) for i in range(size(layout))]


@st.composite
def matrices(draw: Any, most: int = 6) -> F2Matrix:
    rows = draw(st.integers(0, most))
    return F2Matrix(draw(st.lists(st.integers(0, (1 << rows) - 1), max_size=most)), rows)


def shape_of_bits(source: DrawnSource, bits: int) -> Any:
    """A nested shape of 2**bits elements, and its flat extents."""
    extents = []
    while bits:
        extent = source.integer(0, min(3, bits))
        extents.append(1 << extent)
        bits -= extent
    return nested(source, extents or [1])


def leaves(shape: Any) -> list[int]:
    return [leaf for part in shape for leaf in leaves(part)] if isinstance(shape, tuple) else [shape]


@st.composite
def linear_layouts(draw: Any, most: int = 5, injective: bool = False) -> Layout:
    """Layouts whose modes share no bit: every mode has its own window of the offset, perhaps with a pattern in it."""
    source = DrawnSource(draw)
    shape = shape_of_bits(source, source.integer(0, most))
    extents = leaves(shape)
    strides = [0] * len(extents)
    low = 0
    for leaf in draw(st.permutations(range(len(extents)))):
        bits = extents[leaf].bit_length() - 1
        low += source.pick((0, 0, 0, 1))
        kind = source.pick(("one", "one", "one", "zero", "pattern"))
        if bits and kind == "pattern":
            strides[leaf] = ((1 << bits) + 1) << low  # two bits that move together
            low += 2 * bits
        elif kind != "zero" or injective:
            strides[leaf] = 1 << low
            low += bits
    return Layout(shape, like(strides, shape))


@st.composite
def linear_forms(draw: Any) -> LinearLayout:
    """Maps of a few bits between at most three named dimensions on either side."""
    heights = draw(st.lists(st.integers(0, 3), max_size=3))
    row = st.tuples(*(st.integers(0, (1 << height) - 1) for height in heights))
    widths = draw(st.lists(st.lists(row, max_size=3), max_size=3))
    names = ["register", "lane", "warp"]
    return LinearLayout(
        list(zip(names, widths, strict=False)), {f"dim{i}": 1 << height for i, height in enumerate(heights)}
    )


def points(extents: dict[str, int]) -> list[dict[str, int]]:
    """Every coordinate of named dimensions, the last of them fastest."""
    return [dict(zip(extents, where, strict=True)) for where in itertools.product(*map(range, extents.values()))]
