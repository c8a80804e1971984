// Copies of boxes of tensors: used too early, overwritten, not fenced. The maps are swizzled, so
// that the bytes of a row do not lie side by side.
#include <cuda.h>
#include <cudaTypedefs.h>

#include "hopper.h"
#include "planted.h"

constexpr int kSide = 32, kSize = kSide * kSide, kBytes = kSize * 4, kThreads = 64;

#define LOAD_BOX(to, map, x, y, barrier)                                                                      \
  asm volatile(                                                                                               \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"( \
          shared_address(to)),                                                                                \
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)                                                  \
      : "memory")
#define STORE_BOX(map, from, x, y)                                                                            \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), \
               "r"(shared_address(from)), "r"(x), "r"(y)                                                      \
               : "memory")

// The box may lie partly outside of the tensor: zeros come from there, and are as late as the rest.
__global__ void box_no_wait(const __grid_constant__ CUtensorMap map, int* out, int fixed) {
  __shared__ alignas(1024) int box[kSize];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, kBytes);
    LOAD_BOX(box, &map, 0, kSide / 2, &full);  // BUG box_no_wait
  }
  __syncthreads();
  if (fixed) WAIT(&full, 0);
  out[t] = box[kSize - 1 - t];                 // BUG box_no_wait
  WAIT(&full, 0);
}

__global__ void box_wrong_parity(const __grid_constant__ CUtensorMap map, int* out, int fixed) {
  __shared__ alignas(1024) int box[2][kSize];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  if (t < 2) INIT(&full[t], 1);
  FENCE_INIT();
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    const int s = k % 2;
    if (t == 0) {
      EXPECT(&full[s], kBytes);
      LOAD_BOX(box[s], &map, 0, 0, &full[s]);  // BUG box_wrong_parity
    }
    WAIT(&full[s], fixed ? k / 2 & 1 : k & 1);
    sum += box[s][t];                          // BUG box_wrong_parity
    __syncthreads();
  }
  out[t] = sum;
}

__global__ void box_no_fence(const __grid_constant__ CUtensorMap map, int* out, int fixed) {
  __shared__ alignas(1024) int box[kSize];
  const int t = threadIdx.x;
  for (int i = t; i < kSize; i += kThreads) {
    box[i] = out[t] + i;          // BUG box_no_fence
  }
  if (fixed) FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE_BOX(&map, box, 0, 0);   // BUG box_no_fence
    COMMIT();
    WAIT_READ(0);
  }
}

// wait_group waits for groups, and there is none yet.
__global__ void box_not_committed(const __grid_constant__ CUtensorMap map, int* out, int fixed) {
  __shared__ alignas(1024) int box[kSize];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    for (int i = t; i < kSize; i += kThreads) {
      box[i] = out[t] + i * k;    // BUG box_not_committed
    }
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      STORE_BOX(&map, box, 0, 0); // BUG box_not_committed
      if (fixed) COMMIT();
      WAIT_READ(0);
    }
    __syncthreads();
  }
}

CUtensorMap map_of(int* data) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
  const cuuint64_t sizes[] = {kSide, kSide}, strides[] = {kSide * 4};
  const cuuint32_t box[] = {kSide, kSide}, steps[] = {1, 1};
  CUtensorMap map{};
  reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

#define ON_ONE_BLOCK(kernel)                                 \
  [](int fixed) {                                            \
    Array<int> tensor(kSize), out(kThreads);                 \
    kernel<<<1, kThreads>>>(map_of(tensor), out, fixed);     \
    cudaDeviceSynchronize();                                 \
  }

const Planted kAll[] = {
    {"box_no_wait", "async", ON_ONE_BLOCK(box_no_wait)},
    {"box_wrong_parity", "async", ON_ONE_BLOCK(box_wrong_parity)},
    {"box_no_fence", "proxy-fence", ON_ONE_BLOCK(box_no_fence)},
    {"box_not_committed", "async", ON_ONE_BLOCK(box_not_committed)},
};
PLANTED_MAIN(kAll)
