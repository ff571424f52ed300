"""What a plan says of its limits is what its program has: shared memory, registers, support by ``--emit cuda``."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest

from descriptors import DescriptorError, plan, record, tell
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.emit_plan import emit_plan

TYPES = (("bf16", 16), ("f16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32))
OPTIONS: dict[str, tuple[Any, ...]] = {
    "a_major": ("MN",), "b_major": ("MN",), "a_swizzle": ("none", "32B", "64B"), "b_swizzle": ("none", "64B"),
    "warpgroups": (1, 2, 3, 4), "a_source": ("registers",), "cluster": ((2, 1), (1, 2), (2, 2)),
    "cta_group": (2,), "c_dtype": ("bf16", "f16"), "store": ("tma",), "splits": (2,), "terms": (("bias",),),
    "accumulators": (2,), "sparse": (True,), "scale_vector": (16, 32, 128), "d_dtype": ("f16",), "stages": (1, 3),
}  # fmt: skip
CONVOLUTION = {"activations": (2, 16, 16, 64), "filters": (64, 3, 3), "padding": 1}


def drawn(chooser: random.Random) -> dict[str, Any]:
    """Arguments of a plan that there may be."""
    dtype, k = chooser.choice((*TYPES, ("e2m1", 64)))
    arch = "sm90" if chooser.random() < 0.6 and dtype != "e2m1" else chooser.choice(("sm100", "sm103"))
    m = 64 if arch == "sm90" else chooser.choice((64, 128, 128))
    n = chooser.choice((8, 16, 24, 32, 48, 64, 96, 128, 192, 256))
    k = 96 if arch == "sm103" and dtype == "e2m1" and chooser.random() < 0.5 else k
    asked: dict[str, Any] = {"dtype": dtype, "arch": arch}
    for name in chooser.sample(sorted(OPTIONS), chooser.choice((0, 1, 1, 2, 3))):
        asked[name] = chooser.choice(OPTIONS[name])
    k *= 2 if "sparse" in asked else 1
    m *= asked.get("cta_group", 1)
    blocks = chooser.choice((1, 1, 2, 3)), chooser.choice((1, 1, 2)), chooser.choice((1, 2, 4))
    if chooser.random() < 0.1:
        asked["convolution"] = CONVOLUTION | {"operand": chooser.choice("AB")}
    return asked | {"instruction": (m, n, k), "tile": (m * blocks[0], n * blocks[1], k * blocks[2])}


@lru_cache(maxsize=1)
def plans() -> list[tuple[dict[str, Any], Plan]]:
    """Accepted plans, with what was asked."""

    def accepted() -> Iterator[tuple[dict[str, Any], Plan]]:
        chooser = random.Random(23)
        for asked in (drawn(chooser) for _ in range(450)):
            try:
                yield asked, plan(**asked, verify=False)
            except DescriptorError:
                continue

    return list(accepted())


def test_most_kinds_of_plans_are_drawn() -> None:
    assert len(plans()) > 100
    kept = [asked for asked, _ in plans()]
    assert {name for name in OPTIONS if any(name in asked for asked in kept)} == set(OPTIONS)


def test_a_plan_is_written_as_a_program_or_says_why_not() -> None:
    refused = 0
    for asked, made in plans():
        reason = record(made)["cuda_refusal"]
        first = "\n".join(tell(made).splitlines()[:4])
        try:
            text = emit_plan(made, "cuda")
        except DescriptorError as error:
            refused += 1
            assert reason is not None and reason in str(error), (asked, error)
            for one in error.advice:
                assert emit_plan(made, one.changes["language"])
            assert f"--emit cuda does not support this plan: {reason}" in first
            continue
        assert reason is None and "does not support" not in first, asked
        assert "__global__" in text
    assert refused > 5


def test_a_language_that_is_refused_is_advised_with_one_that_is_written() -> None:
    advised = 0
    for _, made in plans():
        try:
            emit_plan(made, "ptx")
        except DescriptorError as error:
            for one in error.advice:
                assert emit_plan(made, one.changes["language"])
                advised += 1
    assert advised > 5


def shared_bytes(text: str) -> int:
    """The shared memory that a program asks for."""
    return int(re.findall(r"(?:SHARED_BYTES|SHARED_BYTES) = (\d+)", text)[0])


def test_the_bytes_of_a_plan_are_those_of_its_program_and_the_least_that_it_is_accepted_with() -> None:
    padded = 0
    for asked, made in plans():
        used, stages = made.budget.used, made.stages
        if record(made)["cuda_refusal"] is None:
            assert shared_bytes(emit_plan(made, "cuda")) == used, asked
        padded += sum(size for _, size in made.budget.parts) * stages != made.barriers
        same = plan(**asked | {"stages": stages}, smem=max(1024, used), verify=False)
        assert same.budget.used == used
        assert plan(**{**asked, "stages": None}, smem=max(1024, used), verify=False).stages >= stages
        if used > 1024:
            with pytest.raises(DescriptorError, match="bytes of shared memory"):
                plan(**asked | {"stages": stages}, smem=used - 1, verify=False)
    assert padded > 10


def test_the_stages_that_fit_are_the_most_that_fit() -> None:
    for asked, made in plans()[::4]:
        most = made.budget.most_stages
        if most < 64:
            with pytest.raises(DescriptorError, match="bytes of shared memory"):
                plan(**asked | {"stages": most + 1}, verify=False)
        assert plan(**asked | {"stages": min(most, 64)}, verify=False).budget.used <= made.budget.capacity


def test_the_registers_of_a_plan_are_those_of_its_program() -> None:
    counted = 0
    for _, made in plans():
        kept = record(made)["register_budget"]
        if made.asked.arch != "sm90":
            assert kept is None
            continue
        text = emit_plan(made, "cuda") if record(made)["cuda_refusal"] is None else ""
        assert kept["launch"] == min(255, 65536 // kept["threads"] // 8 * 8)
        assert sum(role["threads"] for role in kept["roles"]) == kept["threads"]
        assert sum(role["threads"] * role["registers"] for role in kept["roles"]) == kept["used"] <= kept["pool"]
        if found := re.findall(r"(?:COPY|MULTIPLY)_REGISTERS = (\d+)", text):
            assert list(map(int, found)) == [role["registers"] for role in kept["roles"]]
            assert f"THREADS = {kept['threads']};" in text
            counted += 1
        assert f"{kept['threads']} threads with {kept['launch']} at launch" in tell(made)
        assert f"a pool of {kept['pool']}" in tell(made, steps=True)
    assert counted > 20


def test_a_plan_whose_program_has_no_registers_is_refused() -> None:
    with pytest.raises(DescriptorError, match="128 registers a thread and 26 others, a thread has 128 at launch"):
        plan("m64n256k16", "bf16", tile=(192, 256, 64), arch="sm90", verify=False)


def test_padding_is_counted_once() -> None:
    """The end of B, of 32 bytes, is followed by the barriers at the next multiple of 1024."""
    made = plan("m64n8k16", "bf16", tile=(64, 8, 16), stages=1, smem=4096, arch="sm90", verify=False)
    assert (made.a.base, made.b.base, made.barriers, made.budget.used) == (0, 2048, 3072, 3088)


@pytest.mark.parametrize(("arch", "capacity"), [("sm90", 232448), ("sm100", 232448), ("sm107", 334848)])
def test_the_default_shared_memory_is_that_of_the_architecture(arch: str, capacity: int) -> None:
    m = 64 if arch == "sm90" else 128
    assert plan(f"m{m}n128k16", "bf16", tile=(128, 128, 64), arch=arch, verify=False).budget.capacity == capacity
    with pytest.raises(DescriptorError, match=f"plan: shared memory is {capacity + 1}, but the maximum is {capacity}"):
        plan(f"m{m}n128k16", "bf16", tile=(128, 128, 64), arch=arch, smem=capacity + 1, verify=False)
