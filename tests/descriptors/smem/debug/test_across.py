"""A word against an operand that crosses atoms: what is read from elsewhere, and the word that would be right."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError, derive, diff
from descriptors.smem.debug.read import read
from layoutalg import ComposedLayout, Layout, Swizzle

TILE = ComposedLayout(Swizzle(3, 5, 3), 0, Layout(((8, 16), (256, 3)), ((256, 2048), (1, 32768))))
KNOWN: dict[str, Any] = {"dtype": "e2m1", "major": "K", "shape": (128, 96)}
WORDS = derive(layout=TILE, dtype="e2m1", mma=(128, 96), legality="off").words(2048)[0]


@pytest.mark.parametrize("k", range(8))
def test_every_word_of_a_tile_reads_its_operand(k: int) -> None:
    difference = diff(WORDS[k], TILE, subtile=(0, k), **KNOWN)
    assert (difference.differing, difference.base, difference.right_word, difference.changes) == (0, 2048, WORDS[k], ())
    assert difference.verdict == ("undecided" if k else "same")  # the base of another operand than the first is open
    assert diff(WORDS[k], TILE, subtile=(0, k), base=2048, **KNOWN).ok


def test_a_wrong_line_is_a_change_of_one_field() -> None:
    difference = diff(WORDS[2] + (1 << 26), TILE, subtile=(0, 2), **KNOWN)
    assert difference.differing == 128 * 32
    assert [str(one) for one in difference.changes] == ["leading_byte_offset 34816 -> 18432"]
    assert difference.mismatches[0].coordinate == (0, 64)
    assert difference.right_word == WORDS[2]


def test_a_relative_word_reads_what_does_not_cross_and_needs_the_mode_where_it_does() -> None:
    relative = [word & ~(1 << 52 | 0x3FFF << 16) | 1 << 16 for word in WORDS]
    diffs = [diff(word, TILE, subtile=(0, k), base=2048, **KNOWN) for k, word in enumerate(relative)]
    assert [one.ok for one in diffs] == [True, True, False, True, True, False, True, True]
    assert [one.field for one in diffs[2].changes] == ["leading_byte_offset", "lbo_mode"]
    assert diffs[3].changes == ()


def test_no_word_reads_it_where_the_pattern_does_not_start_by_itself() -> None:
    difference = diff(WORDS[2], TILE, subtile=(0, 2), pattern_start=128, **KNOWN)
    assert difference.right_word is None and "needs base offset 0, but is used with base offset 1" in difference.reason


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"subtile": (0, 8)}, "subtile (0,8) is not one of the (1,8) subtiles"),
        ({"arch": "sm90"}, "because one ends inside an atom"),
        ({"shape": (128, 192)}, "because one ends inside an atom"),
    ],
)
def test_what_is_no_such_operand_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        diff(WORDS[2], TILE, **{**KNOWN, **arguments})
    assert message in str(caught.value)


def test_what_a_word_reads_beyond_its_line_is_told_with_what_is_known_of_it() -> None:
    fetched = read(WORDS[2], **KNOWN)
    assert fetched.evidence.startswith("documented in part")
    assert (fetched.addresses[0][64], fetched.addresses[1][64]) == (8 * 18432, 8 * (18432 + 128 + 16))
