"""The products that ``scripts/bench_gemm`` times: those that the model of the time was fitted to, and drawn ones.

>>> drawn(1)[0] == drawn(1)[0], set(drawn(1)) & set(FITTED)
(True, set())
"""

from __future__ import annotations

import math
import random

#: M, N and K of the products that the constants of ``descriptors/gemm/problem.py`` were fitted to: nine squares, and
#: tall, wide and deep ones.
FITTED = (
    *((n, n, n) for n in (512, 1024, 2048, 2504, 3000, 4096, 5000, 6664, 8192)),
    (16384, 512, 2048), (512, 16384, 2048), (128, 8192, 8192), (8192, 256, 4096), (1024, 1024, 16384),
    (512, 512, 32768), (4096, 11008, 2048), (32768, 1024, 512),
)  # fmt: skip
#: Rows of a bf16 operand are whole 16 bytes; cublasLt takes e4m3 only in multiples of 16 elements.
STEP = {"bf16": 8, "e4m3": 16}
#: The least and the greatest M, N and K of each kind of product, in this order.
_KINDS = (
    ((512, 8192), (512, 8192), (512, 8192)),
    ((8192, 32768), (256, 2048), (512, 4096)),
    ((256, 2048), (8192, 32768), (512, 4096)),
    ((256, 2048), (256, 2048), (8192, 32768)),
)


def drawn(seed: int, number: int = 20, step: int = STEP["bf16"]) -> list[tuple[int, int, int]]:
    """Draw products that are not among the fitted ones: in turn a square, any, a tall, a wide and a deep one.

    Args:
        seed: of the random numbers; the same seed gives the same products.
        number: how many products.
        step: M, N and K are rounded up to multiples of it.
    """
    chooser, found = random.Random(seed), list[tuple[int, int, int]]()
    while len(found) < number:
        ranges = _KINDS[max(0, len(found) % 5 - 1)]
        m, n, k = (_multiple(chooser, *one) for one in ranges)
        product = (m, m, m) if len(found) % 5 == 0 else (m, n, k)
        m, n, k = (-(-extent // step) * step for extent in product)
        if (m, n, k) not in FITTED and (m, n, k) not in found:
            found.append((m, n, k))
    return found


def _multiple(chooser: random.Random, least: int, most: int) -> int:
    """Draw a multiple of 8, uniformly in the logarithm."""
    return round(math.exp(chooser.uniform(math.log(least), math.log(most))) / 8) * 8
