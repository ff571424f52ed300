"""The box that takes anything."""

from __future__ import annotations

from typing import Any

import pytest
from each import each
from refusals import refusal

from descriptors.cli.command import main
from descriptors.errors import DescriptorError
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
        ("(8,8):(8,1)\n(8,8):(1,8)", "two layouts", False, "56 of 64 elements have different addresses"),
        ("(8,8):(8,1)\n((2,4),8):((8,16),1)", "two layouts", True, "same"),
        ("(8,8):(8,1)\n(8,16):(16,1)", "two layouts", False, "extents 8x8 and 8x16"),
        (f"{PRINTED}\nS<3,3,3> o 0 o (64,64):(64,1)", "two layouts", True, "same"),
    ],
)
def test_what_it_is_taken_for_and_what_is_said(text: str, kind: str, ok: bool, said: str) -> None:
    record = pasted(text)
    assert (record["kind"], record["ok"]) == (kind, ok)
    assert said in record["text"]


WORD = "0x4000404000010000"
CUTE_PRINT = """GmmaDescriptor: 0x4000404000010000
  start_addr :  0x0000
  leading_off:  0x0001 (1)
  stride_off :  0x0040 (64)
  base_offset:  0x0
  layout_type:  0x1 (B128)"""


@each(
    "text",
    [
        WORD, "4611756662049538048", "4611756662049538048ULL", "0x4000'4040'0001'0000",
        "0x40004040 00010000", "0x40004040, 0x00010000", "{0x00010000, 0x40004040}", "0x40004040\n0x00010000",
        "desc.lo = 0x10000 desc.hi = 0x40004040", "hi: 40004040\nlo: 00010000", f"[t 0] smem desc: {WORD} (A)",
        f"2026-11-22 10:00:01.123456789 kernel.cu:42 desc_a={WORD}", CUTE_PRINT,
    ],
)  # fmt: skip
def test_a_word_is_known_however_it_was_written(text: str) -> None:
    record = pasted(text)
    assert (record["kind"], record["use"]["word"]) == ("a word", WORD)


@each(
    ("text", "kind", "use"),
    [
        ("Swizzle<3,4,3>", "a swizzle", {"swizzle": "128B"}),
        ("Swizzle<0,4,3>", "a swizzle", {"swizzle": "none"}),
        ("Sw<2,4,3>", "a swizzle", {"swizzle": "64B"}),
        ("S<3,3,3>", "a swizzle", {"swizzle": "128B"}),
        ("sA: Swizzle<3,4,3> o smem_ptr[16b](0x400) o (64,64):(64,1)", "a layout", {"swizzle": "128B", "major": "K"}),
        ("ptr[16b](0x400) o Sw<3,4,3> o _0 o (_64,_64):(_64,_1)", "a layout", {"swizzle": "128B"}),
        ("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o (64,64):(64,1)>", "a layout", {"swizzle": "128B"}),
        ('!cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">', "a layout", {"swizzle": "128B"}),
        ("Sw<3,4,3> o smem_ptr[8b](0x400) o (64,128):(128,1)", "a layout", {"dtype": "e4m3", "mma": "64x16"}),
        (
            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>",
            "an encoding of Triton", {"swizzle": "64B", "major": "MN"},
        ),
        (
            "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>",
            "an encoding of Triton", {"swizzle": "128B", "major": "K", "mma": "64x32"},
        ),
    ],
)  # fmt: skip
def test_what_was_printed_is_a_question_that_has_an_answer(text: str, kind: str, use: dict[str, str]) -> None:
    record = pasted(text)
    assert record["kind"] == kind, record["text"]
    if "mma" in use and record["use"] is None:
        assert "no instruction reads it in this form" in record["text"]
        return
    assert use.items() <= record["use"].items()
    assert answer({**record["use"], "want": ["told", "stage"]})["ok"]


@each(
    ("text", "said"),
    [
        ("Swizzle<3,4,4>", "descriptors do not support S<3,4,4>"),
        ("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", "the swizzle is "),
    ],
)
def test_what_no_descriptor_has_is_said_and_not_offered(text: str, said: str) -> None:
    record = pasted(text)
    assert said in record["text"] and not record["ok"] and record["use"] is None


NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
QUADS = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>"
TMEM = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"


@each(
    ("text", "kind", "ok", "said"),
    [
        (f"#shared = {NVMMA}\n!ttg.memdesc<128x64xf16, #shared, #smem, mutable>", "an encoding of Triton", True,
         "K-major 128B: fits"),
        (f"0x4000404000010000\n{NVMMA} 128x64", "a word and a layout", True, "same: the word reads"),
        (f"0x4000402000010000\n{NVMMA} 128x64", "a word and a layout", False, "different"),
        ("(TilingTransform((8, 64)), SwizzleTransform(128)) 128x128xbf16", "an encoding of Mosaic GPU", True,
         "K-major 128B: fits"),
        ("Layout((64, 64) -> (4096,), transform: (_i, _j) -> (_i * 64 + T.bitwise_xor(_j, _i % 8 * 8),))",
         "an encoding of TileLang", True, "K-major 128B: fits"),
        (f"{TMEM} 128x64xf32", "an encoding of Triton", True, "(128,64):(65536,1)"),
        (f"!ttg.memdesc<3x128x64xf16, {NVMMA}, #smem>", "an encoding of Triton", True, "(128,64,3):(64,1,8192)"),
    ],
)  # fmt: skip
def test_what_other_compilers_write_is_a_layout_like_any(text: str, kind: str, ok: bool, said: str) -> None:
    record = pasted(text)
    assert (record["kind"], record["ok"]) == (kind, ok), record["text"]
    assert said in record["text"]
    if record["use"] is not None:
        assert answer({**record["use"], "want": ["told", "proof"]})["ok"]


