"""From an instruction and a tile to a plan, and from a tile alone to all its plans, the best first.

In shared memory operands come first, A before B, each with all its stages; then scale factors; then barriers.

What an instruction costs is the shared memory that it reads: an instruction of M x N reads (M + N) K elements for M N K
products, so that wide ones read least. Proposals are ranked by that, then by how many stages fit. All instructions are
tried with both operands K-major, or as is said; the best one also with the other majors that it may have, for the major
is that of the matrices in global memory, which no copy changes.

Laws: nothing overlaps, and all of it fits; what is proposed is proved, and whatever divides the tile is proposed, or
refused with a reason.

>>> four = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4)
>>> [four.a.base, four.b.base, four.barriers], four.budget.used
([0, 65536, 131072], 131136)
>>> proposals = propose("bf16", tile=(64, 48, 32), arch="sm90", a_major="K", b_major="K", top=9)
>>> [each.asked.name for each in proposals.plans], proposals.refused
(['m64n48k16', 'm64n24k16', 'm64n16k16', 'm64n8k16'], ())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from descriptors.smem.words.descriptor import SMEM_BYTES, architecture, assumed_architecture
from descriptors.targets import has, has_tcgen05, has_wgmma
from descriptors.text import Told, counted, extents_text
from layoutalg.frozen import frozen, replace

#: What any operand's address may have to be a multiple of.
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
    smem: int = SMEM_BYTES,
    legality: Legality = "strict",
    verify: bool = True,
) -> Plan:
    """Plan a main loop: operands, words, copies, instruction, accumulators, budgets; proved as a product.

    Law: with the shared memory filled by the plan's copies, the instructions with the plan's words leave ``A @ B`` in
    the plan's accumulators, element by element (``Plan.verify``).

    Args:
        instruction: its shape, ``"m64n128k16"`` or (M, N, K); M over both CTAs where ``cta_group`` is 2. A name may
            state more, as in PTX: ``"tcgen05.mma.cta_group::2.kind::f16.m256n128k16"``. What it states is used, and
            must agree with the other arguments.
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs, in elements.
        stages: how many stages; as many as fit, at most 8, if left out.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; sm90 if left out for M 64 without
            anything that only sm100 has.
        b_dtype: element type of B; that of A if left out.
        d_dtype: type of the accumulators; f32, or s32 for integers, if left out.
        a_major, b_major: ``"K"`` or ``"MN"``.
        a_swizzle, b_swizzle: the widest that fits if left out.
        kind: the kind of an sm100 instruction; found from the types if left out.
        cta_group: 1 or 2; 1 if left out.
        scale_dtype, scale_vector: of a block-scaled kind; by the kind if left out; elements are counted as A is stored,
            so that a sparse A has a factor for twice as many. On sm90 128 for 8-bit floats, with factors of f32, by
            which accumulators are multiplied as they are promoted, every 128 of K; on sm100 128 for kind mxf8f6f4, with
            factors of ue8m0, each of which four instructions of K 32 take.
        a_source: where the instruction takes A from: ``"smem"``, or ``"registers"``, on sm90 alone; A then goes from
            shared memory into them, from a tile of any major.
        cluster: CTAs along M and along N that share their copies by multicast, at most 8; none if left out.
        sparse: whether A is stored without its zeros, two of four along K, as ``compress`` does it; K counts them. So
            it is where the instruction's name says so: ``"wgmma.sp.m64n128k32"``.
        warpgroups: that multiply, on sm90; 2 or 3 where they divide the M blocks if left out.
        c_dtype: type of C in global memory; that of the accumulators if left out.
        store: how programs store C: ``"registers"``, or ``"tma"``, through shared memory; tma where C is narrower than
            the accumulators or K is cut, else registers, if left out.
        splits: parts along K, each a tile of its own; a second kernel adds them in their order.
        terms: what programs do to a sum before they store it: ``"row-scales"``, ``"alpha-beta"``, ``"bias"``.
        accumulators: sets of them, on sm100: 2 to multiply a tile into one while the tile before is read from the
            other. They share columns where tensor memory has not enough for both.
        convolution: whose output pixels are the rows, whose filters the columns, and whose taps and channels are K; as
            ``convolution`` makes one, or its arguments. A tile has so many pixels, filters and channels of one tap.
        smem: shared memory of the CTA, in bytes.
        legality: how the tables of instructions are read.
        verify: whether to prove the operands and the product. Needs numpy.

    Raises:
        IllegalError: if there is no such instruction; the nearest are named.
        DescriptorError: if an argument is malformed, the tile is not whole instructions, or a budget does not suffice.
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
    held = _accumulators(loop, warpgroups, accumulators)
    scales = _scales(loop, held) if isinstance(held, TensorColumns) and loop.scale else None
    epilogue = _epilogue(loop, held, c_dtype, store, splits, terms)
    extra = 0
    if isinstance(held, TensorColumns):
        extra = EXTRA_BYTES if held.sets == 1 else EXTRA_BYTES_OF_SETS
    with proposing(roomier(loop)):
        room = _budget(loop, scales, extra, stages, smem, epilogue.staged_bytes)
    places = room.places()
    a = operand(loop, "A", room.stages, swizzle=a_swizzle)
    b = operand(loop, "B", room.stages, swizzle=b_swizzle, base=places["B"])
    if epilogue.staged is not None:
        epilogue = replace(epilogue, staged=replace(epilogue.staged, base=places["C"]))
    if scales is not None:
        scales = replace(scales, bases=(places["SFA"], places["SFB"]))
    metadata = _metadata(loop, held, places.get("E", 0)) if loop.sparse else None
    implicit = None if problem is None else implicit_gemm(problem, loop, a, b, splits)
    if problem is not None and problem.operand == "A":
        check_columns(epilogue, problem.filters)
    line, barriers = line_of(loop, scales), places["barriers"]
    whole_plan: Plan
    if isinstance(held, Registers):
        loads = a_in_registers(loop, a) if loop.a_source == "rmem" else None
        promotion = promotion_of(loop, held) if loop.scale else None
        whole_plan = hopper = HopperPlan(
            loop, a, b, line, held, epilogue, room, barriers, metadata, implicit, loads, promotion
        )
        check_registers(hopper)
    else:
        whole_plan = BlackwellPlan(loop, a, b, line, held, epilogue, room, barriers, metadata, implicit, scales)
    if with_proof:
        prove_plan(whole_plan)
    return whole_plan


