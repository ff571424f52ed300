"""The inner loop of a plan for the CuTe DSL: the tiled MMA, the operands in shared memory, and what a stage issues.

The layouts are the plan's; the descriptors are then the DSL's own, made from the layouts, and the tests hold that they
are the plan's words. A sparse A has elements of two, of which one is stored, and its layout counts both; the column of
its metadata is that of their cells, from which the DSL takes the selector of the instruction.

Law: the text holds the layouts of both operands as they lie in shared memory.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False)
>>> [line.strip() for line in write(example, "gemm").splitlines() if "make_layout(((8, 8)" in line]
['cute.make_layout(((8, 8), (64, 1), (1, 2)), stride=((64, 512), (1, 0), (0, 4096))),']
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.smem.emitters.recipe import recipe
from descriptors.targets import generation
from descriptors.text import counted
from layoutalg import ComposedLayout, Layout, Swizzle, composition, cosize, make_layout

#: The DSL's names of element types; it has none here for those in containers.
_TYPES = {
    "f16": "Float16", "bf16": "BFloat16", "tf32": "TFloat32", "f32": "Float32", "s32": "Int32", "e4m3": "Float8E4M3FN",
    "e5m2": "Float8E5M2", "s8": "Int8", "u8": "Uint8", "e2m1": "Float4E2M1FN",
}  # fmt: skip
#: Its operations of a sparse A, by the one element type of both operands.
_SPARSE = {"f16": "F16BF16", "bf16": "F16BF16", "e4m3": "FP8", "e5m2": "FP8"}
_FACTORS = {"ue8m0": "Float8E8M0FNU", "ue4m3": "Float8E4M3FN"}

_HEAD = '''\
# {title}.
import cutlass
from cutlass import Int32, cute
from cutlass.cute.nvgpu import OperandMajorMode, {module}


def {name}_mma():
    """The tiled MMA: {what}."""
    operation = {module}.{operation}
    return cute.make_tiled_mma(operation{atoms})


def {name}_operand(dtype, address, swizzle, layout):
    """A tensor in shared memory; the address is a multiple of 1024."""
    pointer = cute.make_ptr({unit}, address, cute.AddressSpace.smem, assumed_align=1024)
    return cute.make_tensor(cute.recast_ptr(pointer, cute.make_swizzle(*swizzle), dtype=dtype), layout)


def {name}_a(smem):
    """A, all stages, where shared memory begins at an address."""
    return {a}


def {name}_b(smem):
    """B, likewise."""
    return {b}

'''

_SM90 = '''
def {name}_fragments(tiled, warpgroup_index, smem):
    """The descriptors of A and of B, and the accumulators, of one warpgroup."""
    mine = tiled.get_slice(cute.make_layout({warpgroups}, stride=128)(warpgroup_index))
    a = tiled.make_fragment_A(mine.partition_A({name}_a(smem)))
    b = tiled.make_fragment_B(mine.partition_B({name}_b(smem)))
    return a, b, cute.make_rmem_tensor(mine.partition_shape_C(({m}, {n})), cutlass.{d})


def {name}_stage(tiled, a, b, accumulators, stage):
    """What a warpgroup issues for a stage that is full; the stage is free when it returns.

    Before the first stage: tiled.set(warpgroup.Field.ACCUMULATE, False).
    """
    warpgroup.fence()
    for k in range({k_blocks}):
        cute.gemm(tiled, accumulators, a[None, None, k, stage], b[None, None, k, stage], accumulators)
        tiled.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
'''

_SM100 = '''
def {name}_fragments(tiled, smem):
    """The descriptors of A and of B."""
    a = cute.group_modes(cute.flat_divide({name}_a(smem), ({a_rows}, {k})), 0, 2)
    b = cute.group_modes(cute.flat_divide({name}_b(smem), ({b_rows}, {k})), 0, 2)
    return tiled.make_fragment_A(a), tiled.make_fragment_B(b)


def {name}_accumulator(tiled, tmem, block):
    """One accumulator, M blocks fastest, in the columns that begin at an address of tensor memory."""
    layout = tiled.make_fragment_C(tiled.partition_shape_C(({m}, {n}))).layout
    address = tmem + {firsts}[block]
    pointer = cute.make_ptr(cutlass.{d}, address, cute.AddressSpace.tmem, assumed_align=16)
    return cute.make_tensor(pointer, layout)[None, 0, 0]


def {name}_stage(tiled, a, b, tmem, stage, empty):
    """What one thread issues for a stage that is full; the barrier hears of it when the stage is free.

    Before the first stage: tiled.set(tcgen05.Field.ACCUMULATE, False).{copied}
    """
    for k in range({k_blocks}):
        for n in range({n_blocks}):
{b_factors}            for m in range({m_blocks}):
{a_factors}{metadata}                held = {name}_accumulator(tiled, tmem, m + {m_blocks} * n)
                cute.gemm(tiled, held, a[None, m, k, stage], b[None, n, k, stage], held)
        tiled.set(tcgen05.Field.ACCUMULATE, True)
    tcgen05.commit(empty{multicast})
'''


def write(plan: Plan, name: str) -> str:
    """The text for the CuTe DSL.

    Args:
        plan: the plan.
        name: prefix of every function.

    Raises:
        DescriptorError: if the DSL has no such operation, or the name is no identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False), "gemm")
    >>> [line.split("(")[0] for line in text.splitlines() if line.startswith("def")]
    ['def gemm_mma', 'def gemm_operand', 'def gemm_a', 'def gemm_b', 'def gemm_fragments', 'def gemm_stage']
    """
    recipe(plan.b.derivation, name)  # it refuses what is no identifier
    _check(plan)
    loop, accumulators = plan.asked, plan.accumulators
    m, n, k = loop.blocks
    values: dict[str, object] = {
        "title": plan.headline, "name": name, "what": counted(m * n * k, "instruction") + " a stage",
        "operation": _operation(plan), "a": _tensor(plan, plan.a, name), "b": _tensor(plan, plan.b, name),
        "k_blocks": k, "d": _TYPES[loop.d], "unit": "cutlass.Uint8" if loop.sparse else "dtype",
    }  # fmt: skip
    if isinstance(accumulators, Registers):
        values |= {
            "module": "warpgroup",
            "atoms": f", ({accumulators.warpgroups}, 1, 1)",
            "warpgroups": accumulators.warpgroups,
        }
        values |= {"m": loop.tile[0], "n": loop.tile[1]}
        return (_HEAD + _SM90).format(**values)
    return (_HEAD + _SM100).format(**values, **_blackwell(plan, accumulators))


def _check(plan: Plan) -> None:
    loop = plan.asked
    missing = [element.name for element in (loop.a, loop.b) if element.name not in _TYPES]
    if generation(loop.arch) == "sm90" and loop.kind == "tf32":
        missing = ["wgmma of tf32"]
    if plan.loads is not None:
        missing = ["A in registers"]
    if loop.sparse and loop.arch == "sm90":
        missing = ["wgmma of a sparse A"]
    elif loop.sparse and (loop.scale or loop.a.name not in _SPARSE or loop.b != loop.a):
        missing = [f"{loop.kind} of a sparse A, {loop.a.name} by {loop.b.name}"]
    if missing:
        raise DescriptorError(f"emit: the CuTe DSL must have the operation, found {missing[0]}")


def _operation(plan: Plan) -> str:
    """The DSL's operation with its arguments."""
    loop = plan.asked
    a, b, d = (f"cutlass.{_TYPES[name]}" for name in (loop.a.name, loop.b.name, loop.d))
    shape = str(loop.extents)
    majors = ", ".join(f"OperandMajorMode.{major}" for major in (loop.a_major, loop.b_major))
    if generation(loop.arch) == "sm90":
        types = {"f16": f"MmaF16BF16Op({a}, {d}", "f8": f"MmaF8Op({a}, {b}, {d}", "i8": f"MmaI8Op({a}, {b}, {d}"}
        return f"{types[loop.kind]}, {shape}, warpgroup.OperandSource.SMEM, {majors})"
    place = f"tcgen05.CtaGroup({loop.cta_group}), tcgen05.OperandSource.SMEM"
    factor = f"cutlass.{_FACTORS[loop.scale[0]]}" if loop.scale else ""
    if loop.sparse:
        coded = "tcgen05.SparseMetadataFormat.TID"
        return f"Mma{_SPARSE[loop.a.name]}SparseOp({a}, {d}, {shape}, {place}, {majors}, {coded})"
    return {
        "f16": f"MmaF16BF16Op({a}, {d}, {shape}, {place}, {majors})",
        "tf32": f"MmaTF32Op({shape}, {place}, {majors})",
        "i8": f"MmaI8Op({a}, {shape}, {place}, {majors})",
        "f8f6f4": f"MmaF8F6F4Op({a}, {b}, {d}, {shape}, {place}, {majors})",
        "mxf8f6f4": f"MmaMXF8F6F4Op({a}, {b}, {shape}, {place}, {majors})",
        "mxf4": f"MmaMXF4Op({shape}, {place})",
        "mxf4nvf4": f"MmaMXF4NVF4Op({factor}, {shape}, {place})",
    }[loop.kind]


