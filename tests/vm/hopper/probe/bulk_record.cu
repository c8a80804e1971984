// Bulk copies, reductions and stores between the blocks of a cluster: what lies where afterwards,
// and the mbarriers' words. A cluster of four blocks runs one scene; block 0 issues.
//
//   bulk_record FILE
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "values.h"

using namespace ridge::hopper;

constexpr uint32_t kWindow = 1024, kExpected = 0x40000;  // bytes looked at; bytes expected

enum Scene : int {
  load_64,
  load_multicast,
  load_multicast_others,
  store_64,
  to_peer,
  to_self,
  tensor_multicast,
  tensor_multicast_one_other,
  store_async_b32,
  store_async_b64,
  store_async_v2_b32,
  store_async_v4_b32,
  store_async_v2_b64,
  red_async_add,
  red_async_inc,
  red_async_min_s32,
  red_async_or,
  red_async_add_u64,
  remote_arrive,
  remote_arrive_count,
  remote_arrive_expect,
  peer_reduce_add,
  peer_reduce_inc,
  peer_reduce_max_s32,
  peer_reduce_xor,
  peer_reduce_add_u64,
  load_zero,
  kScenes,
};
static const char* const kNames[] = {
    "cp.async.bulk.shared::cluster.global 64 bytes",
    "... multicast mask 13",
    "... multicast mask 6, not the issuer",
    "cp.async.bulk.global.shared::cta 64 bytes",
    "cp.async.bulk.shared::cluster.shared::cta to block 1",
    "... to itself",
    "tensor multicast mask 11",
    "tensor multicast mask 4",
    "st.async.b32",
    "st.async.b64",
    "st.async.v2.b32",
    "st.async.v4.b32",
    "st.async.v2.b64",
    "red.async.add.u32",
    "red.async.inc.u32",
    "red.async.min.s32",
    "red.async.or.b32",
    "red.async.add.u64",
    "remote arrive",
    "remote arrive, count 3",
    "remote arrive.expect_tx 48",
    "cp.reduce.async.bulk to block 1 add.u32",
    "inc.u32",
    "max.s32",
    "xor.b32",
    "add.u64",
    "cp.async.bulk.shared::cluster.global 0 bytes",
};

__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t to;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
  return to;
}
#define PEER_REDUCE(op)                                                                            \
  asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." op \
               " [%0], [%1], 64, [%2];" ::"r"(peer + 256),                                         \
               "r"(data + 512), "r"(peer_barrier)                                                  \
               : "memory")
#define RED_ASYNC(op, type, value)                                                          \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." op \
               " [%0], %1, [%2];" ::"r"(peer + 256),                                        \
               type(value), "r"(peer_barrier)                                               \
               : "memory")

