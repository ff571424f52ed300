"""Rules of the emission protocol: what each demands, how sure its breach is, where it is published, what mends it.

Three levels. *error*: an assembler rejects it, or the hazard is there whenever the code runs. *asks*: the PTX manual
asks for it, and compilers in use leave it out without harm seen. *performance*: the code is right, but slow.

Law: a rule has one name, and every name says which family of instructions it is of.

>>> all(name == rule.name and rule.name.split("-")[0] in ("wgmma", "tcgen05") for name, rule in RULES.items())
True
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from descriptors.frozen import frozen


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
    """

    name: str
    level: Level
    demands: str
    fix: str
    source: str


@frozen
class Broken:
    """A rule that an event breaks.

    Args:
        rule: the rule.
        found: what was found instead.
        registers: the registers or addresses it is about, as they are written.
    """

    rule: Rule
    found: str
    registers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule.level}: {self.rule.demands}, {self.found} [{self.rule.name}]; {self.rule.fix}"


_FENCE = "PTX ISA 9.1, wgmma.fence"
_ASYNC = "PTX ISA 9.1, wgmma.mma_async, and Async Proxy"
_COMMIT, _WAIT = "PTX ISA 9.1, wgmma.commit_group", "PTX ISA 9.1, wgmma.wait_group"
_PIPE = "PTX ISA 9.1, tcgen05, Memory Consistency Model (pipelined instructions, completion mechanisms)"
_ALLOC = "PTX ISA 9.1, tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit"
_PTXAS = "ptxas 12.9, 13.0, 13.5 (messages)"
_E, _A, _P = Level.ERROR, Level.ASKS, Level.PERFORMANCE

