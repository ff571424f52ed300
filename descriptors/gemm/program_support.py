"""Determine whether ``--emit cuda`` can write a program for a plan, and if not, why.

Both the text of a plan and the writers of programs call ``cuda_refusal``, so that they agree.

>>> from descriptors import plan
>>> cuda_refusal(plan("m64n64k16", "bf16", tile=(64, 64, 64), stages=2, verify=False))
''
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.plan import Plan
from descriptors.targets import has_wgmma
from descriptors.text import extents_text

#: The codes of 1 and 2 in each type of scale factors whose codes are published; programs for sm100 use them as data.
FACTORS = {"ue8m0": (127, 128), "ue4m3": (56, 64)}


def cuda_refusal(plan: Plan) -> str:
    """Return why no CUDA program is written for a plan; "" if one is.

    >>> from descriptors.gemm.planner import plan
    >>> cuda_refusal(plan("m128n16k16", "bf16", tile=(128, 16, 64), cluster=(2, 1), verify=False))
    'the CTAs of a cluster of 2x1 share their copies, which programs for sm100 do not'
    """
    loop, hopper = plan.asked, has_wgmma(plan.asked.arch)
    if plan.a.derivation.crossing is not None:
        return f"the descriptors of {loop.name} have two addresses, and programs move only one"
    if plan.implicit is not None and plan.implicit.convolution.operand == "B":
        return "the convolution has its pixels in B, and programs need them in A so that the outputs are N P Q K"
    if not hopper and loop.cluster != (1, 1):
        cluster = extents_text(loop.cluster)
        return f"the CTAs of a cluster of {cluster} share their copies, which programs for sm100 do not"
    for side in (plan.a, plan.b):
        if len(side.tma.dimensions) != 2:
            return f"the tensor map of {side.matrix} has {len(side.tma.dimensions)} dimensions, and programs encode two"
        rows = list(side.mn_steps)
        by_word = side.matrix == "B" or plan.loads is None
        if hopper and by_word and rows != [i * rows[-1] // max(1, len(rows) - 1) for i in range(len(rows))]:
            return f"the blocks of {side.matrix} are not equally far apart: {rows}"
    if plan.scales is not None and plan.scales.dtype not in FACTORS:
        return f"the codes of {plan.scales.dtype} scale factors are not published"
    return ""


def check_cuda(plan: Plan) -> None:
    """Check that a CUDA program can be written for a plan.

    Raises:
        DescriptorError: if it cannot, with the reason.
    """
    if reason := cuda_refusal(plan):
        raise DescriptorError(f"emit: cuda does not support this plan: {reason}")
