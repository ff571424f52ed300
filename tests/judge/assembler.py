"""What NVIDIA's assembler says of a line of PTX: the cases of the pages of errata, and how they are put to ``ptxas``.

An assembler is a judge that needs no GPU. It refuses an instruction that does not exist, and of a few hazards of
``wgmma`` it says that it mended them, with a code in brackets.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from places import VECTORS

RECORD = VECTORS / "errata_ptxas.json"
FRAME = """.version {version}
.target {target}
.address_size 64
.visible .entry probe(.param .u64 p, .param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .f32 %f<256>;
.reg .b32 %r<256>;
.reg .b64 %d<8>;
.reg .pred q;
ld.param.u64 %d0, [p];
ld.param.u64 %d1, [a];
ld.param.u64 %d2, [b];
ld.param.u32 %r255, [n];
setp.ne.u32 q, %r255, 0;
ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d0];
ld.global.v4.f32 {{%f4, %f5, %f6, %f7}}, [%d0+16];
{body}
ret;
}}
"""
FENCE, COMMIT, WAIT = (
    "wgmma.fence.sync.aligned;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
)
READ = "st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3};"
OLDER = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d2, 1, 1, 1, 0, 0;"
NEWER = OLDER.replace("%f0, %f1, %f2, %f3", "%f4, %f5, %f6, %f7")
READ_NEWER = "st.global.v4.f32 [%d0+16], {%f4, %f5, %f6, %f7};"
BLOCK = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
SCALED = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %d1, %d2, %r2, [%r3], [%r4]"


MULTIPLY = "tcgen05.mma.cta_group::1.kind::{}"


def ashift(usage: str) -> str:
    """One ``tcgen05.mma`` that shifts A, with what becomes of A in its collector."""
    return f"{MULTIPLY.format('f16')}.ashift.collector::a::{usage} [%r1], [%r3], %d2, %r2, q;"


def registers(name: str, count: int, first: int = 0) -> str:
    """A PTX vector of registers."""
    return "{" + ", ".join(f"%{name}{first + i}" for i in range(count)) + "}"


def wgmma(shape: str, rest: str) -> str:
    """One ``wgmma`` between the fence and the wait."""
    return "\n".join((FENCE, f"wgmma.mma_async.sync.aligned.{shape} {rest};", COMMIT, WAIT))


def block_scaled(a: int = 4, b: int = 2, scale: str = "%r20", selector: str = ", {0, 0}", m: int = 16) -> str:
    """The ``mma.sync`` of the block-scaled 4-bit types, with so many registers for A and B."""
    operands = (registers("f", 4), registers("r", a), registers("r", b, 100), registers("f", 4))
    return BLOCK.replace("m16", f"m{m}") + ", ".join((*operands, f"{scale}{selector}", f"%r21{selector}")) + ";"


TENSOR_MMA = "tcgen05.mma.cta_group::1.kind::"
BULK = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
LOADED = "cp.async.bulk.tensor.2d.shared::cta.global.tile{} [%r1], [%d0, {{%r2, %r3}}], [%r4];"
REDUCED, TENSORS = "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor.3d.global.shared::cta"
SCALES = "[%r1], [%r2], %d2, %r3, [%r4], [%r5], q;"
COMMIT_WIDE = "tcgen05.commit.shared::cluster.multicast::cluster::32b.cta_group::2.mbarrier::arrive::one.b64 [%r1]{};"
EXCLUSIVE = "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r1], {};"
LUT = f"{TENSOR_MMA}f8f6f4.{{}}::lut::b [%r1], %d1, %d2, [%r3], %r2, q;"
GATHERED = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%d0, {{%r1, %r2, %r3, %r4, %r5}}]{};"
MATRIX = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.{} {}, [%r9];"

#: Cases of the manual itself; name: target and body.
MANUAL = {
    "tcgen05.alloc: 96 columns": ("sm_107a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 96;"),
    "tcgen05.alloc.exclusive: 96 columns": ("sm_107a", EXCLUSIVE.format(96)),
    "tcgen05.alloc.exclusive: 576 columns": ("sm_107a", EXCLUSIVE.format(576)),
    "tcgen05.alloc.exclusive before PTX 9.4": ("sm_100a", EXCLUSIVE.format(512)),
    "tcgen05.alloc: the line of an example before PTX 9.4": (
        "sm_100a", "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 32;",
    ),
    "tcgen05.mma: decpmpress": ("sm_107a", LUT.format("decpmpress")),
    "tcgen05.mma: decompress": ("sm_107a", LUT.format("decompress")),
    "tcgen05.mma.sp: ti16 without metadata": (
        "sm_107a", "tcgen05.mma.sp.cta_group::1.kind::ti16.collector::b::fill [%r1], %d1, %d2, %r2, q;",
    ),
    "tcgen05.mma.sp: ti16 with metadata": (
        "sm_107a", "tcgen05.mma.sp.cta_group::1.kind::ti16.collector::b::fill [%r1], %d1, %d2, [%r3], %r2, q;",
    ),
    "tcgen05.mma: mxf8f6f4 without block_scale": ("sm_107a", f"{TENSOR_MMA}mxf8f6f4 {SCALES}"),
    "tcgen05.mma: mxf8f6f4 with block_scale": ("sm_107a", f"{TENSOR_MMA}mxf8f6f4.block_scale {SCALES}"),
    "tcgen05.mma.sp: a single colon": (
        "sm_107a", "tcgen05.mma.sp.cta_group::1.kind::f16.collector::a:fill [%r1], %d1, %d2, [%r3], %r2, q;",
    ),
    "tcgen05.mma.sp: two colons": (
        "sm_107a", "tcgen05.mma.sp.cta_group::1.kind::f16.collector::a::fill [%r1], %d1, %d2, [%r3], %r2, q;",
    ),
    "tcgen05.commit: several CTAs without a mask": ("sm_107a", COMMIT_WIDE.format("")),
    "tcgen05.commit: several CTAs with a mask": ("sm_107a", COMMIT_WIDE.format(", %r2")),
    "tensor copy without a completion mechanism": ("sm_107a", LOADED.format("")),
    "tensor copy with a completion mechanism": ("sm_107a", LOADED.format(".mbarrier::complete_tx::bytes")),
    "bulk copy, relaxed without a scope": (
        "sm_107a", f"{BULK.replace('bulk', 'bulk.relaxed')}.b128 [%r1], [%d0], 16, [%r4];",
    ),
    "bulk copy, relaxed with a scope": (
        "sm_107a", f"{BULK.replace('bulk', 'bulk.relaxed.cta')}.b128 [%r1], [%d0], 16, [%r4];",
    ),
    "bulk reduction: xor of s32": ("sm_107a", f"{REDUCED}.global.shared::cta.bulk_group.xor.s32 [%d0], [%r1], 16;"),
    "bulk reduction: xor of b32": ("sm_107a", f"{REDUCED}.global.shared::cta.bulk_group.xor.b32 [%d0], [%r1], 16;"),
    "tensor reduction: im2col": ("sm_107a", f"{TENSORS}.xor.im2col.bulk_group [%d0, {{%r1, %r2, %r3}}], [%r4];"),
    "tensor reduction: im2col_no_offs": (
        "sm_107a", f"{TENSORS}.xor.im2col_no_offs.bulk_group [%d0, {{%r1, %r2, %r3}}], [%r4];",
    ),
    "prefetch of gather4 with im2col offsets": ("sm_107a", GATHERED.format(", {%r6, %r7}")),
    "prefetch of gather4": ("sm_107a", GATHERED.format("")),
    "bulk reduction to global memory with an mbarrier": (
        "sm_107a", f"{REDUCED}.relaxed.cta.global.bulk_group.add.u64 [%d0], [%r1], 16, [%r2];",
    ),
    "bulk reduction to global memory": (
        "sm_107a", f"{REDUCED}.relaxed.cta.global.shared::cta.bulk_group.add.u64 [%d0], [%r1], 16;",
    ),
    "scale-input-d of i8": ("sm_100a", f"{TENSOR_MMA}i8 [%r1], %d1, %d2, %r2, q, 3;"),
    "ldmatrix: m16n16.x1 into 2 registers": ("sm_100a", MATRIX.format("b8", "{%r1, %r2}")),
    "ldmatrix: m16n16 of b64": ("sm_100a", MATRIX.format("b64", "{%r1, %r2}")),
    "ldmatrix: s8.s4 on sm_90a": ("sm_90a", "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%r1}, [%r9];"),
    "ldmatrix: b4x16_p64 on sm_90a": (
        "sm_90a", "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r1}, [%r9];",
    ),
    "mbarrier.init: layout with PTX 9.3": ("sm_90a", "mbarrier.init.layout::v0.shared.b64 [%r1], 1;"),
    "mbarrier.init: layout with PTX 9.2": ("sm_90a", "mbarrier.init.layout::v0.shared.b64 [%r1], 1;"),
}  # fmt: skip
#: Cases of skills and wikis, whose lines are common mistakes; name: target and body.
PUBLISHED = {
    "wgmma: bf16 with scale-d alone": (
        "sm_90a", wgmma("m64n8k16.f32.bf16.bf16", f"{registers('f', 4)}, %d1, %d2, 1"),
    ),
    "wgmma: bf16 with signs and majors": (
        "sm_90a", wgmma("m64n8k16.f32.bf16.bf16", f"{registers('f', 4)}, %d1, %d2, 1, 1, 1, 0, 0"),
    ),
    "wgmma: N 128 with 32 registers": (
        "sm_90a", wgmma("m64n128k16.f32.bf16.bf16", f"{registers('f', 32)}, %d1, %d2, 1, 1, 1, 0, 0"),
    ),
    "wgmma: N 128 with 64 registers": (
        "sm_90a", wgmma("m64n128k16.f32.bf16.bf16", f"{registers('f', 64)}, %d1, %d2, 1, 1, 1, 0, 0"),
    ),
    "tcgen05.mma: kind mxf8": ("sm_100a", f"{TENSOR_MMA}mxf8.block_scale {SCALES}"),
    "tcgen05.mma: kind mxf8f6f4": ("sm_100a", f"{TENSOR_MMA}mxf8f6f4.block_scale {SCALES}"),
    "tcgen05.mma: f8f6f4 with block_scale": ("sm_100a", f"{TENSOR_MMA}f8f6f4.block_scale {SCALES}"),
    "tcgen05.mma: mxf4 with descriptors of scale factors": (
        "sm_100a", f"{TENSOR_MMA}mxf4.block_scale [%r1], %d1, %d2, %d3, %d4, %r2, q;",
    ),
    "tcgen05.mma: mxf4 with addresses of scale factors": (
        "sm_100a", f"{TENSOR_MMA}mxf4.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], q;",
    ),
    "tcgen05.mma.fence": ("sm_100a", "tcgen05.mma.fence::before_thread_sync;"),
    "tcgen05.fence": ("sm_100a", "tcgen05.fence::before_thread_sync;"),
    "tcgen05.relinquish_alloc_permit without qualifiers": ("sm_100a", "tcgen05.relinquish_alloc_permit;"),
    "tcgen05.relinquish_alloc_permit with qualifiers": (
        "sm_100a", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
    ),
    "tcgen05.cp: sync and b128": ("sm_100a", "tcgen05.cp.cta_group::1.sync.aligned.b128 [%r1], [%d1];"),
    "tcgen05.cp: a shape and a descriptor": ("sm_100a", "tcgen05.cp.cta_group::1.128x128b [%r1], %d1;"),
    "tcgen05.alloc: into a register": ("sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.b32 %r1, %r2;"),
    "tcgen05.st: 32x1b": ("sm_100a", "tcgen05.st.sync.aligned.32x1b.x1.b32 [%r1], {%r2};"),
    "tcgen05.st: 32x32b": ("sm_100a", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};"),
}  # fmt: skip
#: The version of PTX of those that are not of 9.5.
VERSIONS = {
    "tcgen05.alloc.exclusive before PTX 9.4": "9.3",
    "tcgen05.alloc: the line of an example before PTX 9.4": "9.3",
    "mbarrier.init: layout with PTX 9.3": "9.3",
    "mbarrier.init: layout with PTX 9.2": "9.2",
}

#: Name of the case: target and body.
CASES = {
    "wgmma: fence, mma, commit, wait, read": ("sm_90a", "\n".join((FENCE, OLDER, COMMIT, WAIT, READ))),
    "wgmma: no fence": ("sm_90a", "\n".join((OLDER, COMMIT, WAIT, READ))),
    "wgmma: operands in the order of the manual": (
        "sm_90a",
        wgmma("m64n8k16.f32.f16.f16", f"{registers('f', 4)}, %d1, %d2, q, 1, 1, 0, 0"),
    ),
    "wgmma: a predicate for the sign of A": (
        "sm_90a",
        wgmma("m64n8k16.f32.f16.f16", f"{registers('f', 4)}, %d1, %d2, q, q, 1, 0, 0"),
    ),
    "wgmma: descriptors at the end": (
        "sm_90a",
        wgmma("m64n8k16.f32.f16.f16", f"{registers('f', 4)}, %d1, %d2, q, 1, 1, %d1, %d2"),
    ),
    "wgmma: a second result, for scale-d": (
        "sm_90a",
        wgmma("m64n8k16.f32.f16.f16", f"{registers('f', 4)}, %r1, %d1, %d2, q, 1, 1, 0, 0"),
    ),
    "wgmma: b1 and": ("sm_90a", wgmma("m64n8k256.s32.b1.b1.and.popc", f"{registers('r', 4)}, %d1, %d2, 1")),
    "wgmma: b1 xor": ("sm_90a", wgmma("m64n8k256.s32.b1.b1.xor.popc", f"{registers('r', 4)}, %d1, %d2, 1")),
    "wgmma: b1 N 24": ("sm_90a", wgmma("m64n24k256.s32.b1.b1.and.popc", f"{registers('r', 12)}, %d1, %d2, 1")),
    "wgmma: b1 N 40": ("sm_90a", wgmma("m64n40k256.s32.b1.b1.and.popc", f"{registers('r', 20)}, %d1, %d2, 1")),
    "wgmma: e4m3 into f16": ("sm_90a", wgmma("m64n8k32.f16.e4m3.e4m3", f"{registers('r', 2)}, %d1, %d2, 1, 1, 1")),
    "wgmma: s8 x u8": ("sm_90a", wgmma("m64n8k32.s32.s8.u8", f"{registers('r', 4)}, %d1, %d2, 1")),
    "wgmma: N 256 with 128 registers": (
        "sm_90a",
        wgmma("m64n256k16.f32.f16.f16", f"{registers('f', 128)}, %d1, %d2, 1, 1, 1, 0, 0"),
    ),
    "wgmma: N 256 with 64 registers": (
        "sm_90a",
        wgmma("m64n256k16.f32.f16.f16", f"{registers('f', 64)}, %d1, %d2, 1, 1, 1, 0, 0"),
    ),
    "tcgen05.mma: A in tensor memory": ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r3], %d2, %r2, q;"),
    "tcgen05.mma: B in tensor memory": ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, [%r3], %r2, q;"),
    "tcgen05.mma: ashift and fill": ("sm_100a", ashift("fill")),
    "tcgen05.mma: ashift and use": ("sm_100a", ashift("use")),
    "tcgen05.mma: ashift and lastuse": ("sm_100a", ashift("lastuse")),
    "tcgen05.mma: scale-input-d of f8f6f4": ("sm_100a", f"{MULTIPLY.format('f8f6f4')} [%r1], %d1, %d2, %r2, q, 3;"),
    "tcgen05.mma: scale-input-d of f16": ("sm_100a", f"{MULTIPLY.format('f16')} [%r1], %d1, %d2, %r2, q, 3;"),
    "tcgen05.mma: scale factors": ("sm_100a", f"{SCALED}, q;"),
    "tcgen05.mma: scale factors with selectors": (
        "sm_100a",
        f"{SCALED.replace(', [%r4]', ', {0, 0}, [%r4], {0, 0}')}, q;",
    ),
    "tcgen05.alloc: 32 columns": ("sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"),
    "tcgen05.alloc on sm_120a": ("sm_120a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"),
    "mma.sync: block-scaled on sm_120a": ("sm_120a", block_scaled()),
    "mma.sync: block-scaled on sm_100a": ("sm_100a", block_scaled()),
    "mma.sync: 16 registers of A": ("sm_120a", block_scaled(a=16)),
    "mma.sync: 8 registers of B": ("sm_120a", block_scaled(b=8)),
    "mma.sync: scale factors at an address": ("sm_120a", block_scaled(scale="[%r20]")),
    "mma.sync: M 128": ("sm_120a", block_scaled(m=128)),
    "ld.shared: 16 bytes a lane": ("sm_100a", f"ld.shared.v4.b32 {registers('r', 4)}, [%r255];"),
    "ld.shared: 32 bytes a lane": ("sm_100a", f"ld.shared.v8.b32 {registers('r', 8)}, [%r255];"),
    "ld.global: 32 bytes a lane": ("sm_100a", f"ld.global.v8.b32 {registers('r', 8)}, [%d0];"),
    "ld.global: 32 bytes a lane on sm_90a": ("sm_90a", f"ld.global.v8.b32 {registers('r', 8)}, [%d0];"),
    **MANUAL,
    **PUBLISHED,
}


def ptx_of(name: str) -> str:
    """The ``.version`` of PTX that a case is written in."""
    return VERSIONS.get(name, "9.5" if name in MANUAL else "9.0")


def is_asked(tool: str, name: str) -> bool:
    """Whether an assembler, by its version, knows the PTX of a case: CUDA 13.N has 9.N."""
    return tuple(map(int, re.findall(r"\d+", tool)[1:2])) >= (int(ptx_of(name).partition(".")[2]),)


def source(target: str, body: str, ptx: str) -> str:
    """A PTX module with that body."""
    return FRAME.format(version=ptx, target=target, body=body)


def version(ptxas: str) -> str:
    """The assembler's version."""
    told = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V[0-9.]+", told)
    assert found, told
    return found.group()


def verdict(ptxas: str, name: str) -> dict[str, Any]:
    """Whether a case is accepted; the first error, or the codes of what the assembler says that it mended."""
    target, body = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.ptx"
        path.write_text(source(target, body, ptx_of(name)), encoding="utf-8")
        command = [ptxas, f"-arch={target}", "-o", str(path.with_suffix(".cubin")), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    error = re.search(r"(?:error|fatal)\s*:\s*(.*)", told)
    if done.returncode:
        return {"accepted": False, "error": error.group(1) if error else told.strip()}
    mended = [re.sub(r" in around line \d+ by compiler", "", one) for one in re.findall(r"\(C\d{4}\).*", told)]
    return {"accepted": True, "mended": sorted({re.sub(r" in (the )?function '.*", "", one) for one in mended})}
