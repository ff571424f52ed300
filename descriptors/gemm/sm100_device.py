"""Functions of the device for kernels of sm100: a function around each instruction that CUDA C++ has no name for.

Law: every line of PTX of the plan is in the text, its operands as numbers of ``asm``.

>>> from descriptors.plans.planner import plan
>>> made = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> print(*[line.strip() for line in instructions(made).splitlines() if "tcgen05.mma" in line])
"tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\\n"
"""

from __future__ import annotations

from string import Template

from descriptors.plans.parts.accumulators import TensorColumns
from descriptors.plans.plan import Plan

#: What every kernel has: barriers, words, copies, commits, allocation.
COMMON = Template("""\
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\\n"
      ".reg .pred done;\\n"
      "again:\\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\\n"
      "@!done bra again;\\n"
      "}" ::"r"(barrier), "r"(parity) : "memory");
}

// The word of an operand so many 16-byte units on, wherever the CTA's shared memory begins.
__device__ __forceinline__ uint64_t placed(uint64_t word, uint32_t smem, uint32_t units) {
  return (word & ~0x3fffull) | ((word + (smem >> 4) + units) & 0x3fffull);
}

// A box into shared memory; $signals.
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, int32_t x, int32_t y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes$group_of_copy "
      "[%0], [%1, {%2, %3}], [%4];"
      ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// Arrives when all tcgen05.mma and tcgen05.cp issued so far are done; it is a fence before the arrival too.
__device__ __forceinline__ void commit(uint32_t barrier) {
$commit
}

__device__ __forceinline__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

__device__ __forceinline__ void allocate(uint32_t to) {
  asm volatile("tcgen05.alloc.cta_group::$group.sync.aligned.shared::cta.b32 [%0], $columns;" ::"r"(to) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::$group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void deallocate(uint32_t tmem) {
  asm volatile("tcgen05.dealloc.cta_group::$group.sync.aligned.b32 %0, $columns;" ::"r"(tmem) : "memory");
}

// All threads of the CTA$pair, with what they did to tensor memory and to barriers.
__device__ __forceinline__ void together() {
  fence_before();
$together
  fence_after();
}
""")

_COMMIT = """\
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");"""
_COMMIT_PAIR = """\
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
      ::"r"(barrier), "h"(static_cast<uint16_t>(3)) : "memory");"""


def common(made: Plan) -> str:
    """The functions that depend on the plan in nothing but numbers.

    Args:
        made: a plan of sm100.

    >>> from descriptors.plans.planner import plan
    >>> made = plan("m256n64k16", "bf16", tile=(256, 64, 64), cta_group=2, verify=False)
    >>> "tcgen05.alloc.cta_group::2" in common(made)
    True
    """
    held, pair = made.accumulators, made.asked.cta_group == 2
    assert isinstance(held, TensorColumns)
    cluster = '  asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");'
    return COMMON.substitute(
        signals="the barrier is that of the leader, in either CTA of the pair"
        if pair
        else "its bytes go to the barrier",
        group_of_copy=".cta_group::2" if pair else "",
        commit=_COMMIT_PAIR if pair else _COMMIT,
        group=made.asked.cta_group,
        columns=held.plan.allocate,
        pair=", and of the other one of the pair" if pair else "",
        together=cluster if pair else "  __syncthreads();",
    )


def instructions(made: Plan) -> str:
    """The functions around the plan's own instructions: ``multiply``, ``copy_factors_...`` and ``load``.

    Args:
        made: a plan of sm100.

    >>> from descriptors.plans.planner import plan
    >>> text = instructions(plan("m128n16k64", "e2m1", tile=(128, 16, 128), kind="mxf4", stages=2, verify=False))
    >>> [line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("__device__")]
    ['multiply', 'copy_factors_a', 'copy_factors_b', 'load']
    """
    held = made.accumulators
    assert isinstance(held, TensorColumns)
    parts = [_multiply(made)]
    if made.scales is not None:
        for name, factors in (("a", made.scales.a), ("b", made.scales.b)):
            line = f"tcgen05.cp.cta_group::{made.asked.cta_group}.{factors.copy} [%0], %1;"
            parts.append(
                f"__device__ __forceinline__ void copy_factors_{name}(uint32_t to, uint64_t word) {{\n"
                f'  asm volatile("{line}" ::"r"(to), "l"(word) : "memory");\n}}\n'
            )
    return "\n".join([*parts, _load(held)])


def _multiply(made: Plan) -> str:
    """The instruction; ``more`` is 0 where the accumulator begins anew."""
    factors = made.scales is not None
    names = {"%d_tmem": 0, "%a_desc": 1, "%b_desc": 2, "%idesc": 3, "%sfa_tmem": 4, "%sfb_tmem": 5}
    line = made.ptx.replace("%p", "p")
    for name, number in names.items():
        line = line.replace(name, f"%{number}")
    given = "uint32_t d, uint64_t a, uint64_t b, uint32_t idesc" + (", uint32_t sfa, uint32_t sfb" if factors else "")
    inputs = '"r"(d), "l"(a), "l"(b), "r"(idesc)' + (', "r"(sfa), "r"(sfb)' if factors else "")
    return f"""__device__ __forceinline__ void multiply({given}, uint32_t more) {{
  asm volatile(
      "{{\\n"
      ".reg .pred p;\\n"
      "setp.ne.b32 p, %{6 if factors else 4}, 0;\\n"
      "{line}\\n"
      "}}" ::{inputs}, "r"(more) : "memory");
}}
"""


def _load(held: TensorColumns) -> str:
    count = held.readout.values
    rows = [", ".join(f"%{i}" for i in range(at, min(at + 16, count))) for at in range(0, count, 16)]
    outs = [", ".join(f'"=r"(v[{i}])' for i in range(at, min(at + 8, count))) for at in range(0, count, 8)]
    text = ',"\n      "'.join(rows)
    given = ",\n        ".join(outs)
    return f"""__device__ __forceinline__ void load(uint32_t (&v)[{count}], uint32_t from) {{
  asm volatile(
      "{held.readout.move.ptx} {{{text}}}, [%{count}];"
      : {given}
      : "r"(from));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}}
"""
