// What an H200 reports for misuse: one misuse per process, since most end its use of the GPU.
//
//   errors_record            prints the names
//   errors_record NAME       runs one and prints the error of the launch and of the kernel's end
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

struct Arguments {
  int what;
  uint32_t a, b;
  uint8_t* global;
};

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}
__device__ void rest() {
  const int64_t begin = clock64();
  while (clock64() - begin < 200000) {
  }
}
__device__ void load_bulk(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// a: offset in shared memory, b: offset in global memory, what: bytes
__global__ void bulk_load(Arguments x, bool initialised) {
  __shared__ __align__(128) uint8_t data[4096];
  __shared__ __align__(8) uint64_t barrier;
  if (threadIdx.x == 0) {
    barrier = 0;
    if (initialised) init(shared_address(&barrier), 1);
    load_bulk(shared_address(data) + x.a, x.global + x.b, uint32_t(x.what),
              shared_address(&barrier));
    rest();
    if (x.global) x.global[0] = data[0];
  }
}
__global__ void bulk_store(Arguments x) {
  __shared__ __align__(128) uint8_t data[4096];
  if (threadIdx.x == 0) {
    data[0] = 1;
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], "
        "%2;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(x.global + x.b),
        "r"(shared_address(data) + x.a), "r"(x.what)
        : "memory");
  }
}
__global__ void tensor_load(const __grid_constant__ CUtensorMap map, Arguments x) {
  extern __shared__ __align__(1024) uint8_t data[];
  __shared__ __align__(8) uint64_t barrier;
  if (threadIdx.x) return;
  init(shared_address(&barrier), 1);
  const uint32_t to = shared_address(data) + x.a, at = shared_address(&barrier);
  const auto* from = reinterpret_cast<const uint8_t*>(&map) + x.b;
  if (x.what == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3}], [%2];" ::"r"(to),
        "l"(from), "r"(at), "r"(0)
        : "memory");
  if (x.what == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %3}], [%2];" ::"r"(to),
        "l"(from), "r"(at), "r"(0)
        : "memory");
  if (x.what == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %3, %3}], [%2];" ::"r"(to),
        "l"(from), "r"(at), "r"(0)
        : "memory");
  if (x.what == 13)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %3, %3}], [%2], {%4};" ::"r"(to),
        "l"(from), "r"(at), "r"(0), "h"((uint16_t)0)
        : "memory");
  if (x.what == 22)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1, {%3, %3}], [%2], %4;" ::"r"(to),
        "l"(from), "r"(at), "r"(0), "h"((uint16_t)2)
        : "memory");
  if (x.what == 23)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1, {%3, %3}], [%2], %4;" ::"r"(to),
        "l"(from), "r"(at), "r"(0), "h"((uint16_t)0)
        : "memory");
  rest();
}
__global__ void __launch_bounds__(128) multiply(Arguments x) {
  extern __shared__ __align__(1024) uint8_t data[];
  float c[4] = {};
  const uint64_t base = shared_address(data) >> 4;
  const uint64_t b = (base & 0x3fff) | 8ull << 16 | 16ull << 32;
  const uint64_t a = ((base + x.a) & 0x3fff) | uint64_t(x.b) << 16 | 16ull << 32;
  if (threadIdx.x < unsigned(x.what)) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  if (x.global) reinterpret_cast<float*>(x.global)[threadIdx.x] = c[0];
}
// A block of a cluster of two reads its peer's shared memory. what: 0 while it is there, 1 after it
// has left, 2 beyond its end, 3 of a rank that is not there, 4 writes after it has left, 5 arrives
// on its mbarrier after it left.
__global__ void __cluster_dims__(2, 1, 1) peers(Arguments x) {
  __shared__ __align__(16) uint32_t data[256];
  __shared__ __align__(8) uint64_t barrier;
  data[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) init(shared_address(&barrier), 100);
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  const bool first = blockIdx.x % 2 == 0;
  if (!first && x.what != 0) return;
  if (first && threadIdx.x == 0) {
    if (x.what == 1 || x.what >= 4)
      for (int i = 0; i < 10; ++i) rest();
    uint32_t from, value = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(from)
                 : "r"(shared_address(data)), "r"(x.what == 3 ? 5 : 1));
    if (x.what == 4)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(from), "r"(7) : "memory");
    else if (x.what == 5) {
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                   : "=r"(from)
                   : "r"(shared_address(&barrier)), "r"(1));
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(from)
                   : "memory");
    } else
      asm volatile("ld.shared::cluster.u32 %0, [%1];"
                   : "=r"(value)
                   : "r"(from + (x.what == 2 ? 0x10000u : 0u))
                   : "memory");
    reinterpret_cast<uint32_t*>(x.global)[0] = value + 1;
  }
  if (x.what == 0)
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// One block of the cluster leaves without the barrier.
__global__ void __cluster_dims__(2, 1, 1) one_leaves(Arguments x) {
  if (blockIdx.x == 1) return;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  x.global[0] = 1;
}
__global__ void __cluster_dims__(2, 1, 1) half_a_block_skips(Arguments x) {
  if (blockIdx.x == 1 && threadIdx.x < 32) {
    for (int i = 0; i < 20; ++i) rest();
    return;
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  x.global[0] = 1;
}
__global__ void arrive_without_wait(Arguments x) {
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.arrive;" ::: "memory");
  x.global[0] = 1;
}
__global__ void wait_without_arrive(Arguments x) {
  asm volatile("barrier.cluster.wait;" ::: "memory");
  x.global[0] = 1;
}
__global__ void dependents(Arguments x) {
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::
                   : "memory");
  x.global[0] = 1;
}
__global__ void __launch_bounds__(384, 1) more_registers(Arguments x) {
  // 168 registers for each of 384 threads: two thirds ask for more than the rest gave back.
  if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 160;");
  else asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  if (x.global) x.global[threadIdx.x] = uint8_t(threadIdx.x);
}
__global__ void __launch_bounds__(384, 1) enough_registers(Arguments x) {
  if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  else asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  if (x.global) x.global[threadIdx.x] = uint8_t(threadIdx.x);
}
__global__ void matrices(Arguments x) {
  __shared__ __align__(128) uint8_t data[2048];
  const uint32_t at = shared_address(data) + 16 * (threadIdx.x % 32) + x.a;
  uint32_t r = 0;
  if (x.what == 0)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at));
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(r)
                 : "memory");
  x.global[threadIdx.x] = uint8_t(r);
}
// Operations on a misplaced or unready mbarrier. a: offset
__global__ void barriers(Arguments x) {
  __shared__ __align__(16) uint8_t data[64];
  uint32_t at = shared_address(data) + x.a, done = 2;
  if (x.what == 1)
    for (int i = 0; i < 64; ++i) data[i] = 0;
  if (x.what == 2)
    for (int i = 0; i < 64; ++i) data[i] = 0xff;
  if (x.what == 3)
    for (int i = 0; i < 64; ++i) data[i] = 0x5a;
  if (x.what == 0) init(at, 2);
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(at)
      : "memory");
  x.global[0] = uint8_t(done);
}
__device__ void store_async(Arguments x) {
  __shared__ __align__(128) uint8_t data[256];
  __shared__ __align__(8) uint64_t barrier;
  init(shared_address(&barrier), 1);
  uint32_t peer, at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(peer) : "r"(shared_address(data)));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(shared_address(&barrier)));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(peer + x.a),
      "l"(1ll), "r"(at + x.b)
      : "memory");
  rest();
  x.global[0] = data[8];
}
__global__ void async_store(Arguments x) { store_async(x); }
__global__ void __cluster_dims__(1, 1, 1) async_store_in_cluster(Arguments x) { store_async(x); }
__global__ void wait_for_ever(Arguments x) {
  __shared__ __align__(8) uint64_t barrier;
  init(shared_address(&barrier), 2);
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(shared_address(&barrier))
        : "memory");
  x.global[0] = 1;
}
__global__ void prefetch(const __grid_constant__ CUtensorMap map, Arguments x) {
  const auto* at = reinterpret_cast<const uint8_t*>(&map) + x.b;
  asm volatile("prefetch.tensormap [%0];" ::"l"(at) : "memory");
  x.global[0] = 1;
}

