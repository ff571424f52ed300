"""Prove the product of a plan of ``wgmma`` or ``tcgen05.mma``: simulate its main loop, and compare with ``A @ B``.

Each stage has different numbers. The copies of the plan fill shared memory by the copy model. Descriptors are computed
by additions as in a kernel, and read by the read model with the plan's transpose bits. Small integers are multiplied
exactly. The results are placed by the model of accumulators and taken from there by the plan's own layout. The models
share no code with the derivations, so that a wrong descriptor, step, bit, box, pointer or layout results in a wrong
element.

In the simulated memory of a CTA an element is represented by a number, so that reading a wrong element is detected even
if both have the same value. 0 is a place where no element begins. Places are counted in units of 4 bits, the smallest
element.

Invariant: the plan of every legal instruction gives the product, and the descriptors read what the copies write.

>>> from descriptors.gemm.planner import plan
>>> print(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2).verify())
proved: 64x8x32 product, 2 stages, 512 accumulators
>>> from descriptors.gemm.plan_operands import operand
>>> from descriptors.gemm.plan_request import main_loop
>>> a = operand(main_loop("m64n8k16", "bf16", tile=(64, 8, 32)), "A", 1)
>>> import numpy as np
>>> memory, numbers = empty(), np.arange(1, 64 * 32 + 1).reshape(1, 64, 32)
>>> fill(memory, a, numbers)
>>> (fetch(memory, a, [0, 0]) == numbers).all()
np.True_
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.chain import ChainReport
from descriptors.gemm.epilogue import BITS, Pieces
from descriptors.gemm.fragment_model import ldmatrix_bytes, wgmma_a_elements
from descriptors.gemm.implicit_gemm import Gathered
from descriptors.gemm.metadata import pack_metadata
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.promotion import Promotion
from descriptors.gemm.register_operand import ROWS, LoadedOperand, LoadedReport
from descriptors.gemm.sparse_model import tcgen05_selected, wgmma_selected
from descriptors.gemm.turns import TurnReport
from descriptors.smem.derivation.verify import Report, verify
from descriptors.smem.operands.operand import Major
from descriptors.smem.proof.addresses import address_bits
from descriptors.smem.proof.read_model import read_addresses
from descriptors.smem.tma.copy_model import landing_bits
from descriptors.smem.words.descriptor import window_bytes, word_format
from descriptors.targets import has_tcgen05, tensor_arches
from descriptors.text import Told, counted, extents_text
from descriptors.tmem.accumulator_model import joined, tcgen05_cells, wgmma_elements
from descriptors.tmem.geometry import EXCLUSIVE_COLUMNS
from descriptors.tmem.landing_model import landing
from descriptors.tmem.scale_model import factor_bytes
from layoutalg import Fragment, offsets
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray


@frozen
class Product(Told):
    """The proof of a plan.

    Args:
        tile: M, N and K of a stage.
        stages: number of stages that were filled and read; the sums are over all of them.
        accumulators: number of elements of the product, all of which were compared.
        differing: number of elements that differ.
        first: the first element that differs, and the cause; "" if none differs.
        evidence: how the models are known.
        operands: the proofs of A and B, as of ``derive``, at their addresses. For A in registers, the proof of its
            loads.
        chain: the comparison of every link with its neighbor; None if it was not made.
        turns: the check of two sets of accumulators in every order; None for one set.
        gathered: the proof of a convolution's copies; None for a plain product.
    """

    tile: tuple[int, int, int]
    stages: int
    accumulators: int
    differing: int
    first: str
    evidence: str
    operands: tuple[Report | LoadedReport, Report]
    chain: ChainReport | None = None
    turns: TurnReport | None = None
    gathered: Gathered | None = None

    @property
    def ok(self) -> bool:
        """Whether every element is right, and operands, chain, turns and gathered copies are proved."""
        parts = (*self.operands, self.chain, self.turns, self.gathered)
        return not self.differing and all(part.ok for part in parts if part is not None)

    def __str__(self) -> str:
        about = f"{extents_text(self.tile)} product, {counted(self.stages, 'stage')}"
        if not self.differing and self.gathered is not None and not self.gathered.ok:
            return f"disproved: {about}, {self.gathered}"
        if not self.differing and self.chain is not None and not self.chain.ok:
            return f"disproved: {about}, {self.chain.headline}"
        if not self.differing and self.turns is not None and not self.turns.ok:
            return f"disproved: {about}, {self.turns.first}"
        if not self.differing:
            more = "" if self.gathered is None else f"; {self.gathered}"
            return f"proved: {about}, {counted(self.accumulators, 'accumulator')}{more}"
        return f"disproved: {about}, {self.differing} of {self.accumulators} accumulators differ; {self.first}"


def multiply(plan: PlannedLoop, seed: int = 1) -> Product:
    """Simulate the main loop of a plan, and compare its product with numpy's.

    Args:
        plan: the plan.
        seed: seed of the random numbers that are multiplied.

    Raises:
        DescriptorError: if a descriptor has no meaning.
    """
    import numpy as np

    loop, rng = plan.asked, np.random.default_rng(seed)
    (m, n, k), stages, pair = loop.tile, plan.stages, loop.cta_group
    low = 0 if "u8" in (loop.a.name, loop.b.name) else -3
    stored = [
        rng.integers(low, 4, (stages, rows, loop.stored(name, k))).astype(np.float64)
        for name, rows in (("A", m), ("B", n))
    ]
    numbers = _numbered(*(value.shape for value in stored))
    read, causes = [], list[str]()
    for index, side in enumerate((plan.a, plan.b)):
        arrays = []
        for cta in range(pair):
            elements, cause = _read(plan, side, index, cta, numbers)
            arrays.append(elements)
            causes += cause
        table = np.concatenate([[np.nan], stored[0].ravel(), stored[1].ravel()])
        read.append(table[joined(arrays, loop.blocks[1] if index else 1, axis=1)])
    operands = stored
    if plan.metadata is not None:
        read[0], operands = _with_zeros(plan, plan.metadata, read[0], stored, rng, causes)
    if plan.scales is not None:
        read, operands = _scaled(plan, plan.scales, read, operands, rng, causes)
    if plan.promotion is not None and isinstance(plan.accumulators, Registers):
        expected, actual = _promoted(plan, plan.promotion, plan.accumulators.fragment, read, operands, rng)
    else:
        expected, product = (sum(x[s] @ y[s].T for s in range(stages)) for x, y in (operands, read))
        rows = m // pair
        actual = np.concatenate([_accumulated(plan, product[cta * rows : (cta + 1) * rows]) for cta in range(pair)])
    differs = ~(actual == expected)  # missing elements are NaN, which differs from every number
    differing = int(np.count_nonzero(differs))
    proofs = _operand(plan, plan.a, numbers[0]), verify(plan.b.derivation, bases=(plan.b.base,))
    first = _first(differs, expected, actual, causes)
    return Product(loop.tile, stages, expected.size, differing, first, _weakest_evidence(proofs), proofs)


def _operand(plan: PlannedLoop, side: StagedOperand, numbers: NDArray[Any]) -> Report | LoadedReport:
    """Return the proof of A alone: of its descriptors, or of its loads into registers."""
    if plan.loads is None:
        return verify(side.derivation, bases=(side.base,))
    import numpy as np

    memory = empty()
    fill(memory, side, numbers)
    numbers_read = register_reads(memory, side, plan.loads)
    wrong = np.argwhere(numbers_read != numbers)
    if not len(wrong):
        return LoadedReport(numbers.size, 0, "")
    stage, m, k = (int(x) for x in wrong[0])
    found_element = _element_name(int(numbers_read[stage, m, k]), [numbers])
    return LoadedReport(numbers.size, len(wrong), f"A({m},{k}) of stage {stage}: its register holds {found_element}")


def _numbered(*shapes: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return arrays that number the elements of A and then those of B, from 1 on."""
    import numpy as np

    arrays, start = [], 1
    for shape in shapes:
        count = int(np.prod(shape))
        arrays.append(np.arange(start, start + count).reshape(shape))
        start += count
    return arrays


