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
@each(("arguments", "move"), CASES)
def test_every_type_and_major_gives_the_product(arguments: dict[str, Any], move: str, swizzle: Any) -> None:
    loop_plan = plan(**arguments, a_source="registers", a_swizzle=swizzle, stages=2, verify=False)
    assert loop_plan.loads is not None and loop_plan.loads.move == move
    proof = loop_plan.verify()
    m, _, k = loop_plan.asked.tile
    assert proof.ok and str(proof.operands[0]) == f"proved: {2 * m * k} elements in registers"
    assert ", {%a0, %a1, %a2, %a3}, %b_desc, %p" in loop_plan.ptx
    assert "registers  " in tell(loop_plan, steps=True) and record(loop_plan)["registers_of_a"]["move"] == move


def test_a_transpose_bit_of_b_alone_is_left() -> None:
    arguments: dict[str, Any] = {"tile": (64, 64, 64), "stages": 1, "a_source": "registers"}
    for major in ("K", "MN"):
        loop_plan = plan("m64n64k16", "bf16", **arguments, a_major=major, b_major="MN")
        assert loop_plan.ptx.endswith("{%a0, %a1, %a2, %a3}, %b_desc, %p, 1, 1, 1;")


def test_a_wrong_load_or_fragment_is_refuted() -> None:
    loop_plan = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, a_source="registers")
    assert loop_plan.loads is not None
    turned = replace(loop_plan.loads, move="ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    proof = replace(loop_plan, loads=turned).verify()
    assert not proof.ok and proof.differing
    assert str(proof.operands[0]).startswith("disproved: ") and "its register holds A(" in str(proof.operands[0])
    singly = plan("m64n8k8", "tf32", tile=(64, 8, 8), stages=1, a_major="MN", a_source="registers")
    assert singly.loads is not None
    other = replace(singly.loads, fragment=fragment("wgmma.m64n8k8.D"))
    assert other.fragment.values == singly.loads.fragment.values
    assert not replace(singly, loads=other).verify().ok


def test_the_accumulators_leave_room_for_a() -> None:
    arguments: dict[str, Any] = {"stages": 1, "a_source": "registers", "verify": False}
    loop_plan = plan("m64n256k32", "e4m3", tile=(64, 256, 512), **arguments).accumulators
    assert isinstance(loop_plan, Registers) and loop_plan.registers == 128
    with pytest.raises(DescriptorError, match=r"^plan: accumulators and A need 128 \+ 128 registers"):
        plan("m64n256k32", "e4m3", tile=(64, 256, 1024), **arguments)


def test_sm100_has_no_a_in_registers() -> None:
    with pytest.raises(DescriptorError, match=r"^plan: A in registers is not supported on sm100"):
        plan("m128n64k16", "bf16", tile=(128, 64, 64), a_source="registers")
    with pytest.raises(DescriptorError, match=r"^plan: a_source is .*not supported.*supported: smem,"):
        plan("m64n64k16", "bf16", tile=(64, 64, 64), a_source="tmem")
