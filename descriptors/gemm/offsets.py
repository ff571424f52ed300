r"""Where a thread finds an element of a stage, as an expression of C: for operands that threads load, and not a word.

Law: the expression, read as C does, is the layout of the tile at every element, in bytes.

>>> from descriptors.plans.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, a_source="registers", verify=False)
>>> import re
>>> at, turned = (re.sub(r"(\d)u", r"\1", one).replace("/", "//") for one in byte_offset(made.a.derivation))
>>> def found(row, column):
...     return eval(turned, {"at": eval(at, {"row": row, "column": column})})
>>> tile = made.a.derivation.smem_tile
>>> all(found(m, k) == 2 * tile(m, k, 0) for m in range(64) for k in range(64))
True
"""

from __future__ import annotations

from descriptors.derivation.derivation import Derivation
from descriptors.emitters.recipe import Term
from layoutalg import ComposedLayout, Layout, Swizzle, coalesce, flatten, size


def byte_offset(d: Derivation) -> tuple[str, str]:
    """Two expressions: ``at`` in ``row`` and ``column`` without the swizzle, and the byte in ``at`` with it.

    A row is one along M or N, a column one along K; bytes are counted from the start of the stage.

    Args:
        d: the operand, of elements of whole bytes.

    >>> from descriptors import derive
    >>> byte_offset(derive((64, 64), "bf16", "K", "128B", (64, 16), arch="sm90"))
    ('row * 128u + column * 2u', 'at ^ ((at & 0x380u) >> 3u)')
    """
    tile, width = d.smem_tile, d.element.storage_bits // 8
    plain = tile.inner if isinstance(tile, ComposedLayout) else tile
    assert isinstance(plain, Layout)
    terms = [
        term.spell("/", "u")
        for name, mode in zip(("row", "column"), tuple(plain)[:2], strict=True)
        for term in _terms(mode, name, width)
    ]
    at = " + ".join(terms) or "0u"
    if not isinstance(tile, ComposedLayout) or not isinstance(tile.outer, Swizzle):
        return at, "at"
    swizzle = tile.outer
    low = swizzle.base + width.bit_length() - 1
    mask = ((1 << swizzle.bits) - 1) << (low + swizzle.shift)
    return at, f"at ^ ((at & {mask:#x}u) >> {swizzle.shift}u)"


def _terms(mode: Layout, name: str, width: int) -> list[Term]:
    leaves = [(size(leaf), leaf(1)) for leaf in flatten(coalesce(mode)) if size(leaf) > 1]
    found, divisor = [], 1
    for i, (extent, stride) in enumerate(leaves):
        assert isinstance(stride, int)
        found.append(Term(name, divisor, extent if i + 1 < len(leaves) else None, stride * width))
        divisor *= extent
    return found
