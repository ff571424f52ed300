"""What becomes of a sum in a program before it is stored: scales of rows, alpha and beta, a bias.

Law: a term that is not asked for is not in the text.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n64k16", "bf16", tile=(64, 64, 64), terms=("bias",), verify=False)
>>> [word in definition(example) for word in ("bias", "alpha", "row_scales")]
[True, False, False]
>>> example = plan("m64n64k16", "bf16", tile=(64, 64, 64), verify=False)
>>> definition(example), texts(example)["finish"]
('', '')
"""

from __future__ import annotations

from descriptors.gemm.plan import Plan

#: What a caller gives for each term.
_MEMBERS = {
    "row-scales": "  const float* row_scales;  // of M\n",
    "alpha-beta": "  float alpha, beta;\n  const TypeC* before;  // M x N, may be C itself; not read where beta is 0\n",
    "bias": "  const float* bias;  // of N\n",
}
#: What each does to a sum, in this order.
_STATEMENTS = {
    "row-scales": "  sum *= terms.row_scales[x];\n",
    "alpha-beta": (
        "  sum *= terms.alpha;\n"
        "  if (terms.beta != 0)\n"
        "    sum += terms.beta * static_cast<float>(terms.before[static_cast<size_t>(x) * terms.n + y]);\n"
    ),
    "bias": "  sum += terms.bias[y];\n",
}
#: The same, as the check of the program has it, and what it gives.
_WANTED = {
    "row-scales": "    sum *= terms.row_scales[row];\n",
    "alpha-beta": "    sum = terms.alpha * sum + terms.beta * static_cast<float>(terms.before[at]);\n",
    "bias": "    sum += terms.bias[column];\n",
}
_GIVEN = {
    "row-scales": ("float* row_scales", "sizeof(float) * M", "row_scales, M, 1, false, 4", "row_scales"),
    "alpha-beta": ("TypeC* before", "sizeof(TypeC) * M * N", "before, M, N, false, 5", "before"),
    "bias": ("float* bias", "sizeof(float) * N", "bias, N, 1, false, 3", "bias"),
}


def _asked(plan: Plan) -> tuple[str, ...]:
    return plan.epilogue.terms


def definition(plan: Plan, extents: str = "are set by launch()") -> str:
    """The type of the terms, and the function that adds them to a sum; "" of none.

    Args:
        plan: the plan.
        extents: what is said of M and N.
    """
    asked = [name for name in _STATEMENTS if name in _asked(plan)]
    if not asked:
        return ""
    return (
        f"// What is done to a sum before it is stored; m and n {extents}.\n"
        f"struct Terms {{\n{''.join(_MEMBERS[name] for name in asked)}  int m, n;\n}};\n\n"
        "// The element of row x and column y of C, of its sum.\n"
        "__device__ __forceinline__ float finished(float sum, int x, int y, const Terms& terms) {\n"
        "  if (x >= terms.m || y >= terms.n) return sum;\n"
        f"{''.join(_STATEMENTS[name] for name in asked)}  return sum;\n}}\n"
    )


_PLACES = (
    "terms", "terms_given", "kernel_terms", "launch_terms", "terms_extents", "finish", "compare_terms", "wanted",
    "main_terms", "main_given", "add_terms", "add_given", "total",
)  # fmt: skip


def texts(plan: Plan) -> dict[str, str]:
    """What stands at each place of the template, and of the kernel that adds parts along K, which then finishes a sum.

    Args:
        plan: the plan.
    """
    asked, parts = _asked(plan), plan.epilogue.splits > 1
    if not asked:
        return {**dict.fromkeys(_PLACES, ""), "total": "total"}
    names = [name for name in _STATEMENTS if name in asked]
    made = []
    for name in names:
        kind, size, drawn, variable = _GIVEN[name]
        made += [
            f"  {kind};",
            f'  check(cudaMalloc(&{variable}, {size}), "terms");',
            f"  fill<<<1024, 256>>>({drawn}, true);",
            f"  terms.{variable} = {variable};",
        ]
    factors = ["  terms.alpha = 2, terms.beta = -1;"] if "alpha-beta" in names else []
    given = dict.fromkeys(("terms", "terms_given", "kernel_terms", "finish"), "")
    if not parts:
        given = {"terms": ", Terms terms", "terms_given": ", terms", "kernel_terms": ", terms", "finish": _FINISH}
    return {
        **given,
        "launch_terms": ", Terms terms",
        "compare_terms": ", Terms terms",
        "terms_extents": "\n  terms.m = M, terms.n = N;",
        "add_terms": ", Terms terms",
        "add_given": ", terms",
        "total": "finished(total, (4 * at + j) / terms.n, (4 * at + j) % terms.n, terms)",
        "wanted": "".join(_WANTED[name] for name in names),
        "main_terms": "\n".join(["  Terms terms;", *made, *factors, ""]),
        "main_given": ", terms",
    }


_FINISH = """\
#pragma unroll
      for (int value = 0; value < REGISTERS; ++value)
        d[block][value] = finished(d[block][value], row * TILE_M + i * MMA_M + d_row(thread, value),
                                   column * TILE_N + j * MMA_N + d_column(thread, value), terms);
"""
