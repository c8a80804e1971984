// Correct programs with wgmma: several products under way, accumulators that are passed on while
// they are, A from registers, sparse A, sums that start with nothing. All numbers are ones, so that
// a sum is the number of products.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kThreads = 128;                      // a warpgroup
constexpr int kTileA = 64 * 32, kTileB = 16 * 32;  // bytes: 64 and 16 rows of 16 numbers
constexpr int kStages = 3, kSteps = 7;
constexpr uint32_t kOnes = 0x3f803f80, kHalfOnes = 0x3c003c00;  // two numbers: bf16, f16

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
// Eight rows of 16 bytes lie together; two such pieces side by side, groups of rows 256 bytes
// apart.
__device__ uint64_t descriptor(const void* tile) {
  return address_of(tile) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kNewest>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kNewest) : "memory");
}

struct Sums {
  float of[8];  // of 64 x 16: eight per thread
};
__device__ void multiply(Sums& d, uint64_t a, uint64_t b, int adds = 1) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;}"
      : "+f"(d.of[0]), "+f"(d.of[1]), "+f"(d.of[2]), "+f"(d.of[3]), "+f"(d.of[4]), "+f"(d.of[5]),
        "+f"(d.of[6]), "+f"(d.of[7])
      : "l"(a), "l"(b), "r"(adds));
}
__device__ void multiply_fragment(Sums& d, const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 1, 1, 1, 0;"
      : "+f"(d.of[0]), "+f"(d.of[1]), "+f"(d.of[2]), "+f"(d.of[3]), "+f"(d.of[4]), "+f"(d.of[5]),
        "+f"(d.of[6]), "+f"(d.of[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Nothing that uses the sums moves across this. nvcc does not know what the wait is for.
__device__ void hold(Sums& d) {
  for (float& x : d.of) asm volatile("" : "+f"(x)::"memory");
}

struct alignas(128) Tiles {
  unsigned char a[kTileA], b[2 * kTileB];  // b: for a sparse A, twice as many k
};
// The caller synchronises.
__device__ void fill(Tiles& tiles, uint32_t value) {
  for (int i = threadIdx.x; i < kTileA / 4; i += kThreads)
    reinterpret_cast<uint32_t*>(tiles.a)[i] = value;
  for (int i = threadIdx.x; i < 2 * kTileB / 4; i += kThreads)
    reinterpret_cast<uint32_t*>(tiles.b)[i] = value;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void store(float* out, const Sums& d) {
  for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + i] = d.of[i];
}

// One product is under way while the tiles of the one before are filled again.
__global__ void pipeline(float* out) {
  __shared__ Tiles tiles[kStages];
  Sums d = {};
  for (int k = 0; k < kStages - 1; ++k) fill(tiles[k], kOnes);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    multiply(d, descriptor(tiles[k % kStages].a), descriptor(tiles[k % kStages].b));
    commit();
    wait<1>();
    __syncthreads();  // nobody reads the tiles of the step before any more
    fill(tiles[(k + kStages - 1) % kStages], kOnes);
    __syncthreads();
  }
  wait<0>();
  store(out, d);
}

// Four products in a group and two groups under way; the sums start with nothing.
__global__ void groups(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d;
  int adds = 0;
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    for (int i = 0; i < 4; ++i) {
      multiply(d, descriptor(tiles.a), descriptor(tiles.b), adds);
      adds = 1;
    }
    commit();
    wait<2>();
  }
  wait<0>();
  store(out, d);
}

// Two accumulators: the sums of the one are used while the product of the other is under way.
__global__ void alternating(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d = {}, e = {}, total = {};
  fence();
  multiply(d, descriptor(tiles.a), descriptor(tiles.b));
  commit();
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    for (float& x : e.of) x = 0;
    fence();
    multiply(e, descriptor(tiles.a), descriptor(tiles.b));
    commit();
    wait<1>();
    hold(d);
    for (int i = 0; i < 8; ++i) total.of[i] += d.of[i];
    hold(total);
    for (float& x : d.of) x = 0;
    fence();
    multiply(d, descriptor(tiles.a), descriptor(tiles.b));
    commit();
    wait<1>();
    hold(e);
    for (int i = 0; i < 8; ++i) total.of[i] += e.of[i];
    hold(total);
  }
  wait<0>();
  for (int i = 0; i < 8; ++i) total.of[i] += d.of[i];
  store(out, total);
}

