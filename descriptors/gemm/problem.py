"""Choose tile, cluster and parts along K for a product or a convolution, by a model of the run time on Hopper.

The model is for persistent CTAs that all do the same work::

    waves     ceil(tiles / CTAs or clusters that run at once)
    step      time of a stage of a CTA: the longest of
                multiply   M/64 N/2 clocks for 32 bytes of K, at 1.66 GHz
                shared     shared memory that instructions read and copies write, 128 bytes a clock at 1.86 GHz
                copies     the CTA's share of the boxes, 115 bytes a ns; a row that is not 128-byte aligned counts 2.12
                           times
              and 37 ns more in a cluster
    epilogue  24.5 ns for 1024 bytes of C through shared memory, 52 from registers
    time      6.2 us + the larger of waves (steps step + epilogue) and global memory traffic at 4 TB/s
              with parts along K, 3.4 us more and the bytes of the parts at 4.5 TB/s

With fewer than four stages the time is 1 % longer. The constants were fitted to 1,905 times of 115 bf16 programs for 17
products on an H200 (``tests/vectors/hopper/h200/tile_times.jsonl.xz``); for half of them the model is at most 6 % off.
The model was then compared with programs that it was not fitted to (``bench_gemm_drawn.json`` beside it): 20 other bf16
products and 20 e4m3 ones. Nothing was fitted to an H100, whose memory is slower, and no other type was timed.

A convolution is the product of its pixels and filters over taps and channels, whose activations are in memory once.
Nothing was fitted to convolutions. Of six bf16 convolutions that were timed, the model predicts times from 2 % less to
20 % more, in the right order. :attr:`TileProposals.evidence` states which of these cases a choice belongs to.

Invariant: the chosen plans are proved, and the model predicts no shorter time for another candidate that has a plan.

>>> proposals = propose_tiles("bf16", (3000, 3000, 3000), top=2)
>>> [extents_text(plan.asked.tile) for plan in proposals.plans], proposals.estimates[0].waves
(['256x144x64', '192x192x64'], 2)
>>> proposals.estimates[0].microseconds <= proposals.estimates[1].microseconds
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import gcd
from typing import Any, Literal, TypeAlias

from descriptors.errors import Advice, DescriptorError, advising, as_integer, proposing, unadvised
from descriptors.gemm.accumulators import usual_warpgroups
from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.epilogue import BITS, BUFFERS, ROWS
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_request import three
from descriptors.gemm.planner import plan, prove_plan
from descriptors.smem.operands.operand import ElementType, Major, as_element_type, as_major
from descriptors.smem.tma.convolution import Convolution, as_convolution
from descriptors.smem.words.descriptor import SMEM_BYTES, architecture
from descriptors.text import Told, bits_text, extents_text
from layoutalg.frozen import frozen

#: How the predicted time is known: the model was fitted to such products, compared with some, or neither.
Evidence: TypeAlias = Literal["fitted", "compared", "none"]
#: Number of SMs of an H100 SXM and of an H200.
PROCESSORS = 132
_MULTIPLY_GHZ, _SHARED_GHZ, _SHARED_BYTES = 1.66, 1.86, 128
_COPY_BYTES, _STRADDLES, _CLUSTER_NS = 115.0, 2.12, 37.0
_STAGED_NS, _DIRECT_NS = 24.5, 52.0
_LAUNCH_US, _ADD_US, _MEMORY_BYTES, _PART_BYTES = 6.2, 3.4, 4.0e6, 4.5e6
_FEW_STAGES, _FEW = 4, 1.01
#: Rows and columns of a tile, clusters and parts along K that are tried; bytes of a row of a stage.
_ROWS, _COLUMNS, _CLUSTERS = (64, 128, 192, 256), tuple(range(16, 257, 16)), ((1, 1), (2, 1), (1, 2))
_SPLITS, _ROW_BYTES = (1, 2, 3, 4, 6, 8, 12, 16), 128


@frozen
class Estimate:
    """The run time that the model predicts for a program.

    Args:
        tiles: number of tiles of C, over all parts along K.
        waves: number of tiles that a CTA computes one after the other.
        steps: number of stages of a tile.
        multiply, shared, copies: time of a stage as limited by each of these, in ns.
        microseconds: the time of the whole program.
        teraflops: operations per second, in units of 10**12.
    """

    tiles: int
    waves: int
    steps: float
    multiply: float
    shared: float
    copies: float
    microseconds: float
    teraflops: float

    @property
    def bound(self) -> str:
        """The part that limits a stage: ``multiply``, ``shared`` or ``copies``."""
        names = ("multiply", "shared", "copies")
        return max(names, key=lambda name: float(getattr(self, name)))


@frozen
class Candidate:
    """The properties of a program that the model uses.

    Args:
        tile: M, N and K of a stage.
        columns: N of the instruction.
        cluster: CTAs along M and along N.
        splits: number of parts along K.
        widths: bytes of an element of A, of B, and of C or of a part.
        rows_of: bytes of a row of A and of B in global memory.
        stages: number of stages that fit.
        staged: whether C is stored through shared memory.
        convolution: the convolution; None for a plain product.
    """

    tile: tuple[int, int, int]
    columns: int
    cluster: tuple[int, int]
    splits: int
    widths: tuple[int, int, int]
    rows_of: tuple[int, int]
    stages: int
    staged: bool
    convolution: Convolution | None = None

    def estimate(self, problem: tuple[int, int, int]) -> Estimate:
        """Return the run time that the model predicts.

        Args:
            problem: M, N and K of the product.
        """
        (m, n, k), (tm, tn, tk), (cm, cn) = problem, self.tile, self.cluster
        a, b, c = self.widths
        tiles = -(-m // (tm * cm)) * -(-n // (tn * cn)) * self.splits
        waves = -(-tiles // (PROCESSORS // (cm * cn)))
        steps = _steps(k, tk, self.convolution) / self.splits
        blocks = tm // ROWS * (tn // self.columns) * (tk * a / 32)
        multiply = blocks * self.columns / 2 / _MULTIPLY_GHZ
        stage = tm * tk * a + tn * tk * b
        read = blocks * 32 * (ROWS + self.columns)
        shared = (read + stage) / _SHARED_BYTES / _SHARED_GHZ
        straddles = [_STRADDLES if row % _ROW_BYTES else 1 for row in self.rows_of]
        copies = (tm * tk * a / cn * straddles[0] + tn * tk * b / cm * straddles[1]) / _COPY_BYTES
        step = max(multiply, shared, copies) + (_CLUSTER_NS if cm * cn > 1 else 0)
        epilogue = tm * tn * c / 1024 * (_STAGED_NS if self.staged else _DIRECT_NS)
        activations = m * k if self.convolution is None else self.convolution.activations
        memory = (activations * a + n * k * b + m * n * c) / _MEMORY_BYTES
        time = max(waves * (steps * step + epilogue) / 1e3, memory) + _LAUNCH_US
        if self.splits > 1:
            time += _ADD_US + m * n * c * (self.splits + 1) / _PART_BYTES
        time *= _FEW if self.stages < _FEW_STAGES else 1
        return Estimate(tiles * cm * cn, waves, steps, multiply, shared, copies, time, 2 * m * n * k / time / 1e6)


@frozen
class TileProposals(Told):
    """Plans for a product, the one with the shortest predicted time first.

    Args:
        problem: M, N and K of the product.
        plans: the plans, which are proved.
        estimates: the predicted time of each plan.
        tried: number of candidates that the model ranked.
        convolution: the convolution; None for a plain product.
    """

    problem: tuple[int, int, int]
    plans: tuple[Plan, ...]
    estimates: tuple[Estimate, ...]
    tried: int
    convolution: Convolution | None = None

    @property
    def name(self) -> str:
        """The extents of the product, or the convolution."""
        return extents_text(self.problem) if self.convolution is None else f"{self.convolution};"

    @property
    def evidence(self) -> Evidence:
        """Whether the time model was fitted to products like this one, compared with some, or neither.

        >>> [propose_tiles(dtype, (512, 512, 512), c_dtype="bf16", top=1).evidence for dtype in ("bf16", "e4m3", "f16")]
        ['fitted', 'compared', 'none']
        """
        best = self.plans[0]
        loop, epilogue = best.asked, best.epilogue
        plain = loop.d == "f32" and not epilogue.terms and not any(side.transposed for side in (best.a, best.b))
        types = {loop.a.name, loop.b.name}
        if plain and types == {"bf16"} and self.convolution is None and epilogue.c in ("f32", "bf16"):
            return "fitted"
        compared = {"bf16"} if self.convolution is not None else {"e4m3"}
        return "compared" if plain and types == compared and epilogue.c == "bf16" else "none"

    @property
    def headline(self) -> str:
        """The answer in one line."""
        best = self.estimates[0]
        return (
            f"{self.name} {self.plans[0].asked.a.name}: a tile of "
            f"{extents_text(self.plans[0].asked.tile)}, {best.microseconds:.0f} us expected"
        )


def propose_tiles(
    dtype: str | ElementType,
    problem: Sequence[int] | None = None,
    *,
    convolution: Convolution | Mapping[str, Any] | None = None,
    arch: str | None = None,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    c_dtype: str | None = None,
    a_major: str | Major = Major.K,
    b_major: str | Major = Major.K,
    terms: Sequence[str] = (),
    top: int = 4,
) -> TileProposals:
    """Return the plans for a product for which the model predicts the shortest times, proved.

    Args:
        dtype: element type of A.
        problem: M, N and K of the product; None for a convolution.
        convolution: the convolution, with the output pixels in A, as in ``plan``; None for a plain product.
        arch: ``"sm90"``, the only architecture that the model is for.
        b_dtype, d_dtype, c_dtype, a_major, b_major, terms: as in ``plan``. The model ignores the time of the terms.
        top: number of plans that are kept and proved.

    Raises:
        DescriptorError: if an argument is malformed, or TMA cannot copy the rows of an operand or of C.

    >>> proposals = propose_tiles("bf16", (512, 512, 32768), top=1)
    >>> proposals.plans[0].epilogue.splits > 1, proposals.estimates[0].tiles >= 100
    (True, True)
    >>> layer = {"activations": (32, 14, 14, 256), "filters": (256, 3, 3), "padding": 1}
    >>> print(propose_tiles("bf16", convolution=layer, c_dtype="bf16", top=1).headline)
    32x14x14x256 by 256 filters of 3x3, padding 1x1; bf16: a tile of 192x64x64, 19 us expected
    """
    if arch is not None and architecture(arch) != "sm90":
        raise DescriptorError(
            f"plan: a tile cannot be chosen for {arch}, only for sm90, where tiles were timed; for {arch} a plan needs "
            "an instruction and a tile"
        )
    most = as_integer(top, "plan: how many to show", minimum=1, maximum=64)
    a = as_element_type(dtype)
    b = a if b_dtype is None else as_element_type(b_dtype)
    majors = as_major(a_major), as_major(b_major)
    arguments: dict[str, Any] = {
        "dtype": a, "b_dtype": b, "d_dtype": d_dtype, "c_dtype": c_dtype, "arch": "sm90", "a_major": majors[0],
        "b_major": majors[1], "terms": terms,
    }  # fmt: skip
    layer = None if convolution is None else _as_planned_convolution(convolution)
    extents, deep = _extents(problem, layer, a)
    if layer is not None:
        arguments["convolution"] = layer
    # The smallest plan with these arguments, which checks them and has the types that they imply.
    smallest = plan("m64n16k" + str(_K_BITS // a.bits), tile=(64, 16, deep), verify=False, **arguments)

    def attempt(changes: Mapping[str, Any]) -> list[Candidate]:
        padded = changes.get("problem", extents)
        return list(_candidates(smallest, padded, _memory_rows(padded, (a, b), majors, layer), layer))

    bits = min(a.bits, b.bits, BITS[smallest.epilogue.c])
    with advising(attempt), proposing([] if layer else _padded(extents, bits)):
        candidates = attempt({})
    plans, estimates = list[Plan](), list[Estimate]()
    for candidate in sorted(candidates, key=lambda candidate: candidate.estimate(extents).microseconds):
        candidate_plan = _plan_candidate(candidate, arguments)
        if candidate_plan is not None:
            prove_plan(candidate_plan)
            plans.append(candidate_plan)
            estimates.append(candidate.estimate(extents))
        if len(plans) == most:
            break
    return TileProposals(extents, tuple(plans), tuple(estimates), len(candidates), layer)


def _extents(problem: object, layer: Convolution | None, a: ElementType) -> tuple[tuple[int, int, int], int]:
    """Return M, N and K of a product, and K of a stage.

    K of a stage is 128 bytes, or for fewer channels the K of as many instructions, a power of two, as hold them.

    Raises:
        DescriptorError: if neither or both of problem and convolution are given.
    """
    if (problem is None) == (layer is None):
        arguments = (
            "neither a problem nor a convolution is" if problem is None else "a problem and a convolution are both"
        )
        raise DescriptorError(f"plan: {arguments} given; a tile is chosen for one of them")
    deep = 8 * _ROW_BYTES // a.bits
    if layer is None:
        return three(problem, "the problem", maximum=1 << 20), deep
    extents = (layer.pixels, layer.filters, layer.taps[0] * layer.taps[1] * layer.channels)
    fewest = _K_BITS // a.bits
    while fewest < min(deep, layer.channels):
        fewest *= 2
    return extents, fewest


def _as_planned_convolution(value: object) -> Convolution:
    """Return a convolution after checking that its output pixels are in A, as programs need them."""
    layer = as_convolution(value)
    if layer.operand != "A":
        raise DescriptorError(
            "plan: the output pixels are in B, and a tile can be chosen only with the pixels in A, as programs need "
            "them; exchange A and B, which gives the same product, transposed"
        )
    return layer


def _steps(k: int, deep: int, layer: Convolution | None) -> int:
    """Return the number of stages for K; for a convolution, each tap has stages of its own."""
    return -(-k // deep) if layer is None else layer.taps[0] * layer.taps[1] * -(-layer.channels // deep)


#: Bits that an instruction reads along K of each row of an operand.
_K_BITS = 256


def _memory_rows(
    extents: tuple[int, int, int], types: tuple[ElementType, ElementType], majors: tuple[Major, Major],
    layer: Convolution | None,
) -> tuple[int, int]:  # fmt: skip
    """Return the bytes of a row of A and of B in global memory.

    Raises:
        DescriptorError: if TMA cannot copy the rows because they are not multiples of 16 bytes.
    """
    if layer is not None:  # rows are the channels of a pixel or a tap, which the tensor maps have checked
        return layer.channels * types[0].bits // 8, layer.channels * types[1].bits // 8
    rows = []
    for name, index, element, major in zip("AB", (0, 1), types, majors, strict=True):
        letter, extent = ("K", extents[2]) if major is Major.K else ("MN"[index], extents[index])
        if not _copied(extent, element.bits):
            raise _ragged(name, letter, extent, str(element), element.bits)
        rows.append(extent * element.bits // 8)
    return rows[0], rows[1]


def _copied(extent: int, bits: int) -> bool:
    """Check that rows of ``extent`` elements are multiples of 16 bytes, as TMA needs."""
    return extent * bits % 128 == 0


def _ragged(matrix: str, letter: str, extent: int, element: str, bits: int) -> DescriptorError:
    return DescriptorError(
        f"plan: {letter} = {extent} makes a row of {matrix} {bits_text(extent * bits)} of {element}; TMA needs a "
        "multiple of 16 bytes"
    )


def _padded(extents: tuple[int, int, int], bits: int) -> list[Advice]:
    """Return the products with some extents padded to multiples of 16 bytes, those with the fewest changes first."""
    padded = [-(-extent * bits // 128) * 128 // bits for extent in extents]
    subsets = [subset for count in (1, 2, 3) for subset in combinations((2, 1, 0), count)]
    return [
        Advice({"problem": tuple(padded[i] if i in subset else extents[i] for i in range(3))}) for subset in subsets
    ]


def _candidates(
    smallest: Plan, problem: tuple[int, int, int], rows_of: tuple[int, int], layer: Convolution | None
) -> Iterator[Candidate]:
    """Yield the candidates for a product: all tiles, clusters and splits for which at least two stages fit.

    Args:
        smallest: a plan with the same types and epilogue.
        problem: M, N and K of the product.
        rows_of: bytes of a row of A and of B in global memory.
        layer: the convolution; None for a plain product.
    """
    loop, c = smallest.asked, smallest.epilogue.c
    width_a, width_b = (element.bits // 8 for element in (loop.a, loop.b))
    staged = _copied(problem[1], BITS[c])
    if not staged and c != loop.d:  # only TMA stores a narrower C
        raise _ragged("C", "N", problem[1], c, BITS[c])
    parts = _SPLITS if staged and loop.d != "f16" else (1,)
    depth = problem[2] if layer is None else _steps(problem[2], loop.tile[2], layer) * loop.tile[2]
    for rows in _ROWS:
        groups = usual_warpgroups(rows // ROWS)
        for columns in _COLUMNS:
            for cluster in _CLUSTERS:
                for splits in parts:
                    stored = BITS[c if splits == 1 else loop.d] // 8
                    tile = (rows, columns, loop.tile[2])
                    piece = groups * BUFFERS * ROWS * gcd(_ROW_BYTES, columns * stored) if staged else 0
                    stage = (rows * width_a + columns * width_b) * tile[2] + BARRIER_BYTES
                    stages = (SMEM_BYTES - piece) // stage
                    # Each part along K has at least one stage.
                    if splits > 1 and splits * tile[2] > depth:
                        continue
                    if stages >= 2:
                        widths = (width_a, width_b, stored)
                        yield Candidate(tile, columns, cluster, splits, widths, rows_of, stages, staged, layer)


def _plan_candidate(candidate: Candidate, arguments: dict[str, Any]) -> Plan | None:
    """Return the plan of a candidate; None if the instruction does not exist or the registers do not suffice."""
    try:
        with unadvised():
            return plan(
                (64, candidate.columns, _K_BITS // arguments["dtype"].bits), tile=candidate.tile,
                cluster=candidate.cluster, splits=candidate.splits, store="tma" if candidate.staged else None,
                verify=False, **arguments,
            )  # fmt: skip
    except DescriptorError:
        return None
