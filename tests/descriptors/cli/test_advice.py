"""The advice of a refusal is accepted: the sentence is typed again as it says, for many refused requests."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from refusals import refusal

from descriptors import DescriptorError, derive, plan
from descriptors.cli.command import main
from descriptors.gemm.mma_planner import mma_plan
from descriptors.smem.instructions.idesc import idesc
from descriptors.tmem.block_scaled import block_scaled
from layoutalg.messages import Message

TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "s8", "u8")
SWIZZLES = ("none", "32B", "64B", "128B", "128B_BASE32B")
EXTENTS = (8, 16, 24, 32, 48, 60, 64, 80, 96, 100, 128, 176, 192, 256, 512)
#: Words of advice that nothing executes.
UNTRIED = re.compile(
    r"\bgive\b|lenient allows|\bmore warpgroups\b|\ba smaller\b|\bleave\b|\bwidest\b|must be padded|\bdid you mean\b"
)


def drawn_tile(chooser: random.Random) -> dict[str, Any]:
    """Arguments of ``derive``, most of which are refused."""
    tile = tuple(chooser.choice(EXTENTS) for _ in range(2))
    stages = (chooser.choice((1, 2, 4, 64)),) if chooser.random() < 0.3 else ()
    return {
        "tile": tile + stages,
        "dtype": chooser.choice(TYPES),
        "major": chooser.choice(("K", "MN")),
        "swizzle": chooser.choice(SWIZZLES),
        "mma": (chooser.choice((8, 48, 64, 64, 128, 256)), chooser.choice((8, 16, 16, 32, 64))),
        "arch": chooser.choice(("sm90", "sm100")),
        **chooser.choice(({}, {}, {"operand": "A", "sparse": True}, {"operand": "B", "cta_group": 2})),
    }


def drawn_layout(chooser: random.Random) -> dict[str, Any]:
    """Arguments of ``derive`` with a layout."""
    mn, k = chooser.choice((64, 128)), chooser.choice((16, 32, 64))
    stride = chooser.choice((f"({k},1)", f"(1,{mn})", f"({k + 8},1)"))
    swizzle = chooser.choice(("", "S<3,4,3> o 0 o ", "S<3,3,3> o 0 o ", "S<2,3,3> o 0 o "))
    more = {} if swizzle else {"swizzle": chooser.choice(SWIZZLES)}
    dtype, major = chooser.choice(("bf16", "f16", "e4m3")), chooser.choice(("K", "MN"))
    mma = (64, 32 if dtype == "e4m3" else 16)
    return {"layout": f"{swizzle}({mn},{k}):{stride}", "dtype": dtype, "major": major, "mma": mma, **more}


def drawn_plan(chooser: random.Random) -> dict[str, Any]:
    """Arguments of ``plan``, many of which are refused."""
    m = chooser.choice((64, 64, 64, 128, 256))
    n = chooser.choice((8, 24, 64, 96, 100, 128, 256, 256))
    k = chooser.choice((8, 16, 16, 16, 17, 32, 32, 64))
    blocks = (chooser.choice((1, 2, 3, 4)), chooser.choice((1, 2, 4)), chooser.choice((1, 4, 8)))
    tile = [part * count for part, count in zip((m, n, k), blocks, strict=True)]
    if chooser.random() < 0.2:
        tile[chooser.randrange(3)] += 4
    asked = {"instruction": (m, n, k), "dtype": chooser.choice((*TYPES, "bf16", "bf16")), "tile": tuple(tile)}
    options: dict[str, tuple[Any, ...]] = {
        "arch": ("sm90", "sm100"), "a_major": ("MN",), "b_major": ("MN",), "a_swizzle": SWIZZLES,
        "b_swizzle": SWIZZLES, "stages": (2, 4, 12, 40), "warpgroups": (1, 2, 3, 4), "a_source": ("registers",),
        "cluster": ((2, 1), (1, 2), (4, 4)), "cta_group": (2,), "c_dtype": ("bf16", "f32", "e4m3"),
        "store": ("tma", "registers"), "splits": (2, 3), "terms": (("bias",),), "accumulators": (2,),
        "sparse": (True,), "scale_vector": (16, 32, 128), "d_dtype": ("f16", "f32"), "smem": (8192, 40_000),
    }  # fmt: skip
    for name in chooser.sample(sorted(options), chooser.choice((0, 1, 2, 3))):
        asked[name] = chooser.choice(options[name])
    return asked


def drawn_idesc(chooser: random.Random) -> dict[str, Any]:
    """Arguments of ``idesc``, most of which are refused."""
    kind, a_dtype, scale_dtype = chooser.choice((("mxf4", "e2m1", "ue8m0"), ("f8f6f4", "e4m3", None)))
    return {
        "kind": kind, "a_dtype": a_dtype, "scale_dtype": scale_dtype, "m": chooser.choice((64, 128, 256)),
        "n": chooser.choice((100, 128)), "k": chooser.choice((64, 96, 128)), "cta_group": chooser.choice((1, 2)),
        "arch": chooser.choice(("sm100", "sm107")), "a_major": chooser.choice(("K", "MN")),
    }  # fmt: skip


def drawn_block_scaled(chooser: random.Random) -> dict[str, Any]:
    """Arguments of ``block_scaled``, most of which are refused."""
    return {
        "a_dtype": chooser.choice(("e4m3", "e2m1")), "m": chooser.choice((64, 128)), "n": chooser.choice((100, 128)),
        "k": 128, "cta_group": chooser.choice((1, 2)),
    }  # fmt: skip


def drawn_warps(chooser: random.Random) -> dict[str, Any]:
    """Arguments of a plan of ``mma.sync``."""
    tile = (chooser.choice((16, 64, 100, 128, 512)), chooser.choice((16, 40, 128, 512)), chooser.choice((32, 48, 512)))
    more = {name: value for name, value in (("stages", 1), ("stages", 40), ("arch", "sm90")) if chooser.random() < 0.2}
    return {"instruction": None, "dtype": chooser.choice(("bf16", "e4m3", "tf32")), "tile": tile, **more}


def refusals(
    function: Callable[..., object], draw: Callable[[random.Random], dict[str, Any]], seed: int, count: int
) -> Iterator[tuple[dict[str, Any], DescriptorError]]:
    """The drawn requests that a function refuses, with the refusal."""
    chooser = random.Random(seed)
    for asked in (draw(chooser) for _ in range(count)):
        try:
            function(**asked)
        except DescriptorError as error:
            yield asked, error


def unproved(function: Callable[..., object]) -> Callable[..., object]:
    """A function that proves what it answers, without the proof."""
    return partial(function, verify=False)


@pytest.mark.parametrize(
    ("function", "draw", "count", "least"),
    [(unproved(derive), drawn_tile, 1000, 100), (unproved(derive), drawn_layout, 300, 20),
     (unproved(plan), drawn_plan, 250, 50), (unproved(mma_plan), drawn_warps, 8, 4), (idesc, drawn_idesc, 100, 4),
     (block_scaled, drawn_block_scaled, 20, 1)],
)  # fmt: skip
def test_what_a_refusal_advises_is_accepted(
    function: Callable[..., object], draw: Callable[[random.Random], dict[str, Any]], count: int, least: int
) -> None:
    advised = 0
    for asked, error in refusals(function, draw, 17, count):
        assert not UNTRIED.search(str(error)), error
        for advice in error.advice:
            function(**{**asked, **advice.changes})
            assert str(advice) in str(error) and advice.options in str(Message.of(error))
            assert all(f"{name}={value!r}" in str(advice) for name, value in advice.changes.items())
            assert "--" not in str(error), error
            advised += 1
    assert advised >= least


def typed(asked: dict[str, Any]) -> list[str]:
    """Options as they are typed."""
    words = []
    for name, value in asked.items():
        option = f"--{name.removesuffix('_source').replace('_', '-')}"
        text = ("," if name == "terms" else "x").join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [option] if value is True else [option, text]
    return words


def ways(message: str) -> list[str]:
    """The advice of a message, as it is written."""
    sentences = re.findall(r"^  help: (?:.*, )?use (.*)", message, re.MULTILINE)
    return [way for sentence in sentences for way in re.split(r", | or ", sentence)]


def retyped(words: list[str], way: str) -> list[str]:
    """A command line, changed as a message advises."""
    words = list(words)
    if way.startswith("the instruction "):
        instruction, *rest = way.removeprefix("the instruction ").split()
        return retyped([words[0], instruction, *words[2:]], " ".join(rest))
    for removed, option, value in re.findall(r"(no )?(--[a-z-]+)(?: ((?!--)\S+))?", way):
        if option in words:
            at = words.index(option)
            last = at + 1 < len(words) and not words[at + 1].startswith("--")
            del words[at : at + 1 + last]
        words += [] if removed else [option, value] if value else [option]
    return words


def command_lines(chooser: random.Random) -> Iterator[list[str]]:
    """Command lines of commands that take a tile, or plan a product."""
    asked = drawn_tile(chooser)
    yield ["derive", *typed(asked), "--no-verify"]
    shared = {name: asked[name] for name in ("tile", "dtype", "major", "swizzle")}
    yield ["tma", *typed(shared)]
    yield ["match", *typed(shared | {"mma": asked["mma"]})]
    yield ["diff", "0x4000404000010000", *typed(shared | {"mma": asked["mma"]})]
    if len(asked["tile"]) == 2:
        yield ["derive", *typed(asked), "--stages", str(chooser.choice((2, 40))), "--no-verify"]
        yield ["search", *typed({name: asked[name] for name in ("tile", "dtype", "arch")})]
    yield ["derive", *typed(drawn_layout(chooser)), "--no-verify"]
    of_plan = drawn_plan(chooser)
    instruction = "m{}n{}k{}".format(*of_plan.pop("instruction"))
    yield ["plan", instruction, of_plan.pop("dtype"), *typed(of_plan)]


@pytest.mark.parametrize("rounds", [6, pytest.param(20, marks=pytest.mark.exhaustive)])
def test_what_a_command_advises_can_be_typed(rounds: int, capsys: pytest.CaptureFixture[str]) -> None:
    chooser, tried = random.Random(5), set[str]()
    for words in (words for _ in range(rounds) for words in command_lines(chooser)):
        status = main(words)
        message = capsys.readouterr().err
        if status != 2:
            continue
        assert refusal(message), message
        for way in ways(message):
            again = main(retyped(words, way))
            assert again != 2, (words, way, capsys.readouterr().err)
            tried.add(words[0])
            capsys.readouterr()
    assert {"derive", "tma", "match", "diff", "plan"} <= tried


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_no_swizzle_is_a_dead_end(swizzle: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tile", "192x80", "--dtype", "e4m3", "--major", "K", "--mma", "64x32", "--arch", "sm90"]
    assert main(["derive", *options, "--swizzle", swizzle]) == 2
    message = capsys.readouterr().err
    assert "--tile 192x64" in message and "none" not in message


@pytest.mark.parametrize("command", [["derive", "--mma", "64x16"], ["tma"], ["diff", "0x4000404000010000"]])
def test_a_tile_written_m_by_n_by_k_is_recognized(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tile", "128x256x64", "--dtype", "bf16", "--major", "K", "--swizzle", "128B"]
    assert main([*command, *options]) == 2
    message = capsys.readouterr().err
    assert "needs 4194304 bytes for 64 stages of 128x256" in message
    assert {"--tile 128x64", "--tile 256x64"} <= set(ways(message)) and "capacity none" not in message


@pytest.mark.parametrize("tile", ["64x512x128", "128x512x128"])
def test_a_tile_whose_m_cannot_be_shared_is_not_sent_to_more_warpgroups(
    tile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", "m64n256k16", "bf16", "--tile", tile, "--a", "registers", "--b-major", "MN"]
    assert main(words) == 2
    message = capsys.readouterr().err
    assert ways(message) and "warpgroups" not in " ".join(ways(message))
