"""Laws of the products: the block first, its copies where it leaves room, in the tiler's order."""

from __future__ import annotations

import random
from collections.abc import Callable

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds_of
from strategies import CHAINED, drawn

import layoutalg
from descriptors.oracle import available
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotDivisibleError,
    NotInjectiveError,
    ScaledBasis,
    Swizzle,
    UndecidedError,
    blocked_product,
    flat_product,
    flatten,
    logical_product,
    make_layout,
    make_ordered_layout,
    parse_layout,
    raked_product,
    rank,
    size,
    tile_to_shape,
    tiled_product,
    zipped_product,
)
from layoutalg.algebra import products
from layoutalg.layouts.flat import compact_size
from layoutalg.oracle.expressions import Case
from layoutalg.oracle.expressions import evaluate as dsl_answers


def inner_of(layout):
    return getattr(layout, "inner", layout)


def factors(source):
    kinds = CHAINED if source.integer(0, 2) else corpus.KINDS
    block = corpus.any_layout(source, 48, kinds) if source.integer(0, 1) else corpus.layout(source, 48, kinds)
    tiler_kinds = ("compact", "permuted") if source.integer(0, 1) else ("gapped", "padded", "zeros", "arbitrary")
    return block, corpus.layout(source, 24, tiler_kinds)


@given(drawn(factors))
def test_a_product_is_block_and_copies_in_the_complement_and_is_refused_exactly_where_that_is_no_layout(case):
    block, tiler = case
    expected = judge.product(inner_of(block), tiler.shape, tiler.stride)
    try:
        result = logical_product(block, tiler)
    except LayoutError:
        assert expected is None, f"refused, but {judge.plain_text(*expected)} is right"
        return
    assert expected is not None, f"{result} is wrong"
    assert judge.normal(inner_of(result)) == judge.plain_text(*expected)
    assert result[0] == block


@given(drawn(lambda source: (corpus.layout(source, 48, CHAINED), corpus.layout(source, 12, CHAINED))))
def test_copies_of_an_injective_block_by_an_injective_tiler_do_not_overlap(case):
    try:
        result = logical_product(*case)
    except LayoutError:
        return
    assert judge.injective(result)


@given(drawn(factors))
def test_zipped_tiled_and_flat_product_rearrange_the_modes_of_the_logical_product(case):
    block, tiler = case
    try:
        logical = inner_of(logical_product(block, tiler))
    except LayoutError:
        for operation in (zipped_product, tiled_product, flat_product, blocked_product, raked_product):
            with pytest.raises(LayoutError):
                operation(block, tiler)
        return
    blocks, copies = logical
    open_copies = list(copies) if isinstance(copies.shape, tuple) else [copies]
    open_blocks = list(blocks) if isinstance(blocks.shape, tuple) else [blocks]
    assert inner_of(zipped_product(block, tiler)) == logical
    assert inner_of(tiled_product(block, tiler)) == make_layout(blocks, *open_copies)
    assert inner_of(flat_product(block, tiler)) == make_layout(*open_blocks, *open_copies)


def by_mode(source):
    block = corpus.layout(source, 48, CHAINED)
    top = list(block)
    length = source.integer(1, len(top))
    return block, tuple(source.pick((2, 3, 1, 4, Layout(3, 2), Layout((2, 2), (2, 1)))) for _ in range(length))


@given(drawn(by_mode))
def test_a_product_by_a_tuple_repeats_each_mode_by_its_own_tiler_and_leaves_the_others(case):
    block, tiler = case
    try:
        pairs = [logical_product(mode, tile) for mode, tile in zip(block, tiler, strict=False)]
    except LayoutError:
        with pytest.raises(LayoutError):
            logical_product(block, tiler)
        return
    rest = list(block)[len(tiler) :]
    assert logical_product(block, tiler) == make_layout(*pairs, *rest)
    blocks = make_layout(*[pair[0] for pair in pairs])
    copies = [*[pair[1] for pair in pairs], *rest]
    assert zipped_product(block, tiler) == make_layout(blocks, make_layout(*copies))
    assert tiled_product(block, tiler) == make_layout(blocks, *copies)
    assert flat_product(block, tiler) == make_layout(*blocks, *copies)