__global__ void __cluster_dims__(4, 1, 1)
    play(int scene, const __grid_constant__ CUtensorMap map, uint8_t* global, const uint8_t* images,
         uint8_t* out, uint64_t* words) {
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ __align__(8) uint64_t barrier;
  const uint32_t rank = blockIdx.x;
  const auto data = uint32_t(__cvta_generic_to_shared(shared)),
             at = uint32_t(__cvta_generic_to_shared(&barrier));
  for (uint32_t i = threadIdx.x; i < kWindow; i += blockDim.x)
    shared[i] = images[rank * kWindow + i];
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(at) : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at), "r"(kExpected)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    const uint32_t peer = at_rank(data, 1), peer_barrier = at_rank(at, 1);
    const uint64_t wide = 0x1122334455667788ull;
    switch (scene) {
      case load_64:
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, "
            "[%2];" ::"r"(data + 16),
            "l"(global + 32), "r"(at)
            : "memory");
        break;
      case load_zero:
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 0, "
            "[%2];" ::"r"(data + 16),
            "l"(global + 32), "r"(at)
            : "memory");
        break;
      case load_multicast:
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], 128, [%2], %3;" ::"r"(data + 16),
            "l"(global + 32), "r"(at), "h"((uint16_t)13)
            : "memory");
        break;
      case load_multicast_others:
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], 48, [%2], %3;" ::"r"(data + 64),
            "l"(global + 16), "r"(at), "h"((uint16_t)6)
            : "memory");
        break;
      case store_64:
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;" ::"l"(global + 16),
            "r"(data + 48)
            : "memory");
        break;
      case to_peer:
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], "
            "80, [%2];" ::"r"(peer + 16),
            "r"(data + 48), "r"(peer_barrier)
            : "memory");
        break;
      case to_self:
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], "
            "80, [%2];" ::"r"(data + 512),
            "r"(data + 48), "r"(at)
            : "memory");
        break;
      case tensor_multicast:
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
            "multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(data + 128),
            "l"(&map), "r"(at), "h"((uint16_t)11), "r"(4), "r"(-1)
            : "memory");
        break;
      case tensor_multicast_one_other:
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
            "multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(data + 256),
            "l"(&map), "r"(at), "h"((uint16_t)4), "r"(4), "r"(1)
            : "memory");
        break;
      case store_async_b32:
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(peer +
                                                                                              8),
            "r"(0x12345678), "r"(peer_barrier)
            : "memory");
        break;
      case store_async_b64:
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(peer +
                                                                                              8),
            "l"(wide), "r"(peer_barrier)
            : "memory");
        break;
      case store_async_v2_b32:
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %3}, [%2];" ::
                "r"(peer + 8),
            "r"(1), "r"(peer_barrier), "r"(2)
            : "memory");
        break;
      case store_async_v4_b32:
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %3, %4, %5}, "
            "[%2];" ::"r"(peer + 16),
            "r"(1), "r"(peer_barrier), "r"(2), "r"(3), "r"(4)
            : "memory");
        break;
      case store_async_v2_b64:
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %3}, [%2];" ::
                "r"(peer + 16),
            "l"(wide), "r"(peer_barrier), "l"(wide + 1)
            : "memory");
        break;
      case red_async_add: RED_ASYNC("add.u32", "r", 5); break;
      case red_async_inc: RED_ASYNC("inc.u32", "r", 0x7fffffff); break;
      case red_async_min_s32: RED_ASYNC("min.s32", "r", -5); break;
      case red_async_or: RED_ASYNC("or.b32", "r", 0x0f0f0f0f); break;
      case red_async_add_u64: RED_ASYNC("add.u64", "l", wide); break;
      case remote_arrive:
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer_barrier)
            : "memory");
        break;
      case remote_arrive_count:
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 3;" ::"r"(peer_barrier)
            : "memory");
        break;
      case remote_arrive_expect:
        asm volatile(
            "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 48;" ::"r"(
                peer_barrier)
            : "memory");
        break;
      case peer_reduce_add: PEER_REDUCE("add.u32"); break;
      case peer_reduce_inc: PEER_REDUCE("inc.u32"); break;
      case peer_reduce_max_s32: PEER_REDUCE("max.s32"); break;
      case peer_reduce_xor: PEER_REDUCE("xor.b32"); break;
      case peer_reduce_add_u64: PEER_REDUCE("add.u64"); break;
    }
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
  const int64_t begin = clock64();
  while (clock64() - begin < 60000) {
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    words[rank] = *(volatile uint64_t*)&barrier;
  }
  __syncthreads();  // the software GPU lands copies that nobody waits for at inval, not by the clock
  for (uint32_t i = threadIdx.x; i < kWindow; i += blockDim.x)
    out[rank * kWindow + i] = ((volatile uint8_t*)shared)[i];
}

// Reductions to global memory of each type: the last 64 bytes of the line say what was there.
#define REDUCE_TO_GLOBAL(X)                                                                       \
  X("add.u32")                                                                                    \
  X("add.s32")                                                                                    \
  X("add.u64") X("add.f32") X("add.f64") X("add.noftz.f16") X("add.noftz.bf16") X("min.u32")      \
      X("min.s32") X("min.u64") X("min.s64") X("min.f16") X("min.bf16") X("max.u32") X("max.s32") \
          X("max.u64") X("max.s64") X("max.f16") X("max.bf16") X("inc.u32") X("dec.u32")          \
              X("and.b32") X("and.b64") X("or.b32") X("or.b64") X("xor.b32") X("xor.b64")
