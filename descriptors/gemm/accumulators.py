"""Choose where a main loop keeps its accumulators: registers (``wgmma``) or columns of tensor memory (``tcgen05``).

Invariant: the registers or columns hold as many elements as a CTA's share of the tile has, for every shape.

>>> from descriptors.gemm.plan_request import main_loop
>>> registers_of(main_loop("m64n128k16", "bf16", tile=(128, 128, 64))).elements
16384
>>> tensor_columns(main_loop("m256n256k32", "e4m3", tile=(256, 256, 128), cta_group=2)).elements
32768
"""

from __future__ import annotations

from descriptors.errors import Advice, DescriptorError, as_integer, proposing
from descriptors.gemm.plan_request import MainLoop, smaller
from descriptors.smem.instructions.rules import type_name
from descriptors.text import counted
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.columns import ColumnPlan, tmem_plan
from descriptors.tmem.geometry import COLUMNS
from descriptors.tmem.readout import Load, Readout, readout
from layoutalg import Fragment, fragment
from layoutalg.frozen import frozen, replace

#: Number of 32-bit registers that a thread can have, and of an SM (CUDA C++ Programming Guide, compute capability 9.0).
THREAD_REGISTERS, SM_REGISTERS = 255, 65536
#: Threads of a warpgroup.
WARPGROUP = 128


@frozen
class Registers:
    """Accumulators in registers. Warpgroup ``i % warpgroups`` has M block i, as in CUTLASS.

    Args:
        fragment: (thread, value) of a warpgroup -> element of one accumulator.
        warpgroups: number of warpgroups that multiply.
        each: number of accumulators of a warpgroup.
        registers: number of registers that a thread needs for all its accumulators.
    """

    fragment: Fragment
    warpgroups: int
    each: int
    registers: int

    @property
    def elements(self) -> int:
        """Number of elements of all accumulators of the CTA."""
        return self.fragment.shape[0] * self.fragment.shape[1] * self.each * self.warpgroups


@frozen
class TensorColumns:
    """Accumulators in tensor memory, and the other columns of the plan.

    Args:
        plan: the use of the columns of a CTA.
        readout: the ``tcgen05.ld`` that reads an accumulator, and the fragment that it leaves in registers.
        firsts: the first column of each accumulator of set 0, M blocks fastest.
        sets: number of sets of accumulators: 2 if one set is read while the other is written.
        step: columns from set 0 to set 1; 0 if there is only one set.
    """

    plan: ColumnPlan
    readout: Readout
    firsts: tuple[int, ...]
    sets: int = 1
    step: int = 0

    @property
    def elements(self) -> int:
        """Number of elements of the CTA's accumulators of one tile."""
        return len(self.readout.loads) * self.readout.threads * self.readout.values * len(self.firsts)

    @property
    def columns(self) -> int:
        """Number of columns of a set."""
        return self.readout.fragment.columns * len(self.firsts)

    @property
    def shared(self) -> range:
        """The columns that both sets use; empty if they share none.

        >>> from descriptors.gemm.plan_request import main_loop
        >>> loop = main_loop("m128n256k64", "e2m1", tile=(128, 256, 256), kind="mxf4")
        >>> tensor_columns(loop, 2).shared, tensor_columns(loop).shared
        (range(232, 256), range(0, 0))
        """
        begin, end = self.firsts[0] + self.step, self.firsts[0] + self.columns
        return range(begin, end) if self.sets > 1 and begin < end else range(0)

    def of(self, number: int) -> TensorColumns:
        """Return one of the sets, by its number, as accumulators with a single set."""
        return replace(self, firsts=tuple(first + number * self.step for first in self.firsts), sets=1, step=0)

    def reads(self, number: int) -> tuple[tuple[tuple[int, Load], ...], int]:
        """Return a warp's loads of a set, those of shared columns first, and the number of loads of shared columns.

        When the loads of shared columns are complete, the next tile may be multiplied into the other set. If the sets
        share no columns, the number is that of all loads.

        Args:
            number: number of the set.

        Returns:
            Pairs of the index of an accumulator and one of its loads, and the number of loads of shared columns.
        """
        firsts, width = self.of(number).firsts, self.readout.move.columns
        loads = [(i, load) for i in range(len(firsts)) for load in self.readout.loads if load.warp == 0]

        def is_unshared(pair: tuple[int, Load]) -> bool:
            index, load = pair
            begin = firsts[index] + load.column
            return begin >= self.shared.stop or begin + width <= self.shared.start

        ordered = sorted(loads, key=is_unshared) if self.shared else loads
        return tuple(ordered), sum(not is_unshared(pair) for pair in loads) if self.shared else len(loads)


