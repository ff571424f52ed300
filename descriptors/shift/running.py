"""Steps run on the model of tensor memory, and their outputs beside those of the definition.

Law: what is compared can differ: a filter that is another one is found.

>>> from descriptors.shift.problem import shift_problem
>>> from descriptors.shift.steps import tile_steps
>>> one = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> found = simulate(one, lambda p, t: tile_steps(one, p, t, step_channels=16), Machine(16, 1, "all"), *numbers(one))
>>> outcome(found, direct(one, *numbers(one))).wrong, outcome(found + 1, found).wrong == one.outputs
(0, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from descriptors.frozen import frozen
from descriptors.proof import shift_model
from descriptors.shift.problem import ShiftProblem
from descriptors.shift.steps import STEP_COLUMNS, ShiftStep
from descriptors.text import Told
from descriptors.tmem.geometry import COLUMNS, LANES

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


def numbers(one: ShiftProblem, seed: int = 1) -> tuple[Numbers, Numbers]:
    """Activations (n, h, w, c) and filters (filter, r, s, c) of whole numbers from -8 to 8, none of them 0.

    >>> [array.shape for array in numbers(ShiftProblem(2, 9, 8, 16, 5, (3, 1), (0, 0), 1, 1))]
    [(2, 9, 8, 16), (5, 3, 1, 16)]
    """
    import numpy as np

    source = np.random.default_rng(seed)
    shapes = (one.images, one.height, one.width, one.channels), (one.filters, *one.taps, one.channels)
    drawn = [source.integers(1, 9, shape) * source.choice((-1, 1), shape) for shape in shapes]
    return drawn[0].astype(np.int64), drawn[1].astype(np.int64)


def direct(one: ShiftProblem, activations: Numbers, filters: Numbers) -> Numbers:
    """The outputs (n, p, q, filter) by the definition of a convolution."""
    import numpy as np

    (pad_h, pad_w), q = one.padding, one.columns
    padded = np.pad(activations, ((0, 0), (pad_h, pad_h), (pad_w, pad_w), (0, 0)))
    found = np.zeros((one.images, one.rows, q, one.filters), np.int64)
    for r, s in np.ndindex(*one.taps):
        first = r * one.dilation_h
        rows = padded[:, first : first + (one.rows - 1) * one.stride_h + 1 : one.stride_h, s : s + q]
        found += rows @ filters[:, r, s].T
    return found


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
    found = np.zeros((one.images, one.rows, one.columns, one.filters), np.int64)
    for p in range(one.rows):
        for tile in range(-(-one.places // (LANES * machine.cta_group))):
            for step in steps(p, tile):
                for cta, cells in enumerate(memories):
                    _run(one, step, p, cta, machine, cells, activations, filters)
            for cta, cells in enumerate(memories):
                held = shift_model.read(cells, 0, one.filters)
                for lane in range(LANES):
                    output = one.output(LANES * (tile * machine.cta_group + cta) + lane)
                    if output is not None:
                        found[output[0], p, output[1]] = held[lane]
    return found


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
        places = range(step.places[cta], step.places[cta] + LANES)
        shift_model.load(cells, column, _words(one, activations[:, h, :, channels], places, machine.bits))
    elif step.kind == "shift":
        shift_model.shift(cells, step.lane, column, quarters=machine.quarters)
    elif step.kind == "refresh":
        rows = _words(one, activations[:, h, :, channels], step.places[4 * cta : 4 * cta + 4], machine.bits)
        shift_model.refresh(cells, step.lane, column, rows)
    else:
        b, masks = filters[:, step.tap.r, step.tap.s, channels], step.masks[4 * cta : 4 * cta + 4]
        accumulated = step.enable_input_d
        shift_model.multiply(cells, 0, column, b, bits=machine.bits, masks=masks, enable_input_d=accumulated)


def _elements(bits: int) -> int:
    return 32 * STEP_COLUMNS // bits


def _words(one: ShiftProblem, rows: Numbers, places: Sequence[int], bits: int) -> NDArray[np.uint32]:
    """The activations with some places, packed into 8 words each; zeros where a place is outside of the flat row."""
    import numpy as np

    flat = rows.reshape(one.places, -1)
    inside = np.array([0 <= place < one.places for place in places])
    taken = flat[np.clip(np.asarray(places), 0, one.places - 1)] * inside[:, None]
    found: NDArray[np.uint32] = np.ascontiguousarray(taken.astype(f"<i{bits // 8}")).view("<u4").astype(np.uint32)
    return found


def outcome(found: Numbers, wanted: Numbers) -> Outcome:
    """What differs.

    >>> import numpy as np
    >>> outcome(np.ones((1, 1, 2, 1), np.int64), np.array([1, 5]).reshape(1, 1, 2, 1))
    Outcome(wrong=1, first=(0, 0, 1, 0, 1, 5))
    """
    import numpy as np

    places = np.argwhere(found != wanted)
    if not len(places):
        return Outcome(0)
    n, p, q, k = (int(one) for one in places[0])
    return Outcome(len(places), (n, p, q, k, int(found[n, p, q, k]), int(wanted[n, p, q, k])))
