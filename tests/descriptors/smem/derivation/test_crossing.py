"""K = 96 across swizzle atoms: against the CuTe DSL's words, a walk of its own, and words wrong in one place."""

from __future__ import annotations

import dataclasses
import json
from itertools import product
from typing import Any

import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from places import VECTORS

from descriptors import (
    DescriptorError,
    derive,
    derive_symbolic,
    emit,
    explain,
    oracle,
    record,
    tell,
    tma_plan,
    verify,
)
from descriptors.oracle.words import WordRequest, descriptor_words
from descriptors.smem.derivation.crossing import Crossing
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.proof.read_model import read_rows
from layoutalg import ComposedLayout, Layout, Swizzle, size

TILE: dict[str, Any] = {
    "tile": (128, 768),
    "dtype": "e2m1",
    "major": "K",
    "swizzle": "128B",
    "mma": (128, 96),
    "arch": "sm103",
}
PAIR: dict[str, Any] = {"kind": "mxf4nvf4", "cta_group": 2}

#: What NVIDIA's example for sm_103a does in a tile of three buffers: the piece that an instruction begins at, its
#: buffer, and the buffer that it names as the next.
BEGINS = ((0, 0, 0), (3, 0, 0), (6, 0, 1), (1, 1, 1), (4, 1, 1), (7, 1, 2), (2, 2, 2), (5, 2, 2))


def recorded() -> list[dict[str, Any]]:
    """Words that the CuTe DSL made with ``next_src``, with the tool, its version and the command."""
    loaded: dict[str, Any] = json.loads((VECTORS / "k96.json").read_text())
    assert loaded["tool"] == "CuTe DSL"
    rows: list[dict[str, Any]] = loaded["tiles"]
    return rows


def request(tile: str, rows: int, piece: int, line: int) -> WordRequest:
    return WordRequest("e2m1", "K", "128B", tile, (rows, 32), "sm103", (piece, line))


def walk(word: int, rows: int) -> dict[tuple[int, int], int]:
    """From element (i, k) to the bit that a word of LBO mode 1 reads it at: one piece of 16 bytes after the other."""
    start, line, sbo = ((word >> low) % (1 << 14) * 16 for low in (0, 16, 32))
    assert word >> 46 & 7 == 1 and word >> 49 & 7 == 0 and word >> 52 & 1 and word >> 61 == 2
    bits = {}
    for i, piece in product(range(rows), range(3)):
        number = start % 128 // 16 + piece
        address = (line + 16 * (number - 8)) if number >= 8 else start + 16 * piece
        address += i // 8 * sbo + i % 8 * 128
        address ^= address >> 7 << 4 & 0x70
        bits |= {(i, 32 * piece + j): 8 * address + 4 * j for j in (0, 31)}
    return bits


@pytest.mark.parametrize("row", recorded(), ids=lambda row: str(row["tile"]))
def test_the_words_of_a_tile_are_those_of_the_cute_dsl(row: dict[str, Any]) -> None:
    tile, mma, order = tuple(row["tile"]), tuple(row["mma"]), tuple(row["order"])
    d = derive(**{**TILE, "tile": tile, "mma": mma, "order": order}, legality="off")
    assert [f"{word:#018x}" for word in d.words()[0]] == row["words"]


@pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")
def test_the_cute_dsl_still_makes_the_words_that_were_recorded() -> None:
    rows = recorded()
    requests = [request(row["layout"], row["mma"][0], piece, line) for row in rows for piece, line in row["columns"]]
    answers = descriptor_words(requests)
    words = [word for row in rows for word in row["words"]]
    assert [answer.word and f"{answer.word:#018x}" for answer in answers] == words


