"""What ``cuTensorMapEncodeTiled`` is told for an operand of a plan, the extents of the tensors left as symbols.

M, N and K are here those of the whole tensors in global memory. Source: CUDA Driver API, ``cuTensorMapEncodeTiled``.

Law: the box is that of the plan of copies, and the contiguous extent comes first.

>>> from descriptors.plans.parts.asked import asked
>>> from descriptors.plans.parts.operands import operand
>>> b = operand(asked("m64n128k16", "bf16", tile=(128, 128, 64), b_major="MN"), "B", 2)
>>> told = dict(encode_arguments(b))
>>> told["globalDim"], told["globalStrides"], told["boxDim"]
('{N, K}', '{N * 2}', '{64, 64}')
"""

from __future__ import annotations

from descriptors.operands.operand import Matrix
from descriptors.plans.parts.operands import StagedOperand
from descriptors.tma.plan import Dimension


def dimension_name(matrix: Matrix, dimension: Dimension) -> str:
    """M, N or K, for a dimension of an operand's tensor.

    >>> dimension_name("B", Dimension(0, 1, None, 64))
    'N'
    """
    return "K" if dimension.mode else {"A": "M", "B": "N"}[matrix]


def encode_arguments(one: StagedOperand) -> tuple[tuple[str, str], ...]:
    """Name and value of every argument after the tensor map itself, in their order.

    Args:
        one: the operand.
    """
    tma = one.tma
    names = [dimension_name(one.matrix, dimension) for dimension in tma.dimensions]
    bits = one.derivation.element.bits
    scaled = {4: " / 2", 6: " * 3 / 4"}.get(bits, f" * {bits // 8}" if bits > 8 else "")
    return (
        ("tensorDataType", tma.data_type_name),
        ("tensorRank", str(len(names))),
        ("globalAddress", one.matrix),
        ("globalDim", f"{{{', '.join(names)}}}"),
        ("globalStrides", f"{{{', '.join(name + scaled for name in names[:-1])}}}"),
        ("boxDim", f"{{{', '.join(map(str, tma.box))}}}"),
        ("elementStrides", f"{{{', '.join('1' for _ in names)}}}"),
        ("interleave", tma.interleave_name),
        ("swizzle", tma.swizzle_name),
        ("l2Promotion", "CU_TENSOR_MAP_L2_PROMOTION_NONE"),
        ("oobFill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"),
    )
