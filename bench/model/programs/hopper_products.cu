// Products of matrices as on Hopper: wgmma fed by tensor copies, with one stage, a ring of stages,
// warps of their own for the copies, clusters; and the way before, cp.async with mma.sync.
//
// All compute c (M, N) = a (M, K) times b (N, K) transposed: k lies side by side in both.
#include <cuda_fp8.h>

#include "../measure/wgmma_registers.h"
#include "hopper.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HAS_WGMMA 1
#endif

namespace programs {
namespace {

namespace ptx = ridge::ptx;
extern __shared__ __align__(1024) Byte stages[];
constexpr int kRow = 128;  // bytes of k in one stage: 64 bf16, 128 fp8
constexpr int kTileM = 128;

[[maybe_unused]] __device__ __forceinline__ uint64_t descriptor(const Byte* tile, int bytes) {
  const uint64_t address = ptx::shared_address(tile) + uint32_t(bytes);
  return address >> 4 | uint64_t(8 * kRow >> 4) << 32 | uint64_t(1) << 62;
}

#if HAS_WGMMA
#define PRODUCT(name, count, text, a_place, rest)                                           \
  __device__ __forceinline__ void name(float(&d)[count], uint64_t a, uint64_t b) {          \
    asm volatile("wgmma.mma_async.sync.aligned." text " " RIDGE_D##count ", %" a_place rest \
                 : RIDGE_R##count("+f", d)                                                  \
                 : "l"(a), "l"(b));                                                         \
  }
PRODUCT(multiply_fp8, 64, "m64n128k32.f32.e4m3.e4m3", "64", ", %65, 1, 1, 1;")
PRODUCT(multiply_bf16, 64, "m64n128k16.f32.bf16.bf16", "64", ", %65, 1, 1, 1, 0, 0;")
PRODUCT(multiply_bf16, 128, "m64n256k16.f32.bf16.bf16", "128", ", %129, 1, 1, 1, 0, 0;")
#undef PRODUCT
#endif

// One stage's products of a warpgroup: 64 rows of a, all of b.
template <bool kFp8, int kCount>
__device__ __forceinline__ void multiply(float (&sum)[kCount], const Byte* a, const Byte* b) {
#if HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < kRow; k += 32)
    if constexpr (kFp8) multiply_fp8(sum, descriptor(a, k), descriptor(b, k));
    else multiply_bf16(sum, descriptor(a, k), descriptor(b, k));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int kPending>
__device__ __forceinline__ void wait_for_products() {
#if HAS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

// The sums of a warpgroup whose first row is `row`.
template <int kCount>
__device__ void store(const float (&sum)[kCount], float* c, int row, int column, int N) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  c += size_t(row + 16 * warp + lane / 4) * N + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kCount; i += 2)
    *reinterpret_cast<float2*>(c + size_t(8) * (i / 2 % 2) * N + 8 * (i / 4)) = {sum[i],
                                                                                 sum[i + 1]};
}

[[maybe_unused]] __device__ __forceinline__ void init_barriers(uint64_t* barriers, int count,
                                                               int arrivals) {
  for (int s = 0; s < count; ++s) ptx::mbarrier_init(barriers + s, arrivals);
  ptx::mbarrier_init_done();
}

// Two warpgroups, 128 x 128 sums: thread 0 keeps kStages stages on their way; with one, copies and
// products take turns.
template <bool kFp8, int kStages>
__global__ void __launch_bounds__(256)
    wgmma_stages(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 float* c, int N, int K) {
#if HAS_WGMMA
  constexpr int kElements = kFp8 ? 128 : 64, kBytes = 2 * kTileM * kRow;
  __shared__ uint64_t full[kStages];
  const int row = blockIdx.y * kTileM, column = blockIdx.x * 128, rounds = K / kElements;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) init_barriers(full, kStages, 1);
  __syncthreads();
  const auto fetch = [&](int round) {
    if (threadIdx.x != 0 || round >= rounds) return;
    const int s = round % kStages;
    ptx::mbarrier_arrive_expect(full + s, kBytes);
    ptx::tma_load(stages + s * kBytes, &a, round * kElements, row, 0, full + s);
    ptx::tma_load(stages + s * kBytes + kBytes / 2, &b, round * kElements, column, 0, full + s);
  };
  for (int r = 0; r < kStages; ++r) fetch(r);
  float sum[64] = {};
  for (int r = 0; r < rounds; ++r) {
    const int s = r % kStages;
    ptx::mbarrier_wait(full + s, uint32_t(r / kStages % 2));
    const Byte* stage = stages + s * kBytes;
    multiply<kFp8>(sum, stage + group * 64 * kRow, stage + kBytes / 2);
    wait_for_products<(kStages > 1 ? 1 : 0)>();
    __syncthreads();
    if constexpr (kStages == 1) fetch(r + 1);
    else if (r > 0) fetch(r - 1 + kStages);
  }
  wait_for_products<0>();
  store(sum, c, row + group * 64, column, N);
#endif
}

// A warpgroup of its own asks for the stages, two others multiply, 128 x kN sums at a time. With a
// cluster of two, the blocks have the same columns: each fetches half of b for both.
template <int kN, int kCluster>
__global__ void __launch_bounds__(384, 1)
    wgmma_specialised(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      float* c, int M, int N, int K) {
#if HAS_WGMMA
  constexpr int kStages = 4, kBytesA = kTileM * kRow, kBytes = kBytesA + kN * kRow;
  constexpr int kPart = kN / kCluster;  // rows of b that this block fetches
  __shared__ uint64_t full[kStages], empty[kStages];
  const int rounds = K / 64, group = threadIdx.x / 128;
  const unsigned rank = kCluster > 1 ? ridge::cluster_rank() : 0;
  if (threadIdx.x == 0) {
    init_barriers(full, kStages, 1);
    init_barriers(empty, kStages, 8 * kCluster);  // warps that multiply
  }
  if constexpr (kCluster > 1) {
    ridge::cluster_arrive();
    ridge::cluster_wait();
  } else {
    __syncthreads();
  }
  const int tiles = M / kTileM * (N / kN);
  uint32_t stage = 0, parity = 0;
  const auto next = [&] {
    if (++stage == kStages) stage = 0, parity ^= 1;
  };
  // Tiles below each other come first: neighbouring blocks share their columns.
  const auto row_of = [&](int tile) { return tile % (M / kTileM) * kTileM; };
  const auto column_of = [&](int tile) { return tile / (M / kTileM) * kN; };
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int r = 0; r < rounds; ++r, next()) {
          ptx::mbarrier_wait(empty + stage, parity ^ 1);
          Byte* const to = stages + stage * kBytes;
          ptx::mbarrier_arrive_expect(full + stage, kBytes);
          ptx::tma_load(to, &a, r * 64, row_of(tile), 0, full + stage);
          Byte* const part = to + kBytesA + rank * kPart * kRow;
          const int row = column_of(tile) + int(rank) * kPart;
          if constexpr (kCluster == 1) ptx::tma_load(part, &b, r * 64, row, 0, full + stage);
          else
            asm volatile(
                "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(
                    ptx::shared_address(part)),
                "l"(&b), "r"(ptx::shared_address(full + stage)), "r"(r * 64), "r"(row), "r"(0),
                "h"(uint16_t((1 << kCluster) - 1))
                : "memory");
        }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const auto release = [&](uint32_t s) {
      if (threadIdx.x % 32 != 0) return;
#pragma unroll
      for (unsigned block = 0; block < kCluster; ++block)
        asm volatile(
            "{\n  .reg .b32 there;\n  mapa.shared::cluster.u32 there, %0, %1;\n"
            "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(
                ptx::shared_address(empty + s)),
            "r"(block)
            : "memory");
    };
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float sum[kN / 2] = {};
      for (int r = 0; r < rounds; ++r) {
        ptx::mbarrier_wait(full + stage, parity);
        const Byte* from = stages + stage * kBytes;
        multiply<false>(sum, from + (group - 1) * 64 * kRow, from + kBytesA);
        wait_for_products<1>();
        if (r > 0) release((stage + kStages - 1) % kStages);
        next();
      }
      wait_for_products<0>();
      release((stage + kStages - 1) % kStages);
      store(sum, c, row_of(tile) + (group - 1) * 64, column_of(tile), N);
    }
  }
  if constexpr (kCluster > 1) {  // no block leaves while another one may still signal it
    ridge::cluster_arrive();
    ridge::cluster_wait();
  }
