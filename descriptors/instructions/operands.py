"""Checks of what lies in shared memory against the rows of ``tables``: operands, and ``tcgen05.cp``.

The three ways of reading the rows, and the errors, are those of ``descriptors.instructions.checks``.

Law: an operand that is legal strictly has a canonical form, in which the hardware reads it as a whole.

>>> from contextlib import suppress
>>> from itertools import product
>>> from descriptors.matching.forms import form
>>> for row, name in ((row, name) for row in tables.KINDS if row.kind != "b1" for name in row.dtypes):
...     for major, mode in product(Major, SwizzleMode):
...         with suppress(IllegalError):
...             row_of_it = check_operand(row.arch, row.kind, name, major, mode)
...             assert mode in row_of_it.swizzles and form(major, mode).mode is mode
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from descriptors.errors import DescriptorError, brief
from descriptors.instructions import tables
from descriptors.instructions.rows import CopyRow, OperandRow, ShapeRow, spell
from descriptors.instructions.rules import (
    IllegalError,
    Legality,
    as_mode,
    decide,
    kind_of,
    kind_row,
    rows_read,
    type_name,
)
from descriptors.operands.operand import ElementType, Major, SwizzleMode, as_major, as_swizzle_mode, choose

#: Why wgmma reads no MN-major operand of other types, and the ways out. Sources: PTX ISA, wgmma.mma_async, imm-trans-a
#: and imm-trans-b, which only the forms with .f16 and .bf16 operands have; FlashAttention-3 and CUTLASS for what
#: kernels do instead (docs/sources.md).
_NO_TRANSPOSE = (
    ": wgmma has transpose bits for 16-bit types only; store the tile K-major: transpose it in registers on its way "
    "into shared memory{by}, or keep a K-major copy in global memory, or use a 16-bit type"
)
#: How 8-bit elements, which ``ldmatrix`` moves in pairs, are turned.
_BY_PAIRS = " (ldmatrix.trans, a byte permute, stmatrix)"


def check_operand(
    arch: str,
    kind: str,
    dtype: str | ElementType,
    major: Major | str,
    swizzle: SwizzleMode | str,
    *,
    legality: Legality = "strict",
) -> OperandRow | None:
    """Check an operand in shared memory: its type, major and swizzle.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: as in ``KindRow``.
        dtype: as it lies in shared memory: ``e2m1`` is packed, ``e2m1_unpacksmem`` in containers.
        major: K or MN.
        swizzle: the swizzle mode.
        legality: how to read the rows.

    Raises:
        IllegalError: if the instruction cannot read such an operand.
        ChoiceError: for an unknown name.

    >>> print(check_operand("sm100", "tf32", "tf32", "MN", "128B_BASE32B").swizzles[0])
    128B_BASE32B
    """
    known = kind_row(arch, kind)
    major, swizzle, name = as_major(major), as_swizzle_mode(swizzle), str(dtype).casefold()
    about = f"{arch} {kind}"
    if as_mode(legality) != "off" and name not in known.dtypes:
        raise IllegalError(f"dtype must be {', '.join(known.dtypes)}", name, about, known)
    rows = [row for row in tables.OPERANDS if (row.arch, row.kind) == (arch, kind) and name in row.dtypes]
    majors = sorted({str(row.major) for row in rows_read(rows, legality)})
    if str(major) not in majors:
        rule, found, about = f"major must be {', '.join(majors)}", str(major), f"{about} {name}"
        if arch == "sm90" and major is Major.MN:
            about += _NO_TRANSPOSE.format(by="" if name == "tf32" else _BY_PAIRS)
        elif major is Major.MN:
            about += ": the kind has no transpose bit; store the tile K-major"
    else:
        modes = [str(mode) for row in rows_read(rows, legality) if row.major is major for mode in row.swizzles]
        rule, found, about = f"swizzle must be {', '.join(modes)}", str(swizzle), f"{about} {name} {major}-major"
    return decide(rows, lambda row: row.major is major and swizzle in row.swizzles, rule, found, about, legality)


def check_major(
    arch: str, kind: str, dtype: str, major: Major, *, a_source: str = "smem", legality: Legality = "strict"
) -> OperandRow | None:
    """Check that an operand may have this major, whatever its swizzle.

    Args:
        arch: ``sm90`` or ``sm100``.
        kind: as in ``KindRow``.
        dtype: as the instruction names it.
        major: K or MN.
        a_source: where the operand lies, if it is A: ``smem`` or ``tmem``.
        legality: how to read the rows.

    Raises:
        IllegalError: if the kind has no such operand.

    >>> print(check_major("sm100", "f16", "bf16", Major.MN).major)
    MN
    """
    kind_row(arch, kind)
    choose("legality: a_source", a_source, tables.A_SOURCES)
    held = tables.TMEM_OPERANDS if a_source == "tmem" else tables.OPERANDS
    rows = [row for row in held if (row.arch, row.kind) == (arch, kind)]
    rows = [row for row in rows if type_name(dtype) in map(type_name, row.dtypes)]
    if not rows:  # no operand of this type at all is for check_types to say
        return None
    majors = sorted({str(row.major) for row in rows_read(rows, legality)})
    rule, about = f"major must be {', '.join(majors)}", f"{arch} {kind} {dtype}"
    about += ", A in tmem" if a_source == "tmem" else ""
    return decide(rows, lambda row: row.major is major, rule, str(major), about, legality)


def check_operand_tile(
    arch: str,
    dtype: str | ElementType,
    major: Major | str,
    swizzle: SwizzleMode | str,
    extents: tuple[int, int],
    *,
    kind: str | None = None,
    matrix: Literal["A", "B"] | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    legality: Legality = "strict",
) -> ShapeRow | None:
    """Check what one instruction reads of an operand in one CTA's shared memory.

    With ``cta_group`` 2 a CTA holds half of M and half of N; a sparse A lies there without its zeros, K/2 wide.

    Args:
        arch: ``sm90`` or ``sm100``.
        dtype: element type as it lies in shared memory.
        major: K or MN.
        swizzle: the swizzle mode.
        extents: MN and K that are read, in elements.
        kind: as in ``KindRow``; found from the type if left out.
        matrix: ``"A"`` or ``"B"``; either if left out.
        cta_group: 1 or 2; either if left out.
        sparse: whether the instruction is a sparse one.
        legality: how to read the rows.

    Raises:
        IllegalError: if no instruction reads such an operand.
        ChoiceError: for an unknown name.

    >>> print(check_operand_tile("sm100", "bf16", "K", "128B", (64, 16)))
    sm100 f16 dense, cta_group 1: M 64, N 8..256 step 8, K 16
    """
    if as_mode(legality) == "off":
        return None
    kind = kind or kind_of(arch, dtype)
    check_operand(arch, kind, dtype, major, swizzle, legality=legality)
    rows = [row for row in tables.SHAPES if (row.arch, row.kind, row.sparse) == (arch, kind, bool(sparse))]
    # With A elsewhere no B is read that would not be with A in shared memory.
    rows = [row for row in rows if cta_group in (None, row.cta_group) and "smem" in row.a_source]
    if not rows:
        why = ", whose instructions have one CTA each" if arch == "sm90" else ""
        raise IllegalError("cta_group must be 1", cta_group, f"{arch} {kind}{why}", kind_row(arch, kind))
    matrices = ("A", "B") if matrix is None else (matrix,)

    def reads(row: ShapeRow, mn: int = extents[0], k: int = extents[1]) -> bool:
        return any(mn in legal and k == whole for legal, whole in (_held(row, one) for one in matrices))

    read = rows_read(rows, legality)
    for row in read:
        if reads(row):
            return row
    told = []  # the wording of a refusal takes longer than the check
    for one in matrices:
        held = [_held(row, one) for row in read]
        mn, k = sorted({value for values, _ in held for value in values}), sorted({k for _, k in held})
        told.append(f"{spell(mn)} by {spell(k)} ({one})")
    about = f"{arch} {kind} {'sparse' if sparse else 'dense'}"
    about += "" if arch == "sm90" else f", cta_group {cta_group or '1 or 2'}"
    turned = any(reads(row, extents[1], extents[0]) for row in read)
    about += f"; an operand is MN x K: if you wrote K x MN, give {extents[1]}x{extents[0]}" if turned else ""
    if cta_group == 2 and extents[0] % 2 == 0 and any(reads(row, extents[0] // 2) for row in read):
        about += f"; each CTA of two holds half of it, give {extents[0] // 2}x{extents[1]}"
    rule = f"an operand must be {' or '.join(told)}"
    return decide(rows, reads, rule, f"{brief(extents[0])} by {brief(extents[1])}", about, legality)


def _held(row: ShapeRow, matrix: str) -> tuple[Sequence[int], int]:
    """MN and K of an operand in one CTA's shared memory."""
    if matrix == "A":
        return [m // row.cta_group for m in row.m], row.k // (1 + row.sparse)
    return [n // row.cta_group for n in row.n], row.k


def check_copy(shape: str, multicast: str | None = None, *, legality: Legality = "strict") -> CopyRow | None:
    """Check a shape of ``tcgen05.cp`` and its multicast qualifier, both without the leading dot.

    Raises:
        IllegalError: if the shape does not go with the qualifier.
        ChoiceError: for an unknown shape.

    >>> check_copy("32x128b", "warpx4").lanes
    32
    """
    known = {row.shape: row for row in tables.COPIES}
    row = choose("legality: shape of tcgen05.cp", shape, known)
    if not isinstance(multicast, str | None):
        raise DescriptorError(f"legality: multicast must be a qualifier, found {brief(multicast)}")
    legal = row.multicast or (None,)
    names = " or ".join(str(one or "absent") for one in legal)
    rule = f"multicast must be {names}"
    return decide([row], lambda _: multicast in legal, rule, multicast or "none", f"tcgen05.cp.{row.shape}", legality)
