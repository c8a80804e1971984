// matmul_by_shuffles rung 01, global: both operands of every product are loaded.
//
// Stops at: loads, two per multiplication, though the L1 cache serves nearly all of them.
// Not for: operands that are used more than once: the cache serves them, but every use is a load.
#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"

namespace ridge::matmul_by_shuffles::global {

constexpr int kWarps = 4;  // a block

__global__ void __launch_bounds__(kWarps* kEdge) matmul_global(Args args) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (index >= args.batch) return;  // uniform per warp
  const int lane = threadIdx.x;
  const float* a = args.a + index * kElements;  // (32, 32)
  const float* b = args.b + index * kElements;  // (32, 32)
  float* c = args.c + index * kElements;        // (32, 32); a lane has column `lane`
#pragma unroll 1
  for (int i = 0; i < kEdge; ++i) {
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < kEdge; ++k) sum += a[i * kEdge + k] * b[k * kEdge + lane];
    c[i * kEdge + lane] = sum;
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.batch == 0) return Status::ok();
  matmul_global<<<unsigned((a.batch + kWarps - 1) / kWarps), dim3(kEdge, kWarps), 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "two loads per product",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::matmul_by_shuffles::global
