"""A power of two for 128 elements on sm100: four instructions of K 32 take the same factor, packed as it is shipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from seeds import seeds_of

from descriptors import DescriptorError, pack_exponents, plan, tell, transpose_exponents
from descriptors.smem.instructions.idesc import decode_idesc
from layoutalg.frozen import replace

ASKED: dict[str, Any] = {
    "instruction": "m128n128k32", "dtype": "e4m3", "tile": (128, 128, 512), "arch": "sm100", "scale_vector": 128,
    "stages": 1,
}  # fmt: skip
PLANS = [
    ASKED,
    ASKED | {"tile": (128, 128, 128), "stages": 3},
    ASKED | {"tile": (256, 64, 256), "instruction": "m128n64k32", "b_dtype": "e5m2"},
    ASKED | {"instruction": "m256n256k32", "tile": (256, 256, 128), "cta_group": 2, "accumulators": 2},
]


@each("asked", PLANS, ids=lambda one: f"{one['instruction']} {one['tile']}")
def test_the_product_has_one_factor_for_128_elements(asked: dict[str, Any]) -> None:
    made = plan(**asked)
    scales = made.scales
    assert scales is not None and (scales.dtype, scales.vector, scales.qualifier) == ("ue8m0", 128, "1X")
    for k, ((a, b), word) in enumerate(zip(scales.pointers, made.line.idescs, strict=True)):
        factor = 32 * k // 128
        assert a >> 30 == b >> 30 == factor % 4
        fields = decode_idesc(word, made.asked.kind)
        assert (fields["sfa_id"], fields["sfb_id"]) == (factor % 4, factor % 4)
    assert "ue8m0, one for 128 of K" in tell(made)


@each("seed", seeds_of("exponents of 128 elements"))
def test_a_tile_of_k_512_takes_the_words_as_they_are_transposed(seed: int) -> None:
    """The bytes of the plan's memory are those of packed exponents, four along K a word, after the transposition."""
    codes = np.random.default_rng(seed).integers(0, 256, (128, 4))
    scales = plan(**ASKED, verify=False).scales
    assert scales is not None
    memory = np.zeros(scales.a.bytes, np.uint8)
    for row in range(128):
        for k in range(0, 512, 32):
            memory[scales.a.memory(row, k)] = codes[row, k // 128]
    assert (memory == transpose_exponents(pack_exponents(codes)).astype("<u4").reshape(-1).view(np.uint8)).all()


@each("k", range(1, 16))
def test_a_pointer_to_another_factor_is_told(k: int) -> None:
    made = plan(**ASKED, verify=False)
    assert made.scales is not None
    pointers = list(made.scales.pointers)
    pointers[k] = (pointers[k][0] ^ 1 << 30, pointers[k][1])
    proof = replace(made, scales=replace(made.scales, pointers=tuple(pointers))).verify()
    assert not proof.ok and f"factor (0,{k}) of A in stage 0 is not the one that its pointer reaches" in str(proof)


@each(
    ("change", "rule"),
    [
        ({"tile": (128, 128, 320)}, "tile K is 320.*use tile=\\(128, 128, 256\\) or tile=\\(128, 128, 384\\)"),
        (
            {"scale_dtype": "ue4m3"},
            "with ue4m3 scale factors does not support one factor for 128 elements; .* with ue8m0 does",
        ),
        (
            {"instruction": "m128n128k64", "dtype": "e2m1", "kind": "mxf4"},
            "kind mxf4 with .* on sm100 only kind mxf8f6f4",
        ),
        ({"kind": "f8f6f4"}, "mxf8f6f4"),
    ],
)
def test_what_has_no_such_factors_is_refused(change: dict[str, Any], rule: str) -> None:
    with pytest.raises(DescriptorError, match=rule):
        plan(**ASKED | change)
