"""The article "Blackwell MMA SMEM Descriptor", sections 3 and 4: every number, its tables and its figures."""

from __future__ import annotations

import pytest
from article import SW64_MNMAJOR, SW128_KMAJOR, Claim, Example
from each import each

EXAMPLES = {"sw128_kmajor": SW128_KMAJOR, "sw64_mnmajor": SW64_MNMAJOR}
CLAIMS = [
    pytest.param(claim, id=f"{claim.section}-{claim.statement}")
    for example in EXAMPLES.values()
    for claim in example.claims(example.derive())
]

#: What the article says, section by section: none of its statements may be dropped unnoticed.
STATEMENTS = {
    "2": {"bytes of a tile row", "8x16B chunks in a swizzle atom"},
    "3.1": {
        *("bytes of the tile", "elements (M, K) of a swizzle atom", "atoms (M, K) in the tile", "atoms in the tile"),
        *("bytes of an atom row", "bytes of an atom", "stacking of the atoms, counted in atoms"),
        *("atom (m, k) starts at byte m*1024 + k*16384", "a TMA box (M=128, K=64) is a run of whole rows"),
        "TMA boxes in the tile",
    },
    "3.2": {
        *("MMA subtiles (M, K)", "MMA subtiles", "atoms along M under one subtile", "bytes of K in one subtile"),
        "subtiles along K in an atom",
    },
    "3.3": {
        *("layout_type", "SBO in 16-byte units", "SBO in bytes", "LBO in 16-byte units", "LBO in bytes"),
        *("8x16B chunks (M, K) in a subtile", "8x16B chunks in a subtile"),
        "swizzled rows of a chunk are a uniform 128 bytes apart",
    },
    "3.4": {"start-address offsets"},
    "3.5": {"elements in 16 bytes (T)", "canonical form, SBO 512 and LBO 8 elements"},
    "3.5.1": {"SMEM tile", "its strides in bytes"},
    "3.5.2": {"MMA partition", "advance in bytes"},
    "3.5.3": {"recast to uint128", "advance in bytes"},
    "3.5.4": {"canonical form", "CuTe C++'s order of it"},
    "3.5.5": {"descriptor tensor", "the word plus the advance is the word of each subtile"},
    "4.1": {
        *("bytes of the tile", "elements (M, K) of a swizzle atom", "atoms (M, K) in the tile", "atoms in the tile"),
        *("bytes of M in an atom", "bytes of an atom", "stacking of the atoms, counted in atoms"),
        *("atom (m, k) starts at byte m*8192 + k*512", "a TMA box (M=32, K=128) is a run of whole columns"),
        "TMA boxes in the tile",
    },
    "4.2": {"MMA subtiles (M, K)", "MMA subtiles"},
    "4.3": {
        *("layout_type", "SBO in 16-byte units", "SBO in bytes", "LBO in 16-byte units", "LBO in bytes"),
        *("swizzle atoms (M, K) in a subtile", "swizzle atoms in a subtile", "atom (m, k) starts at m*LBO + k*SBO"),
    },
    "4.4": {"start-address offsets"},
    "4.5": {
        *("elements in 16 bytes (T)", "width of an atom in 16 bytes (SW)"),
        "canonical form, LBO 4096 and SBO 256 elements",
    },
    "4.5.1": {"SMEM tile", "its strides in bytes"},
    "4.5.2": {"MMA partition", "advance in bytes"},
    "4.5.3": {"recast to uint128", "advance in bytes"},
    "4.5.4": {"canonical form"},
    "4.5.5": {"descriptor tensor", "the word plus the advance is the word of each subtile"},
}


def test_the_claims_are_all_that_the_article_says_each_once() -> None:
    made = [(claim.section, claim.statement) for one in EXAMPLES.values() for claim in one.claims(one.derive())]
    listed = [(section, statement) for section, statements in STATEMENTS.items() for statement in statements]
    assert sorted(made) == sorted(listed)


@each("claim", CLAIMS)
def test_the_algebra_gives_the_articles_number(claim: Claim) -> None:
    assert claim.holds, claim


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_the_first_subtiles_word_is_the_known_one(example: Example) -> None:
    assert example.derive().descriptor.encode() == example.word


def test_the_table_of_section_3_4() -> None:
    assert SW128_KMAJOR.derive().offsets_bytes() == (
        (0, 32, 64, 96, 16384, 16416, 16448, 16480),
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672),
    )


def test_the_table_of_section_4_4() -> None:
    assert SW64_MNMAJOR.derive().offsets_bytes() == (
        (0, 1024, 2048, 3072, 4096, 5120, 6144, 7168),
        (16384, 17408, 18432, 19456, 20480, 21504, 22528, 23552),
    )


def test_the_figure_of_section_3_3_rows_of_a_chunk_zigzag_within_the_swizzled_row() -> None:
    recast = SW128_KMAJOR.derive().recast
    for row in range(64):
        for piece in range(2):
            assert recast((row, piece), 0) == row * 8 + (piece ^ row % 8)


def test_the_figure_of_section_4_3_atoms_lie_at_multiples_of_lbo_and_sbo() -> None:
    d = SW64_MNMAJOR.derive()
    for m in range(2):
        for k in range(2):
            start = m * d.descriptor.leading_byte_offset + k * d.descriptor.stride_byte_offset
            assert d.recast((4 * m, 8 * k), 0) * 16 == start
