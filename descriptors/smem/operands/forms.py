"""The canonical forms: the layouts of an operand in shared memory that a descriptor can describe.

In 16-byte units (after a recast to 128 bits), an operand is a grid of 16-byte units or atoms with two free strides. The
descriptor stores these strides: the leading byte offset (LBO) and the stride byte offset (SBO). In this unit, the forms
do not depend on the element type. W is the width of a swizzled row in 16-byte units (2, 4 or 8)::

    K-major, none            ((8,m),(1,k)):((1,SBO),(-,LBO))     K-major, swizzled    ((8,m),(1,k)):((W,SBO),(-,1))
    MN-major, none           ((1,m),(8,k)):((-,SBO),(1,LBO))     MN-major, swizzled   ((W,m),(8,k)):((1,LBO),(W,SBO))
    MN-major, 128B_BASE32B   ((8,m),(4,k)):((1,LBO),(8,SBO))

LBO and SBO have swapped positions in MN-major "none" and MN-major swizzled.
Source: PTX ISA 9.2, tcgen05, Canonical Layouts; CUTLASS ``include/cute/atom/mma_traits_sm100.hpp``
(make_umma_desc, whose comment has the last form's K step as 4, where its code demands 8); article "Blackwell MMA SMEM
Descriptor", sections 3.5.4 and 4.5.4.

Invariant: the text of a form has SBO at the path that ``stride`` names.

>>> import re
>>> for major, mode in (("K", "none"), ("K", "64B"), ("MN", "none"), ("MN", "128B")):
...     target = form(major, mode)
...     steps = re.findall(r"[^(),:]+", str(target).split("):(")[1])
...     assert steps[2 * target.stride[0] + target.stride[1]] == "SBO", target
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import Major, MajorName, SwizzleMode, SwizzleName, as_major, as_swizzle_mode
from layoutalg.frozen import frozen

#: Position of a stride in the form: (mode, submode) of the divided layout.
Path = tuple[int, int]

LEADING = "leading_byte_offset"
STRIDE = "stride_byte_offset"

#: The field for the start of the swizzle pattern. Without a swizzle it has no effect; Triton writes it nevertheless.
BASE = "base_offset"


@frozen
class Form:
    """A canonical form, in 16-byte units.

    Args:
        major: the contiguous dimension.
        mode: the swizzle mode.
        chunk: extents (MN, K) of the block whose strides the form fixes.
        fixed: strides that the form prescribes, by path.
        leading: path of the stride that the leading byte offset stores.
        stride: path of the stride that the stride byte offset stores.
        unread: fields that the hardware does not read for this form.

    >>> print(form(Major.MN, SwizzleMode.B64))
    MN-major 64B ((4,m),(8,k)):((1,LBO),(4,SBO))
    """

    major: Major
    mode: SwizzleMode
    chunk: tuple[int, int]
    fixed: tuple[tuple[Path, int], ...]
    leading: Path
    stride: Path
    unread: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[tuple[str, Path], tuple[str, Path]]:
        """The names of the two offset fields, each with the path of the stride that it stores."""
        return (LEADING, self.leading), (STRIDE, self.stride)

    @property
    def rows(self) -> int:
        """Number of rows of a chunk, across the contiguous dimension.

        >>> form("K", "128B").rows, form("MN", "128B_BASE32B").rows
        (8, 4)
        """
        return self.chunk[1 - self.major.contiguous_mode]

    def __str__(self) -> str:
        letters = {path: str(step) for path, step in self.fixed}
        letters.setdefault(self.leading, "LBO")
        letters.setdefault(self.stride, "SBO")
        steps = ",".join(f"({letters.get((i, 0), '-')},{letters[i, 1]})" for i in (0, 1))
        shape = f"(({self.chunk[0]},m),({self.chunk[1]},k))"
        return f"{self.major}-major {self.mode} {shape}:({steps})"


def form(major: Major | MajorName, mode: SwizzleMode | SwizzleName) -> Form:
    """Return the canonical form of a major and a swizzle mode.

    Raises:
        DescriptorError: for K-major 128B_BASE32B, which has no canonical form.

    >>> print(form(Major.K, SwizzleMode.B128))
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1))
    """
    major, mode = as_major(major), as_swizzle_mode(mode)
    width = mode.span_bytes // 16
    swizzled = mode is not SwizzleMode.NONE
    if major is Major.K:
        if mode is SwizzleMode.B128_BASE32B:
            raise DescriptorError(f"canonical: swizzle {mode} has no K-major form, it is MN-major only")
        # LBO is the step to the next 16 bytes of a row. In a swizzled row the pattern fixes it to 1. PTX calls the
        # field unused, and an H200 ignores it; CUTLASS writes 1.
        across: tuple[tuple[Path, int], ...] = (((1, 1), 1),) if swizzled else ()
        unread = (LEADING,) if swizzled else (BASE,)
        return Form(major, mode, (8, 1), (((0, 0), width), *across), leading=(1, 1), stride=(0, 1), unread=unread)
    rows = 4 if mode is SwizzleMode.B128_BASE32B else 8
    if not swizzled:
        return Form(major, mode, (1, rows), (((1, 0), 1),), leading=(1, 1), stride=(0, 1), unread=(BASE,))
    return Form(major, mode, (width, rows), (((0, 0), 1), ((1, 0), width)), leading=(0, 1), stride=(1, 1))
