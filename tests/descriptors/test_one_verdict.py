"""One question asked through Python, text, JSON, an agent's tool and the page: the verdicts agree in every part."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

import pytest

from descriptors import (
    DescriptorError,
    chain,
    decode,
    derive,
    diff,
    parse_tensor_map,
    proved,
    record,
    tell,
    word_check,
)
from descriptors.cli.command import main
from descriptors.cli.mcp import call
from descriptors.show.explorer.answer import answer
from descriptors.smem.debug.read import read
from layoutalg.messages import Message

K_OF = {"bf16": 16, "tf32": 8, "e4m3": 32, "u8": 32}
BASES = (0, 0, 7, 16, 64, 128, 256, 512, 1024, 1152, 65536, 131200, 204800, 229376, 232448, 262016, 262144, 999999)


def draw(rng: random.Random) -> dict[str, Any]:
    """A question, of which some have no answer."""
    dtype = rng.choice(list(K_OF))
    major = rng.choice(["K", "K", "MN"])
    return {
        "tile": f"{64 * rng.choice([1, 2, 3, 4])}x{K_OF[dtype] * rng.choice([1, 2, 4, 8])}",
        "dtype": dtype,
        "major": major,
        "swizzle": rng.choice(["none", "32B", "64B", "128B"]),
        "mma": f"64x{K_OF[dtype]}",
        "arch": rng.choice(["sm90", "sm100"]),
        "base": rng.choice(BASES),
    }


def words_of(asked: Mapping[str, Any]) -> list[str]:
    return ["derive", *(f"--{name}={value}" for name, value in asked.items())]


def of_text(text: str) -> dict[str, Any]:
    """The verdict in the text of the command: its proof, what is known, its scope, and its warnings."""
    found = re.search(r"^(\w+)(?:, with (\d+) warnings?)?: (.*) \(read model: (.*)\)\n   (.*)$", text, re.MULTILINE)
    assert found is not None, text
    assert int(found[2] or 0) == text.count("\nwarning: ")
    return {
        "state": found[1],
        "grade": found[4].partition(" ")[0].rstrip(","),
        "evidence": found[4],
        "compared": f"{found[1]}: {found[3]}",
        "scope": found[5],
        "warnings": re.findall(r"^warning: (.*)$", text, re.MULTILINE),
    }


def of_record(one: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in plain data."""
    names = ("state", "grade", "evidence", "compared", "scope", "warnings")
    return json.loads(json.dumps({name: one[name] for name in names}))  # type: ignore[no-any-return]


def of_python(asked: Mapping[str, Any]) -> dict[str, Any]:
    extents = {name: tuple(map(int, asked[name].split("x"))) for name in ("tile", "mma")}
    rest = {name: asked[name] for name in ("dtype", "major", "swizzle", "arch")}
    d = derive(**extents, **rest, verify=False)
    proof = proved(d, base=asked["base"], walk=True)
    told = of_text(tell(d, base=asked["base"], report=proof))
    assert of_record(record(d, base=asked["base"], report=proof)["verdict"]) == told
    assert list(proof.warnings) == told["warnings"] and proof.evidence == told["evidence"]
    assert of_text(tell(proof)) == told
    return told


