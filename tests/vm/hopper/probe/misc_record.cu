// Small things: mma.sync on tiny numbers, sizes of bulk copies, dependent launches.
//
//   misc_record FILE
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "values.h"

using namespace ridge::hopper;

// --- mma.sync: one warp per round; the input of a round is a (4 words), b (2), c (4) per lane ---
__global__ void multiply(bool tf32, const uint32_t* in, uint32_t* out) {
  const uint32_t* x = in + blockIdx.x * 320 + threadIdx.x;
  uint32_t a[4], b[2];
  float c[4];
  for (int i = 0; i < 4; ++i) a[i] = x[32 * i];
  for (int i = 0; i < 2; ++i) b[i] = x[128 + 32 * i];
  for (int i = 0; i < 4; ++i) c[i] = __uint_as_float(x[192 + 32 * i]);
  if (tf32)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) out[blockIdx.x * 128 + 32 * i + threadIdx.x] = __float_as_uint(c[i]);
}

static void run_mma(bool tf32, std::FILE* f) {
  constexpr int kRounds = 64;
  std::vector<uint32_t> input(320 * kRounds), output(128 * kRounds);
  for (int r = 0; r < kRounds; ++r) {
    Stream stream(uint64_t(r) + (tf32 ? 1000 : 0));
    auto* at = reinterpret_cast<uint8_t*>(input.data() + 320 * r);
    const Kind kind = tf32 ? Kind::tf32 : Kind::bf16;
    fill(at, 512, kind, Role::factor, kUnder, stream);
    fill(at + 512, 256, kind, Role::factor, kUnder, stream);
    fill(at + 768, 512, Kind::f32, Role::addend, kUnder, stream);
  }
  uint32_t *in, *out;
  cudaMalloc(&in, input.size() * 4);
  cudaMalloc(&out, output.size() * 4);
  cudaMemcpy(in, input.data(), input.size() * 4, cudaMemcpyHostToDevice);
  multiply<<<kRounds, 32>>>(tf32, in, out);
  cudaMemcpy(output.data(), out, output.size() * 4, cudaMemcpyDeviceToHost);
  std::fprintf(f, "mma.sync %s, %d rounds: hash %016llx\n", tf32 ? "m16n8k8 tf32" : "m16n8k16 bf16",
               kRounds, (unsigned long long)hash_bytes(output.data(), output.size() * 4));
}

// --- sizes of bulk copies ---
__global__ void copy(uint32_t bytes, const uint8_t* from, uint8_t* out, uint64_t* word) {
  extern __shared__ __align__(128) uint8_t data[];
  __shared__ __align__(8) uint64_t barrier;
  const auto at = uint32_t(__cvta_generic_to_shared(&barrier)),
             to = uint32_t(__cvta_generic_to_shared(data));
  for (uint32_t i = threadIdx.x; i < 4096; i += blockDim.x) data[i] = 0xa5;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.proxy.async;" ::"r"(at) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(at)
        : "memory");
    const int64_t begin = clock64();
    while (clock64() - begin < 50000) {
    }
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    *word = *(volatile uint64_t*)&barrier;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < 4096; i += blockDim.x) out[i] = ((volatile uint8_t*)data)[i];
}

// --- dependent launches ---
struct Times {
  uint64_t first_start, first_end, second_start, second_after_wait;
  uint32_t flag_at_start, flag_after_wait;
};
__device__ uint64_t now() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
// who: 0 nobody triggers, 1 one thread of each block, 2 one thread of the first block, 3 all
// threads
__global__ void first(int who, volatile Times* times, volatile uint32_t* flag) {
  const uint64_t begin = now();
  if (who == 3 || (who == 1 && threadIdx.x == 0) ||
      (who == 2 && threadIdx.x == 0 && blockIdx.x == 0))
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  while (now() - begin < 300000) {
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *flag = 1;
    times->first_start = begin;
    times->first_end = now();
  }
}
__global__ void second(bool waits, volatile Times* times, volatile uint32_t* flag) {
  if (threadIdx.x || blockIdx.x) return;
  times->second_start = now();
  times->flag_at_start = *flag;
  if (waits) asm volatile("griddepcontrol.wait;" ::: "memory");
  times->second_after_wait = now();
  times->flag_after_wait = *flag;
}
static void run_dependent(std::FILE* f, int who, bool attribute, bool waits) {
  Times* times;
  uint32_t* flag;
  cudaMalloc(&times, sizeof(Times));
  cudaMalloc(&flag, 4);
  Times t;
  for (int i = 0; i < 2; ++i) {  // the first time warms up
    cudaMemset(flag, 0, 4);
    cudaDeviceSynchronize();
    first<<<2, 64>>>(who, times, flag);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &a;
    config.numAttrs = attribute ? 1 : 0;
    cudaLaunchKernelEx(&config, second, waits, (volatile Times*)times, (volatile uint32_t*)flag);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(&t, times, sizeof t, cudaMemcpyDeviceToHost);
    if (i == 0) continue;
    static const char* const kWho[] = {"nobody", "one thread of each block",
                                       "one thread of the first block", "all threads"};
    std::fprintf(f,
                 "dependent: trigger by %s, attribute %d, wait %d: %s; first ends %lld us, second "
                 "starts %lld us (flag %u), after wait %lld us (flag %u)\n",
                 kWho[who], attribute, waits, cudaGetErrorName(error),
                 (long long)(t.first_end - t.first_start) / 1000,
                 (long long)(t.second_start - t.first_start) / 1000, t.flag_at_start,
                 (long long)(t.second_after_wait - t.first_start) / 1000, t.flag_after_wait);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::FILE* f = std::fopen(argv[1], "w");
  run_mma(false, f);
  run_mma(true, f);
  uint8_t *from, *out;
  uint64_t* word;
  cudaMalloc(&from, 4 << 20);
  cudaMalloc(&out, 4096);
  cudaMalloc(&word, 16);
  cudaMemset(from, 0x11, 4 << 20);
  for (uint32_t bytes : {0u, 1u, 8u, 15u, 16u, 17u, 24u, 31u, 40u, 100u, 1u << 20, (1u << 20) + 16,
                         (1u << 20) + 40, 1u << 24}) {
    copy<<<1, 128, 4096>>>(bytes, from, out, word);
    const cudaError_t error = cudaDeviceSynchronize();
    uint8_t seen[4096];
    uint64_t w = 0;
    cudaMemcpy(seen, out, 4096, cudaMemcpyDeviceToHost);
    cudaMemcpy(&w, word, 8, cudaMemcpyDeviceToHost);
    int written = 0;
    for (uint8_t b : seen) written += b == 0x11;
    std::fprintf(f, "bulk load of %u bytes: %s, %d written, word %016llx\n", bytes,
                 cudaGetErrorName(error), written, (unsigned long long)w);
    if (error != cudaSuccess) break;
  }
  for (int who = 0; who < 4; ++who)
    for (bool attribute : {true, false}) run_dependent(f, who, attribute, true);
  run_dependent(f, 3, true, false);
  std::fclose(f);
}
