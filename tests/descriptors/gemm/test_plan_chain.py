"""The chain of a plan: proved for plans of every kind, and of one that is spoilt it is told which link."""

from __future__ import annotations

from typing import Any

from each import each

from descriptors import plan
from descriptors.tmem.moves import tmem_move
from descriptors.tmem.readout import readout
from layoutalg.frozen import replace

WGMMA = {"instruction": "m64n64k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 2}
PLANS: list[dict[str, Any]] = [
    WGMMA,
    WGMMA | {"a_major": "MN", "b_major": "MN"},
    WGMMA | {"a_source": "registers", "warpgroups": 1},
    WGMMA | {"a_source": "registers", "a_major": "MN"},
    {
        "instruction": "m64n32k32",
        "dtype": "e4m3",
        "tile": (64, 64, 64),
        "stages": 2,
        "a_source": "registers",
        "a_major": "MN",
    },
    WGMMA | {"cluster": (2, 1), "b_swizzle": "32B"},
    {
        "instruction": "m128n64k16",
        "dtype": "f16",
        "tile": (256, 128, 64),
        "stages": 2,
        "arch": "sm100",
        "d_dtype": "f16",
    },
    {"instruction": "m64n64k16", "dtype": "bf16", "tile": (64, 128, 64), "stages": 2, "arch": "sm100"},
    {"instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 2, "cta_group": 2},
    {
        "instruction": "m256n64k32",
        "dtype": "e2m3",
        "tile": (256, 64, 128),
        "stages": 2,
        "cta_group": 2,
    },
    {
        "instruction": "m128n128k64",
        "dtype": "e2m1",
        "tile": (128, 128, 256),
        "stages": 2,
        "kind": "mxf4nvf4",
        "scale_vector": 16,
    },
]


@each("options", PLANS, ids=lambda one: f"{one['instruction']} {one['dtype']}")
def test_the_chain_of_a_plan_is_proved_from_global_memory_to_global_memory(options: dict[str, Any]) -> None:
    one = plan(**options, verify=False)
    report = one.chain.verify()
    assert report.ok, report.headline
    m, n, k = options["tile"]
    ctas = options.get("cta_group", 1)
    wanted = {"A": m // ctas * k * 2, "B": n // ctas * k * 2, "D": m // ctas * n}
    wanted |= {"SFA": m // ctas * k // 16, "SFB": n * k // 16}  # of the plan whose 16 elements share a factor
    names = [leg.name.partition(" ")[0] for leg in report.legs]
    factors = ["SFA", "SFA", "SFB", "SFB"] if one.scales is not None else []
    assert names == ["A"] * ctas + ["B"] * ctas + factors + ["D"]
    assert [leg.elements for leg in report.legs] == [wanted[name] for name in names]
    assert not report.missing
    assert all(link.verdict == "moves" or link.compared for leg in report.legs for link in leg.links[2:])


def spoilt() -> list[tuple[str, Any, str, str]]:
    """What is changed, the plan, the leg and the link that are then wrong."""
    one = plan(**WGMMA, verify=False)
    tensor = plan(**PLANS[6], verify=False)
    boxes = one.b.tma.boxes
    swapped = replace(boxes[0], offset_bytes=boxes[-1].offset_bytes), replace(boxes[-1], offset_bytes=0)
    other = replace(one.b, tma=replace(one.b.tma, boxes=(swapped[0], *boxes[1:-1], swapped[1])))
    quads = readout(tensor.accumulators.readout.fragment, "16x256b")  # type: ignore[union-attr]
    other_shape = replace(quads, move=tmem_move("16x128b.x16"))
    return [
        ("a step", replace(one, a=replace(one.a, k_steps=(0, 2, 4, 8))), "A", "word"),
        ("a stage", replace(one, b=replace(one.b, stage_steps=(0, 64))), "B", "word"),
        ("the bit", replace(one, a=replace(one.a, transposed=1)), "A", "word"),
        ("the word", replace(one, b=replace(one.b, word=one.b.word ^ 1 << 62)), "B", "word"),
        ("a box", replace(one, b=other), "B", "layout"),
        ("the place", replace(one, a=replace(one.a, base=1024)), "A", "word"),
        ("a column", replace(tensor, accumulators=replace(tensor.accumulators, firsts=(0, 64, 128, 256))), "D", ""),
        ("a load", replace(tensor, accumulators=replace(tensor.accumulators, readout=quads)), "D", ""),
        ("its shape", replace(tensor, accumulators=replace(tensor.accumulators, readout=other_shape)), "D", "store"),
    ]


@each(("what", "one", "leg", "link"), spoilt(), ids=lambda one: one if isinstance(one, str) else "")
def test_of_a_plan_that_is_spoilt_the_link_is_told(what: str, one: Any, leg: str, link: str) -> None:
    report = one.chain.verify()
    if not link:  # the accumulators lie elsewhere, or are loaded otherwise, and the plan knows it: that is no fault
        assert report.ok, report.headline
        return
    assert report.verdict == "wrong"
    assert [(found.name, found.links[found.wrong[0]].name) for found in report.legs if found.wrong] == [(leg, link)]
    # The simulation of the product knows loads of the shape 32x32b alone.
    assert what == "its shape" or not one.verify().ok
