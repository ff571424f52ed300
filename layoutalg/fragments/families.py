"""Families of register fragments: shapes, types, the rule of each family, its source and the evidence for it.

The rules use only the width of a type, because they count the elements of a register.

Invariant: a rule fills the whole tile of its fragment; every name that
:func:`layoutalg.fragments.fragment_names.names` lists belongs to the family that :func:`family_of` returns.

Source: PTX ISA 9.1, wgmma.mma_async, mma, ldmatrix, stmatrix, tcgen05.ld and tcgen05.st (shapes and types).

>>> wgmma("m64n8k16", "A", "f16")
((64, 16), Layout(((4, 8, 4), (2, 2, 2)), ((128, 1, 16), (64, 8, 512))))
>>> family_of("mma.m16n8k16.D.f32").tile, family_of("wgmma.m64n8k16.A").threads
('M x 8', 128)
"""

from __future__ import annotations

from typing import TypeAlias

from layoutalg.errors import LayoutError
from layoutalg.fragments.fragment import lanes, packed_halves, quads, thread_values, turned_bytes, turned_quads
from layoutalg.frozen import frozen
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size

#: The operand that an ``mma`` name without an operand is parsed to.
NO_OPERAND = "no operand"

#: Rows and columns of a tile, and its thread-value layout.
TileFragment: TypeAlias = tuple[tuple[int, int], Layout]

#: Types of A by the K of ``wgmma``. K spans 256 bits.
WGMMA_TYPES = {8: "tf32", 16: "f16 bf16", 32: "e4m3 e5m2 s8 u8", 256: "b1"}

#: Types of A and B by the K of a dense ``tcgen05.mma``. K spans 256 bits; at K 32, narrow types fill 8-bit containers.
TCGEN05_TYPES = {8: "tf32", 16: "f16 bf16", 32: "e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8", 64: "e2m1"}
#: Types of A by the K of ``wgmma.mma_async.sp``. K counts the zeros.
SPARSE_TYPES = {16: "tf32", 32: "f16 bf16", 64: "e4m3 e5m2 s8 u8"}

#: Types of A and B by the shape of ``mma.sync`` and by the bits that an element takes in a register.
MMA_TYPES: dict[str, dict[int, str]] = {
    "m8n8k4": {64: "f64"},
    "m8n8k16": {8: "s8 u8"},
    "m8n8k32": {4: "s4 u4"},
    "m8n8k128": {1: "b1"},
    "m16n8k4": {32: "tf32", 64: "f64"},
    "m16n8k8": {16: "f16 bf16", 32: "tf32", 64: "f64"},
    "m16n8k16": {16: "f16 bf16", 8: "s8 u8 e4m3 e5m2", 64: "f64"},
    "m16n8k32": {8: "s8 u8 e4m3 e5m2 e2m3 e3m2 e2m1", 4: "s4 u4"},
    "m16n8k64": {4: "s4 u4 e2m1"},
    "m16n8k128": {1: "b1"},
    "m16n8k256": {1: "b1"},
}

#: The same table for ``mma.sp``, whose K counts the zeros.
SPARSE_MMA_TYPES: dict[str, dict[int, str]] = {
    "m16n8k8": {32: "tf32"},
    "m16n8k16": {16: "f16 bf16", 32: "tf32"},
    "m16n8k32": {16: "f16 bf16", 8: "s8 u8"},
    "m16n8k64": {8: "s8 u8 e4m3 e5m2 e2m3 e3m2 e2m1", 4: "s4 u4"},
    "m16n8k128": {4: "s4 u4 e2m1"},
}

#: Types of accumulators, and of scale factors.
ACCUMULATORS, SCALES = "f16 f32 s32 f64", "ue8m0 ue4m3"
#: Number of scale factors per row, by the shape of ``mma.sync`` and of ``mma.sp``, for shapes that have scale factors.
SCALE_VECTORS = {"m16n8k32": (1,), "m16n8k64": (2, 4)}
SPARSE_SCALE_VECTORS = {"m16n8k64": (1,), "m16n8k128": (2, 4)}

#: The default arrangement of the matrices of ``ldmatrix.xN``: how many down and how many across; down comes first.
MATRICES = {1: (1, 1), 2: (2, 1), 4: (2, 2)}

