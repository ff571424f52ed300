"""A factor for 128 elements on sm90: accumulators are promoted, scaled, added; factors packed as they are loaded."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

from descriptors import (
    DescriptorError,
    a_scale_layout,
    answers,
    b_scale_layout,
    emit_plan,
    pack_a_scales,
    plan,
    unpack_a_scales,
)
from descriptors.gemm.promotion import Promotion
from layoutalg import fragment
from layoutalg.frozen import replace
from probes.main_loops import drawn

PLAN: dict[str, Any] = {
    "instruction": "m64n64k32", "dtype": "e4m3", "tile": (128, 128, 128), "stages": 2, "scale_vector": 128,
}  # fmt: skip


@each("one", [PLAN, *drawn(6, 3, promoted=True)], ids=str)
def test_the_sums_are_the_scaled_product(one: dict[str, Any]) -> None:
    made = plan(**one)
    assert made.verify(seed=5).ok
    assert made.promotion is not None
    assert made.promotion.blocks * 32 == 128
    assert made.accumulators.registers == made.promotion.registers  # type: ignore[union-attr]


class Along(Promotion):
    """Factors of A that are read as a quantizer leaves them: a row of them for each row of A."""

    def places(self, m: int, n: int, k: int) -> tuple[list[int], list[int]]:
        return [row * (k // 128) for row in range(m)], Promotion.places(self, m, n, k)[1]


class Other(Promotion):
    """The next factor of B is taken to lie a row of blocks on."""

    def step(self, m: int) -> tuple[int, int]:
        return Promotion.step(self, m)[0], 0


@pytest.mark.parametrize("wrong", [Along, Other])
def test_factors_read_elsewhere_are_no_scaled_product(wrong: type[Promotion]) -> None:
    made = plan(**PLAN)
    assert made.promotion is not None
    names = ("fragment", "registers", "groups", "blocks", "a_loads", "b_loads")
    spoilt = wrong(**{name: getattr(made.promotion, name) for name in names})
    assert not replace(made, promotion=spoilt).verify().ok


def test_a_thread_that_takes_other_rows_to_be_its_own_scales_them_wrong() -> None:
    made = plan(**PLAN)
    turned = replace(made.accumulators, fragment=fragment("wgmma.m64n64k16.D.f32"))  # type: ignore[type-var]
    assert replace(made, accumulators=turned).verify().ok  # the same map under another name
    with pytest.raises(DescriptorError, match=r"the accumulators are f16, .* needs f32 accumulators"):
        plan(**{**PLAN, "d_dtype": "f16"})


@pytest.mark.parametrize(("m", "k"), [(1, 128), (5, 256), (130, 384), (256, 130)])
def test_packed_factors_of_a_lie_as_the_layout_says(m: int, k: int) -> None:
    groups = -(-k // 128)
    scales = np.arange(m * groups).reshape(m, groups)
    packed = pack_a_scales(scales)
    assert (unpack_a_scales(packed, m) == scales).all()
    layout = a_scale_layout(m, k)
    assert packed.shape[1] * 4 % 16 == 0
    assert all(packed.ravel()[layout(row, at)] == scales[row, at // 128] for row in range(m) for at in range(0, k, 64))
    of_b = b_scale_layout(256, k)
    assert [of_b(129, at) for at in range(0, k, 128)] == [groups + i for i in range(groups)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"tile": (128, 128, 64)},
            "tile K is 64, which is not a multiple of the 128 elements.*use tile=\\(128, 128, 128\\)",
        ),
        ({"instruction": "m64n96k32", "tile": (128, 96, 128)}, "must divide 128 or be its multiple"),
        (
            {"tile": (192, 128, 128), "warpgroups": 1},
            "their sums and factors need 398 registers.*at most 255; use warpgroups=3",
        ),
        (
            {"scale_vector": 32, "arch": "sm90"},
            "scale_vector 32 is not supported for e4m3 by e4m3 on sm90; use scale_vector=128, scale_dtype='f32'",
        ),
        (
            {"dtype": "bf16", "instruction": "m64n64k16", "arch": "sm90"},
            "scale_vector 128 is not supported for bf16 by bf16 on sm90",
        ),
        (
            {"sparse": True, "instruction": "m64n64k64"},
            "A is sparse, and scale factors on sm90 are supported for dense A only; use scale_vector=None",
        ),
    ],
)
def test_what_cannot_be_promoted_is_refused_with_the_way_out(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        plan(**{**PLAN, **change})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pack_a_scales([1, 2]), r"shape \(2,\) of int64, not a matrix of numbers"),
        (lambda: pack_a_scales([["a"]]), r"shape \(1, 1\) of <U1, not a matrix of numbers"),
        (lambda: unpack_a_scales([[1, 2, 3]], 3), "each row has 3 factors, and 3 rows of A are padded to 4"),
        (lambda: a_scale_layout(0, 128), "M is "),
    ],
)
def test_what_are_no_factors_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()


def test_the_text_and_the_data_say_how_often_and_from_where() -> None:
    made = plan(**PLAN, verify=False)
    told, kept = answers.tell(made, steps=True), answers.record(made)
    assert "promoted every 4 K blocks" in told
    assert "4 ceil(M / 4) (k / 128)" in told
    assert kept["promotion"] == {
        "dtype": "f32", "vector": 128, "registers": 64, "groups": 1, "blocks": 4, "a_loads": 2, "b_loads": 2,
    }  # fmt: skip
    with pytest.raises(
        DescriptorError, match=r"an inner loop that promotes accumulators.*not supported; use language='cuda'"
    ):
        emit_plan(made, "ptx")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not there")
def test_the_kernel_assembles_and_is_not_serialized(tmp_path: Path) -> None:
    source = tmp_path / "gemm.cu"
    source.write_text(emit_plan(plan(**PLAN, verify=False), "cuda"), encoding="utf-8")
    words = ["nvcc", "-std=c++17", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-DLAYOUTALG_NO_MAIN", "-cubin"]
    done = subprocess.run([*words, "-o", str(tmp_path / "x"), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "C75" not in done.stderr
