"""A refusal speaks of what the user wrote, in rows and bytes, and names the way out."""

from __future__ import annotations

import pytest

from descriptors.cli.command import main

BF16 = ["--dtype", "bf16", "--swizzle", "128B"]
CROSSING = "S<3,3,3> o 56 o ((8,16),(8,2)):((64,512),(1,8136))"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--dtype", "e2m1", "--swizzle", "128B", "--major", "K", "--tile", "128x64", "--mma", "128x64"],
            "the widest swizzle that K = 64 fits is 32B",
        ),
        ([*BF16, "--major", "MN", "--tile", "96x64", "--mma", "96x16"], "the widest swizzle that MN = 96 fits is 64B"),
        ([*BF16, "--major", "K", "--tile", "64x128", "--mma", "128x16"], "if you wrote K x MN, give 128x64"),
        (["--dtype", "bf16", "--layout", CROSSING, "--mma", "64x16"], "goes on 16272 away: no operand may cross"),
        (
            ["--dtype", "e4m3", "--swizzle", "MN_SW128", "--tile", "128x64", "--mma", "64x32", "--arch", "sm90"],
            "wgmma has transpose bits for 16-bit types only; transpose the tile on its way into shared memory",
        ),
        (["--dtype", "bf16", "--major", "K", "--tile", "64x64", "--mma", "64x16"], "--swizzle is missing"),
        ([*BF16, "--tile", "64x64", "--mma", "64x16"], "--major is missing"),
        ([*BF16, "--major", "K", "--tile", "64x64"], "--mma is missing"),
        ([*BF16, "--tile", "a"], "found 'a' (descriptors derive --help)"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_way_out(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *options]) == 2
    assert said in capsys.readouterr().err


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
        main(["derive", "--dtype", "bf16", "--swizzle", "32B", "--major", "K", "--tile", "64x16", "--mma", "64x16"])
        == 0
    )
    told = capsys.readouterr().out
    for said in ("1 subtile has one descriptor", "Tile at 0: 1 subtile starts at 0 and ends at 2048", "in 1 subtile ("):
        assert said in told
    assert "1 subtiles" not in told
