"""The rules of the kernel checker, as one table: requirement, level, fix, source and evidence of each rule.

Multiplications of tensor cores are asynchronous. The operands and the result of an issued instruction belong to it
until the program waits for it. A kernel therefore follows a protocol, of which an assembler checks little. There are
three protocols. Each is a state that events change, and a set of rules that compare an event with the state before it:

* *registers of a warpgroup* (``wgmma``): idle, fenced, or in flight in a group of some age;
* *tensor memory* (``tcgen05``): which columns are allocated, and which cells an instruction may access;
* *completion* (``tcgen05``): which operations are issued, committed to an mbarrier and waited for.

Other rules are about *form* (what an assembler accepts) and *words* (the content of descriptors).

A rule is a row of this table. The code that detects a violation is in the module with the state: ``wgmma``,
``tcgen05``, ``instruction_forms``, ``kernel_words``, ``execution``. There are three levels, ``Level``.

The detail of a violation (``found``) is ``FACT; NOTE; NOTE``. FACT is a clause about the kernel, with its names and
numbers ("this wait on [b] never completes: phase 0 has 0 of 128 arrivals") and without "; ". The report prints FACT
first. Each NOTE, the requirement and source of the rule, and its fix follow in separate lines.

Invariant: the name of a rule begins with its family.

>>> families = ("wgmma", "tcgen05", "form", "word", "barrier", "proxy", "reuse", "fragment")
>>> all(name == rule.name and name.partition("-")[0] in families for name, rule in RULES.items())
True

Invariant: each rule belongs to one property of a kernel.

>>> {rule.property for rule in RULES.values()} <= set(PROPERTIES)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache

from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, NVIDIA
from layoutalg.frozen import frozen


class Level(Enum):
    """A level of findings: how certain and how serious they are.

    >>> print(Level.ASKS, "-", Level.ASKS.meaning)
    asks - the PTX manual requires it, but compilers in use omit it and no failure is known
    """

    ERROR = "error"
    ASKS = "asks"
    PERFORMANCE = "performance"

    def __str__(self) -> str:
        return self.value

    @property
    def meaning(self) -> str:
        """A sentence that explains the level."""
        return _MEANINGS[self]


_MEANINGS = {
    Level.ERROR: "an assembler rejects it, or the hazard is there whenever the code runs",
    Level.ASKS: "the PTX manual requires it, but compilers in use omit it and no failure is known",
    Level.PERFORMANCE: "the code is right, but slow",
}


@frozen
class Rule:
    """A rule of the checker.

    Args:
        name: its name, by which users select or ignore it.
        level: how certain and how serious a violation is.
        property: the property of a kernel that it belongs to, one of ``PROPERTIES``.
        demands: the requirement.
        fix: what to insert or change, and where.
        source: where the requirement is published.
        evidence: how the requirement is known.
        guardrail: its name in ``descriptors tmem check``; "" if that command does not check it.
    """

    name: str
    level: Level
    property: str
    demands: str
    fix: str
    source: str
    evidence: str
    guardrail: str = ""


@frozen
class Broken:
    """A violation of a rule by an event.

    Args:
        rule: the rule.
        found: the detail: the fact, and a note after each "; ".
        registers: the registers or addresses that it is about, as they are written in the kernel.
    """

    rule: Rule
    found: str
    registers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule.level}: {self.found} [{self.rule.name}]; {self.rule.fix}"


#: The properties of a kernel that have a verdict of their own, in the order of the report.
PROPERTIES = ("forms", "words", "order", "tensor memory", "barriers", "bytes", "proxies", "reuse", "fragments")


@frozen
class Doubt:
    """An item that the text of a kernel does not decide.

    Args:
        property: ``order`` or ``tensor memory``.
        what: the undecided item.
        why: why it is undecided.
        decides: the information that would decide it.
    """

    property: str
    what: str
    why: str
    decides: str


#: The parts of a check: each instruction on its own, the paths through a function, and its execution.
TEXT, PATHS, EXECUTION = "text", "paths", "execution"
_BOTH = (PATHS, EXECUTION)
#: The parts that decide a rule, by the family of the rule, or by its name if these differ.
_DECIDED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("form", "word"), (TEXT,)),
    **dict.fromkeys(("wgmma", "tcgen05"), (PATHS,)),
    **dict.fromkeys(("barrier", "proxy", "reuse", "fragment"), (EXECUTION,)),
    **dict.fromkeys(("wgmma-call-kept", "wgmma-function", "wgmma-divergent", "tcgen05-cta-group"), (TEXT,)),
    **dict.fromkeys(("tcgen05-dealloc-unknown", "tcgen05-dealloc-missing", "tcgen05-dealloc-early"), _BOTH),
    **dict.fromkeys(("tcgen05-unallocated", "tcgen05-unwritten", "tcgen05-elect"), _BOTH),
    **dict.fromkeys(("tcgen05-aligned", "wgmma-aligned"), _BOTH),
    **dict.fromkeys(("tcgen05-warp", "tcgen05-table", "tcgen05-collector", "tcgen05-order"), (EXECUTION,)),
    **dict.fromkeys(("tcgen05-bounds", "tcgen05-lane"), ()),
    **dict.fromkeys(("fragment-selector", "word-smem"), (TEXT, EXECUTION)),
}

#: The evidence of rules that are not about tensor memory.
MANUAL = "documented"
ASSEMBLER = "NVIDIA's code: what ptxas accepts, rejects and prints"
COMPUTED = "computed here, from the addresses that the descriptors select"

_FENCE = "PTX ISA 9.1, wgmma.fence"
_ASYNC = "PTX ISA 9.1, wgmma.mma_async, and Async Proxy"
_COMMIT, _WAIT = "PTX ISA 9.1, wgmma.commit_group", "PTX ISA 9.1, wgmma.wait_group"
_PIPE = "PTX ISA 9.1, tcgen05, Memory Consistency Model (pipelined instructions, completion mechanisms)"
_ALLOC = "PTX ISA 9.1, tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit"
_PLACE = "PTX ISA 9.1, tcgen05.ld, tcgen05.st; ptxas 13.5 (names of its checks at run time)"
_PTXAS = "ptxas 12.9, 13.0, 13.5 (messages)"
_MMA = "PTX ISA 9.1, wgmma.mma_async; tcgen05"
_TABLES = "descriptors shapes; PTX ISA 9.1, Matrix Shape; ptxas (golden verdicts)"
_FORMS, _WORDS, _ORDER, _TENSOR, _BARRIERS, _BYTES, _PROXIES, _REUSE, _FRAGMENTS = PROPERTIES
_WARP_MMA = "PTX ISA 9.1, matrix fragments for mma; layoutalg atoms"
_MBARRIER = "PTX ISA 9.1, mbarrier (phase, count, tx-count)"
_MEMORY = "PTX ISA 9.1, Memory Consistency Model (causality order, data races)"
_E, _A, _P = Level.ERROR, Level.ASKS, Level.PERFORMANCE

_ROWS = (
    Rule(
        "form-target", _E, _FORMS, "the target must support the instruction",
        "use another .target", f"{_MMA}, Target ISA", ASSEMBLER,
    ),
    Rule(
        "form-version", _E, _FORMS, "the .version must support the instruction",
        "use the .version that is named, or a later one", "ptxas 13.5, run with every .version from 8.3 on",
        ASSEMBLER,
    ),
    Rule(
        "form-directive", _E, _FORMS, "a module must name its target", "write .target, as in .target sm_90a, behind "
        ".version", "PTX ISA 9.1, PTX Module Directives: .target", ASSEMBLER,
    ),
    Rule(
        "form-qualifier", _E, _FORMS, "qualifiers must be those of the instruction",
        "correct the qualifier", _MMA, ASSEMBLER,
    ),
    Rule(
        "form-types", _E, _FORMS, "the types must be a supported combination",
        "use types of one row of descriptors shapes", _TABLES, ASSEMBLER,
    ),
    Rule(
        "form-shape", _E, _FORMS, "the shape must exist", "use a shape that descriptors shapes lists", _TABLES,
        ASSEMBLER,
    ),
    Rule(
        "form-registers", _E, _FORMS, "a vector must have as many registers as its shape needs",
        "use that many registers", _MMA, ASSEMBLER,
    ),
    Rule(
        "form-operands", _E, _FORMS, "operands must be those of the instruction, in its order",
        "correct the operands", _MMA, ASSEMBLER,
    ),
    Rule("form-immediate", _E, _FORMS, "an immediate must be in its range", "correct the immediate", _MMA, ASSEMBLER),
    Rule(
        "form-limit", _E, _FORMS, "a kernel must allow a thread the registers of D and 26 more",
        "raise .maxnreg, use fewer threads per CTA, or use a smaller N", "ptxas 12.9, 13.0, 13.5 (C7602)", ASSEMBLER,
    ),
    Rule(
        "form-shared", _E, _FORMS, "static shared memory of a kernel must fit its target",
        "use dynamic shared memory, whose size the launch sets, or a target that ends with a", "ptxas 13.5", ASSEMBLER,
    ),
    Rule(
        "form-class", _E, _FORMS, "an operand must be in a register of a class that the instruction accepts",
        "declare the register with that class, or move the value into such a register",
        "ptxas 13.0; PTX ISA 9.1, wgmma, tcgen05",
        ASSEMBLER,
    ),
    Rule(
        "form-transpose", _E, _FORMS, "only f16 and bf16 in shared memory may be transposed",
        "store the operand K-major, and omit the transpose",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b", ASSEMBLER,
    ),
    Rule(
        "word-idesc", _E, _WORDS, "an instruction descriptor must describe the instruction that uses it",
        "build the descriptor with descriptors idesc",
        "PTX ISA 9.1, tcgen05, Instruction descriptor; descriptors decode-idesc", NVIDIA, "idesc",
    ),
    Rule(
        "word-smem", _E, _WORDS, "a shared-memory descriptor must describe an operand that the instruction reads",
        "derive the descriptor with descriptors derive", "descriptors decode; PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-unused-bits", _A, _WORDS, "bits of a shared-memory descriptor outside of its fields must be 0",
        "clear them", "PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-version", _A, _WORDS, "bits [46,49) of an sm100 descriptor must be 1",
        "set bit 46", "PTX ISA 9.1, tcgen05, Shared memory descriptor (Table 40); Triton 3.5.0 leaves them 0", MANUAL,
    ),
    Rule(
        "word-suspect", _A, _WORDS, "a shared-memory descriptor should not look like a mistake",
        "compare the descriptor with the one that descriptors derive prints", "descriptors decode (warnings)", COMPUTED,
    ),
    Rule(
        "word-advance", _E, _WORDS,
        "descriptors of one accumulation must differ only in the start address, by whole K blocks",
        "advance only the start address; descriptors derive prints the increments", "descriptors derive (advance)",
        COMPUTED,
    ),
    Rule(
        "word-repeated", _A, _WORDS, "two instructions of one accumulation should not read the same A and B",
        "advance the start addresses, or remove the second instruction", "descriptors derive (advance)", COMPUTED,
    ),
    Rule(
        "word-transpose", _E, _WORDS, "all instructions of one accumulation must read an operand with the same major",
        "give each the transpose bit of the tile: imm-trans of wgmma, bit 15 (A) or 16 (B) of the idesc",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b; tcgen05, Instruction descriptor", COMPUTED,
    ),
    Rule(
        "word-accumulation", _E, _WORDS,
        "the instruction descriptors of one accumulation must have the same M, N and types",
        "give each instruction the descriptor of the others",
        "PTX ISA 9.1, tcgen05, Instruction descriptor; Data Path Layout Organization", COMPUTED,
    ),
    Rule(
        "word-start", _E, _WORDS,
        "the start address of a descriptor must be a shared-memory address in units of 16 bytes",
        "shift the address right by 4 before it becomes the low 14 bits of the descriptor",
        "PTX ISA 9.1, matrix descriptors (matrix-start-address)", MANUAL,
    ),
    Rule(
        "wgmma-fence", _E, _ORDER,
        "a wgmma.fence is required between a write of a register and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-moved",
        _A,
        _ORDER,
        "a wgmma.fence is required between a mov into a register and the mma_async that uses it",
        "move the wgmma.fence behind the mov, or tie the registers to the fence (an empty asm with \"+f\" of each)",
        "PTX ISA 9.1, wgmma.fence; nvcc 13.0 emits such movs, and ptxas moves them without a message",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-read", _A, _ORDER,
        "a wgmma.fence is required between a read of an accumulator and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, MANUAL,
    ),
    Rule(
        "wgmma-fence-shape", _E, _ORDER,
        "a wgmma.fence is required between mma_asyncs of two shapes on one accumulator",
        "insert wgmma.fence.sync.aligned between the two", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-commit", _E, _ORDER, "an mma_async must be committed before the wait that should cover it",
        "insert wgmma.commit_group.sync.aligned after the mma_async, before the wait", _COMMIT, MANUAL,
    ),
    Rule(
        "wgmma-wait", _E, _ORDER, "an accumulator must not be touched before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the access", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-wait-count", _E, _ORDER,
        "an accumulator must not be in the N newest groups, which wait_group N leaves in flight",
        "lower N of the wait_group before the access", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-a-changed", _E, _ORDER, "a register of A must not be written before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the write, or write another register", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-a-read", _A, _ORDER, "a register of A must not be read before a wait_group that covers its group",
        "move the read behind the wait_group", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-copied", _A, _ORDER, "an accumulator must not be copied before a wait_group that covers its group",
        "move the copy behind the wait_group; an assembler that gives both one register does no harm", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-start", _E, _ORDER, "an accumulator must be written before the first mma_async that adds to it",
        "give the first mma_async scale-d 0, or set the accumulator to zero and fence", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-stage",
        _P,
        _ORDER,
        "a group in flight across a loop back edge should be waited for with wait_group 0 before its "
        "registers are used",
        "use wait_group 0 in the loop, or issue and wait in the same iteration",
        f"{_PTXAS}: accumulators between start and end of the pipeline stage (C7514)", ASSEMBLER,
    ),
    Rule(
        "wgmma-call", _P, _ORDER, "no function should be called while an mma_async is in flight",
        "inline the function, or wait before the call", f"{_PTXAS}: extern calls, function boundary (C7509, C7510)",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-call-kept", _P, _ORDER, "a kernel with mma_async should not call a function that is not inlined",
        "inline it, or remove the call (printf and assert are such calls)",
        f"{_PTXAS}: extern calls (C7509), function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-function", _P, _ORDER,
        "wgmma instructions should be in a kernel, not in a function that it calls",
        "inline the function", f"{_PTXAS}: function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-registers", _P, _ORDER,
        "the accumulators in flight should fit in the registers of a thread, with 26 left for other values",
        "multiply smaller tiles, use more warpgroups, or allow more registers (fewer threads per CTA, setmaxnreg)",
        f"{_PTXAS}: insufficient register resources (C7511, C7512)", ASSEMBLER,
    ),
    Rule(
        "wgmma-divergent", _P, _ORDER,
        "all threads of a warpgroup should take the same branches from wgmma.fence to commit_group",
        "branch on values that are equal in the whole warpgroup (shfl.sync.idx shows this to the assembler), or "
        "fence, multiply and commit after the branch",
        f"{_PTXAS}: divergent path (C7518, C7520; C7519 of 13.5)", ASSEMBLER,
    ),
    Rule(
        "tcgen05-commit", _E, _ORDER, "a tcgen05.commit must follow the asynchronous operation whose result is read",
        "insert tcgen05.commit to an mbarrier after the operation, and wait on it before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait", _E, _ORDER,
        "an mbarrier wait is required between the tcgen05.commit and the read of the result",
        "wait on the mbarrier of the commit (mbarrier.try_wait in a loop) before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-parity", _E, _BARRIERS,
        "the parity of a wait on an mbarrier must change each time the loop commits to that mbarrier",
        "keep the parity in a register, and flip it (xor 1) each time the loop returns to the mbarrier",
        "PTX ISA 9.1, mbarrier.try_wait, Phase of the mbarrier object", DOCUMENTED,
    ),
    Rule(
        "tcgen05-fence-after", _A, _ORDER,
        "tcgen05.fence::after_thread_sync must follow the wait, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-st", _E, _ORDER,
        "tcgen05.wait::st is required between a tcgen05.st and the instruction that reads those cells",
        "insert tcgen05.wait::st.sync.aligned after the tcgen05.st", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-ld", _A, _ORDER,
        "tcgen05.wait::ld is required between a tcgen05.ld and the use of its registers or cells",
        "insert tcgen05.wait::ld.sync.aligned after the tcgen05.ld", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-cta-group", _E, _ORDER, "all tcgen05 instructions of a kernel must have the same .cta_group",
        "use the same .cta_group everywhere", "PTX ISA 9.1, tcgen05, CTA pair and .cta_group", DOCUMENTED,
    ),
    Rule(
        "tcgen05-alloc-relinquished", _E, _TENSOR, "no allocation may follow tcgen05.relinquish_alloc_permit",
        "move tcgen05.relinquish_alloc_permit after the last tcgen05.alloc", _ALLOC, NVIDIA, "phase",
    ),
    Rule(
        "tcgen05-alloc-size", _E, _TENSOR, "an allocation must be of 32, 64, 128, 256 or 512 columns",
        "round the columns up to the next power of two, at least 32", _ALLOC, NVIDIA, "granularity",
    ),
    Rule(
        "tcgen05-alloc-order", _E, _TENSOR, "an allocation must not be larger than any before it in the same CTA",
        "allocate the larger one first", _ALLOC, DOCUMENTED, "size increases",
    ),
    Rule(
        "tcgen05-alloc-full", _E, _TENSOR, "allocations of one CTA must fit the 512 columns of tensor memory",
        "free columns first, or allocate fewer; otherwise the allocation waits forever", _ALLOC, DOCUMENTED,
        "waits for ever",
    ),
    Rule(
        "tcgen05-dealloc-unknown", _E, _TENSOR,
        "tcgen05.dealloc must free what tcgen05.alloc returned, with its columns",
        "free as many columns as were allocated", _ALLOC, NVIDIA, "deallocation",
    ),
    Rule(
        "tcgen05-dealloc-missing", _E, _TENSOR, "every allocation must be freed before the kernel ends",
        "insert tcgen05.dealloc before the end, by the warp that allocated", _ALLOC, DOCUMENTED, "never deallocated",
    ),
    Rule(
        "tcgen05-unallocated", _E, _TENSOR, "tensor memory must be allocated before it is used",
        "insert tcgen05.alloc and a barrier before the first use, or raise nCols of a tcgen05.alloc that is too small",
        _ALLOC, NVIDIA, "columns",
    ),
    Rule(
        "tcgen05-bounds", _E, _TENSOR, "an address must name one of the 128 lanes and 512 columns of tensor memory",
        "correct the lane or the column", _PLACE, NVIDIA, "bounds",
    ),
    Rule(
        "tcgen05-warp", _E, _TENSOR, "a warp must load and store only in the lanes of its quarter",
        "let the warp whose number modulo 4 is that of the quarter issue it", _PLACE, NVIDIA, "warp",
    ),
    Rule(
        "tcgen05-lane", _A, _TENSOR, "the lane of an address must be one that the instruction allows",
        "correct the lane",
        f"mma and shift: PTX ISA 9.1, tcgen05, Data Path Layout Organization; tcgen05.shift. Loads, stores: {_PLACE}",
        BELIEVED, "datapath",
    ),
    Rule(
        "wgmma-aligned", _E, _ORDER, "all threads of a warpgroup must execute a wgmma instruction together",
        "branch on values that are equal in the whole warpgroup", f"{_MMA} (.sync.aligned)", MANUAL,
    ),
    Rule(
        "tcgen05-elect", _E, _ORDER, "one thread must issue tcgen05.mma, cp, shift and commit",
        "issue it under elect.sync, or in one thread by its number",
        "PTX ISA 9.1, tcgen05.mma, tcgen05.cp, tcgen05.commit (issue granularity: one thread)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-aligned", _E, _ORDER, "all threads of a warp must execute a tcgen05 instruction that is .aligned",
        "move it out of the elected branch", "PTX ISA 9.1, tcgen05.ld, alloc, wait (.sync.aligned)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-fence-relaxed", _E, _ORDER,
        "tcgen05.fence::after_thread_sync must follow a wait that is .relaxed, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait, or remove .relaxed",
        f"{_PIPE}; mbarrier.try_wait (.sem: .acquire where there is none)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-release", _A, _ORDER,
        "tcgen05.wait::ld or wait::st is required between a load or store and the arrival that releases its cells",
        "insert tcgen05.wait::ld.sync.aligned (or wait::st) before the mbarrier.arrive", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-dealloc-early", _E, _TENSOR, "operations on tensor memory must be complete before it is deallocated",
        "wait for the mbarrier of the commit, or wait::ld, before the tcgen05.dealloc", f"{_PIPE}; {_ALLOC}",
        DOCUMENTED,
    ),
    Rule(
        "tcgen05-unwritten", _E, _TENSOR, "an accumulator that is added to, and scale factors, must be written first",
        "make enable-input-d of the first tcgen05.mma false, or store zeros; copy the scale factors with tcgen05.cp; "
        "for M 64 use only lanes 0 to 15 of each quarter",
        "PTX ISA 9.1, tcgen05.mma (enable-input-d, scale factors); Data Path Layout Organization", DOCUMENTED,
    ),
    Rule(
        "tcgen05-overlap", _E, _TENSOR,
        "the operands of one tcgen05.mma in tensor memory (accumulator, A, scale factors, lookup table) must "
        "not overlap",
        "give each its own columns; descriptors tmem plan computes them",
        "PTX ISA 9.1, tcgen05.mma; data path and scale factor layouts", DOCUMENTED,
    ),
    Rule(
        "tcgen05-table", _E, _TENSOR, "the lookup table of B must begin in an even column",
        "place the table (two columns) at an even column",
        "PTX ISA 9.4, tcgen05.mma (.decompress::lut::b)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-collector", Level.ASKS, _TENSOR,
        "a collector buffer that is used must have been filled by an earlier tcgen05.mma, and not been discarded since",
        "fill it with the same matrix in an earlier tcgen05.mma, with no discard in between",
        "PTX ISA 9.4, tcgen05.mma (collector usage)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-order", _E, _TENSOR, "two accesses of the same cells, one of which writes, must be ordered",
        "wait for the first access before the second: a commit and its mbarrier, or wait::ld or wait::st and a barrier",
        _PIPE, DOCUMENTED,
    ),
    Rule(
        "barrier-init", _E, _BARRIERS, "an mbarrier must be initialized before it is used",
        "insert mbarrier.init before the first use", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-init-seen", _E, _BARRIERS, "each use of an mbarrier must be ordered after its init",
        "let one thread execute mbarrier.init, and insert bar.sync (in a cluster, barrier.cluster) before the "
        "first use",
        _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-init-again", Level.ASKS, _BARRIERS, "an mbarrier must be invalidated before it is initialized again",
        "let one thread execute mbarrier.init once, and mbarrier.inval before another init", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-count", _E, _BARRIERS, "a phase of an mbarrier must not have more arrivals than its count",
        "wait for the phase before this arrival, raise the count of mbarrier.init, or let fewer threads arrive",
        _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-parity", _E, _BARRIERS, "the parity of a wait must be 0 or 1",
        "use the lowest bit of the phase", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-threads", _E, _BARRIERS, "all instructions of one barrier must name the same number of threads",
        "use the same number of threads in each", "PTX ISA 9.1, barrier.sync, barrier.arrive", MANUAL,
    ),
    Rule(
        "barrier-aligned", _E, _BARRIERS, "all threads of a warp must execute the same aligned barrier together",
        "move the barrier out of the branch that splits the warp, or use barrier.sync without .aligned",
        "PTX ISA 9.1, barrier, barrier.cluster (.aligned; bar is aligned)", MANUAL,
    ),
    Rule(
        "barrier-cluster", _E, _BARRIERS,
        "each thread must arrive at the barrier of the cluster once before each wait for it",
        "pair each barrier.cluster.wait with one barrier.cluster.arrive of the same threads before it",
        "PTX ISA 9.1, barrier.cluster", MANUAL,
    ),
    Rule(
        "barrier-storage", _E, _BARRIERS, "only mbarrier instructions must access the bytes of a live mbarrier",
        "store the data elsewhere, or execute mbarrier.inval and a barrier before the bytes are reused",
        f"{_MBARRIER} (inval)", MANUAL,
    ),
    Rule(
        "barrier-hang", _E, _BARRIERS, "a wait must end",
        "make the number of arrivals, the expected bytes and the parity of the wait agree",
        _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-exit", _E, _BARRIERS,
        "a CTA must not exit before other CTAs of its cluster are done with its shared memory",
        "let all CTAs meet at a cluster barrier before they exit, or wait for the last arrivals and copies",
        "CUDA C++ Programming Guide, Distributed Shared Memory", MANUAL,
    ),
    Rule(
        "barrier-registers", _E, _BARRIERS,
        "setmaxnreg must request a count that its direction allows and that the registers of the CTA suffice for",
        "lower the counts of .inc until all warps together have at most the registers of the launch, or release more "
        "registers with .dec in the other warpgroups",
        "PTX ISA 9.1, setmaxnreg; measured on an H200 (240 x 256 + 40 x 128 of 168 x 384 registers never end)", MANUAL,
    ),
    Rule(
        "barrier-registers-group", _E, _BARRIERS, "all warps of a warpgroup must change their register count together",
        "let all four warps of the warpgroup execute the setmaxnreg", "PTX ISA 9.1, setmaxnreg (.sync.aligned)", MANUAL,
    ),
    Rule(
        "proxy-fence", _E, _PROXIES,
        "fence.proxy.async is required between an ordinary store and an asynchronous read of its bytes",
        "insert fence.proxy.async.shared::cta after the store, before the barrier that publishes the bytes",
        "PTX ISA 9.1, Async proxy; measured on an H200 and an H100 (races.json)", MANUAL,
    ),
    Rule(
        "proxy-fence-copy", _A, _PROXIES,
        "fence.proxy.async is required between a cp.async and an asynchronous read of its bytes",
        "insert fence.proxy.async.shared::cta after the wait for the copies, before the read",
        "PTX ISA 9.1, Async proxy; Triton 3.9.0 emits it, 3.5.0 does not", MANUAL,
    ),
    Rule(
        "reuse-order", _E, _REUSE, "two accesses of the same bytes, one of which writes, must be ordered",
        "let the second wait for the first: an mbarrier, a wait_group, or bar.sync between them", _MEMORY, MANUAL,
    ),
    Rule(
        "reuse-bounds", _E, _REUSE, "an access must be in the shared memory of a CTA of the cluster",
        "use an address below the size of the shared memory, and a mask that names only CTAs of the cluster",
        "CUDA programming guide, Compute Capabilities (shared memory per thread block); PTX ISA 9.1, "
        "cp.async.bulk.tensor (ctaMask)", MANUAL,
    ),
    Rule(
        "reuse-unwritten", _E, _REUSE, "bytes that a multiplication reads must be written",
        "copy or store the whole operand before the multiplication", _MEMORY, MANUAL,
    ),
    Rule(
        "fragment-aligned", _E, _FRAGMENTS, "all threads of a warp must execute a mma.sync together",
        "remove the branch that skips it for some threads", _WARP_MMA, MANUAL,
    ),
    Rule(
        "fragment-address", _E, _FRAGMENTS,
        "an address in shared memory must be a multiple of 16 bytes for ldmatrix and stmatrix, of the copied bytes for "
        "cp.async", "start rows at multiples of 16 bytes", "PTX ISA 9.1, ldmatrix, stmatrix, cp.async", MANUAL,
    ),
    Rule(
        "fragment-matrix", _E, _FRAGMENTS, "all rows of A and B must take their elements of K from the same positions",
        "let ldmatrix use the swizzle of the copies, and let each lane point to its own row", _WARP_MMA,
        COMPUTED,
    ),
    Rule(
        "fragment-selector", _E, _FRAGMENTS,
        "a selector of scale factors or metadata must name existing threads and bytes",
        "use thread IDs 0 and 1 for A, 0 to 3 for B; byte IDs 0 to 3 for 1X, 0 and 2 for 2X, 0 for 4X; sparsity "
        "selectors 0 and 1 if two threads of four provide metadata",
        "PTX ISA 9.1, mma (block scaling), mma.sp; measured on an H100 (sparse_warps.json): selectors 2 and 3 of "
        "m16n8k32 in f16, which ptxas accepts, are illegal instructions",
        MANUAL,
    ),
    Rule(
        "fragment-order", _E, _FRAGMENTS, "A and B must have the same element of K at the same position",
        "let the lanes of ldmatrix point at the halves of K in the order of the registers", _WARP_MMA, COMPUTED,
    ),
)  # fmt: skip

#: Every rule, by its name.
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ROWS}


def decided_by(rule: Rule) -> tuple[str, ...]:
    """Return the parts of a check of a PTX text that decide a rule; none if a PTX text is not sufficient.

    >>> decided_by(RULES["wgmma-wait"]), decided_by(RULES["tcgen05-bounds"])
    (('paths',), ())
    """
    return _DECIDED_BY.get(rule.name, _DECIDED_BY[rule.name.partition("-")[0]])


#: The rules that a check of a PTX text verifies.
ALL_RULES: Mapping[str, Rule] = {name: rule for name, rule in RULES.items() if decided_by(rule)}
#: The rules of ``descriptors tmem check``, by their names in that command.
GUARDRAILS: Mapping[str, Rule] = {rule.guardrail: rule for rule in _ROWS if rule.guardrail}


def broken(name: str, found: str, registers: tuple[str, ...] = ()) -> Broken:
    """Return a violation of the rule with this name.

    >>> print(broken("tcgen05-alloc-size", "the allocation has 48 columns"))  # doctest: +ELLIPSIS
    error: the allocation has 48 columns [tcgen05-alloc-size]; round the columns up to the next power of two, ...
    """
    return Broken(RULES[name], found, registers)


def page_address(rule: Rule) -> str:
    """Return the address of the page of a rule; "" if the documentation is not published."""
    return f"{site().rstrip('/')}/rules/{rule.name}.html" if site() else ""


@cache
def site() -> str:
    """Return the address of the documentation from the metadata of the distribution; "" if it is not published."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        rows = metadata("layoutalg").get_all("Project-URL") or []
    except PackageNotFoundError:  # a checkout on the path, or a browser
        return ""
    return next((row.partition(", ")[2] for row in rows if row.startswith("Documentation, ")), "")


def rule_text(rule: Rule) -> str:
    """Return the full text of a rule, with its page if the documentation is published.

    >>> print(rule_text(ALL_RULES["wgmma-wait"]))
    wgmma-wait: an accumulator must not be touched before a wait_group that covers its group
    level    error: an assembler rejects it, or the hazard is there whenever the code runs
    about    order
    fix      insert wgmma.wait_group.sync.aligned 0 before the access
    decided  paths
    source   PTX ISA 9.1, wgmma.wait_group
    known    documented
    """
    rows = {
        "level": f"{rule.level}: {rule.level.meaning}",
        "about": rule.property,
        "fix": rule.fix,
        "decided": " and ".join(decided_by(rule)),
        "source": rule.source,
        "known": rule.evidence,
        "page": page_address(rule),
    }
    return "\n".join([f"{rule.name}: {rule.demands}", *(f"{name:8} {text}" for name, text in rows.items() if text)])
