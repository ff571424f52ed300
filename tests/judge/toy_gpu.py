"""A toy of the machine for small plans: copies, words, and the sums of `wgmma`, in plain loops over bytes.

It takes a plan as its JSON has it, and imports nothing of the packages. Every rule is written out here once more, from
PTX ISA 9.1 (matrix descriptor, swizzling) and the driver's `cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

#: Bytes of a row by the swizzle code of the word, and by the name that the tensor map has for it.
SPAN = {0: 16, 1: 128, 2: 64, 3: 32}
BITS = {"NONE": 0, "32B": 1, "64B": 2, "128B": 3}


def swizzled(address: int, bits: int) -> int:
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


def numbers(text: str) -> list[int]:
    return [int(one) for one in text.strip("{}").split(",")]


def copied(operand: dict[str, Any], width: int, stages: int) -> dict[int, tuple[int, int, int]]:
    """Byte address -> (stage, mn, k) of the element that begins there."""
    told = operand["tensor_map"]
    inner, outer = numbers(told["boxDim"])
    k_first = told["globalDim"].strip("{}").split(", ")[0] == "K"
    bits = BITS[told["swizzle"].removeprefix("CU_TENSOR_MAP_SWIZZLE_")]
    landed = {}
    for stage, box in product(range(stages), operand["boxes"]):
        start = operand["base"] + stage * operand["stage_bytes"] + box["offset_bytes"]
        for y, x in product(range(outer), range(inner)):
            at = (box["coordinates"][0] + x, box["coordinates"][1] + y)
            mn, k = at[::-1] if k_first else at
            landed[swizzled(start + (y * inner + x) * width, bits)] = (stage, mn, k)
    return landed


def address(word: int, width: int, mn_major: bool, mn: int, k: int) -> int:
    """Where element (mn, k) of an operand is read from, on sm90."""
    start, lbo, sbo = ((word >> low & 0x3FFF) << 4 for low in (0, 16, 32))
    code = word >> 62
    span, bits = SPAN[code], {0: 0, 1: 3, 2: 2, 3: 1}[code]
    along, row = (mn, k) if mn_major else (k, mn)
    b = along * width
    if not mn_major:
        offset = row // 8 * sbo + row % 8 * span + b % 16 + b // 16 * (16 if bits else lbo)
    elif not bits:
        offset = b // 16 * sbo + b % 16 + row % 8 * 16 + row // 8 * lbo
    else:
        offset = b // span * lbo + b % span + row % 8 * span + row // 8 * sbo
    return swizzled(start + offset, bits)


def fetched(
    operand: dict[str, Any], landed: dict[int, tuple[int, int, int]], width: int
) -> dict[tuple[int, int, int], Any]:
    """(stage, mn, k) -> the element that the words make the tensor core read there."""
    rows, depth = operand["mma"]
    steps, found = operand["steps"], {}
    for (s, stage), (j, k_step), (i, mn_step) in product(*(enumerate(steps[name]) for name in ("stage", "k", "mn"))):
        word = int(operand["word"], 16) + stage + k_step + mn_step
        for mn, k in product(range(rows), range(depth)):
            at = address(word, width, bool(operand["transposed"]), mn, k)
            found[s, i * rows + mn, j * depth + k] = landed.get(at)
    return found


def accumulators(plan: dict[str, Any], a: Any, b: Any, width: int) -> dict[tuple[int, int], int]:
    """(m, n) -> the sum over all stages of what the words read.

    Args:
        plan: what the command writes with ``--json``.
        a, b: the numbers, [stage][mn][k].
        width: bytes of an element.
    """
    m, n, k = plan["tile"]
    read = []
    for name, values in (("A", a), ("B", b)):
        operand = plan["operands"][name]
        taken = fetched(operand, copied(operand, width, plan["stages"]), width)
        read.append({at: None if one is None else values[one[0]][one[1]][one[2]] for at, one in taken.items()})
    return {
        (row, column): sum(
            read[0][s, row, q] * read[1][s, column, q] for s, q in product(range(plan["stages"]), range(k))
        )
        for row, column in product(range(m), range(n))
    }
