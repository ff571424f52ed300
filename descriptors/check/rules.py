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
is about), ``forms``, ``kernel_words``. Three levels. *error*: an assembler rejects it, or the hazard is there whenever
the code runs. *asks*: the PTX manual asks for it, and compilers in use leave it out without harm seen. *performance*:
the code is right, but slow.

Law: a rule has one name, which says what family it is of.

>>> families = ("wgmma", "tcgen05", "form", "word")
>>> all(name == rule.name and name.partition("-")[0] in families for name, rule in RULES.items())
True
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, NVIDIA
from layoutalg.frozen import frozen


class Level(Enum):
    """How sure a finding is, and how bad."""

    ERROR = "error"
    ASKS = "asks"
    PERFORMANCE = "performance"

    def __str__(self) -> str:
        return self.value


@frozen
class Rule:
    """One rule.

    Args:
        name: for a program.
        level: how sure and how bad its breach is.
        demands: what must hold.
        fix: what to insert or change, and where.
        source: where it is published.
        evidence: how it is known.
        guardrail: its name in ``descriptors tmem check``; "" where it is not asked there.
        in_text: whether a PTX text says enough to decide it.
    """

    name: str
    level: Level
    demands: str
    fix: str
    source: str
    evidence: str
    guardrail: str = ""
    in_text: bool = True


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
_E, _A, _P = Level.ERROR, Level.ASKS, Level.PERFORMANCE

