"""Registers of the threads of a program for sm90: what the assembler gives each, and whether a plan fits them.

Law: all warpgroups together have no more than an SM.

>>> all(128 * (few + most * groups) <= SM_REGISTERS for groups in range(2, 8) for _, few, most in [registers(groups)])
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.accumulators import SM_REGISTERS, THREAD_REGISTERS, Registers
from descriptors.gemm.plan import Plan
from descriptors.text import counted

#: Registers that the assembler wants beside the accumulator of an instruction.
_BESIDE = 26


def registers(warpgroups: int) -> tuple[int, int, int]:
    """Registers of a thread: at the start, where all have as many; of the copies; of those that multiply.

    Args:
        warpgroups: that multiply.

    >>> registers(1), registers(2), registers(3)
    ((255, 255, 255), (168, 40, 232), (128, 32, 160))
    """
    start = min(THREAD_REGISTERS, SM_REGISTERS // (128 * (warpgroups + 1)) // 8 * 8)
    if warpgroups == 1:
        return start, start, start
    few = {2: 40, 3: 32}.get(warpgroups, 24)
    return start, few, min(240, (start * (warpgroups + 1) - few) // warpgroups // 8 * 8)


def check_registers(plan: Plan) -> None:
    """Refuse what the assembler refuses, or would spill.

    It counts an instruction with the registers at the start, not with those after ``setmaxnreg``; that it wants 26
    beside the accumulator was found with ptxas 13.0, for 3 to 8 warpgroups.

    Args:
        plan: a plan for sm90.

    Raises:
        DescriptorError: if they do not fit.
    """
    accumulators = plan.accumulators
    assert isinstance(accumulators, Registers)
    loop, (start, _, most) = plan.asked, registers(accumulators.warpgroups)
    own = plan.loads.registers * loop.blocks[0] // accumulators.warpgroups if plan.loads else 0
    own += plan.metadata.registers * loop.blocks[0] // accumulators.warpgroups if plan.metadata else 0
    if plan.promotion is not None:
        own += plan.promotion.registers + plan.promotion.a_loads + plan.promotion.b_loads
    for what, need, there in (
        ("an instruction", plan.line.registers + (4 if plan.loads else 0), start),
        (
            "accumulators and A"
            if plan.loads
            else "accumulators and their sums"
            if plan.promotion
            else "accumulators and metadata"
            if own
            else "accumulators",
            accumulators.registers + own,
            most,
        ),
    ):
        if need + _BESIDE > there:
            raise DescriptorError(
                f"emit: {what} must fit {there} registers a thread beside {_BESIDE} others, need {need}; "
                f"{counted(accumulators.warpgroups, 'warpgroup')} of {loop.extents[0]}x{loop.extents[1]} instructions; "
                "another number of warpgroups, or a smaller N of the instruction or the tile"
            )
