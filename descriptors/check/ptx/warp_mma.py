"""A ``mma.sync`` by its words: shape, layouts, types, kind, scale vector; and what they say of registers and selectors.

Source: PTX ISA 9.1, mma, mma.sp (block scaling, packing of types of 4 and 6 bits).

Law: of the kinds that pack elements of 4 bits two share a byte; of the others each has one.

>>> of = "mma.sync.aligned.m16n8k{}.row.col.kind::{}.f32.e2m1.e2m1.f32"
>>> [stored_bits(warp_mma(Instruction(1, of.format(*one), ()))) for one in ((32, "f8f6f4"), (64, "mxf4.block_scale"))]
[8, 4]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from descriptors.check.ptx.ptx_module import Instruction
from layoutalg.frozen import frozen

#: M, N and K.
Shape = tuple[int, int, int]
#: The one shape of quads of threads, with any layout.
QUAD = (8, 8, 4)
#: Bytes of a register of scale factors from which they may be taken.
BYTE_IDS: Mapping[str, tuple[int, ...]] = {"1X": (0, 1, 2, 3), "2X": (0, 2), "4X": (0,)}

#: A word that is a shape.
SHAPE = re.compile(r"m(\d{1,3})n(\d{1,3})k(\d{1,3})\Z")
#: Bits of the types of A and B, where each element has its own.
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s4": 4, "u4": 4, "b1": 1}
_BITS |= dict.fromkeys(("s8", "u8", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), 8)
#: Words that are types.
TYPES = frozenset({*_BITS, "f32", "s32", "ue8m0", "ue4m3", "ue5m3"})


@frozen
class WarpMma:
    """A ``mma.sync``, its words by what they say.

    Args:
        shape: M, N, K.
        layouts: of A and B.
        types: of D, A, B, C, and of a scale factor.
        kind: without ``kind::``; "" without one.
        scale_vector: without ``scale_vec::``; "" without one.
        sparse: ``sp``, ``sp::ordered_metadata`` or "".
        words: all qualifiers.
    """

    shape: Shape
    layouts: tuple[str, ...]
    types: tuple[str, ...]
    kind: str
    scale_vector: str
    sparse: str
    words: tuple[str, ...]

    @property
    def scaled(self) -> bool:
        """Whether it has scale factors."""
        return "block_scale" in self.words


def warp_mma(one: Instruction) -> WarpMma | None:
    """The words of a ``mma.sync``; None for one without a shape.

    >>> warp_mma(Instruction(1, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ())).types
    ('f32', 'f16', 'f16', 'f32')
    """
    words = one.qualifiers[1:]
    shape = next((found for word in words if (found := SHAPE.match(word))), None)
    if shape is None:
        return None
    named = dict(word.split("::", 1) for word in words if "::" in word)
    return WarpMma(
        (int(shape[1]), int(shape[2]), int(shape[3])),
        tuple(word for word in words if word in ("row", "col")),
        tuple(word for word in words if word in TYPES),
        named.get("kind", ""),
        named.get("scale_vec", ""),
        words[0] if words[0].startswith("sp") else "",
        words,
    )


def stored_bits(view: WarpMma) -> int:
    """Bits of an element of A and B as registers hold it; 0 of the shape that quads of threads multiply alone."""
    if len(view.types) < 4 or (view.shape == QUAD and "f64" not in view.types):
        return 0
    return 4 if view.kind.startswith("mxf4") else _BITS.get(view.types[1], 0)


def selectors_of(view: WarpMma) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """The byte-ids and thread-ids that the scale factors of A may have, and those of B."""
    name = view.scale_vector or ("1X" if view.kind == "mxf8f6f4" else "2X")
    return (BYTE_IDS.get(name, ()), (0, 1)), (BYTE_IDS.get(name, ()), (0, 1, 2, 3))
