"""Present the proposals for a tile as text or plain data: ranked plans, their commands, and refused instructions.

Invariant: the command of each proposal gives the proposed plan.

>>> from descriptors.gemm.planner import plan, propose
>>> best = propose("bf16", tile=(64, 16, 32), arch="sm90", top=2)
>>> [line in tell_proposals(best) for line in map(plan_command, best.plans)]
[True, True]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from descriptors.gemm.accumulators import Registers, TensorColumns, usual_warpgroups
from descriptors.gemm.budget import USUAL_STAGES
from descriptors.gemm.convolution_text import EXTENTS
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand, operand
from descriptors.gemm.plan_request import MainLoop, kind_of_request
from descriptors.gemm.planner import Proposals
from descriptors.gemm.problem import Estimate, TileProposals
from descriptors.gemm.schedule import read_bytes
from descriptors.records import PAIR, TEXT, TRIPLE, Option, Record, Row, attributes, each
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.tma.convolution import Convolution
from descriptors.targets import has_wgmma, shared_bytes
from descriptors.text import aligned, counted, extents_text
from descriptors.tmem.block_scaled import factors_of

#: Number of listed refusals, and width of a line of a command.
_REFUSALS, _COLUMNS = 12, 80


def tell_proposals(proposals: Proposals) -> str:
    """Return proposals as text.

    Args:
        proposals: the result of ``propose``.

    >>> from descriptors.gemm.planner import propose
    >>> print(tell_proposals(propose("bf16", tile=(64, 16, 32), arch="sm90", top=1)).splitlines()[0])
    5 plans of a tile of 64x16x32, ranked by the shared memory that a stage reads, then by stages
    """
    lines = [f"{proposals.subject}, ranked by the shared memory that a stage reads, then by stages"]
    lines += [
        "",
        *aligned(PROPOSAL.table(proposals.plans), indent=3),
        "",
        "All proposals are proved. To see one in full:",
    ]
    lines += [line for plan in proposals.plans for line in _command_lines(plan_command(plan))]
    if proposals.fitting > len(proposals.plans):
        lines.append(f"   {proposals.fitting - len(proposals.plans)} more fit (--top shows them)")
    if proposals.refused:
        lines += ["", "Refused"]
        groups = _group_by_reason(proposals.refused)
        lines += [f"   {', '.join(names)}: {reason}" for names, reason in groups[:_REFUSALS]]
        more = sum(len(names) for names, _ in groups[_REFUSALS:])
        lines += [f"   and {more} more (--json has them)"] if more else []
    if proposals.others:
        shapes, verb = counted(proposals.others, "other legal shape"), "does" if proposals.others == 1 else "do"
        lines.append(f"   {shapes} {verb} not divide the tile")
    return "\n".join(lines).rstrip()


def _group_by_reason(refused: Sequence[tuple[str, str]]) -> list[tuple[list[str], str]]:
    """Return the refusals grouped by their facts, each group with the names and the reason of its first refusal."""
    groups: dict[str, tuple[dict[str, None], str]] = {}
    for name, reason in refused:
        groups.setdefault(reason.partition(";")[0], ({}, reason))[0][name] = None
    return [(list(names), reason) for names, reason in groups.values()]


def _accumulators(plan: Plan) -> str:
    """Return the number of registers or columns of a plan's accumulators."""
    accumulators = plan.accumulators
    if isinstance(accumulators, Registers):
        return f"{accumulators.registers} registers"
    return f"{accumulators.plan.allocate} columns"


def _sides(plan: Plan) -> dict[str, Derivation]:
    """Return the derivations of the operands."""
    return {side.matrix: side.derivation for side in (plan.a, plan.b)}


def _side(letter: str) -> Row:
    """Return the table column with the major and swizzle of an operand."""
    return Row(TEXT, label=letter, text=lambda plan: "{0.major} {0.swizzle}".format(_sides(plan)[letter]))


