"""The qualifiers of an ``mma.sync``: shape, layouts, types, kind and scale vector, and the selectors that they allow.

Source: PTX ISA 9.1, mma, mma.sp (block scaling, packing of types of 4 and 6 bits).

Invariant: with kinds that pack elements of 4 bits, two elements share a byte; with others, each has its own.

>>> template = "mma.sync.aligned.m16n8k{}.row.col.kind::{}.f32.e2m1.e2m1.f32"
>>> opcodes = [template.format(*parts) for parts in ((32, "f8f6f4"), (64, "mxf4.block_scale"))]
>>> [stored_bits(warp_mma(Instruction(1, opcode, ()))) for opcode in opcodes]
[8, 4]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from descriptors.check.ptx.ptx_module import Instruction
from layoutalg.frozen import frozen

#: M, N and K.
Shape = tuple[int, int, int]
#: The only shape of groups of four threads, with any layout.
QUAD = (8, 8, 4)
#: Bytes of a register that may have the scale factors, by scale vector.
BYTE_IDS: Mapping[str, tuple[int, ...]] = {"1X": (0, 1, 2, 3), "2X": (0, 2), "4X": (0,)}

#: The pattern of a shape.
SHAPE = re.compile(r"m(\d{1,3})n(\d{1,3})k(\d{1,3})\Z")
#: Bits per element of the types of A and B if elements are not packed.
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s4": 4, "u4": 4, "b1": 1}
_BITS |= dict.fromkeys(("s8", "u8", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), 8)
#: The qualifiers that are types.
TYPES = frozenset({*_BITS, "f32", "s32", "ue8m0", "ue4m3", "ue5m3"})


@frozen
class WarpMma:
    """The qualifiers of an ``mma.sync`` by their meaning.

    Args:
        shape: M, N, K.
        layouts: layouts of A and B.
        types: types of D, A, B, C, and of a scale factor.
        kind: the kind without ``kind::``; "" if there is none.
        scale_vector: the scale vector without ``scale_vec::``; "" if there is none.
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


def warp_mma(instruction: Instruction) -> WarpMma | None:
    """Parse the qualifiers of an ``mma.sync``; None if it has no shape.

    >>> warp_mma(Instruction(1, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ())).types
    ('f32', 'f16', 'f16', 'f32')
    """
    words = instruction.qualifiers[1:]
    shape = next((match for word in words if (match := SHAPE.match(word))), None)
    if shape is None:
        return None
    parts = dict(word.split("::", 1) for word in words if "::" in word)
    return WarpMma(
        (int(shape[1]), int(shape[2]), int(shape[3])),
        tuple(word for word in words if word in ("row", "col")),
        tuple(word for word in words if word in TYPES),
        parts.get("kind", ""),
        parts.get("scale_vec", ""),
        words[0] if words[0].startswith("sp") else "",
        words,
    )


def stored_bits(view: WarpMma) -> int:
    """Return the bits per element of A and B in registers; 0 for the shape of groups of four threads."""
    if len(view.types) < 4 or (view.shape == QUAD and "f64" not in view.types):
        return 0
    return 4 if view.kind.startswith("mxf4") else _BITS.get(view.types[1], 0)


def selectors_of(view: WarpMma) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return the legal byte-ids and thread-ids of the scale factors of A, and those of B."""
    name = view.scale_vector or ("1X" if view.kind == "mxf8f6f4" else "2X")
    return (BYTE_IDS.get(name, ()), (0, 1)), (BYTE_IDS.get(name, ()), (0, 1, 2, 3))
