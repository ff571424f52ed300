"""The bytes of shared memory and the cells of tensor memory that an MMA instruction accesses.

Lanes of tensor memory are counted in groups (``GROUP`` lanes), columns individually.

Source: PTX ISA 9.1, wgmma and tcgen05: Matrix Descriptor; tcgen05: Data Path Layout Organization, tcgen05.cp; ``smem``
and ``tmem`` define which bytes and cells these are.

Invariant: an operand is read where its descriptor says; a descriptor with another start address moves the bytes by as
much.

>>> runs = operand_runs(0x4000004000010000, "sm90", "bf16", "K", (64, 16), 0)
>>> operand_runs(0x4000004000010000 + 0x40, "sm90", "bf16", "K", (64, 16), 0) == [(a + 1024, b + 1024) for a, b in runs]
True
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from descriptors.check.execution.launch import RANK
from descriptors.check.execution.tensor_memory import GROUP, GROUPS
from descriptors.check.ptx.ptx_module import Instruction as Load
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import Instruction
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.proof.read_model import read_rows
from descriptors.smem.words.descriptor import smem_word, start_mask, with_version
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.moves import MOST, TmemMove, tmem_move
from descriptors.tmem.operand_cells import operand_a

#: Bytes after which every swizzle pattern repeats.
_PATTERN = 1024


@lru_cache(maxsize=512)
def footprint(word: int, arch: str, dtype: str, major: str, shape: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Return the ranges of bytes of an operand, relative to the start address rounded down to 1024.

    >>> footprint(0x4000004000010000, "sm90", "bf16", "K", (64, 16))
    ((0, 8192),)
    """
    rows = read_rows(word, arch, dtype=dtype, major=major, shape=shape)
    line = line_bytes(word, arch)
    lines = sorted({address // line for row in rows for address in row})
    runs: list[tuple[int, int]] = []
    for number in lines:
        if runs and runs[-1][1] == number * line:
            runs[-1] = (runs[-1][0], (number + 1) * line)
        else:
            runs.append((number * line, (number + 1) * line))
    return tuple(runs)


def operand_runs(
    word: int, arch: str, dtype: str, major: str, shape: tuple[int, int], rank: int
) -> list[tuple[int, int]] | None:
    """Return the ranges of shared-memory bytes of an operand; None if the descriptor describes none.

    Args:
        word: the 64 bits of the descriptor.
        arch: ``sm90``, ``sm100`` or ``sm107``.
        dtype: type as stored in shared memory.
        major: ``K`` or ``MN``.
        shape: MN and K that are read from the memory of one CTA.
        rank: rank of that CTA.
    """
    try:
        start = smem_word(arch).decode(word)["start_address"]
        low = start % _PATTERN
        runs = footprint(with_version(word, arch) & ~start_mask(arch) | low >> 4, arch, dtype, major, shape)
    except DescriptorError:
        return None
    base = start - low | rank << RANK
    return [(base + a, base + b) for a, b in runs]


def line_bytes(word: int, arch: str) -> int:
    """Return the bytes of a line, within which a swizzle moves 16-byte chunks; 16 without a swizzle.

    >>> line_bytes(0x4000004000010000, "sm90"), line_bytes(0, "sm100")
    (128, 16)
    """
    mode = smem_word(arch).decode(word)["swizzle"]
    return mode.span_bytes if isinstance(mode, SwizzleMode) else 16


class Cells(NamedTuple):
    """Cells of tensor memory: groups of lanes, and a number of columns."""

    groups: frozenset[int]
    columns: int


def groups_of(lanes: Iterable[int]) -> frozenset[int]:
    """Return the groups of lanes, without lanes beyond the last.

    >>> sorted(groups_of(range(112, 144)))
    [7]
    """
    return frozenset(lane // GROUP for lane in lanes if lane // GROUP in GROUPS)


@lru_cache(maxsize=256)
def cells_of_a(m: int, k: int, dtype: str, cta_group: int, sparse: bool, lane: int) -> Cells:
    """Return the cells of A in tensor memory, from the lane of its address on.

    Raises:
        DescriptorError: if the instruction has no A in tensor memory.
    """
    cells = operand_a(m, k, dtype, cta_group=cta_group, sparse=sparse)
    rest = [0] * (len(cells.modes) - 2)
    lanes = {cells.cell(row, 0, *rest).lane + lane for row in range(m // cta_group)}
    if rest:  # the other half of the lanes has a second copy
        lanes |= {lane + 4 * GROUP for lane in lanes}
    return Cells(groups_of(lanes), cells.columns)


@lru_cache(maxsize=256)
def cells_of_d(instruction: Instruction, lane: int) -> Cells | None:
    """Return the cells of the accumulator of an instruction, from the lane of its address on; None if it has none."""
    try:
        layout = accumulator(
            instruction.m,
            instruction.n,
            instruction.d_dtype,
            cta_group=instruction.cta_group,
            ws=instruction.ws,
            sparse=instruction.sparse,
            kind=instruction.kind,
            arch=instruction.arch,
            legality="lenient",
        )
    except (DescriptorError, TypeError):
        return None
    lanes, columns = set(), 0
    for row in range(instruction.m // instruction.cta_group):
        for column in {0, instruction.n // 2 - 1, instruction.n // 2, instruction.n - 1}:
            cell = layout.cell(row, column)
            lanes.add(cell.lane + lane)
            columns = max(columns, cell.column + 1)
    return Cells(groups_of(lanes), columns)


def columns_of_scales(instruction: Instruction) -> tuple[int, int]:
    """Return how many columns the scale factors of A and of B are read from, from the columns of their addresses on.

    Four factors of a row are a column; the next four are after those of all rows, of which there are 128 or 256.

    >>> columns_of_scales(Instruction("mxf8f6f4", "e4m3", "e4m3", "f32", m=128, n=192, k=32))
    (4, 6)
    >>> columns_of_scales(Instruction("mxf4nvf4", "e2m1", "e2m1", "f32", m=128, n=192, k=128, scale_vector=16))
    (8, 14)
    """
    apart = instruction.cta_group == 2 and instruction.m == 128  # the halves of N are in different lanes
    rows = instruction.m // instruction.cta_group, instruction.n // (2 if apart else 1)
    # For mxf8f6f4 with K 64 the manual has one factor and NVIDIA's code has two: one is read in either case.
    factors = (
        1
        if instruction.kind == "mxf8f6f4"
        else instruction.k // (1 + instruction.sparse) // (instruction.scale_vector or 32)
    )
    behind = (((first + factors - 1) // 4) for first in (instruction.sfa_id, instruction.sfb_id))
    a, b = (
        -(-count // 128) * 4 * scale_columns - (-count // 32) for count, scale_columns in zip(rows, behind, strict=True)
    )
    return a, b


def move_of(load: Load) -> TmemMove | None:
    """Return the move of a ``tcgen05.ld`` or ``st`` by shape and repetitions; None if there is no such shape.

    An instruction that also reduces or compresses reads the same cells.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> of = "tcgen05.ld.red.spcompress.sync.aligned.32x32b.x8.max.sp::2:4.f32.b2"
    >>> move_of(Load(1, of, operands("{m}, {a,b,c,d}, r, [t]"))).columns
    8
    """
    offset = next((o for o in load.operands if isinstance(o, int)), None)
    return _move(load.opcode, offset)


@lru_cache(maxsize=256)
def _move(opcode: str, offset: int | None) -> TmemMove | None:
    words = opcode.split(".")
    shape = next((w for w in words if w in MOST), "")
    repeat = next((w for w in words if w[:1] == "x" and w[1:].isdigit()), "")
    packed = next((f".{w}" for w in words if w.endswith("pack::16b")), "")
    try:
        return tmem_move(f"{shape}.{repeat}{packed}", words[1], offset=offset if shape == "16x32bx2" else None)
    except DescriptorError:
        return None


@lru_cache(maxsize=16)
def source_of_copy(name: str) -> tuple[int, int]:
    """Return the rows of the source of a copy, and the bytes of a row.

    >>> source_of_copy("32x128b.warpx4")
    (32, 16)

    Raises:
        DescriptorError: if there is no such copy.
    """
    copy = tmem_copy(name)
    return copy.rows, copy.bits // 8


@lru_cache(maxsize=16)
def cells_of_copy(name: str) -> Cells:
    """Return the groups of lanes that a copy writes completely, and its columns.

    >>> cells_of_copy("128x256b").columns, len(cells_of_copy("4x256b").groups)
    (8, 0)

    Raises:
        DescriptorError: if there is no such copy.
    """
    copy = tmem_copy(name)
    lanes = {copy.cells.cell(row, 0, number).lane for row in range(copy.rows) for number in range(copy.copies)}
    groups = {lane // GROUP for lane in lanes if all(lane // GROUP * GROUP + i in lanes for i in range(GROUP))}
    return Cells(frozenset(groups), copy.columns)
