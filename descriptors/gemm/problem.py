"""A product of given extents, or a convolution: tile, cluster and parts along K, by a model of the time on Hopper.

The model, of persistent CTAs that all do the same::

    waves     ceil(tiles / CTAs or clusters that run at once)
    step      the longest of three, for a stage of a CTA
                multiply   M/64 N/2 clocks for 32 bytes of K, at 1.66 GHz
                shared     what instructions read of shared memory, and copies write, 128 bytes a clock at 1.86 GHz
                copies     its own share of the boxes, 115 bytes a ns; a row that begins off 128 bytes counts 2.12 times
              and 37 ns more in a cluster
    epilogue  24.5 ns for 1024 bytes of C through shared memory, 52 from registers
    time      6.2 us + waves (steps step + epilogue), or what memory takes at 4 TB/s
              3.4 us + their bytes at 4.5 TB/s for parts along K

Fewer than four stages count 1 % more. The constants were fitted to 1,905 times of 115 bf16 programs for 17 products on
an H200 (``tests/vectors/hopper/h200/tile_times.jsonl.xz``), half of them 6 % off at most. The model was then compared
with programs that it was not fitted to (``bench_gemm_drawn.json`` beside it): 20 other bf16 products and 20 e4m3 ones.
Nothing was fitted to an H100, whose memory is slower, and no other type was timed.

A convolution is the product of its pixels, filters and taps with their channels, whose activations lie in memory once.
Nothing was fitted to convolutions either: of six bf16 ones that were timed, the model expects 2 % less to 20 % more,
and their order. :attr:`TileProposals.evidence` says which of these cases a choice belongs to.

Law: what is chosen is proved, and nothing that was tried is expected to take less.

>>> made = propose_tiles("bf16", (3000, 3000, 3000), top=2)
>>> [extents_text(one.asked.tile) for one in made.plans], made.estimates[0].waves
(['256x144x64', '192x192x64'], 2)
>>> made.estimates[0].microseconds <= made.estimates[1].microseconds
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

#: What is known of the times that the model expects.
Evidence: TypeAlias = Literal["fitted", "compared", "none"]
#: Processors of an H100 SXM and of an H200.
PROCESSORS = 132
_MULTIPLY_GHZ, _SHARED_GHZ, _SHARED_BYTES = 1.66, 1.86, 128
_COPY_BYTES, _STRADDLES, _CLUSTER_NS = 115.0, 2.12, 37.0
_STAGED_NS, _DIRECT_NS = 24.5, 52.0
_LAUNCH_US, _ADD_US, _MEMORY_BYTES, _PART_BYTES = 6.2, 3.4, 4.0e6, 4.5e6
_FEW_STAGES, _FEW = 4, 1.01
#: Rows of a tile, columns, clusters and parts that are tried; a row of a stage is 128 bytes.
_ROWS, _COLUMNS, _CLUSTERS = (64, 128, 192, 256), tuple(range(16, 257, 16)), ((1, 1), (2, 1), (1, 2))
_SPLITS, _ROW_BYTES = (1, 2, 3, 4, 6, 8, 12, 16), 128


@frozen
class Estimate:
    """What the model expects of a program.

    Args:
        tiles: of C, over all parts.
        waves: how often all processors take a tile.
        steps: stages of a tile.
        multiply, shared, copies: what bounds a stage, in ns.
        microseconds: in all.
        teraflops: operations a second, in 10**12.
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
        """What bounds a stage."""
        names = ("multiply", "shared", "copies")
        return max(names, key=lambda name: float(getattr(self, name)))


