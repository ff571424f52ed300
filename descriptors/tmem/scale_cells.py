"""Layouts of scale factors in tensor memory, one byte per factor.

Factor q = k / vector of row x of a CTA's operand is in::

    lane = x%32, and 3 copies, 32 lanes apart          column = x/32 + (MN/32) (q/4)        byte = q%4

In the 2x2 arrangement (cta_group 2, M 128) the halves of N of B are in different lanes, not in different columns::

    lane = n%32 + 64 (n / (N/2)), and one copy, 32 on  column = (n % (N/2))/32 + (N/64) (q/4)

In that arrangement one copy transfers a block of each half, which is 4 columns. For N below 256 our K blocks are
therefore 4 columns apart instead of N/64 (``apart``), so that no copy overwrites the columns of another; each
instruction names its own column.

MN is padded to whole copies: SFB always has a multiple of 128 rows (N 192 has 256). Each CTA of a pair holds all of
SFB, and SFA for its own rows.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_sf_frg`` (NVIDIA's code); PTX ISA 9.1, tcgen05 scale factor layouts.

Invariant: every byte of the columns contains a factor, in every lane.

>>> from layoutalg import size
>>> for mn, halves in ((128, False), (256, False), (256, True)):
...     factors = scale_cells(mn, 128, 16, halves=halves)
...     assert size(factors.layout) // 16 == factors.columns * 4 * 128, mn
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, as_integer
from descriptors.tmem.geometry import BELIEVED, NVIDIA
from descriptors.tmem.tmem_fragment import TmemFragment, lane_step, need_columns
from layoutalg import Layout, make_layout
from layoutalg.frozen import replace

#: Factors of a row in one cell.
FACTORS = 4
#: Rows of the operand per block of scale factors in shared memory.
BLOCK_ROWS = 128
#: Numbers of elements that may share a factor. 64 occurs with mxf8f6f4 and K 64, in PTX's table; a factor for 128
#: elements is read by four K steps of 32.
VECTORS = (16, 32, 64, 128)

_BITS = 8


def scale_cells(
    mn: int, k: int, vector: int, *, halves: bool = False, apart: int | None = None, name: str = "scale factors"
) -> TmemFragment:
    """Return the scale factors of one operand in one CTA, as a layout (mn, k, copy).

    Along k, ``vector`` elements share a factor.

    Args:
        mn: rows: M of the CTA, or N padded to a multiple of 128 (of 256 with ``halves``).
        k: K of the tile; it is padded to a multiple of four factors.
        vector: number of elements that share a factor: 16, 32, 64 or 128.
        halves: whether the halves of N are in different lanes, as for B in the 2x2 arrangement.
        apart: columns from four factors along K to the next four; by default they are contiguous.
        name: name of the factors in the description.

    Raises:
        DescriptorError: if the number of rows is not a multiple of 32 (of 64 with ``halves``), or the factors do not
            fit.

    >>> print(scale_cells(128, 64, 16).layout)
    ((32,4),(16,4),4):((262144,4),(0,1),8388608)
    """
    size = as_vector(vector)
    step = 64 if as_flag(halves, "scale_cells: halves") else 32
    rows = as_integer(mn, "scale_cells: MN", minimum=1, maximum=1 << 12)
    if rows % step:
        raise DescriptorError(f"scale_cells: MN is {rows}, which is not a multiple of {step}; halves = {halves}")
    blocks = -(-as_integer(k, "scale_cells: K", minimum=1, maximum=1 << 16) // (FACTORS * size))
    lane, groups = lane_step(_BITS), rows // step
    along_mn = Layout((32, groups, 2), (lane, 4, 64 * lane)) if halves else Layout((32, groups), (lane, 4))
    along_k, wide = Layout((size, FACTORS), (0, 1)), groups if apart is None else apart
    if blocks > 1:
        along_k = Layout((size, FACTORS, blocks), (0, 1, 4 * wide))
    copies = Layout(2 if halves else 4, 32 * lane)
    what = f"{name} of {rows} rows, K {blocks * FACTORS * size} by {size}"
    path = "a copy in each warp's lanes" if not halves else "halves of N 64 lanes apart"
    layout = make_layout(along_mn, along_k, copies)
    return need_columns(TmemFragment(what, ("mn", "k", "copy"), layout, _BITS, path, NVIDIA))


def scale_cells_of_64(k: int, vector: int) -> TmemFragment:
    """Return SFA if each CTA of a pair has 64 rows (M 128).

    The same rule is applied; NVIDIA's code does not contain this case, so the grade of evidence is lower.

    >>> scale_cells_of_64(64, 16).evidence == BELIEVED
    True
    """
    return replace(scale_cells(64, k, vector, name="SFA"), evidence=BELIEVED)


def as_vector(value: object) -> int:
    """Return the number of elements that share a factor, if it is supported.

    Raises:
        DescriptorError: if it is not 16, 32, 64 or 128.

    >>> as_vector(16)
    16
    """
    vector = as_integer(value, "scale factors: the vector", minimum=1)
    if vector not in VECTORS:
        raise DescriptorError(
            f"scale factors: the vector is {vector}, which is not supported; supported: {', '.join(map(str, VECTORS))}"
        )
    return vector


def check_halves(n: int, operation: str) -> None:
    """Check that copies can bring the scale factors of both halves of N to their lanes.

    Row n is in word n%128 / 32 of its 16 bytes, and a word is copied to the same column in all lanes. No copy brings
    words 0 and N/64 to the same column unless both are word 0 of their blocks. So each half has its own block, whose
    words have 32 rows each.

    Args:
        n: N of the tile.
        operation: the operation, for the error message.

    Raises:
        DescriptorError: if N is not 64, 128, 192 or 256.

    >>> check_halves(96, "tmem plan")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: tmem plan: N is 96, for which no copies of the scale factors of B exist with
    cta_group 2 and M 128; supported: N 64, 128, 192, 256
    """
    if n % 64 or not 0 < n <= 2 * BLOCK_ROWS:
        raise DescriptorError(
            f"{operation}: N is {n}, for which no copies of the scale factors of B exist with cta_group 2 and M 128; "
            "supported: N 64, 128, 192, 256"
        )


def padded_rows(mn: int, *, halves: bool = False) -> int:
    """Return the number of rows that copies transfer: a multiple of 128, or of 256 with ``halves``.

    >>> padded_rows(8), padded_rows(192), padded_rows(128, halves=True)
    (128, 256, 256)
    """
    block = 2 * BLOCK_ROWS if halves else BLOCK_ROWS
    return -(-mn // block) * block
