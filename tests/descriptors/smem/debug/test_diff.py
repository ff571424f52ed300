"""A word against a layout: what differs is found, pictured, and mended with a word that is proved."""

from __future__ import annotations

from typing import Any

import pytest
from derived import K_128, MN_64, derivations, leaves, unproved
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, NotCanonicalError, derive, tell
from descriptors.smem.debug.diff import Diff, diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.instructions.legality import split_refusal
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.proof.addresses import stored_rows
from descriptors.smem.words.bitfield import UnknownCode
from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle

SW128 = "S<3,3,3> o 0 o (64,16):(64,1)"
BF16_K: dict[str, Any] = {"arch": "sm90", "dtype": "bf16", "major": "K"}


def diff_of(d: Derivation, word: int, subtile: tuple[int, ...], **more: Any) -> Diff:
    arguments: dict[str, Any] = {
        "arch": d.arch,
        "dtype": d.element,
        "major": d.major,
        "shape": d.mma,
        "subtile": subtile,
    }
    return diff(word, d.smem_tile, **{**arguments, "base": 0, **more})


def subtile_and_word(d: Derivation, data: st.DataObject) -> tuple[tuple[int, ...], int]:
    """A subtile of a derivation, and its word."""
    table: Any = d.words()
    subtile: list[int] = []
    while not isinstance(table, int):
        subtile.append(data.draw(st.integers(0, len(table) - 1)))
        table = table[subtile[-1]]
    return tuple(subtile), table


@given(d=derivations(), data=st.data())
def test_the_word_of_every_subtile_is_the_same_as_the_tile_there(d: Derivation, data: st.DataObject) -> None:
    subtile, word = subtile_and_word(d, data)
    difference = diff_of(d, word, subtile)
    assert difference.verdict == ("undecided" if difference.illegal else "same")
    assert not difference.changes
    assert not difference.mismatches
    assert set("".join(difference.picture.rows)) == {"."}


