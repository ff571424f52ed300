"""The inverse problem: every way to lay a tile out in shared memory that the tensor core reads, ranked by its costs.

A candidate is a major, a swizzle mode and a stacking order of the canonical atoms. Each is checked against the tables
of instructions, derived, and *proved* (``verify``) at the address of every stage; one that fails any of these is
refused with the reason. Those that are left are measured: ``COLUMNS`` says what each number means.

Law: every finding is proved; findings are sorted by ``Finding.rank``, and ties keep the order of enumeration.

>>> found = survey(tile=(64, 32), dtype="bf16", mma=(64, 16), major="K")
>>> all(one.proof.ok for one in found.findings)
True
>>> [one.rank for one in found.findings] == sorted(one.rank for one in found.findings)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from descriptors.derivation.derive import derived
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.verify import verify
from descriptors.errors import DescriptorError, LayoutError, as_flag, as_integer, brief
from descriptors.frozen import frozen
from descriptors.instructions.rules import Legality, kind_row
from descriptors.operands.atoms import canonical_atom
from descriptors.operands.operand import ElementType, Major, MajorName, Matrix, SwizzleMode, as_major
from descriptors.proof.addresses import address_bits, stored_addresses
from descriptors.requests.arguments import MMA_MISSING, TileSpec
from descriptors.requests.request import Reader, Request, reader
from descriptors.sweeps.finding import KEYS, Asked, Finding, Refusal, Survey
from descriptors.sweeps.producer import Producer, as_producer, moves, stores
from descriptors.tma.limits import TmaError
from descriptors.tma.plan import TmaPlan
from descriptors.tma.planner import tma_plan
from descriptors.words.address import SMEM_BYTES, WINDOW_BYTES
from descriptors.words.descriptor import Arch
from layoutalg import AnyLayout, size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SWIZZLES = (SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE)


@frozen
class _Question:
    """The arguments of ``survey``, checked and typed."""

    tile: tuple[int, int]
    reader: Reader
    reads: tuple[int, int]
    producer: Producer
    majors: tuple[Major, ...]
    stages: int
    smem: int
    pad: bool

    @property
    def element(self) -> ElementType:
        return self.reader.element

    @property
    def key(self) -> tuple[str, ...]:
        return KEYS["tma" if self.producer == "tma" else "stores"]


def search(
    tile: Sequence[int],
    dtype: str | ElementType,
    mma: Sequence[int] | str,
    arch: Arch = "sm100",
    *,
    major: Major | MajorName | None = None,
    operand: Matrix | None = None,
    stages: int = 1,
    smem: int = SMEM_BYTES,
    producer: Producer = "tma",
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    pad: bool = False,
    legality: Legality = "strict",
) -> tuple[Finding, ...]:
    """Every way to lay a tile out that the tensor core reads, best first; ``survey`` has the refused ones too.

    Law: every finding is proved, and they are sorted by ``Finding.rank``, ties in the order of enumeration.

    Args:
        tile, dtype, mma, arch, major, operand, stages, smem, producer, kind, cta_group, sparse, pad, legality: those of
            ``survey``.

    Raises:
        DescriptorError: as ``survey``.

    >>> best = search(tile=(128, 64), dtype="bf16", mma=(64, 16), major="K")
    >>> [(str(one.swizzle), one.boxes, one.wavefronts, one.waste_bytes) for one in best[:3]]
    [('128B', 1, 128, 1008), ('64B', 2, 256, 496), ('32B', 4, 512, 240)]
    >>> hex(best[0].word), best[0].proof.ok
    ('0x4000404000010000', True)
    """
    found = survey(
        tile, dtype, mma, arch, major=major, operand=operand, stages=stages, smem=smem, producer=producer, kind=kind,
        cta_group=cta_group, sparse=sparse, pad=pad, legality=legality,
    )  # fmt: skip
    return found.findings


def survey(
    tile: Sequence[int],
    dtype: str | ElementType,
    mma: Sequence[int] | str,
    arch: Arch = "sm100",
    *,
    major: Major | MajorName | None = None,
    operand: Matrix | None = None,
    stages: int = 1,
    smem: int = SMEM_BYTES,
    producer: Producer = "tma",
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    pad: bool = False,
    legality: Legality = "strict",
) -> Survey:
    """Derive, prove and measure every (major, swizzle, stacking order) of a tile.

    Args:
        tile: extents (MN, K) of one stage, in elements.
        dtype: name of the element type.
        mma: extents (MN, K) that one instruction reads, in elements.
        arch: ``"sm90"`` or ``"sm100"``.
        major: only this one; both if left out.
        stages: copies of the tile, each at an aligned address.
        smem: bytes of shared memory that they should fit; what does not fit is ranked last.
        producer: who fills the tile, see ``descriptors.sweeps.producer``: ``"tma"``, ``"rows"``, ``"columns"``, or a
            thread-value layout or its notation. What it is decides the order: ``KEYS``.
        operand, kind, cta_group, sparse, legality: as for ``derive``.
        pad: whether to round the tile up, where a candidate needs it, to whole atoms and operands. The boxes then fill
            all of it, plain stores only the elements of the tile.

    Raises:
        DescriptorError: if an argument is unknown or malformed, or a thread-value layout leaves the tile. A tile that
            only some candidates refuse is no error, nor one that all do.

    >>> both = survey(tile=(128, 32), dtype="bf16", mma=(64, 16), producer="rows")
    >>> len(both.findings), [str(one.swizzle) for one in both.refusals]
    (13, ['128B', '128B_BASE32B', '128B_BASE32B'])
    >>> print(both.refusals[0].reason.partition("; the")[0])
    derive: tile extent 1 must be a multiple of the atom's 64, found 32; tile = (128,32), atom = (8,64):(64,1)
    """
    by = reader(
        arch, dtype, mma, operand=operand, kind=kind, cta_group=cta_group, sparse=sparse, legality=legality,
        where="search",
    )  # fmt: skip
    if by.kind is not None:
        kind_row(by.arch, by.kind)
    if by.extents is None:
        raise DescriptorError(MMA_MISSING.format("search"))
    extents = _tile(tile)
    question = _Question(
        tile=extents,
        reader=by,
        reads=by.extents,
        producer=as_producer(producer, extents),
        majors=tuple(Major) if major is None else (as_major(major),),
        stages=as_integer(stages, "search: stages", minimum=1, maximum=WINDOW_BYTES // 16),
        smem=as_integer(smem, "search: smem", minimum=16),
        pad=as_flag(pad, "search: pad"),
    )
    tried = [_measured(question, one, swizzle) for one in question.majors for swizzle in _SWIZZLES]
    findings = sorted((one for found, _ in tried for one in found), key=lambda finding: finding.rank)
    asked = Asked(
        extents, str(dtype), by.extents, by.arch, None if major is None else str(major), by.matrix, question.stages,
        question.smem, str(producer), by.kind, by.cta_group, by.sparse, question.pad, by.legality,
    )  # fmt: skip
    return Survey(tuple(findings), tuple(one for _, refused in tried for one in refused), question.key, asked)


def _measured(question: _Question, major: Major, swizzle: SwizzleMode) -> tuple[list[Finding], list[Refusal]]:
    """What comes of the two stacking orders; one entry where they come to the same."""
    made, refused = list[_Made](), dict[str, list[tuple[int, ...]]]()
    for order in ((0, 1), (1, 0)) if major is Major.K else ((1, 0), (0, 1)):
        try:
            d = _derived(question, major, swizzle, order)
            bits = stored_addresses(d.smem_tile, d.element).astype("int64") * address_bits(d.element)
        except LayoutError as error:
            refused.setdefault(str(error), []).append(order)
            continue
        same = next((one.orders for one in made if (bits == one.bits).all()), None)
        if same is None:
            made.append(_Made(d, bits, [order]))
        else:
            same.append(order)
    findings = [_finding(question, *one) for one in made]
    for found in findings:
        if not found.proof.ok:
            refused.setdefault(f"search: the words must read the tile, {found.proof}", []).extend(found.orders)
    refusals = [Refusal(major, swizzle, tuple(orders), reason) for reason, orders in refused.items()]
    return [found for found in findings if found.proof.ok], refusals


class _Made(NamedTuple):
    """A candidate that was derived: where its elements lie, in bits, and the orders that give it."""

    derivation: Derivation
    bits: NDArray[np.int64]
    orders: list[tuple[int, ...]]


def _derived(question: _Question, major: Major, swizzle: SwizzleMode, order: tuple[int, int]) -> Derivation:
    """A candidate, not proved yet."""
    tile = _padded(question, major, swizzle)
    spec = TileSpec(major, swizzle, question.reads, tile, order, None)
    question.reader.check(spec)
    return derived(Request(question.reader, spec, None))


def _padded(question: _Question, major: Major, swizzle: SwizzleMode) -> tuple[int, int]:
    """The tile, rounded up to whole atoms and operands if that was asked for."""
    if not question.pad:
        return question.tile
    atom: AnyLayout = canonical_atom(major, swizzle).in_elements(question.element)
    units = zip([size(atom, mode) for mode in range(2)], question.reads, strict=True)
    mn, k = (-(-n // lcm(unit, read)) * lcm(unit, read) for n, (unit, read) in zip(question.tile, units, strict=True))
    return mn, k


def _finding(question: _Question, d: Derivation, bits: NDArray[np.int64], orders: list[tuple[int, ...]]) -> Finding:
    """A candidate proved and measured."""
    plan, plan_refused = _plan(d)
    by_tma = question.producer == "tma" and plan is not None
    alignment = plan.alignment_bytes if by_tma and plan else d.swizzle.alignment_bytes
    (mn, k), stage = question.tile, size(d.tile) * d.element.storage_bits // 8
    # Stages lie back to back: an atom is as large as its pattern, and without a swizzle as what a tensor copy demands.
    last = (question.stages - 1) * stage
    carries = not d.advance_report(base=last).fits_field
    bases = [base for base in range(0, last + 1, stage) if base + stage <= WINDOW_BYTES]
    stored = stores(bits[:mn, :k], moves(question.producer, question.tile, d.major, d.element), d.element)
    total, empty = last + stage, stage - mn * k * d.element.storage_bits // 8
    return Finding(
        derivation=d,
        orders=tuple(orders),
        proof=verify(d, bases=bases),
        plan=plan,
        plan_refused=plan_refused,
        stores_refused=""
        if stored
        else f"a plain store must move whole bytes, of padded types whole containers; dtype = {d.element}",
        wavefronts=None if stored is None else stored.wavefronts,
        conflicts=None if stored is None else stored.conflicts,
        store_bytes=None if stored is None else stored.store_bytes,
        stages=question.stages,
        stage_bytes=stage,
        alignment_bytes=alignment,
        padding_bytes=question.stages * empty,
        slack_bytes=alignment - 16,
        total_bytes=total,
        fits=total <= question.smem,
        carries=carries,
        key=question.key,
    )


def _plan(d: Derivation) -> tuple[TmaPlan | None, str]:
    try:
        plan = tma_plan(d)
        plan.verify()
    except TmaError as error:
        return None, str(error)
    return plan, ""


def _tile(tile: object) -> tuple[int, int]:
    if not isinstance(tile, (tuple, list)) or len(tile) != 2:
        raise DescriptorError(f"search: tile must be (MN, K) of one stage, found {brief(tile)}")
    mn, k = (as_integer(extent, f"search: tile extent {i}", minimum=1) for i, extent in enumerate(tile))
    return mn, k
