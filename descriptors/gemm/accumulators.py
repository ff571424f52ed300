"""Where a main loop keeps what it adds up: registers of ``wgmma``, or columns of tensor memory and what reads them.

Law: registers and columns hold as many elements as a CTA's share of the tile has, whatever the shape.

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

#: 32-bit registers that one thread can have, and that an SM has (CUDA C++ Programming Guide, compute capability 9.0).
THREAD_REGISTERS, SM_REGISTERS = 255, 65536
#: Threads of a warpgroup.
WARPGROUP = 128


@frozen
class Registers:
    """Accumulators in registers; M block i is of warpgroup ``i % warpgroups``, as CUTLASS deals them out.

    Args:
        fragment: (thread, value) of a warpgroup -> element of one accumulator.
        warpgroups: that multiply.
        each: accumulators that each of them keeps.
        registers: of a thread, for all its accumulators.
    """

    fragment: Fragment
    warpgroups: int
    each: int
    registers: int

    @property
    def elements(self) -> int:
        """Elements of all accumulators of the CTA."""
        return self.fragment.shape[0] * self.fragment.shape[1] * self.each * self.warpgroups


@frozen
class TensorColumns:
    """Accumulators in tensor memory, with all else that takes columns.

    Args:
        plan: what lies in which columns of a CTA.
        readout: the ``tcgen05.ld`` that reads an accumulator, and what its registers then hold.
        firsts: the first column of each accumulator, M blocks fastest.
        sets: how often all of them are there: 2 where one set is read while the other is written.
        step: columns from a set to the next; 0 of one.
    """

    plan: ColumnPlan
    readout: Readout
    firsts: tuple[int, ...]
    sets: int = 1
    step: int = 0

    @property
    def elements(self) -> int:
        """Elements of all accumulators of a tile that the CTA has."""
        return len(self.readout.loads) * self.readout.threads * self.readout.values * len(self.firsts)

    @property
    def columns(self) -> int:
        """Columns of a set."""
        return self.readout.fragment.columns * len(self.firsts)

    @property
    def shared(self) -> range:
        """The columns that both sets have; none where each has its own.

        >>> from descriptors.gemm.plan_request import main_loop
        >>> loop = main_loop("m128n256k64", "e2m1", tile=(128, 256, 256), kind="mxf4")
        >>> tensor_columns(loop, 2).shared, tensor_columns(loop).shared
        (range(232, 256), range(0, 0))
        """
        begin, end = self.firsts[0] + self.step, self.firsts[0] + self.columns
        return range(begin, end) if self.sets > 1 and begin < end else range(0)

    def of(self, number: int) -> TensorColumns:
        """A set alone, by its number."""
        return replace(self, firsts=tuple(first + number * self.step for first in self.firsts), sets=1, step=0)

    def reads(self, number: int) -> tuple[tuple[tuple[int, Load], ...], int]:
        """The loads of a warp of a set, (accumulator, load), those of shared columns first; and how many those are.

        Once they are done the next tile may be multiplied, into the other set. Where each set has its own columns, all
        of them count.

        Args:
            number: of the set.
        """
        one, width = self.of(number), self.readout.move.columns
        loads = [(i, load) for i in range(len(one.firsts)) for load in self.readout.loads if load.warp == 0]

        def apart(each: tuple[int, Load]) -> bool:
            begin = one.firsts[each[0]] + each[1].column
            return begin >= self.shared.stop or begin + width <= self.shared.start

        ordered = sorted(loads, key=apart) if self.shared else loads
        return tuple(ordered), sum(not apart(each) for each in loads) if self.shared else len(loads)


def usual_warpgroups(blocks: int) -> int:
    """How many warpgroups share so many M blocks, where nobody says it.

    >>> list(map(usual_warpgroups, (1, 2, 3, 4)))
    [1, 2, 3, 2]
    """
    return next((part for part in (2, 3) if blocks % part == 0), 1)


def registers_of(loop: MainLoop, warpgroups: int | None = None) -> Registers:
    """The registers that the accumulators of a tile take on sm90.

    Args:
        loop: the instruction and the tile.
        warpgroups: that multiply; 2 or 3 if they divide the M blocks, else 1, if left out.

    Raises:
        DescriptorError: if the warpgroups do not divide the M blocks, or registers are short.

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
            f"plan: the accumulators need {registers} registers a thread, a thread has at most {THREAD_REGISTERS}; "
            f"{about}",
            proposals=roomier(loop, count),
        )
    total = registers * WARPGROUP * count
    if total >= SM_REGISTERS:
        raise DescriptorError(
            f"plan: the accumulators need {total} registers, an SM has {SM_REGISTERS} for everything; {about}, "
            f"{counted(count, 'warpgroup')}",
            proposals=roomier(loop, count),
        )
    return Registers(layout_of_d, count, each, registers)


def _check_with_a(loop: MainLoop, registers: int, blocks: int) -> None:
    """Refuse accumulators that leave no registers for A: four a K block, kept until the instructions are done."""
    of_a = 4 * loop.blocks[2] * blocks
    if registers + of_a > THREAD_REGISTERS:
        raise DescriptorError(
            f"plan: accumulators and A need {registers} + {of_a} registers a thread, a thread has at most "
            f"{THREAD_REGISTERS}; {counted(loop.blocks[2], 'K block')} of {counted(blocks, 'M block')} a warpgroup",
            proposals=roomier(loop, loop.blocks[0] // blocks),
        )


def roomier(loop: MainLoop, warpgroups: int | None = None) -> list[Advice]:
    """Return what may need fewer registers, columns or bytes: more warpgroups, a narrower instruction, smaller tiles.

    Args:
        loop: the instruction and the tile.
        warpgroups: warpgroups that multiply, on sm90.

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
    """The columns that the accumulators, and scale factors, of a tile take on sm100, and the load that reads them.

    Args:
        loop: the instruction and the tile.
        sets: 2 for accumulators that are written while others are read. They share columns where all do not fit.

    Raises:
        DescriptorError: if columns are short.

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
    lanes_of_d = parts[0].fragment
    assert lanes_of_d is not None
    step = plan.parts[count].column if sets > 1 else 0
    held = TensorColumns(
        plan, readout(lanes_of_d, "32x32b"), tuple(part.column for part in parts), sets=sets, step=step
    )
    return _released_early(held, loop) if held.shared else held


def _released_early(held: TensorColumns, loop: MainLoop) -> TensorColumns:
    """Sets that share columns, read in steps so small that those columns are soon done.

    Raises:
        DescriptorError: if every load reads one of them: then nothing is multiplied while a set is read.
    """
    width = held.readout.fragment.columns
    num = next(num for num in (32, 16, 8, 4, 2, 1) if width % num == 0)
    finer = replace(held, readout=readout(held.readout.fragment, f"32x32b.x{num}"))
    loads, first = finer.reads(0)
    if first == len(loads):
        raise DescriptorError(
            f"plan: the two sets of accumulators share {len(held.shared)} of {held.columns} columns, so that every "
            "load reads a shared one and nothing is multiplied while a set is read",
            proposals=[Advice({"accumulators": 1}), *roomier(loop)],
        )
    return finer
