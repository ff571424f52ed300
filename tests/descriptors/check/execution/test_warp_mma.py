"""What check says of ``mma.sync``: kernels written here, each right, and each with one thing wrong in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from each import each

from descriptors.check.inspection import check_ptx as check

#: A ring of three stages of 32 x 16 and 8 x 16 halves: two warps, cp.async into swizzled rows of 32 bytes, ldmatrix.
RING = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 n) .reqntid 64
{
.reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .reg .pred %p<8>;
.shared .align 128 .b8 ring[3840];
ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; and.b32 %r3, %r2, 31; shr.u32 %r4, %r2, 5;
shr.u32 %r5, %r2, 1; and.b32 %r6, %r2, 1;
shl.b32 %r7, %r1, 1; mul.wide.u32 %rd4, %r5, %r7; mul.wide.u32 %rd5, %r6, 16; add.u64 %rd4, %rd4, %rd5;
add.u64 %rd6, %rd1, %rd4; add.u64 %rd7, %rd2, %rd4;
shr.u32 %r8, %r5, 2; and.b32 %r8, %r8, 1; xor.b32 %r9, %r6, %r8;
shl.b32 %r10, %r5, 5; shl.b32 %r11, %r9, 4; add.u32 %r12, %r10, %r11;
mov.u32 %r13, ring; add.u32 %r14, %r13, %r12;
setp.lt.u32 %p1, %r2, 16;
cp.async.cg.shared.global [%r14], [%rd6], 16;
@%p1 cp.async.cg.shared.global [%r14+1024], [%rd7], 16;
cp.async.commit_group;
cp.async.cg.shared.global [%r14+1280], [%rd6+32], 16;
@%p1 cp.async.cg.shared.global [%r14+2304], [%rd7+32], 16;
cp.async.commit_group;
and.b32 %r15, %r3, 15; shl.b32 %r16, %r4, 4; add.u32 %r15, %r15, %r16;
shr.u32 %r17, %r3, 4; shr.u32 %r18, %r15, 2; and.b32 %r18, %r18, 1; xor.b32 %r19, %r17, %r18;
shl.b32 %r20, %r15, 5; shl.b32 %r21, %r19, 4; add.u32 %r22, %r20, %r21; add.u32 %r22, %r22, %r13;
and.b32 %r23, %r3, 7; shr.u32 %r24, %r3, 3; and.b32 %r24, %r24, 1; shr.u32 %r25, %r23, 2; xor.b32 %r26, %r24, %r25;
shl.b32 %r27, %r23, 5; shl.b32 %r28, %r26, 4; add.u32 %r29, %r27, %r28; add.u32 %r29, %r29, %r13;
shr.u32 %r30, %r1, 4; mov.u32 %r31, 0; mov.u32 %r32, 0; mov.u32 %r33, 2560;
add.u64 %rd8, %rd6, 64; add.u64 %rd9, %rd7, 64;
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
LOOP:
setp.ge.u32 %p2, %r31, %r30;
@%p2 bra END;
cp.async.wait_group 1;
bar.sync 0;
add.u32 %r34, %r31, 2; setp.lt.u32 %p3, %r34, %r30; and.pred %p4, %p3, %p1;
add.u32 %r35, %r14, %r33;
@%p3 cp.async.cg.shared.global [%r35], [%rd8], 16;
@%p4 cp.async.cg.shared.global [%r35+1024], [%rd9], 16;
cp.async.commit_group;
add.u64 %rd8, %rd8, 32; add.u64 %rd9, %rd9, 32;
add.u32 %r36, %r22, %r32; add.u32 %r37, %r29, %r32;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r40, %r41, %r42, %r43}, [%r36];
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r44, %r45}, [%r37+1024];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r40,%r41,%r42,%r43}, {%r44,%r45}, {%f0,%f1,%f2,%f3};
add.u32 %r32, %r32, 1280; setp.eq.u32 %p5, %r32, 3840; selp.u32 %r32, 0, %r32, %p5;
add.u32 %r33, %r33, 1280; setp.eq.u32 %p6, %r33, 3840; selp.u32 %r33, 0, %r33, %p6;
add.u32 %r31, %r31, 1;
bra LOOP;
END:
mul.wide.u32 %rd10, %r2, 16; add.u64 %rd11, %rd3, %rd10;
st.global.v4.f32 [%rd11], {%f0,%f1,%f2,%f3};
ret;
}
"""  # noqa: E501  a line an instruction

