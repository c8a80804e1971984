// Reductions, scans, histograms, sorting steps: threads that work together.
#include "programs.h"

namespace programs {
namespace {

__global__ void reduce_interleaved(const float* in, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce_sequential(const float* in, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t] + in[blockIdx.x * 512 + 256 + t];
  __syncthreads();
  for (int step = 128; step; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void reduce_atomics(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}
__global__ void reduce_one_block(const float* in, float* out, int n) {
  __shared__ float s[1024];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 1024) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 512; step; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}
__global__ void dot(const float* a, const float* b, float* out, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
__global__ void scan_hillis_steele(const float* in, float* out) {
  __shared__ float s[2][1024];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int o = 1; o < 1024; o *= 2) {
    s[1 - from][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 1024 + t] = s[from][t];
}
__global__ void scan_blelloch(const float* in, float* out) {
  __shared__ float s[1024];
  int t = threadIdx.x, base = blockIdx.x * 1024;
  s[2 * t] = in[base + 2 * t], s[2 * t + 1] = in[base + 2 * t + 1];
  int step = 1;
  for (int d = 512; d; d /= 2, step *= 2) {
    __syncthreads();
    if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
  }
  if (t == 0) s[1023] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    step /= 2;
    __syncthreads();
    if (t < d) {
      int i = step * (2 * t + 1) - 1, j = step * (2 * t + 2) - 1;
      float old = s[i];
      s[i] = s[j], s[j] += old;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t], out[base + 2 * t + 1] = s[2 * t + 1];
}
__global__ void histogram_global(const unsigned char* in, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(bins + in[i], 1u);
}
__global__ void histogram_shared(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned s[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(s + in[i], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(bins + i, s[i]);
}
__global__ void bitonic_step(float* v, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  bool up = (i & k) == 0;
  if ((v[i] > v[other]) == up) {
    float t = v[i];
    v[i] = v[other], v[other] = t;
  }
}
__global__ void bitonic_shared(float* v) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[t] = v[blockIdx.x * 1024 + t];
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
      int other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
        float x = s[t];
        s[t] = s[other], s[other] = x;
      }
    }
  __syncthreads();
  v[blockIdx.x * 1024 + t] = s[t];
}
__global__ void compact(const float* in, float* out, unsigned* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.5f) out[atomicAdd(count, 1u) % n] = in[i];
}
__global__ void count_letter(const unsigned char* in, unsigned* count, int n) {
  int found = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    found += in[i] == 'e';
  for (int o = 16; o; o /= 2) found += __shfl_down_sync(~0u, found, o);
  if (threadIdx.x % 32 == 0) atomicAdd(count, unsigned(found));
}
__global__ void find_word(const unsigned char* text, int n, unsigned* count) {
  const char* word = "needle";
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 6) return;
  for (int k = 0; k < 6; ++k)
    if (text[i + k] != word[k]) return;
  atomicAdd(count, 1u);
}
__global__ void k_means_assign(const float* points, const float* centres, int* nearest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = points[2 * i], y = points[2 * i + 1], best = 1e30f;
  int at = 0;
  for (int c = 0; c < 64; ++c) {
    float dx = x - centres[2 * c], dy = y - centres[2 * c + 1], d = dx * dx + dy * dy;
    if (d < best) best = d, at = c;
  }
  nearest[i] = at;
}
__global__ void k_means_sum(const float* points, float* sums, unsigned* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = int(points[2 * i] * 63);
  atomicAdd(sums + 2 * c, points[2 * i]);
  atomicAdd(sums + 2 * c + 1, points[2 * i + 1]);
  atomicAdd(counts + c, 1u);
}

}  // namespace

