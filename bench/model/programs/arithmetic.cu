// Arithmetic: n-body, fractals, Monte Carlo, prices, hashes, f64, special functions, registers.
#include "programs.h"

namespace programs {
namespace {

__device__ float3 pull(float4 a, float4 b, float3 sum) {
  float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z, d = dx * dx + dy * dy + dz * dz + 1e-6f;
  float inv = rsqrtf(d), f = b.w * inv * inv * inv;
  return make_float3(sum.x + dx * f, sum.y + dy * f, sum.z + dz * f);
}
__global__ void nbody(const float4* bodies, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float3 sum = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) sum = pull(bodies[i], bodies[j], sum);
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
__global__ void nbody_shared(const float4* bodies, float4* out, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = bodies[i];
  float3 sum = make_float3(0, 0, 0);
  for (int j = 0; j < n; j += 256) {
    tile[threadIdx.x] = bodies[j + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) sum = pull(me, tile[k], sum);
    __syncthreads();
  }
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
template <class T>
__global__ void mandelbrot(unsigned char* out, int w, int h, int most) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  T cx = T(-2) + T(3) * px / w, cy = T(-1.5) + T(3) * py / h, x = 0, y = 0;
  int i = 0;
  for (; i < most && x * x + y * y < T(4); ++i) {
    T t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  out[py * w + px] = (unsigned char)i;
}
__device__ unsigned next(unsigned& s) {
  s ^= s << 13, s ^= s >> 17, s ^= s << 5;
  return s;
}
__global__ void pi_atomics(unsigned* hits, int tries) {
  unsigned s = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < tries; ++i) {
    float x = next(s) * 2.3283064e-10f, y = next(s) * 2.3283064e-10f;
    if (x * x + y * y < 1) atomicAdd(hits, 1u);
  }
}
__global__ void pi_counted(unsigned* hits, int tries) {
  unsigned s = 1 + blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (int i = 0; i < tries; ++i) {
    float x = next(s) * 2.3283064e-10f, y = next(s) * 2.3283064e-10f;
    mine += x * x + y * y < 1;
  }
  atomicAdd(hits, mine);
}
__device__ float cdf(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float c =
      0.39894228f * __expf(-0.5f * d * d) * k *
      (0.31938153f + k * (-0.35656378f + k * (1.78147794f + k * (-1.82125598f + k * 1.33027443f))));
  return d > 0 ? 1 - c : c;
}
__global__ void black_scholes(const float* price, const float* strike, float* call, float* put,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], t = 1.5f, r = 0.02f, v = 0.3f,
        root = sqrtf(t);
  float d1 = (__logf(s / x) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root,
        e = __expf(-r * t);
  call[i] = s * cdf(d1) - x * e * cdf(d2);
  put[i] = x * e * cdf(-d2) - s * cdf(-d1);
}
__global__ void trigonometry(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(in[i]) * cosf(in[i]) + logf(in[i] + 1) + expf(in[i]) + powf(in[i], 1.7f);
}
__global__ void fast_trigonometry(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i], sum = 0;
  for (int k = 0; k < 16; ++k) sum += __sinf(x * k) + __expf(x - k);
  out[i] = sum;
}
__global__ void horner_f64(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i], p = 1;
  for (int k = 0; k < 64; ++k) p = p * x + 0.5;
  out[i] = p;
}
__global__ void horner(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i], p = 1;
  for (int k = 0; k < 256; ++k) p = p * x + 0.5f;
  out[i] = p;
}
__global__ void hash(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = in[i];
  for (int k = 0; k < 32; ++k) {
    h ^= h >> 16, h *= 0x85ebca6b, h ^= h >> 13, h *= 0xc2b2ae35, h ^= h >> 16;
  }
  out[i] = h;
}
__global__ void modulo(const int* in, int* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i], sum = 0;
  for (int k = 1; k <= 8; ++k) sum += x / (m + k) + x % (m + k);
  out[i] = sum;
}
__global__ void is_prime(unsigned* out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool prime = i > 1;
  for (unsigned d = 2; d * d <= i && prime; ++d) prime = i % d != 0;
  out[i] = prime;
}
// 64 running sums in registers.
__global__ void __launch_bounds__(256) many_sums(const float* in, float* out, int n) {
  float acc[64] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float x = in[i];
#pragma unroll
    for (int k = 0; k < 64; ++k) acc[k] = acc[k] * x + float(k);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) sum += acc[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// An array with a run-time index: it lives in local memory.
__global__ void local_array(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int counts[32] = {};
  unsigned s = unsigned(in[i]) | 1;
  for (int k = 0; k < 64; ++k) ++counts[next(s) % 32];
  int best = 0;
  for (int k = 0; k < 32; ++k) best = max(best, counts[k]);
  out[i] = best;
}
__global__ void collatz(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int steps = 0;
  for (unsigned long long x = i + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
  out[i] = steps;
}
__global__ void ray_spheres(const float4* spheres, unsigned char* out, int w, int h, int count) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float x = px / float(w) - 0.5f, y = py / float(h) - 0.5f, len = rsqrtf(x * x + y * y + 1),
        best = 1e30f;
  float dx = x * len, dy = y * len, dz = len;
  for (int i = 0; i < count; ++i) {
    float4 s = spheres[i];
    float b = s.x * dx + s.y * dy + s.z * dz,
          c = s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w * 0.01f, d = b * b - c;
    if (d > 0) {
      float t = b - sqrtf(d);
      if (t > 0 && t < best) best = t;
    }
  }
  out[py * w + px] = best < 1e30f ? (unsigned char)(255 / (1 + best)) : 0;
}

}  // namespace

