"""The story of a kernel, against what its source says."""

from __future__ import annotations

import re

import pytest
from kernels import kernels
from ring_kernels import ring_sm90

from descriptors.check.story import explain_ptx

PRODUCTS = [name for name in kernels() if name.startswith("product_")]


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_reads_the_tiles_of_its_source(name: str) -> None:
    found = re.match(r"product_(\w+)_(\d+)x(\d+)x(\d+)_(n[nt])_sm(\d+)", name)
    assert found is not None
    m, n, k = map(int, found.groups()[1:4])
    (kernel,) = explain_ptx(kernels()[name]).kernels
    for one in kernel.accumulations:
        assert one.shape[2] * len(one.lines) == k
        assert m % one.shape[0] == 0 and n % one.shape[1] == 0
    major = "K-major" if found[5] == "nt" else "MN-major"
    assert all(major in one.operands[1] for one in kernel.accumulations)
    assert any(one.in_loop for one in kernel.accumulations)
    if found[6] == "90":
        assert kernel.in_flight == 2
    else:
        # An accumulator of 32 bits has a column for each of N in each 128 rows of M, the whole a power of two.
        assert kernel.columns == (max(32, n * max(1, m // 128)),)


def test_attention_has_its_second_left_side_in_registers_or_tensor_memory() -> None:
    for target, place in (("sm90", "A in registers"), ("sm100", "A in tensor memory")):
        (kernel,) = explain_ptx(kernels()[f"attention_128x64x64_{target}"]).kernels
        assert any(one.operands[0] == place for one in kernel.accumulations)
        assert any("shared memory" in one.operands[0] for one in kernel.accumulations)


def test_scale_factors_have_their_kind() -> None:
    (kernel,) = explain_ptx(kernels()["scaled_e2m1_64_sm100"]).kernels
    assert all("kind::mxf4" in one.opcode and one.shape[2] == 64 for one in kernel.accumulations)


def test_the_rings_of_a_kernel_are_told_with_the_warps_that_use_them() -> None:
    (kernel,) = explain_ptx(ring_sm90(3)).kernels
    full, empty = kernel.rings
    assert (full.stages, full.count, full.bytes) == (3, 1, (16384,))
    assert (empty.stages, empty.count, empty.bytes) == (3, 128, ())
    roles = [[(use.what, use.warps) for use in ring.uses] for ring in (full, empty)]
    assert roles == [
        [("bytes expected", (4,)), ("copies", (4,)), ("waits", (0, 1, 2, 3))],
        [("arrivals", (0, 1, 2, 3)), ("waits", (4,))],
    ]
    assert "3 from [smem+49152]: 1 arrival, 16384 bytes a phase" in str(explain_ptx(ring_sm90(3)))


@pytest.mark.parametrize(
    "opcode", ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"]
)
def test_the_multiplications_of_a_warp_are_part_of_the_story(opcode: str) -> None:
    text = f".version 8.8\n.target sm_80\n.entry k() {{\n{opcode} {{a}}, {{b}}, {{c}}, {{d}};\n ret;\n}}"
    story = explain_ptx(text)
    assert story.headline == "sm_80: 1 function with tensor-core instructions"
    assert [kernel.warp_multiplications for kernel in story.kernels] == [((opcode, (4,)),)]
    assert f"1 x {opcode}, line 4" in str(story)