void add_collective(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  constexpr int n = kElements;
  add("reduce_interleaved", "a tree with modulo, 256 per block",
      [](const Buffers& b, cudaStream_t s) {
        reduce_interleaved<<<n / 256, 256, 0, s>>>(b.a, b.c);
      });
  add("reduce_sequential", "a tree of halves, 512 per block", [](const Buffers& b, cudaStream_t s) {
    reduce_sequential<<<n / 512, 256, 0, s>>>(b.a, b.c);
  });
  add("reduce_shuffle", "528 blocks, one atomic per warp",
      [](const Buffers& b, cudaStream_t s) { reduce_shuffle<<<528, 256, 0, s>>>(b.a, b.c, n); });
  add("reduce_atomics", "one f32 atomic per element, 2^20", [](const Buffers& b, cudaStream_t s) {
    reduce_atomics<<<4096, 256, 0, s>>>(b.a, b.c, 1 << 20);
  });
  add("reduce_one_block", "one block of 1024 threads, 2^20", [](const Buffers& b, cudaStream_t s) {
    reduce_one_block<<<1, 1024, 0, s>>>(b.a, b.c, 1 << 20);
  });
  add("dot", "256 blocks of 256 threads",
      [](const Buffers& b, cudaStream_t s) { dot<<<256, 256, 0, s>>>(b.a, b.b, b.c, n); });
  add("scan_hillis_steele", "1024 per block", [](const Buffers& b, cudaStream_t s) {
    scan_hillis_steele<<<n / 1024, 1024, 0, s>>>(b.a, b.b);
  });
  add("scan_blelloch", "1024 per block of 512 threads, bank conflicts",
      [](const Buffers& b, cudaStream_t s) { scan_blelloch<<<n / 1024, 512, 0, s>>>(b.a, b.b); });
  add("histogram_global", "256 bins of 2^24 bytes, global atomics",
      [](const Buffers& b, cudaStream_t s) {
        histogram_global<<<1024, 256, 0, s>>>(b.bytes, b.counts, n);
      });
  add("histogram_shared", "256 bins of 2^26 bytes, shared atomics",
      [](const Buffers& b, cudaStream_t s) {
        histogram_shared<<<1024, 256, 0, s>>>(b.bytes, b.counts, 4 * n);
      });
  add("bitonic_step_near", "j = 2", [](const Buffers& b, cudaStream_t s) {
    bitonic_step<<<n / 256, 256, 0, s>>>(b.a, 2, 1 << 20);
  });
  add("bitonic_step_far", "j = 2^20", [](const Buffers& b, cudaStream_t s) {
    bitonic_step<<<n / 256, 256, 0, s>>>(b.a, 1 << 20, 1 << 22);
  });
  add("bitonic_shared", "sorts 1024 per block",
      [](const Buffers& b, cudaStream_t s) { bitonic_shared<<<4096, 1024, 0, s>>>(b.a); });
  add("compact", "one counter for all, 2^22 elements", [](const Buffers& b, cudaStream_t s) {
    compact<<<(1 << 22) / 256, 256, 0, s>>>(b.a, b.c, b.counts, 1 << 22);
  });
  add("count_letter", "2^26 bytes, one byte per load", [](const Buffers& b, cudaStream_t s) {
    count_letter<<<2048, 256, 0, s>>>(b.bytes, b.counts, 4 * n);
  });
  add("find_word", "2^24 places of a text", [](const Buffers& b, cudaStream_t s) {
    find_word<<<n / 256, 256, 0, s>>>(b.bytes, n, b.counts);
  });
  add("k_means_assign", "2^22 points, 64 centres", [](const Buffers& b, cudaStream_t s) {
    k_means_assign<<<(1 << 22) / 256, 256, 0, s>>>(b.a, b.b, (int*)b.c, 1 << 22);
  });
  add("k_means_sum", "2^20 points, three atomics each on 64 places",
      [](const Buffers& b, cudaStream_t s) {
        k_means_sum<<<(1 << 20) / 256, 256, 0, s>>>(b.a, b.c, b.counts, 1 << 20);
      });
}

}  // namespace programs
