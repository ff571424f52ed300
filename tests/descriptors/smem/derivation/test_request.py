"""Requests: names and typed values ask for the same, and what is behind the door is typed."""

from __future__ import annotations

from typing import Any

import pytest
from derived import ALGEBRA, tiles
from hypothesis import given

from descriptors import DescriptorError, derive
from descriptors.cli.command import main
from descriptors.smem.derivation.derive import derived
from descriptors.smem.derivation.request import reader, request
from descriptors.smem.operands.operand import as_element_type, as_major, as_swizzle_mode
from descriptors.smem.words.descriptor import SMEM_BYTES


@given(tiles())
def test_names_in_any_case_and_typed_values_are_one_request(arguments: dict[str, Any]) -> None:
    d = arguments
    by_name = reader(d["arch"].upper(), d["dtype"].upper(), list(d["mma"]), legality="off")
    typed = reader(d["arch"], as_element_type(d["dtype"]), d["mma"], legality="off")
    assert by_name == typed
    requests = [
        request(
            by_name, list(d["tile"]), major=d["major"].lower(), swizzle=d["swizzle"].lower(), order=list(d["order"])
        ),
        request(typed, d["tile"], major=as_major(d["major"]), swizzle=as_swizzle_mode(d["swizzle"]), order=d["order"]),
    ]
    assert requests[0] == requests[1]


def test_deriving_a_request_is_deriving_its_arguments() -> None:
    by = reader("sm100", "bf16", (64, 16), legality="off")
    one = request(by, (128, 64), major="K", swizzle="64B", capacity=SMEM_BYTES)
    assert derived(one) == derive((128, 64), "bf16", "K", "64B", (64, 16), **ALGEBRA)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tile": (64, 16), "layout": "(64,16):(16,1)"}, "derive: "),
        ({}, "derive: "),
    ],
)
def test_a_tile_is_given_in_one_way(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        request(reader("sm100", "bf16", (64, 16)), wrong.get("tile"), wrong.get("layout"), major="K", swizzle="32B")


@pytest.mark.parametrize("kind", [3, True, ("f16",)])
def test_a_kind_is_a_name(kind: object) -> None:
    with pytest.raises(DescriptorError, match=r"derive: kind .* is not a name"):
        reader("sm100", "bf16", (64, 16), kind=kind)  # type: ignore[arg-type]


def test_the_capacity_that_is_left_out_is_that_of_the_architecture() -> None:
    tile: dict[str, Any] = {"dtype": "bf16", "major": "K", "swizzle": "128B", "tile": (1024, 128), "mma": (64, 16)}
    assert derive(**tile, arch="sm107").capacity == 334848
    for options, most in (({"arch": "sm103"}, 232448), ({"arch": "sm107", "capacity": 232448}, 232448)):
        with pytest.raises(DescriptorError, match=f"needs 262144 bytes, but a CTA has {most} bytes of shared memory"):
            derive(**tile, **options)
    large = derive(**tile, arch="sm107", capacity=None)
    assert large.advance_report(65536).fits_memory and not large.advance_report(131072).fits_memory


@pytest.mark.parametrize(("options", "status"), [
    (["--arch", "sm107"], 0), (["--arch", "sm100"], 2), (["--arch", "sm107", "--capacity", "232448"], 2),
    (["--arch", "sm100", "--capacity", "none"], 0),
])  # fmt: skip
def test_the_command_has_the_same_capacity(options: list[str], status: int) -> None:
    tile = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", "1024x128", "--mma", "64x16"]
    assert main(["derive", *tile, *options, "--no-verify"]) == status
