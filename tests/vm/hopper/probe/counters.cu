// Small kernels of TMA, distributed shared memory, matrix moves and mbarriers, to be counted by
// Nsight Compute: one launch per kernel, named for what it does. Every kernel does its one thing
// kTimes times.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kTimes = 16;

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t to;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
  return to;
}
__device__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}
__device__ void expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void commit_and_wait() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

extern __shared__ __align__(1024) uint8_t data[];

#define MATRIX(name, text, count, pitch)                                            \
  extern "C" __global__ void name(uint32_t* out) {                                  \
    uint32_t r[4] = {threadIdx.x, 1, 2, 3}, sum = 0;                                \
    const uint32_t at = shared_address(data) + (threadIdx.x % (8 * count)) * pitch; \
    for (int i = 0; i < kTimes; ++i) {                                              \
      text;                                                                         \
      sum += r[0] + r[1] + r[2] + r[3];                                             \
    }                                                                               \
    out[threadIdx.x] = sum;                                                         \
  }
#define LD1(suffix)                                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 {%0}, [%1];" \
               : "=r"(r[0])                                                     \
               : "r"(at))
#define LD2(suffix)                                                                \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 {%0,%1}, [%2];" \
               : "=r"(r[0]), "=r"(r[1])                                            \
               : "r"(at))
#define LD4(suffix)                                                                      \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 {%0,%1,%2,%3}, [%4];" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                          \
               : "r"(at))
#define ST1(suffix)                                                                          \
  asm volatile("stmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 [%1], {%0};" ::"r"(r[0]), \
               "r"(at)                                                                       \
               : "memory")
#define ST2(suffix)                                                                             \
  asm volatile("stmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 [%2], {%0,%1};" ::"r"(r[0]), \
               "r"(r[1]), "r"(at)                                                               \
               : "memory")
#define ST4(suffix)                                            \
  asm volatile("stmatrix.sync.aligned.m8n8.x4" suffix          \
               ".shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r[0]), \
               "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(at)        \
               : "memory")
MATRIX(ldmatrix_x1_pitch_16, LD1(""), 1, 16)
MATRIX(ldmatrix_x2_pitch_16, LD2(""), 2, 16)
MATRIX(ldmatrix_x4_pitch_16, LD4(""), 4, 16)
MATRIX(ldmatrix_x4_trans_pitch_16, LD4(".trans"), 4, 16)
MATRIX(ldmatrix_x4_pitch_32, LD4(""), 4, 32)
MATRIX(ldmatrix_x4_pitch_64, LD4(""), 4, 64)
MATRIX(ldmatrix_x4_pitch_128, LD4(""), 4, 128)
MATRIX(ldmatrix_x4_pitch_144, LD4(""), 4, 144)
MATRIX(ldmatrix_x1_pitch_128, LD1(""), 1, 128)
MATRIX(stmatrix_x1_pitch_16, ST1(""), 1, 16)
MATRIX(stmatrix_x2_pitch_16, ST2(""), 2, 16)
MATRIX(stmatrix_x4_pitch_16, ST4(""), 4, 16)
MATRIX(stmatrix_x4_trans_pitch_16, ST4(".trans"), 4, 16)
MATRIX(stmatrix_x4_pitch_128, ST4(""), 4, 128)
MATRIX(stmatrix_x4_pitch_144, ST4(""), 4, 144)

// --- TMA ---
#define TMA_KERNEL(name, bytes, issue)                                                        \
  extern "C" __global__ void name(const __grid_constant__ CUtensorMap map, uint8_t* global) { \
    __shared__ __align__(8) uint64_t barrier;                                                 \
    const uint32_t at = shared_address(&barrier), to = shared_address(data);                  \
    if (threadIdx.x) return;                                                                  \
    init(at, 1);                                                                              \
    for (uint32_t i = 0; i < kTimes; ++i) {                                                   \
      if (bytes) expect(at, bytes);                                                           \
      issue;                                                                                  \
      if (bytes) wait(at, i & 1);                                                             \
      else commit_and_wait();                                                                 \
    }                                                                                         \
  }
#define LOAD_2D(x, y)                                                                           \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%3, %4}], [%2];" ::"r"(to),                                                        \
      "l"(&map), "r"(at), "r"(x), "r"(y)                                                        \
      : "memory")
