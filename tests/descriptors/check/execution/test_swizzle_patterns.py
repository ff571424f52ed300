"""Where a swizzle pattern starts: base offsets, 32-byte atoms of K-major operands, arrays that may be misaligned."""

from __future__ import annotations

import pytest
from each import each
from ring_kernels import SM90_WORD, SM100_WORD, ring_sm90, ring_sm100, tensor_ring_sm90

from descriptors import check_ptx, derive, diff
from descriptors.check.kernel_report import Report
from descriptors.errors import DescriptorError
from descriptors.smem.debug.candidates import candidates

BOXES = {"2": "64x64xbf16", "3": "64x64xbf16"}
SHIFTED = SM90_WORD | 1 << 49


def undecided(report: Report) -> set[str]:
    return {item.what for item in report.undecided if item.property == "words"}


def test_a_base_offset_that_contradicts_the_start_is_an_error_of_a_tile_that_tensor_copies_fill() -> None:
    right, wrong = tensor_ring_sm90(), tensor_ring_sm90().replace(str(SM90_WORD), str(SHIFTED))
    assert wrong != right
    assert not check_ptx(right, tensor_maps=BOXES).findings
    report = check_ptx(wrong, tensor_maps=BOXES)
    assert [(error.rule.name, error.line) for error in report.errors] == [
        ("word-smem", one.line) for one in report.errors
    ]
    assert len(report.errors) == 4 and all(" of A and " in one.found and " of B " in one.found for one in report.errors)
    assert not undecided(report)
    tile = derive((64, 64), "bf16", "K", "128B", (64, 16), arch="sm90").smem_tile
    read = {"dtype": "bf16", "major": "K", "shape": (64, 16), "subtile": (0, 0), "base": 0}
    assert diff(SHIFTED, tile, "sm90", **read).verdict == "different"
    assert diff(SM90_WORD, tile, "sm90", **read).verdict == "same"


def test_a_base_offset_that_contradicts_the_start_is_undecided_if_other_copies_fill_the_tile() -> None:
    report = check_ptx(ring_sm90().replace(str(SM90_WORD), str(SHIFTED)))
    assert not report.findings
    assert undecided(report) == {"base offset of A", "base offset of B"}


def test_a_k_major_operand_with_32_byte_atoms_is_an_error_because_it_has_no_canonical_form() -> None:
    wrong = SM100_WORD & ~(7 << 61) | 1 << 61
    report = check_ptx(ring_sm100().replace(str(SM100_WORD), str(wrong)))
    assert {error.rule.name for error in report.errors} == {"word-smem"}
    assert len(report.errors) == 8
    fits = candidates("(128,16):(16,1)", dtype="bf16", arch="sm100", swizzle="128B_BASE32B")
    assert not any(candidate.fit for candidate in fits if str(candidate.major) == "K")
    for legality in ("strict", "lenient", "off"):
        with pytest.raises(DescriptorError):
            derive((128, 64), "bf16", "K", "128B_BASE32B", (128, 16), arch="sm100", legality=legality)


@each(
    ("align", "static", "open_"),
    [
        (16, ".shared .align 16 .b8 first[128];", True),
        (512, ".shared .b32 first;", True),
        (1024, ".shared .align 16 .b8 first[128];", False),
        (16, "", False),  # dynamic shared memory is at the start of shared memory
        (16, ".shared .align 16 .b8 first[128]; // not used", False),
    ],
)
def test_an_array_behind_static_variables_starts_a_swizzle_pattern_only_if_its_alignment_says_so(
    align: int, static: str, open_: bool
) -> None:
    text = ring_sm90().replace(".extern .shared .align 1024", f"{static}\n.extern .shared .align {align}")
    if "used" not in static:
        text = text.replace(
            "mov.u32 t, %tid.x;", "mov.u32 t, %tid.x;\nmov.u32 hi, first;" * bool(static) or "mov.u32 t, %tid.x;"
        )
    report = check_ptx(text)
    assert not report.findings
    assert undecided(report) == ({"start of A", "start of B"} if open_ else set())
    rounded = text.replace("mov.u32 r, smem;", "mov.u32 r, smem;\nadd.u32 r, r, 1023;\nand.b32 r, r, 0xfffffc00;")
    assert not undecided(check_ptx(rounded))