@given(d=derivations(), data=st.data())
def test_without_a_base_the_word_of_a_subtile_is_the_same_or_undecided_by_where_the_tile_is(
    d: Derivation, data: st.DataObject
) -> None:
    subtile, word = subtile_and_word(d, data)
    base = d.swizzle.alignment_bytes * data.draw(st.integers(0, 8))
    found = diff_of(d, word + base // 16, subtile, base=None)
    assert (found.base, found.differing) == (base, 0)
    assert found.verdict == ("undecided" if (base and found.offset) or found.illegal else "same")
    away = diff_of(d, word + data.draw(st.integers(1, 255)), subtile, base=None)
    assert d.descriptor_at(away.base) and (away.verdict != "same" or (away.base and not away.offset))


@given(d=derivations(), data=st.data())
def test_a_damaged_word_is_mended_by_the_changes_and_by_nothing_else(d: Derivation, data: st.DataObject) -> None:
    subtile, word = subtile_and_word(d, data)
    layout = d.descriptor.word
    field = layout[data.draw(st.sampled_from(["start_address", "leading_byte_offset", "stride_byte_offset"]))]
    damaged = word ^ data.draw(st.integers(1, 255)) << field.low
    difference = diff_of(d, damaged, subtile)
    assert difference.right_word is not None
    assert not diff_of(d, difference.right_word, subtile).differing
    if difference.right_major is d.major:
        mended = {**layout.decode(damaged), **{change.field: change.right for change in difference.changes}}
        assert not diff_of(d, layout.encode(mended), subtile).differing
        assert [change.field for change in difference.changes] in ([field.name], [])
        assert bool(difference.changes) is (field.name not in d.dont_care)


def test_a_wrong_stride_is_found_and_the_field_named() -> None:
    difference = diff(1 << 62 | 32 << 32, SW128, **BF16_K)
    assert not difference.ok
    assert difference.differing == 896  # 7 of 8 groups of rows
    assert [str(change) for change in difference.changes] == ["stride_byte_offset 512 -> 1024"]
    assert difference.right_word == 1 << 62 | 64 << 32 | 1 << 16
    first = difference.mismatches[0]
    assert (first.coordinate, first.expected, first.found, first.unit) == ((8, 0), 0x400, 0x240, "byte")


def test_a_swizzle_code_of_another_architecture_is_named() -> None:
    difference = diff(2 << 62 | 64 << 32, SW128, **BF16_K)  # 2 is 128B on sm100, 64B here
    assert [(one.field, one.found, one.right) for one in difference.changes] == [
        ("swizzle", SwizzleMode.B64, SwizzleMode.B128)
    ]


def test_bytes_stored_unshifted_are_named() -> None:
    difference = diff(1 << 62 | 1024 << 32, SW128, **BF16_K)
    assert [str(change) for change in difference.changes] == ["stride_byte_offset 16384 -> 1024"]


def test_the_wrong_major_is_named_when_the_word_itself_is_right() -> None:
    difference = diff(1 << 62 | 64 << 32, "S<3,3,3> o 0 o (64,16):(1,64)", **BF16_K)
    assert not difference.ok
    assert (difference.right_major, difference.changes) == (Major.MN, ())
    assert "change: major K -> MN" in tell(difference)


def test_a_layout_that_no_word_reads_says_which_mode_fails() -> None:
    difference = diff(1 << 62 | 64 << 32, "(64,16):(64,1)", **BF16_K)
    assert difference.right_word is None
    assert "mode (0,0) has stride 8, expected stride 1" in difference.reason
    assert "forms that fit: K-major 128B" in difference.reason
    assert tell(difference).splitlines()[1] == f"no word reads this layout: {difference.reason}"


def test_a_right_word_that_no_instruction_takes_says_so() -> None:
    difference = diff(1 << 46 | 1 << 62, "S<3,2,3> o 0 o (32,8):(1,32)", arch="sm100", dtype="tf32", major="MN")
    assert difference.right_word is not None
    assert "swizzle is 128B, but must be" in difference.illegal


def test_a_swizzle_that_moves_nothing_here_is_no_difference() -> None:
    one_line = "S<3,3,3> o 0 o (8,8):(8,1)"  # 128 bytes in one row of the pattern
    difference = diff(64 << 32, one_line, **BF16_K, shape=(8, 8))
    assert not difference.differing
    assert "no sm90 instruction reads a 8x8 bf16 operand" in difference.headline
    assert not difference.changes


def tile_word(start: int, swizzle: int = 1) -> int:
    """A word of a tile of rows of 128 bytes with a start address in bytes."""
    return swizzle << 62 | 64 << 32 | start >> 4


SUBTILE_0_1: dict[str, Any] = {**BF16_K, "shape": (64, 16), "subtile": (0, 1)}
TILE = "S<3,3,3> o 0 o (64,64):(64,1)"


@pytest.mark.parametrize("start", range(0, 4096, 16))
def test_without_a_base_a_start_is_same_different_or_undecided_by_what_base_it_implies(start: int) -> None:
    found = diff(tile_word(start), TILE, **SUBTILE_0_1)
    by_base = {base: diff(tile_word(start), TILE, **SUBTILE_0_1, base=base).ok for base in range(0, 8192, 1024)}
    bases = [base for base, ok in by_base.items() if ok]
    assert found.verdict == ("same" if bases == [0] else "undecided" if bases else "different")
    assert [found.base] == (bases or [0])
    assert derive(layout=TILE, dtype="bf16", mma=(64, 16), arch="sm90").descriptor_at(found.base)


def test_an_advance_that_is_wrong_is_never_called_the_same_without_a_base() -> None:
    for wrong in (0x04, 0x06, 0x08, 0x10, 0x12, 0x42):
        found = diff(tile_word(16 * wrong), TILE, **SUBTILE_0_1)
        assert found.verdict == ("undecided" if wrong == 0x42 else "different") and not found.ok
        assert f"{found.base:#x}" in tell(found).splitlines()[0]
    right = diff(tile_word(32), TILE, **SUBTILE_0_1)
    assert right.ok and "assumed: the tile starts at 0x0 (base checks it)" in right.headline


def test_a_start_below_the_offset_of_the_subtile_is_different_and_no_refusal() -> None:
    found = diff(tile_word(0), TILE, **SUBTILE_0_1)
    assert (found.verdict, [str(one) for one in found.changes]) == ("different", ["start_address 0 -> 32"])
    assert "note: 0x0 is the start of subtile (0,0) of a tile at 0x0" in tell(found)


def test_a_tile_that_is_larger_than_the_window_can_only_start_at_0() -> None:
    large = "S<3,3,3> o 0 o (4096,64):(64,1)"
    assert diff(tile_word(32), large, **SUBTILE_0_1).headline == diff(tile_word(32), TILE, **SUBTILE_0_1).headline
    assert not diff(tile_word(32), large, **SUBTILE_0_1).start_notes
    assert diff(tile_word(1024 + 32), large, **SUBTILE_0_1).verdict == "different"


def test_a_start_of_another_subtile_is_named_with_the_address_of_the_tile() -> None:
    for start, at, base in ((64, "(0,2)", "0x0"), (0x440, "(0,2)", "0x400"), (0x860, "(0,3)", "0x800")):
        found = diff(tile_word(start), TILE, **SUBTILE_0_1)
        assert found.verdict == "different"
        assert f"note: {start:#x} is the start of subtile {at} of a tile at {base}" in tell(found)
    assert diff(tile_word(16), TILE, **SUBTILE_0_1).other is None


def test_an_undecided_start_says_which_base_fits_and_which_start_is_right_for_base_0() -> None:
    found = diff(tile_word(0x420), TILE, **SUBTILE_0_1)
    assert found.headline.startswith("undecided: ") and not found.differing
    for text in ("only if the tile starts at 0x400", "if it starts at 0x0, 0x20 is right", "base decides"):
        assert text in found.headline
    assert diff(tile_word(0x420), TILE, **SUBTILE_0_1, base=1024).verdict == "same"
    assert diff(tile_word(0x420), TILE, **SUBTILE_0_1, base=0).verdict == "different"
    wrong_stride = diff(tile_word(0x420) ^ 1 << 32, TILE, **SUBTILE_0_1)
    assert wrong_stride.verdict == "different" and wrong_stride.base == 1024
    assert [one.field for one in wrong_stride.changes] == ["stride_byte_offset"]


def test_without_a_swizzle_no_advance_can_be_judged_without_a_base() -> None:
    d = derive((64, 64), "bf16", "K", "none", (64, 16), arch="sm90")
    known: dict[str, Any] = {"shape": (64, 16), "subtile": (0, 1), **BF16_K}
    word, first = d.word(0, 1), d.offset_of(0, 1)
    assert diff(word, d.smem_tile, **known).verdict == "same"
    for away in (16, 1024):
        assert diff(word + away // 16, d.smem_tile, **known).verdict == "undecided"
        assert diff(word - away // 16, d.smem_tile, **known).verdict == "different"
    assert diff(word, d.smem_tile, **known).offset == first


def test_the_first_subtile_is_the_same_for_a_tile_at_an_aligned_address_that_is_named() -> None:
    found = diff(tile_word(0x400), SW128, **BF16_K)
    assert found.ok and "the tile starts at 0x400 (base checks it)" in found.headline
    for start in (16, 112, 512):
        found = diff(tile_word(start), SW128, **BF16_K)
        assert [str(one) for one in found.changes] == [f"start_address {start} -> 0"]


def test_an_offset_of_the_layout_is_like_that_of_a_subtile() -> None:
    part_of_a_row = "S<3,3,3> o 16 o (64,16):(64,1)"
    verdicts = [diff(tile_word(start), part_of_a_row, **BF16_K).verdict for start in (0, 32, 4096 + 32, 4096 + 64)]
    assert verdicts == ["different", "same", "undecided", "different"]
    difference = diff(tile_word(0), part_of_a_row, **BF16_K)
    assert [str(change) for change in difference.changes] == ["start_address 0 -> 32"]


@pytest.mark.parametrize("base", [0, 1024, 0x8000])
def test_with_a_base_nothing_about_the_tile_is_assumed(base: int) -> None:
    found = diff(tile_word(base + 32), TILE, **SUBTILE_0_1, base=base)
    assert found.headline == (
        "same: the word reads all 1024 elements from where the layout stores them; compared: subtile (0,1), 64x16"
    )


def test_a_word_with_base_offset_4_that_reads_the_tile_is_the_same_at_an_aligned_base() -> None:
    # Base offset 4 turns the pattern by four rows; a start 64 bytes on turns the chunks back.
    for base in (0, 2048):
        word = tile_word(base + 64) | 4 << 49
        assert diff(word, TILE, **{**SUBTILE_0_1, "subtile": (0, 0)}, base=base).ok
        assert diff(word, TILE, **{**SUBTILE_0_1, "subtile": (0, 0)}).base == base
        assert diff(word, TILE, **{**SUBTILE_0_1, "subtile": (0, 0)}).ok


@pytest.mark.parametrize(
    ("rows", "columns", "reason"),
    [
        (6, 64, "MN 6 is not a multiple of 8"),
        (8, 8, "K 8 is not a multiple of 16"),
        (12, 24, "MN 12 is not a multiple of 8 and K 24 is not a multiple of 16"),
        (64, 17, "K 17 is not a multiple of 16"),
        (60, 16, "MN 60 is not a multiple of 8"),
    ],
)
def test_a_layout_without_operands_that_divide_it_is_undecided(rows: int, columns: int, reason: str) -> None:
    found = diff(tile_word(0), f"S<3,3,3> o 0 o ({rows},{columns}):(64,1)", **BF16_K)
    assert found.verdict == "undecided" and not found.differing
    assert f"no sm90 instruction reads {rows}x{columns}, or operands that divide it: {reason};" in found.headline


def test_the_headline_names_what_one_instruction_is_assumed_to_read() -> None:
    whole = diff(tile_word(0), "S<3,3,3> o 0 o (128,64):(64,1)", **BF16_K)
    assert whole.ok and "128x64 is one operand, of which an instruction reads a part (shape names" in whole.headline
    assert "one instruction reads all 64x16" in diff(tile_word(0), SW128, **BF16_K).headline
    assert "assumed: one" not in diff(tile_word(0), SW128, **BF16_K, shape=(64, 16)).headline


def test_a_start_inside_an_atom_is_right_by_the_absolute_address_and_wrong_by_the_relative_one() -> None:
    word = 1 << 62 | 64 << 32 | 32 >> 4
    assert diff(word, SW128, **BF16_K, base=32).ok  # the plain offsets move by 32, the swizzle takes their sums
    tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 16), (64, 1)))
    addresses = stored_rows(tile, unproved(**K_128).element, base=32)
    assert (addresses[0][0], addresses[1][0]) == (32, 128 + (32 ^ 16))


