// Hopper's copies without products: rings of bulk copies, tensor copies, warps that produce and
// warps that consume, shared memory of a cluster; and blocks that wait for each other.
#include "hopper.h"

namespace programs {
namespace {

namespace ptx = ridge::ptx;
extern __shared__ __align__(1024) Byte stages[];

[[maybe_unused]] __device__ __forceinline__ float block_sum(float v, float* scratch) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int i = 0; i < int(blockDim.x) / 32; ++i) v += scratch[i];
  return v;
}
[[maybe_unused]] __device__ __forceinline__ float sum_of(const Byte* tile, int at, int end,
                                                         int step) {
  float sum = 0;
  for (; at < end; at += step) {
    const float4 v = *reinterpret_cast<const float4*>(tile + at * 16);
    sum += v.x + v.y + v.z + v.w;
  }
  return sum;
}

// Each block walks over tiles of kBytes, kStages of which are on their way.
template <int kBytes, int kStages>
__global__ void __launch_bounds__(256) bulk_ring_sum(const Byte* in, float* out, int tiles) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full[kStages];
  __shared__ float scratch[8];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(full + s, 1);
    ptx::mbarrier_init_done();
  }
  __syncthreads();
  const auto fetch = [&](int tile, int s) {
    if (threadIdx.x != 0 || tile >= tiles) return;
    ptx::mbarrier_arrive_expect(full + s, kBytes);
    ptx::bulk_load(stages + s * kBytes, in + size_t(tile) * kBytes, kBytes, full + s);
  };
  for (int s = 0; s < kStages; ++s) fetch(blockIdx.x + s * gridDim.x, s);
  float sum = 0;
  int s = 0, parity = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ptx::mbarrier_wait(full + s, parity);
    sum += sum_of(stages + s * kBytes, threadIdx.x, kBytes / 16, 256);
    __syncthreads();
    fetch(tile + kStages * gridDim.x, s);
    if (++s == kStages) s = 0, parity ^= 1;
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
#endif
}

// One thread per block moves everything: in by bulk loads, out by bulk stores.
template <int kBytes, int kStages>
__global__ void bulk_copy(const Byte* in, Byte* out, int tiles) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full[kStages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(full + s, 1);
  ptx::mbarrier_init_done();
  const auto fetch = [&](int tile, int s) {
    if (tile >= tiles) return;
    ptx::mbarrier_arrive_expect(full + s, kBytes);
    ptx::bulk_load(stages + s * kBytes, in + size_t(tile) * kBytes, kBytes, full + s);
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(blockIdx.x + s * gridDim.x, s);
  int s = 0, parity = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ptx::mbarrier_wait(full + s, parity);
    ptx::bulk_store(out + size_t(tile) * kBytes, stages + s * kBytes, kBytes);
    ptx::bulk_commit();
    ptx::bulk_wait_read<1>();  // the stage before this one is free
    fetch(tile + (kStages - 1) * gridDim.x, (s + kStages - 1) % kStages);
    if (++s == kStages) s = 0, parity ^= 1;
  }
  ptx::bulk_wait_read<0>();
#endif
}

// One box of 32 floats x 128 rows per block, doubled in between.
__global__ void __launch_bounds__(256)
    tma_scale(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full;
  const int x = blockIdx.x * 32, y = blockIdx.y * 128;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init_done();
    ptx::mbarrier_arrive_expect(&full, 16384);
    ptx::tma_load(stages, &in, x, y, 0, &full);
  }
  __syncthreads();
  ptx::mbarrier_wait(&full, 0);
  for (int i = threadIdx.x; i < 1024; i += 256) {
    float4& v = reinterpret_cast<float4*>(stages)[i];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
  }
  ptx::fence_before_bulk_store();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::tma_store(&out, stages, x, y, 0);
    ptx::bulk_commit();
    ptx::bulk_wait_read<0>();
  }
#endif
}

