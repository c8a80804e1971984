// Runs every TMA case on the device that the CUDA runtime offers and writes what happened.
//
//   tma_record --record FILE RAW [FIRST END]   FILE: one line per case: its name, the encoder's
//   result, the
//                                  error of the kernel, the words of the mbarrier before and after,
//                                  a hash of what was written; RAW: all of what was written
//
// A case that stops the GPU would spoil those after it, so a child process runs the cases and a new
// one goes on where the last one stopped.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tma_case.h"

using namespace ridge::hopper;

namespace {

struct Arguments {
  int op, reduce, im2col, rank;
  int at[5];
  uint16_t offsets[3];
  uint32_t shared;
};
constexpr uint32_t kExpected = 0x40000;  // bytes that are expected: more than any copy has

#define AT1 "{%2}"
#define AT2 "{%2,%3}"
#define AT3 "{%2,%3,%4}"
#define AT4 "{%2,%3,%4,%5}"
#define AT5 "{%2,%3,%4,%5,%6}"
#define OFF3 "{%8}"
#define OFF4 "{%8,%9}"
#define OFF5 "{%8,%9,%10}"
#define OPERANDS                                                                             \
  ::"r"(to), "l"(map), "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(a.at[4]), \
      "r"(barrier), "h"(a.offsets[0]), "h"(a.offsets[1]), "h"(a.offsets[2]) : "memory"
#define LOAD(N)                                                              \
  asm volatile("cp.async.bulk.tensor." #N                                    \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
               "[%0], [%1, " AT##N "], [%7];" OPERANDS)
#define LOAD_IM2COL(N)                                                         \
  asm volatile("cp.async.bulk.tensor." #N                                      \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes " \
               "[%0], [%1, " AT##N "], [%7], " OFF##N ";" OPERANDS)
#define STORE(N)                                                                             \
  asm volatile("cp.async.bulk.tensor." #N "d.global.shared::cta.tile.bulk_group [%1, " AT##N \
               "], [%0];" OPERANDS)
#define STORE_IM2COL(N)                   \
  asm volatile("cp.async.bulk.tensor." #N \
               "d.global.shared::cta.im2col_no_offs.bulk_group [%1, " AT##N "], [%0];" OPERANDS)
#define REDUCE(OP)                                                      \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #OP \
               ".tile.bulk_group [%1, " AT2 "], [%0];" OPERANDS)
#define PREFETCH(N) \
  asm volatile("cp.async.bulk.prefetch.tensor." #N "d.L2.global.tile [%1, " AT##N "];" OPERANDS)

__device__ void issue(uint32_t to, const CUtensorMap* map, const Arguments& a, uint32_t barrier) {
  if (a.op == int(TmaOp::load)) {
    if (a.im2col) switch (a.rank) {
        case 3: LOAD_IM2COL(3); break;
        case 4: LOAD_IM2COL(4); break;
        case 5: LOAD_IM2COL(5); break;
      }
    else switch (a.rank) {
        case 1: LOAD(1); break;
        case 2: LOAD(2); break;
        case 3: LOAD(3); break;
        case 4: LOAD(4); break;
        case 5: LOAD(5); break;
      }
  } else if (a.op == int(TmaOp::store)) {
    if (a.im2col) switch (a.rank) {
        case 3: STORE_IM2COL(3); break;
        case 4: STORE_IM2COL(4); break;
        case 5: STORE_IM2COL(5); break;
      }
    else switch (a.rank) {
        case 1: STORE(1); break;
        case 2: STORE(2); break;
        case 3: STORE(3); break;
        case 4: STORE(4); break;
        case 5: STORE(5); break;
      }
  } else if (a.op == int(TmaOp::reduce)) {
    switch (a.reduce) {
      case 0: REDUCE(add); break;
      case 1: REDUCE(min); break;
      case 2: REDUCE(max); break;
      case 3: REDUCE(inc); break;
      case 4: REDUCE(dec); break;
      case 5: REDUCE(and); break;
      case 6: REDUCE(or); break;
      case 7: REDUCE(xor); break;
    }
  } else {
    switch (a.rank) {
      case 1: PREFETCH(1); break;
      case 3: PREFETCH(3); break;
      case 5: PREFETCH(5); break;
    }
  }
}

__global__ void copy(const __grid_constant__ CUtensorMap map, Arguments a, uint8_t* image,
                     uint64_t* words) {
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ __align__(8) uint64_t barrier;
  for (uint32_t i = threadIdx.x; i < kShared / 4; i += blockDim.x)
    reinterpret_cast<uint32_t*>(shared)[i] = reinterpret_cast<uint32_t*>(image)[i];
  const auto at = uint32_t(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at), "r"(kExpected)
                 : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    // Ordinary loads see a barrier only after mbarrier.inval has written it to memory, where the
    // next operation on it finds it again.
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    words[0] = *(volatile uint64_t*)&barrier;
    issue(uint32_t(__cvta_generic_to_shared(shared)) + a.shared, &map, a, at);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    const int64_t begin = clock64();
    while (clock64() - begin < 30000) {
    }
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    words[1] = *(volatile uint64_t*)&barrier;
  }
  __syncthreads();
  if (a.op == int(TmaOp::load))
    for (uint32_t i = threadIdx.x; i < kShared / 4; i += blockDim.x)
      reinterpret_cast<uint32_t*>(image)[i] = reinterpret_cast<volatile uint32_t*>(shared)[i];
}

template <class F>
F driver_function(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<F>(f);
}

CUresult encode(const TmaCase& c, void* address, CUtensorMap* map) {
  static const auto tiled =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  static const auto im2col =
      driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  if (c.im2col)
    return im2col(map, CUtensorMapDataType(c.type), uint32_t(c.rank), address, c.dims.data(),
                  c.strides.data(), c.lower.data(), c.upper.data(), c.channels, c.pixels,
                  c.steps.data(), CUtensorMapInterleave(c.interleave),
                  CUtensorMapSwizzle(c.swizzle), CUtensorMapL2promotion(c.promotion),
                  CUtensorMapFloatOOBfill(c.fill));
  return tiled(map, CUtensorMapDataType(c.type), uint32_t(c.rank), address, c.dims.data(),
               c.strides.data(), c.box.data(), c.steps.data(), CUtensorMapInterleave(c.interleave),
               CUtensorMapSwizzle(c.swizzle), CUtensorMapL2promotion(c.promotion),
               CUtensorMapFloatOOBfill(c.fill));
}

// Runs cases from `first` on; returns the case after the last one it ran.
size_t run_from(size_t first, size_t end_case, const std::vector<TmaCase>& cases, const char* file,
                const char* raw) {
  std::FILE* f = std::fopen(file, "a");
  std::FILE* r = std::fopen(raw, "ab");
  uint8_t *global, *image;
  uint64_t* words;
  cudaMalloc(&global, kBuffer);
  cudaMalloc(&image, kShared);
  cudaMalloc(&words, 16);
  const auto source = tma_global();
  cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  for (size_t i = first; i < end_case; ++i) {
    const TmaCase& c = cases[i];
    const bool load = c.op == TmaOp::load;
    cudaMemcpy(global, source.data(), kBuffer, cudaMemcpyHostToDevice);
    std::vector<uint8_t> start(kShared, kPoison);
    if (!load) start = tma_shared(c);
    cudaMemcpy(image, start.data(), kShared, cudaMemcpyHostToDevice);
    if (!load) cudaMemcpy(global, tma_target(c).data(), kStoreWindow, cudaMemcpyHostToDevice);
    alignas(64) CUtensorMap map;
    std::memset(&map, 0, sizeof map);
    const CUresult encoded = encode(c, global + c.address, &map);
    if (encoded != CUDA_SUCCESS) {
      std::fprintf(f, "%s\tencode=%d\n", c.name().c_str(), int(encoded));
      continue;
    }
    Arguments a{};
    a.op = int(c.op);
    a.reduce = c.reduce;
    a.im2col = c.im2col;
    a.rank = c.rank;
    for (int k = 0; k < 5; ++k) a.at[k] = c.at[size_t(k)];
    for (int k = 0; k < 3; ++k) a.offsets[k] = c.offsets[size_t(k)];
    a.shared = c.shared;
    copy<<<1, 128, kShared>>>(map, a, image, words);
    const cudaError_t error = cudaDeviceSynchronize();
    std::fprintf(f, "%s\tencode=0 error=%s", c.name().c_str(), cudaGetErrorName(error));
    if (error != cudaSuccess) {
      std::fprintf(f, "\n");
      std::fclose(f);
      std::fclose(r);
      return i + 1;
    }
    uint64_t state[2];
    std::vector<uint8_t> result(load ? kShared : kStoreWindow);
    cudaMemcpy(state, words, 16, cudaMemcpyDeviceToHost);
    cudaMemcpy(result.data(), load ? image : global, result.size(), cudaMemcpyDeviceToHost);
    size_t end = result.size();  // what follows is as it was
    if (load)
      while (end && result[end - 1] == kPoison) --end;
    std::fprintf(f, " words=%016llx,%016llx bytes=%zu hash=%08x\n", (unsigned long long)state[0],
                 (unsigned long long)state[1], end, uint32_t(hash_bytes(result.data(), end)));
    const uint32_t head[2] = {uint32_t(i), uint32_t(end)};
    std::fwrite(head, 4, 2, r);
    std::fwrite(result.data(), 1, end, r);
    std::fflush(f);
    std::fflush(r);
  }
  std::fclose(f);
  std::fclose(r);
  return end_case;
}

}  // namespace

int main(int argc, char** argv) {
  const auto cases = tma_cases();
  if (argc < 4 || std::string(argv[1]) != "--record")
    return std::printf("%zu cases\n", cases.size()), 2;
  int ends[2];
  const size_t end = argc > 5 ? std::min<size_t>(cases.size(), std::stoul(argv[5])) : cases.size();
  for (size_t next = argc > 4 ? std::stoul(argv[4]) : 0; next < end;) {
    if (pipe(ends)) return 2;
    const pid_t child = fork();
    if (child == 0) {
      const size_t after = run_from(next, end, cases, argv[2], argv[3]);
      if (write(ends[1], &after, sizeof after) < 0) _exit(1);
      _exit(0);
    }
    close(ends[1]);
    size_t after = 0;
    if (read(ends[0], &after, sizeof after) != ssize_t(sizeof after)) after = next + 1;  // it died
    close(ends[0]);
    waitpid(child, nullptr, 0);
    next = after;
  }
}
