"""The scale factors of a main loop: their memory and copies in every stage, and the pointers of every K block.

They have columns of their own, written anew for each stage: a copy and the multiplication after it are carried out in
the order in which one thread issues them (PTX ISA 9.1, tcgen05, Implicitly Pipelined tcgen05 Instructions).

Law: the pointers of the K blocks name different bytes, and carry the ids that the instruction words have.

>>> from descriptors.plans.parts.asked import asked
>>> one = asked("m128n128k64", "e2m1", tile=(128, 128, 256), kind="mxf4")
>>> made = scales_of(one, columns=(128, 132))
>>> [(hex(a), hex(b)) for a, b in made.pointers][:2]
[('0x80', '0x84'), ('0x80000080', '0x80000084')]
"""

from __future__ import annotations

from dataclasses import dataclass

from descriptors.plans.parts.asked import MainLoop
from descriptors.scales.factors import ScaleFactors, scale_factors
from descriptors.scales.kinds import factors_of


@dataclass(frozen=True, slots=True)
class Scales:
    """The scale factors of both operands in one CTA.

    Args:
        dtype: their type.
        vector: elements that share one.
        qualifier: ``1X``, ``2X`` or ``4X``.
        a, b: their memory and copies, from address 0.
        columns: where they begin in tensor memory.
        pointers: what each K block is given, for A and for B.
        bases: where the first stage of each begins in shared memory, in bytes.
    """

    dtype: str
    vector: int
    qualifier: str
    a: ScaleFactors
    b: ScaleFactors
    columns: tuple[int, int]
    pointers: tuple[tuple[int, int], ...]
    bases: tuple[int, int] = (0, 0)

    @property
    def stage_bytes(self) -> int:
        """Shared memory of one stage of both, in bytes."""
        return self.a.bytes + self.b.bytes

    @property
    def halves(self) -> bool:
        """Whether the factors of the halves of N lie apart."""
        return self.b.copy != self.a.copy

    def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
        """Word and column of every ``tcgen05.cp`` of a stage, those of A first.

        >>> from descriptors.plans.parts.asked import asked
        >>> made = scales_of(asked("m128n128k64", "e2m1", tile=(128, 128, 256), kind="mxf4"), columns=(128, 136))
        >>> [(hex(word), column) for word, column in made.copies()][:2]
        [('0x400800010000', 128), ('0x400800010020', 132)]
        """
        found = []
        for factors, column, base in zip((self.a, self.b), self.columns, self.bases, strict=True):
            start = (base + stage * factors.bytes) // 16
            found += [(step.word + start, column + step.column) for step in factors.steps]
        return tuple(found)


def scales_of(one: MainLoop, *, columns: tuple[int, int]) -> Scales:
    """The scale factors that an instruction of a block-scaled kind needs for one stage.

    Args:
        one: the instruction and the tile, of a kind with scale factors.
        columns: where those of A and of B begin in tensor memory.

    Raises:
        DescriptorError: if they do not fit.
    """
    assert one.scale is not None
    dtype, vector, qualifier = factors_of(one.kind, *one.scale)
    (m, n, _), (_, _, k), step = one.tile, one.tile, one.extents[2]
    twofold = (one.cta_group, m) == (2, 128)
    a = scale_factors(m // one.cta_group, k, vector, step=step, of_64=twofold)
    b = scale_factors(n, k, vector, step=step, halves=twofold)
    pointers = tuple(
        (at_a.pointer(columns[0]), at_b.pointer(columns[1])) for at_a, at_b in zip(a.places, b.places, strict=True)
    )
    return Scales(dtype, vector, qualifier, a, b, columns, pointers)
