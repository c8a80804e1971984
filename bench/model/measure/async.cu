// Asynchronous copies into shared memory: cp.async, bulk copies and tensor maps by bytes in flight;
// their latency; bulk stores; mbarriers.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <algorithm>

#include "device/ptx/bulk_copy.cuh"
#include "device/ptx/tma.cuh"
#include "measure.h"

namespace measure {
namespace {

constexpr size_t kGiB = 1 << 30;
constexpr int kThreads = 128;
constexpr u32 kMostBytes = 196608;  // of the stages together
extern __shared__ __align__(1024) char stages[];

[[maybe_unused]] __device__ u32 consume(const char* stage, u32 bytes) {
  u32 sum = 0;
  for (u32 at = threadIdx.x * 16; at < bytes; at += kThreads * 16) {
    const uint4 v = *reinterpret_cast<const uint4*>(stage + at);
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  return sum;
}

// kStages stages of 8 KB, each thread copies 4 packs of 16 bytes per stage.
template <int kStages>
__global__ void __launch_bounds__(kThreads) by_cp_async(const char* in, u32 tiles, u32* sink) {
#if __CUDA_ARCH__ >= 800
  constexpr u32 kBytes = kThreads * 64;
  u32 sum = 0;
  const auto fetch = [&](u32 tile, int stage) {
    if (tile < tiles)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const u32 at = u32(i) * kThreads * 16 + threadIdx.x * 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         u32(__cvta_generic_to_shared(stages)) + u32(stage) * kBytes + at),
                     "l"(in + size_t(tile) * kBytes + at)
                     : "memory");
      }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int s = 0; s < kStages; ++s) fetch(blockIdx.x + u32(s) * gridDim.x, s);
  int stage = 0;
#pragma unroll 1
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    __syncthreads();
    sum ^= consume(stages + u32(stage) * kBytes, kBytes);
    __syncthreads();
    fetch(tile + kStages * gridDim.x, stage);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  if (sum == 0x12345678) *sink = sum;
#endif
}

// Thread 0 asks for each stage: by address, or by a box of the tensor map of 128 bytes x 64 rows.
template <bool kTensor>
__global__ void __launch_bounds__(kThreads)
    by_bulk(const char* in, const __grid_constant__ CUtensorMap map, u32 bytes, u32 count,
            u32 tiles, u32* sink) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full[32];
  if (threadIdx.x == 0) {
    for (u32 s = 0; s < count; ++s) ridge::ptx::mbarrier_init(full + s, 1);
    ridge::ptx::mbarrier_init_done();
  }
  __syncthreads();
  const auto fetch = [&](u32 tile, u32 stage) {
    if (tile >= tiles || threadIdx.x != 0) return;
    ridge::ptx::mbarrier_arrive_expect(full + stage, bytes);
    if constexpr (kTensor)
      ridge::ptx::tma_load(stages + stage * bytes, &map, int(tile % 64 * 64), int(tile / 64 * 64),
                           0, full + stage);
    else
      ridge::ptx::bulk_load(stages + stage * bytes, in + size_t(tile) * bytes, bytes, full + stage);
  };
  for (u32 s = 0; s < count; ++s) fetch(blockIdx.x + s * gridDim.x, s);
  u32 stage = 0, parity = 0, sum = 0;
#pragma unroll 1
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ridge::ptx::mbarrier_wait(full + stage, parity);
    sum ^= consume(stages + stage * bytes, bytes);
    __syncthreads();
    fetch(tile + count * gridDim.x, stage);
    if (++stage == count) stage = 0, parity ^= 1;
  }
  if (sum == 0x12345678) *sink = sum;
#endif
}

// Cycles of one copy, from asking until its bytes are there.
template <bool kTensor>
__global__ void bulk_latency(const char* in, const __grid_constant__ CUtensorMap map, u32 bytes,
                             long long* cycles) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ridge::ptx::mbarrier_init(&full, 1);
    ridge::ptx::mbarrier_init_done();
  }
  const long long start = begin_cycles();
  for (u32 i = 0; i < 64; ++i) {
    ridge::ptx::mbarrier_arrive_expect(&full, bytes);
    if constexpr (kTensor) ridge::ptx::tma_load(stages, &map, 0, int(i * 64), 0, &full);
    else ridge::ptx::bulk_load(stages, in + i * bytes, bytes, &full);
    ridge::ptx::mbarrier_wait(&full, i & 1);
  }
  end_cycles(start, cycles);
#endif
}
__global__ void cp_async_latency(const char* in, long long* cycles) {
#if __CUDA_ARCH__ >= 800
  const long long start = begin_cycles();
  for (u32 i = 0; i < 64; ++i) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     u32(__cvta_generic_to_shared(stages)) + threadIdx.x * 16),
                 "l"(in + i * 512 + threadIdx.x * 16)
                 : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  }
  end_cycles(start, cycles);
#endif
}
__global__ void __launch_bounds__(kThreads) bulk_stores(char* out, u32 bytes, u32 tiles) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x != 0) return;
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ridge::ptx::bulk_store(out + size_t(tile) * bytes, stages, bytes);
    ridge::ptx::bulk_commit();
    ridge::ptx::bulk_wait_read<4>();
  }
  ridge::ptx::bulk_wait_read<0>();
#endif
}
// A barrier of `threads` arrivals that all of them wait for.
__global__ void mbarriers(int rounds, long long* cycles) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ridge::ptx::mbarrier_init(&barrier, blockDim.x);
    ridge::ptx::mbarrier_init_done();
  }
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ridge::ptx::shared_address(&barrier))
        : "memory");
    ridge::ptx::mbarrier_wait(&barrier, u32(r & 1));
  }
  end_cycles(start, cycles);