static const char* const kReductions[] = {
#define NAME(x) x,
    REDUCE_TO_GLOBAL(NAME)
#undef NAME
};
__global__ void reduce(int which, uint8_t* global, const uint8_t* image) {
  __shared__ __align__(128) uint8_t shared[kWindow];
  for (uint32_t i = threadIdx.x; i < kWindow; i += blockDim.x) shared[i] = image[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  const auto data = uint32_t(__cvta_generic_to_shared(shared));
  int i = 0;
#define ONE(op)                                                           \
  if (i++ == which)                                                       \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." op \
                 " [%0], [%1], %2;" ::"l"(global),                        \
                 "r"(data), "n"(kWindow)                                  \
                 : "memory");
  REDUCE_TO_GLOBAL(ONE)
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

static void bytes_from(uint64_t seed, uint8_t* to, size_t n) {
  Stream stream(seed);
  for (size_t i = 0; i < n; i += 4) {
    auto word = uint32_t(stream.next());
    if (i / 4 % 3 == 0) word &= 0x3fff3fff;  // numbers of ordinary size, in every format
    if (i / 4 % 8 == 3) word &= 0x807fffff;
    if (i / 4 % 9 == 4) word |= 0x7f800000;
    std::memcpy(to + i, &word, 4);
  }
}

static void run(int scene, std::FILE* f) {
  uint8_t *global, *images, *out;
  uint64_t* words;
  cudaMalloc(&global, 4096);
  cudaMalloc(&images, 4 * kWindow);
  cudaMalloc(&out, 4 * kWindow);
  cudaMalloc(&words, 32);
  uint8_t before[4 * kWindow], after[4 * kWindow], source[4096], sink[4096];
  for (uint64_t r = 0; r < 4; ++r) bytes_from(200 + r, before + r * kWindow, kWindow);
  bytes_from(100, source, 4096);
  cudaMemcpy(images, before, sizeof before, cudaMemcpyHostToDevice);
  cudaMemcpy(global, source, 4096, cudaMemcpyHostToDevice);
  if (scene >= kScenes) {
    reduce<<<1, 128>>>(scene - kScenes, global, images);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(sink, global, 4096, cudaMemcpyDeviceToHost);
    std::fprintf(f, "cp.reduce.async.bulk.global.shared::cta %s: %s hash=%016llx ",
                 kReductions[scene - kScenes], cudaGetErrorName(error),
                 (unsigned long long)hash_bytes(sink, kWindow));
    for (int i = 0; i < 256; ++i) std::fprintf(f, "%02x", sink[i]);
    std::fprintf(f, "\n");
    std::fclose(f);
    return;
  }
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  alignas(64) CUtensorMap map;
  const cuuint64_t dims[] = {24, 6}, strides[] = {96};
  const cuuint32_t box[] = {8, 4}, steps[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, global, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  play<<<4, 128, kWindow>>>(scene, map, global, images, out, words);
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(f, "%s: %s\n", kNames[scene], cudaGetErrorName(error));
  if (error == cudaSuccess) {
    uint64_t state[4];
    cudaMemcpy(after, out, sizeof after, cudaMemcpyDeviceToHost);
    cudaMemcpy(state, words, 32, cudaMemcpyDeviceToHost);
    cudaMemcpy(sink, global, 4096, cudaMemcpyDeviceToHost);
    for (int r = 0; r < 4; ++r) {
      std::fprintf(f, "  block %d word %016llx changed", r, (unsigned long long)state[r]);
      for (uint32_t i = 0; i < kWindow;) {  // runs of changed 4-byte words
        uint32_t n = 0;
        while (i + n < kWindow &&
               std::memcmp(before + r * kWindow + i + n, after + r * kWindow + i + n, 4))
          n += 4;
        if (n) {
          std::fprintf(f, " %u+%u:", i, n);
          for (uint32_t k = 0; k < n; ++k) std::fprintf(f, "%02x", after[r * kWindow + i + k]);
        }
        i += n + 4;
      }
      std::fprintf(f, "\n");
    }
    std::fprintf(f, "  global changed");
    for (uint32_t i = 0; i < 4096; i += 4)
      if (std::memcmp(source + i, sink + i, 4)) std::fprintf(f, " %u", i);
    std::fprintf(f, "\n");
  }
  std::fclose(f);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int scene = 0; scene < kScenes + int(sizeof kReductions / sizeof *kReductions); ++scene) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      run(scene, std::fopen(argv[1], "a"));
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
