// matrix_copy rung 04, bulk: one thread per SM asks the copy engine for 16 KB at a time.
//
// Since 03_vectors: no register ever holds the data. A ring of chunks in shared memory, as large as
//   an SM allows, fills and drains by bulk copies; the thread only keeps count. Elements outside
//   whole 16-byte packs, at most 15 bytes at each end of a row, are left to the other warps.
// Stops at: HBM; and at the one thread, if rows are short and a chunk holds only one row.
// Not for: short rows, and kernels that need the numbers in registers anyway. It does not make a
//   plain copy faster (on an H200 it is 8 % slower than 03); it is for warps that compute while the
//   engine copies.
#include <algorithm>

#include "device/from_detail.cuh"
#include "device/ptx/bulk_copy.cuh"
#include "device/raw.cuh"
#include "kernels/matrix_copy/matrix_copy.h"
#include "select/select.h"

namespace ridge::matrix_copy::bulk {

constexpr int kChunk = 16 * 1024;  // bytes
constexpr int kStages = 12;        // of the ring; kStages - kStores are being loaded
constexpr int kStores = 4;         // may still be read when the next load is asked for
constexpr int kWarpSize = 32;
constexpr int kThreads = 4 * kWarpSize;  // the first warp's first lane, and three warps for edges
constexpr Tuned kTuned = {3.0, 0.91};
constexpr double kChunkUs = 0.1;  // the thread's own time for a chunk, on each SM

// The part of a row that is whole packs, in bytes from the row's begin.
struct Interior {
  int64_t begin, end;
};
template <class T>
__device__ Interior interior_of(const T* row, int64_t cols) {
  const int64_t head = elements_to_alignment(row);
  if (head >= cols) return {cols * int64_t(sizeof(T)), cols * int64_t(sizeof(T))};
  const int64_t packs = (cols - head) / kPackSize<T>;
  const int64_t begin = head * int64_t(sizeof(T));
  return {begin, begin + packs * kPackBytes};
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    matrix_copy_bulk(Args a, int64_t chunks_per_row, int64_t chunks) {
  extern __shared__ __align__(128) char ring[];  // (kStages, kChunk)
  __shared__ uint64_t full[kStages];

  if (threadIdx.x >= kWarpSize) {
    const int64_t step = int64_t(gridDim.x) * (kThreads - kWarpSize);
    for (int64_t r = int64_t(blockIdx.x) * (kThreads - kWarpSize) + threadIdx.x - kWarpSize;
         r < a.rows; r += step) {
      const T* in = static_cast<const T*>(a.in) + r * a.in_stride;  // (cols)
      T* out = static_cast<T*>(a.out) + r * a.out_stride;           // (cols)
      const Interior inner = interior_of(out, a.cols);
      for (int64_t c = 0; c < inner.begin / int64_t(sizeof(T)); ++c) out[c] = in[c];
      for (int64_t c = inner.end / int64_t(sizeof(T)); c < a.cols; ++c) out[c] = in[c];
    }
    return;
  }
  if (threadIdx.x != 0) return;

  for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(&full[s], 1);
  ptx::mbarrier_init_done();

  // This block's k-th chunk, in stage k % kStages. It may be empty: rows start at different places
  // modulo 16, so one may have a chunk less.
  struct Chunk {
    const char* from;
    char* to;
    uint32_t bytes;
  };
  const int64_t mine = (chunks - blockIdx.x + gridDim.x - 1) / gridDim.x;
  const auto chunk = [&](int64_t k) -> Chunk {
    const int64_t index = blockIdx.x + k * gridDim.x;
    const int64_t r = a.rows == 1 ? 0 : index / chunks_per_row;
    const T* in = static_cast<const T*>(a.in) + r * a.in_stride;
    T* out = static_cast<T*>(a.out) + r * a.out_stride;
    const Interior inner = interior_of(out, a.cols);
    const int64_t begin = inner.begin + (index - r * chunks_per_row) * kChunk;
    const int64_t left = inner.end - begin;
    return {reinterpret_cast<const char*>(in) + begin, reinterpret_cast<char*>(out) + begin,
            uint32_t(left < 0        ? 0
                     : left < kChunk ? left
                                     : kChunk)};
  };
  const auto load = [&](int64_t k) {
    const Chunk c = chunk(k);
    const int stage = int(k % kStages);
    ptx::mbarrier_arrive_expect(&full[stage], c.bytes);
    if (c.bytes) ptx::bulk_load(ring + stage * kChunk, c.from, c.bytes, &full[stage]);
  };

  for (int64_t k = 0; k < kStages - kStores && k < mine; ++k) load(k);
  for (int64_t k = 0; k < mine; ++k) {
    const int stage = int(k % kStages);
    ptx::mbarrier_wait(&full[stage], uint32_t(k / kStages) & 1);
    const Chunk c = chunk(k);
    if (c.bytes) ptx::bulk_store(c.to, ring + stage * kChunk, c.bytes);
    ptx::bulk_commit();
    // The stage of chunk k - kStores is free once its store has read it.
    ptx::bulk_wait_read<kStores>();
    const int64_t next = k + kStages - kStores;
    if (next < mine) load(next);
  }
  ptx::bulk_wait_read<0>();
}

static Args flattened(Args a) {
  if (a.in_stride == a.cols && a.out_stride == a.cols) {
    a.cols *= a.rows;
    a.rows = 1;
  }
  return a;
}
static int64_t chunks_per_row(const Args& a) {
  return (a.cols * int64_t(size_of(a.dtype)) + kChunk - 1) / kChunk;
}

static Support supports(const Args& args, const DeviceInfo& device) {
  if (device.major != 9) return "needs the bulk copies of Hopper";
  if (!has_raw_type(args.dtype)) return "copies elements of 1, 2 or 4 bytes";
  const Args a = flattened(args);
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  const int64_t pitches = (a.in_stride - a.out_stride) * int64_t(size_of(a.dtype));
  if (phase(a.in) != phase(a.out) || (a.rows > 1 && pitches % kPackBytes != 0))
    return "input and output must lie alike modulo 16 bytes";
  return kSupported;
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (args.rows * args.cols == 0) return Status::ok();
  const Args a = flattened(args);
  const int64_t per_row = chunks_per_row(a), chunks = a.rows * per_row;
  const unsigned blocks = unsigned(std::min<int64_t>(chunks, device.sm_count));
  return with_raw_type(a.dtype, [&](auto t) {
    const auto kernel = matrix_copy_bulk<decltype(t)>;
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kStages * kChunk);
    kernel<<<blocks, kThreads, kStages * kChunk, stream>>>(a, per_row, chunks);
    return launch_status();
  });
}
static double cost(const Args& args, const DeviceInfo& device) {
  const Args a = flattened(args);
  const double books_us = kChunkUs * double(a.rows * chunks_per_row(a)) / device.sm_count;
  return std::max(streaming_us(kTuned, bytes(a), device), kTuned.fixed_us + books_us);
}
constinit const Rung rung = {.idea = "a ring of bulk copies, kept by one thread per SM",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::matrix_copy::bulk
