// Hopper's copies, barriers and clusters as CUDA's own headers spell them: cuda::barrier with
// tensor copies, cuda::ptx, cooperative groups.
#include <cooperative_groups.h>
#include <cuda.h>

#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kSide = 16, kBytes = kSide * kSide * int(sizeof(int));

// A tile comes by a tensor copy, is changed, and goes back; the barrier is cuda::barrier.
__global__ void add_one(const __grid_constant__ CUtensorMap in,
                        const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(128) int tile[kSide][kSide];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  const int x = int(blockIdx.x) * kSide, y = int(blockIdx.y) * kSide;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &in, x, y, barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  for (int i = int(threadIdx.x); i < kSide * kSide; i += int(blockDim.x))
    ++tile[i / kSide][i % kSide];
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&out, x, y, &tile);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// Bytes instead of a tile, and the copy that counts them itself.
__global__ void copy_bytes(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

__device__ void init_for_cluster(uint64_t* barrier, uint32_t arrivals) {
  ptx::mbarrier_init(barrier, arrivals);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}
__device__ void wait(uint64_t* barrier, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

// Each block of a cluster of two brings half of every stage and sends it to both. A stage is free
// again once both blocks have said so to both.
constexpr int kStages = 2;
__global__ void __cluster_dims__(2, 1, 1)
    pipeline(const __grid_constant__ CUtensorMap in, int tiles, int* out) {
  __shared__ alignas(128) int stage[kStages][2][kSide * kSide];
  __shared__ uint64_t full[kStages], empty[kStages];
  cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank();
  if (threadIdx.x == 0)
    for (int s = 0; s < kStages; ++s) {
      init_for_cluster(&full[s], 1);
      init_for_cluster(&empty[s], 2);
    }
  cluster.sync();
  if (threadIdx.x < 32) {  // the producer
    if (threadIdx.x == 0)
      for (int t = 0; t < tiles; ++t) {
        const int s = t % kStages;
        if (t >= kStages) wait(&empty[s], uint32_t(t / kStages - 1) & 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                       &full[s], 2 * kBytes);
        const int32_t at[2] = {int(rank) * kSide, t * kSide};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage[s][rank], &in, at,
                                  &full[s], uint16_t(3));
      }
  } else {
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
      const int s = t % kStages;
      wait(&full[s], uint32_t(t / kStages) & 1);
      for (int i = int(threadIdx.x) - 32; i < kSide * kSide; i += 32)
        sum += (t + 1) * (stage[s][0][i] + 3 * stage[s][1][i]);
      __syncwarp();
      if (threadIdx.x == 32)
        for (unsigned to = 0; to < 2; ++to)
          ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                               cluster.map_shared_rank(&empty[s], to));
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 32) out[rank] = sum;
  }
  cluster.sync();
}

// Registers to the neighbour's shared memory, and a sum there.
__global__ void __cluster_dims__(4, 1, 1) to_neighbour(int* out) {
  __shared__ alignas(16) int values[4], sum;
  __shared__ uint64_t barrier;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) {
    sum = 100;
    init_for_cluster(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                   &barrier, sizeof values + sizeof sum);
    uint64_t* there = cluster.map_shared_rank(&barrier, next);
    const int four[4] = {int(rank), 10, 20, 30};
    ptx::st_async(cluster.map_shared_rank(values, next), four, there);
    ptx::red_async(ptx::op_add, cluster.map_shared_rank(&sum, next), int(rank) * 5, there);
  }
  wait(&barrier, 0);
  if (threadIdx.x < 4) out[blockIdx.x * 8 + threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x == 4) out[blockIdx.x * 8 + 4] = sum;
  if (threadIdx.x == 5)
    out[blockIdx.x * 8 + 5] = int(cluster.query_shared_rank(cluster.map_shared_rank(&sum, next)));
  auto token = cluster.barrier_arrive();
  if (threadIdx.x == 6)
    out[blockIdx.x * 8 + 6] =
        int(cluster.thread_rank() + 1000 * cluster.num_threads() +
            1000000 * (cluster.block_index().x + 10 * cluster.dim_blocks().x));
  cluster.barrier_wait(std::move(token));
}

