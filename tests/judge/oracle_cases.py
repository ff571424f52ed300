"""Seeded random cases for every operation: layouts nested, permuted, gapped, zero-stride, negative, of extent 1,
not dividing, swizzled; tilers of integers, layouts and tuples of them, nested, short, with ``None``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

import corpus
import judge as J
from deck import Deck, modes_of, text_of

from layoutalg.oracle.expressions import Case

Arguments = tuple[Any, ...]


# One drawer an operation ----------------------------------------------------------------------------------------


def _composition(deck: Deck) -> Arguments:
    style = deck.source.integer(0, 9)
    if style == 0:
        shape, identity = deck.identity()
        return identity, str(corpus.indexer(deck.source, J.count(shape)))
    if style == 1:  # basis strides on the right address modes on the left
        a = deck.layout(64)
        if isinstance(a.shape, tuple) and len(a.shape) > 1:
            first, second = J.count(a.shape[0]), J.count(a.shape[1])
            shape = f"({deck.source.pick(corpus.divisors(second))},{deck.source.pick(corpus.divisors(first))})"
            return str(a), f"{shape}:(1@1,1@0)"
    a = deck.any() if deck.one_in(3) else deck.layout()
    if deck.one_in(3):
        return str(a), deck.tiler(a, keep=True)
    size = J.count(a.shape)
    return str(a), deck.source.integer(1, size) if deck.one_in(8) else str(corpus.indexer(deck.source, size))


def _divide(keep: bool) -> Callable[[Deck], Arguments]:
    def draw(deck: Deck) -> Arguments:
        a = deck.tame() if deck.one_in(2) else deck.any()
        if isinstance(a.shape, tuple) and deck.one_in(3):
            return str(a), deck.by_mode(a)
        tiler = deck.tiler(a, keep)
        if keep and deck.one_in(8):
            tiler = deck.source.pick(corpus.divisors(J.count(a.shape)))
        return str(a), tiler

    return draw


def _product(tuples: bool) -> Callable[[Deck], Arguments]:
    def draw(deck: Deck) -> Arguments:
        a = deck.tame(24) if deck.one_in(2) else deck.any(24)
        if tuples and deck.one_in(3):
            return str(a), tuple(deck.source.integer(1, 4) for _ in modes_of(a.shape))
        if tuples and deck.one_in(6):
            return str(a), deck.source.integer(1, 6)
        return str(a), str(deck.layout(12, kinds=("compact", "permuted", "zeros", "negative", "gapped")))

    return draw


def _side_by_side(deck: Deck) -> Arguments:
    a = deck.tame(24) if deck.one_in(2) else deck.any(24)
    return str(a), str(deck.layout(12, kinds=("compact", "permuted", "gapped", "zeros")))


def _tile_to_shape(deck: Deck) -> Arguments:
    atom = deck.tame(24) if deck.one_in(2) else deck.any(24)
    held = [J.count(mode) for mode in modes_of(atom.shape)]
    if len(held) < 2:
        held.append(1)  # rank 1: the target's second mode extends the rank
    if deck.one_in(6):
        held.append(1)
    target = tuple(extent * deck.source.integer(1, 3) + int(deck.one_in(12)) for extent in held)
    order = list(range(len(target))) if deck.one_in(3) else corpus.shuffled(deck.source, len(target))
    return str(atom), target, tuple(order)


def _with_shape(deck: Deck) -> Arguments:
    a = deck.tame() if deck.one_in(2) else deck.any()
    return str(a), deck.shape(J.count(a.shape))


def _slice(coordinate_first: bool) -> Callable[[Deck], Arguments]:
    def draw(deck: Deck) -> Arguments:
        a = deck.tame() if deck.one_in(2) else deck.any()
        coordinate = corpus.coordinate(deck.source, a.shape, 4)
        return (coordinate, str(a)) if coordinate_first else (str(a), coordinate)

    return draw


def _local_tile(deck: Deck) -> Arguments:
    a = deck.tame() if deck.one_in(2) else deck.any()
    tiler = deck.by_mode(a)
    counts = [J.count(mode) // tile for mode, tile in zip(modes_of(a.shape), tiler, strict=True)]
    coordinate = tuple(None if deck.one_in(3) else deck.source.integer(0, count - 1) for count in counts)
    if deck.one_in(4):  # a tiler of one mode more, which the projection takes out
        at = deck.source.integer(0, len(tiler))
        proj = (*(1,) * at, None, *(1,) * (len(tiler) - at))
        return str(a), (*tiler[:at], 7, *tiler[at:]), (*coordinate[:at], None, *coordinate[at:]), proj
    return str(a), tiler, coordinate


def _local_partition(deck: Deck) -> Arguments:
    a = deck.tame() if deck.one_in(2) else deck.any()
    shape = deck.by_mode(a)
    strides = corpus.strides(deck.source, shape, deck.source.pick(("compact", "permuted")))
    size = corpus.product_of(shape)
    return str(a), f"{text_of(shape)}:{text_of(tuple(strides))}", deck.source.integer(0, size - 1)


def _recast(deck: Deck) -> Arguments:
    a = deck.tame() if deck.one_in(2) else deck.any()
    if " o " in str(a):  # a swizzle's base moves by whole bits
        return deck.source.pick((8, 16, 32, 128)), deck.source.pick((8, 16, 32, 4)), str(a)
    return deck.source.pick((8, 16, 32, 64, 128, 4, 12)), deck.source.pick((8, 16, 32, 4, 6)), str(a)


def _cast(deck: Deck) -> Arguments:
    a = str(deck.tame() if deck.one_in(2) else deck.any())
    return a, deck.source.pick((2, 4, 8, 1) if " o " in a else (2, 4, 8, 3, 1))


def _coalesce(deck: Deck) -> Arguments:
    a = deck.any()
    if deck.one_in(2):
        return (str(a),)
    if isinstance(a.shape, tuple) and deck.one_in(2):
        return str(a), tuple(1 for _ in a.shape)
    return str(a), corpus.like([1] * 99, a.shape)


def _complement(deck: Deck) -> Arguments:
    kinds = ("compact", "permuted", "gapped", "gapped", "zeros", "padded", "arbitrary", "negative")
    a = deck.layout(32, kinds=(deck.source.pick(kinds),))
    cotarget = deck.shape(200) if deck.one_in(3) else deck.source.integer(1, 200)
    return str(a), str(deck.layout(96)) if deck.one_in(8) else cotarget


def _inverse(*kinds: str) -> Callable[[Deck], Arguments]:
    return lambda deck: (str(deck.layout(kinds=kinds)),)


def _common(deck: Deck) -> Arguments:
    shape = deck.shape(64)
    flat = J.leaves(shape)
    kinds = ("compact", "permuted", "permuted", "gapped", "zeros")
    a = [corpus.strides(deck.source, flat, deck.source.pick(kinds)) for _ in range(2)]
    if deck.one_in(3):
        a[1] = a[0]
    return tuple(f"{text_of(shape)}:{text_of(corpus.like(stride, shape))}" for stride in a)


def _measured(deck: Deck) -> Arguments:
    a = deck.any()
    return (str(a), deck.path(a.shape)) if deck.one_in(2) and isinstance(a.shape, tuple) else (str(a),)


def _picked(deck: Deck) -> Arguments:
    a = deck.any()
    return str(a), tuple(corpus.shuffled(deck.source, len(modes_of(a.shape)))[: deck.source.integer(1, 3)])


def _path(deck: Deck) -> Arguments:
    a = deck.any()
    return str(a), deck.path(a.shape)


def _added(deck: Deck) -> Arguments:
    a = deck.any(48)
    up_to = (len(modes_of(a.shape)) + deck.source.integer(0, 2),) if deck.one_in(3) else ()
    return str(a), str(deck.layout(12)), *up_to


def _grouped(deck: Deck) -> Arguments:
    a = deck.any()
    rank = len(modes_of(a.shape))
    begin = deck.source.integer(0, rank - 1)
    return str(a), begin, deck.source.integer(begin + 1, rank)


def _diced(deck: Deck) -> Arguments:
    a = deck.any()
    return str(a), corpus.coordinate(deck.source, a.shape, 4)


def _called(deck: Deck) -> Arguments:
    if deck.one_in(6):
        shape, identity = deck.identity()
        return identity, corpus.coordinate(deck.source, shape)
    a = deck.any()
    return str(a), corpus.coordinate(deck.source, a.shape)


def _ranked(deck: Deck) -> Arguments:
    shape = deck.shape()
    index = corpus.coordinate(deck.source, shape)
    return index, shape


def _ordered(deck: Deck) -> Arguments:
    shape = deck.shape()
    ranks = corpus.shuffled(deck.source, len(J.leaves(shape)))
    if deck.one_in(4):
        ranks = [rank // 2 for rank in ranks]
    return shape, corpus.like(ranks, shape)


def _leading(deck: Deck) -> Arguments:
    a = deck.layout()
    return a.shape, a.stride


def _profiles(deck: Deck) -> Arguments:
    a = deck.shape(24)
    return (a, corpus.like([2] * 99, a)) if deck.one_in(2) else (a, deck.shape(24))


def _composed_text(deck: Deck) -> Arguments:
    composed = corpus.composed(deck.source)
    return str(composed.outer), composed.offset, str(composed.inner)


def _summands(deck: Deck) -> Arguments:
    shape = deck.shape()
    other = corpus.like([deck.source.integer(0, 9) for _ in J.leaves(shape)], shape)
    if isinstance(shape, tuple) and deck.one_in(3):
        other = other[:-1]
    return (shape, 0) if deck.one_in(8) else (shape, other)


def _divisors(exact: bool) -> Callable[[Deck], Arguments]:
    """A flat shape: of a nested mode and an integer, the DSL takes the number of tiles as a whole, or refuses."""

    def draw(deck: Deck) -> Arguments:
        shape = tuple(corpus.extents(deck.source, 96))
        pools = [[*corpus.divisors(n), 2 * n] if exact else list(range(1, 10)) for n in shape]
        parts = tuple(deck.source.pick(pool) for pool in pools)
        return shape, corpus.product_of(parts) if exact and deck.one_in(3) else parts

    return draw


def _stepped(deck: Deck) -> Arguments:
    shape = deck.shape()
    return corpus.like([deck.source.integer(0, extent - 1) for extent in J.leaves(shape)], shape), shape


DRAWERS: dict[str, tuple[int, Callable[[Deck], Arguments]]] = {
    "composition": (16, _composition),
    "with_shape": (2, _with_shape),
    "logical_divide": (8, _divide(keep=True)),
    "zipped_divide": (8, _divide(keep=False)),
    "tiled_divide": (5, _divide(keep=False)),
    "flat_divide": (5, _divide(keep=False)),
    "logical_product": (5, _product(tuples=True)),
    "zipped_product": (3, _product(tuples=False)),
    "tiled_product": (3, _product(tuples=False)),
    "flat_product": (3, _product(tuples=False)),
    "blocked_product": (5, _side_by_side),
    "raked_product": (5, _side_by_side),
    "tile_to_shape": (6, _tile_to_shape),
    "local_tile": (4, _local_tile),
    "local_partition": (3, _local_partition),
    "slice_": (5, _slice(coordinate_first=False)),
    "slice_and_offset": (6, _slice(coordinate_first=True)),
    "dice": (2, _diced),
    "recast_layout": (6, _recast),
    "upcast": (3, _cast),
    "downcast": (3, _cast),
    "coalesce": (6, _coalesce),
    "filter": (2, lambda deck: (str(deck.any()),)),
    "filter_zeros": (2, lambda deck: (str(deck.layout()),)),
    "complement": (8, _complement),
    "right_inverse": (5, _inverse("compact", "permuted", "gapped", "zeros", "negative", "arbitrary")),
    "left_inverse": (5, _inverse("compact", "permuted", "gapped", "padded", "zeros")),
    "nullspace": (2, _inverse("zeros", "compact")),
    "max_common_layout": (3, _common),
    "max_common_vector": (3, _common),
    "make_ordered_layout": (4, _ordered),
    "make_layout_like": (4, lambda deck: (str(deck.layout()),)),
    "make_layout": (1, lambda deck: (deck.shape(),)),
    "make_identity_layout": (1, lambda deck: (deck.shape(),)),
    "make_composed_layout": (1, _composed_text),
    "concatenate": (1, lambda deck: tuple(str(deck.layout(12)) for _ in range(deck.source.integer(1, 3)))),
    "text": (3, lambda deck: (str(deck.any()),)),
    "call": (4, _called),
    "crd2idx": (3, lambda deck: tuple(reversed(_called(deck)))),
    "idx2crd": (2, _ranked),
    "size": (1, _measured),
    "cosize": (2, _measured),
    "rank": (1, _measured),
    "depth": (1, _measured),
    "product": (1, lambda deck: (deck.shape(),)),
    "get": (2, _path),
    "select": (2, _picked),
    "flatten": (2, lambda deck: (str(deck.any()),)),
    "append": (2, _added),
    "prepend": (2, _added),
    "group_modes": (2, _grouped),
    "is_congruent": (1, _profiles),
    "is_weakly_congruent": (1, _profiles),
    "leading_dim": (2, _leading),
    "tuple_add": (1, _summands),
    "tuple_sub": (1, _summands),
    "product_each": (1, lambda deck: (deck.shape(),)),
    "shape_div": (1, _divisors(exact=True)),
    "ceil_div": (1, _divisors(exact=False)),
    "increment_coord": (1, _stepped),
    "E": (1, lambda deck: (tuple(deck.source.integer(0, 3) for _ in range(deck.source.integer(1, 3))),)),
}


def cases(seed: int | str, number: int) -> list[Case]:
    """``number`` cases from a seed, spread over all operations by weight."""
    deck = Deck(corpus.SeededSource(seed))
    hand = [name for name, (weight, _) in DRAWERS.items() for _ in range(weight)]
    return [Case(name, DRAWERS[name][1](deck)) for name in islice(cycle(hand), number)]
