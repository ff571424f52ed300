r"""Write the place of an element as C expressions and PTX: for operands that threads load, and for accumulators.

Invariant: :func:`byte_offset`, evaluated as C, is the layout of the tile at every element, in bytes, and
:func:`row_and_column` is the layout of the fragment at every thread and value.

>>> from descriptors.gemm.planner import plan
>>> loop = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, a_source="registers", verify=False)
>>> import re
>>> at, turned = (re.sub(r"(\d)u", r"\1", text).replace("/", "//") for text in byte_offset(loop.a.derivation))
>>> def byte(row, column):
...     return eval(turned, {"at": eval(at, {"row": row, "column": column})})
>>> tile = loop.a.derivation.smem_tile
>>> all(byte(m, k) == 2 * tile(m, k, 0) for m in range(64) for k in range(64))
True
>>> from layoutalg import fragment
>>> layout = fragment("wgmma.m64n8k16.D").layout
>>> row, column = (text.replace("/", "//") for text in row_and_column(layout, 64))
>>> all(eval(row) + 64 * eval(column) == layout(thread, value) for thread in range(128) for value in range(4))
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.emitters.ptx import digit_lines
from descriptors.smem.emitters.recipe import Term
from layoutalg import AnyLayout, ComposedLayout, Layout, ScaledBasis, Swizzle, coalesce, flatten, size

#: Element types in C++; those of A and B can be converted from and to float.
CPP_TYPES = {
    "f16": "__half", "bf16": "__nv_bfloat16", "tf32": "float", "e4m3": "__nv_fp8_e4m3", "e5m2": "__nv_fp8_e5m2",
    "s8": "int8_t", "u8": "uint8_t", "f32": "float", "s32": "int32_t",
}  # fmt: skip


def byte_offset(d: Derivation) -> tuple[str, str]:
    """Return two C expressions: ``at``, the byte without the swizzle, and the byte with the swizzle in terms of ``at``.

    ``row`` is along M or N, and ``column`` along K. Bytes are counted from the start of the stage.

    Args:
        d: the derivation of an operand whose elements have whole bytes.

    >>> from descriptors import derive
    >>> byte_offset(derive((64, 64), "bf16", "K", "128B", (64, 16), arch="sm90"))
    ('row * 128u + column * 2u', 'at ^ ((at & 0x380u) >> 3u)')
    """
    return tile_bytes(d.smem_tile, d.element.storage_bits // 8)


def tile_bytes(tile: AnyLayout, width: int) -> tuple[str, str]:
    """Return the expressions of ``byte_offset`` for a layout (row, column) with or without a swizzle.

    Args:
        tile: the layout, in elements.
        width: bytes of an element.

    >>> from layoutalg import Layout
    >>> tile_bytes(Layout((64, 32), (32, 1)), 2)
    ('row * 64u + column * 2u', 'at')
    """
    terms = [
        term.spell("/", "u")
        for name, mode in zip(("row", "column"), tuple(_plain(tile))[:2], strict=True)
        for term in _terms(mode, name, width)
    ]
    offset, swizzle = " + ".join(terms) or "0u", _swizzle(tile, width)
    return offset, "at" if swizzle is None else f"at ^ ((at & {swizzle[0]:#x}u) >> {swizzle[1]}u)"


def byte_lines(d: Derivation) -> list[str]:
    """Return PTX that computes the byte ``at`` from ``row`` and ``column``; these and ``digit`` are 32-bit registers.

    Args:
        d: the derivation of an operand whose elements have whole bytes.

    >>> from descriptors import derive
    >>> byte_lines(derive((64, 64), "bf16", "K", "128B", (64, 16), arch="sm90"))[:2]
    ['mov.u32 at, 0;', 'mad.lo.u32 at, row, 128, at;']
    """
    plain, width, lines = _plain(d.smem_tile), d.element.storage_bits // 8, ["mov.u32 at, 0;"]
    for name, mode in zip(("row", "column"), tuple(plain)[:2], strict=True):
        for term in _terms(mode, name, width):
            digits = list(digit_lines(term, name))
            lines += [*digits, f"mad.lo.u32 at, {'digit' if digits else name}, {term.factor}, at;"]
    swizzle = _swizzle(d.smem_tile, width)
    if swizzle is not None:
        mask, shift = swizzle
        lines += [f"and.b32 digit, at, {mask:#x};", f"shr.u32 digit, digit, {shift};", "xor.b32 at, at, digit;"]
    return lines


def _plain(tile: AnyLayout) -> Layout:
    plain = tile.inner if isinstance(tile, ComposedLayout) else tile
    assert isinstance(plain, Layout)
    return plain


def _swizzle(tile: AnyLayout, width: int) -> tuple[int, int] | None:
    """Return the mask of the byte-offset bits that are xored into lower bits, and the shift; None without a swizzle."""
    if not isinstance(tile, ComposedLayout) or not isinstance(tile.outer, Swizzle):
        return None
    low = tile.outer.base + width.bit_length() - 1
    return ((1 << tile.outer.bits) - 1) << (low + tile.outer.shift), tile.outer.shift


def _terms(mode: object, name: str, width: int) -> list[Term]:
    assert isinstance(mode, Layout)
    leaves = [(size(leaf), leaf(1)) for leaf in flatten(coalesce(mode)) if size(leaf) > 1]
    terms, divisor = [], 1
    for i, (extent, stride) in enumerate(leaves):
        assert isinstance(stride, int)
        terms.append(Term(name, divisor, extent if i + 1 < len(leaves) else None, stride * width))
        divisor *= extent
    return terms


def offset_expression(modes: tuple[object, object]) -> str:
    """Return the offset of ``row`` and ``column`` as a C expression.

    Args:
        modes: the modes of the layout for rows and columns.

    >>> from layoutalg import Layout
    >>> offset_expression((Layout((8, 4), (1, 16)), Layout(2, 8)))
    'row % 8 + row / 8 * 16 + column * 8'
    """
    terms = [term for name, mode in zip(("row", "column"), modes, strict=True) for term in _terms(mode, name, 1)]
    return " + ".join(term.spell("/") for term in terms if term.factor) or "0"


def row_and_column(layout: Layout, rows: int) -> tuple[str, str]:
    """Return row and column as C expressions in ``thread`` and ``value``.

    Args:
        layout: (thread, value) to row + rows * column; every stride is less than ``rows`` or a multiple of ``rows``.
        rows: number of rows of the fragment.

    >>> from layoutalg import fragment
    >>> row_and_column(fragment("wgmma.m64n8k16.D").layout, 64)
    ('thread / 4 % 8 + thread / 32 % 4 * 16 + value / 2 % 2 * 8', 'thread % 4 * 2 + value % 2')
    """
    terms: dict[str, list[str]] = {"row": [], "column": []}
    for index, variable in enumerate(("thread", "value")):
        before, mode = 1, flatten(layout[index])
        for extent, step in zip(_listed(mode.shape), _listed(mode.stride), strict=True):
            digit = f"{variable} / {before} % {extent}" if before > 1 else f"{variable} % {extent}"
            kind, times = ("row", step) if step < rows else ("column", step // rows)
            terms[kind].append(digit if times == 1 else f"{digit} * {times}")
            before *= extent
    return " + ".join(terms["row"]) or "0", " + ".join(terms["column"]) or "0"


def coordinate(modes: Mapping[str, AnyLayout]) -> tuple[str, str]:
    """Return row and column as C expressions for partitions of an identity layout, whose strides are basis elements.

    Args:
        modes: the layout for each variable.

    >>> from layoutalg import make_identity_layout, make_tiled_copy_tv
    >>> copy = make_tiled_copy_tv(8, Layout((32, 4), (4, 1)), Layout((1, 8)))
    >>> coordinate({"thread": copy.thrfrg_D(make_identity_layout((32, 32)))[0]})
    ('thread / 4 % 32', 'thread % 4 * 8')
    """
    terms: tuple[list[str], list[str]] = ([], [])
    for name, mode in modes.items():
        before, flat = 1, flatten(mode)
        assert isinstance(flat, Layout)
        for extent, step in zip(_listed(flat.shape), _listed(flat.stride), strict=True):
            if isinstance(step, ScaledBasis) and extent > 1:
                digit = f"{name} / {before} % {extent}" if before > 1 else f"{name} % {extent}"
                terms[step.mode[0]].append(digit if step.value == 1 else f"{digit} * {step.value}")
            before *= extent
    return " + ".join(terms[0]) or "0", " + ".join(terms[1]) or "0"


def _listed(value: object) -> tuple[Any, ...]:
    """Return the shape or stride of a flat layout as a tuple; with a single mode it is a number."""
    return value if isinstance(value, tuple) else (value,)
