"""Words in every position: known in part, of A alone, of B alone, with every major and type."""

from __future__ import annotations

from typing import Literal

import pytest

from descriptors import derive
from descriptors.check.inspection import check_ptx
from descriptors.check.k_steps import Step, advance_findings, replace_offset
from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.control_flow import blocks
from descriptors.check.ptx.kernel_words import SmemOperand, smem_findings
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.multiplications import multiplications
from descriptors.check.ptx.ptx_module import parse
from descriptors.check.story import explain_ptx
from descriptors.check.words_undecided import words_undecided

HIGH = 0xFFFFFFFF00000000
Major = Literal["K", "MN"]
REGISTERS = ",".join(f"d{i}" for i in range(32))
A = "{a0,a1,a2,a3}"


def one(word: int, major: Major = "K", mask: int = HIGH, n: int = 64, dtype: str = "bf16") -> SmemOperand:
    return SmemOperand("B", "sm90", dtype, major, (n, 16), Known(word & mask, mask, "r", 0))


def wgmma(start: int, *, word: int, b: int, a: str = A, types: str = "f32.bf16.bf16") -> str:
    word |= start
    tail = "0, 1, 1, 0, " if a == "w" else "1, 1, 1, "
    first = f"mov.b64 w, {word}; " if a == "w" else ""
    return (
        f"{first}mov.b64 v, {word};\n"
        f"wgmma.mma_async.sync.aligned.m64n64k16.{types} {{{REGISTERS}}}, {a}, v, {tail}{b};\n"
    )


def kernel(*body: str) -> str:
    return f".version 8.8\n.target sm_90a\n.entry k() {{\n{''.join(body)}ret;\n}}"


def rules(*body: str) -> list[str]:
    return [found.rule.name for found in check_ptx(kernel(*body)).findings if found.rule.name.startswith("word")]


def undecided(*body: str) -> list[tuple[str, str]]:
    function = parse(kernel(*body)).functions[0]
    graph = blocks(function)
    found = list(multiplications(function, fold(function, {}, observed(function), graph)))
    return [(row.property, row.what) for row in words_undecided(function, found, graph)]


def word(major: Major, swizzle: Literal["none", "32B", "64B", "128B"] = "128B", mn: int = 64, k: int = 64) -> int:
    return derive((mn, k), "bf16", major, swizzle, (mn, 16), arch="sm90").descriptor.encode()


def started(word: int, multiple: int) -> list[str]:
    """Two K blocks of a word whose start is any multiple of so many bytes."""
    start = f"ld.param.u32 s, [p]; shr.u32 s, s, 4; and.b32 s, s, {0x3FFF & -(multiple >> 4)}; cvt.u64.u32 e, s;"
    step = f"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{REGISTERS}}}, {A}, v, 1, 1, 1, 0;\n"
    return [start, *(f"or.b64 v, e, {word}; add.s64 v, v, {2 * block};\n{step}" for block in range(2))]


@pytest.mark.parametrize(
    ("base", "swizzle", "multiple", "open_", "told"),
    [
        (0, "128B", 16, False, []),
        (1, "128B", 16, True, []),  # right of one start in eight
        (1, "128B", 512, True, []),
        (1, "128B", 1024, True, []),  # right of no such start, unless the tile was permuted for it beforehand
        (1, "64B", 512, True, []),
        (4, "64B", 16, False, []),  # a pattern of 64B has four lines
        (3, "none", 16, False, []),  # there is no pattern
    ],
)
def test_a_base_offset_is_judged_by_where_the_operand_starts_or_not_decided(
    base: int, swizzle: Literal["none", "64B", "128B"], multiple: int, open_: bool, told: list[str]
) -> None:
    body = started(word("K", swizzle) | base << 49, multiple)
    assert (("words", "base offset of B") in undecided(*body)) is open_
    assert [rule for rule in rules(*body) if rule != "word-advance"] == told


@pytest.mark.parametrize(("behind", "open_"), [(0, False), (32, False), (128, True), (512, True), (1024, False)])
def test_a_start_off_the_grid_of_its_pattern_is_not_decided(behind: int, open_: bool) -> None:
    """With base offset 0 it is right if whatever fills the tile permutes by the address, as tensor copies do."""
    body = started(word("K") + (behind >> 4), 1024)
    assert (("words", "start of B") in undecided(*body)) is open_


