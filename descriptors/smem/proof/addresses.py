"""The two sides of every proof: where a layout stores the elements, and where the tensor core fetches them.

``stored_rows`` is the side of the algebra: a layout evaluated by ``layoutalg``. ``fetched_rows`` is the side of the
hardware: the read model, which shares no code with the algebra. Both give shared-memory addresses in the unit of
``address_bits``: bytes, or bits for elements smaller than a byte.

Law: for the word that a layout's canonical form gives, both sides are the same.

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

#: Bytes after which the widest swizzle pattern repeats, and so every other one too.
_PATTERN_BYTES = max(mode.period_bytes for mode in SwizzleMode)

#: A thread block has at most half as many elements of 4 bits; only strides of 0 could make more.
MOST_ELEMENTS = 1 << 20


def address_bits(element: ElementType) -> int:
    """Bits of the unit in which addresses of such elements are compared: 8, or 1 where two elements share a byte.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> address_bits(as_element_type("bf16")), address_bits(as_element_type("e2m1"))
    (8, 1)
    """
    return 1 if element.storage_bits < 8 else 8


def address_unit(element: ElementType) -> str:
    """The name of that unit: ``"byte"`` or ``"bit"``.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> address_unit(as_element_type("e2m1"))
    'bit'
    """
    return "bit" if address_bits(element) == 1 else "byte"


def stored_rows(
    layout: Layout | ComposedLayout, element: ElementType, *, base: int = 0, pattern_start: int = 0,
    window: int = WINDOW_BYTES,
) -> Any:  # fmt: skip
    """The shared-memory address of every element of a layout.

    Law: with P = ``pattern_start`` and S the layout's swizzle in bytes, an element at plain byte offset o is stored at
    ``P + S(base - P + o)``. A swizzle permutes *absolute* addresses, so P is 0 for a tile that TMA or CuTe wrote; it is
    ``base`` where the pattern begins with a tile that is not aligned to it.

    Args:
        layout: one coordinate and one offset an element; plain, or a swizzle after a plain layout.
        element: the element type.
        base: address of the layout's offset 0, in bytes; a multiple of 16.
        pattern_start: an address where the swizzle pattern starts, in bytes; a multiple of 16.
        window: the address window, in bytes.

    Returns:
        ``rows[mn][k]``, one level of lists for each top-level mode, in the unit of ``address_bits``.

    Raises:
        DescriptorError: if the layout is composed otherwise, or lies outside the address window.
        LayoutError: if its strides are no integers.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    >>> stored_rows(tile, as_element_type("bf16"), base=0x400)[1][:3] == [0x490, 0x492, 0x494]
    True
    """
    rows, swizzle, offset = parts(layout)
    _check_reach(rows, offset, element, base, window)
    unit = address_bits(element)
    while pattern_start > base:  # any start of the periodic pattern will do, and none of the sums may be negative
        pattern_start -= _PATTERN_BYTES
    if swizzle is None:
        swizzle, pattern_start = Swizzle(0, 0, 0), 0
    shifted = offset + (base - pattern_start) * 8 // element.storage_bits
    # Multiplied after the swizzle: it moves whole elements, in the unit in which the layout states it.
    return _swizzled(swizzle, shifted, list(rows), element.storage_bits // unit, pattern_start * 8 // unit)


def _swizzled(swizzle: Swizzle, start: int, modes: Sequence[Layout], scale: int, added: int) -> Any:
    """The table of a swizzle after a layout that begins at a start, every offset times a scale, moved by a number.

    Law: a swizzle repeats, ``S(n p + x) = n p + S(x)`` where p is the power of two above all bits that it looks at. So
    a line that begins where another does in the pattern is that one moved.
    """
    period = 1 << (swizzle.source_mask | swizzle.target_mask).bit_length()
    steps = [offset_table(make_layout(mode)) for mode in modes[:2]]
    turned = len({one % period for one in steps[0]}) > len({one % period for one in steps[1]})
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
    """The shared-memory addresses from which each word reads every element (i, k), by the read model alone.

    Args:
        words: the descriptors, one an operand.
        arch: the architecture.
        element: the element type.
        major: the contiguous dimension.
        shape: extents (MN, K) of what one instruction reads, in elements.

    Returns:
        ``found[word][mn][k]``, in the unit of ``address_bits``.

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
    """How the read model is known for an operand, in words fit for a report.

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
    """Whether the read model of an operand was measured on a GPU.

    Args:
        arch, element, major, absolute: as ``evidence`` has them.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> [is_measured(arch, as_element_type("tf32"), Major.K) for arch in ("sm90", "sm100")]
    [True, False]
    """
    sixteen_bits = element.name in ("f16", "bf16")
    read = sixteen_bits or (major is Major.K and element.name in ("tf32", "e4m3", "e5m2", "s8", "u8"))
    return has_wgmma(arch) and read and not absolute


def _scaled(table: Any, scale: int) -> Any:
    return [one * scale for one in table] if isinstance(table[0], int) else [_scaled(row, scale) for row in table]


def _moved(table: Any, by: int) -> Any:
    return [one + by for one in table] if isinstance(table[0], int) else [_moved(row, by) for row in table]


def _check_reach(rows: Layout, offset: int, element: ElementType, base: int, window: int) -> None:
    """Refuse what lies outside the address window, before its elements are walked."""
    if size(rows) > MOST_ELEMENTS:
        found = f"{brief(size(rows))}; layout = {rows}"
        raise DescriptorError(f"operand: a layout must have at most {MOST_ELEMENTS} elements, found {found}")
    low = high = offset
    for leaf in flatten(rows):
        last = (size(leaf) - 1) * leaf.stride if isinstance(leaf.stride, int) else 0  # a table refuses the others
        low, high = low + min(last, 0), high + max(last, 0)
    first, end = base + low * element.storage_bits // 8, base + -(-(high + 1) * element.storage_bits // 8)
    if first < 0 or end > window:
        raise DescriptorError(
            f"operand: a layout must lie in the {window} bytes that a start address can name, found "
            f"[{brief(first)},{brief(end)}); base = {base}, layout = {rows}"
        )
