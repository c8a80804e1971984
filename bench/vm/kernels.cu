// The software GPU's own benchmark: kernels that stress different parts of it, run on whatever
// device there is.
//   kernels NAME REPEATS   run one of sgemm, wmma, mma, vector_add, reduction, collatz,
//                          float4_swaps, few_lanes, launches; print the seconds of each launch
// run.py runs this under the software GPU, counts its instructions and records the rates.
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "common.cuh"

// C = A B, all n x n and n a multiple of 128: a block makes a 128 x 128 tile in steps of 8, a
// thread 8 x 8 of it.
constexpr int kTile = 128, kStep = 8, kPerThread = 8;
__global__ void __launch_bounds__(256) sgemm(int n, const float* a, const float* b, float* c) {
  __shared__ float as[kStep][kTile];  // (k, row)
  __shared__ float bs[kStep][kTile];  // (k, column)
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  a += blockIdx.y * kTile * n;
  b += blockIdx.x * kTile;
  c += blockIdx.y * kTile * n + blockIdx.x * kTile;
  float acc[kPerThread][kPerThread] = {};
  for (int k0 = 0; k0 < n; k0 += kStep) {
    for (int i = t; i < kTile * kStep; i += 256)
      as[i % kStep][i / kStep] = a[(i / kStep) * n + k0 + i % kStep];
    for (int i = t; i < kTile * kStep; i += 256)
      bs[i / kTile][i % kTile] = b[(k0 + i / kTile) * n + i % kTile];
    __syncthreads();
    for (int k = 0; k < kStep; ++k) {
      float ra[kPerThread], rb[kPerThread];
      for (int i = 0; i < kPerThread; ++i) ra[i] = as[k][ty * kPerThread + i];
      for (int j = 0; j < kPerThread; ++j) rb[j] = bs[k][tx * kPerThread + j];
      for (int i = 0; i < kPerThread; ++i)
        for (int j = 0; j < kPerThread; ++j) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < kPerThread; ++j)
      c[(ty * kPerThread + i) * n + tx * kPerThread + j] = acc[i][j];
}

// C = A B on tensor cores, B by columns. The simplest way: a warp makes a 16 x 16 tile of C from
// global memory.
__global__ void wmma_gemm(int n, const __half* a, const __half* b, float* c) {
  using namespace nvcuda::wmma;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + column * n + k, n);
    mma_sync(sum, fa, fb, sum);
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

// The same as libraries do it: a block of eight warps makes 128 x 128 through shared memory, a warp
// 64 x 32 of it with ldmatrix and mma.sync.
constexpr int kMmaTile = 128, kMmaStep = 32, kMmaPitch = kMmaStep + 8;  // pitch: no bank conflicts
__global__ void __launch_bounds__(256) mma_gemm(int n, const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half as[kMmaTile][kMmaPitch], bs[kMmaTile][kMmaPitch];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = warp / 4 * 64, column = warp % 4 * 32;  // in the block's tile
  a += blockIdx.y * kMmaTile * n;
  b += blockIdx.x * kMmaTile * n;
  float sum[4][4][4] = {};
  for (int k0 = 0; k0 < n; k0 += kMmaStep) {
    for (int i = t; i < kMmaTile * kMmaStep / 8; i += 256) {
      const int r = i / (kMmaStep / 8), k = i % (kMmaStep / 8) * 8;
      *reinterpret_cast<uint4*>(&as[r][k]) = *reinterpret_cast<const uint4*>(&a[r * n + k0 + k]);
      *reinterpret_cast<uint4*>(&bs[r][k]) = *reinterpret_cast<const uint4*>(&b[r * n + k0 + k]);
    }
    __syncthreads();
    for (int k = 0; k < kMmaStep; k += 16) {
      uint32_t fa[4][4], fb[4][2];
      const auto load = [](uint32_t* to, const __half* from) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(uint32_t(__cvta_generic_to_shared(from))));
      };
      for (int i = 0; i < 4; ++i) load(fa[i], &as[row + 16 * i + lane % 16][k + lane / 16 * 8]);
      for (int j = 0; j < 4; j += 2)
        load(fb[j], &bs[column + 8 * j + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]),
                "r"(fb[j][1]));
    }
    __syncthreads();
  }
  c += (blockIdx.y * kMmaTile + row + lane / 4) * n + blockIdx.x * kMmaTile + column + lane % 4 * 2;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) c[(16 * i + e / 2 * 8) * n + 8 * j + e % 2] = sum[i][j][e];
}

