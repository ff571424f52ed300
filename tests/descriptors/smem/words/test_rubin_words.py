"""Shared-memory words of sm107 against those of NVIDIA's DSL, and what a word of sm100 cannot hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors import decode, derive, verify
from descriptors.errors import DescriptorError, FieldError
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import proved
from descriptors.smem.words.descriptor import SM100_DESCRIPTOR, SM107_DESCRIPTOR, SmemDescriptor, architecture
from layoutalg.frozen import replace

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
            with pytest.raises(FieldError, match=r"which is not in \[0, 262128\]"):
                one.encode()
    assert dropped > 5


def test_the_half_of_a_row_is_a_bit_of_sm107() -> None:
    one, other = (SmemDescriptor("sm107", 16, 1024, "128B", row_half=half).encode() for half in (0, 1))  # type: ignore[arg-type]
    assert other ^ one == 1 << 53
    with pytest.raises(DescriptorError):
        SmemDescriptor("sm100", 16, 1024, "128B", row_half=1).encode()  # type: ignore[arg-type]


def derived(row: dict[str, Any], arch: str) -> Derivation:
    """The derivation of the operand that a row's word is of."""
    return derive(
        tuple(row["tile"]), row["dtype"], row["major"], row["swizzle"], tuple(row["mma"]), arch=arch, capacity=None,
        order=tuple(row["order"]), legality="off", verify=False,
    )  # fmt: skip


def test_a_derivation_of_sm107_has_the_word_of_the_dsl_and_one_of_sm100_is_refused_where_a_bit_is_dropped() -> None:
    equal = dropped = 0
    for row in (row for row in WORDS if "next_start" not in row):
        base, subtile = row["start"], row["subtile"]
        try:
            d = derived(row, "sm107")
            d.descriptor_at(base)
        except DescriptorError:  # rows of 32 bytes that an instruction of 64 bytes would leave; unaligned starts
            continue
        assert d.word(*subtile, base=base) == int(row["sm107"], 16)
        equal += 1
        if row["sm100"] == row["sm107"]:
            assert derived(row, "sm100").word(*subtile, base=base) == int(row["sm100"], 16)
        elif str(row.get("sm100", "")).startswith("0x"):
            dropped += 1
            with pytest.raises(FieldError, match=r"is not in \[0, 262128\]; sm_107a has 15 bits for this field"):
                derived(row, "sm100").word(*subtile, base=base)
    assert equal > 240 and dropped > 5


def test_words_above_the_window_of_sm100_are_proved_by_walk_and_theorem() -> None:
    d = derive((128, 128), "bf16", "K", "128B", (128, 16), arch="sm107", capacity=None)
    base = 1 << 18
    assert verify(d, bases=(base,)).ok and proved(d, base=base).step == 1024
    assert read(d.word(0, 1, base=base), "sm107", dtype="bf16", major="K", shape=(128, 16)).addresses[0][0] == base + 32
    with pytest.raises(DescriptorError, match="a base is 262144, but the maximum is 262143"):
        verify(replace(d, descriptor=replace(d.descriptor, arch="sm100")), bases=(base,))
    wide = derive((128, 2048), "bf16", "MN", "128B", (128, 16), arch="sm107", capacity=None, order=(0, 1), verify=False)
    assert max(wide.descriptor.leading_byte_offset, wide.descriptor.stride_byte_offset) <= base


def test_where_operands_cross_atoms_lbo_is_an_address_of_15_bits() -> None:
    rows = [row for row in WORDS if "next_start" in row]
    for row in rows:  # the DSL is told where K goes on; a tile goes on in its next column of atoms
        told = SmemDescriptor("sm107", row["next_start"], 1024, "128B", row["start"] + 96, leading_is_absolute=True)  # type: ignore[arg-type]
        assert told.encode() == int(row["sm107"], 16)
        mine = SM107_DESCRIPTOR.decode(derived(row, "sm107").word(0, 2, base=row["start"]))
        theirs = SM107_DESCRIPTOR.decode(int(row["sm107"], 16))
        assert mine | {"leading_byte_offset": row["next_start"]} == theirs
        assert mine["leading_byte_offset"] == row["start"] + 128 * 128
    assert {row["start"] >= 1 << 18 for row in rows} == {False, True}


def test_the_half_of_a_row_of_a_compressed_operand_is_no_part_of_the_walk() -> None:
    word = SmemDescriptor("sm107", 16, 1024, "128B", row_half=1).encode()  # type: ignore[arg-type]
    assert decode(word, "sm107")["row_half"] == 1
    with pytest.raises(DescriptorError, match="bit 53 is 1, but a compressed B is not supported"):
        read(word, "sm107", dtype="e4m3", major="K", shape=(64, 32))


@pytest.mark.parametrize(
    ("name", "arch"), [("sm103", "sm103"), ("sm_110a", "sm110"), ("Rubin", "sm107"), ("90", "sm90")]
)
def test_an_architecture_is_known_by_its_names(name: str, arch: str) -> None:
    assert architecture(name) == arch


@pytest.mark.parametrize("name", ["SM120", "sm_121a"])
def test_an_architecture_without_descriptors_is_refused_with_what_to_ask_instead(name: str) -> None:
    with pytest.raises(DescriptorError, match=r"its mma\.sync reads registers.* layoutalg atoms lists its registers"):
        architecture(name)
