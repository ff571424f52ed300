"""Small kernels of our own that hand stages from a producer to multiplications: right ones, and with one thing wrong.

Their copies are bulk copies that say their bytes, so that a text has all there is to decide.
"""

from __future__ import annotations

#: A word of a K-major operand with 128-byte rows, less its start; for sm90 and sm100.
SM90_WORD, SM100_WORD = 0x4000004000010000, 0x4000404000010000
#: That of an MN-major operand of 128 such rows' width, 64 deep: 8192 bytes from one half to the other.
SM90_MN_WORD = 0x4000004002000000
#: The instruction descriptor of bf16, M 128, N 64, both operands K-major.
IDESC = 0x08100490
#: That of e4m3 with scale factors ue8m0, M 128, N 64; and the word of 32 rows of 16 bytes, less its start.
SCALED_IDESC, SCALE_WORD = 0x08900000, 0x400800010000


_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_TENSOR_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
_REGISTERS = """.reg .pred pw, pn, pi, pr, pe, pd;
.reg .b32 t, k, n, stage, parity, turn, at, full, empty, lo, hi, r, d, w;
.reg .b64 g, da, db, x; .reg .f32 f<64>; .reg .b32 q<64>;"""


def _wait(label: str, barrier: str, parity: str) -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 pw, [{barrier}], {parity};\n@!pw bra {label};"


def _next(stages: int) -> str:
    """The next stage of the ring, and the parity turned over where it begins again."""
    return f"""add.u32 k, k, 1;
add.u32 stage, stage, 1;
setp.eq.u32 pn, stage, {stages};
selp.b32 stage, 0, stage, pn;
selp.b32 turn, 1, 0, pn;
xor.b32 parity, parity, turn;"""


def _begin(stages: int, full: int, empty: int, size: int, more: str = "") -> str:
    """Registers, addresses, and the barriers of the ring."""
    base = stages * size
    inits = "\n".join(
        f"mbarrier.init.shared::cta.b64 [smem+{base + 8 * s}], {full};\n"
        f"mbarrier.init.shared::cta.b64 [smem+{base + 64 + 8 * s}], {empty};"
        for s in range(stages)
    )
    return f"""{_REGISTERS}
ld.param.u32 n, [k_param_0];
shr.u32 n, n, 6;
ld.param.u64 g, [k_param_1];
mov.u32 t, %tid.x;
setp.ne.u32 pi, t, 0;
@pi bra READY;
{inits}
{more}
READY:
bar.sync 0;
mov.u32 k, 0;
mov.u32 stage, 0;"""


def _stage(stages: int, size: int) -> str:
    return f"""mad.lo.u32 at, stage, {size}, 0;
mov.u32 r, smem;
add.u32 at, at, r;
shl.b32 full, stage, 3;
add.u32 full, full, r;
add.u32 full, full, {stages * size};
add.u32 empty, full, 64;"""