// 32 x 32 floats per block, in and out by tensor copies; the swizzle keeps conflicts down.
__global__ void __launch_bounds__(256)
    tma_transpose(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t full;
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init_done();
    ptx::mbarrier_arrive_expect(&full, 4096);
    ptx::tma_load(stages, &in, x, y, 0, &full);
  }
  __syncthreads();
  ptx::mbarrier_wait(&full, 0);
  float* const from = reinterpret_cast<float*>(stages);
  float* const to = from + 1024;
  const auto place = [](int r, int c) { return r * 32 + ((c / 4) ^ (r % 8)) * 4 + c % 4; };
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const int r = i % 32, c = i / 32;
    to[place(c, r)] = from[place(r, c)];
  }
  ptx::fence_before_bulk_store();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::tma_store(&out, to, y, x, 0);
    ptx::bulk_commit();
    ptx::bulk_wait_read<0>();
  }
#endif
}

// The sum of exp(x) over each row of 4096 floats. Warp 0 asks for quarters of rows; eight others
// add them up; mbarriers say when a stage is full and when it is empty.
__global__ void __launch_bounds__(288) produce_consume(const float* in, float* out, int rows) {
#if __CUDA_ARCH__ >= 900
  constexpr int kStages = 8, kBytes = 4096;
  __shared__ uint64_t full[kStages], empty[kStages];
  __shared__ float scratch[2][8];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s)
      ptx::mbarrier_init(full + s, 1), ptx::mbarrier_init(empty + s, 8);
    ptx::mbarrier_init_done();
  }
  __syncthreads();
  int s = 0, parity = 0;
  const auto next = [&] {
    if (++s == kStages) s = 0, parity ^= 1;
  };
  if (threadIdx.x / 32 == 8) {
    if (threadIdx.x % 32 != 0) return;
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
      for (int part = 0; part < 4; ++part, next()) {
        ptx::mbarrier_wait(empty + s, uint32_t(parity ^ 1));
        ptx::mbarrier_arrive_expect(full + s, kBytes);
        ptx::bulk_load(stages + s * kBytes, in + size_t(row) * 4096 + part * 1024, kBytes,
                       full + s);
      }
    return;
  }
  int turn = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    float sum = 0;
    for (int part = 0; part < 4; ++part, next()) {
      ptx::mbarrier_wait(full + s, uint32_t(parity));
      const float4 v = reinterpret_cast<const float4*>(stages + s * kBytes)[threadIdx.x];
      sum += __expf(v.x) + __expf(v.y) + __expf(v.z) + __expf(v.w);
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        asm volatile(
            "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ptx::shared_address(empty + s))
            : "memory");
    }
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) scratch[turn][threadIdx.x / 32] = sum;
    asm volatile("bar.sync 1, 256;" ::: "memory");
    if (threadIdx.x == 0) {
      sum = 0;
      for (int i = 0; i < 8; ++i) sum += scratch[turn][i];
      out[row] = sum;
    }
  }
#endif
}

// Four warps bring tiles of 2048 floats with ordinary loads, four others add up their square roots:
// named barriers with two buffers.
__global__ void __launch_bounds__(256) named_barriers(const float4* in, float* out, int tiles) {
  __shared__ float4 buffer[2][512];
  const auto sync = [](int id) { asm volatile("bar.sync %0, 256;" ::"r"(id) : "memory"); };
  const auto arrive = [](int id) { asm volatile("bar.arrive %0, 256;" ::"r"(id) : "memory"); };
  const int t = threadIdx.x % 128;
  int turn = 0, tile = blockIdx.x;
  if (threadIdx.x < 128) {
    for (; tile < tiles; tile += gridDim.x, turn ^= 1) {
      float4 v[4];
      for (int i = 0; i < 4; ++i) v[i] = in[size_t(tile) * 512 + i * 128 + t];
      sync(3 + turn);  // the buffer is empty
      for (int i = 0; i < 4; ++i) buffer[turn][i * 128 + t] = v[i];
      arrive(1 + turn);  // it is full
    }
    return;
  }
  float sum = 0;
  arrive(3), arrive(4);
  for (; tile < tiles; tile += gridDim.x, turn ^= 1) {
    sync(1 + turn);
    for (int i = 0; i < 4; ++i) {
      const float4 v = buffer[turn][i * 128 + t];
      sum += sqrtf(v.x) + sqrtf(v.y) + sqrtf(v.z) + sqrtf(v.w);
    }
    if (tile + 2 * gridDim.x < unsigned(tiles)) arrive(3 + turn);
  }
  atomicAdd(out + blockIdx.x, sum);
}

