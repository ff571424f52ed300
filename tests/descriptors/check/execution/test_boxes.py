"""Boxes of tensor maps: what `check` suggests can be used as it is written, and a contradiction is one finding."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from kernels import kernels
from ring_kernels import tensor_ring_sm90 as ring

from descriptors import check_ptx
from descriptors.check.execution.boxes import box_text
from descriptors.check.execution.configuration import configuration
from descriptors.check.kernel_report import Report
from descriptors.cli.command import main
from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import ELEMENT_TYPES

TENSOR_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"


def suggested(report: Report) -> dict[str, str]:
    """The options that a report suggests."""
    rows = [re.search(r"--tensormap (\S+?)=(\S+)", one.decides) for one in report.undecided]
    return {row[1]: row[2] for row in rows if row}


def test_a_suggestion_has_the_parameter_a_box_of_the_bytes_and_the_swizzle() -> None:
    report = check_ptx(ring())
    assert suggested(report) == {"k_param_2": "64x64xbf16", "k_param_3": "64x64xbf16"}
    assert all("(8192 bytes, swizzle 128B)" in one.decides for one in report.undecided)


def test_a_parameter_whose_address_has_32_bits_is_named_and_its_box_is_used() -> None:
    text = ring()
    for number in (2, 3):
        wide = f"mov.b64 x, k_param_{number};"
        assert wide in text
        narrow = f"mov.b32 low, k_param_{number};\ncvt.u64.u32 x, low;\ncvta.param.u64 x, x;"
        text = text.replace(wide, narrow)
    options = suggested(check_ptx(text))
    assert options == {"k_param_2": "64x64xbf16", "k_param_3": "64x64xbf16"}
    properties = {one.property: one.verdict for one in check_ptx(text, tensor_maps=options).properties}
    assert properties["bytes"] == "clean"


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_a_suggestion_that_is_followed_makes_the_bytes_of_a_right_kernel_clean(stages: int) -> None:
    report = check_ptx(ring(stages), tensor_maps=suggested(check_ptx(ring(stages))))
    assert not report.errors and {one.property: one.verdict for one in report.properties}["bytes"] == "clean"


@pytest.mark.parametrize(
    ("box", "why"),
    [
        ("64x64xf16", "its elements are f16, and multiplications read bf16"),
        ("32x64xtf32", "its elements are tf32, and multiplications read bf16"),
        ("128x64xu8", ""),  # bytes of any meaning
        ("8192", ""),
    ],
)
def test_a_box_of_another_type_than_the_multiplications_read_is_undecided(box: str, why: str) -> None:
    report = check_ptx(ring(), tensor_maps={"2": "64x64xbf16", "3": box})
    assert not report.errors
    assert [row.why for row in report.undecided] == [why] * bool(why)
    assert all("k_param_3=64x64xbf16" in row.decides for row in report.undecided)


def test_an_arrival_that_expects_nothing_is_told_with_the_bytes_of_one_phase() -> None:
    """The phase ends without its copies, so that those of the next iteration come into the same phase."""
    old, new = (
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16384;",
        "mbarrier.arrive.shared::cta.b64 _, [full];",
    )
    assert ring().count(old) == 1
    report = check_ptx(ring().replace(old, new), tensor_maps={"2": "64x64xbf16", "3": "64x64xbf16"})
    (error,) = report.errors
    assert "expects 0 bytes and its copies bring 16384: k_param_2 with 8192 bytes (line" in error.found


@pytest.mark.parametrize("name", ["product_bf16_128x64x32_nn_sm90", "product_f8e5_128x64x64_nt_sm100"])
def test_suggestions_for_kernels_of_compilers_create_no_error(name: str) -> None:
    text = kernels()[name]
    before = check_ptx(text)
    after = check_ptx(text, tensor_maps=suggested(before))
    assert [one.sentence for one in after.errors] == [one.sentence for one in before.errors] == []


def test_every_box_that_is_suggested_has_the_bytes_it_stands_for() -> None:
    for size, line, dtype, rank in product(
        (512, 4096, 8192, 24576, 65536), (16, 32, 64, 128), (*ELEMENT_TYPES, ""), range(6)
    ):
        text = box_text(size, dtype, line, rank)
        assert configuration(tensor_maps={"0": text}).tensor_maps["0", 0] == size
        assert "x" not in text or text.count("x") == rank


@pytest.mark.parametrize(
    ("first", "second", "brought"), [("64x64xbf16", "32x64xbf16", 12288), ("8192", "64x128xbf16", 24576)]
)
def test_a_box_that_contradicts_the_expected_bytes_is_one_finding_with_both_numbers(
    first: str, second: str, brought: int
) -> None:
    report = check_ptx(ring(), tensor_maps={"k_param_2": first, "k_param_3": second})
    (error,) = report.errors
    assert error.rule.name == "barrier-hang" and error.instruction.startswith("mbarrier.arrive.expect_tx")
    assert f"expects 16384 bytes (line {error.line}) and its copies bring {brought}: k_param_2 with 8192" in error.found
    held = {one.property: one.verdict for one in report.properties}
    assert {held[name] for name in ("bytes", "proxies", "reuse")} == {"incomplete"}


def test_a_box_that_is_too_large_beside_one_that_is_not_known_is_the_same() -> None:
    (error,) = check_ptx(ring(), tensor_maps={"k_param_2": 16384}).errors
    assert "bring 16384 beside 1 copy of unknown bytes: k_param_2 with 16384 bytes" in error.found


def test_wrong_bytes_in_the_kernel_are_the_same_finding() -> None:
    boxes = {"k_param_2": 8192, "k_param_3": 8192}
    (error,) = check_ptx(ring().replace("[full], 16384;", "[full], 8192;"), tensor_maps=boxes).errors
    assert "expects 8192 bytes" in error.found and "bring 16384" in error.found


def test_other_faults_keep_their_findings_with_boxes() -> None:
    text = ring().replace("@!pw bra SLOT;", "")
    boxes = {"k_param_2": 8192, "k_param_3": 8192}
    assert {one.rule.name for one in check_ptx(text, tensor_maps=boxes).errors} == {"reuse-order"}


def test_each_file_of_a_run_takes_the_parameters_of_its_own_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One kernel has boxes of 8192 bytes, its neighbor boxes of 4096: one number for both would be wrong for one."""
    other = ring(name="other").replace("16384;", "8192;")
    (tmp_path / "a.ptx").write_text(ring())
    (tmp_path / "b.ptx").write_text(other)
    options = [f"--tensormap=k_param_{n}=8192" for n in (2, 3)] + [f"--tensormap=other_param_{n}=4096" for n in (2, 3)]
    main(["check", str(tmp_path), *options])
    out, error = capsys.readouterr()
    assert "a.ptx:" in out and "not checked" not in out and "contradict" not in out and not error
    status = main(["check", str(tmp_path), *options, "--param=nowhere=1"])
    assert status == 2 and "no kernel of these files has a parameter 'nowhere'" in capsys.readouterr().err


