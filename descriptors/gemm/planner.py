"""Plan a main loop for an instruction and a tile (``plan``), or rank all plans of a tile (``propose``).

In shared memory the operands come first, A before B, each with all its stages; then scale factors; then barriers.

The cost of an instruction is the shared memory that it reads. An instruction of M x N reads (M + N) K elements for
M N K products, so wide instructions read least. Proposals are ranked by that, then by the number of stages that fit.
``propose`` tries all instructions with the given majors, or with both operands K-major. For the best instruction it
also tries the other legal majors, because the major is that of the matrix in global memory, which no copy changes.

Invariant: the regions of shared memory do not overlap, and all of them fit. Every proposal is proved, and every
instruction that divides the tile is either proposed or refused with a reason.

>>> four = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4)
>>> [four.a.base, four.b.base, four.barriers], four.budget.used
([0, 65536, 131072], 131136)
>>> proposals = propose("bf16", tile=(64, 48, 32), arch="sm90", a_major="K", b_major="K", top=9)
>>> [each.asked.name for each in proposals.plans], proposals.refused
(['m64n48k16', 'm64n24k16', 'm64n16k16', 'm64n8k16'], ())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import mod
from typing import Any

from descriptors import targets
from descriptors.errors import Advice, DescriptorError, ProofError, advised, as_flag, as_integer, proposing, unadvised
from descriptors.gemm.accumulators import Registers, TensorColumns, registers_of, roomier, tensor_columns
from descriptors.gemm.budget import EXTRA_BYTES, EXTRA_BYTES_OF_SETS, Budget, budget
from descriptors.gemm.epilogue import WARPS, Epilogue, check_columns, epilogue_of
from descriptors.gemm.implicit_gemm import implicit_gemm
from descriptors.gemm.plan import BlackwellPlan, HopperPlan, Plan
from descriptors.gemm.plan_metadata import Metadata, metadata_of
from descriptors.gemm.plan_operands import operand
from descriptors.gemm.plan_request import MainLoop, kind_of_request, main_loop, three
from descriptors.gemm.plan_scales import Scales, scales_of
from descriptors.gemm.product import Product
from descriptors.gemm.promotion import promotion_of
from descriptors.gemm.ptx_line import line_of
from descriptors.gemm.register_operand import a_in_registers
from descriptors.gemm.schedule import read_bytes
from descriptors.gemm.thread_registers import check_registers
from descriptors.smem.instructions.facts import ShapeRow
from descriptors.smem.instructions.rules import Legality, as_mode, rows_of, rows_read
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    as_major,
    as_swizzle_mode,
)
from descriptors.smem.tma.convolution import Convolution, as_convolution
from descriptors.smem.words.descriptor import architecture, assumed_architecture
from descriptors.targets import has, has_tcgen05, has_wgmma
from descriptors.text import Told, counted, extents_text
from layoutalg.frozen import frozen, replace

#: The largest alignment that an operand's address may need, in bytes.
_ALIGNMENT = 1024


@advised
def plan(
    instruction: str | Sequence[int],
    dtype: str | ElementType,
    *,
    tile: Sequence[int],
    stages: int | None = None,
    arch: str | None = None,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    a_swizzle: SwizzleMode | SwizzleName | None = None,
    b_swizzle: SwizzleMode | SwizzleName | None = None,
    kind: str | None = None,
    cta_group: int | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    a_source: str = "smem",
    warpgroups: int | None = None,
    cluster: Sequence[int] | None = None,
    c_dtype: str | None = None,
    store: str | None = None,
    splits: int = 1,
    terms: Sequence[str] = (),
    sparse: bool = False,
    accumulators: int = 1,
    convolution: Convolution | Mapping[str, Any] | None = None,
    smem: int | None = None,
    legality: Legality = "strict",
    verify: bool = True,
) -> Plan:
    """Plan a main loop and prove its product: operands, descriptors, copies, instruction, accumulators, shared memory.

    Invariant: if the plan's copies fill shared memory, the instructions with the plan's descriptors leave ``A @ B`` in
    the plan's accumulators, element by element (``Plan.verify``).

    Args:
        instruction: its shape, ``"m64n128k16"`` or (M, N, K); M over both CTAs if ``cta_group`` is 2. A name may
            state more, as in PTX: ``"tcgen05.mma.cta_group::2.kind::f16.m256n128k16"``. These properties are
            used, and must agree with the other arguments.
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs, in elements.
        stages: number of stages; by default as many as fit, at most 8.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; by default sm90 for M 64 if no argument
            needs a newer architecture, else sm100.
        b_dtype: element type of B; by default that of A.
        d_dtype: type of the accumulators; by default f32, or s32 for integers.
        a_major, b_major: ``"K"`` or ``"MN"``.
        a_swizzle, b_swizzle: by default the widest that fits.
        kind: the kind of a ``tcgen05.mma`` instruction; by default derived from the types.
        cta_group: 1 or 2; by default 1.
        scale_dtype, scale_vector: type of the scale factors of a block-scaled kind and number of stored elements of A
            that share one; by default from the kind. A factor of a sparse A is therefore for twice as many elements
            along K. On sm90, 8-bit floats support 128 with f32 factors, by which accumulators are multiplied when they
            are promoted, every 128 of K. On sm100, kind mxf8f6f4 supports 128 with ue8m0 factors, each of which is used
            by four instructions of K 32.
        a_source: where the instruction reads A from: ``"smem"``, or on sm90 ``"registers"``, which are loaded from
            shared memory, from a tile of either major.
        cluster: CTAs along M and along N that share their copies by multicast, at most 8; by default no cluster.
        sparse: whether A is stored without its zeros, two of four along K, as ``compress`` does; K counts the zeros.
            An instruction's name such as ``"wgmma.sp.m64n128k32"`` has the same effect.
        warpgroups: number of warpgroups that multiply, on sm90; by default 2 or 3 if they divide the M blocks.
        c_dtype: type of C in global memory; by default that of the accumulators.
        store: how programs store C: ``"registers"``, or ``"tma"``, through shared memory; by default ``"tma"`` if C is
            narrower than the accumulators or K is split, else ``"registers"``.
        splits: number of parts along K, each a tile of its own; a second kernel adds them in order.
        terms: what programs apply to a sum before they store it: ``"row-scales"``, ``"alpha-beta"``, ``"bias"``.
        accumulators: number of accumulator sets, on sm100. With 2, a tile is multiplied into one set while the previous
            tile is read from the other. The sets share columns if tensor memory is too small for both.
        convolution: a ``convolution``, or its arguments. Its output pixels are the rows, its filters the columns, and
            its taps and channels are K. A tile has pixels, filters, and channels of one tap.
        smem: shared memory of the CTA, in bytes; by default that of the architecture.
        legality: how the tables of instructions are read.
        verify: whether to prove the operands and the product. Needs numpy.

    Raises:
        IllegalError: if the instruction does not exist; the message names the nearest shapes.
        DescriptorError: if an argument is malformed, the tile is not a whole number of instructions, or shared memory,
            registers or tensor memory do not suffice.
        ProofError: if the product is not ``A @ B``.

    >>> example = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    >>> hex(example.b.word), example.b.k_steps, example.b.transposed, example.accumulators.registers
    ('0x4000004002001000', (0, 128, 256, 384), 1, 64)
    """
    with_proof = as_flag(verify, "plan: verify")
    problem = None if convolution is None else as_convolution(convolution)
    loop = main_loop(
        instruction, dtype, tile=tile, b_dtype=b_dtype, d_dtype=d_dtype, arch=arch, kind=kind, a_major=a_major,
        b_major=b_major, cta_group=cta_group, scale_dtype=scale_dtype, scale_vector=scale_vector, a_source=a_source,
        cluster=cluster, sparse=sparse, legality=legality,
    )  # fmt: skip
    sums = _accumulators(loop, warpgroups, accumulators)
    scales = _scales(loop, sums) if isinstance(sums, TensorColumns) and loop.scale else None
    epilogue = _epilogue(loop, sums, c_dtype, store, splits, terms)
    extra = 0
    if isinstance(sums, TensorColumns):
        extra = EXTRA_BYTES if sums.sets == 1 else EXTRA_BYTES_OF_SETS
    with proposing(roomier(loop)):
        memory = _budget(loop, scales, extra, stages, smem, epilogue.staged_bytes)
    places = memory.places()
    a = operand(loop, "A", memory.stages, swizzle=a_swizzle)
    b = operand(loop, "B", memory.stages, swizzle=b_swizzle, base=places["B"])
    if epilogue.staged is not None:
        epilogue = replace(epilogue, staged=replace(epilogue.staged, base=places["C"]))
    if scales is not None:
        scales = replace(scales, bases=(places["SFA"], places["SFB"]))
    metadata = _metadata(loop, sums, places.get("E", 0)) if loop.sparse else None
    implicit = None if problem is None else implicit_gemm(problem, loop, a, b, splits)
    if problem is not None and problem.operand == "A":
        check_columns(epilogue, problem.filters)
    line, barriers = line_of(loop, scales), places["barriers"]
    whole_plan: Plan
    if isinstance(sums, Registers):
        loads = a_in_registers(loop, a) if loop.a_source == "rmem" else None
        promotion = promotion_of(loop, sums) if loop.scale else None
        whole_plan = hopper = HopperPlan(
            loop, a, b, line, sums, epilogue, memory, barriers, metadata, implicit, loads, promotion
        )
        check_registers(hopper)
    else:
        whole_plan = BlackwellPlan(loop, a, b, line, sums, epilogue, memory, barriers, metadata, implicit, scales)
    if with_proof:
        prove_plan(whole_plan)
    return whole_plan


def prove_plan(plan: Plan) -> Product:
    """Return the proof of a plan's operands and product.

    Raises:
        ProofError: if the proof fails; the error has it as ``proof``.

    >>> print(prove_plan(plan("m64n8k8", "tf32", tile=(64, 8, 32), stages=1, verify=False)))
    proved: 64x8x32 product, 1 stage, 512 accumulators
    """
    proof = plan.verify()
    if not proof.ok:
        failed = next((part for part in (*proof.operands, proof) if not part.ok), proof)
        raise ProofError(f"plan: the descriptors do not give A @ B; {failed}; {plan.headline}", proof)
    return proof


def _accumulators(loop: MainLoop, warpgroups: int | None, sets: int) -> Registers | TensorColumns:
    count = as_integer(sets, "plan: accumulators", minimum=1, maximum=2)
    if has_wgmma(loop.arch):
        if count > 1:
            raise DescriptorError(
                f"plan: accumulators 2 is not supported on {loop.arch}; two sets need tensor memory (sm100), and the "
                f"accumulators of {loop.arch} are registers",
                proposals=[Advice({"accumulators": 1})],
            )
        return registers_of(loop, warpgroups)
    if warpgroups is not None:
        raise DescriptorError(
            f"plan: warpgroups is not supported on {loop.arch}, only on sm90, where warpgroups issue wgmma",
            proposals=[Advice({"warpgroups": None})],
        )
    return tensor_columns(loop, count)


def _epilogue(
    loop: MainLoop,
    accumulators: Registers | TensorColumns,
    c: str | None,
    store: str | None,
    splits: int,
    terms: Sequence[str],
) -> Epilogue:
    if isinstance(accumulators, Registers):
        return epilogue_of(loop, accumulators.warpgroups, c=c, store=store, splits=splits, terms=terms)
    read = accumulators.readout
    return epilogue_of(loop, WARPS, rows=read.threads, values=read.values, c=c, store=store, splits=splits, terms=terms)


def _scales(loop: MainLoop, accumulators: TensorColumns) -> Scales:
    return scales_of(loop, columns=(accumulators.plan.part("SFA").column, accumulators.plan.part("SFB").column))


def _metadata(loop: MainLoop, accumulators: Registers | TensorColumns, base: int) -> Metadata:
    if isinstance(accumulators, Registers):
        return metadata_of(loop)
    first = next(part for part in accumulators.plan.parts if part.name.startswith("E"))
    return metadata_of(loop, column=first.column, base=base)


def _budget(
    loop: MainLoop, scales: Scales | None, extra: int, stages: int | None, smem: int | None, pieces: int
) -> Budget:
    (m, n, k), pair = loop.tile, loop.cta_group
    parts = [
        (name, rows // pair * loop.stored(name, k) * element.storage_bits // 8)
        for name, rows, element in (("A", m, loop.a), ("B", n, loop.b))
    ]
    if scales is not None:
        parts += [("SFA", scales.a.bytes), ("SFB", scales.b.bytes)]
    if loop.sparse and has_tcgen05(loop.arch):
        parts.append(("E", metadata_of(loop).bytes))
    most = targets.shared_bytes(loop.arch)
    capacity = most if smem is None else smem
    return budget(tuple(parts), stages, extra=extra, capacity=capacity, most=most, pieces=pieces, alignment=_ALIGNMENT)


@frozen
class Proposals(Told):
    """The ranked plans of a tile.

    Args:
        tile: M, N and K of a stage.
        plans: the best plans, each of them proved, best first.
        fitting: number of plans that fit, including those that are not in ``plans``.
        refused: name and reason of each instruction that divides the tile but has no plan.
        others: number of legal instructions that do not divide the tile.
    """

    tile: tuple[int, int, int]
    plans: tuple[Plan, ...]
    fitting: int
    refused: tuple[tuple[str, str], ...]
    others: int

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.subject}, best {self.plans[0].asked.name}" if self.plans else self.subject

    @property
    def subject(self) -> str:
        """The number of plans and the tile, in words."""
        return f"{counted(self.fitting, 'plan')} of a tile of {extents_text(self.tile)}"


def propose(
    dtype: str | ElementType, *, tile: Sequence[int], arch: str | None = None, top: int = 4, **options: Any
) -> Proposals:
    """Return the best plans of a tile, proved, over all instructions that divide it.

    Args:
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs of a pair.
        arch: the architecture, as in ``plan``; by default ``"sm100"``.
        top: number of plans that are kept and proved.
        options: the other arguments of ``plan``, which apply to every instruction. Without ``cta_group``, both 1 and 2
            are tried.

    Raises:
        DescriptorError: if an argument is malformed, or no plan fits; the message has the reasons of the first two.

    >>> proposals = propose("bf16", tile=(128, 256, 64), arch="sm90", top=1)
    >>> print(proposals.headline)
    9 plans of a tile of 128x256x64, best m64n256k16
    """
    architecture_name, tile_extents = (
        architecture(assumed_architecture() if arch is None else arch),
        three(tile, "the tile"),
    )
    most = as_integer(top, "plan: how many to show", minimum=1, maximum=64)
    arguments = {name: value for name, value in options.items() if value is not None}
    a = as_element_type(dtype)
    b = as_element_type(arguments.get("b_dtype", a))
    kind = kind_of_request(
        architecture_name, a, b, arguments.get("kind"), arguments.get("scale_dtype"), arguments.get("scale_vector")
    )
    for name in ("a_swizzle", "b_swizzle"):
        as_swizzle_mode(arguments.get(name, SwizzleMode.NONE))
    groups = (arguments.pop("cta_group"),) if "cta_group" in arguments else (1, 2)
    sparse = as_flag(arguments.get("sparse", False), "plan: sparse")
    rows: list[ShapeRow] = [
        row for row in rows_of("SHAPES", architecture_name, kind) if row.sparse == sparse and not row.ws
    ]
    across = has("K = 96", targets.architecture(architecture_name).target)
    rows = [row for row in rows if row.cta_group in groups and (row.k != 96 or across)]
    read = rows_read(rows, as_mode(arguments.get("legality", "strict")))
    legal = {(row.cta_group, m, n, row.k) for row in read for m in row.m for n in row.n if "smem" in row.a_source}
    dividing = sorted(shape_row for shape_row in legal if not any(map(mod, tile_extents, shape_row[1:])))
    fits, refused = list[Plan](), list[tuple[str, str]]()
    arguments |= {"dtype": a, "tile": tile_extents, "arch": architecture_name, "verify": False}
    for shape in reversed(dividing):
        _try(shape, arguments, fits, refused)
    if fits:
        best = min(fits, key=_rank)
        shape = (best.asked.cta_group, *best.asked.extents)
        for majors in ((Major.K, Major.MN), (Major.MN, Major.K), (Major.MN, Major.MN)):
            names = dict(zip(("a_major", "b_major"), majors, strict=True))
            if not any(name in arguments and as_major(arguments[name]) is not major for name, major in names.items()):
                _try(shape, {**arguments, **names}, fits, refused)
    if not fits:
        why = "; ".join(f"{name}: {reason}" for name, reason in refused[:2]) or _none(legal, tile_extents)
        raise DescriptorError(
            f"plan: no {architecture_name} instruction fits the tile {extents_text(tile_extents)}; {why}"
        )
    ranked = sorted(fits, key=_rank)
    for ranked_plan in ranked[:most]:
        prove_plan(ranked_plan)
    return Proposals(
        tile_extents, tuple(ranked[:most]), len(fits), tuple(_by_reason(refused)), len(legal) - len(dividing)
    )


def _by_reason(refused: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the refusals, with those of one instruction for the same reason combined.

    >>> list(_by_reason([("m64n8k16, A K-major", "no"), ("m64n8k16, A MN-major", "no"), ("m64n8k16", "small")]))
    [('m64n8k16, A K-major; A MN-major', 'no'), ('m64n8k16', 'small')]
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name, reason in refused:
        instruction, comma, rest = name.partition(", ")
        names.setdefault((instruction, reason), []).append(comma + rest)
    for (instruction, reason), others in names.items():
        yield instruction + "; ".join([others[0], *(other.removeprefix(", ") for other in others[1:])]), reason


def _rank(plan: Plan) -> tuple[int, int, int, int]:
    """Return the key by which proposals are sorted: bytes read, stages that fit, and transposed operands."""
    transposed = plan.a.transposed + plan.b.transposed
    return read_bytes(plan), -plan.budget.most_stages, transposed, plan.b.transposed


def _none(legal: set[tuple[int, int, int, int]], tile: tuple[int, int, int]) -> str:
    """Return why no legal instruction divides a tile: the extent that none divides, if there is one."""
    for index, letter in enumerate("MNK"):
        steps = sorted({shape[index + 1] for shape in legal})
        if steps and all(tile[index] % step for step in steps):
            return f"tile {letter} is {tile[index]}, which is not a multiple of {' or '.join(map(str, steps[:3]))}"
    return "no legal instruction divides the tile"


def _try(
    shape: tuple[int, int, int, int], arguments: dict[str, Any], fits: list[Plan], refused: list[tuple[str, str]]
) -> None:
    """Plan one instruction, and append the plan to ``fits`` or the refusal to ``refused``.

    Args:
        shape: CTA group, M, N and K of the instruction.
        arguments: the other arguments of ``plan``.
        fits, refused: the lists that are extended.
    """
    group, *extents = shape
    try:
        with unadvised():
            fits.append(plan(extents, cta_group=group, **arguments))
    except DescriptorError as error:
        majors = "".join(
            f", {name[0].upper()} {arguments[name]}-major" for name in ("a_major", "b_major") if name in arguments
        )
        pair = ", cta_group 2" if group == 2 else ""
        refused.append(("m{}n{}k{}".format(*extents) + pair + majors, str(error)))
