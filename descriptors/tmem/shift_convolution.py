"""A convolution with shifts, whole: the public door, its steps and columns, and its proof.

The activations are A, 128 rows in tensor memory, the filters B in shared memory, the outputs D. ``clear`` begins D
with zeros, for a masked lane keeps what it has, and the first tap of a filter row masks lanes; ``middle`` begins with
the tap that masks none, at the price of one more load a tile.
Source: PTX ISA 9.1, tcgen05.shift, tcgen05.cp and tcgen05.mma; CuTe DSL 4.8.1, docstring of ``tcgen05_mma``.

Law: the outputs are those of the definition, whatever one shift moves and whatever D begins with.

>>> for quarters in QUARTERS:
...     for start in STARTS:
...         made = shift_convolution(5, 3, 30, 16, 16, (2, 5), (1, 2), quarters=quarters, start=start)
...         assert made.verify().ok and made.verify().otherwise.wrong

The steps run on the model of tensor memory, and their outputs stand beside those of the definition. Law: what is
compared can differ: a filter that is another one is found.

>>> from descriptors.tmem.shift_steps import shift_problem
>>> from descriptors.tmem.shift_steps import tile_steps
>>> one = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> found = simulate(one, lambda p, t: tile_steps(one, p, t, step_channels=16), Machine(16, 1, "all"), *numbers(one))
>>> outcome(found, direct(one, *numbers(one))).wrong, outcome(found + 1, found).wrong == one.outputs
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

#: What tensor memory holds before anything is written to it, in a simulation.
_STALE = 0x2A2A2A2A


@frozen
class Machine:
    """What steps run on.

    Args:
        bits: of an element.
        cta_group: 1 or 2 CTAs, each with a memory.
        quarters: what one shift moves: ``all`` or ``one``.
    """

    bits: int
    cta_group: int
    quarters: str


@frozen
class Outcome:
    """Outputs beside those of the definition.

    Args:
        wrong: how many differ.
        first: (n, p, q, filter) of the first that does, what was found there and what is right; None if none does.
    """

    wrong: int
    first: tuple[int, int, int, int, int, int] | None = None


@frozen
class ShiftProof(Told):
    """A convolution simulated on whole numbers.

    Args:
        outputs: how many there are.
        multiplications: instructions that were simulated.
        quarters: what the steps take one shift to move.
        outcome: where it does.
        otherwise: where it moves all of them instead of one, or one instead of all.
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


def numbers(one: ShiftProblem | Convolution, seed: int = 1) -> tuple[Numbers, Numbers]:
    """Activations (n, h, w, c) and filters (filter, r, s, c) of whole numbers from -8 to 8, none of them 0.

    >>> [array.shape for array in numbers(ShiftProblem(2, 9, 8, 16, 5, (3, 1), (0, 0), 1, 1))]
    [(2, 9, 8, 16), (5, 3, 1, 16)]
    """
    import numpy as np

    source = np.random.default_rng(seed)
    shapes = (one.images, one.height, one.width, one.channels), (one.filters, *one.taps, one.channels)
    arrays = [source.integers(1, 9, shape) * source.choice((-1, 1), shape) for shape in shapes]
    return arrays[0].astype(np.int64), arrays[1].astype(np.int64)


