"""What a search finds: a way to lay a tile out, what it costs, and what was refused.

Law: findings are ranked by columns that they have; the stores of a tile that copies fill count for nothing.

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

#: What each column of a ``Finding`` means.
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
#: What findings are sorted by, the first that differs decides: what fits, then the fewest, then what has an answer.
#: Ties keep the order of enumeration: K before MN, the widest swizzle first, the default stacking order first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "tma": (*_FIRST, "boxes", "waste_bytes"),
    "stores": (*_FIRST, "wavefronts", "waste_bytes", "boxes"),
}


@frozen
class Asked:
    """What was searched for, as it was asked.

    Args:
        tile, dtype, mma, arch, major, operand, stages, smem, producer, kind, cta_group, sparse, pad, legality,
            contiguous: the arguments of ``survey``; types, majors and layouts by their text.
    """

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
    """A way to lay the tile out, proved, and what it costs. ``COLUMNS`` says what the numbers mean.

    Args:
        derivation: of one stage, padded if that was asked for; its words are those of stage 0 at address 0.
        orders: the stacking orders that give this very layout: one, or both where atoms lie along one dimension only.
        proof: the comparison of every address, at every stage that the start address can name.
        plan: the tensor copies of one stage, proved too; None if none can fill it.
        plan_refused: why not; empty otherwise.
        stores_refused: why no plain stores can fill it; empty otherwise.
        stages, stage_bytes: how many there are, and the bytes of one.
        key: names of the columns that it is sorted by.
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
        """The descriptor word of the first subtile of a tile at address 0."""
        return self.derivation.descriptor.encode()

    @property
    def boxes(self) -> int | None:
        """How many tensor copies fill one stage."""
        return None if self.plan is None else len(self.plan.boxes)

    @property
    def waste_bytes(self) -> int:
        """All bytes that alignment costs."""
        return self.padding_bytes + self.slack_bytes

    @property
    def rank(self) -> tuple[tuple[bool, int], ...]:
        """The sort key: for each column of ``key`` whether there is no answer, then the cost."""
        costs = {name: (not self.fits if name == "fits" else getattr(self, name)) for name in self.key}
        return tuple((cost is None, int(cost or 0)) for cost in costs.values())


@frozen
class Refusal:
    """A candidate without a descriptor, and the reason.

    Args:
        major, swizzle: the candidate.
        orders: the stacking orders that were refused with this reason.
        reason: as the error says it.
    """

    major: Major
    swizzle: SwizzleMode
    orders: tuple[tuple[int, ...], ...]
    reason: str


@frozen
class Survey:
    """All candidates of a request: what was found, best first, and what was refused."""

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
        from descriptors.answers import tell  # only what is printed needs a writer

        return tell(self)