// A tensor map made anew on the device: half the rows, other data. Its tile is added to `sums`.
__global__ void replace_map(const __grid_constant__ CUtensorMap in,
                            const __grid_constant__ CUtensorMap sums, CUtensorMap* made, int* data,
                            int rows) {
  __shared__ alignas(128) int tile[kSide * kSide];
  __shared__ alignas(128) CUtensorMap map;
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    map = in;
    ptx::tensormap_replace_global_address(ptx::space_shared, &map, data);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<1>{}, rows);
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncwarp();
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, made, &map, ptx::n32_t<128>{});
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, made, ptx::n32_t<128>{});
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, made, at, &barrier);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   kBytes);
    wait(&barrier, 0);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &sums, at,
                                     tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}

CUtensorMap tiles_of(int* data, uint64_t width, uint64_t height) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  RIDGE_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                              cudaEnableDefault, &found),
             cudaSuccess);
  RIDGE_CHECK(encode && found == cudaDriverEntryPointSuccess);
  CUtensorMap map;
  const uint64_t size[] = {width, height}, stride[] = {width * sizeof(int)};
  const uint32_t box[] = {kSide, kSide}, step[] = {1, 1};
  const CUresult result = decltype(&cuTensorMapEncodeTiled)(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  RIDGE_CHECK(result == CUDA_SUCCESS);
  return map;
}

int main() {
  constexpr int kWidth = 40, kHeight = 5 * kSide, kCount = kWidth * kHeight;
  std::vector<int> host(kCount), back(kCount);
  for (int i = 0; i < kCount; ++i) host[size_t(i)] = i % 1000;
  int *in, *out;
  CUtensorMap* made;
  RIDGE_CUDA(cudaMalloc(&in, kCount * sizeof(int)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&out, kCount * sizeof(int)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&made, sizeof *made), cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(in, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice),
             cudaSuccess);
  const auto results = [&](int count) {
    RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
    RIDGE_CUDA(cudaMemcpy(back.data(), out, size_t(count) * sizeof(int), cudaMemcpyDeviceToHost),
               cudaSuccess);
  };
  const CUtensorMap source = tiles_of(in, kWidth, kHeight), target = tiles_of(out, kWidth, kHeight);

  add_one<<<dim3(3, 5), 128>>>(source, target);
  results(kCount);
  for (int i = 0; i < kCount; ++i) RIDGE_CHECK(back[size_t(i)] == host[size_t(i)] + 1);

  copy_bytes<<<1, 256>>>(in, out);
  results(256);
  for (int i = 0; i < 256; ++i) RIDGE_CHECK(back[size_t(i)] == host[size_t(255 - i)]);

  pipeline<<<2, 64>>>(source, 5, out);
  results(2);
  int sum = 0;
  for (int t = 0; t < 5; ++t)
    for (int i = 0; i < kSide * kSide; ++i)
      for (int half = 0; half < 2; ++half)
        sum += (t + 1) * (half ? 3 : 1) *
               host[size_t((t * kSide + i / kSide) * kWidth + half * kSide + i % kSide)];
  RIDGE_CHECK(back[0] == sum && back[1] == sum);

  to_neighbour<<<4, 32>>>(out);
  results(32);
  for (int rank = 0; rank < 4; ++rank) {
    const int before = (rank + 3) % 4, *got = &back[size_t(rank) * 8];
    RIDGE_CHECK(got[0] == before && got[1] == 10 && got[2] == 20 && got[3] == 30);
    RIDGE_CHECK(got[4] == 100 + before * 5 && got[5] == (rank + 1) % 4);
    RIDGE_CHECK(got[6] == 6 + 32 * rank + 1000 * 128 + 1000000 * (rank + 40));
  }

  RIDGE_CUDA(cudaMemset(out, 0, kCount * sizeof(int)), cudaSuccess);
  for (int round = 0; round < 2; ++round)
    replace_map<<<1, 32>>>(source, target, made, in + 4 * kWidth, 10);
  results(kCount);
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      RIDGE_CHECK(back[size_t(y * kWidth + x)] ==
                  (y < 10 ? 2 * host[size_t((y + 4) * kWidth + x)] : 0));

  cudaFree(in);
  cudaFree(out);
  cudaFree(made);
  if (!failures) std::puts("all as it should be");
  return failures != 0;
}
