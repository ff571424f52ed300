"""Bank conflicts by linear algebra against enumeration, and the smallest swizzle that removes them."""

from __future__ import annotations

import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from f2 import few
from hypothesis import given

from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle, composition, make_identity_layout
from layoutalg.analysis.banks import access, accesses
from layoutalg.analysis.swizzle_search import AccessPattern, NoSwizzleError, find_swizzle

# Finding a swizzle: the documented cases ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "swizzle"),
    [(64, Swizzle(3, 4, 3)), (32, Swizzle(2, 4, 3)), (16, Swizzle(1, 4, 3)), (8, Swizzle(0, 4, 0))],
)
def test_columns_of_8_rows_of_128_64_and_32_bytes_give_the_swizzles_of_the_hardware(width, swizzle):
    tile = Layout((8, width), (width, 1))
    column = Layout((8, 8), (1, 8))
    assert find_swizzle(tile, column, 2, 16) == swizzle
    # The same by addresses, and by threads alone; then every column at once.
    assert find_swizzle(None, [2 * width * row for row in range(8)], 1, 16) == swizzle
    assert find_swizzle(tile, Layout(8), 2, 16) == swizzle
    assert find_swizzle(tile, Layout((8, width)), 2, 16) == swizzle


def test_a_transpose_of_32_by_32_words_takes_five_bits():
    tile = Layout((32, 32), (32, 1))
    rows, columns = Layout((32, 32), (32, 1)), Layout((32, 32), (1, 32))
    assert find_swizzle(tile, rows, 4) == Swizzle(0, 2, 0)
    assert find_swizzle(tile, columns, 4) == Swizzle(5, 2, 5)
    assert find_swizzle(tile, [AccessPattern(rows, 4, store=True), columns], 4) == Swizzle(5, 2, 5)


def test_rows_of_16_bytes_stored_and_columns_of_16_bytes_read_agree_on_one_swizzle():
    tile = Layout((64, 64), (64, 1))
    stores = AccessPattern(Layout(((8, 4), 8), ((512, 1), 64)), 16, store=True)
    loads = AccessPattern(Layout((32, 8), (1, 64)), 16)
    swizzle = find_swizzle(tile, [stores, loads], 2)
    assert swizzle == Swizzle(3, 4, 3)
    in_elements = ComposedLayout(Swizzle(swizzle.bits, swizzle.base - 1, swizzle.shift), 0, tile)
    for pattern in (stores, loads):
        served = accesses(in_elements, pattern.lanes, 2, 16, store=pattern.store)
        assert all(one.conflicts == 0 for one in served)


def test_threads_may_be_mapped_to_coordinates():
    tile = Layout((8, 64), (64, 1))
    coordinates = composition(make_identity_layout((8, 64)), Layout((8, 8), (1, 8)))
    assert coordinates(3, 5) == (3, 5)
    assert find_swizzle(tile, coordinates, 2, 16) == Swizzle(3, 4, 3)


def test_a_tile_that_is_swizzled_already_needs_no_more():
    tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    assert find_swizzle(tile, Layout((8, 8), (1, 8)), 2, 16).bits == 0


def test_candidates_are_taken_in_their_order():
    tile = Layout((8, 16), (16, 1))
    hardware = [Swizzle(3, 4, 3), Swizzle(2, 4, 3), Swizzle(1, 4, 3)]
    assert (
        find_swizzle(tile, Layout((8, 8), (1, 8)), 2, 16, candidates=[Swizzle(0, 4, 3), *hardware[::-1]]) == hardware[2]
    )
    wide = Layout((32, 64), (64, 1))
    assert find_swizzle(wide, Layout((32, 8), (1, 32)), 2, 16, candidates=hardware) == hardware[0]
    with pytest.raises(LayoutError, match="no candidate permutes units of 16 bytes"):
        find_swizzle(tile, Layout((8, 8), (1, 8)), 2, 16, candidates=[Swizzle(3, 3, 3)])


def test_a_swizzle_does_not_lead_out_of_the_tile():
    # Rows of 96 bytes: 3 units of 16 bytes, so that no swizzle of units stays within a row.
    tile = Layout((6, 48), (48, 1))
    lanes = Layout((6, 8), (1, 6))
    try:
        swizzle = find_swizzle(tile, lanes, 2, 16)
    except NoSwizzleError as error:
        swizzle = error.best
    images = sorted(swizzle(byte) for byte in range(6 * 96))
    assert images == list(range(6 * 96))


def test_where_none_will_do_the_error_knows_the_best():
    # A row of words and a column of 16 words, twice over: the rows need the bits that the columns must change.
    scattered = [[4 * ((37 * lane * lane + 11 * lane) % 256) for lane in range(32)]]
    with pytest.raises(NoSwizzleError, match=r"no swizzle removes all \d+ bank conflicts: the best is S<") as caught:
        find_swizzle(None, scattered, 1, 4)
    error = caught.value
    lanes = [error.best(address) for address in scattered[0]]
    assert access(lanes, 4).conflicts == error.conflicts > 0
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.best, again.conflicts) == (str(error), error.best, error.conflicts)


# Finding a swizzle: against enumeration -------------------------------------------------------------------------------


