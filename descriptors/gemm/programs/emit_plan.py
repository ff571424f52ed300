"""A plan as source code: ``emit_plan``, the one door to every language that a plan is written in.

Law: the text names the plan that it came from, in its first lines.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, verify=False)
>>> example.headline in emit_plan(example, "header", "gemm")
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from descriptors.errors import Advice, DescriptorError, advising, brief, proposing
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.plan import BlackwellPlan, HopperPlan, Plan
from descriptors.gemm.program_support import cuda_refusal
from descriptors.gemm.programs import (
    inner_loop_tcgen05,
    inner_loop_wgmma,
    mma_kernel,
    plan_header,
    sm90_kernel,
    sm100_kernel,
)
from descriptors.smem.operands.operand import choose
from descriptors.text import extents_text, known_line

__all__ = ["PLAN_LANGUAGES", "emit_plan"]


def _relative(plan: Plan) -> Plan:
    """A plan whose words move by their start address alone.

    Raises:
        DescriptorError: if LBO is an address too.
    """
    if plan.a.derivation.crossing is not None:
        raise DescriptorError(f"emit: {cuda_refusal(plan)}; the plan has every descriptor and step")
    return plan


def _loop(plan: Plan) -> Plan:
    """A plan whose inner loop is written.

    Raises:
        DescriptorError: if its accumulators are promoted, tiles are taken in turn, or its CTAs share copies.
    """
    if isinstance(plan, BlackwellPlan) and plan.accumulators.sets > 1:
        raise DescriptorError(
            "emit: an inner loop must be of one tile and one set of accumulators, found accumulators 2"
        )
    if plan.promotion is not None:
        raise DescriptorError("emit: an inner loop must not promote accumulators, found a factor for 128")
    if plan.asked.cluster != (1, 1):  # a loop frees a stage for its own CTA, or pair, alone
        cluster = extents_text(plan.asked.cluster)
        raise DescriptorError(f"emit: the cluster must be 1x1 in a program, found {cluster}")
    return plan


#: The writers of a whole kernel with its host program, and of the inner loop, by the kind of plan.
_KERNELS: Mapping[type[Plan], Callable[[Any, str], str]] = {
    HopperPlan: sm90_kernel.kernel,
    BlackwellPlan: sm100_kernel.kernel,
}
_LOOPS: Mapping[type[Plan], Callable[[Any, str], str]] = {
    HopperPlan: inner_loop_wgmma.write,
    BlackwellPlan: inner_loop_tcgen05.write,
}
#: Who writes a plan in each language.
PLAN_LANGUAGES: Mapping[str, Callable[[Plan, str], str]] = {
    "cuda": lambda plan, name: _KERNELS[type(plan)](plan, name),
    "header": plan_header.write,
    "ptx": lambda plan, name: _LOOPS[type(plan)](_loop(plan), name),
}


def emit_plan(made: Plan | MmaPlan, language: str, name: str = "gemm") -> str:
    """Source code of a plan.

    Args:
        made: the plan.
        language: ``"cuda"``, a whole kernel; ``"ptx"``, the inner loop; ``"header"``, the numbers, for C, C++ and CUDA
            C++. A plan of ``mma.sync`` is written as a kernel alone.
        name: prefix of every identifier, where the language has any.

    Raises:
        ChoiceError: if the language is unknown.
        DescriptorError: if the plan is none, or the name no identifier.

    >>> from descriptors.gemm.planner import plan
    >>> print(*emit_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2), "header").splitlines()[:3], sep="\\n")
    #pragma once
    <BLANKLINE>
    #include <stdint.h>
    """
    write = choose("emit: language", language, PLAN_LANGUAGES)
    if not isinstance(name, str):
        raise DescriptorError(f"emit: the name of a program must be text, found {brief(name)}")
    if isinstance(made, MmaPlan):
        return _of_warps(made, language, name)
    if not isinstance(made, Plan):
        raise DescriptorError(f"emit: the operand must be a plan, found {brief(made)}")
    plan = _relative(made)
    others = [Advice({"language": one}) for one in PLAN_LANGUAGES]
    with advising(lambda changes: PLAN_LANGUAGES[changes["language"]](plan, name)), proposing(others):
        title, rest = write(plan, name).split("\n", 1)
    # A header names operands, of which each says how it is known; what runs says it of the whole.
    known = [] if language == "header" else known_line(made.asked.arch)
    return "\n".join([title, *(f"// {line}" for line in known), rest])


def _of_warps(made: MmaPlan, language: str, name: str) -> str:
    """The kernel of a plan of ``mma.sync``, the only way in which one is written."""
    if language.casefold() != "cuda":
        raise DescriptorError(f"emit: a plan of mma.sync must be written as cuda, found {language}")
    title, rest = mma_kernel.kernel(made, name).split("\n", 1)
    known = [f"// known: {made.evidence}"] if made.by_engine else []
    return "\n".join([title, *known, rest])
