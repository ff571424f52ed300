"""Convolutions planned: simulated beside their definition, refused where no copy gathers them, spoilt ones told."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from gemm_plans import compiled, need_nvcc
from seeds import seeds_of

from descriptors import DescriptorError, Plan, TmaError, check_ptx, plan, tell
from descriptors.gemm.product import empty, fetch
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.smem.tma.convolution import convolution
from descriptors.smem.tma.copy_model import im2col_coordinates, landing_bits
from layoutalg.frozen import replace

SMALL = {"activations": (2, 9, 7, 24), "filters": (12, 3, 2), "stride": (2, 1), "dilation": (1, 2), "padding": (1, 2)}
#: Both operands in boxes of several along K or rows; ragged pixels, filters and channels in all of them.
PLANS: list[dict[str, Any]] = [
    {"instruction": "m64n8k16", "dtype": "bf16", "tile": (64, 8, 32), "stages": 2},
    {"instruction": "m64n8k16", "dtype": "f16", "tile": (128, 16, 128), "stages": 1, "a_swizzle": "64B"},
    {"instruction": "m64n16k8", "dtype": "tf32", "tile": (64, 16, 8), "stages": 3},
    {"instruction": "m64n8k32", "dtype": "e4m3", "tile": (64, 8, 32), "a_swizzle": "none"},
    {"instruction": "m64n8k16", "dtype": "bf16", "tile": (64, 8, 64), "a_source": "registers"},
    {"instruction": "m64n8k16", "dtype": "bf16", "tile": (128, 16, 32), "cluster": (2, 1)},
    {"instruction": "m128n16k16", "dtype": "bf16", "tile": (128, 16, 64), "stages": 2},
    {"instruction": "m256n32k16", "dtype": "bf16", "tile": (256, 32, 64), "cta_group": 2, "stages": 1},
    # Each CTA of the pair has every other run of the rows of B.
    {"instruction": "m256n32k16", "dtype": "bf16", "tile": (256, 96, 64), "cta_group": 2, "stages": 1},
]


def made(asked: dict[str, Any], **changes: Any) -> Plan:
    channels = 32 if asked["dtype"] == "e4m3" else 24
    activations = (*SMALL["activations"][:3], channels)
    return plan(**asked, verify=False, convolution={**SMALL, "activations": activations, **changes})


def by_definition(x: np.ndarray, w: np.ndarray, one: Any) -> np.ndarray:
    """N P Q K, output by output, each term of the sum by its own indices."""
    p_count, q_count = (len(range(0, extent, step)) for extent, step in zip(
        (x.shape[1] + 2 * one.padding[0] - one.dilation[0] * (w.shape[1] - 1),
         x.shape[2] + 2 * one.padding[1] - one.dilation[1] * (w.shape[2] - 1)), one.stride, strict=True))  # fmt: skip
    out = np.zeros((len(x), p_count, q_count, len(w)))
    for n, p, q in np.ndindex(*out.shape[:3]):
        for r, s in np.ndindex(*w.shape[1:3]):
            h = p * one.stride[0] - one.padding[0] + r * one.dilation[0]
            v = q * one.stride[1] - one.padding[1] + s * one.dilation[1]
            if 0 <= h < x.shape[1] and 0 <= v < x.shape[2]:
                out[n, p, q] += w[:, r, s] @ x[n, h, v]
    return out


def gathered(one: Plan, matrix: Any, tensors: dict[bool, np.ndarray], tile: int, step: int) -> np.ndarray:
    """A stage of an operand: copied by its map at the coordinates of a step, then read by its words; one CTA."""
    implicit, side = one.implicit, one.a if matrix == "A" else one.b
    assert implicit is not None
    memory, numbers = empty(), [0.0]
    of_pixels, map_ = matrix == implicit.convolution.operand, implicit.of(matrix)
    tensor = tensors[of_pixels]
    for box in side.boxes:
        row, k = tile * implicit.tile["AB".index(matrix)] + box.origin[0], box.origin[1]
        if of_pixels:
            c, *start, right, down = implicit.place(matrix, step, row, k)
            window: Any = map_.box
            pixels = im2col_coordinates(
                map_.extents[1:-1], window.lower, window.upper, map_.element_strides[1:-1],
                np.array([start]), window.pixels,
            )[0] + np.array([right, down, 0])  # fmt: skip
            places = [(n, h, w) for w, h, n in pixels.tolist()]
            count, width = window.pixels, window.channels
        else:
            c, tap, row = implicit.place(matrix, step, row, k)
            count, width = map_.box[2], map_.box[0]  # type: ignore[index]
            places = [(row + i, tap) for i in range(count)]
        landed = landing_bits((width, count), [side.base + box.offset_bytes], bits=side.derivation.element.bits,
                              swizzle=side.tma.swizzle_code)[0] // 4  # fmt: skip
        for i in range(count * width):
            at = (*places[i // width], c + i % width)
            inside = all(0 <= x < extent for x, extent in zip(at, tensor.shape, strict=True))
            memory[landed[i]] = len(numbers)
            numbers.append(float(tensor[at]) if inside else 0.0)
    bits = [side.transposed] * len(side.k_steps)
    return np.array(numbers)[fetch(memory, side, bits)[0]]


@each("operand", ["A", "B"])
@each("asked", PLANS[:4], ids=lambda one: f"{one['instruction']} {one['dtype']}")
def test_the_tiles_and_steps_of_a_plan_add_up_to_the_convolution(asked: dict[str, Any], operand: str) -> None:
    one = made(asked, operand=operand)
    implicit, rng = one.implicit, np.random.default_rng(3)
    assert implicit is not None
    conv = implicit.convolution
    x = rng.integers(-3, 4, (conv.images, conv.height, conv.width, conv.channels)).astype(float)
    w = rng.integers(-3, 4, (conv.filters, *conv.taps, conv.channels)).astype(float)
    flat = w.reshape(conv.filters, -1, conv.channels)
    got = np.zeros((implicit.tiles[0] * implicit.tile[0], implicit.tiles[1] * implicit.tile[1]))
    for step in range(implicit.steps):
        tensors = {True: x, False: flat}
        rows = [gathered(one, "A", tensors, tile, step) for tile in range(implicit.tiles[0])]
        columns = [gathered(one, "B", tensors, tile, step) for tile in range(implicit.tiles[1])]
        got += np.concatenate(rows) @ np.concatenate(columns).T
    wanted, got = by_definition(x, w, conv), got if operand == "A" else got.T
    assert wanted.shape == (conv.images, *conv.outputs, conv.filters)
    assert (got[: conv.pixels, : conv.filters].reshape(wanted.shape) == wanted).all()
    assert not got[conv.pixels :].any() and not got[:, conv.filters :].any()


@each("operand", ["A", "B"])
@each("asked", PLANS, ids=lambda one: f"{one['instruction']} {one['dtype']}")
def test_a_plan_is_proved_with_its_chain_and_what_its_copies_gather(asked: dict[str, Any], operand: str) -> None:
    one = made(asked, operand=operand)
    proof = one.verify()
    assert proof.ok and proof.gathered is not None and proof.chain is not None
    conv = one.implicit.convolution  # type: ignore[union-attr]
    assert proof.gathered.rows == (conv.pixels + conv.filters) * 6
    assert {link.name for leg in proof.chain.legs[:2] for link in leg.links} >= {"convolution", "tma"}
    assert [leg.wrong for leg in proof.chain.legs] == [()] * len(proof.chain.legs)


@each("operand", ["A", "B"])
def test_a_cta_that_brings_the_runs_of_another_is_told(operand: str) -> None:
    one = made(PLANS[-1], operand=operand, filters=(80, 3, 2))
    assert one.chain.verify().ok
    first, second, third = one.b.tma.boxes
    moved = replace(second, origin=(first.origin[0] + 48, *second.origin[1:]))
    report = replace(one, b=replace(one.b, tma=replace(one.b.tma, boxes=(first, moved, third)))).chain.verify()
    assert [leg.name for leg in report.legs if leg.wrong] == ["B of CTA 0", "B of CTA 1"]


def window(one: Plan, **changes: Any) -> Plan:
    assert one.implicit is not None
    box = replace(one.implicit.a.box, **changes)  # type: ignore[type-var]
    return replace(one, implicit=replace(one.implicit, a=replace(one.implicit.a, box=box)))


def stepped(one: Plan, *steps: int) -> Plan:
    assert one.implicit is not None
    return replace(one, implicit=replace(one.implicit, a=replace(one.implicit.a, element_strides=steps)))


def of_other(one: Plan, **changes: Any) -> Plan:
    """The plan with the steps of another convolution, and its own maps."""
    assert one.implicit is not None
    other = convolution(**{**SMALL, **changes})  # type: ignore[arg-type]
    return replace(one, implicit=replace(one.implicit, convolution=other))


def filters_of(one: Plan, strides: tuple[int, ...]) -> Plan:
    assert one.implicit is not None
    return replace(one, implicit=replace(one.implicit, b=replace(one.implicit.b, strides=strides)))


SPOILT: dict[str, Callable[[Plan], Plan]] = {
    "upper corner": lambda one: window(one, upper=(1, -1)),
    "lower corner": lambda one: window(one, lower=(-1, -1)),
    "corner along H": lambda one: window(one, upper=(0, 1)),
    "stride": lambda one: stepped(one, 1, 2, 2, 1),
    "stride along H": lambda one: stepped(one, 1, 1, 1, 1),
    "taps the other way round": lambda one: of_other(one, filters=(12, 2, 3), dilation=(2, 1), padding=(1, 1)),
    "dilation": lambda one: of_other(one, dilation=(1, 1), padding=(1, 1)),
    "filters r fastest": lambda one: filters_of(one, (2 * 24 * 2, 2 * 24 * 6)),
    "word": lambda one: replace(one, a=replace(one.a, k_steps=(0, 4))),
}


@each("how", SPOILT)
def test_what_is_spoilt_is_disproved_with_the_first_row_that_is_wrong(how: str) -> None:
    one = made(PLANS[0])
    assert one.verify().ok
    proof = SPOILT[how](one).verify()
    assert not proof.ok and str(proof).startswith("disproved: ")
    if how != "word":
        assert "of all tiles and taps are not the convolution's" in str(proof)


@pytest.mark.parametrize("seed", seeds_of("convolutions"))
def test_convolutions_that_are_drawn_are_proved(seed: int) -> None:
    chooser = random.Random(seed)
    for _ in range(25):
        taps = [chooser.randint(1, 5) for _ in range(2)]
        asked = {
            "activations": [chooser.randint(1, 4), chooser.randint(5, 30), chooser.randint(5, 30), 8],
            "filters": [chooser.randint(1, 40), *taps],
            "stride": [chooser.randint(1, 8) for _ in range(2)],
            "dilation": [chooser.randint(1, 4) for _ in range(2)],
            "padding": [chooser.randint(0, 9) for _ in range(2)],
        }
        try:
            one = plan("m64n8k16", "bf16", tile=(64, 8, 16), stages=1, convolution=asked)
        except DescriptorError as error:  # taps that reach too far
            assert "the taps along" in str(error)
            continue
        assert one.implicit is not None and one.implicit.steps == taps[0] * taps[1]


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"stride": 9}, "elementStrides[1] is 9, which is not in [1, 8]"),
    (
        {},
        {"activations": (2, 9, 7, 20)},
        "is 40, but it must be a multiple of 16 and less than 2^40; pad C to 24, with zeros",
    ),
    ({}, {"padding": 129}, "pixelBoxLowerCorner is (-129, -129), which is not in [-128, 127]"),
    ({}, {"activations": (1, 9, 999, 24), "filters": (8, 1, 9), "dilation": 32, "padding": (1, 128)}, "more than 255"),
    ({}, {"filters": (8, 9, 9), "padding": 0}, "taps along W span 17 activations, more than the 7"),
    ({}, {"padding": -1}, "padding is "),
    ({}, {"stride": (1, 2, 3)}, "one number, or two along H and W"),
    ({}, {"filters": (8, 3)}, "filters are (8, 3), not K x R x S"),
    ({"b_major": "MN"}, {}, "B is MN-major, and operands of a convolution are supported K-major only"),
    ({"splits": 9}, {}, "9 splits are more than the 6 steps of the main loop"),
    (
        {"instruction": "m64n8k32", "tile": (64, 8, 128), "sparse": True},
        {},
        "sparse operands of a convolution are not supported, only dense ones",
    ),
]


@each(("options", "changes", "message"), REFUSED, ids=lambda row: str(row))
def test_what_no_copy_can_gather_is_refused_with_the_reason(
    options: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DescriptorError) as error:
        made({**PLANS[0], **options}, **changes)
    assert message in str(error.value)
    assert isinstance(error.value, TmaError) == ("[" in str(error.value) and str(error.value).startswith("tma"))


@pytest.mark.parametrize("value", ["1x9x9x16", {"activations": [1, 9, 9, 16]}, {"taps": 3}, 5])
def test_what_is_no_convolution_is_refused(value: Any) -> None:
    with pytest.raises(DescriptorError, match="is not a convolution; its arguments are activations, filters"):
        plan("m64n8k16", "bf16", tile=(64, 8, 32), convolution=value)


def test_a_convolution_too_large_to_follow_is_refused_with_the_way_out() -> None:
    huge = {"activations": (65536, 99, 99, 16), "filters": (8, 9, 9), "padding": 4}
    with pytest.raises(
        DescriptorError, match="a proof follows at most 268435456; plan it with fewer images, which are all alike"
    ):
        plan("m64n8k16", "bf16", tile=(64, 8, 32), convolution=huge)


def test_pixels_in_b_are_the_same_product_transposed_and_no_program() -> None:
    one = made(PLANS[0], operand="B")
    assert one.implicit is not None and one.implicit.tiles == (1, 12)
    assert "12 filters (1 tile), 90 output pixels (12 tiles)" in tell(one)
    with pytest.raises(DescriptorError, match="has its pixels in B, and programs need them in A"):
        emit_plan(one, "cuda")
    assert "wgmma" in emit_plan(one, "ptx")


def test_the_text_has_both_maps_every_step_and_lines_that_are_not_too_long() -> None:
    text = tell(made(PLANS[0]), steps=True)
    assert "type=BFLOAT16 extents=24x7x9x2 strides=48x336x3024 lower=-2,-1 upper=0,-1" in text
    assert "2 x cp.async" not in text and "1 x cp.async.bulk.tensor.4d ...im2col... full[s]" in text
    assert len([line for line in text.splitlines() if line.strip().endswith(",0)") and "(" in line]) >= 6
    assert not [line for line in text.splitlines() if line.rstrip() != line]


@need_nvcc
@pytest.mark.parametrize(
    ("arch", "asked"),
    [
        ("sm90", PLANS[5]),
        ("sm100", PLANS[6]),
        pytest.param("sm100", PLANS[7], marks=pytest.mark.exhaustive),
    ],
)
def test_programs_compile_without_a_warning_and_our_checker_finds_nothing(
    arch: str, asked: dict[str, Any], tmp_path: Any
) -> None:
    text = emit_plan(made(asked), "cuda", "conv")
    assert compiled(text, arch, tmp_path, "-ptx") == ""
    ptx = (tmp_path / "a.out").read_text()
    assert ".im2col." in ptx
    report = check_ptx(ptx)
    assert (report.findings, report.unresolved) == ((), ())