#endif
}

CUtensorMap tensor_map(void* data) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &result));
  const cuuint64_t size[3] = {4096, kGiB / 8192, 1}, pitch[2] = {8192, kGiB};
  const cuuint32_t box[3] = {64, 64, 1}, step[3] = {1, 1, 1};
  CUtensorMap map{};
  if (reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found)(
          &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, data, size, pitch, box, step,
          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "async: the driver refuses the tensor map\n");
    std::exit(1);
  }
  return map;
}

char* data;
u32* sink;

template <int kStages>
void cp_async_at(Curve& cold) {
  const u32 bytes = kStages * kThreads * 64,
            tiles = u32((kStages < 3 ? kGiB / 4 : kGiB) / (kThreads * 64));
  CHECK(cudaFuncSetAttribute(by_cp_async<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             int(bytes)));
  cold.at(bytes, rate(time_us(5, make_cold,
                              [&] {
                                by_cp_async<kStages>
                                    <<<card().sms, kThreads, bytes, stream()>>>(data, tiles, sink);
                              }),
                      double(tiles) * kThreads * 64 / 1e3));
}

template <bool kTensor>
void bulk_by_depth(const std::string& name, u32 bytes, const CUtensorMap& map) {
  CHECK(cudaFuncSetAttribute(by_bulk<kTensor>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             int(kMostBytes)));
  Curve cold(name, "bytes in flight per SM", "GB/s",
             "1 GiB, one block of 128 threads per SM, which also reads the stages; cold");
  for (u32 count : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 24u}) {
    if (count * bytes > kMostBytes) break;
    const u32 tiles = u32((count * bytes < 16384 ? kGiB / 4 : kGiB) / bytes);
    cold.at(double(count) * bytes,
            rate(time_us(5, make_cold,
                         [&] {
                           by_bulk<kTensor><<<card().sms, kThreads, count * bytes, stream()>>>(
                               data, map, bytes, count, tiles, sink);
                         }),
                 double(tiles) * bytes / 1e3));
  }
}

}  // namespace

void async_copies() {
  if (card().arch < 800) return;
  data = static_cast<char*>(device_memory(kGiB));
  sink = static_cast<u32*>(device_memory(4));
  fill(data, kGiB);
  {
    Curve cold("cp_async.read_by_in_flight", "bytes in flight per SM", "GB/s",
               "1 GiB by cp.async of 16 bytes, stages of 8 KB, one block of 128 threads per SM, "
               "which also reads them; cold");
    cp_async_at<1>(cold);
    cp_async_at<2>(cold);
    cp_async_at<3>(cold);
    cp_async_at<4>(cold);
    cp_async_at<6>(cold);
    cp_async_at<8>(cold);
    cp_async_at<12>(cold);
  }
  add("cp_async.latency",
      cycles_of(5, 1, 64,
                [&] { cp_async_latency<<<1, 32, 65536 / 4, stream()>>>(data, cycle_slots()); }),
      "cycles", "one warp copies 512 bytes that are in the L2 and waits for them");
  if (card().arch < 900) return;
  const CUtensorMap map = tensor_map(data);
  bulk_by_depth<false>("bulk.read_by_in_flight_2K", 2048, map);
  bulk_by_depth<false>("bulk.read_by_in_flight_8K", 8192, map);
  bulk_by_depth<false>("bulk.read_by_in_flight_32K", 32768, map);
  bulk_by_depth<true>("tma.read_by_in_flight_8K", 8192, map);
  {
    CHECK(cudaFuncSetAttribute(bulk_latency<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               65536));
    Curve curve("bulk.latency_by_bytes", "bytes", "cycles",
                "one bulk copy from the L2, asked for and waited for");
    for (const u32 bytes : {16u, 128u, 512u, 2048u, 8192u, 32768u})
      curve.at(bytes, cycles_of(5, 1, 64, [&] {
                 bulk_latency<false><<<1, 1, 65536, stream()>>>(data, map, bytes, cycle_slots());
               }));
  }
  CHECK(
      cudaFuncSetAttribute(bulk_latency<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  add("tma.latency",
      cycles_of(
          5, 1, 64,
          [&] { bulk_latency<true><<<1, 1, 65536, stream()>>>(data, map, 8192, cycle_slots()); }),
      "cycles", "one box of 128 bytes x 64 rows from the L2, asked for and waited for");
  {
    CHECK(cudaFuncSetAttribute(bulk_stores, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    Curve curve("bulk.write_by_bytes", "bytes per copy", "GB/s",
                "1 GiB by bulk stores, 5 in flight per SM");
    for (const u32 bytes : {1024u, 4096u, 16384u, 32768u})
      curve.at(bytes, rate(time_us(5, make_cold,
                                   [&] {
                                     bulk_stores<<<card().sms, kThreads, 32768, stream()>>>(
                                         data, bytes, u32(kGiB / bytes));
                                   }),
                           double(kGiB) / 1e3));
  }
  {
    Curve curve("mbarrier.cycles_by_threads", "threads", "cycles",
                "all threads arrive and wait; one block");
    for (const int threads : {1, 32, 128, 256, 1024})
      curve.at(threads, cycles_of(5, 1, 256, [&] {
                 mbarriers<<<1, threads, 0, stream()>>>(256, cycle_slots());
               }));
  }
}

}  // namespace measure
