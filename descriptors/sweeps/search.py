"""The inverse problem: every way to lay a tile out in shared memory that the tensor core reads, ranked by its costs.

A candidate is a major, a swizzle mode and a stacking order of the canonical atoms. Each is checked against the tables
of instructions, derived, and *proved* (``verify``) at the address of every stage; one that fails any of these is
refused with the reason. Those that are left are measured: ``COLUMNS`` says what each number means.

Law: every finding is proved; findings are sorted by ``Finding.rank``, and ties keep the order of enumeration.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from descriptors.derivation.arguments import instruction_extents
from descriptors.derivation.derivation import Derivation
from descriptors.derivation.derive import derive
from descriptors.derivation.verify import verify
from descriptors.errors import DescriptorError, LayoutError, as_integer, brief
from descriptors.instructions.rules import Legality, as_mode, kind_row
from descriptors.operands.atoms import canonical_atom
from descriptors.operands.operand import ElementType, Major, SwizzleMode, as_element_type, as_major, choose
from descriptors.proof.addresses import address_bits, stored_addresses
from descriptors.sweeps.producer import Producer, as_producer, moves, stores
from descriptors.tma.limits import TmaError
from descriptors.tma.plan import TmaPlan
from descriptors.tma.planner import tma_plan
from descriptors.words.address import SMEM_BYTES, WINDOW_BYTES
from descriptors.words.descriptor import architecture
from layoutalg import size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
from descriptors.sweeps.finding import KEYS, Finding, Refusal, Request, Survey

_SWIZZLES = (SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE)
_OPERANDS: dict[str, Literal["A", "B"]] = {"A": "A", "B": "B"}


class _Request(NamedTuple):
    """The arguments, checked."""

    tile: tuple[int, int]
    pad: bool
    element: ElementType
    producer: Producer
    stages: int
    smem: int
    key: tuple[str, ...]
    given: dict[str, Any]  # what goes on to derive


def search(
    tile: Sequence[int], dtype: str | ElementType, mma: Sequence[int], arch: str = "sm100", **options: Any
) -> tuple[Finding, ...]:
    """Every way to lay a tile out that the tensor core reads, best first; ``survey`` has the refused ones too.

    Law: every finding is proved, and they are sorted by ``Finding.rank``, ties in the order of enumeration.

    Args:
        tile, dtype, mma, arch, options: those of ``survey``.

    Raises:
        DescriptorError: as ``survey``.

    >>> best = search(tile=(128, 64), dtype="bf16", mma=(64, 16), major="K")
    >>> [(str(one.swizzle), one.boxes, one.wavefronts, one.waste_bytes) for one in best[:3]]
    [('128B', 1, 128, 1008), ('64B', 2, 256, 496), ('32B', 4, 512, 240)]
    >>> hex(best[0].word), best[0].proof.ok
    ('0x4000404000010000', True)
    """
    return survey(tile, dtype, mma, arch, **options).findings


def survey(
    tile: Sequence[int],
    dtype: str | ElementType,
    mma: Sequence[int],
    arch: str = "sm100",
    *,
    major: str | Major | None = None,
    operand: Literal["A", "B"] | None = None,
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
        producer: who fills the tile, see ``descriptors.producer``: ``"tma"``, ``"rows"``, ``"columns"``, or a
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
    >>> print(both.refusals[0].reason)
    derive: tile extent 1 must be a multiple of the atom's 64, found 32; tile = (128,32), atom = (8,64):(64,1)
    """
    extents, element = _tile(tile), as_element_type(dtype)
    who = as_producer(producer, extents)
    if kind is not None:
        kind_row(architecture(arch), kind)
    for what, flag in (("sparse", sparse), ("pad", pad)):
        if not isinstance(flag, bool):
            raise DescriptorError(f"search: {what} must be True or False, found {brief(flag)}")
    given = {
        "dtype": element.name,
        "arch": architecture(arch),
        "mma": instruction_extents(mma, None, element, architecture(arch)),
        "operand": None if operand is None else choose("search: operand", operand, _OPERANDS),
        "kind": kind,
        "cta_group": None if cta_group is None else as_integer(cta_group, "search: cta_group", minimum=1, maximum=2),
        "sparse": sparse,
        "legality": as_mode(legality),
    }
    if given["mma"] is None:
        raise DescriptorError("search: mma must be (MN, K), found None")
    count = as_integer(stages, "search: stages", minimum=1, maximum=WINDOW_BYTES // 16)
    room = as_integer(smem, "search: smem", minimum=16)
    key = KEYS["tma" if who == "tma" else "stores"]
    request = _Request(extents, pad, element, who, count, room, key, given)
    findings, refusals = list[Finding](), list[Refusal]()
    for one in Major if major is None else (as_major(major),):
        for swizzle in _SWIZZLES:
            _measure_orders(request, one, swizzle, findings, refusals)
    asked = Request(
        extents, str(dtype), (*mma,), arch, None if major is None else str(major), operand, stages, smem, str(producer),
        kind, cta_group, sparse, pad, legality,
    )  # fmt: skip
    return Survey(tuple(sorted(findings, key=lambda finding: finding.rank)), tuple(refusals), key, asked)


def _measure_orders(
    request: _Request, major: Major, swizzle: SwizzleMode, findings: list[Finding], refusals: list[Refusal]
) -> None:
    """Add what comes of the two stacking orders; one entry where they come to the same."""
    made, refused = list[tuple[Derivation, Any, list[tuple[int, ...]]]](), dict[str, list[tuple[int, ...]]]()
    for order in ((0, 1), (1, 0)) if major is Major.K else ((1, 0), (0, 1)):
        try:
            d = derive(
                tile=_padded(request, major, swizzle), major=major, swizzle=swizzle, order=order, capacity=None,
                verify=False, **request.given,
            )  # fmt: skip
            bits = stored_addresses(d.smem_tile, d.element).astype("int64") * address_bits(d.element)
        except (DescriptorError, LayoutError) as error:
            refused.setdefault(str(error), []).append(order)
            continue
        same = next((orders for _, other, orders in made if (bits == other).all()), None)
        if same is None:
            made.append((d, bits, [order]))
        else:
            same.append(order)
    for d, bits, orders in made:
        found = _finding(request, d, bits, tuple(orders))
        if found.proof.ok:
            findings.append(found)
        else:
            refused.setdefault(f"search: the words must read the tile, {found.proof}", []).extend(orders)
    refusals.extend(Refusal(major, swizzle, tuple(orders), reason) for reason, orders in refused.items())


def _padded(request: _Request, major: Major, swizzle: SwizzleMode) -> tuple[int, int]:
    """The tile, rounded up to whole atoms and operands if that was asked for."""
    if not request.pad:
        return request.tile
    units = zip(canonical_atom(major, swizzle).in_elements(request.element), request.given["mma"], strict=True)
    mn, k = (
        -(-n // lcm(size(atom), read)) * lcm(size(atom), read)
        for n, (atom, read) in zip(request.tile, units, strict=True)
    )
    return mn, k


def _finding(request: _Request, d: Derivation, bits: NDArray[np.int64], orders: tuple[tuple[int, ...], ...]) -> Finding:
    """A candidate proved and measured."""
    plan, plan_refused = _plan(d)
    by_tma = request.producer == "tma" and plan is not None
    alignment = plan.alignment_bytes if by_tma and plan else d.swizzle.alignment_bytes
    (mn, k), stage = request.tile, size(d.tile) * d.element.storage_bits // 8
    # Stages lie back to back: an atom is as large as its pattern, and without a swizzle as what a tensor copy demands.
    last = (request.stages - 1) * stage
    carries = not d.advance_report(base=last).fits_field
    bases = [base for base in range(0, last + 1, stage) if base + stage <= WINDOW_BYTES]
    stored = stores(bits[:mn, :k], moves(request.producer, request.tile, d.major, d.element), d.element)
    total, empty = last + stage, stage - mn * k * d.element.storage_bits // 8
    return Finding(
        derivation=d,
        orders=orders,
        proof=verify(d, bases=bases),
        plan=plan,
        plan_refused=plan_refused,
        stores_refused=""
        if stored
        else f"a plain store must move whole bytes, of padded types whole containers; dtype = {d.element}",
        wavefronts=None if stored is None else stored.wavefronts,
        conflicts=None if stored is None else stored.conflicts,
        store_bytes=None if stored is None else stored.store_bytes,
        stages=request.stages,
        stage_bytes=stage,
        alignment_bytes=alignment,
        padding_bytes=request.stages * empty,
        slack_bytes=alignment - 16,
        total_bytes=total,
        fits=total <= request.smem,
        carries=carries,
        key=request.key,
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
