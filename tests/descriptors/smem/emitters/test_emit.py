"""Emitted code computes the words of its derivation: for every subtile, at several addresses, in every language.

Here what all languages share, Python, and the CuTe DSL's twin, which runs in the CuTe DSL.
"""

from __future__ import annotations

from typing import Any

import pytest
from each import each
from emitted import CASES, by_python, derivations, expected, made, questions, run
from hypothesis import given

from descriptors import ChoiceError, Derivation, DescriptorError
from descriptors.oracle import available
from descriptors.smem.emitters.emit import LANGUAGES, emit


@each("name", CASES)
def test_python_gives_the_words_of_every_subtile(name: str) -> None:
    d = made(name)
    assert by_python(d, name) == expected(d)


@given(derivations())
def test_python_gives_the_words_of_any_tile(d: Derivation) -> None:
    assert by_python(d) == expected(d)


def test_the_sum_never_leaves_its_field() -> None:
    space = run(emit(made("kmajor"), "python"))
    first = space["operand_first"](0x3FC00)  # the last kilobyte of the window
    subtile = space["operand_subtile"](first, 1, 7)
    assert subtile >> 14 == first >> 14
    assert subtile & 0x3FFF == (0x3FC00 + 24672 & 0x3FFFF) >> 4


def test_python_refuses_what_no_tile_has() -> None:
    space = run(emit(made("kmajor"), "python"))
    with pytest.raises(ValueError, match="multiple of 1024"):
        space["operand_first"](1040)
    for coordinate in ((2, 0), (0, 8), (-1, 0)):
        with pytest.raises(IndexError):
            space["operand_subtile"](space["operand_first"](0), *coordinate)


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
def test_the_cute_dsl_gives_the_words_of_every_subtile() -> None:
    from dsl_emitted import Run, run_emitted

    by_name = {name: made(name) for name in CASES}
    runs = [Run(emit(d, "cutedsl", name), name, tuple(questions(d)), d.arch) for name, d in by_name.items()]
    for d, answer in zip(by_name.values(), run_emitted(runs), strict=True):
        assert (answer.status, answer.text) == ("ok", "")
        assert list(answer.dynamic) == list(answer.static) == expected(d)


def test_the_words_of_the_host_and_of_the_kernel_keep_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    import dsl_emitted as emitted

    from layoutalg.oracle.service import Reply

    def ask(answerer: str, questions: list[Any], **options: Any) -> list[Reply]:
        assert (answerer, len(questions)) == ("dsl_emitted", 2)
        return [Reply("ok", {"dynamic": ["0x10", "0x11"], "static": ["0x20"]}), Reply("rejected", "no such field")]

    monkeypatch.setattr(emitted, "ask", ask)
    runs = [emitted.Run("text", "a", ((0, (0,)),))] * 2
    answers = [emitted.RunAnswer("ok", (16, 17), (32,)), emitted.RunAnswer("rejected", text="no such field")]
    assert emitted.run_emitted(runs) == answers


@each("language", LANGUAGES)
@each("name", CASES)
def test_the_text_names_its_derivation(name: str, language: str) -> None:
    d = made(name)
    text = emit(d, language, name)
    mark = "//" if language in ("cuda", "header", "ptx") else "#"
    comment = " ".join(line for line in text.splitlines() if line.startswith(mark))
    facts = [d.arch, d.element.name, f"{d.major}-major", f"swizzle {d.swizzle}", str(d.smem_tile), str(d.advance)]
    facts += [f"({','.join(map(str, extents))})" for extents in (d.mma, d.tile, d.order) if extents]
    facts += [f"{d.descriptor.stride_byte_offset} bytes", f"{d.swizzle.alignment_bytes} bytes"]
    assert not [fact for fact in facts if fact not in comment]
    assert f"{d.descriptor.at(0).encode():#018x}" in text
    assert text.isascii()
    assert text.endswith("\n")
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("language", ["c", "", None, "CUDA C++"])
def test_an_unknown_language_is_refused(language: Any) -> None:
    with pytest.raises(
        ChoiceError,
        match=r"emit: language is (.*not supported.*|missing); supported: cuda, header, ptx, cutedsl, python",
    ):
        emit(made("kmajor"), language)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "a;b", "ä", "a\n", None, "a" * 65])
def test_a_name_that_is_no_identifier_is_refused(name: Any) -> None:
    with pytest.raises(DescriptorError, match=r"emit: name .* is not an identifier"):
        emit(made("kmajor"), "python", name)


def test_names_that_differ_in_case_share_no_identifier() -> None:
    """The second operand does not change the first, neither in one text nor in two that are put together."""
    first, second = made("kmajor"), made("mnmajor")
    apart = emit(first, "python", "a") + emit(second, "python", "A")
    for text in (apart, emit([first, second], "python", ["a", "A"])):
        space = run(text)
        for name, d in (("a", first), ("A", second)):
            assert [space[f"{name}_subtile"](space[f"{name}_first"](at), *to) for at, to in questions(d)] == expected(d)
    assert emit([first, second], "cutedsl", ["a", "A"]).count("A_WORD = ") == 1


def test_several_operands_have_a_name_each() -> None:
    d = made("kmajor")
    assert emit([d], "cuda", "a") == emit(d, "cuda", "a")
    assert emit([d, d], "cuda", ["a", "b"]).count("#pragma once") == 1
    for several, names in (
        ([d, d], "a"),
        ([d, d], ["a"]),
        ([d, d], ["a", "a"]),
        ([d, d], [["a"], "b"]),
        (d, ["a"]),
    ):
        with pytest.raises(DescriptorError, match=r"^emit: .*name"):
            emit(several, "cuda", names)  # type: ignore[arg-type]
    for garbage in ([], 7, None, [7], "d"):
        with pytest.raises(DescriptorError, match=r"^emit: .* is not a derivation or a list of derivations"):
            emit(garbage, "cuda", "a")  # type: ignore[arg-type]
