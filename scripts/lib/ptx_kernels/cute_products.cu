// Products with wgmma in C++ with the headers of CUTLASS (pip install nvidia-cutlass==4.2.0.0), for the checker:
//   nvcc -ptx -std=c++17 -O3 --expt-relaxed-constexpr -arch=sm_90a -I FOLDER/cutlass_library/source/include \
//        cute_products.cu -o cute_products_sm90.ptx
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
using namespace cute;

// One warpgroup: a tile of 64 by 128, its operands copied by ordinary stores, one group at a time.
template <class Mma, class LayoutA, class LayoutB, class T>
__global__ void __launch_bounds__(128) multiplied(float* out, T const* a, T const* b, int steps) {
  extern __shared__ __align__(1024) unsigned char memory[];
  T* left = reinterpret_cast<T*>(memory);
  T* right = left + cosize_v<LayoutA>;
  Mma mma;
  auto part = mma.get_thread_slice(threadIdx.x);
  Tensor word_a = part.make_fragment_A(part.partition_A(make_tensor(make_smem_ptr(left), LayoutA{})));
  Tensor word_b = part.make_fragment_B(part.partition_B(make_tensor(make_smem_ptr(right), LayoutB{})));
  Tensor result = part.partition_C(make_tensor(make_gmem_ptr(out), make_layout(make_shape(Int<64>{}, Int<128>{}))));
  Tensor total = part.make_fragment_C(result);
  clear(total);
  for (int step = 0; step < steps; ++step) {
    for (int i = threadIdx.x; i < cosize_v<LayoutA>; i += 128) left[i] = a[i + step];
    for (int i = threadIdx.x; i < cosize_v<LayoutB>; i += 128) right[i] = b[i + step];
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    warpgroup_fence_operand(total);
    warpgroup_arrive();
    gemm(mma, word_a, word_b, total);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    warpgroup_fence_operand(total);
    __syncthreads();
  }
  copy(total, result);
}

template <class Atom, int MN, int K>
using Stored = decltype(tile_to_shape(Atom{}, make_shape(Int<MN>{}, Int<K>{})));
template <class Operation>
using Tiled = decltype(make_tiled_mma(Operation{}));

using Both = Tiled<SM90_64x128x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>>;
using Half = GMMA::Layout_K_SW128_Atom<half_t>;
template __global__ void multiplied<Both, Stored<Half, 64, 64>, Stored<Half, 128, 64>>(
    float*, half_t const*, half_t const*, int);

using Turned = Tiled<SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>>;
using Narrow = GMMA::Layout_K_SW32_Atom<bfloat16_t>;
using Across = GMMA::Layout_MN_SW128_Atom<bfloat16_t>;
template __global__ void multiplied<Turned, Stored<Narrow, 64, 32>, Stored<Across, 128, 32>>(
    float*, bfloat16_t const*, bfloat16_t const*, int);

using Whole = Tiled<SM90_64x128x8_F32TF32TF32_SS_TN<>>;
using Word = GMMA::Layout_K_SW64_Atom<tfloat32_t>;
template __global__ void multiplied<Whole, Stored<Word, 64, 32>, Stored<Word, 128, 32>>(
    float*, tfloat32_t const*, tfloat32_t const*, int);
