// Tensor cores as programs use them: nvcuda::wmma, and mma.sync fed by ldmatrix, against a product
// computed on the host. Inputs are small integers, so every result is exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <vector>

#include "check.h"

using namespace nvcuda;

constexpr int kSize = 64;

template <class T>
T* device_copy(const std::vector<T>& host) {
  T* p = nullptr;
  RIDGE_CUDA(cudaMalloc(&p, host.size() * sizeof(T)), cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
             cudaSuccess);
  return p;
}
template <class T>
std::vector<T> host_copy(const T* p, size_t n) {
  std::vector<T> host(n);
  RIDGE_CUDA(cudaMemcpy(host.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return host;
}
int small(uint32_t i, int range) { return int((i * 2654435761u >> 16) % (2 * range + 1)) - range; }

template <class In>
In as(int x) {
  if constexpr (std::is_same_v<In, __half>) return __float2half(float(x));
  else if constexpr (std::is_same_v<In, __nv_bfloat16>) return __float2bfloat16(float(x));
  else return In(x);
}
template <class Out>
double as_double(Out x) {
  if constexpr (std::is_same_v<Out, __half>) return __half2float(x);
  else return double(x);
}

// A warp makes one tile of C = A B; A row-major or column-major, B likewise.
template <class Shape, class In, class Out, class LayoutA, class LayoutB>
__global__ void tile_product(const In* a, const In* b, Out* c) {
  constexpr int M = Shape::m, N = Shape::n, K = Shape::k;
  constexpr bool kRowA = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool kRowB = std::is_same_v<LayoutB, wmma::row_major>;
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  wmma::fragment<wmma::matrix_a, M, N, K, typename Shape::template Element<In>, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, typename Shape::template Element<In>, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
  wmma::fill_fragment(sum, Out(0));
  for (int k = 0; k < kSize; k += K) {
    wmma::load_matrix_sync(fa, kRowA ? a + row * kSize + k : a + k * kSize + row, kSize);
    wmma::load_matrix_sync(fb, kRowB ? b + k * kSize + column : b + column * kSize + k, kSize);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * kSize + column, sum, kSize, wmma::mem_row_major);
}
struct Plain {
  template <class In>
  using Element = In;
};
struct Square : Plain {
  static constexpr int m = 16, n = 16, k = 16;
};
struct Tall : Plain {
  static constexpr int m = 32, n = 8, k = 16;
};
struct Wide : Plain {
  static constexpr int m = 8, n = 32, k = 16;
};
struct Double : Plain {
  static constexpr int m = 8, n = 8, k = 4;
};
struct Tf32 {
  static constexpr int m = 16, n = 16, k = 8;
  template <class In>
  using Element = wmma::precision::tf32;
};

template <class Shape, class In, class Out, class LayoutA, class LayoutB>
void check_tiles(const char* what) {
  constexpr bool kRowA = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool kRowB = std::is_same_v<LayoutB, wmma::row_major>;
  std::vector<In> a(kSize * kSize), b(kSize * kSize);
  const int low = std::is_same_v<In, unsigned char> ? 4 : 0;  // no negative numbers
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = as<In>(small(i, 4) + low);
    b[i] = as<In>(small(i + 7777, 4) + low);
  }
  const In *da = device_copy(a), *db = device_copy(b);
  Out* dc = device_copy(std::vector<Out>(kSize * kSize));
  tile_product<Shape, In, Out, LayoutA, LayoutB>
      <<<dim3(kSize / Shape::n, kSize / Shape::m), 32>>>(da, db, dc);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  const auto c = host_copy(dc, kSize * kSize);
  int wrong = 0;
  for (int row = 0; row < kSize; ++row)
    for (int column = 0; column < kSize; ++column) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k)
        sum += as_double(a[kRowA ? row * kSize + k : k * kSize + row]) *
               as_double(b[kRowB ? k * kSize + column : column * kSize + k]);
      if (!(as_double(c[row * kSize + column]) == sum) && wrong++ < 3)
        std::printf("%s: (%d, %d) is %g, not %g\n", what, row, column,
                    as_double(c[row * kSize + column]), sum);
    }
  RIDGE_CHECK(wrong == 0);
}
template <class Shape, class In, class Out>
void check_layouts(const char* what) {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  check_tiles<Shape, In, Out, Row, Column>(what);
  check_tiles<Shape, In, Out, Row, Row>(what);
  check_tiles<Shape, In, Out, Column, Row>(what);
}

