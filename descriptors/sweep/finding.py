"""The results of a search: layouts of a tile with their costs, and refused candidates.

Invariant: findings are ranked by columns that they have; the stores of a tile filled by TMA do not affect its rank.

>>> set(KEYS["tma"]) < set(KEYS["stores"]) <= set(COLUMNS), set(KEYS["stores"]) - set(KEYS["tma"])
(True, {'wavefronts'})
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.text import counted
from layoutalg.frozen import frozen

#: The meaning of each column of a ``Finding``.
COLUMNS: Mapping[str, str] = {
    "boxes": "TMA copies (boxes of a tensor map of rank 2) that fill one stage; none if no such copies can",
    "wavefronts": "wavefronts of shared memory that the producer's plain stores take for one stage",
    "conflicts": "those of them that are bank conflicts: beyond one for each phase of a store",
    "store_bytes": "bytes of each of those stores, a lane",
    "alignment_bytes": "what the address of every stage must be a multiple of, for words of base offset 0",
    "padding_bytes": "bytes of all stages that hold no element of the tile, where it was rounded up to whole atoms",
    "slack_bytes": "bytes skipped before the tile at worst, if what comes before ends at any multiple of 16",
    "waste_bytes": "all that alignment costs: padding and slack",
    "total_bytes": "shared memory of all stages, padding included, from an aligned start",
    "fits": "whether the total is within the shared memory given",
    "transposes": "whether the data would be transposed on their way: a TMA copy leaves contiguous what is contiguous",
    "carries": "whether a subtile of a stage starts past the 14-bit field, so that adding to the word would carry",
}

_FIRST = ("fits", "carries", "transposes", "padding_bytes")
#: The columns by which findings are sorted, the most significant first: layouts that fit come before others; in the
#: other columns smaller values come first, and missing values last. Ties keep the order of enumeration: K before MN,
#: the widest swizzle first, the default stacking order first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "tma": (*_FIRST, "boxes", "waste_bytes"),
    "stores": (*_FIRST, "wavefronts", "waste_bytes", "boxes"),
}


@frozen
class Asked:
    """The arguments of ``survey``, with types, majors and layouts as text."""

    tile: tuple[int, ...]
    dtype: str
    mma: tuple[int, ...]
    arch: str
    major: str | None
    operand: str | None
    stages: int
    smem: int
    producer: str
    kind: str | None
    cta_group: int | None
    sparse: bool
    pad: bool
    legality: str
    contiguous: str | None = None


@frozen
class Finding:
    """A verified layout of the tile with its costs, which ``COLUMNS`` describes.

    Args:
        derivation: derivation of one stage, padded if requested; its descriptors are those of stage 0 at address 0.
        orders: the stacking orders with this layout: one, or both if atoms are stacked along one dimension only.
        proof: the comparison of every address, at every stage that the start address can reach.
        plan: the verified TMA copies of one stage; None if TMA cannot fill it.
        plan_refused: the reason why TMA cannot fill it; "" if it can.
        stores_refused: the reason why plain stores cannot fill it; "" if they can.
        stages: number of stages.
        stage_bytes: bytes per stage.
        key: names of the columns by which it is sorted.
    """

    derivation: Derivation
    orders: tuple[tuple[int, ...], ...]
    proof: Report
    plan: TmaPlan | None
    plan_refused: str
    stores_refused: str
    wavefronts: int | None
    conflicts: int | None
    store_bytes: int | None
    stages: int
    stage_bytes: int
    alignment_bytes: int
    padding_bytes: int
    slack_bytes: int
    total_bytes: int
    fits: bool
    carries: bool
    key: tuple[str, ...]
    transposes: bool = False

    @property
    def major(self) -> Major:
        """The contiguous dimension."""
        return self.derivation.major

    @property
    def swizzle(self) -> SwizzleMode:
        """The swizzle mode."""
        return self.derivation.swizzle

    @property
    def order(self) -> tuple[int, ...]:
        """The stacking order of the atoms that was derived."""
        return self.derivation.order

    @property
    def word(self) -> int:
        """The descriptor of the first subtile of a tile at address 0."""
        return self.derivation.descriptor.encode()

    @property
    def boxes(self) -> int | None:
        """Number of TMA copies per stage; None if TMA cannot fill it."""
        return None if self.plan is None else len(self.plan.boxes)

    @property
    def waste_bytes(self) -> int:
        """Bytes lost to alignment: padding and slack."""
        return self.padding_bytes + self.slack_bytes

    @property
    def rank(self) -> tuple[tuple[bool, int], ...]:
        """Sort key: for each column of ``key``, whether the value is missing, and the cost."""
        costs = {name: (not self.fits if name == "fits" else getattr(self, name)) for name in self.key}
        return tuple((cost is None, int(cost or 0)) for cost in costs.values())


@frozen
class Refusal:
    """A candidate without a descriptor, and the reason.

    Args:
        major: the major of the candidate.
        swizzle: its swizzle mode.
        orders: the stacking orders that were refused for this reason.
        reason: the message of the error.
    """

    major: Major
    swizzle: SwizzleMode
    orders: tuple[tuple[int, ...], ...]
    reason: str


@frozen
class Survey:
    """All candidates of a request: the findings, best first, and the refusals."""

    findings: tuple[Finding, ...]
    refusals: tuple[Refusal, ...]
    key: tuple[str, ...]
    asked: Asked

    @property
    def headline(self) -> str:
        """The answer in one line."""
        ways, refused = len(self.findings), sum(len(one.orders) for one in self.refusals)
        fitting = "" if not ways or self.findings[0].fits else ", none of which fits"
        return f"{counted(ways, 'way')} to lay the tile out{fitting}, {counted(refused, 'candidate')} refused"

    def __str__(self) -> str:
        from descriptors.answers import tell  # imported only if an answer is printed

        return tell(self)