TMA_KERNEL(tma_load_inside, 8192, LOAD_2D(0, 0))
TMA_KERNEL(tma_load_half_outside, 8192, LOAD_2D(0, -32))
TMA_KERNEL(tma_load_all_outside, 8192, LOAD_2D(0, 5000))
TMA_KERNEL(tma_load_offset_16_bytes, 8192, LOAD_2D(8, 0))
TMA_KERNEL(tma_load_narrow, 1024, LOAD_2D(0, 0))
TMA_KERNEL(tma_load_narrow_at_24, 1024, LOAD_2D(24, 0))
TMA_KERNEL(
    tma_store_inside, 0,
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %2}], [%0];" ::"r"(
            to),
        "l"(&map), "r"(0)
        : "memory"))
TMA_KERNEL(
    tma_store_half_outside, 0,
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(
            to),
        "l"(&map), "r"(0), "r"(2048 - 32)
        : "memory"))
TMA_KERNEL(tma_reduce_add, 0,
           asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                        "[%1, {%2, %2}], [%0];" ::"r"(to),
                        "l"(&map), "r"(0)
                        : "memory"))
TMA_KERNEL(tma_prefetch, 0,
           asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%1, {%2, %2}];" ::"r"(to),
                        "l"(&map), "r"(0)
                        : "memory"))
TMA_KERNEL(bulk_load_4096, 4096,
           asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                        "[%1], 4096, [%2];" ::"r"(to),
                        "l"(global), "r"(at)
                        : "memory"))
TMA_KERNEL(bulk_load_4096_at_16, 4096,
           asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                        "[%1], 4096, [%2];" ::"r"(to),
                        "l"(global + 16), "r"(at)
                        : "memory"))
TMA_KERNEL(
    bulk_load_16, 16,
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::
            "r"(to),
        "l"(global + 16), "r"(at)
        : "memory"))
TMA_KERNEL(bulk_store_4096, 0,
           asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], 4096;" ::"r"(to),
                        "l"(global)
                        : "memory"))
TMA_KERNEL(bulk_store_48_at_16, 0,
           asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], 48;" ::"r"(to),
                        "l"(global + 16)
                        : "memory"))
TMA_KERNEL(
    bulk_reduce_4096, 0,
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%1], [%0], 4096;" ::"r"(to),
        "l"(global)
        : "memory"))

// --- clusters of two; block 0 acts ---
#define PEER_KERNEL(name, text)                                                        \
  extern "C" __global__ void __cluster_dims__(2, 1, 1)                                 \
      name(const __grid_constant__ CUtensorMap map, uint8_t* global) {                 \
    __shared__ __align__(8) uint64_t barrier;                                          \
    const uint32_t own = shared_address(data), own_barrier = shared_address(&barrier); \
    const uint32_t peer = at_rank(own, 1), peer_barrier = at_rank(own_barrier, 1),     \
                   lane = threadIdx.x;                                                 \
    uint32_t r[4] = {lane, 1, 2, 3};                                                   \
    if (lane == 0) init(own_barrier, 1);                                               \
    cluster_sync();                                                                    \
    if (blockIdx.x == 0)                                                               \
      for (uint32_t i = 0; i < kTimes; ++i) {                                          \
        text;                                                                          \
      }                                                                                \
    const int64_t begin = clock64();                                                   \
    while (clock64() - begin < 20000) {                                                \
    }                                                                                  \
    cluster_sync();                                                                    \
    if (r[0] + r[1] + r[2] + r[3] == 12345) global[0] = 1;                             \
  }
PEER_KERNEL(dsmem_load_b32, asm volatile("ld.shared::cluster.b32 %0, [%1];"
                                         : "=r"(r[0])
                                         : "r"(peer + 4 * lane)
                                         : "memory"))
PEER_KERNEL(dsmem_load_b128, asm volatile("ld.shared::cluster.v4.b32 {%0,%1,%2,%3}, [%4];"
                                          : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                                          : "r"(peer + 16 * lane)
                                          : "memory"))
PEER_KERNEL(dsmem_load_stride_8, asm volatile("ld.shared::cluster.b32 %0, [%1];"
                                              : "=r"(r[0])
                                              : "r"(peer + 8 * lane)
                                              : "memory"))
PEER_KERNEL(dsmem_load_stride_128, asm volatile("ld.shared::cluster.b32 %0, [%1];"
                                                : "=r"(r[0])
                                                : "r"(peer + 128 * lane)
                                                : "memory"))
