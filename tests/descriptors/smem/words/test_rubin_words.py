"""Shared-memory words of sm107 against those of NVIDIA's DSL, and what a word of sm100 cannot hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors.errors import DescriptorError, FieldError
from descriptors.smem.words.descriptor import SM100_DESCRIPTOR, SM107_DESCRIPTOR, SmemDescriptor, architecture

ROWS = json.loads((VECTORS / "rubin_words.json").read_text(encoding="utf-8"))["shared_memory"]
WORDS = [row for row in ROWS if str(row.get("sm107", "")).startswith("0x")]


def described(word: int, arch: Any) -> SmemDescriptor:
    """The descriptor of an architecture with the fields of a word of sm107."""
    read = SM107_DESCRIPTOR.decode(word)
    return SmemDescriptor(
        arch, read["leading_byte_offset"], read["stride_byte_offset"], read["swizzle"], read["start_address"],
        read["base_offset"], bool(read["lbo_mode"]), **({"row_half": 1} if read["row_half"] else {}),
    )  # fmt: skip


def test_every_word_of_the_dsl_is_read_and_written_again() -> None:
    assert len(WORDS) > 200
    for row in WORDS:
        word = int(row["sm107"], 16)
        assert not SM107_DESCRIPTOR.unknown_bits(word)
        assert described(word, "sm107").encode() == word
        assert (
            SM107_DESCRIPTOR.decode(word)["start_address"] % (1 << 19) == SM107_DESCRIPTOR.decode(word)["start_address"]
        )


def test_a_word_of_sm100_is_the_same_or_refused_where_the_tool_drops_a_bit() -> None:
    dropped = 0
    for row in WORDS:
        if not str(row.get("sm100", "")).startswith("0x"):
            continue
        word, older = int(row["sm107"], 16), int(row["sm100"], 16)
        one = described(word, "sm100")
        if word == older:
            assert one.encode() == older
            assert not SM100_DESCRIPTOR.unknown_bits(older)
        else:
            dropped += 1
            assert word & ~older in (1 << 14, 1 << 30)
            with pytest.raises(FieldError, match=r"must lie in \[0, 262128\]"):
                one.encode()
    assert dropped > 5


def test_the_half_of_a_row_is_a_bit_of_sm107() -> None:
    one, other = (SmemDescriptor("sm107", 16, 1024, "128B", row_half=half).encode() for half in (0, 1))  # type: ignore[arg-type]
    assert other ^ one == 1 << 53
    with pytest.raises(DescriptorError):
        SmemDescriptor("sm100", 16, 1024, "128B", row_half=1).encode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "told"),
    [("sm103", "say sm100"), ("sm_110a", "say sm100"), ("sm107", "SmemDescriptor"), ("SM120", "reads no words")],
)
def test_another_architecture_is_refused_with_what_is_known_of_it(name: str, told: str) -> None:
    with pytest.raises(DescriptorError, match=told):
        architecture(name)