// A warp makes a 16 x 8 tile: A and B come through shared memory by ldmatrix, B transposed on the
// way; results leave by stmatrix's opposite number, ordinary stores.
template <bool Brain>
__global__ void mma_product(const uint16_t* a, const uint16_t* b, float* c) {
  __shared__ __align__(16) uint16_t as[16][16], bs[16][8];
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  for (int k0 = 0; k0 < kSize; k0 += 16) {
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
      as[i / 16][i % 16] = a[(row + i / 16) * kSize + k0 + i % 16];
    for (int i = lane; i < 128; i += 32)
      bs[i / 8][i % 8] = b[(k0 + i / 8) * kSize + column + i % 8];
    __syncwarp();
    uint32_t a0, a1, a2, a3, b0, b1;
    const uint32_t pa = uint32_t(__cvta_generic_to_shared(&as[lane % 16][lane / 16 * 8]));
    const uint32_t pb = uint32_t(__cvta_generic_to_shared(&bs[lane % 16][0]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                 : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b0), "=r"(b1)
                 : "r"(pb));
    if (Brain)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
          " {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    else
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
          " {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  float* to = c + (row + lane / 4) * kSize + column + lane % 4 * 2;
  to[0] = d0;
  to[1] = d1;
  to[8 * kSize] = d2;
  to[8 * kSize + 1] = d3;
}

template <class In>
void check_mma() {
  std::vector<In> a(kSize * kSize), b(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = as<In>(small(i, 8));
    b[i] = as<In>(small(i + 99, 8));
  }
  const In *da = device_copy(a), *db = device_copy(b);
  float* dc = device_copy(std::vector<float>(kSize * kSize));
  mma_product<std::is_same_v<In, __nv_bfloat16>><<<dim3(kSize / 8, kSize / 16), 32>>>(
      reinterpret_cast<const uint16_t*>(da), reinterpret_cast<const uint16_t*>(db), dc);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  const auto c = host_copy(dc, kSize * kSize);
  for (int e = 0; e < kSize * kSize; ++e) {
    double sum = 0;
    for (int k = 0; k < kSize; ++k)
      sum += double(float(a[e / kSize * kSize + k])) * double(float(b[k * kSize + e % kSize]));
    RIDGE_CHECK(c[e] == sum);
    if (failures > 5) return;
  }
}

// Out by stmatrix and movmatrix: a matrix stored transposed is the matrix moved, then stored.
__global__ void matrix_moves(uint16_t* out) {
  __shared__ __align__(16) uint16_t stored[2][8][8];
  const uint32_t lane = threadIdx.x;
  const uint32_t pair = 2 * lane | (2 * lane + 1) << 16;  // element (r, c) is 8 r + c
  uint32_t moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(pair));
  const uint32_t p = uint32_t(__cvta_generic_to_shared(&stored[lane / 8 % 2][lane % 8][0]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(p), "r"(pair),
               "r"(moved)
               : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) out[i] = stored[i / 64][i / 8 % 8][i % 8];
}

int main() {
  check_layouts<Square, __half, float>("f16, f32");
  check_layouts<Square, __half, __half>("f16, f16");
  check_layouts<Tall, __half, float>("f16 m32n8");
  check_layouts<Wide, __half, float>("f16 m8n32");
  check_layouts<Wide, __half, __half>("f16 m8n32, f16");
  check_layouts<Square, __nv_bfloat16, float>("bf16");
  check_layouts<Tall, __nv_bfloat16, float>("bf16 m32n8");
  check_layouts<Wide, __nv_bfloat16, float>("bf16 m8n32");
  check_layouts<Square, signed char, int>("s8");
  check_layouts<Tall, unsigned char, int>("u8 m32n8");
  check_layouts<Wide, signed char, int>("s8 m8n32");
  check_layouts<Tf32, float, float>("tf32");
  check_layouts<Double, double, double>("f64");
  check_mma<__half>();
  check_mma<__nv_bfloat16>();

  uint16_t* out = device_copy(std::vector<uint16_t>(128));
  matrix_moves<<<1, 32>>>(out);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  const auto moved = host_copy(out, 128);
  for (int i = 0; i < 64; ++i) {
    RIDGE_CHECK(moved[i] == i % 8 * 8 + i / 8);
    RIDGE_CHECK(moved[64 + i] == i);
  }
  std::printf("%d failures\n", failures);
  return failures != 0;
}
