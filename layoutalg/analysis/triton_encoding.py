"""Encodings as Triton's IR prints them, read as CuTe's layouts.

Law: the tile of ``nvmma_shared`` is the one of the tensor map's swizzle, and its inverse Triton's own linear layout.

>>> tile = from_triton("#ttg.nvmma_shared<{swizzlingByteWidth = 32, elementBitWidth = 16}>", (8, 32))
>>> print(tile)
S<1,3,3> o 0 o ((8,1),(16,2)):((16,0),(1,128))
>>> from layoutalg import to_linear_layout
>>> linear = to_linear_layout(tile, ["dim0", "dim1"]).invert()
>>> bases = f"#ttg.shared_linear<{{offset = {[list(row) for _, rows in linear.bases for row in rows]}, block = []}}>"
>>> from_triton(bases)((5, 17)) == tile((5, 17))
True

Source: Triton ``include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td``; the tests compare with Triton 3.9.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import loads

from layoutalg.algebra.products import tile_to_shape
from layoutalg.analysis.linear_layout import LinearLayout, from_linear_layout
from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

_ENCODING = re.compile(r".*#(?:ttg|triton_gpu)\.(\w+)\s*<\s*\{(.*)\}.*", re.DOTALL)
#: Bytes of a row under each swizzle, and how many bits it moves.
_WIDTHS = {"0": 0, "32": 1, "64": 2, "128": 3}


def from_triton(text: str, shape: Sequence[int] | None = None) -> AnyLayout:
    """The layout of an encoding: of shared memory from coordinates to an offset in elements, else from (register, lane,
    warp, block) to an index into the tensor, first dimension fastest.

    Args:
        text: ``#ttg.nvmma_shared<{...}>``, ``#ttg.shared_linear<{...}>`` or ``#ttg.linear<{...}>``.
        shape: extents of the tensor in one CTA; of ``nvmma_shared``, which does not say it, two of them.

    Raises:
        LayoutError: if the text is none of these, or is not of that shape.

    >>> print(from_triton("#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [0, 2]], warp = [], block = []}>"))
    (2,(2,2),1,1):(2,(1,4),0,0)
    """
    match = _ENCODING.fullmatch(text) if isinstance(text, str) and len(text) < 1 << 14 else None
    kind, body = (match[1], match[2]) if match else ("", "")
    if shape is not None and not isinstance(shape, (tuple, list)):
        raise LayoutError(f"from_triton: the shape must be extents, found {safe_text(shape)}")
    if kind == "nvmma_shared":
        return _tensor_core_tile(dict(re.findall(r"(\w+)\s*=\s*(\w+)", body)), body, shape)
    if kind not in ("linear", "shared_linear"):
        raise LayoutError(
            "from_triton: must be #ttg.nvmma_shared<{...}>, #ttg.shared_linear<{...}> or #ttg.linear<{...}>, found "
            f"{safe_text(text)}; Triton writes any layout as the last two (toLinearEncoding)"
        )
    rows = {name: loads(bases) for name, bases in re.findall(r"(\w+)\s*=\s*(\[(?:\s*\[[\d\s,]*\][\s,]*)*\])", body)}
    ranks = {len(row) for bases in rows.values() for row in bases}
    if len(ranks) != 1 or (kind == "shared_linear" and any(rows.get("block", ()))):
        raise LayoutError(f"from_triton: must be bases of one rank, in one CTA, found {safe_text(text)}")
    names = [f"dim{i}" for i in range(ranks.pop())]
    sizes = names if shape is None else dict(zip(names, shape, strict=False))
    if kind == "linear":
        return from_linear_layout(LinearLayout(rows, sizes))
    return from_linear_layout(LinearLayout({"offset": rows.get("offset", [])}, sizes).invert())


def _tensor_core_tile(fields: dict[str, str], body: str, shape: Sequence[int] | None) -> AnyLayout:
    """The tile of ``nvmma_shared``: atoms of 8 rows, stacked along the rows first; whole rows without a swizzle."""
    width, bits = fields.get("swizzlingByteWidth", ""), fields.get("elementBitWidth", "16")
    ctas = re.search(r"CTAsPerCGA\s*=\s*\[([\d\s,]*)\]", body)
    several = ctas is not None and set(re.findall(r"\d+", ctas[1])) != {"1"}
    if width not in _WIDTHS or bits not in ("8", "16", "32") or fields.get("fp4Padded") == "true" or several:
        raise LayoutError(
            "from_triton: nvmma_shared must have swizzlingByteWidth 0, 32, 64 or 128, elementBitWidth 8, 16 or 32, one "
            f"CTA and no padding, found {safe_text(body)}"
        )
    if shape is None or len(shape) != 2:
        raise LayoutError(
            "from_triton: nvmma_shared does not say its shape: give two extents, found " + safe_text(shape)
        )
    extents = (as_int(shape[0], "from_triton: an extent"), as_int(shape[1], "from_triton: an extent"))
    if min(extents) < 1:
        raise LayoutError(f"from_triton: extents must be positive, found {extents}")
    turned, unit = fields.get("transposed") == "true", int(bits) // 8
    row = int(width) // unit or extents[0 if turned else 1]
    atom = Layout((row, 8), (1, row)) if turned else Layout((8, row), (row, 1))
    swizzled = ComposedLayout(Swizzle(_WIDTHS[width], 5 - unit.bit_length(), 3), 0, atom) if int(width) else atom
    return tile_to_shape(swizzled, extents, (1, 0) if turned else (0, 1))
