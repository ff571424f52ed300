"""Plan a convolution by shifts in tensor memory, and verify it by simulation (the public entry point).

The activations are A, 128 rows in tensor memory; the filters are B in shared memory; the outputs are D. A masked lane
keeps its value, and the first tap of a filter row masks lanes, so D must be initialized: ``clear`` stores zeros, and
``middle`` starts with the tap that masks no lane, at the cost of one more load per tile.
Source: PTX ISA 9.1, tcgen05.shift, tcgen05.cp and tcgen05.mma; CuTe DSL 4.8.1, docstring of ``tcgen05_mma``.

Invariant: the outputs equal the definition for both assumptions about a shift and both ways to initialize D.

>>> for quarters in QUARTERS:
...     for start in STARTS:
...         shifted = shift_convolution(5, 3, 30, 16, 16, (2, 5), (1, 2), quarters=quarters, start=start)
...         assert shifted.verify().ok and shifted.verify().otherwise.wrong

The verification simulates the steps on the model of tensor memory and compares the outputs with the definition.

Invariant: the comparison detects wrong outputs.

>>> from descriptors.tmem.shift_steps import shift_problem
>>> from descriptors.tmem.shift_steps import tile_steps
>>> small = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> data, machine = numbers(small), Machine(16, 1, "all")
>>> outputs = simulate(small, lambda p, t: tile_steps(small, p, t, step_channels=16), machine, *data)
>>> outcome(outputs, direct(small, *data)).wrong, outcome(outputs + 1, outputs).wrong == small.outputs
(0, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from descriptors.errors import ChoiceError, DescriptorError, advised, as_integer
from descriptors.smem.instructions.legality import check_shape
from descriptors.smem.instructions.rules import Legality, kind_of
from descriptors.smem.instructions.tables import DENSE_K
from descriptors.smem.operands.operand import ElementType, as_element_type
from descriptors.smem.tma.convolution import Convolution
from descriptors.text import Told, counted
from descriptors.tmem import shift_model
from descriptors.tmem.geometry import BELIEVED, COLUMNS, DOCUMENTED, LANES, QUARTER, allocation
from descriptors.tmem.shift_copies import RowCopies
from descriptors.tmem.shift_steps import (
    QUARTERS,
    RANGES,
    STARTS,
    STEP_COLUMNS,
    ShiftProblem,
    ShiftStep,
    Traffic,
    shift_problem,
    table,
    tile_steps,
)
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: The initial content of tensor memory in a simulation.
_STALE = 0x2A2A2A2A


@frozen
class Machine:
    """The simulated machine.

    Args:
        bits: bits per element.
        cta_group: 1 or 2 CTAs, each with its own tensor memory.
        quarters: the quarters that one shift moves: ``all`` or ``one``.
    """

    bits: int
    cta_group: int
    quarters: str


@frozen
class Outcome:
    """The result of comparing outputs with the definition.

    Args:
        wrong: number of outputs that differ.
        first: the first of them: n, p, q, filter, the simulated and the correct value; None if no output differs.
    """

    wrong: int
    first: tuple[int, int, int, int, int, int] | None = None


@frozen
class ShiftProof(Told):
    """The result of simulating a convolution on integers.

    Args:
        outputs: number of output elements.
        multiplications: number of simulated ``tcgen05.mma`` instructions.
        quarters: the quarters that one shift moves, as the steps assume.
        outcome: the result if a shift moves these quarters.
        otherwise: the result if a shift moves one quarter instead of all, or all instead of one.
    """

    outputs: int
    multiplications: int
    quarters: str
    outcome: Outcome
    otherwise: Outcome

    @property
    def ok(self) -> bool:
        """Whether every output is right."""
        return not self.outcome.wrong

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if self.ok:
            return f"proved: {self.outputs} outputs, by {self.multiplications} multiplications simulated"
        return f"wrong: {self.outcome.wrong} of {self.outputs} outputs"


def numbers(problem: ShiftProblem | Convolution, seed: int = 1) -> tuple[Numbers, Numbers]:
    """Return random activations (n, h, w, c) and filters (filter, r, s, c): integers from -8 to 8 without 0.

    >>> [array.shape for array in numbers(ShiftProblem(2, 9, 8, 16, 5, (3, 1), (0, 0), 1, 1))]
    [(2, 9, 8, 16), (5, 3, 1, 16)]
    """
    import numpy as np

    source = np.random.default_rng(seed)
    shapes = (
        (problem.images, problem.height, problem.width, problem.channels),
        (problem.filters, *problem.taps, problem.channels),
    )
    activations, filters = (source.integers(1, 9, shape) * source.choice((-1, 1), shape) for shape in shapes)
    return activations.astype(np.int64), filters.astype(np.int64)


def direct(problem: ShiftProblem | Convolution, activations: Numbers, filters: Numbers) -> Numbers:
    """Return the outputs (n, p, q, filter) by the definition of a convolution."""
    import numpy as np

    padded = np.pad(activations, ((0, 0), *((pad, pad) for pad in problem.padding), (0, 0)))
    sides = list(zip(padded.shape[1:3], problem.taps, problem.stride, problem.dilation, strict=True))
    p, q = (1 + (extent - dilation * (taps - 1) - 1) // stride for extent, taps, stride, dilation in sides)
    outputs = np.zeros((problem.images, p, q, problem.filters), np.int64)
    for r, s in np.ndindex(*problem.taps):
        rows = padded[:, r * problem.dilation[0] :: problem.stride[0], s * problem.dilation[1] :: problem.stride[1]]
        outputs += rows[:, :p, :q] @ filters[:, r, s].T
    return outputs


def check_simulated(problem: ShiftProblem | Convolution, multiplications: int, outputs: int) -> None:
    """Check that a convolution is small enough for a simulation.

    Raises:
        DescriptorError: if it has too many multiplications or elements.
    """
    elements = max(problem.images * problem.height * problem.width * problem.channels, outputs)
    for what, number, most in (
        ("multiplications", multiplications, MOST_SIMULATED),
        ("elements", elements, MOST_ELEMENTS),
    ):
        if number > most:
            raise DescriptorError(
                f"shift: the simulation has {number} {what}, and the maximum is {most}; give fewer images, rows or "
                "channels, or skip the verification"
            )


def simulate(
    problem: ShiftProblem,
    steps: Callable[[int, int], Sequence[ShiftStep]],
    machine: Machine,
    activations: Numbers,
    filters: Numbers,
) -> Numbers:
    """Return the outputs (n, p, q, filter) after the steps of every output row and tile."""
    import numpy as np

    memories = [np.full((LANES, COLUMNS), _STALE, np.uint32) for _ in range(machine.cta_group)]
    outputs = np.zeros((problem.images, problem.rows, problem.columns, problem.filters), np.int64)
    for p in range(problem.rows):
        for tile in range(-(-problem.places // (LANES * machine.cta_group))):
            for step in steps(p, tile):
                for cta, cells in enumerate(memories):
                    _run(problem, step, p, cta, machine, cells, activations, filters)
            for cta, cells in enumerate(memories):
                accumulator = shift_model.read(cells, 0, problem.filters)
                for lane in range(LANES):
                    output = problem.output(LANES * (tile * machine.cta_group + cta) + lane)
                    if output is not None:
                        outputs[output[0], p, output[1]] = accumulator[lane]
    return outputs


def _run(
    problem: ShiftProblem,
    step: ShiftStep,
    p: int,
    cta: int,
    machine: Machine,
    cells: NDArray[np.uint32],
    activations: Numbers,
    filters: Numbers,
) -> None:
    """Execute one step on the memory of one CTA."""
    column = problem.filters + STEP_COLUMNS * step.tap.a_range
    step_channels = 32 * STEP_COLUMNS // machine.bits
    channels = slice(step.tap.k * step_channels, (step.tap.k + 1) * step_channels)
    h = problem.input_row(p, step.tap.r) or 0
    if step.kind == "clear":
        shift_model.clear(cells, 0, problem.filters)
    elif step.kind == "load":
        rows = RowCopies(problem).rows(activations[..., channels], h, step.places[cta : cta + 1], LANES)
        shift_model.load(cells, column, _words(rows, machine.bits))
    elif step.kind == "shift":
        shift_model.shift(cells, step.lane, column, quarters=machine.quarters)
    elif step.kind == "refresh":
        rows = RowCopies(problem).rows(activations[..., channels], h, step.places[4 * cta : 4 * cta + 4], 1)
        shift_model.refresh(cells, step.lane, column, _words(rows, machine.bits))
    else:
        b, masks = filters[:, step.tap.r, step.tap.s, channels], step.masks[4 * cta : 4 * cta + 4]
        accumulated = step.enable_input_d
        shift_model.multiply(cells, 0, column, b, bits=machine.bits, masks=masks, enable_input_d=accumulated)


def _words(rows: Numbers, bits: int) -> NDArray[np.uint32]:
    """Return activations packed into 8 words per row."""
    import numpy as np

    words: NDArray[np.uint32] = np.ascontiguousarray(rows.astype(f"<i{bits // 8}")).view("<u4").astype(np.uint32)
    return words


def outcome(outputs: Numbers, definition: Numbers) -> Outcome:
    """Compare outputs with the definition.

    >>> import numpy as np
    >>> outcome(np.ones((1, 1, 2, 1), np.int64), np.array([1, 5]).reshape(1, 1, 2, 1))
    Outcome(wrong=1, first=(0, 0, 1, 0, 1, 5))
    """
    import numpy as np

    places = np.argwhere(outputs != definition)
    if not len(places):
        return Outcome(0)
    n, p, q, k = map(int, places[0])
    return Outcome(len(places), (n, p, q, k, int(outputs[n, p, q, k]), int(definition[n, p, q, k])))


#: The largest number of multiplications of a tile or a simulation, and of elements of activations or outputs in one.
MOST_SIMULATED, MOST_ELEMENTS = 10_000, 1 << 22

#: The grade of evidence of each aspect.
EVIDENCE = (
    ("direction, lanes that keep their row, masks, order", DOCUMENTED),
    ("source of a refresh, what the second CTA of a pair does", BELIEVED),
)


@frozen
class ShiftConvolution(Told):
    """A convolution whose activations are shifted in tensor memory.

    Args:
        problem: the extents of the convolution.
        element: type of the activations.
        cta_group: 1 or 2 CTAs.
        quarters: the quarters of 32 lanes that one ``tcgen05.shift`` moves, as the steps assume: ``all``, or the
            ``one`` of its address.
        start: how D is initialized: ``clear`` or ``middle``.
    """

    problem: ShiftProblem
    element: ElementType
    cta_group: int
    quarters: str
    start: str

    @property
    def kind(self) -> str:
        """The instruction kind."""
        return kind_of("sm100", self.element)

    @property
    def step_channels(self) -> int:
        """K of one instruction: the channels in 8 columns."""
        return DENSE_K["sm100", self.kind]

    @property
    def tiles(self) -> int:
        """Number of tiles per output row."""
        return -(-self.problem.places // (LANES * self.cta_group))

    @property
    def a_columns(self) -> tuple[int, ...]:
        """First columns of the ranges of A, which are used in turn."""
        return tuple(self.problem.filters + STEP_COLUMNS * i for i in range(RANGES))

    @property
    def allocate(self) -> int:
        """Number of columns to allocate for D and A: a power of two."""
        return allocation(self.problem.filters + STEP_COLUMNS * RANGES)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        rows = self.problem.rows
        return f"{rows} output rows of {counted(self.tiles, 'tile')}, {self.multiplications} multiplications"

    @property
    def multiplications(self) -> int:
        """Total number of ``tcgen05.mma`` instructions."""
        filter_rows = sum(self._filter_rows(p) for p in range(self.problem.rows))
        return filter_rows * self.problem.taps[1] * (self.problem.channels // self.step_channels) * self.tiles

    @property
    def copied(self) -> Traffic:
        """The rows copied to tensor memory for all output rows, tiles and CTAs.

        >>> shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).copied
        Traffic(taps=3, rows=3400, plain=9600)
        """
        s, pad = self.problem.taps[1], self.problem.padding[1]
        each, runs = table((s,))[0], self.multiplications // s * self.cta_group
        # A tile that starts with the middle tap has one more load, instead of a refresh.
        more_rows = LANES - LANES // QUARTER if self.start == "middle" and pad else 0
        output_rows = sum(self._filter_rows(p) > 0 for p in range(self.problem.rows))
        more = more_rows * output_rows * self.tiles * self.cta_group
        return Traffic(s, runs * each.rows + more, runs * each.plain)

    def _filter_rows(self, p: int) -> int:
        """Return the number of filter rows that read inside the image for an output row."""
        problem = self.problem
        top = p * problem.stride_h - problem.padding[0]
        first = max(0, -(top // problem.dilation_h))
        return max(0, min(problem.taps[0], (problem.height - 1 - top) // problem.dilation_h + 1) - first)

    def steps(self, p: int = 0, tile: int = 0) -> tuple[ShiftStep, ...]:
        """Return the steps of a tile of an output row.

        Raises:
            DescriptorError: if the row or the tile does not exist.

        >>> len(shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).steps(1))
        25
        """
        p = as_integer(p, "shift: an output row", maximum=self.problem.rows - 1)
        tile = as_integer(tile, "shift: a tile", maximum=self.tiles - 1)
        return tile_steps(
            self.problem, p, tile, step_channels=self.step_channels, cta_group=self.cta_group,
            quarters=self.quarters, start=self.start,
        )  # fmt: skip

    def verify(self, seed: int = 1) -> ShiftProof:
        """Simulate all steps on integers, and compare every output with the definition.

        Raises:
            DescriptorError: if the convolution is too large for a simulation.

        >>> print(shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).verify().headline)
        proved: 2592 outputs, by 75 multiplications simulated
        """
        problem, count = self.problem, self.multiplications
        check_simulated(problem, count, problem.outputs)
        data = numbers(problem, seed)
        definition = direct(problem, *data)
        other = QUARTERS[1 - QUARTERS.index(self.quarters)]
        bits = self.element.bits
        outcomes = [
            outcome(simulate(problem, self.steps, Machine(bits, self.cta_group, moved), *data), definition)
            for moved in (self.quarters, other)
        ]
        return ShiftProof(problem.outputs, count, self.quarters, *outcomes)


@advised
def shift_convolution(
    images: int,
    height: int,
    width: int,
    channels: int,
    filters: int,
    taps: Sequence[int],
    padding: Sequence[int] = (0, 0),
    dtype: str | ElementType = "bf16",
    *,
    stride: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    cta_group: int = 1,
    quarters: str = "all",
    start: str = "clear",
    legality: Legality = "strict",
) -> ShiftConvolution:
    """Plan a convolution of NHWC activations whose rows are shifted in tensor memory from tap to tap.

    Args:
        images: number of images.
        height: H of the activations.
        width: W of the activations.
        channels: C of the activations.
        filters: number of filters, which is N of the instruction.
        taps: taps per filter along H and W.
        padding: padding on each side along H and W.
        dtype: element type of activations and filters, with 8, 16 or 32 bits.
        stride: stride along H and W; along W it is 1.
        dilation: dilation along H and W; along W it is 1.
        cta_group: 1, or 2 for 256 outputs per instruction.
        quarters: the quarters that one ``tcgen05.shift`` moves, which is not settled: ``all`` or ``one``.
        start: how D is initialized: ``clear`` with zeros, ``middle`` by starting with the tap that masks no lane.
        legality: how strictly the instruction tables are read.

    Raises:
        IllegalError: if the instruction does not exist.
        DescriptorError: if an argument is malformed, or the taps cannot be shifted.

    >>> shifted = shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))
    >>> [step.kind for step in shifted.steps()][:5], shifted.allocate
    (['clear', 'load', 'multiply', 'shift', 'refresh'], 32)
    """
    problem = shift_problem(images, height, width, channels, filters, taps, padding, stride, dilation)
    pair = as_integer(cta_group, "shift: cta_group", minimum=1, maximum=2)
    for what, value, legal in (("quarters", quarters, QUARTERS), ("start", start, STARTS)):
        if not isinstance(value, str) or value not in legal:
            raise ChoiceError(f"shift: {what}", value, legal)
    element = as_element_type(dtype)
    if element.bits != element.storage_bits or element.bits not in (8, 16, 32):
        raise DescriptorError(f"shift: {element} has {element.bits} bits, which are not 8, 16 or 32 stored bits")
    kind = kind_of("sm100", element)
    check_shape("sm100", kind, m=LANES * pair, n=problem.filters, cta_group=pair, a_source="tmem", legality=legality)
    if problem.filters + STEP_COLUMNS * RANGES > COLUMNS:  # possible if legality is off
        most = COLUMNS - STEP_COLUMNS * RANGES
        raise DescriptorError(f"shift: there are {problem.filters} filters, but A leaves {most} columns for D")
    step = DENSE_K["sm100", kind]
    if problem.channels % step:
        raise DescriptorError(f"shift: C is {problem.channels}, which is not a multiple of {step}; dtype = {element}")
    r, s = problem.taps
    count = r * s * (problem.channels // step)
    if count > MOST_SIMULATED:
        raise DescriptorError(
            f"shift: a tile has {count} multiplications, and the maximum is {MOST_SIMULATED}; R = {r}, S = {s}, "
            f"C = {problem.channels}"
        )
    return ShiftConvolution(problem, element, pair, quarters, start)