def prove_plan(plan: Plan) -> Product:
    """The proof of a plan that holds: operands and product.

    Raises:
        ProofError: if it fails; it is the error's ``proof``.

    >>> print(prove_plan(plan("m64n8k8", "tf32", tile=(64, 8, 32), stages=1, verify=False)))
    proved: 64x8x32 product, 1 stage, 512 accumulators
    """
    proof = plan.verify()
    if not proof.ok:
        said = next((one for one in (*proof.operands, proof) if not one.ok), proof)
        raise ProofError(f"plan: the words must give the product, {said}; {plan.headline}", proof)
    return proof


def _accumulators(loop: MainLoop, warpgroups: int | None, sets: int) -> Registers | TensorColumns:
    count = as_integer(sets, "plan: accumulators", minimum=1, maximum=2)
    if has_wgmma(loop.arch):
        if count > 1:
            raise DescriptorError(
                "plan: two sets of accumulators must be in tensor memory, of sm100; those of sm90 are registers of the "
                "warps that multiply, found accumulators 2",
                proposals=[Advice({"accumulators": 1})],
            )
        return registers_of(loop, warpgroups)
    if warpgroups is not None:
        raise DescriptorError(
            f"plan: warpgroups must be of sm90, where they issue wgmma, found arch {loop.arch}",
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


def _budget(loop: MainLoop, scales: Scales | None, extra: int, stages: int | None, smem: int, pieces: int) -> Budget:
    (m, n, k), pair = loop.tile, loop.cta_group
    parts = [
        (name, rows // pair * loop.stored(name, k) * element.storage_bits // 8)
        for name, rows, element in (("A", m, loop.a), ("B", n, loop.b))
    ]
    if scales is not None:
        parts += [("SFA", scales.a.bytes), ("SFB", scales.b.bytes)]
    if loop.sparse and has_tcgen05(loop.arch):
        parts.append(("E", metadata_of(loop).bytes))
    most = targets.architecture(loop.arch).shared
    return budget(tuple(parts), stages, extra=extra, capacity=smem, most=most, pieces=pieces, alignment=_ALIGNMENT)


@frozen
class Proposals(Told):
    """The plans of a tile.

    Args:
        tile: M, N and K of a stage.
        plans: the best first, each of them proved.
        fitting: how many fit, shown or not.
        refused: instruction and reason, of those that divide the tile and do not do.
        others: how many legal instructions do not divide it.
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
        """How many plans there are, and of what."""
        return f"{counted(self.fitting, 'plan')} of a tile of {extents_text(self.tile)}"


def propose(
    dtype: str | ElementType, *, tile: Sequence[int], arch: str | None = None, top: int = 4, **options: Any
) -> Proposals:
    """Every plan of a tile, the best proved.

    Args:
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs of a pair.
        arch: as in ``plan``; ``"sm100"`` if it is left out.
        top: how many are kept, and proved.
        options: the other arguments of ``plan``, which hold for every instruction; with ``cta_group`` left out both are
            tried on sm100.

    Raises:
        DescriptorError: if an argument is malformed, or nothing fits; the reasons of the best are named.

    >>> proposals = propose("bf16", tile=(128, 256, 64), arch="sm90", top=1)
    >>> print(proposals.headline)
    9 plans of a tile of 128x256x64, best m64n256k16
    """
    of, whole = architecture(assumed_architecture() if arch is None else arch), three(tile, "the tile")
    most = as_integer(top, "plan: how many to show", minimum=1, maximum=64)
    arguments = {name: value for name, value in options.items() if value is not None}
    a = as_element_type(dtype)
    b = as_element_type(arguments.get("b_dtype", a))
    kind = kind_of_request(of, a, b, arguments.get("kind"), arguments.get("scale_dtype"), arguments.get("scale_vector"))
    for name in ("a_swizzle", "b_swizzle"):
        as_swizzle_mode(arguments.get(name, SwizzleMode.NONE))
    groups = (arguments.pop("cta_group"),) if "cta_group" in arguments else (1, 2)
    sparse = as_flag(arguments.get("sparse", False), "plan: sparse")
    rows: list[ShapeRow] = [row for row in rows_of("SHAPES", of, kind) if row.sparse == sparse and not row.ws]
    across = has("K = 96", targets.architecture(of).target)
    rows = [row for row in rows if row.cta_group in groups and (row.k != 96 or across)]
    read = rows_read(rows, as_mode(arguments.get("legality", "strict")))
    legal = {(row.cta_group, m, n, row.k) for row in read for m in row.m for n in row.n if "smem" in row.a_source}
    dividing = sorted(one for one in legal if not (whole[0] % one[1] or whole[1] % one[2] or whole[2] % one[3]))
    fits, refused = list[Plan](), list[tuple[str, str]]()
    arguments |= {"dtype": a, "tile": whole, "arch": of, "verify": False}
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
        why = "; ".join(f"{name}: {reason}" for name, reason in refused[:2]) or _none(legal, whole)
        raise DescriptorError(f"plan: an instruction must fit the tile {extents_text(whole)}, none does; {why}")
    ranked = sorted(fits, key=_rank)
    for one in ranked[:most]:
        prove_plan(one)
    return Proposals(whole, tuple(ranked[:most]), len(fits), tuple(_by_reason(refused)), len(legal) - len(dividing))


def _by_reason(refused: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Refusals, those of one instruction for one reason as one.

    >>> list(_by_reason([("m64n8k16, A K-major", "no"), ("m64n8k16, A MN-major", "no"), ("m64n8k16", "small")]))
    [('m64n8k16, A K-major; A MN-major', 'no'), ('m64n8k16', 'small')]
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name, reason in refused:
        instruction, comma, rest = name.partition(", ")
        names.setdefault((instruction, reason), []).append(comma + rest)
    for (instruction, reason), others in names.items():
        yield instruction + "; ".join([others[0], *(one.removeprefix(", ") for one in others[1:])]), reason


def _rank(one: Plan) -> tuple[int, int, int, int]:
    transposed = one.a.transposed + one.b.transposed
    return read_bytes(one), -one.budget.most_stages, transposed, one.b.transposed


def _none(legal: set[tuple[int, int, int, int]], tile: tuple[int, int, int]) -> str:
    """Why no legal instruction divides a tile: the extent that is to blame."""
    for index, letter in enumerate("MNK"):
        steps = sorted({one[index + 1] for one in legal})
        if steps and all(tile[index] % step for step in steps):
            return f"{letter} must be a multiple of {' or '.join(map(str, steps[:3]))}, found {tile[index]}"
    return "no legal instruction divides it"


def _try(
    shape: tuple[int, int, int, int], arguments: dict[str, Any], fits: list[Plan], refused: list[tuple[str, str]]
) -> None:
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