@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
def test_a_word_whose_low_half_is_not_known_is_taken(
    major: Major, swizzle: Literal["none", "32B", "64B", "128B"]
) -> None:
    operand = one(word(major, swizzle), major)
    assert operand.checked and not operand.resolved and list(smem_findings(operand)) == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        (word("K") ^ 3 << 62, "word-suspect"),  # 64B, but SBO of 128B
        (word("K") & ~(0x3FFF << 32), "word-smem"),  # SBO 0
        (word("K") & ~(0x3FFF << 32) | 32 << 32, "word-smem"),  # SBO 512
        (word("K") | 1 << 53, "word-unused-bits"),
    ],
)
def test_a_wrong_field_of_the_upper_half_is_told(changed: int, rule: str) -> None:
    assert {name for name, _ in smem_findings(one(changed))} == {rule}


def test_an_instruction_descriptor_of_two_values_is_judged_in_both() -> None:
    select = "selp.b32 i, 0x08200490, {}, q; tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, p;"
    for other, count in ((0x08202490, 0), (0x09200490, 0)):
        text = f".version 8.8\n.target sm_100a\n.entry k() {{ {select.format(other)} ret; }}"
        report = check_ptx(text)
        assert len([f for f in report.findings if f.rule.name == "word-idesc"]) == count
        assert (3, "instruction descriptor") not in report.unresolved
    wrong = select.replace("0x08200490", "0x0820049c").format("0x0820249c")
    text = f".version 8.8\n.target sm_100a\n.entry k() {{ {wrong} }}"
    assert "word-idesc" in {f.rule.name for f in check_ptx(text).errors}


STEPS = {"K": (0, 2, 4, 6), "MN": (0, 128, 256, 384)}


@pytest.mark.parametrize("major", ["K", "MN"])
def test_of_products_with_a_in_registers_b_goes_by_k_blocks(major: Major) -> None:
    b = int(major == "MN")
    right = [wgmma(start, word=word(major), b=b) for start in STEPS[major]]
    assert rules(*right) == [] and undecided(*right) == []


@pytest.mark.parametrize(
    ("major", "steps"),
    [
        ("MN", (0, 64, 256, 384)),  # half a K block
        ("MN", (0, 129, 256, 384)),  # off the lines
        ("MN", (0, 2, 4, 6)),  # as if it were K-major
        ("MN", (0, 192, 256, 384)),
        ("K", (0, 1, 4, 6)),
        ("K", (0, 66, 4, 6)),  # 32 bytes, and 8 rows down
        ("K", (0, 32, 64, 96)),  # bytes for units
        ("K", (0, 128, 256, 384)),  # as if it were MN-major
    ],
)
def test_a_step_that_no_tile_has_is_told_of_b_alone(major: Major, steps: tuple[int, ...]) -> None:
    assert "word-advance" in rules(*[wgmma(start, word=word(major), b=int(major == "MN")) for start in steps])


@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("flipped", [0, 2])
def test_one_transpose_bit_that_differs_is_told_wherever_a_lies(major: Major, flipped: int) -> None:
    b = int(major == "MN")
    chain = [wgmma(s, word=word(major), b=b ^ (i == flipped)) for i, s in enumerate(STEPS[major])]
    assert "word-transpose" in rules(*chain)


@pytest.mark.parametrize("major", ["K", "MN"])
def test_transpose_bits_that_are_all_wrong_are_told_by_the_steps(major: Major) -> None:
    chain = [wgmma(s, word=word(major), b=int(major == "K")) for s in STEPS[major]]
    assert "word-advance" in rules(*chain)


@pytest.mark.parametrize("major", ["K", "MN"])
def test_of_one_instruction_alone_the_major_is_not_decided(major: Major) -> None:
    for b in (0, 1):
        assert undecided(wgmma(0, word=word(major), b=b)) == [("words", "major of B")]


def test_the_same_b_again_is_asked_about_and_the_same_a_with_it_too() -> None:
    assert rules(wgmma(0, word=word("MN"), b=1), wgmma(0, word=word("MN"), b=1)) == ["word-repeated"]
    other = wgmma(0, word=word("MN"), b=1, a="{e0,e1,e2,e3}")
    assert rules(wgmma(0, word=word("MN"), b=1), other) == ["word-repeated"]


def test_one_operand_may_slide_over_all_its_k_blocks_and_both_may_not() -> None:
    def chain(a: list[int], b: list[int]) -> list[str]:
        first = one(word("K"))
        second = SmemOperand("A", "sm90", "bf16", "K", (64, 16), first.word)
        steps = [
            Step(i, (replace_offset(first, y), replace_offset(second, x)))
            for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]
        return [rule for _, rule, _ in advance_findings(steps)]

    k, far = [0, 2, 4, 6], [512 + 2 * i for i in range(4)]
    slid = [64 + 2 * i for i in range(4)]
    assert chain(k + far, k + far) == []
    assert chain(k + slid, k + far) == ["word-suspect"] * 4
    assert chain(k + slid, k + slid) == ["word-advance"] * 8


