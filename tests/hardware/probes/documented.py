"""Tiles by the documented formulas alone, so that the probes can be tried, and trusted, without the libraries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from probes.boxes import boxes_of_matrix
from probes.build import GEMM_N
from probes.cases import Case, Side
from probes.instructions import TYPES, Instruction
from probes.words import encode_word

#: Swizzle bits: span in bytes, the code of an sm90 word.
SPANS = {0: (16, 0), 1: (32, 3), 2: (64, 2), 3: (128, 1)}


def permute(addresses: np.ndarray, bits: int) -> np.ndarray:
    """The swizzle of that many bits, on absolute byte addresses."""
    return addresses ^ ((addresses >> 7 & ((1 << bits) - 1)) << 4)


def tile_addresses(rows: int, row_bytes: int, span: int, bits: int, start: int, step: int) -> np.ndarray:
    """(rows, row_bytes): where each byte lies, columns of ``span`` bytes stored one after the other, ``step`` apart."""
    i, b = np.arange(rows)[:, None], np.arange(row_bytes)[None, :]
    return permute(start + b // span * step + i * span + b % span, bits)


def side(
    extent: int,
    k: int,
    inst: int,
    inst_k: int,
    size: int,
    *,
    mn: bool,
    bits: int,
    start: int,
    k_first: bool,
    copy: bool,
) -> Side:
    """An operand in canonical atoms, stacked along K first or along M or N first.

    Args:
        extent, k: of the tile, in elements.
        inst, inst_k: of the instruction.
        size: bytes of an element.
        mn: whether M or N is contiguous.
        bits: of the swizzle.
        start: absolute address, a multiple of 1024.
        k_first: whether atoms are stacked along K first.
        copy: whether the copy engine brings the operand.
    """
    span, code = SPANS[bits]
    i, j = np.arange(extent)[:, None], np.arange(k)[None, :]
    index, row = (i, j) if mn else (j, i)
    b = index * size
    pieces, groups = (extent if mn else k) * size // span, (k if mn else extent) // 8
    along_first = k_first != mn  # the contiguous dimension's pieces are stored next to each other
    piece_step, group_step = (8 * span, pieces * 8 * span) if along_first else (groups * 8 * span, 8 * span)
    linear = start + b // span * piece_step + b % span + row % 8 * span + row // 8 * group_step
    if mn:
        leading, stride = (piece_step, group_step) if bits else (group_step, piece_step)
    else:
        leading, stride = (piece_step if bits == 0 else 16), group_step
    advance = linear[::inst, ::inst_k] - start
    base = encode_word(start, leading, stride, code=code)
    rows = 8 if along_first else groups * 8  # a box as high as rows follow one another
    places = tuple(
        (row, piece * span // size, start + piece * piece_step + row // 8 * group_step)
        for piece in range(pieces)
        for row in range(0, groups * 8, rows)
    )
    matrix = (k, extent) if mn else (extent, k)
    boxes = boxes_of_matrix(size, matrix, (rows, span // size), bits, places) if copy else None
    return Side(permute(linear, bits), base, advance, boxes)


def fits(inst: int, extent: int, size: int, mn: bool, bits: int) -> bool:
    """Whether subtiles of ``inst`` rows fall on the atoms' borders, or within one."""
    span = SPANS[bits][0]
    if not mn:
        return True
    return extent * size % span == 0 and (inst * size % span == 0 or span % (inst * size) == 0)


def gemm_cases() -> Iterator[Case]:
    """A few hundred products: every type, major and swizzle, several tiles, both stackings, copied either way."""
    number = 0
    for dtype, (size, transposes) in TYPES.items():
        majors = (False, True) if transposes else (False,)
        for bits_a, bits_b, a_mn, b_mn in product(range(4), range(4), majors, majors):
            number += 1
            n = GEMM_N[number % len(GEMM_N)]
            one = Instruction(dtype, n, a_mn=a_mn, b_mn=b_mn)
            m_extent, k_extent = (64, 128, 192)[number % 3], 128 // size * (1 + number % 2)
            n_extent = next((e for e in (2 * n, 4 * n, 256, n) if e <= 256 and fits(n, e, size, b_mn, bits_b)), None)
            if n_extent is None or n_extent % n:
                continue
            common: dict[str, Any] = {"k": k_extent, "inst_k": one.k, "size": size, "copy": number % 5 < 2}
            a = side(m_extent, inst=64, mn=a_mn, bits=bits_a, start=2048, k_first=bool(number & 4), **common)
            after = -(-(int(a.addresses.max()) + size) // 1024) * 1024
            b = side(n_extent, inst=n, mn=b_mn, bits=bits_b, start=after, k_first=not number & 4, **common)
            yield Case(f"plain {number}", one, a, b)
