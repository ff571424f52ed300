"""The two models of one walk judge each other: digits and an exclusive-or, and the addresses of every element."""

from __future__ import annotations

import hashlib
import json
import random

import numpy as np
import pytest
from derived import INSTRUCTION_K
from each import each
from places import VECTORS
from seeds import seeds_of

from descriptors import DescriptorError
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.smem.proof.digit_model import fields, per_16_bytes, walk, xor
from descriptors.smem.proof.digits import listed, value
from descriptors.smem.proof.read_model import read_rows
from descriptors.smem.proof.theorem import Affine, permuted

CODES = {"sm90": (0, 1, 2, 3), "sm100": (0, 1, 2, 4, 6)}


@each("dtype", sorted(ELEMENT_TYPES))
@each("major", ["K", "MN"])
@each("seed", seeds_of("test_the_digits_give_every_address_of_the_read_model"))
def test_the_digits_give_every_address_of_the_read_model(dtype: str, major: str, seed: int) -> None:
    rng, bits = random.Random(f"{seed} {dtype} {major}"), ELEMENT_TYPES[dtype].storage_bits
    for _ in range(60):
        arch = rng.choice(["sm90", "sm100"])
        code = rng.choice(CODES[arch])
        word = code << (62 if arch == "sm90" else 61) | (arch == "sm100") << 46 | rng.randrange(8) << 49
        word |= rng.randrange(1 << 10) | rng.randrange(1 << 8) << 16 | rng.randrange(1 << 8) << 32
        shape = rng.choice([8, 16, 64, 96]), INSTRUCTION_K[bits] * rng.choice([1, 2])
        word_fields = fields(word, arch)
        walked = walk(word_fields, dtype, major, shape)
        if walked is None:
            continue
        form = Affine(
            0, [], xor(word_fields.pattern, dtype), word_fields.base_offset & (1 << word_fields.pattern.bits) - 1
        )
        rows, columns = ([value(digits, i) for i in range(n)] for digits, n in zip(walked, shape, strict=True))
        start = word_fields.start * per_16_bytes(dtype)
        mine = np.array([[permuted(form, start + row + column) for column in columns] for row in rows])
        unit = 4 if bits < 8 else bits // 8
        addresses = read_rows(word, arch, dtype=dtype, major=major, shape=shape, in_bits=bits < 8)
        assert (mine * unit).tolist() == addresses, (hex(word), shape)


def test_the_digits_read_every_recorded_word_as_the_gpu_did() -> None:
    """All words that a Hopper GPU read, every element, but where an extent of N ends inside a digit."""
    with np.load(VECTORS / "hopper" / "h200" / "wgmma_reads.npz") as recorded:
        rows = json.loads(str(recorded["operands"]))
        words, digests, series = (recorded[name].tolist() for name in ("word", "digest", "series"))
    read = 0
    for word, want, number in zip(words, digests, series, strict=True):
        row = rows[number]
        high, mn = (64, row["a_mn"]) if row["operand"] == "A" else (row["n"], row["b_mn"])
        bits = ELEMENT_TYPES[row["dtype"]].storage_bits
        word_fields = fields(word, "sm90")
        walked = walk(word_fields, row["dtype"], "MN" if mn else "K", (high, 256 // bits))
        if walked is None:
            assert mn and high % (word_fields.pattern.span * per_16_bytes(row["dtype"]))
            continue
        sums = np.add.outer(*(np.array(listed(digits), np.int64) for digits in walked))
        sums += word_fields.start * per_16_bytes(row["dtype"])
        number_of_bits, base, shift = xor(word_fields.pattern, row["dtype"])
        lines = (sums >> base + shift) - word_fields.base_offset
        addresses = (sums ^ (lines & (1 << number_of_bits) - 1) << base) * (bits // 8)
        assert digest(addresses.astype("<u4")) == want, hex(word)
        read += 1
    assert (read, len(words)) == (25471, 27308)


def digest(addresses: np.ndarray) -> int:
    return int.from_bytes(hashlib.blake2b(addresses.tobytes(), digest_size=8).digest(), "little")


def test_an_extent_that_ends_inside_a_digit_has_no_walk_over_digits() -> None:
    word_fields = fields(0x4000404000010000, "sm100")
    assert walk(word_fields, "bf16", "K", (12, 16)) is None
    assert walk(word_fields, "bf16", "K", (4, 4)) == (((4, 64),), ((4, 1),))


@pytest.mark.parametrize(("word", "arch"), [(0x4000004000010000, "sm100"), (0x6000404000010000, "sm100")])
def test_a_word_without_meaning_is_refused(word: int, arch: str) -> None:
    with pytest.raises(DescriptorError, match=r"the sm100 word .* has an unsupported swizzle code, version"):
        fields(word, arch)


def test_the_absolute_address_of_sm100_is_told() -> None:
    assert fields(0x4000404000010000 | 1 << 52, "sm100").absolute and not fields(1 << 62 | 1 << 52, "sm90").absolute
