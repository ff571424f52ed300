"""The bank model: against the counters of Hopper GPUs (recorded, no GPU needed), its laws, the article's examples."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import VECTORS

from layoutalg import LayoutError, Swizzle
from layoutalg.analysis.banks import access, bank_group, wavefronts

HOPPER = VECTORS / "hopper"
WIDTHS = (1, 2, 4, 8, 16)


@pytest.mark.parametrize("gpu", ["h100", "h200"])
class TestAgainstHopper:
    def test_every_recorded_access_takes_the_wavefronts_that_the_counters_said(self, gpu: str) -> None:
        with np.load(HOPPER / gpu / "bank_wavefronts.npz") as recorded:
            columns = [recorded[name].tolist() for name in ("name", "store", "access_bytes", "offsets", "wavefronts")]
        wrong = []
        for name, store, width, offsets, counter in zip(*columns, strict=True):
            lanes = [None if offset < 0 else offset for offset in offsets]
            model = wavefronts(lanes, width, store=store)
            if model != counter:
                wrong.append((name, store, width, counter, model))
        assert wrong == []

    def test_the_recorded_accesses_are_loads_and_stores_of_every_width(self, gpu: str) -> None:
        summary = json.loads((HOPPER / gpu / "bank_wavefronts.json").read_text())
        assert gpu.upper() in summary["gpu"]
        assert set(summary["by_access"]) == {f"{op} {width}" for op in ("load", "store") for width in WIDTHS}
        assert summary["patterns"] > 1000

    def test_the_examples_of_the_article_were_measured(self, gpu: str) -> None:
        with np.load(HOPPER / gpu / "bank_wavefronts.npz") as recorded:
            rows = list(zip(recorded["name"].tolist(), recorded["wavefronts"].tolist(), strict=True))
        columns = {"A": 8, "B": 4, "C": 2, "D": 1, "E": 2}
        matrices = {"A": 1, "B": 1, "C": 1, "D": 1, "E": 2}
        for example in columns:
            assert {cost for name, cost in rows if name.startswith(f"example {example}: core matrix")} == {
                matrices[example]
            }
            in_rows = [
                cost for name, cost in rows if name.startswith(f"example {example}: unit") and "of 8 rows" in name
            ]
            assert set(in_rows) == {columns[example]}


def lanes(width: int, window: int = 4096) -> st.SearchStrategy[list[int | None]]:
    address = st.integers(0, window // width - 1).map(lambda unit: unit * width)
    return st.lists(st.one_of(st.none(), address), max_size=32)


anything = st.sampled_from(WIDTHS).flatmap(lambda width: st.tuples(st.just(width), lanes(width)))


class TestLaws:
    @given(anything)
    @settings(deadline=None)
    def test_a_store_costs_each_phase_its_fullest_bank(self, case: tuple[int, list[int | None]]) -> None:
        width, addresses = case
        lanes_a_phase = min(32, 128 // width)
        cost = 0
        for first in range(0, len(addresses), lanes_a_phase):
            there = [a for a in addresses[first : first + lanes_a_phase] if a is not None]
            words = {word for a in there for word in range(a // 4, (a + width - 1) // 4 + 1)}
            cost += max((sum(word % 32 == bank for word in words) for bank in range(32)), default=0)
        assert wavefronts(addresses, width, store=True) == cost

    @given(anything)
    @settings(deadline=None)
    def test_a_load_never_costs_more_than_the_store_and_never_nothing(self, case: tuple[int, list[int | None]]) -> None:
        width, addresses = case
        load, store = wavefronts(addresses, width), wavefronts(addresses, width, store=True)
        assert load <= store
        assert (load == 0) == all(address is None for address in addresses)

    @given(anything)
    @settings(deadline=None)
    def test_moving_all_lanes_by_a_row_of_banks_changes_nothing(self, case: tuple[int, list[int | None]]) -> None:
        width, addresses = case
        shifted = [None if address is None else address + 128 for address in addresses]
        assert wavefronts(shifted, width) == wavefronts(addresses, width)

    @given(anything)
    @settings(deadline=None)
    def test_phases_hold_every_lane_once_in_order(self, case: tuple[int, list[int | None]]) -> None:
        width, addresses = case
        one = access(addresses, width)
        assert [lane for phase in one.phases for lane in phase] == list(range(len(addresses)))
        assert one.wavefronts == sum(one.phase_wavefronts)
        assert one.conflicts == one.wavefronts - sum(count > 0 for count in one.phase_wavefronts)

    @pytest.mark.parametrize("width", WIDTHS)
    def test_consecutive_lanes_never_conflict(self, width: int) -> None:
        one = access([width * lane for lane in range(32)], width)
        assert one.conflicts == 0
        assert one.wavefronts == max(1, width // 4)

    @pytest.mark.parametrize("width", WIDTHS)
    def test_a_column_of_128_byte_rows_serves_one_lane_at_a_time(self, width: int) -> None:
        assert wavefronts([128 * lane for lane in range(32)], width) == 32


class TestPhasesServedTogether:
    def test_a_load_of_one_address_takes_half_the_phases(self) -> None:
        assert [wavefronts([0] * 32, width) for width in (4, 8, 16)] == [1, 1, 2]
        assert [wavefronts([0] * 32, width, store=True) for width in (4, 8, 16)] == [1, 2, 4]

    @pytest.mark.parametrize("distance", [1, 2])
    def test_partners_at_distance_1_or_2_share_phases(self, distance: int) -> None:
        alike = [8 * (lane & ~distance) for lane in range(32)]
        assert len(access(alike, 8).phases) == 1
        absent = [None if lane & distance else 8 * lane for lane in range(32)]
        assert len(access(absent, 8).phases) == 1

    def test_partners_at_distance_4_do_not(self) -> None:
        assert len(access([8 * (lane & ~4) for lane in range(32)], 8).phases) == 2

    def test_one_lane_with_another_address_undoes_it_for_the_whole_warp(self) -> None:
        alike: list[int | None] = [0] * 32
        alike[31] = 1024
        assert len(access(alike, 16).phases) == 4


def row(swizzle: Swizzle, row_bytes: int, unit: int, count: int = 8) -> list[int]:
    """Addresses of one 16-byte unit in each of the rows."""
    return [swizzle(row_bytes * i + 16 * unit) for i in range(count)]


class TestArticle:
    """The article "Decoding Swizzle<B,M,S>", section 5: what its examples A to E cost, a load of 16 bytes a lane."""

    SWIZZLES: dict[str, tuple[Swizzle, int]] = {  # noqa: RUF012
        "A": (Swizzle(0, 4, 3), 16),
        "B": (Swizzle(1, 4, 3), 32),
        "C": (Swizzle(2, 4, 3), 64),
        "D": (Swizzle(3, 4, 3), 128),
        "E": (Swizzle(2, 5, 2), 128),
    }

    @pytest.mark.parametrize(("example", "cost"), [("A", 8), ("B", 4), ("C", 2), ("D", 1), ("E", 2)])
    def test_a_column_of_units_in_rows_of_128_bytes_costs(self, example: str, cost: int) -> None:
        swizzle, _ = self.SWIZZLES[example]
        assert {wavefronts(row(swizzle, 128, unit), 16) for unit in range(8)} == {cost}

    @pytest.mark.parametrize(("example", "cost"), [("A", 1), ("B", 1), ("C", 1), ("D", 1), ("E", 2)])
    def test_a_core_matrix_of_the_atom_costs(self, example: str, cost: int) -> None:
        # "No bank conflict" holds for 8 rows of one core matrix, the atom's rows stored one after the other.
        swizzle, width = self.SWIZZLES[example]
        assert {wavefronts(row(swizzle, width, unit), 16) for unit in range(width // 16)} == {cost}

    @pytest.mark.parametrize(("width", "cost"), [(32, 2), (64, 4), (128, 8)])
    def test_without_the_swizzle_the_same_core_matrix_costs(self, width: int, cost: int) -> None:
        assert wavefronts(row(Swizzle(0, 4, 3), width, 0), 16) == cost

    def test_the_4_byte_column_of_section_1_is_served_one_lane_at_a_time_only_in_rows_of_128_bytes(self) -> None:
        # The 8 x 8 tile of 4-byte elements has rows of 32 bytes: its column takes 2 wavefronts, not the 8 of the text,
        # which holds for rows as wide as all banks.
        assert wavefronts([32 * i for i in range(8)], 4) == 2
        assert wavefronts([128 * i for i in range(8)], 4) == 8


@pytest.mark.parametrize(
    ("addresses", "width", "message"),
    [
        ([0] * 33, 4, "33 addresses are given, but a warp has 32 lanes"),
        ([2], 4, "the address of lane 0 is 2, which is not a non-negative multiple of 4"),
        ([-4], 4, "the address of lane 0 is -4, which"),
        ([0], 3, "access_bytes is 3, which is none of 1, 2, 4, 8 and 16"),
        ([0.5], 4, "an address is 0.5, which is not an integer"),
        (7, 4, "addresses is 7, which is not a sequence"),
        ([0], "4", "access_bytes is '4', which is not an integer"),
    ],
)
def test_bad_input_is_refused_with_the_reason(addresses: Any, width: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        wavefronts(addresses, width)


def test_banks_of_another_shape_are_counted_as_asked() -> None:
    assert wavefronts([64 * i for i in range(8)], 4, banks=16) == 8
    assert wavefronts([64 * i for i in range(8)], 4, banks=16, bank_bytes=8) == 4
    with pytest.raises(LayoutError, match="banks is 0, which is not positive"):
        wavefronts([0], 4, banks=0)


def test_addresses_of_one_group_share_their_banks_and_those_of_two_share_none() -> None:
    banks = {group: {a // 4 % 32 for a in range(512) if bank_group(a) == group} for group in range(8)}
    assert sorted(bank for each in banks.values() for bank in each) == list(range(32))


@pytest.mark.parametrize("line", [16, 64, 128, 1024])
def test_groups_of_a_line_follow_one_another_and_begin_again_with_the_next(line: int) -> None:
    assert [bank_group(16 * i, line) for i in range(2 * line // 16)] == 2 * list(range(line // 16))


@pytest.mark.parametrize("line", [0, 8, 24, -16])
def test_a_line_that_is_no_whole_groups_is_refused(line: int) -> None:
    with pytest.raises(LayoutError, match=r"banks: line_bytes is .*, which is not"):
        bank_group(0, line)
