"""The shared-memory descriptor of either architecture refuses fields that it cannot hold."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError, SmemDescriptor


@pytest.mark.parametrize(
    "wrong",
    [{"arch": "sm80"}, {"arch": None}, {"swizzle": "256B"}, {"start_address": 8}, {"stride_byte_offset": 2**18}],
)
def test_a_descriptor_of_wrong_fields_is_refused(wrong: dict[str, Any]) -> None:
    fields = {"arch": "sm100", "leading_byte_offset": 16, "stride_byte_offset": 1024, "swizzle": "128B"}
    with pytest.raises(DescriptorError):
        SmemDescriptor(**{**fields, **wrong}).encode()
