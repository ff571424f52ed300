"""Compile small kernels of the CuTe DSL for sm_100a, without a GPU: ``dsl_NAME_sm100.ptx`` into a folder.

Usage: python compile_dsl.py FOLDER      needs nvidia-cutlass-dsl; one process a kernel, since some inputs crash it
"""

# mypy: ignore-errors
import subprocess
import sys
from pathlib import Path

#: Kind, type, M, N, cta_group, major of B.
CASES = (
    ("f16", "Float16", 128, 128, 1, "K"),
    ("f16", "BFloat16", 128, 256, 1, "MN"),
    ("f16", "Float16", 64, 64, 1, "K"),
    ("f16", "BFloat16", 256, 128, 2, "K"),
    ("f16", "Float16", 128, 64, 2, "MN"),
    ("tf32", "TFloat32", 128, 64, 1, "K"),
    ("i8", "Int8", 128, 128, 1, "K"),
    ("f8f6f4", "Float8E4M3FN", 128, 64, 1, "K"),
    ("f8f6f4", "Float8E5M2", 256, 256, 2, "K"),
)


def compiled(kind: str, name: str, m: int, n: int, pair: int, major: str) -> str:
    """The PTX of a kernel that allocates tensor memory, multiplies one tile, commits, waits, and frees it."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import OperandMajorMode, tcgen05
    from cutlass.utils import blackwell_helpers as helpers

    dtype = getattr(cutlass, name)
    place = [tcgen05.CtaGroup(pair), tcgen05.OperandSource.SMEM, OperandMajorMode.K, OperandMajorMode[major]]
    k = 256 // dtype.width
    operation = {
        "f16": lambda: tcgen05.MmaF16BF16Op(dtype, cutlass.Float32, (m, n, k), *place),
        "tf32": lambda: tcgen05.MmaTF32Op((m, n, k), *place),
        "i8": lambda: tcgen05.MmaI8Op(dtype, (m, n, k), *place),
        "f8f6f4": lambda: tcgen05.MmaF8F6F4Op(dtype, dtype, cutlass.Float32, (m, n, k), *place),
    }[kind]

    @cute.kernel
    def product():
        mma = cute.make_tiled_mma(operation())
        tile = (m, n, 4 * k)
        memory = cutlass.utils.SmemAllocator()
        layouts = helpers.make_smem_layout_a(mma, tile, dtype, 1), helpers.make_smem_layout_b(mma, tile, dtype, 1)
        parts = [
            memory.allocate_tensor(dtype, layout.outer, byte_alignment=1024, swizzle=layout.inner) for layout in layouts
        ]
        barrier = memory.allocate_array(cutlass.Int64, 1)
        address = memory.allocate_array(cutlass.Int32, 1)
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        if warp == 0:
            cute.arch.alloc_tmem(512, address, is_two_cta=pair == 2)
            with cute.arch.elect_one():
                cute.arch.mbarrier_init(barrier, 1)
        cute.arch.sync_threads()
        pointer = cute.arch.retrieve_tmem_ptr(mma.op.acc_dtype, alignment=16, ptr_to_buffer_holding_addr=address)
        result = cute.make_tensor(pointer, mma.make_fragment_C(mma.partition_shape_C(tile[:2])).layout)
        left, right = mma.make_fragment_A(parts[0]), mma.make_fragment_B(parts[1])
        if warp == 0:
            for block in cutlass.range_constexpr(4):
                mma.set(tcgen05.Field.ACCUMULATE, block != 0)
                cute.gemm(mma, result, left[None, None, block, 0], right[None, None, block, 0], result)
            with cute.arch.elect_one():
                tcgen05.commit(barrier, None, tcgen05.CtaGroup(pair))
        cute.arch.mbarrier_wait(barrier, 0)
        cute.arch.sync_threads()
        if warp == 0:
            cute.arch.relinquish_tmem_alloc_permit(is_two_cta=pair == 2)
            cute.arch.dealloc_tmem(pointer, 512, is_two_cta=pair == 2)

    @cute.jit
    def host():
        product().launch(grid=[1, 1, 1], block=[128, 1, 1])

    return cute.compile(host, options="--gpu-arch sm_100a --keep-ptx").__ptx__


def main(folder: str, *case: str) -> int:
    if case:
        one = CASES[int(case[0])]
        kind, name, m, n, pair, major = one
        path = Path(folder) / f"dsl_{kind}_{name}_{m}x{n}_{major}_cta{pair}_sm100.ptx"
        path.write_text(compiled(*one), encoding="utf-8")
        return 0
    for index in range(len(CASES)):
        done = subprocess.run(
            [sys.executable, __file__, folder, str(index)], capture_output=True, text=True, check=False
        )
        print(
            CASES[index],
            "made" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["crashed"])[-1][:200],
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
