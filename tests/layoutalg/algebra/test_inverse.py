"""Laws of the inverses and of what two layouts have in common, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from strategies import CHAINED, INJECTIVE, chained_layouts, drawn, injective_layouts, layouts

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotInjectiveError,
    ScaledBasis,
    Swizzle,
    UndecidedError,
    left_inverse,
    make_identity_layout,
    make_layout,
    max_common_layout,
    max_common_vector,
    nullspace,
    parse_layout,
    right_inverse,
    size,
    substitute,
)
from layoutalg.laws.definitions import law_max_common_layout, law_max_common_vector


@given(layouts)
def test_the_layout_undoes_its_right_inverse(layout):
    result = right_inverse(layout)
    assert [layout(result(i)) for i in range(size(result))] == list(range(size(result)))


@given(injective_layouts)
def test_the_right_inverse_covers_the_longest_run_of_offsets_from_zero(layout):
    image = set(judge.values(layout))
    run = next(n for n in range(len(image) + 1) if n not in image)
    assert size(right_inverse(layout)) == run


@given(drawn(lambda source: corpus.layout(source, kinds=("zeros",))))
def test_modes_of_stride_zero_do_not_shorten_the_right_inverse(layout):
    moving = [(s, d) for s, d in judge.pairs(layout) if d != 0]
    image = set(judge.values(judge.Plain(tuple(s for s, _ in moving), tuple(d for _, d in moving))))
    assert size(right_inverse(layout)) == next(n for n in range(len(image) + 1) if n not in image)


@given(layouts)
def test_the_left_inverse_undoes_the_layout_and_is_refused_exactly_where_the_strides_are_no_injective_chain(layout):
    chained = judge.injective(layout) and chain(layout)
    try:
        result = left_inverse(layout, strict=True)
    except LayoutError:
        assert not chained
        return
    assert chained
    assert [result(layout(i)) for i in range(size(layout))] == list(range(size(layout)))


def chain(layout):
    """Each stride of the coalesced layout divides the next, which clears the mode below: the form of CuTe's inverse."""
    below, reach = 1, 1
    for d, s in sorted((d, s) for s, d in judge.form(judge.values(layout))):
        if d <= 0 or d % below or d < reach:
            return False
        below, reach = d, d * s
    return True


@given(chained_layouts)
def test_the_left_inverse_of_a_layout_with_a_complement_undoes_it(layout):
    result = left_inverse(layout)
    assert [result(layout(i)) for i in range(size(layout))] == list(range(size(layout)))


@given(drawn(lambda source: corpus.layout(source, kinds=("compact", "permuted"))))
def test_both_inverses_of_a_bijection_are_its_inverse(layout):
    expected = sorted(range(size(layout)), key=layout)
    assert judge.values(left_inverse(layout)) == judge.values(right_inverse(layout)) == expected


@given(layouts)
def test_the_nullspace_is_where_the_modes_of_stride_zero_run(layout):
    result = nullspace(layout)
    values = judge.values(result)
    assert all(layout(i) == 0 for i in values)
    assert len(values) == corpus.product_of([s for s, d in judge.pairs(layout) if d == 0]) == len(set(values))


@given(drawn(lambda source: corpus.layout(source, kinds=("zeros",))))
def test_the_nullspace_of_a_layout_injective_but_for_zeros_is_all_that_maps_to_zero(layout):
    if (
        judge.injective(judge.Plain(*zip(*[p for p in judge.pairs(layout) if p[1]], strict=True)))
        if any(judge.leaves(layout.stride))
        else True
    ):
        assert sorted(judge.values(nullspace(layout))) == [i for i, x in enumerate(judge.values(layout)) if x == 0]


def related(source):
    """Two layouts that agree on some first modes, often."""
    a = corpus.layout(source, kinds=INJECTIVE)
    if source.integer(0, 1):
        return a, corpus.layout(source, kinds=INJECTIVE)
    flat = judge.leaves(a.stride)
    if flat:
        flat[source.integer(0, len(flat) - 1)] *= source.integer(1, 3)
    return a, Layout(a.shape, corpus.like(flat, a.shape))