@frozen
class Candidate:
    """What the model looks at of a program.

    Args:
        tile: M, N and K of a stage.
        columns: N of the instruction.
        cluster: CTAs along M and along N.
        splits: parts along K.
        widths: bytes of an element of A, of B, and of C or of a part.
        rows_of: bytes of a row of A and of B in memory.
        stages: that fit.
        staged: whether C goes through shared memory.
        convolution: whose pixels and filters the rows are; None of a plain product.
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
        """The time that the model expects.

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
    """Programs for a product, the one that should take least first.

    Args:
        problem: M, N and K.
        plans: proved.
        estimates: what is expected of each.
        tried: how many candidates the model looked at.
        convolution: that the product is, with as many channels as K counts; None of a plain one.
    """

    problem: tuple[int, int, int]
    plans: tuple[Plan, ...]
    estimates: tuple[Estimate, ...]
    tried: int
    convolution: Convolution | None = None

    @property
    def name(self) -> str:
        """The problem, as it was asked for."""
        return extents_text(self.problem) if self.convolution is None else f"{self.convolution};"

    @property
    def evidence(self) -> Evidence:
        """Whether the time model was fitted to products like this one, compared with some, or neither.

        >>> [propose_tiles(dtype, (512, 512, 512), c_dtype="bf16", top=1).evidence for dtype in ("bf16", "e4m3", "f16")]
        ['fitted', 'compared', 'none']
        """
        one = self.plans[0]
        loop, made = one.asked, one.epilogue
        plain = loop.d == "f32" and not made.terms and not any(side.transposed for side in (one.a, one.b))
        types = {loop.a.name, loop.b.name}
        if plain and types == {"bf16"} and self.convolution is None and made.c in ("f32", "bf16"):
            return "fitted"
        compared = {"bf16"} if self.convolution is not None else {"e4m3"}
        return "compared" if plain and types == compared and made.c == "bf16" else "none"

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
    """The programs for a product that the model expects to be fastest, proved.

    Args:
        dtype: element type of A.
        problem: M, N and K of the product; none of a convolution.
        convolution: what the product is, with the output pixels in A; as ``plan`` has it.
        arch: ``"sm90"``, of which the model is.
        b_dtype, d_dtype, c_dtype, a_major, b_major, terms: as ``plan`` has them; what terms take is not expected.
        top: how many are kept, and proved.

    Raises:
        DescriptorError: if an argument is malformed, or no copy of the operands' rows does.

    >>> one = propose_tiles("bf16", (512, 512, 32768), top=1)
    >>> one.plans[0].epilogue.splits > 1, one.estimates[0].tiles >= 100
    (True, True)
    >>> of = {"activations": (32, 14, 14, 256), "filters": (256, 3, 3), "padding": 1}
    >>> print(propose_tiles("bf16", convolution=of, c_dtype="bf16", top=1).headline)
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
    named: dict[str, Any] = {
        "dtype": a, "b_dtype": b, "d_dtype": d_dtype, "c_dtype": c_dtype, "arch": "sm90", "a_major": majors[0],
        "b_major": majors[1], "terms": terms,
    }  # fmt: skip
    gathers = None if convolution is None else _gathers(convolution)
    extents, deep = _extents(problem, gathers, a)
    if gathers is not None:
        named["convolution"] = gathers
    model = plan("m64n16k" + str(_K_BITS // a.bits), tile=(64, 16, deep), verify=False, **named)

    def attempt(changes: Mapping[str, Any]) -> list[Candidate]:
        padded = changes.get("problem", extents)
        return list(_candidates(model, padded, _memory_rows(padded, (a, b), majors, gathers), gathers))

    with advising(attempt), proposing([] if gathers else _padded(extents, min(a.bits, b.bits, BITS[model.epilogue.c]))):
        tried = attempt({})
    ranked = sorted(tried, key=lambda one: one.estimate(extents).microseconds)
    plans, kept = list[Plan](), list[Estimate]()
    for one in ranked:
        made = _planned(one, named)
        if made is not None:
            prove_plan(made)
            plans.append(made)
            kept.append(one.estimate(extents))
        if len(plans) == most:
            break
    return TileProposals(extents, tuple(plans), tuple(kept), len(tried), gathers)


def _extents(problem: object, gathers: Convolution | None, a: ElementType) -> tuple[tuple[int, int, int], int]:
    """M, N and K of a product, and K of a stage: 128 bytes, of fewer channels as many whole instructions as hold them.

    Raises:
        DescriptorError: if there is no problem, or a convolution too.
    """
    if (problem is None) == (gathers is None):
        given = "neither a problem nor a convolution is" if problem is None else "a problem and a convolution are both"
        raise DescriptorError(f"plan: {given} given; a tile is chosen for one of them")
    deep = 8 * _ROW_BYTES // a.bits
    if gathers is None:
        return three(problem, "the problem", maximum=1 << 20), deep
    extents = (gathers.pixels, gathers.filters, gathers.taps[0] * gathers.taps[1] * gathers.channels)
    fewest = _K_BITS // a.bits
    while fewest < min(deep, gathers.channels):
        fewest *= 2
    return extents, fewest


def _gathers(value: object) -> Convolution:
    """A convolution whose program there is."""
    one = as_convolution(value)
    if one.operand != "A":
        raise DescriptorError(
            "plan: the output pixels are in B, and a tile can be chosen only with the pixels in A, as programs need "
            "them; exchange A and B, which gives the same product, transposed"
        )
    return one


def _steps(k: int, deep: int, one: Convolution | None) -> int:
    """Stages that K takes: of a convolution tap by tap, each with its channels."""
    return -(-k // deep) if one is None else one.taps[0] * one.taps[1] * -(-one.channels // deep)


#: Bits of a row of an instruction's operand along K: 32 bytes.
_K_BITS = 256


def _memory_rows(
    extents: tuple[int, int, int], types: tuple[ElementType, ElementType], majors: tuple[Major, Major],
    gathers: Convolution | None,
) -> tuple[int, int]:  # fmt: skip
    """Bytes of a row of A and of B in global memory; the copy engine takes whole 16 bytes alone."""
    if gathers is not None:  # a row of a stage is a pixel's, or a tap's; the maps were made
        return gathers.channels * types[0].bits // 8, gathers.channels * types[1].bits // 8
    rows = []
    for name, index, element, major in zip("AB", (0, 1), types, majors, strict=True):
        letter, extent = ("K", extents[2]) if major is Major.K else ("MN"[index], extents[index])
        if not _copied(extent, element.bits):
            raise _ragged(name, letter, extent, str(element), element.bits)
        rows.append(extent * element.bits // 8)
    return rows[0], rows[1]


def _copied(extent: int, bits: int) -> bool:
    """Whether the copy engine takes rows of so many elements."""
    return extent * bits % 128 == 0


def _ragged(matrix: str, letter: str, extent: int, element: str, bits: int) -> DescriptorError:
    return DescriptorError(
        f"plan: {letter} = {extent} makes a row of {matrix} {bits_text(extent * bits)} of {element}; TMA needs a "
        "multiple of 16 bytes"
    )


def _padded(extents: tuple[int, int, int], bits: int) -> list[Advice]:
    """Return the products with some extents padded to whole 16 bytes, the fewest first."""
    whole = [-(-extent * bits // 128) * 128 // bits for extent in extents]
    subsets = [some for count in (1, 2, 3) for some in combinations((2, 1, 0), count)]
    return [Advice({"problem": tuple(whole[i] if i in some else extents[i] for i in range(3))}) for some in subsets]


def _candidates(
    model: Plan, problem: tuple[int, int, int], rows_of: tuple[int, int], gathers: Convolution | None
) -> Iterator[Candidate]:
    loop, made = model.asked, model.epilogue
    width_a, width_b = (element.bits // 8 for element in (loop.a, loop.b))
    whole = _copied(problem[1], BITS[made.c])
    if not whole and made.c != loop.d:  # which the copy engine alone stores
        raise _ragged("C", "N", problem[1], made.c, BITS[made.c])
    parts = _SPLITS if whole and loop.d != "f16" else (1,)
    depth = problem[2] if gathers is None else _steps(problem[2], loop.tile[2], gathers) * loop.tile[2]
    for rows in _ROWS:
        groups = usual_warpgroups(rows // ROWS)
        for columns in _COLUMNS:
            for cluster in _CLUSTERS:
                for splits in parts:
                    stored = BITS[made.c if splits == 1 else loop.d] // 8
                    tile = (rows, columns, loop.tile[2])
                    piece = groups * BUFFERS * ROWS * gcd(_ROW_BYTES, columns * stored) if whole else 0
                    stage = (rows * width_a + columns * width_b) * tile[2] + BARRIER_BYTES
                    stages = (SMEM_BYTES - piece) // stage
                    # A part has a stage at least; a cluster that is larger than C copies for nobody.
                    if splits > 1 and splits * tile[2] > depth:
                        continue
                    if stages >= 2:
                        widths = (width_a, width_b, stored)
                        yield Candidate(tile, columns, cluster, splits, widths, rows_of, stages, whole, gathers)


def _planned(one: Candidate, named: dict[str, Any]) -> Plan | None:
    """The plan of a candidate; None where there is no such instruction, or registers are short."""
    k = _K_BITS // named["dtype"].bits
    store = "tma" if one.staged else None
    try:
        with unadvised():
            return plan(
                three((64, one.columns, k), "the instruction"), tile=one.tile, cluster=one.cluster, splits=one.splits,
                store=store, verify=False, **named,
            )  # fmt: skip
    except DescriptorError:
        return None