_ROWS = (
    Rule(
        "form-target", _E, "the target must have the instruction",
        "write another .target", f"{_MMA}, Target ISA", ASSEMBLER,
    ),
    Rule("form-qualifier", _E, "qualifiers must be those of the instruction", "correct the qualifier", _MMA, ASSEMBLER),
    Rule("form-types", _E, "types must go together", "take types of one row of descriptors shapes", _TABLES, ASSEMBLER),
    Rule("form-shape", _E, "the shape must exist", "take a shape of descriptors shapes", _TABLES, ASSEMBLER),
    Rule(
        "form-registers", _E, "a vector must have the registers of its shape",
        "give as many registers", _MMA, ASSEMBLER,
    ),
    Rule(
        "form-operands", _E, "operands must be those of the instruction, in its order",
        "correct the operands", _MMA, ASSEMBLER,
    ),
    Rule("form-immediate", _E, "an immediate must be in its range", "correct the immediate", _MMA, ASSEMBLER),
    Rule(
        "form-limit", _E, "a kernel must allow a thread the registers of D and 26 more",
        "raise .maxnreg, take fewer threads a CTA, or a smaller N", "ptxas 12.9, 13.0, 13.5 (C7602)", ASSEMBLER,
    ),
    Rule(
        "form-transpose", _E, "only f16 and bf16 in shared memory may be transposed",
        "store the operand K-major, and leave the transpose out",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b", ASSEMBLER,
    ),
    Rule(
        "word-idesc", _E, "an instruction descriptor must describe the instruction it goes to",
        "build the word with descriptors idesc",
        "PTX ISA 9.1, tcgen05, Instruction descriptor; descriptors decode-idesc", NVIDIA, "sparsity",
    ),
    Rule(
        "word-smem", _E, "a shared-memory descriptor must describe an operand that the instruction reads",
        "derive the word with descriptors derive", "descriptors decode; PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-unused-bits", _A, "bits of a shared-memory descriptor outside of its fields must be 0",
        "clear them", "PTX ISA 9.1, matrix descriptors", MANUAL,
    ),
    Rule(
        "word-version", _A, "bits [46,49) of an sm100 word must be 1",
        "set bit 46", "PTX ISA 9.1, tcgen05, Shared memory descriptor (Table 40); Triton 3.5.0 leaves them 0", MANUAL,
    ),
    Rule(
        "word-suspect", _A, "a shared-memory descriptor should not look like a mistake",
        "compare the word with descriptors derive", "descriptors decode (warnings)", COMPUTED,
    ),
    Rule(
        "word-advance", _E, "words of one accumulation must differ in where they start alone, by whole K blocks",
        "advance the start address as descriptors derive says", "descriptors derive (advance)", COMPUTED,
    ),
    Rule(
        "word-repeated", _A, "two instructions of one accumulation should not read the same A and B",
        "advance the start addresses, or leave the second out", "descriptors derive (advance)", COMPUTED,
    ),
    Rule(
        "word-transpose", _E, "all instructions of one accumulation must read an operand with one major",
        "give each the transpose bit of the tile: imm-trans of wgmma, bit 15 (A) or 16 (B) of the idesc",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b; tcgen05, Instruction descriptor", COMPUTED,
    ),
    Rule(
        "word-start", _E, "the start address of a word must be one of shared memory in units of 16 bytes",
        "shift the address right by 4 before it becomes the low 14 bits of the word",
        "PTX ISA 9.1, matrix descriptors (matrix-start-address)", MANUAL,
    ),
    Rule(
        "wgmma-fence", _E, "a wgmma.fence must stand between a write of a register and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-moved",
        _A,
        "a wgmma.fence must stand between a mov into a register and the mma_async that uses it",
        "move the wgmma.fence behind the mov, or tie the registers to the fence (an empty asm with \"+f\" of each)",
        "PTX ISA 9.1, wgmma.fence; nvcc 13.0 puts such movs there, and ptxas places them again without a word",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-fence-read", _A,
        "a wgmma.fence must stand between a read of an accumulator and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE, MANUAL,
    ),
    Rule(
        "wgmma-fence-shape", _E, "a wgmma.fence must stand between mma_asyncs of two shapes on one accumulator",
        "insert wgmma.fence.sync.aligned between the two", _FENCE, ASSEMBLER,
    ),
    Rule(
        "wgmma-commit", _E, "an mma_async must be committed before the wait that is to cover it",
        "insert wgmma.commit_group.sync.aligned after the mma_async, before the wait", _COMMIT, MANUAL,
    ),
    Rule(
        "wgmma-wait", _E, "an accumulator must not be touched before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the access", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-wait-count", _E, "wait_group N leaves the N newest groups in flight, and an accumulator must be of none",
        "lower N of the wait_group before the access", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-a-changed", _E, "a register of A must not be written before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the write, or write another register", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-a-read", _A, "a register of A must not be read before a wait_group that covers its group",
        "move the read behind the wait_group", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-copied", _A, "an accumulator must not be copied before a wait_group that covers its group",
        "move the copy behind the wait_group; an assembler that gives both one register does no harm", _WAIT, MANUAL,
    ),
    Rule(
        "wgmma-start", _E, "an accumulator must be written before the first mma_async that adds to it",
        "give the first mma_async scale-d 0, or set the accumulator to zero and fence", _ASYNC, MANUAL,
    ),
    Rule(
        "wgmma-stage",
        _P,
        "what is in flight over the way back of a loop should be waited for with wait_group 0 before it is touched",
        "let the wait_group in the loop be 0, or issue and wait in one round",
        f"{_PTXAS}: accumulators between start and end of the pipeline stage (C7514)", ASSEMBLER,
    ),
    Rule(
        "wgmma-call", _P, "no function should be called while an mma_async is in flight",
        "inline the function, or wait before the call", f"{_PTXAS}: extern calls, function boundary (C7509, C7510)",
        ASSEMBLER,
    ),
    Rule(
        "wgmma-call-kept", _P, "no function that stays a function should be called in a kernel with mma_async",
        "inline it, or leave it out (printf and assert are such calls)",
        f"{_PTXAS}: extern calls (C7509), function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-function", _P, "wgmma instructions should stand in a kernel, and not in a function that it calls",
        "inline the function", f"{_PTXAS}: function boundary (C7510)", ASSEMBLER,
    ),
    Rule(
        "wgmma-registers", _P, "what is in flight at once should fit the registers of a thread, and 26 for the rest",
        "multiply smaller tiles, use more warpgroups, or allow more registers (fewer threads a CTA, setmaxnreg)",
        f"{_PTXAS}: insufficient register resources (C7511, C7512)", ASSEMBLER,
    ),
    Rule(
        "wgmma-divergent", _P, "all threads of a warpgroup should go one way from wgmma.fence to commit_group",
        "branch on values that are equal in all of the warpgroup (shfl.sync.idx makes them so for the assembler), or "
        "fence, multiply and commit behind the branch",
        f"{_PTXAS}: divergent path (C7518, C7520; C7519 of 13.5)", ASSEMBLER,
    ),
    Rule(
        "tcgen05-commit", _E, "a tcgen05.commit must follow the asynchronous operation whose result is read",
        "insert tcgen05.commit to an mbarrier after the operation, and wait on it before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait", _E, "an mbarrier wait must stand between the tcgen05.commit and the read of the result",
        "wait on the mbarrier of the commit (mbarrier.try_wait in a loop) before the read", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-parity", _E, "the parity of a wait in a loop must change with every round that commits",
        "keep the parity in a register, and turn it over (xor 1) in each round",
        "PTX ISA 9.1, mbarrier.try_wait, Phase of the mbarrier object", DOCUMENTED,
    ),
    Rule(
        "tcgen05-fence-after", _A,
        "tcgen05.fence::after_thread_sync must follow the wait, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-st", _E, "tcgen05.wait::st must stand between a tcgen05.st and what reads those cells",
        "insert tcgen05.wait::st.sync.aligned after the tcgen05.st", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-wait-ld", _A, "tcgen05.wait::ld must stand between a tcgen05.ld and the use of its registers or cells",
        "insert tcgen05.wait::ld.sync.aligned after the tcgen05.ld", _PIPE, DOCUMENTED,
    ),
    Rule(
        "tcgen05-cta-group", _E, "all tcgen05 instructions of a kernel must have one .cta_group",
        "write the same .cta_group everywhere", "PTX ISA 9.1, tcgen05, CTA pair and .cta_group", DOCUMENTED,
    ),
    Rule(
        "tcgen05-alloc-relinquished", _E, "no allocation may follow tcgen05.relinquish_alloc_permit",
        "move tcgen05.relinquish_alloc_permit behind the last tcgen05.alloc", _ALLOC, NVIDIA, "phase",
    ),
    Rule(
        "tcgen05-alloc-size", _E, "an allocation must be of 32, 64, 128, 256 or 512 columns",
        "round the columns up to the next power of two, at least 32", _ALLOC, NVIDIA, "granularity",
    ),
    Rule(
        "tcgen05-alloc-order", _E, "an allocation must not be larger than any before it in the same CTA",
        "allocate the larger one first", _ALLOC, DOCUMENTED, "size increases",
    ),
    Rule(
        "tcgen05-alloc-full", _E, "allocations of one CTA must fit the 512 columns of tensor memory",
        "free columns first, or allocate fewer: the allocation waits for ever", _ALLOC, DOCUMENTED, "waits for ever",
    ),
    Rule(
        "tcgen05-dealloc-unknown", _E, "tcgen05.dealloc must free what tcgen05.alloc returned, with its columns",
        "free as many columns as were allocated", _ALLOC, NVIDIA, "deallocation",
    ),
    Rule(
        "tcgen05-dealloc-missing", _A, "every allocation must be freed before the kernel ends",
        "insert tcgen05.dealloc before the end, by the warp that allocated", _ALLOC, DOCUMENTED, "never deallocated",
    ),
    Rule(
        "tcgen05-unallocated", _E, "tensor memory must be allocated before it is used",
        "insert tcgen05.alloc, and a barrier, before the first use", _ALLOC, NVIDIA, "columns",
    ),
    Rule(
        "tcgen05-bounds", _E, "an address must name one of the 128 lanes and 512 columns of tensor memory",
        "correct the lane or the column", _PLACE, NVIDIA, "bounds", in_text=False,
    ),
    Rule(
        "tcgen05-warp", _E, "a warp must load and store in the lanes of its quarter alone",
        "let the warp whose number modulo 4 is that of the quarter issue it", _PLACE, NVIDIA, "warp", in_text=False,
    ),
    Rule(
        "tcgen05-lane", _E, "an address must begin in a lane where the instruction may",
        "correct the lane", _PLACE, BELIEVED, "datapath", in_text=False,
    ),
)  # fmt: skip

#: Every rule, by its name.
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ROWS}
#: The rules that a check of a PTX text holds it against.
ALL_RULES: Mapping[str, Rule] = {name: rule for name, rule in RULES.items() if rule.in_text}
#: The rules of ``descriptors tmem check``, by the name that they have there.
GUARDRAILS: Mapping[str, Rule] = {rule.guardrail: rule for rule in _ROWS if rule.guardrail}


def broken(name: str, found: str, registers: tuple[str, ...] = (), *, demand: str = "") -> Broken:
    """A breach of the rule of this name.

    >>> print(broken("tcgen05-alloc-size", "found 48"))  # doctest: +ELLIPSIS
    error: an allocation must be of 32, 64, 128, 256 or 512 columns, found 48 [tcgen05-alloc-size]; round the ...
    """
    return Broken(RULES[name], found, registers, demand)
