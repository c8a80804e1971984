// One pass over arrays: saxpy in many forms, bytes, images, small and oddly shaped grids.
#include <cuda_fp16.h>

#include "programs.h"

namespace programs {
namespace {

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void saxpy_grid_stride(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}
__global__ void saxpy_float4(int n, float a, const float4* x, float4* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 u = x[i], v = y[i];
  v.x += a * u.x, v.y += a * u.y, v.z += a * u.z, v.w += a * u.w;
  y[i] = v;
}
__global__ void daxpy(int n, double a, const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void haxpy(int n, __half2 a, const __half2* x, __half2* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}
__global__ void saxpy_strided(int n, float a, const float* x, float* y, int stride) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) y[i] = a * x[i] + y[i];
}
// Each thread works on a run of its own, as on a CPU.
__global__ void saxpy_chunks(int n, float a, const float* x, float* y, int chunk) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (int i = first; i < first + chunk && i < n; ++i) y[i] = a * x[i] + y[i];
}
__global__ void copy_2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x];
}
__global__ void triad(const float* a, const float* b, const float* c, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] = a[i] + b[i] * c[i];
}
__global__ void read_only_sum(const float4* in, float* out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (s < 0) out[0] = s;
}
__global__ void fill(float* out, int n, float v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v;
}
__global__ void brighten(const unsigned char* in, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = min(255, in[i] + 40);
}
__global__ void to_upper(const uchar4* in, uchar4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 v = in[i];
  const auto up = [](unsigned char c) {
    return (unsigned char)(c >= 'a' && c <= 'z' ? c - 32 : c);
  };
  out[i] = make_uchar4(up(v.x), up(v.y), up(v.z), up(v.w));
}
__global__ void rgb_to_gray(const unsigned char* rgb, unsigned char* gray, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gray[i] = 0.21f * rgb[3 * i] + 0.71f * rgb[3 * i + 1] + 0.07f * rgb[3 * i + 2];
}
struct Particle {
  float x, y, z, vx, vy, vz, mass;
};
__global__ void move_particles(Particle* p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += p[i].vx * dt;
  p[i].y += p[i].vy * dt;
  p[i].z += p[i].vz * dt;
}
__global__ void move_arrays(float* x, float* y, float* z, const float* vx, const float* vy,
                            const float* vz, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += vx[i] * dt, y[i] += vy[i] * dt, z[i] += vz[i] * dt;
}
__global__ void block_id(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x;
}

constexpr int kN = kElements;

}  // namespace

