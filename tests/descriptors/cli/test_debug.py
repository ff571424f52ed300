"""The commands `decode`, `read`, `diff`, `candidates`: what they print, their JSON, and one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from each import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refusal

from descriptors import derive, diff, tell
from descriptors.cli import words
from descriptors.cli.command import COMMANDS, main
from descriptors.cli.mcp import call
from descriptors.show.explorer.question import Question, comparison, view
from descriptors.smem.debug.warnings import bit_warnings
from descriptors.smem.proof.read_model import read_addresses

GOLDEN = "0x4000404000010000"
BF16_K = ["--dtype", "bf16", "--major", "K"]
SW128 = "S<3,3,3> o 0 o (64,16):(64,1)"


def run(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """The standard output of a command that ends as expected."""
    capsys.readouterr()
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.err == "" or status == 2
    return captured.out if status != 2 else captured.err


def test_every_command_is_registered_and_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for command in words.commands:
        assert command.name is not None
        assert COMMANDS[command.name][0] == "descriptors.cli.words"
        printed = run(capsys, command.name, "--help")
        assert f"descriptors {command.name} " in printed
        assert "--json" in printed


def test_the_examples_of_the_help_run(capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    for command in words.commands:
        lines = (command.help or "").split("\b\n", 1)[1].split("\n\n", 1)[0].strip().splitlines()
        assert len(lines) >= 2
        for line in lines:
            name, *arguments = shlex.split(line)
            assert name == "descriptors"
            capsys.readouterr()
            assert main(arguments) in ((0, 1) if command.name == "diff" else (0,)), line
            assert capsys.readouterr().err == ""


def test_decode_tells_every_field_and_its_json_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "decode", GOLDEN, *BF16_K)
    assert printed.splitlines()[0] == f"{GOLDEN}: sm100 shared-memory descriptor of an operand: bf16 K-major"
    assert "swizzle              [61,64)        128B         code 2" in printed
    record = json.loads(run(capsys, "decode", "0x0010000002001000", "--arch", "sm90", "--json"))
    assert record["fields"] == {
        "start_address": 65536,
        "leading_byte_offset": 8192,
        "stride_byte_offset": 0,
        "base_offset": 0,
        "swizzle": "none",
    }
    assert record["unknown_bits"] == "0x0010000000000000"
    assert [warning["kind"] for warning in record["warnings"]] == ["unknown-bits", "repeated-rows"]


def test_a_word_may_be_decimal_or_hexadecimal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "decode", GOLDEN) == run(capsys, "decode", str(int(GOLDEN, 16)))
    assert run(capsys, "decode", "0X10") == run(capsys, "decode", "16") == run(capsys, "decode", "016")


def test_read_shows_the_address_of_every_16_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "read", GOLDEN, *BF16_K, "--shape", "16x16").splitlines()
    assert printed[0] == "read model: documented, not measured on a Blackwell GPU"
    assert printed[1].split() == ["mn", "\\", "k", "0", "8"]
    assert printed[2].split() == ["0", "0x0", "0x10"]
    assert printed[3].split() == ["1", "0x90", "0x80"]
    assert printed[-2] == "a cell is the byte address of 16 bytes, 8 elements along k"
    assert printed[-1] == "note: assuming sm100, by the version bits [46,49) of the word, 1"
    assert len(printed) == 2 + 16 + 2
    along_mn = run(capsys, "read", "0x8000002001000000", "--arch", "sm90", "--dtype", "f16", "--major", "MN",
                   "--shape", "64x16").splitlines()  # fmt: skip
    assert along_mn[0] == "read model: measured on a Hopper GPU"
    assert along_mn[1].split() == ["k", "\\", "mn", *map(str, range(0, 64, 8))]
    assert along_mn[3].split()[:5] == ["1", "0x40", "0x50", "0x60", "0x70"]


def test_read_leaves_rows_and_columns_out_unless_it_is_asked_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    options = [GOLDEN, *BF16_K, "--shape", "64x256"]
    printed = run(capsys, "read", *options)
    assert "32 more rows and 16 more columns: --all shows them" in printed
    assert len(run(capsys, "read", *options, "--all").splitlines()) == len(printed.splitlines()) + 32 - 1


def test_the_json_of_read_holds_every_address(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(run(capsys, "read", GOLDEN, *BF16_K, "--shape", "64x16", "--json"))
    expected = read_addresses(int(GOLDEN, 16), arch="sm100", dtype="bf16", major="K", shape=(64, 16))
    assert record["addresses"] == expected.tolist()
    assert (record["unit"], record["shape"]) == ("byte", [64, 16])
    packed = json.loads(run(capsys, "read", GOLDEN, "--dtype", "e2m1", "--major", "K", "--shape", "8x64", "--json"))
    assert packed["unit"] == "bit"
    assert packed["addresses"][0][:3] == [0, 4, 8]


def test_diff_ends_with_0_for_the_same_and_1_for_different(capsys: pytest.CaptureFixture[str]) -> None:
    options = [SW128, "--arch", "sm90", *BF16_K]
    assert run(capsys, "diff", "0x4000004000010000", *options).startswith("same: ")
    printed = run(capsys, "diff", "0x4000002000010000", *options, status=1)
    assert printed.startswith(
        "different: 896 of 1024 elements are read from elsewhere; assumed: the tile starts at 0x0"
    )
    assert "change: stride_byte_offset 512 -> 1024\nright word: 0x4000004000010000" in printed
    record = json.loads(run(capsys, "diff", "0x4000002000010000", *options, "--json", status=1))
    assert (record["same"], record["differing"], record["right_word"]) == (False, 896, "0x4000004000010000")
    assert (record["verdict"], record["base"], record["base_assumed"]) == ("different", 0, True)
    assert record["changes"] == [{"field": "stride_byte_offset", "found": 512, "right": 1024}]
    assert record["mismatches"][0] == {"coordinate": [8, 0], "unit": "byte", "expected": 1024, "found": 576}


def test_diff_finds_the_subtile_of_a_tile_at_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    table: Any = d.words(0x800)
    options = [str(d.smem_tile), *BF16_K, "--shape", "64x16", "--base", "0x800"]
    run(capsys, "diff", hex(table[1][5]), *options, "--subtile", "1,5")
    run(capsys, "diff", hex(table[1][5]), *options, "--subtile", "1,4", status=1)


def test_diff_without_a_base_is_undecided_where_the_start_cannot_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    tile = ["--tile", "64x64", "--swizzle", "128B", "--shape", "64x16", "--subtile", "0,1", "--arch", "sm90", *BF16_K]
    for start, verdict, status in (("02", "same", 0), ("42", "undecided", 0), ("04", "different", 1)):
        word = f"0x40000040000100{start}"
        assert run(capsys, "diff", word, *tile, status=status).startswith(f"{verdict}: ")
        record = json.loads(run(capsys, "diff", word, *tile, "--json", status=status))
        assert (record["verdict"], record["same"]) == (verdict, {"same": True, "different": False}.get(verdict))
        assert bool(record["open_questions"]) is (verdict == "undecided")
        assert (record["subtile"], record["offset"]) == ([0, 1], 32)
        given = dict(zip((one.removeprefix("--") for one in tile[::2]), tile[1::2], strict=True)) | {"word": word}
        by_agent = {"same": "answered", "undecided": "incomplete", "different": "wrong"}[verdict]
        assert call("diff", given).verdict == call("diff", given | {"json": True}).verdict == by_agent
    assert record["starts"] == {"subtile": [0, 2], "base": 0}


def test_diff_by_tile_without_an_instruction_says_that_the_whole_was_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tile = ["--tile", "128x64", "--swizzle", "128B", "--arch", "sm90", *BF16_K]
    printed = run(capsys, "diff", "0x4000004000010000", *tile)
    assert (
        printed.startswith("same: ")
        and "128x64 is one operand, of which an instruction reads a part (--mma names" in printed.splitlines()[0]
    )
    printed = run(capsys, "diff", "0x4000004000010000", *tile, "--mma", "64x16")
    assert printed.splitlines()[0].endswith("compared: subtile (0,0), 64x16; assumed: the tile starts at 0x0 "
                                            "(--base checks it)")  # fmt: skip


def test_a_plain_layout_with_a_swizzle_is_one_tile_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    layout, known = "(128,64):(64,1)", ["--dtype", "bf16", "--arch", "sm90"]
    word, swizzled = "0x4000004000010000", "S<3,3,3> o 0 o (128,64):(64,1)"
    stored = f"{swizzled}: swizzle 128B applied to {layout}"
    derived = run(capsys, "derive", "--layout", layout, "--swizzle", "128B", "--mma", "64x16", "--major", "K", *known)
    assert derived.splitlines()[0].split()[1] == word and f"stored as  {stored}" in derived
    reads = ["--mma", "64x16", *known]
    same = run(capsys, "diff", word, layout, "--swizzle", "128B", "--major", "K", *reads)
    assert same.startswith("same: ") and "stored as S<3,3,3> o 0 o (64,16):(64,1)" in same
    fit = run(capsys, "candidates", layout, "--swizzle", "128B", *reads).splitlines()[0]
    assert fit.endswith(f"word {word}, stored as S<3,3,3> o 0 o (64,16):(64,1)")
    assert run(capsys, "match", "(64,16):(64,1)", "--swizzle", "128B", "--dtype", "bf16").startswith(
        "stored as  S<3,3,3>"
    )
    links = ["--tile", "128x64", "--arch", "sm90", f"layout {layout} swizzle=128B"]
    proved = run(capsys, "chain", *links, f"word {word} mma=64x16 advance=0,512;0,2,4,6")
    assert proved.startswith("proved: 8192 elements") and stored in proved
    # Without the swizzle the same text is another tile, for all of them.
    assert "no swizzle" in run(capsys, "diff", word, layout, "--major", "K", *reads, status=1)
    assert "if stored as S<3,3,3>" in run(capsys, "candidates", layout, *reads).splitlines()[0]
    run(capsys, "derive", "--layout", layout, "--mma", "64x16", "--major", "K", *known, status=2)
    links[-1] = f"layout {layout}"
    assert run(
        capsys, "chain", *links, f"word {word} mma=64x16 advance=0,512;0,2,4,6", status=1
    ).startswith("wrong: ")  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        ["derive", "--layout", SW128, "--mma", "64x16", "--major", "K", "--dtype", "bf16"],
        ["diff", GOLDEN, SW128, *BF16_K],
        ["candidates", SW128, "--dtype", "bf16"],
        ["match", SW128, "--dtype", "bf16"],
    ],
)
def test_a_swizzle_that_contradicts_the_layout_is_refused(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for swizzle in ("64B", "none"):
        refusal = run(capsys, *line, "--swizzle", swizzle, status=2)
        assert f"the layout has swizzle 128B, but swizzle {swizzle} was given" in refusal
    run(capsys, *line, "--swizzle", "128B")


def test_candidates_ends_with_1_if_no_candidate_fits(capsys: pytest.CaptureFixture[str]) -> None:
    padded = ["candidates", "(64,16):(72,1)", "--dtype", "bf16"]
    assert all(": no; " in line for line in run(capsys, *padded, status=1).splitlines()[:-1])
    assert not any(fit["fits"] for fit in json.loads(run(capsys, *padded, "--json", status=1))["candidates"])


def test_candidates_tells_what_fits_first(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "candidates", "(64,16):(64,1)", "--dtype", "bf16", "--arch", "sm90").splitlines()
    said = "K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000, if stored as S<3,3,3> o 0 o (64,16):(64,1)"
    assert printed[0] == said
    assert len(printed) == 10
    assert all(": no; " in line for line in printed[1:])
    records = json.loads(run(capsys, "candidates", "(64,16):(64,1)", "--dtype", "bf16", "--json"))["candidates"]
    assert [record["fits"] for record in records] == [True] + [False] * 9
    assert (records[0]["layout"], records[0]["word"]) == (SW128, GOLDEN)
    assert records[0]["dont_care"] == ["leading_byte_offset"]


@each(
    "arguments",
    [
        ["decode"],
        ["decode", "word"],
        ["decode", "0x"],
        ["decode", "0x1ffffffffffffffff"],
        ["decode", "9" * 5000],
        ["decode", GOLDEN, "--arch", "sm80"],
        ["decode", GOLDEN, "--dtype", "bf17"],
        ["decode", GOLDEN, "--shape", "64"],
        ["decode", GOLDEN, "--shape", "64xx16"],
        ["read", GOLDEN],
        ["read", GOLDEN, *BF16_K],
        ["read", GOLDEN, *BF16_K, "--shape", "64"],
        ["read", GOLDEN, *BF16_K, "--shape", "65536x65536"],
        ["read", GOLDEN, *BF16_K, "--shape", "0x16"],
        ["read", "0x0000c00000000010", *BF16_K, "--shape", "64x16", "--arch", "sm100"],
        ["diff", GOLDEN],
        ["diff", GOLDEN, "(64,16", *BF16_K],
        ["diff", GOLDEN, "64:1", *BF16_K],
        ["diff", GOLDEN, "S<9,9,9> o 0 o (64,16):(64,1)", *BF16_K],
        ["diff", GOLDEN, SW128, *BF16_K, "--base", "one"],
        ["diff", GOLDEN, SW128, *BF16_K, "--base", "8"],
        ["diff", GOLDEN, SW128, *BF16_K, "--subtile", "9,9"],
        ["diff", GOLDEN, SW128, *BF16_K, "--unit", "furlongs"],
        ["candidates", "(64,16):(64,1)"],
        ["candidates", "", "--dtype", "bf16"],
        ["candidates", "(0@0,16):(64,1)", "--dtype", "bf16"],
        ["candidates", "(64,16):(1@0,1@1)", "--dtype", "bf16"],
        ["candidates", "(64,16):(-64,1)", "--dtype", "bf16", "--shape", "128x16"],
    ],
)
def test_a_mistake_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    printed = run(capsys, *arguments, status=2)
    assert printed.startswith(f"descriptors {arguments[0]}: error: ") and refusal(printed)
    assert len(printed) < 600


layouts = st.one_of(
    st.text("()0123456789,:So<> -_@", max_size=40),
    st.builds(
        "S<{},{},3> o {} o ({},{}):({},{})".format,
        *(st.integers(*pair) for pair in ((0, 3), (2, 5), (0, 64), (1, 64), (1, 64), (-4, 128), (-4, 128))),
    ),
    st.builds(
        "({},({},2)):({},({},64))".format, *(st.integers(*pair) for pair in ((1, 64), (1, 64), (0, 128), (0, 128)))
    ),
)


@given(
    word=st.one_of(st.integers(0, 2**64 - 1).map(hex), st.just(GOLDEN), st.text(max_size=12)),
    layout=layouts,
    dtype=st.sampled_from(["bf16", "tf32", "e4m3", "e2m1", "e2m3"]),
    major=st.sampled_from(["K", "MN"]),
    arch=st.sampled_from(["sm90", "sm100"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_the_answer_is_an_answer_or_one_line(
    capsys: pytest.CaptureFixture[str], word: str, layout: str, dtype: str, major: str, arch: str
) -> None:
    options = ["--dtype", dtype, "--major", major, "--arch", arch]
    for arguments, statuses in (
        (["diff", *options, "--", word, layout], (0, 1, 2)),
        (["candidates", *options[:2], *options[4:], "--", layout], (0, 1, 2)),
        (["decode", *options, "--", word], (0, 2)),
    ):
        capsys.readouterr()
        status = main(arguments)
        captured = capsys.readouterr()
        assert status in statuses, captured
        assert refusal(captured.err) if status == 2 else not captured.err
        assert bool(captured.out) is (status != 2)


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_a_question_by_tile_is_that_by_the_layout_of_the_tile(
    major: Any, swizzle: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    d = derive((128, 64, 3), "bf16", major, swizzle, (64, 16), order=(1, 0, 2), arch="sm90")
    tile = ["--tile", "128x64", "--stages", "3", "--order", "1,0,2", "--swizzle", swizzle, "--mma", "64x16"]
    layout, reads = [str(d.smem_tile)], ["--dtype", "bf16", "--major", major, "--arch", "sm90"]
    word = hex(d.words()[1][2][1])  # type: ignore[index]
    for command in (
        ["diff", word, *reads, "--subtile", "1,2,1"],
        ["candidates", "--dtype", "bf16", "--arch", "sm90", "--json"],
    ):
        by_tile = [*tile, *([] if "--major" in command else ["--major", major])]
        printed = run(capsys, *command, *by_tile)
        assert printed == run(capsys, *command, *layout, "--shape", "64x16")
    operand = run(capsys, "match", "--dtype", "bf16", "--major", major, *tile)
    assert f"SBO        {d.descriptor.stride_byte_offset} bytes" in operand
    read = run(capsys, "read", *reads, *tile)
    assert read == run(capsys, "read", hex(d.words()[0][0][0]), *reads, "--shape", "64x16")  # type: ignore[index]


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ([*BF16_K], "LAYOUT or --tile is missing"),
        ([SW128, "--tile", "64x16", *BF16_K], "LAYOUT and --tile cannot be combined"),
        ([SW128, "--order", "0,1", *BF16_K], "--order needs --tile"),
        ([SW128, "--stages", "2", *BF16_K], "--stages needs --tile"),
        (["--tile", "64x16x2", "--stages", "2", "--swizzle", "32B", *BF16_K], "the stages are given twice"),
        (["--tile", "64x24", "--swizzle", "32B", "--mma", "64x16", *BF16_K], "which is not a multiple of"),
    ],
)
def test_a_tile_is_asked_about_whole_and_instead_of_a_layout(
    line: list[str], refusal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal in run(capsys, "diff", GOLDEN, *line, status=2)


def test_decode_compares_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    met = run(capsys, "decode", GOLDEN, "--arch", "sm100", "--expect", "128B", "--expect", "stride_byte_offset=0x400")
    assert met.splitlines()[-2:] == ["as expected: swizzle 128B", "as expected: stride_byte_offset 1024"]
    printed = run(capsys, "decode", GOLDEN, "--arch", "sm100", "--expect", "128B", "--expect", "swizzle=64B", status=1)
    assert printed.splitlines()[-1] == "not as expected: swizzle is 128B, expected 64B"
    record = json.loads(run(capsys, "decode", GOLDEN, "--expect", "stride_byte_offset=512", "--json", status=1))
    assert record["expected"] == [{"field": "stride_byte_offset", "expected": 512, "found": 1024, "met": False}]
    assert "expected" not in json.loads(run(capsys, "decode", GOLDEN, "--json"))
    assert "swizzle is " in run(capsys, "decode", GOLDEN, "--expect", "63B", status=2)
    assert "which is not a number" in run(capsys, "decode", GOLDEN, "--expect", "version=one", status=2)
    assert "a field is " in run(capsys, "decode", GOLDEN, "--expect", "start=1", status=2)


@pytest.mark.parametrize(("swizzle", "base"), [("128B", "0x420"), ("64B", "16"), ("none", "8"), ("128B", "0x480")])
def test_diff_and_derive_accept_the_same_addresses_of_a_tile(
    swizzle: str, base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tile = [*BF16_K, "--tile", "64x64", "--swizzle", swizzle, "--mma", "64x16", "--base", base]
    derived = main(["derive", *tile])
    reason = capsys.readouterr().err.removeprefix("descriptors derive: error: ")
    for command in (["diff", "0x4000004000010042"], ["draw", "diff", GOLDEN, "-o", str(tmp_path / "a.svg")]):
        assert (main([*command, *tile]) == 2) == (derived == 2) == (base != "0x480")
        assert derived != 2 or capsys.readouterr().err.partition(": the base")[2] == reason.removeprefix("the base")


@each(
    ("word", "reason", "change"),
    [
        ("0x4000c04000010000", "the version of the sm100 word 0x4000c04000010000 is 3, not 1", "version 3 -> 1"),
        ("0xe000404000010000", "the swizzle code is 7, not 0, 1, 2, 4 or 6", "swizzle invalid code 7 -> 128B"),
        ("0x4010404000010000", "an absolute leading byte address", "lbo_mode 1 -> 0"),
    ],
)
def test_a_word_without_a_meaning_is_different_and_the_right_word_is_named(
    word: str, reason: str, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tile = [*BF16_K, "--arch", "sm100", "--tile", "128x64", "--swizzle", "128B", "--mma", "64x16"]
    lines = run(capsys, "diff", word, *tile, status=1).splitlines()
    assert lines[0].startswith(f"different: {reason}") and "; what such a word reads is not documented" in lines[0]
    assert lines[1:3] == [f"change: {change}", f"right word: {GOLDEN}"]
    data = json.loads(run(capsys, "diff", word, *tile, "--json", "--symbolic", status=1))
    assert (data["verdict"], data["right_word"], data["mismatches"]) == ("different", GOLDEN, [])
    shown = comparison(view(Question(arch="sm100", dtype="bf16", word=word, base=0)))
    assert shown is not None and shown["verdict"].startswith("WRONG: ") and change in shown["verdict"]


@each("word", ["0x4000c04000010000", "0xe000404000010000", "0x4010404000010000"])
@each("layout", ["S<3,3,3> o 0 o (64,64):(64,1)", "(64,64):(65,1)"])
def test_diff_draw_and_chain_agree_on_a_word_without_a_meaning(
    word: str, layout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for a layout that no word reads."""
    of = ["--arch", "sm100"]
    headline = run(capsys, "diff", word, layout, *BF16_K, "--shape", "64x64", *of, status=1).splitlines()[0]
    reason = headline.removeprefix("different: ").partition("; what such a word reads is not documented")[0]
    links = [f"layout {layout}", f"word {word} mma=64x64"]
    chained = run(capsys, "chain", "--tile", "64x64", "--dtype", "bf16", *of, *links, status=1).splitlines()[0]
    why = f"{reason}; what such a word reads is not documented; 4096 of 4096 elements"
    assert chained == f"wrong: link 2, word: {why}"
    drawn = run(capsys, "draw", "diff", word, "--tile", "64x64", "--swizzle", "128B", "--mma", "64x16", *BF16_K, *of)
    assert drawn.startswith(f"{word} has no documented meaning\n")


