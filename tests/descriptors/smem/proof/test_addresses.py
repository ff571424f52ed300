"""The two sides of a proof: where a layout stores its elements, by single coordinates, and where words read them."""

from __future__ import annotations

import numpy as np
import pytest
from derived import derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import as_element_type
from descriptors.smem.proof.addresses import address_bits, fetched_rows, stored_rows
from descriptors.smem.words.descriptor import WINDOW_BYTES
from layoutalg import ComposedLayout, Layout, Swizzle, make_layout, size

BF16 = as_element_type("bf16")


@given(st.integers(0, 255), st.integers(0, 15))
def test_an_element_is_stored_at_the_start_of_the_pattern_plus_its_swizzled_distance(base: int, start: int) -> None:
    rows, p, b = Layout((8, 64), (64, 1)), 1024 * start, 16 * base
    addresses = stored_rows(ComposedLayout(Swizzle(0, 4, 3), 0, rows), BF16, base=b)
    assert addresses == [[b + 2 * rows(i, k) for k in range(64)] for i in range(8)]
    if p <= b:
        swizzled = ComposedLayout(Swizzle(3, 3, 3), 0, rows)
        addresses = stored_rows(swizzled, BF16, base=b, pattern_start=p)
        in_bytes = Swizzle(3, 4, 3)
        assert addresses == [[p + in_bytes(b - p + 2 * rows(i, k)) for k in range(64)] for i in range(8)]


@given(st.data())
def test_a_line_that_begins_where_another_does_in_the_pattern_holds_what_single_coordinates_say(
    data: st.DataObject,
) -> None:
    strides = st.integers(0, 300)
    modes = data.draw(
        st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5), strides, strides), min_size=2, max_size=3)
    )
    rows = make_layout(*(Layout((s, t), (d, e)) for s, t, d, e in modes))
    swizzle = Swizzle(
        data.draw(st.integers(0, 3)), data.draw(st.integers(0, 4)), data.draw(st.sampled_from([-4, -3, 3, 5]))
    )
    start, base = data.draw(st.integers(0, 2000)), 16 * data.draw(st.integers(0, 99))
    dtype = as_element_type(data.draw(st.sampled_from(["e2m1", "e4m3", "bf16", "tf32"])))
    found = np.array(stored_rows(ComposedLayout(swizzle, start, rows), dtype, base=base, pattern_start=base))
    unit = address_bits(dtype)
    for at in np.ndindex(*map(size, rows)):
        assert found[at] == (8 * base + swizzle(start + rows(*map(int, at))) * dtype.bits) // unit


@given(derivations())
def test_both_sides_of_a_derivation_are_the_same_operand_by_operand(d: Derivation) -> None:
    (mn, k), words = d.mma, d.words(stage=0) if len(d.tile) > 2 else d.words()
    addresses = np.reshape(stored_rows(d.smem_tile, d.element), (d.tile[0], d.tile[1], -1))[..., 0]
    fetched = fetched_rows(words[-1], arch=d.arch, element=d.element, major=d.major, shape=d.mma)
    rows = addresses[(len(words) - 1) * mn :]
    for j, one in enumerate(fetched):
        assert (rows[:, j * k : (j + 1) * k] == one).all()


@pytest.mark.parametrize("base", [-16, WINDOW_BYTES - 1024 + 16])
def test_what_leaves_the_window_is_refused(base: int) -> None:
    with pytest.raises(DescriptorError, match=r"operand: the layout is at .*, outside the 262144 bytes"):
        stored_rows(Layout((8, 64), (64, 1)), BF16, base=base)
