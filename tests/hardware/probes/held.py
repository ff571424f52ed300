"""The instructions of the probes of fragments, as data, and the CUDA C++ that issues one on registers from the host.

Nothing here knows which thread holds what: counts of registers are counts of elements.
Source: PTX ISA 9.1, mma, ldmatrix, stmatrix (shapes and types that sm_90a has).
"""

from __future__ import annotations

from dataclasses import dataclass

from probes.instructions import TYPES, Instruction, legal_n, struct_source

#: Bits of a type in a register, and its numbers 0, 1, 2, ... as bit patterns, as many as are exact.
NUMBERS: dict[str, tuple[int, tuple[int, ...]]] = {
    "f16": (16, (0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700)),
    "bf16": (16, (0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0)),
    "tf32": (32, tuple(bits << 16 for bits in (0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0))),
    "f64": (64, tuple(bits << 48 for bits in (0, 0x3FF0, 0x4000, 0x4008, 0x4010, 0x4014, 0x4018, 0x401C))),
    "e4m3": (8, (0, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E)),
    "e5m2": (8, (0, 0x3C, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47)),
    "s8": (8, tuple(range(8))),
    "u8": (8, tuple(range(8))),
    "s4": (4, tuple(range(8))),
    "u4": (4, tuple(range(8))),
    "b1": (1, (0, 1)),
}

