// matrix_copy rung 01, naive: one thread per element, in blocks of two dimensions.
//
// Stops at: bytes in flight. A thread has one element under way: 4 bytes, or 1.
// Not for: elements of one or two bytes above all: a warp then asks for 32 or 64 bytes at a time.
#include <algorithm>

#include "device/raw.cuh"
#include "kernels/matrix_copy/matrix_copy.h"

namespace ridge::matrix_copy::naive {

constexpr int kBlockCols = 32, kBlockRows = 8;
constexpr int kMostBlockRows = 65535;  // of a grid's y

template <class T>
__global__ void __launch_bounds__(kBlockCols* kBlockRows) matrix_copy_naive(Args a) {
  const int64_t c = int64_t(blockIdx.x) * kBlockCols + threadIdx.x;
  if (c >= a.cols) return;
  // Once through, unless the matrix has more rows than a grid.
  for (int64_t r = int64_t(blockIdx.y) * kBlockRows + threadIdx.y; r < a.rows;
       r += int64_t(gridDim.y) * kBlockRows)
    static_cast<T*>(a.out)[r * a.out_stride + c] = static_cast<const T*>(a.in)[r * a.in_stride + c];
}

static Support supports(const Args& a, const DeviceInfo&) {
  return has_raw_type(a.dtype) ? kSupported : "copies elements of 1, 2 or 4 bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const dim3 grid(
      unsigned((a.cols + kBlockCols - 1) / kBlockCols),
      unsigned(std::min<int64_t>((a.rows + kBlockRows - 1) / kBlockRows, kMostBlockRows)));
  return with_raw_type(a.dtype, [&](auto t) {
    matrix_copy_naive<decltype(t)><<<grid, dim3(kBlockCols, kBlockRows), 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "one thread, one element",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::matrix_copy::naive
