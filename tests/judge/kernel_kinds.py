"""The kinds of change that make a mutant of a kernel: where, how, what rules are to say so, and why it is broken.

A kind is of one property of a kernel. What says that its mutants are broken is not the checker: of *forms* the
assembler refuses each, of the others the reason stands here, and the assembler takes each, so that nothing but what
the kind says is wrong. ``UNCLAIMED`` are kinds that the checker does not say to see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_changes import (
    Change,
    a_missing,
    added,
    after,
    all_waits,
    before,
    behind,
    by_thread,
    columns,
    computed,
    cut,
    early,
    everywhere,
    few,
    field,
    first,
    followed,
    gone,
    idesc,
    idesc_other,
    last_wait,
    moved,
    moved_down,
    moved_up,
    needed,
    one_thread,
    one_try,
    operand,
    other_ctas,
    preceded,
    registers,
    replaced,
    scaled,
    touched,
    twice,
    unguarded,
    used_too_early,
    wait_gone,
    without,
)


@dataclass(frozen=True)
class Kind:
    """One kind of change.

    Attributes:
        name: what is done.
        where: the lines that it is done to.
        change: how.
        rules: the rules that say what is wrong; one of them has to be told that was not told before.
        why: why a kernel to which it is done is broken.
        kernels: the names of those that it is done to, where it would break no other; all, if there is nothing.
    """

    name: str
    where: str
    change: Change
    rules: tuple[str, ...]
    why: str
    kernels: str = ""


_G = r"^\s*(?:@!?[%\w]+\s+)?"
_W, _T = _G + r"wgmma\.", _G + r"tcgen05\."
_MMA = _W + "mma_async"
_TMA = _T + r"mma\.cta_group::\d\.kind::"
_PLAIN = _T + r"mma\.cta_group::1\.kind::(f16|tf32|f8f6f4)"
_SHARED = _PLAIN + r"[^\]]*\]\s*, [^\[]"
_SCALED = _T + r"mma\.cta_group::1\.kind::mx"
_VECTOR = r"(?<=\{)\s*[%\w]+\s*,\s*"
_BARRIER, _TRY = _G + r"mbarrier\.", _G + r"mbarrier\.try_wait"
_EXPECT, _ARRIVE = _BARRIER + r"arrive\.expect_tx", _BARRIER + r"arrive\.shared"
_COPY = _G + r"cp\.async\.bulk\.(tensor\.\w+\.)?shared::cluster\.global"
_BULK = _G + r"cp\.async\.bulk\.shared::cluster\.global"
_STORE = _G + r"st\.(shared|matrix)|stmatrix"
_FENCE = _G + r"fence\.proxy\.async"
_ALLOC, _DEALLOC = _T + r"alloc\.", _T + r"dealloc\."
_RINGS = "ring"

#: An allocation of so many columns.
_ALLOCATED = (
    "{{ .reg .b32 %mutant; mov.b32 %mutant, 0; "
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%mutant], {}; }}"
)
#: A read of an accumulator.
_READ = "{{ .reg .b32 %at; mov.u32 %at, %tid.x; st.shared.b32 [%at], {D}; }}"
_FENCES = ("wgmma-fence", "wgmma-fence-read", "wgmma-fence-shape")
_WAITS = ("wgmma-wait", "wgmma-wait-count")
_HANG = ("barrier-hang",)
_COUNTED = ("barrier-hang", "barrier-count", "barrier-init")
_REUSE = ("reuse-order", "reuse-unwritten")
_WORD = ("word-smem", "word-advance", "word-suspect")
_STEP = ("word-advance", "word-repeated")
_TENSOR_ORDER = ("tcgen05-order", "tcgen05-unwritten", "tcgen05-wait", "tcgen05-dealloc-early")
_ANY_WAIT = (*_REUSE, *_HANG, *_TENSOR_ORDER, "tcgen05-commit", "barrier-init", "barrier-count")
_COLUMNS = ("tcgen05-unallocated",)
_OPERANDS = ("form-operands", "form-class", "form-registers")

_FORMS = (
    Kind("register of A missing", _MMA, a_missing, ("form-registers",), "a shape has its number of registers"),
    Kind("operand missing", _MMA, replaced(r", [01];", ";"), ("form-operands",), "no operand may be left out"),
    Kind("register of D missing", _MMA, replaced(_VECTOR, ""), ("form-registers",), "as of A"),
    Kind("register of D too many", _MMA, replaced(r"\{([^,}]*)", r"{\1, \1"), ("form-registers",), "as of A"),
    Kind("shape of no instruction", _MMA, replaced(r"n\d+k", "n12k", "n264k"), ("form-shape",), "N is 8 to 256 by 8"),
    Kind("M 128", _MMA, replaced(r"m64n", "m128n"), ("form-shape",), "M of wgmma is 64"),
    Kind("k of another type", _MMA, replaced(r"k\d+\.", "k4."), ("form-shape",), "K is 32 bytes"),
    Kind("types of two kinds", _MMA, replaced(r"\.(\w+)\.(\w+) \{", r".\1.s8 {"), ("form-types",), "no such pair"),
    Kind("D of bf16", _MMA, replaced(r"\.f32\.", ".bf16."), ("form-types",), "D is f32, f16 or s32"),
    Kind("imm-scale 0", _MMA, operand("scale-a", "0"), ("form-immediate",), "1 or -1"),
    Kind("imm-scale 2", _MMA, operand("scale-b", "2"), ("form-immediate",), "1 or -1"),
    Kind("imm-trans 2", _MMA, replaced(r"(, 1, 1, )[01]", r"\g<1>2"), ("form-immediate",), "0 or 1"),
    Kind("transposes of 8-bit types", _MMA + r".*e[45]m", replaced(r";", ", 0, 1;"), (
        "form-transpose", "form-operands"), "imm-trans is of 16-bit types"),
    Kind("scale-d 2", _MMA, operand("scale-d", "2"), ("form-immediate",), "a predicate, or 0 or 1"),
    Kind("scale-d in a 64-bit register", _MMA, operand("scale-d", "%rd1"), _OPERANDS, "a predicate", "nt_sm90"),
    Kind("A by a 32-bit register", _MMA, operand("A", "%r1"), _OPERANDS, "a descriptor has 64 bits", "nt_sm90"),
    Kind("B by an address", _MMA, operand("B", "[{old}]"), _OPERANDS, "B is a descriptor"),
    Kind("B by a predicate", _MMA, operand("B", "%p1"), _OPERANDS, "a descriptor has 64 bits", "nt_sm90"),
    Kind("B in registers", _MMA, operand("B", "{{{old}}}"), _OPERANDS, "B is in shared memory"),
    Kind("multiplication without .sync", _MMA, replaced(r"\.sync", ""), ("form-qualifier",), ".sync is asked"),
    Kind("commit without .sync", _W + "commit", replaced(r"\.sync", ""), ("form-qualifier",), ".sync is asked"),
    Kind("fence with an operand", _W + "fence", replaced(r";", " 0;"), ("form-operands",), "it has none"),
    Kind("wait_group of nothing", _W + "wait_group", replaced(r"\s[01];", ";"), _OPERANDS, "N is asked"),
    Kind("wait_group by a register", _W + "wait_group", replaced(r"[01];", "%r1;"), (
        *_OPERANDS, "form-immediate"), "N is a constant", "nt_sm90"),
    Kind("too few registers", r"^\.reqntid", few, ("form-limit",), "D and 26 more have to fit"),
    Kind("target without wgmma", r"^\.target sm_90a", replaced(
        "sm_90a", "sm_90", "sm_100a", "sm_120a"), ("form-target",), "of sm_90a alone"),
    Kind("target without tcgen05", r"^\.target sm_100a", replaced(
        "sm_100a", "sm_100", "sm_90a", "sm_120a"), ("form-target",), "of sm_100 and its like"),
    Kind("two cta_groups", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", replaced(
        "cta_group::1", "cta_group::2"), ("tcgen05-cta-group",), "a kernel has one"),
    Kind("two cta_groups (of a pair)", _T + "(mma|commit|cp|alloc|dealloc|relinquish)", replaced(
        "cta_group::2", "cta_group::1"), ("tcgen05-cta-group",), "a kernel has one"),
    Kind("no cta_group", _T + "(mma|commit|alloc|dealloc)", replaced(
        r"\.cta_group::1", ""), ("form-qualifier",), "it is asked"),
    Kind("cta_group 3", _T + "(mma|commit|alloc|dealloc)", replaced(
        r"cta_group::1", "cta_group::3"), ("form-qualifier",), "1 or 2"),
    Kind("alloc of no size", _ALLOC, operand(
        "columns", "0", "16", "48", "96", "1024"), ("tcgen05-alloc-size",), "a power of two, 32 to 512"),
    Kind("alloc without .aligned", _ALLOC, replaced(r"\.aligned", ""), ("form-qualifier",), ".aligned is asked"),
    Kind("alloc into global memory", _ALLOC, replaced(r"shared::cta", "global"), ("form-qualifier",), "shared memory"),
    Kind("dealloc of no size", _DEALLOC, operand("columns", "640"), ("tcgen05-dealloc-unknown",),
         "as many columns are freed as were allocated"),
    Kind("dealloc at an address in brackets", _DEALLOC, operand("address", "[{old}]"), _OPERANDS, "it is a value"),
    Kind("register of ld missing", _T + r"ld\..*\{.*,", replaced(_VECTOR, ""), ("form-registers",), "as of A"),
    Kind("register of st missing", _T + r"st\..*\{.*,", replaced(_VECTOR, ""), ("form-registers",), "as of A"),
    Kind("ld of three columns", _T + r"ld\.", replaced(r"\.x\d+\.", ".x3."), (
        "form-qualifier", "form-shape"), "a power of two"),
    Kind("ld of a shape that is none", _T + r"ld\.", replaced(r"\.\d+x\d+bx?2?\.", ".8x32b."), (
        "form-qualifier", "form-shape"), "no such shape"),
    Kind("ld without .aligned", _T + r"ld\.", replaced(r"\.aligned", ""), ("form-qualifier",), ".aligned is asked"),
    Kind("wait of another thing", _T + r"wait::ld", replaced("wait::ld", "wait::mma"), (
        "form-qualifier",), "::ld or ::st"),
    Kind("commit of no object", _T + r"commit", replaced(r"\.b64", ""), ("form-qualifier",), ".b64 is asked"),
    Kind("commit by value", _T + r"commit", replaced(r"\[\s*([%\w]+)[^\]]*\]", r"\1"), _OPERANDS, "an address"),
    Kind("operand missing (tcgen05)", _T + "mma", replaced(r", !?[%\w]+;", ";"), ("form-operands",), "none may be"),
    Kind("kind of no instruction", _T + "mma", replaced(r"kind::\w+", "kind::f64"), ("form-qualifier",),
         "no such kind"),
    Kind("D by value", _T + "mma", replaced(r"\[\s*([%\w]+)[^\]]*\]", r"\1"), _OPERANDS, "D is an address"),
    Kind("B in tensor memory", _SHARED, operand("B", "[{old}]"), _OPERANDS, "B is in shared memory"),
    Kind("idesc in a 64-bit register", _TMA, operand("idesc", "%rd1"), _OPERANDS, "32 bits", "nt_sm100"),
    Kind("A by a 32-bit register (tcgen05)", _SHARED, operand("A", "%r1"), _OPERANDS, "64 bits", "nt_sm100"),
    Kind("ashift of shared memory", _SHARED, replaced(r"(kind::\w+)", r"\1.ashift"), (
        "form-qualifier",), "A in tensor memory has it"),
    Kind("sp without metadata", _SHARED, replaced(r"mma\.", "mma.sp."), ("form-operands",), "it has metadata"),
    Kind("mask of wrong size", _PLAIN, replaced(r", (!?[%\w]+;)", r", {%r1, %r2}, \1"), (
        "form-registers", "form-operands"), "4 or 8 registers", "_sm100"),
    Kind("scale-input-d 16", _PLAIN, replaced(r"([%\w]+);", r"\1, 16;"), ("form-immediate",), "0 to 15"),
    Kind("shift up", _T + "mma", preceded("tcgen05.shift.cta_group::1.up [%r0];"), ("form-qualifier",), "down alone"),
    Kind("scale vector of another kind", _SCALED, replaced(
        r"(block_scale)[^\s\[]*", r"\1.block16"), ("form-qualifier",), "16 is of mxf4nvf4", "scaled"),
    Kind("matrices of 7 rows", _G + r"(ldmatrix|stmatrix)\.", replaced("m8n8", "m7n8"), (
        "form-shape", "form-qualifier"), "m8n8 and others"),
    Kind("register of a matrix missing", _G + r"(ldmatrix|stmatrix)\.", replaced(_VECTOR, ""), (
        "form-registers",), ".x4 has four"),
    Kind("matrices of 32-bit elements", _G + r"(ldmatrix|stmatrix)\.", replaced(r"\.b16", ".b32"), (
        "form-qualifier", "form-types"), "b16 of m8n8"),
)  # fmt: skip

_HALF = "half a K block on, rows of one block and of the next are read"
_OVERLAP = "rows of one group are read for those of another"
_WORDS = (
    Kind("stride of no bytes", _MMA, added("B", -(64 << 32)), _WORD, "all groups of rows are read in one place"),
    Kind("stride of no bytes (tcgen05)", _SHARED, added("A", -(64 << 32)), _WORD, "as of wgmma", r"^(?!.*f4)"),
    *(Kind(f"SBO of {part} {what}{more}", where, field(part, 32, 14, new), _WORD, _OVERLAP)
      for part in "AB" for what, new in (("halved", lambda n: n // 2), ("doubled", lambda n: 2 * n))
      for more, where in (("", _MMA), (" (tcgen05)", _SHARED))),
    *(Kind(f"SBO of {part} {what} everywhere{more}", where, everywhere(where, field(part, 32, 14, new)), _WORD,
         _OVERLAP)
      for part in "AB" for what, new in (("halved", lambda n: n // 2), ("of no bytes", lambda n: 0))
      for more, where in (("", _MMA), (" (tcgen05)", _SHARED))),
    Kind("LBO halved everywhere", _MMA, everywhere(_MMA, field("B", 16, 14, lambda n: n // 2)), _WORD + _REUSE,
         "the second half of N is read from within the first", "ring_sm90_MN"),
    Kind("LBO of no bytes everywhere", _MMA, everywhere(_MMA, field("B", 16, 14, lambda n: 0)), _WORD,
         "both halves of N are read in one place", "ring_sm90_MN"),
    *(Kind(f"swizzle {what} in one word of {part}{more}", where, computed(part, "b64",
         f"xor.b64 {{new}}, {{old}}, {bits:#x};"),
           _WORD, "a tile has one swizzle")
      for part in "AB" for more, where, names in (
          ("", _MMA, (("64B", 0xC << 60), ("none", 0x4 << 60))), (" (tcgen05)", _SHARED, (("64B", 0x6 << 61),
         ("none", 0x2 << 61))))
      for what, bits in names),
    *(Kind(f"swizzle 64B of {part} everywhere{more}", where, everywhere(where, computed(part, "b64",
         f"xor.b64 {{new}}, {{old}}, {bits:#x};")),
           _WORD, "128-byte rows are stepped through by 1,024 bytes a group, those of 64B by 512")
      for part in "AB" for more, where, bits in (("", _MMA, 0xC << 60), (" (tcgen05)", _SHARED, 0x6 << 61))),
    *(Kind(f"no swizzle of {part} everywhere{more}", where, everywhere(where, computed(part, "b64",
         f"xor.b64 {{new}}, {{old}}, {bits:#x};")),
           _WORD, "without a swizzle LBO is the step along K, and it is 16 bytes or none here")
      for part in "AB" for more, where, bits in (("", _MMA, 0x4 << 60), (" (tcgen05)", _SHARED, 0x2 << 61))),
    Kind("swizzle of no code", _PLAIN, computed("B", "b64", "and.b64 {new}, {old}, 0x1fffffffffffffff;",
         "or.b64 {new}, {new}, 0x6000000000000000;"), _WORD, "3 is none"),
    Kind("base offset of one", _MMA, computed("A", "b64", "or.b64 {new}, {old}, 0x2000000000000;"), _WORD,
         "the tile begins at a multiple of 1,024 bytes"),
    Kind("base offset of one (tcgen05)", _SHARED, computed("B", "b64", "or.b64 {new}, {old}, 0x2000000000000;"), _WORD,
         "as of wgmma"),
    Kind("base offset everywhere", _MMA, everywhere(_MMA, computed("B", "b64",
         "or.b64 {new}, {old}, 0x2000000000000;")),
         _WORD, "as in one"),
    Kind("version 0", _PLAIN, computed("B", "b64", "and.b64 {new}, {old}, 0xffffbfffffffffff;"), ("word-version",),
         "the manual asks for 1", "ring|dsl|emitted"),
    Kind("version 1 of sm90", _MMA, computed("B", "b64", "or.b64 {new}, {old}, 0x400000000000;"), ("word-unused-bits",),
         "the bit is of no field of sm90"),
    Kind("bits of no field", _PLAIN, computed("B", "b64", "or.b64 {new}, {old}, 0x20000000000000;"),
         ("word-unused-bits",), "they have to be 0"),
    *(Kind(f"{part} half a K block on{more}", where, added(part, 1), ("word-advance",), _HALF, kernels)
      for part in "AB" for more, where, kernels in (
          ("", _MMA + r".*(f16.* 0|e[45]m\d.* 1|tf32.* 1);", "^(?!.*(MN|cute))"), (" (tcgen05)", _SHARED,
         "^(?!.*(_nn_|_MN_))"))),
    *(Kind(f"{part} a block of K further{more}", where, after(where, before(where, added(part, 2)), 24), _STEP,
           "one block is read twice, and one not, or by the wrong one", "ring|emitted|dsl.*_K_|nt_sm")
      for part in "AB" for more, where in (("", _MMA), (" (tcgen05)", _SHARED))),
    *(Kind(f"{part} not advanced{more}", where, after(where, added(part, -2), 12), _STEP,
           "one block is read twice, and one not", "ring_sm|pipeline|emitted_inner_sm|nt_sm")
      for part in "AB" for more, where in (("", _MMA), (" (tcgen05)", _SHARED))),
    Kind("step of K of a K-major operand (MN-major)", _MMA, after(_MMA, added("B", 2 - 128), 12), _STEP,
         "the step of an MN-major operand is 16 rows", "MN"),
    Kind("steps of K in bytes", r"add\.(u|s)64 (da|db|x), (da|db|x), 2;", replaced(r"2;", "32;"), _STEP + _WORD,
         "the start counts units of 16 bytes", "ring_sm90_[KM]|ring_stored|ring_sm100"),
    Kind("steps of K in elements", r"add\.(u|s)64 (da|db|x), (da|db|x), 2;", replaced(r"2;", "16;"), _STEP + _WORD,
         "the start counts units of 16 bytes", "ring_sm90_[KM]|ring_stored|ring_sm100"),
    Kind("step of K in units added to bytes", r"^add\.s32\s+%r\d+, %r\d+, (32|96);", before(_MMA, replaced(
         r"(32|96);", "2;")), _STEP + ("word-start", *_WORD), "2 bytes are no unit: the first block is read again",
         "product.*nt_sm90"),
    Kind("start cut at bit 5", _G + r"(bfe|shr)\.[ubs](32|64)\s+[%\w]+, [%\w]+, 4\b", cut(5, 14), ("word-start",
         *_STEP),
         "the start counts units of 16 bytes"),
    Kind("start cut at bit 3", _G + r"(bfe|shr)\.[ubs](32|64)\s+[%\w]+, [%\w]+, 4\b", cut(3, 14), ("word-start",
         *_STEP),
         "the start counts units of 16 bytes"),
    Kind("start not cut", _G + r"(bfe|shr)\.[ubs](32|64)\s+[%\w]+, [%\w]+, 4\b", cut(0, 14), ("word-start", *_STEP),
         "the start counts units of 16 bytes"),
    Kind("stages at no multiple of 16 bytes", r"^mad\.lo\.u32 at, stage, \d+, 0;", everywhere(
        r"^mad\.lo\.u32 at, stage, \d+, 0;", replaced(", 0;", ", 8;")), _WORD + _REUSE,
         "the start counts units of 16 bytes, and loses the rest", _RINGS),
    Kind("another major of A", _MMA + r".*f16\.b?f16", replaced(r"0, ([01]);", r"1, \1;"), (
        "word-transpose", *_WORD, *_STEP), "the other instructions read A by its major"),
    Kind("another major of B", _MMA + r".*f16\.b?f16", replaced(r"0;$", "1;"), ("word-transpose", *_WORD, *_STEP),
         "as of A"),
    Kind("another major of B everywhere", _MMA + r".*f16\.b?f16.* 0;", everywhere(_MMA + r".*f16\.b?f16.* 0;", replaced(
        r"0;$", "1;")), ("word-transpose", *_WORD, *_STEP), "steps of 32 bytes are those of K-major"),
    Kind("another major of A (tcgen05)", _SHARED, idesc_other(15), ("word-transpose", "word-idesc", *_WORD, *_STEP),
         "as of wgmma"),
    Kind("another major of B (tcgen05)", _SHARED, idesc_other(16), ("word-transpose", "word-idesc", *_WORD, *_STEP),
         "as of wgmma"),
    Kind("another major of B everywhere (tcgen05)", _SHARED, everywhere(_SHARED, idesc_other(16)), (
        "word-transpose", "word-idesc", *_WORD, *_STEP), "as of wgmma", "^(?!.*(_nn_|_MN_))"),
    Kind("idesc: N of one step 128 columns more or fewer", _SHARED, idesc_other(21),
         ("word-accumulation", "word-idesc"), "the instructions of an accumulation write the same D"),
    Kind("idesc: M 16", _PLAIN, idesc(24, 5, 1), ("word-idesc",), "64, 128 or 256"),
    Kind("idesc: M 0", _PLAIN, idesc(24, 5, 0), ("word-idesc",), "64, 128 or 256"),
    Kind("idesc: N 0", _T + "mma", idesc(17, 6, 0), ("word-idesc",), "8 to 256"),
    Kind("idesc: N 504", _T + "mma", idesc(17, 6, 63), ("word-idesc",), "8 to 256"),
    Kind("idesc: sparse", _T + "mma", idesc(2, 1, 1), ("word-idesc",), "no .sp stands there"),
    Kind("idesc: a type that is none", _T + "mma", idesc(7, 3, 7), ("word-idesc",), "no such code"),
    Kind("idesc: a reserved bit", _PLAIN, idesc(29, 1, 1), ("word-idesc",), "it has to be 0"),
    Kind("idesc: D of no type", _PLAIN, idesc(4, 2, 3), ("word-idesc",), "no such code"),
    Kind("idesc: saturated floats", _PLAIN + r"(?<!i8)\b(?!.*i8)", idesc(3, 1, 1), ("word-idesc",),
         "of integers alone"),
    Kind("idesc: scale factors of other bytes", _T + r"mma.*mxf4", idesc(29, 2, 1), ("word-idesc",), "0 or 2"),
)  # fmt: skip

_ORDER = (
    Kind("fence removed", _W + "fence", without, _FENCES, "registers were written since the last one"),
    Kind("fence behind a multiplication", _W + "fence", moved_down(_MMA), _FENCES, "as removed, for the first"),
    Kind("fence of other CTAs alone", _W + "fence", other_ctas, _FENCES, "as removed, in CTA 0"),
    Kind("fence of one thread", _W + "fence", one_thread, ("wgmma-aligned", "wgmma-divergent", *_FENCES), ".aligned"),
    Kind("commit removed", _W + "commit_group", without, ("wgmma-commit", "wgmma-wait"), "no wait covers it"),
    Kind("commit before the last multiplication", _W + "commit_group", moved_up(_MMA), (
        "wgmma-commit", "wgmma-wait"), "no wait covers the last"),
    Kind("commit of other CTAs alone", _W + "commit_group", other_ctas, ("wgmma-commit", "wgmma-wait"), "in CTA 0"),
    Kind("commit of one thread", _W + "commit_group", one_thread, (
        "wgmma-aligned", "wgmma-divergent", "wgmma-commit", "wgmma-wait"), ".aligned"),
    Kind("wait removed", _W + "wait_group", last_wait(without), _WAITS, "the accumulators are touched behind it"),
    Kind("wait of other CTAs alone", _W + "wait_group", last_wait(other_ctas), _WAITS, "in CTA 0"),
    Kind("wait of one thread", _W + "wait_group", last_wait(one_thread), ("wgmma-aligned", *_WAITS), ".aligned"),
    Kind("wait before the commit", _W + "wait_group", last_wait(after(_W + "commit", moved_up(_W + "commit"), 3)), (
        "wgmma-commit", *_WAITS), "it covers older groups"),
    Kind("wait N raised", _W + "wait_group", last_wait(replaced(r"\b0;", "1;")), ("wgmma-wait-count",), "one is left"),
    Kind("wait N far too high", _W + "wait_group", last_wait(replaced(r"\b0;", "7;")), ("wgmma-wait-count",),
         "seven are"),
    Kind("accumulator written early", _MMA, touched("mov.b32 {D}, 0;"), ("wgmma-wait",), "it is in flight"),
    Kind("accumulator read early", _MMA, touched(_READ), ("wgmma-wait",), "it is in flight"),
    Kind("register of A written early", _MMA, touched("mov.b32 {A}, 0;"), ("wgmma-a-changed",), "it is in flight"),
    Kind("accumulator read before the wait", _W + "wait_group", early(_READ), _WAITS, "in flight"),
    Kind("accumulator written before the wait", _W + "wait_group", early("mov.b32 {D}, 0;"), _WAITS, "in flight"),
    Kind("accumulator read behind wait 1", _W + "wait_group", behind(_READ), (
        "wgmma-wait-count",), "its group is the one that is left"),
    Kind("accumulator computed behind wait 1", _W + "wait_group", behind("mul.f32 {D}, {D}, 0f3f800000;"), (
        "wgmma-wait-count",), "its group is the one that is left"),
    Kind("accumulators never zeroed", r"^mov\.(f32|b32)\s+[%\w]+, (0f00000000|%f0);", gone(
        r"^mov\.(f32|b32)\s+[%\w]+, (0f00000000|%f0);"), ("wgmma-start",), "the first adds to them",
         "ring_sm90|pipeline"),
    Kind("scale-d of the first is 1", _MMA + r".*[df]\w+, 0, 1, 1", operand("scale-d", "1"), (
        "wgmma-start",), "nothing wrote the accumulators", "stored"),
    Kind("multiplication of some threads", _MMA, by_thread, ("wgmma-divergent", "wgmma-aligned"), ".aligned"),
    Kind("multiplication of one thread", _MMA, one_thread, ("wgmma-divergent", "wgmma-aligned"), ".aligned"),
    Kind("commits removed (tcgen05)", _T + "commit", before(_T + "ld", gone(_T + "commit")), (
        "tcgen05-commit", *_HANG), "results are read, and no wait covers them"),
    Kind("commit before the last multiplication (tcgen05)", _T + "commit", moved_up(_T + "mma"), (
        "tcgen05-commit", *_TENSOR_ORDER, *_REUSE), "it covers what is before it", "^(?!.*dsl)"),
    Kind("waits removed (tcgen05)", _TRY, all_waits, ("tcgen05-wait", *_TENSOR_ORDER), "results are read at once"),
    Kind("wait::st removed", _T + "wait::st", needed, ("tcgen05-wait-st",), "a multiplication reads what is stored"),
    Kind("wait::ld removed", _T + "wait::ld", without, ("tcgen05-wait-ld",), "the registers are used behind it"),
    Kind("wait::ld behind the first use", _T + "wait::ld", used_too_early, ("tcgen05-wait-ld",), "as removed"),
    Kind("wait::ld of one thread", _T + "wait::ld", one_thread, ("tcgen05-aligned",), ".aligned"),
    Kind("multiplications of all threads", _T + "mma", unguarded, ("tcgen05-elect",), "one thread issues it"),
    Kind("commit of all threads", _T + "commit", unguarded, ("tcgen05-elect", "barrier-count"), "one thread issues it"),
    Kind("a role of all its threads", r"^setp\.ne\.u32 pe, t, 160;", replaced("setp.ne", "setp.lt"), (
        "tcgen05-elect",), "one thread issues what it does", _RINGS),
    Kind("ld of one thread", _T + r"ld\.", one_thread, ("tcgen05-aligned",), ".aligned"),
    Kind("st of one thread", _T + r"st\.", one_thread, ("tcgen05-aligned",), ".aligned"),
    Kind("relaxed wait for a commit", _TRY, before(_T + "ld", replaced(
        r"parity\.", "parity.relaxed.cta.")), ("tcgen05-fence-relaxed",), "no fence follows",
         "product.*sm100|attention.*sm100"),
)  # fmt: skip

_TENSOR = (
    Kind("alloc larger than the one before", _ALLOC, preceded(
        _ALLOCATED.format(32)), (
        "tcgen05-alloc-order", "tcgen05-alloc-full", "tcgen05-dealloc-missing"), "sizes may not rise", "^(?!.*cta2)"),
    Kind("alloc of more than there is", _ALLOC, preceded(
        _ALLOCATED.format(512)), (
        "tcgen05-alloc-full",), "the second waits for ever", "^(?!.*cta2)"),
    Kind("alloc after relinquish", _ALLOC, preceded(
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"), ("tcgen05-alloc-relinquished",), "no permit",
        "^(?!.*cta2)"),
    Kind("alloc removed", _ALLOC, without, ("tcgen05-unallocated",), "columns that nobody allocated are used"),
    Kind("alloc twice", _ALLOC, twice, (
        "tcgen05-dealloc-missing", "tcgen05-alloc-full", "tcgen05-dealloc-unknown"), "one of the two is not freed"),
    Kind("alloc of one thread", _ALLOC, one_thread, ("tcgen05-aligned",), ".aligned"),
    Kind("alloc of all warps", _ALLOC, unguarded, (
        "tcgen05-dealloc-missing", "tcgen05-alloc-full", "tcgen05-dealloc-unknown", *_REUSE), "one of them is freed"),
    Kind("alloc of half the columns", _ALLOC, columns, _COLUMNS, "a power of two that is enough, halved", "^(?!.*dsl)"),
    Kind("alloc of 32 columns", _ALLOC, everywhere(_T + r"(alloc|dealloc)\.", operand("columns", "32")), _COLUMNS,
         "an accumulator has 64 or more", "^(?!.*(32x|x32))"),
    Kind("dealloc removed", _DEALLOC, without, ("tcgen05-dealloc-missing",), "the columns stay taken"),
    Kind("dealloc twice", _DEALLOC, twice, ("tcgen05-dealloc-unknown",), "the second frees nothing"),
    Kind("dealloc of one thread", _DEALLOC, one_thread, ("tcgen05-aligned",), ".aligned"),
    Kind("dealloc of all warps", _DEALLOC, unguarded, ("tcgen05-dealloc-unknown", "tcgen05-dealloc-early"), "as twice"),
    Kind("dealloc of half the columns", _DEALLOC, scaled("columns", 1, 2), ("tcgen05-dealloc-unknown",), "not what is"),
    Kind("dealloc of twice the columns", _DEALLOC, scaled("columns", 2), ("tcgen05-dealloc-unknown",), "not what is",
         "^(?!.*(dsl|128x128x128))"),
    Kind("dealloc before the results are read", _DEALLOC, moved_up(_T + r"ld\."), (
        "tcgen05-dealloc-early", "tcgen05-unallocated", "tcgen05-dealloc-unknown"), "they are gone"),
    Kind("dealloc in front of the multiplications", _DEALLOC, moved_up(_TMA), (
        "tcgen05-dealloc-early", "tcgen05-unallocated", "tcgen05-dealloc-unknown", "tcgen05-aligned"), "they are gone"),
    Kind("results read behind the columns", _T + r"ld\.", moved("address", 512), (
        "tcgen05-unallocated", "tcgen05-unwritten"), "there are 512"),
    Kind("results written behind the columns", _T + r"mma", moved("D", 512), ("tcgen05-unallocated",), "there are 512"),
    Kind("results read of another warp", _T + r"ld\.", moved("address", 32 << 16), (
        "tcgen05-unallocated", "tcgen05-unwritten", "tcgen05-order"), "a warp has its 32 lanes"),
    Kind("accumulators half apart", _T + r"mma", after(_T + "mma", moved("D", 32)), (
        "tcgen05-unwritten", "tcgen05-order", "tcgen05-unallocated"), "one block of K goes elsewhere",
         "ring|emitted|nt_sm100"),
    Kind("N of twice the columns", _TMA, everywhere(_TMA, idesc(17, 6, 32)), (
        "tcgen05-unallocated", *_REUSE, "word-idesc"), "256 columns do not fit",
         "ring_sm100|64x64_nt_sm100|128x64x64_nt_sm100"),
    Kind("accumulator never begun", _TMA, everywhere(_TMA, operand("enable", "%always", "pd")), (
        "tcgen05-unwritten",), "the first adds to what nobody wrote", "emitted_inner_sm100"),
    Kind("accumulator never begun (ring)", r"^setp\.ne\.u32 pd, k, 0;", replaced("setp.ne.u32 pd, k, 0",
         "setp.eq.u32 pd, k, k"), (
        "tcgen05-unwritten",), "the first adds to what nobody wrote", _RINGS),
    Kind("accumulator never begun (constant)", r"^mov\.pred\s+%p6, 0;", replaced("0;", "-1;"), (
        "tcgen05-unwritten",), "the first adds to what nobody wrote", "dsl"),
    Kind("A in the columns of D", _PLAIN + r"[^\]]*\]\s*, \[", replaced(
        r"(\[[^\]]*\])\s*, \[[^\]]*\]", r"\1, \1"), ("tcgen05-overlap", "tcgen05-order", "tcgen05-unwritten"),
         "they overlap"),
    Kind("no rendezvous behind the allocation", r"^bar\.sync 0;", after(r"relinquish", without, 3), (
        *_REUSE, *_COLUMNS, *_TENSOR_ORDER), "the address may not be there yet", "ring_sm100"),
    Kind("no rendezvous before the end", r"^bar\.sync 0;", before(r"dealloc", after(r"st\.global", without, 3)), (
        "tcgen05-dealloc-early", *_COLUMNS), "the columns may be freed before they are read", "ring_sm100"),
)  # fmt: skip

_BARRIERS = (
    Kind("registers that nobody gives back", r"\.reqntid", registers(
        ".maxnreg 64", r"^CONSUMER", "setmaxnreg.inc.sync.aligned.u32 240;"), ("barrier-registers",),
        "the CTA is not launched with as many", "ring_sm90_K"),
    Kind("registers of one warp of four", r"\.reqntid", registers(
        ".maxnreg 64", r"^CONSUMER", "setp.lt.u32 pe, t, 32;", "@pe setmaxnreg.dec.sync.aligned.u32 56;"),
        ("barrier-registers-group",), "all four warps change alike", "ring_sm90_K"),
    Kind("count one too high", _BARRIER + "init", scaled("count", 1, 1, 1), _COUNTED, "one arrival is never made"),
    Kind("count doubled", _BARRIER + "init", scaled("count", 2), _COUNTED, "half of the arrivals are never made"),
    Kind("count halved", _BARRIER + r"init.* 128;", scaled("count", 1, 2), _COUNTED + _REUSE, "a phase ends too early"),
    Kind("init removed", _BARRIER + "init", without, ("barrier-init", *_HANG), "it is used"),
    Kind("init of another place", _BARRIER + "init", moved("barrier", 512), ("barrier-init", *_HANG), "it is used"),
    Kind("init by all threads", _BARRIER + "init", unguarded, ("barrier-init-seen", *_COUNTED), "one thread makes it",
         "product|attention|gathered"),
    Kind("init by all threads (ring)", r"^@pi bra READY;", without, ("barrier-init-seen", *_COUNTED), "as above",
         _RINGS),
    Kind("init behind its rendezvous, by all threads", _BARRIER + "init", moved_down(r"bar\.sync"), (
        "barrier-init-seen", "barrier-init", *_HANG), "it is begun anew in use", "ring_sm90"),
    Kind("no rendezvous behind the inits", r"^bar\.sync\s+0;", first(r"^bar\.sync\s+0;", without), (
        "barrier-init-seen", "barrier-init", *_HANG), "others may be there first", "ring_sm90|dsl"),
    Kind("rendezvous of half of the threads", r"^bar\.sync\s+0;", first(r"^bar\.sync\s+0;", replaced(r"0;",
         "0, 64;")), (
        "barrier-threads", "barrier-init-seen", *_HANG, *_REUSE, *_COLUMNS), "more come than are named", "ring_sm|dsl"),
    Kind("rendezvous of more than there are", r"^bar\.sync\s+0;", replaced(r"0;", "0, 512;"), (
        "barrier-threads", *_HANG), "it never ends", "ring|dsl"),
    Kind("wait for the cluster without an arrival", r"^bar\.sync\s+0;", first(r"^bar\.sync\s+0;", followed(
        "barrier.cluster.wait;")), ("barrier-cluster",), "each wait has an arrival before it", _RINGS),
    Kind("store into a live mbarrier", _BARRIER + "init", replaced(
        r"(\[[^\]]*\]), (\d+);", r"\1, \2; st.shared.b32 \1, 0;"), ("barrier-storage",),
          "its bytes are the mbarrier's until mbarrier.inval", _RINGS),
    Kind("aligned barrier by half a warp after the other", r"^bar\.sync\s+0;", first(r"^bar\.sync\s+0;", replaced(
        r"bar\.sync\s+0;",
        "{ .reg .pred %mutant; .reg .b32 %half; mov.u32 %half, %laneid; setp.lt.u32 %mutant, %half, 16; "
        "@%mutant bar.sync 0; @!%mutant bar.sync 0; }")), ("barrier-aligned",), "bar.sync is aligned", _RINGS),
    Kind("another parity", _TRY, computed("parity", "b32", "xor.b32 {new}, {old}, 1;"), _ANY_WAIT, "the wrong phase"),
    Kind("parity always 0", _TRY, operand("parity", "0"), _ANY_WAIT, "every other phase is the wrong one",
         "ring_sm90_|product.*sm90"),
    Kind("parity 2", _TRY, computed("parity", "b32", "mov.b32 {new}, 2;"), ("barrier-parity",), "0 or 1"),
    Kind("parity never turned", r"^xor\.b32 parity", without, _ANY_WAIT, "as always 0", _RINGS),
    Kind("parity never turned (compiler)", r"^xor\.b32\s+%r\d+, %r\d+, %r\d+;", before(_TRY, without), _ANY_WAIT,
         "as always 0", "product.*sm90|attention.*sm90"),
    Kind("parity turned in every round", r"^selp\.b32 turn", replaced(r"selp.*", "mov.b32 turn, 1;"), _ANY_WAIT,
         "a ring of several stages turns once", _RINGS),
    Kind("producer begins with the parity of data", r"^mov\.u32 parity, 1;", replaced("1;", "0;"), _HANG,
         "nobody arrives"),
    Kind("consumer begins with the parity of slots", r"^mov\.u32 parity, 0;", replaced("0;", "1;"), _ANY_WAIT,
         "too early"),
    Kind("arrival removed", _ARRIVE, without, _HANG, "the producer waits for it"),
    Kind("arrival of one thread", _ARRIVE, one_thread, _HANG, "128 are counted"),
    Kind("arrival twice", _ARRIVE, twice, _COUNTED, "128 are counted"),
    Kind("arrival at another barrier", _ARRIVE, moved("barrier", 8), _ANY_WAIT + _COUNTED, "that of another stage"),
    Kind("expected twice", _EXPECT, twice, ("barrier-count", "barrier-hang"), "one arrival is counted"),
    Kind("expected at another barrier", _EXPECT, moved("barrier", 8), _ANY_WAIT + _COUNTED, "that of another stage"),
    Kind("commit removed (tcgen05)", _T + "commit", without, _HANG + ("tcgen05-commit",), "it is waited for"),
    Kind("commit to another barrier", _T + "commit", moved("address", 8), _ANY_WAIT + _COUNTED,
         "that of another stage"),
    Kind("commit twice", _T + "commit", twice, _COUNTED + _REUSE, "one arrival is counted"),
    Kind("wait at another barrier", _TRY, moved("barrier", 8), _ANY_WAIT + ("barrier-init",), "that of another stage"),
    Kind("inval before the multiplications", _BARRIER + "inval", moved_up(_MMA), (
        "barrier-init", *_HANG), "it is used later"),
    Kind("a round too many", r"^setp\.ge\.u32 pd, k, n;", after(_ARRIVE + "|" + _EXPECT, replaced("ge", "gt")),
         _HANG + _REUSE,
         "what it waits for never comes", _RINGS),
)  # fmt: skip

_BYTES = (
    Kind("half of the bytes expected", _EXPECT, scaled("bytes", 1, 2), _ANY_WAIT, "the phase ends too early, or never"),
    Kind("twice the bytes expected", _EXPECT, scaled("bytes", 2), _HANG, "the rest never comes"),
    Kind("16 bytes too many expected", _EXPECT, scaled("bytes", 1, 1, 16), _HANG, "they never come"),
    Kind("16 bytes too few expected", _EXPECT, scaled("bytes", 1, 1, -16), _ANY_WAIT,
         "the phase ends too early, or never"),
    Kind("no bytes expected", _EXPECT, replaced(r"\.expect_tx(\S*) (.*), [%\w]+;", r"\1 \2;"), _ANY_WAIT, "too early"),
    Kind("expectation removed", _EXPECT, without, _HANG + _REUSE, "the arrival is missing"),
    Kind("copy removed", _COPY, without, _HANG, "its bytes are expected"),
    Kind("copy twice", _COPY, twice, _REUSE + _HANG, "it brings more than is expected, into what is read"),
    Kind("copy of half the bytes", _BULK, scaled("size", 1, 2), _HANG, "the rest is expected"),
    Kind("copy of twice the bytes", _BULK, scaled("size", 2), _REUSE + _HANG, "it brings more than is expected"),
    Kind("copy of 16 bytes less", _BULK, scaled("size", 1, 1, -16), _HANG, "the rest is expected"),
    Kind("copy to another barrier", _COPY, moved("barrier", 8), _ANY_WAIT, "that of another stage"),
    Kind("copy of all threads of a role", r"^setp\.ne\.u32 pe, t, 128;", replaced("setp.ne", "setp.lt"), (
        *_COUNTED, *_REUSE), "32 times the bytes", _RINGS),
)  # fmt: skip

_PROXIES = (
    Kind("fence removed (proxy)", _FENCE, after(_STORE, without, 40), ("proxy-fence", "proxy-fence-copy"),
         "stores are read",
         "gathered|stored|scaled"),
    Kind("fence of one thread (proxy)", _FENCE, after(_STORE, one_thread, 40), ("proxy-fence",),
         "each thread fences its own",
         "gathered|stored"),
    Kind("fence of another space", _FENCE, after(_STORE, replaced(r"shared::cta", "global"), 40), ("proxy-fence",),
         "not these",
         "gathered|stored|scaled"),
    Kind("fence of another proxy", _FENCE, after(_STORE, replaced(r"async\.shared::cta", "alias"), 40), (
        "proxy-fence",), "not this one", "gathered|stored|scaled"),
    Kind("fence of memory alone", _FENCE, after(_STORE, replaced(r"fence\.proxy\.async\.shared::cta",
         "fence.acq_rel.cta"), 40), (
        "proxy-fence",), "it is of one proxy", "gathered|stored|scaled"),
    Kind("fence of other CTAs alone (proxy)", _FENCE, after(_STORE, other_ctas, 40), ("proxy-fence",), "in CTA 0",
         "gathered|stored|scaled"),
    Kind("fence before the stores", _FENCE, after(_STORE, moved_up(_STORE), 2), ("proxy-fence",),
         "it orders what is before",
         "gathered|stored|scaled"),
    Kind("fence behind the rendezvous of one thread", _FENCE, after(_STORE,
         moved_down(r"cp\.async\.bulk\.global|wgmma\.fence"), 40), (
        "proxy-fence",), "too late for what is read", "stored"),
)  # fmt: skip

_REUSES = (
    Kind("wait removed (mbarrier)", _TRY, wait_gone, _ANY_WAIT, "what comes behind it needs what it waits for"),
    Kind("wait tried once", _TRY, one_try, _ANY_WAIT, "the first try may fail"),
    Kind("arrival before the multiplications end", _ARRIVE, moved_up(_W + "wait_group"), _REUSE,
         "the slot is still read"),
    Kind("wait N raised (slot)", _W + "wait_group", after(_TRY, before(_ARRIVE, replaced(r"\b0;", "1;"))), _REUSE,
         "the slot is still read", "ring_sm"),
    Kind("commit of the slot before the multiplications", _T + r"commit.*empty", moved_up(_T + "mma"), _REUSE,
         "still read"),
    Kind("producer begins a stage on", r"^mov\.u32 parity, 1;", followed("mov.u32 stage, 1;"),
         _ANY_WAIT + ("barrier-init",),
         "stages do not agree", _RINGS),
    Kind("consumer begins a stage on", r"^mov\.u32 parity, 0;", followed("mov.u32 stage, 1;"),
         _ANY_WAIT + ("barrier-init",),
         "stages do not agree", _RINGS),
    Kind("a stage too many", r"^setp\.eq\.u32 pn, stage, \d", replaced(r"(\d);", r"\g<1>1;"),
         _ANY_WAIT + ("barrier-init",), "there is no such stage", _RINGS),
    Kind("a stage too few", r"^setp\.eq\.u32 pn, stage, \d", replaced(r"\d;", "1;"), _ANY_WAIT + ("barrier-init",),
         "stages do not agree", _RINGS),
    Kind("stages that overlap", r"^mad\.lo\.u32 at, stage, \d+", replaced(r"stage, \d+", "stage, 8192"), _REUSE,
         "two stages have the same bytes", "ring_sm90_|ring_sm100_"),
    Kind("stages that all lie in one", r"^mad\.lo\.u32 at, stage, \d+", replaced(r"stage, \d+", "stage, 0"), _REUSE,
         "all stages have the same bytes", _RINGS),
    Kind("copy into the next stage", _COPY, moved("to", 24576), _REUSE + _HANG, "a stage is written that is read",
         "ring_sm100|ring_sm90_MN"),
    Kind("copy into the next stage (16 KiB)", _COPY, moved("to", 16384), _REUSE + _HANG,
         "a stage is written that is read",
         "ring_sm90_K"),
    Kind("copy 1 KiB on", _COPY, moved("to", 1024), _REUSE, "the first bytes are not written", _RINGS),
    Kind("copy into the other operand", r"^cp\.async\.bulk.*\[at\+[1-9]\d*\]", replaced(r"\[at\+\d+\]", "[at]"), _REUSE,
         "one operand is never written", _RINGS),
    Kind("wait of a bulk store removed", _G + r"cp\.async\.bulk\.wait_group", without, _REUSE, "it still reads",
         "stored"),
    Kind("commit of a bulk store removed", _G + r"cp\.async\.bulk\.commit_group", without, _REUSE,
         "no wait covers it", "stored"),
    Kind("wait of a bulk store leaves one", _G + r"cp\.async\.bulk\.wait_group", replaced(r"0;", "1;"), _REUSE,
         "it still reads",
         "stored"),
    Kind("rendezvous removed", r"^bar\.sync 0;", after(r"^wgmma", before(r"^cp\.async\.bulk\.global", without)),
         _REUSE + ("proxy-fence",),
         "one thread's bytes are used by another",
         "stored"),
    Kind("barriers 16 bytes apart", r"^shl\.b32 full, stage, 3;", replaced(
        "stage, 3", "stage, 4"), _ANY_WAIT + ("barrier-init",), "they are 8 bytes apart", _RINGS),
    Kind("base of the stages moved", r"^add\.u32 at, at, r;", followed("add.u32 at, at, 1024;"), _REUSE,
         "producer and consumer do not agree", _RINGS),
)  # fmt: skip

#: What the checker does not say to see: what bytes are meant to be, and results that are lost.
UNCLAIMED = (
    Kind("tensor map of another swizzle", r"tensormap\.replace\.tile\.swizzle_mode", replaced(r"0x3;", "0x2;"), _WORD,
         "bytes do not lie as the words say", "product|attention"),
    Kind("sums that are lost", _MMA, after(_MMA, operand("scale-d", "0"), 12), ("wgmma-start",),
         "the blocks of K before it are multiplied for nothing", "ring_sm90|pipeline"),
)  # fmt: skip

#: Kinds by the property that they break.
KINDS: Mapping[str, tuple[Kind, ...]] = {
    "forms": _FORMS,
    "words": _WORDS,
    "order": _ORDER,
    "tensor memory": _TENSOR,
    "barriers": _BARRIERS,
    "bytes": _BYTES,
    "proxies": _PROXIES,
    "reuse": _REUSES,
}
#: The same, and what is not claimed.
TRIED_KINDS: Mapping[str, tuple[Kind, ...]] = {**KINDS, "unclaimed": UNCLAIMED}
