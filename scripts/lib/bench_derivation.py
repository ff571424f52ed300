"""The layouts of `descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16` in the CuTe DSL.

scripts/bench.py times the whole process of this program against that of the command.
"""

from cutlass import cute


def derive() -> None:
    # On elements of two bytes the swizzle of 16-byte chunks starts at bit 3.
    atom = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
    tile = cute.tile_to_shape(atom, (128, 128), (0, 1))
    parts = cute.zipped_divide(tile, (64, 16))
    words = cute.recast_layout(128, 16, parts)
    canonical = cute.logical_divide(cute.get(words.outer, mode=[0]), (8, 1))
    advance = cute.get(words.outer, mode=[1])
    for layout in (tile, parts, words, canonical):
        print(layout)
    for m in range(2):
        print([16 * cute.crd2idx((m, k), advance) for k in range(8)])


@cute.jit
def trace() -> None:
    derive()


if __name__ == "__main__":
    trace()
