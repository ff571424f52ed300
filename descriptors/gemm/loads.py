"""A of a program in registers: where an element lies in a stage, and the load of a K block.

Law: the load is the one that the plan proves.

>>> from descriptors.plans.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 16), a_major="MN", a_source="registers", verify=False)
>>> [line.split()[1] for line in "".join(loads_of(made)).splitlines() if "ldmatrix" in line]
['volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16']
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.derivation.parts.derivation import Derivation
from descriptors.gemm.parts.held import row_and_column
from descriptors.gemm.parts.offsets import byte_offset
from descriptors.plans.parts.fragments import ROWS, LoadedOperand
from descriptors.plans.plan import Plan


def place_of(one: Derivation) -> str:
    """A function: the byte, from the start of a stage, at which an element of A begins.

    Args:
        one: A, whose layout's first two modes are M and K.
    """
    affine, swizzled = byte_offset(one)
    return "\n".join(
        [
            f"// Of a stage of A, {one.smem_tile}, in bytes.",
            "__device__ constexpr uint32_t a_at(uint32_t row, uint32_t column) {",
            f"  const uint32_t at = {affine};",
            f"  return {swizzled};",
            "}\n",
        ]
    )


def loads_of(made: Plan) -> Iterator[str]:
    """The functions of A in registers; none where a word gives A to the instruction."""
    if made.loads is None:
        return
    yield place_of(made.a.derivation)
    yield _HEAD + (_matrices if made.loads.move.startswith("ldmatrix") else _elements)(made.loads)


_HEAD = """\
// What a thread holds of a K block of A whose rows and columns begin there.
__device__ __forceinline__ void load_a(uint32_t (&a)[4], uint32_t tile, int rows, int columns, int thread) {
"""


def _matrices(loads: LoadedOperand) -> str:
    """One ``ldmatrix``: which row of which matrix a thread points at is asked of the plan, bit by bit of its number."""
    row, column = (_bits([loads.pointer(1 << bit)[index] for bit in range(7)]) for index in (0, 1))
    return f"""\
  const uint32_t from = tile + a_at(rows + {row},
                                    columns + {column});
  asm volatile("{loads.move} {{%0, %1, %2, %3}}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(from)
               : "memory");
}}
"""


def _bits(weights: list[int]) -> str:
    """A sum over the bits of the thread's number; bits whose weights double are taken together.

    >>> _bits([1, 2, 4, 8, 0, 16, 32]), _bits([0, 0, 0, 0, 16, 0, 0])
    ('(thread & 15) + (thread >> 5 & 3) * 16', '(thread >> 4 & 1) * 16')
    """
    terms, bit = list[str](), 0
    while bit < len(weights):
        end = bit + 1
        while end < len(weights) and weights[bit] and weights[end] == weights[bit] << end - bit:
            end += 1
        if weights[bit]:
            taken = f"thread >> {bit} & {(1 << end - bit) - 1}" if bit else f"thread & {(1 << end) - 1}"
            terms.append(f"({taken})" + (f" * {weights[bit]}" if weights[bit] > 1 else ""))
        bit = end
    return " + ".join(terms) or "0"


def _elements(loads: LoadedOperand) -> str:
    """One load an element, since no matrix load turns elements of these widths; from the low bits of a register up."""
    bits = 32 // loads.each
    row, column = row_and_column(loads.fragment.layout, ROWS)
    kind = {8: "u8", 16: "u16", 32: "u32"}[bits]
    return f"""\
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = 0;
#pragma unroll
  for (int value = 0; value < {loads.fragment.values}; ++value) {{
    const uint32_t from = tile + a_at(rows + {row},
                                      columns + {column});
    uint32_t bits;
    asm volatile("{{\\n.reg .{kind} one;\\nld.shared.{kind} one, [%1];\\ncvt.u32.{kind} %0, one;\\n}}"
                 : "=r"(bits)
                 : "r"(from)
                 : "memory");
    a[value / {loads.each}] |= bits << {bits} * (value % {loads.each});
  }}
#pragma unroll
  for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(a[i])::"memory");
}}
"""
