"""Write a plan as a header for C, C++ and CUDA C++: its operands, and all numbers that a kernel needs.

Invariant: the header has the descriptors of both operands, and their steps are those of the plan.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN", verify=False)
>>> lines = [line.split() for line in write(example, "gemm").splitlines() if line.startswith("#define GEMM_")]
>>> values = {name: value for _, name, value, *_ in lines}
>>> values["GEMM_B_BASE"], values["GEMM_TRANSACTION_BYTES"], values["GEMM_B_TRANSPOSED"], values["GEMM_K_BLOCKS"]
('65536u', '32768u', '1u', '4u')
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.accumulators import Registers
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.smem.emitters import header
from descriptors.smem.emitters.recipe import recipe
from descriptors.targets import generation
from descriptors.text import word_text


def write(plan: Plan, name: str) -> str:
    """Return the header of a plan.

    Args:
        plan: the plan.
        name: prefix of every identifier.

    Raises:
        DescriptorError: if the name is not an identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write(plan("m128n64k16", "bf16", tile=(128, 64, 64), stages=2, verify=False), "gemm")
    >>> [line for line in text.splitlines() if "IDESC" in line][:2]
    ['#define GEMM_IDESC_0 0x08100490u', '#define GEMM_IDESC_1 0x08100490u']
    """
    prefix = recipe(plan.b.derivation, name).constant("")
    texts = [header.write(recipe(side.derivation, f"{name}_{side.matrix.lower()}")) for side in _by_words(plan)]
    numbers = "\n".join(f"#define {prefix}{key} {value}" for key, value in _numbers(plan))
    checks = "\n".join(_checks(plan, name, prefix))
    note = "Addresses are bytes from the start of the CTA's shared memory, a multiple of 1024."
    title = f"// {plan.headline}.\n// {note}\n"
    return "\n".join([header.HEAD + title + numbers + "\n", *texts, checks + "\n"])


def _by_words(plan: Plan) -> tuple[StagedOperand, ...]:
    """Return the operands that are read by descriptors: all except A in registers."""
    return (plan.b,) if plan.loads is not None else (plan.a, plan.b)


def _numbers(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield names and values of the macros; the suffix of a value gives the width of its type."""
    loop, accumulators = plan.asked, plan.accumulators
    for letters, extents in (("TILE", loop.tile), ("MMA", loop.extents)):
        yield from ((f"{letters}_{letter}", f"{extent}u") for letter, extent in zip("MNK", extents, strict=True))
    yield from ((f"{letter}_BLOCKS", f"{count}u") for letter, count in zip("MNK", loop.blocks, strict=True))
    yield "STAGES", f"{plan.stages}u"
    yield "CTA_GROUP", f"{loop.cta_group}u"
    for side in (plan.a, plan.b):
        yield f"{side.matrix}_BASE", f"{side.base}u"
        yield f"{side.matrix}_STAGE_BYTES", f"{side.stage_bytes}u"
        if loop.cta_group == 2:
            yield f"{side.matrix}_RUN", f"{side.run}u  // rows of the tile in a row; of two runs each CTA has one"
        names = "_".join(map(str, side.tma.box))
        yield f"{side.matrix}_BOXES", f"{len(side.boxes)}u  // of {names.replace('_', ' x ')} elements, fastest first"
    yield "BARRIERS", f"{plan.barriers}u"
    yield "SMEM_BYTES", f"{plan.budget.used}u"
    yield "TRANSACTION_BYTES", f"{plan.transaction_bytes}u  // of one CTA and stage"
    if isinstance(accumulators, Registers):
        yield "WARPGROUPS", f"{accumulators.warpgroups}u"
        yield "REGISTERS", f"{accumulators.registers}u  // of a thread, for accumulators"
    else:
        yield "COLUMNS", f"{accumulators.plan.allocate}u  // to allocate"
        yield from ((f"D_COLUMN_{i}", f"{first}u") for i, first in enumerate(accumulators.firsts))
        if accumulators.sets > 1:
            yield "D_SET_COLUMNS", f"{accumulators.step}u  // from a set of accumulators to the next"
    yield from ((f"IDESC_{k}", f"{word_text(word, 32)}u") for k, word in enumerate(plan.line.idescs))
    if plan.metadata is not None:
        yield from _metadata(plan.metadata, loop.blocks[2])
    if plan.scales is not None:
        for k, pair in enumerate(plan.scales.pointers):
            yield from ((f"{n}_POINTER_{k}", f"{word_text(p, 32)}u") for n, p in zip(("SFA", "SFB"), pair, strict=True))
        for n, letter, steps in zip(("SFA", "SFB"), "MN", plan.scales.steps, strict=True):
            yield f"{n}_BLOCK_COLUMNS", f"{steps[-1] // max(1, len(steps) - 1)}u  // to add for each {letter} block"
        yield from ((f"{n}_BASE", f"{base}u") for n, base in zip(("SFA", "SFB"), plan.scales.bases, strict=True))