def test_a_tile_whose_pattern_starts_with_it_takes_a_base_offset() -> None:
    base_offset, plain_word = 1 << 49, 1 << 62 | 64 << 32 | 128 >> 4
    assert diff(plain_word | base_offset, SW128, **BF16_K, pattern_start=128).ok
    assert diff(plain_word, SW128, **BF16_K, base=128).ok
    difference = diff(plain_word, SW128, **BF16_K, pattern_start=128)
    assert [str(change) for change in difference.changes] == ["base_offset 0 -> 1"]
    assert diff(plain_word | base_offset, SW128, **BF16_K, base=128).ok
    wrong = diff(plain_word | base_offset, SW128, **BF16_K, base=128, pattern_start=0)
    assert [str(change) for change in wrong.changes] == ["base_offset 1 -> 0"]


@pytest.mark.parametrize(
    ("layout", "unit"),
    [
        ("S<3,3,3> o 0 o (64,16):(64,1)", "elements"),
        ("S<3,4,3> o 0 o (64,16):(64,1)", "cute"),
        ("S<3,4,3> o 0 o (64,(2,16)):(128,(1,2))", "bytes"),
    ],
)
def test_a_layout_may_count_elements_or_bytes(layout: str, unit: str) -> None:
    assert diff(1 << 62 | 64 << 32, layout, **BF16_K, unit=unit, shape=(64, 16)).ok


