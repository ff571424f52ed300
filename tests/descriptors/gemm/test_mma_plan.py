"""Main loops of ``mma.sync``: proved as they are, refuted where something is changed, and refused with a way out."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from each import each

from descriptors import DescriptorError, MmaPlan, TmaPlan, mma_plan, record, tell
from layoutalg import Layout
from layoutalg.frozen import replace
from probes.mma_loops import drawn

#: What sm_120 alone has: kinds of narrow types, with and without scale factors.
NARROW: list[dict[str, Any]] = [
    {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (64, 64, 256), "scale_vector": 16},
    {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (32, 96, 128), "arch": "sm121"},
    {"instruction": "mma.m16n8k32", "dtype": "e4m3", "tile": (96, 64, 128), "scale_vector": 32, "warps": (3, 2)},
    {"instruction": "mma.m16n8k32", "dtype": "e4m3", "b_dtype": "e2m1", "tile": (64, 32, 128), "scale_vector": 32},
    {"instruction": "mma.m16n8k32", "dtype": "e3m2", "b_dtype": "e2m3", "tile": (32, 32, 128)},
]


@cache
def drawn_plans() -> list[dict[str, Any]]:
    """Return the arguments of fourteen drawn plans, which takes seconds."""
    return [*drawn(10, 5), *drawn(4, 5, engine=True)]


def made(asked: dict[str, Any]) -> MmaPlan:
    return mma_plan(**asked, verify=False)


@each("asked", lambda: [*drawn_plans(), *NARROW], ids=str)
def test_every_plan_is_proved(asked: dict[str, Any]) -> None:
    one = made(asked)
    m, n, _ = one.asked.tile
    proof = one.verify(7)
    assert proof.ok and proof.accumulators == m * n and str(proof).startswith("proved")


#: Plans of sm_120 in which the stages of A do not end where the swizzle of B begins again.
UNEVEN: list[dict[str, Any]] = [
    {"dtype": "tf32", "tile": (16, 96, 8), "a_major": "MN", "b_major": "MN", "warps": (1, 2), "stages": 3},
    {"dtype": "tf32", "tile": (48, 64, 24), "b_major": "MN", "stages": 5},
    {"dtype": "f16", "tile": (48, 64, 48), "a_major": "MN", "b_major": "MN", "stages": 3},
]


@each("asked", lambda: UNEVEN, ids=str)
def test_an_operand_begins_where_the_swizzle_of_its_copies_does(asked: dict[str, Any]) -> None:
    one = mma_plan(None, arch="sm120", **asked, verify=False)
    places = {"A": one.a.base, "B": one.b.base, "barriers": one.barriers}
    for side in (one.a, one.b):
        assert isinstance(side.fill, TmaPlan)
        period = side.fill.swizzle.alignment_bytes
        assert side.base % period == side.stage_bytes % period == 0
    assert places.items() <= one.budget.places().items() and one.budget.used <= one.budget.capacity
    assert one.verify().ok


@each("asked", lambda: [*drawn_plans()[:4], *NARROW[:3]], ids=str)
def test_neither_copies_nor_matrices_have_bank_conflicts(asked: dict[str, Any]) -> None:
    one = made(asked)
    assert [side.conflicts() for side in (one.a, one.b)] == [(0, 0), (0, 0)]


def test_without_its_swizzle_a_stage_has_conflicts() -> None:
    one = mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 64), verify=False)
    plain = one.a.layout.inner  # type: ignore[union-attr]
    assert replace(one.a, layout=plain).conflicts()[1] > 0


WHOLE = mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 64), warps=(2, 2), stages=3, verify=False)
SCALED = made(NARROW[0])
MIXED = made(NARROW[3])
SPOILT = {
    "B loaded as A": replace(WHOLE, b=replace(WHOLE.b, load=WHOLE.a.load)),
    "A read elsewhere than copied": replace(WHOLE, a=replace(WHOLE.a, base=512)),
    "B over A": replace(WHOLE, b=replace(WHOLE.b, base=WHOLE.b.base - 1024)),
    "copies of fewer rows": replace(WHOLE, a=replace(WHOLE.a, tile=(64, 64), fill=made({
        "instruction": "mma.m16n8k16", "dtype": "bf16", "tile": (64, 64, 64), "a_major": "MN"}).a.fill)),
    "a group too many under way": replace(WHOLE, pending=2),
    "another swizzle than the engine's": replace(SCALED, a=replace(SCALED.a, layout=SCALED.a.layout.inner)),  # type: ignore[union-attr]
    "factors of other rows": replace(SCALED, scales=replace(SCALED.scales, a_rows=Layout(32, 0))),
    "factors of other columns": replace(SCALED, scales=replace(SCALED.scales, b_rows=Layout((4, 8), (1, 0)))),
    "an element not shifted in its byte": replace(MIXED, b=replace(MIXED.b, shift=0)),
}  # fmt: skip


@each("name", list(SPOILT))
def test_a_plan_that_is_spoilt_is_disproved_with_a_place(name: str) -> None:
    proof = SPOILT[name].verify()
    assert not proof.ok and str(proof).startswith("disproved") and proof.first


def test_selectors_of_threads_that_hold_the_same_do_not_matter() -> None:
    """Lanes t % 4 of 2 and 3 load the factors of A that 0 and 1 load, and all four the same of B."""
    assert SCALED.scales is not None
    assert all(
        replace(SCALED, scales=replace(SCALED.scales, threads=(a, b))).verify().ok for a in (0, 1) for b in (0, 3)
    )


def test_the_warps_lie_as_nvidia_tiles_them() -> None:
    """CuTe DSL 4.8.1, block-scaled atoms in a tiling of 2 x 2 warps whose N is permuted by (8,2,2):(1,16,8)."""
    eight = mma_plan("mma.m16n8k32", "e4m3", tile=(64, 64, 128), scale_vector=32, warps=(2, 2), verify=False)
    assert str(eight.tiled.tv_layout("A")) == "((4,8,2,2),((4,2,2),(1,1))):((128,1,16,0),((32,8,512),(0,0)))"
    assert str(eight.tiled.tv_layout("C")) == "((4,8,2,2),((2,2),(1,2))):((64,1,16,512),((32,8),(0,256)))"


@each(
    "asked, way",
    [
        ({"instruction": "mma.m16n8k8"}, "m16n8k8, and with bf16 only m16n8k16 is supported"),
        ({"tile": (60, 64, 32)}, "tile M is 60.*use tile=\\(48, 64, 32\\) or tile=\\(64, 64, 32\\)"),
        ({"tile": (64, 64, 8)}, "tile K is 8.*use tile=\\(64, 64, 16\\)"),
        ({"tile": (512, 512, 32)}, "use tile=\\(128, 512, 32\\)"),
        ({"stages": 1}, "use stages=2"),
        ({"stages": 50}, "use stages="),
        ({"warps": (3, 1)}, "3x1 warps do not fit the tile 64x64x32; they must divide its 4 x 4 blocks"),
        ({"warps": "2x2"}, "warps is '2x2', not a number of warps along M and one along N"),
        ({"arch": "sm90"}, "use arch='sm80'"),
        ({"arch": "sm70"}, "supported: sm80"),
        ({"d_dtype": "f16"}, "into f16"),
        ({"c_dtype": "e4m3"}, "C is e4m3, .*; supported: f32, bf16, f16"),
        ({"scale_vector": 32}, "bf16 by bf16 has no scale factors for 32 elements; supported: none"),
        *(
            (
                {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (64, 64, 128), "scale_vector": vector},
                f"e2m1 has no scale factors for {vector} elements; supported: ue8m0 for 32, ue4m3 for 16, ue8m0 for "
                "16; use scale_vector=32 or scale_vector=16",
            )
            for vector in (64, 128)
        ),
        (
            {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (64, 64, 128), "scale_vector": 16, "kind": "mxf4"},
            "kind mxf4 has no scale factors for 16 elements; supported: ue8m0 for 32; use scale_vector=32",
        ),
        ({"kind": "mxf9"}, "supported: f8f6f4"),
        ({"dtype": "e4m3", "instruction": None, "arch": "sm80"}, "sm_89 and later"),
        (
            {"dtype": "e3m2", "instruction": None, "tile": (64, 64, 64)},
            "tile K is 64, which is not a multiple of 128, the width of a box of padded e3m2",
        ),
        (
            {"dtype": "e2m1", "instruction": None, "tile": (64, 64, 64)},
            "tile K is 64, which is not a multiple of 128, the elements of the 4 scale factors",
        ),
        (
            {"dtype": "e2m1", "instruction": None, "tile": (64, 64, 128), "a_major": "MN"},
            "A is MN-major, and e2m1 is supported K",
        ),
    ],
)
def test_what_there_is_not_is_refused_with_a_way_out(asked: dict[str, Any], way: str) -> None:
    usual = {"instruction": "mma.m16n8k16", "dtype": "bf16", "tile": (64, 64, 32)}
    with pytest.raises(DescriptorError, match=way):
        mma_plan(**(usual | asked))


@each("asked", lambda: [drawn_plans()[0], drawn_plans()[-1], *NARROW[:1], NARROW[3]], ids=str)
def test_text_and_data_say_the_same(asked: dict[str, Any]) -> None:
    one = made(asked)
    proof = one.verify()
    told, kept = tell(one, steps=True, proof=proof), json.loads(json.dumps(record(one, proof=proof)))
    assert str(proof) in told and kept["proof"]["product"] == str(proof)
    assert kept["instruction"]["ptx"] in told and told.startswith(tell(one).splitlines()[0])
    for side in kept["operands"].values():
        assert side["layout"] in told and side["swizzle"] in told and side["move"] in told
        assert f"{side['conflicts']['copies']} bank conflicts of copies, {side['conflicts']['loads']} of loads" in told
    assert told.isascii() and max(map(len, told.splitlines())) <= 150
