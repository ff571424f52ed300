"""A refusal speaks of what the user wrote, in rows and bytes, and names the way out."""

from __future__ import annotations

import pytest
from each import each
from refusals import refusal, refuses

from descriptors.cli.command import main

BF16 = ["--dtype", "bf16", "--swizzle", "128B"]
CROSSING = "S<3,3,3> o 56 o ((8,16),(8,2)):((64,512),(1,8136))"


@each(
    ("options", "said"),
    [
        (
            ["--dtype", "e2m1", "--swizzle", "128B", "--major", "K", "--tile", "128x64", "--mma", "128x64"],
            "; use --swizzle 32B",
        ),
        ([*BF16, "--major", "MN", "--tile", "96x64", "--mma", "96x16"], "; use --swizzle 64B"),
        ([*BF16, "--major", "K", "--tile", "64x128", "--mma", "128x16"], "if you wrote K x MN, use --tile 128x64"),
        (
            ["--dtype", "bf16", "--layout", CROSSING, "--mma", "64x16"],
            "K crosses from one atom to the next: let a slice start at a multiple of 16 columns",
        ),
        (
            ["--dtype", "bf16", "--layout", CROSSING, "--mma", "64x16"],
            "columns 8 to 15 of K begin 16272 bytes after columns 0 to 7, where swizzle 128B has 16 bytes",
        ),
        (
            [*BF16, "--major", "MN", "--layout", "((32,32),16):((1,4000),64)", "--mma", "64x16", "--capacity", "none"],
            "MN crosses from one atom to the next: let a slice start at a multiple of 64 rows",
        ),
        ([*BF16, "--major", "K", "--tile", "128x32", "--mma", "64x16"], "; use --swizzle 64B"),
        ([*BF16, "--major", "MN", "--tile", "32x64", "--mma", "32x16"], "if you wrote K x MN, use --tile 64x32"),
        ([*BF16, "--major", "K", "--tile", "64x64", "--mma", "16x64"], "if you wrote K x MN, use --mma 64x16"),
        ([*BF16, "--major", "K", "--tile", "60x64", "--mma", "64x16"], "tile MN is 60, which is not a multiple of"),
        (
            [*BF16, "--major", "K", "--tile", "64x100", "--mma", "64x16"],
            "use --tile 64x96 --swizzle 64B, --tile 64x112 --swizzle 32B or --tile 64x128",
        ),
        (
            ["--dtype", "e4m3", "--swizzle", "128B", "--major", "K", "--tile", "128x176", "--mma", "128x32"],
            "use --tile 128x160 --swizzle 32B, --tile 128x192 --swizzle 64B or --tile 128x256",
        ),
        (
            ["--dtype", "e4m3", "--swizzle", "none", "--major", "K", "--tile", "128x176", "--mma", "128x32"],
            "tile K is 176, which is not a multiple of the instruction's K (32)",
        ),
        ([*BF16, "--major", "K", "--tile", "100x64", "--mma", "64x16"], "; use --tile 128x64"),
        (
            [*BF16, "--major", "K", "--tile", "128x64", "--mma", "64x32", "--operand", "A", "--sparse", "--arch",
             "sm90"],
            "a sparse A is stored without its zeros, with half of K, use --mma 64x16",
        ),
        (
            [*BF16, "--major", "K", "--tile", "128x64", "--mma", "wgmma-m64n128k16", "--operand", "A"],
            "'wgmma-m64n128k16' is neither MNxK, such as 64x16, nor an instruction, such as m64n128k16",
        ),
        (
            ["--dtype", "nvfp4", "--swizzle", "128B", "--major", "K", "--tile", "128x256", "--mma", "128x64"],
            "dtype: nvfp4 is e2m1 with kind mxf4nvf4; supported: f16, bf16",
        ),
        (
            ["--dtype", "e4m3", "--swizzle", "128B", "--major", "K", "--tile", "64x128", "--mma", "64x32", "--arch",
             "sm90", "--cta-group", "2"],
            "cta_group is 2, but must be 1; for sm90 f8, whose instructions run on one CTA",
        ),
        ([*BF16, "--major", "K", "--layout", "(64,64):(1,64)", "--mma", "64x16"], "is contiguous along MN; in"),
        ([*BF16, "--layout", "0x4000404000010000"], "0x4000404000010000 is a number, not a layout; "),
        (
            ["--dtype", "e4m3", "--swizzle", "MN_SW128", "--tile", "128x64", "--mma", "64x32", "--arch", "sm90"],
            "wgmma has transpose bits for 16-bit types only; kernels store such a tile K-major: they transpose it in "
            "registers before they write it to shared memory (ldmatrix.trans, a byte permute, stmatrix), or keep a ",
        ),
        (
            ["--dtype", "bf16", "--major", "K", "--tile", "64x64", "--mma", "64x16"],
            "--swizzle is missing; --swizzle: none, 32B, 64B, 128B or 128B_BASE32B",
        ),
        (
            [*BF16, "--tile", "64x64", "--mma", "64x16"],
            "--major is missing; --major: K or MN, the contiguous dimension",
        ),
        ([*BF16, "--major", "K", "--tile", "64x64"], "--mma is missing"),
        ([*BF16, "--tile", "a"], "'a' is not of the form 128x128; add --symbolic if it contains symbols"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_way_out(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *options]) == 2
    assert said.removeprefix("; ") in refusal(capsys.readouterr().err)


@each(
    ("line", "said"),
    [
        (
            ["plan", "m64n128k16", "bf16", "--tile", "128x128x64", "--accumulators", "2"],
            "accumulators 2 is not supported on sm90; two sets need tensor memory",
        ),
        (
            ["plan", "m64n128k32", "bf16", "--tile", "128x128x64"],
            "M 64; sparse instructions have K 32; the nearest shape is m64n128k16",
        ),
        (["plan", "m64n8k16", "bf16", "--tile", "64x8x64", "--swizzle", "128B"], "'--swizzle'; use --a-swizzle and"),
        (
            ["emit", "cuda", "--tile", "128x64"],
            "'--tile'; give it in quotes with the operand's name: \"a: --tile ...\"",
        ),
        (["plan", "m128n256k64", "nvfp4", "--tile", "128x256x256"], "nvfp4 is e2m1 with kind mxf4nvf4"),
        (["plan", "m64n64k256", "b1", "--tile", "64x64x512"], "u8 operand with K / 8"),
        (
            ["plan", "bf16", "--tile", "128x128x64", "--b-swizzle", "129"],
            "swizzle is '129', which is not supported; supported: none",
        ),
        (["tma", "--box", "32x128"], "no such option '--box'; use `descriptors tensor-map` for a map with its box"),
        (["draw", "tile", "--format", "tex"], "no such option '--format'; use the suffix of -o"),
        (["draw", "tile", "(8,64):(64,1)"], "'(8,64):(64,1)' is a layout; use --layout '(8,64):(64,1)'"),
        (
            ["tma", "--dtype", "e4m3", "--swizzle", "96B", "--major", "K", "--tile", "128x96"],
            "operand: swizzle: descriptors and the driver do not support the 96B swizzle; it is S<1,4,3> on byte ",
        ),
        (
            ["search", "--tile", "100x64", "--dtype", "bf16", "--arch", "sm90"],
            "which is not a multiple of the MN of any sm90 instruction",
        ),
        (["derive", "0x4000404000010000"], "derive takes only options, not '0x4000404000010000'; use `descriptors"),
        (["derive", "(64,64):(64,1)"], "or `descriptors derive --layout` for a layout"),
        (["tma", "128x64"], "use --tile for a tile"),
        (["search", "m64n128k16"], "use --mma for an instruction"),
        (["decode", "(64,16):(64,1)"], "use `descriptors match` or `descriptors derive --layout` for a layout"),
        (["match", "0x4000404000010000", "--dtype", "bf16"], "0x4000404000010000 is a number, not a layout; "),
        (["0x4000404000010000"], "no such command '0x4000404000010000'; use `descriptors decode` for a descriptor"),
        (["derieve"], "no such command 'derieve'; did you mean derive?"),
        (["nothing"], "no such command 'nothing'; one of derive, emit, formulas, search"),
        (["decode"], "WORD is missing"),
        (
            ["draw", "0x4000404000010000"],
            "0x4000404000010000 is a descriptor; use `descriptors draw word 0x4000404000010000`",
        ),
        (
            ["draw", "tile", "--dtype", "bf16", "--color", "bank"],
            "use --color-by bank to choose what the color of a cell means",
        ),
        (
            ["diff", "0x4000404000010000", "0x4000404000010002"],
            "0x4000404000010002 is another descriptor; use `descriptors decode` to print the fields",
        ),
        (
            ["derive", "--dtype", "bf16", "--tile", "64x64"],
            "--major is missing (also missing: --swizzle, --mma); --major: K or MN, the contiguous dimension",
        ),
        (
            ["derive", "--dtype", "bf16", "--tile", "64x64", "--major", "K"],
            "--swizzle is missing (also missing: --mma); --swizzle: ",
        ),
        (
            ["read", "0x4000404000010000", "--dtype", "bf16", "--major", "K"],
            "--shape is missing; --shape: MNxK that one",
        ),
        (
            ["read", "0x4000404000010000", "--dtype", "bf16", "--major", "K", "--shape", "64"],
            "read: --shape is 64, which is not MNxK",
        ),
        (["read", "--tile", "64x64", "--dtype", "bf16", "--major", "K"], "--swizzle is missing; --swizzle: none"),
        (
            ["match", "--tile", "64x64", "--dtype", "bf16"],
            "--major is missing (also missing: --swizzle)",
        ),
        (["match", "(64,16)", "--dtype", "bf16"], "a layout is written shape:stride, like (64,16):(64,1)"),
        (["match", "(64*m,16):(64,1)", "--dtype", "bf16"], "the number of rows of MN contains symbols; substitute"),
        (["derive", "--dtype", "bf16", "--tile", "64*m x 64"], "add --symbolic if it contains symbols"),
        (
            ["derive", "--dtype", "bf16", "--tile", "64x64", "--layout", "(64,64):(64,1)"],
            "derive: both a tile and a layout are given",
        ),
        (
            ["idesc", "--a", "bf16", "--m", "256", "--n", "256"],
            "M is 256, but must be 64 or 128; for sm100 f16 dense, cta_group 1; cta_group 2 has",
        ),
        (
            [
                "derive",
                "--dtype",
                "bf16",
                "--swizzle",
                "K_SW128",
                "--tile",
                "256x64",
                "--mma",
                "256x16",
                "--cta-group",
                "2",
                "--operand",
                "B",
            ],
            "each of the two CTAs has half of the operand, use --mma 128x16",
        ),
        (
            ["derive", "--dtype", "e2m1", "--swizzle", "MN_SW128", "--tile", "256x64", "--mma", "128x64"],
            "the kind has no transpose bit",
        ),
        (["tma"], "--dtype is missing; --dtype: Element type: f16 bf16 tf32"),
    ],
)
def test_a_refusal_names_the_command_that_takes_it(
    line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    message = capsys.readouterr().err
    assert refuses(message, said)


def test_the_way_out_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """What the refusals advise is derived."""
    for options in (
        ["--dtype", "e2m1", "--swizzle", "32B", "--major", "K", "--tile", "128x64", "--mma", "128x64"],
        [*BF16, "--major", "K", "--tile", "128x64", "--mma", "128x16"],
        ["--dtype", "bf16", "--swizzle", "64B", "--major", "MN", "--tile", "96x64", "--mma", "96x16"],
    ):
        assert main(["derive", *options, "--legality", "lenient"]) == 0
    assert "missing" not in capsys.readouterr().err


def test_no_swizzle_is_advised_where_none_fits(capsys: pytest.CaptureFixture[str]) -> None:
    for tile in ("64x100", "60x64"):
        assert main(["derive", *BF16, "--major", "K", "--tile", tile, "--mma", "64x16", "--legality", "off"]) == 2
        assert "widest" not in capsys.readouterr().err


def test_the_words_of_blackwell_are_not_said_of_hopper(capsys: pytest.CaptureFixture[str]) -> None:
    options = [*BF16, "--major", "K", "--tile", "128x64", "--mma", "64x32"]
    for arch, said in (("sm90", False), ("sm100", True)):
        assert main(["derive", *options, "--arch", arch]) == 2
        assert ("cta_group" in capsys.readouterr().err) is said


def test_one_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "derive",
                "--dtype",
                "bf16",
                "--swizzle",
                "32B",
                "--major",
                "K",
                "--tile",
                "64x16",
                "--mma",
                "64x16",
                "--steps",
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    for said in (
        "1 subtile has one descriptor",
        "Tile at 0: 1 subtile starts at 0 and ends at 2048",
        "in 1 subtile, each walked (",
    ):
        assert said in printed
    assert "1 subtiles" not in printed


@each(
    ("command", "said"),
    [
        (
            "tmem cp 128x256b --tile 128x60 --dtype bf16",
            "tile K is 60, which is not a multiple of the 16 that tcgen05.cp.128x256b copies of bf16; tile = (128,60); "
            "use --tile 128x48 or --tile 128x64",
        ),
        (
            "derive --cp 128x256b --tile 64x64 --dtype bf16 --major K --swizzle none",
            "tile MN is 64, which is not a multiple of the 128 that tcgen05.cp.128x256b copies of bf16; tile = (64,64)",
        ),
        (
            "search --tile 128x64x4 --dtype bf16",
            "which is not MNxK of one stage, such as 128x64; use --tile 128x64 --stages 4",
        ),
    ],
)
def test_a_tile_is_refused_in_the_words_of_the_command(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    message = refusal(capsys.readouterr().err)
    assert said in message and "mma" not in message


def test_the_stages_of_a_search_are_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("search --tile 128x64 --stages 4 --dtype bf16".split()) == 0
    assert "65536 bytes" in capsys.readouterr().out.splitlines()[0]
