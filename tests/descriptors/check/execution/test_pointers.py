"""The addresses that a run assumes for pointer parameters."""

from __future__ import annotations

import pytest
from places import ROOT

from descriptors.check.execution.bounded_loops import count_loads
from descriptors.check.execution.launch import pointer
from descriptors.check.execution.program import program
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_text import tell_report
from descriptors.check.ptx.ptx_module import parse

#: A loop with a barrier that ends when a counter of 64 bits reaches a parameter.
LOOP = """.version 8.7
.target sm_90a
.address_size 64
.shared .align 8 .b8 b[8];
.visible .entry k(.param .u64 out, .param .u64 n) {{
  .reg .pred p; .reg .b32 q; .reg .b64 i, n, o, c;
  ld.param.u64 n, [n];
  ld.param.u64 o, [out];
  mov.u64 i, 0;
  {before}
L: bar.sync 0;
  add.u64 i, i, 1;
  {inside}
  setp.lt.u64 p, {counter}, n;
  @p bra L;
  ret;
}}
"""


@pytest.mark.parametrize(
    ("before", "inside", "counter", "is_number"),
    [
        ("", "", "i", True),
        ("shl.b64 c, n, 2; add.u64 o, o, c;", "st.global.u32 [o], 0;", "i", True),  # a row's length times 4
        ("cvt.u32.u64 q, n;", "", "i", True),
        ("mov.u64 c, n;", "ld.global.u32 q, [c];", "i", False),
        ("add.u64 c, n, -4;", "ld.global.u32 q, [c];", "o", False),
        ("", "ld.global.u32 q, [o]; add.u64 o, o, 4;", "o", False),  # from one address up to another
        ("cvta.to.global.u64 n, n;", "", "o", False),
    ],
)
def test_a_parameter_of_64_bits_that_bounds_a_loop_is_a_number_unless_it_is_an_address(
    before: str, inside: str, counter: str, is_number: bool
) -> None:
    text = LOOP.format(before=before, inside=inside, counter=counter)
    function = parse(text).functions[0]
    assert [function.code[place].line for place in count_loads(program(function))] == [7] * is_number


def test_a_bound_of_64_bits_gives_the_same_answer_as_one_of_32_bits() -> None:
    narrow = (ROOT / "docs" / "kernels" / "hang.ptx").read_text("utf-8")
    wide = narrow.replace(".param .u32 k_param_0", ".param .u64 k_param_0")
    wide = wide.replace(
        "ld.param.u32 n, [k_param_0];", ".reg .b64 n64; ld.param.u64 n64, [k_param_0]; cvt.u32.u64 n, n64;"
    )
    text = tell_report(check_ptx(wide))
    assert text == tell_report(check_ptx(narrow)) and "k_param_0 = 256" in text


def test_pointer_parameters_of_one_kernel_have_different_addresses() -> None:
    for kernel in ("k", "_Z4gemm14CUtensorMap_stS_Pfiii", "matmul_kernel_with_block_pointers"):
        names = [f"{kernel}_param_{number}" for number in range(250)]
        addresses = {pointer(name, offset) for name in names for offset in range(0, 4096, 8)}
        assert len(addresses) == 250 * 512
        assert max(addresses) < 1 << 64


def test_pointers_are_far_apart() -> None:
    """An index of 32 bits times 16 bytes does not lead from one pointer to another."""
    assert pointer("a", 8) - pointer("a", 0) >= 1 << 36
