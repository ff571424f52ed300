"""Checks against the rows of ``tables``: of an instruction, of its operands in shared memory, and of ``tcgen05.cp``.

Each check returns the row that allows what it was asked, or raises ``IllegalError`` that cites the nearest row. Three
ways of reading the rows: ``"strict"`` takes what every source allows, ``"lenient"`` the widest reading of any source,
and ``"off"`` checks nothing.

Invariant: an operand that is legal strictly has a canonical form, in which the hardware reads it as a whole.

>>> from contextlib import suppress
>>> from itertools import product
>>> from descriptors.smem.operands.forms import form
>>> for row, name in ((row, name) for row in tables.KINDS if row.kind != "b1" for name in row.dtypes):
...     for major, mode in product(Major, SwizzleMode):
...         with suppress(IllegalError):
...             row_of_it = check_operand(row.arch, row.kind, name, major, mode)
...             assert mode in row_of_it.swizzles and form(major, mode).mode is mode

Invariant: whatever passes strictly passes leniently, and whatever passes leniently passes with checks off.

>>> passed = {mode: set() for mode in ("strict", "lenient", "off")}
>>> for mode, n in ((mode, n) for mode in passed for n in range(8, 265, 8)):
...     with suppress(IllegalError):
...         passed[mode] |= {n} if check_shape("sm100", "f16", m=128, n=n, legality=mode) or mode == "off" else set()
>>> set() < passed["strict"] <= passed["lenient"] < passed["off"]
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from descriptors.errors import Advice, DescriptorError, as_flag, as_integer, brief, proposing
from descriptors.smem.instructions import tables
from descriptors.smem.instructions.facts import CopyRow, OperandRow, ScaleRow, ShapeRow, TransposedRow, TypeRow, spell
from descriptors.smem.instructions.rules import (
    IllegalError,
    Legality,
    as_arch,
    as_mode,
    check_target_k,
    decide,
    dense_k,
    kind_of,
    kind_row,
    rows_of,
    rows_read,
    type_name,
)
from descriptors.smem.operands.atoms import turned
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    SwizzleMode,
    as_element_type,
    as_major,
    as_swizzle_mode,
    choose,
)
from descriptors.smem.proof.addresses import evidence, unread
from descriptors.targets import generation, has_tcgen05, has_wgmma
from descriptors.text import extents_text


def check_types(
    arch: str,
    kind: str,
    a: str | ElementType,
    b: str | ElementType,
    d: str,
    *,
    wide: bool = False,
    legality: Legality = "strict",
) -> TypeRow | None:
    """Check the element types of A, B and the accumulator D.

    Args:
        arch, kind: of the instruction.
        a, b, d: the types.
        wide: whether the instruction has more K than usual: f8f6f4 of sm107 with K 64 takes fewer types.
        legality: how to read the rows.

    Raises:
        IllegalError: if the kind does not take them together.
        ChoiceError: for an unknown architecture, kind or way of reading.

    >>> check_types("sm100", "f8f6f4", "e4m3", "e2m1", "f32").d
    ('f16', 'f32')
    """
    arch = kind_row(arch, kind).arch
    names = (type_name(a), type_name(b), type_name(d))
    rows: list[TypeRow] = rows_of("TYPES", arch, kind)
    if as_flag(wide, "legality: wide"):
        rows = [row for row in rows if row.wide] or rows
    legality = as_mode(legality)

    def allows(row: TypeRow) -> bool:
        return names[0] in row.a and names[1] in row.b and names[2] in row.d

    rule = " or ".join(
        f"{', '.join(row.a)} by {', '.join(row.b)} into {', '.join(row.d)}" for row in rows_read(rows, legality)
    )
    return decide(rows, allows, f"types must be {rule}", "{} by {} into {}".format(*names), f"{arch} {kind}", legality)


def check_shape(
    arch: str,
    kind: str,
    *,
    m: int,
    n: int,
    k: int | None = None,
    cta_group: int = 1,
    sparse: bool = False,
    ws: bool = False,
    a_source: str = "smem",
    legality: Legality = "strict",
) -> ShapeRow | None:
    """Check the extents of an instruction.

    Args:
        arch: ``sm90``, ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
        kind: as in ``KindRow``.
        m: M of the whole instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the whole instruction.
        k: K; if left out, what the kind has by default (K = 96 must be asked for).
        cta_group: 1 or 2.
        sparse: whether A is stored without its zeros; K then counts them all the same.
        ws: whether the weight-stationary form is meant.
        a_source: where A lies: ``smem``, ``tmem`` (sm100) or ``rmem`` (sm90).
        legality: how to read the rows.

    Raises:
        IllegalError: if there is no such instruction.
        ChoiceError: for an unknown architecture, kind, place of A or way of reading.

    >>> print(check_shape("sm100", "mxf4", m=256, n=256, cta_group=2))
    sm100 mxf4 dense, cta_group 2: M 128, 256, N 16..256 step 16, K 64
    >>> print(check_shape("sm100", "f16", m=128, n=48, a_source="tmem"))
    sm100 f16 dense, cta_group 1: M 128, N 16..256 step 16, K 16, A in tmem
    """
    legality = as_mode(legality)
    refused = shape_refusals(
        arch, kind, m=m, n=n, k=k, cta_group=cta_group, sparse=sparse, ws=ws, a_source=a_source, legality=legality
    )
    for error in refused:
        raise error
    if legality == "off":
        return None
    arch = as_arch(arch)
    k = dense_k(arch, kind) * (1 + bool(sparse)) if k is None else k
    rows: list[ShapeRow] = [row for row in rows_of("SHAPES", arch, kind) if a_source in row.a_source]
    rows = [row for row in rows_read(rows, legality) if (row.sparse, row.ws) == (bool(sparse), bool(ws))]
    return next(row for row in rows if row.cta_group == cta_group and row.k == k and m in row.m and n in row.n)


def shape_refusals(
    arch: str,
    kind: str,
    *,
    m: int,
    n: int,
    k: int | None = None,
    cta_group: int = 1,
    sparse: bool = False,
    ws: bool = False,
    a_source: str = "smem",
    legality: Legality = "strict",
) -> list[IllegalError]:
    """Every extent of an instruction that is illegal beside those before it: cta_group, M, K, N; none of a legal one.

    Args:
        arch, kind, m, n, k, cta_group, sparse, ws, a_source, legality: as in ``check_shape``.

    Raises:
        ChoiceError: for an unknown architecture, kind, place of A or way of reading.

    >>> [error.rule.partition(" must")[0] for error in shape_refusals("sm100", "f16", m=48, n=20)]
    ['M', 'N']
    """
    nearest, arch = kind_row(arch, kind), as_arch(arch)
    place = choose("legality: a_source", a_source, tables.A_SOURCES)
    sparse, ws = as_flag(sparse, "legality: sparse"), as_flag(ws, "legality: ws")
    if k is None:
        k = dense_k(arch, kind) * (1 + sparse)
    about = f"{arch} {kind} {'sparse' if sparse else 'dense'}{' .ws' if ws else ''}"
    rows: list[ShapeRow] = rows_of("SHAPES", arch, kind)
    rows = [row for row in rows if row.sparse == sparse and row.ws == ws]
    legality = as_mode(legality)
    if not rows and legality != "off":
        return [IllegalError("the form must exist", "sparse" if sparse and not ws else ".ws", about, nearest)]
    rows_with_a = [row for row in rows if place in row.a_source]
    if not rows_with_a and legality != "off":
        return [IllegalError(f"A must lie in {' or '.join(rows[0].a_source)}", place, about, rows[0])]
    about += f", A in {place}" if place != "smem" else ""
    extents = {"cta_group": cta_group, "M": m, "K": k, "N": n}
    for what, value in extents.items():
        as_integer(value, f"legality: {what}")
    return [] if legality == "off" else list(_narrow(rows_with_a, extents, about, legality))


def check_extents(
    arch: str,
    kind: str,
    extents: tuple[int, int, int],
    *,
    cta_group: int = 1,
    sparse: bool = False,
    ws: bool = False,
    a_source: str = "smem",
    legality: Legality = "strict",
    advise: Callable[[tuple[int, int, int]], Advice] | None = None,
) -> ShapeRow | None:
    """Check M, N and K of an instruction that a person named; a refusal names the nearest legal ones.

    Args:
        arch, kind, cta_group, sparse, ws, a_source, legality: as in ``check_shape``.
        extents: M, N and K.
        advise: returns the changed arguments for a nearest shape; no changes are proposed if left out.

    Raises:
        IllegalError: if there is no such instruction.

    >>> check_extents("sm90", "f16", (64, 44, 16))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    descriptors.smem.instructions.rules.IllegalError: legality: N must be 8..256 step 8, not 44; sm90 f16 dense, M 64,
    K 16; the nearest shapes are m64n40k16, m64n48k16 (PTX ISA ...
    """
    m, n, k = extents
    check_target_k(arch, kind, k)
    try:
        return check_shape(
            arch, kind, m=m, n=n, k=k, cta_group=cta_group, sparse=sparse, ws=ws, a_source=a_source, legality=legality
        )
    except IllegalError as error:
        near = nearest_extents(arch, kind, extents, cta_group, legality, sparse, ws)
        names = ", ".join("m{}n{}k{}".format(*shape) for shape in near)
        before, opening, source = error.args[0].partition(" (")
        if k == dense_k(arch, kind) * (2 - sparse):
            before += f"; {'dense' if sparse else 'sparse'} instructions have K {k}"
        nearest_text = f"the nearest shapes are {names}" if len(near) > 1 else f"the nearest shape is {names}"
        error.args = (f"{before}; {nearest_text}{opening}{source}" if names else error.args[0],)
        if advise is not None:
            error.proposals += (Advice({"sparse": not sparse}), *map(advise, near))
        raise


def nearest_extents(
    arch: str,
    kind: str,
    extents: tuple[int, int, int],
    cta_group: int,
    legality: Legality = "strict",
    sparse: bool = False,
    ws: bool = False,
) -> list[tuple[int, int, int]]:
    """Return the legal shapes that differ least from one that is not: first in K, then M, then N; at most two.

    >>> nearest_extents("sm90", "f16", (128, 128, 16), 1)
    [(64, 128, 16)]
    """
    rows: list[ShapeRow] = [row for row in rows_of("SHAPES", arch, kind) if row.cta_group == cta_group]
    rows = [row for row in rows if row.sparse == sparse and row.ws == ws]
    usual = dense_k(arch, kind) * (1 + sparse)
    whole = extents[2] if any(row.k == extents[2] for row in rows_read(rows, legality)) else usual
    rows = [row for row in rows if row.k == whole]
    known = {(m, n, row.k) for row in rows_read(rows, legality) for m in row.m for n in row.n}
    distances = {shape: (abs(shape[0] - extents[0]), abs(shape[1] - extents[1])) for shape in known}
    least = min(distances.values(), default=(0, 0))
    return sorted(shape for shape in known if distances[shape] == least)[:2]


def _narrow(rows: list[ShapeRow], extents: dict[str, int], about: str, legality: Legality) -> Iterator[IllegalError]:
    """Take the extents one after the other; one that leaves no row is to blame, and the next are held against all."""
    allowed: dict[str, Callable[[ShapeRow], tuple[int, ...]]] = {
        "cta_group": lambda row: (row.cta_group,),
        "M": lambda row: row.m,
        "K": lambda row: (row.k,),
        "N": lambda row: row.n,
    }
    wider = next((row for row in rows if all(extents[what] in values(row) for what, values in allowed.items())), None)
    readable = rows = rows_read(rows, legality)
    for what, values in allowed.items():
        legal = sorted({value for row in rows for value in values(row)})
        left = [row for row in rows if extents[what] in values(row)]
        if not left:
            yield IllegalError(
                f"{what} must be {spell(legal)}",
                extents[what],
                about + _other_group(readable, what, extents),
                rows[0],
                wider,
            )
            continue
        rows = left
        if (what, generation(rows[0].arch)) != ("cta_group", "sm90"):  # a word of tcgen05
            about += f", {what} {extents[what]}"


def _other_group(rows: list[ShapeRow], what: str, extents: dict[str, int]) -> str:
    """The way out where an extent is that of a pair of CTAs, or of one."""
    other = 3 - extents["cta_group"]
    takes = what == "M" and any(row.cta_group == other and extents["M"] in row.m for row in rows)
    return f"; cta_group {other} has M {extents['M']}" if takes else ""


def check_transposed_b(
    arch: str,
    kind: str,
    *,
    n: int,
    b_dtype: str | ElementType,
    b_major: Major | str,
    cta_group: int = 1,
    m: int | None = None,
    a_source: str = "smem",
    sparse: bool = False,
    legality: Legality = "strict",
) -> None:
    """Check the further bound on N where B has 8-bit elements and is MN-major.

    Args:
        arch, kind, n, cta_group, m, a_source, sparse, legality: as in ``check_shape``; without M, rows of any M count.
        b_dtype, b_major: element type and contiguous dimension of B.

    Raises:
        IllegalError: if N breaks it.

    >>> check_transposed_b("sm100", "f8f6f4", n=16, b_dtype="e4m3", b_major="MN")
    """
    arch = kind_row(arch, kind).arch
    bits8 = type_name(b_dtype) in ("e4m3", "e5m2", "s8", "u8")
    legality = as_mode(legality)
    if legality == "off" or as_major(b_major) is Major.K or not bits8:
        return
    n, cta_group = as_integer(n, "legality: N"), as_integer(cta_group, "legality: cta_group")
    rows: list[TransposedRow] = [row for row in rows_of("TRANSPOSED_B", arch, kind) if row.cta_group == cta_group]
    rows = [row for row in rows if a_source in row.a_source and row.sparse in (None, sparse)]
    rows = [row for row in rows if m is None or not row.m or m in row.m]
    if rows:
        about = f"{arch} {kind}, cta_group {cta_group}, B MN-major of 8-bit elements"
        rule = f"N must be {spell(sorted({one for row in rows_read(rows, legality) for one in row.n}))}"
        decide(rows, lambda row: n in row.n, rule, n, about, legality)


def check_scale(
    kind: str,
    dtype: str,
    vector: int,
    *,
    k: int,
    ids: tuple[int, int] = (0, 0),
    legality: Legality = "strict",
    arch: str = "sm100",
) -> ScaleRow | None:
    """Check the scale factors of a block-scaled kind.

    Args:
        kind: ``mxf8f6f4``, ``mxf4`` or ``mxf4nvf4``.
        dtype: ``ue8m0``, ``ue4m3`` or ``ue5m3``.
        vector: elements that share a factor: 16 or 32; 64 of mxf8f6f4 with K 64, where one source has one factor a row.
        k: K of the instruction.
        ids: scale factor data ids of A and of B.
        legality: how to read the rows.
        arch: the architecture.

    Raises:
        IllegalError: if the kind has no such factors.
        ChoiceError: for a kind that the architecture does not have.

    >>> check_scale("mxf4nvf4", "ue4m3", 16, k=64).name
    '4X'
    """
    of_kind = kind_row(arch, kind)
    k, vector = as_integer(k, "legality: K"), as_integer(vector, "legality: the scale vector")
    about, name = f"{of_kind.arch} {kind}, K {k}", type_name(dtype)
    rows: list[ScaleRow] = [row for row in rows_of("SCALES", of_kind.arch, of_kind.kind) if k in row.k]
    legality = as_mode(legality)
    if not rows:
        if legality == "off":
            return None
        raise IllegalError("the kind must have scale factors", f"{name} by {vector}", about, of_kind)
    pairs = [f"{row.dtype} by {row.vector}" for row in rows_read(rows, legality)]
    rule = f"scale factors must be {', '.join(dict.fromkeys(pairs))}"

    def has(row: ScaleRow) -> bool:
        return row.dtype == name and vector in (row.vector, 64 if row.factors else row.vector)

    decide(rows, has, rule, f"{name} by {vector}", about, legality)
    rows = [row for row in rows if has(row)] or rows
    legal = max((row.ids for row in rows_read(rows, legality)), key=len)
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:
        raise DescriptorError(f"legality: scale factor ids must be those of A and of B, found {brief(ids)}")
    ids = as_integer(ids[0], "legality: a scale factor id"), as_integer(ids[1], "legality: a scale factor id")
    rule, pair = f"scale factor ids must be {spell(legal)}", f"{ids[0]} and {ids[1]}"
    return decide(rows, lambda row: set(ids) <= set(row.ids), rule, pair, f"{about}, {name} by {vector}", legality)


def usual_vector(kind: str, dtype: str | None = None, *, k: int | None = None, arch: str = "sm100") -> int:
    """Return the elements that share a scale factor of a block-scaled kind if the caller does not say it.

    Args:
        kind: ``mxf8f6f4``, ``mxf4`` or ``mxf4nvf4``.
        dtype: type of the scale factors; the usual one of the kind if left out.
        k: K of the instruction, as A and B store it; what the kind usually has if left out.
        arch: the architecture.

    >>> [usual_vector("mxf4nvf4", dtype) for dtype in (None, "ue4m3", "ue8m0")]
    [16, 16, 32]
    """
    if dtype is None and kind == "mxf4nvf4":
        return 16
    depth = dense_k(arch, kind) if k is None else k
    name = None if dtype is None else type_name(dtype)
    rows: list[ScaleRow] = rows_of("SCALES", as_arch(arch), kind)
    return next((row.vector for row in rows if row.k[0] == depth and name in (None, row.dtype)), 32)


#: Why wgmma reads no MN-major operand of other types, and the ways out. Sources: PTX ISA 9.1, wgmma.mma_async,
#: imm-trans-a and imm-trans-b, which only the forms with .f16 and .bf16 operands have; FlashAttention-3 and CUTLASS for
#: what kernels do instead (docs/sources.md).
_NO_TRANSPOSE = (
    ": wgmma has transpose bits for 16-bit types only; kernels store such a tile K-major: they transpose it in "
    "registers on its way into shared memory{by}, or keep a K-major copy in global memory"
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
        arch: ``sm90``, ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
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
    of_kind = kind_row(arch, kind)
    major, swizzle, name = as_major(major), as_swizzle_mode(swizzle), str(dtype).casefold()
    about, legality = f"{arch} {kind}", as_mode(legality)
    if legality != "off" and name not in of_kind.dtypes:
        raise IllegalError(f"dtype must be {', '.join(of_kind.dtypes)}", name, about, of_kind)
    rows: list[OperandRow] = [row for row in rows_of("OPERANDS", of_kind.arch, kind) if name in row.dtypes]
    majors = sorted({str(row.major) for row in rows_read(rows, legality)})
    if str(major) not in majors:
        rule, value, about = f"major must be {', '.join(majors)}", str(major), f"{about} {name}"
        if has_wgmma(of_kind.arch) and major is Major.MN:
            about += _NO_TRANSPOSE.format(by="" if name == "tf32" else _BY_PAIRS)
        elif major is Major.MN:
            about += ": the kind has no transpose bit"
        others = [row for row in rows_read(rows, legality) if row.major is not major]
        ways = [{"major": str(row.major), "swizzle": str(mode)} for row in others for mode in reversed(row.swizzles)]
        proposals = [Advice({"major": one}) for one in majors] + [Advice(one) for one in ways]
    else:
        modes = [str(mode) for row in rows_read(rows, legality) if row.major is major for mode in row.swizzles]
        rule, value, about = f"swizzle must be {', '.join(modes)}", str(swizzle), f"{about} {name} {major}-major"
        proposals = [Advice({"swizzle": mode}) for mode in reversed(modes)]
    with proposing(proposals):
        return decide(rows, lambda row: row.major is major and swizzle in row.swizzles, rule, value, about, legality)


def check_major(
    arch: str, kind: str, dtype: str, major: Major, *, a_source: str = "smem", legality: Legality = "strict"
) -> OperandRow | None:
    """Check that an operand may have this major, whatever its swizzle.

    Args:
        arch: ``sm90``, ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
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
    rows = rows_of("TMEM_OPERANDS" if a_source == "tmem" else "OPERANDS", as_arch(arch), kind)
    rows = [row for row in rows if type_name(dtype) in map(type_name, row.dtypes)]
    if not rows:  # no operand of this type at all is for check_types to say
        return None
    legality = as_mode(legality)
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
        arch: ``sm90``, ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
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
    legality = as_mode(legality)
    if legality == "off":
        return None
    kind = kind or kind_of(arch, dtype)
    check_operand(arch, kind, dtype, major, swizzle, legality=legality)
    check_target_k(arch, kind, extents[1])
    rows: list[ShapeRow] = [row for row in rows_of("SHAPES", as_arch(arch), kind) if row.sparse == bool(sparse)]
    # With A elsewhere no B is read that would not be with A in shared memory.
    rows = [row for row in rows if cta_group in (None, row.cta_group) and "smem" in row.a_source]
    if not rows:
        why = ", whose instructions have one CTA each" if has_wgmma(arch) else ""
        raise IllegalError("cta_group must be 1", cta_group, f"{arch} {kind}{why}", kind_row(arch, kind))
    matrices = ("A", "B") if matrix is None else (matrix,)

    def reads(row: ShapeRow, mn: int = extents[0], k: int = extents[1]) -> bool:
        return any(mn in legal and k == whole for legal, whole in (_operand_extents(row, one) for one in matrices))

    readable = rows_read(rows, legality)
    for row in readable:
        if reads(row):
            return row
    extents_read = []  # the wording of a refusal takes longer than the check
    for one in matrices:
        operands = [_operand_extents(row, one) for row in readable]
        mn, k = sorted({value for values, _ in operands for value in values}), sorted({k for _, k in operands})
        extents_read.append(f"{spell(mn)} by {spell(k)} ({one})")
    about = f"{arch} {kind} {'sparse' if sparse else 'dense'}"
    about += "" if has_wgmma(arch) else f", cta_group {cta_group or '1 or 2'}"
    proposals = turned(extents, "mma")
    if sparse and matrix == "A":
        half = (extents[0], extents[1] // 2)
        proposals.append(Advice({"mma": half}, "a sparse A is stored without its zeros, with half of K"))
    if cta_group == 2:
        half = (extents[0] // 2, extents[1])
        proposals.append(Advice({"mma": half}, "each of the two CTAs holds half of the operand"))
    rule = f"an operand must be {' or '.join(extents_read)}"
    with proposing(proposals):
        return decide(rows, reads, rule, f"{brief(extents[0])} by {brief(extents[1])}", about, legality)


@lru_cache(maxsize=128)
def operand_extents(arch: str, dtype: str | ElementType, *, sparse: bool | None = None) -> frozenset[tuple[int, int]]:
    """Return the extents (MN, K) that instructions read of an operand in one CTA's shared memory, in elements.

    The extents are those of every MMA instruction of the type, and of the copies to tensor memory. The set is empty if
    no instruction of the architecture has the type.

    Args:
        arch: the architecture.
        dtype: element type as it is stored in shared memory.
        sparse: whether the MMA instruction is sparse; either if left out.

    >>> sorted(operand_extents("sm90", "bf16"))[:3]
    [(8, 16), (8, 32), (16, 16)]
    """
    element = as_element_type(dtype)
    try:
        rows: list[ShapeRow] = rows_of("SHAPES", as_arch(arch), kind_of(arch, element))
    except DescriptorError:
        return frozenset()
    rows = [row for row in rows if sparse in (None, row.sparse)]
    found = {(mn, k) for row in rows for matrix in "AB" for mns, k in [_operand_extents(row, matrix)] for mn in mns}
    if has_tcgen05(arch):
        found |= {(row.lanes, row.bits // element.storage_bits) for row in tables.COPIES}
    return frozenset(found)


def operand_refusal(
    arch: str,
    dtype: str | ElementType,
    major: Major | str,
    swizzle: SwizzleMode | str,
    extents: tuple[int, int] | None = None,
    *,
    sparse: bool | None = None,
) -> str:
    """Return why no instruction reads an operand that a descriptor describes, in words; "" if one does.

    The sources are read as widely as possible: this is the question of a program that shows what a given descriptor
    reads. ``check_operand_tile`` is the strict check of a tile that is to be built.

    Args:
        arch: the architecture.
        dtype: element type as it is stored in shared memory.
        major: K or MN.
        swizzle: the swizzle mode.
        extents: MN and K that one instruction reads, in elements; any if left out.
        sparse: whether the MMA instruction is sparse; either if left out.

    >>> operand_refusal("sm90", "bf16", "K", "128B", (64, 32)), operand_refusal("sm90", "e4m3", "K", "128B")
    ('', '')
    >>> operand_refusal("sm90", "bf16", "K", "128B", (64, 32), sparse=False)
    'no dense sm90 instruction reads a 64x32 bf16 operand'
    """
    try:
        check_operand(arch, kind_of(arch, dtype), dtype, major, swizzle, legality="lenient")
    except DescriptorError as error:
        operands = f"{as_major(major)}-major {as_element_type(dtype)} operands with swizzle {as_swizzle_mode(swizzle)}"
        return f"no {arch} instruction reads {operands} ({error})"
    if extents is None or extents in operand_extents(arch, dtype, sparse=sparse):
        return ""
    form = {None: "", True: "sparse ", False: "dense "}[sparse]
    return f"no {form}{arch} instruction reads a {extents_text(extents)} {as_element_type(dtype)} operand"


@lru_cache(maxsize=1 << 10)
def read_evidence(
    arch: str,
    element: ElementType,
    major: Major,
    swizzle: SwizzleMode,
    extents: tuple[int, int],
    *,
    absolute: bool = False,
) -> str:
    """Return how the read model is known for an operand of these extents, or that no instruction reads it.

    Args:
        arch, element, major, absolute: as in ``evidence``.
        swizzle: the swizzle mode.
        extents: MN and K that one instruction reads, in elements.

    >>> bf16 = as_element_type("bf16")
    >>> [read_evidence("sm90", bf16, Major.K, SwizzleMode.B128, (64, k)) for k in (16, 17)]
    ['measured on a Hopper GPU', 'no wgmma instruction reads such an operand']
    """
    refused = not absolute and operand_refusal(arch, element, major, swizzle, extents)
    return unread(arch) if refused else evidence(arch, element, major, absolute=absolute)


def split_refusal(refusal: str) -> tuple[str, str]:
    """Return what a text of ``operand_refusal`` states, and its reason; any other text, and "" for the reason.

    >>> split_refusal(operand_refusal("sm90", "bf16", "K", "128B", (64, 48)))
    ('no sm90 instruction reads a 64x48 bf16 operand', '')
    >>> split_refusal(operand_refusal("sm90", "e4m3", "MN", "64B"))[0]
    'no sm90 instruction reads MN-major e4m3 operands with swizzle 64B'
    """
    match = re.fullmatch(r"(no [^(]* reads [^(]*) \((.*)\)", refusal)
    return (match[1], match[2]) if match else (refusal, "")


def _operand_extents(row: ShapeRow, matrix: str) -> tuple[Sequence[int], int]:
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
    row_of = {row.shape: row for row in tables.COPIES}
    row = choose("legality: shape of tcgen05.cp", shape, row_of)
    if not isinstance(multicast, str | None):
        raise DescriptorError(f"legality: multicast must be a qualifier, found {brief(multicast)}")
    legal = row.multicast or (None,)
    names = " or ".join(str(one or "absent") for one in legal)
    rule = f"multicast must be {names}"
    mode, about = as_mode(legality), f"tcgen05.cp.{row.shape}"
    return decide([row], lambda _: multicast in legal, rule, multicast or "none", about, mode)