def test_two_elements_of_a_byte_are_told_apart() -> None:
    arguments: dict[str, Any] = {"arch": "sm100", "dtype": "e2m1", "major": "K"}
    word = 1 << 46 | 2 << 61 | 64 << 32
    assert diff(word, "S<3,5,3> o 0 o (64,64):(256,1)", **arguments).ok
    swapped = diff(word, "(64,(2,32)):(256,(1,2))", **arguments, shape=(8, 64))
    assert swapped.mismatches[0].unit == "bit"


def test_the_answer_is_told_in_lines() -> None:
    lines = tell(diff(1 << 62 | 32 << 32, SW128, **BF16_K)).splitlines()
    assert lines[0].startswith(
        "different: 896 of 1024 elements are read from elsewhere; assumed: the tile starts at 0x0"
    )
    assert lines[1:3] == ["change: stride_byte_offset 512 -> 1024", "right word: 0x4000004000010000"]
    assert lines[3] == "   its base offset is 0, as the swizzle pattern starts at 0x0"
    assert lines[4] == "stored as S<3,3,3> o 0 o (64,16):(64,1): swizzle 128B applied to (64,16):(64,1)"
    assert lines[5] == "   element (8,0) is stored at byte 0x400, read at byte 0x240"
    same = tell(diff(1 << 62 | 64 << 32, SW128, **BF16_K)).splitlines()
    assert same[0].startswith("same: the word reads all 1024 elements from where the layout stores them; assumed: ")
    assert same[1:] == [lines[4], "known: measured on a Hopper GPU"]


