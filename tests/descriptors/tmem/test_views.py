"""Strides, dilations and padding along W through views: right as drawn, spoilt ones wrong, and what no copy takes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from each import each
from seeds import seeds_of

from descriptors import DescriptorError, TmaError, record, shift_convolution, shift_views, tell
from descriptors.smem.words.tensor_map import Im2colWindow
from descriptors.tmem.shift_copies import RowCopies
from descriptors.tmem.shift_text import row_maps
from layoutalg.frozen import replace

ONE: dict[str, Any] = {"activations": (3, 7, 9, 16), "filters": (16, 3, 3), "stride": 2, "padding": 1}


def drawn(source: random.Random) -> dict[str, Any]:
    dtype, step = source.choice((("bf16", 16), ("tf32", 8), ("s8", 32)))
    return {
        "activations": (source.randint(1, 5), source.randint(3, 6), source.randint(9, 40), step),
        "filters": (32, source.randint(1, 3), source.randint(1, 5)),
        "stride": (source.randint(1, 2), source.randint(1, 4)), "dilation": (1, source.choice((1, 2, 3, 4))),
        "padding": (source.randint(0, 2), source.randint(0, 6)), "dtype": dtype,
        "cta_group": source.randint(1, 2), "quarters": source.choice(("all", "one")),
        "start": source.choice(("clear", "middle")),
    }  # fmt: skip


@pytest.mark.parametrize("seed", seeds_of("test_drawn_views_add_up_to_the_convolution"))
def test_drawn_views_add_up_to_the_convolution(seed: int) -> None:
    source, proved = random.Random(seed), 0
    while proved < 15:
        arguments = drawn(source)
        try:
            made = shift_views(**arguments)
        except DescriptorError as error:
            assert "stride is at most 8" in str(error) or "the taps along H span" in str(error)
            continue
        report = made.verify(seed)
        assert report.ok, (arguments, report)
        proved += 1


def test_one_view_of_a_plain_convolution_has_its_outputs_without_masks() -> None:
    made = shift_views((2, 9, 9, 16), (16, 3, 3), padding=1)
    assert (
        len(made.views) == 1
        and made.verify().outputs == shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).verify().outputs
    )
    masks = {mask for step in made.parts[0].steps() for mask in step.masks}
    assert masks == {0}


@each("change", [{"first": 0}, {"step": 1}, {"step": 3}])
def test_a_view_that_begins_elsewhere_is_wrong(change: dict[str, int]) -> None:
    made = shift_views(**ONE)
    part = replace(made.parts[0], problem=replace(made.parts[0].problem, **change))
    spoilt = replace(made, parts=(part, *made.parts[1:]))
    assert made.verify().ok and not spoilt.verify().ok


@each(
    ("change", "message"),
    [
        ({"stride": (1, 9)}, "the step of a view is 9, "),
        ({"stride": (1, 3), "dilation": (1, 4)}, "the step of a view is 12, "),
        ({"padding": (0, 129)}, "pixelBoxLowerCorner is (-129, 0), which is not in [-128, 127]"),
        ({"filters": (16, 3, 99), "padding": (0, 60)}, ""),
    ],
)
def test_what_no_tensor_copy_takes_is_refused(change: dict[str, Any], message: str) -> None:
    arguments = {**ONE, "stride": 1, "activations": (3, 7, 19, 16), **change}
    if not message:  # far taps alone are no reason
        assert shift_views(**arguments).verify().ok
        return
    with pytest.raises(TmaError) as error:
        shift_views(**arguments)
    assert message in str(error.value)


def test_too_much_to_simulate_is_refused() -> None:
    with pytest.raises(DescriptorError, match="multiplications, and the maximum is 10000"):
        shift_views((3, 900, 90, 32), (16, 3, 3), stride=(1, 2)).verify()


@each("width", [1, 2, 5, 9])
@each("padding", [0, 1, 2])
def test_a_flat_row_is_copied_with_zeros_before_its_first_place(width: int, padding: int) -> None:
    one = shift_convolution(4, 3, width, 16, 16, (1, 2 * padding + 1), (0, padding)).problem
    x = np.arange(1, 4 * 3 * width + 1).reshape(4, 3, width, 1)
    for h in range(3):
        copied = RowCopies(one).rows(x, h, (-padding,), 128).ravel().tolist()
        flat = x[:, h].ravel().tolist()
        assert copied[: padding + len(flat)] == [0] * padding + flat
        assert not any(copied[padding + len(flat) : padding + len(flat) + 64])


def test_maps_stand_in_text_and_data() -> None:
    made = shift_convolution(2, 9, 9, 16, 16, (3, 3), (0, 1))
    (load, word), (refresh, _) = row_maps(made)
    assert isinstance(load.box, Im2colWindow) and isinstance(refresh.box, Im2colWindow)
    assert (load.box.pixels, refresh.box.pixels, load.refusals(), refresh.refusals()) == (128, 1, (), ())
    kept = record(made)["tensor_maps"]
    assert kept["load"]["by"] == "cuTensorMapEncodeIm2col" and int(kept["load"]["word"], 16) == word
    assert "type=BFLOAT16 extents=16x9x2x9" in tell(made)
    views = shift_views(**ONE)
    report = views.verify()
    assert tell(views, report=report).splitlines()[-1] == tell(report) == report.headline
    assert [one["q"] for one in record(views, report=report)["views"]] == [list(range(5))] * 2
    assert record(report)["ok"] is True
