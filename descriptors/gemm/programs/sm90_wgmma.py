r"""Write the instruction of a ``wgmma`` plan as inline assembly, and the loads of A if it is in registers.

Invariant: the assembly is the PTX line of the plan, operand for operand, and the loads are those that the plan proves.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 32), verify=False)
>>> [line.strip() for line in instruction(example).splitlines() if "bf16" in line or ", p," in line]
['"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "', '", %4, %5, p, 1, 1, 0, 0;\\n"']
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 16), a_major="MN", a_source="registers", verify=False)
>>> [line.split()[1] for line in "".join(loads_of(example)).splitlines() if "ldmatrix" in line]
['volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptors.gemm.plan import HopperPlan
from descriptors.gemm.programs.c_expressions import byte_offset, row_and_column
from descriptors.gemm.register_operand import ROWS, LoadedOperand
from descriptors.smem.derivation.derivation import Derivation


def instruction(plan: HopperPlan) -> str:
    """Return the functions ``multiply`` and ``keep``. ``keep`` tells the compiler that registers may change.

    Args:
        plan: a plan of ``wgmma``.
    """
    count, kind = plan.line.registers, "f" if plan.asked.d == "f32" else "r"
    a = [f"a[{i}]" for i in range(4)] if plan.loads else ["a"]
    line = re.sub(r"%d(\d+)", r"%\1", plan.line.ptx)
    line = re.sub(r"%a(\d)", lambda match: f"%{count + int(match[1])}", line)
    line = line.replace("%a_desc", f"%{count}").replace("%b_desc", f"%{count + len(a)}")
    after = count + len(a) + 1
    line = line.replace("%e,", f"%{after},").replace("%sel,", f"%{after + 1},")
    e_parameter, e_input, template = _metadata(plan)
    after += e_input.count("(")
    line = re.sub(r"%p([,;])", r"p\1", line)
    line_parts = re.fullmatch(r"(\S+ )\{(.*?)\}(.*)", line)
    assert line_parts is not None
    names = line_parts[2].split(", ")
    listed = ', "\n      "'.join(", ".join(names[i : i + 16]) for i in range(0, count, 16))
    outputs = [f'"+{kind}"(d[{i}])' for i in range(count)]
    bound = ",\n        ".join(", ".join(outputs[i : i + 8]) for i in range(0, count, 8))
    inputs = ", ".join(f'"{"r" if plan.loads else "l"}"({name})' for name in a)
    a_parameter = "const uint32_t (&a)[4]" if plan.loads else "uint64_t a"
    return (
        f"// Where add is 0 the accumulator begins anew.\n{template}"
        f"__device__ __forceinline__ void multiply(Register (&d)[REGISTERS], {a_parameter}, uint64_t b, "
        f"{e_parameter}int add) {{\n"
        "  asm volatile(\n"
        '      "{\\n"\n      ".reg .pred p;\\n"\n'
        f'      "setp.ne.b32 p, %{after}, 0;\\n"\n'
        f'      "{line_parts[1]}"\n      "{{{listed}}}"\n      "{line_parts[3]}\\n"\n      "}}\\n"\n'
        f'      : {bound}\n      : {inputs}, "l"(b), {e_input}"r"(add));\n}}\n\n'
        "// Makes the compiler believe that registers are written here, so that it moves nothing across.\n"
        "__device__ __forceinline__ void keep(Register (&d)[REGISTERS]) {\n"
        "#pragma unroll\n"
        f'  for (int i = 0; i < REGISTERS; ++i) asm volatile("" : "+{kind}"(d[i])::"memory");\n}}\n'
    )


def _metadata(plan: HopperPlan) -> tuple[str, str, str]:
    """Return parameter and operands of the metadata, and the lines before the function; empty for a dense A."""
    if plan.metadata is None:
        return "", "", ""
    if len(plan.metadata.selectors) == 1:
        return "uint32_t e, ", '"r"(e), ', ""
    return "uint32_t e, ", '"r"(e), "n"(SELECTOR), ', "template <int SELECTOR>\n"


def place_of(derivation: Derivation) -> str:
    """Return a CUDA function for the byte of a stage at which an element of A begins.

    Args:
        derivation: the derivation of A, whose layout has M and K as its first two modes.
    """
    affine, swizzled = byte_offset(derivation)
    return "\n".join(
        [
            f"// Of a stage of A, {derivation.smem_tile}, in bytes.",
            "__device__ constexpr uint32_t a_at(uint32_t row, uint32_t column) {",
            f"  const uint32_t at = {affine};",
            f"  return {swizzled};",
            "}\n",
        ]
    )


def loads_of(plan: HopperPlan) -> Iterator[str]:
    """Yield the functions that load A into registers; none if the instruction reads A by a descriptor."""
    if plan.loads is None:
        return
    yield place_of(plan.a.derivation)
    yield _HEAD + (_matrices if plan.loads.move.startswith("ldmatrix") else _elements)(plan.loads)


_HEAD = """\
// What a thread holds of a K block of A whose rows and columns begin there.
__device__ __forceinline__ void load_a(uint32_t (&a)[4], uint32_t tile, int rows, int columns, int thread) {
"""


def _matrices(loads: LoadedOperand) -> str:
    """Return the function body with one ``ldmatrix``, whose address is a sum over the bits of the thread's number."""
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
    """Return a sum over the bits of the thread's number as a C expression; bits with doubling weights are combined.

    >>> _bits([1, 2, 4, 8, 0, 16, 32]), _bits([0, 0, 0, 0, 16, 0, 0])
    ('(thread & 15) + (thread >> 5 & 3) * 16', '(thread >> 4 & 1) * 16')
    """
    terms, bit = list[str](), 0
    while bit < len(weights):
        end = bit + 1
        while end < len(weights) and weights[bit] and weights[end] == weights[bit] << end - bit:
            end += 1
        if weights[bit]:
            field = f"thread >> {bit} & {(1 << end - bit) - 1}" if bit else f"thread & {(1 << end) - 1}"
            terms.append(f"({field})" + (f" * {weights[bit]}" if weights[bit] > 1 else ""))
        bit = end
    return " + ".join(terms) or "0"


def _elements(loads: LoadedOperand) -> str:
    """Return the function body with one load per element, because no matrix load transposes such elements."""
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