def test_what_to_change_is_the_second_line_and_broken_between_two_changes_alone() -> None:
    found = diff(1 << 62 | 3 << 49 | 9 << 32 | 7, SW128, arch="sm90", dtype="bf16", major="MN", shape=(64, 16))
    changes = [*map(str, found.changes), f"major {found.major} -> {found.right_major}"]
    lines = tell(found).splitlines()
    told, following = lines[1:], lines.index(f"right word: {found.right_word:#018x}")
    assert len(changes) > 2 and told[0].startswith("change: ") and max(map(len, lines[1:following])) <= 80
    assert [
        one.strip().rstrip(",") for line in lines[1:following] for one in line.removeprefix("change: ").split(", ")
    ] == changes


def test_a_picture_that_is_mostly_wrong_is_cut_and_says_how_much_is_left_out() -> None:
    lines = tell(diff(1 << 62 | 32 << 32, SW128, **BF16_K)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("mn \\ k"))
    assert [line.split()[0] for line in lines[start + 1 : start + 9]] == [str(2 * i) for i in range(8)]
    assert lines[start + 9] == "   ... and 24 more rows (--json has them all)"
    assert lines[start + 10].startswith("each character is 2x1 elements")
    half = diff(0x0000400800010000, "(8,(8,2)):(8,(1,512))", "sm100", dtype="bf16", major="K")
    assert 2 * half.differing == half.shape[0] * half.shape[1] and "more rows" not in tell(half)


def test_a_comparison_of_an_mn_major_operand_names_the_transpose_bit() -> None:
    note = "MN-major is selected by the instruction, not by the descriptor"
    layout = "S<3,3,3> o 0 o (64,16):(1,64)"
    right = diff(0x4000404000000000, layout, "sm100", dtype="bf16", major="MN")
    assert right.ok and tell(right).splitlines()[2].startswith(note)
    told_k = diff(0x4000404000000000, layout, "sm100", dtype="bf16", major="K")  # the right word needs the other major
    assert "major K -> MN" in tell(told_k) and note in tell(told_k)
    assert note not in tell(diff(1 << 62 | 64 << 32, SW128, **BF16_K))


def test_the_tile_of_the_mn_major_example_is_read_by_its_word_and_no_other() -> None:
    d = derive(**MN_64)
    for index, word in enumerate(leaves(d.words())):
        subtile = divmod(index, 8)
        assert diff_of(d, word, subtile).ok
        assert diff_of(d, word, (1 - subtile[0], subtile[1])).differing == 64 * 16


@each(
    ("arguments", "error", "complaint"),
    [
        ({"word": -1}, DescriptorError, "the minimum is 0"),
        ({"layout": "(64,16):(64"}, LayoutError, "."),
        ({"layout": "64:1"}, DescriptorError, "modes"),
        ({"layout": 5}, DescriptorError, "5 is not a layout"),
        ({"layout": "S<3,4,3> o 0 o (64,16):(64,1)"}, NotCanonicalError, "swizzle is "),
        ({"layout": "(4096,4096):(4096,1)"}, DescriptorError, "elements, more than"),
        ({"layout": "(64,16):(0,4611686018427387904)"}, DescriptorError, "outside the"),
        ({"arch": "sm80"}, DescriptorError, "arch"),
        ({"dtype": "bf17"}, DescriptorError, "dtype"),
        ({"major": "L"}, DescriptorError, "major"),
        ({"shape": (64,)}, DescriptorError, "two extents"),
        ({"shape": (48, 16)}, DescriptorError, "which is not a multiple"),
        ({"shape": (64, 16), "subtile": (1, 0)}, DescriptorError, "is not one of the"),
        ({"subtile": (0,)}, DescriptorError, "coordinate of 2 modes"),
        ({"base": 8}, DescriptorError, "multiple of 16"),
        ({"base": 2**18}, DescriptorError, "the maximum is"),
        ({"pattern_start": 8}, DescriptorError, "multiple of 16"),
        ({"pattern_start": 64}, DescriptorError, "multiple of 128 bytes"),
        ({"unit": "words"}, DescriptorError, "unit"),
    ],
)
def test_bad_input_is_a_typed_error(arguments: dict[str, Any], error: type[Exception], complaint: str) -> None:
    operands: dict[str, Any] = {"word": 1 << 62 | 64 << 32, "layout": SW128, **BF16_K, **arguments}
    with pytest.raises(error, match=complaint):
        diff(operands.pop("word"), operands.pop("layout"), **operands)


