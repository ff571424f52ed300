"""The arguments of a plan as one table: what each is, which planner accepts it, and how ``--help`` groups it.

Four planners share them. ``plan`` plans one instruction of ``wgmma`` or ``tcgen05`` for a tile, ``propose`` all
instructions for a tile, ``mma_plan`` one instruction of ``mma.sync`` for a tile, and ``propose_tiles`` chooses the tile
of a whole product. The options of ``descriptors plan`` are read off the table. The signatures of the functions stay
written out, for type checkers.

Invariant: the table and the signatures have the same names.

>>> from inspect import signature
>>> from descriptors.gemm.mma_planner import mma_plan
>>> from descriptors.gemm.planner import plan
>>> from descriptors.gemm.problem import propose_tiles
>>> functions = {"plan": plan, "warps": mma_plan, "tiles": propose_tiles}
>>> ends = {"instruction", "dtype", "problem", "top", "verify"}  # typed without an option, or options of the command
>>> [name for name, function in functions.items() if {*names(name)} != signature(function).parameters.keys() - ends]
[]
>>> defaults = {name: parameter.default for name, parameter in signature(plan).parameters.items()}
>>> [row.name for row in ARGUMENTS[1:] if "plan" in row.planners and defaults[row.name] not in (None, row.default)]
[]
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from descriptors.smem.operands.operand import Major

#: Which planner: ``plan``, ``propose``, ``mma_plan`` or ``propose_tiles``.
Planner: TypeAlias = Literal["plan", "propose", "warps", "tiles"]

#: How a value is written: 128x128x64, a name that the shell completes, another text, a number, or nothing.
Kind: TypeAlias = Literal["extents", "name", "text", "integer", "flag", "convolution"]


class PlanArgument(NamedTuple):
    """One argument of a planner.

    Args:
        name: the name of the parameter.
        kind: how a value is written.
        planners: the planners that accept it.
        group: the heading of ``--help`` under which it is listed.
        metavar: the form of a value, as ``--help`` shows it.
        help: what it is.
        default: the value of the parameter if it is left out.
        bounds: the smallest and the largest value of a number.
    """

    name: str
    kind: Kind
    planners: tuple[Planner, ...]
    group: str
    metavar: str
    help: str
    default: object = None
    bounds: tuple[int, int] | None = None


_TILE: tuple[Planner, ...] = ("plan", "propose")
_WARPS: tuple[Planner, ...] = ("plan", "propose", "warps")
_ALL: tuple[Planner, ...] = ("plan", "propose", "warps", "tiles")
_CHOSEN: tuple[Planner, ...] = ("plan", "propose", "tiles")

#: Every argument, in the order of ``--help``.
ARGUMENTS = (
    PlanArgument("tile", "extents", _WARPS, "Problem", "MxNxK", "Tile of one stage, over both CTAs of a pair."),
    PlanArgument("convolution", "convolution", _CHOSEN, "Problem", "NxHxWxC", "Activations of a convolution."),
    PlanArgument("b_dtype", "name", _ALL, "Operands", "DTYPE", "Element type of B.  [default: that of A]"),
    PlanArgument(
        "d_dtype", "text", _ALL, "Operands", "DTYPE",
        "Element type of the accumulators.  [default: f32; s32 for integers]",
    ),
    PlanArgument(
        "c_dtype", "name", _ALL, "Operands", "DTYPE",
        "Element type of C in programs.  [default: that of the accumulators]",
    ),
    PlanArgument("a_major", "name", _ALL, "Operands", "K|MN", "Contiguous dimension of A.  [default: K]", Major.K),
    PlanArgument("b_major", "name", _ALL, "Operands", "K|MN", "Contiguous dimension of B.  [default: K]", Major.K),
    PlanArgument(
        "a_swizzle", "name", _TILE, "Operands", "MODE",
        "Swizzle of A: none, 32B, 64B, 128B or 128B_BASE32B.  "
        "[default: the widest that fits]",
    ),
    PlanArgument("b_swizzle", "name", _TILE, "Operands", "MODE", "Swizzle of B, likewise."),
    PlanArgument(
        "scale_dtype", "text", _WARPS, "Operands", "DTYPE",
        "Type of the scale factors: ue8m0 or ue4m3.  [default: from the kind]",
    ),
    PlanArgument(
        "scale_vector", "integer", _WARPS, "Operands", "N",
        "Stored elements per scale factor: 16 or 32, depending on the kind, or 128.",
    ),
    PlanArgument(
        "sparse", "flag", _TILE, "Operands", "",
        "A is 2:4 sparse along K (the same as wgmma.sp.m64n128k32).", False,
    ),
    PlanArgument(
        "a_source", "name", _TILE, "Operands", "smem|registers",
        "Where wgmma reads A from; registers are filled by ldmatrix.  [default: smem]", "smem",
    ),
    PlanArgument(
        "arch", "name", _ALL, "Schedule", "ARCH",
        "sm90 sm100 sm103 sm107 sm110; for mma.sync sm80 sm89 sm120 sm121.  "
        "[default: sm90 for M 64, the oldest possible for mma.sync, else sm100]",
    ),
    PlanArgument(
        "kind", "name", _WARPS, "Schedule", "KIND",
        "Kind of an sm100 or sm120 instruction.  [default: from the types]",
    ),
    PlanArgument(
        "cta_group", "integer", _TILE, "Schedule", "N", "CTAs that execute one instruction together.  [default: 1]",
        1, (1, 2),
    ),
    PlanArgument(
        "cluster", "extents", _TILE, "Schedule", "MxN", "CTAs that share copies by multicast.  [default: 1x1]",
    ),
    PlanArgument(
        "legality", "name", _TILE, "Schedule", "LEVEL", "strict, lenient or off (see descriptors derive).", "strict",
    ),
    PlanArgument(
        "stages", "integer", _WARPS, "Schedule", "N",
        "Stages in shared memory.  [default: as many as fit, at most 8; 4 for mma.sync]",
    ),
    PlanArgument(
        "smem", "integer", _WARPS, "Schedule", "BYTES",
        "Shared memory of the CTA.  [default: that of the architecture, 232448 for sm90 and sm100]",
    ),
    PlanArgument(
        "splits", "integer", _TILE, "Schedule", "N",
        "Parts along K, whose results a second kernel adds.  [default: 1]", 1, (1, 64),
    ),
    PlanArgument(
        "warpgroups", "integer", _TILE, "Schedule", "N",
        "Number of MMA (consumer) warpgroups, sm90.  [default: 2 or 3 if they divide the M blocks]",
    ),
    PlanArgument(
        "warps", "extents", ("warps",), "Schedule", "MxN",
        "Warps of an mma.sync plan.  [default: the fewest whose registers suffice]",
    ),
    PlanArgument(
        "accumulators", "integer", _TILE, "Schedule", "N",
        "Accumulator sets in tensor memory; with 2, one is read while the other accumulates the next tile.  "
        "[default: 1]",
        1, (1, 2),
    ),
    PlanArgument(
        "store", "name", _TILE, "Schedule", "registers|tma",
        "How programs store C.  [default: registers if C has the type of the accumulators, else tma]",
    ),
    PlanArgument(
        "terms", "name", _CHOSEN, "Schedule", "LIST",
        "Terms that programs apply before they store C: row-scales, alpha-beta, bias, separated by commas.", (),
    ),
)  # fmt: skip


def names(planner: Planner) -> tuple[str, ...]:
    """Return the names of the arguments that a planner accepts.

    >>> names("tiles")
    ('convolution', 'b_dtype', 'd_dtype', 'c_dtype', 'a_major', 'b_major', 'arch', 'terms')
    """
    return tuple(row.name for row in ARGUMENTS if planner in row.planners)
