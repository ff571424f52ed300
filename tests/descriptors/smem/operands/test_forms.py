"""The canonical forms are those that the PTX ISA draws, and there is none where it draws none."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.operand import Major, SwizzleMode


@pytest.mark.parametrize(
    ("major", "swizzle", "text"),
    [
        ("K", "none", "K-major none ((8,m),(1,k)):((1,SBO),(-,LBO))"),
        ("K", "32B", "K-major 32B ((8,m),(1,k)):((2,SBO),(-,1))"),
        ("K", "64B", "K-major 64B ((8,m),(1,k)):((4,SBO),(-,1))"),
        ("K", "128B", "K-major 128B ((8,m),(1,k)):((8,SBO),(-,1))"),
        ("MN", "none", "MN-major none ((1,m),(8,k)):((-,SBO),(1,LBO))"),
        ("MN", "32B", "MN-major 32B ((2,m),(8,k)):((1,LBO),(2,SBO))"),
        ("MN", "64B", "MN-major 64B ((4,m),(8,k)):((1,LBO),(4,SBO))"),
        ("MN", "128B", "MN-major 128B ((8,m),(8,k)):((1,LBO),(8,SBO))"),
        ("MN", "128B_BASE32B", "MN-major 128B_BASE32B ((8,m),(4,k)):((1,LBO),(8,SBO))"),
    ],
)
def test_the_forms_are_those_of_the_ptx_isa_counted_in_16_bytes(major: str, swizzle: str, text: str) -> None:
    assert str(form(Major(major), SwizzleMode(swizzle))) == text


def test_there_is_no_k_major_form_with_32_byte_pieces() -> None:
    with pytest.raises(DescriptorError, match="128B_BASE32B"):
        form(Major.K, SwizzleMode.B128_BASE32B)
