// gemv rung 04, packs: each load brings 16 bytes, and a thread has four loads of A under way.
//
// Since 03_block_per_row: a thread loads A in packs of 16 bytes instead of single elements, and
//   asks for four packs before it uses the first: 64 bytes of A are under way instead of 4 (or 2).
//   The up to 30 elements at the edges of a row, outside of its packs, get one thread each.
// Stops at: loads of x. Every pack of A needs its own pack of x, from the L1 or L2 cache.
// Not for: short rows. A row of 1024 floats has one pack for each of the 256 threads.
#include "kernels/gemv/middle.cuh"
#include "kernels/gemv/tree.cuh"

namespace ridge::gemv::packs {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;  // packs of A that a thread has under way

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_packs(Args args) {
  constexpr int kSize = kPackSize<T>;
  __shared__ float sums[kThreads];
  const int thread = int(threadIdx.x);
  const int64_t row = blockIdx.x;
  const T* const a = static_cast<const T*>(args.a) + row * args.a_stride;  // (cols)
  const T* const x = static_cast<const T*>(args.x);                        // (cols)
  const auto [begin, packs] = middle_of(a, args.cols);
  const bool is_x_aligned = is_pack_aligned(x + begin);

  float sum = 0;
  if (thread < args.cols - packs * kSize) {
    const int64_t c = edge_column<T>(begin, packs, thread);
    sum = to_float(a[c]) * to_float(x[c]);
  }
  for (int64_t p = thread; p < packs; p += kUnroll * kThreads) {
    Pack<T> packs_a[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (p + u * kThreads < packs) packs_a[u] = load_pack(a + begin + (p + u * kThreads) * kSize);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (p + u * kThreads < packs) {
        float numbers_x[kSize];
        load_x(x + begin + (p + u * kThreads) * kSize, is_x_aligned, numbers_x);
        add_products(packs_a[u], numbers_x, sum);
      }
  }
  sums[thread] = sum;
  tree_sum<kThreads>(sums);
  if (thread == 0) finish<T>(args, row, sums[0]);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    gemv_packs<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "16 bytes per load, four loads of A under way",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 0.5, .barriers = 8, .conflict_free = true}};

}  // namespace ridge::gemv::packs
