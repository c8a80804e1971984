// Products on bf16 with Hopper's own instructions, of normally distributed numbers.
//   hopper NAME REPEATS   run one of wgmma (256 cubed; the threads fill the tiles) and wgmma_tma
//                         (1024 cubed; the copy engine does); print the seconds of each launch
// run.py runs this under the software GPU, counts its instructions and records the rates.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>

#include <cmath>
#include <string>

#include "common.cuh"

// Both kernels: a block makes 128 x 256 of C = A B, where B is given by columns. Each of two
// warpgroups makes 64 x 256 of it, from tiles of 64 numbers of K with the 128-byte swizzle.
constexpr int kRows = 128, kColumns = 256, kStep = 64;
constexpr uint32_t kBytesOfA = kRows * 128, kBytesOfStep = (kRows + kColumns) * 128;

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
      "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
      "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "
      "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "
      "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "
      "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
      "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "
      "%124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b));
}
// One tile of K: A's rows of this warpgroup times all columns.
__device__ void multiply_tile(float (&sum)[128], uint32_t a, uint32_t b) {
  const auto descriptor = [](uint32_t tile) {
    return uint64_t(tile >> 4) | uint64_t(64) << 32 | uint64_t(1) << 62;
  };
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < kStep; k += 16)
    wgmma(sum, descriptor(a) + uint64_t(k / 8), descriptor(b) + uint64_t(k / 8));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ void store_sums(const float (&sum)[128], int n, float* c) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  c += (blockIdx.y * kRows + 16 * warp + lane / 4) * n + blockIdx.x * kColumns + lane % 4 * 2;
  for (int i = 0; i < 128; i += 2)
    *reinterpret_cast<float2*>(&c[i / 2 % 2 * 8 * n + 8 * (i / 4)]) = {sum[i], sum[i + 1]};
}

// --- the threads fill the tiles ---

// 64 numbers of each row, 128 bytes, in pieces of 16 bytes.
__device__ void load_swizzled(unsigned char* to, int rows, const __nv_bfloat16* from, int pitch) {
  for (int i = threadIdx.x; i < rows * 8; i += blockDim.x) {
    const int r = i / 8, p = i % 8;
    *reinterpret_cast<uint4*>(to + r * 128 + (p ^ r % 8) * 16) =
        *reinterpret_cast<const uint4*>(from + r * pitch + 8 * p);
  }
}
__global__ void __launch_bounds__(256)
    wgmma_gemm(int n, const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  extern __shared__ __align__(1024) unsigned char as[];
  unsigned char* const bs = as + kBytesOfA;
  a += blockIdx.y * kRows * n;
  b += blockIdx.x * kColumns * n;
  const uint32_t my_rows = shared_address(as) + threadIdx.x / 128 * 64 * 128;
  float sum[128] = {};
  for (int k0 = 0; k0 < n; k0 += kStep) {
    load_swizzled(as, kRows, a + k0, n);
    load_swizzled(bs, kColumns, b + k0, n);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    multiply_tile(sum, my_rows, shared_address(bs));
    __syncthreads();
  }
  store_sums(sum, n, c);
}

// --- the copy engine fills them, up to kStages tiles ahead ---

constexpr uint32_t kStages = 4;
__device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}
__device__ void load_box(uint32_t to, const CUtensorMap& map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
// Two warpgroups multiply; one thread of one more warp starts the copies.
__global__ void __launch_bounds__(288)
    wgmma_tma_gemm(int n, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, float* c) {
  extern __shared__ __align__(1024) unsigned char tiles[];  // (stage, A's then B's)
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (uint32_t s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
      asm volatile("mbarrier.init.shared.b64 [%0], 8;" ::"r"(shared_address(&empty[s])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const uint32_t steps = uint32_t(n / kStep);
  if (threadIdx.x >= 256) {
    if (threadIdx.x > 256) return;
    for (uint32_t i = 0; i < steps; ++i) {
      const uint32_t s = i % kStages, to = shared_address(tiles) + s * kBytesOfStep;
      const uint32_t barrier = shared_address(&full[s]);
      if (i >= kStages) wait(shared_address(&empty[s]), i / kStages - 1 & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(kBytesOfStep)
                   : "memory");
      load_box(to, a, int(i) * kStep, int(blockIdx.y) * kRows, barrier);
      load_box(to + kBytesOfA, b, int(i) * kStep, int(blockIdx.x) * kColumns, barrier);
    }
    return;
  }
  float sum[128] = {};
  for (uint32_t i = 0; i < steps; ++i) {
    const uint32_t s = i % kStages, as = shared_address(tiles) + s * kBytesOfStep;
    wait(shared_address(&full[s]), i / kStages & 1);
    multiply_tile(sum, as + threadIdx.x / 128 * 64 * 128, as + kBytesOfA);
    if (threadIdx.x % 32 == 0)  // each warp has read what it needs
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&empty[s]))
                   : "memory");
  }
  store_sums(sum, n, c);
}

// Boxes of so many rows by one tile of K.
CUtensorMap describe(const __nv_bfloat16* matrix, int n, int rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &result));
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  const cuuint64_t sizes[] = {cuuint64_t(n), cuuint64_t(n)}, strides[] = {cuuint64_t(n) * 2};
  const cuuint32_t box[] = {kStep, cuuint32_t(rows)}, steps[] = {1, 1};
  CUtensorMap map;
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(matrix), sizes,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "the driver refuses the tensor map\n");
    std::exit(4);
  }
  return map;
}

int main(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[1] : "";
  if (name != "wgmma" && name != "wgmma_tma") {
    std::fprintf(stderr, "usage: hopper wgmma|wgmma_tma REPEATS\n");
    return 2;
  }
  const int n = name == "wgmma" ? 256 : 1024;
  std::vector<__nv_bfloat16> a, b;
  for (float x : normal_floats(size_t(n) * n, 1)) a.push_back(__float2bfloat16(x));
  for (float x : normal_floats(size_t(n) * n, 2)) b.push_back(__float2bfloat16(x));
  const __nv_bfloat16 *da = device_copy(a), *db = device_copy(b);
  float* dc = device_copy(std::vector<float>(size_t(n) * n, NAN));
  const dim3 grid(n / kColumns, n / kRows);
  if (name == "wgmma") {
    CHECK(cudaFuncSetAttribute(wgmma_gemm, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kBytesOfStep));
    time_launches(std::atoi(argv[2]),
                  [=] { wgmma_gemm<<<grid, 256, kBytesOfStep>>>(n, da, db, dc); });
  } else {
    CHECK(cudaFuncSetAttribute(wgmma_tma_gemm, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kStages * kBytesOfStep));
    const CUtensorMap map_a = describe(da, n, kRows), map_b = describe(db, n, kColumns);
    time_launches(std::atoi(argv[2]), [=] {
      wgmma_tma_gemm<<<grid, 288, kStages * kBytesOfStep>>>(n, map_a, map_b, dc);
    });
  }
  std::vector<float> c(size_t(n) * n);
  CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
  for (int e = 0; e < n * n; e += 97 * (n / 256)) {
    double sum = 0, magnitude = 0;
    for (int k = 0; k < n; ++k) {
      const double x =
          double(__bfloat162float(a[e / n * n + k])) * double(__bfloat162float(b[e % n * n + k]));
      sum += x;
      magnitude += std::fabs(x);
    }
    if (!(std::fabs(c[e] - sum) <= n / 16 * 0x1p-20 * magnitude)) wrong(name.c_str(), e);
  }
}