@given(drawn(related))
def test_both_layouts_undo_their_common_layout(case):
    a, b = case
    common = max_common_layout(a, b)
    assert [a(common(i)) for i in range(size(common))] == list(range(size(common)))
    assert [b(common(i)) for i in range(size(common))] == list(range(size(common)))
    assert max_common_vector(a, b) == size(common)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ("(2,3,2):(6,1,3)", "(2,1,8):(8,8,1)", "6:2"),
        ("(6,1,2):(3,8,1)", "(6,6,6):(12,1,72)", "2:6"),
        ("(6,6):(6,1)", "(6,8):(4,1)", "6:6"),
        ("(4,2,6):(2,8,1)", "(1,8,8):(64,8,1)", "6:8"),
    ],
)
def test_the_common_layout_ends_where_the_shorter_of_the_two_does(a: str, b: str, common: str) -> None:
    assert str(max_common_layout(parse_layout(a), parse_layout(b))) == common


@given(drawn(related))
def test_the_common_layout_is_as_long_as_a_layout_can_be(case):
    a, b = case
    total = min(size(a), size(b))
    index_in_a = {x: i for i, x in enumerate(judge.values(a)[:total])}
    index_in_b = {x: i for i, x in enumerate(judge.values(b)[:total])}
    agreeing = next((n for n in range(total) if n not in index_in_a or index_in_a[n] != index_in_b.get(n)), total)
    longest = max(
        n
        for n in range(1, agreeing + 1)
        if judge.form([index_in_a[x] for x in range(n)]) is not None and law_max_common_vector(n, a, b) is None
    )
    assert max_common_vector(a, b) == longest


@given(injective_layouts)
def test_a_layout_has_its_whole_contiguous_run_in_common_with_itself(layout):
    assert max_common_vector(layout, layout) == size(right_inverse(layout))


def swizzled_tile(source):
    bits = source.integer(0, 3)
    base = source.integer(0, 2)
    shift = source.integer(max(bits, 1), 3)
    rows = 2 ** max(bits, 1)
    columns = 2 ** (base + shift)
    inner = Layout((rows, columns), (columns, 1)) if source.integer(0, 1) else Layout((columns, rows))
    return ComposedLayout(Swizzle(bits, base, shift), 0, inner)


@given(drawn(swizzled_tile))
def test_the_inverses_of_a_swizzled_tile_undo_it(tile):
    right, left = right_inverse(tile), left_inverse(tile)
    everything = list(range(size(tile)))
    assert [tile(right(i)) for i in range(size(right))] == everything
    assert [left(tile(i)) for i in everything] == everything


def swizzled_anyhow(source):
    """A swizzle after any injective layout: its image need not be closed under the swizzle."""
    return ComposedLayout(corpus.swizzle(source), 0, corpus.layout(source, 64, CHAINED))


@given(drawn(swizzled_anyhow))
def test_the_left_inverse_of_any_swizzled_layout_undoes_it(layout):
    result = left_inverse(layout)
    assert [result(layout(i)) for i in range(size(layout))] == list(range(size(layout)))


@given(drawn(swizzled_anyhow))
def test_any_swizzled_layout_undoes_its_right_inverse(layout):
    result = right_inverse(layout)
    assert [layout(result(i)) for i in range(size(result))] == list(range(size(result)))


def divisors(number):
    return [n for n in range(1, number + 1) if number % n == 0]


def swizzled_pair(source):
    """Two layouts of one shape, often, each after a swizzle or alone; often both after the same."""
    a, b = related(source)
    swizzles = [corpus.swizzle(source) if source.integer(0, 3) else None for _ in range(2)]
    if source.integer(0, 1):
        swizzles[1] = swizzles[0]
    if not source.integer(0, 3):
        b = a
    return tuple(
        layout if swizzle is None else ComposedLayout(swizzle, 0, layout)
        for swizzle, layout in zip(swizzles, (a, b), strict=True)
    )