def _tensor(plan: Plan, side: StagedOperand, name: str) -> str:
    """An operand as it lies in shared memory: its address, its swizzle in bytes, its layout in elements."""
    tile, element = side.derivation.smem_tile, side.derivation.element
    plain, swizzle = tile, "(0, 4, 3)"
    if isinstance(tile, ComposedLayout):
        plain = tile.inner
        assert isinstance(tile.outer, Swizzle)
        shift = (element.storage_bits.bit_length() - 1) - 3
        swizzle = f"({tile.outer.bits}, {tile.outer.base + shift}, {tile.outer.shift})"
    assert isinstance(plain, Layout)
    dtype = f"cutlass.{_TYPES[element.name]}"
    if side.sparse:
        dtype, plain = f"cute.get_sparse_elem_type(2, 1, {dtype})", _with_zeros(plain)
    return f"""{name}_operand(
        {dtype}, smem + {side.base}, {swizzle},
        cute.make_layout({plain.shape}, stride={plain.stride}),
    )"""


def _with_zeros(stored: Layout) -> Layout:
    """The layout of a sparse A, (M, K, stages), zeros counted: two elements of K at every place.

    >>> print(_with_zeros(Layout((128, 64, 2), (64, 1, 8192))))
    (128,(2,64),2):(128,(1,2),16384)
    """
    m, k, stages = (composition(Layout(cosize(stored), 2), mode) for mode in stored)
    return make_layout(m, make_layout(Layout(2, 1), k), stages)


