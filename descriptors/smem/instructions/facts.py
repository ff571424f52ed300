"""What a row of the tables of instructions says: a fact, where it is published, and who disputes it.

The rows themselves are in ``tables``; ``rules`` says which of them count.

Invariant: ``spell`` loses nothing: the ranges that it names are the numbers, each once and in order.

>>> import re
>>> from descriptors.smem.instructions.tables import SHAPES
>>> def named(text):
...     found = [tuple(map(int, re.findall(r"\\d+", part))) for part in text.split(", ")]
...     return [n for low, *rest in found for n in (range(low, rest[0] + 1, rest[1]) if rest else (low,))]
>>> all(named(spell(row.n)) == list(row.n) for row in SHAPES)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from descriptors.smem.operands.operand import Major, SwizzleMode
from layoutalg.frozen import frozen


@frozen
class KindRow:
    """A family of instructions that share their types and shapes; ``wgmma`` has no ``.kind``, its names are ours.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: the PTX qualifier without ``.kind::``.
        dtypes: element types of A and B as they lie in shared memory.
        negate: whether A and B can be negated.
        saturate: whether the result can be clamped to its type's range.
        selectors: legal values of the instruction descriptor's sparsity selector; empty where it has none.
        ws: whether the weight-stationary form exists.
        targets: the ``.target`` values that have it.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
    """

    arch: str
    kind: str
    dtypes: tuple[str, ...]
    negate: bool
    saturate: bool
    selectors: tuple[int, ...]
    ws: bool
    targets: str
    source: str
    disputed: str = ""


@frozen
class TypeRow:
    """Element types that go together.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: as in ``KindRow``.
        a: types of A, as the instruction names them.
        b: types of B, any of them with any of ``a``.
        d: types of the accumulator.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
        wide: whether an instruction of more K than usual takes them too, where there is one.
    """

    arch: str
    kind: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    d: tuple[str, ...]
    source: str
    disputed: str = ""
    wide: bool = True


@frozen
class ShapeRow:
    """Extents M, N, K of one instruction, in elements; with ``cta_group`` 2 they are shared out over two CTAs.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: as in ``KindRow``.
        cta_group: CTAs that work on one instruction.
        m: legal M.
        n: legal N, with any of ``m``.
        k: K. A sparse instruction's counts the zeros that A does not store.
        sparse: whether A is stored without its zeros.
        ws: whether this is the weight-stationary form.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
        a_source: where A may lie: ``smem``, ``tmem`` (tensor memory) or ``rmem`` (registers).

    >>> print(ShapeRow("sm90", "f16", 1, (64,), tuple(range(8, 257, 8)), 16, False, False, "a book"))
    sm90 f16 dense, cta_group 1: M 64, N 8..256 step 8, K 16
    """

    arch: str
    kind: str
    cta_group: int
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: int
    sparse: bool
    ws: bool
    source: str
    disputed: str = ""
    a_source: tuple[str, ...] = ("smem", "tmem")

    def __str__(self) -> str:
        form = f"{'sparse' if self.sparse else 'dense'}{' .ws' if self.ws else ''}"
        extents = f"M {spell(self.m)}, N {spell(self.n)}, K {self.k}"
        place = f", A in {self.a_source[0]}" if len(self.a_source) == 1 else ""
        return f"{self.arch} {self.kind} {form}, cta_group {self.cta_group}: {extents}{place}"


@frozen
class TransposedRow:
    """N where B is an MN-major operand of 8-bit elements, on top of the rows of ``SHAPES``.

    Args:
        arch: ``sm100``.
        kind: as in ``KindRow``.
        cta_group: CTAs that work on one instruction.
        n: legal N.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
        m: values of M that have these N; empty if M does not matter.
        a_source: places of A that have these N.
        sparse: whether these N are those of sparse instructions; None if this does not matter.
    """

    arch: str
    kind: str
    cta_group: int
    n: tuple[int, ...]
    source: str
    disputed: str = ""
    m: tuple[int, ...] = ()
    a_source: tuple[str, ...] = ("smem", "tmem")
    sparse: bool | None = None


@frozen
class OperandRow:
    """Swizzles of an operand in shared memory.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: as in ``KindRow``.
        dtypes: element types as they lie in shared memory.
        major: the contiguous dimension.
        swizzles: legal swizzle modes.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
    """

    arch: str
    kind: str
    dtypes: tuple[str, ...]
    major: Major
    swizzles: tuple[SwizzleMode, ...]
    source: str
    disputed: str = ""


@frozen
class ScaleRow:
    """Scale factors of a block-scaled kind.

    Args:
        arch: ``sm100``.
        kind: as in ``KindRow``.
        dtype: type of a scale factor.
        vector: elements that share one, counted as they are stored (a sparse A without its zeros).
        name: PTX qualifier of that vector size (``1X``, ``2X``, ``4X``; with K 96 only ``block32``, ``block16``).
        ids: legal values of the two scale factor data ids.
        k: legal K, that of a dense instruction first.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
        factors: of a row that an instruction takes; 0 for one for each vector.
    """

    arch: str
    kind: str
    dtype: str
    vector: int
    name: str
    ids: tuple[int, ...]
    k: tuple[int, ...]
    source: str
    disputed: str = ""
    factors: int = 0

    def shared(self, k: int) -> int:
        """Elements that share a factor in an instruction of so much K, as it is stored."""
        return k // self.factors if self.factors else self.vector


@frozen
class CopyRow:
    """A shape of ``tcgen05.cp``, shared memory to tensor memory.

    Args:
        arch: ``sm100``.
        shape: the PTX qualifier.
        lanes: rows of tensor memory that one copy reads for.
        bits: bits a row.
        multicast: qualifiers of which one must be given; empty where none may be.
        source: where it is published.
        disputed: who says otherwise; empty where the sources agree.
    """

    arch: str
    shape: str
    lanes: int
    bits: int
    multicast: tuple[str, ...]
    source: str
    disputed: str = ""


#: Any row.
Row: TypeAlias = KindRow | TypeRow | ShapeRow | TransposedRow | OperandRow | ScaleRow | CopyRow


def spell(values: Iterable[int]) -> str:
    """Numbers in ascending order, runs of three or more with a common step written as one.

    >>> spell((8, 16, 24, 32, 48, 64, 80)), spell((64, 128, 256)), spell((64,))
    ('8..32 step 8, 48..80 step 16', '64, 128, 256', '64')
    """
    rest = list(values)
    parts: list[str] = []
    while rest:
        step = rest[1] - rest[0] if len(rest) > 1 else 0
        length = 1
        while length < len(rest) and rest[length] - rest[length - 1] == step:
            length += 1
        if length > 2:
            parts.append(f"{rest[0]}..{rest[length - 1]} step {step}")
        else:
            length = 1
            parts.append(str(rest[0]))
        rest = rest[length:]
    return ", ".join(parts)
