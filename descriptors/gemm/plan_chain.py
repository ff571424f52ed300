"""Build the chain of a plan: its copies, layouts, descriptors and accumulators, from global memory to global memory.

A tensor of the chain has the extents of all stages of a tile together, one after the other along K. Each CTA of a pair
has legs of its own. The results end in rows of global memory, as the programs of a plan store them. Scale factors have
a leg for each stage, because all stages use the same columns of tensor memory; in global memory their bytes are in the
order of a stage, tile after tile. C through shared memory has a leg for each piece, because pieces reuse the same
buffers. The matrix that is added to the sums has a leg from its rows to the registers of the accumulators; the module
``descriptors.gemm.result_legs`` builds it. Metadata have no leg; the proof of the product covers them.

Invariant: the chain of a plan is proved, and the chain of a plan with a wrong descriptor is not.

>>> from layoutalg.frozen import replace
>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, b_major="MN", verify=False)
>>> print(example.chain.verify().headline)
proved: A 4096 elements through tensor, tma, layout, word; B 1024 elements through tensor, tma, layout, word; D 1024 \
elements through wgmma.m64n16k16.D, store, tensor
>>> print(replace(example, b=replace(example.b, k_steps=(0, 2))).chain.verify().headline)
wrong: B, link 4, word: layout has (0,16) at byte 0x2200, word reads it from byte 0x2020, where (0,1) is; 512 of \
1024 elements
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from descriptors.gemm.accumulators import Registers
from descriptors.gemm.chain import Chain, Leg, Link
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.memory_links import BulkCopy, ConvolutionTensor, SharedLayout, TensorCopy, TensorLayout, Words
from descriptors.gemm.places import GLOBAL, SHARED, TENSOR, Home, Move, Tile
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.register_links import FragmentLink, MatrixMove, ThreadCopy
from descriptors.gemm.result_legs import padded, result_legs
from descriptors.gemm.tensor_links import COLUMN_BITS, CellCopy, FactorReads
from descriptors.smem.operands.operand import Major, as_element_type
from descriptors.smem.tma.tma_plan import Dimension
from descriptors.smem.words.tensor_map import TensorMap, as_data_type
from descriptors.tmem.copies import tmem_copy
from layoutalg import Layout, group_modes, offsets, select, size
from layoutalg.frozen import frozen


def chain_of(plan: PlannedLoop) -> Chain:
    """Return the chain of a plan; the legs of a convolution are those of a step of the first tile.

    Args:
        plan: the plan.
    """
    loop, legs, implicit = plan.asked, [], plan.implicit
    for index, side in enumerate((plan.a, plan.b)):
        for cta in range(loop.cta_group):
            name = side.matrix + (f" of CTA {cta}" if loop.cta_group > 1 else "")
            d = side.derivation
            if implicit is None:
                tile = (d.tile[0], d.tile[1] * plan.stages)
                links = tuple(_operand_links(plan, index, side, cta))
            else:
                tile, links = (d.tile[0], d.tile[1]), tuple(_step_links(plan, implicit, index, cta))
            if links:
                legs.append(Leg(name, tile, d.element, links))
    missing: tuple[str, ...] = ("E",) if plan.metadata is not None else ()
    if plan.scales is not None:
        legs += _factor_legs(plan, plan.scales)
    legs += result_legs(plan)
    return Chain(tuple(legs), loop.arch, missing)


def _operand_links(plan: PlannedLoop, index: int, side: StagedOperand, cta: int) -> Iterator[Link]:
    d, stages = side.derivation, plan.stages
    ctas = plan.asked.cta_group
    rows, columns = d.tile[0], d.tile[1] * stages
    extents = (rows * ctas, columns)
    steps = (1, padded(extents[0])) if d.major is Major.MN else (padded(columns), 1)
    # A CTA of a pair has every other run of the rows.
    run = min(side.run, rows)
    of_cta = Layout(((run, rows // run), columns), ((steps[0], steps[0] * run * ctas), steps[1]))
    yield TensorLayout(of_cta, cta * side.run * steps[0] * d.element.bits // 8)
    boxes = tuple(
        (_coordinates(side, index_, cta), side.base + box.offset_bytes) for index_, box in enumerate(side.tma.boxes)
    )
    yield TensorCopy(_map(side, extents, steps), boxes, major=d.major)
    layout = SharedLayout(group_modes(d.smem_tile, 1, 3), side.base)
    yield layout
    bits = plan.transposed(index)
    if plan.loads is not None and side.matrix == "A":
        yield from _loads(plan)
        return
    advance = tuple(k + stage for stage in side.stage_steps for k in side.k_steps)
    yield Words(side.word, d.mma, (side.mn_steps, advance), Major.MN if bits[0] else Major.K, layout, legality="off")


def _factor_legs(plan: PlannedLoop, scales: Scales) -> Iterator[Leg]:
    """Yield the legs of the scale factors of each operand, stage by stage, for the rows of A of one CTA."""
    sides = zip(("SFA", "SFB"), (scales.a, scales.b), scales.bases, scales.columns, strict=True)
    element = as_element_type("u8")
    for index, (name, factors, base, column) in enumerate(sides):
        tile = (factors.mn, factors.k // factors.vector)
        pointers = tuple(
            tuple(scales.pointer_at(index, block, k) for k in range(len(scales.pointers)))
            for block in range(len(scales.steps[index]))
        )
        count = max(1, tile[1] // len(scales.pointers))
        each, halves = len(scales.pointers) * count // tile[1], scales.halves and bool(index)
        reads = FactorReads(pointers, count, each, halves, factors.group)
        first = index * len(scales.a.steps)
        for stage in range(plan.stages):
            copies = scales.copies(stage)[first : first + len(factors.steps)]
            stage_offset = stage * factors.bytes
            words = Words(copies[0][0], (1, 1), ((0,), tuple(word - copies[0][0] for word, _ in copies)), Major.K)
            copy = CellCopy(tmem_copy(factors.copy), words, tuple(to for _, to in copies), len(copies))
            links: tuple[Link, ...] = (
                FactorPlaces("tensor", factors.memory, factors.vector, stage_offset),
                BulkCopy(factors.bytes, stage_offset, base + stage_offset),
                FactorPlaces("layout", factors.memory, factors.vector, base + stage_offset),
                copy,
                FactorPlaces("cells", factors.cells.layout, factors.vector, column),
                reads,
            )
            yield Leg(f"{name} of stage {stage}", tile, element, links)


@frozen
class FactorPlaces:
    """A chain link: the scale factors of a tile, in a layout that may be larger and has an offset for every element.

    Args:
        noun: ``tensor`` for global memory, ``layout`` for shared memory, or ``cells`` for tensor memory.
        layout: (row, k) or (row, k, copy) to a byte.
        vector: elements along K that share a factor.
        first: address of byte 0, or the first column.
    """

    noun: str
    layout: Layout
    vector: int
    first: int
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.layout)

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        import numpy as np

        extents = [int(size(self.layout, mode=[i])) for i in range(len(self.layout))]
        table = offsets(self.layout).astype(np.int64).reshape(*extents[:2], -1)
        table = table[: tile.rows, : self.vector * tile.columns : self.vector] * tile.element.storage_bits
        places = table + (self.first << COLUMN_BITS if self.noun == "cells" else 8 * self.first)
        space = {"tensor": GLOBAL, "layout": SHARED, "cells": TENSOR}[self.noun]
        yield Home(space, np.repeat(tile.all().ravel(), table.shape[2]), places.ravel())


def _step_links(plan: PlannedLoop, implicit: ImplicitGemm, index: int, cta: int) -> Iterator[Link]:
    """Yield the links of the first step of a convolution's first tile that reads an element; none if no step does."""
    side, layer = (plan.a, plan.b)[index], implicit.convolution
    tile = Tile(side.derivation.tile[0], side.derivation.tile[1], side.derivation.element)
    run = side.run if side.run < tile.rows else 0
    tensors = (
        ConvolutionTensor(layer, side.matrix != layer.operand, side.first_row(side.boxes[0], cta), tap, run=run)
        for tap in range(layer.taps[0] * layer.taps[1])
    )
    tensor = next((tensor for tensor in tensors if len(tensor.memory(tile).elements)), None)
    if tensor is None:
        return
    yield tensor
    rows = [(side.first_row(box, cta), box) for box in side.boxes]
    step = tensor.tap * implicit.blocks
    boxes = tuple(
        (implicit.place(side.matrix, step, row, box.origin[1]), side.base + box.offset_bytes) for row, box in rows
    )
    yield TensorCopy(implicit.of(side.matrix), boxes)
    layout = SharedLayout(select(side.derivation.smem_tile, (0, 1)), side.base)
    yield layout
    if plan.loads is not None and side.matrix == "A":
        yield from _loads(plan)
        return
    yield Words(side.word, side.derivation.mma, (side.mn_steps, side.k_steps), Major.K, layout, legality="off")