@given(drawn(swizzled_pair))
def test_every_run_of_a_common_vector_is_contiguous_in_both_layouts(case):
    a, b = case
    assert law_max_common_vector(max_common_vector(a, b), a, b) is None
    assert law_max_common_layout(max_common_layout(a, b), a, b) is None


@given(drawn(swizzled_tile))
def test_a_swizzled_tile_and_its_plain_layout_share_what_the_swizzle_leaves_alone(tile):
    widest = max(n for n in divisors(size(tile)) if law_max_common_vector(n, tile, tile.inner) is None)
    assert max_common_vector(tile, tile.inner) == size(max_common_layout(tile, tile.inner)) == widest
    assert max_common_vector(tile, tile) == size(tile)


#: Two layouts, their widest copy, and the layout of its first run.
WIDEST = [
    ("S<3,4,3> o 0 o (8,64):(64,1)", "(8,64):(64,1)", 16, "16:8"),
    ("(8,64):(64,1)", "S<3,4,3> o 0 o (8,64):(64,1)", 16, "16:8"),
    ("S<2,0,2> o 0 o (4,4):(1,4)", "S<2,0,2> o 0 o (4,4):(1,4)", 16, "1:0"),
    ("S<3,4,3> o 0 o (8,64):(64,1)", "S<3,4,3> o 0 o (8,64):(64,1)", 512, "16:8"),
    ("S<3,3,3> o 0 o (8,64):(64,1)", "S<3,4,3> o 0 o (8,64):(64,1)", 8, "8:8"),
    # The swizzle reads no bit that an offset of the tile has, or only some of them.
    ("S<3,4,3> o 0 o (8,8):(8,1)", "(8,8):(8,1)", 64, "(8,8):(8,1)"),
    ("S<0,4,3> o 0 o (8,64):(64,1)", "(8,64):(64,1)", 512, "(64,8):(8,1)"),
    ("S<3,4,3> o 0 o (4,64):(256,1)", "(4,64):(64,1)", 32, "32:4"),
    # Rows of 17 begin anywhere in a block of 16, so that a swizzle breaks them.
    ("S<3,4,3> o 0 o (16,16):(1,17)", "(16,16):(1,17)", 1, "1:0"),
    ("S<3,4,3> o 0 o (16,16):(1,24)", "(16,16):(1,24)", 8, "8:1"),
    # One swizzle after two layouts reorders a run alike only where the rows begin alike modulo its period.
    ("S<2,0,2> o 0 o (4,4):(1,4)", "S<2,0,2> o 0 o (4,4):(1,8)", 1, "1:0"),
    ("S<2,0,2> o 0 o (16,4):(1,16)", "S<2,0,2> o 0 o (16,4):(1,32)", 16, "1:0"),
    # Runs of the first elements alone: every run counts.
    ("(6,2):(1,100)", "(4,3):(1,100)", 2, "2:1"),
    ("(5,2):(1,5)", "4:1", 4, "4:1"),
]


@pytest.mark.parametrize(("a", "b", "vector", "layout"), WIDEST)
def test_the_widest_copy_counts_every_run(a: str, b: str, vector: int, layout: str) -> None:
    first, second = parse_layout(a), parse_layout(b)
    assert max_common_vector(first, second) == vector
    assert str(max_common_layout(first, second)) == layout
    total = min(size(first), size(second))
    assert vector == max(n for n in divisors(total) if law_max_common_vector(n, first, second) is None)


def test_the_widest_copy_of_huge_layouts_is_not_enumerated() -> None:
    tile = parse_layout(f"({1 << 20},{1 << 20}):({1 << 20},1)")
    assert max_common_vector(ComposedLayout(Swizzle(3, 4, 3), 0, tile), tile) == 16


@pytest.mark.parametrize(("shape", "stride"), [((3, 2), (1, 2)), ((4, 4), (0, 0)), ((2, 2), (1, 1)), ((2, 4), (0, 1))])
def test_what_is_not_injective_has_no_strict_left_inverse(shape, stride):
    with pytest.raises(NotInjectiveError):
        left_inverse(Layout(shape, stride), strict=True)


