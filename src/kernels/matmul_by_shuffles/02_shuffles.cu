// matmul_by_shuffles rung 02, shuffles: the registers of the warp hold everything.
//
// Since 01_global: a lane keeps its column of b and one element of the current row of a. A shuffle
//   shows this element to the other lanes when its turn comes. Every element is loaded once.
// Stops at: shuffles, one per multiplication. In each clock an SM does shuffles for 32 lanes, and
//   multiplications for 128.
// Not for: values that all lanes want: shared memory gives four of them in one access (03).
#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"

namespace ridge::matmul_by_shuffles::shuffles {

constexpr int kWarps = 4;  // a block

__global__ void __launch_bounds__(kWarps* kEdge) matmul_shuffles(Args args) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (index >= args.batch) return;  // uniform per warp
  const int lane = threadIdx.x;
  const float* a = args.a + index * kElements;  // (32, 32)
  const float* b = args.b + index * kElements;  // (32, 32)
  float* c = args.c + index * kElements;        // (32, 32); a lane has column `lane`
  float column[kEdge];
#pragma unroll
  for (int k = 0; k < kEdge; ++k) column[k] = b[k * kEdge + lane];
#pragma unroll 2
  for (int i = 0; i < kEdge; ++i) {
    const float mine = a[i * kEdge + lane];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kEdge; ++k) sum += __shfl_sync(~0u, mine, k) * column[k];
    c[i * kEdge + lane] = sum;
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.batch == 0) return Status::ok();
  matmul_shuffles<<<unsigned((a.batch + kWarps - 1) / kWarps), dim3(kEdge, kWarps), 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "operands in registers, shown by shuffles",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::matmul_by_shuffles::shuffles
