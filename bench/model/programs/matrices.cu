// Matrix products and matrix-vector products, dense and sparse; rows of softmax and layernorm.
#include <mma.h>

#include "programs.h"

namespace programs {
namespace {

template <class T>
__global__ void matmul(const T* a, const T* b, T* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}
__global__ void matmul_swapped(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}
template <class T, int kTile>
__global__ void matmul_tiled(const T* a, const T* b, T* c, int n) {
  __shared__ T sa[kTile][kTile], sb[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty,
      col = blockIdx.x * kTile + tx;
  T sum = 0;
  for (int k = 0; k < n; k += kTile) {
    sa[ty][tx] = a[row * n + k + tx];
    sb[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
// 64 x 64 per block of 256 threads, 4 x 4 per thread.
__global__ void __launch_bounds__(256)
    matmul_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][64], sb[16][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = t; i < 1024; i += 256) {
      sa[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
      sb[i / 64][i % 64] = b[(k + i / 64) * n + col + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float u[4], v[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) u[j] = sa[i][ty * 4 + j], v[j] = sb[i][tx * 4 + j];
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int l = 0; l < 4; ++l) acc[j][l] += u[j] * v[l];
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    for (int l = 0; l < 4; ++l) c[(row + ty * 4 + j) * n + col + tx * 4 + l] = acc[j][l];
}
__global__ void matmul_wmma(const half* a, const half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  int tile_m = (blockIdx.x * blockDim.x + threadIdx.x) / 32,
      tile_n = blockIdx.y * blockDim.y + threadIdx.y;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> acc;
  fill_fragment(acc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + tile_m * 16 * n + k, n);
    load_matrix_sync(fb, b + k * n + tile_n * 16, n);
    mma_sync(acc, fa, fb, acc);
  }
  store_matrix_sync(c + tile_m * 16 * n + tile_n * 16, acc, n, mem_row_major);
}
__global__ void matvec_thread(const float* a, const float* x, float* y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  y[row] = sum;
}
__global__ void matvec_warp(const float* a, const float* x, float* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = lane; k < n; k += 32) sum += a[row * n + k] * x[k];
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}
// 16 entries per row at random columns; row r starts at 16 r.
__global__ void spmv_scalar(const int* columns, const float* values, const float* x, float* y,
                            int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row * 16; i < row * 16 + 16; ++i) sum += values[i] * x[columns[i] % rows];
  y[row] = sum;
}
__global__ void spmv_vector(const int* columns, const float* values, const float* x, float* y,
                            int rows, int length) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row * length + lane; i < (row + 1) * length; i += 32)
    sum += values[i] * x[columns[i] % rows];
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}
__global__ void spmv_ell(const int* columns, const float* values, const float* x, float* y,
                         int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += values[i * rows + row] * x[columns[i * rows + row] % rows];
  y[row] = sum;
}
__global__ void softmax_block(const float* in, float* out, int n) {
  __shared__ float shared[256];
  const float* row = in + size_t(blockIdx.x) * n;
  const auto all = [&](float v, bool max) {
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int s = 128; s; s /= 2) {
      if (threadIdx.x < s)
        shared[threadIdx.x] = max ? fmaxf(shared[threadIdx.x], shared[threadIdx.x + s])
                                  : shared[threadIdx.x] + shared[threadIdx.x + s];
      __syncthreads();
    }
    float r = shared[0];
    __syncthreads();
    return r;
  };
  float m = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) m = fmaxf(m, row[i]);
  m = all(m, true);
  for (int i = threadIdx.x; i < n; i += 256) sum += expf(row[i] - m);
  sum = all(sum, false);
  for (int i = threadIdx.x; i < n; i += 256)
    out[size_t(blockIdx.x) * n + i] = expf(row[i] - m) / sum;
}
__global__ void softmax_thread(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float m = -INFINITY, sum = 0;
  for (int i = 0; i < n; ++i) m = fmaxf(m, in[row * n + i]);
  for (int i = 0; i < n; ++i) sum += expf(in[row * n + i] - m);
  for (int i = 0; i < n; ++i) out[row * n + i] = expf(in[row * n + i] - m) / sum;
}
__global__ void layernorm_warp(const float* in, float* out, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0, squares = 0;
  for (int i = lane; i < n; i += 32) {
    float v = in[row * n + i];
    sum += v, squares += v * v;
  }
  for (int o = 16; o; o /= 2)
    sum += __shfl_xor_sync(~0u, sum, o), squares += __shfl_xor_sync(~0u, squares, o);
  float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
  for (int i = lane; i < n; i += 32) out[row * n + i] = (in[row * n + i] - mean) * scale;
}

}  // namespace

