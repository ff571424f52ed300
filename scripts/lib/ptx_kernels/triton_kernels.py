"""Kernels in Triton whose PTX the checker is tried on: products, attention, and products with scale factors."""

# mypy: ignore-errors
import triton
import triton.language as tl


@triton.jit
def product(x, y, z, rows, columns, depth, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr):
    """Tiles of x times tiles of y, or of y turned round, fetched by tensor copies."""
    i, j = tl.program_id(0), tl.program_id(1)
    left = tl.make_tensor_descriptor(x, [rows, depth], [depth, 1], [BM, BK])
    if TURNED:
        right = tl.make_tensor_descriptor(y, [columns, depth], [depth, 1], [BN, BK])
    else:
        right = tl.make_tensor_descriptor(y, [depth, columns], [columns, 1], [BK, BN])
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, depth, BK):
        a = left.load([i * BM, k])
        if TURNED:  # noqa: SIM108 - the branch is taken while compiling
            b = right.load([j * BN, k]).T
        else:
            b = right.load([k, j * BN])
        total = tl.dot(a, b, total)
    out = tl.make_tensor_descriptor(z, [rows, columns], [columns, 1], [BM, BN])
    out.store([i * BM, j * BN], total.to(tl.float16))


@triton.jit
def gathered(x, y, z, columns, depth, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same with plain loads, which go through registers or copies of 16 bytes."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, depth, BK):
        a = tl.load(x + m[:, None] * depth + (start + k)[None, :])
        b = tl.load(y + (start + k)[:, None] * columns + n[None, :])
        total = tl.dot(a, b, total)
    tl.store(z + m[:, None] * columns + n[None, :], total)


@triton.jit
def attention(q, k, v, out, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention with a running maximum: the second product has its left side from registers or tensor memory."""
    i = tl.program_id(0)
    rows = tl.make_tensor_descriptor(q, [length, D], [D, 1], [BM, D])
    keys = tl.make_tensor_descriptor(k, [length, D], [D, 1], [BN, D])
    values = tl.make_tensor_descriptor(v, [length, D], [D, 1], [BN, D])
    block = rows.load([i * BM, 0])
    total, most, weight = tl.zeros((BM, D), tl.float32), tl.full((BM,), -1e30, tl.float32), tl.zeros((BM,), tl.float32)
    for j in range(0, length, BN):
        score = tl.dot(block, keys.load([j, 0]).T)
        now = tl.maximum(most, tl.max(score, 1))
        part, shrink = tl.exp2(score - now[:, None]), tl.exp2(most - now)
        weight = weight * shrink + tl.sum(part, 1)
        total = tl.dot(part.to(tl.float16), values.load([j, 0]), total * shrink[:, None])
        most = now
    result = tl.make_tensor_descriptor(out, [length, D], [D, 1], [BM, D])
    result.store([i * BM, 0], (total / weight[:, None]).to(tl.float16))


@triton.jit
def scaled(x, xs, y, ys, z, depth, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """A product of narrow types with a scale factor for each 32 elements along k."""
    each: tl.constexpr = 2 if KIND == "e2m1" else 1
    m, n, k, s = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK // each), tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, depth, BK):
        a = tl.load(x + m[:, None] * (depth // each) + (start // each + k)[None, :])
        b = tl.load(y + n[None, :] * (depth // each) + (start // each + k)[:, None])
        sa = tl.load(xs + m[:, None] * (depth // 32) + (start // 32 + s)[None, :])
        sb = tl.load(ys + n[:, None] * (depth // 32) + (start // 32 + s)[None, :])
        total = tl.dot_scaled(a, sa, KIND, b, sb, KIND, total)
    tl.store(z + m[:, None] * BN + n[None, :], total)
