"""The product of a plan of ``mma.sync``, followed element by element through the models of what the hardware does.

A stage of global memory is copied by the plan's threads, 16 bytes each, to where the plan's layout says; ``ldmatrix``
brings what its threads point at into registers, by its model; ``mma.sync`` takes fragments from them, by its own; the
accumulators are stored where the plan has them. Numbers are small integers, and sums exact.

The order of copies and multiplications is followed apart: copies land as late as the plan's waits let them, and as
early as its barriers do.

Law: a loop of any number of stages holds that leaves two groups fewer than stages under way, and none that leaves more.

>>> [[pending for pending in range(4) if not misordered(stages, pending)] for stages in (2, 3, 4)]
[[0], [0, 1], [0, 1, 2]]
"""

from __future__ import annotations

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


@frozen
class MmaProduct(Told):
    """The proof of a product.

    Args:
        tile: M, N and K of a stage.
        stages: how many stages were multiplied.
        accumulators: elements of the product, each of them compared.
        differing: of those.
        first: the first of them, or what is wrong with the order; "" if nothing is.
        evidence: how the models are known.
    """

    tile: tuple[int, int, int]
    stages: int
    accumulators: int
    differing: int
    first: str
    evidence: str

    @property
    def ok(self) -> bool:
        """Whether every element is right, and nothing is read before it is there."""
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
    """Multiply as many tiles as there are stages.

    Args:
        loop: the instruction and the tile.
        sides: A and B.
        stored: where the accumulators go, as ``MmaPlan.store_elements``.
        order: stages, and groups of copies that may be under way where one is multiplied.
        scales: the scale factors; None without.
        seed: of the numbers.
    """
    import numpy as np

    stages, pending = order
    rng, (m, n, k), packed = np.random.default_rng(seed), loop.tile, sides[0].packed
    numbers = [rng.integers(-8, 9, (stages, extent, k)).astype(float) for extent in (m, n)]
    ids = [np.arange(stages * m * k // packed).reshape(stages, m, -1)]
    ids.append(ids[0].size + np.arange(stages * n * k // packed).reshape(stages, n, -1))
    memory = np.full(max(one.base + stages * one.stage_bytes for one in sides), -1)
    for side, each in zip(sides, ids, strict=True):
        _fill(memory, side, each)
    taken = [_fragments(memory, side, stages) for side in sides]
    flat = np.concatenate([*(one.reshape(-1, packed) for one in numbers), np.full((1, packed), np.nan)])
    values = [flat[one].reshape(*one.shape[:-1], -1) for one in taken]
    if scales is not None:
        factors = [2.0 ** rng.integers(-2, 3, (stages, extent, k // scales.vector)) for extent in (m, n)]
        values = [one * _scaled(loop, scales, i, factors[i]) for i, one in enumerate(values)]
        numbers = [one * factor.repeat(scales.vector, axis=2) for one, factor in zip(numbers, factors, strict=True)]
    seen = _stored(np.einsum("wimk,wjnk->wijmn", *values), stored, (m, n))
    expected = np.einsum("smk,snk->mn", *numbers)
    differs = seen != expected
    first = misordered(stages, pending) or next(filter(None, map(_misplaced, sides)), "")
    if differs.any():
        x, y = (int(one) for one in np.argwhere(differs)[0])
        got = "no number" if np.isnan(seen[x, y]) else f"{seen[x, y]:g}"
        first = f"D({x},{y}) must be {expected[x, y]:g}, found {got}{_cause(taken, stored, ids, (x, y), packed)}"
    return MmaProduct(loop.tile, stages, m * n, int(differs.sum()), first, WARP_ARCHITECTURES[loop.arch].known)


def _fill(memory: NDArray[Any], side: MmaOperand, ids: NDArray[Any]) -> None:
    """Every copy: of a thread 16 bytes from the unit that it begins with, and what follows; of the engine its boxes."""
    import numpy as np

    if isinstance(side.fill, TmaPlan):
        for stage, each in enumerate(ids):
            (mn, k), _, landed = side.fill.copied(side.base + stage * side.stage_bytes)
            memory[landed // 8] = each[mn, k]
        return
    places = offsets(side.layout).astype(np.int64) * side.bytes
    mn, k = _row_and_k(side, side.fill_elements)
    to = places[mn, k]
    for stage, each in enumerate(ids):
        for i in range(COPY_BYTES // side.bytes):
            row, unit = (mn, k + i) if side.major.contiguous_mode else (mn + i, k)
            inside = (row < each.shape[0]) & (unit < each.shape[1])
            value = np.where(inside, each[row % each.shape[0], unit % each.shape[1]], -1)
            memory[side.base + stage * side.stage_bytes + to + i * side.bytes] = value


def _scaled(loop: MmaLoop, scales: MmaScales, index: int, factors: NDArray[Any]) -> NDArray[Any]:
    """What the instructions take as factors of A (0) or B (1): axes (warp, block, row or column, K of all stages)."""
    import numpy as np

    rows, (_, across) = (16, 8)[index], loop.warps
    own, blocks = offsets(make_layout(scale_rows(loop, scales, index))).ravel(order="F"), np.arange(loop.blocks[index])
    begin = blocks * 16 * loop.warps[0] if index == 0 else blocks % 2 * 8 + blocks // 2 * 16 * across
    registers = factors[:, own[:, None] + begin[None]]
    lanes = scale_lanes(index, scales.threads[index])
    held = registers.reshape(len(factors), -1, LANES, len(blocks), factors.shape[2])[:, :, lanes]
    parts = []
    for kb in range(loop.blocks[2]):
        word, byte = scales.place(kb)
        first = WORD * word + byte
        parts.append(held[..., first : first + scales.each])
    taken = np.concatenate(parts, axis=-1).repeat(scales.vector, axis=-1)  # (stage, warp, row, block, K)
    return taken.transpose(1, 3, 2, 0, 4).reshape(taken.shape[1], len(blocks), rows, -1)


def _row_and_k(side: MmaOperand, elements: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return elements % side.tile[0], elements // side.tile[0]


def _fragments(memory: NDArray[Any], side: MmaOperand, stages: int) -> NDArray[Any]:
    """Which element each warp's instructions take: axes (warp, block, row or column, K of all stages)."""
    import numpy as np

    each = 4 // side.bytes
    read = _registers(memory, side, stages)  # (stage, thread, register, element, piece, K block)
    model = mma_elements(side.matrix, each)
    blocks = REGISTERS // model.shape[1]
    count, _, _, _, pieces, depth = read.shape
    split = read.reshape(count, -1, LANES, blocks, model.shape[1], each, pieces, depth)
    split = split.transpose(1, 6, 3, 0, 7, 2, 4, 5)  # (warp, piece, block, stage, K block, lane, register, element)
    rows, wide = 16 if side.matrix == "A" else 8, 8 * each
    whole = np.full((*split.shape[:5], rows, wide), -1)
    whole[..., model[..., 0], model[..., 1]] = split
    whole = whole.reshape(len(whole), pieces * blocks, count, depth, rows, wide)
    return whole.transpose(0, 1, 4, 2, 3, 5).reshape(len(whole), pieces * blocks, rows, -1)


def _registers(memory: NDArray[Any], side: MmaOperand, stages: int) -> NDArray[Any]:
    """What lies in the registers of each thread: axes (stage, thread, register, element, piece, K block)."""
    import numpy as np

    places = offsets(side.layout).astype(np.int64) * side.bytes
    if side.by_element:
        held = places[_row_and_k(side, side.load_elements("D"))]
        at = held.reshape(len(held), REGISTERS, -1, *held.shape[2:])
    else:
        pointers = places[_row_and_k(side, side.load_elements()[:, 0])]
        at = np.stack(
            [
                np.stack([ldmatrix_bytes(one, 4 // side.bytes, trans=side.turned) for one in piece.T], axis=-1)
                for piece in pointers.transpose(1, 0, 2)
            ],
            axis=-2,
        )
    whole = side.base + np.arange(stages).reshape(-1, *[1] * at.ndim) * side.stage_bytes + at
    read: NDArray[Any] = np.where(whole < memory.size, memory[np.minimum(whole, memory.size - 1)], -1)
    return read


def _stored(held: NDArray[Any], stored: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """C, every accumulator where its thread stores it."""
    import numpy as np

    model = mma_elements("D", 2).reshape(LANES, REGISTERS, 2)
    warps, blocks, across, _, _ = held.shape
    values = held[..., model[..., 0], model[..., 1]]  # (warp, block, block across, lane, value)
    pairs = values.reshape(warps, blocks, across // 2, 2, LANES, REGISTERS).transpose(0, 4, 3, 5, 1, 2)
    seen = np.full(shape, np.nan)
    seen[stored % shape[0], stored // shape[0]] = pairs.reshape(stored.shape)
    return seen


def _misplaced(side: MmaOperand) -> str:
    """What is wrong with the place of an element of less than 8 bits in its byte; "" if nothing is."""
    padded = side.element.storage_bits == 8
    bit = container_bit(side.element.bits) if padded else 0
    if side.shift == bit:
        return ""
    return f"{side.matrix} has its elements from bit {side.shift} of a byte on, where the instruction reads from {bit}"


def _cause(
    taken: list[NDArray[Any]],
    stored: NDArray[Any],
    ids: list[NDArray[Any]],
    element: tuple[int, int],
    packed: int,
) -> str:
    """The first element of A or B that an accumulator takes from another's place."""
    import numpy as np

    m = ids[0].shape[1]
    found = np.argwhere(stored == element[0] + m * element[1])
    if not len(found):
        return ": no thread stores it"
    thread, value, block, pair = (int(one) for one in found[0])
    (warp, lane), model = divmod(thread, LANES), mma_elements("D", 2).reshape(LANES, REGISTERS, 2)
    row, column = (int(one) for one in model[lane, value % REGISTERS])
    reads = (taken[0][warp, block, row], taken[1][warp, 2 * pair + value // REGISTERS, column])
    for read, whole, at in zip(reads, ids, element, strict=True):
        wanted = whole[:, at].ravel()
        wrong = np.flatnonzero(read != wanted)
        if len(wrong):
            right, found_id = (_element(int(one), ids, packed) for one in (wanted[wrong[0]], read[wrong[0]]))
            return f": for {right} it takes {found_id}"
    return ": its operands are read right, the accumulator is not"


def _element(number: int, ids: list[NDArray[Any]], packed: int) -> str:
    """The element with a number: ``B(2,0) of stage 0``."""
    if number < 0:
        return "what nobody copied"
    name = "AB"[number >= ids[0].size]
    whole = ids["AB".index(name)]
    stage, rest = divmod(number - int(whole.ravel()[0]), whole[0].size)
    row, unit = divmod(rest, whole.shape[2])
    return f"{name}({row},{unit * packed}) of stage {stage}"


def misordered(stages: int, pending: int) -> str:
    """What is wrong with the order of a loop; "" if nothing is.

    Args:
        stages: how many there are: one fewer tiles are copied ahead.
        pending: groups of copies that a wait leaves under way.

    >>> misordered(3, 2)
    'tile 0 is multiplied before its copies are done'
    """
    # A step waits, lets all threads meet, begins the copy of a later tile, and multiplies: where the copy lands late
    # it is there after the wait that covers it; where it lands at once it must not meet the tile of the same step.
    for tile in range(2 * stages):
        committed = tile + stages - 1
        if committed - pending <= tile:
            return f"tile {tile} is multiplied before its copies are done"
        if (tile + stages - 1) % stages == tile % stages:
            return f"tile {tile + stages - 1} is copied over tile {tile}, which is being multiplied"
    return ""