@pytest.mark.parametrize("by", [3, 5, 0])
def test_an_address_that_is_shifted_by_another_number_of_bits_is_told(by: int) -> None:
    def text(by: int) -> str:
        made = f"mov.b32 r, smem; bfe.u32 s, r, {by}, 14; cvt.u64.u32 t, s; or.b64 v, t, {word('K') & ~0x3FFF};"
        mma = f"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{REGISTERS}}}, {A}, v, 1, 1, 1, 0;"
        return kernel(made, mma).replace(".entry", ".extern .shared .align 1024 .b8 smem[];\n.entry")

    assert "word-start" not in {found.rule.name for found in check_ptx(text(4)).findings}
    assert "word-start" in {found.rule.name for found in check_ptx(text(by)).errors}


@pytest.mark.parametrize("dtype", ["b1", "s4", "e9m9"])
def test_types_that_few_models_know_end_in_findings(dtype: str) -> None:
    operand = SmemOperand("B", "sm90", dtype, "K", (64, 256), Known(word("K"), (1 << 64) - 1))
    assert list(smem_findings(operand)) == []
    mma = f"wgmma.mma_async.sync.aligned.m64n64k256.s32.{dtype}.{dtype}.and.popc"
    text = kernel(f"mov.b64 v, {word('K')}; {mma} {{{REGISTERS}}}, v, v, 1;")
    assert all(found.rule.name.startswith(("form", "wgmma")) for found in check_ptx(text).findings)
    if dtype != "b1":
        (row, *_) = undecided(text.partition("{")[2].rpartition("ret")[0])
        assert row == ("words", "descriptor of A")


def test_the_story_says_where_a_major_differs() -> None:
    chain = [wgmma(s, word=word("MN"), b=int(s != 128)) for s in STEPS["MN"]]
    told = explain_ptx(kernel(*chain)).kernels[0].accumulations[0].operands[1]
    assert told.startswith("B bf16 MN-major 64x16")
    assert "; bf16 K-major 64x16 in shared memory" in told and told.endswith("at line 7")


def test_a_narrower_swizzle_than_the_rows_are_apart_is_asked_about_unless_the_rest_is_read() -> None:
    def chain(*starts: int, sbo: int = 64) -> list[str]:
        first = one(word("K", "64B", k=32) & ~(0x3FFF << 32) | sbo << 32)
        steps = [Step(i, (replace_offset(first, start),)) for i, start in enumerate(starts)]
        return [rule for _, rule, _ in advance_findings(steps)]

    assert chain(0, 2) == ["word-suspect"]
    assert chain(0, 2, 32, 34) == chain(0, 2, sbo=32) == []


def test_a_k_block_of_a_that_is_read_twice_while_b_goes_on_is_told() -> None:
    def chain(*starts: int) -> list[tuple[int, str]]:
        a, b = one(word("K")), one(word("MN"), "MN")
        first = SmemOperand("A", "sm90", "bf16", "K", (64, 16), a.word)
        both = zip(starts, STEPS["MN"], strict=True)
        steps = [Step(i, (replace_offset(first, x), replace_offset(b, y))) for i, (x, y) in enumerate(both)]
        return [(index, rule) for index, rule, _ in advance_findings(steps)]

    assert chain(0, 2, 4, 6) == []
    assert chain(0, 0, 4, 6) == [(1, "word-advance")]
    assert chain(0, 2, 2, 6) == [(2, "word-advance")]
    assert chain(0, 4, 2, 6) == [(1, "word-advance"), (2, "word-advance")]
    assert chain(0, 0, 2, 2) == []  # each of two blocks with two of B: parts of a split type


def test_an_address_that_a_register_moves_on_its_way_is_followed() -> None:
    made = "mov.b32 r, smem; add.s32 a, r, q; bfe.u32 s, a, {}, 15; add.s32 lo, s, 2; mov.b64 v, {{lo, {}}};"
    mma = f"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{REGISTERS}}}, {A}, v, 1, 1, 1, 0;"
    for by, count in ((4, 0), (3, 1)):
        found = rules(made.format(by, word("K") >> 32), mma)
        assert found.count("word-start") == count


def test_a_version_that_is_not_known_is_not_said_to_be_wrong() -> None:
    made = derive((128, 64), "bf16", "K", "128B", (128, 16)).descriptor.encode()
    mask = HIGH & ~(7 << 46)
    operand = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(made & mask, mask))
    assert operand.checked and list(smem_findings(operand)) == []


@pytest.mark.parametrize("start", [1, 3])
def test_a_start_between_k_blocks_is_asked_about_and_past_the_row_it_is_wrong(start: int) -> None:
    alone = rules(wgmma(start, word=word("K"), b=0))
    assert alone == ["word-suspect"]
    whole = rules(*[wgmma(start + step, word=word("K"), b=0) for step in STEPS["K"]])
    assert "word-advance" in whole
