"""The box that takes anything."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.paste import paste_answer
from descriptors.show.explorer.question import question

PRINTED = "Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,64):(64,1)"


def pasted(text: str, **body: Any) -> dict[str, Any]:
    reply = paste_answer(question({"paste": text, **body}))
    assert reply is not None
    return reply


@each(
    ("text", "kind", "ok", "said"),
    [
        ("0x4000404000010000", "a word", True, "stride_byte_offset"),
        ("0x4000_0040_0001_0000", "a word", True, "sm90"),
        ("(64,16):(64,1)", "a layout", True, "K-major 128B: fits"),
        ("(64,16):(17,3)", "a layout", False, "no"),
        (PRINTED, "a layout", True, "K-major 128B: fits"),
        ("0x4000404000010000\n(64,16):(64,1)", "a word and a layout", False, "different"),
        (f"{PRINTED}\n0x4000404000010040", "a word and a layout", True, "same: the word reads all 1024 elements"),
        ("0x4000404000010000\n0x4000402000010000", "two words", False, "stride_byte_offset [32,46): 1024 and 512"),
        ("0x4000404000010000\n0x4000404000010000", "two words", True, "same"),
        ("(8,8):(8,1)\n(8,8):(1,8)", "two layouts", False, "56 of 64 elements lie elsewhere"),
        ("(8,8):(8,1)\n((2,4),8):((8,16),1)", "two layouts", True, "same"),
        ("(8,8):(8,1)\n(8,16):(16,1)", "two layouts", False, "extents 8x8 and 8x16"),
        (f"{PRINTED}\nS<3,3,3> o 0 o (64,64):(64,1)", "two layouts", True, "same"),
    ],
)
def test_what_it_is_taken_for_and_what_is_said(text: str, kind: str, ok: bool, said: str) -> None:
    record = pasted(text)
    assert (record["kind"], record["ok"]) == (kind, ok)
    assert said in record["text"]


@pytest.mark.parametrize("text", ["0x4000404000010000", PRINTED, "(64,16):(64,1)", "((8,8),(8,2)):((8,64),(1,512))"])
def test_what_can_be_used_is_a_question_that_has_an_answer(text: str) -> None:
    use = pasted(text)["use"]
    reply = answer({**use, "want": ["told", "proof", "stage", "edited"]})
    assert reply["ok"], reply
    assert reply["proof"]["ok"]
    assert "error" not in reply["stage"]


def test_a_printed_pointer_puts_the_tile_where_it_was() -> None:
    reply = answer({**pasted(PRINTED)["use"], "want": ["told"]})
    assert reply["told"]["first"].endswith("40"), "0x400 in units of 16 bytes"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_is_nothing(text: str) -> None:
    assert paste_answer(question({"paste": text})) is None


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a\nb\nc", "0x" + "f" * 30, "((((", "1" * 5000, "\0"])
def test_what_is_nothing_is_said_in_a_sentence(text: str) -> None:
    reply = answer({"paste": text, "want": ["pasted"]})
    assert reply["ok"]
    assert reply["pasted"]["error"]["message"]