void add_streaming(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  add("saxpy", "one thread per element, 2^24",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<kN / 256, 256, 0, s>>>(kN, 2, b.a, b.b); });
  add("saxpy_1024", "blocks of 1024 threads",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<kN / 1024, 1024, 0, s>>>(kN, 2, b.a, b.b); });
  add("saxpy_32", "blocks of 32 threads",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<kN / 32, 32, 0, s>>>(kN, 2, b.a, b.b); });
  add("saxpy_odd", "blocks of 100 threads, a million elements",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<10000, 100, 0, s>>>(1000000, 2, b.a, b.b); });
  add("saxpy_small", "65536 elements",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<256, 256, 0, s>>>(65536, 2, b.a, b.b); });
  add("saxpy_tiny", "1000 elements",
      [](const Buffers& b, cudaStream_t s) { saxpy<<<4, 256, 0, s>>>(1000, 2, b.a, b.b); });
  add("saxpy_grid_stride", "256 blocks of 256 threads", [](const Buffers& b, cudaStream_t s) {
    saxpy_grid_stride<<<256, 256, 0, s>>>(kN, 2, b.a, b.b);
  });
  add("saxpy_one_block", "one block of 256 threads, 2^18 elements",
      [](const Buffers& b, cudaStream_t s) {
        saxpy_grid_stride<<<1, 256, 0, s>>>(1 << 18, 2, b.a, b.b);
      });
  add("saxpy_float4", "16 bytes per access", [](const Buffers& b, cudaStream_t s) {
    saxpy_float4<<<kN / 4 / 256, 256, 0, s>>>(kN / 4, 2, (float4*)b.a, (float4*)b.b);
  });
  add("saxpy_misaligned", "both arrays start one element late",
      [](const Buffers& b, cudaStream_t s) {
        saxpy<<<kN / 256, 256, 0, s>>>(kN, 2, b.a + 1, b.b + 1);
      });
  add("saxpy_stride_2", "every second element", [](const Buffers& b, cudaStream_t s) {
    saxpy_strided<<<kN / 256, 256, 0, s>>>(2 * kN, 2, b.a, b.b, 2);
  });
  add("saxpy_stride_16", "every 16th element, 2^22 of them", [](const Buffers& b, cudaStream_t s) {
    saxpy_strided<<<kN / 4 / 256, 256, 0, s>>>(4 * kN, 2, b.a, b.b, 16);
  });
  add("saxpy_chunks", "a run of 64 elements per thread", [](const Buffers& b, cudaStream_t s) {
    saxpy_chunks<<<kN / 64 / 256, 256, 0, s>>>(kN, 2, b.a, b.b, 64);
  });
  add("daxpy", "f64",
      [](const Buffers& b, cudaStream_t s) { daxpy<<<kN / 256, 256, 0, s>>>(kN, 2, b.da, b.db); });
  add("haxpy", "f16, two per thread", [](const Buffers& b, cudaStream_t s) {
    haxpy<<<kN / 256, 256, 0, s>>>(kN, __half2(2, 2), (__half2*)b.a, (__half2*)b.b);
  });
  add("copy_2d", "4096 x 4096, blocks of 32 x 8", [](const Buffers& b, cudaStream_t s) {
    copy_2d<<<dim3(128, 512), dim3(32, 8), 0, s>>>(b.a, b.b, 4096, 4096);
  });
  add("copy_2d_16", "3000 x 2000, blocks of 16 x 16", [](const Buffers& b, cudaStream_t s) {
    copy_2d<<<dim3(188, 125), dim3(16, 16), 0, s>>>(b.a, b.b, 3000, 2000);
  });
  add("triad", "three arrays read, one written", [](const Buffers& b, cudaStream_t s) {
    triad<<<kN / 256, 256, 0, s>>>(b.a, b.b, b.c, b.a + kN, kN);
  });
  add("read_only", "2^26 floats read, 1024 blocks", [](const Buffers& b, cudaStream_t s) {
    read_only_sum<<<1024, 256, 0, s>>>((float4*)b.a, b.c, kN);
  });
  add("fill", "2^26 floats written",
      [](const Buffers& b, cudaStream_t s) { fill<<<4 * kN / 256, 256, 0, s>>>(b.c, 4 * kN, 1); });
  add("brighten", "one byte per thread", [](const Buffers& b, cudaStream_t s) {
    brighten<<<kN / 256, 256, 0, s>>>(b.bytes, b.bytes + kN, kN);
  });
  add("to_upper", "4 bytes per thread", [](const Buffers& b, cudaStream_t s) {
    to_upper<<<kN / 256, 256, 0, s>>>((uchar4*)b.bytes, (uchar4*)b.c, kN);
  });
  add("rgb_to_gray", "three bytes read per thread, 2^22 pixels",
      [](const Buffers& b, cudaStream_t s) {
        rgb_to_gray<<<kN / 4 / 256, 256, 0, s>>>(b.bytes, b.bytes + 2 * kN, kN / 4);
      });
  add("particles_structs", "array of structs of 28 bytes, 2^21",
      [](const Buffers& b, cudaStream_t s) {
        move_particles<<<(1 << 21) / 256, 256, 0, s>>>((Particle*)b.a, 1 << 21, 0.01f);
      });
  add("particles_arrays", "six arrays, 2^21", [](const Buffers& b, cudaStream_t s) {
    const int n = 1 << 21;
    move_arrays<<<n / 256, 256, 0, s>>>(b.a, b.a + n, b.a + 2 * n, b.b, b.b + n, b.b + 2 * n, n,
                                        0.01f);
  });
  add("tiny_blocks", "2^20 blocks of 32 threads, one store each",
      [](const Buffers& b, cudaStream_t s) { block_id<<<1 << 20, 32, 0, s>>>(b.counts); });
  add("empty_blocks_1024", "2^16 blocks of 1024 threads, one store each",
      [](const Buffers& b, cudaStream_t s) { block_id<<<1 << 16, 1024, 0, s>>>(b.counts); });
}

}  // namespace programs