// Sums go from hand to hand by value while their products are under way.
__device__ Sums step(Sums d, const Tiles& tiles) {
  fence();
  multiply(d, descriptor(tiles.a), descriptor(tiles.b));
  commit();
  return d;
}
__global__ void passed_on(float* out, int steps) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d = step({}, tiles);
#pragma unroll 1
  for (int k = 1; k < steps; ++k) {
    Sums next = d;
    if (k % 2) next = step(next, tiles);
    else {
      next = step(next, tiles);
      wait<0>();
    }
    d = next;
  }
  wait<0>();
  store(out, d);
}

// Sums are scaled between the steps, as attention does.
__global__ void scaled(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d = {};
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    multiply(d, descriptor(tiles.a), descriptor(tiles.b));
    commit();
    wait<0>();
    for (float& x : d.of) x *= 0.5f;
  }
  store(out, d);
}

// A from registers; the next fragment is loaded into others while the product is under way.
__global__ void fragments(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  const auto* words = reinterpret_cast<const uint32_t*>(tiles.a);
  Sums d = {};
  uint32_t a[4], next[4];
  for (int i = 0; i < 4; ++i) a[i] = words[threadIdx.x + i];
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    multiply_fragment(d, a, descriptor(tiles.b));
    commit();
    for (int i = 0; i < 4; ++i)
      asm volatile("ld.shared.b32 %0, [%1];"
                   : "=r"(next[i])
                   : "r"(address_of(words + threadIdx.x + k + i)));
    wait<0>();
    for (int i = 0; i < 4; ++i) a[i] = next[i];
  }
  store(out, d);
}

// The sums of one product become A of the next, as in attention.
__global__ void chained(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d = {};
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    Sums s;
    fence();
    multiply(s, descriptor(tiles.a), descriptor(tiles.b), 0);
    commit();
    wait<0>();
    uint32_t a[4];
    for (int i = 0; i < 4; ++i) {
      const __nv_bfloat162 pair = __floats2bfloat162_rn(s.of[2 * i] / 16, s.of[2 * i + 1] / 16);
      a[i] = reinterpret_cast<const uint32_t&>(pair);
    }
    for (uint32_t& x : a) asm volatile("" : "+r"(x)::"memory");
    fence();
    multiply_fragment(d, a, descriptor(tiles.b));
    commit();
    wait<0>();
  }
  store(out, d);
}

// Two of four numbers of A are there: the first two.
__global__ void sparse(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kOnes);
  __syncthreads();
  Sums d = {};
  const uint32_t metadata = 0x44444444;
  const uint64_t b = address_of(tiles.b) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(512 >> 4) << 32;
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    asm volatile(
        "wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, %10, 0, 1, 1, 1, 0, 0;"
        : "+f"(d.of[0]), "+f"(d.of[1]), "+f"(d.of[2]), "+f"(d.of[3]), "+f"(d.of[4]), "+f"(d.of[5]),
          "+f"(d.of[6]), "+f"(d.of[7])
        : "l"(descriptor(tiles.a)), "l"(b), "r"(metadata));
    commit();
    wait<1>();
  }
  wait<0>();
  store(out, d);
}

// Sums of f16, two in a register.
__global__ void halves(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kHalfOnes);
  __syncthreads();
  uint32_t d[4] = {};
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    fence();
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
        "0;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "l"(descriptor(tiles.a)), "l"(descriptor(tiles.b)));
    commit();
    wait<1>();
  }
  wait<0>();
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(reinterpret_cast<const __half2&>(d[i]));
    out[8 * threadIdx.x + 2 * i] = pair.x;
    out[8 * threadIdx.x + 2 * i + 1] = pair.y;
  }
}

int wrong = 0;
template <class... Arguments>
void run(const char* name, double want, void (*kernel)(float*, Arguments...), Arguments... more) {
  float* out;
  cudaMalloc(&out, 8 * kThreads * sizeof(float));
  kernel<<<1, kThreads>>>(out, more...);
  std::vector<float> results(8 * kThreads);
  cudaMemcpy(results.data(), out, results.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(out);
  for (const float got : results)
    if (!(got == float(want))) {
      std::printf("%s: %g, expected %g\n", name, got, want);
      ++wrong;
      return;
    }
}

int main() {
  run("pipeline", 16 * kSteps, pipeline);
  run("groups", 4 * 16 * kSteps, groups);
  run("alternating", 16 * (2 * kSteps + 1), alternating);
  run("passed_on", 16 * kSteps, passed_on, kSteps);
  double sum = 0;
  for (int k = 0; k < kSteps; ++k) sum = (sum + 16) / 2;
  run("scaled", sum, scaled);
  run("fragments", 16 * kSteps, fragments);
  run("chained", 16 * kSteps, chained);
  run("sparse", 16 * kSteps, sparse);
  run("halves", 16 * kSteps, halves);
  return wrong || cudaDeviceSynchronize() != cudaSuccess;
}
