"""The matcher's door takes one operand, in any unit."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError, match


def test_match_takes_a_layout_in_any_unit() -> None:
    matches = [
        match("(64,16):(64,1)", "bf16", "K", "128B"),
        match("S<3,3,3> o 0 o (64,16):(64,1)", "bf16"),
        match("S<3,4,3> o 0 o (64,16):(64,1)", "bf16", unit="cute"),
        match("S<3,4,3> o 0 o (64,32):(128,1)", "bf16", unit="bytes"),
    ]
    assert all(found == matches[0] for found in matches)
    assert (matches[0].leading_byte_offset, matches[0].stride_byte_offset) == (16, 1024)


@pytest.mark.parametrize("layout", ["(64,16,2):(64,1,0)", "64:1", "((64,16),2):((64,1),16)"])
def test_match_wants_one_operand(layout: str) -> None:
    with pytest.raises(DescriptorError):
        match(layout, "bf16", "K", "128B")