PEER_KERNEL(dsmem_load_one_lane, if (lane == 0) asm volatile("ld.shared::cluster.b32 %0, [%1];"
                                                             : "=r"(r[0])
                                                             : "r"(peer)
                                                             : "memory"))
PEER_KERNEL(dsmem_load_own, asm volatile("ld.shared::cluster.b32 %0, [%1];"
                                         : "=r"(r[0])
                                         : "r"(at_rank(own, 0) + 4 * lane)
                                         : "memory"))
PEER_KERNEL(dsmem_store_b32,
            asm volatile("st.shared::cluster.b32 [%1], %0;" ::"r"(r[0]), "r"(peer + 4 * lane)
                         : "memory"))
PEER_KERNEL(dsmem_store_b128,
            asm volatile("st.shared::cluster.v4.b32 [%4], {%0,%1,%2,%3};" ::"r"(r[0]), "r"(r[1]),
                         "r"(r[2]), "r"(r[3]), "r"(peer + 16 * lane)
                         : "memory"))
PEER_KERNEL(dsmem_atomic_add, asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;"
                                           : "=r"(r[0])
                                           : "r"(peer + 4 * lane)
                                           : "memory"))
PEER_KERNEL(dsmem_red_add,
            asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(peer + 4 * lane)
                         : "memory"))
PEER_KERNEL(
    dsmem_st_async,
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     peer + 4 * lane),
                 "r"(lane), "r"(peer_barrier)
                 : "memory"))
PEER_KERNEL(dsmem_red_async,
            asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                         "add.u32 [%0], %1, [%2];" ::"r"(peer + 4 * lane),
                         "r"(lane), "r"(peer_barrier)
                         : "memory"))
PEER_KERNEL(dsmem_bulk_1024,
            if (lane == 0) asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                                        "complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(peer),
                                        "r"(own), "r"(peer_barrier)
                                        : "memory"))
PEER_KERNEL(dsmem_bulk_reduce_1024,
            if (lane ==
                0) asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
                                "complete_tx::bytes.add.u32 [%0], [%1], 1024, [%2];" ::"r"(peer),
                                "r"(own), "r"(peer_barrier)
                                : "memory"))
PEER_KERNEL(
    dsmem_remote_arrive,
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer_barrier)
                 : "memory"))
PEER_KERNEL(tma_multicast_both,
            if (lane == 0) asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                "multicast::cluster [%0], [%1, {%4, %4}], [%2], %3;" ::"r"(own),
                "l"(&map), "r"(own_barrier), "h"((uint16_t)3), "r"(0)
                : "memory"))
PEER_KERNEL(cluster_barriers_only, )

// --- mbarriers: four warps ---
#define BARRIER_KERNEL(name, text)                 \
  extern "C" __global__ void name(uint32_t* out) { \
    __shared__ __align__(8) uint64_t barrier;      \
    const uint32_t at = shared_address(&barrier);  \
    uint32_t done = 0;                             \
    if (threadIdx.x == 0) init(at, 128);           \
    __syncthreads();                               \
    for (uint32_t i = 0; i < kTimes; ++i) {        \
      text;                                        \
    }                                              \
    out[threadIdx.x] = done;                       \
  }
#define ARRIVE asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory")
#define TEST                                                                                   \
  asm volatile(                                                                                \
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" \
      : "=r"(done)                                                                             \
      : "r"(at)                                                                                \
      : "memory")
BARRIER_KERNEL(mbarrier_nothing, )
BARRIER_KERNEL(mbarrier_arrive, ARRIVE)
BARRIER_KERNEL(mbarrier_test_wait, TEST)
BARRIER_KERNEL(mbarrier_arrive_and_wait, ARRIVE; wait(at, i & 1))
BARRIER_KERNEL(bar_sync, __syncthreads())

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}
static CUtensorMap make_map(CUtensorMapDataType type, void* address, cuuint64_t width,
                            cuuint64_t pitch, cuuint32_t box_x, cuuint32_t box_y,
                            CUtensorMapSwizzle swizzle) {
  static void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (!f)
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                     &found);
  alignas(64) CUtensorMap map;
  const cuuint64_t dims[] = {width, 2048}, strides[] = {pitch};
  const cuuint32_t box[] = {box_x, box_y}, steps[] = {1, 1};
  const CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f)(
      &map, type, 2, address, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) std::fprintf(stderr, "map: %d\n", int(r));
  return map;
}

