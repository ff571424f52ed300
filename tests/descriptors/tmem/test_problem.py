"""Convolutions that can be shifted, and the reasons why others cannot."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors import DescriptorError
from descriptors.tmem.shift_steps import shift_problem

EXAMPLE: dict[str, Any] = {"images": 2, "height": 9, "width": 9, "channels": 16, "filters": 16, "taps": (3, 3)}


@pytest.mark.parametrize(
    ("arguments", "rows", "columns"),
    [
        ({"padding": (1, 1)}, 9, 9),
        ({"padding": (0, 1)}, 7, 9),
        ({"padding": (0, 0)}, 7, 7),
        ({"padding": (1, 0), "stride": (2, 1)}, 5, 7),
        ({"dilation": (4, 1)}, 1, 7),
        ({"taps": (1, 9)}, 9, 1),
    ],
)
def test_outputs_are_counted_as_they_can_be_listed(arguments: dict[str, Any], rows: int, columns: int) -> None:
    one = shift_problem(**{**EXAMPLE, **arguments})
    assert (one.rows, one.columns, one.outputs) == (rows, columns, 2 * rows * columns * 16)
    (r, s), (pad_h, pad_w), height, width = one.taps, one.padding, one.height, one.width
    reach = (r - 1) * one.dilation_h
    fits_h = [top for top in range(-pad_h, height, one.stride_h) if top + reach < height + pad_h]
    fits_w = [left for left in range(-pad_w, width) if left + s <= width + pad_w]
    assert (len(fits_h), len(fits_w)) == (rows, columns)


@each(
    ("arguments", "message"),
    [
        (
            {"stride": (1, 2)},
            "the stride along W is 2, so the next output does not read the next activation",
        ),
        (
            {"dilation": (1, 2)},
            "the dilation along W is 2, so the next tap does not read the next activation",
        ),
        ({"taps": (10, 3)}, "the taps along H span 10 rows, but H and its padding have 9; P = 0"),
        ({"dilation": (5, 1)}, "the taps along H span 11 rows, but H and its padding have 9; P = 0"),
        ({"taps": (3, 12), "padding": (0, 1)}, "S is 12, but W and its padding have 11; Q = 0"),
        ({"padding": (0, 2)}, "the padding along W is 2, so a row has more outputs .*; Q = 11, W = 9, S = 3"),
        ({"taps": (3,)}, r"taps is \(3,\), which is not two numbers, along H and W"),
        ({"taps": "33"}, "taps is '33', which is not two numbers"),
        ({"taps": (3, 0)}, "taps along W is 0, but the minimum is 1"),
        ({"padding": (-1, 0)}, "padding along H is -1, but the minimum is 0"),
        ({"images": 0}, "images is 0, but the minimum is 1"),
        ({"width": 1 << 40}, "W is "),
    ],
)
def test_what_cannot_be_shifted_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        shift_problem(**{**EXAMPLE, **arguments})


def test_a_masked_output_would_read_another_image() -> None:
    one = shift_problem(**EXAMPLE, padding=(1, 1))
    for place in range(18):
        for s in range(3):
            place_read = place + s - 1
            assert one.masked(place, s) == (place_read // 9 != place // 9)


def test_places_that_are_no_output_are_not_masked() -> None:
    one = shift_problem(**EXAMPLE)
    assert [one.output(place) for place in (6, 7, 8, 9, 18)] == [(0, 6), None, None, (1, 0), None]
    assert not any(one.masked(place, s) for place in range(30) for s in range(3))
