"""Fragments by name: ``mma.m16n8k16.A.f16``, ``wgmma.m64n128k16.D``, ``ldmatrix.x4.trans``, ``tcgen05.ld.32x32b.x8``.

A name consists of the words of the PTX instruction that determine the contents of registers, with the operand after the
shape. The other words of the instruction (``sync``, ``aligned``, ...) are accepted and ignored.

Invariant: :func:`fragment` of the name of a fragment returns the same fragment.

>>> pair = fragment("tcgen05.ld.sync.aligned.16x64b.x4.pack::16b.b32")
>>> pair.name, fragment(pair.name) == pair
('tcgen05.ld.16x64b.x4.pack16b', True)
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutalg.errors import LayoutError
from layoutalg.fragments.families import (
    ACCUMULATORS,
    BYTE_MATRICES,
    LANES,
    MATRICES,
    MMA_TYPES,
    NO_OPERAND,
    SCALE_VECTORS,
    SCALES,
    SPARSE_MMA_TYPES,
    SPARSE_SCALE_VECTORS,
    SPARSE_TYPES,
    WGMMA_TYPES,
    byte_matrices,
    matrices,
    mma,
    sparse_wgmma,
    tensor_memory,
    wgmma,
)
from layoutalg.fragments.fragment import Fragment
from layoutalg.tuples.int_tuple import safe_text

#: The first words of names. A text that begins with one of them and a point is a name.
HEADS = ("wgmma", "mma", "ldmatrix", "stmatrix", "tcgen05")

#: Words of instructions that do not change the fragment.
_IDLE = frozenset("sync aligned mma_async m8n8 shared shared::cta row col b16 b32".split())

#: Bits of the types that the elements of ``ldmatrix`` may have.
_BITS = {"f16": 16, "bf16": 16, "b8": 8, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "tf32": 32, "f32": 32, "s32": 32}
_BITS |= {"b8x16.b4x16_p64": 8, "b8x16.b6x16_p32": 8}

#: Words of ``mma.sync`` that do not change the fragment, its types, and scale vectors.
_MMA_IDLE = frozenset("block_scale and xor popc satfinite".split())
_MMA_TYPES = frozenset(
    f"{ACCUMULATORS} {SCALES} {' '.join(types for row in MMA_TYPES.values() for types in row.values())}".split()
)
_VECTORS = ("1X", "2X", "3X", "4X")


def fragment(name: str) -> Fragment:
    """Return the fragment of an instruction and operand: what each thread's registers hold.

    Args:
        name: ``wgmma.m64nNkK.A`` or ``.D``; ``wgmma.sp.m64nNkK.A``, ``.D`` or ``.E`` (the metadata);
            ``mma.mMnNkK.A``, ``.B``, ``.C``, ``.D``, ``.SFA`` or ``.SFB``, followed by the type if the shape allows
            several widths (``mma.m16n8k16.A.f16``), or all words of the instruction followed by the operand;
            ``.SFA.2X``, the bytes of a scale vector; ``mma.sp.mMnNkK`` with the same operands and ``.E``;
            ``ldmatrix.x1``, ``.x2``, ``.x4`` and ``stmatrix``, with ``.trans``, the tile that the matrices form
            (``.32x8``; default: 8x8, 16x8 or 16x16) and the type of its elements (default: 16 bits); for bytes on
            sm_100a ``ldmatrix.m16n16.x1.trans.b8``, ``ldmatrix.m8n16.x1.b8x16.b4x16_p64``,
            ``stmatrix.m16n8.x1.trans.b8`` and similar names; ``tcgen05.ld.SHAPE.xN`` and ``tcgen05.st``, with
            ``.pack16b`` and ``.unpack16b``.

    Raises:
        LayoutError: if there is no such fragment; the message suggests the nearest name.

    Source: see ``layoutalg.fragments.families``.

    >>> print(fragment("wgmma.m64n16k32.A.e4m3"))
    wgmma.m64n16k32.A.e4m3: 64x32, ((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))
    """
    if not isinstance(name, str):
        raise LayoutError(f"fragment: {safe_text(name)} is not a name, which is a text")
    head, *words = name.strip().split(".")
    words = [word for word in words if word not in _IDLE]
    try:
        if head == "wgmma" and words[:1] == ["sp"] and len(words) in (3, 4):
            return Fragment(".".join([head, *words]), *sparse_wgmma(*(*words[1:], "")[:3]))
        if head == "wgmma" and len(words) in (2, 3):
            shape, operand, dtype = (*words, "")[:3]
            return Fragment(".".join([head, *words]), *wgmma(shape, operand, dtype))
        if head == "mma" and len(words) > 1:
            return _mma(words)
        if head in ("ldmatrix", "stmatrix"):
            return _matrices(head, words)
        if head == "tcgen05" and words[:1] in (["ld"], ["st"]):
            return _tensor_memory(words)
    except LayoutError as error:
        raise LayoutError(f"{error}; name = {name[:60]}{_hint(name)}") from None
    raise LayoutError(
        f"fragment: {name[:60]!r} is not the name of a fragment{_hint(name)}; `layoutalg atoms` lists the names"
    )


def is_name(text: str) -> bool:
    """Return whether a text looks like the name of a fragment: a word of :data:`HEADS`, a point and more words.

    >>> is_name("mma.m16n8k16.C"), is_name("mma"), is_name("(4,8):(8,1)")
    (True, False, False)
    """
    head, point, _ = text.strip().partition(".")
    return bool(point) and head in HEADS and not set(text) & set("(),")


def mma_words(words: list[str]) -> tuple[bool, str, dict[str, str], list[str]]:
    """Parse the words of ``mma.sync`` or ``mma.sp`` as PTX writes them; words may be missing.

    Returns:
        whether the instruction is sparse; its shape; the type of each operand, as far as the words contain it; the
        remaining words, among them the scale vector.

    >>> mma_words("m16n8k64 kind::mxf4 block_scale scale_vec::2X f32 e2m1 e2m1 f32 ue8m0".split())[2:]
    ({'D': 'f32', 'A': 'e2m1', 'B': 'e2m1', 'C': 'f32', 'SFA': 'ue8m0', 'SFB': 'ue8m0', 'E': 'e2m1'}, ['2X'])
    """
    sparse = words[:1] in (["sp"], ["sp::ordered_metadata"])
    shape, *rest = [word for word in words[sparse:] if word not in _IDLE] or [""]
    rest = [word.removeprefix("scale_vec::") for word in rest if word not in _MMA_IDLE and "kind::" not in word]
    types = [word for word in rest if word in _MMA_TYPES]
    if len(types) not in (4, 5):
        return sparse, shape, {}, rest
    by_operand = dict(zip(("D", "A", "B", "C", "SFA"), types, strict=False))
    by_operand |= {"SFB": by_operand["SFA"]} if "SFA" in by_operand else {}
    return sparse, shape, {**by_operand, "E": types[1]}, [word for word in rest if word not in types]


def _mma(words: list[str]) -> Fragment:
    sparse, shape, types, rest = mma_words(words)
    vectors = [word for word in rest if word in _VECTORS]
    operand, *others = [word for word in rest if word not in vectors] or [NO_OPERAND]
    dtype = types.get(operand, "") if types else "".join(others[:1])
    if len(vectors) > 1 or len(others) > (not types):
        raise LayoutError(
            f"fragment: {'.'.join(rest[1:])!r} follows the operand of mma; supported: a type and a scale vector"
        )
    scaled = vectors if operand.startswith("SF") else []
    tile_fragment = mma(shape, operand, dtype, _VECTORS.index(scaled[0]) + 1 if scaled else 0, sparse=sparse)
    parts = ["mma", *(["sp"] if sparse else []), shape, operand, *scaled, *([dtype] if dtype else [])]
    return Fragment(".".join(parts), *tile_fragment)


def _matrices(head: str, words: list[str]) -> Fragment:
    matrix = words[0] if words and (head, words[0]) in BYTE_MATRICES else ""
    words = words[1:] if matrix else words
    if "b8x16" in words:  # the name of this type contains a point
        index = words.index("b8x16")
        words = [*words[:index], ".".join(words[index : index + 2]), *words[index + 2 :]]
    rest = set(words[1:])
    count = {"x1": 1, "x2": 2, "x4": 4}.get(words[0] if words else "")
    if count is None or len(rest) != len(words) - 1:
        raise LayoutError(
            f"fragment: {'.'.join(words) or 'nothing'} follows {head}; supported: x1, x2 or x4, then other words, "
            "each once"
        )
    trans = "trans" in rest
    types = [word for word in words[1:] if word in _BITS]
    tiles: list[tuple[int, ...]] = [
        tuple(map(int, word.split("x")))
        for word in words[1:]
        if word.replace("x", "", 1).isdigit() and "x" in word[1:-1]
    ]
    if len(types) > 1 or len(tiles) > 1 or len(rest) != trans + len(types) + len(tiles):
        raise LayoutError(
            f"fragment: {'.'.join(words[1:])!r} follows {head}.{words[0]}; supported: trans, a tile such as 16x16 "
            "and a type"
        )
    shape = (tiles[0][0], tiles[0][1]) if tiles else None
    if matrix:
        tile_fragment = byte_matrices(head, matrix, count, trans, shape, types[0] if types else "")
        return Fragment(".".join([head, matrix, *words]), *tile_fragment)
    return Fragment(".".join([head, *words]), *matrices(count, trans, shape, _BITS[types[0]] if types else 16))


def _tensor_memory(words: list[str]) -> Fragment:
    pack = "pack16b" if words[0] == "ld" else "unpack16b"
    words = [word.replace("::", "") for word in words]
    count = words[2][1:] if len(words) > 2 and words[2].startswith("x") else ""
    if not count.isdigit() or words[3:] not in ([], [pack]) or len(count) > 3:
        raise LayoutError(
            f"fragment: {'.'.join(words[1:])!r} follows tcgen05.{words[0]}; supported: a shape, xN and maybe {pack}"
        )
    return Fragment(".".join(["tcgen05", *words]), *tensor_memory(words[1], int(count), len(words) == 4))


def names() -> Iterator[str]:
    """Yield every name, with a type only if one is needed.

    >>> len(list(names())) > 400, "mma.m16n8k16.A.f16" in names(), "mma.m16n8k16.A" in names()
    (True, True, False)
    """
    for k in WGMMA_TYPES:
        yield from (f"wgmma.m64n{n}k{k}.{operand}" for n in range(8, 257, 8) for operand in "AD")
    for k in SPARSE_TYPES:
        yield from (f"wgmma.sp.m64n{n}k{k}.{operand}" for n in range(8, 257, 8) for operand in "ADE")
    for sparse, table, scaled in (("", MMA_TYPES, SCALE_VECTORS), ("sp.", SPARSE_MMA_TYPES, SPARSE_SCALE_VECTORS)):
        for shape, widths in table.items():
            types = [f".{dtype}" for row in widths.values() for dtype in row.split()] if len(widths) > 1 else [""]
            yield from (
                f"mma.{sparse}{shape}.{operand}{dtype}" for operand in ("ABE" if sparse else "AB") for dtype in types
            )
            yield from (f"mma.{sparse}{shape}.{operand}" for operand in "CD")
        for shape, vectors in scaled.items():
            ends = ["", *(f".{number}X" for number in vectors)]
            yield from (f"mma.{sparse}{shape}.{operand}{end}" for operand in ("SFA", "SFB") for end in ends)
    for head in ("ldmatrix", "stmatrix"):
        yield from (f"{head}.x{count}{trans}" for count in MATRICES for trans in ("", ".trans"))
    for (head, matrix), (_, numbers, turned, kinds) in BYTE_MATRICES.items():
        trans = ".trans" if turned else ""
        yield from (f"{head}.{matrix}.x{count}{trans}.{kind}" for count in numbers for kind in kinds)
    for head, pack in (("ld", "pack16b"), ("st", "unpack16b")):
        for shape, most in LANES.items():
            counts = [1 << i for i in range(most.bit_length())]
            yield from (f"tcgen05.{head}.{shape}.x{n}{end}" for n in counts for end in ("", f".{pack}"))


def _hint(name: str) -> str:
    from difflib import get_close_matches

    fragments = list(names())
    longer = [candidate for candidate in fragments if candidate.startswith(f"{name.strip()}.")]
    near = longer or get_close_matches(name.strip(), fragments, n=1, cutoff=0.7)
    return f" (did you mean {near[0]}?)" if near else ""
