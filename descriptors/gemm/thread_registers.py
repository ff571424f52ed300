"""Compute the registers of the threads of a program for sm90: at launch, after ``setmaxnreg``, and needed by each role.

A CTA is launched with the same number of registers for every thread. The warpgroup that copies then releases registers,
and the warpgroups that multiply get them. ``setmaxnreg.inc`` waits until the CTA's pool has enough registers, so a
kernel whose roles want more than the pool never ends (PTX ISA 9.1, setmaxnreg).

Invariant: all roles together have no more registers than the CTA has at launch.

>>> all(RegisterBudget(groups).used <= RegisterBudget(groups).pool <= SM_REGISTERS for groups in range(1, 8))
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.accumulators import SM_REGISTERS, THREAD_REGISTERS, WARPGROUP, roomier
from descriptors.gemm.plan import HopperPlan
from descriptors.text import counted
from layoutalg.frozen import frozen

#: Registers that the assembler needs in addition to the accumulator of an instruction.
_BESIDE = 26


@frozen
class RegisterBudget:
    """The registers of a CTA on sm90 with one warpgroup that copies and others that multiply.

    Args:
        warpgroups: number of warpgroups that multiply.
        accumulators: registers of a thread that multiplies for its accumulators.
        others: registers of such a thread for A, metadata, or sums and factors of promoted accumulators.

    >>> print(RegisterBudget(2, 128))
    384 threads with 168 at launch, 64512 in all; copy 128 threads with 40, multiply 256 with 232 (128 accumulators)
    """

    warpgroups: int
    accumulators: int = 0
    others: int = 0

    @property
    def threads(self) -> int:
        """Number of threads of the CTA."""
        return WARPGROUP * (self.warpgroups + 1)

    @property
    def launch(self) -> int:
        """Registers of every thread at launch, a multiple of eight unless it is the limit of a thread."""
        return min(THREAD_REGISTERS, SM_REGISTERS // self.threads // 8 * 8)

    @property
    def copy(self) -> int:
        """Registers of a thread that copies, after ``setmaxnreg.dec``; unchanged if one warpgroup multiplies."""
        return self.launch if self.warpgroups == 1 else {2: 40, 3: 32}.get(self.warpgroups, 24)

    @property
    def multiply(self) -> int:
        """Registers of a thread that multiplies, after ``setmaxnreg.inc``; unchanged if one warpgroup multiplies."""
        if self.warpgroups == 1:
            return self.launch
        return min(240, (self.launch * (self.warpgroups + 1) - self.copy) // self.warpgroups // 8 * 8)

    @property
    def pool(self) -> int:
        """Registers of the CTA at launch."""
        return self.threads * self.launch

    @property
    def used(self) -> int:
        """Registers of all roles together, after ``setmaxnreg``."""
        return WARPGROUP * (self.copy + self.warpgroups * self.multiply)

    @property
    def roles(self) -> tuple[tuple[str, int, int], ...]:
        """Name, number of threads and registers per thread of each role."""
        return ("copy", WARPGROUP, self.copy), ("multiply", WARPGROUP * self.warpgroups, self.multiply)

    def __str__(self) -> str:
        first, *others = [f"{name} {threads} threads with {each}" for name, threads, each in self.roles]
        own = f", {self.others} others" if self.others else ""
        roles = ", ".join([first, *(role.replace(" threads", "") for role in others)])
        launch = f"{self.threads} threads with {self.launch} at launch, {self.pool} in all"
        return f"{launch}; {roles} ({self.accumulators} accumulators{own})"


def register_budget(plan: HopperPlan) -> RegisterBudget:
    """Return the registers of the roles of a plan's program.

    >>> from descriptors.gemm.planner import plan
    >>> budget = register_budget(plan("m64n128k16", "bf16", tile=(128, 128, 64), verify=False))
    >>> budget.launch, budget.roles
    (168, (('copy', 128, 40), ('multiply', 256, 232)))
    """
    accumulators = plan.accumulators
    blocks = plan.asked.blocks[0] // accumulators.warpgroups
    others = sum(part.registers * blocks for part in (plan.loads, plan.metadata) if part is not None)
    if plan.promotion is not None:
        others += plan.promotion.registers + plan.promotion.a_loads + plan.promotion.b_loads
    return RegisterBudget(accumulators.warpgroups, accumulators.registers, others)


def check_registers(plan: HopperPlan) -> None:
    """Check that the assembler accepts the program of a plan and does not spill registers.

    The assembler counts the registers of one instruction against those at launch, not those after ``setmaxnreg``. That
    it needs 26 registers in addition to the accumulator was found with ptxas 13.0, for 3 to 8 warpgroups.

    Raises:
        DescriptorError: if the registers do not suffice.
    """
    budget = register_budget(plan)
    loop, line = plan.asked, plan.line.registers + (4 if plan.loads else 0)
    subject = "accumulators"
    if budget.others:
        subject += f" and {'A' if plan.loads else 'sums' if plan.promotion else 'metadata'}"
    for name, needed, available in (
        (f"one {loop.name}", line, budget.launch),
        (subject, budget.accumulators + budget.others, budget.multiply),
    ):
        if needed + _BESIDE > available:
            when = "at launch" if available == budget.launch else "to multiply"
            raise DescriptorError(
                f"plan: {name} need{'s' * name.startswith('one ')} {needed} registers a thread and {_BESIDE} others, a "
                f"thread has {available} {when}; {counted(budget.warpgroups, 'warpgroup')} that multiply and one that "
                f"copies; {budget}",
                proposals=roomier(loop, budget.warpgroups),
            )