#: The matrices of bytes (sm_100a and later) by instruction and the shape that follows it in PTX: rows of 16 bytes of
#: one matrix in shared memory, supported numbers of matrices, whether they are transposed, and types. Elements of 4 and
#: 6 bits are stored in 16 bytes that end with padding; in registers each is a byte.
BYTE_MATRICES = {
    ("ldmatrix", "m16n16"): (16, (1, 2), True, ("b8", "b8x16.b4x16_p64", "b8x16.b6x16_p32")),
    ("ldmatrix", "m8n16"): (8, (1, 2, 4), False, ("b8x16.b4x16_p64", "b8x16.b6x16_p32")),
    ("stmatrix", "m16n8"): (8, (1, 2, 4), True, ("b8",)),
}

#: The shapes of ``tcgen05.ld`` and the largest number after ``.x``.
LANES = {"32x32b": 128, "16x64b": 128, "16x128b": 64, "16x256b": 32, "16x32bx2": 128}


def wgmma(shape: str, operand: str, dtype: str) -> TileFragment:
    """Return the fragment of A or D (C) of ``wgmma``; ``dtype`` may be empty.

    Raises:
        LayoutError: if there is no such shape, operand or type; or for B, which is in shared memory.
    """
    m, n, k = numbers(shape)
    if m != 64 or n % 8 or not 8 <= n <= 256 or k not in WGMMA_TYPES:
        raise LayoutError(
            f"fragment: {shape} is not a shape of wgmma; supported: m64nNkK with N = 8, 16, ..., 256 and K = 8, 16, 32 "
            "or 256"
        )
    if operand == "A":
        need_type(dtype, WGMMA_TYPES[k], f"wgmma.{shape}.A")
        return (64, k), quads(2, 2, k // 8, warps=4)
    if operand in ("C", "D"):
        need_type(dtype, "f16 f32 s32", f"wgmma.{shape}.{operand}")
        return (64, n), quads(2, n // 8, 2, warps=4)
    raise LayoutError(f"fragment: wgmma has no operand {operand} in registers; supported: A, D; B is in shared memory")


def sparse_wgmma(shape: str, operand: str, dtype: str) -> TileFragment:
    """Return the fragment of A without its zeros, of D, or of the metadata (E) of ``wgmma.mma_async.sp``.

    K counts the zeros. A value of E describes one element of A, zeros included: 2 bits of the register for a 32-bit
    element, 1 bit for a smaller one, from the lowest bit up. With 16-bit and 32-bit elements, two threads hold each
    element: selector 0 reads the lanes with t%4 of 0 and 1, selector 1 those with 2 and 3.

    Raises:
        LayoutError: if there is no such shape, operand or type.

    >>> print(sparse_wgmma("m64n8k32", "E", "bf16")[1])
    ((2,2,8,4),(16,2)):((1024,0,1,16),(64,8))
    """
    _, _, k = numbers(shape)
    if k not in SPARSE_TYPES:
        raise LayoutError(f"fragment: wgmma.sp has no K of {k}; supported: {', '.join(map(str, SPARSE_TYPES))}")
    if operand != "E":
        return wgmma(shape.replace(f"k{k}", f"k{k // 2}"), operand, dtype)
    need_type(dtype, SPARSE_TYPES[k], f"wgmma.sp.{shape}.E")
    if k == 64:
        return (64, k), thread_values([(2, 8), (2, 32 * 64), (8, 1), (4, 16)], [(32, 64)])
    return (64, k), thread_values([(2, k // 2 * 64), (2, 0), (8, 1), (4, 16)], [(k // 2, 64), (2, 8)])


def mma(
    shape: str, operand: str, dtype: str, vector: int = 0, *, sparse: bool = False, zeros: bool = False
) -> TileFragment:
    """Return the fragment of an operand of ``mma.sync`` or ``mma.sp``, of its scale factors, or of its metadata.

    Args:
        shape: a key of ``MMA_TYPES``, or of ``SPARSE_MMA_TYPES``, whose K counts the zeros.
        operand: A, B, C, D, SFA or SFB; for ``mma.sp`` also E, and A is without its zeros.
        dtype: the type of an element, for E that of A; may be empty if all types of the shape have the same width.
        vector: number of scale factors per row, each one byte, starting at the byte-id; 0 for one factor for each k.
        sparse: whether the instruction is ``mma.sp``.
        zeros: whether the zeros of a sparse A count as values of the thread that holds the stored elements.

    Raises:
        LayoutError: if there is no such fragment, or if the type is needed to select one.

    >>> print(mma("m16n8k16", "C", "")[1])
    ((4,8),(2,2)):((32,1),(16,8))
    >>> print(mma("m16n8k64", "SFA", "", 4)[1], mma("m16n8k128", "E", "", sparse=True)[1])
    ((2,2,8),4):((8,0,1),16) ((2,2,8),64):((8,1024,1),16)
    """
    table, name = SPARSE_MMA_TYPES if sparse else MMA_TYPES, f"mma.{'sp.' * sparse}{shape}.{operand}"
    if shape not in table:
        raise LayoutError(f"fragment: {shape} is not a shape of mma{'.sp' * sparse}; supported: {', '.join(table)}")
    m, _, k = numbers(shape)
    if operand in ("C", "D"):
        need_type(dtype, ACCUMULATORS, name)
        return (m, 8), quads(m // 8, 1, 2)
    if operand in ("A", "B"):
        unit = max(1, 32 // _bits(table[shape], dtype, name))
        rows, columns = (m, k) if operand == "A" else (8, k)
        if sparse and operand == "A":
            columns, unit = (k, 2 * unit) if zeros else (k // 2, unit)
        return (rows, columns), quads(rows // 8, columns // (4 * unit), unit)
    if operand == "E" and sparse:
        return (m, k), metadata(k, _bits(table[shape], dtype, name))
    vectors = SPARSE_SCALE_VECTORS if sparse else SCALE_VECTORS
    if operand not in ("SFA", "SFB") or shape not in vectors:
        more = ", E" if sparse else ""
        missing = "no operand follows the shape" if operand == NO_OPERAND else f"there is no operand {operand}"
        raise LayoutError(
            f"fragment: {missing} of mma{'.sp' * sparse}.{shape}; supported: A, B, C, D{more}, and SFA, SFB of "
            f"{' and '.join(vectors)}"
        )
    need_type(dtype, SCALES, name)
    if vector and vector not in vectors[shape]:
        raise LayoutError(
            f"fragment: {name} has no scale vector {vector}X; supported: "
            f"{' and '.join(f'{n}X' for n in vectors[shape])}"
        )
    rows_of = {"SFA": [(2, 8), (2, 0), (8, 1)], "SFB": [(4, 0), (8, 1)]}
    rows, factors = 16 if operand == "SFA" else 8, vector or k
    return (rows, factors), thread_values(rows_of[operand], [(factors, rows)])


def metadata(k: int, bits: int) -> Layout:
    """Return which metadata of ``mma.sp`` each thread holds: (thread, element of A, zeros included) to 16 rows by K.

    A value is 2 bits of the register for a 32-bit element, 1 bit for a 16-bit or 8-bit element and half a bit for a
    4-bit element, from the lowest bit up. If a row fills one register or half of one, the threads of every selector
    hold it.

    >>> print(metadata(16, 16), metadata(32, 16), metadata(32, 8))
    ((4,8),(16,2)):((0,1),(16,8)) ((2,2,8),(16,2)):((256,0,1),(16,8)) ((2,2,8),32):((8,0,1),16)
    """
    if bits >= 16:  # both rows of a thread are in one register
        each = min(k, 256 // bits)
        threads = [(4, 0)] if each == k else [(2, 16 * each), (2, 0)]
        return thread_values([*threads, (8, 1)], [(each, 16), (2, 8)])
    each = 256 // bits
    return thread_values([(2, 8), (2, 0 if each == k else 16 * each), (8, 1)], [(each, 16)])


def _bits(widths: dict[int, str], dtype: str, name: str) -> int:
    need_type(dtype, " ".join(widths.values()), name)
    if dtype:
        return next(bits for bits, types in widths.items() if dtype in types.split())
    if len(widths) > 1:
        choices = ", ".join(f"{types.split()[0]} ({bits} bits)" for bits, types in widths.items())
        raise LayoutError(f"fragment: {name} has no type, and its fragment depends on the width of the type: {choices}")
    return next(iter(widths))


def matrices(count: int, trans: bool, shape: tuple[int, int] | None, bits: int) -> TileFragment:
    """Return the fragment of ``ldmatrix.xN`` or ``stmatrix.xN``: N matrices of 8 rows of 16 bytes.

    Args:
        count: N.
        trans: whether each matrix is transposed.
        shape: rows and columns of the tile that the matrices form; None for 8x8, 16x8 or 16x16 elements of 16 bits.
        bits: width of an element.

    Raises:
        LayoutError: if the matrices do not form this tile, or ``trans`` is set and the elements do not have 16 bits.
    """
    width = 128 // bits
    down, across = MATRICES[count] if shape is None else (shape[0] // 8, shape[1] // width)
    if trans and bits != 16:
        raise LayoutError(
            f"fragment: ldmatrix.trans transposes 8x8 matrices of 16-bit elements, not of {bits}-bit elements; sm_100a "
            "transposes bytes with ldmatrix.m16n16.x1.trans.b8 and stmatrix.m16n8.x1.trans.b8; copy_atom accepts "
            "ldmatrix.x4.trans with bytes, of which two that are adjacent in a row stay together"
        )
    tile = (8 * down, width * across)
    if down * across != count or (shape is not None and shape != tile):
        raise LayoutError(f"fragment: {count} matrices of 8x{width} do not fill a tile of {shape}")
    return tile, turned_quads(down, across) if trans else quads(down, across, width // 4)


def byte_matrices(
    head: str, matrix: str, count: int, trans: bool, shape: tuple[int, int] | None, dtype: str
) -> TileFragment:
    """Return the fragment of an ``ldmatrix`` or ``stmatrix`` of bytes, which moves rows of 16 bytes in shared memory.

    Args:
        head: ``ldmatrix`` or ``stmatrix``, the first part of a key of ``BYTE_MATRICES``.
        matrix: the shape of one matrix, the second part of the key.
        count: number of matrices.
        trans: whether the name of the instruction contains ``.trans``.
        shape: rows and columns of the tile that the matrices form; None for the default of ``MATRICES``.
        dtype: the type in the instruction.

    Raises:
        LayoutError: if there is no such instruction, or its matrices do not form this tile.

    >>> print(byte_matrices("ldmatrix", "m16n16", 1, True, None, "b8")[1])
    ((4,8),(4,2)):((4,16),(1,128))
    """
    rows, counts, turned, types = BYTE_MATRICES[head, matrix]
    if count not in counts or trans is not turned or dtype not in types:
        name = f"{head}.{matrix}.xN{'.trans' if turned else ''}"
        raise LayoutError(
            f"fragment: {head}.{matrix}.x{count}{'.trans' if trans else ''} with {dtype or 'no type'} does not exist; "
            f"supported: {name} with N {', '.join(map(str, counts))} and type {', '.join(types)}"
        )
    down, across = MATRICES[count] if shape is None else (shape[0] // rows, shape[1] // 16)
    tile = (rows * down, 16 * across)
    if down * across != count or (shape is not None and shape != tile):
        raise LayoutError(f"fragment: {count} matrices of {rows}x16 do not fill a tile of {shape}")
    return tile, turned_bytes(rows // 4, down, across) if turned else quads(down, across, 4)


def tensor_memory(shape: str, count: int, packed: bool) -> TileFragment:
    """Return the fragment of ``tcgen05.ld`` or ``tcgen05.st``.

    Args:
        shape: a key of ``LANES``.
        count: the number after ``.x``.
        packed: whether the name contains ``.pack::16b`` or ``.unpack::16b``.

    Raises:
        LayoutError: if there is no such shape or number.
    """
    if shape not in LANES or count not in [1 << i for i in range(8)] or count > LANES[shape]:
        most = ", ".join(f"{name}.x{number}" for name, number in LANES.items())
        raise LayoutError(
            f"fragment: {shape}.x{count} is not a shape of tcgen05.ld; supported: {most}, and smaller powers of 2 "
            "after the x"
        )
    cells = lanes(shape, count)
    rows = 32 if shape == "32x32b" else 16
    registers = packed_halves(cells, rows) if packed else cells
    return (rows, 32 * size(registers[1]) // rows), registers


def numbers(shape: str) -> tuple[int, int, int]:
    """Return M, N and K of a shape.

    Raises:
        LayoutError: if the text is not a shape.

    >>> numbers("m16n8k32")
    (16, 8, 32)
    """
    import re

    match = re.fullmatch(r"m(\d{1,3})n(\d{1,3})k(\d{1,3})", shape, re.ASCII)
    if match is None:
        raise LayoutError(f"fragment: {shape or 'an empty text'} is not a shape such as m16n8k16")
    m, n, k = map(int, match.groups())
    return m, n, k


def need_type(dtype: str, types: str, name: str) -> None:
    """Check that a type is one of ``types``, which spaces separate; an empty type passes.

    Raises:
        LayoutError: if it is not.
    """
    if dtype and dtype not in types.split():
        raise LayoutError(f"fragment: {dtype} is not a type of {name}; supported: {', '.join(types.split())}")


@frozen
class Family:
    """The common properties of all fragments of one instruction and operand, in words.

    Args:
        form: the pattern of their names; parts in brackets are optional.
        tile: rows x columns of the tile.
        threads: number of threads that hold it.
        holds: the rule: which element each register or value of a thread holds.
        source: the document and headers that publish the rule.
        grade: the strongest evidence for it: measured on a GPU, or NVIDIA's headers or documentation.
    """

    form: str
    tile: str
    threads: int
    holds: str
    source: str
    grade: str


_WGMMA = "PTX ISA 9.1, wgmma register fragments; CUTLASS mma_traits_sm90_gmma.hpp"
_SPARSE = "PTX ISA 9.1, wgmma.mma_async.sp, sparse matrices; CUTLASS mma_traits_sm90_gmma_sparse.hpp"
_MMA = "PTX ISA 9.1, matrix fragments for mma; CUTLASS mma_traits_sm80.hpp, mma_traits_sm89.hpp, mma_traits_sm90.hpp"
_BLOCKS = "PTX ISA 9.1, block scaling for mma.sync; CUTLASS mma_traits_sm120.hpp"
_SPARSE_MMA = "PTX ISA 9.1, mma.sp; CUTLASS mma_traits_sm120_sparse.hpp"
_MATRIX = "PTX ISA 9.1, ldmatrix, stmatrix; CUTLASS copy_traits_sm75.hpp, copy_traits_sm90.hpp"
_BYTES = "PTX ISA 9.1, ldmatrix, stmatrix; CUTLASS copy_traits_sm100.hpp, copy_sm100.hpp"
_TENSOR = "PTX ISA 9.1, tcgen05.ld, tcgen05.st; CUTLASS copy_traits_sm100.hpp"
_CODE = "NVIDIA code, not measured"
_MEASURED = "measured on Hopper"
_MEASURED_WGMMA = "measured on Hopper; b1 is PTX's text"
_MEASURED_MMA = "measured on Hopper; e2m1 and 8-bit floats with K 16 are NVIDIA's code, e2m3 and e3m2 PTX's text"

#: All families, in the order in which they are listed.
FAMILIES = (
    Family(
        "wgmma.m64nNkK.D[.TYPE]", "64 x N", 128,
        "value v of lane t, warp w: row 16w + t/4 + 8(v/2 % 2), column 8(v/4) + 2(t%4) + v%2", _WGMMA, _MEASURED_WGMMA,
    ),
    Family(
        "wgmma.m64nNkK.A[.TYPE]", "64 x K", 128,
        "E = K/8 a register; register r of lane t, warp w: row 16w + t/4 + 8(r%2), column 4E(r/2) + E(t%4) and on",
        _WGMMA, _MEASURED_WGMMA,
    ),
    Family(
        "wgmma.sp.m64nNkK.E[.TYPE]", "64 x K", 128,
        "bit v of lane t, warp w, of 8-bit elements: row 16w + t/4 + 8(t%2), column 32(t/2 % 2) + v; of others, b = 1 "
        "or 2 bits an element: row 16w + t/4 + 8(v/16), column K/2 (t%2) + v%16 / b, in lanes t%4 of 2s and 2s + 1 for "
        "selector s; A and D are those of wgmma, A with half of K", _SPARSE, _MEASURED,
    ),
    Family(
        "mma.mMn8kK.A[.TYPE]", "M x K", 32,
        "E = 32/bits a register; register r of lane t: row t/4 + 8(r%2), column 4E(r/2) + E(t%4) and on (M 16); with K "
        "32 e2m1 lies in bits 2 to 5 of a byte, e2m3 and e3m2 in bits 0 to 5",
        _MMA, _MEASURED_MMA,
    ),
    Family(
        "mma.mMn8kK.B[.TYPE]", "8 x K", 32,
        "register r of lane t: row (n) t/4, column (k) 4Er + E(t%4) and on", _MMA, _MEASURED_MMA,
    ),
    Family(
        "mma.mMn8kK.C[.TYPE]", "M x 8", 32,
        "value v of lane t: row t/4 + 8(v/2), column 2(t%4) + v%2; D is the same", _MMA, _MEASURED,
    ),
    Family(
        "mma.m16n8kK.SFA[.NX][.TYPE]", "16 x K", 32,
        "factor of row t/4 + 8(t%2) for each k; thread-id s takes those of lanes t%4 of 2s and 2s + 1; NX: N bytes "
        "from byte-id on (1X 0 to 3, 2X 0 or 2, 4X 0), one for K/N", _BLOCKS, _CODE,
    ),
    Family(
        "mma.m16n8kK.SFB[.NX][.TYPE]", "8 x K", 32,
        "factor of column t/4 for each k; thread-id s (0 to 3) takes those of lanes t%4 of s; NX as of SFA",
        _BLOCKS, _CODE,
    ),
    Family(
        "mma.sp.m16n8kK.E[.TYPE]", "16 x K", 32,
        "bit v of lane t, of 16 and 32 bits (b = 1 or 2 bits an element): row t/4 + 8(v/16), column (K/2)(t%2) + "
        "v%16 / b, without the first term where K is 256 bits; of 8 and 4 bits (1 or 1/2): row t/4 + 8(t%2), column "
        "v / b, and where all threads give theirs half of K more for t%4 of 2, 3; A, without its zeros, and B, D, SFA, "
        "SFB are those of mma", _SPARSE_MMA, "measured on Hopper; types of 6 bits and e2m1 are NVIDIA's code",
    ),
    *(
        Family(
            f"{name}.xN[.trans][.RxC][.TYPE]", "R x C", 32,
            "register j of lane t: matrix j (down, then across), row t/4, 4 bytes from 4(t%4) on; .trans (16 bits): "
            "rows 2(t%4) and one on, column t/4", _MATRIX, _MEASURED,
        )
        for name in ("ldmatrix", "stmatrix")
    ),
    Family(
        "ldmatrix.m16n16.xN.trans[.RxC].TYPE", "R x C", 32,
        "registers 2j, 2j + 1 of lane t: 4 bytes each of matrix j, rows 4(t%4) and on, columns t/4 and t/4 + 8",
        _BYTES, _CODE,
    ),
    Family(
        "ldmatrix.m8n16.xN[.RxC].TYPE", "R x C", 32,
        "register j of lane t: matrix j, row t/4, 4 elements from 4(t%4) on, a byte each, in its lowest 4 or 6 bits; "
        "mma takes e2m1 in bits 2 to 5, so shift left by 2", _BYTES, _CODE,
    ),
    Family(
        "stmatrix.m16n8.xN.trans[.RxC].TYPE", "R x C", 32,
        "register j of lane t: of matrix j, 8 rows of 16 bytes, rows 2(t%4) and one on, columns t/4 and t/4 + 8",
        _BYTES, _CODE,
    ),
    *(
        Family(
            f"tcgen05.{name}.SHAPE.xN[.{pack}16b]", "lanes x columns", 32,
            "cell (lane, column) of register r of lane t, from the address on: 32x32b (t, r); 16x64b (t/4 + 8(t%2), "
            "t/2 % 2 + 2r); 16x128b (t/4 + 8(r%2), t%4 + 4(r/2)); 16x256b (t/4 + 8(r/2 % 2), 2(t%4) + r%2 + 8(r/4)); "
            "16x32bx2 (t%16, N(t/16) + r); 16b: the low halves of columns 2c and 2c + 1", _TENSOR, _CODE,
        )
        for name, pack in (("ld", "pack"), ("st", "unpack"))
    ),
)  # fmt: skip


def family_of(name: str) -> Family:
    """Return the family of a fragment by the fragment's name.

    >>> family_of("ldmatrix.x4.trans").form
    'ldmatrix.xN[.trans][.RxC][.TYPE]'
    """
    return next(family for family in FAMILIES if _key(family.form) == _key(name))


def _key(form: str) -> str:
    """Return the common part of the names of one family: the head, and the operand if there is one."""
    head, *words = form.split("[")[0].split(".")
    if words[0] == "sp":
        words, head = words[1:], f"{head}.sp" if words[2] == "E" else head
    if head.endswith("matrix"):
        return f"{head}.{words[0]}" if (head, words[0]) in BYTE_MATRICES else head
    key = f"{head}.{words[0]}" if head == "tcgen05" else f"{head} {words[1]}"
    return key.replace(" D", " C")
