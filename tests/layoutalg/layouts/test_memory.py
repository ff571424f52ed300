"""A numpy array through a layout: views without a copy, tiles gathered and scattered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import layouts

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    cosize,
    gather,
    offsets,
    scatter,
    size,
    strided_view,
)


@given(layouts)
def test_gather_takes_each_element_from_where_the_layout_says(layout: Layout | ComposedLayout) -> None:
    where = offsets(layout)
    if where.size == 0 or where.min() < 0:
        return
    memory = np.arange(int(where.max()) + 1) * 3
    assert np.array_equal(gather(memory, layout), where * 3)


@pytest.mark.parametrize(
    "layout",
    [
        Layout((8, 64), (64, 1)),
        ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1))),
        Layout(((2, 4), 3), ((12, 3), 1)),
    ],
    ids=str,
)
def test_gather_after_scatter_gives_the_values_back(layout: Layout | ComposedLayout) -> None:
    memory = np.zeros(cosize(layout), dtype=np.int64)
    values = np.random.default_rng(0).integers(1, 1000, offsets(layout).shape)
    scatter(memory, layout, values)
    assert np.array_equal(gather(memory, layout), values)
    assert np.count_nonzero(memory) == size(layout)


def test_a_strided_view_shares_memory_and_agrees_with_gather() -> None:
    memory = np.arange(64)
    layout = Layout((4, (2, 4)), (8, (1, 2)))
    view = strided_view(memory, layout)
    assert np.shares_memory(view, memory)
    assert view.shape == (4, 2, 4)
    assert np.array_equal(view.transpose(0, 2, 1).reshape(4, 8), gather(memory, layout))
    backwards = strided_view(memory, Layout(4, -2), offset=6)
    assert backwards.tolist() == [6, 4, 2, 0]


def test_what_reaches_outside_the_array_is_refused() -> None:
    memory = np.arange(10)
    swizzled = ComposedLayout(Swizzle(1, 0, 1), 0, Layout(4))
    for operate in (
        lambda: gather(memory, Layout(11)),
        lambda: gather(memory, Layout(2, -1)),
        lambda: scatter(memory, Layout(4), np.zeros((3, 3))),
        lambda: strided_view(memory, Layout(4), offset=7),
        lambda: strided_view(memory, swizzled),  # type: ignore[arg-type]
        lambda: gather(np.zeros((2, 2)), Layout(2)),
    ):
        with pytest.raises(LayoutError):
            operate()


def test_the_default_type_is_the_narrowest_that_holds_every_step() -> None:
    assert offsets(Layout(4, 2**20)).dtype == np.int32
    assert offsets(Layout(4, 2**30)).dtype == np.int64
    assert offsets(Layout((2, 2), (2**31 - 1, -(2**31 - 1)))).dtype == np.int32
    assert offsets(ComposedLayout(Layout(4, -(2**31)), 0, Layout(2))).dtype == np.int64
    assert offsets(Layout(4), dtype=np.uint8).dtype == np.uint8
    for dtype in (np.uint8, np.int8, np.float32, "nonsense"):
        with pytest.raises(LayoutError):
            offsets(Layout(4, 100), dtype=dtype)
    with pytest.raises(LayoutError):
        offsets(Layout((2**30, 2**30)))