// A cluster of eight blocks normalises one row of 65536 floats: sums meet in all blocks.
__global__ void __launch_bounds__(512) cluster_rows(const float4* in, float4* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ float scratch[16];
  __shared__ float2 of_block[8];
  const unsigned rank = ridge::cluster_rank();
  const size_t first = size_t(blockIdx.x) * 2048 + threadIdx.x;
  float4 v[4];
  float sum = 0;
  for (int i = 0; i < 4; ++i) v[i] = in[first + i * 512], sum += v[i].x + v[i].y + v[i].z + v[i].w;
  sum = block_sum(sum, scratch);
  ridge::cluster_arrive_relaxed();
  ridge::cluster_wait();
  if (threadIdx.x < 8) ridge::store_in_cluster(of_block + rank, threadIdx.x, {sum, 0});
  ridge::cluster_arrive();
  ridge::cluster_wait();
  sum = 0;
  for (int i = 0; i < 8; ++i) sum += of_block[i].x;
  const float mean = sum / 65536;
  for (int i = 0; i < 4; ++i)
    out[first + i * 512] = {v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean};
#endif
}

// 4096 bins over the shared memory of four blocks: atomics on other blocks' shared memory.
__global__ void __launch_bounds__(512) cluster_histogram(const uint4* in, unsigned* out, int n) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned bins[1024];
  for (int i = threadIdx.x; i < 1024; i += 512) bins[i] = 0;
  ridge::cluster_arrive();
  ridge::cluster_wait();
  const uint32_t here = ptx::shared_address(bins);
  const auto count = [&](unsigned value) {
    const unsigned bin = value >> 12 & 4095;
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"(here + bin % 1024 * 4), "r"(bin / 1024));
    asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(there) : "memory");
  };
  for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
    const uint4 v = in[i];
    count(v.x), count(v.y), count(v.z), count(v.w);
  }
  ridge::cluster_arrive();
  ridge::cluster_wait();
  for (int i = threadIdx.x; i < 1024; i += 512)
    atomicAdd(out + ridge::cluster_rank() * 1024 + i, bins[i]);
#endif
}

// An inclusive scan in one pass: a block waits for the sum of all blocks before it. `state` is two
// words per tile (flag, sum), then the tiles given out and the blocks that are done; zero before
// and after.
__global__ void __launch_bounds__(256)
    scan_look_back(const unsigned* in, unsigned* out, unsigned* state) {
  __shared__ unsigned scratch[8], tile_here, before_here;
  unsigned* const counters = state + 2 * gridDim.x;
  if (threadIdx.x == 0) tile_here = atomicInc(counters, gridDim.x - 1);
  __syncthreads();
  const unsigned tile = tile_here, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint4 v = reinterpret_cast<const uint4*>(in)[size_t(tile) * 256 + threadIdx.x];
  v.y += v.x, v.z += v.y, v.w += v.z;
  unsigned sum = v.w;
  for (int o = 1; o < 32; o *= 2) {
    const unsigned other = __shfl_up_sync(~0u, sum, o);
    if (lane >= unsigned(o)) sum += other;
  }
  if (lane == 31) scratch[warp] = sum;
  __syncthreads();
  unsigned before = sum - v.w, whole = 0;
  for (unsigned i = 0; i < 8; ++i) before += i < warp ? scratch[i] : 0, whole += scratch[i];
  if (threadIdx.x == 0) {
    volatile unsigned* const flags = state;
    unsigned earlier = 0;
    if (tile > 0) {
      flags[2 * tile + 1] = whole;
      __threadfence();
      flags[2 * tile] = 1;  // its own sum is there
    }
    for (int at = int(tile) - 1; at >= 0; --at) {
      unsigned flag;
      while ((flag = flags[2 * at]) == 0) {
      }
      __threadfence();
      earlier += flag == 2 ? counters[2 + at] : flags[2 * at + 1];
      if (flag == 2) break;
    }
    *static_cast<volatile unsigned*>(counters + 2 + tile) = earlier + whole;
    __threadfence();
    flags[2 * tile] = 2;  // the sum of all up to it
    before_here = earlier;
  }
  __syncthreads();
  before += before_here;
  reinterpret_cast<uint4*>(out)[size_t(tile) * 256 + threadIdx.x] = {v.x + before, v.y + before,
                                                                     v.z + before, v.w + before};
  if (threadIdx.x == 0) {
    __threadfence();
    tile_here = atomicInc(counters + 1, gridDim.x - 1);
  }
  __syncthreads();
  if (tile_here == gridDim.x - 1)  // the last one: all have read what they need
    for (unsigned i = threadIdx.x; i < 2 * gridDim.x; i += 256) state[i] = 0;
}

