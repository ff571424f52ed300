"""The notation of events."""

from __future__ import annotations

import pytest
from each import each

from descriptors import DescriptorError
from descriptors.check import events
from descriptors.check.events import parse_event


@each(
    "line",
    [
        "alloc d 64", "relinquish", "dealloc d", "dealloc d 64", "ld d 32x32b.x8", "st d+8@32 16x256b.x4 warp 1",
        "ld d 16x128b.x1.pack::16b", "cp sf+4 32x128b.warpx4", "mma d 64", "mma d+4@16 64 sparse idesc 0x8200014",
        "shift a@32",
    ],
)  # fmt: skip
def test_an_event_reads_back(line: str) -> None:
    assert str(parse_event(line)) == line
    assert eval(repr(parse_event(line)), vars(events)) == parse_event(line)  # noqa: S307


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "'' is not an event"),
        ("free d", "'free d' is not an event; supported: alloc, relinquish"),
        ("alloc d", "'alloc d' is not a valid event; its form is alloc NAME COLUMNS .exclusive."),
        ("ld d", "its form is ld PLACE SHAPE.xN"),
        ("mma d 64 dense", "its form is mma PLACE COLUMNS"),
        ("relinquish all", "its form is relinquish"),
        (7, "7 is not an event"),
    ],
)
def test_what_is_no_event_is_refused(line: str, told: str) -> None:
    with pytest.raises(DescriptorError, match=told):
        parse_event(line)
