"""The read model in plain Python gives what it gives by arrays: for every type, every mode, and any word at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descriptors.errors import DescriptorError
from descriptors.smem.proof.read_model import read_addresses, read_bit_addresses
from descriptors.smem.proof.walk_model import read_rows

TYPES = ("f16", "tf32", "e4m3", "e2m3", "e2m1_unpacksmem", "e2m1")
SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 70))


@given(
    word=st.integers(0, 2**64 - 1),
    arch=st.sampled_from(["sm90", "sm100"]),
    dtype=st.sampled_from(TYPES),
    major=st.sampled_from(["K", "MN"]),
    shape=SHAPES,
)
def test_any_word_is_read_or_refused_as_by_arrays(
    word: int, arch: str, dtype: str, major: str, shape: tuple[int, int]
) -> None:
    if arch == "sm100":  # most words have another version, and would only be refused
        word = word & ~(7 << 46) | 1 << 46
    words = [word, word & ~0x3FFF | 77]
    for in_bits, read in ((False, read_addresses), (True, read_bit_addresses)):
        try:
            right = read(words, arch, dtype=dtype, major=major, shape=shape).tolist()
        except DescriptorError as error:
            right = str(error)
        try:
            found: object = read_rows(words, arch, dtype=dtype, major=major, shape=shape, in_bits=in_bits)
        except DescriptorError as error:
            found = str(error)
        assert found == right


@given(start=st.integers(0, 63), line=st.integers(0, 31), k=st.integers(1, 96))
def test_an_absolute_leading_address_is_read_as_by_arrays(start: int, line: int, k: int) -> None:
    word = 2 << 61 | 1 << 52 | 1 << 46 | 64 << 32 | 8 * line << 16 | start
    told = {"arch": "sm100", "dtype": "e2m1", "major": "K", "shape": (24, k)}
    assert read_rows([word], **told, in_bits=True) == [read_bit_addresses(word, **told).tolist()]  # type: ignore[arg-type]
