"""Data: the tensor-core instructions that exist, one row a fact, each with its source.

``wgmma`` (sm90) and ``tcgen05`` (sm100): kinds, element types, shapes, majors with their swizzles, scale factors, and
the shapes of ``tcgen05.cp``. Where the sources disagree there are two rows: one for what all of them allow, and one
for the wider reading, whose ``disputed`` says who allows it and who does not. Invariant: a row without ``disputed`` is
allowed by every source named here; checks read only those rows unless they are asked to be lenient.

The rows are those of two architectures; those of another are the rows of the one that it follows, less what
``targets`` says that it has not, and ``LATER``.

PTX numbers its tables anew with each version; the numbers here are those of version 9.1. Nothing in the sm100 rows was
measured on a GPU.

An instruction reads the same number of bits of K of every type, so that the tables of types and of K agree.

>>> from descriptors.smem.operands.operand import ELEMENT_TYPES
>>> rows = [(row.arch, row.kind, ELEMENT_TYPES[name]) for row in KINDS if row.kind != "b1" for name in row.dtypes]
>>> {DENSE_K[arch, kind] * one.storage_bits for arch, kind, one in rows} == {K_BITS}
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from descriptors.smem.instructions.facts import (
    CopyRow,
    KindRow,
    OperandRow,
    ScaleRow,
    ShapeRow,
    TransposedRow,
    TypeRow,
)
from descriptors.smem.operands.operand import Major, SwizzleMode

_WGMMA = "PTX ISA 9.1, wgmma.mma_async (matrix shape; register fragments and shared-memory layout)"
_SHAPE = "PTX ISA 9.1, tcgen05, Matrix Shape (Table 39)"
_IDESC = "PTX ISA 9.1, tcgen05, Instruction descriptor (Tables 42-44)"
_TRANSPOSE = "PTX ISA 9.1, tcgen05, Transpose and Negate operations (Tables 51, 52)"
_SWIZZLE = "PTX ISA 9.1, tcgen05, Valid Combinations of Type-Size, Major-ness and Swizzling (Table 54)"
_SCALE = "PTX ISA 9.1, tcgen05, Valid combinations of scale_vectorsize with types and MMA-Kind; Scale Factor A ID, B ID"
_TARGET = "PTX ISA 9.1, tcgen05.mma, Target ISA Notes"
_COPY = "PTX ISA 9.1, tcgen05.cp"
_KIND = f"{_IDESC}; {_TARGET}"
_UMMA = "CUTLASS include/cute/arch/mma_sm100_umma.hpp"
_TRAITS = "CUTLASS include/cute/atom/mma_traits_sm100.hpp"
_OPS = "CuTe DSL 4.8.1 cute/nvgpu/tcgen05/mma.py"


_ALL_M = {1: (64, 128), 2: (128, 256)}
_N8, _N16, _N32 = (tuple(range(step, 257, step)) for step in (8, 16, 32))
_N_INTEGER = (8, 16, 24, *range(32, 257, 16))  # of wgmma's integer instructions and of kind i8
_PLAIN = ("f16", "tf32", "f8f6f4", "i8")
_SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")

_F8 = ("e4m3", "e5m2")
_F6F4 = ("e2m3", "e3m2", "e2m1")
_F8F6F4 = _F8 + _F6F4
_CONTAINERS = ("e2m3", "e3m2", "e2m1_unpacksmem")  # 16 elements in 16 bytes each

_ANYWHERE = "sm_100a, sm_110a; sm_100f, sm_110f and their families (sm_103)"

# fmt: off
#: Every kind.
KINDS = (
    KindRow("sm90", "f16", ("f16", "bf16"), True, False, (), False, "sm_90a", _WGMMA),
    KindRow("sm90", "tf32", ("tf32",), True, False, (), False, "sm_90a", _WGMMA),
    KindRow("sm90", "f8", _F8, True, False, (), False, "sm_90a", _WGMMA),
    KindRow("sm90", "i8", ("s8", "u8"), False, True, (), False, "sm_90a", _WGMMA),
    KindRow("sm90", "b1", ("b1",), False, False, (), False, "sm_90a", _WGMMA),
    KindRow("sm100", "f16", ("f16", "bf16"), True, False, (0, 1, 2, 3), True, _ANYWHERE, _KIND),
    KindRow("sm100", "tf32", ("tf32",), True, False, (0, 1, 2, 3), True, _ANYWHERE, _KIND),
    KindRow("sm100", "f8f6f4", _F8 + _CONTAINERS, True, False, (0,), True, _ANYWHERE, _KIND),
    KindRow("sm100", "i8", ("s8", "u8"), False, True, (0,), True, "sm_100a, sm_110a", _KIND),
    KindRow("sm100", "mxf8f6f4", _F8 + _CONTAINERS, True, False, (), False, _ANYWHERE, _KIND),
    KindRow("sm100", "mxf4", ("e2m1",), True, False, (), False, "sm_100a, sm_103a, sm_110a", _KIND),
    KindRow("sm100", "mxf4nvf4", ("e2m1",), True, False, (), False, "sm_100a, sm_103a, sm_110a", _KIND),
)

_ONE_TYPE = f"separate type fields in {_IDESC} and {_UMMA} allow it; {_OPS} has one type for A and B"

#: Types of A, B and D that go together.
TYPES = (
    TypeRow("sm90", "f16", ("f16",), ("f16",), ("f16", "f32"), _WGMMA),
    TypeRow("sm90", "f16", ("bf16",), ("bf16",), ("f32",), _WGMMA),
    TypeRow("sm90", "tf32", ("tf32",), ("tf32",), ("f32",), _WGMMA),
    TypeRow("sm90", "f8", _F8, _F8, ("f16", "f32"), _WGMMA),
    TypeRow("sm90", "i8", ("s8", "u8"), ("s8", "u8"), ("s32",), _WGMMA),
    TypeRow("sm90", "b1", ("b1",), ("b1",), ("s32",), _WGMMA),
    TypeRow("sm100", "f16", ("f16",), ("f16",), ("f16", "f32"), _SHAPE),
    TypeRow("sm100", "f16", ("bf16",), ("bf16",), ("f32",), _SHAPE),
    TypeRow("sm100", "f16", ("f16", "bf16"), ("f16", "bf16"), ("f32",), _SHAPE, _ONE_TYPE),
    TypeRow("sm100", "tf32", ("tf32",), ("tf32",), ("f32",), _SHAPE),
    TypeRow("sm100", "f8f6f4", _F8F6F4, _F8F6F4, ("f16", "f32"), _SHAPE, wide=False),
    TypeRow("sm100", "i8", ("s8", "u8"), ("s8", "u8"), ("s32",), f"{_SHAPE}; {_OPS}, MmaI8Op (signs independent)"),
    TypeRow("sm100", "mxf8f6f4", _F8F6F4, _F8F6F4, ("f32",), _SHAPE),
    TypeRow("sm100", "mxf4", ("e2m1",), ("e2m1",), ("f32",), _SHAPE),
    TypeRow("sm100", "mxf4nvf4", ("e2m1",), ("e2m1",), ("f32",), _SHAPE),
)
# fmt: on

#: Bits of K that a dense instruction reads of an operand, whatever the type, but for K = 96 (_WGMMA, _SHAPE).
K_BITS = 256

#: K of a dense instruction by (arch, kind); a sparse one has twice as much. Kinds mxf4 and mxf4nvf4 also have K = 96.
DENSE_K = {
    ("sm90", "f16"): 16,
    ("sm90", "tf32"): 8,
    ("sm90", "f8"): 32,
    ("sm90", "i8"): 32,
    ("sm90", "b1"): 256,
    ("sm100", "f16"): 16,
    ("sm100", "tf32"): 8,
    ("sm100", "f8f6f4"): 32,
    ("sm100", "i8"): 32,
    ("sm100", "mxf8f6f4"): 32,
    ("sm100", "mxf4"): 64,
    ("sm100", "mxf4nvf4"): 64,
}

#: Where A may lie.
A_SOURCES = {name: name for name in ("smem", "tmem", "rmem")}
_SMEM, _TMEM, _EITHER = ("smem",), ("tmem",), ("smem", "tmem")

_WIDE = f"{_SHAPE}; {_UMMA} (f8f6f4: {_TRAITS}), *_SS; {_OPS}, MmaOp"
_NARROW_TMEM = f"{_SHAPE}; {_UMMA}, *_TS"
_M128_TMEM = f"{_SHAPE} and {_OPS}, MmaOp have N in steps of 8 wherever A lies; {_UMMA}, *_TS have steps of 16"
_PAIR_TMEM = f"{_SHAPE} and {_OPS}, MmaOp have N in steps of 16 wherever A lies; {_UMMA}, *_TS have steps of 32"
_M128_SPARSE = f"{_SHAPE} has N in steps of 8; {_OPS}, SparseMmaOp and {_UMMA}, SM100_MMA_F8F6F4_SS_SPARSE have 16"
_PAIR_SPARSE = (
    f"{_SHAPE} has N in steps of 16; {_OPS}, SparseMmaOp and {_UMMA}, SM100_MMA_F8F6F4_2x1SM_SS_SPARSE have 32"
)
_MX8_PAIR = f"{_SHAPE} and {_OPS}, MmaMXF8F6F4Op have M = 128; {_UMMA}, SM100_MMA_MXF8F6F4_2x1SM_SS has M = 256 only"
_I8_24 = f"{_SHAPE} and {_OPS}, MmaI8Op have N = 24; {_UMMA}, SM100_MMA_S8_SS has it not"
_I8_PAIR = f"{_OPS}, MmaI8Op has N in steps of 16; {_SHAPE} and {_UMMA} have steps of 32"
_SPARSE_PAIR = f"{_OPS}, BlockScaledSparseMmaOp has M = 128; {_SHAPE} has M = 256 only"
_K96 = (
    f"{_UMMA}, SM103_MXF4_ULTRA_SS_VS, SM103_MXF4_ULTRA_2x1SM_SS_VS and {_OPS}, SM103MmaMXF4Op have it; {_SHAPE} has "
    "K = 96 for M = 256 only"
)
_K96_N8 = f"{_OPS}, SM103MmaMXF4Op has N in steps of 8; {_UMMA}, SM103_MXF4_ULTRA_SS_VS has steps of 16"


def _wgmma() -> Iterable[ShapeRow]:
    for kind, n in (("f16", _N8), ("tf32", _N8), ("f8", _N8), ("i8", _N_INTEGER), ("b1", _N_INTEGER)):
        for sparse in (False, True) if kind != "b1" else (False,):
            k = DENSE_K["sm90", kind] * (1 + sparse)
            yield ShapeRow("sm90", kind, 1, (64,), n, k, sparse, False, _WGMMA, a_source=("smem", "rmem"))


# cta_group, M, N, where A may lie, source, who disputes it
_Part: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], tuple[str, ...], str, str]
_INTEGER: tuple[_Part, ...] = (
    (1, _ALL_M[1], (8, *_N16), _EITHER, _SHAPE, ""),
    (1, _ALL_M[1], _N_INTEGER, _EITHER, _SHAPE, _I8_24),
    (2, _ALL_M[2], _N32, _EITHER, _SHAPE, ""),
    (2, _ALL_M[2], _N16, _EITHER, _SHAPE, _I8_PAIR),
)
#: Of dense and of sparse instructions.
_FLOAT: tuple[tuple[_Part, ...], tuple[_Part, ...]] = (
    (
        (1, (64,), _N8, _EITHER, _SHAPE, ""),
        (1, (128,), _N8, _SMEM, _WIDE, ""),
        (2, _ALL_M[2], _N16, _SMEM, _WIDE, ""),
        (1, (128,), _N16, _TMEM, _NARROW_TMEM, ""),
        (1, (128,), _N8, _TMEM, _SHAPE, _M128_TMEM),
        (2, _ALL_M[2], _N32, _TMEM, _NARROW_TMEM, ""),
        (2, _ALL_M[2], _N16, _TMEM, _SHAPE, _PAIR_TMEM),
    ),
    (
        (1, (64,), _N8, _EITHER, _SHAPE, ""),
        (1, (128,), _N16, _EITHER, _SHAPE, ""),
        (1, (128,), _N8, _EITHER, _SHAPE, _M128_SPARSE),
        (2, _ALL_M[2], _N32, _EITHER, _SHAPE, ""),
        (2, _ALL_M[2], _N16, _EITHER, _SHAPE, _PAIR_SPARSE),
    ),
)


def _tcgen05() -> Iterable[ShapeRow]:
    """The rows of the kinds without scale factors: agreed, disputed, and weight-stationary ones."""
    for kind in _PLAIN:
        for sparse in (False, True):
            k = DENSE_K["sm100", kind] * (1 + sparse)
            for cta_group, m, n, places, source, disputed in _INTEGER if kind == "i8" else _FLOAT[sparse]:
                yield ShapeRow("sm100", kind, cta_group, m, n, k, sparse, False, source, disputed, places)
            yield ShapeRow(
                "sm100", kind, 1, (32, 64, 128), (64, 128) if sparse else (64, 128, 256), k, sparse, True, _SHAPE
            )


def _block_scaled() -> Iterable[ShapeRow]:
    for kind in _SCALED:
        k = DENSE_K["sm100", kind]
        yield ShapeRow("sm100", kind, 1, (128,), _N8, k, False, False, _SHAPE)
        if kind == "mxf8f6f4":
            yield ShapeRow("sm100", kind, 2, (256,), _N16, k, False, False, _SHAPE)
            yield ShapeRow("sm100", kind, 2, (128,), _N16, k, False, False, _SHAPE, _MX8_PAIR)
        else:
            yield ShapeRow("sm100", kind, 2, (128, 256), _N16, k, False, False, _SHAPE)
        yield ShapeRow("sm100", kind, 1, (128,), _N8, 2 * k, True, False, _SHAPE)
        yield ShapeRow("sm100", kind, 2, (256,), _N16, 2 * k, True, False, _SHAPE)
        yield ShapeRow("sm100", kind, 2, (128,), _N16, 2 * k, True, False, _OPS, _SPARSE_PAIR)
        if kind != "mxf8f6f4":
            only = f"{_SHAPE}; K = 96 is for target sm_103a"
            yield ShapeRow("sm100", kind, 2, (256,), _N16, 96, False, False, only)
            yield ShapeRow("sm100", kind, 2, (128,), _N16, 96, False, False, _UMMA, _K96)
            yield ShapeRow("sm100", kind, 1, (128,), _N16, 96, False, False, _UMMA, _K96)
            yield ShapeRow("sm100", kind, 1, (128,), _N8, 96, False, False, _OPS, _K96_N8)


#: Every instruction shape.
SHAPES = (*_wgmma(), *_tcgen05(), *_block_scaled())

_TWICE = f"{_TRANSPOSE} has twice the step of a K-major B"
_F8_TMEM = f"{_TWICE}; {_UMMA}, SM100_MMA_F8F6F4_TS does not check the major of B"
_F8_SPARSE = f"{_TWICE}; {_UMMA}, SM100_MMA_F8F6F4_SS_SPARSE and {_OPS}, SparseMmaOp do not check the major of B"
_I8_ANY = f"{_TWICE}; {_UMMA}, SM100_MMA_S8_SS does not check the major of B for N = 8"
_MX8_ANY = (
    f"{_TWICE}; {_UMMA}, SM100_MMA_MXF8F6F4_SS, MXF8F6F4_2x1SM_SS and {_OPS}, BlockScaledMmaOp do not check the "
    "major of B"
)
_TWICE_STEP = {1: _N16, 2: _N32}

#: N of an 8-bit MN-major B.
TRANSPOSED_B = (
    *(
        TransposedRow("sm100", kind, cta_group, n, f"{_TRANSPOSE}; {source}")
        for kind, source in (
            ("f8f6f4", f"{_OPS}, MmaOp; {_TRAITS}, SM100_MMA_F8F6F4_SS, SM100_MMA_F8F6F4_2x1SM_SS"),
            ("i8", f"{_OPS}, MmaOp"),
            ("mxf8f6f4", f"{_OPS}, MmaMXF8F6F4Op (docstring)"),
        )
        for cta_group, n in _TWICE_STEP.items()
    ),
    TransposedRow("sm100", "f8f6f4", 1, _N8, _UMMA, _F8_TMEM, (64,), _TMEM, False),
    TransposedRow("sm100", "f8f6f4", 1, _N8, _UMMA, _F8_SPARSE, (64,), _EITHER, True),
    TransposedRow("sm100", "i8", 1, (8,), _UMMA, _I8_ANY),
    TransposedRow("sm100", "mxf8f6f4", 1, _N8, _UMMA, _MX8_ANY),
    TransposedRow("sm100", "mxf8f6f4", 2, _N16, _UMMA, _MX8_ANY),
)

_FOUR = (SwizzleMode.NONE, SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128)
_ATOM_32 = (SwizzleMode.B128_BASE32B,)
_K_ATOM_32 = (
    f"{_SWIZZLE} says all modes; its table of swizzle atoms and {_TRAITS} have no K-major atom of 32-byte pieces"
)
_NARROW = (
    "CUTLASS media/docs/cpp/blackwell_functionality.md (TN, NT, NN, TT) and the CuTe DSL allow it; "
    f"{_SWIZZLE} lists 4- and 6-bit types as K-major only"
)


def _operand_rows() -> Iterable[OperandRow]:
    for row in KINDS:
        arch, kind = row.arch, row.kind
        source = _WGMMA if arch == "sm90" else _SWIZZLE
        yield OperandRow(arch, kind, row.dtypes, Major.K, _FOUR, source)
        if arch == "sm90":
            if kind == "f16":
                yield OperandRow(arch, kind, row.dtypes, Major.MN, _FOUR, source)
            continue
        yield OperandRow(arch, kind, row.dtypes, Major.K, _ATOM_32, source, _K_ATOM_32)
        match kind:
            case "tf32":
                yield OperandRow(arch, kind, row.dtypes, Major.MN, _ATOM_32, f"{source}; {_TRANSPOSE}")
            case "f8f6f4" | "mxf8f6f4":
                yield OperandRow(arch, kind, _F8, Major.MN, _FOUR, source)
                yield OperandRow(arch, kind, _CONTAINERS, Major.MN, _FOUR, _TRANSPOSE, _NARROW)
            case "f16" | "i8":
                yield OperandRow(arch, kind, row.dtypes, Major.MN, _FOUR, source)


#: Majors and swizzles of operands in shared memory.
OPERANDS = tuple(_operand_rows())

#: A in tensor memory has one major.
TMEM_OPERANDS = tuple(
    OperandRow(
        "sm100", row.kind, row.dtypes, Major.K, (), f"{_UMMA}, *_TS; " * (row.kind in _PLAIN) + f"{_OPS}, docstrings"
    )
    for row in KINDS
    if row.arch == "sm100"
)

_IDS_96 = f"{_SCALE} shows ids 1 and 3 for block32 with K = 96; {_IDESC} has 0 or 2"

# fmt: off
#: Scale factors.
SCALES = (
    ScaleRow("sm100", "mxf8f6f4", "ue8m0", 32, "1X", (0, 1, 2, 3), (32, 64), _SCALE),
    ScaleRow("sm100", "mxf4", "ue8m0", 32, "2X", (0, 2), (64, 128), _SCALE),
    ScaleRow("sm100", "mxf4nvf4", "ue8m0", 32, "2X", (0, 2), (64, 128), _SCALE),
    ScaleRow("sm100", "mxf4nvf4", "ue8m0", 16, "4X", (0,), (64, 128), _SCALE),
    ScaleRow("sm100", "mxf4nvf4", "ue4m3", 16, "4X", (0,), (64, 128), _SCALE),
    ScaleRow("sm100", "mxf4", "ue8m0", 32, "block32", (0, 2), (96,), _SCALE),
    ScaleRow("sm100", "mxf4", "ue8m0", 32, "block32", (0, 1, 2, 3), (96,), _SCALE, _IDS_96),
    ScaleRow("sm100", "mxf4nvf4", "ue8m0", 32, "block32", (0, 2), (96,), _SCALE),
    ScaleRow("sm100", "mxf4nvf4", "ue8m0", 32, "block32", (0, 1, 2, 3), (96,), _SCALE, _IDS_96),
    ScaleRow("sm100", "mxf4nvf4", "ue8m0", 16, "block16", (0, 2), (96,), _SCALE),
    ScaleRow("sm100", "mxf4nvf4", "ue4m3", 16, "block16", (0, 2), (96,), _SCALE),
)

#: Shapes of ``tcgen05.cp``.
COPIES = (
    CopyRow("sm100", "128x256b", 128, 256, (), _COPY),
    CopyRow("sm100", "4x256b", 4, 256, (), _COPY),
    CopyRow("sm100", "128x128b", 128, 128, (), _COPY),
    CopyRow("sm100", "64x128b", 64, 128, ("warpx2::02_13", "warpx2::01_23"), _COPY),
    CopyRow("sm100", "32x128b", 32, 128, ("warpx4",), _COPY),
)
# fmt: on


# fmt: off
_SHAPE_94 = "PTX ISA 9.4, tcgen05, Matrix Shape (Table 48)"
_IDESC_94 = "PTX ISA 9.4, tcgen05, Instruction descriptor (Tables 51-53)"
_SCALE_94 = "PTX ISA 9.4, tcgen05, Valid combinations of scale_vectorsize with types and MMA-Kind (Table 68)"
_COMPILED = "CuTe DSL 4.8.1, compiled for sm_107a"
_K64_SMALL = f"{_COMPILED} has K = 64 with M = 64, and M = 128 of a pair; {_SHAPE_94} has M = 128, of a pair 256"
_K64_TYPES = (
    f"PTX ISA 9.4, tcgen05, Transpose and Negate operations (Table 62) speaks of e2m1 with K = 64; {_SHAPE_94} has "
    "e4m3 and e5m2 alone"
)
_K128_ONE = f"{_COMPILED} has K = 128 with M = 128 of one CTA; {_SHAPE_94} has M = 256 of a pair only"
_TWO_FACTORS = f"{_COMPILED}: two factors a row, one for 32 elements; {_SCALE_94} has one"
_TI16, _RUBIN_ONLY = ("s1z4m11",), "sm_107a, sm_107f"


def _wide(kind: str, k: int, cta_group: int, m: tuple[int, ...], disputed: str = "", sparse: bool = False) -> ShapeRow:
    n = _N8 if cta_group == 1 else _N16
    return ShapeRow("sm107", kind, cta_group, m, n, k, sparse, False, _SHAPE_94, disputed)


#: What an architecture has beside the rows of the one that its own are made from.
LATER: tuple[KindRow | TypeRow | ShapeRow | OperandRow | ScaleRow, ...] = (
    KindRow("sm107", "ti16", _TI16, True, False, (0,), True, _RUBIN_ONLY, _IDESC_94),
    TypeRow("sm107", "ti16", _TI16, _TI16, ("s32",), _IDESC_94),
    TypeRow("sm107", "f8f6f4", _F8, _F8, ("f16", "f32"), _SHAPE_94),
    TypeRow("sm107", "f8f6f4", _F8F6F4, _F8F6F4, ("f16", "f32"), _SHAPE_94, _K64_TYPES),
    OperandRow("sm107", "ti16", _TI16, Major.K, _FOUR, _IDESC_94),
    OperandRow("sm107", "ti16", _TI16, Major.MN, _FOUR, _IDESC_94),
    *(
        ShapeRow("sm107", "ti16", group, m, n, k, k == 32, False, _SHAPE_94)
        for k in (16, 32) for group, m, n in ((1, (64,), _N8), (1, (128,), _N16), (2, (128, 256), _N32))
    ),
    *(
        ShapeRow("sm107", "ti16", 1, (32, 64, 128), n, k, k == 32, True, _SHAPE_94)
        for k, n in ((16, (64, 128, 256)), (32, (64, 128)))
    ),
    *(
        _wide(kind, 64, group, m, disputed)
        for kind in ("f8f6f4", "mxf8f6f4")
        for group, m, disputed in ((1, (128,), ""), (2, (256,), ""), (1, (64,), _K64_SMALL), (2, (128,), _K64_SMALL))
        if (kind, m) != ("mxf8f6f4", (64,))
    ),
    _wide("mxf8f6f4", 128, 1, (128,), sparse=True),
    _wide("mxf8f6f4", 128, 2, (256,), sparse=True),
    *(_wide(kind, 128, 2, (256,)) for kind in ("mxf4", "mxf4nvf4")),
    *(_wide(kind, 128, 1, (128,), _K128_ONE) for kind in ("mxf4", "mxf4nvf4")),
    ScaleRow("sm107", "mxf8f6f4", "ue8m0", 32, "block32", (0, 1, 2, 3), (64, 128), _SCALE_94, factors=1),
    ScaleRow("sm107", "mxf8f6f4", "ue8m0", 32, "block32", (0, 2), (64, 128), _COMPILED, _TWO_FACTORS),
    ScaleRow("sm107", "mxf4", "ue8m0", 32, "block32", (0,), (128,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue8m0", 32, "block32", (0,), (128,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue8m0", 16, "block16", (0,), (128,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue4m3", 16, "block16", (0,), (128,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue4m3", 32, "block32", (0, 2), (64,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue4m3", 32, "block32", (0,), (128,), _SCALE_94),
    ScaleRow("sm107", "mxf4nvf4", "ue5m3", 32, "block32", (0, 2), (64,), _COMPILED),
    ScaleRow("sm107", "mxf4nvf4", "ue5m3", 32, "block32", (0,), (128,), _COMPILED),
    ScaleRow("sm107", "mxf4nvf4", "ue5m3", 16, "4X", (0,), (64, 128), _IDESC_94),
    ScaleRow("sm107", "mxf4nvf4", "ue5m3", 16, "block16", (0, 2), (96,), _IDESC_94),
    ScaleRow("sm107", "mxf4nvf4", "ue5m3", 16, "block16", (0,), (128,), _IDESC_94),
)
# fmt: on
