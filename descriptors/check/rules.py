"""The rules of a kernel with tensor-core instructions, as one table: what each demands, how sure its breach is, what
mends it, who says so, and how that is known.

Multiplications of tensor cores are asynchronous. An instruction is issued, and what it reads and writes belongs to it
until something that the program says waits for it: so a kernel keeps a protocol, and an assembler sees little of it.
There are three, each a state that events change and a set of rules that hold an event against the state before it:

* *registers of a warpgroup* (``wgmma``): idle, fenced, or in flight in a group of some age;
* *tensor memory* (``tcgen05``): which columns are allocated, and what an instruction may touch;
* *completion* (``tcgen05``): what is issued, committed to an mbarrier and waited for.

Beside them stand rules of *form*, what an assembler takes, and of *words*, what descriptors say.

A rule is a row here and a function where its state is: ``wgmma``, ``tcgen05`` (which names it beside the events that it
is about), ``forms``, ``kernel_words``. There are three
levels of them, ``Level``.

Law: a rule has one name, which says what family it is of.

>>> families = ("wgmma", "tcgen05", "form", "word", "barrier", "proxy", "reuse", "fragment")
>>> all(name == rule.name and name.partition("-")[0] in families for name, rule in RULES.items())
True

Law: a rule is about one property of a kernel.

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
    """How sure a finding is, and how bad.

    >>> print(Level.ASKS, "-", Level.ASKS.meaning)
    asks - the PTX manual asks for it, and compilers in use leave it out without harm seen
    """

    ERROR = "error"
    ASKS = "asks"
    PERFORMANCE = "performance"

    def __str__(self) -> str:
        return self.value

    @property
    def meaning(self) -> str:
        """What it says of the code."""
        return _MEANINGS[self]


_MEANINGS = {
    Level.ERROR: "an assembler rejects it, or the hazard is there whenever the code runs",
    Level.ASKS: "the PTX manual asks for it, and compilers in use leave it out without harm seen",
    Level.PERFORMANCE: "the code is right, but slow",
}


@frozen
class Rule:
    """One rule.

    Args:
        name: for a program.
        level: how sure and how bad its breach is.
        property: what of a kernel it is about, one of ``PROPERTIES``.
        demands: what must hold.
        fix: what to insert or change, and where.
        source: where it is published.
        evidence: how it is known.
        guardrail: its name in ``descriptors tmem check``; "" where it is not asked there.
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
    """A rule that an event breaks.

    Args:
        rule: the rule.
        found: what was found instead.
        registers: the registers or addresses it is about, as they are written.
        demand: what must hold here, with the names and numbers of the place; "" where the rule's own words say it.
    """

    rule: Rule
    found: str
    registers: tuple[str, ...] = ()
    demand: str = ""

    @property
    def sentence(self) -> str:
        """What must hold and what was found.

        >>> broken("tcgen05-alloc-full", "found 544").sentence
        'allocations of one CTA must fit the 512 columns of tensor memory, found 544'
        """
        return f"{self.demand or self.rule.demands}, {self.found}"

    def __str__(self) -> str:
        return f"{self.rule.level}: {self.sentence} [{self.rule.name}]; {self.rule.fix}"


#: What a kernel has that a check gives a verdict of, each by itself, in the order in which they are told.
PROPERTIES = ("forms", "words", "order", "tensor memory", "barriers", "bytes", "proxies", "reuse", "fragments")


@frozen
class Doubt:
    """What a text leaves open.

    Args:
        property: what it is about: ``order`` or ``tensor memory``.
        what: is not decided.
        why: it is not.
        decides: what would decide it.
    """

    property: str
    what: str
    why: str
    decides: str


#: The parts of a check: each instruction by itself, the ways through a function, and its execution.
TEXT, PATHS, EXECUTION = "text", "paths", "execution"
_BOTH = (PATHS, EXECUTION)
#: Which parts decide a rule, by its family, and by its name where others decide it.
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
    "fragment-selector": (TEXT, EXECUTION),
}