def test_instructions_begin_and_go_on_where_those_of_nvidias_example_do() -> None:
    one = Crossing(Layout(3, 1024))
    assert tuple((one.begins(k) % 8, one.begins(k) // 8, one.goes_on(k) // 1024) for k in range(8)) == BEGINS
    assert [one.crosses(k) for k in range(8)] == [following != buffer for _, buffer, following in BEGINS]
    (row,) = [row for row in recorded() if row["tile"] == [128, 768] and row["order"] == [0, 1]]
    assert row["columns"] == [[8 * buffer + piece, 8 * following] for piece, buffer, following in BEGINS]


@st.composite
def crossing(draw: st.DrawFn) -> tuple[Derivation, int]:
    rows = draw(st.sampled_from([8, 16]))
    tile = [rows * draw(st.integers(1, 2)), 768 * draw(st.integers(1, 2))]
    stages = draw(st.sampled_from([[], [2]]))
    order = tuple(draw(st.permutations(range(2 + len(stages)))))
    d = derive(**{**TILE, "tile": (*tile, *stages), "mma": (rows, 96), "order": order}, legality="off", verify=False)
    return d, 1024 * draw(st.integers(0, 20))


@settings(max_examples=12)
@given(crossing())
def test_a_walk_of_its_own_finds_every_element_where_the_tile_has_it(case: tuple[Derivation, int]) -> None:
    d, base = case
    (mn, k), stages = d.mma, list(range(d.tile[2])) if len(d.tile) == 3 else [None]
    for stage in stages:
        table = d.words(base, stage)
        for i, j in product(range(len(table)), range(len(table[0]))):
            for (a, b), bit in walk(table[i][j], mn).items():
                at = (i * mn + a, j * k + b, *([] if stage is None else [stage]))
                assert bit == 8 * base + 4 * int(d.smem_tile(*at))
    assert verify(d, bases=(base,)).ok


@settings(max_examples=12)
@given(crossing())
def test_one_word_is_its_cell_of_the_table(case: tuple[Derivation, int]) -> None:
    d, base = case
    for mn, k in product(range(size(d.advance[0])), range(size(d.advance[1]))):
        cell: Any = d.words(base)[mn][k]
        stages = range(d.tile[2]) if len(d.tile) == 3 else [0]
        for stage in stages:
            assert d.word(mn, k, stage, base) == (cell[stage] if len(d.tile) == 3 else cell)
            lines: Any = d.lines_bytes()[mn][k]
            assert d.line_of(mn, k, stage) == (lines[stage] if len(d.tile) == 3 else lines)


def read_bits(word: int) -> list[list[int]]:
    return read_rows(word, "sm100", dtype="e2m1", major="K", shape=(128, 96), in_bits=True)


@each("wrong", [0, 1024, 16384, 2 * 16384, 16384 + 128])
@each("k", [2, 5])
def test_a_wrong_line_is_caught_by_the_walk_of_the_model(wrong: int, k: int) -> None:
    d = derive(**TILE, **PAIR)
    word, right = d.words()[0][k], d.line_of(0, k)
    other = word & ~(0x3FFF << 16) | wrong >> 4 << 16
    bits = [read_bits(one) for one in (word, other)]
    assert (bits[0] == bits[1]) == (wrong == right)
    assert all(bits[1][i][j] == bit for (i, j), bit in walk(other, 128).items())


@pytest.mark.parametrize(
    "lines", [Layout(3, 1025), Layout(3, 1032), Layout(3, 2048), Layout(3, 0), Layout((3, 1), (64, 0))]
)
def test_a_tile_that_goes_on_in_other_lines_is_disproved(lines: Layout) -> None:
    d = derive(**TILE, **PAIR)
    other = dataclasses.replace(d, crossing=Crossing(lines))
    try:
        report = verify(other)
    except DescriptorError as error:
        assert "a multiple of 128" in str(error)
        return
    assert not report.ok
    assert report.differing >= 2 * 128 * 32


@pytest.mark.parametrize(
    "changes", [{"leading_is_absolute": False}, {"leading_byte_offset": 1024}, {"stride_byte_offset": 2048}]
)
def test_a_wrong_field_is_caught(changes: dict[str, Any]) -> None:
    d = derive(**TILE, **PAIR)
    first = dataclasses.replace(d.descriptor, **changes)
    if not first.leading_is_absolute:
        first = dataclasses.replace(first, leading_byte_offset=16)
        words = [first.at(start).encode() for start in d.offsets_bytes()[0]]
        alike = [read_bits(one) == read_bits(right) for one, right in zip(words, d.words()[0], strict=True)]
        assert alike == [not crosses for crosses in (0, 0, 1, 0, 0, 1, 0, 0)]
        return
    assert not verify(dataclasses.replace(d, descriptor=first)).ok


def test_the_line_moves_with_the_tile_and_the_tile_must_be_aligned() -> None:
    d = derive(**TILE, **PAIR)
    first, further_on = d.words()[0], d.words(4096)[0]
    assert [b - a for a, b in zip(first, further_on, strict=True)] == [4096 // 16 * (1 | 1 << 16)] * 8
    assert verify(d, bases=(0, 1024, 100 * 1024)).ok
    for base in (16, 128, 512, 1040):
        with pytest.raises(DescriptorError, match="a multiple of 1024 bytes; base_offset must be 0"):
            d.words(base)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"swizzle": "64B"}, "needs swizzle 128B (PTX ISA 9.1, absolute address mode), but swizzle is 64B"),
        ({"swizzle": "32B"}, "needs swizzle 128B (PTX ISA 9.1, absolute address mode), but swizzle is 32B"),
        ({"tile": (128, 512)}, "tile K is 512, which is not a multiple of the instruction's K (96)"),
        ({"tile": (96, 768)}, "tile MN is 96, which is not a multiple of the instruction's MN (128)"),
        ({"arch": "sm90"}, "because one ends inside an atom or mode"),
        ({"mma": (128, 192)}, "because one ends inside an atom or mode"),
    ],
)
def test_what_nobody_shows_is_refused_with_the_reason(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        derive(**{**TILE, **wrong}, legality="off")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (ComposedLayout(Swizzle(3, 5, 3), 32, Layout((8, (256, 3)), (256, (1, 2048)))), "its steps are (16,"),
        (ComposedLayout(Swizzle(3, 5, 3), 0, Layout((8, (256, 3)), (256, (1, 2080)))), "its steps are "),
        (
            ComposedLayout(Swizzle(3, 5, 3), 0, Layout((8, (128, 6)), (256, (1, 2048)))),
            "its pieces of 16 bytes are at ",
        ),
        (
            ComposedLayout(Swizzle(3, 5, 3), 0, Layout(((8, 2), (256, 3)), ((256, 2080), (1, 8192)))),
            "its steps are (0,1040,0,4096)",
        ),
        (ComposedLayout(Swizzle(3, 5, 3), 0, Layout((8, (192, 4)), (256, (1, 2048)))), None),
    ],
)
def test_every_line_is_whole_and_begins_where_lines_do(layout: ComposedLayout, message: str | None) -> None:
    rows = size(layout(None, 0))
    arguments: dict[str, Any] = {"layout": layout, "dtype": "e2m1", "mma": (rows, 96), "legality": "off"}
    if message is None:  # four times two operands in a row: none crosses
        assert derive(**arguments).crossing is None
        return
    with pytest.raises(DescriptorError) as caught:
        derive(**arguments)
    assert message in str(caught.value)