@each(
    ("word", "arch", "count"),
    [
        (GOLDEN, "sm100", 0),
        ("0x4000004000010000", "sm100", 1),
        ("0x4000404040010000", "sm100", 1),
        (GOLDEN, "sm90", 2),
        ("0x4000404040010000", "sm90", 2),
    ],
)
def test_every_command_warns_of_bits_that_belong_to_no_field(
    word: str, arch: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    operand, of = ["--mma", "64x16", *BF16_K], ["--arch", arch]
    stray = [str(one) for one in bit_warnings(int(word, 0), arch)]
    assert len(stray) == count
    layout = "S<3,3,3> o 0 o (64,16):(64,1)"
    decoded = run(capsys, "decode", word, *BF16_K, *of)
    compared = run(capsys, "diff", word, layout, *operand, *of)
    links = [f"layout {layout}", f"word {word} mma=64x16"]
    chained = run(capsys, "chain", "--tile", "64x16", "--dtype", "bf16", *of, *links)
    for text, before in ((decoded, ""), (compared, ""), (chained, "link 2, word: ")):
        assert [line for line in text.splitlines() if line.startswith("warning")] == [
            f"warning: {before}{one}" for one in stray
        ]
    data = json.loads(run(capsys, "diff", word, layout, *operand, *of, "--json"))
    assert [one["text"] for one in data["warnings"]] == [one.removeprefix("version: ") for one in stray]
    shown = comparison(view(Question(arch=arch, dtype="bf16", word=word, base=0)))
    assert shown is not None and list(shown["warnings"]) == stray
    assert shown["tone"] == ("warn" if stray else "good")


def test_the_elements_of_version_0_are_those_of_version_1_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    layout, of = "S<3,3,3> o 0 o (64,16):(64,1)", ["--arch", "sm100"]
    word = "0x4000004000010000"
    table = run(capsys, "read", GOLDEN, *BF16_K, *of, "--shape", "64x16")
    answers = [
        run(capsys, "diff", word, layout, *BF16_K, *of, "--mma", "64x16"),
        run(capsys, "tensor-map", f"{MAP_64}", word, "--major", "K", "--mma", "64x16", *of),
        run(capsys, "chain", "--tile", "64x16", "--dtype", "bf16", *of, f"layout {layout}", f"word {word} mma=64x16"),
        run(capsys, "read", word, *BF16_K, *of, "--shape", "64x16"),
    ]
    assert [answer.split(":")[0] for answer in answers[:3]] == ["same", "same", "proved"]
    assert answers[3].splitlines()[2:] == table.splitlines()[1:]
    for answer in answers:
        assert "PTX requires 1 in an sm100 word, found 0" in answer and "is not documented" not in answer


MAP_64 = "type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B"


@each("command", ["diff", "tensor-map"])
def test_a_comparison_states_its_evidence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    layout = "S<3,3,3> o 0 o (64,64):(64,1)"
    arguments = ["diff", "0x4000004000010000", layout, *BF16_K] if command == "diff" else [command, MAP_64, layout]
    arguments += [] if command == "diff" else ["--major", "K"]
    assert (
        run(capsys, *arguments, *(["--arch", "sm90"] if command == "diff" else []))
        .splitlines()[-1]
        .startswith("known: measured on a Hopper GPU")
    )
    data = json.loads(run(capsys, *arguments, "--json", *(["--arch", "sm90"] if command == "diff" else [])))
    assert data["evidence"] == "measured on a Hopper GPU"


def test_a_pattern_that_starts_with_the_tile_is_warned_of_by_diff_as_by_derive(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of = [*BF16_K, "--arch", "sm90", "--base", "0x80"]
    derived = run(capsys, "derive", "--tile", "64x64", "--swizzle", "128B", "--mma", "64x16", *of)
    compared = run(capsys, "diff", "0x4002004000010008", "S<3,3,3> o 0 o (64,64):(64,1)", "--mma", "64x16", *of)
    (warning,) = (line for line in derived.splitlines() if line.startswith("warning"))
    assert "neither TMA nor CuTe writes such a tile" in warning and warning in compared.splitlines()


def test_an_answer_names_parameters_in_python_and_options_in_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    layout = "S<3,3,3> o 0 o (64,16):(64,1)"
    found = diff(int(GOLDEN, 0), layout, dtype="bf16", major="K")
    assert [one.parameter for one in found.assumptions] == ["base", "shape"]
    assert [str(one).rpartition("(")[2] for one in found.assumptions] == [
        "base checks it)",
        "shape names what it reads)",
    ]
    assert "--" not in tell(found)
    for more in ([], ["--json"]):
        typed = run(capsys, "diff", GOLDEN, layout, *BF16_K, "--arch", "sm100", *more)
        assert "(--base checks it)" in typed and "(--mma names what it reads)" in typed