def usual_warpgroups(blocks: int) -> int:
    """Return the default number of warpgroups for a number of M blocks.

    >>> list(map(usual_warpgroups, (1, 2, 3, 4)))
    [1, 2, 3, 2]
    """
    return next((part for part in (2, 3) if blocks % part == 0), 1)


def registers_of(loop: MainLoop, warpgroups: int | None = None) -> Registers:
    """Return the registers that hold the accumulators of a tile on sm90.

    Args:
        loop: the instruction and the tile.
        warpgroups: number of warpgroups that multiply; by default 2 or 3 if they divide the M blocks, else 1.

    Raises:
        DescriptorError: if the warpgroups do not divide the M blocks, or there are not enough registers.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> lanes = registers_of(main_loop("m64n256k16", "bf16", tile=(128, 256, 64)))
    >>> lanes.warpgroups, lanes.registers, str(lanes.fragment.layout)
    (2, 128, '((4,8,4),(2,2,32)):((128,1,16),(64,8,512))')
    """
    m, n, _ = loop.blocks
    count = usual_warpgroups(m) if warpgroups is None else warpgroups
    count = as_integer(count, "plan: warpgroups", minimum=1, maximum=8)
    if m % count:
        legal = [part for part in range(min(m, 8), 0, -1) if m % part == 0]
        raise DescriptorError(
            f"plan: the tile has {counted(m, 'M block')}, which {counted(count, 'warpgroup')} cannot share evenly",
            proposals=[Advice({"warpgroups": part}) for part in legal],
        )
    layout_of_d = fragment(f"wgmma.{'sp.' * loop.sparse}{loop.name}.D")
    each = m // count * n
    registers = each * layout_of_d.values * (16 if loop.d == "f16" else 32) // 32
    if loop.a_source == "rmem":
        _check_with_a(loop, registers, m // count)
    about = f"{counted(each, 'accumulator')} of {loop.extents[0]}x{loop.extents[1]} {loop.d} a warpgroup"
    if registers > THREAD_REGISTERS:
        raise DescriptorError(
            f"plan: the accumulators need {registers} registers per thread, but a thread has at most "
            f"{THREAD_REGISTERS}; {about}",
            proposals=roomier(loop, count),
        )
    total = registers * WARPGROUP * count
    if total >= SM_REGISTERS:
        raise DescriptorError(
            f"plan: the accumulators need {total} registers, but an SM has {SM_REGISTERS} for everything; {about}, "
            f"{counted(count, 'warpgroup')}",
            proposals=roomier(loop, count),
        )
    return Registers(layout_of_d, count, each, registers)


def _check_with_a(loop: MainLoop, registers: int, blocks: int) -> None:
    """Check that a thread has registers for A too: four per K block, until the instructions are complete."""
    a_registers = 4 * loop.blocks[2] * blocks
    if registers + a_registers > THREAD_REGISTERS:
        raise DescriptorError(
            f"plan: accumulators and A need {registers} + {a_registers} registers per thread, but a thread has at most "
            f"{THREAD_REGISTERS}; {counted(loop.blocks[2], 'K block')} of {counted(blocks, 'M block')} a warpgroup",
            proposals=roomier(loop, loop.blocks[0] // blocks),
        )


def roomier(loop: MainLoop, warpgroups: int | None = None) -> list[Advice]:
    """Return changes that may need fewer registers, columns or bytes.

    They are more warpgroups, a narrower instruction, and smaller tiles, in this order.

    Args:
        loop: the instruction and the tile.
        warpgroups: number of warpgroups that multiply, on sm90.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> print(*roomier(main_loop("m64n256k16", "bf16", tile=(64, 512, 64)), 1)[:3], sep=" / ")
    instruction=(64, 128, 16) / instruction=(64, 64, 16) / tile=(64, 256, 64)
    """
    rows, columns, deep = loop.extents
    more = [part for part in range((warpgroups or 8) + 1, 9) if loop.blocks[0] % part == 0]
    narrower = [width for width in (columns // 2, columns // 4) if width and columns % width == 0 and width % 8 == 0]
    return [
        *(Advice({"warpgroups": part}) for part in more),
        *(Advice({"instruction": (rows, width, deep)}) for width in narrower),
        *smaller(loop.tile, loop.extents),
    ]


def tensor_columns(loop: MainLoop, sets: int = 1) -> TensorColumns:
    """Return the columns of a tile's accumulators and scale factors on sm100, and the load that reads accumulators.

    Args:
        loop: the instruction and the tile.
        sets: number of sets of accumulators; with 2, one is written while the other is read. They share columns if
            tensor memory is too small for both.

    Raises:
        DescriptorError: if there are not enough columns.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> columns = tensor_columns(main_loop("m128n256k16", "bf16", tile=(256, 256, 64)))
    >>> columns.firsts, columns.plan.allocate, columns.readout.move.ptx
    ((0, 256), 512, 'tcgen05.ld.sync.aligned.32x32b.x128.b32')
    """
    (m, n, _), count = loop.extents, loop.blocks[0] * loop.blocks[1]
    scale_dtype, vector = loop.scale or (None, None)
    each = accumulator(
        m,
        n,
        loop.d,
        cta_group=loop.cta_group,
        sparse=loop.sparse,
        kind=loop.kind,
        legality=loop.legality,
        arch=loop.arch,
    ).columns
    if each * count > COLUMNS:
        raise DescriptorError(
            f"plan: the accumulators need {each * count} columns of tensor memory, there are {COLUMNS}; "
            f"{counted(count, 'accumulator')} of {counted(each, 'column')}",
            proposals=[Advice({"instruction": (2 * m, *loop.extents[1:])}), *roomier(loop)],
        )
    with proposing([*([Advice({"accumulators": 1})] if sets > 1 else []), *roomier(loop)]):
        plan = tmem_plan(
            m, n, loop.tile[2], type_name(loop.a), loop.d, b_dtype=type_name(loop.b), kind=loop.kind,
            cta_group=loop.cta_group, scale_dtype=scale_dtype, scale_vector=vector, blocks=loop.blocks[:2],
            sparse=loop.sparse, legality=loop.legality, arch=loop.arch, accumulators=sets, overlapping=sets > 1,
        )  # fmt: skip
    parts = plan.parts[:count]
    d_fragment = parts[0].fragment
    assert d_fragment is not None
    step = plan.parts[count].column if sets > 1 else 0
    columns = TensorColumns(
        plan, readout(d_fragment, "32x32b"), tuple(part.column for part in parts), sets=sets, step=step
    )
    return _with_narrow_loads(columns, loop) if columns.shared else columns


def _with_narrow_loads(columns: TensorColumns, loop: MainLoop) -> TensorColumns:
    """Return sets that share columns with a load so narrow that few loads read shared columns.

    Raises:
        DescriptorError: if every load reads a shared column; then nothing could be multiplied while a set is read.
    """
    width = columns.readout.fragment.columns
    repeat = next(repeat for repeat in (32, 16, 8, 4, 2, 1) if width % repeat == 0)
    narrow = replace(columns, readout=readout(columns.readout.fragment, f"32x32b.x{repeat}"))
    loads, shared_loads = narrow.reads(0)
    if shared_loads == len(loads):
        raise DescriptorError(
            f"plan: the two sets of accumulators share {len(columns.shared)} of {columns.columns} columns, so that "
            "every load reads a shared one and no multiplication runs while a set is read",
            proposals=[Advice({"accumulators": 1}), *roomier(loop)],
        )
    return narrow
