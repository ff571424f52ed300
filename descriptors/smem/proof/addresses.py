"""The addresses that a proof compares: where a layout stores the elements, and where the tensor core reads them.

``stored_rows`` evaluates a layout with ``layoutalg``. ``fetched_rows`` applies the read model, which shares no code
with the algebra. Both return shared-memory addresses in the unit of ``address_bits``: bytes, or bits for elements
smaller than a byte.

Invariant: for the word that follows from a layout's canonical form, both are equal.

>>> from descriptors import derive
>>> for mode in ("none", "32B", "64B", "128B"):
...     d = derive((64, 64), "bf16", "K", mode, (64, 16), verify=False)
...     read = fetched_rows([d.descriptor.encode()], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
...     assert [row[:16] for row in stored_rows(d.smem_tile, d.element)] == read, mode
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.errors import DescriptorError, brief
from descriptors.smem.operands.operand import ElementType, Major, SwizzleMode
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.read_model import Rows, read_rows
from descriptors.smem.words.descriptor import WINDOW_BYTES, word_format
from descriptors.targets import has_wgmma, known
from layoutalg import ComposedLayout, Layout, Swizzle, flatten, make_layout, offset_table, size

#: Bytes after which every swizzle pattern repeats.
_PATTERN_BYTES = max(mode.period_bytes for mode in SwizzleMode)

#: More than twice the number of 4-bit elements in the shared memory of a CTA; only strides of 0 could exceed it.
MOST_ELEMENTS = 1 << 20


def address_bits(element: ElementType) -> int:
    """Return the bits of the unit in which addresses are compared: 8, or 1 if two elements share a byte.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> address_bits(as_element_type("bf16")), address_bits(as_element_type("e2m1"))
    (8, 1)
    """
    return 1 if element.storage_bits < 8 else 8


def address_unit(element: ElementType) -> str:
    """Return the name of the unit of ``address_bits``: ``"byte"`` or ``"bit"``.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> address_unit(as_element_type("e2m1"))
    'bit'
    """
    return "bit" if address_bits(element) == 1 else "byte"


def stored_rows(
    layout: Layout | ComposedLayout, element: ElementType, *, base: int = 0, pattern_start: int = 0,
    window: int = WINDOW_BYTES,
) -> Any:  # fmt: skip
    """Return the shared-memory address of every element of a layout.

    Invariant: with P = ``pattern_start`` and S the layout's swizzle in bytes, an element at plain byte offset o is
    stored at ``P + S(base - P + o)``. A swizzle permutes *absolute* addresses, so P is 0 for a tile that TMA or CuTe
    wrote, and ``base`` if the pattern starts with a tile that is not aligned to it.

    Args:
        layout: a layout in elements: plain, or a swizzle after a plain layout.
        element: the element type.
        base: address of the layout's offset 0, in bytes; a multiple of 16.
        pattern_start: an address where the swizzle pattern starts, in bytes; a multiple of 16.
        window: the address window, in bytes.

    Returns:
        ``rows[mn][k]``, with a level of lists for each top-level mode, in the unit of ``address_bits``.

    Raises:
        DescriptorError: if the layout is composed otherwise, or exceeds the address window.
        LayoutError: if its strides are not integers.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    >>> stored_rows(tile, as_element_type("bf16"), base=0x400)[1][:3] == [0x490, 0x492, 0x494]
    True
    """
    rows, swizzle, offset = parts(layout)
    _check_reach(rows, offset, element, base, window)
    unit = address_bits(element)
    while pattern_start > base:  # the pattern is periodic, and the sums must not be negative
        pattern_start -= _PATTERN_BYTES
    if swizzle is None:
        swizzle, pattern_start = Swizzle(0, 0, 0), 0
    shifted = offset + (base - pattern_start) * 8 // element.storage_bits
    # Multiply after the swizzle, because the swizzle acts on offsets in elements.
    return _swizzled(swizzle, shifted, list(rows), element.storage_bits // unit, pattern_start * 8 // unit)


def _swizzled(swizzle: Swizzle, start: int, modes: Sequence[Layout], scale: int, added: int) -> Any:
    """Return the table of ``swizzle(start + layout) * scale + added``.

    A swizzle is periodic: ``S(n p + x) = n p + S(x)``, where p is the power of two above all bits that it uses. So rows
    that start at the same position of the pattern differ by a constant, and the table is computed once for each
    position.
    """
    period = 1 << (swizzle.source_mask | swizzle.target_mask).bit_length()
    steps = [offset_table(make_layout(mode)) for mode in modes[:2]]
    turned = len({step % period for step in steps[0]}) > len({step % period for step in steps[1]})
    lines, table = dict[int, Any](), []
    across, rest = (steps[1], [modes[0], *modes[2:]]) if turned else (steps[0], modes[1:])
    for step in across:
        at = (start + step) % period
        if at not in lines:
            lines[at] = _scaled(offset_table(ComposedLayout(swizzle, at, make_layout(*rest))), scale)
        table.append(_moved(lines[at], (start + step - at) * scale + added))
    return list(map(list, zip(*table, strict=True))) if turned else table


def fetched_rows(
    words: Sequence[int], *, arch: str, element: ElementType, major: Major, shape: tuple[int, int]
) -> list[Rows]:
    """Return the shared-memory addresses from which each word reads every element (i, k), by the read model.

    Args:
        words: the descriptors, one per operand.
        arch: the architecture.
        element: the element type.
        major: the contiguous dimension.
        shape: extents (MN, K) that one instruction reads, in elements.

    Returns:
        ``addresses[word][mn][k]``, in the unit of ``address_bits``.

    Raises:
        DescriptorError: as ``read_model.read_rows``.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> bf16 = as_element_type("bf16")
    >>> fetched_rows([1 << 62, 1 << 62 | 2], arch="sm90", element=bf16, major=Major.K, shape=(8, 16))[1][1][:2]
    [176, 178]
    """
    in_bits, whose = address_bits(element) == 1, word_format(arch)
    return [read_rows(word, whose, dtype=element, major=major, shape=shape, in_bits=in_bits) for word in words]


def evidence(arch: str, element: ElementType, major: Major, *, absolute: bool = False) -> str:
    """Return how the read model is known for an operand, as text.

    Args:
        arch: the architecture.
        element: the element type.
        major: the contiguous dimension.
        absolute: whether the words have LBO mode 1.

    Raises:
        ChoiceError: for an unknown architecture.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> evidence("sm90", as_element_type("bf16"), Major.MN), evidence("sm100", as_element_type("bf16"), Major.K)
    ('measured on a Hopper GPU', 'documented, not measured on a Blackwell GPU')
    """
    if absolute:
        _, _, rest = known(arch).partition(", ")
        return f"documented in part, completed by NVIDIA's kernels for sm_103a, {rest}"
    measured = is_measured(arch, element, major)
    return known(arch) if measured or not has_wgmma(arch) else unread(arch)


def unread(arch: str) -> str:
    """Return the evidence of a read model for an operand that no instruction reads.

    >>> unread("sm90")
    'no wgmma instruction reads such an operand'
    """
    return f"no {'wgmma' if has_wgmma(arch) else 'tcgen05'} instruction reads such an operand"


def is_measured(arch: str, element: ElementType, major: Major, *, absolute: bool = False) -> bool:
    """Return whether the read model of an operand was measured on a GPU.

    Args:
        arch, element, major, absolute: as in ``evidence``.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> [is_measured(arch, as_element_type("tf32"), Major.K) for arch in ("sm90", "sm100")]
    [True, False]
    """
    sixteen_bits = element.name in ("f16", "bf16")
    read = sixteen_bits or (major is Major.K and element.name in ("tf32", "e4m3", "e5m2", "s8", "u8"))
    return has_wgmma(arch) and read and not absolute


def _scaled(table: Any, scale: int) -> Any:
    return [cell * scale for cell in table] if isinstance(table[0], int) else [_scaled(row, scale) for row in table]


def _moved(table: Any, by: int) -> Any:
    return [cell + by for cell in table] if isinstance(table[0], int) else [_moved(row, by) for row in table]


def _check_reach(rows: Layout, offset: int, element: ElementType, base: int, window: int) -> None:
    """Check that a layout is within the address window, before its elements are enumerated."""
    if size(rows) > MOST_ELEMENTS:
        raise DescriptorError(
            f"operand: the layout has {brief(size(rows))} elements, more than {MOST_ELEMENTS}; layout = {rows}"
        )
    low = high = offset
    for leaf in flatten(rows):
        last = (size(leaf) - 1) * leaf.stride if isinstance(leaf.stride, int) else 0  # offset_table rejects the others
        low, high = low + min(last, 0), high + max(last, 0)
    first, end = base + low * element.storage_bits // 8, base + -(-(high + 1) * element.storage_bits // 8)
    if first < 0 or end > window:
        raise DescriptorError(
            f"operand: the layout is at [{brief(first)},{brief(end)}), outside the {window} bytes that a start address "
            f"can address; base = {base}, layout = {rows}"
        )