_FLOATS = [("m16n8k8", "f16", "f32"), ("m16n8k8", "f16", "f16"), ("m16n8k8", "bf16", "f32"), ("m16n8k4", "tf32", "f32")]
_FLOATS += [("m16n8k16", "f16", "f32"), ("m16n8k16", "f16", "f16"), ("m16n8k16", "bf16", "f32")]
_FLOATS += [("m16n8k8", "tf32", "f32"), ("m16n8k32", "e4m3", "f32"), ("m16n8k32", "e5m2", "f32")]
_DOUBLES = [(shape, "f64", "f64") for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
_BYTES = [(shape, one, "s32") for shape in ("m8n8k16", "m16n8k16", "m16n8k32") for one in ("s8", "u8")]
_NIBBLES = [(shape, one, "s32") for shape in ("m8n8k32", "m16n8k32", "m16n8k64") for one in ("s4", "u4")]
_BITS = [(shape, "b1", "s32") for shape in ("m8n8k128", "m16n8k128", "m16n8k256")]


@dataclass(frozen=True, slots=True)
class Mma:
    """One ``mma.sync``.

    Args:
        shape: as in ``m16n8k16``.
        dtype: type of A and B, a key of ``NUMBERS``.
        accumulator: type of C and D.
    """

    shape: str
    dtype: str
    accumulator: str

    @property
    def extents(self) -> tuple[int, int, int]:
        """M, N and K.

        >>> Mma("m16n8k32", "s8", "s32").extents
        (16, 8, 32)
        """
        m, _, rest = self.shape[1:].partition("n")
        n, _, k = rest.partition("k")
        return int(m), int(n), int(k)

    def values(self, operand: str) -> int:
        """Elements of A, B or D that a thread holds: all of them, over 32 threads."""
        m, n, k = self.extents
        return {"A": m * k, "B": n * k, "D": m * n}[operand] // 32

    @property
    def name(self) -> str:
        """An identifier.

        >>> Mma("m16n8k32", "s8", "s32").name
        'm16n8k32_s8_s32'
        """
        return f"{self.shape}_{self.dtype}_{self.accumulator}"

    @property
    def opcode(self) -> str:
        """The PTX opcode.

        >>> Mma("m16n8k256", "b1", "s32").opcode
        'mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc'
        """
        d = self.accumulator
        tail = ".and.popc" if self.dtype == "b1" else ""
        return f"mma.sync.aligned.{self.shape}.row.col.{d}.{self.dtype}.{self.dtype}.{d}{tail}"


def every_mma() -> list[Mma]:
    """Every dense ``mma.sync`` of sm_90a, one of each shape and type; without m8n8k4 in f16, which is Volta's."""
    return [Mma(*row) for row in _FLOATS + _DOUBLES + _BYTES + _NIBBLES + _BITS]


def every_wgmma() -> list[Instruction]:
    """The ``wgmma`` of which D is measured: every N for f16, some for the other types, and f16 accumulators."""
    all_n = [Instruction("f16", n) for n in legal_n("f16")]
    some = [Instruction(dtype, n) for dtype in TYPES if dtype != "f16" for n in (8, 16, 32, 64, 256)]
    return [*all_n, *some, *(Instruction("f16", n, half=True) for n in (8, 64, 256))]


def every_wgmma_of_a() -> list[Instruction]:
    """The ``wgmma`` of which A is measured, in registers: N is K, so that B can be an identity."""
    return [Instruction(dtype, Instruction(dtype, 8).k, a_in_registers=True) for dtype in TYPES]


def wgmma_source(dtype: str) -> str:
    """The translation unit of a type's ``wgmma``."""
    chosen = [one for one in every_wgmma() + every_wgmma_of_a() if one.dtype == dtype]
    parts = ['#include "fragments.cuh"\n']
    for one in chosen:
        parts.append(struct_source(one))
        parts.append(
            f'extern "C" __global__ void __launch_bounds__(128) held_{one.name}(const uint8_t* images, '
            "const uint32_t* registers, uint32_t* out, int count) {\n"
            f"  held<{one.name}>(images, registers, out, count);\n}}\n"
        )
    return "\n".join(parts)


def mma_source() -> str:
    """The translation unit of all ``mma.sync``: launch i takes A number i / patterns and B number i mod patterns."""
    return "#include <cstdint>\n\n" + "\n".join(map(_mma_kernel, every_mma()))


def _mma_kernel(one: Mma) -> str:
    wide = one.dtype == "f64"
    size = NUMBERS[one.dtype][0]
    a, b = (one.values(which) * size // (64 if wide else 32) for which in "AB")
    d = one.values("D") // (2 if one.accumulator == "f16" else 1)
    kind = {"f64": "double", "f32": "float"}.get(one.accumulator, "uint32_t")
    take = "d" if wide else "r"
    give = {"double": "+d", "float": "+f", "uint32_t": "+r"}[kind]
    word = "double" if wide else "uint32_t"
    counts = [range(d), range(d, d + a), range(d + a, d + a + b)]
    lists = ["{" + ", ".join(f"%{i}" for i in numbers) + "}" for numbers in counts]
    outputs = ", ".join(f'"{give}"(d[{i}])' for i in range(d))
    inputs = ", ".join([f'"{take}"(x[{i}])' for i in range(a)] + [f'"{take}"(y[{i}])' for i in range(b)])
    return f"""extern "C" __global__ void mma_{one.name}(
    const {word}* a, const {word}* b, {kind}* out, int count, int patterns) {{
  for (int i = blockIdx.x; i < count; i += gridDim.x) {{
    {word} x[{a}], y[{b}];
    {kind} d[{d}] = {{}};
    for (int r = 0; r < {a}; ++r) x[r] = a[(static_cast<size_t>(i / patterns) * 32 + threadIdx.x) * {a} + r];
    for (int r = 0; r < {b}; ++r) y[r] = b[(static_cast<size_t>(i % patterns) * 32 + threadIdx.x) * {b} + r];
    asm volatile("{one.opcode} {lists[0]}, {lists[1]}, {lists[2]}, {lists[0]};\\n" : {outputs} : {inputs});
    for (int r = 0; r < {d}; ++r) out[(static_cast<size_t>(i) * 32 + threadIdx.x) * {d} + r] = d[r];
  }}
}}
"""


def matrix_source() -> str:
    """The translation unit of ``ldmatrix`` and ``stmatrix``."""
    return "#include <cstdint>\n\n" + "\n".join(
        _matrix_kernel(kind, count, trans) for kind in ("ld", "st") for count in (1, 2, 4) for trans in (False, True)
    )


#: Bytes of shared memory that ``ldmatrix`` and ``stmatrix`` are probed in: 64 rows.
MATRIX_BYTES = 64 * 16


def matrix_name(kind: str, count: int, trans: bool) -> str:
    """The name of an ``ldmatrix`` (``ld``) or ``stmatrix`` (``st``).

    >>> matrix_name("ld", 4, True)
    'ldmatrix.x4.trans'
    """
    return f"{kind}matrix.x{count}{'.trans' if trans else ''}"


def _matrix_kernel(kind: str, count: int, trans: bool) -> str:
    registers = "{" + ", ".join(f"%{i + (kind == 'st')}" for i in range(count)) + "}"
    opcode = f"{kind}matrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16"
    address = "static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + offsets[threadIdx.x]"
    if kind == "ld":
        outputs = ", ".join(f'"=r"(d[{i}])' for i in range(count))
        issue = f'asm volatile("{opcode} {registers}, [%{count}];\\n" : {outputs} : "r"(address) : "memory");'
    else:
        inputs = ", ".join(f'"r"(d[{i}])' for i in range(count))
        issue = f'asm volatile("{opcode} [%0], {registers};\\n" : : "r"(address), {inputs} : "memory");'
    name = matrix_name(kind, count, trans).replace(".", "_")
    return f"""extern "C" __global__ void {name}(
    const uint32_t* image, const uint32_t* offsets, const uint32_t* registers, uint32_t* memory, uint32_t* out) {{
  __shared__ __align__(1024) uint32_t shared[{MATRIX_BYTES // 4}];
  for (int i = threadIdx.x; i < {MATRIX_BYTES // 4}; i += 32) shared[i] = image[i];
  __syncwarp();
  uint32_t d[{count}];
  for (int r = 0; r < {count}; ++r) d[r] = registers[threadIdx.x * {count} + r];
  const uint32_t address = {address};
  {issue}
  __syncwarp();
  for (int r = 0; r < {count}; ++r) out[threadIdx.x * {count} + r] = d[r];
  for (int i = threadIdx.x; i < {MATRIX_BYTES // 4}; i += 32) memory[i] = shared[i];
}}
"""


def sparse_warp_kernel(one: Mma, name: str, selector: int, ordered: bool) -> str:
    """The kernel of a sparse ``mma.sync``: case i takes A, B and metadata by its three numbers.

    Args:
        one: shape and types; K counts zeros.
        name: of the kernel.
        selector: the immediate.
        ordered: whether the opcode says ``ordered_metadata``.
    """
    size, (_, _, k) = NUMBERS[one.dtype][0], one.extents
    a, b = 16 * k // 2 * size // 1024, 8 * k * size // 1024
    d = 2 if one.accumulator == "f16" else 4
    kind = "float" if one.accumulator == "f32" else "uint32_t"
    give = "+f" if kind == "float" else "+r"
    counts = [range(d), range(d, d + a), range(d + a, d + a + b)]
    lists = ["{" + ", ".join(f"%{i}" for i in numbers) + "}" for numbers in counts]
    outputs = ", ".join(f'"{give}"(d[{i}])' for i in range(d))
    inputs = ", ".join([f'"r"(x[{i}])' for i in range(a)] + [f'"r"(y[{i}])' for i in range(b)] + ['"r"(e)'])
    types = f"{one.accumulator}.{one.dtype}.{one.dtype}.{one.accumulator}"
    opcode = f"mma.sp{'::ordered_metadata' * ordered}.sync.aligned.{one.shape}.row.col.{types}"
    issue = f"{opcode} {lists[0]}, {lists[1]}, {lists[2]}, {lists[0]}, %{d + a + b}, {selector};"
    return f"""extern "C" __global__ void {name}(
    const int* cases, const uint32_t* a, const uint32_t* b, const uint32_t* metadata, {kind}* out, int count) {{
  for (int i = blockIdx.x; i < count; i += gridDim.x) {{
    const int* one = cases + 3 * static_cast<size_t>(i);
    uint32_t x[{a}], y[{b}];
    {kind} d[{d}] = {{}};
    for (int r = 0; r < {a}; ++r) x[r] = a[(static_cast<size_t>(one[0]) * 32 + threadIdx.x) * {a} + r];
    for (int r = 0; r < {b}; ++r) y[r] = b[(static_cast<size_t>(one[1]) * 32 + threadIdx.x) * {b} + r];
    const uint32_t e = metadata[static_cast<size_t>(one[2]) * 32 + threadIdx.x];
    asm volatile("{issue}\\n" : {outputs} : {inputs});
    for (int r = 0; r < {d}; ++r) out[(static_cast<size_t>(i) * 32 + threadIdx.x) * {d} + r] = d[r];
  }}
}}
"""


#: Shape, type, accumulator, and how many selectors the assembler takes.
_SPARSE = [("m16n8k16", "f16", "f32", 4), ("m16n8k32", "f16", "f32", 4), ("m16n8k32", "f16", "f16", 2)]
_SPARSE += [("m16n8k16", "bf16", "f32", 4), ("m16n8k32", "bf16", "f32", 2)]
_SPARSE += [("m16n8k8", "tf32", "f32", 4), ("m16n8k16", "tf32", "f32", 2)]
_SPARSE += [(shape, one, "s32", n) for shape, n in (("m16n8k32", 2), ("m16n8k64", 1)) for one in ("s8", "u8")]
_SPARSE += [("m16n8k64", "e4m3", "f32", 1), ("m16n8k64", "e5m2", "f32", 1)]
_SPARSE += [(shape, one, "s32", n) for shape, n in (("m16n8k64", 2), ("m16n8k128", 1)) for one in ("s4", "u4")]


@dataclass(frozen=True, slots=True)
class SparseMma:
    """One ``mma.sp.sync`` with its selector.

    Args:
        mma: shape and types; K counts zeros.
        selector: the immediate.
        ordered: whether the opcode says ``ordered_metadata``.
    """

    mma: Mma
    selector: int
    ordered: bool

    @property
    def name(self) -> str:
        """The name of a case.

        >>> every_sparse_mma()[0].name
        'mma.sp m16n8k16 f16 f32 selector 0'
        """
        one = self.mma
        sparse = "mma.sp::ordered_metadata" if self.ordered else "mma.sp"
        return f"{sparse} {one.shape} {one.dtype} {one.accumulator} selector {self.selector}"

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return f"sp{'o' * self.ordered}_{self.mma.name}_{self.selector}"

    @property
    def group(self) -> int:
        """Elements that four bits of metadata speak of, zeros counted."""
        return {32: 2, 4: 8}.get(NUMBERS[self.mma.dtype][0], 4)


def every_sparse_mma() -> list[SparseMma]:
    """Every sparse ``mma.sync`` of sm_90a with every selector, and as many with ordered metadata."""
    rows = [(Mma(*row[:3]), row[3]) for row in _SPARSE]
    return [SparseMma(one, s, ordered) for ordered in (False, True) for one, count in rows for s in range(count)]


def sparse_warps_source() -> str:
    """The translation unit of all sparse ``mma.sync``."""
    made = [sparse_warp_kernel(one.mma, one.kernel, one.selector, one.ordered) for one in every_sparse_mma()]
    return "#include <cstdint>\n\n" + "\n".join(made)
