"""The multiplying part of a program for sm90: the instruction as inline assembly, and what a warpgroup does of a stage.

Law: the assembly is the plan's own line, operand for operand.

>>> from descriptors.plans.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), verify=False)
>>> [line.strip() for line in instruction(made).splitlines() if "bf16" in line or ", p," in line]
['"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "', '", %4, %5, p, 1, 1, 0, 0;\\\\n"']
"""

from __future__ import annotations

import re

from descriptors.gemm.cluster import released
from descriptors.plans.plan import Plan

_LOOP = "#pragma unroll\n      for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) "
_FENCE = '      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n'
_COMMIT = '      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");\n'


def instruction(made: Plan) -> str:
    """The function ``multiply``, and ``keep``, which pins registers that the compiler does not know to be written.

    Args:
        made: a plan for sm90.
    """
    count, kind = made.line.registers, "f" if made.asked.d == "f32" else "r"
    a = [f"a[{i}]" for i in range(4)] if made.loads else ["a"]
    line = re.sub(r"%d(\d+)", r"%\1", made.line.ptx)
    line = re.sub(r"%a(\d)", lambda found: f"%{count + int(found[1])}", line)
    line = line.replace("%a_desc", f"%{count}").replace("%b_desc", f"%{count + len(a)}")
    line = re.sub(r"%p([,;])", r"p\1", line)
    found = re.fullmatch(r"(\S+ )\{(.*?)\}(.*)", line)
    assert found is not None
    names = found[2].split(", ")
    listed = ', "\n      "'.join(", ".join(names[i : i + 16]) for i in range(0, count, 16))
    outputs = [f'"+{kind}"(d[{i}])' for i in range(count)]
    bound = ",\n        ".join(", ".join(outputs[i : i + 8]) for i in range(0, count, 8))
    inputs = ", ".join(f'"{"r" if made.loads else "l"}"({name})' for name in a)
    taken = "const uint32_t (&a)[4]" if made.loads else "uint64_t a"
    return (
        "// Where add is 0 the accumulator begins anew.\n"
        f"__device__ __forceinline__ void multiply(Register (&d)[REGISTERS], {taken}, uint64_t b, int add) {{\n"
        "  asm volatile(\n"
        '      "{\\n"\n      ".reg .pred p;\\n"\n'
        f'      "setp.ne.b32 p, %{count + len(a) + 1}, 0;\\n"\n'
        f'      "{found[1]}"\n      "{{{listed}}}"\n      "{found[3]}\\n"\n      "}}\\n"\n'
        f'      : {bound}\n      : {inputs}, "l"(b), "r"(add));\n}}\n\n'
        "// Makes the compiler believe that registers are written here, so that it moves nothing across.\n"
        "__device__ __forceinline__ void keep(Register (&d)[REGISTERS]) {\n"
        "#pragma unroll\n"
        f'  for (int i = 0; i < REGISTERS; ++i) asm volatile("" : "+{kind}"(d[i])::"memory");\n}}\n'
    )


def stage(made: Plan) -> str:
    """What a warpgroup does once the bytes of a stage are there, and when it lets the stage go.

    Args:
        made: a plan for sm90.

    >>> from descriptors.plans.planner import plan
    >>> "wait_group.sync.aligned 0" in stage(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=1, verify=False))
    True
    """
    if made.loads:
        before, a, each = _LOADS, "a[i][kb]", "      const int own = warpgroup;\n"
    else:
        before, a, each = "", "a + a_mn_step(i * WARPGROUPS) + a_k_step(kb)", _WORD_OF_A
    return (
        each
        + "      const uint64_t b = B_WORD | ((base + B_BASE + stage * B_STAGE_BYTES) & 0x3ffff) / 16;\n"
        + before
        + f"{_LOOP}keep(d[block]);\n"
        + _FENCE
        + "#pragma unroll\n      for (int kb = 0; kb < BLOCKS_K; ++kb) {\n"
        + "#pragma unroll\n        for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {\n"
        + "          const int i = block % BLOCKS_M, j = block / BLOCKS_M;\n"
        + f"          multiply(d[block], {a}, b + b_mn_step(j) + b_k_step(kb),\n"
        + "                   step + kb > 0);\n"
        + "        }\n      }\n"
        + _COMMIT
        + f"{_LOOP}keep(d[block]);\n"
        + _release(made)
    )


def last_release(made: Plan) -> str:
    """What is said of the last stage of a tile, once all groups are done; nothing where that has been said."""
    if at_once(made):
        return ""
    return f"    {released('before', made.asked.cluster, 'before >= 0')}\n"


def at_once(made: Plan) -> bool:
    """Whether a stage is let go as soon as it is multiplied, and not one later."""
    return made.loads is not None or made.stages == 1


def _release(made: Plan) -> str:
    cluster = made.asked.cluster
    if at_once(made):
        return f"""\
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      {released("stage", cluster)}"""
    return f"""\
      // All groups but the newest are done: the stage before this one has been read.
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      {released("before", cluster, "before >= 0")}
      before = stage;"""


_WORD_OF_A = """\
      const uint32_t own = A_BASE + 16 * a_mn_step(warpgroup);
      const uint64_t a = A_WORD | ((base + own + stage * A_STAGE_BYTES) & 0x3ffff) / 16;
"""
_LOADS = """\
      uint32_t a[BLOCKS_M][BLOCKS_K][4];
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
        for (int kb = 0; kb < BLOCKS_K; ++kb)
          load_a(a[i][kb], base + A_BASE + stage * A_STAGE_BYTES, (i * WARPGROUPS + own) * MMA_M,
                 kb * (TILE_K / BLOCKS_K), thread);
      }
"""
