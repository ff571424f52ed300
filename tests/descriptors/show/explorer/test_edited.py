"""A word whose fields were changed, against the tile."""

from __future__ import annotations

import shlex

import pytest
from derived import K_128
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, derive, diff
from descriptors.cli.command import main
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
        ({"edit": {"version": "9"}}, "version is 9, which is not in [0, 7]"),
        ({"edit": {"stride_byte_offset": "100"}}, "is 100, which is not a multiple of 16"),
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


@pytest.mark.parametrize(("base_offset", "verdict", "warnings"), [
    (5, "right: all 1024 elements (read model", 1),
    (0, "right: all 1024 elements; assumed: a swizzle pattern starts at 0x0 (read model", 0),
    (1, "WRONG for a tile at 0x280: 1024 of 1024 elements; change base_offset 1 -> 5", 1),
])  # fmt: skip
def test_a_word_is_right_if_the_pattern_starts_at_the_tile_or_at_zero(
    base_offset: int, verdict: str, warnings: int
) -> None:
    word = hex(0x4000004000010028 | base_offset << 49)
    edited = answer({**BASE_640, "word": word, "want": ["edited"]})["edited"]
    assert edited["verdict"].startswith(verdict) and edited["ok"] is verdict.startswith("right")
    assert len(edited["warnings"]) == warnings


def test_a_word_of_an_operand_that_no_instruction_reads_is_undecided() -> None:
    d = derive((64, 64), "bf16", "K", "128B", (4, 16), arch="sm90", legality="off")
    edited = comparison(View(d, word=0x4000004000010000))
    assert edited is not None and (edited["ok"], edited["tone"]) == (False, "warn")
    assert edited["verdict"].startswith("undecided: all 64 elements agree, but no sm90 instruction reads a 4x16")


def test_a_word_is_right_where_the_pattern_starts_at_zero_as_it_is_for_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = {"tile": "128x64", "arch": "sm90", "base": "256", "word": "0x4000004000010010"}
    reply = answer({**asked, "want": ["told", "edited", "stage"]})
    edited, line = reply["edited"], reply["told"]["commands"][-1]["line"]
    assert edited["ok"] and edited["wrong"] == [] and edited["warnings"] == ()
    right = "right: all 1024 elements; assumed: a swizzle pattern starts at 0x0 (read model"
    assert edited["verdict"].startswith(right)
    assert main(shlex.split(line)[1:]) == 0
    assert edited["headline"].partition(" (")[0] in capsys.readouterr().out


def test_a_word_that_is_wrong_for_the_address_of_the_tile_names_that_address() -> None:
    asked = {"tile": "128x64", "arch": "sm90", "cell": "0,16", "word": "0x4000004000010042", "want": ["edited"]}
    verdict = "WRONG for a tile at 0x0: 1024 of 1024 elements; change start_address 1056 -> 32"
    assert answer(asked)["edited"]["verdict"] == verdict
    assert answer({**asked, "base": "1024"})["edited"]["verdict"].startswith("right: all 1024 elements (read model")


def test_no_key_of_the_tile_has_the_word_of_another_address() -> None:
    told = answer({"tile": "128x64", "arch": "sm90", "base": "1024", "want": ["told"]})["told"]
    assert told["first"] == "0x4000004000010040" and "0x4000004000010000" not in str(told)
