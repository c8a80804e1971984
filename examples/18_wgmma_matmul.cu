// 18_wgmma_matmul: C = A B with Hopper's tensor cores. Four warps multiply 64 x 16 numbers of A
// with 16 x 64 of B in one instruction, which reads both from shared memory by itself.
//
// Three things are new, compared with 05_tiled_matmul:
//
// 1. A *descriptor* tells the tensor core where a matrix lies in shared memory: 64 bits with the
//    start address, the distance of groups of eight rows, and the swizzle.
// 2. *Swizzling*. A row of a tile is 64 bf16, 128 bytes: all 32 banks once. Eight rows below each
//    other would use the same banks for the same k, so the 16-byte pieces of row r are stored in
//    another order, piece p at place p ^ (r % 8). The descriptor says so, and the tensor core
//    undoes it.
// 3. wgmma is *asynchronous*. It starts, and the program goes on. Until wgmma.wait_group returns,
//    nobody may touch the accumulator's registers or overwrite the tiles. Try it: without the wait,
//    the software GPU shows zeros, as the products are not made yet.
//
// wgmma exists on sm_90a only; `ridge run` builds for that by itself.
#include <cuda_bf16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kTile = 64;            // rows and columns of C per block; k per step
constexpr int kThreads = 128;        // a warpgroup: four warps
constexpr int kPerInstruction = 16;  // k of one wgmma on bf16

// Where 16 bytes of a swizzled tile lie: piece 0 … 7 of a row of 128 bytes.
__device__ int swizzled(int row, int piece) { return row * 128 + (piece ^ row % 8) * 16; }

// Copies 64 rows of 64 numbers each from a matrix with `pitch` numbers per row.
__device__ void load_tile(unsigned char* tile, const __nv_bfloat16* from, int pitch) {
  for (int i = threadIdx.x; i < kTile * 8; i += kThreads) {
    const int row = i / 8, piece = i % 8;
    *reinterpret_cast<uint4*>(tile + swizzled(row, piece)) =
        *reinterpret_cast<const uint4*>(from + size_t(row) * pitch + 8 * piece);
  }
}

// A tile whose rows are 128 bytes of consecutive k, with the 128-byte swizzle.
__device__ uint64_t descriptor(const unsigned char* tile) {
  const uint64_t address = __cvta_generic_to_shared(tile);
  const uint64_t eight_rows = 8 * 128;  // bytes from one group of eight rows to the next
  return address >> 4 | (eight_rows >> 4) << 32 | uint64_t(1) << 62;
}

// sum += A B for 16 consecutive k. Each thread has 32 of the 64 x 64 sums.
__device__ void multiply_add(float (&sum)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, "
      "1, "      // add to the sums; 0 would overwrite them
      "1, 1, "   // A and B as they are; -1 would negate
      "0, 0;\n"  // both lie with k side by side; 1 would mean transposed
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]),
        "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
        "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]),
        "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
        "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]),
        "+f"(sum[30]), "+f"(sum[31])
      : "l"(a), "l"(b));
}

// a: (M, K) and bt: (N, K), both row by row, so that k is contiguous; c: (M, N). All sizes are
// multiples of 64.
__global__ void wgmma_matmul(const __nv_bfloat16* a, const __nv_bfloat16* bt, float* c, int N,
                             int K) {
  __shared__ alignas(1024) unsigned char a_tile[kTile * 128], b_tile[kTile * 128];
  a += size_t(blockIdx.y) * kTile * K;
  bt += size_t(blockIdx.x) * kTile * K;
  float sum[32] = {};
  for (int k0 = 0; k0 < K; k0 += kTile) {
    load_tile(a_tile, a + k0, K);
    load_tile(b_tile, bt + k0, K);
    // Ordinary stores become visible to the tensor core, which reads by another way.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();                                         // both tiles are complete
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // and so are the sums in registers
    // 16 numbers further along k are 32 bytes further: the swizzle works on addresses, so the
    // start simply moves.
    for (int k = 0; k < kTile; k += kPerInstruction)
      multiply_add(sum, descriptor(a_tile) + (k * 2 >> 4), descriptor(b_tile) + (k * 2 >> 4));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();  // all four warps have waited, before the next round overwrites the tiles
  }
  // Warp w has rows 16 w … 16 w + 15. A lane has two neighbours of a row in each group of eight
  // columns, and the same eight rows further down.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  c += (size_t(blockIdx.y) * kTile + 16 * warp + lane / 4) * N + blockIdx.x * kTile + lane % 4 * 2;
  for (int i = 0; i < 32; ++i) c[size_t(8) * (i / 2 % 2) * N + 8 * (i / 4) + i % 2] = sum[i];
}

std::vector<__nv_bfloat16> random_matrix(int rows, int cols, unsigned seed) {
  std::vector<__nv_bfloat16> matrix(size_t(rows) * cols);
  std::mt19937 random(seed);
  for (auto& value : matrix) value = __float2bfloat16(float(random() >> 8) * 0x1p-23f - 1.0f);
  return matrix;
}

int main(int argc, char** argv) {
  const Args args(argc, argv,
                  {{"M", 128, 64, 16384}, {"N", 192, 64, 16384}, {"K", 256, 64, 16384}});
  const int M = args.size(0), N = args.size(1), K = args.size(2);
  if (M % kTile || N % kTile || K % kTile) {
    std::fprintf(stderr, "M, N and K must be multiples of %d\n", kTile);
    return 2;
  }
  const auto a = random_matrix(M, K, 1), bt = random_matrix(N, K, 2);

  __nv_bfloat16 *device_a, *device_bt;
  float* device_c;
  CHECK(cudaMalloc(&device_a, a.size() * sizeof(__nv_bfloat16)));
  CHECK(cudaMalloc(&device_bt, bt.size() * sizeof(__nv_bfloat16)));
  CHECK(cudaMalloc(&device_c, size_t(M) * N * sizeof(float)));
  CHECK(cudaMemset(device_c, 0xff, size_t(M) * N * sizeof(float)));  // NaN, until written
  CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice));
  CHECK(
      cudaMemcpy(device_bt, bt.data(), bt.size() * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice));
  wgmma_matmul<<<dim3(N / kTile, M / kTile), kThreads>>>(device_a, device_bt, device_c, N, K);
  CHECK(cudaGetLastError());
  std::vector<float> c(size_t(M) * N);
  CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_bt));
  CHECK(cudaFree(device_c));

  // Each instruction cuts 17 numbers off 25 bits below the largest, and the result to 24 bits: it
  // errs by less than 2^-20 of the sum of magnitudes.
  double largest_error = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double want = 0, magnitude = 0;
      for (int k = 0; k < K; ++k) {
        const double product = double(__bfloat162float(a[size_t(m) * K + k])) *
                               double(__bfloat162float(bt[size_t(n) * K + k]));
        want += product;
        magnitude += std::fabs(product);
      }
      const float got = c[size_t(m) * N + n];
      if (!is_close(got, want, K / kPerInstruction * 0x1p-20 * magnitude))
        return fail("C(%d, %d) is %.9g, expected %.9g", m, n, got, want);
      largest_error = std::fmax(largest_error, std::fabs(got - want));
    }
  std::printf("(%d x %d) times (%d x %d) on tensor cores: the largest error is %.3g\n", M, K, K, N,
              largest_error);
}