def plan_command(plan: Plan) -> str:
    """Return the command that prints a plan, without options that have their defaults; ``--arch`` is always given.

    >>> from descriptors.gemm.planner import plan
    >>> plan_command(plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, b_swizzle="32B", verify=False))
    'descriptors plan m64n16k16 bf16 --arch sm90 --tile 64x16x32 --stages 2 --b-swizzle 32B'
    """
    loop = plan.asked
    words = ["descriptors plan", loop.name, loop.a.name, f"--arch {loop.arch}", f"--tile {extents_text(loop.tile)}"]
    words += [] if plan.implicit is None else [_convolution_words(plan.implicit.convolution)]
    words += [f"--stages {plan.stages}"] if plan.stages != min(plan.budget.most_stages, USUAL_STAGES) else []
    words += [f"--b-dtype {loop.b.name}"] if loop.b != loop.a else []
    words += [f"--d-dtype {loop.d}"] if loop.d not in ("f32", "s32") else []
    words += [f"--{name}-major MN" for name, side in (("a", plan.a), ("b", plan.b)) if side.transposed]
    words += [
        f"--{side.matrix.lower()}-swizzle {side.derivation.swizzle}" for side in (plan.a, plan.b) if _chosen(plan, side)
    ]
    words += [f"--cta-group {loop.cta_group}"] if loop.cta_group == 2 else []
    words += [f"--cluster {extents_text(loop.cluster)}"] if loop.cluster != (1, 1) else []
    words += ["--sparse"] if loop.sparse else []
    words += ["--a registers"] if loop.a_source == "rmem" else []
    words += _epilogue_words(plan)
    words += ["--accumulators 2"] if isinstance(plan.accumulators, TensorColumns) and plan.accumulators.sets > 1 else []
    if isinstance(plan.accumulators, Registers) and plan.accumulators.warpgroups != usual_warpgroups(loop.blocks[0]):
        words.append(f"--warpgroups {plan.accumulators.warpgroups}")
    words += [f"--smem {plan.budget.capacity}"] if plan.budget.capacity != shared_bytes(loop.arch) else []
    words += [f"--legality {loop.legality}"] if loop.legality != "strict" else []
    return " ".join([*words, *_kind_words(loop)])


def _chosen(plan: Plan, side: StagedOperand) -> bool:
    """Check that a swizzle is not the default one, so that the command must have it."""
    return side.derivation.swizzle is not operand(plan.asked, side.matrix, plan.stages).derivation.swizzle


def _kind_words(loop: MainLoop) -> list[str]:
    """Return the options for the kind and its scale factors, unless they follow from the types."""
    if has_wgmma(loop.arch):
        return [] if loop.scale is None else [f"--scale-vector {loop.scale[1]}"]
    words = [f"--kind {loop.kind}"] if loop.kind != kind_of_request(loop.arch, loop.a, loop.b, None, None, None) else []
    if (
        loop.scale is None
        or loop.scale
        == factors_of(
            loop.kind, None, None, k=loop.extents[2] // (1 + loop.sparse), arch=loop.arch, legality=loop.legality
        )[:2]
    ):
        return words
    return [*words, f"--scale-dtype {loop.scale[0]}", f"--scale-vector {loop.scale[1]}"]


def _command_lines(command: str, indent: str = "   ") -> Iterator[str]:
    """Yield a shell command in lines of at most 80 columns, broken between options."""
    first, *options = re.split(" (?=--)", command)
    line = indent + first
    for option in options:
        if len(line) + len(option) + 3 > _COLUMNS:
            yield line + " \\"
            line = indent + "   "
        line += f" {option}"
    yield line


def _convolution_words(layer: Convolution) -> str:
    """Return the options for a convolution."""
    words = [f"--conv {extents_text((layer.images, layer.height, layer.width, layer.channels))}"]
    words.append(f"--filters {extents_text((layer.filters, *layer.taps))}")
    for name, pair, usual in (
        ("stride", layer.stride, 1),
        ("dilation", layer.dilation, 1),
        ("padding", layer.padding, 0),
    ):
        words += [f"--{name} {extents_text(pair)}"] if pair != (usual, usual) else []
    words += ["--pixels B"] if layer.operand == "B" else []
    return " ".join(words)


def _epilogue_words(plan: Plan) -> list[str]:
    """Return the options for C that do not have their defaults."""
    epilogue = plan.epilogue
    terms = [f"--terms {','.join(epilogue.terms)}"] if epilogue.terms else []
    if epilogue.staged is None:
        return terms
    words = [f"--c-dtype {epilogue.c}"] if epilogue.c != plan.asked.d else []
    words += [f"--splits {epilogue.splits}"] if epilogue.splits > 1 else []
    return (words or ["--store tma"]) + terms


