"""The ``wgmma`` instructions, as data, and the CUDA C++ that wraps one of them in a struct.

Each :class:`Instruction` becomes a struct with the types, the extents and ``mma(accumulators, a, b, keep)``; the
kernels in ``kernels/`` are templates over such structs.
Source: PTX ISA 9.1, "Asynchronous warpgroup level matrix instructions: wgmma.mma_async".
"""

from __future__ import annotations

from dataclasses import dataclass

#: PTX type, C++ tag of the kernels' ``Type<>``, bytes an element, whether the operands may be MN-major.
TYPES = {
    "f16": (2, True),
    "bf16": (2, True),
    "tf32": (4, False),
    "e4m3": (1, False),
    "e5m2": (1, False),
    "s8": (1, False),
    "u8": (1, False),
}
#: Types whose elements are smaller than a byte, with the type of the bytes that the probes store.
STORED_AS = {"b1": "u8"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One ``wgmma.mma_async`` of M = 64.

    Args:
        dtype: type of both operands, a key of ``TYPES`` or of ``STORED_AS``.
        n: the N of the instruction.
        a_in_registers: whether A comes from registers and not from shared memory.
        a_mn, b_mn: whether A, B are MN-major ("transposed" in PTX).
        half: whether the accumulators are f16, two in a register.
        selector: which threads' metadata it reads, of ``wgmma.mma_async.sp``; None of a dense one.
    """

    dtype: str
    n: int
    a_in_registers: bool = False
    a_mn: bool = False
    b_mn: bool = False
    half: bool = False
    selector: int | None = None

    @property
    def element_bytes(self) -> int:
        """Bytes of one stored element: a byte of eight bits for ``b1``."""
        return TYPES[self.stored_dtype][0]

    @property
    def stored_dtype(self) -> str:
        """The type of the elements as the probes store them."""
        return STORED_AS.get(self.dtype, self.dtype)

    @property
    def k(self) -> int:
        """The K of the instruction in stored elements: 32 bytes, or twice as many if A is sparse."""
        return 32 // self.element_bytes * (1 if self.selector is None else 2)

    @property
    def integer(self) -> bool:
        """Whether the accumulators are s32 and not f32."""
        return self.stored_dtype in ("s8", "u8")

    @property
    def name(self) -> str:
        """An identifier, unique to the instruction.

        >>> Instruction("f16", 64, a_in_registers=True, b_mn=True).name
        'f16_n64_rs_kt'
        """
        source = "rs" if self.a_in_registers else "ss"
        majors = f"{'t' if self.a_mn else 'k'}{'t' if self.b_mn else 'k'}"
        ends = ("_h" if self.half else "") + ("" if self.selector is None else f"_sp{self.selector}")
        return f"{self.dtype}_n{self.n}_{source}_{majors}{ends}"

    @property
    def accumulator(self) -> str:
        """PTX type of the accumulators."""
        return "s32" if self.integer else "f16" if self.half else "f32"

    @property
    def accumulators(self) -> int:
        """Registers of one thread that hold accumulators.

        >>> Instruction("f16", 64).accumulators, Instruction("f16", 64, half=True).accumulators
        (32, 16)
        """
        return self.n // (4 if self.half else 2)

    @property
    def opcode(self) -> str:
        """The PTX opcode.

        >>> Instruction("e4m3", 64).opcode
        'wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3'
        >>> Instruction("b1", 64).opcode
        'wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc'
        """
        sp = "" if self.selector is None else ".sp"
        k, end = (256, ".and.popc") if self.dtype == "b1" else (self.k, "")
        types = f"{self.accumulator}.{self.dtype}.{self.dtype}"
        return f"wgmma.mma_async{sp}.sync.aligned.m64n{self.n}k{k}.{types}{end}"


def legal_n(dtype: str) -> list[int]:
    """Every N that the type's instructions have.

    >>> legal_n("s8")[:6], len(legal_n("f16"))
    ([8, 16, 24, 32, 48, 64], 32)
    """
    steps = range(8, 257, 8)
    return [n for n in steps if dtype not in ("s8", "u8") or n <= 32 or n % 16 == 0]


def struct_source(one: Instruction) -> str:
    """The C++ struct of an instruction, named as ``Instruction.name``."""
    count = one.accumulators
    constraint = "+f" if one.accumulator == "f32" else "+r"
    outputs = ", ".join(f'"{constraint}"(d[{i}])' for i in range(count))
    registers = ", ".join(f"%{i}" for i in range(count))
    place = count
    if one.a_in_registers:
        a_text = "{" + ", ".join(f"%{place + i}" for i in range(4)) + "}"
        a_inputs, a_type, place = ", ".join(f'"r"(a[{i}])' for i in range(4)), "const uint32_t (&a)[4]", place + 4
    else:
        a_text, a_inputs, a_type, place = f"%{place}", '"l"(a)', "uint64_t a", place + 1
    tail, e_type, e_input = "p", "", ""
    if one.selector is not None:
        tail = f"%{place + 1}, {one.selector}, p"
        place, e_type, e_input = place + 1, "uint32_t e, ", '"r"(e), '
    b_place = place - (one.selector is not None)
    if not one.integer:
        tail += ", 1, 1"  # neither operand negated
    if TYPES[one.stored_dtype][1]:
        tail += (f", {int(one.a_mn)}" if not one.a_in_registers else "") + f", {int(one.b_mn)}"
    accumulator = {"s32": "int32_t", "f32": "float", "f16": "uint32_t"}[one.accumulator]
    return f"""struct {one.name} {{
  using Element = {one.stored_dtype}_t;
  using Accumulator = {accumulator};
  static constexpr int N = {one.n}, K = {one.k}, accumulators = {count};
  static constexpr bool a_in_registers = {str(one.a_in_registers).lower()};
  static __device__ __forceinline__ void mma({accumulator} (&d)[{count}], {a_type}, uint64_t b, {e_type}int keep) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{place + 1}, 0;\\n"
                 "{one.opcode} {{{registers}}}, {a_text}, %{b_place}, {tail};\\n}}\\n"
                 : {outputs}
                 : {a_inputs}, "l"(b), {e_input}"r"(keep));
  }}
}};
"""
