"""Small kernels with one mbarrier and shared memory, for tests of the execution: a frame around a body."""

from __future__ import annotations

from descriptors import check_ptx
from descriptors.check.kernel_report import Report

FRAME = """.version 8.8
.target {target}
.address_size 64
.shared .align 1024 .b8 s[4096];
.shared .align 8 .b64 b;
.shared .align 8 .b64 b2;
.visible .entry k(.param .u64 p0, .param .u32 p1) .reqntid {threads}, 1, 1{cluster}
{{
.reg .b32 %r<40>;
.reg .b64 %rd<20>;
.reg .pred %p<10>;
.reg .f32 %f<40>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
and.b32 %r4, %r1, 31;
setp.ne.u32 %p2, %r4, 0;
setp.ge.u32 %p3, %r1, 32;
ld.param.u64 %rd1, [p0];
{body}
}}
"""
INIT = """setp.ne.u32 %p1, %r1, 0;
@!%p1 mbarrier.init.shared.b64 [b], {count};
@!%p1 mbarrier.init.shared.b64 [b2], 1;
bar.sync 0;
"""


def report(
    body: str, *, count: int = 1, threads: int = 64, target: str = "sm_90a", init: str = INIT, cluster: int = 1
) -> Report:
    """Check a kernel with an mbarrier ``b`` and shared memory ``s``."""
    directive = f" .reqnctapercluster {cluster}, 1, 1" if cluster > 1 else ""
    text = FRAME.format(body=init.format(count=count) + body, threads=threads, target=target, cluster=directive)
    return check_ptx(text)


def rules(checked: Report) -> set[str]:
    """Return the rules of the errors of a report."""
    return {error.rule.name for error in checked.errors}


def verdict(checked: Report, name: str = "reuse") -> str:
    """Return the verdict of a report about a property."""
    return next(row.verdict for row in checked.properties if row.property == name)
