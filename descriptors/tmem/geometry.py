"""The geometry of tensor memory: addresses, allocation sizes, and which instruction reaches which lanes.

Each SM has 128 lanes by 512 columns of 32-bit cells. The address of a cell is ``lane << 16 | column``. Bits 30 and 31
do not select a cell: in a pointer to scale factors they select the byte of the cell.
Source: PTX ISA 9.1, Tensor Memory Addressing and Tensor Memory Allocation; CuTe DSL 4.8.1, whose compiler masks an
address with 0x007F01FF (NVIDIA's code).

Invariant: each cell has its own address, from which lane and column can be computed.

>>> cells = [(lane, column) for lane in range(LANES) for column in range(COLUMNS)]
>>> all(cell_of(address_of(*cell))[:2] == cell for cell in cells)
True
>>> len({address_of(*cell) for cell in cells}) == LANES * COLUMNS
True

The module also defines grades of evidence for facts about tensor memory; none of them was measured on a Blackwell GPU.

Invariant: a result that depends on several facts has the weakest of their grades.

>>> weakest(NVIDIA, DOCUMENTED) == weakest(DOCUMENTED, NVIDIA) == DOCUMENTED
True
>>> all("not measured on a Blackwell GPU" in grade for grade in GRADES)
True
"""

from __future__ import annotations

from typing import NamedTuple

from descriptors import text
from descriptors.errors import DescriptorError, as_integer
from descriptors.targets import ARCHITECTURES, architecture, tensor_architecture

#: Computed by NVIDIA's own code: layouts of CUTLASS and of the CuTe DSL, evaluated; output of its compiler.
NVIDIA = "NVIDIA's code, evaluated; not measured on a Blackwell GPU"
#: Stated in the PTX manual.
DOCUMENTED = text.DOCUMENTED
#: Not stated explicitly in any known source.
BELIEVED = "believed, not documented in so many words; not measured on a Blackwell GPU"

#: From the strongest to the weakest. Code ranks above text because it was run; the two agree except for errata.
GRADES = (NVIDIA, DOCUMENTED, BELIEVED)


def weakest(*grades: str) -> str:
    """Return the weakest of several grades of evidence.

    >>> weakest(NVIDIA, BELIEVED, DOCUMENTED) == BELIEVED
    True
    """
    return max(grades, key=GRADES.index)


LANES = 128
COLUMNS = 512
CELL_BITS = 32
#: The bits of an address that select the cell.
ADDRESS_MASK = 0x007F01FF
#: The number of lanes that one warp reaches with ``tcgen05.ld`` and ``tcgen05.st``: a quarter of all lanes.
QUARTER = 32
#: The smallest allocation of ``tcgen05.alloc``, in columns.
LEAST_COLUMNS = 32
#: The largest exclusive allocation on any target, in columns: sm_107 has this many; the other targets have ``COLUMNS``.
EXCLUSIVE_COLUMNS = max(row.exclusive_columns for row in ARCHITECTURES)
#: The legal sizes of an ordinary allocation, in columns: powers of two.
ALLOCATIONS = tuple(1 << i for i in range(COLUMNS.bit_length()) if 1 << i >= LEAST_COLUMNS)