def _blackwell(plan: Plan, accumulators: TensorColumns) -> dict[str, object]:
    loop, copied, metadata = plan.asked, "", ""
    if plan.scales is not None:
        copied = "\n    The scale factors have been copied into their columns."
    if plan.metadata is not None:
        copied = "\n    The metadata have been copied into their columns."
        cells = [sum(plan.metadata.place(k)) for k in range(loop.blocks[2])]
        at = f"tmem + {cells[0]}" + (f" + {cells[1] - cells[0]} * k" if len(cells) > 1 else "")
        at += f" + {plan.metadata.block_columns} * m" if plan.metadata.blocks > 1 else ""
        pointer = f"cute.make_ptr(cutlass.Uint8, {at}, cute.AddressSpace.tmem, assumed_align=1)"
        indent = " " * 16
        metadata = f"{indent}metadata = {pointer}\n{indent}tiled.set(tcgen05.Field.METADATA, metadata)\n"
    pair = loop.cta_group == 2
    return {
        "module": "tcgen05", "atoms": "", "m": loop.extents[0], "n": loop.extents[1], "k": loop.extents[2],
        "a_rows": loop.extents[0] // loop.cta_group, "b_rows": loop.extents[1] // loop.cta_group,
        "firsts": accumulators.firsts, "m_blocks": loop.blocks[0], "n_blocks": loop.blocks[1],
        "a_factors": _factors(plan, 0), "b_factors": _factors(plan, 1),
        "copied": copied, "metadata": metadata, "multicast": ", 3, tcgen05.CtaGroup.TWO" if pair else "",
    }  # fmt: skip


def _factors(plan: Plan, index: int) -> str:
    """The line that points the MMA at the factors of a block of A (0) or B (1); "" of a kind without."""
    if plan.scales is None or plan.asked.scale is None:
        return ""
    letter, block, steps = "AB"[index], "mn"[index], plan.scales.steps[index]
    pointers = ", ".join(hex(pair[index]) for pair in plan.scales.pointers)
    at = f"tmem + Int32(({pointers})[k])" if len(plan.scales.pointers) > 1 else f"tmem + {pointers}"
    if len(steps) > 1:
        at += f" + {steps[1]} * {block}"
    pointer = f"cute.make_ptr(cutlass.{_FACTORS[plan.asked.scale[0]]}, {at}, cute.AddressSpace.tmem)"
    return f"{' ' * (16 - 4 * index)}tiled.set(tcgen05.Field.SF{letter}, {pointer})\n"
