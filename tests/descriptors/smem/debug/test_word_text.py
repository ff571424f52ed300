"""A decoded word as text and data: remarks say the right numbers."""

from __future__ import annotations

import pytest

from descriptors import SmemDescriptor, SwizzleMode, decode, record, tell

#: Rows that the hardware walks by itself between two steps, and the bytes that they take, by the PTX manual.
GROUPS = {"none": (8, 128), "32B": (8, 256), "64B": (8, 512), "128B": (8, 1024), "128B_BASE32B": (4, 512)}


@pytest.mark.parametrize("swizzle", SwizzleMode, ids=str)
def test_a_step_that_is_too_small_is_told_with_the_rows_and_bytes_of_a_group(swizzle: SwizzleMode) -> None:
    rows, size = GROUPS[str(swizzle)]
    word = SmemDescriptor("sm100", 8192, 16, swizzle).encode()
    line = f"warning: stride_byte_offset: 16, so groups overlap: a group of {rows} rows has {size} bytes "
    assert line in tell(decode(word, "sm100"))
    same = SmemDescriptor("sm100", 8192, 0, swizzle).encode()
    assert f"0, so all groups are read from the same bytes: a group of {rows} rows has {size} bytes " in tell(
        decode(same, "sm100")
    )
    enough = SmemDescriptor("sm100", 8192, size, swizzle).encode()
    assert "stride_byte_offset: " not in tell(decode(enough, "sm100"))


def test_text_and_data_hold_the_same_remarks() -> None:
    decoded = decode(0x0010000002001000, "sm90")
    text, data = tell(decoded), record(decoded)
    assert text.splitlines()[0] == decoded.headline == "0x0010000002001000: sm90 shared-memory descriptor"
    for kind in ("warnings", "notes"):
        assert [one["text"] for one in data[kind]] == [one.text for one in getattr(decoded, kind)]
    assert all(one["text"] in text for one in (*data["warnings"], *data["notes"]))