#: One warp of sm_120: e4m3 through ldmatrix, scale factors from global memory, selectors in registers.
SCALED = """.version 8.8
.target sm_120a
.address_size 64
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 psa, .param .u64 psb, .param .u64 pc) .reqntid 32
{
.reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .reg .b16 %rs<8>; .reg .pred %p<4>;
.shared .align 128 .b8 sa[512]; .shared .align 128 .b8 sb[256];
mov.u32 %r1, %tid.x;
ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [psa]; ld.param.u64 %rd4, [psb];
ld.param.u64 %rd5, [pc];
shr.u32 %r2, %r1, 1; and.b32 %r3, %r1, 1;
mul.wide.u32 %rd6, %r2, 1024; mul.wide.u32 %rd7, %r3, 16; add.u64 %rd8, %rd6, %rd7; add.u64 %rd9, %rd1, %rd8;
mov.u32 %r4, sa; shl.b32 %r5, %r1, 4; add.u32 %r6, %r4, %r5;
cp.async.cg.shared.global [%r6], [%rd9], 16;
setp.lt.u32 %p1, %r1, 16;
mov.u32 %r7, sb; add.u32 %r8, %r7, %r5; add.u64 %rd10, %rd2, %rd8;
@%p1 cp.async.cg.shared.global [%r8], [%rd10], 16;
cp.async.wait_all;
bar.sync 0;
and.b32 %r10, %r1, 15; shr.u32 %r11, %r1, 4; shl.b32 %r12, %r10, 5; shl.b32 %r13, %r11, 4;
add.u32 %r14, %r12, %r13; add.u32 %r15, %r4, %r14;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r40,%r41,%r42,%r43}, [%r15];
and.b32 %r20, %r1, 7; shr.u32 %r21, %r1, 3; and.b32 %r21, %r21, 1;
shl.b32 %r22, %r20, 5; shl.b32 %r23, %r21, 4; add.u32 %r24, %r22, %r23; add.u32 %r25, %r7, %r24;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r44,%r45}, [%r25];
and.b32 %r30, %r1, 1; shl.b32 %r30, %r30, 3; shr.u32 %r31, %r1, 2; add.u32 %r30, %r30, %r31;
mul.wide.u32 %rd11, %r30, 4; add.u64 %rd12, %rd3, %rd11; ld.global.b32 %r46, [%rd12];
mul.wide.u32 %rd13, %r31, 4; add.u64 %rd14, %rd4, %rd13; ld.global.b32 %r47, [%rd14];
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
mov.u16 %rs1, 3; mov.u16 %rs2, 1;
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0
 {%f0,%f1,%f2,%f3}, {%r40,%r41,%r42,%r43}, {%r44,%r45}, {%f0,%f1,%f2,%f3}, %r46, {%rs1, %rs2}, %r47, {0, 0};
mul.wide.u32 %rd20, %r1, 16; add.u64 %rd21, %rd5, %rd20;
st.global.v4.f32 [%rd21], {%f0,%f1,%f2,%f3};
ret;
}
"""

