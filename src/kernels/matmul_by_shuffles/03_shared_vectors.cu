// matmul_by_shuffles rung 03, shared_vectors: shared memory gives four numbers at a time.
//
// Since 02_shuffles: the rows of a lie in shared memory. All lanes read the same four elements in
//   one access, which serves four multiplications; a shuffle serves one.
// Stops at: HBM, nearly; and at one load of shared memory per four multiplications.
// Not for: large matrices: those need tiles in registers, or tensor cores.
//
// A shuffle is right if each lane needs one value of another lane. If all lanes need the same
// values, and more than one, the wide broadcast of shared memory is cheaper.
#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"

namespace ridge::matmul_by_shuffles::shared_vectors {

constexpr int kWarps = 4;  // a block

__global__ void __launch_bounds__(kWarps* kEdge) matmul_shared_vectors(Args args) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (index >= args.batch) return;  // uniform per warp
  const int lane = threadIdx.x;
  const float* a = args.a + index * kElements;  // (32, 32)
  const float* b = args.b + index * kElements;  // (32, 32)
  float* c = args.c + index * kElements;        // (32, 32); a lane has column `lane`
  __shared__ float4 rows[kWarps][kEdge][kEdge / 4];
  float column[kEdge];
#pragma unroll
  for (int k = 0; k < kEdge; ++k) {
    column[k] = b[k * kEdge + lane];
    reinterpret_cast<float*>(rows[threadIdx.y][k])[lane] = a[k * kEdge + lane];
  }
  __syncwarp();
#pragma unroll 2
  for (int i = 0; i < kEdge; ++i) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kEdge; k += 4) {
      const float4 four = rows[threadIdx.y][i][k / 4];
      sum += four.x * column[k];
      sum += four.y * column[k + 1];
      sum += four.z * column[k + 2];
      sum += four.w * column[k + 3];
    }
    c[i * kEdge + lane] = sum;
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.batch == 0) return Status::ok();
  matmul_shared_vectors<<<unsigned((a.batch + kWarps - 1) / kWarps), dim3(kEdge, kWarps), 0,
                          stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "four numbers per broadcast from shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0, .conflict_free = true}};

}  // namespace ridge::matmul_by_shuffles::shared_vectors