@pytest.mark.parametrize(("box", "plain"), [("64x64xbf16:128B", "64x64xbf16"), ("64x64xbf17:128B", ""), (":128B", "")])
def test_the_refusal_of_a_box_with_a_swizzle_names_the_box_that_is_accepted(box: str, plain: str) -> None:
    fact = "is not extents and a type, or bytes; write a box as in 64x128xbf16"
    with pytest.raises(DescriptorError, match=fact) as error:
        configuration(tensor_maps={"0": box})
    assert ("omit the swizzle" in str(error.value)) == bool(plain)
    if plain:
        assert str(error.value).endswith(plain)
        assert dict(configuration(tensor_maps={"0": plain}).tensor_maps) == {("0", 0): 8192}


CUT_OFF = """.version 8.8
.target sm_90a
.address_size 64
.shared .align 1024 .b8 s[16384];
.shared .align 8 .b64 b;
.shared .align 8 .b64 b2;
.visible .entry k(.param .align 64 .b8 k_a[128], .param .align 64 .b8 k_b[128]) .reqntid 64, 1, 1
{
.reg .b32 t, w, at, zero;
.reg .b64 x;
.reg .pred first, later, other, q;
mov.u32 t, %tid.x;
mov.u32 zero, 0;
and.b32 w, t, 31;
setp.ne.u32 first, w, 0;
setp.ne.u32 later, t, 0;
setp.ge.u32 other, t, 32;
@!later mbarrier.init.shared.b64 [b], 1;
@!later mbarrier.init.shared.b64 [b2], 1;
bar.sync 0;
@first bra END;
@other bra OTHER;
mbarrier.arrive.expect_tx.shared.b64 _, [b], 16384;
mov.u32 at, s;
mov.b64 x, k_a;
COPY [at], [x, {zero, zero}], [b];
FULL: mbarrier.try_wait.parity.shared.b64 q, [b], 0;
@!q bra FULL;
bra END;
OTHER: mbarrier.try_wait.parity.shared.b64 q, [b2], 0;
@!q bra OTHER;
mov.u32 at, s;
mov.b64 x, k_b;
COPY [at+8192], [x, {zero, zero}], [b];
END: ret;
}
""".replace("COPY", TENSOR_COPY)