def allocation(columns: int) -> int:
    """Return the size of the smallest allocation that holds a number of columns.

    Up to 512 columns this is a power of two, at least 32. Beyond 512 it is a multiple of 32, an exclusive allocation.

    >>> allocation(5), allocation(197), all(allocation(size) == size for size in ALLOCATIONS), allocation(520)
    (32, 256, True, 544)
    """
    if columns > COLUMNS:
        return -(-columns // LEAST_COLUMNS) * LEAST_COLUMNS
    return max(LEAST_COLUMNS, 1 << (columns - 1).bit_length())


def tensor_memory_arch(name: object, where: str) -> str:
    """Return the architecture for a name, such as ``sm107`` for ``sm_107a``, if it has tensor memory.

    Args:
        name: the name, in upper or lower case.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if the architecture is unknown.
        DescriptorError: if the architecture has no tensor memory.

    >>> tensor_memory_arch("sm_107a", "tmem plan")
    'sm107'
    """
    arch = tensor_architecture(name, where)
    if not architecture(arch).columns:
        supported = ", ".join(row.name for row in ARCHITECTURES if row.columns)
        raise DescriptorError(f"{where}: {arch} has no tensor memory; supported: {supported}")
    return arch


class Cell(NamedTuple):
    """A position in tensor memory: a lane, a column, and the lowest ``bit`` of an element in that 32-bit cell."""

    lane: int
    column: int
    bit: int = 0


def address_of(lane: int, column: int, byte: int = 0) -> int:
    """Return the 32-bit address of a cell; the two top bits hold the byte if it points to scale factors.

    Args:
        lane: 0 to 127.
        column: 0 to 511; up to 575 in an exclusive allocation of sm_107.
        byte: 0 to 3, the scale factor data id.

    Raises:
        DescriptorError: if an argument is out of bounds.

    >>> hex(address_of(32, 8)), hex(address_of(0, 4, byte=2))
    ('0x200008', '0x80000004')
    """
    lane = as_integer(lane, "tmem: a lane", maximum=LANES - 1)
    column = as_integer(column, "tmem: a column", maximum=EXCLUSIVE_COLUMNS - 1)
    return as_integer(byte, "tmem: a byte of a cell", maximum=3) << 30 | lane << 16 | column


def cell_of(address: int) -> tuple[int, int, int]:
    """Return lane, column and byte of an address.

    Raises:
        DescriptorError: if the address sets bits that no address uses.

    >>> cell_of(0x80200008)
    (32, 8, 2)
    """
    address = as_integer(address, "tmem: an address", maximum=2**32 - 1)
    if address & 0x3FFFFFFF & ~ADDRESS_MASK:
        raise DescriptorError(
            f"tmem: address {address:#010x} sets bits outside lane and column, which are {ADDRESS_MASK:#010x}"
        )
    return address >> 16 & 0x7F, address & 0x1FF, address >> 30


def quarter_of(warp: int) -> range:
    """Return the lanes that a warp reaches with ``tcgen05.ld`` and ``tcgen05.st``.

    Args:
        warp: the number of the warp in the warpgroup or in the CTA.

    Source: PTX ISA 9.1, tcgen05.ld, access restrictions.

    >>> quarter_of(5)
    range(32, 64)
    """
    first = QUARTER * (as_integer(warp, "tmem: a warp", maximum=63) % 4)
    return range(first, first + QUARTER)


def is_reached(warp: int, first: int, last: int) -> bool | None:
    """Return whether ``tcgen05.ld`` or ``tcgen05.st`` of a warp reaches the lanes of its address; None if disputed.

    The CuTe DSL takes a lane modulo 32, so that lanes of the first quarter mean those of any warp's quarter. The manual
    and CUTLASS name the lanes of the warp's quarter.

    Args:
        warp: number of the warp in the warpgroup or the CTA.
        first: first lane.
        last: last lane.

    Source: PTX ISA 9.1, tcgen05.ld, access restrictions; CuTe DSL 4.8.1.

    >>> is_reached(1, 32, 63), is_reached(1, 0, 31), is_reached(1, 64, 95)
    (True, None, False)
    """
    if all(lane in quarter_of(warp) for lane in (first, last)):
        return True
    return None if last < QUARTER else False


class Issue(NamedTuple):
    """Which threads issue an instruction, and which part of tensor memory it reaches."""

    instruction: str
    issued_by: str
    of_a_pair: str
    reaches: str


#: Access rules of the instructions. Source: PTX ISA 9.1, tcgen05 instructions, issue granularity, access restrictions.
ISSUES = (
    Issue("alloc, dealloc, relinquish_alloc_permit", "one warp", "one warp in each CTA", "whole columns"),
    Issue("ld, st, wait", "each warp for itself", "likewise", "the 32 lanes of the warp's quarter, all columns"),
    Issue("mma, cp, shift, commit", "one thread", "one thread of the pair", "all lanes, all columns"),
)
