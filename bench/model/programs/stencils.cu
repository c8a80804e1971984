// Neighbours: stencils in one to three dimensions, convolutions, transposes, the game of life.
#include "programs.h"

namespace programs {
namespace {

__global__ void stencil_1d(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 4 || i >= n - 4) return;
  float sum = 0;
  for (int k = -4; k <= 4; ++k) sum += in[i + k];
  out[i] = sum / 9;
}
__global__ void stencil_1d_shared(const float* in, float* out, int n) {
  __shared__ float tile[256 + 8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 4;
  tile[t] = in[i];
  if (threadIdx.x < 4) {
    tile[t - 4] = i >= 4 ? in[i - 4] : 0;
    tile[t + 256] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -4; k <= 4; ++k) sum += tile[t + k];
  out[i] = sum / 9;
}
__global__ void jacobi(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  out[y * w + x] =
      0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}
__global__ void jacobi_shared(const float* in, float* out, int w, int h) {
  __shared__ float t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = threadIdx.x + 1,
      j = threadIdx.y + 1;
  t[j][i] = in[y * w + x];
  if (i == 1 && x > 0) t[j][0] = in[y * w + x - 1];
  if (i == 16 && x < w - 1) t[j][17] = in[y * w + x + 1];
  if (j == 1 && y > 0) t[0][i] = in[(y - 1) * w + x];
  if (j == 16 && y < h - 1) t[17][i] = in[(y + 1) * w + x];
  __syncthreads();
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    out[y * w + x] = 0.25f * (t[j][i - 1] + t[j][i + 1] + t[j - 1][i] + t[j + 1][i]);
}
__global__ void heat_3d(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] +
                           in[i + n * n] - 6 * in[i]);
}
__constant__ float mask[49] = {1, 2, 3, 4, 3, 2, 1};
__global__ void convolve_7x7(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int j = -3; j <= 3; ++j)
    for (int i = -3; i <= 3; ++i) {
      int u = x + i, v = y + j;
      if (u >= 0 && v >= 0 && u < w && v < h) sum += mask[(j + 3) * 7 + i + 3] * in[v * w + u];
    }
  if (x < w && y < h) out[y * w + x] = sum;
}
__global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int alive = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      if (i || j) alive += in[((y + j + h) % h) * w + (x + i + w) % w] & 1;
  out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x] & 1);
}
__global__ void transpose_naive(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}
template <int kPad>
__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const auto at = [&](int i, int j) { return int(in[(y + j) * w + x + i]); };
  int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * w + x] = min(255, (int)sqrtf(float(gx * gx + gy * gy)));
}

}  // namespace

void add_stencils(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  add("stencil_1d", "9 points, from global memory", [](const Buffers& b, cudaStream_t s) {
    stencil_1d<<<kElements / 256, 256, 0, s>>>(b.a, b.b, kElements);
  });
  add("stencil_1d_shared", "9 points, through shared memory", [](const Buffers& b, cudaStream_t s) {
    stencil_1d_shared<<<kElements / 256, 256, 0, s>>>(b.a, b.b, kElements);
  });
  add("jacobi", "5 points, 4096 x 4096, blocks of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    jacobi<<<dim3(256, 256), dim3(16, 16), 0, s>>>(b.a, b.b, 4096, 4096);
  });
  add("jacobi_wide", "5 points, blocks of 128 x 2", [](const Buffers& b, cudaStream_t s) {
    jacobi<<<dim3(32, 2048), dim3(128, 2), 0, s>>>(b.a, b.b, 4096, 4096);
  });
  add("jacobi_shared", "5 points, through shared memory", [](const Buffers& b, cudaStream_t s) {
    jacobi_shared<<<dim3(256, 256), dim3(16, 16), 0, s>>>(b.a, b.b, 4096, 4096);
  });
  add("heat_3d", "7 points, 256^3", [](const Buffers& b, cudaStream_t s) {
    heat_3d<<<dim3(8, 32, 256), dim3(32, 8), 0, s>>>(b.a, b.b, 256);
  });
  add("convolve_7x7", "2048 x 2048, mask in constant memory", [](const Buffers& b, cudaStream_t s) {
    convolve_7x7<<<dim3(128, 128), dim3(16, 16), 0, s>>>(b.a, b.b, 2048, 2048);
  });
  add("life", "game of life on bytes, 4096 x 4096, with modulo",
      [](const Buffers& b, cudaStream_t s) {
        life<<<dim3(128, 512), dim3(32, 8), 0, s>>>(b.bytes, b.bytes + kElements, 4096, 4096);
      });
  add("sobel", "3 x 3 on bytes, 4096 x 4096", [](const Buffers& b, cudaStream_t s) {
    sobel<<<dim3(128, 512), dim3(32, 8), 0, s>>>(b.bytes, b.bytes + kElements, 4096, 4096);
  });
  add("transpose_naive", "4096 x 4096, stores by columns", [](const Buffers& b, cudaStream_t s) {
    transpose_naive<<<dim3(128, 128), dim3(32, 8), 0, s>>>(b.a, b.b, 4096);
  });
  add("transpose_conflicts", "tiles in shared memory, 32-way conflicts",
      [](const Buffers& b, cudaStream_t s) {
        transpose_tile<0><<<dim3(128, 128), dim3(32, 8), 0, s>>>(b.a, b.b, 4096);
      });
  add("transpose_padded", "tiles in shared memory, padded", [](const Buffers& b, cudaStream_t s) {
    transpose_tile<1><<<dim3(128, 128), dim3(32, 8), 0, s>>>(b.a, b.b, 4096);
  });
}

}  // namespace programs
