// rearrange rung 02, tiled: a block takes one tile at a time, and a thread four elements of each
// array.
//
// Since 01_naive: four times as many loads are under way before the first store. Elements that
//   change places only with their partner do so in registers (swap, and reverse in place); the
//   others go through shared memory, so that warps write whole runs in rising order.
// Stops at: bytes in flight: each load still brings one element per lane.
// Not for: elements that stay in their pack (swap): shared memory gains nothing there.
#include "kernels/rearrange/with_op.cuh"

namespace ridge::rearrange::tiled {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // elements of an array per thread
constexpr int kTile = kThreads * kEach;

// Pairs (first[i], second[i]), or (first[i], second[-i]).
template <class T, int Direction>
__device__ __forceinline__ void exchange(T* first, T* second, int count) {
  T x[kEach], y[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int i = e * kThreads + threadIdx.x;
    if (i < count) x[e] = first[i], y[e] = second[Direction * i];
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int i = e * kThreads + threadIdx.x;
    if (i < count) first[i] = y[e], second[Direction * i] = x[e];
  }
}

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) rearrange_tiled(Args args, int64_t items) {
  const int64_t begin = int64_t(blockIdx.x) * kTile;
  const int count = int(min(items - begin, int64_t(kTile)));
  T* x = static_cast<T*>(args.x);
  if constexpr (op == Op::reverse_in_place) {
    exchange<T, -1>(x + begin, x + args.n - 1 - begin, count);
  } else if constexpr (op == Op::swap) {
    exchange<T, 1>(x + begin, static_cast<T*>(args.y) + begin, count);
  } else {
    constexpr int kArrays = op == Op::interleave ? 2 : 1;
    __shared__ T tile[kArrays * kTile];
    const T* a = static_cast<const T*>(args.a) + begin;
    const T* b = static_cast<const T*>(args.b) + begin;
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int i = e * kThreads + threadIdx.x;
      if (i >= count) continue;
      if constexpr (op == Op::reverse) {
        tile[count - 1 - i] = a[i];
      } else {
        tile[2 * i] = a[i];
        tile[2 * i + 1] = b[i];
      }
    }
    __syncthreads();
    T* out = op == Op::reverse ? x + args.n - begin - count : x + 2 * begin;
#pragma unroll
    for (int e = 0; e < kArrays * kEach; ++e) {
      const int i = e * kThreads + threadIdx.x;
      if (i < kArrays * count) out[i] = tile[i];
    }
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t items = a.op == Op::reverse_in_place ? a.n / 2 : a.n;
  if (items == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) {
    return with_op(a.op, [&](auto op) {
      rearrange_tiled<decltype(t), decltype(op)::value>
          <<<unsigned((items + kTile - 1) / kTile), kThreads, 0, stream>>>(a, items);
      return launch_status();
    });
  });
}
constinit const Rung rung = {
    .idea = "four elements per thread, turned in registers or shared",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 1, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::rearrange::tiled
