"""Operands and copies against the tables: what every source allows, what any does, and what none."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from each import each

from descriptors.smem.instructions.legality import check_copy, check_major, check_operand, check_operand_tile
from descriptors.smem.instructions.rules import IllegalError, Legality
from descriptors.smem.operands.operand import Major

MODES = get_args(Legality)


def passes(check: Any, *arguments: Any, **options: Any) -> bool:
    try:
        check(*arguments, **options)
    except IllegalError:
        return False
    return True


@each(
    ("arch", "kind", "dtype", "major", "swizzle", "modes"),
    [
        ("sm100", "f16", "bf16", "MN", "64B", "strict lenient off"),
        ("sm100", "f16", "bf16", "MN", "128B_BASE32B", "off"),
        ("sm100", "f16", "bf16", "K", "128B_BASE32B", "lenient off"),
        ("sm100", "tf32", "tf32", "MN", "128B", "off"),
        ("sm100", "tf32", "tf32", "MN", "128B_BASE32B", "strict lenient off"),
        ("sm100", "f8f6f4", "e4m3", "MN", "none", "strict lenient off"),
        ("sm100", "f8f6f4", "e2m3", "K", "32B", "strict lenient off"),
        ("sm100", "f8f6f4", "e2m3", "MN", "128B", "lenient off"),
        ("sm100", "f8f6f4", "e2m1_unpacksmem", "MN", "128B", "lenient off"),
        ("sm100", "f8f6f4", "e2m1", "K", "128B", "off"),
        ("sm100", "mxf4", "e2m1", "K", "128B", "strict lenient off"),
        ("sm100", "mxf4nvf4", "e2m1", "MN", "128B", "off"),
        ("sm100", "mxf4", "e2m1_unpacksmem", "K", "128B", "off"),
        ("sm90", "f16", "f16", "MN", "32B", "strict lenient off"),
        ("sm90", "f16", "f16", "K", "128B_BASE32B", "off"),
        ("sm90", "f8", "e4m3", "MN", "128B", "off"),
        ("sm90", "tf32", "tf32", "MN", "none", "off"),
    ],
)
def test_type_major_and_swizzle(arch: str, kind: str, dtype: str, major: str, swizzle: str, modes: str) -> None:
    allowing = [mode for mode in MODES if passes(check_operand, arch, kind, dtype, major, swizzle, legality=mode)]
    assert allowing == modes.split()


def test_the_major_alone_is_checked_where_no_swizzle_is_known() -> None:
    assert check_major("sm100", "tf32", "tf32", Major.MN)
    with pytest.raises(IllegalError, match="major is MN, but must be K"):
        check_major("sm100", "mxf4", "e2m1", Major.MN)
    with pytest.raises(IllegalError, match="major is MN, but must be K; for sm100 f16 bf16, A in tmem"):
        check_major("sm100", "f16", "bf16", Major.MN, a_source="tmem")


@each(
    ("arguments", "options", "good"),
    [
        (("sm100", "bf16", "MN", "64B", (64, 16)), {}, True),
        (("sm100", "bf16", "K", "128B", (128, 16)), {"matrix": "A"}, True),
        (("sm100", "bf16", "K", "128B", (256, 16)), {"matrix": "A"}, False),
        (("sm100", "bf16", "K", "128B", (256, 16)), {"matrix": "B"}, True),
        (("sm100", "bf16", "K", "128B", (256, 16)), {"matrix": "B", "cta_group": 2}, False),
        (("sm100", "bf16", "K", "128B", (128, 16)), {"matrix": "B", "cta_group": 2}, True),
        (("sm100", "bf16", "K", "128B", (64, 32)), {}, False),
        (("sm100", "bf16", "K", "128B", (64, 16)), {"matrix": "A", "sparse": True}, True),
        (("sm100", "bf16", "K", "128B", (64, 32)), {"matrix": "B", "sparse": True}, True),
        (("sm100", "e2m1", "K", "128B", (128, 64)), {}, True),
        (("sm103", "e2m1", "K", "128B", (128, 96)), {}, True),
        (("sm100", "e2m1", "K", "128B", (128, 96)), {}, False),
        (("sm90", "bf16", "K", "128B", (64, 16)), {"matrix": "A"}, True),
        (("sm90", "bf16", "K", "128B", (128, 16)), {"matrix": "A"}, False),
        (("sm90", "s8", "K", "128B", (40, 32)), {"matrix": "B"}, False),
        (("sm90", "bf16", "K", "128B", (64, 16)), {"cta_group": 2}, False),
    ],
)
def test_what_one_instruction_reads_of_an_operand_in_one_cta(arguments: Any, options: Any, good: bool) -> None:
    assert passes(check_operand_tile, *arguments, **options) == good
    assert passes(check_operand_tile, *arguments, **options, legality="off")


@pytest.mark.parametrize(
    ("shape", "multicast", "good"),
    [
        ("128x256b", None, True),
        ("128x256b", "warpx4", False),
        ("64x128b", "warpx2::01_23", True),
        ("64x128b", None, False),
        ("32x128b", "warpx4", True),
    ],
)
def test_copies_and_their_multicast(shape: str, multicast: str | None, good: bool) -> None:
    assert passes(check_copy, shape, multicast) == good