def test_a_phase_that_a_hang_cut_off_does_not_contradict_the_boxes() -> None:
    """One of two threads that copy waits forever, so that a phase lacks its copy."""
    boxes = {"k_a": 8192, "k_b": 8192}
    (hang,) = check_ptx(CUT_OFF, tensor_maps=boxes).errors
    assert hang.rule.name == "barrier-hang"
    assert "on the mbarrier at [b2] never completes: phase 0 has 0 of 1 arrivals" in hang.found
    right = CUT_OFF.replace("@first bra END;", "@!later mbarrier.arrive.shared.b64 _, [b2];\n@first bra END;")
    assert not check_ptx(right, tensor_maps=boxes).errors
    (error,) = check_ptx(right, tensor_maps=boxes | {"k_b": 4096}).errors
    assert "expects 16384 bytes" in error.found and "bring 12288" in error.found
    (error,) = check_ptx(CUT_OFF, tensor_maps=boxes | {"k_a": 32768}).errors
    assert "expects 16384 bytes" in error.found and "bring 32768" in error.found


@pytest.mark.parametrize(("boxes", "told"), [
    ({"k_param_2": "32x64xbf16", "k_param_3": "64x96xbf16"}, ["k_param_2 with 4096", "k_param_3 with 12288"]),
    ({"k_param_2": "64x96xbf16", "k_param_3": "32x64xbf16"}, ["k_param_2 with 12288", "k_param_3 with 4096"]),
    ({"k_param_2": "64x96xbf16"}, ["k_param_2 with 12288"]),
])  # fmt: skip
def test_boxes_with_the_right_sum_and_other_bytes_than_are_read_are_one_finding(
    boxes: dict[str, str], told: list[str]
) -> None:
    (error,) = check_ptx(ring(), tensor_maps=boxes).errors
    assert error.instruction == TENSOR_COPY
    assert re.findall(r"k_param_\d with \d+ instead of 8192", error.found) == [f"{one} instead of 8192" for one in told]


def test_a_fault_that_is_there_with_any_box_is_not_blamed_on_the_boxes() -> None:
    boxes = {"k_param_2": "32x64xbf16", "k_param_3": "64x96xbf16"}
    errors = check_ptx(ring().replace("@!pw bra SLOT;", ""), tensor_maps=boxes).errors
    assert len(errors) > 1 and not any("instead of" in one.found for one in errors)


@pytest.mark.parametrize("box", ["32x128xbf16", "128x32xbf16", "32x128x1xbf16"])
def test_a_box_with_other_rows_than_the_lines_that_are_read_is_not_clean(box: str) -> None:
    """It has the right bytes, and may be right: a tensor map may view half a row of the matrix as a row."""
    report = check_ptx(ring(), tensor_maps={"k_param_2": box, "k_param_3": "64x64xbf16"})
    (row,) = report.undecided
    assert not report.errors and row.property == "bytes"
    assert "multiplications read lines of 128 bytes (swizzle 128B)" in row.why and "k_param_2=64x64xbf16" in row.decides