def _copies(a: int, b: int) -> str:
    copies = [f"{_COPY} [at], [g], {a}, [full];"] * (a > 0) + [f"{_COPY} [at+{a}], [g], {b}, [full];"]
    return "\n".join([f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {a + b};", *copies])


def _words(word: int, a: int, b_word: int = 0) -> str:
    """The words of both operands: B lies behind A, and has its word or one of its own."""
    b = f"add.u64 db, da, {a >> 4};"
    if b_word:
        b = f"cvt.u64.u32 db, lo;\nadd.u64 db, db, {a >> 4};\nand.b64 db, db, 16383;\nor.b64 db, db, {b_word};"
    return f"""shr.u32 lo, at, 4;
cvt.u64.u32 da, lo;
or.b64 da, da, {word};
{b}"""


def ring_sm90(stages: int = 3, *, major: str = "K", a: str = "smem") -> str:
    """A producer warp and a warpgroup that multiplies a stage of depth 64: A of 64 rows, and B.

    B has 64 rows, or 128 where it is MN-major; A is K-major, in shared memory or, the same in all stages, in registers.
    """
    n, b_word, step, trans = (64, SM90_WORD, 2, 0) if major == "K" else (128, SM90_MN_WORD, 128, 1)
    a_bytes, b_bytes = 8192 if a == "smem" else 0, 128 * n
    size = a_bytes + b_bytes
    d = "{" + ", ".join(f"f{i}" for i in range(n // 2)) + "}"
    first, a_trans = ("da", "0, ") if a_bytes else ("{q0, q1, q2, q3}", "")
    mma = "\n".join(
        f"add.u64 da, da, {2 * (i > 0)};\nadd.u64 x, db, {step * i};\n"
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {d}, {first}, x, 1, 1, 1, {a_trans}{trans};"
        for i in range(4)
    )
    zero = [f"mov.f32 f{i}, 0f00000000;" for i in range(n // 2)]
    zero += [] if a_bytes else [f"ld.global.b32 q{i}, [g+{4 * i}];" for i in range(4)]
    store = "\n".join(f"st.global.f32 [g+{4 * i}], f{i};" for i in range(n // 2))
    return f"""{_head(90, 160)}
{_begin(stages, 1, 128, size)}
setp.lt.u32 pr, t, 128;
@pr bra CONSUMER;
setp.ne.u32 pe, t, 128;
@pe bra END;
mov.u32 parity, 1;
PRODUCE: setp.ge.u32 pd, k, n;
@pd bra END;
{_stage(stages, size)}
{_wait("SLOT", "empty", "parity")}
{_copies(a_bytes, b_bytes)}
{_next(stages)}
bra PRODUCE;
CONSUMER: mov.u32 parity, 0;
{chr(10).join(zero)}
CONSUME: setp.ge.u32 pd, k, n;
@pd bra STORE;
{_stage(stages, size)}
{_wait("DATA", "full", "parity")}
{_words(SM90_WORD, a_bytes, b_word)}
wgmma.fence.sync.aligned;
{mma}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mbarrier.arrive.shared::cta.b64 _, [empty];
{_next(stages)}
bra CONSUME;
STORE:
{store}
END: ret;
}}
"""


def tensor_ring_sm90(stages: int = 3, name: str = "k") -> str:
    """A ring whose operands come by tensor copies: their maps are the parameters 2 and 3."""
    text = ring_sm90(stages).replace(
        ".param .u64 k_param_1)",
        ".param .u64 k_param_1, .param .align 64 .b8 k_param_2[128], .param .align 64 .b8 k_param_3[128])",
    )
    for at, number in (("[at]", 2), ("[at+8192]", 3)):
        copy = f"mov.b64 x, k_param_{number};\n{_TENSOR_COPY} {at}, [x, {{k, k}}], [full];"
        text = text.replace(f"{_COPY} {at}, [g], 8192, [full];", copy)
    return text.replace("k_param", f"{name}_param").replace(".entry k(", f".entry {name}(")


def stored_sm90() -> str:
    """A warpgroup that stores both operands itself, multiplies, and copies two tiles of results out in bulk."""
    d = "{" + ", ".join(f"f{i}" for i in range(32)) + "}"
    mma = "\n".join(
        f"add.u64 da, da, {2 * (i > 0)};\nadd.u64 db, db, {2 * (i > 0)};\n"
        f"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {d}, da, db, {int(i > 0)}, 1, 1, 0, 0;"
        for i in range(4)
    )
    fill = "\n".join(f"st.shared.v4.b32 [at+{16 * i}], {{t, t, t, t}};" for i in range(8))
    out = "\n".join(f"st.shared.f32 [r+{4 * i}], f{i};" for i in range(32))
    return f"""{_head(90, 128)}
{_REGISTERS}
ld.param.u64 g, [k_param_1];
mov.u32 t, %tid.x;
mov.u32 w, smem;
mad.lo.u32 at, t, 128, w;
add.u32 r, at, 16384;
mov.u32 k, 0;
TILE:
{fill}
fence.proxy.async.shared::cta;
bar.sync 0;
mov.u32 at, w;
{_words(SM90_WORD, 8192)}
wgmma.fence.sync.aligned;
{mma}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{out}
fence.proxy.async.shared::cta;
bar.sync 0;
setp.ne.u32 pi, t, 0;
@pi bra WAITED;
cp.async.bulk.global.shared::cta.bulk_group [g], [smem+16384], 16384;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
WAITED: bar.sync 0;
mad.lo.u32 at, t, 128, w;
add.u32 k, k, 1;
setp.lt.u32 pr, k, 2;
@pr bra TILE;
ret;
}}
"""


def ring_sm100(stages: int = 3, *, scaled: bool = False) -> str:
    """A producer warp, a warp that multiplies 128 by 64 by 64 a stage, and four that read the accumulator.

    With ``scaled`` by 128, with scale factors, of which a stage has 512 bytes for A and for B behind the operands: two
    copies bring them to the columns behind the accumulator's.
    """
    size = 25600 if scaled else 24576
    base, columns = stages * size, 128 if scaled else 64
    kind, factors = ("mxf8f6f4.block_scale", "[d+64], [d+68], ") if scaled else ("f16", "")
    mma = "\n".join(
        f"add.u64 da, da, {2 * (i > 0)};\nadd.u64 db, db, {2 * (i > 0)};\n"
        f"tcgen05.mma.cta_group::1.kind::{kind} [d], da, db, w, {factors}pd;\nsetp.eq.u32 pd, k, k;"
        for i in range(4)
    )
    if scaled:
        mma = f"""add.u32 lo, at, 24576;
shr.u32 lo, lo, 4;
cvt.u64.u32 x, lo;
or.b64 x, x, {SCALE_WORD};
tcgen05.cp.cta_group::1.32x128b.warpx4 [d+64], x;
add.u64 x, x, 32;
tcgen05.cp.cta_group::1.32x128b.warpx4 [d+68], x;
{mma}"""
    row = "{" + ", ".join(f"q{i}" for i in range(64)) + "}"
    store = "\n".join(f"st.global.b32 [g+{4 * i}], q{i};" for i in range(64))
    done = f"smem+{base + 128}"
    return f"""{_head(100, 192)}
{_begin(stages, 1, 1, size, f"mbarrier.init.shared::cta.b64 [{done}], 1;")}
setp.ge.u32 pi, t, 32;
@pi bra WAITED;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+{base + 136}], {columns};
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
WAITED: bar.sync 0;
ld.shared.b32 d, [smem+{base + 136}];
setp.lt.u32 pr, t, 128;
@pr bra READER;
setp.ge.u32 pr, t, 160;
@pr bra MULTIPLY;
setp.ne.u32 pe, t, 128;
@pe bra END;
mov.u32 parity, 1;
PRODUCE: setp.ge.u32 pd, k, n;
@pd bra END;
{_stage(stages, size)}
{_wait("SLOT", "empty", "parity")}
{_copies(16384, size - 16384)}
{_next(stages)}
bra PRODUCE;
MULTIPLY: setp.ne.u32 pe, t, 160;
@pe bra END;
mov.u32 parity, 0;
mov.u32 w, {SCALED_IDESC if scaled else IDESC};
ROUND: setp.ge.u32 pd, k, n;
@pd bra LAST;
{_stage(stages, size)}
{_wait("DATA", "full", "parity")}
{_words(SM100_WORD, 16384)}
setp.ne.u32 pd, k, 0;
{mma}
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [empty];
{_next(stages)}
bra ROUND;
LAST: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{done}];
bra END;
READER: setp.eq.u32 pe, n, 0;
@pe bra END;
{_wait("RESULT", done, "0")}
tcgen05.fence::after_thread_sync;
shr.u32 r, t, 5;
shl.b32 r, r, 21;
add.u32 r, r, d;
tcgen05.ld.sync.aligned.32x32b.x64.b32 {row}, [r];
tcgen05.wait::ld.sync.aligned;
{store}
END: bar.sync 0;
setp.ge.u32 pi, t, 32;
@pi bra OUT;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, {columns};
OUT: ret;
}}
"""


def _head(arch: int, threads: int) -> str:
    return f""".version 8.7
.target sm_{arch}a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u32 k_param_0, .param .u64 k_param_1) .reqntid {threads}
{{"""
