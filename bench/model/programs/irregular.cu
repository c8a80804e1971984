// Random places, branches, pointers, conflicts, uneven work.
#include "programs.h"

namespace programs {
namespace {

__global__ void gather(const float* in, const int* index, float* out, int n, int mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i] & mask];
}
__global__ void scatter(const float* in, const int* index, float* out, int n, int mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i] & mask] = in[i];
}
template <bool kByWarp>
__global__ void eight_ways(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  switch ((kByWarp ? i / 32 : i) % 8) {
    case 0:
      for (int k = 0; k < 32; ++k) x = x * x + 0.1f;
      break;
    case 1:
      for (int k = 0; k < 32; ++k) x = x * 0.5f + 0.2f;
      break;
    case 2:
      for (int k = 0; k < 32; ++k) x = fmaxf(x * 1.5f, 0.3f);
      break;
    case 3:
      for (int k = 0; k < 32; ++k) x = fabsf(x - 0.4f) * x;
      break;
    case 4:
      for (int k = 0; k < 32; ++k) x = x + x * 0.25f;
      break;
    case 5:
      for (int k = 0; k < 32; ++k) x = fminf(x + 0.6f, x * x);
      break;
    case 6:
      for (int k = 0; k < 32; ++k) x = 0.7f - x * x;
      break;
    default:
      for (int k = 0; k < 32; ++k) x = x * 0.8f - 0.1f;
  }
  out[i] = x;
}
// As many rounds as the element says: lanes of a warp wait for the longest.
__global__ void uneven(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  int rounds = int(x * 200);
  for (int k = 0; k < rounds; ++k) x = x * 0.99f + 0.01f;
  out[i] = x;
}
// The last blocks have most of the work.
__global__ void triangle(const float* in, float* out, int n) {
  int row = blockIdx.x;
  float sum = 0;
  for (int c = threadIdx.x; c <= row; c += blockDim.x) sum += in[row * n + c];
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out + row, sum);
}
__global__ void walk_list(const int* next, int* out, int steps, int mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
  for (int k = 0; k < steps; ++k) at = next[at & mask];
  out[i] = at;
}
__global__ void binary_search(const int* wanted, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = 1 << 24, x = wanted[i];
  while (low < high) {
    int middle = (low + high) / 2;
    if (wanted[middle] < x) low = middle + 1;  // not sorted: the path is random all the same
    else high = middle;
  }
  out[i] = low;
}
__global__ void bfs_level(const int* edges, const unsigned char* seen, unsigned* level, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || seen[v] % 4 != 0) return;
  for (int e = v * 8; e < v * 8 + 8; ++e) {
    int to = edges[e] % n;
    if (seen[to] % 4 != 0) level[to] = 1;
  }
}
__constant__ float table[1024];
__global__ void table_lookup(const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i] % 1024];
}
template <int kStride>
__global__ void shared_stride(const float* in, float* out, int rounds) {
  __shared__ float s[256 * 8];
  for (int k = threadIdx.x; k < 256 * 8; k += 256) s[k] = in[k];
  __syncthreads();
  float sum = 0;
  int at = threadIdx.x * kStride % (256 * 8);
  for (int k = 0; k < rounds; ++k) {
    sum += s[at];
    at = (at + 1) % (256 * 8);
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
__global__ void many_barriers(float* data, int rounds) {
  __shared__ float s[256];
  s[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  for (int k = 0; k < rounds; ++k) {
    __syncthreads();
    float v = s[(threadIdx.x + 1) % 256];
    __syncthreads();
    s[threadIdx.x] = v;
  }
  data[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}
__global__ void long_chain(const float* in, float* out, int rounds) {
  float x = in[threadIdx.x];
  for (int k = 0; k < rounds; ++k) x = sqrtf(x) + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
// Shared memory for one block per SM only.
__global__ void low_occupancy(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  for (int base = blockIdx.x * 128; base < n; base += gridDim.x * 128) {
    tile[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    out[base + threadIdx.x] = tile[127 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void hash_insert(const int* keys, unsigned* slots, int n, unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = unsigned(keys[i]) + 1, at = key * 0x9e3779b1u & mask;
  for (int tries = 0; tries < 64; ++tries, at = (at + 1) & mask) {
    unsigned old = atomicCAS(slots + at, 0u, key);
    if (old == 0 || old == key) return;
  }
}

}  // namespace

void add_irregular(std::vector<Program>& all) {
  const auto add = [&](const char* name, const char* what,
                       void (*launch)(const Buffers&, cudaStream_t)) {
    all.push_back({name, what, launch});
  };
  constexpr int n = kElements;
  add("gather_random", "2^24 words from 64 MB", [](const Buffers& b, cudaStream_t s) {
    gather<<<n / 256, 256, 0, s>>>(b.a, b.index, b.c, n, n - 1);
  });
  add("gather_cached", "2^24 words from 1 MB", [](const Buffers& b, cudaStream_t s) {
    gather<<<n / 256, 256, 0, s>>>(b.a, b.index, b.c, n, (1 << 18) - 1);
  });
  add("gather_l1", "2^24 words from 64 KB", [](const Buffers& b, cudaStream_t s) {
    gather<<<n / 256, 256, 0, s>>>(b.a, b.index, b.c, n, (1 << 14) - 1);
  });
  add("scatter_random", "2^24 words to 64 MB", [](const Buffers& b, cudaStream_t s) {
    scatter<<<n / 256, 256, 0, s>>>(b.a, b.index, b.c, n, n - 1);
  });
  add("eight_ways", "8 branches in every warp", [](const Buffers& b, cudaStream_t s) {
    eight_ways<false><<<n / 256, 256, 0, s>>>(b.a, b.b, n);
  });
  add("eight_ways_by_warp", "8 branches, each warp takes one",
      [](const Buffers& b, cudaStream_t s) {
        eight_ways<true><<<n / 256, 256, 0, s>>>(b.a, b.b, n);
      });
  add("uneven", "0 to 200 rounds per thread, 2^22", [](const Buffers& b, cudaStream_t s) {
    uneven<<<n / 4 / 256, 256, 0, s>>>(b.a, b.b, n / 4);
  });
  add("triangle", "rows of 1 to 4096, one block each",
      [](const Buffers& b, cudaStream_t s) { triangle<<<4096, 256, 0, s>>>(b.a, b.c, 4096); });
  add("walk_list", "1024 threads follow 256 random links", [](const Buffers& b, cudaStream_t s) {
    walk_list<<<4, 256, 0, s>>>(b.index, (int*)b.c, 256, n - 1);
  });
  add("walk_list_many", "2^20 threads follow 16 random links",
      [](const Buffers& b, cudaStream_t s) {
        walk_list<<<4096, 256, 0, s>>>(b.index, (int*)b.c, 16, n - 1);
      });
  add("binary_search", "2^20 searches over 2^24", [](const Buffers& b, cudaStream_t s) {
    binary_search<<<4096, 256, 0, s>>>(b.index, (int*)b.c, 1 << 20);
  });
  add("bfs_level", "2^21 vertices of 8 edges, a quarter active",
      [](const Buffers& b, cudaStream_t s) {
        bfs_level<<<(1 << 21) / 256, 256, 0, s>>>(b.index, b.bytes, b.counts, 1 << 21);
      });
  add("table_lookup", "constant memory at random places", [](const Buffers& b, cudaStream_t s) {
    table_lookup<<<n / 4 / 256, 256, 0, s>>>(b.index, b.c, n / 4);
  });
  add("shared_stride_1", "shared loads without conflicts", [](const Buffers& b, cudaStream_t s) {
    shared_stride<1><<<1056, 256, 0, s>>>(b.a, b.c, 512);
  });
  add("shared_stride_8", "shared loads, 8-way conflicts", [](const Buffers& b, cudaStream_t s) {
    shared_stride<8><<<1056, 256, 0, s>>>(b.a, b.c, 512);
  });
  add("many_barriers", "400 barriers in 2112 blocks of 256",
      [](const Buffers& b, cudaStream_t s) { many_barriers<<<2112, 256, 0, s>>>(b.a, 200); });
  add("long_chain", "one block per SM or fewer, dependent square roots",
      [](const Buffers& b, cudaStream_t s) { long_chain<<<100, 64, 0, s>>>(b.a, b.c, 1000); });
  add("low_occupancy", "128 threads per SM, 128 KB of shared memory each",
      [](const Buffers& b, cudaStream_t s) {
        (void)cudaFuncSetAttribute(low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   131072);
        low_occupancy<<<132, 128, 131072, s>>>(b.a, b.c, 1 << 22);
      });
  add("hash_insert", "2^20 keys into 2^22 slots", [](const Buffers& b, cudaStream_t s) {
    hash_insert<<<4096, 256, 0, s>>>(b.index, b.counts, 1 << 20, (1 << 22) - 1);
  });
}

}  // namespace programs