#: One warp of sm_90: whole tiles by bulk copies that an mbarrier ends.
BULK = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc) .reqntid 32
{
.reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .pred %p<4>;
.shared .align 128 .b8 tile[768]; .shared .align 8 .b8 full[8];
ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc];
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, full; mov.u32 %r3, tile;
@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 768;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [%r2];
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+512], [%rd2], 256, [%r2];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
@!%p2 bra WAIT;
and.b32 %r10, %r1, 15; shr.u32 %r11, %r1, 4; shl.b32 %r12, %r10, 5; shl.b32 %r13, %r11, 4;
add.u32 %r14, %r12, %r13; add.u32 %r15, %r3, %r14;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r40,%r41,%r42,%r43}, [%r15];
and.b32 %r20, %r1, 7; shr.u32 %r21, %r1, 3; and.b32 %r21, %r21, 1;
shl.b32 %r22, %r20, 5; shl.b32 %r23, %r21, 4; add.u32 %r24, %r22, %r23; add.u32 %r25, %r3, %r24;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r44,%r45}, [%r25+512];
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r40,%r41,%r42,%r43}, {%r44,%r45}, {%f0,%f1,%f2,%f3};
mul.wide.u32 %rd10, %r1, 16; add.u64 %rd11, %rd3, %rd10;
st.global.v4.f32 [%rd11], {%f0,%f1,%f2,%f3};
ret;
}
"""  # noqa: E501  a line an instruction

#: What is exchanged in the ring, and the rules that tell.
WRONG_RINGS = {
    "no wait for a copy": (("cp.async.wait_group 1;", ""), {"reuse-order"}),
    "a wait for one group less": (("cp.async.wait_group 1;", "cp.async.wait_group 2;"), {"reuse-order"}),
    "no barrier": (("bar.sync 0;\n", ""), {"reuse-order"}),
    "the next stage read": (("mov.u32 %r32, 0;", "mov.u32 %r32, 1280;"), {"reuse-order"}),
    "the copy one stage too early": (("mov.u32 %r33, 2560;", "mov.u32 %r33, 0;"), {"reuse-order"}),
    "halves of K of A exchanged": (("xor.b32 %r19, %r17, %r18;", "not.b32 %r17, %r17; and.b32 %r17, %r17, 1; "
                                    "xor.b32 %r19, %r17, %r18;"), {"fragment-order"}),
    "halves of K of B exchanged": (
        ("shr.u32 %r25, %r23, 2;", "shr.u32 %r25, %r23, 2; xor.b32 %r25, %r25, 1;"), {"fragment-order"},
    ),
    "A read without the swizzle": (("xor.b32 %r19, %r17, %r18;", "mov.b32 %r19, %r17;"), {"fragment-matrix"}),
    "B read by another swizzle": (("shr.u32 %r25, %r23, 2;", "and.b32 %r25, %r23, 1;"), {"fragment-matrix"}),
    "an address that is not aligned": (("[%r36];", "[%r36+8];"), {"fragment-address", "fragment-matrix"}),
    "lanes that are apart": (
        ("mma.sync.aligned", "setp.lt.u32 %p7, %r3, 16;\n@%p7 mma.sync.aligned"), {"fragment-aligned"},
    ),
}  # fmt: skip
#: What no error tells, and yet is not clean.
OPEN_RINGS = {
    "rows of A exchanged": (("and.b32 %r15, %r3, 15;", "xor.b32 %r15, %r3, 8; and.b32 %r15, %r15, 15;"), "rows of A"),
    "A computed": (("mma.sync.aligned", "add.f16x2 %r40, %r40, %r40;\nmma.sync.aligned"), "the origin of A"),
    "the same K of B again": (
        ("add.u64 %rd8, %rd8, 32; add.u64 %rd9, %rd9, 32;", "add.u64 %rd8, %rd8, 32;"),
        "advance differently along K",
    ),
    "K of B backward": (
        ("add.u64 %rd8, %rd8, 32; add.u64 %rd9, %rd9, 32;", "add.u64 %rd8, %rd8, 32; sub.u64 %rd9, %rd9, 32;"),
        "advance differently along K",
    ),
    "every other K of A": (
        ("add.u64 %rd8, %rd8, 32; add.u64 %rd9, %rd9, 32;", "add.u64 %rd8, %rd8, 64; add.u64 %rd9, %rd9, 32;"),
        "advance differently along K",
    ),
    "B by K": (("x2.shared", "x2.trans.shared"), "A and B have different steps of K"),
}
WRONG_BULK = {
    "halves of K of B exchanged": (("and.b32 %r21, %r21, 1;", "and.b32 %r21, %r21, 1; xor.b32 %r21, %r21, 1;"),
                                   {"fragment-order"}),
    "no wait": (("@!%p2 bra WAIT;", ""), {"reuse-order"}),
}  # fmt: skip
WRONG_SCALED = {
    "a thread-id in a register": (("mov.u16 %rs2, 1;", "mov.u16 %rs2, 2;"), {"fragment-selector"}),
    "a byte-id in a register": (("mov.u16 %rs1, 3;", "mov.u16 %rs1, 4;"), {"fragment-selector"}),
    "an immediate thread-id": (("%r47, {0, 0}", "%r47, {0, 4}"), {"form-immediate"}),
    "no wait for the copies": (("cp.async.wait_all;", ""), {"reuse-order"}),
    "halves of K of A exchanged": (("shl.b32 %r13, %r11, 4;", "shl.b32 %r13, %r11, 4; xor.b32 %r13, %r13, 16;"),
                                   {"fragment-order"}),
}  # fmt: skip
OPEN_SCALED = {
    "scale factors by lanes": (("and.b32 %r30, %r1, 1; shl.b32 %r30, %r30, 3;", "mov.u32 %r30, %r1;"), "scale factors"),
}


def changed(text: str, change: tuple[str, str]) -> str:
    """The text with one thing exchanged."""
    assert text.count(change[0]) == 1, change[0]
    return text.replace(*change)


def told(text: str) -> tuple[set[str], str, list[str]]:
    """Names of errors, the verdict of fragments, and what of them is not decided."""
    report = check(text)
    verdict = next(one.verdict for one in report.properties if one.property == "fragments")
    return (
        {one.rule.name for one in report.errors},
        verdict,
        [one.why for one in report.undecided if one.property == "fragments"],
    )


@each("text", [RING, SCALED, BULK], ids=["ring", "scaled", "bulk"])
def test_a_right_kernel_is_clean(text: str) -> None:
    assert told(text) == (set(), "clean", [])
    assert check(text).verdict == "clean"


@each(
    "advance",
    [
        "",  # one accumulation
        "mov.f32 %f0, 0f00000000; add.u64 %rd8, %rd8, 512;",  # another one in each iteration, of other rows of A
        "mul.f32 %f0, %f0, %f0; add.u64 %rd8, %rd8, 512;",
        "mov.f32 %f4, %f0; mov.f32 %f0, %f4;",  # the same one, in other registers
    ],
    ids=["one", "set to zero", "computed", "moved"],
)
def test_an_accumulation_begins_where_its_registers_are_set(advance: str) -> None:
    loop = "add.u32 %r31, %r31, 1;\nbra LOOP;"
    assert told(changed(RING, (loop, advance + loop))) == (set(), "clean", [])
    backward = changed(RING, ("add.u64 %rd9, %rd9, 32;", "sub.u64 %rd9, %rd9, 32;"))
    moved = "%f4" in advance or not advance
    assert told(changed(backward, (loop, advance + loop)))[1] == ("incomplete" if moved else "clean")


@each("name", WRONG_RINGS)
def test_a_ring_with_something_wrong_is_told_by_its_rule(name: str) -> None:
    change, rules = WRONG_RINGS[name]
    assert told(changed(RING, change))[0] == rules


@pytest.mark.parametrize(
    ("text", "change", "rules"),
    [(SCALED, *row) for row in WRONG_SCALED.values()] + [(BULK, *row) for row in WRONG_BULK.values()],
    ids=[*WRONG_SCALED, *(f"bulk: {name}" for name in WRONG_BULK)],
)
def test_one_tile_with_something_wrong_is_told_by_its_rule(text: str, change: tuple[str, str], rules: set[str]) -> None:
    assert told(changed(text, change))[0] == rules


@pytest.mark.parametrize(
    ("text", "change", "why"),
    [(RING, *row) for row in OPEN_RINGS.values()] + [(SCALED, *row) for row in OPEN_SCALED.values()],
    ids=[*OPEN_RINGS, *OPEN_SCALED],
)
def test_what_cannot_be_decided_is_named(text: str, change: tuple[str, str], why: str) -> None:
    errors, verdict, reasons = told(changed(text, change))
    assert (errors, verdict) == (set(), "incomplete")
    assert any(why in reason for reason in reasons)


def test_a_selector_that_an_assembler_takes_and_a_gpu_refuses_is_told() -> None:
    """Measured: ``sparse_warps.json``."""
    line = (
        ".version 8.0\n.target sm_80\n.entry k() {{ .reg .b32 %r<9>; .reg .f32 %f<4>; mma.sp.sync.aligned.m16n8k32.row."
        "col.f32.f16.f16.f32 {{%f0,%f1,%f2,%f3}}, {{%r0,%r1,%r2,%r3}}, {{%r4,%r5,%r6,%r7}}, {{%f0,%f1,%f2,%f3}}, %r8, "
        "{}; ret; }}"
    )
    found = [{one.rule.name for one in check(line.format(selector)).errors} for selector in range(5)]
    assert found == [set(), set(), {"fragment-selector"}, {"fragment-selector"}, {"form-immediate"}]


@each("text", [RING, SCALED, BULK], ids=["ring", "scaled", "bulk"])
def test_the_kernels_are_what_an_assembler_takes(text: str, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("there is no ptxas")
    path = tmp_path / "k.ptx"
    path.write_text(text)
    target = text.split(".target ")[1].split()[0]
    done = subprocess.run([ptxas, f"-arch={target}", "-o", str(tmp_path / "k.cubin"), str(path)], capture_output=True)
    assert done.returncode == 0, done.stderr