#: How a rule is known that is not about tensor memory.
MANUAL = "documented"
ASSEMBLER = "NVIDIA's code: what ptxas takes, refuses and says"
COMPUTED = "computed here, from what the words address"

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
        "form-target", _E, _FORMS, "the target must have the instruction",
        "write another .target", f"{_MMA}, Target ISA", ASSEMBLER,
    ),
    Rule(
        "form-version", _E, _FORMS, "the .version must have the instruction",
        "write the .version that is named, or a later one", "ptxas 13.5, asked with every .version from 8.3 on",
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
        "form-types", _E, _FORMS, "types must go together",
        "take types of one row of descriptors shapes", _TABLES, ASSEMBLER,
    ),
    Rule("form-shape", _E, _FORMS, "the shape must exist", "take a shape of descriptors shapes", _TABLES, ASSEMBLER),
    Rule(
        "form-registers", _E, _FORMS, "a vector must have the registers of its shape",
        "give as many registers", _MMA, ASSEMBLER,
    ),
    Rule(
        "form-operands", _E, _FORMS, "operands must be those of the instruction, in its order",
        "correct the operands", _MMA, ASSEMBLER,
    ),
    Rule("form-immediate", _E, _FORMS, "an immediate must be in its range", "correct the immediate", _MMA, ASSEMBLER),
    Rule(
        "form-limit", _E, _FORMS, "a kernel must allow a thread the registers of D and 26 more",
        "raise .maxnreg, take fewer threads a CTA, or a smaller N", "ptxas 12.9, 13.0, 13.5 (C7602)", ASSEMBLER,
    ),
    Rule(
        "form-shared", _E, _FORMS, "static shared memory of a kernel must fit its target",
        "take dynamic shared memory, which the launch sizes, or a target that ends with a", "ptxas 13.5", ASSEMBLER,
    ),
    Rule(
        "form-class", _E, _FORMS, "an operand must be in a register of a class that the instruction takes",
        "declare the register so, or move the value into one that is", "ptxas 13.0; PTX ISA 9.1, wgmma, tcgen05",
        ASSEMBLER,
    ),
    Rule(
        "form-transpose", _E, _FORMS, "only f16 and bf16 in shared memory may be transposed",
        "store the operand K-major, and leave the transpose out",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b", ASSEMBLER,
    ),
    Rule(
        "word-idesc", _E, _WORDS, "an instruction descriptor must describe the instruction it goes to",
        "build the word with descriptors idesc",
        "PTX ISA 9.1, tcgen05, Instruction descriptor; descriptors decode-idesc", NVIDIA, "idesc",
    ),
    Rule(
        "word-smem", _E, _WORDS, "a shared-memory descriptor must describe an operand that the instruction reads",
        "derive the word with descriptors derive", "descriptors decode; PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-unused-bits", _A, _WORDS, "bits of a shared-memory descriptor outside of its fields must be 0",
        "clear them", "PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-version", _A, _WORDS, "bits [46,49) of an sm100 word must be 1",
        "set bit 46", "PTX ISA 9.1, tcgen05, Shared memory descriptor (Table 40); Triton 3.5.0 leaves them 0", MANUAL,
    ),
    Rule(
        "word-suspect", _A, _WORDS, "a shared-memory descriptor should not look like a mistake",
        "compare the word with descriptors derive", "descriptors decode (warnings)", COMPUTED,
    ),
    Rule(
        "word-advance", _E, _WORDS,
        "words of one accumulation must differ in where they start alone, by whole K blocks",
        "advance the start address as descriptors derive says", "descriptors derive (advance)", COMPUTED,
    ),
    Rule(
        "word-repeated", _A, _WORDS, "two instructions of one accumulation should not read the same A and B",
        "advance the start addresses, or leave the second out", "descriptors derive (advance)", COMPUTED,
    ),
    Rule(
        "word-transpose", _E, _WORDS, "all instructions of one accumulation must read an operand with one major",
        "give each the transpose bit of the tile: imm-trans of wgmma, bit 15 (A) or 16 (B) of the idesc",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b; tcgen05, Instruction descriptor", COMPUTED,
    ),
    Rule(
        "word-start", _E, _WORDS, "the start address of a word must be one of shared memory in units of 16 bytes",
        "shift the address right by 4 before it becomes the low 14 bits of the word",
        "PTX ISA 9.1, matrix descriptors (matrix-start-address)", MANUAL,
    ),
    Rule(
        "wgmma-fence", _E, _ORDER,
        "a wgmma.fence must stand between a write of a register and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-moved",
        _A,
        _ORDER,
        "a wgmma.fence must stand between a mov into a register and the mma_async that uses it",
        "move the wgmma.fence behind the mov, or tie the registers to the fence (an empty asm with \"+f\" of each)",
        "PTX ISA 9.1, wgmma.fence; nvcc 13.0 puts such movs there, and ptxas places them again without a word",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-read", _A, _ORDER,
        "a wgmma.fence must stand between a read of an accumulator and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, MANUAL,
    ),
    Rule(
        "wgmma-fence-shape", _E, _ORDER, "a wgmma.fence must stand between mma_asyncs of two shapes on one accumulator",
        "insert wgmma.fence.sync.aligned between the two", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-commit", _E, _ORDER, "an mma_async must be committed before the wait that is to cover it",
        "insert wgmma.commit_group.sync.aligned after the mma_async, before the wait", _COMMIT, MANUAL,
    ),
    Rule(
        "wgmma-wait", _E, _ORDER, "an accumulator must not be touched before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the access", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-wait-count", _E, _ORDER,
        "wait_group N leaves the N newest groups in flight, and an accumulator must be of none",
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
        "what is in flight over the way back of a loop should be waited for with wait_group 0 before it is touched",
        "let the wait_group in the loop be 0, or issue and wait in one round",
        f"{_PTXAS}: accumulators between start and end of the pipeline stage (C7514)", ASSEMBLER,
    ),
    Rule(
        "wgmma-call", _P, _ORDER, "no function should be called while an mma_async is in flight",
        "inline the function, or wait before the call", f"{_PTXAS}: extern calls, function boundary (C7509, C7510)",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-call-kept", _P, _ORDER, "no function that stays a function should be called in a kernel with mma_async",
        "inline it, or leave it out (printf and assert are such calls)",
        f"{_PTXAS}: extern calls (C7509), function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-function", _P, _ORDER,
        "wgmma instructions should stand in a kernel, and not in a function that it calls",
        "inline the function", f"{_PTXAS}: function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-registers", _P, _ORDER,
        "what is in flight at once should fit the registers of a thread, and 26 for the rest",
        "multiply smaller tiles, use more warpgroups, or allow more registers (fewer threads a CTA, setmaxnreg)",
        f"{_PTXAS}: insufficient register resources (C7511, C7512)", ASSEMBLER,
    ),
    Rule(
        "wgmma-divergent", _P, _ORDER, "all threads of a warpgroup should go one way from wgmma.fence to commit_group",
        "branch on values that are equal in all of the warpgroup (shfl.sync.idx makes them so for the assembler), or "
        "fence, multiply and commit behind the branch",
        f"{_PTXAS}: divergent path (C7518, C7520; C7519 of 13.5)", ASSEMBLER,
    ),
    Rule(
        "tcgen05-commit", _E, _ORDER, "a tcgen05.commit must follow the asynchronous operation whose result is read",
        "insert tcgen05.commit to an mbarrier after the operation, and wait on it before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait", _E, _ORDER, "an mbarrier wait must stand between the tcgen05.commit and the read of the result",
        "wait on the mbarrier of the commit (mbarrier.try_wait in a loop) before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-parity", _E, _BARRIERS, "the parity of a wait in a loop must change with every round that commits",
        "keep the parity in a register, and turn it over (xor 1) in each round",
        "PTX ISA 9.1, mbarrier.try_wait, Phase of the mbarrier object", DOCUMENTED,
    ),
    Rule(
        "tcgen05-fence-after", _A, _ORDER,
        "tcgen05.fence::after_thread_sync must follow the wait, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-st", _E, _ORDER, "tcgen05.wait::st must stand between a tcgen05.st and what reads those cells",
        "insert tcgen05.wait::st.sync.aligned after the tcgen05.st", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-ld", _A, _ORDER,
        "tcgen05.wait::ld must stand between a tcgen05.ld and the use of its registers or cells",
        "insert tcgen05.wait::ld.sync.aligned after the tcgen05.ld", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-cta-group", _E, _ORDER, "all tcgen05 instructions of a kernel must have one .cta_group",
        "write the same .cta_group everywhere", "PTX ISA 9.1, tcgen05, CTA pair and .cta_group", DOCUMENTED,
    ),
    Rule(
        "tcgen05-alloc-relinquished", _E, _TENSOR, "no allocation may follow tcgen05.relinquish_alloc_permit",
        "move tcgen05.relinquish_alloc_permit behind the last tcgen05.alloc", _ALLOC, NVIDIA, "phase",
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
        "free columns first, or allocate fewer: the allocation waits for ever", _ALLOC, DOCUMENTED, "waits for ever",
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
        "insert tcgen05.alloc, and a barrier, before the first use", _ALLOC, NVIDIA, "columns",
    ),
    Rule(
        "tcgen05-bounds", _E, _TENSOR, "an address must name one of the 128 lanes and 512 columns of tensor memory",
        "correct the lane or the column", _PLACE, NVIDIA, "bounds",
    ),
    Rule(
        "tcgen05-warp", _E, _TENSOR, "a warp must load and store in the lanes of its quarter alone",
        "let the warp whose number modulo 4 is that of the quarter issue it", _PLACE, NVIDIA, "warp",
    ),
    Rule(
        "tcgen05-lane", _E, _TENSOR, "an address must begin in a lane where the instruction may",
        "correct the lane", _PLACE, BELIEVED, "datapath",
    ),
    Rule(
        "wgmma-aligned", _E, _ORDER, "all threads of a warpgroup must run a wgmma instruction, none of them apart",
        "branch on values that are equal in all of the warpgroup", f"{_MMA} (.sync.aligned)", MANUAL,
    ),
    Rule(
        "tcgen05-elect", _E, _ORDER, "one thread must issue tcgen05.mma, cp, shift and commit",
        "issue it under elect.sync, or in one thread by its number",
        "PTX ISA 9.1, tcgen05.mma, tcgen05.cp, tcgen05.commit (issue granularity: one thread)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-aligned", _E, _ORDER, "all threads of a warp must run a tcgen05 instruction that is .aligned",
        "take it out of the elected branch", "PTX ISA 9.1, tcgen05.ld, alloc, wait (.sync.aligned)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-fence-relaxed", _E, _ORDER,
        "tcgen05.fence::after_thread_sync must follow a wait that is .relaxed, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait, or take .relaxed away",
        f"{_PIPE}; mbarrier.try_wait (.sem: .acquire where there is none)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-release", _A, _ORDER,
        "tcgen05.wait::ld and wait::st must stand between a load or store and an arrival that gives its cells away",
        "insert tcgen05.wait::ld.sync.aligned (or wait::st) before the mbarrier.arrive", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-dealloc-early", _E, _TENSOR, "what uses tensor memory must be complete before it is deallocated",
        "wait for the mbarrier of the commit, or wait::ld, before the tcgen05.dealloc", f"{_PIPE}; {_ALLOC}",
        DOCUMENTED,
    ),
    Rule(
        "tcgen05-unwritten", _E, _TENSOR, "an accumulator that is added to, and scale factors, must be written first",
        "make enable-input-d of the first tcgen05.mma false, or store zeros; copy the scale factors with tcgen05.cp; "
        "of M 64 use lanes 0 to 15 of each quarter alone",
        "PTX ISA 9.1, tcgen05.mma (enable-input-d, scale factors); Data Path Layout Organization", DOCUMENTED,
    ),
    Rule(
        "tcgen05-overlap", _E, _TENSOR,
        "all that one tcgen05.mma has in tensor memory must lie apart: accumulator, A, scale factors, lookup table",
        "give each its own columns, as descriptors tmem columns plans them",
        "PTX ISA 9.1, tcgen05.mma; data path and scale factor layouts", DOCUMENTED,
    ),
    Rule(
        "tcgen05-table", _E, _TENSOR, "the lookup table of B must begin in an even column",
        "put the table, two columns, where a multiple of two columns begins",
        "PTX ISA 9.4, tcgen05.mma (.decompress::lut::b)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-collector", Level.ASKS, _TENSOR,
        "what is used out of a collector must have been filled into it by a tcgen05.mma before, and still be there",
        "fill it with the same matrix in a tcgen05.mma before, with no other between that discards it",
        "PTX ISA 9.4, tcgen05.mma (collector usage)", DOCUMENTED,
    ),
    Rule(
        "tcgen05-order", _E, _TENSOR, "two accesses of the same cells, of which one writes, must be in order",
        "wait for the first before the second: a commit and its mbarrier, wait::ld or wait::st and a barrier",
        _PIPE, DOCUMENTED,
    ),
    Rule(
        "barrier-init", _E, _BARRIERS, "an mbarrier must be initialised before it is used",
        "insert mbarrier.init before the first use", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-init-seen", _E, _BARRIERS, "who uses an mbarrier, or initialises it again, must come after its init",
        "let one thread run mbarrier.init, and insert bar.sync (of a cluster, barrier.cluster) before the first use",
        _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-init-again", Level.ASKS, _BARRIERS, "an mbarrier must be invalidated before it is initialised again",
        "let one thread run mbarrier.init, once, and mbarrier.inval before another", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-count", _E, _BARRIERS, "a phase of an mbarrier must not have more arrivals than its count",
        "raise the count of mbarrier.init, or let fewer threads arrive", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-parity", _E, _BARRIERS, "the parity of a wait must be 0 or 1",
        "take the lowest bit of the phase", _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-threads", _E, _BARRIERS, "all that meet at a barrier must name as many threads",
        "write the same number of threads at each", "PTX ISA 9.1, barrier.sync, barrier.arrive", MANUAL,
    ),
    Rule(
        "barrier-aligned", _E, _BARRIERS, "all threads of a warp must run the same aligned barrier together",
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
        "give the data another place, or run mbarrier.inval, and a barrier, before the place is used again",
        f"{_MBARRIER} (inval)", MANUAL,
    ),
    Rule(
        "barrier-hang", _E, _BARRIERS, "a wait must end",
        "let as many arrive, expect as many bytes, and wait for the parity of the phase that ends",
        _MBARRIER, MANUAL,
    ),
    Rule(
        "barrier-exit", _E, _BARRIERS, "a CTA must live until others of its cluster are done with its shared memory",
        "let all CTAs meet at a cluster barrier before they end, or wait for the last arrivals and copies",
        "CUDA C++ Programming Guide, Distributed Shared Memory", MANUAL,
    ),
    Rule(
        "barrier-registers", _E, _BARRIERS,
        "setmaxnreg must change to a count that its direction allows and the registers of its CTA suffice for",
        "lower the counts of .inc until all warps together have at most what the CTA is launched with, or give more "
        "back with .dec in the other warpgroups",
        "PTX ISA 9.1, setmaxnreg; measured on an H200 (240 x 256 + 40 x 128 of 168 x 384 registers never end)", MANUAL,
    ),
    Rule(
        "barrier-registers-group", _E, _BARRIERS, "all warps of a warpgroup must change their registers alike",
        "let all four warps of the warpgroup execute the setmaxnreg", "PTX ISA 9.1, setmaxnreg (.sync.aligned)", MANUAL,
    ),
    Rule(
        "proxy-fence", _E, _PROXIES,
        "fence.proxy.async must stand between an ordinary store and what reads its bytes asynchronously",
        "insert fence.proxy.async.shared::cta after the store, before the barrier that hands the bytes over",
        "PTX ISA 9.1, Async proxy; measured on an H200 and an H100 (races.json)", MANUAL,
    ),
    Rule(
        "proxy-fence-copy", _A, _PROXIES,
        "fence.proxy.async must stand between a cp.async and what reads its bytes asynchronously",
        "insert fence.proxy.async.shared::cta after the wait for the copies, before what reads them",
        "PTX ISA 9.1, Async proxy; Triton 3.9.0 emits it, 3.5.0 does not", MANUAL,
    ),
    Rule(
        "reuse-order", _E, _REUSE, "two accesses of the same bytes, of which one writes, must be in order",
        "let the second wait for the first: an mbarrier, a wait_group, or bar.sync between them", _MEMORY, MANUAL,
    ),
    Rule(
        "reuse-unwritten", _E, _REUSE, "bytes that a multiplication reads must be written",
        "copy or store the whole operand before the multiplication", _MEMORY, MANUAL,
    ),
    Rule(
        "fragment-aligned", _E, _FRAGMENTS, "all threads of a warp must run a mma.sync, none of them apart",
        "let no branch lead some of them round it", _WARP_MMA, MANUAL,
    ),
    Rule(
        "fragment-address", _E, _FRAGMENTS,
        "an address in shared memory must be a multiple of 16 bytes for ldmatrix and stmatrix, of the copied bytes for "
        "cp.async", "let rows begin at multiples of 16 bytes", "PTX ISA 9.1, ldmatrix, stmatrix, cp.async", MANUAL,
    ),
    Rule(
        "fragment-matrix", _E, _FRAGMENTS, "every row of A and B must have its elements of K from the same places",
        "let ldmatrix read by the swizzle that the copies wrote by, and each lane point at its own row", _WARP_MMA,
        COMPUTED,
    ),
    Rule(
        "fragment-selector", _E, _FRAGMENTS,
        "a selector of scale factors or metadata must name threads and bytes that there are",
        "thread-ids are 0 and 1 of A, 0 to 3 of B; byte-ids any of 1X, 0 and 2 of 2X, 0 of 4X; sparsity selectors 0 "
        "and 1 where two threads of four give metadata",
        "PTX ISA 9.1, mma (block scaling), mma.sp; measured on an H100 (sparse_warps.json): selectors 2 and 3 of "
        "m16n8k32 in f16, which ptxas takes, are illegal instructions",
        MANUAL,
    ),
    Rule(
        "fragment-order", _E, _FRAGMENTS, "A and B must have the same element of K at the same k",
        "let the lanes of ldmatrix point at the halves of K in the order of the registers", _WARP_MMA, COMPUTED,
    ),
)  # fmt: skip

