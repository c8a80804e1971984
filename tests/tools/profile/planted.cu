// One kernel for each kind of advice on memory that `ridge profile` gives, and its twin with the
// advice taken. A comment `// <- kind` marks the line that the advice must name; planted_test.py
// reads them.
#include "planted.h"

constexpr int kSide = 512;  // of a square matrix

// --- global memory

__global__ void uncoalesced_bad(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const float v = in[y * kSide + x];
  out[x * kSide + y] = v;  // <- uncoalesced
}
__global__ void uncoalesced_good(const float* in, float* out) {
  __shared__ float tile[32][33];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = in[(y0 + threadIdx.y) * kSide + x0 + threadIdx.x];
  __syncthreads();
  out[(x0 + threadIdx.y) * kSide + y0 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// threadIdx.x along the rows: one exchange of the indices cures all three accesses.
__device__ void add_at(const float* a, const float* b, float* c, int x, int y) {
  c[y * kSide + x] = a[y * kSide + x] + b[y * kSide + x];  // <- uncoalesced
}
__global__ void swapped_bad(const float* a, const float* b, float* c) {
  add_at(a, b, c, blockIdx.x * 32 + threadIdx.y, blockIdx.y * 32 + threadIdx.x);
}
__global__ void swapped_good(const float* a, const float* b, float* c) {
  add_at(a, b, c, blockIdx.x * 32 + threadIdx.x, blockIdx.y * 32 + threadIdx.y);
}

struct Particle {
  float x, y, z, mass;
};
__global__ void unused_bytes_bad(const Particle* in, float* out) {
  const float x = in[thread()].x;  // <- unused bytes
  out[thread()] = x;
}
__global__ void unused_bytes_good(const float* xs, float* out) {
  const float x = xs[thread()];
  out[thread()] = x;
}

// A small table that every block reads, so that DRAM has little to do.
template <int kFrom>
__device__ void sum_table(const float* table, float* out) {
  float sum = 0;
#pragma unroll 4
  for (int row = 0; row < 64; ++row) sum += table[kFrom + row * kThreads + threadIdx.x];  // <- misaligned
  out[thread()] = sum;
}
__global__ void misaligned_bad(const float* table, float* out) { sum_table<3>(table, out); }
__global__ void misaligned_good(const float* table, float* out) { sum_table<32>(table, out); }

// Rows of 1001 floats, one after the other, and padded as cudaMallocPitch does it.
template <int kPitch>
__device__ void brighten(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1001) out[y * kPitch + x] = in[y * kPitch + x] * 2;  // <- misaligned
}
__global__ void pitch_bad(const float* in, float* out) { brighten<1001>(in, out); }
__global__ void pitch_good(const float* in, float* out) { brighten<1024>(in, out); }

// A product of matrices, as far as kRedundant: each thread walks a row of a.
constexpr int kRedundant = 128;
__global__ void redundant_bad(const float* a, const float* b, float* c) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kRedundant; ++k) {
    const float left = a[y * kSide + k];  // <- redundant loads
    sum += left * b[k * kSide + x];  // <- redundant loads
  }
  c[y * kSide + x] = sum;
}
__global__ void redundant_good(const float* a, const float* b, float* c) {
  __shared__ float left[32][32], right[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kRedundant; k += 32) {
    left[threadIdx.y][threadIdx.x] = a[y * kSide + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * kSide + x];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * kSide + x] = sum;
}

// --- shared memory

template <class T, int kRow>
__device__ void turn(const T* in, T* out) {
  __shared__ T tile[32][kRow];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kSide + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * kSide + x] = tile[threadIdx.x][threadIdx.y];  // <- bank conflict
}
__global__ void bank_conflict_bad(const float* in, float* out) { turn<float, 32>(in, out); }
__global__ void bank_conflict_good(const float* in, float* out) { turn<float, 33>(in, out); }
__global__ void bank_conflict_wide_bad(const double* in, double* out) { turn<double, 32>(in, out); }
__global__ void bank_conflict_wide_good(const double* in, double* out) { turn<double, 33>(in, out); }

