"""Hypothesis strategies over the generators of ``corpus``, and the judge's questions re-exported for the law tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import corpus
import hypothesis.strategies as st

T = TypeVar("T")


class DrawnSource:
    """Choices drawn from Hypothesis, so that failures shrink."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return low if low == high else int(self.draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]


def drawn(generate: Callable[..., T], *args: Any, **options: Any) -> st.SearchStrategy[T]:
    """A strategy from a generator whose first argument is a source of choices."""

    @st.composite
    def build(draw: Callable[[st.SearchStrategy[Any]], Any]) -> T:
        return generate(DrawnSource(draw), *args, **options)

    return build()


INJECTIVE = ("compact", "permuted", "gapped", "padded")
CHAINED = ("compact", "permuted", "gapped")
NON_NEGATIVE = ("compact", "permuted", "gapped", "padded", "zeros", "arbitrary")

layouts = drawn(corpus.layout)
composed_layouts = drawn(corpus.composed)
any_layouts = drawn(corpus.any_layout)
chained_layouts = drawn(corpus.layout, kinds=CHAINED)
injective_layouts = drawn(corpus.layout, kinds=INJECTIVE)
non_negative_layouts = drawn(corpus.layout, kinds=NON_NEGATIVE)
shapes = drawn(corpus.shape)
swizzles = drawn(corpus.swizzle)


def _pair(source: corpus.Source, composed: bool) -> tuple[Any, Any]:
    a = corpus.any_layout(source) if composed else corpus.layout(source)
    return a, corpus.indexer(source, corpus.product_of(corpus._leaves(a.shape)))


def _with_tiler(source: corpus.Source, keep: bool, kinds: Sequence[str] = corpus.KINDS) -> tuple[Any, Any]:
    a = corpus.any_layout(source, kinds=kinds)
    return a, corpus.tiler(source, a, keep)


def _with_coordinate(source: corpus.Source, keep: int) -> tuple[Any, Any]:
    a = corpus.any_layout(source)
    return a, corpus.coordinate(source, a.shape, keep)


composition_pairs = drawn(_pair, composed=False)
composed_pairs = drawn(_pair, composed=True)
tiled = drawn(_with_tiler, keep=True)
tiled_whole = drawn(_with_tiler, keep=False)
sliced = drawn(_with_coordinate, keep=4)
located = drawn(_with_coordinate, keep=0)
