"""Where the metadata of a sparse A lie in tensor memory: which bits belong to logical element (m, k), k counting zeros.

Two arrangements, by the size of A's elements::

    16 and 32 bits   lane m%8 + 8 (k / (K/2)) + 16 (m/16)    bit 16 ((m/8)%2) + b (k % (K/2)), b = 1 or 2 bits
    4 and 8 bits     lane m                                  bit k (of 4 bits: k/2), 32 a column

with K = 32 for 16 bits (b = 1), 16 for 32 bits (b = 2), 64 for 8 bits, 128 for 4. Of the first arrangement an
instruction's metadata fill one column and the next K tile's the next one; of the second it is two columns. CUTLASS
expects them to begin at a multiple of 4 columns. In the ``.ws`` form with M 64 or 32 they are there 2 or 4 times.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_e_frg``, ``tmem_e_frg_ws`` (NVIDIA's code); PTX ISA 9.1, sparse
matrices.

Law: an instruction's metadata are dense: each bit of its columns belongs to one element (of 4 bits: two), in all lanes.

>>> for dtype, (k, units) in {"tf32": (16, 2), "bf16": (32, 1), "e4m3": (64, 1), "e2m1": (128, 1)}.items():
...     e = sparse_metadata(128, k, dtype)
...     bits = {(place.lane, place.column, place.bit) for m in range(128) for j in range(k) for place in [e.cell(m, j)]}
...     assert len(bits) * units == 128 * 32 * e.columns, dtype
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, as_integer
from descriptors.operands.operand import ElementType, as_element_type
from descriptors.tmem.evidence import NVIDIA
from descriptors.tmem.fragment import TmemFragment, checked, lane_step
from layoutalg import Layout, append, make_layout

#: A column that metadata begin at is a multiple of so many, CUTLASS says.
ALIGNED_COLUMNS = 4

#: Logical K of an instruction by the bits of an element of A, and bits of metadata an element; 0 for half a bit.
_DEPTHS = {32: (16, 2), 16: (32, 1), 8: (64, 1), 4: (128, 0)}


def sparse_metadata(m: int, k: int, dtype: str, *, ws: bool = False) -> TmemFragment:
    """The metadata of one CTA's A, as a layout (m, k), (m, k, K tile) or with a mode ``copy`` at the end.

    Args:
        m: rows of A in the CTA: 128; in the ``.ws`` form also 64 or 32.
        k: logical K of the tile, zeros counted: a multiple of an instruction's.
        dtype: the element type of A.
        ws: whether the weight-stationary form is meant.

    Raises:
        DescriptorError: if the arrangement is not known, or does not fit.

    >>> print(sparse_metadata(128, 32, "f16").layout)
    ((8,2,8),(16,2)):((2097152,16,33554432),(1,16777216))
    """
    element, ws = as_element_type(dtype), as_flag(ws, "sparse_metadata: ws")
    rows = as_integer(m, "sparse_metadata: M", minimum=1, maximum=512)
    legal = (128, 64, 32) if ws else (128,)
    if rows not in legal:
        known = " or ".join(map(str, legal))
        raise DescriptorError(f"sparse_metadata: a CTA must have {known} rows of A, found {rows}; ws = {ws}")
    step, units = _DEPTHS[element.storage_bits]
    depth = as_integer(k, "sparse_metadata: K", minimum=1, maximum=1 << 14)
    if depth % step:
        raise DescriptorError(f"sparse_metadata: K must be a multiple of {step}, found {depth}; dtype = {element}")
    tiles, bits = depth // step, max(units, 1)
    layout = _rows_of_16(rows, step, bits) if element.storage_bits >= 16 else _row_a_lane(rows, step, units)
    modes = ["m", "k"]
    if tiles > 1:
        layout = append(layout, Layout(tiles, 32 // bits if element.storage_bits >= 16 else 64))
        modes.append("K tile")
    if rows < 128:
        layout = append(layout, Layout(128 // rows, rows * lane_step(bits)))
        modes.append("copy")
    what = f"metadata of a sparse A of {rows}x{depth} {element}{', .ws' if ws else ''}"
    return checked(TmemFragment(what, tuple(modes), layout, bits, _name(element), NVIDIA))


def _rows_of_16(rows: int, k: int, bits: int) -> Layout:
    lane = lane_step(bits)
    along_m = Layout((8, 2, rows // 16), (lane, 16 // bits, 16 * lane))
    return make_layout(along_m, Layout((k // 2, 2), (1, 8 * lane)))


def _row_a_lane(rows: int, k: int, units: int) -> Layout:
    along_k = Layout(k) if units else Layout((2, k // 2), (0, 1))
    return make_layout(Layout(rows, lane_step(1)), along_k)


def _name(element: ElementType) -> str:
    return "16 rows in 8 lanes and two halves of a cell" if element.storage_bits >= 16 else "a row a lane"