#: Every rule, by its name.
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ROWS}


def decided_by(rule: Rule) -> tuple[str, ...]:
    """Return the parts of a check of a PTX text that decide a rule; none where a text does not say enough.

    >>> decided_by(RULES["wgmma-wait"]), decided_by(RULES["tcgen05-bounds"])
    (('paths',), ())
    """
    return _DECIDED_BY.get(rule.name, _DECIDED_BY[rule.name.partition("-")[0]])


#: The rules that a check of a PTX text holds it against.
ALL_RULES: Mapping[str, Rule] = {name: rule for name, rule in RULES.items() if decided_by(rule)}
#: The rules of ``descriptors tmem check``, by the name that they have there.
GUARDRAILS: Mapping[str, Rule] = {rule.guardrail: rule for rule in _ROWS if rule.guardrail}


def broken(name: str, found: str, registers: tuple[str, ...] = (), *, demand: str = "") -> Broken:
    """A breach of the rule of this name.

    >>> print(broken("tcgen05-alloc-size", "found 48"))  # doctest: +ELLIPSIS
    error: an allocation must be of 32, 64, 128, 256 or 512 columns, found 48 [tcgen05-alloc-size]; round the ...
    """
    return Broken(RULES[name], found, registers, demand)


def page_address(rule: Rule) -> str:
    """Where the page of a rule is published; "" while there is no such site."""
    return f"{site().rstrip('/')}/rules/{rule.name}.html" if site() else ""


@cache
def site() -> str:
    """The address of the documentation, which the metadata of the distribution hold once it is published; "" before."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        rows = metadata("layoutalg").get_all("Project-URL") or []
    except PackageNotFoundError:  # a checkout on the path, or a browser
        return ""
    return next((one.partition(", ")[2] for one in rows if one.startswith("Documentation, ")), "")


def rule_text(rule: Rule) -> str:
    """A rule of the checker, whole; its page too, where one is published.

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
    return "\n".join([f"{rule.name}: {rule.demands}", *(f"{name:8} {told}" for name, told in rows.items() if told)])
