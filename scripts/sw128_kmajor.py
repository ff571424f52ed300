#!/usr/bin/env python3
"""The article "Blackwell MMA SMEM Descriptor", section 3 (K-major, swizzle 128B), in five calls, each number checked.

scripts/sw128_kmajor.py            the five calls below, every step, the descriptor, every number checked
scripts/sw128_kmajor.py --check    the same by the CuTe DSL, and the word that its compiler writes

The names are those of the CuTe DSL: with `import cutlass.cute as cute` in place of `import layoutalg as cute`,
`five_calls`, called from a function under `@cute.jit`, gives the same layouts there.
"""

import sys
from pathlib import Path

# a checkout runs without being installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

from article import SW128_KMAJOR, Claim, main

import layoutalg as cute


def five_calls():
    """From the atom to the descriptors of all operands; extents are (M, K).

    The swizzle stands in front of every layout here and stays as it is: the descriptor names it, by its code.
    """
    # The atom of swizzle 128B, K-major: 8 rows of 128 bytes, which are 64 elements of bf16.
    atom = cute.make_layout((8, 64), stride=(64, 1))
    # 1. The tile in shared memory: atoms stacked along M first, then along K. In elements.
    tile = cute.tile_to_shape(atom, (128, 128), order=(0, 1))
    # 2. What one instruction reads, (64, 16), as mode 0; which one of the 2 x 8, as mode 1.
    partitioned = cute.zipped_divide(tile, (64, 16))
    # 3. From elements of 16 bits to units of 128 bits, in which the descriptor counts.
    recast = cute.recast_layout(128, 16, partitioned)
    # 4. One operand cut into chunks of 8 rows of 16 bytes: the steps from chunk to chunk are SBO and LBO.
    canonical = cute.logical_divide(recast[0], (8, 1))
    # 5. What to add to the start address for each operand.
    advance = cute.make_layout(recast[1].shape, stride=recast[1].stride)
    return tile, partitioned, recast, canonical, advance


def checks():
    """Each step as section 3.5 of the article has it; then the word, field by field."""
    tile, partitioned, recast, canonical, advance = five_calls()
    yield Claim("3.5.1", "tile_to_shape", "((8,16),(64,2)):((64,512),(1,8192))", tile)
    yield Claim("3.5.2", "zipped_divide", "((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))", partitioned)
    yield Claim("3.5.3", "recast_layout", "((64,2),(2,(4,2))):((8,1),(512,(2,1024)))", recast)
    yield Claim("3.5.4", "logical_divide", "((8,8),(1,2)):((8,64),(0,1))", canonical)
    yield Claim("3.5.5", "make_layout", "(2,(4,2)):(512,(2,1024))", advance)
    sbo, lbo = canonical.stride[0][1], canonical.stride[1][1]  # from 8 rows to the next 8; to the next 16 bytes of K
    yield Claim("3.3", "SBO and LBO, in 16 bytes", (64, 1), (sbo, lbo))
    swizzle, version = 2, 1  # 128B; the descriptor of sm100
    word = swizzle << 61 | version << 46 | sbo << 32 | lbo << 16
    yield Claim("word", "descriptor word", SW128_KMAJOR.word, word)
    starts = [[16 * advance((m, k)) for k in range(8)] for m in range(2)]
    yield Claim("3.4", "bytes from the first operand to the last", 24672, starts[1][7])


if __name__ == "__main__":
    sys.exit(main(SW128_KMAJOR, own=checks()))