// --- launches and checks ---

constexpr int kRingBytes = 8192, kRingStages = 4, kCopyBytes = 16384, kCopyStages = 4;
void launch_ring(const Buffers& b, int tiles, cudaStream_t s) {
  start(bulk_ring_sum<kRingBytes, kRingStages>, dim3(264), 256, kRingBytes * kRingStages, 1, s,
        (const Byte*)b.a, b.c, tiles);
}
void launch_copy(const Buffers& b, int tiles, cudaStream_t s) {
  start(bulk_copy<kCopyBytes, kCopyStages>, dim3(132), 32, kCopyBytes * kCopyStages, 1, s,
        (const Byte*)b.a, (Byte*)b.c, tiles);
}
void launch_scale(const Buffers& b, int n, cudaStream_t s) {
  start(tma_scale, dim3(n / 32, n / 128), 256, 16384, 1, s, tensor_map(b.a, 4, n, n, 128),
        tensor_map(b.c, 4, n, n, 128));
}
void launch_transpose(const Buffers& b, int n, cudaStream_t s) {
  start(tma_transpose, dim3(n / 32, n / 32), 256, 8192, 1, s, tensor_map(b.a, 4, n, n, 32),
        tensor_map(b.c, 4, n, n, 32));
}
void launch_produce(const Buffers& b, int rows, cudaStream_t s) {
  start(produce_consume, dim3(264), 288, 8 * 4096, 1, s, b.a, b.c, rows);
}
void launch_named(const Buffers& b, int tiles, cudaStream_t s) {
  named_barriers<<<264, 256, 0, s>>>((const float4*)b.a, b.c, tiles);
}
void launch_rows(const Buffers& b, int rows, cudaStream_t s) {
  start(cluster_rows, dim3(8 * rows), 512, 0, 8, s, (const float4*)b.a, (float4*)b.c);
}
void launch_histogram(const Buffers& b, int n, cudaStream_t s) {
  start(cluster_histogram, dim3(256), 512, 0, 4, s, (const uint4*)b.index, b.counts, n);
}
void launch_look_back(const Buffers& b, int tiles, cudaStream_t s) {
  scan_look_back<<<tiles, 256, 0, s>>>((const unsigned*)b.index, (unsigned*)b.c, b.counts);
}

