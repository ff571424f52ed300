"""The transpose bit is named wherever an MN-major operand is told, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import Derivation, candidates, derive, emit, explain, idesc, match, record, survey, tell
from descriptors.smem.emitters.emit import LANGUAGES
from descriptors.smem.instructions.transpose import BITS, transpose_bit
from descriptors.smem.words.descriptor import WORDS, Arch

TILE: dict[str, Any] = {"tile": (64, 64), "dtype": "bf16", "swizzle": "128B", "mma": (64, 16)}
NOTE = "MN-major is selected by the instruction, not by the descriptor"


def derivation(major: Any, arch: Arch = "sm100", **options: Any) -> Derivation:
    return derive(**{**TILE, **options}, major=major, arch=arch)


def test_the_bits_are_those_that_an_instruction_descriptor_sets_for_mn_major() -> None:
    plain = idesc("bf16", m=128, n=256)
    for matrix, options in (("A", {"a_major": "MN"}), ("B", {"b_major": "MN"})):
        bits = plain ^ idesc("bf16", m=128, n=256, **options)  # type: ignore[arg-type]
        assert f"bit {bits.bit_length() - 1}" == BITS["sm100"][matrix]  # type: ignore[index]
        assert bits.bit_count() == 1


@pytest.mark.parametrize("arch", WORDS)
@pytest.mark.parametrize("operand", [None, "A", "B"])
def test_an_mn_major_derivation_names_its_bit(arch: Arch, operand: Any) -> None:
    d = derivation("MN", arch, operand=operand)
    assert d.transposed and record(d)["transposed"] is True
    sentence = f"{NOTE}: set {transpose_bit(arch, operand)} to 1."
    texts = [tell(d, steps=True), explain(d), *(emit(d, language) for language in LANGUAGES)]
    assert [text.count(sentence) for text in texts] == [1] * len(texts)


@pytest.mark.parametrize("arch", WORDS)
def test_a_k_major_derivation_has_none(arch: Arch) -> None:
    d = derivation("K", arch)
    assert not d.transposed and record(d)["transposed"] is False
    assert NOTE not in "".join([tell(d, steps=True), explain(d), *(emit(d, language) for language in LANGUAGES)])


def test_a_copy_has_no_transpose_bit_at_all() -> None:
    d = derive((128, 64), "u8", "K", "none", cp="128x256b")
    assert not d.transposed
    assert not [one for one in LANGUAGES if "transposed" in emit(d, one).lower()]


@pytest.mark.parametrize(("major", "value"), [("K", 0), ("MN", 1)])
def test_emitted_code_has_the_bit_as_a_number(major: Any, value: int) -> None:
    space: dict[str, Any] = {}
    exec(emit(derivation(major), "python", "a"), space)  # noqa: S102 - code that runs is what is tested
    assert space["A_TRANSPOSED"] == value
    assert f"kTransposed = {value}u;" in emit(derivation(major), "cuda")
    assert f"OPERAND_TRANSPOSED = {value} " in emit(derivation(major), "cutedsl")
    assert f"// transposed = {value}: " in emit(derivation(major), "ptx")


def test_a_match_candidates_and_a_search_name_it_for_what_is_mn_major_alone() -> None:
    across, along = "(64,16):(1,64)", "(64,16):(64,1)"
    assert NOTE in tell(match(across, "bf16", swizzle="128B")) and NOTE not in tell(
        match(along, "bf16", swizzle="128B")
    )
    assert record(match(across, "bf16", swizzle="128B"))["transposed"] is True
    assert tell(candidates(across, "bf16")).count(NOTE) == 1 and NOTE not in tell(candidates(along, "bf16"))
    assert [one["transposed"] for one in record(candidates(across, "bf16")) if one["fits"]] == [True, True]
    assert NOTE in tell(survey((64, 64), "bf16", (64, 16), contiguous="MN")) and NOTE not in tell(
        survey((64, 64), "bf16", (64, 16), major="K")
    )
    findings = record(survey((64, 64), "bf16", (64, 16)))["findings"]
    assert {(one["major"], one["transposed"]) for one in findings} == {("K", False), ("MN", True)}
