"""The strict lattice: every operand that an instruction reads, with every tile of it up to a size, proved in one run.

A *kind* of operand is what the tables of instructions know: architecture, type, A or B, major, swizzle, and the extents
(MN, K) that one instruction reads. Whether it is legal does not depend on the tile, so it is asked once for all its
tiles. Nothing is kept of a tile but that it was proved: a run of any length needs the memory of one kind at a time.
Kinds are independent tasks for any ``concurrent.futures.Executor``; one that is lost with its worker is done again.

Law: every tile of a kind is proved, or refused with a reason; a run over several workers counts what one counts.

>>> one = next(kinds(archs=("sm100",), dtypes=("bf16",)))
>>> tally = prove_kind(one, most=(64, 64), stages=2)
>>> tally.points == tally.proved + sum(tally.refused.values()), tally.wrong, tally.proved > 0
(True, (), True)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import islice, product
from typing import NamedTuple

from descriptors.errors import DescriptorError, LayoutError, ProofError
from descriptors.smem.derivation.derive import derived
from descriptors.smem.derivation.proved import proved
from descriptors.smem.derivation.request import reader, request
from descriptors.smem.instructions.legality import check_operand_tile
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import K_BITS
from descriptors.smem.operands.operand import ELEMENT_TYPES, MATRICES, Major, Matrix, SwizzleMode
from descriptors.smem.words.descriptor import MNEMONICS, SMEM_BYTES, Arch
from descriptors.text import counted

#: Tasks that wait at an executor at a time.
_WAITING = 32

#: Disproved tiles that are kept by name.
_KEPT = 8


class Kind(NamedTuple):
    """What an instruction reads: one operand of one instruction, whatever the tile.

    >>> print(*next(kinds(archs=("sm90",), dtypes=("bf16",))))
    sm90 bf16 A K none (64, 16)
    """

    arch: Arch
    dtype: str
    operand: Matrix
    major: Major
    swizzle: SwizzleMode
    mma: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of points.

    Args:
        proved: how many tiles were derived and proved.
        compared: those among them that no theorem covers: every element was compared.
        refused: how many have no descriptor, by the beginning of the reason.
        wrong: the first disproved tiles.
        disproved: how many there are.

    >>> print(Tally(proved=3) + Tally(proved=1, refused={"derive: tile": 2}))
    proved 4, refused 2, disproved 0
    """

    proved: int = 0
    compared: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    disproved: int = 0

    @property
    def points(self) -> int:
        """All of them."""
        return self.proved + sum(self.refused.values()) + self.disproved

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.proved + other.proved,
            self.compared + other.compared,
            dict(Counter(self.refused) + Counter(other.refused)),
            (self.wrong + other.wrong)[:_KEPT],
            self.disproved + other.disproved,
        )

    def __str__(self) -> str:
        return f"proved {self.proved}, refused {sum(self.refused.values())}, disproved {self.disproved}"


def kinds(
    archs: Sequence[Arch] = tuple(MNEMONICS), dtypes: Sequence[str] = tuple(ELEMENT_TYPES), widest: int = 256
) -> Iterator[Kind]:
    """Every operand that some instruction reads by all sources, MN up to ``widest``, in a fixed order.

    >>> sum(1 for _ in kinds())
    3247
    """
    operand: Matrix
    for arch, dtype, operand in product(archs, dtypes, MATRICES.values()):
        depth = K_BITS // ELEMENT_TYPES[dtype].storage_bits
        for k, mn, major, swizzle in product((depth, 2 * depth), range(8, widest + 1, 8), Major, SwizzleMode):
            try:
                check_operand_tile(arch, dtype, major, swizzle, (mn, k), matrix=operand)
            except IllegalError:
                continue
            yield Kind(arch, dtype, operand, major, swizzle, (mn, k))


def tiles(kind: Kind, most: tuple[int, int] = (256, 256), stages: int = 8) -> Iterator[tuple[int, int, int]]:
    """Every tile (MN, K, stages) that operands of a kind divide, up to a size in elements.

    >>> list(tiles(Kind("sm90", "bf16", "A", Major.K, SwizzleMode.NONE, (64, 16)), most=(128, 32), stages=1))
    [(64, 16, 1), (64, 32, 1), (128, 16, 1), (128, 32, 1)]
    """
    (rows, depth), (mn, k) = kind.mma, most
    yield from product(range(rows, mn + 1, rows), range(depth, k + 1, depth), range(1, stages + 1))


def prove_kind(kind: Kind, most: tuple[int, int] = (256, 256), stages: int = 8) -> Tally:
    """Derive and prove every tile of a kind, in both stacking orders.

    >>> print(prove_kind(Kind("sm90", "bf16", "A", Major.K, SwizzleMode.B128, (64, 16)), (64, 64), 1))
    proved 2, refused 6, disproved 0
    """
    by = reader(kind.arch, kind.dtype, kind.mma, operand=kind.operand)
    right = compared = 0
    refused, wrong = Counter[str](), list[str]()
    for tile, order in product(tiles(kind, most, stages), ((0, 1, 2), (1, 0, 2))):
        try:
            tile_request = request(by, tile, major=kind.major, swizzle=kind.swizzle, order=order, capacity=SMEM_BYTES)
            proof = proved(derived(tile_request))
        except ProofError:
            wrong.append(f"{' '.join(map(str, kind))} {tile} {order}")
        except (DescriptorError, LayoutError) as reason:
            refused[str(reason)[:24]] += 1
        else:
            right += 1
            compared += proof.report is not None
    return Tally(right, compared, dict(refused), tuple(wrong[:_KEPT]), len(wrong))


def prove_all(
    every: Iterable[Kind], *, most: tuple[int, int] = (256, 256), stages: int = 8, executor: Executor | None = None
) -> Iterator[Tally]:
    """The tally of each kind, as they are ready.

    Args:
        every: the kinds.
        most, stages: as ``tiles`` has them.
        executor: where to send the work, a kind a task; in this process where there is none. It is not shut down.

    >>> some = list(islice(kinds(archs=("sm90",), dtypes=("tf32",)), 3))
    >>> print(sum(prove_all(some, most=(64, 32), stages=1), Tally()))
    proved 20, refused 4, disproved 0
    """
    if executor is None:
        yield from (prove_kind(kind, most, stages) for kind in every)
        return
    waiting: set[Future[Tally]] = set()
    left = iter(every)
    try:
        while True:
            waiting |= {
                executor.submit(prove_kind, kind, most, stages) for kind in islice(left, _WAITING - len(waiting))
            }
            if not waiting:
                return
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ready)
    finally:
        for future in waiting:
            future.cancel()


def summary_line(tally: Tally, seconds: float) -> str:
    """A run in one line, with its rate.

    >>> print(summary_line(Tally(proved=3000), 2.0))
    proved 3000, refused 0, disproved 0: 3000 points in 2.0 s, 1500 points a second
    """
    rate = f"{tally.points / max(seconds, 1e-9):.0f} points a second"
    return f"{tally}: {counted(tally.points, 'point')} in {seconds:.1f} s, {rate}"