def direct(one: ShiftProblem | Convolution, activations: Numbers, filters: Numbers) -> Numbers:
    """Return the outputs (n, p, q, filter) by the definition of a convolution."""
    import numpy as np

    padded = np.pad(activations, ((0, 0), *((pad, pad) for pad in one.padding), (0, 0)))
    sides = list(zip(padded.shape[1:3], one.taps, one.stride, one.dilation, strict=True))
    p, q = (1 + (extent - dilation * (taps - 1) - 1) // stride for extent, taps, stride, dilation in sides)
    outputs = np.zeros((one.images, p, q, one.filters), np.int64)
    for r, s in np.ndindex(*one.taps):
        rows = padded[:, r * one.dilation[0] :: one.stride[0], s * one.dilation[1] :: one.stride[1]]
        outputs += rows[:, :p, :q] @ filters[:, r, s].T
    return outputs


def check_simulated(one: ShiftProblem | Convolution, multiplications: int, outputs: int) -> None:
    """Refuse to simulate a convolution of too many multiplications or elements.

    Raises:
        DescriptorError: if there are too many.
    """
    elements = max(one.images * one.height * one.width * one.channels, outputs)
    for what, number, most in (
        ("multiplications", multiplications, MOST_SIMULATED),
        ("elements", elements, MOST_ELEMENTS),
    ):
        if number > most:
            raise DescriptorError(
                f"shift: a simulation must have at most {most} {what}, found {number}; give fewer images, rows or "
                "channels, or ask for no proof"
            )


def simulate(
    one: ShiftProblem,
    steps: Callable[[int, int], Sequence[ShiftStep]],
    machine: Machine,
    activations: Numbers,
    filters: Numbers,
) -> Numbers:
    """The outputs (n, p, q, filter) after the steps of every output row and tile."""
    import numpy as np

    memories = [np.full((LANES, COLUMNS), _STALE, np.uint32) for _ in range(machine.cta_group)]
    outputs = np.zeros((one.images, one.rows, one.columns, one.filters), np.int64)
    for p in range(one.rows):
        for tile in range(-(-one.places // (LANES * machine.cta_group))):
            for step in steps(p, tile):
                for cta, cells in enumerate(memories):
                    _run(one, step, p, cta, machine, cells, activations, filters)
            for cta, cells in enumerate(memories):
                accumulator = shift_model.read(cells, 0, one.filters)
                for lane in range(LANES):
                    output = one.output(LANES * (tile * machine.cta_group + cta) + lane)
                    if output is not None:
                        outputs[output[0], p, output[1]] = accumulator[lane]
    return outputs


def _run(
    one: ShiftProblem,
    step: ShiftStep,
    p: int,
    cta: int,
    machine: Machine,
    cells: NDArray[np.uint32],
    activations: Numbers,
    filters: Numbers,
) -> None:
    column = one.filters + STEP_COLUMNS * step.tap.a_range
    channels = slice(step.tap.k * _elements(machine.bits), (step.tap.k + 1) * _elements(machine.bits))
    h = one.input_row(p, step.tap.r) or 0
    if step.kind == "clear":
        shift_model.clear(cells, 0, one.filters)
    elif step.kind == "load":
        rows = RowCopies(one).rows(activations[..., channels], h, step.places[cta : cta + 1], LANES)
        shift_model.load(cells, column, _words(rows, machine.bits))
    elif step.kind == "shift":
        shift_model.shift(cells, step.lane, column, quarters=machine.quarters)
    elif step.kind == "refresh":
        rows = RowCopies(one).rows(activations[..., channels], h, step.places[4 * cta : 4 * cta + 4], 1)
        shift_model.refresh(cells, step.lane, column, _words(rows, machine.bits))
    else:
        b, masks = filters[:, step.tap.r, step.tap.s, channels], step.masks[4 * cta : 4 * cta + 4]
        accumulated = step.enable_input_d
        shift_model.multiply(cells, 0, column, b, bits=machine.bits, masks=masks, enable_input_d=accumulated)


def _elements(bits: int) -> int:
    return 32 * STEP_COLUMNS // bits


def _words(rows: Numbers, bits: int) -> NDArray[np.uint32]:
    """Activations packed into 8 words a row."""
    import numpy as np

    words: NDArray[np.uint32] = np.ascontiguousarray(rows.astype(f"<i{bits // 8}")).view("<u4").astype(np.uint32)
    return words


def outcome(outputs: Numbers, definition: Numbers) -> Outcome:
    """What differs.

    >>> import numpy as np
    >>> outcome(np.ones((1, 1, 2, 1), np.int64), np.array([1, 5]).reshape(1, 1, 2, 1))
    Outcome(wrong=1, first=(0, 0, 1, 0, 1, 5))
    """
    import numpy as np

    places = np.argwhere(outputs != definition)
    if not len(places):
        return Outcome(0)
    n, p, q, k = (int(one) for one in places[0])
    return Outcome(len(places), (n, p, q, k, int(outputs[n, p, q, k]), int(definition[n, p, q, k])))


#: The most multiplications that a tile has or that are simulated, and elements of activations and outputs there.
MOST_SIMULATED, MOST_ELEMENTS = 10_000, 1 << 22

#: How each part is known.
EVIDENCE = (
    ("direction, lanes that keep their row, masks, order", DOCUMENTED),
    ("source of a refresh, what the second CTA of a pair does", BELIEVED),
)


@frozen
class ShiftConvolution(Told):
    """A convolution whose activations move.

    Args:
        problem: its extents.
        element: type of the activations.
        cta_group: 1 or 2 CTAs.
        quarters: what one ``tcgen05.shift`` is taken to move: ``all`` quarters of 32 lanes, or the ``one`` of its
            address.
        start: what D begins with: ``clear`` or ``middle``.
    """

    problem: ShiftProblem
    element: ElementType
    cta_group: int
    quarters: str
    start: str

    @property
    def kind(self) -> str:
        """The kind of instruction."""
        return kind_of("sm100", self.element)

    @property
    def step_channels(self) -> int:
        """K of one instruction, which is what 8 columns hold."""
        return DENSE_K["sm100", self.kind]

    @property
    def tiles(self) -> int:
        """Tiles of an output row."""
        return -(-self.problem.places // (LANES * self.cta_group))

    @property
    def a_columns(self) -> tuple[int, ...]:
        """First columns of the ranges for A, which take turns."""
        return tuple(self.problem.filters + STEP_COLUMNS * i for i in range(RANGES))

    @property
    def allocate(self) -> int:
        """Columns to allocate: those of D and of A, a power of two."""
        return allocation(self.problem.filters + STEP_COLUMNS * RANGES)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        one = self.problem
        return f"{one.rows} output rows of {counted(self.tiles, 'tile')}, {self.multiplications} multiplications"

    @property
    def multiplications(self) -> int:
        """Instructions ``tcgen05.mma``, in all."""
        one = self.problem
        inside = sum(self._reads(p) for p in range(one.rows))
        return inside * one.taps[1] * (one.channels // self.step_channels) * self.tiles

    @property
    def copied(self) -> Traffic:
        """Rows of all output rows, tiles and CTAs.

        >>> shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).copied
        Traffic(taps=3, rows=3400, plain=9600)
        """
        s, pad = self.problem.taps[1], self.problem.padding[1]
        each, runs = table((s,))[0], self.multiplications // s * self.cta_group
        # A tile that begins in the middle loads once more, where it would have refreshed.
        again = LANES - LANES // QUARTER if self.start == "middle" and pad else 0
        inside = [p for p in range(self.problem.rows) if self._reads(p)]
        more = again * len(inside) * self.tiles * self.cta_group
        return Traffic(s, runs * each.rows + more, runs * each.plain)

    def _reads(self, p: int) -> int:
        """Filter rows that an output row multiplies with: those inside the image."""
        one = self.problem
        top = p * one.stride_h - one.padding[0]
        first = max(0, -(top // one.dilation_h))
        return max(0, min(one.taps[0], (one.height - 1 - top) // one.dilation_h + 1) - first)

    def steps(self, p: int = 0, tile: int = 0) -> tuple[ShiftStep, ...]:
        """The steps of a tile of an output row.

        Raises:
            DescriptorError: if there is no such row or tile.

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
        """Run all steps on whole numbers, and compare every output with the definition.

        Raises:
            DescriptorError: if that were too many.

        >>> print(shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).verify().headline)
        proved: 2592 outputs, by 75 multiplications simulated
        """
        one, count = self.problem, self.multiplications
        check_simulated(one, count, one.outputs)
        data = numbers(one, seed)
        definition = direct(one, *data)
        other = QUARTERS[1 - QUARTERS.index(self.quarters)]
        bits = self.element.bits
        outcomes = [
            outcome(simulate(one, self.steps, Machine(bits, self.cta_group, moved), *data), definition)
            for moved in (self.quarters, other)
        ]
        return ShiftProof(one.outputs, count, self.quarters, *outcomes)


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
    """A convolution of NHWC activations whose rows are shifted in tensor memory from tap to tap.

    Args:
        images, height, width, channels: of the activations.
        filters: how many; N of the instruction.
        taps, padding, stride, dilation: along H and W; stride and dilation along W must be 1.
        dtype: element type of activations and filters, of 8, 16 or 32 bits.
        cta_group: 1, or 2 for 256 outputs an instruction.
        quarters: what one ``tcgen05.shift`` is taken to move, which is not settled: ``all`` or ``one``.
        start: what D begins with: ``clear`` for zeros, ``middle`` for the tap that masks no lane.
        legality: how the tables of instructions are read.

    Raises:
        IllegalError: if there is no such instruction.
        DescriptorError: if an argument is malformed, or the taps cannot be shifted.

    >>> made = shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))
    >>> [step.kind for step in made.steps()][:5], made.allocate
    (['clear', 'load', 'multiply', 'shift', 'refresh'], 32)
    """
    one = shift_problem(images, height, width, channels, filters, taps, padding, stride, dilation)
    pair = as_integer(cta_group, "shift: cta_group", minimum=1, maximum=2)
    for what, value, legal in (("quarters", quarters, QUARTERS), ("start", start, STARTS)):
        if not isinstance(value, str) or value not in legal:
            raise ChoiceError(f"shift: {what}", value, legal)
    element = as_element_type(dtype)
    if element.bits != element.storage_bits or element.bits not in (8, 16, 32):
        raise DescriptorError(f"shift: elements must have 8, 16 or 32 bits, found {element.bits}; dtype = {element}")
    kind = kind_of("sm100", element)
    check_shape("sm100", kind, m=LANES * pair, n=one.filters, cta_group=pair, a_source="tmem", legality=legality)
    if one.filters + STEP_COLUMNS * RANGES > COLUMNS:  # where legality is off
        most = COLUMNS - STEP_COLUMNS * RANGES
        raise DescriptorError(f"shift: filters must be at most {most}, the columns beside A, found {one.filters}")
    step = DENSE_K["sm100", kind]
    if one.channels % step:
        raise DescriptorError(f"shift: C must be a multiple of {step}, found {one.channels}; dtype = {element}")
    count = one.taps[0] * one.taps[1] * (one.channels // step)
    if count > MOST_SIMULATED:
        raise DescriptorError(
            f"shift: a tile must have at most {MOST_SIMULATED} multiplications, found {count}; R = {one.taps[0]}, "
            f"S = {one.taps[1]}, C = {one.channels}"
        )
    return ShiftConvolution(one, element, pair, quarters, start)
