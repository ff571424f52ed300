"""Layouts of the A operand in tensor memory, and of the metadata of a sparse A.

The operand is K-major and packed: element (m, k) of b bits is in column ``k b / 32``.

One instruction reads 256 bits of each row, which is 8 columns; the address of the next K step is 8 higher. With
``cta_group`` 2 and M 128 the rows are stored twice: lanes 64 to 127 repeat rows 0 to 63. B is never in tensor memory.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_frg`` with the element type as storage type (NVIDIA's code); PTX ISA
9.1 for the 4- and 6-bit elements of the f8f6f4 kinds, which take a byte each. Two questions are not settled: the
position of the bits in that byte, and the rows of A in the ``.ws`` form. CUTLASS has no such instruction, and its
fragment of that form is the accumulator's.

Invariant: elements are packed without gaps, so that a K step of an instruction is 8 columns for every type.

>>> for dtype, k in (("tf32", 8), ("bf16", 16), ("e4m3", 32), ("s8", 32)):
...     a = operand_a(128, 2 * k, dtype)
...     assert a.columns == 16 and a.cell(5, k) == (5, 8, 0), dtype

The metadata contain bits for each logical element (m, k), where k counts zeros. The arrangement depends on the element
size of A::

    16 and 32 bits   lane m%8 + 8 (k / (K/2)) + 16 (m/16)    bit 16 ((m/8)%2) + b (k % (K/2)), b = 1 or 2 bits
    4 and 8 bits     lane m                                  bit k (of 4 bits: k/2), 32 a column

with K = 32 for 16 bits (b = 1), 16 for 32 bits (b = 2), 64 for 8 bits, 128 for 4 bits. In the first arrangement the
metadata of an instruction fill one column and those of the next K tile the next column: the address of both is the even
column, and the sparsity selector in the instruction descriptor, 0 or 1, selects one. In the second arrangement the
metadata of an instruction fill two columns. CUTLASS expects metadata to start at a multiple of 4 columns. In the
``.ws`` form with M 64 or 32 they are stored 2 or 4 times.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_e_frg``, ``tmem_e_frg_ws`` (NVIDIA's code); PTX ISA 9.1, sparse
matrices.

Invariant: the metadata of an instruction have no gaps: in all lanes, each bit of their columns belongs to one element
(or, for 4-bit elements, to two).

>>> for dtype, (k, units) in {"tf32": (16, 2), "bf16": (32, 1), "e4m3": (64, 1), "e2m1": (128, 1)}.items():
...     e = sparse_metadata(128, k, dtype)
...     bits = {(place.lane, place.column, place.bit) for m in range(128) for j in range(k) for place in [e.cell(m, j)]}
...     assert len(bits) * units == 128 * 32 * e.columns, dtype
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, as_integer, brief
from descriptors.smem.instructions.rules import kind_of
from descriptors.smem.instructions.tables import DENSE_K
from descriptors.smem.operands.operand import ElementType, as_element_type
from descriptors.tmem.accumulator import datapath_of
from descriptors.tmem.geometry import DOCUMENTED, NVIDIA
from descriptors.tmem.tmem_fragment import FULL, PAIRS, TmemFragment, lane_step, need_columns, spread
from layoutalg import Layout, append, make_layout


def operand_a(
    m: int, k: int, dtype: str, *, cta_group: int = 1, sparse: bool = False, ws: bool = False
) -> TmemFragment:
    """Return the A operand of one CTA, as a layout (m, k), or (m, k, copy) if its rows are stored twice.

    Args:
        m: M of the instruction, over both CTAs if ``cta_group`` is 2.
        k: K of the tile, in stored elements: one or more K steps of an instruction.
        dtype: the element type, as ``derive`` names it.
        cta_group: 1 or 2.
        sparse: whether A is stored without its zeros; K then counts stored elements. The metadata are not included.
        ws: whether the instruction is weight-stationary, which is not supported.

    Raises:
        DescriptorError: if no instruction reads such an operand from tensor memory, or it does not fit.

    >>> print(operand_a(128, 64, "f16").layout, operand_a(128, 16, "f16", cta_group=2).layout)
    (128,64):(131072,1) (64,16,2):(131072,1,8388608)
    """
    element = as_element_type(dtype)
    pair = as_integer(cta_group, "operand_a: cta_group", minimum=1, maximum=2)
    if as_flag(ws, "operand_a: ws"):
        raise DescriptorError(
            "operand_a: A of the .ws form is not supported in tensor memory, because no source says which rows a lane "
            f"holds; M = {brief(m)}; A in shared memory is supported"
        )
    path, letter = datapath_of(
        as_integer(m, "operand_a: M", minimum=1, maximum=512), pair, False, as_flag(sparse, "operand_a: sparse")
    )
    step = DENSE_K["sm100", kind_of("sm100", element)]
    depth = as_integer(k, "operand_a: K", minimum=1, maximum=1 << 14)
    if depth % step:
        raise DescriptorError(f"operand_a: K is {depth}, which is not a multiple of {step}; dtype = {element}")
    bits = element.storage_bits
    if path is PAIRS:
        rows = spread(FULL, depth, bits, bits)
        layout = append(Layout((64, rows[1].shape), (lane_step(bits), 1)), Layout(2, 64 * lane_step(bits)))
        modes: tuple[str, ...] = ("m", "k", "copy")
    else:
        layout, modes = spread(path, depth, bits, bits), ("m", "k")
    what = f"A operand of {m}x{depth} {element}, cta_group {pair}{' sparse' if sparse else ''}"
    evidence = NVIDIA if element.bits == bits and letter != "C" else DOCUMENTED
    return need_columns(TmemFragment(what, modes, layout, bits, f"rows as in layout {letter}", evidence))


#: The first column of metadata is a multiple of this number, according to CUTLASS.
ALIGNED_COLUMNS = 4

#: Bits per element of A -> logical K of an instruction, and metadata bits per element; 0 means half a bit.
_DEPTHS = {32: (16, 2), 16: (32, 1), 8: (64, 1), 4: (128, 0)}


def sparse_metadata(m: int, k: int, dtype: str, *, ws: bool = False) -> TmemFragment:
    """Return the metadata of one CTA's A, as a layout (m, k) or (m, k, K tile), possibly with a last mode ``copy``.

    Args:
        m: rows of A in the CTA: 128; in the ``.ws`` form also 64 or 32.
        k: logical K of the tile, zeros counted: a multiple of the instruction's K.
        dtype: the element type of A.
        ws: whether the instruction is weight-stationary (``.ws``).

    Raises:
        DescriptorError: if the arrangement is not known, or does not fit.

    >>> print(sparse_metadata(128, 32, "f16").layout)
    ((8,2,8),(16,2)):((2097152,16,33554432),(1,16777216))
    """
    element, ws = as_element_type(dtype), as_flag(ws, "sparse_metadata: ws")
    rows = as_integer(m, "sparse_metadata: M", minimum=1, maximum=512)
    legal = (128, 64, 32) if ws else (128,)
    if rows not in legal:
        raise DescriptorError(
            f"sparse_metadata: A has {rows} rows per CTA, for which no layout of the metadata is known; ws = {ws}; "
            f"supported: {', '.join(map(str, legal))}"
        )
    step, units = _DEPTHS[element.storage_bits]
    depth = as_integer(k, "sparse_metadata: K", minimum=1, maximum=1 << 14)
    if depth % step:
        raise DescriptorError(f"sparse_metadata: K is {depth}, which is not a multiple of {step}; dtype = {element}")
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
    return need_columns(TmemFragment(what, tuple(modes), layout, bits, _name(element), NVIDIA))


def _rows_of_16(rows: int, k: int, bits: int) -> Layout:
    lane = lane_step(bits)
    along_m = Layout((8, 2, rows // 16), (lane, 16 // bits, 16 * lane))
    return make_layout(along_m, Layout((k // 2, 2), (1, 8 * lane)))


def _row_a_lane(rows: int, k: int, units: int) -> Layout:
    along_k = Layout(k) if units else Layout((2, k // 2), (0, 1))
    return make_layout(Layout(rows, lane_step(1)), along_k)


def _name(element: ElementType) -> str:
    return "16 rows in 8 lanes and two halves of a cell" if element.storage_bits >= 16 else "a row a lane"