using Function = std::function<void(Arguments)>;
static Arguments with(Arguments x, int what, uint32_t a = 0, uint32_t b = 0) {
  x.what = what;
  x.a = a;
  x.b = b;
  return x;
}
static CUtensorMap make_map(void* address, int rank, bool im2col = false) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled",
                                   &f, 12000, cudaEnableDefault, &found);
  alignas(64) CUtensorMap map;
  std::memset(&map, 0, sizeof map);
  const cuuint64_t dims[] = {32, 8, 4}, strides[] = {128, 1024};
  const cuuint32_t box[] = {16, 4, 2}, steps[] = {1, 1, 1};
  const int corner[] = {0};
  const auto none = CU_TENSOR_MAP_INTERLEAVE_NONE;
  if (im2col)
    reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(f)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, address, dims, strides, corner, corner, 16, 8,
        steps, none, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  else
    reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, unsigned(rank), address, dims, strides, box, steps,
        none, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}
static CUtensorMap filled(int byte) {
  CUtensorMap map;
  std::memset(&map, byte, sizeof map);
  return map;
}

int main(int argc, char** argv) {
  const std::map<std::string, Function> all = {
      {"bulk_load_fine", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64), true); }},
      {"bulk_load_shared_8", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64, 8), true); }},
      {"bulk_load_global_8", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64, 0, 8), true); }},
      {"bulk_load_size_24", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 24), true); }},
      {"bulk_load_size_0", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 0), true); }},
      {"bulk_load_size_1M", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 1 << 20), true); }},
      {"bulk_load_barrier_not_initialised",
       [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64), false); }},
      {"bulk_load_past_shared_memory",
       [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64, 1 << 17), true); }},
      {"bulk_load_past_block", [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64, 8192), true); }},
      {"bulk_load_bad_global",
       [](Arguments x) {
         x.global = nullptr;
         bulk_load<<<1, 32>>>(with(x, 64, 0, 0x100000), true);
       }},
      {"bulk_load_past_allocation",
       [](Arguments x) { bulk_load<<<1, 32>>>(with(x, 64, 0, 1u << 30), true); }},
      {"bulk_store_fine", [](Arguments x) { bulk_store<<<1, 32>>>(with(x, 64)); }},
      {"bulk_store_shared_8", [](Arguments x) { bulk_store<<<1, 32>>>(with(x, 64, 8)); }},
      {"bulk_store_global_8", [](Arguments x) { bulk_store<<<1, 32>>>(with(x, 64, 0, 8)); }},
      {"bulk_store_size_24", [](Arguments x) { bulk_store<<<1, 32>>>(with(x, 24)); }},
      {"bulk_store_bad_global",
       [](Arguments x) { bulk_store<<<1, 32>>>(with(x, 64, 0, 1u << 30)); }},
      {"tensor_fine",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 2)); }},
      {"tensor_rank_1_of_2",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 1)); }},
      {"tensor_rank_3_of_2",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 3)); }},
      {"tensor_rank_2_of_3",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 3), with(x, 2)); }},
      {"tensor_im2col_of_tiled",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 3), with(x, 13)); }},
      {"tensor_tile_of_im2col",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 3, true), with(x, 3)); }},
      {"tensor_im2col_fine",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 3, true), with(x, 13)); }},
      {"tensor_map_of_zeros",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(filled(0), with(x, 2)); }},
      {"tensor_map_of_ones",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(filled(0xff), with(x, 2)); }},
      {"tensor_map_of_5a",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(filled(0x5a), with(x, 2)); }},
      {"tensor_map_at_32",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 2, 0, 32)); }},
      {"tensor_map_at_8",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 2, 0, 8)); }},
      {"tensor_shared_16",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 2, 16)); }},
      {"tensor_past_shared_memory",
       [](Arguments x) { tensor_load<<<1, 32, 128>>>(make_map(x.global, 2), with(x, 2, 4096)); }},
      {"tensor_bad_global",
       [](Arguments x) {
         tensor_load<<<1, 32, 4096>>>(make_map(reinterpret_cast<void*>(0x100000), 2), with(x, 2));
       }},
      {"tensor_multicast_to_no_block",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 22)); }},
      {"tensor_multicast_mask_0",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 23)); }},
      {"prefetch_map_of_zeros", [](Arguments x) { prefetch<<<1, 32>>>(filled(0), with(x, 0)); }},
      {"prefetch_map_at_8",
       [](Arguments x) { prefetch<<<1, 32>>>(make_map(x.global, 2), with(x, 0, 0, 8)); }},
      {"wgmma_fine", [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 128, 0, 8)); }},
      {"wgmma_past_block", [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 128, 0x800, 8)); }},
      {"wgmma_past_shared_memory",
       [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 128, 0x3b00, 8)); }},
      {"wgmma_leading_past_shared_memory",
       [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 128, 0, 0x3a00)); }},
      {"wgmma_wraps", [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 128, 0x3ff0, 8)); }},
      {"wgmma_one_warp", [](Arguments x) { multiply<<<1, 32, 8192>>>(with(x, 32, 0, 8)); }},
      {"wgmma_three_warps", [](Arguments x) { multiply<<<1, 96, 8192>>>(with(x, 96, 0, 8)); }},
      {"wgmma_half_a_warp", [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 112, 0, 8)); }},
      {"wgmma_two_of_four_warps",
       [](Arguments x) { multiply<<<1, 128, 8192>>>(with(x, 64, 0, 8)); }},
      {"peer_fine", [](Arguments x) { peers<<<2, 128>>>(with(x, 0)); }},
      {"peer_read_after_it_left", [](Arguments x) { peers<<<2, 128>>>(with(x, 1)); }},
      {"peer_read_past_its_end", [](Arguments x) { peers<<<2, 128>>>(with(x, 2)); }},
      {"peer_rank_5_of_2", [](Arguments x) { peers<<<2, 128>>>(with(x, 3)); }},
      {"peer_write_after_it_left", [](Arguments x) { peers<<<2, 128>>>(with(x, 4)); }},
      {"peer_arrive_after_it_left", [](Arguments x) { peers<<<2, 128>>>(with(x, 5)); }},
      {"peer_read_after_it_left_many", [](Arguments x) { peers<<<2000, 128>>>(with(x, 1)); }},
      {"cluster_grid_no_multiple", [](Arguments x) { peers<<<3, 128>>>(with(x, 0)); }},
      {"cluster_barrier_one_leaves", [](Arguments x) { one_leaves<<<2, 64>>>(x); }},
      {"cluster_barrier_half_leaves_late", [](Arguments x) { half_a_block_skips<<<2, 64>>>(x); }},
      {"cluster_arrive_twice", [](Arguments x) { arrive_without_wait<<<1, 32>>>(x); }},
      {"cluster_wait_without_arrive", [](Arguments x) { wait_without_arrive<<<1, 32>>>(x); }},
      {"griddepcontrol_without_attribute", [](Arguments x) { dependents<<<1, 32>>>(x); }},
      {"setmaxnreg_too_many", [](Arguments x) { more_registers<<<1, 384>>>(x); }},
      {"setmaxnreg_fine", [](Arguments x) { enough_registers<<<1, 384>>>(x); }},
      {"ldmatrix_at_8", [](Arguments x) { matrices<<<1, 32>>>(with(x, 0, 8)); }},
      {"stmatrix_at_8", [](Arguments x) { matrices<<<1, 32>>>(with(x, 1, 8)); }},
      {"mbarrier_at_4", [](Arguments x) { barriers<<<1, 1>>>(with(x, 0, 4)); }},
      {"mbarrier_of_zeros", [](Arguments x) { barriers<<<1, 1>>>(with(x, 1)); }},
      {"mbarrier_of_ones", [](Arguments x) { barriers<<<1, 1>>>(with(x, 2)); }},
      {"mbarrier_of_5a", [](Arguments x) { barriers<<<1, 1>>>(with(x, 3)); }},
      {"mbarrier_never_complete", [](Arguments x) { wait_for_ever<<<1, 1>>>(x); }},
      {"st_async_fine", [](Arguments x) { async_store<<<1, 1>>>(with(x, 0)); }},
      {"st_async_at_4", [](Arguments x) { async_store<<<1, 1>>>(with(x, 0, 4)); }},
      {"st_async_barrier_at_4", [](Arguments x) { async_store<<<1, 1>>>(with(x, 0, 0, 4)); }},
      {"st_async_cluster_fine", [](Arguments x) { async_store_in_cluster<<<1, 1>>>(with(x, 0)); }},
      {"st_async_cluster_at_4",
       [](Arguments x) { async_store_in_cluster<<<1, 1>>>(with(x, 0, 4)); }},
      {"st_async_cluster_barrier_at_4",
       [](Arguments x) { async_store_in_cluster<<<1, 1>>>(with(x, 0, 0, 4)); }},
      {"tensor_map_at_64",
       [](Arguments x) { tensor_load<<<1, 32, 4096>>>(make_map(x.global, 2), with(x, 2, 0, 64)); }},
      {"threads_1025", [](Arguments x) { dependents<<<1, 1025>>>(x); }},
      {"dynamic_48_KiB_and_more",
       [](Arguments x) {
         tensor_load<<<1, 32, 49152 + 1024>>>(make_map(x.global, 2), with(x, 2));
       }},
      {"dynamic_attribute_228_KiB",
       [](Arguments) {
         cudaFuncSetAttribute(tensor_load, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024);
       }},
      {"dynamic_attribute_227_KiB_with_static",
       [](Arguments) {
         cudaFuncSetAttribute(tensor_load, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
       }},
  };
  if (argc < 2) {
    for (const auto& [name, f] : all) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto found = all.find(argv[1]);
  if (found == all.end()) return 2;
  Arguments x{};
  cudaMalloc(&x.global, 1 << 20);
  cudaMemset(x.global, 0xcc, 1 << 20);
  cudaDeviceSynchronize();
  found->second(x);
  const cudaError_t launched = cudaGetLastError();
  std::printf("%s: launch %s", argv[1], cudaGetErrorName(launched));
  std::fflush(stdout);
  const cudaError_t ended = cudaDeviceSynchronize();
  uint8_t first[16] = {};
  cudaMemcpy(first, x.global, 16, cudaMemcpyDeviceToHost);
  std::printf(", end %s, wrote %02x%02x%02x%02x\n", cudaGetErrorName(ended), first[0], first[1],
              first[2], first[3]);
}