def ask(asked: Mapping[str, Any], capsys: pytest.CaptureFixture[str]) -> dict[str, Any] | Message:
    """The verdict on a question through four faces, all the same; or the refusal, the same too."""
    try:
        python: dict[str, Any] | Message = of_python(asked)
    except DescriptorError as error:
        python = Message.of(error)
    capsys.readouterr()
    status = main([*words_of(asked), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert main(words_of(asked)) == status
    text = capsys.readouterr()
    reply = answer({**asked, "want": ["told", "proof"]})
    if isinstance(python, Message):
        assert status == 2 and not reply["ok"], asked
        assert text.err == f"{python.text('descriptors derive')}\n" and data["error"]["message"] == str(python)
        assert reply["error"]["fact"] == python.fact
        return python
    assert status == 0 and reply["ok"], asked
    assert of_text(text.out) == python and of_record(data["verdict"]) == python
    assert of_record(reply["proof"]) == python and reply["told"]["word"] == data["descriptor"]["word"]
    amber = bool(python["warnings"])
    assert reply["proof"]["tone"] == ("warn" if amber else "good")
    assert f"\n{reply['proof']['text']}\n" in text.out
    return python


def test_no_two_faces_disagree(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(20261123)
    verdicts = [ask(draw(rng), capsys) for _ in range(120)]
    answered = [one for one in verdicts if isinstance(one, dict)]
    assert {one["grade"] for one in answered} == {"measured", "documented"}
    assert len(answered) > 40 and len(verdicts) - len(answered) > 20
    assert sum(bool(one["warnings"]) for one in answered) > 5


@pytest.mark.parametrize("base", [0, 128, 7, 204800])
@pytest.mark.parametrize("arch", ["sm90", "sm100"])
def test_nor_does_the_tool_of_an_agent(arch: str, base: int, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"tile": "128x128", "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": "64x16"}
    asked |= {"arch": arch, "base": base}
    known = ask(asked, capsys)
    told, data = (call("derive", {**asked, "json": json}) for json in (False, True))
    if isinstance(known, Message):
        assert told.verdict == data.verdict == "refused" and told.text == known.text("descriptors derive")
    else:
        assert of_text(told.text) == of_record(json.loads(data.text)["verdict"]) == known


@pytest.mark.parametrize(("base", "count"), [(0, 0), (128, 1), (204928, 2)])
def test_an_answer_without_the_proof_has_the_warnings_too(
    base: int, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"tile": "128x128", "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": "64x16", "base": base}
    asked["capacity"] = "none"  # a tile that ends beyond shared memory is refused otherwise
    for more in ([], ["--no-verify"], ["--steps"], ["--subtile=0,1"], ["--words"], ["--explain"]):
        assert main([*words_of(asked), "--arch=sm90", *more]) == 0
        assert capsys.readouterr().out.count("\nwarning: ") == count, more
    for more in ([], ["--no-verify"]):
        assert main([*words_of(asked), "--arch=sm90", "--json", *more]) == 0
        verdict = json.loads(capsys.readouterr().out)["verdict"]
        assert len(verdict["warnings"]) == count
        assert verdict["state"] == ("not proved" if more else "proved")
    assert main([*words_of(asked), "--arch=sm90", "--json", "--subtile=0,1"]) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == count


def test_a_read_beyond_shared_memory_is_the_same_warning_in_every_comparison() -> None:
    operand: dict[str, Any] = {"dtype": "bf16", "major": "K", "shape": (64, 16)}
    tile, text = (
        "S<3,3,3> o 0 o (64,16):(64,1)",
        "start_address: the operand is read up to byte 239616, beyond the 232448",
    )
    box = parse_tensor_map("type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B")

    def warned(start: int) -> list[bool]:
        word = 1 << 62 | 64 << 32 | 1 << 16 | start >> 4
        links = ["layout S<3,3,3> o 0 o (64,16):(64,1)", f"word {word:#x} mma=64x16"]
        found: list[tuple[object, ...]] = [
            decode(word, "sm90", **operand).warnings,
            read(word, "sm90", **operand).decoded.warnings,
            diff(word, tile, "sm90", **operand).warnings,
            diff(word, tile, "sm90", **operand, base=start).warnings,
            word_check(box, word, major="K", shape=(64, 16)).diff.warnings,
            chain(links, tile="64x16", arch="sm90").verify().warnings,
        ]
        return [any(text in str(warning) for warning in warnings) for warnings in found]

    assert warned(231424) == [True] * 6
    assert warned(0) == warned(223232) == [False] * 6
    for tell_or_data in (tell, record):
        answer = tell_or_data(diff(1 << 62 | 64 << 32 | 231424 >> 4, tile, "sm90", **operand))
        assert "read up to byte 239616" in str(answer)
