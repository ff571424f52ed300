"""The walk of the tensor core, written again from the rows of ``docs/sources.md``, one element at a time.

Everything is in bits, so that a type of four bits needs no rule of its own. Nothing of the package is imported.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bits of an element in shared memory.
BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
    "e2m1": 4, "e2m3": 8, "e3m2": 8, "e2m1_unpacksmem": 8,
}  # fmt: skip
#: Of each swizzle: bytes of a row, bits that move, where they move to, and rows of k in a group.
MODES = {
    "none": (16, 0, 4, 8),
    "32B": (32, 1, 4, 8),
    "64B": (64, 2, 4, 8),
    "128B": (128, 3, 4, 8),
    "128B_BASE32B": (128, 2, 5, 4),
}
_CODES = {
    "sm90": {0: "none", 1: "128B", 2: "64B", 3: "32B"},
    "sm100": {0: "none", 1: "128B_BASE32B", 2: "128B", 4: "64B", 6: "32B"},
}


@dataclass(frozen=True)
class Word:
    """The fields of a word, offsets in bytes; whether the leading byte offset is the address of a line (K = 96)."""

    start: int
    leading: int
    stride: int
    base: int
    mode: str
    absolute: bool = False

    @staticmethod
    def read(word: int, arch: str) -> Word:
        code = word >> (62 if arch == "sm90" else 61)
        start, leading, stride = ((word >> low) % 2**14 * 16 for low in (0, 16, 32))
        absolute = arch == "sm100" and bool(word >> 52 & 1)
        return Word(start, leading, stride, (word >> 49) % 8, _CODES[arch][code], absolute)


def swizzled(address: int, mode: str, base: int = 0) -> int:
    """A byte address after the swizzle, which starts ``base`` rows of 128 bytes late."""
    _, bits, position, _ = MODES[mode]
    return address ^ ((address // 128 - base) % (1 << bits) << position)


def fetched(word: Word, bits: int, major: str, i: int, k: int) -> int:
    """The address, in bits, that element (i, k) is read from; i along M or N."""
    row_bytes, _, _, group = MODES[word.mode]
    along, across = (k, i) if major == "K" else (i, k)
    byte, bit = divmod(along * bits, 8)
    if word.mode == "none":
        piece, in_piece, rows = 16, 16, 8
        step, group_step = (word.leading, word.stride) if major == "K" else (word.stride, word.leading)
    elif major == "K":
        piece, in_piece, rows = 16, row_bytes, 8
        step, group_step = 16, word.stride
    else:
        piece, in_piece, rows = row_bytes, row_bytes, group
        step, group_step = word.leading, word.stride
    start, along_row = word.start, byte // piece * step + byte % piece
    if word.absolute and start % 128 + byte >= 128:  # beyond the end of its line: on in the line that is named
        start, along_row = word.leading, start % 128 + byte - 128
    offset = along_row + across // rows * group_step + across % rows * in_piece
    return 8 * swizzled(start + offset, word.mode, word.base) + bit


def stacked(tile: tuple[int, ...], order: tuple[int, ...], bits: int, major: str, mode: str) -> list[tuple[int, ...]]:
    """For each mode of a tile of canonical atoms, the plain offset in bits of each of its coordinates."""
    row = MODES[mode][0] * 8 // bits
    atom = (8, row) if major == "K" else (row, 8)
    inside = (row, 1) if major == "K" else (1, row)
    counts = [n // a for n, a in zip(tile, (*atom, 1), strict=False)]
    steps, step = [0] * len(tile), 8 * row
    for m in sorted(range(len(tile)), key=lambda m: order[m]):
        steps[m], step = step, step * counts[m]
    steps_by_mode = []
    for m, extent in enumerate(tile):
        size, unit = (atom[m], inside[m]) if m < 2 else (1, 0)
        steps_by_mode.append(tuple(bits * (x // size * steps[m] + x % size * unit) for x in range(extent)))
    return steps_by_mode