__global__ void vector_add(int n, const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// The textbook tree: half of the threads drop out at every step.
__global__ void reduction(int n, const float* in, float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Steps until 1: every lane leaves the loop at another time, and takes its own side of the branch.
__global__ void collatz(int n, uint32_t* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t x = uint64_t(i) + 1;
  uint32_t count = 0;
  while (x != 1) {
    if (x & 1) {
      x = 3 * x + 1;
    } else {
      x /= 2;
    }
    ++count;
  }
  steps[i] = count;
}

// Sorts 512 vectors by their first component (bitonic: a pair of vectors per thread, swapped where
// they are out of order), then turns the order round, where every lane swaps.
constexpr int kSorted = 512;
__global__ void __launch_bounds__(kSorted / 2) float4_swaps(const float4* in, float4* out) {
  __shared__ float4 s[kSorted];
  const int t = threadIdx.x;
  in += blockIdx.x * kSorted;
  out += blockIdx.x * kSorted;
  s[t] = in[t];
  s[t + kSorted / 2] = in[t + kSorted / 2];
  const auto swap = [](int i, int j) {
    const float4 kept = s[i];
    s[i] = s[j];
    s[j] = kept;
  };
  for (int size = 2; size <= kSorted; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int i = 2 * t - t % stride, j = i + stride;
      if ((s[i].x > s[j].x) == ((i & size) == 0)) swap(i, j);
    }
  }
  __syncthreads();
  swap(t, kSorted - 1 - t);
  __syncthreads();
  out[t] = s[t];
  out[t + kSorted / 2] = s[t + kSorted / 2];
}

// One, two or four lanes of each warp work: each follows a linked list, counts its nodes' values in
// shared memory, and sums them up in a serial loop.
constexpr int kListLength = 512, kCounters = 64;
struct Node {
  int next;
  float value;  // in [0, 1)
};
__global__ void few_lanes(const Node* nodes, int n, float* sums) {
  __shared__ int counters[8][4][kCounters];  // (warp, lane, range of values)
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int active = 1 << warp % 3;
  if (lane >= active) return;
  int* mine = counters[warp][lane];
  for (int k = 0; k < kCounters; ++k) mine[k] = 0;
  int node = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  float sum = 0;
  for (int k = 0; k < kListLength; ++k) {
    const Node here = nodes[node];
    ++mine[int(here.value * kCounters)];
    sum = here.value > 0.5f ? sum + sqrtf(here.value) : sum - 1.0f / (1.0f + here.value);
    node = here.next;
  }
  int most = 0;
  for (int k = 0; k < kCounters; ++k) most = max(most, mine[k]);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum + most;
}

__global__ void nothing() {}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: kernels "
                 "sgemm|wmma|mma|vector_add|reduction|collatz|float4_swaps|few_lanes|launches "
                 "REPEATS\n");
    return 2;
  }
  const char* name = argv[1];
  const int repeats = std::atoi(argv[2]);
  std::function<void()> launch, verify;

  if (!std::strcmp(name, "sgemm")) {
    const int n = 512;
    const auto a = random_floats(n * n, 1), b = random_floats(n * n, 2);
    const float *da = device_copy(a), *db = device_copy(b);
    float* dc = device_copy(std::vector<float>(n * n, NAN));
    launch = [=] { sgemm<<<dim3(n / kTile, n / kTile), 256>>>(n, da, db, dc); };
    verify = [=] {
      std::vector<float> c(n * n);
      CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
      for (int e = 0; e < n * n; e += 997) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += double(a[e / n * n + k]) * b[k * n + e % n];
        if (!(std::fabs(c[e] - sum) <= n * 0x1p-24 * sum)) wrong(name, e);
      }
    };
  } else if (!std::strcmp(name, "wmma") || !std::strcmp(name, "mma")) {
    const int n = 256;
    const bool tiles = name[0] == 'w';
    std::vector<__half> a, b;
    for (float x : random_floats(n * n, 1)) a.push_back(__float2half(x));
    for (float x : random_floats(n * n, 2)) b.push_back(__float2half(x));
    const __half *da = device_copy(a), *db = device_copy(b);
    float* dc = device_copy(std::vector<float>(n * n, NAN));
    launch = [=] {
      if (tiles) wmma_gemm<<<n / 16 * (n / 16) / 4, 128>>>(n, da, db, dc);
      else mma_gemm<<<dim3(n / kMmaTile, n / kMmaTile), 256>>>(n, da, db, dc);
    };
    verify = [=] {
      std::vector<float> c(n * n);
      CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
      for (int e = 0; e < n * n; e += 97) {
        double sum = 0;
        for (int k = 0; k < n; ++k)
          sum += double(__half2float(a[e / n * n + k])) * __half2float(b[e % n * n + k]);
        if (!(std::fabs(c[e] - sum) <= n / 16 * 0x1p-22 * sum)) wrong(name, e);
      }
    };
  } else if (!std::strcmp(name, "vector_add")) {
    const int n = 1 << 22;
    const auto a = random_floats(n, 1), b = random_floats(n, 2);
    const float *da = device_copy(a), *db = device_copy(b);
    float* dc = device_copy(std::vector<float>(n, NAN));
    launch = [=] { vector_add<<<(n + 255) / 256, 256>>>(n, da, db, dc); };
    verify = [=] {
      std::vector<float> c(n);
      CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i)
        if (!(c[i] == a[i] + b[i])) wrong(name, i);
    };
  } else if (!std::strcmp(name, "reduction")) {
    const int n = 1 << 22, blocks = n / 256;
    const auto in = random_floats(n, 3);
    const float* din = device_copy(in);
    float* dout = device_copy(std::vector<float>(blocks, NAN));
    launch = [=] { reduction<<<blocks, 256>>>(n, din, dout); };
    verify = [=] {
      std::vector<float> out(blocks);
      CHECK(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
      for (int b = 0; b < blocks; ++b) {
        double sum = 0;
        for (int i = 0; i < 256; ++i) sum += in[b * 256 + i];
        if (!(std::fabs(out[b] - sum) <= 8 * 0x1p-24 * sum)) wrong(name, b);
      }
    };
  } else if (!std::strcmp(name, "collatz")) {
    const int n = 1 << 16;
    uint32_t* steps = device_copy(std::vector<uint32_t>(n, ~0u));
    launch = [=] { collatz<<<n / 256, 256>>>(n, steps); };
    verify = [=] {
      std::vector<uint32_t> out(n);
      CHECK(cudaMemcpy(out.data(), steps, out.size() * 4, cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i) {
        uint32_t count = 0;
        for (uint64_t x = uint64_t(i) + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2) ++count;
        if (out[i] != count) wrong(name, i);
      }
    };
  } else if (!std::strcmp(name, "float4_swaps")) {
    const int blocks = 64, n = blocks * kSorted;
    const auto floats = random_floats(4 * size_t(n), 4);
    std::vector<float4> in(n);
    std::memcpy(in.data(), floats.data(), n * sizeof(float4));
    const float4* din = device_copy(in);
    float4* dout = device_copy(std::vector<float4>(n));
    launch = [=] { float4_swaps<<<blocks, kSorted / 2>>>(din, dout); };
    verify = [=] {
      std::vector<float4> out(n);
      CHECK(cudaMemcpy(out.data(), dout, n * sizeof(float4), cudaMemcpyDeviceToHost));
      for (int b = 0; b < blocks; ++b) {
        auto expected = std::vector(in.begin() + b * kSorted, in.begin() + (b + 1) * kSorted);
        std::sort(expected.begin(), expected.end(), [](auto x, auto y) { return x.x > y.x; });
        for (int i = 0; i < kSorted; ++i)
          if (std::memcmp(&expected[i], &out[b * kSorted + i], sizeof(float4)))
            wrong(name, b * kSorted + i);
      }
    };
  } else if (!std::strcmp(name, "few_lanes")) {
    const int n = 4096, blocks = 32, threads = 256;
    const auto values = random_floats(n, 5);
    std::vector<Node> nodes(n);
    for (int i = 0; i < n; ++i) nodes[i] = {int((i * 1093u + 257u) % n), values[i]};  // one cycle
    const Node* list = device_copy(nodes);
    float* sums = device_copy(std::vector<float>(blocks * threads, NAN));
    launch = [=] { few_lanes<<<blocks, threads>>>(list, n, sums); };
    verify = [=] {
      std::vector<float> out(blocks * threads);
      CHECK(cudaMemcpy(out.data(), sums, out.size() * 4, cudaMemcpyDeviceToHost));
      for (int t = 0; t < blocks * threads; ++t) {
        if (t % 32 >= 1 << t % threads / 32 % 3) continue;
        std::vector<int> counters(kCounters);
        double sum = 0;
        int node = t % n;
        for (int k = 0; k < kListLength; ++k, node = nodes[node].next) {
          const double value = nodes[node].value;
          ++counters[int(value * kCounters)];
          sum += value > 0.5 ? std::sqrt(value) : -1 / (1 + value);
        }
        sum += *std::max_element(counters.begin(), counters.end());
        if (!(std::fabs(out[t] - sum) <= kListLength * kListLength * 0x1p-24)) wrong(name, t);
      }
    };
  } else if (!std::strcmp(name, "launches")) {
    launch = [] {
      for (int i = 0; i < 1000; ++i) nothing<<<1, 32>>>();
    };
    verify = [] {};
  } else {
    std::fprintf(stderr, "kernels: no kernel '%s'\n", name);
    return 2;
  }

  time_launches(repeats, launch);
  verify();
}