def _read(
    plan: PlannedLoop, side: StagedOperand, index: int, cta: int, numbers: list[NDArray[Any]]
) -> tuple[NDArray[Any], list[str]]:
    """Return the elements that one CTA's descriptors of an operand read, and a description of the first wrong one."""
    import numpy as np

    memory, pair, blocks = empty(), plan.asked.cta_group, plan.asked.blocks[1] if index else 1
    for operand, ids in zip((plan.a, plan.b), numbers, strict=True):
        fill(memory, operand, ids, cta)
    bits = plan.transposed(index)
    # The rows that the CTA must provide: its part of the rows of A, or its half of every N block of B.
    rows = np.arange(numbers[index].shape[1]).reshape(blocks, pair, -1)[:, cta].ravel()
    placed = numbers[index][:, rows]
    if plan.loads is not None and side.matrix == "A":
        return register_reads(memory, side, plan.loads), []
    fetched = fetch(memory, side, bits)
    wrong = np.argwhere(fetched != placed)
    if not len(wrong):
        return fetched, []
    stage, mn, k = (int(x) for x in wrong[0])
    place = int(addresses(side, bits)[stage, mn, k])
    found_element = _element_name(int(fetched[stage, mn, k]), numbers)
    return fetched, [
        f"{side.matrix}({rows[mn]},{k}) of stage {stage} is read from byte {place / 2:g}, where {found_element} is"
    ]