def _coordinates(side: StagedOperand, index: int, cta: int) -> tuple[int, ...]:
    """Return the coordinates of a box in the tensor, in which the stages follow one another along K."""
    box, k = side.tma.boxes[index], side.derivation.tile[1]
    pairs = zip(side.tma.dimensions, side.coordinates(box, cta), strict=True)
    return tuple(
        position + (box.stage * k // dimension.step if dimension.mode == 1 and dimension.extent is None else 0)
        for dimension, position in pairs
    )


def _map(side: StagedOperand, extents: tuple[int, int], steps: tuple[int, int]) -> TensorMap:
    """Return the tensor map of the copies for a tensor with the given extents and steps, in elements."""
    tma = side.tma

    def extent(dimension: Dimension) -> int:
        return dimension.extent if dimension.extent is not None else -(-extents[dimension.mode] // dimension.step)

    return TensorMap(
        as_data_type(tma.data_type_code),
        0,
        tuple(extent(dimension) for dimension in tma.dimensions),
        tuple(steps[dimension.mode] * dimension.step * tma.element.bits // 8 for dimension in tma.dimensions[1:]),
        tma.box,
        (1,) * len(tma.dimensions),
        swizzle=tma.swizzle_code,
    )


def _loads(plan: PlannedLoop) -> Iterator[Link]:
    """Yield the links of A from shared memory into registers."""
    loads, accumulators = plan.loads, plan.accumulators
    assert loads is not None and isinstance(accumulators, Registers)
    groups = (accumulators.warpgroups, 1)
    if loads.move.startswith("ldmatrix"):
        name = f"ldmatrix.x4{'.trans' if '.trans' in loads.move else ''}"
        yield MatrixMove(name, (4 * groups[0], 1), raked=True)
    else:
        yield ThreadCopy("load", FragmentLink(loads.fragment, groups, raked=True))
    yield FragmentLink(loads.fragment, groups, raked=True)
