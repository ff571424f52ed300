"""Lattices of operands: ranges, names, and as many points as they say."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors import DescriptorError
from descriptors.sweep.atlas import key_of
from descriptors.sweep.lattice import extents, lattice


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("64", (64,)),
        ("64,128", (64, 128)),
        ("1:4", (1, 2, 3, 4)),
        ("64:256:64", (64, 128, 192, 256)),
        ("8:20:8,9", (8, 16, 9)),
    ],
)
def test_extents_are_ranges_with_both_ends(text: str, numbers: tuple[int, ...]) -> None:
    assert extents(text) == numbers


@each("text", ["", "x", "0", "8:4", "8::2", "1:2:3:4", "-1", "1:9999999999", "1:999999999", "8:16:0", None, "٣"])
def test_what_is_no_range_is_refused(text: Any) -> None:
    with pytest.raises(DescriptorError, match="atlas: "):
        extents(text)


@each(
    "wrong",
    [
        {"tile": "128"}, {"tile": "1x2x3x4"}, {"mma": "64"}, {"dtypes": "bf17"}, {"majors": "Q"}, {"swizzles": "256B"},
        {"orders": "km"}, {"archs": "sm80"}, {"operands": "C"}, {"dtypes": 7}, {"tile": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_lattice_of_unknown_names_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DescriptorError):
        lattice(**{"tile": "128x128", **wrong})


def test_the_length_of_a_lattice_is_the_number_of_its_points() -> None:
    points = lattice(
        "64:256:64x48:96:16x1:3", "64,128x16,auto".replace(",auto", ""), operands="A,B,either", orders="all"
    )
    assert len(points) == len(list(points)) == len(set(map(key_of, points)))
    assert {len(point["order"]) for point in points} == {3}


def test_a_lattice_of_any_size_is_walked_and_never_held() -> None:
    points = lattice("1:1000000x1:1000000", "64xauto", dtypes="bf16,e2m1", archs="sm100", swizzles="128B", majors="K")
    assert len(points) == 2 * 15_625 * (62_500 + 15_625)
    assert next(iter(points))["tile"] == (64, 16)