@given(drawn(factors))
def test_blocked_keeps_blocks_together_and_raked_interleaves_them(case):
    block, tiler = case
    try:
        logical = logical_product(block, tiler)
    except LayoutError:
        return
    ranks = max(rank(block), rank(tiler))
    mine = [size(mode) for mode in block] + [1] * (ranks - rank(block))
    theirs = [size(mode) for mode in tiler] + [1] * (ranks - rank(tiler))
    both = [m * t for m, t in zip(mine, theirs, strict=True)]
    blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
    assert [size(mode) for mode in blocked] == [size(mode) for mode in raked] == both
    for index in range(size(blocked)):
        where = judge.digits(index, both)
        inside = tuple(w % m for w, m in zip(where, mine, strict=True))
        copy = tuple(w // m for w, m in zip(where, mine, strict=True))
        expected = judge.at(
            logical, judge.rank_of(inside, tuple(mine)) + size(block) * judge.rank_of(copy, tuple(theirs))
        )
        assert blocked(index) == expected
        raked_where = tuple(c + t * i for c, t, i in zip(copy, theirs, inside, strict=True))
        assert raked(raked_where if ranks > 1 else raked_where[0]) == expected


def atoms(source):
    atom = corpus.layout(source, 32, CHAINED, 2)
    if source.integer(0, 2) == 2:
        atom = ComposedLayout(corpus.swizzle(source), 0, atom)
    extra = source.integer(0, 1)
    shape = tuple(size(mode) * source.integer(1, 4) for mode in atom) + (3,) * extra
    return atom, shape, tuple(corpus.shuffled(source, len(shape)))


@given(drawn(atoms))
def test_tile_to_shape_fills_the_shape_with_copies_of_the_atom_stacked_in_the_given_order(case):
    atom, shape, order = case
    extents = [size(mode) for mode in atom] + [1] * (len(shape) - rank(atom))
    counts = [whole // extent for whole, extent in zip(shape, extents, strict=True)]
    stacked = make_ordered_layout(tuple(counts), order)
    try:
        result = tile_to_shape(atom, shape, order)
    except NotDivisibleError:
        assert judge.product(inner_of(atom), stacked.shape, stacked.stride) is None
        return
    assert [size(mode) for mode in result] == list(shape)
    copies = logical_product(atom, stacked)
    for index in range(size(result)):
        where = judge.digits(index, shape)
        inside = tuple(w % e for w, e in zip(where, extents, strict=True))
        copy = tuple(w // e for w, e in zip(where, extents, strict=True))
        flat = judge.rank_of(inside, tuple(extents)) + size(atom) * judge.rank_of(copy, tuple(counts))
        assert result(index) == judge.at(copies, flat)


@given(drawn(lambda source: (corpus.shape(source, 60), source)))
def test_tile_to_shape_without_an_order_stacks_from_left_to_right(case):
    shape = case[0] if isinstance(case[0], tuple) else (case[0],)
    atom = Layout((1,) * len(shape))
    assert judge.values(tile_to_shape(atom, shape)) == list(range(size(shape)))


@pytest.mark.parametrize(("shape", "order"), [((20, 16), None), ((16,), None), ((16, 16), (0,)), ((16, 16), (0, 1, 2))])
def test_a_shape_that_the_atom_does_not_tile_is_refused_not_rounded(shape, order):
    with pytest.raises(LayoutError):
        tile_to_shape(Layout((8, 8), (8, 1)), shape, order)


def test_the_smem_tile_of_the_128_byte_swizzle():
    atom = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    tile = tile_to_shape(atom, (128, 128), (0, 1))
    assert str(tile) == "S<3,4,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))"


@each("operation", [logical_product, zipped_product, tiled_product, flat_product, blocked_product, raked_product])
@each("block", [Layout((2, 2), (1, 1)), Layout((2, 2), (2, 3)), Layout(4, -1)])
def test_a_block_that_leaves_no_regular_room_is_refused(operation, block):
    with pytest.raises(LayoutError):
        operation(block, Layout(4))


@each("operation", [logical_product, zipped_product, tiled_product, flat_product])
@each("tiler", [(1, 1, 1), 0, -4, (0, 1), "4:1", 1.5, ((1, 1), 1)])
def test_what_is_no_tiler_is_refused(operation, tiler):
    with pytest.raises(LayoutError):
        operation(Layout((4, 8)), tiler)


def test_copies_that_do_not_fit_the_gaps_are_refused():
    # Pairs of gaps in 4:2 would have to hold three copies.
    with pytest.raises(NotDivisibleError):
        logical_product(Layout(4, 2), Layout(3, 1))


@each("operation", [logical_product, zipped_product, tiled_product, flat_product, blocked_product])
@each(("block", "tiler"), [(Layout(2, 3), Layout((2, 2), (-2, 1))), (Layout(2, 3), Layout((2, 3), (-2, 1)))])
def test_copies_on_both_sides_of_zero_are_refused_where_two_overlap(operation, block, tiler):
    with pytest.raises(NotInjectiveError, match="two copies overlap at offset"):
        operation(block, tiler)


@given(drawn(lambda source: corpus.shape(source, 8)), st.lists(st.integers(-4, 4), min_size=2, max_size=2))
def test_tilers_of_both_signs_give_copies_apart_or_a_refusal(shape, steps):
    block, tiler = Layout(2, 3), Layout((2, 2), tuple(steps))
    try:
        result = logical_product(block, tiler)
    except LayoutError:
        return
    copies = {tiler(j): {result(i, j) for i in range(2)} for j in range(4)}
    assert len(set().union(*copies.values())) == 2 * len(copies)


def test_tilers_of_both_signs_with_too_much_to_compare_are_undecided():
    block, tiler = Layout(2), Layout((2, 2**20), (-2, 1))
    with pytest.raises(UndecidedError, match="whether two copies overlap"):
        logical_product(block, tiler)


PRINTED = [
    ("blocked_product", ("1:5", "(9):(1)"), "((1,(9))):((5,(1)))"),
    ("blocked_product", ("5:1", "((3,2)):((1,3))"), "((5,((3,2)))):((1,((5,15))))"),
    ("blocked_product", ("5:1", "3:1"), "((5,3)):((1,5))"),
    ("blocked_product", ("(5):(1)", "(3):(1)"), "((5,3)):((1,5))"),
    ("blocked_product", ("5:1", "(3,2):(1,3)"), "((5,3),(1,2)):((1,5),(0,15))"),
    ("tile_to_shape", ("5:1", (10,), (0,)), "((5,(2))):((1,(5)))"),
    ("tile_to_shape", ("5:1", 10, 0), "((5,(2))):((1,(5)))"),
    ("tile_to_shape", ("(5):(1)", (10,), (0,)), "((5,2)):((1,5))"),
]


def test_a_block_without_parentheses_keeps_those_of_its_tiler():
    for operation, operands, text in PRINTED:
        values = [parse_layout(one) if isinstance(one, str) else one for one in operands]
        assert str(getattr(layoutalg, operation)(*values)) == text


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
def test_that_is_what_the_dsl_prints():
    answers = dsl_answers([Case(operation, operands) for operation, operands, _ in PRINTED])
    assert [answer.text for answer in answers] == [printed for _, _, printed in PRINTED]


@pytest.mark.parametrize("seed", seeds_of("test_copies_of_a_compact_block_are_what_complement_and_composition_give"))
def test_copies_of_a_compact_block_are_what_complement_and_composition_give(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, compact = random.Random(seed), 0
    for _ in range(1500):
        shape = tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 3)))
        order = rng.sample(range(len(shape)), len(shape))
        strides, below = [0] * len(shape), 1
        for mode in order:
            strides[mode], below = below, below * shape[mode] * rng.choice([1, 1, 1, 1, 2])
        block = Layout(shape, tuple(strides))
        tile = Layout(
            (rng.choice([1, 2, 3]), (2, rng.choice([1, 3]))), (rng.choice([0, 1, 3]), (rng.choice([3, 6]), 6))
        )
        with monkeypatch.context() as patch:
            patch.setattr(products, "compact_size", lambda block: None)
            try:
                clear = str(logical_product(block, tile))
            except LayoutError as error:
                clear = str(error)
        compact += compact_size(block) is not None
        try:
            assert str(logical_product(block, tile)) == clear
        except LayoutError as error:
            assert str(error) == clear
    assert 300 < compact < 1400


def strides_of(flat: Layout) -> tuple[int, ...]:
    return flat.stride if isinstance(flat.stride, tuple) else (flat.stride,)  # type: ignore[return-value]


@pytest.mark.parametrize("product", [logical_product, blocked_product, raked_product])
def test_copies_of_a_padded_block_go_on_in_the_next_period(product: Callable[..., Layout]) -> None:
    """(16,3):(32,6) has places 0 to 5 in each 512, as nothing fits into what the padding leaves: copy 6 is not at 6."""
    block = Layout((16, 3), (32, 6))
    with pytest.raises(NotDivisibleError):
        product(block, Layout((2, 4), (1, 2)))
    for tiler, steps in ((Layout(6, 1), {1}), (Layout(12, 1), {1, 512}), (Layout((6, 3), (1, 6)), {1, 512})):
        layout = product(block, tiler)
        places = [layout(i) for i in range(size(layout))]
        assert len(set(places)) == len(places) == 48 * size(tiler), (tiler, layout)
        assert max(steps) in strides_of(flatten(layout))


@pytest.mark.parametrize("seed", seeds_of("test_copies_of_any_block_are_apart"))
def test_copies_of_any_block_are_apart(seed: int) -> None:
    """Blocks whose steps are padded too: no offset is in two copies, and copy j stands where the definition has it."""
    rng, padded = random.Random(seed), 0
    for _ in range(1500):
        modes, period, places = [], 1, [0]
        for _ in range(rng.randint(1, 3)):
            step, n = period * rng.choice([1, 1, 2, 3]) + rng.choice([0, 0, 1, 5]), rng.choice([2, 3, 4])
            modes.append((n, step))
            places = [place + i * period for i in range(step // period) for place in places]
            period = n * step
        rng.shuffle(modes)
        block = Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
        tiler = Layout(rng.choice([2, 3, 4, 6, 8, 12]), rng.choice([1, 1, 2, 3]))
        try:
            layout = logical_product(block, tiler)
        except NotDivisibleError:
            continue
        for j in range(size(tiler)):
            turns, place = divmod(tiler(j), len(places))
            assert layout(0, j) == places[place] + turns * period, (block, tiler)
        offsets = [layout(i) for i in range(size(layout))]
        assert len(set(offsets)) == len(offsets), (block, tiler)
        padded += len(places) * size(block) != period
    assert padded > 150


#: Blocks of two modes, padded, interleaved or neither, and tilers of one mode and two, with strides of both signs.
SMALL_BLOCKS = [
    Layout((m, n), (d, e)) for m in (1, 2, 3) for n in (2, 3) for d in (1, 2, 3, 5, 7) for e in (1, 2, 4, 6, 9)
]
SMALL_TILERS = [
    *(Layout(n, d) for n in (1, 2, 3, 4) for d in (-2, 0, 1, 2, 3, 6)),
    *(Layout((2, n), (d, e)) for n in (2, 3) for d in (-1, 1, 2, 3) for e in (0, 1, 2, 4)),
]


def copies_of(block: Layout, tiler: Layout) -> list[int] | None:
    """Where the copies begin: place by place below each stride, then in the next period; None where there are none."""
    inside, period = [0], 1
    for d, n in sorted((d, n) for n, d in judge.pairs(block) if n > 1):
        if d < period:
            return None
        inside = [place + i * period for i in range(d // period) for place in inside]
        period = d * n

    def begin(k: int) -> int:
        return -begin(-k) if k < 0 else inside[k % len(inside)] + k // len(inside) * period

    copies = [begin(tiler(j)) for j in range(size(tiler))]
    columns = [[begin(x * d) for x in range(n)] for n, d in judge.pairs(tiler)]
    sums = [0]
    for column in columns:
        sums = [one + more for more in column for one in sums]
    owners: dict[int, set[int]] = {}
    for j, copy in enumerate(copies):
        for element in range(size(block)):
            owners.setdefault(copy + block(element), set()).add(tiler(j))
    regular = copies == sums and all(judge.form(column) is not None for column in columns)
    return copies if regular and all(len(who) == 1 for who in owners.values()) else None


def test_each_product_of_small_layouts_is_the_defined_one_or_there_is_none() -> None:
    defined, refused = 0, 0
    for block in SMALL_BLOCKS:
        for tiler in SMALL_TILERS:
            right = copies_of(block, tiler)
            if right is None:
                refused += 1
                with pytest.raises(LayoutError):
                    logical_product(block, tiler)
                continue
            defined += 1
            product = logical_product(block, tiler)
            assert product[0] == block and [product(0, j) for j in range(size(tiler))] == right, (block, tiler)
    assert defined > 2500 and refused > 2500


def test_a_tiler_of_basis_strides_runs_along_the_modes_of_the_room() -> None:
    """The room of 16:2 is (2,..):(1,32): two copies fit along its mode 0, and a third would begin inside the first."""
    layout = logical_product(Layout(16, 2), Layout((2, 4), (ScaledBasis(1, 0), ScaledBasis(1, 1))))
    assert layout == Layout((16, (2, 4)), (2, (1, 32)))
    assert sorted(layout(i) for i in range(size(layout))) == list(range(128))
    assert logical_product(Layout(16, 2), Layout(3, ScaledBasis(0, 1))) == Layout((16, 3), (2, 0))
    with pytest.raises(NotInjectiveError, match="two copies overlap at offset 2;"):
        logical_product(Layout(16, 2), Layout(4, ScaledBasis(1, 0)))
    with pytest.raises(NotInjectiveError):
        blocked_product(Layout(16, 2), Layout(4, ScaledBasis(1, 0)))
