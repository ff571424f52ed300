"""Tensor memory and its addresses: 128 lanes by 512 columns of 32-bit cells in each SM, named by ``lane << 16 |
column``.

Bits 30 and 31 of an address are no part of the place: in a pointer to scale factors they name the byte of the cell.
Source: PTX ISA 9.1, Tensor Memory Addressing and Tensor Memory Allocation; CuTe DSL 4.8.1, whose compiler masks an
address with 0x007F01FF (NVIDIA's code).

Law: an address names its cell, and no other.

>>> cells = [(lane, column) for lane in range(LANES) for column in range(COLUMNS)]
>>> all(cell_of(address_of(*cell))[:2] == cell for cell in cells)
True
>>> len({address_of(*cell) for cell in cells}) == LANES * COLUMNS
True

How a fact on tensor memory is known has a grade here too, as no Blackwell GPU was ever asked. Law: the weakest of
several grades is that of what was put together from them.

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

#: What NVIDIA's own code computes: layouts of CUTLASS and of the CuTe DSL, evaluated; what its compiler emits.
NVIDIA = "NVIDIA's code, evaluated; not measured on a Blackwell GPU"
#: What the PTX manual says.
DOCUMENTED = text.DOCUMENTED
#: What nothing found says outright.
BELIEVED = "believed, not documented in so many words; not measured on a Blackwell GPU"

#: From the best to the weakest. Code goes before text: it was run, and where both speak they agree but for errata.
GRADES = (NVIDIA, DOCUMENTED, BELIEVED)


def weakest(*grades: str) -> str:
    """The weakest of grades.

    >>> weakest(NVIDIA, BELIEVED, DOCUMENTED) == BELIEVED
    True
    """
    return max(grades, key=GRADES.index)


LANES = 128
COLUMNS = 512
CELL_BITS = 32
#: The bits of an address that name the cell.
ADDRESS_MASK = 0x007F01FF
#: A warp of a warpgroup reaches so many lanes by ``tcgen05.ld`` and ``tcgen05.st``: those of its quarter.
QUARTER = 32
#: The least that ``tcgen05.alloc`` gives, in columns.
LEAST_COLUMNS = 32
#: The most that an exclusive allocation may have on any target: sm_107 has so many columns, the others ``COLUMNS``.
EXCLUSIVE_COLUMNS = max(row.exclusive_columns for row in ARCHITECTURES)
#: What may be allocated of the columns: powers of two.
ALLOCATIONS = tuple(1 << i for i in range(COLUMNS.bit_length()) if 1 << i >= LEAST_COLUMNS)


def allocation(columns: int) -> int:
    """The columns that must be allocated for so many: the least power of two that holds them, 32 at least.

    Beyond 512 the least multiple of 32, of an exclusive allocation.

    >>> allocation(5), allocation(197), all(allocation(one) == one for one in ALLOCATIONS), allocation(520)
    (32, 256, True, 544)
    """
    if columns > COLUMNS:
        return -(-columns // LEAST_COLUMNS) * LEAST_COLUMNS
    return max(LEAST_COLUMNS, 1 << (columns - 1).bit_length())


def tensor_memory_arch(name: object, where: str) -> str:
    """The architecture of a name that has tensor memory: ``sm107`` for ``sm_107a``.

    Args:
        name: the name, in either case of letters.
        where: the operation, for the error message.

    Raises:
        ChoiceError: for an unknown one.
        DescriptorError: for one that has none.

    >>> tensor_memory_arch("sm_107a", "tmem plan")
    'sm107'
    """
    arch = tensor_architecture(name, where)
    if not architecture(arch).columns:
        having = ", ".join(row.name for row in ARCHITECTURES if row.columns)
        raise DescriptorError(f"{where}: arch must have tensor memory: one of {having}, found {arch}")
    return arch


class Cell(NamedTuple):
    """A place in tensor memory: the lowest ``bit`` of something in the 32-bit cell of a lane and a column."""

    lane: int
    column: int
    bit: int = 0


def address_of(lane: int, column: int, byte: int = 0) -> int:
    """The 32-bit address of a cell, with the byte in its two top bits where it points to scale factors.

    Args:
        lane: 0 to 127.
        column: 0 to 511; of an exclusive allocation of sm_107 to 575.
        byte: 0 to 3, the scale factor data id.

    Raises:
        DescriptorError: if one of them is out of bounds.

    >>> hex(address_of(32, 8)), hex(address_of(0, 4, byte=2))
    ('0x200008', '0x80000004')
    """
    lane = as_integer(lane, "tmem: a lane", maximum=LANES - 1)
    column = as_integer(column, "tmem: a column", maximum=EXCLUSIVE_COLUMNS - 1)
    return as_integer(byte, "tmem: a byte of a cell", maximum=3) << 30 | lane << 16 | column


def cell_of(address: int) -> tuple[int, int, int]:
    """Lane, column and byte of an address.

    Raises:
        DescriptorError: if it sets bits that no address has.

    >>> cell_of(0x80200008)
    (32, 8, 2)
    """
    address = as_integer(address, "tmem: an address", maximum=2**32 - 1)
    if address & 0x3FFFFFFF & ~ADDRESS_MASK:
        raise DescriptorError(
            f"tmem: an address must set no bits but those of {ADDRESS_MASK:#010x}, found {address:#010x}"
        )
    return address >> 16 & 0x7F, address & 0x1FF, address >> 30


def quarter_of(warp: int) -> range:
    """The lanes that a warp reaches by ``tcgen05.ld`` and ``tcgen05.st``, by its number in the warpgroup or the CTA.

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
    """Who issues an instruction, and what of tensor memory it reaches."""

    instruction: str
    issued_by: str
    of_a_pair: str
    reaches: str


#: Who may touch what. Source: PTX ISA 9.1, tcgen05 instructions, issue granularity and access restrictions.
ISSUES = (
    Issue("alloc, dealloc, relinquish_alloc_permit", "one warp", "one warp in each CTA", "whole columns"),
    Issue("ld, st, wait", "each warp for itself", "likewise", "the 32 lanes of the warp's quarter, all columns"),
    Issue("mma, cp, shift, commit", "one thread", "one thread of the pair", "all lanes, all columns"),
)
