"""A word whose fields were changed, against the tile."""

from __future__ import annotations

import pytest
from derived import K_128
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, derive, diff
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.question import comparison, edited_word, own_word, question, word_fields
from descriptors.show.stages.view import View
from descriptors.smem.words.descriptor import WORDS

D = derive(**K_128)


@given(st.integers(0, 2**14 - 1), st.sampled_from(["leading_byte_offset", "stride_byte_offset", "start_address"]))
def test_an_edited_field_is_that_field_of_the_word(value: int, field: str) -> None:
    view = View(D, (70, 21))
    word = edited_word(view, question({"edit": {field: hex(16 * value)}}))
    assert word is not None
    fields, own = WORDS["sm100"].decode(word), WORDS["sm100"].decode(own_word(view))
    assert fields == own | {field: 16 * value}


def test_a_wrong_field_shows_the_wrong_cells_and_the_right_word() -> None:
    view = View(D, (70, 21))
    word = edited_word(view, question({"edit": {"stride_byte_offset": "512"}}))
    comparison_ = comparison(View(D, (70, 21), word=word))
    assert comparison_ is not None
    assert (comparison_["ok"], comparison_["right_word"]) == (False, f"0x{own_word(view):016x}")
    assert "change: stride_byte_offset 512 -> 1024" in comparison_["text"]
    known = diff(word or 0, D.smem_tile, dtype="bf16", major="K", shape=(64, 16), subtile=(1, 1), base=0)
    assert comparison_["differing"] == known.differing


def test_a_field_that_nobody_reads_changes_nothing() -> None:
    word = edited_word(View(D), question({"edit": {"leading_byte_offset": "4096"}}))
    comparison_ = comparison(View(D, word=word))
    assert comparison_ is not None and comparison_["ok"]


def test_without_a_change_there_is_nothing_to_compare() -> None:
    assert comparison(View(D)) is None


def test_a_whole_word_can_be_given() -> None:
    assert edited_word(View(D), question({"word": "0x4000_4040_0001_0000"})) == 0x4000404000010000


def test_names_are_chosen_and_fields_say_what_they_may_be() -> None:
    swizzle = word_fields(View(D), own_word(View(D)))[-1]
    assert swizzle["value"] == "128B" and "64B" in swizzle["choices"]
    assert edited_word(View(D), question({"edit": {"swizzle": "64B"}})) == 4 << 61 | own_word(View(D)) & (1 << 61) - 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"edit": {"roof": "1"}}, "supported: start_address"),
        ({"edit": {"version": "9"}}, "version must lie in [0, 7], found 9"),
        ({"edit": {"stride_byte_offset": "100"}}, "must be a multiple of 16, found 100"),
        ({"edit": {"stride_byte_offset": "much"}}, "stride_byte_offset is 'much', which is not a non-negative integer"),
        ({"edit": {"swizzle": "96B"}}, "supported: none"),
        ({"word": "12"}, "word is '12', which is not a hexadecimal number"),
        ({"word": "0x12345678901234567890"}, "the maximum is"),
    ],
)
def test_what_a_field_cannot_hold_is_refused(body: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        word = edited_word(View(D), question(body))
        comparison(View(D, word=word))
    assert message in str(caught.value)


BASE_640 = {
    "arch": "sm90", "dtype": "bf16", "major": "K", "swizzle": "128B", "tile": "64x64", "mma": "64x16", "base": 640,
}  # fmt: skip


def test_a_word_of_another_pattern_start_is_wrong_for_the_tile_on_the_page() -> None:
    for word, ok in (("0x400a004000010028", True), ("0x4000004000010028", False)):  # base offset 5, the tile's, and 0
        edited = answer({**BASE_640, "word": word, "want": ["edited"]})["edited"]
        assert (edited["ok"], len(edited["warnings"])) == (ok, 1), edited["verdict"]


def test_a_word_of_an_operand_that_no_instruction_reads_is_undecided() -> None:
    d = derive((64, 64), "bf16", "K", "128B", (4, 16), arch="sm90", legality="off")
    edited = comparison(View(d, word=0x4000004000010000))
    assert edited is not None and (edited["ok"], edited["tone"]) == (False, "warn")
    assert edited["verdict"].startswith("undecided: all 64 elements agree, but no sm90 instruction reads a 4x16")
