"""Where scale factors lie in tensor memory: a byte a factor, factor q = k / vector of row x of a CTA's operand.

    lane = x%32, and 3 copies, 32 lanes on each        column = x/32 + (MN/32) (q/4)        byte = q%4

In the 2x2 arrangement (cta_group 2, M 128) the halves of N sit apart for B, in lanes and not in columns::

    lane = n%32 + 64 (n / (N/2)), and one copy, 32 on  column = (n % (N/2))/32 + (N/64) (q/4)

There a copy takes a block of each half, 4 columns, so that our K blocks of N below 256 lie 4 columns apart and not N/64
(``apart``): an instruction names its own column, and no copy writes what another one did.

MN is padded to whole copies: SFB of any N is 128 rows or a multiple of them (N 192 takes 256). Both CTAs of a pair hold
all of SFB, and SFA of their own rows.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_sf_frg`` (NVIDIA's code); PTX ISA 9.1, tcgen05 scale factor layouts.

Law: all bytes of the columns hold a factor, in every lane.

>>> from layoutalg import size
>>> for mn, halves in ((128, False), (256, False), (256, True)):
...     found = scale_cells(mn, 128, 16, halves=halves)
...     assert size(found.layout) // 16 == found.columns * 4 * 128, mn
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, as_integer
from descriptors.tmem.geometry import BELIEVED, NVIDIA
from descriptors.tmem.tmem_fragment import TmemFragment, lane_step, need_columns
from layoutalg import Layout, make_layout
from layoutalg.frozen import replace

#: Factors of a row that lie in one cell.
FACTORS = 4
#: Rows of the operand that one block of scale factors in shared memory holds.
BLOCK_ROWS = 128
#: Elements that may share a factor; 64 of mxf8f6f4 with K 64, as PTX's table has it; those of 128 four K steps of 32
#: take in turn.
VECTORS = (16, 32, 64, 128)

_BITS = 8


def scale_cells(
    mn: int, k: int, vector: int, *, halves: bool = False, apart: int | None = None, name: str = "scale factors"
) -> TmemFragment:
    """The scale factors of one operand in one CTA, as a layout (mn, k, copy); along k, ``vector`` elements share one.

    Args:
        mn: rows: M of the CTA, or N padded to a multiple of 128 (of 256 with ``halves``).
        k: K of the tile, padded to four factors.
        vector: elements that share a factor, 16, 32, 64 or 128.
        halves: whether the halves of N sit apart, as for B where the arrangement is 2x2.
        apart: columns from four factors along K to the next four; as many as they take if left out.
        name: what they are called.

    Raises:
        DescriptorError: if the rows are no multiple of 32 (of 64 with ``halves``), or they do not fit.

    >>> print(scale_cells(128, 64, 16).layout)
    ((32,4),(16,4),4):((262144,4),(0,1),8388608)
    """
    size = as_vector(vector)
    step = 64 if as_flag(halves, "scale_cells: halves") else 32
    rows = as_integer(mn, "scale_cells: MN", minimum=1, maximum=1 << 12)
    if rows % step:
        raise DescriptorError(f"scale_cells: MN must be a multiple of {step}, found {rows}; halves = {halves}")
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
    """SFA where each CTA of a pair has 64 rows (M 128): by the same rule, of which NVIDIA's code has no such case.

    >>> scale_cells_of_64(64, 16).evidence == BELIEVED
    True
    """
    return replace(scale_cells(64, k, vector, name="SFA"), evidence=BELIEVED)


def as_vector(value: object) -> int:
    """The number of elements that share a factor.

    Raises:
        DescriptorError: if it is none of 16, 32, 64 and 128.

    >>> as_vector(16)
    16
    """
    vector = as_integer(value, "scale factors: the vector", minimum=1)
    if vector not in VECTORS:
        raise DescriptorError(f"scale factors: the vector must be one of 16, 32, 64, 128, found {vector}")
    return vector


def check_halves(n: int, operation: str) -> None:
    """Refuse N whose halves lie apart and which no copies bring there.

    Row n is word n%128 / 32 of its 16 bytes, and a word goes to one column in all lanes: no copy brings words 0 and
    N/64 to the same column, unless both are word 0 of their blocks. So each half has a block of its own, whose words
    are 32 rows each.

    Args:
        n: N of the tile.
        operation: whose refusal it is.

    Raises:
        DescriptorError: if N is not 64, 128, 192 or 256.

    >>> check_halves(96, "tmem plan")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: tmem plan: N must be 64, 128, 192 or 256 where its halves lie apart, of whole
    words of 32 rows each, found 96
    """
    if n % 64 or not 0 < n <= 2 * BLOCK_ROWS:
        rule = "N must be 64, 128, 192 or 256 where its halves lie apart, of whole words of 32 rows each"
        raise DescriptorError(f"{operation}: {rule}, found {n}")


def padded_rows(mn: int, *, halves: bool = False) -> int:
    """Rows as they are copied: whole blocks of 128, of 256 where the halves sit apart.

    >>> padded_rows(8), padded_rows(192), padded_rows(128, halves=True)
    (128, 256, 256)
    """
    block = 2 * BLOCK_ROWS if halves else BLOCK_ROWS
    return -(-mn // block) * block
