// matrix_copy rung 02, tiled: 32 x 32 elements go through shared memory, four per thread.
//
// Since 01_naive: a thread asks for four elements before it waits, so four times as many bytes are
//   in flight. The tile itself gains nothing here, since no thread reads what another has loaded.
//   It is the frame that transpose and every stencil start from.
// Stops at: the barrier: the four loads of all warps must have arrived before the first store.
// Not for: a plain copy: shared memory and its barrier gain nothing if no thread reads what another
//   has loaded.
#include <algorithm>

#include "device/raw.cuh"
#include "kernels/matrix_copy/matrix_copy.h"

namespace ridge::matrix_copy::tiled {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;
constexpr int kMostBlockRows = 65535;  // of a grid's y

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows) matrix_copy_tiled(Args a) {
  __shared__ T tile[kTile][kTile];
  const int64_t c = int64_t(blockIdx.x) * kTile + threadIdx.x;
  for (int64_t row0 = int64_t(blockIdx.y) * kTile; row0 < a.rows;
       row0 += int64_t(gridDim.y) * kTile) {
#pragma unroll
    for (int i = threadIdx.y; i < kTile; i += kBlockRows)
      if (row0 + i < a.rows && c < a.cols)
        tile[i][threadIdx.x] = static_cast<const T*>(a.in)[(row0 + i) * a.in_stride + c];
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.y; i < kTile; i += kBlockRows)
      if (row0 + i < a.rows && c < a.cols)
        static_cast<T*>(a.out)[(row0 + i) * a.out_stride + c] = tile[i][threadIdx.x];
    __syncthreads();
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return has_raw_type(a.dtype) ? kSupported : "copies elements of 1, 2 or 4 bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const dim3 grid(unsigned((a.cols + kTile - 1) / kTile),
                  unsigned(std::min<int64_t>((a.rows + kTile - 1) / kTile, kMostBlockRows)));
  return with_raw_type(a.dtype, [&](auto t) {
    matrix_copy_tiled<decltype(t)><<<grid, dim3(kTile, kBlockRows), 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "a 32 x 32 tile in shared memory, four elements per thread",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 1, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::matrix_copy::tiled