// Neighbours two words apart: no row to pad, but the index can be stretched.
__device__ int plain(int i) { return i; }
__device__ int stretched(int i) { return i + i / 32; }
template <int (*kAt)(int)>
__device__ void pick_even(float* out) {
  __shared__ float words[512];
  for (int i = threadIdx.x; i < 256; i += kThreads) words[kAt(i)] = float(i);
  float sum = 0;
  for (int round = 0; round < 16; ++round) {
    __syncthreads();
    sum += words[kAt(2 * threadIdx.x)];  // <- bank conflict
  }
  out[thread()] = sum;
}
__global__ void bank_conflict_stride_bad(float* out) { pick_even<plain>(out); }
__global__ void bank_conflict_stride_good(float* out) { pick_even<stretched>(out); }

// A blur: every padding up to 8 makes some of the reads worse; a large one cures all of them.
template <int kRow>
__device__ void blur(const float* in, float* out) {
  constexpr int kTile = 16, kHalo = 2, kWhole = kTile + 2 * kHalo;
  __shared__ float tile[kWhole][kRow];
  for (int i = threadIdx.y * kTile + threadIdx.x; i < kWhole * kWhole; i += kTile * kTile)
    tile[i / kWhole][i % kWhole] = in[(blockIdx.y * kTile + i / kWhole) * kSide + blockIdx.x * kTile + i % kWhole];
  __syncthreads();
  float sum = 0;
  for (int dy = 0; dy <= 2 * kHalo; ++dy)
    for (int dx = 0; dx <= 2 * kHalo; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx];  // <- bank conflict
  out[(blockIdx.y * kTile + threadIdx.y) * kSide + blockIdx.x * kTile + threadIdx.x] = sum;
}
__global__ void blur_bad(const float* in, float* out) { blur<20>(in, out); }
__global__ void blur_good(const float* in, float* out) { blur<48>(in, out); }

// A histogram: data decide where each lane goes, and no layout changes that.
template <int kCopies>
__device__ void count(unsigned* out) {
  constexpr int kBins = 64;
  __shared__ unsigned bins[kBins * kCopies];
  for (int i = threadIdx.x; i < kBins * kCopies; i += kThreads) bins[i] = 0;
  __syncthreads();
  unsigned random = thread() * 2654435761u + 1;
#pragma unroll 4
  for (int i = 0; i < 128; ++i) {
    random = random * 1664525u + 1013904223u;
    atomicAdd(&bins[(random >> 26) * kCopies + threadIdx.x % kCopies], 3u);  // <- bank conflict
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += kThreads) {
    unsigned sum = 0;
    for (int k = 0; k < kCopies; ++k) sum += bins[i * kCopies + (k + i) % kCopies];
    out[blockIdx.x * kBins + i] = sum;
  }
}
__global__ void histogram_bad(unsigned* out) { count<1>(out); }
__global__ void histogram_good(unsigned* out) { count<32>(out); }

// A product of matrices in tiles: each thread has one output, or 2 × 2.
__global__ void register_tile_bad(const float* a, const float* b, float* c) {
  __shared__ float left[32][32], right[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < kSide; k += 32) {
    left[threadIdx.y][threadIdx.x] = a[y * kSide + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * kSide + x];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];  // <- few operations per load
    __syncthreads();
  }
  c[y * kSide + x] = sum;
}
__global__ void register_tile_good(const float* a, const float* b, float* c) {
  __shared__ float left[32][36], right[32][32];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  float sum[2][2] = {};
  for (int k = 0; k < kSide; k += 32) {
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 32 * 32; i += 256) {
      left[i / 32][i % 32] = a[(y0 + i / 32) * kSide + k + i % 32];
      right[i / 32][i % 32] = b[(k + i / 32) * kSide + x0 + i % 32];
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i)
      for (int r = 0; r < 2; ++r)
        for (int s = 0; s < 2; ++s) sum[r][s] += left[threadIdx.y + 16 * r][i] * right[i][threadIdx.x + 16 * s];
    __syncthreads();
  }
  for (int r = 0; r < 2; ++r)
    for (int s = 0; s < 2; ++s) c[(y0 + threadIdx.y + 16 * r) * kSide + x0 + threadIdx.x + 16 * s] = sum[r][s];
}

