"""Write the common parts of inner loops in PTX: the module, waits, the stage counter and the descriptor of a stage.

The module declares the entry, its registers, and the addresses of the barriers in the plan's order: one full barrier
per stage, one empty barrier per stage, then the barrier of the accumulators. The code that fills the stages and
initializes the barriers is not part of the module.

Invariant: the module assembles around any loop that ends.

>>> print(frame("sm90", "gemm", "a plan", [], ["ret;"]).splitlines()[2])
.target sm_90a
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descriptors.gemm.plan import Plan
from descriptors.smem.emitters.recipe import check_identifier
from descriptors.smem.words.descriptor import smem_word
from descriptors.targets import architecture, as_version
from descriptors.text import word_text

#: The lowest PTX version of a ``tcgen05`` loop.
_LEAST = "8.7"
#: Identifiers that PTX defines itself.
_RESERVED = ("_", "WARP_SZ")
#: The lowest PTX version in which ptxas accepts ``wgmma.mma_async.sp`` for all types; 8.2 lacks u8 by s8.
_SPARSE_VERSION = "8.4"
#: The parameters of a loop (type and name), and the comment about them.
LOOP_PARAMETERS = ("u64 out", "u32 tiles")
LOOP_INPUT = (
    "In: where the accumulators go, register by register of each thread; how many tiles along K there are, one or more."
)


def frame(
    arch: str,
    name: str,
    title: str,
    registers: Sequence[str],
    body: Iterable[str],
    *,
    directives: str = "",
    about: str = LOOP_INPUT,
    parameters: Sequence[str] = LOOP_PARAMETERS,
    sparse: bool = False,
) -> str:
    """Return a module with one entry.

    Args:
        arch: the architecture.
        name: name of the entry.
        title: a comment.
        registers: register declarations.
        body: instructions and labels.
        directives: performance directives of the entry.
        about: a comment about the parameters.
        parameters: type and name of each parameter.
        sparse: whether the body has instructions for a sparse A.

    Raises:
        DescriptorError: if the name is not an identifier, or PTX uses it for something else.
    """
    check_identifier(name, "PTX", _RESERVED.__contains__)
    version, target = version_and_target(arch)
    version = max(version, _SPARSE_VERSION, key=as_version) if sparse else version
    lines = "\n".join(line if line.endswith(":") else f"    {line}" for line in body)
    declared = "".join(f"    {line}\n" for line in registers)
    inputs = ", ".join(f".param .{kind} {name}_{parameter}" for kind, parameter in map(str.split, parameters))
    return f"""// {title}
.version {version}
.target {target}
.address_size 64

.extern .shared .align 1024 .b8 {name}_smem[];

// {about}
.visible .entry {name}({inputs}){directives}
{{
{declared}{lines}
}}
"""


def barriers(plan: Plan) -> tuple[int, int, int]:
    """Return the addresses of the first full barrier, the first empty barrier and the accumulators' barrier, in bytes.

    Args:
        plan: the plan.

    >>> from descriptors.gemm.planner import plan
    >>> barriers(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False))
    (18432, 18448, 18464)
    """
    return plan.barriers, plan.barriers + 8 * plan.stages, plan.barriers + 16 * plan.stages


def wait(label: str, barrier: str, parity: str) -> list[str]:
    """Return the instructions that wait until a phase of a barrier is complete.

    >>> wait("full", "%full", "%parity")[1]
    'mbarrier.try_wait.parity.shared::cta.b64 %ready, [%full], %parity;'
    """
    return [
        f"{label}:",
        f"mbarrier.try_wait.parity.shared::cta.b64 %ready, [{barrier}], {parity};",
        f"@!%ready bra {label};",
    ]


def next_stage(stages: int, label: str) -> list[str]:
    """Return the end of the loop over tiles: advance to the next stage, flip the parity after the last, and branch.

    >>> next_stage(4, "loop")[-1]
    '@%more bra loop;'
    """
    return [
        "add.u32 %next, %stage, 1;",
        f"setp.eq.u32 %last, %next, {stages};",
        "selp.b32 %stage, 0, %next, %last;",
        "selp.b32 %flip, 1, 0, %last;",
        "xor.b32 %parity, %parity, %flip;",
        "add.u32 %tile, %tile, 1;",
        "setp.lt.u32 %more, %tile, %tiles;",
        f"@%more bra {label};",
    ]


def version_and_target(arch: str) -> tuple[str, str]:
    """Return the values of ``.version`` and ``.target`` for a loop.

    >>> version_and_target("sm90"), version_and_target("sm100"), version_and_target("sm107")
    (('8.0', 'sm_90a'), ('8.7', 'sm_100a'), ('9.4', 'sm_107a'))
    """
    row = architecture(arch)
    return row.ptx if row.tables == "sm90" else max(row.ptx, _LEAST, key=as_version), row.target


def start_field(plan: Plan) -> int:
    """Return the mask of the start address in a descriptor, in 16-byte units.

    >>> from descriptors.gemm.planner import plan
    >>> hex(start_field(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False)))
    '0x3fff'
    """
    return smem_word(plan.asked.arch)["start_address"].mask


def stage_word(target: str, first: str, step: str, word: int, field: int) -> list[str]:
    """Return the instructions for the descriptor of a stage, with its start address and the other fields of ``word``.

    >>> stage_word("%a", "%a_first", "%step", 0x4000004000010040, 0x3FFF)[-1]
    'or.b64 %a, %a, 0x4000004000010000;'
    """
    return [
        f"add.u64 {target}, {first}, {step};",
        f"and.b64 {target}, {target}, {field:#x};",
        f"or.b64 {target}, {target}, {word_text(word & ~field)};",
    ]


def linear(target: str, index: str, steps: Sequence[int]) -> list[str]:
    """Return PTX for ``target = steps[index]``: a multiplication if the steps are linear, else a selection.

    >>> linear("%x", "%i", (0, 512, 1024))
    ['mul.wide.u32 %x, %i, 512;']
    """
    if all(step == i * steps[-1] // max(len(steps) - 1, 1) for i, step in enumerate(steps)):
        each = steps[1] if len(steps) > 1 else 0
        return [f"mul.wide.u32 {target}, {index}, {each};"]
    lines = [f"mov.u64 {target}, {steps[0]};"]
    for i, step in enumerate(steps[1:], 1):
        lines += [
            f"setp.eq.u32 %last, {index}, {i};",
            f"selp.b64 {target}, {step}, {target}, %last;",
        ]
    return lines
