"""A in registers: every type and major gives the product; a load, a fragment or a major that is wrong is refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from each import each

from descriptors import DescriptorError, plan, record, tell
from descriptors.gemm.accumulators import Registers
from layoutalg import fragment

CASES: list[tuple[dict[str, Any], str]] = [
    (
        {"instruction": "m64n16k16", "dtype": "bf16", "tile": (128, 32, 64)},
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    ),
    (
        {"instruction": "m64n16k16", "dtype": "f16", "tile": (192, 16, 32), "a_major": "MN"},
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    ),
    ({"instruction": "m64n8k32", "dtype": "e4m3", "tile": (64, 16, 128)}, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"),
    ({"instruction": "m64n8k32", "dtype": "s8", "tile": (128, 8, 64), "a_major": "MN"}, "ld.shared.b8"),
    ({"instruction": "m64n8k8", "dtype": "tf32", "tile": (64, 8, 32), "a_major": "MN"}, "ld.shared.b32"),
    ({"instruction": "m64n8k8", "dtype": "tf32", "tile": (64, 8, 32)}, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"),
]


@each("swizzle", [None, "none", "32B", "64B"])
@each(("asked", "move"), CASES)
def test_every_type_and_major_gives_the_product(asked: dict[str, Any], move: str, swizzle: Any) -> None:
    made = plan(**asked, a_source="registers", a_swizzle=swizzle, stages=2, verify=False)
    assert made.loads is not None and made.loads.move == move
    proof = made.verify()
    m, _, k = made.asked.tile
    assert proof.ok and str(proof.operands[0]) == f"proved: {2 * m * k} elements in registers"
    assert ", {%a0, %a1, %a2, %a3}, %b_desc, %p" in made.ptx
    assert "registers  " in tell(made) and record(made)["registers_of_a"]["move"] == move


def test_a_transpose_bit_of_b_alone_is_left() -> None:
    asked: dict[str, Any] = {"tile": (64, 64, 64), "stages": 1, "a_source": "registers"}
    for major in ("K", "MN"):
        made = plan("m64n64k16", "bf16", **asked, a_major=major, b_major="MN")
        assert made.ptx.endswith("{%a0, %a1, %a2, %a3}, %b_desc, %p, 1, 1, 1;")


def test_a_wrong_load_or_fragment_is_refuted() -> None:
    made = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, a_source="registers")
    assert made.loads is not None
    turned = replace(made.loads, move="ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    proof = replace(made, loads=turned).verify()
    assert not proof.ok and proof.differing
    assert str(proof.operands[0]).startswith("disproved: ") and "its register holds A(" in str(proof.operands[0])
    singly = plan("m64n8k8", "tf32", tile=(64, 8, 8), stages=1, a_major="MN", a_source="registers")
    assert singly.loads is not None
    other = replace(singly.loads, fragment=fragment("wgmma.m64n8k8.D"))
    assert other.fragment.values == singly.loads.fragment.values
    assert not replace(singly, loads=other).verify().ok


def test_the_accumulators_leave_room_for_a() -> None:
    asked: dict[str, Any] = {"stages": 1, "a_source": "registers", "verify": False}
    held = plan("m64n256k32", "e4m3", tile=(64, 256, 512), **asked).accumulators
    assert isinstance(held, Registers) and held.registers == 128
    with pytest.raises(DescriptorError, match=r"^plan: accumulators and A must fit 255 .* need 128 \+ 128: 1 "):
        plan("m64n256k32", "e4m3", tile=(64, 256, 1024), **asked)


def test_sm100_has_no_a_in_registers() -> None:
    with pytest.raises(DescriptorError, match=r"^plan: A in registers must be of sm90"):
        plan("m128n64k16", "bf16", tile=(128, 64, 64), a_source="registers")
    with pytest.raises(DescriptorError, match=r"^plan: a_source must be one of smem, "):
        plan("m64n64k16", "bf16", tile=(64, 64, 64), a_source="tmem")