def test_who_holds_what_is_drawn() -> None:
    record = pasted(f"{QUADS} 16x8xf32")
    assert record["kind"] == "an encoding of Triton" and record["use"] is None
    picture = record["picture"]["svg"]
    assert picture.startswith("<svg") and "V3" in picture and record["drawing"] == {}


@pytest.mark.parametrize(("text", "swizzle"), [("(64,16):(64,1)", "128B"), ("((8,8),(8,2)):((8,64),(1,512))", "none")])
def test_a_plain_layout_is_offered_with_the_layout_that_is_stored(text: str, swizzle: str) -> None:
    found = pasted(text)
    assert found["use"]["swizzle"] == swizzle
    assert ("if stored as S<3,3,3> o 0 o" in found["text"]) is (swizzle != "none")


def test_what_is_too_large_for_a_picture_is_told_without_one() -> None:
    record = pasted(f"{QUADS} 128x128xf32")
    assert "picture" not in record and "not drawn" in record["text"]


def test_what_no_instruction_reads_is_not_offered_for_the_stage() -> None:
    record = pasted("(4,8):(8,1)")
    assert record["use"] is None and "no instruction reads it in this form: legality" in record["text"]


def test_advice_names_controls_that_the_page_has() -> None:
    message = answer({"tile": "256x512"})["error"]["message"]
    assert "a CTA has 232448 bytes" in message and "capacity" not in message


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


LDMATRIX = "make_tiled_copy(ldmatrix.x1, ((4,8),2):((16,1),8), (8,8))"
CUTE_COPY = """TiledCopy
  Tiler_MN:       (_8,_8)
  TiledLayout_TV: ((_4,_8),_2):((_16,_1),_8)
Copy_Atom
  ThrID:        _32:_1
  ValLayoutSrc: ((_8,_4),_8):((_8,_0),_1)
  ValLayoutDst: (_32,_2):(_2,_1)
  ValLayoutRef: (_32,_2):(_2,_1)
  ValueType:    16b"""
DSL_COPY = """Tiled Copy
  Tiler MN:        (8:1,8:1)
  TV Layout tiled: ((4,8),2):((16,1),8)
Copy Atom
  ThrID:           32:1
  TV Layout Src:   ((8,4),8):((8,0),1)
  TV Layout Dst:   (32,2):(2,1)
  Value type:      f16"""


@each("text", [CUTE_COPY, DSL_COPY])
def test_a_tiled_copy_is_known_as_cute_and_the_dsl_print_it(text: str) -> None:
    record, known = pasted(f"{text} at=9,1"), pasted(f"{LDMATRIX} at=9,1")
    assert (record["kind"], record["use"]) == ("a tiled copy", None)
    assert (record["picture"], record["facts"]) == (known["picture"], known["facts"])


def test_the_tensor_that_a_tiled_copy_reads_can_be_set() -> None:
    rows = "make_tiled_copy(ldmatrix.x4, ((4,8),(2,2,2)):((32,1),(16,8,128)), (16,16)) tensor="
    plain, moved = (pasted(rows + one)["facts"] for one in ("(16,64):(64,1)", "S<3,3,3> o 0 o (16,64):(64,1)"))
    assert "28 of them for bank conflicts" in plain and "0 of them for bank conflicts" in moved


@each(
    ("text", "said"),
    [
        ("Tiled Copy\n TV Layout tiled: 3", "no line of its tile"),
        (DSL_COPY.replace("TV Layout Src", "x"), "no line of its source"),
        (DSL_COPY.replace("(32,2):(2,1)", "4"), "CopyAtom: 4 is not a plain layout"),
        ("make_tiled_copy_tv(8, 3)", "an atom and two layouts"),
        (
            "make_tiled_copy_tv(foo, (4,8):(8,1), (1,8):(8,1))",
            "copy_atom: foo with 16-bit elements is not a copy; supported: a number of elements, universal and",
        ),
        (f"{LDMATRIX} at=99,0", "at is 99,0, but the copy has 32 threads"),
        (f"{LDMATRIX} tensor=5", "tensor is '5', which is not a layout of rows and columns"),
    ],
)
def test_a_tiled_copy_that_is_none_says_why(text: str, said: str) -> None:
    assert said in answer({"paste": text, "want": ["pasted"]})["pasted"]["error"]["message"]


@each("digits", ["4000004000010000", "400000400001000a"])
def test_digits_that_may_be_decimal_are_refused_as_decode_refuses_them(
    digits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", digits]) == 2
    reason = refusal(capsys.readouterr().err).partition("invalid value for 'WORD': ")[2].partition("; see")[0]
    assert reason.startswith(f"{digits} ")
    with pytest.raises(DescriptorError) as error:
        pasted(digits)
    assert str(error.value) == f"explore: word {reason}"
