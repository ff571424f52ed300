"""The kernels that the checker is tried on, and mutants of them: each with one thing wrong, and the rule that says so.

The kernels are what compilers made of the project's own sources (``scripts/make_kernels.py``). A mutant is one with
one line changed so that it breaks a rule by construction: what is removed was needed, what is written does not exist.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

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


_Change = Callable[[list[str], int], Iterator[list[str]]]


def _without(lines: list[str], number: int) -> Iterator[list[str]]:
    yield [*lines[:number], *lines[number + 1 :]]


def _with(pattern: str, *values: str) -> _Change:
    """The line with what a pattern finds first replaced."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for value in values:
            line = re.sub(pattern, value, lines[number], count=1)
            if line != lines[number]:
                yield [*lines[:number], line, *lines[number + 1 :]]

    return change


def _before(*new: str) -> _Change:
    """The line with others before it."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for one in new:
            yield [*lines[:number], one, *lines[number:]]

    return change


def _last_wait(change: _Change) -> _Change:
    """Of the waits of a kernel only those that leave nothing in flight: the others guard shared memory alone."""

    def only(lines: list[str], number: int) -> Iterator[list[str]]:
        if re.search(r"wait_group\S*\s+0;", lines[number]):
            yield from change(lines, number)

    return only


def _touch(text: str) -> _Change:
    """An instruction behind a multiplication that touches its first register of D, or of A."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        groups = re.findall(r"\{([^}]*)\}", lines[number])
        register = (groups[1] if "{A}" in text and len(groups) > 1 else groups[0]).split(",")[0].strip()
        if "{A}" not in text or len(groups) > 1:
            yield [*lines[: number + 1], text.format(D=register, A=register), *lines[number + 1 :]]

    return change


def _early(text: str) -> _Change:
    """An instruction before a wait that touches a register of the last multiplication before it."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        mma = next((one for one in lines[number::-1] if "wgmma.mma_async" in one), "")
        loops = any("bra" in one for one in lines[:number])
        if mma and (loops or "commit_group" in "".join(lines[:number])):
            register = mma.split("{", 1)[1].split(",", 1)[0].strip()
            yield [*lines[:number], text.format(D=register), *lines[number:]]

    return change


def _after(text: str) -> _Change:
    """An instruction behind a wait that leaves a group in flight, which touches a register of that group."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        mma = next((one for one in lines[number::-1] if "wgmma.mma_async" in one), "")
        if mma and re.search(r"wait_group\S*\s+1;", lines[number]):
            register = mma.split("{", 1)[1].split(",", 1)[0].strip()
            yield [*lines[: number + 1], text.format(D=register), *lines[number + 1 :]]

    return change


