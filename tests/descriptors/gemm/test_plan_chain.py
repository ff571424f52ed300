"""The chain of a plan: proved for plans of every kind, and of one that is spoilt it is told which link."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from each import each
from seeds import seeds_of

from descriptors import plan
from descriptors.gemm.epilogue import Pieces
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
    scaled = plan(**PLANS[10] | {"stages": 1}, verify=False)
    assert scaled.scales is not None
    pointers = scaled.scales.pointers
    other_pointer = replace(scaled.scales, pointers=((pointers[1][0], pointers[0][1]), *pointers[1:]))
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
        ("a pointer", replace(scaled, scales=other_pointer), "SFA of stage 0", "factors"),
        (
            "their place",
            replace(scaled, scales=replace(scaled.scales, columns=(128, 148))),
            "SFB of stage 0",
            "factors",
        ),
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


# C through shared memory ----------------------------------------------------------------------------------------------

STAGED = WGMMA | {"instruction": "m64n128k16", "tile": (64, 128, 64), "c_dtype": "bf16"}


@each(
    ("change", "legs"),
    [
        ({}, 2),
        ({"c_dtype": "e4m3"}, 1),
        ({"c_dtype": None, "store": "tma"}, 4),
        ({"tile": (128, 256, 64)}, 8),
        ({"splits": 3, "c_dtype": None}, 4),
        ({"dtype": "f16", "d_dtype": "f16", "c_dtype": None, "store": "tma"}, 2),
    ],
)
def test_every_piece_of_c_is_a_leg_and_so_is_the_matrix_that_is_added(change: dict[str, Any], legs: int) -> None:
    one = plan(**STAGED | change, verify=False)
    report = one.chain.verify()
    assert report.ok, report.headline
    pieces = [leg for leg in report.legs if leg.name.startswith("D")]
    m, n, _ = one.asked.tile
    assert len(pieces) == legs and sum(leg.elements for leg in pieces) == m * n
    assert [link.name for link in pieces[0].links if link.verdict == "proved"] == ["layout", "tensor"]
    if one.asked.d == "f32" and "splits" not in change:
        added = plan(**STAGED | change, terms=("alpha-beta",), verify=False).chain.verify()
        assert added.ok and [leg.elements for leg in added.legs if leg.name == "C"] == [m * n]


class Astray(Pieces):
    """Pieces of which one thread points ``stmatrix`` elsewhere."""

    wrong: ClassVar[dict[int, tuple[int, int]]] = {}

    def pointer(self, thread: int) -> tuple[int, int]:
        return self.wrong.get(thread, super().pointer(thread))


def stored(pointers: dict[int, tuple[int, int]], first: int) -> dict[int, tuple[int, int]]:
    """Byte to the element that lies there once stmatrix.x4 has run: 64 rows of 128 bytes, 128B, by PTX's figures."""
    memory = {}
    for group in range(4):
        for warp in range(4):
            for lane in range(32):
                for register in range(4):
                    row, column = pointers[32 * warp + 8 * register + lane // 4]
                    begin = 128 * row + 2 * (column + 16 * group)
                    for half in (0, 1):
                        value = first // 2 + 8 * group + 2 * register + half
                        element = (
                            16 * warp + lane // 4 + 8 * (value // 2 % 2),
                            8 * (value // 4) + 2 * (lane % 4) + half - first,
                        )
                        byte = (begin ^ (begin // 128 % 8) << 4) + 4 * (lane % 4) + 2 * half
                        memory[byte] = element
    return memory


@each("number", range(6))
@each("seed", seeds_of("pieces of C"))
def test_a_thread_that_points_elsewhere_is_found_with_the_element_that_lies_there(seed: int, number: int) -> None:
    rng = random.Random(f"{seed} {number}")
    made = plan(**STAGED, verify=False)
    assert made.epilogue.staged is not None
    right = made.epilogue.staged
    thread = rng.randrange(128)
    row, column = right.pointer(thread)
    other = rng.choice([(row ^ 1, column), (row, column ^ 8), (row ^ 32, column), right.pointer(rng.randrange(128))])
    one = Astray(right.type, right.columns, right.writers, right.base)
    Astray.wrong = {thread: other}
    spoilt_plan = replace(made, epilogue=replace(made.epilogue, staged=one))
    legs = [leg for leg in spoilt_plan.chain.verify().legs if leg.name.startswith("D")]
    assert len(legs) == 2
    for leg, first in zip(legs, (0, 64), strict=True):
        memory = stored({t: one.pointer(t) for t in range(128)}, first)
        taken = {(r, c): 128 * r + 2 * c ^ r % 8 << 4 for r in range(64) for c in range(64)}
        wrong = sorted(element for element, byte in taken.items() if memory.get(byte) != element)
        assert bool(leg.wrong) is bool(wrong) is (other != (row, column))
        if wrong:
            found = leg.links[leg.wrong[0]].first
            assert leg.links[leg.wrong[0]].name == "layout" and found is not None
            lies = memory.get(taken[wrong[0]])
            assert (found.element, found.other) == (wrong[0], "" if lies is None else f"({lies[0]},{lies[1]})")
            assert leg.links[leg.wrong[0]].differing == len(wrong)
