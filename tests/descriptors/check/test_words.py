"""Words of kernels: every word that derive makes is taken, a changed field is told, and advances go together."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from descriptors import derive
from descriptors.check.k_steps import Step, advance_findings, distance, places
from descriptors.check.ptx.constant_folding import fold
from descriptors.check.ptx.kernel_words import START_FREE, SmemOperand, smem_findings
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.ptx_module import parse
from layoutalg.frozen import replace

WORD = derive((128, 64), "bf16", "K", "128B", (128, 16)).descriptor.encode()


def operand(offset: int, word: int = WORD, matrix: Literal["A", "B"] = "A", base: str = "r") -> SmemOperand:
    return SmemOperand(matrix, "sm100", "bf16", "K", (128, 16), Known(word & START_FREE, START_FREE, base, offset))


@pytest.mark.parametrize("arch", ["sm90", "sm100"])
@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_a_derived_word_is_taken(
    arch: Literal["sm90", "sm100"], major: Literal["K", "MN"], swizzle: Literal["none", "32B", "64B", "128B"]
) -> None:
    word = derive((64, 64), "bf16", major, swizzle, (64, 16), arch=arch).descriptor.encode()
    known = Known(word & START_FREE, START_FREE)
    assert list(smem_findings(SmemOperand("A", arch, "bf16", major, (64, 16), known))) == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        (WORD & ~(0x3FFF << 32), "word-smem"),
        (WORD ^ 1 << 61 ^ 1 << 62, "word-smem"),  # 32-byte atoms, which no K-major operand has
        (WORD ^ 1 << 53, "word-unused-bits"),
        (WORD ^ 1 << 46, "word-version"),
        (WORD & ~(0x3FFF << 32) | 16 << 32, "word-smem"),
    ],
)
def test_a_changed_field_is_told(changed: int, rule: str) -> None:
    assert rule in {name for name, _ in smem_findings(operand(0, changed))}


def test_what_is_not_known_is_not_judged() -> None:
    unknown = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(0, START_FREE & ~(1 << 40)))
    assert not unknown.resolved and list(smem_findings(unknown)) == []


def chain(a: tuple[int, ...], b: tuple[int, ...]) -> list[tuple[int, str]]:
    steps = [Step(i, (operand(x), operand(y, matrix="B", base="s"))) for i, (x, y) in enumerate(zip(a, b, strict=True))]
    return [(index, rule) for index, rule, _ in advance_findings(steps)]


def test_advances_of_whole_k_blocks_go_together() -> None:
    assert chain((0, 2, 4, 6), (0, 2, 4, 6)) == []
    assert chain((0, 2, 4, 6, 1024, 1026), (0, 2, 4, 6, 2048, 2050)) == []  # the next column of atoms, 128 rows of them


def test_advances_that_do_not_are_told() -> None:
    assert chain((0, 2, 5, 6), (0, 2, 4, 6)) == [(2, "word-advance")]
    assert chain((0, 2, 4, 6), (0, 2, 6, 4)) == [(2, "word-advance"), (3, "word-advance")]
    assert chain((0, 2, 2), (0, 2, 2)) == [(2, "word-repeated")]


def test_quirk_an_advance_counted_in_bytes_is_sixteen_times_too_far() -> None:
    """Four K blocks of 32 bytes: 2 units of 16 bytes each; 32 units begin in the fourth row of another 8 rows."""
    assert chain((0, 2, 4, 6), (0, 2, 4, 6)) == []
    assert chain((0, 32), (0, 32)) == [(1, "word-advance"), (1, "word-advance")]
    steps = [Step(i, (operand(by),)) for i, by in enumerate((0, 32, 64))]
    found = [found for _, _, found in advance_findings(steps)]
    assert found[0] == "A advances by 512 bytes, to row 4 of a pattern of 8, into lines of another instruction"


def test_another_field_in_one_accumulation_is_told() -> None:
    steps = [Step(0, (operand(0),)), Step(1, (operand(2, WORD ^ 1 << 33),))]
    assert [found for _, _, found in advance_findings(steps)] == [
        "the descriptor of A differs from the one in the first instruction: stride_byte_offset 1056 instead of 1024"
    ]


@pytest.mark.parametrize(
    ("shape", "word", "bit", "found"),
    [
        ((64, 16), WORD, 16, []),  # LBO of a swizzled K-major operand
        ((8, 16), WORD, 33, []),  # SBO of an operand with one group of 8 rows
        ((16, 16), WORD, 33, ["stride_byte_offset"]),
        ((64, 16), WORD & ~(3 << 62), 16, ["leading_byte_offset"]),
        ((64, 16), WORD & ~(3 << 62), 49, []),  # base offset without a swizzle
        ((64, 16), WORD, 49, ["base_offset"]),
    ],
)
def test_only_fields_that_are_read_must_agree(shape: tuple[int, int], word: int, bit: int, found: list[str]) -> None:
    first, second = (replace(operand(by, w), shape=shape) for by, w in ((0, word), (2, word ^ 1 << bit)))
    told = [text for _, _, text in advance_findings([Step(0, (first,)), Step(1, (second,))])]
    differ = [text for text in told if "in the first instruction" in text]
    names = [re.findall(r"(\w+) \S+ instead of \S+", text.split(": ")[1]) for text in differ]
    assert names == [[name] for name in found]
    assert len(places([(0, first), (1, second)])[0]) == 2 - bool(found)


def test_distances_are_known_from_a_base_or_from_constants() -> None:
    assert distance(operand(0), operand(6)) == 6
    assert distance(operand(0), operand(6, base="other")) is None
    whole = (1 << 64) - 1
    one, two = (SmemOperand("A", "sm90", "f16", "K", (64, 16), Known(n, whole)) for n in (64, 66))
    assert distance(one, two) == 2


@pytest.mark.parametrize("upper", [0x40004040, 0x80004040, 0xC0004040])
def test_a_word_that_is_taken_apart_and_put_together_keeps_its_distance(upper: int) -> None:
    body = (
        "mov.b32 %a, smem; shr.u32 %b, %a, 4; and.b32 %c, %b, 16383; cvt.u64.u32 %w, %c; "
        f"or.b64 %x, %w, {upper << 32}; mov.b64 {{%l, %h}}, %x; add.s32 %m, %l, 2; mov.b64 %y, {{%m, %h}}; "
        "st.use %x, %y;"
    )
    function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
    found = fold(function, {"smem": 1024}, [8])[8]
    one, two = (SmemOperand("A", "sm90", "f16", "K", (64, 16), found[name]) for name in ("%x", "%y"))
    assert one.word.base == two.word.base and distance(one, two) == 2
