"""Single im2col copies as they are put to a GPU: maps that its driver takes, models that their controls differ from."""

from __future__ import annotations

import doctest

import numpy as np

from descriptors.smem.words.tensor_map import Im2colWindow
from probes import im2col
from probes.im2col import ROOM, controls, drawn, expected, tensor_of


def test_the_examples_run() -> None:
    assert doctest.testmod(im2col).failed == 0


def test_the_drawn_copies_are_taken_by_the_driver_and_begin_everywhere() -> None:
    cases = drawn(200, 1)
    assert not any(one.refusals() for one, _ in cases)
    assert all(one.row_pitch_bytes * one.box.pixels <= ROOM for one, _ in cases if isinstance(one.box, Im2colWindow))
    assert {place[1] < 0 for _, place in cases} == {place[2] < 0 for _, place in cases} == {False, True}
    assert {one.swizzle for one, _ in cases} == {0, 1, 2, 3}
    assert {one.element_strides[1] for one, _ in cases} == set(range(1, 9))


def test_another_corner_or_stride_lands_elsewhere_in_most_cases() -> None:
    differing = 0
    for number, (one, place) in enumerate(drawn(40, 1)):
        tensor = tensor_of(one, number)
        wanted = expected(one, place, tensor)
        differing += sum(bool((expected(other, place, tensor) != wanted).any()) for other in controls(one))
        there = np.isin(wanted[wanted != 0xA5A5], [0, *tensor.ravel()])
        assert there.all()
    assert differing >= 20
