"""Shared memory of one CTA while a plan is simulated: which element lies where, and what a word makes of it.

An element is known by a number, so that reading the wrong one is seen even where both hold the same value; 0 is a place
where nothing begins. Places are counted in 4 bits, the smallest element.

Law: what the copies write, the words read.

>>> from descriptors.plans.parts.asked import asked
>>> from descriptors.plans.parts.operands import operand
>>> a = operand(asked("m64n8k16", "bf16", tile=(64, 8, 32)), "A", 1)
>>> import numpy as np
>>> held, numbers = empty(), np.arange(1, 64 * 32 + 1).reshape(1, 64, 32)
>>> fill(held, a, numbers)
>>> (fetch(held, a, [0, 0]) == numbers).all()
np.True_
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from descriptors.operands.operand import Major
from descriptors.plans.parts.fragments import ROWS, LoadedOperand
from descriptors.plans.parts.operands import StagedOperand
from descriptors.plans.parts.scales import Scales
from descriptors.proof.addresses import address_bits, fetched_addresses
from descriptors.proof.fragment_model import ldmatrix_bytes, wgmma_a_elements
from descriptors.proof.landing_model import landing
from descriptors.proof.read_model import read_addresses
from descriptors.proof.scale_model import factor_bytes
from descriptors.words.address import WINDOW_BYTES
from layoutalg import offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLACE_BITS = 4


def empty() -> NDArray[Any]:
    """The memory with nothing in it: a number for each 4 bits that a start address can name."""
    import numpy as np

    return np.zeros(WINDOW_BYTES * 8 // _PLACE_BITS, dtype=np.int64)


def fill(memory: NDArray[Any], one: StagedOperand, numbers: NDArray[Any]) -> None:
    """Let the copies of an operand land: every stage, by the copy model.

    Args:
        memory: what ``empty`` returned; it is written.
        one: the operand.
        numbers: of its elements: axes (stage, MN, K).
    """
    (mn, k), stage, landed = one.tma.copied(one.base)
    memory[landed // _PLACE_BITS] = numbers[stage, mn, k]


def fetch(memory: NDArray[Any], one: StagedOperand, transposed: Sequence[int]) -> NDArray[Any]:
    """What the words of an operand make the tensor core read, by the read model: axes (stage, MN, K).

    Args:
        memory: the memory.
        one: the operand.
        transposed: the transpose bit that the instruction of each K block has.
    """
    import numpy as np

    places = addresses(one, transposed)
    inside = places < memory.size
    found: NDArray[Any] = np.where(inside, memory[np.where(inside, places, 0)], 0)
    return found


def taken(memory: NDArray[Any], one: StagedOperand, loads: LoadedOperand) -> NDArray[Any]:
    """What the instruction takes for A from the registers that the loads filled: axes (stage, M, K).

    Args:
        memory: the memory.
        one: A.
        loads: how it gets into registers.
    """
    import numpy as np

    places = register_bytes(loads, one) * 8 // _PLACE_BITS
    held, at = memory[places], wgmma_a_elements(loads.each)
    found = np.zeros((*held.shape[:3], ROWS, one.derivation.mma[1]), dtype=np.int64)
    found[..., at[..., 0], at[..., 1]] = held
    stages, blocks, k, rows, columns = found.shape
    return found.transpose(0, 1, 3, 2, 4).reshape(stages, blocks * rows, k * columns)


def register_bytes(made: LoadedOperand, side: StagedOperand) -> NDArray[Any]:
    """The address that each element of each register comes from, by the plan's own loads.

    Returns:
        Bytes of shared memory: axes (stage, M block, K block, thread, register, element).
    """
    import numpy as np

    d = side.derivation
    width = d.element.storage_bits // 8
    table = side.base + offsets(d.smem_tile).reshape(*d.tile[:2], -1).astype(np.int64) * width
    tiles = table.reshape(-1, ROWS, made.blocks, d.mma[1], table.shape[2])
    if made.loads == 1:
        row, column = np.array([made.pointer(t) for t in range(made.fragment.threads)]).T
        trans = ".trans" in made.move
        at = tiles[:, row, :, column].transpose(3, 1, 2, 0)  # (stage, M block, K block, thread)
        return np.array([[[ldmatrix_bytes(k, made.each, trans=trans) for k in m] for m in stage] for stage in at])
    elements = offsets(made.fragment.layout)
    at = tiles[:, elements % ROWS, :, elements // ROWS].transpose(4, 2, 3, 0, 1)
    return at.reshape(*at.shape[:4], -1, made.each)


def addresses(one: StagedOperand, transposed: Sequence[int]) -> NDArray[Any]:
    """The place that each element is read from, in 4 bits: axes (stage, MN, K)."""
    import numpy as np

    d, blocks = one.derivation, []
    pairs = [(s, i) for s in range(len(one.stage_steps)) for i in range(len(one.mn_steps))]
    for k, bit in zip(range(len(one.k_steps)), transposed, strict=True):
        words = [one.word_at(i, k, s) for s, i in pairs]
        major = Major.MN if bit else Major.K
        read = fetched_addresses(words, arch=d.arch, element=d.element, major=major, shape=d.mma)
        blocks.append(read.reshape(len(one.stage_steps), -1, d.mma[1]))
    return np.concatenate(blocks, axis=2).astype(np.int64) * address_bits(d.element) // _PLACE_BITS


def factors(scales: Scales, numbers: tuple[NDArray[Any], NDArray[Any]], stage: int) -> tuple[NDArray[Any], ...]:
    """What the K blocks of a stage take as factors of A and of B, after the stage's copies: axes (row, factor of K).

    Args:
        scales: the scale factors.
        numbers: of those of A and of B: axes (stage, row, factor of K).
        stage: which stage.
    """
    import numpy as np

    shared = np.zeros(WINDOW_BYTES, dtype=np.int64)
    parts = list(zip((scales.a, scales.b), scales.bases, numbers, strict=True))
    for one, base, ids in parts:
        places = offsets(one.memory)[: one.mn, : one.k : one.vector]
        for each in range(len(ids)):
            shared[base + each * one.bytes + places] = ids[each]
    cells = np.zeros((128, 512, 4), dtype=np.int64)
    copies = [one.copy for one in (scales.a, scales.b) for _ in one.steps]
    for copy, (word, column) in zip(copies, scales.copies(stage), strict=True):
        landed = np.array([(r, w, lane, at) for r, w, (lane, at) in landing(copy, lane=0, column=column)])
        read = read_addresses(word, "sm100", dtype="u8", major="K", shape=(int(landed[:, 0].max()) + 1, 16))
        source = read[landed[:, 0, None], 4 * landed[:, 1, None] + np.arange(4)]
        cells[landed[:, 2], landed[:, 3]] = shared[source]
    found = []
    for index, (one, _, ids) in enumerate(parts):
        count = ids.shape[2] // len(scales.pointers)
        taken = [
            factor_bytes(pair[index], one.mn, count, halves=bool(index) and scales.halves) for pair in scales.pointers
        ]
        where = np.concatenate(taken, axis=1)
        found.append(cells[where[..., 0], where[..., 1], where[..., 2]])
    return tuple(found)
