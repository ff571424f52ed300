"""What the driver calls things, and what a tensor copy demands: data, a source on each row.

The names and codes are those of CUDA 13.0's ``cuda.h``. The swizzles of a tensor map are numbered a third way, unlike
the descriptors of either architecture.

The types with a rule of their own are those that are padded in shared memory, and sm100 alone copies them.

>>> from descriptors.operands.operand import ELEMENT_TYPES
>>> from descriptors.words.tensor_map import DATA_TYPES, SM100_DATA_TYPES
>>> {DATA_TYPES[name][1] for name, one in ELEMENT_TYPES.items() if one.bits != one.storage_bits} == PADDED
True
>>> PADDED < SM100_DATA_TYPES
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.operands.operand import SwizzleMode

#: Sources of the rules.
ENCODE = "CUDA Driver API, cuTensorMapEncodeTiled"
COPY = "PTX ISA 9.1, restrictions on tensor copy instructions"
GUIDE = "CUDA C++ Programming Guide, tensor memory access"
ALGEBRA = "a tensor copy writes a dense box, each element once"
MEASURED = "measured: the driver of an H200 refuses such a tensor map"

#: Largest extent of a box along any dimension, in elements (ENCODE).
MAX_BOX_EXTENT = 256
#: Most dimensions of a tensor map (ENCODE).
MAX_RANK = 5
#: What a box must be a multiple of along dimension 0, in bytes (ENCODE).
INNER_BYTES = 16
#: What the shared-memory address of every box must be a multiple of, in bytes (GUIDE).
DESTINATION_BYTES = 128

#: Data types that widen 16 elements to a 16-byte container, and their rules: dimension 0 of the box has exactly so many
#: elements (ENCODE; COPY says the same as 64 and 96 bytes of global memory), and only some swizzles serve (ENCODE).
PADDED = frozenset({14, 15})
PADDED_INNER = 128
PADDED_SWIZZLES = frozenset({SwizzleMode.NONE, SwizzleMode.B128, SwizzleMode.B128_BASE32B})


class TmaError(DescriptorError):
    """A tile that no tensor copy can fill, with the rule that forbids it.

    Attributes:
        rule: where the rule is written.

    >>> print(TmaError("a box must have at most 256 rows, found 512", "a book"))
    tma: a box must have at most 256 rows, found 512 [a book]
    """

    def __init__(self, message: str, rule: str) -> None:
        self.rule = rule
        super().__init__(f"tma: {message} [{rule}]")
