"""Write a plan as source code: CUDA, PTX or a C header, through one function, ``emit_plan``.

Invariant: the first lines of the text name the plan that it was written from.

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


def _check_inner_loop(plan: Plan) -> None:
    """Check that an inner loop can be written for a plan.

    Raises:
        DescriptorError: if the plan has two sets of accumulators, promotes accumulators, or has a cluster.
    """
    reason = ""
    if isinstance(plan, BlackwellPlan) and plan.accumulators.sets > 1:
        reason = "with two sets of accumulators"
    elif plan.promotion is not None:
        reason = "that promotes accumulators (a scale factor for 128 elements)"
    elif plan.asked.cluster != (1, 1):  # a loop frees a stage only for its own CTA or pair
        reason = f"in a cluster of {extents_text(plan.asked.cluster)}"
    if reason:
        raise DescriptorError(f"emit: an inner loop {reason} is not supported")


def _write_inner_loop(plan: Plan, name: str) -> str:
    """Return the inner loop of a plan as PTX."""
    _check_inner_loop(plan)
    return _LOOPS[type(plan)](plan, name)


#: The writers of a whole kernel with its host program, and of the inner loop, by the type of the plan.
_KERNELS: Mapping[type[Plan], Callable[[Any, str], str]] = {
    HopperPlan: sm90_kernel.kernel,
    BlackwellPlan: sm100_kernel.kernel,
}
_LOOPS: Mapping[type[Plan], Callable[[Any, str], str]] = {
    HopperPlan: inner_loop_wgmma.write,
    BlackwellPlan: inner_loop_tcgen05.write,
}
#: The writer of each language.
PLAN_LANGUAGES: Mapping[str, Callable[[Plan, str], str]] = {
    "cuda": lambda plan, name: _KERNELS[type(plan)](plan, name),
    "header": plan_header.write,
    "ptx": _write_inner_loop,
}


def emit_plan(plan: Plan | MmaPlan, language: str, name: str = "gemm") -> str:
    r"""Return the source code of a plan.

    Args:
        plan: the plan.
        language: ``"cuda"`` for a whole kernel, ``"ptx"`` for the inner loop, or ``"header"`` for the constants, for C,
            C++ and CUDA C++. A plan of ``mma.sync`` can be written as ``"cuda"`` only.
        name: prefix of every identifier.

    Raises:
        ChoiceError: if the language is unknown.
        DescriptorError: if ``made`` is not a plan, the name is not an identifier, or the language does not support the
            plan.

    >>> from descriptors.gemm.planner import plan
    >>> print(*emit_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2), "header").splitlines()[:3], sep="\n")
    #pragma once
    <BLANKLINE>
    #include <stdint.h>
    """
    write = choose("emit: language", language, PLAN_LANGUAGES)
    if not isinstance(name, str):
        raise DescriptorError(f"emit: the name {brief(name)} is not text")
    if isinstance(plan, MmaPlan):
        return _write_mma_kernel(plan, language, name)
    if not isinstance(plan, Plan):
        raise DescriptorError(f"emit: {brief(plan)} is not a plan")
    if plan.a.derivation.crossing is not None:  # both LBO and the start address are addresses
        raise DescriptorError(f"emit: {cuda_refusal(plan)}; the plan itself has every descriptor and step")
    proposals = [Advice({"language": other}) for other in PLAN_LANGUAGES]
    with advising(lambda changes: PLAN_LANGUAGES[changes["language"]](plan, name)), proposing(proposals):
        title, rest = write(plan, name).split("\n", 1)
    # In a header each operand has its own evidence; kernels and loops have one line for the whole.
    evidence = [] if language == "header" else known_line(plan.asked.arch)
    return "\n".join([title, *(f"// {line}" for line in evidence), rest])


def _write_mma_kernel(plan: MmaPlan, language: str, name: str) -> str:
    """Return the CUDA kernel of a plan of ``mma.sync``."""
    if language.casefold() != "cuda":
        raise DescriptorError(f"emit: a plan of mma.sync cannot be written as {language}; supported: cuda")
    title, rest = mma_kernel.kernel(plan, name).split("\n", 1)
    evidence = [f"// known: {plan.evidence}"] if plan.by_engine else []
    return "\n".join([title, *evidence, rest])
