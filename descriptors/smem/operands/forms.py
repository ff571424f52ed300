"""The canonical forms: how an instruction's operand must lie in shared memory for a descriptor to tell it.

Counted in 16-byte units (one coordinate a 16-byte piece, after a recast to 128 bits) an instruction's operand must be a
grid of pieces or atoms with two free steps, and the descriptor holds those two steps: the leading byte offset (LBO) and
the stride byte offset (SBO). In this unit the forms no longer depend on the element type. W is the swizzled row in
16-byte units (2, 4 or 8)::

    K-major, none            ((8,m),(1,k)):((1,SBO),(-,LBO))     K-major, swizzled    ((8,m),(1,k)):((W,SBO),(-,1))
    MN-major, none           ((1,m),(8,k)):((-,SBO),(1,LBO))     MN-major, swizzled   ((W,m),(8,k)):((1,LBO),(W,SBO))
    MN-major, 128B_BASE32B   ((8,m),(4,k)):((1,LBO),(8,SBO))

Mind that LBO and SBO change places between MN-major "none" and MN-major swizzled.
Source: PTX ISA 9.2, tcgen05, Canonical Layouts; CUTLASS ``include/cute/atom/mma_traits_sm100.hpp``
(make_umma_desc, whose comment has the last form's K step as 4, where its code demands 8); article "Blackwell MMA SMEM
Descriptor", sections 3.5.4 and 4.5.4.

Law: the text of a form has its two free steps where the form says that they stand.

>>> import re
>>> for major, mode in (("K", "none"), ("K", "64B"), ("MN", "none"), ("MN", "128B")):
...     one = form(major, mode)
...     steps = re.findall(r"[^(),:]+", str(one).split("):(")[1])
...     assert steps[2 * one.stride[0] + one.stride[1]] == "SBO", one
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import Major, MajorName, SwizzleMode, SwizzleName, as_major, as_swizzle_mode
from layoutalg.frozen import frozen

#: Where a step of the form stands: (mode, submode) of the divided layout.
Path = tuple[int, int]

LEADING = "leading_byte_offset"
STRIDE = "stride_byte_offset"

#: The field that says where the swizzle pattern starts: without a swizzle nothing depends on it, and Triton writes it
#: all the same.
BASE = "base_offset"


@frozen
class Form:
    """A canonical form, in 16-byte units.

    Args:
        major: the contiguous dimension.
        mode: the swizzle mode.
        chunk: extents (MN, K) of the piece that the hardware knows by itself.
        fixed: steps that the form prescribes, by path.
        leading: path of the step that the leading byte offset holds.
        stride: path of the step that the stride byte offset holds.
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
        """The two offsets, by the names of their fields, and where the step stands that each of them holds."""
        return (LEADING, self.leading), (STRIDE, self.stride)

    @property
    def rows(self) -> int:
        """Rows of a group, across the contiguous dimension: what the hardware walks before a step is taken.

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
    """The canonical form of a major and a swizzle mode.

    Raises:
        DescriptorError: for K-major 128B_BASE32B, which has none.

    >>> print(form(Major.K, SwizzleMode.B128))
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1))
    """
    major, mode = as_major(major), as_swizzle_mode(mode)
    width = mode.span_bytes // 16
    swizzled = mode is not SwizzleMode.NONE
    if major is Major.K:
        if mode is SwizzleMode.B128_BASE32B:
            raise DescriptorError(f"canonical: a K-major operand must have another swizzle, found {mode}")
        # LBO is the step to the next 16 bytes of a row. Inside a swizzled row that is 1 by the pattern itself: PTX
        # calls the field unused, and an H200 ignores it; CUTLASS writes the 1.
        across: tuple[tuple[Path, int], ...] = (((1, 1), 1),) if swizzled else ()
        unread = (LEADING,) if swizzled else (BASE,)
        return Form(major, mode, (8, 1), (((0, 0), width), *across), leading=(1, 1), stride=(0, 1), unread=unread)
    rows = 4 if mode is SwizzleMode.B128_BASE32B else 8
    if not swizzled:
        return Form(major, mode, (1, rows), (((1, 0), 1),), leading=(1, 1), stride=(0, 1), unread=(BASE,))
    return Form(major, mode, (width, rows), (((0, 0), 1), ((1, 0), width)), leading=(0, 1), stride=(1, 1))
