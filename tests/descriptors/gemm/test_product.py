"""The proof of a whole product: right plans give it, on a toy machine too; spoilt ones are refuted with an element."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import toy_gpu
from each import each
from seeds import seeds_of

from descriptors import DescriptorError, Plan, plan, record
from layoutalg import Fragment, Layout

WIDTH = {"bf16": 2, "f16": 2, "tf32": 4, "e4m3": 1, "s8": 1}


def random_arguments(rng: random.Random) -> dict[str, Any]:
    """A small legal plan of sm90, of one or two blocks along each direction."""
    dtype = rng.choice(list(WIDTH))
    k, n = 32 // WIDTH[dtype], rng.choice([8, 16, 24, 32])
    wide = WIDTH[dtype] == 2
    return {
        "instruction": f"m64n{n}k{k}",
        "dtype": dtype,
        "tile": (64, n * rng.choice([1, 2]), k * rng.choice([1, 2, 4])),
        "stages": rng.choice([1, 2]),
        "arch": "sm90",
        "a_major": rng.choice(["K", "MN"]) if wide else "K",
        "b_major": rng.choice(["K", "MN"]) if wide else "K",
    }


def check_on_toy_machine(loop_plan: Plan) -> None:
    """Whether the toy machine, which knows the JSON alone, gives the product."""
    m, n, k = loop_plan.asked.tile
    rng = random.Random(7)
    a, b = (
        [[[rng.randint(-9, 9) for _ in range(k)] for _ in range(rows)] for _ in range(loop_plan.stages)]
        for rows in (m, n)
    )
    sums = toy_gpu.accumulators(record(loop_plan), a, b, WIDTH[loop_plan.asked.a.name])
    for (row, column), value in sums.items():
        assert value == sum(a[s][row][q] * b[s][column][q] for s in range(loop_plan.stages) for q in range(k))


@pytest.mark.parametrize("seed", seeds_of("test_random_legal_plans_give_the_product_on_a_toy_machine_too"))
def test_random_legal_plans_give_the_product_on_a_toy_machine_too(seed: int) -> None:
    rng, count = random.Random(seed), 0
    while count < 6:
        arguments = random_arguments(rng)
        for name in ("a_swizzle", "b_swizzle"):
            arguments[name] = rng.choice(["none", "32B", "64B", "128B", None])
        try:
            loop_plan = plan(**arguments)
        except DescriptorError as error:
            assert "multiple" in str(error) or "box" in str(error), error  # a swizzle wider than the tile
            continue
        count += 1
        assert loop_plan.verify(seed % 1000).ok
        check_on_toy_machine(loop_plan)


SPOILT: dict[str, tuple[Callable[[Plan], Plan], str]] = {
    "a transpose bit": (
        lambda one: replace(one, b=replace(one.b, transposed=0)),
        r"D\(0,0\) is .* instead of -?\d+: B\(0,1\) of stage 0 is read from byte \d+, where B\(1,0\) of stage 0 is",
    ),
    "the other transpose bit": (
        lambda one: replace(one, a=replace(one.a, transposed=1)),
        r"D\(\d+,\d+\) is .* instead of .*: A\(\d+,\d+\) of stage 0 is read from byte",
    ),
    "a word": (lambda one: replace(one, a=replace(one.a, word=one.a.word + (1 << 32))), r": A\(8,0\) of stage 0"),
    "the swizzle of a word": (
        lambda one: replace(one, a=replace(one.a, word=one.a.word ^ 3 << 62)),
        r": A\(\d+,\d+\) of stage 0",
    ),
    "a step of K": (
        lambda one: replace(one, a=replace(one.a, k_steps=(0, 2, 4, 8))),
        r": A\(0,48\) of stage 0 is read from byte 1\d+, where A\(1,0\) of stage 0 is",
    ),
    "a step of M": (lambda one: replace(one, a=replace(one.a, mn_steps=(0, 0))), r"A\(64,0\) .* where A\(0,0\) of"),
    "a step of the stages": (
        lambda one: replace(one, b=replace(one.b, stage_steps=(0, 0))),
        r": B\(0,0\) of stage 1 is read from byte \d+, where B\(0,0\) of stage 0 is",
    ),
    "the base of an operand": (lambda one: replace(one, b=replace(one.b, base=0)), r"where B\(\d+,\d+\) of|no element"),
    "a box": (
        lambda one: replace(one, a=replace(one.a, tma=replace(one.a.tma, boxes=one.a.tma.boxes[:1]))),
        r": A\(0,0\) of stage 1 is read from byte 16384, where no element is",
    ),
    "the registers": (
        lambda one: replace(one, accumulators=replace(one.accumulators, fragment=TURNED)),
        r"its operands are read right, the accumulator is not",
    ),
}
#: Each thread's registers in the wrong order.
TURNED = Fragment("wrong", (64, 128), Layout(((4, 8, 4), (2, 2, 16)), ((128, 1, 16), (8, 64, 512))))


@each("name", SPOILT)
def test_a_spoilt_plan_is_refuted_with_an_element(name: str) -> None:
    loop_plan = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=2, b_major="MN")
    spoil, reason = SPOILT[name]
    product = spoil(loop_plan).verify()
    assert not product.ok and product.differing
    assert str(product).startswith("disproved: 128x128x64 product, 2 stages, ")
    assert re.search(reason, str(product)), str(product)


def test_spoilt_plans_of_blackwell_are_refuted() -> None:
    loop_plan = plan("m128n64k64", "e2m1", tile=(128, 64, 256), stages=2, kind="mxf4")
    assert loop_plan.scales is not None and loop_plan.verify().ok
    pointers = ((loop_plan.scales.pointers[1][0], loop_plan.scales.pointers[0][1]), *loop_plan.scales.pointers[1:])
    wrong = replace(loop_plan, scales=replace(loop_plan.scales, pointers=pointers)).verify()
    assert "factor (0,0) of A in stage 0 is not the one that its pointer reaches" in str(wrong)
    turned = plan("m128n64k16", "bf16", tile=(128, 64, 64), stages=1, b_major="MN")
    words = tuple(word & ~(1 << 16) for word in turned.line.idescs)
    assert "B(" in str(replace(turned, line=replace(turned.line, idescs=words)).verify())


PAIR = {"instruction": "m256n64k16", "dtype": "bf16", "tile": (256, 128, 64), "cta_group": 2, "stages": 1}
SPOILT_PAIRS: dict[str, Callable[[Plan], Plan]] = {
    "each CTA holds one half of the tile's N": lambda one: replace(one, b=replace(one.b, run=64)),
    "the halves of the whole tile's boxes": lambda one: replace(
        one, b=replace(one.b, tma=plan(**{**PAIR, "instruction": "m256n128k16"}, verify=False).b.tma)
    ),
    "a step of N": lambda one: replace(one, b=replace(one.b, mn_steps=(0, 0))),
    "the blocks of N in the other order": lambda one: replace(one, b=replace(one.b, mn_steps=one.b.mn_steps[::-1])),
}


@pytest.mark.parametrize("name", SPOILT_PAIRS)
def test_a_pair_that_holds_other_rows_of_b_is_refuted(name: str) -> None:
    loop_plan = plan(**PAIR, verify=False)
    product = SPOILT_PAIRS[name](loop_plan).verify()
    assert loop_plan.verify().ok and not product.ok
    assert re.search(r": B\(\d+,0\) of stage 0 is read from byte \d+, where B\(\d+,0\)", str(product)), str(product)


def test_blocks_that_take_the_factors_of_another_are_refuted() -> None:
    loop_plan = plan("m128n64k64", "e2m1", tile=(256, 128, 128), stages=1, kind="mxf4nvf4", verify=False)
    assert loop_plan.scales is not None and loop_plan.verify().ok and loop_plan.scales.steps == ((0, 4), (0, 2))
    for steps, name in ((((0, 0), (0, 2)), "(128,0) of A"), (((0, 4), (0, 4)), "(64,0) of B")):
        wrong = replace(loop_plan, scales=replace(loop_plan.scales, steps=steps)).verify()
        assert f"factor {name} in stage 0 is not the one that its pointer reaches" in str(wrong)


def test_the_proof_of_the_operands_is_part_of_the_proof() -> None:
    loop_plan = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
    assert [str(one) for one in loop_plan.verify().operands] == [
        "proved: 4096 elements in 4 subtiles",
        "proved: 512 elements in 4 subtiles",
    ]
    wrong = replace(
        loop_plan.a.derivation, descriptor=replace(loop_plan.a.derivation.descriptor, stride_byte_offset=16)
    )
    assert not replace(loop_plan, a=replace(loop_plan.a, derivation=wrong)).verify().ok
