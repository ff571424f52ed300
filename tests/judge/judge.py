"""The judge under one name: points, forms and notation, as tests ask for them.

What decides is ``layoutalg.laws``, which shares no algorithm with the operations that it judges.
"""

from __future__ import annotations

from notation import normal, plain_text

from layoutalg.laws.existence import (
    complement,
    composition,
    divide,
    form,
    injective,
    product,
    shape_and_stride,
    slots,
    tiling,
)
from layoutalg.laws.points import (
    Composite,
    Leaf,
    Plain,
    Point,
    TooLargeError,
    after,
    at,
    at_coordinate,
    count,
    digits,
    leaves,
    line,
    pairs,
    plus,
    point,
    rank_of,
    same,
    swizzled,
    times,
    values,
)

__all__ = [
    "Composite",
    "Leaf",
    "Plain",
    "Point",
    "TooLargeError",
    "after",
    "at",
    "at_coordinate",
    "complement",
    "composition",
    "count",
    "digits",
    "divide",
    "form",
    "injective",
    "leaves",
    "line",
    "normal",
    "pairs",
    "plain_text",
    "plus",
    "point",
    "product",
    "rank_of",
    "same",
    "shape_and_stride",
    "slots",
    "swizzled",
    "tiling",
    "times",
    "values",
]
