"""Search all shared-memory layouts of a tile that the tensor core can read, and rank them by cost.

A candidate is a major, a swizzle mode and a stacking order of the canonical atoms. Each candidate is checked against
the instruction tables, derived, and verified (``verify``) at the address of every stage. A candidate that fails is
refused with the reason. The costs of the others are computed; ``COLUMNS`` describes each number.

Invariant: every finding is verified; findings are sorted by ``Finding.rank``, and ties keep the order of enumeration.

>>> result = survey(tile=(64, 32), dtype="bf16", mma=(64, 16), major="K")
>>> all(finding.proof.ok for finding in result.findings)
True
>>> ranks = [finding.rank for finding in result.findings]
>>> ranks == sorted(ranks)
True

The cost of filling a tile depends on the producer, which is one of three names, or a layout:

- ``"tma"``      TMA copies. The stores that are measured are those that would replace them: ``"rows"`` for a K-major
                 tile, ``"columns"`` for an MN-major one.
- ``"rows"``     one warp with plain stores. The tile is divided into pieces of 16 bytes along K (shorter if K is not a
                 multiple of 16 bytes), numbered along K first; lane l moves the pieces l, l + 32, l + 64, ...
- ``"columns"``  the same along MN.
- a layout       (threads, values) to an index into the tile, MN fastest, like CuTe's thread-value layouts.

A thread uses the widest store of 16, 8, 4, 2 or 1 bytes for which its values are contiguous and aligned. Elements that
share a byte, or a 16-byte container (e2m1_unpacksmem, e2m3, e3m2), cannot be stored separately.

Invariant: a named producer writes every element of the tile once.

>>> from descriptors.smem.operands.operand import as_element_type
>>> bf16 = as_element_type("bf16")
>>> indices = [moves(producer, (48, 40), Major.K, bf16).ravel() for producer in ("tma", "rows", "columns")]
>>> all(sorted(written[written >= 0].tolist()) == list(range(48 * 40)) for written in indices)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from descriptors.errors import Advice, DescriptorError, LayoutError, advised, as_flag, as_integer, brief
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derived
from descriptors.smem.derivation.request import Reader, TileSpec, reader, request_of
from descriptors.smem.derivation.verify import verify
from descriptors.smem.instructions.rules import Legality, kind_row
from descriptors.smem.operands.atoms import canonical_atom
from descriptors.smem.operands.explicit import evaluated
from descriptors.smem.operands.operand import ElementType, Major, MajorName, Matrix, SwizzleMode, as_major
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.smem.tma.tma_planner import tma_plan
from descriptors.smem.words.descriptor import WINDOW_BYTES, Arch, window_bytes
from descriptors.smem.words.tensor_map import TmaError
from descriptors.sweep.finding import KEYS, Asked, Finding, Refusal, Survey
from descriptors.targets import generation, shared_bytes
from descriptors.text import extents_text
from layoutalg import AnyLayout, ComposedLayout, Layout, access, offsets, size
from layoutalg.frozen import contents, frozen, replace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Producer: TypeAlias = str | Layout | ComposedLayout

_NAMES = ("tma", "rows", "columns")
_MOST_VALUES = 1 << 20  # the largest number of values of a thread-value layout
_WARP = 32


class Stores(NamedTuple):
    """The cost of a producer's stores: bytes per store, wavefronts in total, and wavefronts due to bank conflicts."""

    store_bytes: int
    wavefronts: int
    conflicts: int


