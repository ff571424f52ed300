"""The story and the explanation of a derivation: right words for A, B, copies, explicit layouts and stages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from derived import derive_or_none, tiles
from hypothesis import given

from descriptors import DescriptorError, SwizzleMode, derive, explain, plain, record, tell

GOOD: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


@given(arguments=tiles())
def test_every_derivation_can_be_told(arguments: dict[str, Any]) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    story, data = tell(d, steps=True, base=0x2000), record(d, base=0x2000)
    assert story.startswith(tell(d, base=0x2000) + "\n\n")
    assert not [line for line in story.splitlines() if line.rstrip() != line]
    assert f"0x{d.descriptor_at(0x2000).encode():016x}" in story
    assert data["descriptor"]["word"] in story
    assert json.loads(json.dumps(data))["reach"]["subtiles"] == data["reach"]["subtiles"]
    assert str(d.descriptor.stride_byte_offset) in explain(d)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ("An operand of 64x16", "16 bytes along K; unused in this mode", "next 8 rows along MN; taken 7 times")),
        ({"operand": "A"}, ("An A operand", "next 8 rows along M; taken 7 times")),
        (
            {"operand": "B", "mma": (8, 16)},
            ("A B operand", "next 8 rows along N; never taken, the operand ends before"),
        ),
        (
            {"major": "MN", "swizzle": "none"},
            ("next 8 k; taken 1 time.", "16 bytes along MN; taken 7", "at base_offset [49,52): words"),
        ),
        ({"major": "MN", "swizzle": "64B"}, ("next atom along MN; taken 1 time.", "8 k; taken 1 time.")),
        (
            {"major": "MN", "swizzle": "64B"},
            ("at base_offset [51,52), above the lines that the swizzle repeats after:",),
        ),
        ({"major": "MN", "swizzle": "128B", "tile": (128, 64), "mma": (128, 16)}, ("Every field matters",)),
        (
            {"major": "MN", "swizzle": "128B_BASE32B", "dtype": "tf32", "mma": (64, 8)},
            ("next 4 k; taken 1 time.", "S<2,5,2>"),
        ),
        ({"arch": "sm90"}, ("0x3ff1c000c000c000, are ignored too, as measured on an H200",)),
        ({}, ("may differ in 0x000000003fff0000", "multiple of 1024 bytes", "16 subtiles start at 0 to 24672")),
    ],
)
def test_the_meaning_of_each_field_is_said_in_words(arguments: dict[str, Any], words: tuple[str, ...]) -> None:
    text = explain(derive(**{**GOOD, **arguments}))
    for word in words:
        assert word in text


def test_only_a_derivation_is_explained() -> None:
    with pytest.raises(DescriptorError, match="explain: 7 is not a derivation"):
        explain(7)  # type: ignore[arg-type]


def test_the_story_names_the_operand_by_its_letter() -> None:
    story = tell(derive(**GOOD, operand="B"), steps=True)
    assert "of a B operand: bf16" in story
    assert "subtiles N" in story
    assert "stacked along N, then along K" in story
    assert "n \\ k" in story
    assert "MN" not in story.replace("K-major 128B", "")


def test_the_story_of_a_copy_names_the_copy() -> None:
    story = tell(derive((128, 64), "bf16", "K", "128B", cp="128x256b"), steps=True)
    assert "of tcgen05.cp.128x256b: bf16, K-major" in story
    assert "what one tcgen05.cp.128x256b reads: zipped_divide by (128,16)" in story


def test_the_story_of_an_explicit_layout_tells_of_no_atom() -> None:
    story = tell(derive(layout="S<3,3,3> o 0 o (64,64,2,3):(64,1,4096,8192)", dtype="bf16", mma=(64, 16)), steps=True)
    assert "the layout given, 64x64x2x3 bf16 elements" in story
    assert "atom  " not in story
    assert "   stage (1,2)\n" in story


def test_a_table_of_too_many_subtiles_is_not_listed() -> None:
    story = tell(derive(**{**GOOD, "tile": (2**20, 2**10)}, capacity=None, verify=False), steps=True)
    assert "1048576 subtiles are too many to list." in story


def test_the_swizzle_is_told_only_where_the_tile_has_one() -> None:
    sentence = "then permutes element offsets; on byte addresses it is"
    swizzled = derive(**GOOD)
    assert f"S<3,3,3> {sentence} S<3,4,3>." in tell(swizzled, steps=True)
    assert sentence not in tell(derive(**{**GOOD, "swizzle": "none"}), steps=True)
    assert sentence not in tell(
        derive(layout="((8,16),(8,4)):((8,64),(1,1024))", dtype="bf16", swizzle="none", mma=(128, 16)), steps=True
    )
    # A tile whose layout and mode disagree comes out of no derivation; the sentence needs both all the same.
    assert sentence not in tell(replace(swizzled, smem_tile=plain(swizzled.smem_tile)), steps=True)
    assert sentence not in tell(replace(swizzled, swizzle=SwizzleMode.NONE), steps=True)