def smallest_by_enumeration(lists: list[Any], width: int, store: bool, bits: int, banks: int) -> tuple[int, Swizzle]:
    """The fewest conflicts that a swizzle of so many bits leaves, and the smallest swizzle that does."""
    lowest = width.bit_length() - 1
    swizzles = [Swizzle(0, lowest, 0)] + [
        Swizzle(width_, base, shift)
        for width_ in range(1, bits)
        for base in range(lowest, bits)
        for shift in range(-bits, bits)
        if abs(shift) >= width_ and width_ + base + abs(shift) <= bits
    ]
    swizzles.sort(
        key=lambda s: (s.bits, s.bits + s.base + abs(s.shift), -s.base, s.shift < 0) if s.bits else (0, 0, 0, 0)
    )

    def conflicts(swizzle: Swizzle) -> int:
        served = [access([None if a is None else swizzle(a) for a in x], width, banks, store=store) for x in lists]
        return sum(one.conflicts for one in served)

    costs = [conflicts(swizzle) for swizzle in swizzles]
    return min(costs), swizzles[costs.index(min(costs))]


@st.composite
def address_lists(draw: Any) -> tuple[list[list[int | None]], int, bool, int, int]:
    """A few accesses, some linear, some not, to at most 512 bytes in a few banks, so that conflicts are common."""
    width = draw(st.sampled_from((2, 4, 8, 16)))
    bits = draw(st.integers(6, 9))
    banks = draw(st.sampled_from((2, 4, 8, 32)))
    units = (1 << bits) // width
    lists: list[list[int | None]] = []
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            powers = st.sampled_from([1 << bit for bit in range(units.bit_length() - 1)])
            columns = draw(st.lists(st.one_of(powers, powers, st.integers(0, units - 1)), min_size=2, max_size=5))
            values = [0]
            for column in columns:
                values += [value ^ column for value in values]
            lists.append([width * value for value in values])
        else:
            one = st.one_of(st.none(), st.integers(0, units - 1).map(lambda unit: unit * width))
            lists.append(draw(st.lists(one, min_size=1, max_size=16)))
    return lists, width, draw(st.booleans()), bits, banks


@given(address_lists())
def test_the_swizzle_found_is_the_smallest_that_leaves_no_conflict(case):
    lists, width, store, bits, banks = case
    last = (1 << bits) - width
    lists = [*lists, [last]]  # so that all address bits are in question
    fewest, smallest = smallest_by_enumeration(lists, width, store, bits, banks)
    try:
        swizzle = find_swizzle(None, lists, 1, width, banks, store=store)
    except NoSwizzleError as error:
        assert fewest == error.conflicts > 0
        assert error.best == smallest
    else:
        assert fewest == 0
        assert swizzle == smallest


@few
@given(st.integers(0, 3), st.permutations(range(9)))
def test_any_order_of_the_bits_of_a_tile_is_judged_alike_by_layout_and_by_address(kind, order):
    tile = Layout((2,) * 9, tuple(1 << bit for bit in order))
    lanes = (Layout(8), Layout(32), Layout((32, 2)), Layout((8, 4), (64, 1)))[kind]
    flat = Layout(lanes.shape) if kind < 2 else lanes
    width = 4
    if kind < 2:
        by_address = [[4 * tile(flat(lane)) for lane in range(flat.shape)]]
    else:
        threads, values = lanes.shape
        by_address = [[4 * tile(lanes(t, v)) for t in range(threads)] for v in range(values)]
    by_address.append([2048 - 4])
    results = []
    for arguments in ((tile, [lanes], 4, width), (None, by_address, 1, width)):
        try:
            results.append(find_swizzle(*arguments))
        except NoSwizzleError as error:
            results.append((error.best, error.conflicts))
    assert results[0] == results[1]


# Patterns and errors --------------------------------------------------------------------------------------------------


def test_a_pattern_is_a_value():
    for pattern in (AccessPattern([0, 16, None], 16, True), AccessPattern(Layout((8, 8), (1, 8)), 16)):
        assert eval(repr(pattern), {"AccessPattern": AccessPattern, "Layout": Layout}) == pattern  # noqa: S307  # its own repr
    assert AccessPattern([0], 4) != AccessPattern([0], 4, True)


def test_no_access_needs_no_swizzle():
    assert find_swizzle(Layout((8, 8)), [], 4).bits == 0


def test_banks_that_are_no_power_of_two_are_enumerated():
    lanes = [12 * lane for lane in range(4)]
    assert access(lanes, 4, 3).phase_wavefronts == (3, 1)
    swizzle = find_swizzle(None, lanes, 1, 4, banks=3)
    assert access([swizzle(address) for address in lanes], 4, 3).conflicts == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Layout(8), 3, 4), "accesses is 3, which is neither a layout nor a list"),
        ((Layout(8), Layout((2, 2, 2)), 4), r"neither a layout \(threads, values\) nor a layout \(threads\)"),
        ((None, Layout(8), 4), "find_swizzle: _ is not a layout"),
        ((None, [3], 1, 4), "the address of lane 0 is 3, which is not a non-negative multiple of 4,"),
        ((None, [0], 1, 3), "access_bytes is 3, which is none of 1, 2, 4, 8 and 16"),
        ((Layout(8), Layout(8), 0, 4), "element_bytes is 0, which is not positive"),
        ((Layout(8), Layout(16), 4), r"8 is not in \[0,8\)"),
    ],
)
def test_a_malformed_access_is_a_typed_error(arguments, message):
    with pytest.raises(LayoutError, match=message):
        find_swizzle(*arguments)
