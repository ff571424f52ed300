"""Laws of the divides: the same elements, tiles of exactly the tiler; refused exactly where no layout is that."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from strategies import INJECTIVE, drawn, tiled, tiled_whole

from layoutalg import (
    Layout,
    LayoutError,
    NotDivisibleError,
    composition,
    flat_divide,
    logical_divide,
    make_layout,
    parse_layout,
    size,
    tiled_divide,
    zipped_divide,
)


def inner_of(layout):
    return getattr(layout, "inner", layout)


def with_layout_tiler(source):
    a = corpus.any_layout(source)
    tile = corpus.tile_of(source, size(a)) if source.integer(0, 1) else corpus.indexer(source, size(a))
    return a, Layout(tile) if isinstance(tile, int) else tile


@given(drawn(with_layout_tiler))
def test_dividing_by_a_layout_composes_with_tile_and_complement_and_is_refused_exactly_where_that_is_no_layout(case):
    target, tile = case
    expected = judge.divide(inner_of(target), tile.shape, tile.stride)
    try:
        result = logical_divide(target, tile)
    except LayoutError:
        assert expected is None, f"refused, but {judge.plain_text(*expected)} is right"
        return
    assert expected is not None, f"{result} is wrong"
    assert judge.normal(inner_of(result)) == judge.plain_text(*expected)
    assert len(result) == 2 and result[0] == composition(target, tile)


def expected_modes(target, tiler, decide):
    """(shape, stride) of every mode of the by-mode operation, or None if one has none."""
    modes = []
    for mode, tile in zip(target, tiler, strict=False):
        if tile is None:
            modes.append((mode.shape, mode.stride))
            continue
        tile = Layout(tile) if isinstance(tile, int) else tile
        decided = decide(mode, tile.shape, tile.stride)
        if decided is None:
            return None
        modes.append(decided)
    return modes + [(mode.shape, mode.stride) for mode in list(target)[len(tiler) :]]


def notation_of(modes):
    return judge.plain_text(tuple(s for s, _ in modes), tuple(d for _, d in modes))


@given(tiled)
def test_dividing_by_a_tuple_divides_each_mode_by_its_own_tiler_and_leaves_the_others(case):
    target, tiler = case
    expected = expected_modes(inner_of(target), tiler, judge.divide)
    try:
        result = logical_divide(target, tiler)
    except LayoutError:
        assert expected is None, f"refused, but {notation_of(expected)} is right"
        return
    assert expected is not None, f"{result} is wrong"
    assert judge.normal(inner_of(result)) == notation_of(expected)


@given(tiled_whole)
def test_zipped_tiled_and_flat_divide_rearrange_the_modes_of_the_logical_divide(case):
    target, tiler = case
    try:
        logical = inner_of(logical_divide(target, tiler))
    except LayoutError:
        for operation in (zipped_divide, tiled_divide, flat_divide):
            with pytest.raises(LayoutError):
                operation(target, tiler)
        return
    tiles = [mode[0] for mode in list(logical)[: len(tiler)]]
    rests = [mode[1] for mode in list(logical)[: len(tiler)]] + list(logical)[len(tiler) :]
    zipped = inner_of(zipped_divide(target, tiler))
    assert zipped == make_layout(make_layout(*tiles), make_layout(*rests))
    assert inner_of(tiled_divide(target, tiler)) == make_layout(make_layout(*tiles), *rests)
    assert inner_of(flat_divide(target, tiler)) == make_layout(*tiles, *rests)


@given(tiled_whole)
def test_a_divide_keeps_the_elements_and_mode_0_is_one_tile(case):
    target, tiler = case
    try:
        result = zipped_divide(target, tiler)
    except LayoutError:
        return
    assert size(result) == size(target)
    assert sorted(judge.values(result)) == sorted(judge.values(target))
    assert size(result[0]) == corpus.product_of([tile if isinstance(tile, int) else size(tile) for tile in tiler])
    assert result[0] == composition(target, tiler)


@given(drawn(lambda source: (corpus.layout(source, kinds=INJECTIVE), source.integer(1, 100))))
def test_an_integer_divides_exactly_if_it_divides_and_then_gives_runs_of_that_length(case):
    layout, length = case
    flat = Layout(size(layout))
    if size(layout) % length:
        with pytest.raises(NotDivisibleError):
            logical_divide(flat, length)
        return
    result = logical_divide(flat, length)
    assert size(result[0]) == length
    assert judge.values(result) == list(range(size(layout)))


@given(
    drawn(
        lambda source: (lambda a: (a, [source.pick(corpus.divisors(size(mode))) for mode in a]))(corpus.layout(source))
    )
)
def test_a_tile_of_a_matrix_is_the_block_at_its_place(case):
    layout, extents = case
    if not isinstance(layout.shape, tuple):
        return
    try:
        result = zipped_divide(layout, tuple(extents))
    except LayoutError:
        return
    counts = [size(mode) // extent for mode, extent in zip(layout, extents, strict=True)]
    for tile in range(size(result[1])):
        place = judge.digits(tile, counts)
        for element in range(size(result[0])):
            inside = judge.digits(element, extents)
            where = tuple(p * e + i for p, e, i in zip(place, extents, inside, strict=True))
            assert result(element, tile) == judge.at_coordinate(layout, where)


@pytest.mark.parametrize("operation", [zipped_divide, tiled_divide, flat_divide])
def test_a_mode_that_is_not_divided_has_no_tile_so_none_is_refused(operation):
    assert str(logical_divide(Layout((8, 8), (8, 1)), (None, 4))) == "(8,(4,2)):(8,(1,4))"
    with pytest.raises(LayoutError, match="None"):
        operation(Layout((8, 8), (8, 1)), (None, 4))


@each("operation", [logical_divide, zipped_divide, tiled_divide, flat_divide])
@each("tiler", [(1, 1, 1), (3, 4), 5, 0, -4, (0, 1), "4:1", 1.5, ((1, 1), 1), Layout(4, 3), Layout(4, 0)])
def test_what_does_not_divide_is_refused(operation, tiler):
    with pytest.raises(LayoutError):
        operation(Layout((4, 8)), tiler)


@pytest.mark.parametrize(
    ("target", "tile"),
    [("(3,4):(4,1)", Layout(2, 1)), ("(6,4):(4,1)", Layout(4, 1)), ("((3,2),2):((8,4),2)", (2, 2)), ("(2,2):(1,5)", 3)],
)
def test_a_tile_that_straddles_the_modes_is_refused_not_rounded(target, tile):
    with pytest.raises(NotDivisibleError):
        logical_divide(parse_layout(target), tile)