def _a_missing(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without the first register of A, where A is in registers."""
    parts = lines[number].split("{")
    if len(parts) > 2:
        parts[2] = parts[2].split(",", 1)[1]
        yield [*lines[:number], "{".join(parts), *lines[number + 1 :]]


def _by_thread(lines: list[str], number: int) -> Iterator[list[str]]:
    """A multiplication that only some threads come to."""
    if "@" not in lines[number]:
        made = ["mov.u32 %r9999, %tid.x;", "setp.eq.u32 %p9999, %r9999, 3;", "@%p9999 bra MUTANT;"]
        yield [*lines[:number], *made, lines[number], "MUTANT:", *lines[number + 1 :]]


def _few(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel of wgmma whose threads may have 24 registers."""
    if any("wgmma.mma_async" in line for line in lines):
        yield from _before(".maxnreg 24")(lines, number)


def _last_commit(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without the last commit before a load, and nothing else: the only one of a kernel without a loop."""
    found = [i for i, line in enumerate(lines) if "tcgen05.commit" in line]
    if len(found) == 1 and any("tcgen05.ld" in line for line in lines[number:]):
        yield from _without(lines, number)


def _operand(place: int, delta: int) -> _Change:
    """A multiplication that reads a descriptor so far from its own: ``place`` of its 64-bit registers."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        registers = re.findall(r"%rd\d+", lines[number].split("}", 1)[-1])
        if place < len(registers):
            signed = delta - (1 << 64) if delta >> 63 else delta
            made = f"add.s64 %rd9999, {registers[place]}, {signed};"
            line = lines[number].replace(registers[place], "%rd9999")
            yield [*lines[:number], made, line, *lines[number + 1 :]]

    return change


def _all_waits(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel without a wait for any mbarrier; made once, at the first."""
    found = [i for i, line in enumerate(lines) if "mbarrier.try_wait" in line]
    if number == found[0] and any("tcgen05.ld" in line for line in lines):
        gone = {*found, *(i + 1 for i in found if "bra" in lines[i + 1])}
        yield [line for i, line in enumerate(lines) if i not in gone]


def _needed(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without a ``wait::st``, if a multiplication follows before another."""
    after = (line for line in lines[number + 1 :] if "tcgen05.mma" in line or "wait::st" in line)
    if "tcgen05.mma" in next(after, ""):
        yield from _without(lines, number)


def _all_commits(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel that reads its results, without any commit; made once, at the first."""
    found = [i for i, line in enumerate(lines) if "tcgen05.commit" in line]
    if number == found[0] and any("tcgen05.ld" in line for line in lines):
        yield [line for i, line in enumerate(lines) if i not in found]


def _idesc(change: Callable[[int], int]) -> _Change:
    """The constant of an instruction descriptor, changed where it is made."""

    def changed(lines: list[str], number: int) -> Iterator[list[str]]:
        register = re.search(r"(%r\d+), (?:\[[^\]]*\], \[[^\]]*\], )?!?%p\d+;", lines[number])
        if register is None:
            return
        move = rf"mov\.b32\s+{register[1]}, (-?\d+);"
        made = next((i for i in range(number, -1, -1) if re.search(move, lines[i])), None)
        if made is not None:
            value = int(re.search(move, lines[made])[1])  # type: ignore[index]
            new = change(value & 0xFFFFFFFF)
            if new != value & 0xFFFFFFFF:
                line = re.sub(r"-?\d+;", f"{new - (1 << 32) if new >> 31 else new};", lines[made])
                yield [*lines[:made], line, *lines[made + 1 :]]

    return changed


def _field(low: int, bits: int, value: int) -> Callable[[int], int]:
    mask = ((1 << bits) - 1) << low
    return lambda word: word & ~mask | value << low


_W, _T = r"^\s*(@!?%p\d+ )?wgmma\.", r"^\s*(@!?%p\d+ )?tcgen05\."
_MMA = _W + "mma_async"
_PLAIN = _T + r"mma\.cta_group::1\.kind::(f16|tf32|f8f6f4)"
_SCALED = _T + r"mma\.cta_group::1\.kind::mx"
_VECTOR = r"%[rf]\d+\s*,\s*"

#: What was done; where; how; the rules that say so.
_CHANGES: tuple[tuple[str, str, _Change, tuple[str, ...]], ...] = (
    ("fence removed", _W + "fence", _without, _FENCES),
    ("commit removed", _W + "commit_group", _without, ("wgmma-commit", "wgmma-wait")),
    ("wait removed", _W + "wait_group", _last_wait(_without), ("wgmma-wait", "wgmma-wait-count")),
    ("wait N raised", _W + "wait_group", _last_wait(_with(r"\b0;", "1;")), ("wgmma-wait-count",)),
    ("accumulator written early", _MMA, _touch("mov.b32 {D}, 0;"), ("wgmma-wait",)),
    ("accumulator read early", _MMA, _touch("st.shared.b32 [%r0], {D};"), ("wgmma-wait",)),
    ("register of A written early", _MMA, _touch("mov.b32 {A}, 0;"), ("wgmma-a-changed",)),
    ("accumulator read before the wait", _W + "wait_group", _early("st.shared.b32 [%r0], {D};"), (
        "wgmma-wait", "wgmma-wait-count")),
    ("accumulator written before the wait", _W + "wait_group", _early("mov.b32 {D}, 0;"), (
        "wgmma-wait", "wgmma-wait-count")),
    ("accumulator read behind wait 1", _W + "wait_group", _after("st.shared.b32 [%r0], {D};"), ("wgmma-wait-count",)),
    ("accumulator computed behind wait 1", _W + "wait_group", _after("mul.f32 {D}, {D}, 0f3f800000;"), (
        "wgmma-wait-count",)),
    ("register of A missing", _MMA, _a_missing, ("form-registers",)),
    ("multiplication of some threads", _MMA, _by_thread, ("wgmma-divergent",)),
    ("guard of some threads", _MMA, _with(r"^\s*wgmma", "@%p9999 wgmma"), ("wgmma-divergent",)),
    ("call of printf", _W + "fence", _before("call.uni (%r9998), vprintf, (%r9997, %r9996);"), ("wgmma-call-kept",)),
    ("call in flight", _W + "commit_group", _before("call.uni (%r9998), vprintf, (%r9997, %r9996);"), ("wgmma-call",)),
    ("too few registers", r"^\.reqntid", _few, ("form-limit",)),
    ("operand missing", _MMA, _with(r", [01];", ";"), ("form-operands",)),
    ("register of D missing", _MMA, _with(_VECTOR, ""), ("form-registers",)),
    ("shape of no instruction", _MMA, _with(r"n\d+k", "n12k", "n264k"), ("form-shape",)),
    ("k of another type", _MMA, _with(r"k\d+\.", "k4."), ("form-shape",)),
    ("types of two kinds", _MMA, _with(r"\.(\w+)\.(\w+) \{", r".\1.s8 {"), ("form-types",)),
    ("imm-scale 0", _MMA, _with(r"%p\d+, 1, 1", "%p0, 0, 1"), ("form-immediate",)),
    ("imm-trans 2", _MMA, _with(r"(%p\d+, 1, 1, )[01]", r"\g<1>2"), ("form-immediate",)),
    ("scale-d 2", _MMA, _with(r"%p\d+(, 1, 1)", r"2\1"), ("form-immediate",)),
    ("wait_group 8", _W + "wait_group", _with(r"[01];", "8;"), ("form-immediate",)),
    ("target without wgmma", r"^\.target sm_90a", _with("sm_90a", "sm_90", "sm_100a", "sm_120a"), ("form-target",)),
    ("stride of no bytes", _MMA, _operand(1, -(64 << 32)), ("word-smem", "word-advance", "word-suspect")),
    ("start moved by half a K block", _MMA + r".*(f16.* 0|e[45]m\d.* 1|tf32.* 1);", _operand(1, 1), ("word-advance",)),
    ("target without tcgen05", r"^\.target sm_100a", _with("sm_100a", "sm_100", "sm_90a", "sm_120a"), ("form-target",)),
    ("commits removed (tcgen05)", _T + "commit", _all_commits, ("tcgen05-commit",)),
    ("the only commit removed (tcgen05)", _T + "commit", _last_commit, ("tcgen05-commit",)),
    ("waits removed (tcgen05)", r"mbarrier\.try_wait", _all_waits, ("tcgen05-wait",)),
    ("wait::st removed", _T + "wait::st", _needed, ("tcgen05-wait-st",)),
    ("wait::ld removed", _T + "wait::ld", _without, ("tcgen05-wait-ld",)),
    ("two cta_groups", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", _with(
        "cta_group::1", "cta_group::2"), ("tcgen05-cta-group",)),
    ("two cta_groups (of a pair)", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", _with(
        "cta_group::2", "cta_group::1"), ("tcgen05-cta-group",)),
    ("alloc larger than the one before", _T + "alloc", _before(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;"), (
        "tcgen05-alloc-order", "tcgen05-alloc-full")),
    ("alloc of more than there is", _T + "alloc", _before(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 512;"), ("tcgen05-alloc-full",)),
    ("no cta_group", _T + "(mma|commit|alloc|dealloc)", _with(r"\.cta_group::1", ""), ("form-qualifier",)),
    ("alloc of no size", _T + "alloc", _with(
        r", \d+;", ", 0;", ", 16;", ", 48;", ", 96;", ", 1024;"), ("form-immediate",)),
    ("alloc after relinquish", _T + "alloc", _before(
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"), ("tcgen05-alloc-relinquished",)),
    ("alloc that increases", _T + "alloc", _before(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 16;"), ("form-immediate",)),
    ("alloc removed", _T + "alloc", _without, ("tcgen05-unallocated",)),
    ("dealloc removed", _T + "dealloc", _without, ("tcgen05-dealloc-missing",)),
    ("dealloc of other columns", _T + "dealloc", _with(r"(, \d+);", r"\g<1>0;"), ("form-immediate",)),
    ("dealloc of half the columns", _T + "dealloc", _with(r"(512|256|128|64);", "32;"), ("tcgen05-dealloc-unknown",)),
    ("register of ld missing", _T + r"ld\..*\{.*,", _with(_VECTOR, ""), ("form-registers",)),
    ("register of st missing", _T + r"st\..*\{.*,", _with(_VECTOR, ""), ("form-registers",)),
    ("operand missing (tcgen05)", _T + "mma", _with(r", !?%p\d+;", ";"), ("form-operands",)),
    ("kind of no instruction", _T + "mma", _with(r"kind::\w+", "kind::f64"), ("form-qualifier",)),
    ("ashift of shared memory", _PLAIN + r"[^\]]*\], %rd", _with(r"(kind::\w+)", r"\1.ashift"), ("form-qualifier",)),
    ("sp without metadata", _PLAIN + r"[^\]]*\], %rd", _with(r"mma\.", "mma.sp."), ("form-operands",)),
    ("mask of wrong size", _PLAIN, _with(r", (!?%p\d+;)", r", {%r1, %r2}, \1"), ("form-registers", "form-operands")),
    ("scale-input-d 16", _PLAIN, _with(r"(%p\d+);", r"\1, 16;"), ("form-immediate",)),
    ("shift up", _T + "mma", _before("tcgen05.shift.cta_group::1.up [%r0];"), ("form-qualifier",)),
    ("idesc: M 16", _PLAIN, _idesc(_field(24, 5, 1)), ("word-idesc",)),
    ("idesc: M 0", _PLAIN, _idesc(_field(24, 5, 0)), ("word-idesc",)),
    ("idesc: N 0", _T + "mma", _idesc(_field(17, 6, 0)), ("word-idesc",)),
    ("idesc: N 504", _T + "mma", _idesc(_field(17, 6, 63)), ("word-idesc",)),
    ("idesc: sparse", _T + "mma", _idesc(_field(2, 1, 1)), ("word-idesc",)),
    ("idesc: a type that is none", _T + "mma", _idesc(_field(7, 3, 7)), ("word-idesc",)),
    ("idesc: a reserved bit", _PLAIN, _idesc(_field(29, 1, 1)), ("word-idesc",)),
    ("idesc: D of no type", _PLAIN, _idesc(_field(4, 2, 3)), ("word-idesc",)),
    ("idesc: saturated floats", _PLAIN, _idesc(_field(3, 1, 1)), ("word-idesc",)),
    ("idesc: scale factors of other bytes", _T + r"mma.*mxf4", _idesc(_field(29, 2, 1)), ("word-idesc",)),
    ("scale vector of another kind", _SCALED, _with(r"(block_scale)[^\s\[]*", r"\1.block16"), ("form-qualifier",)),
    ("stride of no bytes (tcgen05)", _PLAIN, _operand(0, -(64 << 32)), ("word-smem", "word-advance", "word-suspect")),
    ("swizzle of no code", _PLAIN, _operand(0, 1 << 61), ("word-smem", "word-advance", "word-suspect")),
    ("bits of no field", _PLAIN, _operand(0, 1 << 53), ("word-unused-bits",)),
    ("start moved by half a K block (tcgen05)", _PLAIN + r"[^\]]*\], %rd", _operand(0, 1), ("word-advance",)),
)  # fmt: skip