def test_a_word_without_meaning_is_a_difference_in_all_elements() -> None:
    assert isinstance(unproved(**K_128).descriptor.word.decode(3 << 61)["swizzle"], UnknownCode)
    difference = diff(3 << 61 | 1 << 46, SW128, arch="sm100", dtype="bf16", major="K")
    assert (difference.verdict, difference.differing, difference.mismatches) == ("different", 64 * 16, ())
    assert "swizzle code is 3, not 0, 1, 2, 4 or 6" in difference.headline
    assert diff(difference.right_word or 0, SW128, arch="sm100", dtype="bf16", major="K").ok


@pytest.mark.parametrize(("swizzle", "base"), [("128B", 128), ("128B", 512), ("64B", 256), ("32B", 128)])
@pytest.mark.parametrize(("major", "arch"), [("K", "sm90"), ("MN", "sm100")])
def test_a_tile_off_its_swizzle_pattern_agrees_with_derive_and_names_the_pattern(
    swizzle: str, base: int, major: str, arch: str
) -> None:
    """Two words may be right, one for a pattern that starts at 0 and one for a pattern that starts with the tile."""
    d = derive((128, 128), "bf16", major, swizzle, (64, 16), arch=arch)
    word = d.words(base=base)[0][0]
    asked: dict[str, Any] = {"arch": arch, "dtype": "bf16", "major": major, "shape": (64, 16), "base": base}
    found = diff(word, d.smem_tile, **asked)
    assert found.verdict == "same"
    assert f"a swizzle pattern starts at {base:#x}" in found.headline
    absolute = diff(word, d.smem_tile, **asked, pattern_start=0)
    assert absolute.verdict == "different" and absolute.right_word is not None
    by_address = diff(absolute.right_word, d.smem_tile, **asked)
    assert by_address.verdict == "same" and "a swizzle pattern starts at 0x0" in by_address.headline
    if swizzle == "128B":  # another base offset is right for neither
        assert diff(word ^ (2 if base == 512 else 4) << 49, d.smem_tile, **asked).verdict == "different"


def test_an_operand_that_no_instruction_reads_is_undecided() -> None:
    layout = derive((512, 64), "bf16", "K", "128B", (64, 16), arch="sm90").smem_tile
    asked: dict[str, Any] = {"arch": "sm90", "dtype": "bf16", "major": "K", "base": 0}
    found = diff(0x4000004000010000, layout, **asked, shape=(512, 16))
    assert (found.verdict, found.differing) == ("undecided", 0)
    assert "no sm90 instruction reads a 512x16 bf16 operand" in found.headline
    assert diff(0x4000004000010000, layout, **asked, shape=(64, 16)).verdict == "same"


@pytest.mark.parametrize(
    ("dtype", "layout", "word", "major", "shape", "reason"),
    [
        ("bf16", TILE, tile_word(0), "K", (4, 16), "no sm90 instruction reads a 4x16 bf16 operand"),
        (
            "e4m3",
            "S<2,4,3> o 0 o (64,32):(1,64)",
            2 << 62 | 32 << 32,
            "MN",
            (64, 32),
            "no sm90 instruction reads MN-major",
        ),
    ],
)
def test_a_refused_operand_is_undecided_and_its_reason_is_reported_once(
    dtype: str, layout: str, word: int, major: str, shape: tuple[int, int], reason: str
) -> None:
    found = diff(word, layout, "sm90", dtype=dtype, major=major, shape=shape)
    assert (found.differing, found.verdict) == (0, "undecided")
    fact, why = split_refusal(found.illegal)
    assert fact.startswith(reason) and fact in found.headline and (not why or why not in found.headline)
    assert tell(found).count(reason) == 1 and (f"\nnote: {why}\n" in tell(found)) is bool(why)
    assert found.illegal in found.open_questions


def test_an_operand_of_sparse_instructions_alone_names_the_assumption() -> None:
    found = diff(tile_word(0), TILE, **BF16_K, shape=(64, 32))
    assert found.verdict == "same"
    assert "the instruction is sparse, because no dense one reads 64x32" in map(str, found.assumptions)
    assert not any("sparse" in str(one) for one in diff(tile_word(0), TILE, **BF16_K, shape=(64, 16)).assumptions)