def _metadata(metadata: Metadata, blocks: int) -> Iterator[tuple[str, str]]:
    """Yield the macros of the metadata of a sparse A."""
    places, sm90 = [metadata.place(k) for k in range(blocks)], generation(metadata.packed.arch) == "sm90"
    yield "METADATA_COVERED", f"{metadata.packed.covered}u  // elements along K whose metadata are packed together"
    if sm90:
        yield "METADATA_REGISTERS", f"{metadata.registers}u  // of a thread, for an M block and a stage"
        yield from ((f"METADATA_SELECTOR_{k}", f"{selector}u") for k, (_, selector) in enumerate(places))
    else:
        yield "METADATA_BASE", f"{metadata.base}u"
        yield "METADATA_STAGE_BYTES", f"{metadata.bytes}u"
        for i, (word, column) in enumerate(metadata.copies()):
            yield f"METADATA_COPY_WORD_{i}", f"{word_text(word)}ull"
            yield f"METADATA_COPY_COLUMN_{i}", f"{column}u"
    name, more = ("REGISTER", "") if sm90 else ("COLUMN", "  // its selector is in the instruction descriptor")
    more = more if len(metadata.selectors) > 1 else ""
    yield from ((f"METADATA_{name}_{k}", f"{place}u{more}") for k, (place, _) in enumerate(places))
    if metadata.blocks > 1:
        yield "METADATA_BLOCK_COLUMNS", f"{metadata.block_columns}u  // to add for each M block"


def _checks(plan: Plan, name: str, prefix: str) -> Iterator[str]:
    """Yield static assertions that operands are aligned, do not overlap, and fit the shared memory."""
    for side in (plan.a, plan.b):
        macro, low = f"{prefix}{side.matrix}", f"{name}_{side.matrix.lower()}"
        yield f"SMEM_DESCRIPTOR_CHECK({macro}_BASE % {side.alignment_bytes}u == 0u, {low}_is_aligned);"
    a, b = (f"{prefix}{matrix}_BASE + {prefix}STAGES * {prefix}{matrix}_STAGE_BYTES" for matrix in "AB")
    yield f"SMEM_DESCRIPTOR_CHECK({a} <= {prefix}B_BASE, {name}_a_ends_before_b);"
    yield f"SMEM_DESCRIPTOR_CHECK({b} <= {prefix}BARRIERS, {name}_b_ends_before_the_barriers);"
    yield f"SMEM_DESCRIPTOR_CHECK({prefix}SMEM_BYTES <= {plan.budget.capacity}u, {name}_fits);"
    for side in _by_words(plan):
        big, last = f"{prefix}{side.matrix}", side.word_at(-1, -1, -1)
        macro = ", ".join(f"{len(steps) - 1}u" for steps in (side.mn_steps, side.k_steps, side.stage_steps))
        call = f"{big}_SUBTILE_WORD({big}_FIRST_WORD({big}_BASE), {macro})"
        yield f"SMEM_DESCRIPTOR_CHECK({call} == {word_text(last)}ull, {name}_{side.matrix.lower()}_last_word);"