bool sums_up(const Buffers& b, size_t count, double (*term)(double)) {
  double want = 0, got = 0;
  for (const float v : from_device<float>(b.a, count)) want += term(double(v));
  for (const float v : from_device<float>(b.c, 264)) got += double(v);
  return is_near(got, want, 1e-5 * want);
}
bool check_ring(const Buffers& b, cudaStream_t s) {
  launch_ring(b, 1500, s);
  return sums_up(b, 1500 * kRingBytes / 4, [](double v) { return v; });
}
bool check_copy(const Buffers& b, cudaStream_t s) {
  launch_copy(b, 700, s);
  const size_t n = 700 * kCopyBytes / 4;
  return from_device<float>(b.a, n) == from_device<float>(b.c, n);
}
bool check_scale(const Buffers& b, cudaStream_t s) {
  launch_scale(b, 512, s);
  const auto in = from_device<float>(b.a, 512 * 512), out = from_device<float>(b.c, 512 * 512);
  for (size_t i = 0; i < in.size(); ++i)
    if (out[i] != 2 * in[i]) return false;
  return true;
}
bool check_transpose(const Buffers& b, cudaStream_t s) {
  launch_transpose(b, 256, s);
  const auto in = from_device<float>(b.a, 256 * 256), out = from_device<float>(b.c, 256 * 256);
  for (size_t i = 0; i < in.size(); ++i)
    if (out[i % 256 * 256 + i / 256] != in[i]) return false;
  return true;
}
bool check_produce(const Buffers& b, cudaStream_t s) {
  launch_produce(b, 700, s);
  const auto in = from_device<float>(b.a, 700 * 4096), out = from_device<float>(b.c, 700);
  for (size_t row = 0; row < 700; ++row) {
    double want = 0;
    for (size_t i = 0; i < 4096; ++i) want += std::exp(double(in[row * 4096 + i]));
    if (!is_near(double(out[row]), want, 1e-4 * want)) return false;
  }
  return true;
}
bool check_named(const Buffers& b, cudaStream_t s) {
  to_device(b.c, std::vector<float>(264));
  launch_named(b, 1500, s);
  return sums_up(b, 1500 * 2048, [](double v) { return std::sqrt(v); });
}
bool check_rows(const Buffers& b, cudaStream_t s) {
  launch_rows(b, 3, s);
  const auto in = from_device<float>(b.a, 3 << 16), out = from_device<float>(b.c, 3 << 16);
  for (size_t row = 0; row < 3; ++row) {
    double mean = 0;
    for (size_t i = 0; i < 65536; ++i) mean += double(in[row * 65536 + i]) / 65536;
    for (size_t i = row * 65536; i < (row + 1) * 65536; ++i)
      if (!is_near(double(out[i]), double(in[i]) - mean, 1e-4)) return false;
  }
  return true;
}
bool check_histogram(const Buffers& b, cudaStream_t s) {
  launch_histogram(b, 40000, s);
  std::vector<unsigned> want(4096);
  for (const unsigned v : from_device<unsigned>(b.index, 160000)) ++want[v >> 12 & 4095];
  return from_device<unsigned>(b.counts, 4096) == want;
}
bool check_look_back(const Buffers& b, cudaStream_t s) {
  launch_look_back(b, 300, s);
  const auto in = from_device<unsigned>(b.index, 300 * 1024),
             out = from_device<unsigned>(b.c, 300 * 1024);
  unsigned sum = 0;
  for (size_t i = 0; i < in.size(); ++i)
    if (out[i] != (sum += in[i])) return false;
  return true;
}

}  // namespace

void add_hopper_copies(std::vector<Program>& all) {
  all.push_back({"bulk_ring_sum", "128 MB, a ring of 4 bulk copies of 8 KB per block",
                 [](const Buffers& b, cudaStream_t s) { launch_ring(b, 16384, s); }, check_ring});
  all.push_back({"bulk_copy", "64 MB in and out by bulk copies of 16 KB",
                 [](const Buffers& b, cudaStream_t s) { launch_copy(b, 4096, s); }, check_copy});
  all.push_back({"tma_scale", "4096^2 floats, one box of 16 KB per block",
                 [](const Buffers& b, cudaStream_t s) { launch_scale(b, 4096, s); }, check_scale});
  all.push_back({"tma_transpose", "4096^2 floats, 32 x 32 per block",
                 [](const Buffers& b, cudaStream_t s) { launch_transpose(b, 4096, s); },
                 check_transpose});
  all.push_back({"produce_consume", "8192 rows of 4096, one warp copies and eight add up",
                 [](const Buffers& b, cudaStream_t s) { launch_produce(b, 8192, s); },
                 check_produce});
  all.push_back({"named_barriers", "2^24 square roots, half of the warps load",
                 [](const Buffers& b, cudaStream_t s) { launch_named(b, 8192, s); }, check_named});
  all.push_back({"cluster_rows", "256 rows of 65536, one cluster of 8 per row",
                 [](const Buffers& b, cudaStream_t s) { launch_rows(b, 256, s); }, check_rows});
  all.push_back({"cluster_histogram", "2^24 values, 4096 bins over clusters of 4",
                 [](const Buffers& b, cudaStream_t s) { launch_histogram(b, 1 << 22, s); },
                 check_histogram});
  all.push_back({"scan_look_back", "2^24 numbers in one pass, blocks wait for those before",
                 [](const Buffers& b, cudaStream_t s) { launch_look_back(b, 16384, s); },
                 check_look_back});
}

}  // namespace programs
