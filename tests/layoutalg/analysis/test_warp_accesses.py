"""The accesses of a layout are those of its addresses, warp by warp and value by value."""

from __future__ import annotations

from typing import Any

import pytest

from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle
from layoutalg.analysis.banks import Access, access, accesses


class TestLayouts:
    tile = Layout((64, 64), (64, 1))
    by_column = Layout((32, 8), (1, 64))  # a row a lane, 8 elements along it

    def test_a_swizzle_takes_the_conflicts_out_of_a_column(self) -> None:
        swizzled = ComposedLayout(Swizzle(3, 3, 3), 0, self.tile)
        costs = [sum(a.wavefronts for a in accesses(one, self.by_column, 2, 16)) for one in (self.tile, swizzled)]
        assert costs == [32, 4]

    def test_the_accesses_are_those_of_the_addresses(self) -> None:
        for one in accesses(self.tile, self.by_column, 2, 4, base=256):
            want = [256 + 2 * self.tile(self.by_column(t, one.value)) for t in range(32)]
            assert one == Access(tuple(want), 4, access(want, 4).phases, access(want, 4).phase_wavefronts, 0, one.value)

    def test_warps_and_values_are_numbered(self) -> None:
        two_warps = Layout((64, 4), (1, 64))
        made_by_warps = accesses(self.tile, two_warps, 2, 4)
        assert [(one.warp, one.value) for one in made_by_warps] == [(0, 0), (0, 2), (1, 0), (1, 2)]

    def test_fewer_threads_than_a_warp_are_fewer_lanes(self) -> None:
        (one,) = accesses(Layout(8), Layout((8, 1), (1, 0)), 4)
        assert len(one.addresses) == 8

    def test_values_that_do_not_lie_side_by_side_are_refused(self) -> None:
        with pytest.raises(LayoutError, match="the 2 values of one access are not contiguous"):
            accesses(Layout((64, 64)), self.by_column, 2, 4)

    def test_a_misaligned_vector_is_refused(self) -> None:
        shifted = Layout((8, 2), (2, 1))
        with pytest.raises(LayoutError, match="address of lane 0 is 2, which is not a non-negative multiple of 4"):
            accesses(Layout(16), shifted, 2, 4, base=2)

    def test_a_map_beyond_the_tile_is_refused(self) -> None:
        with pytest.raises(LayoutError):
            accesses(Layout(16), Layout((32, 1), (1, 0)), 4)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((Layout(64), 2, 4), "not a layout of two modes"),
            ((by_column, 2, 3), "access_bytes is 3, which is not a multiple of the 2 bytes of an element"),
            ((by_column, 2, 1), "access_bytes is 1, which is not a multiple of the 2 bytes of an element"),
            ((by_column, 2, 12), "not a multiple of the 6 values of one access"),
            ((by_column, 0, 4), "element_bytes is 0, which is not positive"),
        ],
    )
    def test_bad_input_is_refused_with_the_reason(self, arguments: tuple[Any, ...], message: str) -> None:
        with pytest.raises(LayoutError, match=message):
            accesses(self.tile, *arguments)