def test_without_a_swizzle_an_instruction_with_k_96_needs_no_other_line() -> None:
    d = derive(**{**TILE, "swizzle": "none"}, **PAIR)
    assert d.crossing is None and not d.descriptor.leading_is_absolute
    with pytest.raises(DescriptorError, match="no operand of this tile crosses atoms"):
        d.lines_bytes()
    assert d.line_of(0, 3) == 0


def test_legality_is_asked_as_of_any_operand() -> None:
    with pytest.raises(DescriptorError, match="legality"):
        derive(**TILE, cta_group=1)
    assert derive(**TILE, cta_group=1, legality="lenient").words() == derive(**TILE, **PAIR).words()


def test_closed_forms_are_refused() -> None:
    with pytest.raises(DescriptorError, match="48 bytes of K"):
        derive_symbolic(("128*m", "768*k"), "e2m1", "K", "128B", (128, 96), legality="off")


def test_the_report_of_the_advance_knows_the_columns_that_nobody_begins_at() -> None:
    report = derive(**TILE, **PAIR).advance_report(1024)
    assert (report.lowest_start, report.highest_start, report.last, report.end) == (1024, 33872, (0, 7), 1024 + 49152)
    assert report.fits_memory and report.named == 8
    assert derive(**{**TILE, "tile": (128, 768, 4)}, **PAIR, verify=False).advance_report(1 << 16).named == 32
    assert derive(**{**TILE, "tile": (128, 768, 4)}, **PAIR, verify=False).advance_report(1 << 17).named == 16 + 6


def test_a_tile_beyond_the_window_is_refused_where_its_words_are_made() -> None:
    d = derive(**{**TILE, "tile": (128, 768, 6)}, **PAIR, capacity=None, verify=False)
    with pytest.raises(DescriptorError, match=r"which is not in \[0, 262128\]"):
        verify(d)


def test_every_answer_tells_the_line() -> None:
    d = derive(**TILE, **PAIR)
    story, data = tell(d, steps=True), record(d)
    assert "Line in which K goes on of subtile (mn, k)" in story and "absolute" in explain(d)
    assert data["crossing"]["lines_bytes"] == d.lines_bytes()
    assert data["descriptor"]["fields"]["lbo_mode"] == 1
    assert d.dont_care == ()
    assert "line_bytes" not in record(derive(**{**TILE, "mma": (128, 64)}))
    assert verify(d).evidence.startswith("documented in part, completed by NVIDIA's kernels")
    assert len(tma_plan(d, rank=2).boxes) == 3
    assert "kLineField = 0x3fff0000ull" in emit(d, "cuda", "a")
