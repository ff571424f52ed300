"""Prove the product of a plan of ``mma.sync``: follow every element through models of the hardware.

The plan's threads copy a stage from global memory, 16 bytes at a time, or TMA copies boxes, to the places of the plan's
layout. The model of ``ldmatrix`` loads the rows whose addresses the threads pass into registers. The model of
``mma.sync`` takes its fragments from these registers, and the accumulators are stored as in the plan. The numbers are
small integers, so that the sums are exact.

The order of copies and multiplications is not simulated. One comparison checks that the wait before a multiplication
covers the copies of the tile that is multiplied.

Invariant: the order is right if a wait leaves at most ``stages - 2`` groups of copies incomplete, and wrong otherwise.

>>> [[pending for pending in range(4) if not misordered(stages, pending)] for stages in (2, 3, 4)]
[[0], [0, 1], [0, 1, 2]]
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from descriptors.gemm.fragment_model import container_bit, ldmatrix_bytes, mma_elements, scale_lanes
from descriptors.gemm.mma_operand import COPY_BYTES, MmaOperand
from descriptors.gemm.mma_request import MmaLoop
from descriptors.gemm.mma_scales import WORD, MmaScales, scale_rows
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.targets import WARP_ARCHITECTURES
from descriptors.text import Told, counted, extents_text
from layoutalg import make_layout, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Lanes of a warp, and registers that a load of matrices fills.
LANES, REGISTERS = 32, 4
#: Rows of A, or columns of B, that one instruction reads.
_ROWS = {"A": 16, "B": 8}
#: The id of bytes of shared memory to which nothing was copied.
_NOT_COPIED = -1


@frozen
class MmaProduct(Told):
    """The proof of a product.

    Args:
        tile: M, N and K of a stage.
        stages: number of stages that were multiplied.
        accumulators: number of elements of the product, each of them compared.
        differing: number of elements that differ.
        first: the first element that differs, or the first fault of the order; "" if there is none.
        evidence: the evidence for the models.
    """

    tile: tuple[int, int, int]
    stages: int
    accumulators: int
    differing: int
    first: str
    evidence: str

    @property
    def ok(self) -> bool:
        """Whether every element is right, and no stage is read before its copies are complete."""
        return not self.differing and not self.first

    def __str__(self) -> str:
        about = f"{extents_text(self.tile)} product, {counted(self.stages, 'stage')}"
        if self.ok:
            return f"proved: {about}, {self.accumulators} accumulators"
        differ = f", {self.differing} of {self.accumulators} accumulators differ" if self.differing else ""
        return f"disproved: {about}{differ}; {self.first}"


def multiply(
    loop: MmaLoop,
    sides: tuple[MmaOperand, MmaOperand],
    stored: NDArray[Any],
    order: tuple[int, int],
    scales: MmaScales | None,
    seed: int,
) -> MmaProduct:
    """Multiply as many tiles as there are stages, and compare each accumulator with the product of the numbers.

    Args:
        loop: the instruction and the tile.
        sides: A and B.
        stored: the elements of C that the accumulators are stored to, as ``MmaPlan.store_elements``.
        order: number of stages, and of groups of copies that may be incomplete when a stage is multiplied.
        scales: the scale factors; None without.
        seed: seed of the random numbers.
    """
    import numpy as np

    stages, pending = order
    generator, (m, n, k), packed = np.random.default_rng(seed), loop.tile, sides[0].packed
    numbers = [generator.integers(-8, 9, (stages, extent, k)).astype(float) for extent in (m, n)]
    ids = _unit_ids(numbers, packed)
    fragments = _copy_and_load(sides, ids)
    values = _numbers_of(fragments, numbers, packed)
    if scales is not None:
        factors = [2.0 ** generator.integers(-2, 3, (stages, extent, k // scales.vector)) for extent in (m, n)]
        values = [value * _scaled(loop, scales, i, factors[i]) for i, value in enumerate(values)]
        numbers = [
            number * factor.repeat(scales.vector, axis=2) for number, factor in zip(numbers, factors, strict=True)
        ]
    product = _stored(np.einsum("wimk,wjnk->wijmn", *values), stored, (m, n))
    expected = np.einsum("smk,snk->mn", *numbers)
    differing = np.argwhere(product != expected)
    first = misordered(stages, pending) or next(filter(None, map(_misplaced, sides)), "")
    if len(differing):
        element = (int(differing[0, 0]), int(differing[0, 1]))
        cause = _cause(fragments, stored, ids, element, packed)
        first = f"{_difference(element, expected[element], product[element])}{cause}"
    return MmaProduct(loop.tile, stages, m * n, len(differing), first, WARP_ARCHITECTURES[loop.arch].known)


def _unit_ids(numbers: list[NDArray[Any]], packed: int) -> list[NDArray[Any]]:
    """Number the units of A, then those of B: for each operand, axes (stage, row or column, unit along K)."""
    import numpy as np

    shapes = [(*operand.shape[:2], operand.shape[2] // packed) for operand in numbers]
    a_ids, b_ids = (np.arange(prod(shape)).reshape(shape) for shape in shapes)
    return [a_ids, a_ids.size + b_ids]


def _copy_and_load(sides: tuple[MmaOperand, MmaOperand], ids: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Copy all stages to shared memory, and return the ids in the fragments of A and B, as ``_fragments`` does."""
    import numpy as np

    stages = len(ids[0])
    memory = np.full(max(side.base + stages * side.stage_bytes for side in sides), _NOT_COPIED)
    for side, operand_ids in zip(sides, ids, strict=True):
        _fill(memory, side, operand_ids)
    return [_fragments(memory, side, stages) for side in sides]


