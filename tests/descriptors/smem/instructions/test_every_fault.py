"""An instruction descriptor with several faults has each of them told."""

from __future__ import annotations

import pytest

from descriptors import decode_idesc, idesc
from descriptors.check.inspection import check_ptx
from descriptors.check.ptx.kernel_words import Use, complaints
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS


@pytest.mark.parametrize("kind", INSTRUCTION_DESCRIPTORS)
def test_of_a_word_of_ones_every_fault_is_told(kind: str) -> None:
    told = " | ".join(decode_idesc(0xFFFFFFFF, kind).warnings)
    for what in ("a_dtype has invalid code 7", "b_dtype has invalid code", "reserved bits", "M is", "N is"):
        assert what in told, (kind, what)


def test_two_wrong_extents_and_a_wrong_option_are_three_faults() -> None:
    word = idesc("bf16", m=128, n=128, legality="off", saturate=True)
    word = word & ~(0x3F << 17) & ~(0x1F << 24) | 3 << 24 | 63 << 17  # M 48, N 504
    told = complaints(word, Use("f16"))
    assert [one.partition(" is ")[0] for one in told] == ["M", "N", "saturate"]


def test_scale_factors_are_read_as_the_type_of_the_word_has_them() -> None:
    (told,) = decode_idesc(0x28020480, "mxf4nvf4").warnings
    assert told.startswith("scale factor ids are 1 and 0, but must be 0")
    assert "ue4m3 by 16" in told


def test_scale_factors_and_their_ids_are_two_faults() -> None:
    told = decode_idesc(0x28020480, "mxf4").warnings
    assert [one.partition(" are ")[0] for one in told] == ["scale factors", "scale factor ids"]


@pytest.mark.parametrize(("target", "legal"), [("sm_100a", False), ("sm_103a", True), ("sm_103f", True), ("", True)])
def test_k_96_is_for_one_family_of_targets(target: str, legal: bool) -> None:
    word = idesc("e2m1", m=256, n=256, k=96, cta_group=2, scale_dtype="ue4m3", scale_vector=16, arch="sm103")
    told = complaints(word, Use("mxf4nvf4", cta_group=2, scale_vector=16, target=target))
    assert (told == []) is legal
    if not legal:
        assert told == ["bit 31 (K 96) is set, which sm_100a does not support; supported by sm_103a and sm_107a"]


def test_k_96_is_said_to_be_of_one_target_where_there_is_none() -> None:
    rows = {name: value for _, name, value in decode_idesc(0x90400480, "mxf4nvf4").rows()}
    assert rows["k_is_96"] == "True: targets sm_103a and sm_107a alone"


@pytest.mark.parametrize(("target", "errors"), [("sm_100a", 1), ("sm_103a", 0)])
def test_k_96_of_a_kernel_is_held_against_its_target(target: str, errors: int) -> None:
    mma = "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [d], a, b, i, [s], [t], p;"
    body = f"mov.b32 i, 0x90400480; {mma}"
    found = check_ptx(f".version 8.8\n.target {target}\n.entry k() {{ {body} ret; }}").errors
    assert len([one for one in found if one.rule.name == "word-idesc"]) == errors
