#!/usr/bin/env python3
"""The article "Blackwell MMA SMEM Descriptor", section 4 (MN-major, swizzle 64B), in five calls, each number checked.

scripts/sw64_mnmajor.py            the five calls below, every step, the descriptor, every number checked
scripts/sw64_mnmajor.py --check    the same by the CuTe DSL, and the word that its compiler writes

The names are those of the CuTe DSL: with `import cutlass.cute as cute` in place of `import layoutalg as cute`,
`five_calls`, called from a function under `@cute.jit`, gives the same layouts there.
"""

import sys
from pathlib import Path

# a checkout runs without being installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

from article import SW64_MNMAJOR, Claim, main

import layoutalg as cute


def five_calls():
    """From the atom to the descriptors of all operands; extents are (M, K).

    The swizzle stands in front of every layout here and stays as it is: the descriptor names it, by its code.
    """
    # The atom of swizzle 64B, MN-major: 8 columns of 64 bytes, which are 32 elements of bf16.
    atom = cute.make_layout((32, 8), stride=(1, 32))
    # 1. The tile in shared memory: atoms stacked along K first, then along M. In elements.
    tile = cute.tile_to_shape(atom, (128, 128), order=(1, 0))
    # 2. What one instruction reads, (64, 16), as mode 0; which one of the 2 x 8, as mode 1.
    partitioned = cute.zipped_divide(tile, (64, 16))
    # 3. From elements of 16 bits to units of 128 bits, in which the descriptor counts.
    recast = cute.recast_layout(128, 16, partitioned)
    # 4. One operand cut into atoms, 4 units by 8 columns: the steps from atom to atom are LBO and SBO.
    canonical = cute.logical_divide(recast[0], (4, 8))
    # 5. What to add to the start address for each operand.
    advance = cute.make_layout(recast[1].shape, stride=recast[1].stride)
    return tile, partitioned, recast, canonical, advance


def checks():
    """Each step as section 4.5 of the article has it; then the word, field by field."""
    tile, partitioned, recast, canonical, advance = five_calls()
    yield Claim("4.5.1", "tile_to_shape", "((32,4),(8,16)):((1,4096),(32,256))", tile)
    yield Claim("4.5.2", "zipped_divide", "(((32,2),16),(2,8)):(((1,4096),32),(8192,512))", partitioned)
    yield Claim("4.5.3", "recast_layout", "(((4,2),16),(2,8)):(((1,512),4),(1024,64))", recast)
    yield Claim("4.5.4", "logical_divide", "((4,2),(8,2)):((1,512),(4,32))", canonical)
    yield Claim("4.5.5", "make_layout", "(2,8):(1024,64)", advance)
    lbo, sbo = canonical.stride[0][1], canonical.stride[1][1]  # to the next atom along M; to the next 8 columns of K
    yield Claim("4.3", "SBO and LBO, in 16 bytes", (32, 512), (sbo, lbo))
    swizzle, version = 4, 1  # 64B; the descriptor of sm100
    word = swizzle << 61 | version << 46 | sbo << 32 | lbo << 16
    yield Claim("word", "descriptor word", SW64_MNMAJOR.word, word)
    starts = [[16 * advance((m, k)) for k in range(8)] for m in range(2)]
    yield Claim("4.4", "bytes from the first operand to the last", 23552, starts[1][7])


if __name__ == "__main__":
    sys.exit(main(SW64_MNMAJOR, own=checks()))