void add_matrices(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  add("matmul_naive", "1024^3 f32, blocks of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    matmul<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.a, b.b, b.c, 1024);
  });
  add("matmul_naive_32", "1024^3 f32, blocks of 32 x 32", [](const Buffers& b, cudaStream_t s) {
    matmul<<<dim3(32, 32), dim3(32, 32), 0, s>>>(b.a, b.b, b.c, 1024);
  });
  add("matmul_small", "256^3 f32, blocks of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    matmul<<<dim3(16, 16), dim3(16, 16), 0, s>>>(b.a, b.b, b.c, 256);
  });
  add("matmul_swapped", "512^3 f32, x walks the rows: not coalesced",
      [](const Buffers& b, cudaStream_t s) {
        matmul_swapped<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.a, b.b, b.c, 512);
      });
  add("matmul_f64", "1024^3 f64, blocks of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    matmul<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.da, b.db, b.dc, 1024);
  });
  add("matmul_tiled_16", "1024^3 f32, tiles of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    matmul_tiled<float, 16><<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.a, b.b, b.c, 1024);
  });
  add("matmul_tiled_32", "2048^3 f32, tiles of 32 x 32", [](const Buffers& b, cudaStream_t s) {
    matmul_tiled<float, 32><<<dim3(64, 64), dim3(32, 32), 0, s>>>(b.a, b.b, b.c, 2048);
  });
  add("matmul_tiled_f64", "1024^3 f64, tiles of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    matmul_tiled<double, 16><<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.da, b.db, b.dc, 1024);
  });
  add("matmul_registers", "2048^3 f32, 4 x 4 per thread", [](const Buffers& b, cudaStream_t s) {
    matmul_registers<<<dim3(32, 32), 256, 0, s>>>(b.a, b.b, b.c, 2048);
  });
  add("matmul_wmma", "2048^3 f16, one fragment per warp, no shared memory",
      [](const Buffers& b, cudaStream_t s) {
        matmul_wmma<<<dim3(32, 32), dim3(128, 4), 0, s>>>((half*)b.a, (half*)b.b, b.c, 2048);
      });
  add("matvec_thread", "8192^2, one thread per row", [](const Buffers& b, cudaStream_t s) {
    matvec_thread<<<32, 256, 0, s>>>(b.a, b.b, b.c, 8192);
  });
  add("matvec_warp", "8192^2, one warp per row", [](const Buffers& b, cudaStream_t s) {
    matvec_warp<<<1024, 256, 0, s>>>(b.a, b.b, b.c, 8192);
  });
  add("spmv_scalar", "2^20 rows of 16, one thread per row", [](const Buffers& b, cudaStream_t s) {
    spmv_scalar<<<4096, 256, 0, s>>>(b.index, b.a, b.b, b.c, 1 << 20);
  });
  add("spmv_vector", "2^18 rows of 64, one warp per row", [](const Buffers& b, cudaStream_t s) {
    spmv_vector<<<(1 << 18) / 8, 256, 0, s>>>(b.index, b.a, b.b, b.c, 1 << 18, 64);
  });
  add("spmv_ell", "2^20 rows of 16, by columns", [](const Buffers& b, cudaStream_t s) {
    spmv_ell<<<4096, 256, 0, s>>>(b.index, b.a, b.b, b.c, 1 << 20);
  });
  add("softmax_block", "16384 rows of 1024, one block per row",
      [](const Buffers& b, cudaStream_t s) {
        softmax_block<<<16384, 256, 0, s>>>(b.a, b.b, 1024);
      });
  add("softmax_thread", "16384 rows of 256, one thread per row",
      [](const Buffers& b, cudaStream_t s) { softmax_thread<<<128, 128, 0, s>>>(b.a, b.b, 256); });
  add("layernorm_warp", "16384 rows of 1024, one warp per row",
      [](const Buffers& b, cudaStream_t s) {
        layernorm_warp<<<2048, 256, 0, s>>>(b.a, b.b, 1024);
      });
}

}  // namespace programs