// --- atomics

__global__ void atomic_bad(const float* in, float* out) {
  atomicAdd(out, in[thread()]);  // <- atomics in turns
}
__global__ void atomic_good(const float* in, float* out) {
  __shared__ float of_warp[kThreads / 32];
  float sum = in[thread()];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int warp = 1; warp < kThreads / 32; ++warp) sum += of_warp[warp];
  atomicAdd(out, sum);
}

// A histogram in global memory, and one that each block counts in shared memory first.
__device__ unsigned bin(unsigned i) { return (i * 2654435761u) >> 24; }
__global__ void global_counts_bad(unsigned* out) {
  for (int i = 0; i < 16; ++i) atomicAdd(&out[bin(thread() * 16 + i)], 1u);  // <- atomics in turns
}
__global__ void global_counts_good(unsigned* out) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += kThreads) bins[i] = 0;
  __syncthreads();
  for (int i = 0; i < 16; ++i) atomicAdd(&bins[bin(thread() * 16 + i)], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += kThreads) atomicAdd(&out[i], bins[i]);
}

int main() {
  constexpr size_t kCount = 1 << 20;
  float* const a = zeros(2 * kCount);
  float* const b = zeros(2 * kCount);
  float* const c = zeros(2 * kCount);
  unsigned* const counters = zeros<unsigned>(kBlocks * 64);
  double* const wide = zeros<double>(kCount);
  double* const turned = zeros<double>(kCount);
  const auto particles = reinterpret_cast<Particle*>(a);
  const dim3 tiles(kSide / 32, kSide / 32), tile(32, 32), small_tiles(kSide / 16 - 2, kSide / 16 - 2), small(16, 16);
  uncoalesced_bad<<<tiles, tile>>>(a, b);
  uncoalesced_good<<<tiles, tile>>>(a, b);
  swapped_bad<<<tiles, tile>>>(a, b, c);
  swapped_good<<<tiles, tile>>>(a, b, c);
  unused_bytes_bad<<<kBlocks, kThreads>>>(particles, b);
  unused_bytes_good<<<kBlocks, kThreads>>>(a, b);
  misaligned_bad<<<kBlocks, kThreads>>>(a, b);
  misaligned_good<<<kBlocks, kThreads>>>(a, b);
  pitch_bad<<<dim3(32, 128), dim3(32, 8)>>>(a, b);
  pitch_good<<<dim3(32, 128), dim3(32, 8)>>>(a, b);
  redundant_bad<<<tiles, tile>>>(a, b, c);
  redundant_good<<<tiles, tile>>>(a, b, c);
  bank_conflict_bad<<<tiles, tile>>>(a, b);
  bank_conflict_good<<<tiles, tile>>>(a, b);
  bank_conflict_wide_bad<<<tiles, tile>>>(wide, turned);
  bank_conflict_wide_good<<<tiles, tile>>>(wide, turned);
  bank_conflict_stride_bad<<<kBlocks, kThreads>>>(b);
  bank_conflict_stride_good<<<kBlocks, kThreads>>>(b);
  blur_bad<<<small_tiles, small>>>(a, b);
  blur_good<<<small_tiles, small>>>(a, b);
  histogram_bad<<<kBlocks, kThreads>>>(counters);
  histogram_good<<<kBlocks, kThreads>>>(counters);
  register_tile_bad<<<tiles, tile>>>(a, b, c);
  register_tile_good<<<tiles, small>>>(a, b, c);
  atomic_bad<<<kBlocks, kThreads>>>(a, b);
  atomic_good<<<kBlocks, kThreads>>>(a, b);
  global_counts_bad<<<kBlocks, kThreads>>>(counters);
  global_counts_good<<<kBlocks, kThreads>>>(counters);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
