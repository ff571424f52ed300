"""Cases from derivations: points of the sm90 lattice, drawn at random, for the product probe and the copy-engine probe.

The addresses are those of the derivation's shared-memory tile, the words its descriptor and its advance, the boxes its
plan of tensor copies; nothing else goes into a case::

    python -m probes.gemm --name gemm_derived --cases probes.derived:gemm_cases
    python -m probes.gemm --name gemm_b1 --cases probes.derived:b1_cases
    python -m probes.tma --name tma_derived --cases probes.derived:tma_cases
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from descriptors import Derivation, DescriptorError, TmaPlan, derive, tma_plan
from layoutalg import LayoutError, offsets
from probes import tma
from probes.boxes import Boxes
from probes.build import GEMM_N
from probes.cases import Case, Side
from probes.gemm import END, FIRST
from probes.instructions import TYPES, Instruction

SWIZZLES = ("none", "32B", "64B", "128B")
#: What identifies a derivation among the facts of a case.
_KEYS = ("dtype", "tile", "major", "swizzle", "mma", "order")


@lru_cache(maxsize=4096)
def _derivation(*key: Any) -> tuple[Derivation, np.ndarray, np.ndarray] | None:
    """A derivation, its element offsets and its advance in bytes; None where there is none."""
    try:
        found = derive(**dict(zip(_KEYS, key, strict=True)), arch="sm90")
    except LayoutError:
        return None
    return found, offsets(found.smem_tile), np.array(found.offsets_bytes())


def side(facts: dict[str, Any], start: int) -> Side | None:
    """The operand that a point of the lattice describes, at a start address; None where no derivation exists.

    Args:
        facts: dtype, tile, major, swizzle, mma, order; the stage of the tile that is used; the rank of the tensor map
            that brings it, 0 for a plain copy.
        start: absolute address, a multiple of 1024.
    """
    made = _derivation(*(facts[key] for key in _KEYS))
    if made is None:
        return None
    found, element_offsets, advance = made
    size = TYPES[facts["dtype"]][0]
    addresses = start + size * element_offsets.astype(np.int64)
    if len(facts["tile"]) == 3:
        addresses, advance = addresses[:, :, facts["stage"]], advance[:, :, facts["stage"]]
    boxes = None
    if facts["rank"]:
        try:
            plan = tma_plan(found, rank=facts["rank"])
        except DescriptorError:
            return None
        boxes = planned_boxes(plan, facts["tile"][:2], facts["stage"], start)
    return Side(addresses, found.descriptor.at(start).encode(), advance, boxes)


def planned_boxes(
    plan: TmaPlan, matrix: tuple[int, int], stage: int, start: int, origin: tuple[int, int] = (0, 0)
) -> Boxes:
    """A plan's copies of one stage, over a compact matrix.

    Args:
        plan: of the tile.
        matrix: (MN, K) extents of the matrix in elements; the plan's major is the fast one.
        stage: which stage of the tile to fill.
        start: absolute shared-memory address of the tile.
        origin: (MN, K) of the tile's first element in the matrix.
    """
    bits = plan.element.storage_bits
    fast = plan.major.contiguous_mode
    pitch = {fast: 1, 1 - fast: matrix[fast]}  # elements from one index of a mode to the next
    shape = tuple(matrix[one.mode] // one.step if one.extent is None else one.extent for one in plan.dimensions)
    strides = tuple(pitch[one.mode] * one.step * bits // 8 for one in plan.dimensions)
    shifts = tuple(one.index(origin[one.mode]) for one in plan.dimensions)
    places = tuple(
        (*(a + b for a, b in zip(box.coordinates, shifts, strict=True)), start + box.offset_bytes)
        for box in plan.boxes
        if box.stage == stage
    )
    return Boxes(plan.data_type_code, bits, shape, strides[1:], plan.box, plan.swizzle_code, places)


def _draw(random: Random, dtype: str, which: str, n: int, k: int, rank: int) -> dict[str, Any]:
    """A point of the lattice for one operand, with or without a derivation."""
    size, transposes = TYPES[dtype]
    inst = 64 if which == "A" else n
    stages = random.choice((1, 1, 2, 3))
    tile: tuple[int, ...] = (inst * random.choice((1, 1, 2, 3, 4)), k)
    order: tuple[int, ...] = random.choice(((0, 1), (1, 0)))
    if stages > 1:
        tile, order = (*tile, stages), (*order, 2)
    return {
        "dtype": dtype,
        "tile": tile,
        "major": random.choice(("K", "MN")) if transposes else "K",
        "swizzle": random.choice(SWIZZLES),
        "mma": (inst, 32 // size),
        "order": order,
        "stage": random.randrange(stages),
        "rank": rank,
    }


def _random_type(random: Random) -> str:
    return random.choice((*TYPES, "f16", "bf16", "f16", "bf16"))


def _count(default: int) -> int:
    return int(os.environ.get("PROBES_CASES", default))


def gemm_cases(count: int | None = None, seed: int = 1, dtypes: Sequence[str] | None = None) -> Iterator[Case]:
    """Yield random products whose two operands have derivations and fit shared memory together.

    Args:
        count: how many; default 3,500, or what the environment's ``PROBES_CASES`` says.
        seed: of the draw.
        dtypes: the types to draw from; default all, f16 and bf16 three times as often.
    """
    random, made = Random(seed), 0
    while made < (_count(3500) if count is None else count):
        dtype = _random_type(random) if dtypes is None else random.choice(dtypes)
        n = random.choice(GEMM_N)
        k = 32 // TYPES[dtype][0] * random.choice((1, 2, 3, 4, 4, 8))
        ranks = random.choice(((0, 0), (0, 0), (random.randint(2, 5), random.randint(2, 5))))
        a_facts, b_facts = _draw(random, dtype, "A", n, k, ranks[0]), _draw(random, dtype, "B", n, k, ranks[1])
        a = side(a_facts, FIRST)
        if a is None or b_facts["tile"][0] > 256:
            continue
        start = -(-(int(a.addresses.max()) + 4) // 1024) * 1024
        b = side(b_facts, start) if start < END else None
        if b is None or int(b.addresses.max()) + 4 > END:
            continue
        one = Instruction(dtype, n, a_mn=a_facts["major"] == "MN", b_mn=b_facts["major"] == "MN")
        yield Case(f"derived {made}", one, a, b, {"a": a_facts, "b": b_facts})
        made += 1


def b1_cases(count: int | None = None, seed: int = 2) -> Iterator[Case]:
    """Yield ``b1`` products whose tiles, words and advances are those of ``u8`` tiles with an eighth of K."""
    for case in gemm_cases(_count(200) if count is None else count, seed, ("u8",)):
        yield replace(case, name=case.name.replace("derived", "b1"), instruction=replace(case.instruction, dtype="b1"))


def tma_cases(count: int | None = None, seed: int = 1) -> Iterator[tma.Case]:
    """Random tiles with derivations, brought by their plans of tensor copies.

    Where the tensor map has the matrix's own two dimensions, the tile lies anywhere in a larger matrix.

    Args:
        count: how many; default 1,000, or what the environment's ``PROBES_CASES`` says.
        seed: of the draw.
    """
    random, made = Random(seed), 0
    while made < (_count(1000) if count is None else count):
        dtype, n = _random_type(random), random.choice(GEMM_N)
        size = TYPES[dtype][0]
        rank = random.randint(2, 5)
        facts = _draw(random, dtype, random.choice("AB"), n, 32 // size * random.choice((1, 2, 4, 8, 12)), rank)
        one = side(facts, FIRST)
        if one is None or one.boxes is None or int(one.addresses.max()) + size > FIRST + tma.ROOM:
            continue
        plan = tma_plan(_derivation(*(facts[key] for key in _KEYS))[0], rank=rank)  # type: ignore[index]
        tile, origin = facts["tile"][:2], (0, 0)
        matrix = tile
        if all(dimension.step == 1 for dimension in plan.dimensions):
            grain = 16 // size  # along the contiguous dimension, 16 bytes
            steps = (grain, 1) if facts["major"] == "MN" else (1, grain)
            origin = (random.randrange(5) * steps[0], random.randrange(5) * steps[1])
            matrix = (tile[0] + 64, tile[1] + 64)
        boxes = planned_boxes(plan, matrix, facts["stage"], FIRST, origin)
        turn = facts["major"] == "MN"
        addresses = one.addresses.T if turn else one.addresses
        places = (matrix[::-1], origin[::-1]) if turn else (matrix, origin)
        yield tma.Case(f"derived {made}", places[0], size, boxes, places[1], addresses, facts=facts)
        made += 1