@pytest.mark.parametrize(("shape", "stride"), [((2, 2), (2, 3)), ((2, 3), (2, 5)), ((4, 2), (-1, 4)), (4, -1)])
def test_what_has_no_chain_of_strides_has_no_left_inverse_of_cutes_form(shape, stride):
    with pytest.raises(LayoutError):
        left_inverse(Layout(shape, stride))


@each("operation", [left_inverse, right_inverse, nullspace])
@each("value", [8, (4, 8), None, "8:1", Swizzle(3, 4, 3)])
def test_what_is_no_layout_is_refused(operation, value):
    with pytest.raises(LayoutError):
        operation(value)


def test_the_inverses_of_an_identity_layout_map_a_coordinate_to_its_index():
    for operation in (left_inverse, right_inverse):
        assert operation(make_identity_layout((4, (2, 3)))) == Layout((4, (2, 3)))


@pytest.mark.parametrize("operation", [left_inverse, right_inverse])
def test_the_inverse_of_integer_strides_beside_basis_strides_is_refused(operation):
    with pytest.raises(LayoutError, match="both integer and basis strides"):
        operation(parse_layout("(4,8):(1@0,1)"))


@given(drawn(lambda source: corpus.layout(source, kinds=CHAINED)))
def test_the_left_inverse_of_a_layout_and_its_complement_is_its_inverse(layout):
    from layoutalg import complement

    whole = make_layout(layout, complement(layout))
    inverse = left_inverse(whole)
    assert judge.values(inverse) == sorted(range(size(whole)), key=whole)


def test_the_null_space_has_the_modes_that_take_no_step_of_a_unit_vector():
    assert str(nullspace(Layout((2, 3), (ScaledBasis(0, 0), ScaledBasis(1, 0))))) == "2:1"


def test_of_two_modes_with_one_stride_the_right_inverse_takes_the_first():
    assert str(right_inverse(Layout((4, 6), (1, 1)))) == "4:1"


@pytest.mark.parametrize("operation", [right_inverse, left_inverse])
def test_an_inverse_that_the_symbols_leave_open_is_not_decided(operation):
    with pytest.raises(UndecidedError, match="cannot decide whether"):
        operation(parse_layout("(2,m):(m,1)"))


def test_a_common_layout_stops_before_the_first_carry():
    # the offsets 0..11 lie at the indices 0..5, 12..17; there a carries, so that only whole steps below it are common
    layout = Layout((3, 2, 2), (1, 3, 6))
    assert max_common_layout(layout, layout) == Layout(12, 1)
    assert max_common_layout(Layout((6, 2), (1, 7)), Layout((6, 2), (1, 6))) == Layout(6, 1)


@pytest.mark.parametrize(
    ("layout", "inverse"),
    [
        ("S<3,4,3> o 0 o 1024*m:1", "1024*m:1 o 0 o S<3,4,3> o 0 o 1024*m:1"),
        ("S<3,4,3> o 0 o (8,1024*m):(1024*m,1)", "(1024*m,8):(8,1) o 0 o S<3,4,3> o 0 o 8192*m:1"),
        ("S<1,0,1> o 0 o (4*m,3):(1,4*m)", "12*m:1 o 0 o S<1,0,1> o 0 o 12*m:1"),
    ],
)
def test_the_right_inverse_of_a_symbolic_swizzled_layout_undoes_it_for_every_value(layout: str, inverse: str) -> None:
    swizzled = parse_layout(layout)
    result = right_inverse(swizzled)
    assert str(result) == inverse
    for m in (1, 2, 3):
        right, numbers = substitute(result, {"m": m}), substitute(swizzled, {"m": m})
        assert [numbers(right(i)) for i in range(size(right))] == list(range(size(numbers)))


@pytest.mark.parametrize("layout", ["S<1,0,1> o 0 o 4*m+2:1", "S<1,0,1> o 0 o 2*m:1", "S<3,4,3> o 0 o 64*m:1"])
def test_a_symbolic_size_that_may_cut_a_period_of_the_swizzle_is_not_decided(layout: str) -> None:
    with pytest.raises(UndecidedError):
        right_inverse(parse_layout(layout))
