"""Descriptor words out of NVIDIA's compiler, and hundreds of derivations against them, layout by layout."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from dsl import comparable
from seeds import seeds_of

from descriptors import derive, oracle, plain
from descriptors.oracle.words import WordAnswer, WordRequest, descriptor_words
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
from layoutalg import LayoutError

pytestmark = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")

NUMBER = int(os.environ.get("LAYOUTALG_WORDS", "300"))

# Types that the compiler's sm90 descriptors know: no `wgmma` has the narrower ones.
WGMMA = ["bf16", "e4m3", "e5m2", "f16", "s8", "tf32", "u8"]
K_SW128 = "((8,16),(64,2)):((64,512),(1,8192))"  # bf16, 128x128, atoms stacked M first
MN_SW64 = "((32,4),(8,16)):((1,4096),(32,256))"  # bf16, 128x128, atoms stacked K first
E4M3_MN = "(128,128):(1,128)"  # a swizzle atom of 128B has 128 elements along MN


KNOWN = {
    WordRequest("bf16", "K", "128B", K_SW128, (64, 16)): 0x4000404000010000,
    WordRequest("bf16", "MN", "64B", MN_SW64, (64, 16)): 0x8000402002000000,
    WordRequest("bf16", "K", "128B", K_SW128, (64, 16), "sm90"): 0x4000004000010000,
    WordRequest("bf16", "MN", "64B", MN_SW64, (64, 16), "sm90"): 0x8000002002000000,
    WordRequest("e4m3", "MN", "128B", E4M3_MN, (64, 32)): 0x4000404000000000,
}


def test_the_compiler_gives_the_known_words_for_both_architectures_in_one_round() -> None:
    assert [answer.word for answer in descriptor_words(KNOWN)] == list(KNOWN.values())


def test_the_intermediate_layouts_come_with_the_word() -> None:
    (answer,) = descriptor_words([WordRequest("bf16", "MN", "64B", MN_SW64, (64, 16))])
    assert answer.steps == {
        "tile": MN_SW64,
        "partitioned": "(((32,2),16),(2,8)):(((1,4096),32),(8192,512))",
        "recast": "(((4,2),16),(2,8)):(((1,512),4),(1024,64))",
        "canonical": "((4,2),(8,2)):((1,512),(4,32))",
    }


def test_an_instruction_may_read_half_a_swizzle_atom() -> None:
    (answer,) = descriptor_words([WordRequest("e4m3", "MN", "128B", E4M3_MN, (64, 32))])
    assert answer.steps["partitioned"] == "((64,32),(2,4)):((1,128),(64,4096))"  # 64 bytes to the next subtile


def test_a_refused_request_leaves_the_others_of_its_batch_alone() -> None:
    good = WordRequest("bf16", "K", "128B", K_SW128, (64, 16))
    not_canonical = WordRequest("bf16", "K", "64B", K_SW128, (64, 16))
    unknown = WordRequest("bf17", "K", "128B", K_SW128, (64, 16))
    no_such_swizzle = WordRequest("tf32", "MN", "128B_BASE32B", MN_SW64, (64, 8), "sm90")
    answers = descriptor_words([good, not_canonical, good, unknown, no_such_swizzle, good])
    assert [answer.status for answer in answers] == ["ok", "rejected", "ok", "rejected", "rejected", "ok"]
    assert "Not a canonical" in answers[1].text
    assert answers[0] == answers[2] == answers[5]


@pytest.mark.parametrize("seed", seeds_of("test_derivations_agree_with_the_compiler_layout_by_layout"))
def test_derivations_agree_with_the_compiler_layout_by_layout(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    chooser = random.Random(str(seed))
    derivations: list[Derivation] = []
    while len(derivations) < NUMBER:
        try:
            derivations.append(derive(**_arguments(chooser)))
        except LayoutError:
            continue  # no such tile; that derivations exist where they should is tested elsewhere
    requests = [
        WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
        for d in derivations
    ]
    answers = descriptor_words(requests)
    rejected = sum(answer.status == "rejected" for answer in answers)
    summary = f"{len(derivations)} descriptors, {rejected} refused by the compiler"
    record_property("note", f"oracle: LAYOUTALG_SEED={seed}, {summary}")
    wrong = [
        f"{difference}\n    {request}"
        for d, request, answer in zip(derivations, requests, answers, strict=True)
        for difference in _differences(d, answer)
    ]
    assert not wrong, f"LAYOUTALG_SEED={seed}: " + "\n".join(wrong[:10])
    assert not rejected, [answer.text for answer in answers if answer.status == "rejected"][:5]


def _differences(d: Derivation, answer: WordAnswer) -> list[str]:
    """Where the compiler's layouts and word are other than ours; a refusal is no difference."""
    if answer.status == "rejected":
        return []
    if answer.status != "ok" or answer.word is None:
        return [f"{answer.status}: {answer.text}"]
    ours = {"tile": d.smem_tile, "partitioned": d.partitioned, "recast": d.recast, "canonical": d.canonical}
    differences = [
        f"{name}: ours {plain(layout)}, the compiler's {answer.steps[name]}"
        for name, layout in ours.items()
        if comparable(str(plain(layout))) != comparable(answer.steps[name])
    ]
    mask = ~d.dont_care_mask()
    word = d.descriptor.encode()
    if answer.word & mask != word & mask:
        differences.append(f"word: ours {word:#018x}, the compiler's {answer.word:#018x}")
    return differences


def _arguments(chooser: random.Random) -> dict[str, Any]:
    """Arguments of a tile that often exists: whole atoms, an operand of an instruction's depth, now and then stages."""
    arch = chooser.choice(["sm90", "sm100"])
    element = ELEMENT_TYPES[chooser.choice(sorted(ELEMENT_TYPES) if arch == "sm100" else WGMMA)]
    major, mode = chooser.choice([*Major]), chooser.choice([*SwizzleMode])
    span = mode.span_bytes * 8 // element.storage_bits
    depth = 256 // element.storage_bits
    rows = chooser.choice([8, 16, 24, 32, 64, 96, 128, 256])
    tile = [rows * chooser.randint(1, 3), depth * chooser.randint(1, 6)]
    wide = major.contiguous_mode
    tile[wide] = -(-tile[wide] // span) * span
    stages = [chooser.randint(1, 3)] if chooser.random() < 0.2 else []
    return {
        "tile": (*tile, *stages),
        "dtype": element.name,
        "major": str(major),
        "swizzle": str(mode),
        "mma": (rows, depth),
        "order": (*chooser.choice([(0, 1), (1, 0)]), *(2 for _ in stages)),
        "arch": arch,
    }
