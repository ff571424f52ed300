"""`descriptors emit`: several operands in one text, each as `derive --emit` writes it, with its words."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from each import each
from refusals import refusal, refuses

from descriptors import derive
from descriptors.cli.command import main
from descriptors.smem.emitters.emit import LANGUAGES, constexpr_header

A = "--operand A --major K --swizzle 128B --tile 128x64x4 --mma m64n128k16"
B = "--operand B --major MN --swizzle 128B --tile 128x64 --stages 4 --mma m64n128k16"
SHARED = ["--dtype", "bf16", "--arch", "sm90"]
MADE = {
    "a": {"major": "K", "operand": "A"},
    "b": {"major": "MN", "operand": "B"},
}


def words_of(name: str) -> list[int]:
    """The words of every subtile of a tile at 0x2000, in the order of the coordinates."""
    both: dict[str, Any] = {"tile": (128, 64, 4), "dtype": "bf16", "swizzle": "128B", "arch": "sm90"}
    d = derive(**both, mma="m64n128k16", **MADE[name])  # type: ignore[arg-type]
    return [word for row in d.words(0x2000) for column in row for word in column]  # type: ignore[union-attr]


def written(language: str, capsys: pytest.CaptureFixture[str], *operands: str) -> str:
    assert main(["emit", language, *SHARED, *operands]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_one_operand_it_is_what_derive_writes(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = written(language, capsys, f"a: {A}")
    assert main(["derive", *SHARED, *shlex.split(A), "--emit", language, "--name", "a"]) == 0
    assert one == capsys.readouterr().out


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_holds_both_operands(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    both = written(language, capsys, f"a: {A}", f"b: {B}")
    alone = [written(language, capsys, f"{name}: {options}") for name, options in (("a", A), ("b", B))]
    head = LANGUAGES[language].head
    assert both.startswith(head) and both.count(head or both) == 1
    assert all(one.removeprefix(head).strip() in both for one in alone)


def test_python_gives_the_words_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(written("python", capsys, f"a: {A}", f"b: {B}"), names)  # noqa: S102 - our own text
    for name in MADE:
        counts = {"a": (2, 4, 4), "b": (1, 4, 4)}[name]
        first = names[f"{name}_first"](0x2000)
        got = [names[f"{name}_subtile"](first, *at) for at in product(*map(range, counts))]
        assert got == words_of(name)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_one_header_of_both_compiles_and_gives_their_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "operands.h").write_text(written("cuda", capsys, f"a: {A}", f"b: {B}"))
    loops = "".join(
        f"for (unsigned mn = 0; mn < {n}_descriptor::kSubtilesMN; ++mn)"
        f" for (unsigned k = 0; k < {n}_descriptor::kSubtilesK; ++k) for (unsigned s = 0; s < 4; ++s)"
        f' std::printf("%llu\\n", (unsigned long long)'
        f"{n}_descriptor::subtile({n}_descriptor::first(0x2000), mn, k, s));"
        for n in MADE
    )
    source, program = tmp_path / "main.cpp", tmp_path / "main"
    # Twice, as two files of a program do that need both operands.
    source.write_text(f'#include <cstdio>\n#include "operands.h"\n#include "operands.h"\nint main() {{ {loops} }}\n')
    flags = ["-std=c++14", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["g++", *flags, "-o", str(program), str(source)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert list(map(int, printed.split())) == [*words_of("a"), *words_of("b")]


def test_an_option_of_an_operand_goes_before_that_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    text = written("cuda", capsys, f"a: {A}", "b: --dtype e4m3 --major K --swizzle 64B --tile 128x64 --mma 64x32")
    assert "(sm90, wgmma) of bf16 operands, K-major, swizzle 128B" in text
    assert "(sm90, wgmma) of e4m3 operands, K-major, swizzle 64B" in text


@each(
    ("operands", "said"),
    [
        (
            ["a --tile 64x64"],
            "'a --tile 64x64' is not an operand: a name, a colon, and options of `descriptors derive`",
        ),
        (["2a: --tile 64x64"], "is not an operand: a name, a colon, and options"),
        ([f"a: {A}", f"a: {B}"], "two operands have the name 'a'"),
        ([f"a: {A}", "b: --major K --tile 64x64"], "operand b: --swizzle is missing"),
        ([f"a: {A} --json"], "operand a: --json is not an option of an operand"),
        ([f"a: {A} --base 1024"], "operand a: --base is not an option of an operand"),
        ([f"a: {A} --symbolic"], "operand a: --symbolic is not an option of an operand"),
        ([f"a: {A} --draw a.svg"], "operand a: --draw is not an option of an operand"),
        ([f"a: {A}", "b: --major K --swizzle 128B --tile 64x100 --mma 64x16"], "operand b: tile K is 100"),
        (["a: --layout '(64,64"], "operand a: No closing quotation in "),
        (["a: --nothing"], "operand a: no such option"),
        ([], "is missing"),
    ],
)
def test_a_refusal_names_the_operand(operands: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "cuda", *SHARED, *operands]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and refuses(captured.err, said)


def test_a_name_goes_before_that_of_every_operand(capsys: pytest.CaptureFixture[str]) -> None:
    text = written("header", capsys, f"a: {A}", f"b: {B}", "--name", "gemm")
    assert all(f"#define GEMM_{name}_WORD 0x" in text for name in "AB") and text.count("#pragma once") == 1
    assert main(["emit", "header", *SHARED, f"a: {A}", "--name", "2"]) == 2
    assert "--name is '2', which is not an identifier" in capsys.readouterr().err


def test_an_unknown_language_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for operands in ((f"a: {A}",), ()):
        assert main(["emit", "fortran", *SHARED, *operands]) == 2
        fact = "language is 'fortran', which is not supported; supported: cuda, header, ptx, cutedsl, python, constexpr"
        assert refusal(capsys.readouterr().err) == fact
    assert main(["emit", "constexp"]) == 2
    assert "did you mean constexpr?" in capsys.readouterr().err


def test_a_missing_type_is_named_where_no_operand_and_no_option_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "cuda", f"a: {A}"]) == 2
    assert "operand a: --dtype is missing; --dtype: Element type: f16 bf16" in refusal(capsys.readouterr().err)


def test_constexpr_is_the_header_of_the_derivation_and_takes_no_operand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "constexpr"]) == 0
    assert capsys.readouterr().out == constexpr_header()
    for more in ([f"a: {A}"], SHARED, ["--name", "a"]):
        assert main(["emit", "constexpr", *more]) == 2
        assert (
            "constexpr takes no operand, because its header computes the descriptors of any supported operand"
            in capsys.readouterr().err
        )
    assert main(["derive", *SHARED, *shlex.split(A), "--emit", "constexpr"]) == 2
    assert "of descriptors emit constexpr; supported: cuda" in refusal(capsys.readouterr().err)
