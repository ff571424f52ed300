"""Kernels with what PTX 9.4 has new in tensor memory: right ones, and each rule broken. ptxas 13.5 takes them all."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from descriptors import check_ptx
from descriptors.check.kernel_report import Report

HEAD = """.version 9.5
.target {target}
.address_size 64
.shared .align 1024 .b8 a_tile[8192];
.shared .align 1024 .b8 b_tile[4096];
.shared .align 8 .b64 done;
.shared .align 8 .b64 early;
.shared .align 4 .b32 slot;
.visible .entry k(.param .u64 out) .reqntid 128
{{
.reg .pred %first, %low, %over;
.reg .b32 %thread, %t, %quarter, %zero, %a, %b, %at, %low_a, %low_b, %r<16>;
.reg .b64 %rd<4>, %word_a, %word_b;
mov.u32 %thread, %tid.x;
setp.eq.u32 %first, %thread, 0;
setp.lt.u32 %low, %thread, 32;
mov.u32 %zero, 0;
mov.u32 %a, a_tile;
mov.u32 %b, b_tile;
shl.b32 %at, %thread, 4;
{fill}
@%first mbarrier.init.shared.b64 [done], 1;
@%first mbarrier.init.shared.b64 [early], 1;
fence.proxy.async.shared::cta;
{alloc}
bar.sync 0;
tcgen05.fence::after_thread_sync;
ld.shared.b32 %t, [slot];
shr.u32 %quarter, %thread, 5;
shl.b32 %quarter, %quarter, 21;
add.u32 %quarter, %t, %quarter;
shr.u32 %low_a, %a, 4;
and.b32 %low_a, %low_a, 0x3fff;
cvt.u64.u32 %rd0, %low_a;
or.b64 %word_a, %rd0, 0x0000400800800000;
shr.u32 %low_b, %b, 4;
and.b32 %low_b, %low_b, 0x3fff;
cvt.u64.u32 %rd1, %low_b;
or.b64 %word_b, %rd1, 0x0000400800400000;
"""
FILL = "".join(
    f"add.u32 %r15, {base}, %at; st.shared.v4.b32 [%r15+{offset}], {{%zero,%zero,%zero,%zero}};\n"
    for base, size in (("%a", 8192), ("%b", 4096)) for offset in range(0, size, 2048)
)  # fmt: skip
COMMIT = "@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one{}.shared::cluster.b64 [{}];"
READS = ".sync_restrict::shared::read::mma::a"
LOAD = "tcgen05.ld{}.sync.aligned.32x32b.{} {}, [%quarter+{}];"
PARTS = {
    "mma": "", "commit": COMMIT.format("", "done"), "between": "",
    "wait": "L: mbarrier.try_wait.parity.shared::cta.b64 %over, [done], 0;\n@!%over bra L;\n"
    "tcgen05.fence::after_thread_sync;",
    "load": LOAD.format("", "x2.b32", "{%r0, %r1}", 0), "wait_load": "tcgen05.wait::ld.sync.aligned;",
    "use": "ld.param.u64 %rd2, [out]; st.global.b32 [%rd2], %r0;",
    "meet": "tcgen05.fence::before_thread_sync;\nbar.sync 0;", "dealloc": "",
}  # fmt: skip


def multiply(words: str = "", kind: str = "f16", adds: int = 0, table: str = "", idesc: str = "0x08100010") -> str:
    return f"@%first tcgen05.mma.cta_group::1.kind::{kind}{words} [%t], %word_a, %word_b, {table}{idesc}, {adds};"


def allocation(columns: int, word: str = "") -> str:
    return f"@%low tcgen05.alloc{word}.cta_group::1.sync.aligned.shared::cta.b32 [slot], {columns};"


def deallocation(columns: int, word: str = "") -> str:
    return f"@%low tcgen05.dealloc{word}.cta_group::1.sync.aligned.b32 %t, {columns};"


def kernel(
    target: str = "sm_107a", alloc: str = allocation(128), dealloc: str = deallocation(128), **parts: str
) -> str:
    changed = {**PARTS, "mma": multiply(), "dealloc": dealloc, **parts}
    return HEAD.format(target=target, fill=FILL, alloc=alloc) + "\n".join(changed.values()) + "\nret;\n}\n"


EXCLUSIVE = {"alloc": allocation(576, ".exclusive"), "dealloc": deallocation(576, ".exclusive")}
REDUCED = LOAD.format(".red", "x2.max.f32", "{%r0, %r1}, %r2", 0)
KEPT = LOAD.format(".spcompress", "x4.max.sp::2:4.f32.b2", "{%r2}, {%r0, %r1}", 0)
USE_OF_2 = "ld.param.u64 %rd2, [out]; st.global.b32 [%rd2], %r2;"
LOOKED_UP: dict[str, Any] = {
    "words": ".decompress::lut::b", "kind": "f8f6f4", "idesc": "0x28100010", "table": "[%t+64], ",
}  # fmt: skip
TABLE = (
    "@%low tcgen05.st.sync.aligned.32x32b.x2.b32 [%t+{}], {{%zero, %zero}};\ntcgen05.wait::st.sync.aligned;\n"
    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
)
EARLY = f"{COMMIT.format(READS, 'early')}\n{COMMIT.format('', 'done')}"
REFILL = (
    "E: mbarrier.try_wait.parity.shared::cta.b64 %over, [early], 0;\n@!%over bra E;\n"
    "add.u32 %r14, {}, %at;\nst.shared.v4.b32 [%r14], {{%zero,%zero,%zero,%zero}};"
)
FILLED, KEEPS = multiply(".collector::b::fill"), multiply(".collector::b::use", adds=1)
LAST = multiply(".collector::b::lastuse", adds=1)

RIGHT: dict[str, dict[str, str]] = {
    "plain": {},
    "an exclusive allocation of all columns": EXCLUSIVE,
    "columns behind the 512th": {**EXCLUSIVE, "mma": multiply().replace("[%t]", "[%t+512]"),
                                 "load": LOAD.format("", "x2.b32", "{%r0, %r1}", 574)},
    "a load that reduces": {"load": REDUCED, "use": USE_OF_2},
    "a load that compresses": {"load": KEPT, "use": USE_OF_2},
    "B kept in its collector": {"mma": f"{FILLED}\n{KEEPS}\n{LAST}"},
    "a last use of what nobody keeps": {"mma": multiply(".collector::a::lastuse.collector::b::lastuse")},
    "B by a lookup table": {"mma": TABLE.format(64) + multiply(**LOOKED_UP)},
    "K 64 of eight bits": {"mma": multiply(kind="f8f6f4", idesc="0x28100010")},
    "A overwritten when it was read": {"commit": EARLY, "between": REFILL.format("%a")},
}  # fmt: skip
SPOILT: dict[str, tuple[dict[str, str], list[str]]] = {
    "an exclusive one freed without the word": (
        {"alloc": allocation(128, ".exclusive")}, ["tcgen05-dealloc-unknown"]),
    "another freed with the word": ({"dealloc": deallocation(128, ".exclusive")}, ["tcgen05-dealloc-unknown"]),
    "an exclusive one of more columns than there are": (
        {"alloc": allocation(608, ".exclusive"), "dealloc": deallocation(608, ".exclusive")}, ["tcgen05-alloc-size"]),
    "576 columns on sm_100a": ({**EXCLUSIVE, "target": "sm_100a"}, ["tcgen05-alloc-size"]),
    "an exclusive one beside another": (
        {"alloc": f"{allocation(128)}\n{allocation(128, '.exclusive')}"}, ["tcgen05-alloc-full"]),
    "a reduction used before the wait": (
        {"load": REDUCED, "wait_load": "", "use": USE_OF_2}, ["tcgen05-wait-ld"]),
    "metadata used before the wait": ({"load": KEPT, "wait_load": "", "use": USE_OF_2}, ["tcgen05-wait-ld"]),
    "a compressing load that ends behind its columns": (
        {"load": KEPT.replace("[%quarter+0]", "[%quarter+126]")}, ["tcgen05-unallocated"]),
    "a collector that nothing fills": ({"mma": f"{multiply()}\n{KEEPS}"}, ["tcgen05-collector"]),
    "a collector that was given up": ({"mma": f"{FILLED}\n{LAST}\n{KEEPS}"}, ["tcgen05-collector"]),
    "a collector with another B": (
        {"mma": f"{FILLED}\n@%first add.u64 %word_b, %word_b, 128;\n{LAST}"}, ["tcgen05-collector"]),
    "a lookup table that nothing wrote": ({"mma": multiply(**LOOKED_UP)}, ["tcgen05-unwritten"]),
    "a lookup table at an odd column": (
        {"mma": TABLE.format(65) + multiply(**{**LOOKED_UP, "table": "[%t+65], "})}, ["tcgen05-table"]),
    "a lookup table in the accumulator": (
        {"mma": TABLE.format(4) + multiply(**{**LOOKED_UP, "table": "[%t+4], "})}, ["tcgen05-overlap"]),
    "a lookup table of e5m2": (
        {"mma": TABLE.format(64) + multiply(**{**LOOKED_UP, "idesc": "0x28100410"})}, ["word-idesc"]),
    "a result read when A was read": (
        {"commit": COMMIT.format(READS, "done")}, ["tcgen05-order", "tcgen05-dealloc-early"]),
    "B overwritten when A was read": (
        {"commit": EARLY, "between": REFILL.format("%b")}, ["reuse-order"]),
}  # fmt: skip


#: A lies in dynamic shared memory, 2**18 bytes behind its beginning.
FAR = {
    ".shared .align 1024 .b8 a_tile[8192];": ".extern .shared .align 1024 .b8 a_tile[];",
    "mov.u32 %a, a_tile;": "mov.u32 %a, a_tile;\nadd.u32 %a, %a, 262144;",
    "and.b32 %low_a, %low_a, 0x3fff;": "and.b32 %low_a, %low_a, 0x7fff;",
}


@pytest.mark.parametrize(("target", "rules"), [("sm_107a", []), ("sm_100a", ["reuse-bounds", "reuse-unwritten"])])
def test_a_start_of_15_bits_is_of_sm107_alone(target: str, rules: list[str]) -> None:
    text = kernel(target)
    for old, new in FAR.items():
        text = text.replace(old, new)
    assert found(check_ptx(text)) == rules


def test_what_no_model_reads_is_told() -> None:
    packed = multiply(kind="f8f6f4", idesc="0x28101690")  # e2m1, K 64
    told = {one.why for one in check_ptx(kernel(mma=packed)).undecided if one.property == "reuse"}
    assert told == {"A has packed 4-bit or 6-bit types, for which there is no read model"}


def found(report: Report) -> list[str]:
    return list(dict.fromkeys(one.rule.name for one in report.findings))


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_has_no_finding_and_all_of_tensor_memory_is_looked_at(name: str) -> None:
    report = check_ptx(kernel(**RIGHT[name]))
    assert found(report) == []
    verdicts = {one.property: one.verdict for one in report.properties}
    assert {verdicts[name] for name in ("forms", "order", "tensor memory", "barriers")} == {"clean"}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_kernel_breaks_these_rules_and_no_other(name: str) -> None:
    parts, rules = SPOILT[name]
    assert sorted(found(check_ptx(kernel(**parts)))) == sorted(rules)


def test_the_bytes_of_a_compressed_b_are_not_looked_at_and_told_so() -> None:
    report = check_ptx(kernel(**RIGHT["B by a lookup table"]))
    told = {(one.property, one.why) for one in report.undecided if "major" not in one.what}
    assert told == {
        ("words", "its operand has indices into a lookup table, which the read model does not support"),
        ("proxies", "B has 3-bit indices, for which there is no read model"),
        ("reuse", "B has 3-bit indices, for which there is no read model"),
    }


def _assembler() -> str | None:
    """A ptxas that knows sm_107, if one is installed."""
    if (tool := shutil.which("ptxas")) is None:
        return None
    read = re.search(r"V(\d+)\.(\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    return tool if read and (int(read[1]), int(read[2])) >= (13, 5) else None


@pytest.mark.skipif(_assembler() is None, reason="no ptxas 13.5 here")
@pytest.mark.parametrize("parts", [*RIGHT.values(), *(parts for parts, _ in SPOILT.values())])
def test_the_assembler_takes_every_kernel(parts: dict[str, str], tmp_path: Path) -> None:
    text, tool = tmp_path / "k.ptx", _assembler()
    assert tool is not None
    text.write_text(kernel(**parts), encoding="utf-8")
    target = parts.get("target", "sm_107a")
    subprocess.run([tool, f"-arch={target}", "-o", str(tmp_path / "k.cubin"), str(text)], check=True)


CLUSTER = """.version 9.5
.target sm_107a
.address_size 64
.shared .align 128 .b8 tile[256];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 source) .reqntid 32 .reqnctapercluster 2
{{
.reg .pred %first, %leads, %over;
.reg .b32 %thread, %rank;
.reg .b64 %rd<4>;
mov.u32 %thread, %tid.x;
mov.u32 %rank, %cluster_ctarank;
setp.eq.u32 %first, %thread, 0;
setp.eq.and.u32 %leads, %rank, 0, %first;
ld.param.u64 %rd0, [source];
@%first mbarrier.init.shared.b64 [bar], 1;
{own}
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
{event}
L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %over, [bar], 0;
@!%over bra L;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}}
"""
ARRIVE = "@%leads mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [bar], {};"
COPY = (
    "@%leads cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::{}"
    " [tile], [%rd0], 256, [bar], {};"
)
EXPECT = "@%first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;"
WIDE, NARROW = "0x3", "0x1"
MULTICAST = {
    "an arrival": ("", ARRIVE),
    "an arrival with a count": ("", ARRIVE.replace("{}", "1, {}")),
    "an arrival with bytes": ("", ARRIVE.replace("arrive.", "arrive.expect_tx.").replace("{}", "0, {}")),
    "a copy": (EXPECT, COPY.replace("{}", "32b", 1)),
}


@pytest.mark.parametrize("name", MULTICAST)
def test_an_event_of_several_ctas_reaches_those_of_its_mask_alone(name: str) -> None:
    own, event = MULTICAST[name]
    texts = [CLUSTER.format(own=own, event=event.format(mask)) for mask in (WIDE, NARROW)]
    assert [found(check_ptx(text)) for text in texts] == [[], ["barrier-hang"]]


@pytest.mark.skipif(_assembler() is None, reason="no ptxas 13.5 here")
@pytest.mark.parametrize("name", MULTICAST)
def test_the_assembler_takes_every_event_of_several_ctas(name: str, tmp_path: Path) -> None:
    own, event = MULTICAST[name]
    text, tool = tmp_path / "k.ptx", _assembler()
    assert tool is not None
    text.write_text(CLUSTER.format(own=own, event=event.format(WIDE)), encoding="utf-8")
    subprocess.run([tool, "-arch=sm_107a", "-o", str(tmp_path / "k.cubin"), str(text)], check=True)
