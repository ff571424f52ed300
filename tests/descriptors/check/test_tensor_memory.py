"""Tensor memory as a whole: columns, cells that two have, and cells that nobody wrote."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx

HEAD = ".version 8.8\n.target sm_100a\n.shared .align 4 .b8 s[64];\n.entry k() .reqntid 128 {\n"
#: M 128, N 128, f16 to f32; the same with N 256.
NARROW, WIDE = 136314896, 138412048


def errors(
    columns: int = 128, at: int = 0, idesc: int = NARROW, adds: int = 0, load: str = "x128", shift: int = 0
) -> list[str]:
    registers = ",".join(f"r{i}" for i in range(int(load[1:])))
    body = [
        f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], {columns}; bar.sync 0;",
        f"ld.shared.b32 t, [s]; add.s32 d, t, {at}; elect.sync _|p, -1; setp.ne.s32 e, {adds}, 0;",
        f"mov.b32 i, {idesc}; @p tcgen05.mma.cta_group::1.kind::f16 [d], x, y, i, {adds};",
        "@p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];",
        "W: mbarrier.try_wait.parity.shared::cta.b64 w, [s+8], 0; @!w bra W; tcgen05.fence::after_thread_sync;",
        "mov.u32 n, %tid.x; shr.u32 n5, n, 5; shl.b32 lane, n5, 21; add.s32 l, d, lane;",
        f"tcgen05.ld.sync.aligned.32x32b.{load}.b32 {{{registers}}}, [l+{shift}]; tcgen05.wait::ld.sync.aligned;",
        f"bar.sync 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, {columns};",
    ]
    report = check_ptx(HEAD + "\n".join(body) + "\nret; }\n")
    return [one.rule.name for one in report.errors if one.rule.name.startswith("tcgen05")]


def test_what_fits_is_clean() -> None:
    assert errors() == [] == errors(256, idesc=WIDE) == errors(256, at=128)


@pytest.mark.parametrize(
    "wrong",
    [{"columns": 64}, {"idesc": WIDE, "load": "x32"}, {"at": 64, "load": "x32"}, {"shift": 64}, {"at": 128}],
)
def test_columns_beyond_the_allocation_are_told(wrong: dict[str, int]) -> None:
    assert set(errors(**wrong)) == {"tcgen05-unallocated"}  # type: ignore[arg-type]


def test_an_accumulator_that_nothing_wrote_is_told() -> None:
    assert errors(adds=1) == ["tcgen05-unwritten"]


def test_scale_factors_need_cells_of_their_own_and_a_copy() -> None:
    def told(a: int, b: int, copy: str) -> list[str]:
        body = (
            "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 256; bar.sync 0; ld.shared.b32 t, [s];"
            f"add.s32 a, t, {a}; add.s32 b, t, {b}; mov.b32 i, 0x8a00480; elect.sync _|p, -1; {copy}"
            "@p tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [t], x, y, i, [a], [b], 0;"
            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 256;"
        )
        return [one.rule.name for one in check_ptx(HEAD + body + "\nret; }\n").errors if "tcgen05-" in one.rule.name]

    copy = "@p tcgen05.cp.cta_group::1.32x128b.warpx4 [a], z; @p tcgen05.cp.cta_group::1.32x128b.warpx4 [b], z;"
    assert "tcgen05-overlap" not in told(128, 132, copy) and "tcgen05-unwritten" not in told(128, 132, copy)
    assert "tcgen05-unwritten" in told(128, 132, "")
    assert "tcgen05-overlap" in told(0, 132, copy) and "tcgen05-overlap" in told(128, 128, copy)