def _numbers_of(fragments: list[NDArray[Any]], numbers: list[NDArray[Any]], packed: int) -> list[NDArray[Any]]:
    """Replace each id by the numbers of its unit, along K; bytes that no copy wrote are not a number."""
    import numpy as np

    # The row of NaN is the last one, so that _NOT_COPIED, which is -1, selects it.
    units = np.concatenate([*(operand.reshape(-1, packed) for operand in numbers), np.full((1, packed), np.nan)])
    return [units[fragment].reshape(*fragment.shape[:-1], -1) for fragment in fragments]


def _difference(element: tuple[int, int], expected: float, actual: float) -> str:
    """Name an accumulator with the number that it must be, and the number that it is."""
    shown = f"{actual:g}" if actual == actual else "no number"  # NaN differs from itself
    return f"D({element[0]},{element[1]}) is {shown} instead of {expected:g}"


def _fill(memory: NDArray[Any], side: MmaOperand, ids: NDArray[Any]) -> None:
    """Copy all stages to shared memory: each thread copies 16 bytes at a time, or TMA copies boxes."""
    import numpy as np

    if isinstance(side.fill, TmaPlan):
        for stage, tile_ids in enumerate(ids):
            (mn, k), _, landed = side.fill.copied(side.base + stage * side.stage_bytes)
            memory[landed // 8] = tile_ids[mn, k]
        return
    places = offsets(side.layout).astype(np.int64) * side.bytes
    mn, k = _row_and_k(side, side.fill_elements)
    first_bytes = places[mn, k]
    for stage, tile_ids in enumerate(ids):
        for i in range(COPY_BYTES // side.bytes):
            row, unit = (mn, k + i) if side.major.contiguous_mode else (mn + i, k)
            rows, units = tile_ids.shape
            inside = (row < rows) & (unit < units)
            value = np.where(inside, tile_ids[row % rows, unit % units], _NOT_COPIED)
            memory[side.base + stage * side.stage_bytes + first_bytes + i * side.bytes] = value


def _scaled(loop: MmaLoop, scales: MmaScales, index: int, factors: NDArray[Any]) -> NDArray[Any]:
    """Return the factors that A (0) or B (1) is multiplied by: axes (warp, block, row or column, K of all stages)."""
    import numpy as np

    rows, (_, across) = _ROWS["AB"[index]], loop.warps
    own, blocks = offsets(make_layout(scale_rows(loop, scales, index))).ravel(order="F"), np.arange(loop.blocks[index])
    begin = blocks * 16 * loop.warps[0] if index == 0 else blocks % 2 * 8 + blocks // 2 * 16 * across
    registers = factors[:, own[:, None] + begin[None]]
    lanes = scale_lanes(index, scales.threads[index])
    by_row = registers.reshape(len(factors), -1, LANES, len(blocks), factors.shape[2])[:, :, lanes]
    parts = []
    for kb in range(loop.blocks[2]):
        word, byte = scales.place(kb)
        first = WORD * word + byte
        parts.append(by_row[..., first : first + scales.each])
    read_factors = np.concatenate(parts, axis=-1).repeat(scales.vector, axis=-1)  # (stage, warp, row, block, K)
    return read_factors.transpose(1, 3, 2, 0, 4).reshape(read_factors.shape[1], len(blocks), rows, -1)


def _row_and_k(side: MmaOperand, elements: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return elements % side.tile[0], elements // side.tile[0]


def _fragments(memory: NDArray[Any], side: MmaOperand, stages: int) -> NDArray[Any]:
    """Return the ids that each warp's instructions take: axes (warp, block, row or column, K of all stages)."""
    import numpy as np

    each = 4 // side.bytes
    read = _registers(memory, side, stages)  # (stage, thread, register, element, piece, K block)
    model = mma_elements(side.matrix, each)
    blocks = REGISTERS // model.shape[1]
    count, _, _, _, pieces, depth = read.shape
    split = read.reshape(count, -1, LANES, blocks, model.shape[1], each, pieces, depth)
    split = split.transpose(1, 6, 3, 0, 7, 2, 4, 5)  # (warp, piece, block, stage, K block, lane, register, element)
    rows, wide = _ROWS[side.matrix], 8 * each
    ids = np.full((*split.shape[:5], rows, wide), _NOT_COPIED)
    ids[..., model[..., 0], model[..., 1]] = split
    ids = ids.reshape(len(ids), pieces * blocks, count, depth, rows, wide)
    return ids.transpose(0, 1, 4, 2, 3, 5).reshape(len(ids), pieces * blocks, rows, -1)


def _registers(memory: NDArray[Any], side: MmaOperand, stages: int) -> NDArray[Any]:
    """Load the ids into the registers of each thread: axes (stage, thread, register, element, piece, K block)."""
    import numpy as np

    places = offsets(side.layout).astype(np.int64) * side.bytes
    if side.by_element:
        loaded = places[_row_and_k(side, side.load_elements("D"))]
        stage_bytes = loaded.reshape(len(loaded), REGISTERS, -1, *loaded.shape[2:])
    else:
        pointers = places[_row_and_k(side, side.load_elements()[:, 0])]
        stage_bytes = np.stack(
            [
                np.stack([ldmatrix_bytes(block, 4 // side.bytes, trans=side.turned) for block in piece.T], axis=-1)
                for piece in pointers.transpose(1, 0, 2)
            ],
            axis=-2,
        )
    begin = side.base + np.arange(stages).reshape(-1, *[1] * stage_bytes.ndim) * side.stage_bytes
    addresses = begin + stage_bytes
    in_memory = addresses < memory.size
    ids: NDArray[Any] = np.where(in_memory, memory[np.minimum(addresses, memory.size - 1)], _NOT_COPIED)
    return ids


def _stored(accumulators: NDArray[Any], stored: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Return C, with every accumulator at the element to which its thread stores it."""
    import numpy as np

    model = _accumulator_model()
    warps, blocks, across, _, _ = accumulators.shape
    values = accumulators[..., model[..., 0], model[..., 1]]  # (warp, block, block across, lane, value)
    pairs = values.reshape(warps, blocks, across // 2, 2, LANES, REGISTERS).transpose(0, 4, 3, 5, 1, 2)
    product = np.full(shape, np.nan)
    product[stored % shape[0], stored // shape[0]] = pairs.reshape(stored.shape)
    return product


def _accumulator_model() -> NDArray[Any]:
    """Return row and column of each accumulator of an instruction: axes (lane, register, 2)."""
    return mma_elements("D", 2).reshape(LANES, REGISTERS, 2)


def _misplaced(side: MmaOperand) -> str:
    """Return the fault of the position of narrow elements in their bytes; "" if it is right."""
    padded = side.element.storage_bits == 8
    bit = container_bit(side.element.bits) if padded else 0
    if side.shift == bit:
        return ""
    return f"{side.matrix} has its elements from bit {side.shift} of a byte on, where the instruction reads from {bit}"


def _cause(
    fragments: list[NDArray[Any]],
    stored: NDArray[Any],
    ids: list[NDArray[Any]],
    element: tuple[int, int],
    packed: int,
) -> str:
    """Describe the first wrong element of A or B that an accumulator is computed from."""
    import numpy as np

    stores = np.argwhere(stored == element[0] + ids[0].shape[1] * element[1])
    if not len(stores):
        return ": no thread stores it"
    thread, value, block, pair = (int(index) for index in stores[0])
    (warp, lane), model = divmod(thread, LANES), _accumulator_model()
    row, column = (int(index) for index in model[lane, value % REGISTERS])
    reads = (fragments[0][warp, block, row], fragments[1][warp, 2 * pair + value // REGISTERS, column])
    for read_ids, operand_ids, index in zip(reads, ids, element, strict=True):
        right_ids = operand_ids[:, index].ravel()
        wrong = np.flatnonzero(read_ids != right_ids)
        if len(wrong):
            right, read = (_element(int(each[wrong[0]]), ids, packed) for each in (right_ids, read_ids))
            return f": for {right} it takes {read}"
    return ": its operands are read right, the accumulator is not"


def _element(number: int, ids: list[NDArray[Any]], packed: int) -> str:
    """Return the element with an id: ``B(2,0) of stage 0``."""
    if number == _NOT_COPIED:
        return "what nobody copied"
    index = int(number >= ids[0].size)
    operand_ids = ids[index]
    stage, rest = divmod(number - int(operand_ids.flat[0]), operand_ids[0].size)
    row, unit = divmod(rest, operand_ids.shape[2])
    return f"{'AB'[index]}({row},{unit * packed}) of stage {stage}"


def misordered(stages: int, pending: int) -> str:
    """Return the first fault of the order of a loop; "" if there is none.

    Args:
        stages: number of stages: the loop copies one tile fewer ahead.
        pending: number of groups of copies that a wait leaves under way.

    >>> misordered(3, 2)
    'tile 0 is multiplied before its copies are done'
    """
    # Before a tile is multiplied, its group and those of the stages - 2 tiles after it have been committed. A wait
    # completes the oldest groups first, so it covers the group of the tile if it leaves at most stages - 2.
    return "tile 0 is multiplied before its copies are done" if pending > stages - 2 else ""
