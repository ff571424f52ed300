"""Families: what is said to be proved for every size is right for the sizes that one tries."""

from __future__ import annotations

import dataclasses
import random

import pytest
from derived import K_128, unproved
from seeds import seeds_of
from spoilt import right

from descriptors import DescriptorError, derive, verify
from descriptors.smem.derivation.proved import family_of


@pytest.mark.parametrize("seed", seeds_of("test_other_sizes_of_a_family_are_proved_element_by_element"))
def test_other_sizes_of_a_family_are_proved_element_by_element(seed: int) -> None:
    rng, others = random.Random(seed), 0
    for _ in range(120):
        d = right(rng)
        family = family_of(d)
        if not family:
            continue
        tile = [eval(one, {}, {"m": rng.randint(1, 4), "k": rng.randint(1, 4), "s": 2}) for one in family]  # noqa: S307
        try:
            other = unproved(
                tile=tile, dtype=d.element, major=d.major, swizzle=d.swizzle, mma=d.mma, order=d.order, arch=d.arch
            )
        except DescriptorError:
            continue  # too large for shared memory
        others += 1
        assert verify(other).ok and family_of(other) == family
    assert others > 40


@pytest.mark.parametrize(
    ("arguments", "family"),
    [
        ({}, "64*m x 64*k"),
        ({"mma": (128, 16)}, "128*m x 64*k"),
        ({"tile": (128, 128, 3)}, "64*m x 64*k x s"),
        ({"swizzle": "none", "tile": (96, 48), "mma": (96, 16)}, "96*m x 16*k"),
        ({"major": "MN", "swizzle": "64B"}, "64*m x 16*k"),
        ({"mma": (64, 32)}, "64*m x 64*k"),  # of an operand that no instruction reads, too
        ({"dtype": "e2m1", "tile": (24, 1536), "mma": (8, 96), "arch": "sm103"}, "8*m x 768*k"),
        (
            {"dtype": "e2m1", "tile": (256, 768, 2), "mma": (128, 96), "capacity": None, "arch": "sm103"},
            "128*m x 768*k x s",
        ),
    ],
)
def test_the_family_is_of_whole_atoms_and_whole_operands(arguments: dict[str, object], family: str) -> None:
    assert " x ".join(family_of(unproved(**{**K_128, **arguments}))) == family


def test_a_tile_of_no_family_is_of_none() -> None:
    d = unproved(**K_128)
    assert family_of(derive(layout=d.smem_tile, dtype="bf16", mma=(64, 16))) == ()
    wrong = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, stride_byte_offset=512))
    assert family_of(wrong) == ()
    unread = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, leading_byte_offset=512))
    assert family_of(unread) == ("64*m", "64*k")
    other = unproved(tile=(128, 128), dtype="tf32", major="MN", swizzle="128B_BASE32B", mma=(64, 8),
                     atom="MN_SW128_32B_4ROWS")  # fmt: skip
    assert family_of(other) == ()
