"""The parts of a kernel of sm100 whose CTAs take output tiles in turn, with two sets of accumulators.

Every role walks the same tiles: a CTA, or a pair, begins at its own number and goes on by as many as run. Stages go
round and round, whichever tile they are of. Who waits for whom is ``descriptors.gemm.turns``, which is proved; here it
is written down. Assembled, never run.

Law: a set is waited for under the number by which it is freed.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m128n32k16", "bf16", tile=(128, 32, 64), stages=2, accumulators=2, verify=False)
>>> text = roles(made).template
>>> "free_wait(smem + kFree + 8 * (turn % kFrees), turn / kFrees % 2 ^ 1);" in text
True
>>> constants(made.accumulators)
'constexpr uint32_t kFree = kDone + 16, kFrees = 2, kStep = 32;  // of two sets of accumulators'
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs import sm100_store
from descriptors.gemm.turns import free_barriers

#: Bytes from the first barrier of accumulators to the address that ``tcgen05.alloc`` writes: two done, two free.
BARRIERS = 32
#: What a kernel is told of the product, and what follows from it.
EXTENTS = "uint32_t rows, uint32_t columns, uint32_t depth"
#: Tiles along M and N that the host program multiplies, and the CTAs, or pairs, that take them: several each.
TILES, RUNNING = 4, 3


def counts(plan: Plan) -> str:
    """What follows from the extents: tiles, of all parts along K, and the steps of each."""
    m, n, k = (_UP.format(name, mode) for name, mode in (("rows", "M"), ("columns", "N"), ("depth", "K")))
    if sm100_store.in_parts(plan):
        return f"tiles_m = {m},\n      tiles_n = {n}, tiles = tiles_m * tiles_n * kSplits, k_tiles = {k}"
    return f"tiles_m = {m},\n      tiles = tiles_m * ({n}), k_tiles = {k}"


_UP = "({0} + kTile{1} - 1) / kTile{1}"
_NEXT_TILE = """\
    for (uint32_t tile = blockIdx.x / kPair, turn = 0; tile < tiles; tile += gridDim.x / kPair, ++turn) {
"""
_WHERE = """\
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m;
"""
_WHERE_OF_PART = """\
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m % tiles_n;
"""
_PART = """\
      const uint32_t part = tile / (tiles_m * tiles_n);
"""
_STEPS = """\
      const uint32_t first = k_tiles * part / kSplits, end = k_tiles * (part + 1) / kSplits;
"""


def constants(held: TensorColumns) -> str:
    """The line that says where the sets and their barriers are."""
    frees = free_barriers(held)
    what = "of two sets of accumulators" + (f" that share {len(held.shared)} columns" if held.shared else "")
    return f"constexpr uint32_t kFree = kDone + 16, kFrees = {frees}, kStep = {held.step};  // {what}"


def beginnings() -> str:
    """The barriers of both sets: one commit each, and the arrival of every warp that reads."""
    return """\
    for (uint32_t i = 0; i < 2; ++i) {
      barrier_init(smem + kDone + 8 * i, 1);
      barrier_init(smem + kFree + 8 * i, 4 * kPair);
    }"""


def release(cta_group: int) -> str:
    """The functions by which a warp frees a set, at the leader of a pair, and the leader waits for it."""
    arrive = '"mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"'
    order = ""
    if cta_group == 2:
        order = ".acquire.cluster"
        arrive = """
        "{\\n"
        ".reg .b32 there;\\n"
        "mapa.shared::cluster.u32 there, %0, 0;\\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\\n"
        "}" ::"r"(barrier) : "memory\""""
    there = ", of the leader of the pair" if cta_group == 2 else ""
    return f"""\
// A warp has what the next tile is multiplied into: it arrives at the barrier{there}.
__device__ __forceinline__ void set_free(uint32_t barrier, uint32_t lane) {{
  fence_before();
  __syncwarp();
  if (lane == 0)
    asm volatile({arrive});
}}

__device__ __forceinline__ void free_wait(uint32_t barrier, uint32_t parity) {{
  asm volatile(
      "{{\\n"
      ".reg .pred done;\\n"
      "again:\\n"
      "mbarrier.try_wait.parity{order}.shared::cta.b64 done, [%0], %1;\\n"
      "@!done bra again;\\n"
      "}}" ::"r"(barrier), "r"(parity) : "memory");
}}
"""


def roles(plan: Plan) -> Template:
    """What the warps do, tile after tile.

    Args:
        plan: a plan with two sets of accumulators.
    """
    parts = sm100_store.in_parts(plan)
    where, part = (_WHERE_OF_PART, _PART) if parts else (_WHERE, "")
    steps = part + _STEPS if parts else ""
    return Template(
        f"""\
  if (warp == 4 && lane == 0) {{
    uint32_t s = 0, phase = 0;
    for (uint32_t tile = blockIdx.x / kPair; tile < tiles; tile += gridDim.x / kPair) {{
{where}{steps}      for (uint32_t t = $first; t < $end; ++t) {{
        barrier_wait(smem + kEmpty + 8 * s, phase ^ 1);
        const uint32_t full = $leader;
        if (rank == 0) barrier_expect(full, kPair * kBytes);
$copies
        if (++s == kStages) s = 0, phase ^= 1;
      }}
    }}
  }} else if (warp == 5 && lane == 0 && rank == 0) {{
    uint32_t s = 0, phase = 0;
{_NEXT_TILE}{steps}      const uint32_t set = tmem + turn % 2 * kStep;
      free_wait(smem + kFree + 8 * (turn % kFrees), turn / kFrees % 2 ^ 1);
      fence_after();
      for (uint32_t t = $first; t < $end; ++t) {{
        barrier_wait(smem + kFull + 8 * s, phase);
        fence_after();
$stage
        commit(smem + kEmpty + 8 * s);
        if (++s == kStages) s = 0, phase ^= 1;
      }}
      commit(smem + kDone + 8 * (turn % 2));
    }}
  }} else if (warp < 4) {{
$before{_NEXT_TILE}{where}{part}      const uint32_t set = tmem + (warp << 21) + turn % 2 * kStep;
      const uint32_t free = smem + kFree + 8 * (turn % kFrees);
      barrier_wait(smem + kDone + 8 * (turn % 2), turn / 2 % 2);
      __syncwarp();
      fence_after();
$stores
    }}
$after  }}"""
    )


def stored(held: TensorColumns, begin: Iterable[str], loads: list[list[list[str]]]) -> list[str]:
    """The loads and stores of a tile, and where a warp frees its set: once it is read, before it is stored.

    Args:
        held: accumulators in two sets.
        begin: what stands before them.
        loads: of each set, the lines of each load, in the order in which ``held.reads`` has them.
    """
    free = "set_free(free, lane);"
    lines = [f"  {line}" for line in begin]
    if not held.shared:
        *most, (last, *stores) = loads[0]
        each = [f"  {line}" for load in most for line in load]
        return [*lines, *each, f"  {last}", f"      {free}", *(f"  {line}" for line in stores)]
    for number, head in enumerate(("if (turn % 2 == 0) {", "} else {")):
        first = held.reads(number)[1]
        lines.append(f"      {head}")
        for index, (load, *stores) in enumerate(loads[number]):
            lines.append(f"    {load}")
            lines += [f"        {free}  // the columns that both sets have are read"] if index == first - 1 else []
            lines += [f"    {line}" for line in stores]
    return [*lines, "      }"]
