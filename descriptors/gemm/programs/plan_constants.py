"""Write the constants of a plan that all CUDA programs share: operands, C, and options of the ``.cuh`` files.

Invariant: an option of the files is set only if the plan has the feature that it names.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n64k16", "bf16", tile=(64, 64, 64), c_dtype="bf16", terms="bias", verify=False)
>>> sorted(epilogue_options(example))
['BIAS', 'FINISHED', 'PIECE_16', 'STAGED', 'TERMS']
>>> print(step_function("a_k_step", (0, 2, 1024)))
__host__ __device__ constexpr uint32_t a_k_step(int i) {
  constexpr uint32_t all[] = {0, 2, 1024};
  return all[i];
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descriptors.gemm.epilogue import BITS, BUFFERS, MAP_TYPES
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.c_expressions import CPP_TYPES
from descriptors.gemm.programs.pieces import conversion, piece_at
from descriptors.smem.operands.operand import Major
from descriptors.smem.tma.tma_plan import Box, TmaPlan


def step_function(name: str, steps: Sequence[int], kind: str = "uint32_t") -> str:
    """Return a CUDA function for the i-th of some numbers: a product if they are linear, else a table.

    Args:
        name: name of the function.
        steps: the numbers.
        kind: the C++ type of the numbers.
    """
    head = f"__host__ __device__ constexpr {kind} {name}(int i)"
    unit = steps[1] if len(steps) > 1 else 0
    if list(steps) == [i * unit for i in range(len(steps))]:
        return f"{head} {{ return i * {unit}; }}"
    return f"{head} {{\n  constexpr {kind} all[] = {{{', '.join(map(str, steps))}}};\n  return all[i];\n}}"


#: The header that declares each C++ type.
_HEADERS = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h", "e4m3": "cuda_fp8.h", "e5m2": "cuda_fp8.h"}


def type_headers(*types: str) -> str:
    """Return the includes of the headers that declare some element types."""
    return "\n".join(
        f"#include <{header}>" for header in sorted({_HEADERS[name] for name in types if name in _HEADERS})
    )


def boolean(value: object) -> str:
    """Return ``true`` or ``false``."""
    return "true" if value else "false"


def map_constants(matrix: str, tma: TmaPlan, major: Major) -> Iterator[str]:
    """Yield the constants with which the host program encodes the tensor map of an operand.

    Args:
        matrix: ``"A"`` or ``"B"``.
        tma: the copies of the operand.
        major: the contiguous dimension in global memory.
    """
    yield f"constexpr bool {matrix}_MN_MAJOR = {boolean(major is Major.MN)};"
    yield f"constexpr CUtensorMapDataType {matrix}_MAP_TYPE = {tma.data_type_name};"
    yield f"constexpr CUtensorMapSwizzle {matrix}_MAP_SWIZZLE = {tma.swizzle_name};"
    inner, outer = tma.box
    box = f"{matrix}_BOX_INNER = {inner}, {matrix}_BOX_OUTER = {outer}"
    yield f"constexpr int {matrix}_BITS = {tma.element.bits}, {box};  // of an element; of a box"


def box_constants(matrix: str, boxes: Sequence[Box]) -> Iterator[str]:
    """Yield the coordinates and addresses of the boxes of an operand.

    Args:
        matrix: ``"A"`` or ``"B"``.
        boxes: the boxes of a stage.
    """
    low = matrix.lower()
    yield f"constexpr int {matrix}_BOXES = {len(boxes)};  // where they begin in the tile, and in shared memory"
    yield step_function(f"{low}_box_mn", [box.origin[0] for box in boxes], "int")
    yield step_function(f"{low}_box_k", [box.origin[1] for box in boxes], "int")
    yield step_function(f"{low}_box_at", [box.offset_bytes for box in boxes])


def convolution_constants(implicit: ImplicitGemm) -> Iterator[str]:
    """Yield the constants of a convolution: taps, strides, dilations, padding, planned extents, and their type.

    Args:
        implicit: the convolution as a product.
    """
    convolution = implicit.convolution
    for name, (h, w) in (
        ("TAPS", convolution.taps),
        ("STRIDE", convolution.stride),
        ("DILATION", convolution.dilation),
        ("PADDING", convolution.padding),
    ):
        yield f"constexpr int {name}_H = {h}, {name}_W = {w};"
    yield "constexpr int TAPS = TAPS_H * TAPS_W;"
    yield f"constexpr int IMAGES = {convolution.images}, HEIGHT = {convolution.height}, WIDTH = {convolution.width};"
    yield f"constexpr int CHANNELS = {convolution.channels}, FILTERS = {convolution.filters};"
    yield _EXTENTS


_EXTENTS = """
// The extents of activations and filters, and with them of the output.
struct Convolution {
  int images, height, width, channels, filters;
  __host__ __device__ constexpr int p() const {
    return outputs(height + 2 * PADDING_H - DILATION_H * (TAPS_H - 1), STRIDE_H);
  }
  __host__ __device__ constexpr int q() const {
    return outputs(width + 2 * PADDING_W - DILATION_W * (TAPS_W - 1), STRIDE_W);
  }
  __host__ __device__ constexpr int pixels() const { return images * p() * q(); }
  __host__ __device__ static constexpr int outputs(int room, int stride) { return (room + stride - 1) / stride; }
};"""


def epilogue_options(plan: Plan) -> dict[str, int]:
    """Return the options of the files for the storing of C.

    Args:
        plan: the plan.
    """
    epilogue, parts = plan.epilogue, plan.epilogue.splits > 1
    options = {
        "STAGED": epilogue.staged is not None,
        "PIECE_16": epilogue.staged is not None and BITS[epilogue.staged.type] == 16,
        "PIECE_32": epilogue.staged is not None and BITS[epilogue.staged.type] == 32,
        "SPLIT": parts,
        "TERMS": bool(epilogue.terms),
        "FINISHED": bool(epilogue.terms) and not parts,  # with parts, the second kernel applies the terms
        **{name.upper().replace("-", "_"): 1 for name in epilogue.terms},
    }
    return {name: int(value) for name, value in options.items() if value}


def epilogue_constants(plan: Plan) -> Iterator[str]:
    """Yield the constants of C: its type, its pieces in shared memory, and its parts along K.

    Args:
        plan: the plan.
    """
    epilogue = plan.epilogue
    yield f"using TypeC = {CPP_TYPES[epilogue.c]};"
    yield f"constexpr int SPLITS = {epilogue.splits};  // parts along K"
    if epilogue.staged is None:
        return
    pieces = epilogue.staged
    yield f"constexpr int PIECES = {pieces.base}, PIECE_BYTES = {pieces.piece_bytes};  // of C, {BUFFERS} a writer"
    bits = BITS[pieces.type]
    yield f"constexpr int PIECE_COLUMNS = {pieces.columns}, PIECE_ROWS = {pieces.rows}, PIECE_BITS = {bits};"
    yield f"constexpr CUtensorMapDataType C_MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[pieces.type]};"
    yield f"constexpr CUtensorMapSwizzle C_MAP_SWIZZLE = CU_TENSOR_MAP_SWIZZLE_{str(pieces.swizzle).upper()};"


def epilogue_functions(plan: Plan) -> str:
    """Return the functions that place and round elements of C in shared memory; "" if C is stored from registers.

    Args:
        plan: the plan.
    """
    staged = plan.epilogue.staged
    return "" if staged is None else f"{piece_at(staged)}\n{conversion(staged.type, plan.asked.d)}"


#: Exponent and mantissa bits of each floating-point type; all have the IEEE bias (OCP 8-bit and MX formats).
_FIELDS = {
    "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2),
    "e2m1": (2, 1),
}  # fmt: skip


def number_code(dtype: str, value: int) -> int:
    """Return the bits of an integer from -3 to 3 in an element type; from 0 to 3 for u8.

    Args:
        dtype: the element type.
        value: the integer.

    >>> number_code("s8", -2), number_code("e4m3", -2), number_code("e5m2", 3)
    (254, 192, 66)
    """
    if dtype in ("s8", "u8"):
        return value & 0xFF
    if dtype == "s1z4m11":  # sign and magnitude
        return int(value < 0) << 15 | abs(value)
    exponent, mantissa = _FIELDS[dtype]
    size = abs(value)
    sign = int(value < 0) << (exponent + mantissa)
    if not size:
        return 0
    power = size.bit_length() - 1
    bias = (1 << (exponent - 1)) - 1
    return sign | (power + bias) << mantissa | (size - (1 << power)) << mantissa >> power
