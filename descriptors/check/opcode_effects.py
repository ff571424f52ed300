"""Table of the effect of each PTX opcode on an execution: executed, without effect, or not modeled.

A kernel is clean only if the checker knows the effect of each instruction on mbarriers, shared memory and tensor
memory. An opcode that is not modeled, or is not in this table, leaves the properties that it affects undecided.
Source: PTX ISA 9.1, Instruction Set; the names of PTX 9.5 that ptxas 13.5 accepts.

Invariant: an opcode that is not in the table is not modeled.

>>> opcodes = ("add.s32", "mbarrier.init.shared.b64", "griddepcontrol.wait", "new.b32")
>>> [effect_of(opcode).effect.name for opcode in opcodes]
['NONE', 'EXECUTED', 'NOT_MODELED', 'NOT_MODELED']
>>> effect_of("atom.shared.add.u32").properties, effect_of("atom.global.add.u32").properties
(('proxies', 'reuse'), ())
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

#: The properties that an execution decides for every kernel.
_ALL = ("barriers", "bytes", "proxies", "reuse")
_ACCESS = ("proxies", "reuse")


class Effect(Enum):
    """The treatment of an opcode in an execution."""

    EXECUTED = "it is executed, with its effect on barriers and memory"
    NONE = "it has no effect on barriers, shared memory or tensor memory"
    NOT_MODELED = "its effect is not modeled"


class OpcodeEffect(NamedTuple):
    """The effect of a family of opcodes.

    Args:
        effect: how an execution treats it.
        reason: the reason.
        properties: the properties that it leaves undecided.
    """

    effect: Effect
    reason: str
    properties: tuple[str, ...] = ()


_ROWS: tuple[tuple[str, Effect, str, tuple[str, ...]], ...] = (
    # values
    (
        "add addc sub subc mul mul24 mad madc mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk"
        " szext dp2a dp4a add.cc sub.cc mad.cc",
        Effect.NONE, "integers in registers", (),
    ),
    (
        "testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh",
        Effect.NONE, "floating point in registers", (),
    ),
    ("set setp selp slct and or xor not cnot lop3 shf shl shr", Effect.NONE, "comparisons and bits in registers", ()),
    ("mov prmt cvt cvta isspacep getctarank movmatrix createpolicy", Effect.NONE, "values in registers", ()),
    (
        "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vabsdiff2 vabsdiff4"
        " vmin2 vmin4 vmax2 vmax4 vset2 vset4",
        Effect.NONE, "video instructions on registers", (),
    ),
    ("activemask match redux", Effect.NONE, "a value of the lanes of one warp, which an execution does not know", ()),
    ("stacksave stackrestore alloca", Effect.NONE, "local memory of one thread", ()),
    ("nanosleep pmevent brkpt", Effect.NONE, "time, profiling and debugging", ()),
    # memory that is not shared
    ("ldu tex tld4 txq istypep suld sust sured suq", Effect.NONE, "global memory", ()),
    ("prefetch prefetchu applypriority discard", Effect.NONE, "caches of global memory", ()),
    ("cp.async.bulk.prefetch", Effect.NONE, "the L2 cache", ()),
    ("multimem", Effect.NONE, "global memory of several devices", ()),
    ("multimem.cp", Effect.NOT_MODELED, "it reads shared memory until a wait for its bulk group", ("reuse",)),
    ("atom.global red.global", Effect.NONE, "global memory", ()),
    ("tensormap.query", Effect.NONE, "a value in a register", ()),
    # what orders accesses
    ("fence membar", Effect.NONE, "the checker neither uses nor requires the order of a fence of one proxy", ()),
    ("fence.proxy.alias fence.alias", Effect.NONE, "in an execution each byte has one address", ()),
    ("fence.mbarrier_init", Effect.NONE, "the barrier after it orders the initialization", ()),
    ("fence.proxy.async", Effect.EXECUTED, "it publishes earlier stores", ()),
    ("fence.proxy.async::generic", Effect.NOT_MODELED, "the order of one direction between proxies", ("proxies",)),
    ("fence.proxy.tensormap", Effect.NOT_MODELED, "the order of changes of a tensor map", ("proxies",)),
    ("fence.proxy", Effect.NOT_MODELED, "an unknown proxy", ("proxies",)),
    # control flow and warps
    ("bra brx ret exit trap", Effect.EXECUTED, "control flow", ()),
    ("call", Effect.EXECUTED, "a function of the text is undecided on its own", ()),
    ("shfl vote elect bar.warp", Effect.EXECUTED, "lanes of one warp meet", ()),
    # memory that an execution follows
    ("ld st ld.param ld.shared st.shared ldmatrix stmatrix mapa", Effect.EXECUTED, "accesses are ordered", ()),
    ("atom red", Effect.NOT_MODELED, "an access of memory that may be shared", _ACCESS),
    ("st.bulk", Effect.NOT_MODELED, "it writes a run of bytes of shared memory", _ACCESS),
    ("st.async red.async", Effect.NOT_MODELED, "a store that completes bytes of an mbarrier of another CTA", _ALL),
    # barriers and copies
    ("bar barrier barrier.cluster", Effect.EXECUTED, "threads meet", ()),
    (
        "mbarrier.init mbarrier.inval mbarrier.arrive mbarrier.arrive_drop mbarrier.expect_tx mbarrier.complete_tx"
        " mbarrier.test_wait mbarrier.try_wait",
        Effect.EXECUTED, "phases, arrivals and bytes", (),
    ),
    ("mbarrier.pending_count mbarrier.check_layout", Effect.NONE, "a value in a register", ()),
    ("mbarrier", Effect.NOT_MODELED, "an unknown operation of an mbarrier", ("barriers", "bytes")),
    (
        "cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.mbarrier cp.async.bulk"
        " cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.tensor cp.reduce.async.bulk",
        Effect.EXECUTED, "copies, their bytes and their groups", (),
    ),
    ("cp", Effect.NOT_MODELED, "an unknown copy", ("bytes", "proxies", "reuse")),
    (
        "clusterlaunchcontrol.try_cancel clusterlaunchcontrol.query_cancel",
        Effect.EXECUTED, "an answer of 16 bytes and its mbarrier; there are two more tiles", (),
    ),
    ("clusterlaunchcontrol", Effect.NOT_MODELED, "an unknown request for work", ("barriers", "bytes", "reuse")),
    ("griddepcontrol", Effect.NOT_MODELED, "the order with another grid, which is not executed", ("barriers",)),
    ("setmaxnreg", Effect.EXECUTED, "the registers of the CTA", ()),
    (
        "tensormap.replace", Effect.NOT_MODELED, "it changes a tensor map, whose box is then another",
        ("bytes", "proxies"),
    ),
    ("tensormap", Effect.NOT_MODELED, "the order of changes of a tensor map", ("proxies",)),
    # tensor cores
    ("wgmma.fence wgmma.mma_async wgmma.commit_group wgmma.wait_group", Effect.EXECUTED, "multiplications", ()),
    ("mma", Effect.EXECUTED, "where its operands come from", ()),
    (
        "tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st tcgen05.wait tcgen05.cp"
        " tcgen05.shift tcgen05.mma tcgen05.commit tcgen05.fence",
        Effect.EXECUTED, "tensor memory and its completion", (),
    ),
    ("wgmma tcgen05", Effect.NOT_MODELED, "an unknown instruction of the tensor core", (*_ALL, "tensor memory")),
    ("wmma.load wmma.store", Effect.NOT_MODELED, "an access of memory that may be shared", _ACCESS),
    ("wmma.mma", Effect.NONE, "values in registers", ()),
)  # fmt: skip

#: The effect of each family, by the beginning of its opcodes.
OPCODES: Mapping[str, OpcodeEffect] = {
    name: OpcodeEffect(effect, reason, properties) for row, effect, reason, properties in _ROWS for name in row.split()
}
#: Functions of the device runtime, which use no barrier and no shared memory of the kernel.
RUNTIME = frozenset(("vprintf", "__assertfail", "malloc", "free"))
#: The effect of a call of a function that is neither in the text nor in the runtime.
EXTERNAL = OpcodeEffect(Effect.NOT_MODELED, "the called function is not in the text", _ALL)
_UNKNOWN = OpcodeEffect(Effect.NOT_MODELED, "the checker does not know this opcode", _ALL)
_UNSHARED = frozenset(("global", "local", "const"))


@lru_cache(maxsize=4096)
def effect_of(opcode: str) -> OpcodeEffect:
    """Return the effect of an opcode: that of its longest beginning in the table."""
    words = opcode.split(".")
    if words[0] in ("atom", "red", "wmma") and not _UNSHARED.isdisjoint(words) and words[1:2] != ["async"]:
        return OPCODES["atom.global"]
    for size in range(len(words), 0, -1):
        found = OPCODES.get(".".join(words[:size]))
        if found is not None:
            return found
        head, _, tail = words[size - 1].partition("::")
        found = OPCODES.get(".".join([*words[: size - 1], head])) if tail else None
        if found is not None:
            return found
    return _UNKNOWN