def tell_tile_proposals(proposals: TileProposals) -> str:
    r"""Return the chosen plans for a product as text.

    Args:
        proposals: the result of ``propose_tiles``.

    >>> from descriptors.gemm.problem import propose_tiles
    >>> print(tell_tile_proposals(propose_tiles("bf16", (4096, 4096, 4096), top=1)))  # doctest: +ELLIPSIS
    4096x4096x4096 bf16 (sm90): 128x256x64, 177 us expected, 778 TFLOP/s
    <BLANKLINE>
       tile        cluster  parts  stages  CTAs  waves  bound by     takes   TFLOP/s
       128x256x64  1x1      1      4       512   4      multiplying  177 us  778
    <BLANKLINE>
    Times by the model of docs/programs.md: fitted to bf16 products on an H200.
    All plans are proved. To write a program:
       descriptors plan m64n256k16 bf16 --arch sm90 --tile 128x256x64 --store tma \
          --emit cuda
    """
    best, loop = proposals.estimates[0], proposals.plans[0].asked
    lines = [
        f"{proposals.name} {loop.a} ({loop.arch}): {extents_text(loop.tile)}, "
        f"{best.microseconds:.0f} us expected, {best.teraflops:.0f} TFLOP/s",
        "",
    ]
    about = _EVIDENCE[proposals.evidence].format(
        f"{loop.a} products" if proposals.convolution is None else "convolutions"
    )
    lines += [
        *aligned(TILE_PROPOSAL.table(_expected(proposals)), indent=3),
        "",
        f"Times by the model of docs/programs.md: {about}.",
    ]
    lines.append("All plans are proved. To write a program:")
    commands = [f"{plan_command(plan)} --emit cuda" for plan in proposals.plans]
    return "\n".join(lines + [line for command in commands for line in _command_lines(command)])


#: How the times are known, in words.
_EVIDENCE = {
    "fitted": "fitted to bf16 products on an H200",
    "compared": "fitted to bf16 products on an\nH200, and compared with the measured times of {} there",
    "none": "fitted to bf16 products on an\nH200; nothing of these types and this form was timed",
}
#: What limits a stage, in words.
_BOUNDS = {"multiply": "multiplying", "shared": "shared memory", "copies": "copies"}


#: A plan for a product, with its estimate.
TILE_PROPOSAL = Record(
    tile=Row(TRIPLE, "0.asked.tile", "tile", lambda pair: extents_text(pair[0].asked.tile)),
    cluster=Row(PAIR, "0.asked.cluster", "cluster", lambda pair: extents_text(pair[0].asked.cluster)),
    instruction=Row(str, "0.asked.name"),
    splits=Row(int, "0.epilogue.splits", "parts"),
    stages=Row(int, "0.stages", "stages"),
    tiles=Row(int, "1.tiles", "CTAs"),
    waves=Row(int, "1.waves", "waves"),
    **attributes(Estimate, "steps multiply shared copies microseconds teraflops", "1"),
    bound=Row(set(_BOUNDS), "1.bound", "bound by", lambda pair: _BOUNDS[pair[1].bound]),
    takes=Row(TEXT, label="takes", text=lambda pair: f"{pair[1].microseconds:.0f} us"),
    rate=Row(TEXT, label="TFLOP/s", text=lambda pair: f"{pair[1].teraflops:.0f}"),
    command=Row(str, lambda pair: plan_command(pair[0])),
)


def _expected(proposals: TileProposals) -> list[tuple[Plan, Estimate]]:
    """Return each plan with its estimate."""
    return list(zip(proposals.plans, proposals.estimates, strict=True))


#: The chosen plans for a product as plain data.
record_tile_proposals = Record(
    "TileProposals",
    **attributes(TileProposals, "problem tried evidence"),
    convolution=Row(EXTENTS, optional=True),
    proposals=Row([TILE_PROPOSAL], _expected),
)


#: One proposed plan.
PROPOSAL = Record(
    instruction=Row(str, "asked.name", "instruction"),
    cta_group=Row(int, "asked.cta_group", "CTAs"),
    majors=Row({"A": Row(Major, "A.major"), "B": Row(Major, "B.major")}, _sides),
    swizzles=Row({"A": Row(SwizzleMode, "A.swizzle"), "B": Row(SwizzleMode, "B.swizzle")}, _sides),
    a=_side("A"),
    b=_side("B"),
    stages=Row(int, label="stages", text=lambda plan: f"{plan.stages} of {plan.budget.most_stages}"),
    most_stages=Row(int, "budget.most_stages"),
    used=Row(int, "budget.used", "bytes"),
    read_bytes=Row(int, read_bytes, "read"),
    accumulators=Row(TEXT, label="accumulators", text=_accumulators),
    command=Row(str, plan_command),
)
#: Proposals as plain data.
record_proposals = Record(
    "Proposals",
    **attributes(Proposals, "tile fitting"),
    plans=[PROPOSAL],
    refused=[each(str, "instruction reason")],
    others=int,
    evidence=Row(str, Option("evidence"), optional=True),
)