#endif
}

__device__ __forceinline__ void copy_16(Byte* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ptx::shared_address(to)), "l"(from)
               : "memory");
}
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// 8 warps, 128 x 128 sums, 32 k in each of kStages stages; each warp has 64 x 32.
template <int kStages>
__global__ void __launch_bounds__(256)
    mma_ldmatrix(const Bf16* a, const Bf16* b, float* c, int N, int K) {
  constexpr int kStep = 32, kBytes = 2 * kTileM * kStep * 2;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.y * kTileM, column = blockIdx.x * kTileM, rounds = K / kStep;
  // Rows of 64 bytes: piece p of row r lies at p ^ (r / 2 % 4), so that 8 rows use all banks.
  const auto place = [](int r, int piece) { return r * 64 + (piece ^ (r / 2 % 4)) * 16; };
  const auto fetch = [&](int round) {
    if (round < rounds) {
      Byte* const to = stages + round % kStages * kBytes;
      for (int i = threadIdx.x; i < kTileM * 4; i += 256) {
        const int r = i / 4, piece = i % 4;
        copy_16(to + place(r, piece), a + size_t(row + r) * K + round * kStep + piece * 8);
        copy_16(to + kBytes / 2 + place(r, piece),
                b + size_t(column + r) * K + round * kStep + piece * 8);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int r = 0; r < kStages - 1; ++r) fetch(r);
  float sum[4][4][4] = {};
  const int m0 = warp / 4 * 64, n0 = warp % 4 * 32;
  for (int round = 0; round < rounds; ++round) {
    wait_for_copies<kStages - 2>();
    __syncthreads();
    fetch(round + kStages - 1);
    const Byte* from = stages + round % kStages * kBytes;
#pragma unroll
    for (int k = 0; k < kStep / 16; ++k) {
      uint32_t x[4][4], y[4][2];
#pragma unroll
      for (int m = 0; m < 4; ++m)
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
            : "=r"(x[m][0]), "=r"(x[m][1]), "=r"(x[m][2]), "=r"(x[m][3])
            : "r"(ptx::shared_address(from + place(m0 + m * 16 + lane % 16, k * 2 + lane / 16))));
#pragma unroll
      for (int n = 0; n < 4; n += 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(y[n][0]), "=r"(y[n][1]), "=r"(y[n + 1][0]), "=r"(y[n + 1][1])
                     : "r"(ptx::shared_address(
                         from + kBytes / 2 +
                         place(n0 + n * 8 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2))));
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
              "{%8,%9}, {%0,%1,%2,%3};"
              : "+f"(sum[m][n][0]), "+f"(sum[m][n][1]), "+f"(sum[m][n][2]), "+f"(sum[m][n][3])
              : "r"(x[m][0]), "r"(x[m][1]), "r"(x[m][2]), "r"(x[m][3]), "r"(y[n][0]), "r"(y[n][1]));
    }
  }
#pragma unroll
  for (int m = 0; m < 4; ++m)
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<float2*>(c + size_t(row + m0 + m * 16 + lane / 4 + 8 * half) * N +
                                   column + n0 + n * 8 +
                                   lane % 4 * 2) = {sum[m][n][2 * half], sum[m][n][2 * half + 1]};
}