void add_arithmetic(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  constexpr int n = kElements;
  add("nbody", "16384 bodies, from global memory", [](const Buffers& b, cudaStream_t s) {
    nbody<<<128, 128, 0, s>>>((float4*)b.a, (float4*)b.b, 16384);
  });
  add("nbody_shared", "65536 bodies, tiles in shared memory", [](const Buffers& b, cudaStream_t s) {
    nbody_shared<<<256, 256, 0, s>>>((float4*)b.a, (float4*)b.b, 65536);
  });
  add("mandelbrot", "2048 x 2048 f32, 256 iterations at most",
      [](const Buffers& b, cudaStream_t s) {
        mandelbrot<float><<<dim3(128, 128), dim3(16, 16), 0, s>>>(b.bytes, 2048, 2048, 256);
      });
  add("mandelbrot_f64", "1024 x 1024 f64, 256 iterations at most",
      [](const Buffers& b, cudaStream_t s) {
        mandelbrot<double><<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.bytes, 1024, 1024, 256);
      });
  add("pi_atomics", "2^18 threads, 16 tries, an atomic per hit",
      [](const Buffers& b, cudaStream_t s) { pi_atomics<<<1024, 256, 0, s>>>(b.counts, 16); });
  add("pi_counted", "2^18 threads, 1000 tries, one atomic each",
      [](const Buffers& b, cudaStream_t s) { pi_counted<<<1024, 256, 0, s>>>(b.counts, 1000); });
  add("black_scholes", "2^22 options", [](const Buffers& b, cudaStream_t s) {
    black_scholes<<<n / 4 / 256, 256, 0, s>>>(b.a, b.b, b.c, b.c + n, n / 4);
  });
  add("trigonometry", "sinf, cosf, logf, expf, powf of 2^24",
      [](const Buffers& b, cudaStream_t s) { trigonometry<<<n / 256, 256, 0, s>>>(b.a, b.b, n); });
  add("fast_trigonometry", "16 times __sinf and __expf of 2^22",
      [](const Buffers& b, cudaStream_t s) {
        fast_trigonometry<<<n / 4 / 256, 256, 0, s>>>(b.a, b.b, n / 4);
      });
  add("horner_f64", "64 f64 FMA per element, 2^22", [](const Buffers& b, cudaStream_t s) {
    horner_f64<<<n / 4 / 256, 256, 0, s>>>(b.da, b.db, n / 4);
  });
  add("horner", "256 f32 FMA per element, 2^24",
      [](const Buffers& b, cudaStream_t s) { horner<<<n / 256, 256, 0, s>>>(b.a, b.b, n); });
  add("hash", "32 rounds of integer mixing, 2^22", [](const Buffers& b, cudaStream_t s) {
    hash<<<n / 4 / 256, 256, 0, s>>>((unsigned*)b.index, (unsigned*)b.c, n / 4);
  });
  add("modulo", "8 divisions by a variable, 2^22", [](const Buffers& b, cudaStream_t s) {
    modulo<<<n / 4 / 256, 256, 0, s>>>(b.index, (int*)b.c, n / 4, 77);
  });
  add("is_prime", "trial division, 2^20 numbers", [](const Buffers& b, cudaStream_t s) {
    is_prime<<<4096, 256, 0, s>>>((unsigned*)b.c, 1 << 20);
  });
  add("many_sums", "64 accumulators per thread",
      [](const Buffers& b, cudaStream_t s) { many_sums<<<264, 256, 0, s>>>(b.a, b.c, n / 4); });
  add("local_array", "an array with a run-time index, 2^20 threads",
      [](const Buffers& b, cudaStream_t s) {
        local_array<<<4096, 256, 0, s>>>(b.index, (int*)b.c, 1 << 20);
      });
  add("collatz", "2^20 numbers, 64 bits",
      [](const Buffers& b, cudaStream_t s) { collatz<<<4096, 256, 0, s>>>((int*)b.c, 1 << 20); });
  add("ray_spheres", "1024 x 1024 rays, 64 spheres", [](const Buffers& b, cudaStream_t s) {
    ray_spheres<<<dim3(64, 64), dim3(16, 16), 0, s>>>((float4*)b.a, b.bytes, 1024, 1024, 64);
  });
}

}  // namespace programs