def _element_name(number: int, numbers: list[NDArray[Any]]) -> str:
    import numpy as np

    for name, ids in zip("AB", numbers, strict=True):
        positions = np.argwhere(ids == number)
        if len(positions):
            return f"{name}({positions[0][1]},{positions[0][2]}) of stage {positions[0][0]}"
    return "no element"


def _scaled(
    plan: PlannedLoop, scales: Scales, read: list[Any], values: list[Any], rng: Any, causes: list[str]
) -> tuple[list[Any], list[Any]]:
    """Return both operands multiplied by the factors that the pointers reach, and by the factors of the elements."""
    import numpy as np

    pair, words = plan.asked.cta_group, word_format(plan.asked.arch)
    counts = [(len(operand), operand.shape[1], operand.shape[2] // scales.vector) for operand in values]
    ids = _numbered(*counts)
    table = np.concatenate([[np.nan], *(2.0 ** rng.integers(0, 3, numbers.size) for numbers in ids)])
    factor_arrays: list[list[Any]] = [[], []]
    for stage in range(counts[0][0]):
        ctas = []
        for cta in range(pair):
            rows = counts[0][1] // pair
            ctas.append(factors(scales, (ids[0][:, cta * rows : (cta + 1) * rows], ids[1]), stage, words))
        factor_arrays[0].append(np.concatenate([of_cta[0] for of_cta in ctas]))
        factor_arrays[1].append(ctas[-1][1])
    each = max(1, len(scales.pointers) // counts[0][2])  # K blocks that use the same factor
    for name, reached, placed in zip("AB", factor_arrays, ids, strict=True):
        wrong = np.argwhere(np.array(reached) != placed.repeat(each, 2))
        if len(wrong):
            stage, row, q = (int(x) for x in wrong[0])
            causes.append(f"factor ({row},{q}) of {name} in stage {stage} is not the one that its pointer reaches")
    sides = [
        [side * table[np.array(factor)].repeat(wide, 2) for side, factor in zip(both, from_, strict=True)]
        for both, from_, wide in ((read, factor_arrays, scales.vector // each), (values, ids, scales.vector))
    ]
    return sides[0], sides[1]


def _with_zeros(
    plan: PlannedLoop, metadata: Metadata, read: NDArray[Any], stored: list[Any], rng: Any, causes: list[str]
) -> tuple[NDArray[Any], list[Any]]:
    """Return A with its zeros as the instructions read it by the metadata, and the operands before compression."""
    import numpy as np

    loop = plan.asked
    stages, rows, count = stored[0].shape
    # Elements of 4 bits are stored in pairs, of which a group has four.
    group, pair = {4: (8, 2), 32: (2, 1)}.get(loop.a.storage_bits, (4, 1))
    drawn = rng.random((stages, rows, loop.tile[2] // group, group // pair)).argsort(axis=3)
    chosen = np.sort(drawn[..., : group // pair // 2], axis=3)
    positions = (pair * chosen[..., None] + np.arange(pair)).reshape(*chosen.shape[:3], -1)
    placed = (positions + group * np.arange(loop.tile[2] // group)[:, None]).reshape(stages, rows, count)
    selected = np.stack([_selected(plan, metadata, s, positions[s].reshape(rows, count)) for s in range(stages)])
    wrong = np.argwhere(selected != placed)
    if len(wrong):
        s, row, j = (int(x) for x in wrong[0])
        causes.append(f"the metadata of stage {s} put stored element {j} of row {row} of A at k {selected[s, row, j]}")
    dense = [np.zeros((stages, rows, loop.tile[2])) for _ in range(2)]
    index = np.ogrid[:stages, :rows, :1][:2]
    np.add.at(dense[0], (*index, np.maximum(selected, 0)), np.where(selected < 0, np.nan, read))
    np.add.at(dense[1], (*index, placed), stored[0])
    return dense[0], [dense[1], stored[1]]


def _selected(plan: PlannedLoop, metadata: Metadata, stage: int, positions: NDArray[Any]) -> NDArray[Any]:
    """Return the k that a stage's instructions give each stored element of A, by packed and copied metadata."""
    import numpy as np

    loop, packing = plan.asked, metadata.packed
    (_, _, depth), blocks = loop.extents, []
    for part in np.split(positions, loop.cta_group):
        words = pack_metadata(part, loop.a, loop.arch)
        cells = _metadata_cells(metadata, words, stage, word_format(loop.arch)) if has_tcgen05(loop.arch) else None
        along_k = []
        for k in range(loop.blocks[2]):
            register_or_column, selector = metadata.place(k)
            if cells is not None:
                selector_bits = plan.line.idescs[k] & _SELECTOR_BITS if loop.scale is None else 0
                columns = [register_or_column + i * metadata.block_columns for i in range(metadata.blocks)]
                rows = [tcgen05_selected(cells, column, packing.bits, selector_bits) for column in columns]
            else:
                rows = [wgmma_selected(block[register_or_column], packing.bits, selector) for block in words]
            along_k.append(np.concatenate(rows) + k * depth)
        blocks.append(np.concatenate(along_k, axis=1))
    return np.concatenate(blocks)


def _metadata_cells(metadata: Metadata, words: NDArray[Any], stage: int, of: str) -> NDArray[Any]:
    """Return tensor memory after a stage's copies of metadata, as cells of 32 bits: axes (lane, column)."""
    import numpy as np

    shared = np.zeros(_MEMORY, dtype=np.uint8)
    first = metadata.base + stage * metadata.bytes
    shared[first : first + metadata.bytes] = words.astype("<u4").reshape(-1).view(np.uint8)
    cells = np.zeros((128, EXCLUSIVE_COLUMNS, 4), dtype=np.uint8)
    for word, column in metadata.copies(stage):
        landed = np.array(
            [(r, w, lane, target_column) for r, w, (lane, target_column) in landing("128x128b", lane=0, column=column)]
        )
        read = read_addresses(word, of, dtype="u8", major="K", shape=(128, 16))
        cells[landed[:, 2], landed[:, 3]] = shared[read[landed[:, 0, None], 4 * landed[:, 1, None] + np.arange(4)]]
    result: NDArray[Any] = cells.view("<u4")[..., 0]
    return result


def _accumulated(plan: PlannedLoop, product: NDArray[Any]) -> NDArray[Any]:
    """Return one CTA's accumulators, placed as by the hardware and taken from there by the plan's layout."""
    import numpy as np

    loop, accumulators = plan.asked, plan.accumulators
    rows, n = loop.extents[0] // loop.cta_group, loop.extents[1]
    if isinstance(accumulators, TensorColumns) and accumulators.sets > 1:
        each = [
            _accumulated(replace(plan, accumulators=accumulators.of(number)), product)
            for number in range(accumulators.sets)
        ]
        return np.where(each[0] == each[1], each[0], np.nan)  # an element that one set has wrong is missing
    total = np.full(product.shape, np.nan)
    cells = np.full((128, EXCLUSIVE_COLUMNS), np.nan)
    for index in range(loop.blocks[0] * loop.blocks[1]):
        i, j = index % loop.blocks[0], index // loop.blocks[0]
        block = product[i * rows : (i + 1) * rows, j * n : (j + 1) * n]
        into = total[i * rows : (i + 1) * rows, j * n : (j + 1) * n]
        if isinstance(accumulators, Registers):
            coordinates = wgmma_elements(n)
            _put(accumulators.fragment, plan.epilogue.staged, block[coordinates[..., 0], coordinates[..., 1]], into)
        else:
            coordinates = tcgen05_cells(loop.extents[0], n, loop.cta_group)
            cells[coordinates[..., 0], accumulators.firsts[index] + coordinates[..., 1]] = block
            _read_out(cells, accumulators, accumulators.firsts[index], plan.epilogue.staged, into)
    return total


def _put(fragment: Fragment, staged: Pieces | None, values: NDArray[Any], into: NDArray[Any]) -> None:
    """Store the values of an accumulator that threads have to C, as in the plan."""
    if staged is not None:
        _store(staged, fragment, values, into)
        return
    elements = offsets(fragment.layout)
    into[elements % into.shape[0], elements // into.shape[0]] = values


def _store(staged: Pieces, of: Fragment | None, register_values: NDArray[Any], into: NDArray[Any]) -> None:
    """Store an accumulator piece by piece: written to shared memory as in the plan, and taken by TMA as a box."""
    import numpy as np

    width, written = BITS[staged.type], staged.element_bytes(of)
    values = written.shape[1]
    code = ("none", "32B", "64B", "128B").index(str(staged.swizzle))
    box_offsets = (
        landing_bits((staged.columns, staged.rows), [staged.base], bits=width, swizzle=code)[0] // 8 - staged.base
    )
    for piece, first in enumerate(range(0, into.shape[1], staged.columns)):
        memory = np.full(staged.piece_bytes, np.nan)
        memory[written] = register_values[:, piece * values : (piece + 1) * values]
        into[:, first : first + staged.columns] = memory[box_offsets].reshape(staged.rows, staged.columns)


def _promoted(
    plan: PlannedLoop, promotion: Promotion, fragment: Fragment, read: list[Any], values: list[Any], rng: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scaled product, and the sums after every 128 of K is scaled in registers and added."""
    import numpy as np

    loop, each, depth = plan.asked, promotion.groups, 128
    (m, n, k), stages = loop.tile, plan.stages
    factors = [2.0 ** rng.integers(-2, 3, (stages * each, count)) for count in (m, -(-n // depth))]
    a_factors = np.zeros((stages * each, -(-m // 4) * 4))  # rows are adjacent and padded to a multiple of 16 bytes
    a_factors[:, :m] = factors[0]
    memory = a_factors.ravel(), np.ascontiguousarray(factors[1].T).ravel()
    coordinates, (rows, columns) = wgmma_elements(loop.extents[1]), loop.extents[:2]
    elements = offsets(fragment.layout)
    expected, actual = np.zeros((m, n)), np.full((m, n), np.nan)
    spans = [(s, slice(g * depth, (g + 1) * depth)) for s in range(stages) for g in range(each)]
    partial = []
    for (s, span), a, b in zip(spans, *factors, strict=True):
        scaled = values[0][s][:, span] * a[:, None], values[1][s][:, span] * b.repeat(depth)[:n, None]
        expected += scaled[0] @ scaled[1].T
        partial.append(read[0][s][:, span] @ read[1][s][:, span].T)
    begin, steps = [np.array(table) for table in promotion.places(m, n, stages * k)], promotion.step(m)
    for i, j in np.ndindex(loop.blocks[0], loop.blocks[1]):
        block = slice(i * rows, (i + 1) * rows), slice(j * columns, (j + 1) * columns)
        # A thread loads the factors of the elements that its registers have by the plan's fragment, which may be wrong.
        places = begin[0][block[0]][elements % rows], begin[1][block[1]][elements // rows]
        total = np.zeros(elements.shape)
        for group, part in enumerate(partial):
            a, b = (_read_factors(memory[side], places[side] + group * steps[side]) for side in (0, 1))
            total += part[block][coordinates[..., 0], coordinates[..., 1]] * a * b
        _put(fragment, plan.epilogue.staged, total, actual[block])
    return expected, actual


def _read_factors(memory: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """Return the factors at some places; NaN beyond the end."""
    import numpy as np

    factors: NDArray[Any] = np.append(memory, np.nan)[np.minimum(index, memory.size)]
    return factors


def _read_out(
    cells: NDArray[Any], accumulators: TensorColumns, first: int, staged: Pieces | None, into: NDArray[Any]
) -> None:
    """Execute every load of the readout: register v of thread t is cell (lane + t, column + v) of ``.32x32b``."""
    import numpy as np

    read = accumulators.readout
    # The readout has no swizzle, so an element's coordinate is the sum of those of thread and value.
    threads = np.array([read.elements(t, 0) for t in range(read.threads)], dtype=np.int64)
    local = threads[:, None] + np.array([read.elements(0, v) for v in range(read.values)], dtype=np.int64)
    thread, value = np.meshgrid(np.arange(read.threads), np.arange(read.values), indexing="ij")
    for load in read.loads:
        registers: NDArray[Any] = cells[load.lane + thread, first + load.column + value]
        if staged is not None:
            row, column = load.origin
            _store(staged, None, registers, into[row : row + read.threads, column : column + read.values])
            continue
        m, n = local[..., 0] + load.origin[0], local[..., 1] + load.origin[1]
        into[m, n] = registers


def _first(differs: Any, expected: Any, actual: Any, causes: list[str]) -> str:
    """Describe the first element that differs, with the cause if an operand was read wrong."""
    import numpy as np

    differences = np.argwhere(differs)
    if not len(differences):
        return ""
    m, n = (int(x) for x in differences[0])
    actual_text = "no number" if np.isnan(actual[m, n]) else f"{actual[m, n]:g}"
    because = f": {causes[0]}" if causes else ": its operands are read right, the accumulator is not"
    return f"D({m},{n}) is {actual_text} instead of {expected[m, n]:g}{because}"


def _weakest_evidence(reports: tuple[Report | LoadedReport, Report]) -> str:
    """Return the evidence of the first model that was not measured, or that of the first if all were."""
    evidence = [report.evidence for report in reports]
    return next((text for text in evidence if not text.startswith("measured")), evidence[0])


_PLACE_BITS = 4
#: Bytes of shared memory that the widest start address can address.
_MEMORY = max(map(window_bytes, tensor_arches()))


def empty() -> NDArray[Any]:
    """Return empty memory: a number for each 4 bits that a start address can address."""
    import numpy as np

    return np.zeros(_MEMORY * 8 // _PLACE_BITS, dtype=np.int64)


def fill(memory: NDArray[Any], side: StagedOperand, numbers: NDArray[Any], cta: int = 0) -> None:
    """Write the copies of an operand to memory, for every stage, by the copy model.

    Args:
        memory: the memory from ``empty``, which is written.
        side: the operand.
        numbers: numbers of the elements of the tile, over both CTAs of a pair: axes (stage, MN, K).
        cta: index of the CTA whose memory it is.
    """
    import numpy as np

    (mn, k), stage, landed = side.tma.copied(side.base)
    # A box begins at the row of the plan, and has consecutive rows even across the end of a block.
    begin = np.array([[side.first_row(box, cta) - box.origin[0]] for box in side.tma.boxes], dtype=np.int64)
    memory[landed // _PLACE_BITS] = numbers[stage, mn + begin, k]


def fetch(memory: NDArray[Any], side: StagedOperand, transposed: Sequence[int]) -> NDArray[Any]:
    """Return what the tensor core reads with the descriptors of an operand, by the read model: axes (stage, MN, K).

    Args:
        memory: the memory.
        side: the operand.
        transposed: the transpose bit of the instruction of each K block.
    """
    import numpy as np

    places = addresses(side, transposed)
    inside = places < memory.size
    bits_read: NDArray[Any] = np.where(inside, memory[np.where(inside, places, 0)], 0)
    return bits_read


def register_reads(memory: NDArray[Any], side: StagedOperand, loads: LoadedOperand) -> NDArray[Any]:
    """Return the elements of A that the instruction reads from the registers after the loads: axes (stage, M, K).

    Args:
        memory: the memory.
        side: A.
        loads: the loads into registers.
    """
    import numpy as np

    places = register_bytes(loads, side) * 8 // _PLACE_BITS
    registers, coordinates = memory[places], wgmma_a_elements(loads.each)
    elements = np.zeros((*registers.shape[:3], ROWS, side.derivation.mma[1]), dtype=np.int64)
    elements[..., coordinates[..., 0], coordinates[..., 1]] = registers
    stages, blocks, k, rows, columns = elements.shape
    return elements.transpose(0, 1, 3, 2, 4).reshape(stages, blocks * rows, k * columns)


def register_bytes(loaded: LoadedOperand, side: StagedOperand) -> NDArray[Any]:
    """Return the address from which the plan's loads fill each element of each register.

    Returns:
        Addresses in bytes: axes (stage, M block, K block, thread, register, element).
    """
    import numpy as np

    d = side.derivation
    width = d.element.storage_bits // 8
    table = side.base + offsets(d.smem_tile).reshape(*d.tile[:2], -1).astype(np.int64) * width
    tiles = table.reshape(-1, ROWS, loaded.blocks, d.mma[1], table.shape[2])
    if loaded.loads == 1:
        row, column = np.array([loaded.pointer(t) for t in range(loaded.fragment.threads)]).T
        trans = ".trans" in loaded.move
        addresses = tiles[:, row, :, column].transpose(3, 1, 2, 0)  # (stage, M block, K block, thread)
        return np.array(
            [[[ldmatrix_bytes(k, loaded.each, trans=trans) for k in m] for m in stage] for stage in addresses]
        )
    elements = offsets(loaded.fragment.layout)
    addresses = tiles[:, elements % ROWS, :, elements // ROWS].transpose(4, 2, 3, 0, 1)
    return addresses.reshape(*addresses.shape[:4], -1, loaded.each)


def addresses(side: StagedOperand, transposed: Sequence[int]) -> NDArray[Any]:
    """Return the place that each element is read from, in units of 4 bits: axes (stage, MN, K)."""
    import numpy as np

    d, blocks = side.derivation, []
    unit = address_bits(d.element)
    pairs = [(s, i) for s in range(len(side.stage_steps)) for i in range(len(side.mn_steps))]
    for k, bit in zip(range(len(side.k_steps)), transposed, strict=True):
        words = [side.word_at(i, k, s) for s, i in pairs]
        major = Major.MN if bit else Major.K
        read = read_addresses(words, word_format(d.arch), dtype=d.element, major=major, shape=d.mma, in_bits=unit == 1)
        blocks.append(read.reshape(len(side.stage_steps), -1, d.mma[1]))
    return np.concatenate(blocks, axis=2).astype(np.int64) * unit // _PLACE_BITS


def factors(
    scales: Scales, numbers: tuple[NDArray[Any], NDArray[Any]], stage: int, words: str = "sm100"
) -> tuple[NDArray[Any], ...]:
    """Return the factors of A and B that the K blocks of a stage read after its copies: axes (row, factor along K).

    Args:
        scales: the scale factors.
        numbers: numbers of the factors of A and of B: axes (stage, row, factor along K).
        stage: the stage.
        words: name of the descriptor format in the read model.
    """
    import numpy as np

    shared = np.zeros(_MEMORY, dtype=np.int64)
    parts = list(zip((scales.a, scales.b), scales.bases, numbers, strict=True))
    for factor_layout, base, ids in parts:
        places = offsets(factor_layout.memory)[: factor_layout.mn, : factor_layout.k : factor_layout.vector]
        for each in range(len(ids)):
            shared[base + each * factor_layout.bytes + places] = ids[each]
    cells = np.zeros((128, EXCLUSIVE_COLUMNS, 4), dtype=np.int64)
    copies = [factor_layout.copy for factor_layout in (scales.a, scales.b) for _ in factor_layout.steps]
    for copy, (word, column) in zip(copies, scales.copies(stage), strict=True):
        landed = np.array(
            [(r, w, lane, target_column) for r, w, (lane, target_column) in landing(copy, lane=0, column=column)]
        )
        read = read_addresses(word, words, dtype="u8", major="K", shape=(int(landed[:, 0].max()) + 1, 16))
        source = read[landed[:, 0, None], 4 * landed[:, 1, None] + np.arange(4)]
        cells[landed[:, 2], landed[:, 3]] = shared[source]
    arrays = []
    for index, (factor_layout, _, ids) in enumerate(parts):
        count = max(1, ids.shape[2] // len(scales.pointers))  # factors of a row that one instruction reads
        blocks, halves = len(scales.steps[index]), bool(index) and scales.halves
        rows, rows_of_bytes = factor_layout.mn // blocks, []
        for k in range(len(scales.pointers)):
            reached = [scales.pointer_at(index, block, k) for block in range(blocks)]
            rows_of_bytes.append(
                np.concatenate(
                    [
                        factor_bytes(target_column, rows, count, group=factor_layout.group, halves=halves)
                        for target_column in reached
                    ]
                )
            )
        cell_indices = np.concatenate(rows_of_bytes, axis=1)
        arrays.append(cells[cell_indices[..., 0], cell_indices[..., 1], cell_indices[..., 2]])
    return tuple(arrays)


#: The sparsity selector in an instruction descriptor of a kind without scale factors (PTX ISA 9.1, Table 42).
_SELECTOR_BITS = 0x3