// f32 without tensor cores: 64 x 64 sums, 4 x 4 per thread, the next 16 k on their way meanwhile.
// b is (K, N) here.
__global__ void __launch_bounds__(256)
    matmul_cp_async(const float* a, const float* b, float* c, int N, int K) {
  __shared__ __align__(16) float as[2][64][20], bs[2][16][64];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  const auto fetch = [&](int k) {
    const int s = k / 16 % 2;
    if (k < K) {
      copy_16(reinterpret_cast<Byte*>(&as[s][t / 4][t % 4 * 4]),
              a + size_t(row + t / 4) * K + k + t % 4 * 4);
      copy_16(reinterpret_cast<Byte*>(&bs[s][y][x * 4]), b + size_t(k + y) * N + column + x * 4);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sum[4][4] = {};
  fetch(0);
  for (int k = 0; k < K; k += 16) {
    fetch(k + 16);
    wait_for_copies<1>();
    __syncthreads();
    const int s = k / 16 % 2;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 v = *reinterpret_cast<const float4*>(&bs[s][i][x * 4]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float u = as[s][y * 4 + j][i];
        sum[j][0] += u * v.x, sum[j][1] += u * v.y, sum[j][2] += u * v.z, sum[j][3] += u * v.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    *reinterpret_cast<float4*>(c + size_t(row + y * 4 + j) * N + column + x * 4) = {
        sum[j][0], sum[j][1], sum[j][2], sum[j][3]};
}

// --- launches and checks ---

struct Size {
  int M, N, K;
};
constexpr Size kUsual = {2048, 2048, 1024};
using Launch = void (*)(const Buffers&, Size, cudaStream_t);

template <bool kFp8, int kStages>
void launch_stages(const Buffers& b, Size n, cudaStream_t s) {
  const int bytes = kFp8 ? 1 : 2;
  start(wgmma_stages<kFp8, kStages>, dim3(n.N / 128, n.M / 128), 256, kStages * 256 * kRow, 1, s,
        tensor_map(b.a, bytes, n.M, n.K, 128), tensor_map(b.b, bytes, n.N, n.K, 128), b.c, n.N,
        n.K);
}
template <int kN, int kCluster, bool kPersistent>
void launch_specialised(const Buffers& b, Size n, cudaStream_t s) {
  const int tiles = n.M / 128 * (n.N / kN);
  int sms = 0;
  HOPPER_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  start(wgmma_specialised<kN, kCluster>, dim3(kPersistent && tiles > sms ? sms : tiles), 384,
        4 * (128 + kN) * kRow, kCluster, s, tensor_map(b.a, 2, n.M, n.K, 128),
        tensor_map(b.b, 2, n.N, n.K, kN / kCluster), b.c, n.M, n.N, n.K);
}
void launch_ldmatrix(const Buffers& b, Size n, cudaStream_t s) {
  start(mma_ldmatrix<3>, dim3(n.N / 128, n.M / 128), 256, 3 * 16384, 1, s, (const Bf16*)b.a,
        (const Bf16*)b.b, b.c, n.N, n.K);
}
void launch_cp_async(const Buffers& b, Size n, cudaStream_t s) {
  matmul_cp_async<<<dim3(n.N / 64, n.M / 64), 256, 0, s>>>(b.a, b.b, b.c, n.N, n.K);
}

enum class Type { bf16, fp8, f32 };
// Small whole numbers: every sum is exact.
template <Launch kLaunch, Type kType>
bool check(const Buffers& buffers, cudaStream_t s) {
  const Size n = {256, 512, 512};
  std::vector<int> a(size_t(n.M) * n.K), b(size_t(n.N) * n.K);
  for (size_t i = 0; i < a.size(); ++i) a[i] = int(i * 2654435761u >> 20) % 7 - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = int(i * 2246822519u >> 20) % 5 - 2;
  const auto put = [&](float* to, const std::vector<int>& from) {
    if constexpr (kType == Type::f32) to_device(to, std::vector<float>(from.begin(), from.end()));
    std::vector<Bf16> halves;
    std::vector<Byte> bytes;
    for (const int v : from) {
      halves.push_back(__float2bfloat16(float(v)));
      bytes.push_back(__nv_cvt_float_to_fp8(float(v), __NV_SATFINITE, __NV_E4M3));
    }
    if constexpr (kType == Type::bf16) to_device(to, halves);
    if constexpr (kType == Type::fp8) to_device(to, bytes);
  };
  put(buffers.a, a);
  put(buffers.b, b);
  to_device(buffers.c, std::vector<float>(size_t(n.M) * n.N, NAN));
  kLaunch(buffers, n, s);
  const auto c = from_device<float>(buffers.c, size_t(n.M) * n.N);
  for (int i = 0; i < n.M * n.N; ++i) {
    const int row = i / n.N, column = i % n.N;
    int want = 0;
    for (int k = 0; k < n.K; ++k)
      want += a[size_t(row) * n.K + k] *
              (kType == Type::f32 ? b[size_t(k) * n.N + column] : b[size_t(column) * n.K + k]);
    if (c[size_t(i)] != float(want)) {
      std::fprintf(stderr, "c(%d, %d) is %g, not %d\n", row, column, c[size_t(i)], want);
      return false;
    }
  }
  return true;
}

}  // namespace

void add_hopper_products(std::vector<Program>& all) {
  all.push_back({"wgmma_one_stage", "2048 x 2048 x 1024 bf16, copies and products take turns",
                 [](const Buffers& b, cudaStream_t s) { launch_stages<false, 1>(b, kUsual, s); },
                 check<launch_stages<false, 1>, Type::bf16>});
  all.push_back({"wgmma_4_stages", "2048 x 2048 x 1024 bf16, four stages on their way",
                 [](const Buffers& b, cudaStream_t s) { launch_stages<false, 4>(b, kUsual, s); },
                 check<launch_stages<false, 4>, Type::bf16>});
  all.push_back({"wgmma_specialised", "2048 x 4096 x 1024 bf16, 128 x 256 per block",
                 [](const Buffers& b, cudaStream_t s) {
                   launch_specialised<256, 1, false>(b, {2048, 4096, 1024}, s);
                 },
                 check<launch_specialised<256, 1, false>, Type::bf16>});
  all.push_back({"wgmma_persistent", "the same with one block per SM",
                 [](const Buffers& b, cudaStream_t s) {
                   launch_specialised<256, 1, true>(b, {2048, 4096, 1024}, s);
                 },
                 check<launch_specialised<256, 1, true>, Type::bf16>});
  all.push_back(
      {"wgmma_multicast", "2048 x 2048 x 1024 bf16, 128 x 128 per block, clusters of two",
       [](const Buffers& b, cudaStream_t s) { launch_specialised<128, 2, false>(b, kUsual, s); },
       check<launch_specialised<128, 2, false>, Type::bf16>});
  all.push_back({"wgmma_fp8", "2048 x 2048 x 2048 e4m3, four stages on their way",
                 [](const Buffers& b, cudaStream_t s) {
                   launch_stages<true, 4>({(float*)b.bytes, b.b, b.c}, {2048, 2048, 2048}, s);
                 },
                 check<launch_stages<true, 4>, Type::fp8>});
  all.push_back({"mma_ldmatrix", "2048 x 2048 x 1024 bf16, mma.sync, three stages of cp.async",
                 [](const Buffers& b, cudaStream_t s) { launch_ldmatrix(b, kUsual, s); },
                 check<launch_ldmatrix, Type::bf16>});
  all.push_back({"matmul_cp_async", "1024^3 f32, two stages of cp.async, 4 x 4 per thread",
                 [](const Buffers& b, cudaStream_t s) {
                   launch_cp_async(b, {1024, 1024, 1024}, s);
                 },
                 check<launch_cp_async, Type::f32>});
}

}  // namespace programs