def stores(bits: NDArray[np.int64], moves: NDArray[np.int64], element: ElementType) -> Stores | None:
    """Return the cost of writing a tile to shared memory with plain stores.

    Invariant: the wavefronts are the sum of ``layoutalg.wavefronts`` over the stores of every warp.

    Args:
        bits: the address of every element, (MN, K), in bits.
        moves: index into the tile, MN fastest, of each value of each thread: (threads, values); -1 for no value.
        element: the element type.

    Returns:
        The cost; None if plain stores would have to split bytes or containers.

    >>> import numpy as np
    >>> from descriptors.smem.operands.operand import as_element_type
    >>> row_major = (64 * np.arange(8)[:, None] + np.arange(64)) * 16
    >>> a_row_each = np.arange(512).reshape(64, 8).T
    >>> stores(row_major, a_row_each, as_element_type("bf16"))
    Stores(store_bytes=16, wavefronts=64, conflicts=56)
    """
    import numpy as np

    where = bits.reshape(-1, order="F")[moves]
    padded = element.bits != element.storage_bits
    for width in (16,) if padded else (16, 8, 4, 2, 1):
        vector = width * 8 // element.storage_bits
        if not vector or moves.shape[1] % vector:
            continue
        groups = where.reshape(len(where), -1, vector)
        active = moves.reshape(groups.shape) >= 0
        first = groups[..., :1]
        beside = (groups == first + np.arange(vector) * element.storage_bits) & (first % (width * 8) == 0)
        if (beside | ~active).all() and (active.all(axis=2) == active.any(axis=2)).all():
            return _cost(np.where(active[..., 0], first[..., 0] // 8, -1), width)
    return None


def _cost(addresses: NDArray[np.int64], width: int) -> Stores:
    """Return the cost of the stores at (threads, stores) byte addresses, warp by warp; -1 is no store."""
    known: dict[tuple[int | None, ...], tuple[int, int]] = {}
    wavefronts = conflicts = 0
    for first in range(0, len(addresses), _WARP):
        for lanes in addresses[first : first + _WARP].T.tolist():
            # All banks together are 128 bytes wide, so adding a multiple of 128 bytes does not change the bank.
            start = min((address for address in lanes if address >= 0), default=0) // 128 * 128
            pattern = tuple(address - start if address >= 0 else None for address in lanes)
            if pattern not in known:
                store = access(pattern, width, store=True)
                known[pattern] = store.wavefronts, store.conflicts
            wavefronts, conflicts = wavefronts + known[pattern][0], conflicts + known[pattern][1]
    return Stores(width, wavefronts, conflicts)


def moves(producer: Producer, tile: tuple[int, int], major: Major, element: ElementType) -> NDArray[np.int64]:
    """Return the index into a tile, MN fastest, of each value of each thread: (threads, values); -1 for no value.

    Args:
        producer: the producer, as ``as_producer`` returns it.
        tile: extents (MN, K), in elements.
        major: the contiguous dimension, along which ``"tma"`` is measured.
        element: the element type.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> moves("columns", (64, 4), Major.MN, as_element_type("bf16"))[9].tolist()
    [72, 73, 74, 75, 76, 77, 78, 79]
    """
    import numpy as np

    if not isinstance(producer, str):
        return offsets(producer).astype(np.int64)
    along = major.contiguous_mode if producer == "tma" else int(producer == "rows")
    index = np.arange(size(tile), dtype=np.int64).reshape(tile, order="F")
    piece = gcd(tile[along], element.per_16_bytes)
    pieces = (index if along else index.T).reshape(-1, piece)
    steps = -(-len(pieces) // _WARP)
    padded = np.full((steps * _WARP, piece), -1, dtype=np.int64)
    padded[: len(pieces)] = pieces
    return padded.reshape(steps, _WARP, piece).transpose(1, 0, 2).reshape(_WARP, -1)


def as_producer(producer: object, tile: tuple[int, int]) -> Producer:
    """Return a producer from its name, layout or notation.

    Args:
        producer: the producer, as described at the top of this module.
        tile: extents (MN, K) of the tile, in elements; the indices of a layout are within it.

    Raises:
        DescriptorError: if it is not a producer, or a layout that leaves the tile or has too many values.
        LayoutError: if the layout's offsets are not integers.

    >>> as_producer("ROWS", (128, 64)), as_producer("(32,8):(1,128)", (128, 64))
    ('rows', Layout((32, 8), (1, 128)))
    """
    if isinstance(producer, str):
        if producer.casefold() in _NAMES:
            return producer.casefold()
        try:
            producer = evaluated(producer)
        except LayoutError:
            raise DescriptorError(
                f"search: producer is {brief(producer)}, which is not a name or a layout of modes (threads, values); "
                f"supported names: {', '.join(_NAMES)}"
            ) from None
    if not isinstance(producer, (Layout, ComposedLayout)) or len(producer) != 2:
        raise DescriptorError(f"search: producer {brief(producer)} does not have two modes (threads, values)")
    if size(producer) > _MOST_VALUES:
        raise DescriptorError(f"search: producer moves {size(producer)} values, and the maximum is {_MOST_VALUES}")
    indices = offsets(producer)
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size(tile):
        raise DescriptorError(
            f"search: producer has offsets {low} to {high}, outside of the tile's [0,{size(tile)}); "
            f"producer = {producer}, tile = ({tile[0]},{tile[1]})"
        )
    return producer


_SWIZZLES = (SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE)


@frozen
class _Question:
    """The checked arguments of ``survey``."""

    tile: tuple[int, int]
    reader: Reader
    reads: tuple[int, int]
    producer: Producer
    majors: tuple[Major, ...]
    stages: int
    smem: int
    pad: bool
    contiguous: Major

    @property
    def element(self) -> ElementType:
        return self.reader.element

    @property
    def key(self) -> tuple[str, ...]:
        return KEYS["tma" if self.producer == "tma" else "stores"]


def search(
    tile: Sequence[int],
    dtype: str | ElementType,
    mma: Sequence[int] | str | None = None,
    arch: Arch | None = None,
    *,
    major: Major | MajorName | None = None,
    operand: Matrix | None = None,
    stages: int = 1,
    smem: int | None = None,
    producer: Producer = "tma",
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    pad: bool = False,
    legality: Legality = "strict",
    contiguous: Major | MajorName | None = None,
) -> tuple[Finding, ...]:
    """Return all layouts of a tile that the tensor core can read, best first; ``survey`` also returns refused ones.

    The arguments are those of ``survey``.

    Invariant: every finding is verified, and findings are sorted by ``Finding.rank``, ties in order of enumeration.

    Raises:
        DescriptorError: as for ``survey``.

    >>> best = search(tile=(128, 64), dtype="bf16", mma=(64, 16), major="K")
    >>> [(str(finding.swizzle), finding.boxes, finding.wavefronts, finding.waste_bytes) for finding in best[:3]]
    [('128B', 1, 128, 1008), ('64B', 2, 256, 496), ('32B', 4, 512, 240)]
    >>> hex(best[0].word), best[0].proof.ok
    ('0x4000404000010000', True)
    """
    return survey(
        tile, dtype, mma, arch, major=major, operand=operand, stages=stages, smem=smem, producer=producer, kind=kind,
        cta_group=cta_group, sparse=sparse, pad=pad, legality=legality, contiguous=contiguous,
    ).findings  # fmt: skip


@advised
def survey(
    tile: Sequence[int],
    dtype: str | ElementType,
    mma: Sequence[int] | str | None = None,
    arch: Arch | None = None,
    *,
    major: Major | MajorName | None = None,
    operand: Matrix | None = None,
    stages: int = 1,
    smem: int | None = None,
    producer: Producer = "tma",
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    pad: bool = False,
    legality: Legality = "strict",
    contiguous: Major | MajorName | None = None,
) -> Survey:
    """Derive and verify every (major, swizzle, stacking order) of a tile, and compute its costs.

    Args:
        tile: extents (MN, K) of one stage, in elements.
        dtype: name of the element type.
        mma: extents (MN, K) that one instruction reads, in elements, or the name of an instruction; by default the
            largest that an instruction reads of the tile, as A if an M divides its MN, else as B.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; by default the one that the name of
            the instruction states, else sm100.
        major: the only major to try; by default both.
        operand: as for ``derive``.
        stages: number of stages of the tile, each at an aligned address.
        smem: available bytes of shared memory, by default those of the architecture; layouts that do not fit are
            ranked last.
        producer: producer of the tile, see ``descriptors.sweep.search``: ``"tma"``, ``"rows"``, ``"columns"``, or a
            thread-value layout or its notation. It determines the order of the findings: ``KEYS``.
        kind: as for ``derive``.
        cta_group: as for ``derive``.
        sparse: as for ``derive``.
        pad: whether to round the tile up, if a candidate needs it, to whole atoms and operands. The boxes then fill all
            of it, plain stores only the elements of the tile.
        legality: as for ``derive``.
        contiguous: the contiguous dimension in global memory, ``"K"`` or ``"MN"``; by default that of ``major``, or K.
            A tile of the other major is ranked behind, because TMA copies do not transpose; plain stores do.

    Raises:
        DescriptorError: if an argument is unknown or malformed, or a thread-value layout leaves the tile. Refused
            candidates are not an error, even if all are refused.

    >>> both = survey(tile=(128, 32), dtype="bf16", mma=(64, 16), producer="rows")
    >>> len(both.findings), [str(refusal.swizzle) for refusal in both.refusals]
    (13, ['128B', '128B_BASE32B', '128B_BASE32B'])
    >>> print(both.refusals[0].reason)
    derive: tile K is 32, which is not a multiple of 64, the K of an atom in bf16 elements; tile = (128,32), atom = \
(8,64):(64,1)
    """
    by = reader(
        arch, dtype, mma, operand=operand, kind=kind, cta_group=cta_group, sparse=sparse, legality=legality,
        where="search",
    )  # fmt: skip
    if by.kind is not None:
        kind_row(by.arch, by.kind)
    if contiguous is not None and producer != "tma":
        raise DescriptorError(
            f"search: contiguous is given, but the producer is {brief(producer)}; only tma depends on contiguous"
        )
    extents = _tile(tile)
    reads = by.extents or _most_read(by, extents)
    by = replace(by, extents=reads)
    question = _Question(
        tile=extents,
        reader=by,
        reads=reads,
        producer=as_producer(producer, extents),
        majors=tuple(Major) if major is None else (as_major(major),),
        stages=as_integer(stages, "search: stages", minimum=1, maximum=WINDOW_BYTES // 16),
        smem=shared_bytes(by.arch) if smem is None else as_integer(smem, "search: smem", minimum=16),
        pad=as_flag(pad, "search: pad"),
        contiguous=as_major(next((one for one in (contiguous, major) if one is not None), Major.K)),
    )
    tried = [_measured(question, one, swizzle) for one in question.majors for swizzle in _SWIZZLES]
    findings = sorted((one for found, _ in tried for one in found), key=lambda finding: finding.rank)
    asked = Asked(
        extents, str(dtype), reads, by.arch, None if major is None else str(major), by.matrix, question.stages,
        question.smem, str(producer), by.kind, by.cta_group, by.sparse, question.pad, by.legality,
        None if contiguous is None else str(contiguous),
    )  # fmt: skip
    return Survey(tuple(findings), tuple(one for _, refused in tried for one in refused), question.key, asked)


def found_with_pad(asked: Asked) -> bool:
    """Return whether ``survey`` finds a layout if the tile is rounded up.

    Args:
        asked: the arguments of a survey, as its result contains them.

    >>> tile = survey(tile=(60, 64), dtype="bf16", mma=(64, 16)).asked
    >>> found_with_pad(tile), found_with_pad(replace(tile, tile=(100000, 100000)))
    (True, False)
    """
    again = {name: value for name, value in contents(asked).items() if name != "pad"}
    try:
        return bool(survey(**again, pad=True).findings)
    except LayoutError:
        return False


def _measured(question: _Question, major: Major, swizzle: SwizzleMode) -> tuple[list[Finding], list[Refusal]]:
    """Return the findings and the refusals of the two stacking orders; equal layouts are one finding."""
    import numpy as np

    made, refused = list[_Made](), dict[str, list[tuple[int, ...]]]()
    for order in ((0, 1), (1, 0)) if major is Major.K else ((1, 0), (0, 1)):
        try:
            d = _derived(question, major, swizzle, order)
        except LayoutError as error:
            refused.setdefault(str(error), []).append(order)
            continue
        bits = offsets(d.smem_tile).astype(np.int64) * d.element.storage_bits
        same = next((one.orders for one in made if (bits == one.bits).all()), None)
        if same is None:
            made.append(_Made(d, bits, [order]))
        else:
            same.append(order)
    findings = [_finding(question, *one) for one in made]
    for found in findings:
        if not found.proof.ok:
            refused.setdefault(f"search: the descriptors do not read the tile; {found.proof}", []).extend(found.orders)
    refusals = [Refusal(major, swizzle, tuple(orders), reason) for reason, orders in refused.items()]
    return [found for found in findings if found.proof.ok], refusals


class _Made(NamedTuple):
    """A derived candidate: its derivation, the addresses of its elements in bits, and its stacking orders."""

    derivation: Derivation
    bits: NDArray[np.int64]
    orders: list[tuple[int, ...]]


def _derived(question: _Question, major: Major, swizzle: SwizzleMode, order: tuple[int, int]) -> Derivation:
    """Derive a candidate without verifying it."""
    tile = _padded(question, major, swizzle)
    d = derived(request_of(question.reader, TileSpec(major, swizzle, question.reads, tile, order)))
    if (needed := size(tile) * d.element.storage_bits // 8) > (window := window_bytes(d.arch)):
        raise DescriptorError(
            f"search: the tile has {brief(needed)} bytes, and a start address reaches {window}; "
            f"tile = ({tile[0]},{tile[1]})"
        )
    return d


def _padded(question: _Question, major: Major, swizzle: SwizzleMode) -> tuple[int, int]:
    """Return the tile, rounded up to whole atoms and operands if requested."""
    if not question.pad:
        return question.tile
    atom: AnyLayout = canonical_atom(major, swizzle).in_elements(question.element)
    units = zip([size(atom, mode) for mode in range(2)], question.reads, strict=True)
    mn, k = (-(-n // lcm(unit, read)) * lcm(unit, read) for n, (unit, read) in zip(question.tile, units, strict=True))
    return mn, k


def _finding(question: _Question, d: Derivation, bits: NDArray[np.int64], orders: list[tuple[int, ...]]) -> Finding:
    """Verify a candidate and compute its costs."""
    plan, plan_refused = _plan(d)
    by_tma = question.producer == "tma" and plan is not None
    alignment = plan.alignment_bytes if by_tma and plan else d.swizzle.alignment_bytes
    (mn, k), stage = question.tile, size(d.tile) * d.element.storage_bits // 8
    # Stages are contiguous: an atom is as large as the swizzle pattern, or as the alignment of TMA without a swizzle.
    last = (question.stages - 1) * stage
    carries = not d.advance_report(base=last).fits_field
    bases = [base for base in range(0, last + 1, stage) if base + stage <= window_bytes(d.arch)]
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
        else f"plain stores write whole bytes, or whole containers of padded types; dtype = {d.element}",
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
        transposes=question.producer == "tma" and d.major is not question.contiguous,
    )


def _most_read(by: Reader, tile: tuple[int, int]) -> tuple[int, int]:
    """Return the largest extents that an instruction reads of a tile: 32 bytes along K, 64 for a sparse B."""
    k = 256 // by.element.storage_bits * (2 if by.sparse and by.matrix == "B" else 1)
    rows = [128, 64] if generation(by.arch) == "sm100" else [64]
    columns = list(range(256, 0, -8))
    extents = {"A": rows, "B": columns, None: rows + columns}[by.matrix]
    for mn in extents:
        if tile[0] % mn == 0 and _refusal(by, (mn, k)) is None:
            return mn, k
    refusals = [_refusal(by, (mn, k)) for mn in extents]
    if refusals[0] is not None and all(refusals):  # the reason is not the tile
        raise refusals[0]
    rows = [row for row in (64, 128) if generation(by.arch) == "sm100" or row == 64]
    raise DescriptorError(
        f"search: tile MN is {tile[0]}, which is not a multiple of the MN of any {by.arch} instruction",
        proposals=[Advice({"mma": (row, k), "pad": True}) for row in rows],
    )


def _refusal(by: Reader, reads: tuple[int, int]) -> DescriptorError | None:
    """Return the reason why no instruction reads a K-major operand of these extents; None if one does."""
    try:
        replace(by, extents=reads).check(TileSpec(Major.K, SwizzleMode.NONE, reads, reads, ()))
    except DescriptorError as error:
        return error
    return None


def _plan(d: Derivation) -> tuple[TmaPlan | None, str]:
    try:
        plan = tma_plan(d, rank=2)  # as a plan has its maps
        plan.verify()
    except TmaError as error:
        return None, str(error)
    return plan, ""


def _tile(tile: object) -> tuple[int, int]:
    if not isinstance(tile, (tuple, list)) or len(tile) != 2:
        proposals = []
        if isinstance(tile, (tuple, list)) and len(tile) == 3:
            proposals.append(Advice({"tile": tuple(tile[:2]), "stages": tile[2]}))
        text = extents_text(tile) if isinstance(tile, (tuple, list)) else brief(tile)
        raise DescriptorError(
            f"search: tile is {text}, which is not MNxK of one stage, such as 128x64", proposals=proposals
        )
    mn, k = (as_integer(extent, f"search: tile extent {i}", minimum=1) for i, extent in enumerate(tile))
    return mn, k