_ROWS = (
    Rule(
        "wgmma-fence", _E, "a wgmma.fence must stand between a write of a register and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE,
    ),
    Rule(
        "wgmma-fence-moved",
        _A,
        "a wgmma.fence must stand between a mov into a register and the mma_async that uses it",
        "move the wgmma.fence behind the mov, or tie the registers to the fence (an empty asm with \"+f\" of each)",
        "PTX ISA 9.1, wgmma.fence; nvcc 13.0 puts such movs there, and ptxas places them again without a word",
    ),
    Rule(
        "wgmma-fence-read", _A,
        "a wgmma.fence must stand between a read of an accumulator and the mma_async that uses it",
        "insert wgmma.fence.sync.aligned before the mma_async", _FENCE,
    ),
    Rule(
        "wgmma-fence-shape", _E, "a wgmma.fence must stand between mma_asyncs of two shapes on one accumulator",
        "insert wgmma.fence.sync.aligned between the two", _FENCE,
    ),
    Rule(
        "wgmma-commit", _E, "an mma_async must be committed before the wait that is to cover it",
        "insert wgmma.commit_group.sync.aligned after the mma_async, before the wait", _COMMIT,
    ),
    Rule(
        "wgmma-wait", _E, "an accumulator must not be touched before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the access", _WAIT,
    ),
    Rule(
        "wgmma-wait-count", _E, "wait_group N leaves the N newest groups in flight, and an accumulator must be of none",
        "lower N of the wait_group before the access", _WAIT,
    ),
    Rule(
        "wgmma-a-changed", _E, "a register of A must not be written before a wait_group that covers its group",
        "insert wgmma.wait_group.sync.aligned 0 before the write, or write another register", _ASYNC,
    ),
    Rule(
        "wgmma-a-read", _A, "a register of A must not be read before a wait_group that covers its group",
        "move the read behind the wait_group", _ASYNC,
    ),
    Rule(
        "wgmma-copied", _A, "an accumulator must not be copied before a wait_group that covers its group",
        "move the copy behind the wait_group; an assembler that gives both one register does no harm", _WAIT,
    ),
    Rule(
        "wgmma-start", _E, "an accumulator must be written before the first mma_async that adds to it",
        "give the first mma_async scale-d 0, or set the accumulator to zero and fence", _ASYNC,
    ),
    Rule(
        "wgmma-stage",
        _P,
        "what is in flight over the way back of a loop should be waited for with wait_group 0 before it is touched",
        "let the wait_group in the loop be 0, or issue and wait in one round",
        f"{_PTXAS}: accumulators between start and end of the pipeline stage (C7514)",
    ),
    Rule(
        "wgmma-call", _P, "no function should be called while an mma_async is in flight",
        "inline the function, or wait before the call", f"{_PTXAS}: extern calls, function boundary (C7509, C7510)",
    ),
    Rule(
        "wgmma-call-kept", _P, "no function that stays a function should be called in a kernel with mma_async",
        "inline it, or leave it out (printf and assert are such calls)",
        f"{_PTXAS}: extern calls (C7509), function boundary (C7510)",
    ),
    Rule(
        "wgmma-function", _P, "wgmma instructions should stand in a kernel, and not in a function that it calls",
        "inline the function", f"{_PTXAS}: function boundary (C7510)",
    ),
    Rule(
        "wgmma-registers", _P, "what is in flight at once should fit the registers of a thread, and 26 for the rest",
        "multiply smaller tiles, use more warpgroups, or allow more registers (fewer threads a CTA, setmaxnreg)",
        f"{_PTXAS}: insufficient register resources (C7511, C7512)",
    ),
    Rule(
        "wgmma-divergent", _P, "all threads of a warpgroup should go one way from wgmma.fence to commit_group",
        "branch on values that are equal in all of the warpgroup (shfl.sync.idx makes them so for the assembler), or "
        "fence, multiply and commit behind the branch",
        f"{_PTXAS}: divergent path (C7518, C7520; C7519 of 13.5)",
    ),
    Rule(
        "tcgen05-commit", _E, "a tcgen05.commit must follow the asynchronous operation whose result is read",
        "insert tcgen05.commit to an mbarrier after the operation, and wait on it before the read", _PIPE,
    ),
    Rule(
        "tcgen05-wait", _E, "an mbarrier wait must stand between the tcgen05.commit and the read of the result",
        "wait on the mbarrier of the commit (mbarrier.try_wait in a loop) before the read", _PIPE,
    ),
    Rule(
        "tcgen05-parity", _E, "the parity of a wait in a loop must change with every round that commits",
        "keep the parity in a register, and turn it over (xor 1) in each round",
        "PTX ISA 9.1, mbarrier.try_wait, Phase of the mbarrier object",
    ),
    Rule(
        "tcgen05-fence-after", _A,
        "tcgen05.fence::after_thread_sync must follow the wait, before the next tcgen05 access",
        "insert tcgen05.fence::after_thread_sync after the wait", _PIPE,
    ),
    Rule(
        "tcgen05-wait-st", _E, "tcgen05.wait::st must stand between a tcgen05.st and what reads those cells",
        "insert tcgen05.wait::st.sync.aligned after the tcgen05.st", _PIPE,
    ),
    Rule(
        "tcgen05-wait-ld", _A, "tcgen05.wait::ld must stand between a tcgen05.ld and the use of its registers or cells",
        "insert tcgen05.wait::ld.sync.aligned after the tcgen05.ld", _PIPE,
    ),
    Rule(
        "tcgen05-cta-group", _E, "all tcgen05 instructions of a kernel must have one .cta_group",
        "write the same .cta_group everywhere", "PTX ISA 9.1, tcgen05, CTA pair and .cta_group",
    ),
    Rule(
        "tcgen05-alloc-size", _E, "an allocation must be of 32, 64, 128, 256 or 512 columns",
        "round the columns up to the next power of two, at least 32", _ALLOC,
    ),
    Rule(
        "tcgen05-alloc-order", _E, "an allocation must not be larger than the one before it in the same CTA",
        "allocate the larger one first", _ALLOC,
    ),
    Rule(
        "tcgen05-alloc-relinquished", _E, "no allocation may follow tcgen05.relinquish_alloc_permit",
        "move tcgen05.relinquish_alloc_permit behind the last tcgen05.alloc", _ALLOC,
    ),
    Rule(
        "tcgen05-alloc-full", _E, "allocations of one CTA must fit the 512 columns of tensor memory",
        "free columns first, or allocate fewer: the allocation waits for ever", _ALLOC,
    ),
    Rule(
        "tcgen05-dealloc-unknown", _E, "tcgen05.dealloc must free what tcgen05.alloc returned, with its columns",
        "free as many columns as were allocated", _ALLOC,
    ),
    Rule(
        "tcgen05-dealloc-missing", _A, "every allocation must be freed before the kernel ends",
        "insert tcgen05.dealloc before the end, by the warp that allocated", _ALLOC,
    ),
    Rule(
        "tcgen05-unallocated", _E, "tensor memory must be allocated before it is used",
        "insert tcgen05.alloc, and a barrier, before the first use", _ALLOC,
    ),
)  # fmt: skip

#: Every rule, by its name.
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ROWS}


def broken(name: str, found: str, registers: tuple[str, ...] = ()) -> Broken:
    """A breach of the rule of this name.

    >>> print(broken("tcgen05-alloc-size", "found 48"))  # doctest: +ELLIPSIS
    error: an allocation must be of 32, 64, 128, 256 or 512 columns, found 48 [tcgen05-alloc-size]; round the ...
    """
    return Broken(RULES[name], found, registers)
