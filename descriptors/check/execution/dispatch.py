"""The table of the handlers of all instructions.

An opcode is looked up by its longest prefix in the table. An instruction without one is an integer instruction, or its
result is data. The table also states how an instruction with an unknown guard is executed.

Source: PTX ISA 9.1, Instruction Set.

Invariant: the longest prefix decides.

>>> execution("barrier.cluster.wait.aligned").handler is execution("barrier.sync").handler
False
>>> [execution(opcode).guard.name for opcode in ("add.s32", "st.shared.b32", "bra.uni")]
['RESULT', 'PASSED', 'OWN']
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from descriptors.check.execution.barrier_events import BARRIERS, FENCES
from descriptors.check.execution.branches import BRANCHES, JUMPS
from descriptors.check.execution.copy_events import COPIES
from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.integers import integer_handler, unknown_result
from descriptors.check.execution.machine import Execution, Guard, Handler, Machine, short_opcode
from descriptors.check.execution.memory_events import MEMORY
from descriptors.check.execution.outcomes import Stop
from descriptors.check.execution.program import Step
from descriptors.check.execution.register_events import REGISTERS
from descriptors.check.execution.tcgen05_events import TCGEN05
from descriptors.check.execution.tensor_memory_events import TENSOR_MEMORY
from descriptors.check.execution.warp_events import WARPS
from descriptors.check.execution.warp_mma_events import WARP_MMA
from descriptors.check.execution.wgmma_events import WGMMA

#: Events that only have a result, which is unknown.
_UNSEEN = ("call", "wgmma.fence", "fence.proxy.async::generic", "mbarrier.pending_count")
#: Events that signal an mbarrier in a way that is not modeled: the run stops.
_STOPS = ("st.async", "red.async")


def _stop(machine: Machine, fragment: Fragment, step: Step) -> None:
    raise Stop(step.instruction.line, "its effect is not modeled", short_opcode(step.instruction))


_HANDLERS: Mapping[str, Handler] = {
    **BRANCHES,
    **JUMPS,
    **BARRIERS,
    **FENCES,
    **WARPS,
    **REGISTERS,
    **MEMORY,
    **COPIES,
    **WGMMA,
    **WARP_MMA,
    **TENSOR_MEMORY,
    **TCGEN05,
    **dict.fromkeys(_UNSEEN, unknown_result),
    **dict.fromkeys(_STOPS, _stop),
}
#: Events that a run skips if their guard depends on data: they access memory, registers or the caller, and the report
#: lists them as undecided. All other events are needed, because they are waits, or a wait counts them: without a commit
#: or an arrival, a later wait seems to cover too little, or never to end.
_PASSED = frozenset(
    "ld ld.shared ld.shared::cta ld.param ld.param::entry st st.shared st.shared::cta ldmatrix stmatrix cp.async mma "
    "call trap".split()
)


@lru_cache(maxsize=4096)
def execution(opcode: str) -> Execution:
    """Return how an instruction is executed.

    Args:
        opcode: the opcode with all its qualifiers.
    """
    words = opcode.split(".")
    for size in range(len(words), 0, -1):
        name = ".".join(words[:size])
        if (handler := _HANDLERS.get(name)) is not None:
            if name in BRANCHES:
                return Execution(handler, Guard.OWN)
            if name in FENCES:
                return Execution(handler, Guard.RESULT)
            return Execution(handler, Guard.PASSED if name in _PASSED else Guard.NEEDED)
    return Execution(integer_handler(opcode), Guard.RESULT)
