"""The kernels that the checker is tried on, and mutants of them: each with one thing wrong, and the rule that says so.

The kernels are what compilers made of the project's own sources (``scripts/make_kernels.py``). A mutant is one with
one line changed so that it breaks a rule by construction: what is removed was needed, what is written does not exist.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kernel_changes import (
    Change,
    a_missing,
    all_commits,
    all_waits,
    behind,
    by_thread,
    early,
    few,
    field,
    idesc,
    last_commit,
    last_wait,
    needed,
    operand,
    preceded,
    replaced,
    touched,
    without,
)
from places import VECTORS

RECORD = VECTORS / "kernels.json.xz"


@cache
def record() -> dict[str, Any]:
    """What the script wrote: tools, and the PTX of every kernel by name."""
    found: dict[str, Any] = json.loads(lzma.decompress(RECORD.read_bytes()))
    return found


def kernels() -> dict[str, str]:
    """The PTX of every kernel."""
    held: dict[str, str] = record()["kernels"]
    return held


@dataclass(frozen=True)
class Mutant:
    """A kernel with one thing wrong.

    Attributes:
        sort: what was done to it.
        kernel: the name of the kernel.
        text: the PTX.
        rules: the rules that say what is wrong; one of them has to be told that was not told before.
    """

    sort: str
    kernel: str
    text: str
    rules: tuple[str, ...]


_FENCES = ("wgmma-fence", "wgmma-fence-read", "wgmma-fence-shape")


def mutants(name: str, text: str) -> Iterator[Mutant]:
    """Every mutant of a kernel."""
    lines = text.split("\n")
    for sort, where, change, rules in _CHANGES:
        for number in [i for i, line in enumerate(lines) if re.search(where, line)]:
            for changed in change(lines, number):
                yield Mutant(sort, name, "\n".join(changed), rules)


_W, _T = r"^\s*(@!?%p\d+ )?wgmma\.", r"^\s*(@!?%p\d+ )?tcgen05\."
_MMA = _W + "mma_async"
_PLAIN = _T + r"mma\.cta_group::1\.kind::(f16|tf32|f8f6f4)"
_SCALED = _T + r"mma\.cta_group::1\.kind::mx"
_VECTOR = r"%[rf]\d+\s*,\s*"

#: What was done; where; how; the rules that say so.
_CHANGES: tuple[tuple[str, str, Change, tuple[str, ...]], ...] = (
    ("fence removed", _W + "fence", without, _FENCES),
    ("commit removed", _W + "commit_group", without, ("wgmma-commit", "wgmma-wait")),
    ("wait removed", _W + "wait_group", last_wait(without), ("wgmma-wait", "wgmma-wait-count")),
    ("wait N raised", _W + "wait_group", last_wait(replaced(r"\b0;", "1;")), ("wgmma-wait-count",)),
    ("accumulator written early", _MMA, touched("mov.b32 {D}, 0;"), ("wgmma-wait",)),
    ("accumulator read early", _MMA, touched("st.shared.b32 [%r0], {D};"), ("wgmma-wait",)),
    ("register of A written early", _MMA, touched("mov.b32 {A}, 0;"), ("wgmma-a-changed",)),
    ("accumulator read before the wait", _W + "wait_group", early("st.shared.b32 [%r0], {D};"), (
        "wgmma-wait", "wgmma-wait-count")),
    ("accumulator written before the wait", _W + "wait_group", early("mov.b32 {D}, 0;"), (
        "wgmma-wait", "wgmma-wait-count")),
    ("accumulator read behind wait 1", _W + "wait_group", behind("st.shared.b32 [%r0], {D};"), ("wgmma-wait-count",)),
    ("accumulator computed behind wait 1", _W + "wait_group", behind("mul.f32 {D}, {D}, 0f3f800000;"), (
        "wgmma-wait-count",)),
    ("register of A missing", _MMA, a_missing, ("form-registers",)),
    ("multiplication of some threads", _MMA, by_thread, ("wgmma-divergent",)),
    ("guard of some threads", _MMA, replaced(r"^\s*wgmma", "@%p9999 wgmma"), ("wgmma-divergent",)),
    ("call of printf", _W + "fence", preceded("call.uni (%r9998), vprintf, (%r9997, %r9996);"), ("wgmma-call-kept",)),
    ("call in flight", _W + "commit_group", preceded("call.uni (%r9998), vprintf, (%r9997, %r9996);"), ("wgmma-call",)),
    ("too few registers", r"^\.reqntid", few, ("form-limit",)),
    ("operand missing", _MMA, replaced(r", [01];", ";"), ("form-operands",)),
    ("register of D missing", _MMA, replaced(_VECTOR, ""), ("form-registers",)),
    ("shape of no instruction", _MMA, replaced(r"n\d+k", "n12k", "n264k"), ("form-shape",)),
    ("k of another type", _MMA, replaced(r"k\d+\.", "k4."), ("form-shape",)),
    ("types of two kinds", _MMA, replaced(r"\.(\w+)\.(\w+) \{", r".\1.s8 {"), ("form-types",)),
    ("imm-scale 0", _MMA, replaced(r"%p\d+, 1, 1", "%p0, 0, 1"), ("form-immediate",)),
    ("imm-trans 2", _MMA, replaced(r"(%p\d+, 1, 1, )[01]", r"\g<1>2"), ("form-immediate",)),
    ("scale-d 2", _MMA, replaced(r"%p\d+(, 1, 1)", r"2\1"), ("form-immediate",)),
    ("wait_group 8", _W + "wait_group", replaced(r"[01];", "8;"), ("form-immediate",)),
    ("target without wgmma", r"^\.target sm_90a", replaced("sm_90a", "sm_90", "sm_100a", "sm_120a"), ("form-target",)),
    ("stride of no bytes", _MMA, operand(1, -(64 << 32)), ("word-smem", "word-advance", "word-suspect")),
    ("start moved by half a K block", _MMA + r".*(f16.* 0|e[45]m\d.* 1|tf32.* 1);", operand(1, 1), ("word-advance",)),
    ("target without tcgen05", r"^\.target sm_100a", replaced(
        "sm_100a", "sm_100", "sm_90a", "sm_120a"), ("form-target",)),
    ("commits removed (tcgen05)", _T + "commit", all_commits, ("tcgen05-commit",)),
    ("the only commit removed (tcgen05)", _T + "commit", last_commit, ("tcgen05-commit",)),
    ("waits removed (tcgen05)", r"mbarrier\.try_wait", all_waits, ("tcgen05-wait",)),
    ("wait::st removed", _T + "wait::st", needed, ("tcgen05-wait-st",)),
    ("wait::ld removed", _T + "wait::ld", without, ("tcgen05-wait-ld",)),
    ("two cta_groups", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", replaced(
        "cta_group::1", "cta_group::2"), ("tcgen05-cta-group",)),
    ("two cta_groups (of a pair)", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", replaced(
        "cta_group::2", "cta_group::1"), ("tcgen05-cta-group",)),
    ("alloc larger than the one before", _T + "alloc", preceded(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;"), (
        "tcgen05-alloc-order", "tcgen05-alloc-full")),
    ("alloc of more than there is", _T + "alloc", preceded(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 512;"), ("tcgen05-alloc-full",)),
    ("no cta_group", _T + "(mma|commit|alloc|dealloc)", replaced(r"\.cta_group::1", ""), ("form-qualifier",)),
    ("alloc of no size", _T + "alloc", replaced(
        r", \d+;", ", 0;", ", 16;", ", 48;", ", 96;", ", 1024;"), ("form-immediate",)),
    ("alloc after relinquish", _T + "alloc", preceded(
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"), ("tcgen05-alloc-relinquished",)),
    ("alloc that increases", _T + "alloc", preceded(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 16;"), ("form-immediate",)),
    ("alloc removed", _T + "alloc", without, ("tcgen05-unallocated",)),
    ("dealloc removed", _T + "dealloc", without, ("tcgen05-dealloc-missing",)),
    ("dealloc of other columns", _T + "dealloc", replaced(r"(, \d+);", r"\g<1>0;"), ("form-immediate",)),
    ("dealloc of half the columns", _T + "dealloc", replaced(r"(512|256|128|64);", "32;"), (
        "tcgen05-dealloc-unknown",)),
    ("register of ld missing", _T + r"ld\..*\{.*,", replaced(_VECTOR, ""), ("form-registers",)),
    ("register of st missing", _T + r"st\..*\{.*,", replaced(_VECTOR, ""), ("form-registers",)),
    ("operand missing (tcgen05)", _T + "mma", replaced(r", !?%p\d+;", ";"), ("form-operands",)),
    ("kind of no instruction", _T + "mma", replaced(r"kind::\w+", "kind::f64"), ("form-qualifier",)),
    ("ashift of shared memory", _PLAIN + r"[^\]]*\], %rd", replaced(r"(kind::\w+)", r"\1.ashift"), ("form-qualifier",)),
    ("sp without metadata", _PLAIN + r"[^\]]*\], %rd", replaced(r"mma\.", "mma.sp."), ("form-operands",)),
    ("mask of wrong size", _PLAIN, replaced(r", (!?%p\d+;)", r", {%r1, %r2}, \1"), ("form-registers", "form-operands")),
    ("scale-input-d 16", _PLAIN, replaced(r"(%p\d+);", r"\1, 16;"), ("form-immediate",)),
    ("shift up", _T + "mma", preceded("tcgen05.shift.cta_group::1.up [%r0];"), ("form-qualifier",)),
    ("idesc: M 16", _PLAIN, idesc(field(24, 5, 1)), ("word-idesc",)),
    ("idesc: M 0", _PLAIN, idesc(field(24, 5, 0)), ("word-idesc",)),
    ("idesc: N 0", _T + "mma", idesc(field(17, 6, 0)), ("word-idesc",)),
    ("idesc: N 504", _T + "mma", idesc(field(17, 6, 63)), ("word-idesc",)),
    ("idesc: sparse", _T + "mma", idesc(field(2, 1, 1)), ("word-idesc",)),
    ("idesc: a type that is none", _T + "mma", idesc(field(7, 3, 7)), ("word-idesc",)),
    ("idesc: a reserved bit", _PLAIN, idesc(field(29, 1, 1)), ("word-idesc",)),
    ("idesc: D of no type", _PLAIN, idesc(field(4, 2, 3)), ("word-idesc",)),
    ("idesc: saturated floats", _PLAIN, idesc(field(3, 1, 1)), ("word-idesc",)),
    ("idesc: scale factors of other bytes", _T + r"mma.*mxf4", idesc(field(29, 2, 1)), ("word-idesc",)),
    ("scale vector of another kind", _SCALED, replaced(r"(block_scale)[^\s\[]*", r"\1.block16"), ("form-qualifier",)),
    ("stride of no bytes (tcgen05)", _PLAIN, operand(0, -(64 << 32)), ("word-smem", "word-advance", "word-suspect")),
    ("swizzle of no code", _PLAIN, operand(0, 1 << 61), ("word-smem", "word-advance", "word-suspect")),
    ("bits of no field", _PLAIN, operand(0, 1 << 53), ("word-unused-bits",)),
    ("start moved by half a K block (tcgen05)", _PLAIN + r"[^\]]*\], %rd", operand(0, 1), ("word-advance",)),
)  # fmt: skip