int main() {
  uint8_t* global;
  uint32_t* out;
  check(cudaMalloc(&global, 8 << 20), "cudaMalloc");
  check(cudaMalloc(&out, 1 << 16), "cudaMalloc");
  cudaMemset(global, 1, 8 << 20);
#define RUN(...)                           \
  __VA_ARGS__;                             \
  check(cudaGetLastError(), #__VA_ARGS__); \
  check(cudaDeviceSynchronize(), #__VA_ARGS__)
#define RUN_MATRIX(name) RUN(name<<<1, 32, 16384>>>(out))
  RUN_MATRIX(ldmatrix_x1_pitch_16);
  RUN_MATRIX(ldmatrix_x2_pitch_16);
  RUN_MATRIX(ldmatrix_x4_pitch_16);
  RUN_MATRIX(ldmatrix_x4_trans_pitch_16);
  RUN_MATRIX(ldmatrix_x4_pitch_32);
  RUN_MATRIX(ldmatrix_x4_pitch_64);
  RUN_MATRIX(ldmatrix_x4_pitch_128);
  RUN_MATRIX(ldmatrix_x4_pitch_144);
  RUN_MATRIX(ldmatrix_x1_pitch_128);
  RUN_MATRIX(stmatrix_x1_pitch_16);
  RUN_MATRIX(stmatrix_x2_pitch_16);
  RUN_MATRIX(stmatrix_x4_pitch_16);
  RUN_MATRIX(stmatrix_x4_trans_pitch_16);
  RUN_MATRIX(stmatrix_x4_pitch_128);
  RUN_MATRIX(stmatrix_x4_pitch_144);
  const auto f16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  const CUtensorMap square = make_map(f16, global, 1024, 2048, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap narrow = make_map(f16, global, 1024, 2048, 8, 64, CU_TENSOR_MAP_SWIZZLE_NONE);
  const CUtensorMap words = make_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, global, 512, 2048, 32, 64,
                                     CU_TENSOR_MAP_SWIZZLE_128B);
#define RUN_TMA(name, map) RUN(name<<<1, 32, 16384>>>(map, global))
  RUN_TMA(tma_load_inside, square);
  RUN_TMA(tma_load_half_outside, square);
  RUN_TMA(tma_load_all_outside, square);
  RUN_TMA(tma_load_offset_16_bytes, square);
  RUN_TMA(tma_load_narrow, narrow);
  RUN_TMA(tma_load_narrow_at_24, narrow);
  RUN_TMA(tma_store_inside, square);
  RUN_TMA(tma_store_half_outside, square);
  RUN_TMA(tma_reduce_add, words);
  RUN_TMA(tma_prefetch, square);
  RUN_TMA(bulk_load_4096, square);
  RUN_TMA(bulk_load_4096_at_16, square);
  RUN_TMA(bulk_load_16, square);
  RUN_TMA(bulk_store_4096, square);
  RUN_TMA(bulk_store_48_at_16, square);
  RUN_TMA(bulk_reduce_4096, square);
#define RUN_PEER(name) RUN(name<<<2, 32, 16384>>>(square, global))
  RUN_PEER(cluster_barriers_only);
  RUN_PEER(dsmem_load_b32);
  RUN_PEER(dsmem_load_b128);
  RUN_PEER(dsmem_load_stride_8);
  RUN_PEER(dsmem_load_stride_128);
  RUN_PEER(dsmem_load_one_lane);
  RUN_PEER(dsmem_load_own);
  RUN_PEER(dsmem_store_b32);
  RUN_PEER(dsmem_store_b128);
  RUN_PEER(dsmem_atomic_add);
  RUN_PEER(dsmem_red_add);
  RUN_PEER(dsmem_st_async);
  RUN_PEER(dsmem_red_async);
  RUN_PEER(dsmem_bulk_1024);
  RUN_PEER(dsmem_bulk_reduce_1024);
  RUN_PEER(dsmem_remote_arrive);
  RUN_PEER(tma_multicast_both);
#define RUN_BARRIER(name) RUN(name<<<1, 128>>>(out))
  RUN_BARRIER(mbarrier_nothing);
  RUN_BARRIER(mbarrier_arrive);
  RUN_BARRIER(mbarrier_test_wait);
  RUN_BARRIER(mbarrier_arrive_and_wait);
  RUN_BARRIER(bar_sync);
}
