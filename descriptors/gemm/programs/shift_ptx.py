"""Write a tile of a shift convolution in PTX: write zeros to D, execute all steps in order, store D to global memory.

Four warps execute it, and thread 0 issues the steps. The copies of a load, of its refreshed rows and of the filters of
its taps fill one of two stages, which alternate as the columns of A do. A full stage implies that all reads of these
columns are complete, because the stage is refilled only after its empty barrier. The code that fills the stages and
initializes the barriers is not part of the module. The module was assembled, but never run.

Invariant: the steps are in the text in order.

>>> from descriptors.tmem.shift_convolution import shift_convolution
>>> made = shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> names = {"128x256b": "load", "down": "shift", "4x256b": "refresh", "kind::f16": "multiply"}
>>> last = [line.split()[0].split(".")[-1] for line in write(made, "conv").splitlines() if "tcgen05." in line]
>>> [names[one] for one in last if one in names] == [step.kind for step in made.steps() if step.kind != "clear"]
True
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.errors import DescriptorError
from descriptors.gemm.programs.inner_loop_ptx import frame, stage_word, wait
from descriptors.gemm.programs.inner_loop_tcgen05 import allocate, commit, together
from descriptors.smem.derivation.derive import derive
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.words.descriptor import smem_word
from descriptors.text import known_line, word_text
from descriptors.tmem.geometry import LANES
from descriptors.tmem.shift_convolution import ShiftConvolution
from descriptors.tmem.shift_steps import RANGES, ROW_BYTES, ShiftStep
from descriptors.tmem.shift_text import row_maps

#: Bytes of four rows that are refreshed, 128 bytes apart, with the room that their swizzle repeats after.
_REFRESHED = 1024
#: The mask of the start address in a descriptor, in 16-byte units.
_START_FIELD = smem_word("sm100")["start_address"].mask
#: Number of columns of one store or load.
_COLUMNS = 16


def write(convolution: ShiftConvolution, name: str, row: int = 0, tile: int = 0) -> str:
    """Return the program of a tile as a PTX module.

    Args:
        convolution: a shift convolution of one CTA.
        name: name of the entry.
        row: the output row.
        tile: index of the tile in this row.

    Raises:
        DescriptorError: if the name is not an identifier, the convolution is of a CTA pair, or D begins with a tap.
        TmaError: if the driver rejects a tensor map.
    """
    if convolution.cta_group == 2 or convolution.start != "clear":
        subject = "a pair" if convolution.cta_group == 2 else f"D that begins with {convolution.start}"
        raise DescriptorError(f"emit: a program of {subject} is not supported, only one CTA whose D begins with zeros")
    body = [
        *_begin(convolution, name),
        *_zeros(convolution.problem.filters),
        *_steps(convolution, row, tile),
        *_end(convolution),
    ]
    lines = [f"{convolution.headline}: the steps of tile {tile} of output row {row}", known_line("sm100")[0]]
    title = "\n// ".join([*lines, _memory(convolution)])
    about = "In: where D goes, the columns of each lane one after the other."
    return frame("sm100", name, title, _REGISTERS, body, about=about, parameters=("u64 out",))


_REGISTERS = [
    f".reg .b32 %v<{_COLUMNS}>, %m<4>;",
    ".reg .b32 %thread, %warp, %smem, %smem_done, %smem_tmem, %tmem, %a_tmem, %row, %parity, %full, %empty, %lane;",
    ".reg .b64 %start, %desc, %out, %step;",
    ".reg .pred %p, %ready, %other;",
]


def _places(convolution: ShiftConvolution) -> tuple[int, int, int, int]:
    """Return the offsets of refreshed rows and filters in a stage, its size, and the address of the barriers."""
    problem = convolution.problem
    filters = LANES * ROW_BYTES + _REFRESHED * (problem.taps[1] - 1)
    stage = filters + -(-problem.taps[1] * problem.filters * ROW_BYTES // _REFRESHED) * _REFRESHED
    return LANES * ROW_BYTES, filters, stage, RANGES * stage


def _memory(convolution: ShiftConvolution) -> str:
    rows, filters, stage, barriers = _places(convolution)
    taps = f"the rows of tap s at {rows} + {_REFRESHED} (s - 1), its filters at {filters} + "
    each = convolution.problem.filters * ROW_BYTES
    return f"A stage of {stage} bytes: a load at 0, {taps}{each} s; barriers at {barriers}: 2 full, 2 empty, done"


def _begin(convolution: ShiftConvolution, name: str) -> Iterator[str]:
    barriers = _places(convolution)[3]
    yield from (f"ld.param.u64 %out, [{name}_out];", "mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;")
    yield from (f"mov.u32 %smem, {name}_smem;", f"add.u32 %smem_done, %smem, {barriers + 32};")
    yield from ("add.u32 %smem_tmem, %smem_done, 8;", *allocate(convolution.allocate))
    yield from ("and.b32 %lane, %warp, 3;", "mad.lo.u32 %row, %lane, 0x200000, %tmem;")


def _registers(count: int) -> str:
    return ", ".join(f"%v{i}" for i in range(count))


def _zeros(filters: int) -> Iterator[str]:
    """Yield the stores of zeros by every warp to its lanes of D."""
    yield from (f"mov.b32 %v{i}, 0;" for i in range(_COLUMNS))
    for column in range(0, filters, _COLUMNS):
        yield f"add.u32 %a_tmem, %row, {column};"
        yield f"tcgen05.st.sync.aligned.32x32b.x{_COLUMNS}.b32 [%a_tmem], {{{_registers(_COLUMNS)}}};"
    yield from ("tcgen05.wait::st.sync.aligned;", *together(), "setp.ne.u32 %other, %thread, 0;", "@%other bra all;")
    yield from ("shr.u32 %lane, %smem, 4;", "cvt.u64.u32 %start, %lane;")


def _steps(convolution: ShiftConvolution, row: int, tile: int) -> Iterator[str]:
    """Yield all steps except the zeros. A load waits for its stage, which is freed after its last tap."""
    steps = [step for step in convolution.steps(row, tile) if step.kind != "clear"]
    loads = -1
    barriers = _places(convolution)[3]
    for number, step in enumerate(steps):
        if step.kind == "load":
            loads += 1
            yield f"add.u32 %full, %smem, {barriers + 8 * (loads % RANGES)};"
            yield f"mov.u32 %parity, {loads // RANGES % 2};"
            yield from wait(f"wait_{loads}", "%full", "%parity")
            yield "tcgen05.fence::after_thread_sync;"
        yield from _step(convolution, step, loads % RANGES)
        if number + 1 == len(steps) or steps[number + 1].kind == "load":
            yield f"add.u32 %empty, %smem, {barriers + 16 + 8 * (loads % RANGES)};"
            yield from commit("%empty")
    yield from (*commit("%smem_done"), "all:")


def _step(convolution: ShiftConvolution, step: ShiftStep, stage: int) -> Iterator[str]:
    problem, (rows, filters, bytes_, _) = convolution.problem, _places(convolution)
    (_, load), (_, refresh) = row_maps(convolution)
    stage_address, s = stage * bytes_, step.tap.s
    yield f"add.u32 %a_tmem, %tmem, {convolution.a_columns[step.tap.a_range] + (step.lane << 16):#x};"
    if step.kind == "load":
        yield from _word(load, stage_address)
        yield "tcgen05.cp.cta_group::1.128x256b [%a_tmem], %desc;"
    elif step.kind == "shift":
        yield "tcgen05.shift.cta_group::1.down [%a_tmem];"
    elif step.kind == "refresh":
        yield from _word(refresh, stage_address + rows + _REFRESHED * (s - 1))
        yield "tcgen05.cp.cta_group::1.4x256b [%a_tmem], %desc;"
    else:
        tile = (problem.filters, convolution.step_channels)
        b = derive(tile, convolution.element, "K", "32B", tile, arch="sm100", operand="B", verify=False, legality="off")
        word = idesc(convolution.element, m=LANES, n=problem.filters, legality="off")
        yield from _word(b.descriptor.encode(), stage_address + filters + s * problem.filters * ROW_BYTES)
        yield from (f"mov.b32 %m{i}, {word_text(mask, 32)};" for i, mask in enumerate(step.masks))
        yield from (f"setp.ne.u32 %p, {int(step.enable_input_d)}, 0;", f"mov.b32 %lane, {word_text(word, 32)};")
        kind = f"tcgen05.mma.cta_group::1.kind::{convolution.kind}"
        yield f"{kind} [%tmem], [%a_tmem], %desc, %lane, {{%m0, %m1, %m2, %m3}}, %p;"


def _word(word: int, address: int) -> list[str]:
    """Return the instructions that compute a descriptor for an address in shared memory."""
    return stage_word("%desc", "%start", str(address // 16), word, _START_FIELD)


def _end(convolution: ShiftConvolution) -> Iterator[str]:
    """Yield the stores of D to global memory, each warp for its lanes."""
    filters = convolution.problem.filters
    yield from ("mov.u32 %parity, 0;", *wait("wait_done", "%smem_done", "%parity"), "bar.warp.sync 0xffffffff;")
    yield from ("tcgen05.fence::after_thread_sync;", f"mul.wide.u32 %step, %thread, {4 * filters};")
    yield "add.u64 %out, %out, %step;"
    for column in range(0, filters, _COLUMNS):
        yield f"add.u32 %a_tmem, %row, {column};"
        yield f"tcgen05.ld.sync.aligned.32x32b.x{_COLUMNS}.b32 {{{_registers(_COLUMNS)}}}, [%a_tmem];"
        yield "tcgen05.wait::ld.sync.aligned;"
        yield from (f"st.global.b32 [%out+{4 * (column + i)}], %v{i};" for i in range(_COLUMNS))
    yield from (*together(), "setp.ne.u32 %other, %warp, 0;", "@%other bra end;")
    yield f"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, {convolution.allocate};"
    yield from ("end:", "ret;")
