// Launches for profile_test.py: kernels whose blocks do alike and unlike things, blocks that communicate, a fault.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); std::exit(4); } } while (0)

constexpr int kN = 1000, kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    s[threadIdx.y][threadIdx.x] = y < n && k + threadIdx.x < n ? a[y * n + k + threadIdx.x] : 0;
    t[threadIdx.y][threadIdx.x] = x < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}
// Blocks at the border have less to do.
__global__ void blur(const float* a, float* o, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float sum = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) sum += a[(y + i) * n + x + j];
  o[y * n + x] = sum / 9;
}
__global__ void strided(const float* a, float* o, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] = a[i] + 1;
}
__global__ void last_block(unsigned* counter, float* o) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(counter, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) o[threadIdx.x] = 1;
}
__global__ void waits(volatile int* flag, float* o) {
  if (blockIdx.x == 0) *flag = 1;
  while (*flag == 0) {}
  o[blockIdx.x] = 1;
}
__global__ void together(float* o) {
  cooperative_groups::this_grid().sync();
  o[blockIdx.x] = 1;
}
__global__ void runs_away(float* o) { o[(blockIdx.x == 40 ? 1ll << 40 : 0) + threadIdx.x] = 1; }

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  float *a, *o;
  CHECK(cudaMalloc(&a, 2 * kN * kN * sizeof(float)));
  CHECK(cudaMalloc(&o, kN * kN * sizeof(float)));
  CHECK(cudaMemset(a, 0, 2 * kN * kN * sizeof(float)));
  CHECK(cudaMemset(o, 0, kN * kN * sizeof(float)));
  if (!std::strcmp(which, "alike")) {
    const int tiles = (256 + kTile - 1) / kTile;
    matmul<<<dim3(tiles, tiles), dim3(kTile, kTile)>>>(a, a + kN * kN, o, 250);
    blur<<<dim3((kN + 31) / 32, (kN + 7) / 8), dim3(32, 8)>>>(a, o, kN);
    strided<<<256, 256>>>(a, o, kN * kN);
  } else if (!std::strcmp(which, "communicating")) {
    last_block<<<64, 32>>>(reinterpret_cast<unsigned*>(a), o);
    waits<<<64, 32>>>(reinterpret_cast<int*>(a) + 1, o);
    void* arguments[] = {&o};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(together), 64, 32, arguments, 0, nullptr));
  } else {
    runs_away<<<64, 32>>>(o);
  }
  CHECK(cudaDeviceSynchronize());
}
