// embedding rung 02, vectors: each load brings 16 bytes.
//
// Since 01_thread_per_element: a thread looks up one token per pack, and has four packs under way
//   forward. Backward, four sums travel in one atomic, if the architecture has such an instruction.
// Stops at: HBM forward. Backward, at atomics on rows that many tokens share. The order of the
//   atomics, and so the last bits of the sums, differs from run to run.
// Not for: gradients that must be the same in every run, or tokens that many rows share (03).
#include "device/convert_pack.cuh"
#include "device/divide.cuh"
#include "device/shifted.cuh"
#include "kernels/embedding/embedding.h"
#include "select/select.h"

namespace ridge::embedding::vectors {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;
constexpr int kUnrollAnywhere = 2;  // each of two packs
constexpr Tuned kForward = {2.0, 0.88};
constexpr Tuned kBackward = {2.0, 0.45};

// T: a word of the elements' size. Every row starts at a 16-byte boundary.
template <class T, int Unroll>
__global__ void __launch_bounds__(kThreads) embedding_gather(Args args, Divider slots) {
  constexpr int kSize = kPackSize<T>;
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Unroll) + threadIdx.x;
  const T* from[Unroll];
  T* to[Unroll];
  int64_t begin[Unroll], end[Unroll];  // the slot's elements of its row
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    const int64_t slot = first + u * kThreads, row = slots.quotient(slot);
    begin[u] = end[u] = 0;
    if (row >= args.count) continue;
    from[u] = static_cast<const T*>(args.table) + args.tokens[row] * args.table_stride;
    to[u] = static_cast<T*>(args.out) + row * args.row_stride;
    begin[u] = (slot - row * slots.divisor()) * kSize;
    end[u] = min(begin[u] + kSize, args.dim);
  }
  Pack<T> x[Unroll];
#pragma unroll
  for (int u = 0; u < Unroll; ++u)  // other tokens may want the row: no hint to forget it
    if (end[u] - begin[u] == kSize) x[u] = *reinterpret_cast<const Pack<T>*>(from[u] + begin[u]);
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    if (end[u] - begin[u] == kSize) {
      store_pack(to[u] + begin[u], x[u]);
    } else {
      for (int64_t c = begin[u]; c < end[u]; ++c) to[u][c] = from[u][c];
    }
  }
}

// Rows anywhere: the slots of a row are the packs between the output's boundaries, of which the
// first and the last may be partly outside. What they take is shifted together from two packs of
// the table, whose other rows may be read as well; so edges, of which almost every warp has one,
// wait for no more loads than others.
template <class T, int Unroll>
__global__ void __launch_bounds__(kThreads) embedding_gather_anywhere(Args args, Divider slots) {
  constexpr int kSize = kPackSize<T>;
  const T* const table = static_cast<const T*>(args.table);
  const T* const table_end = table + (args.vocab - 1) * args.table_stride + args.dim;
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Unroll) + threadIdx.x;
  int64_t row[Unroll], from[Unroll];
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {  // the tokens of all slots are under way together
    row[u] = slots.quotient(first + u * kThreads);
    from[u] = args.tokens[min(row[u], args.count - 1)] * args.table_stride;
  }
  PackRequest<T> request[Unroll];
  T* to[Unroll];
  int begin[Unroll], end[Unroll];  // the row's elements of the slot
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    T* const out = static_cast<T*>(args.out) + row[u] * args.row_stride;
    const int64_t c = (first + u * kThreads - row[u] * slots.divisor()) * kSize -
                      bytes_past_alignment(out) / int(sizeof(T));  // the slot's first column
    to[u] = out + c;
    begin[u] = int(max(-c, int64_t(0)));
    end[u] = row[u] < args.count ? int(min(args.dim - c, int64_t(kSize))) : 0;
    const T* const p = table + from[u] + c;
    request[u].at = p;
    request[u].is_whole = false;
    if (begin[u] < end[u] && p >= table && p + kSize <= table_end)
      request[u].ask(p, table, table_end);
  }
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    if (begin[u] >= end[u]) continue;
    const auto has = [&](int i) { return i >= begin[u] && i < end[u]; };
    Pack<T> x;
    if (request[u].is_whole) {
      x = bytes_as<Pack<T>>(request[u].take());
    } else {  // at an end of the table
#pragma unroll
      for (int i = 0; i < kSize; ++i)
        if (has(i)) x[i] = request[u].at[i];
    }
    if (end[u] - begin[u] == kSize) {
      store_pack(to[u], x);
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i)
        if (has(i)) to[u][i] = x[i];
    }
  }
}

__device__ __forceinline__ void add4(float* to, float4 x) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to), x);
#else
  atomicAdd(to, x.x);
  atomicAdd(to + 1, x.y);
  atomicAdd(to + 2, x.z);
  atomicAdd(to + 3, x.w);
#endif
}

// Not aligned: a thread takes every `slots`-th element, so that neighbours add to neighbours.
template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) embedding_scatter(Args args, Divider slots) {
  constexpr int kSize = kPackSize<T>;
  const int64_t slot = int64_t(blockIdx.x) * kThreads + threadIdx.x, row = slots.quotient(slot);
  if (row >= args.count) return;
  const int64_t s = slot - row * slots.divisor();
  const T* dy = static_cast<const T*>(args.dy) + row * args.row_stride;
  float* to = args.dtable + args.tokens[row] * args.table_stride;
  if (Aligned && (s + 1) * kSize <= args.dim) {
    float x[kSize];
    to_floats(load_pack(dy + s * kSize), x);
#pragma unroll
    for (int i = 0; i < kSize; i += 4)
      add4(to + s * kSize + i, make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]));
  } else if (Aligned) {
    for (int64_t c = s * kSize; c < args.dim; ++c) atomicAdd(to + c, to_float(dy[c]));
  } else {
    for (int64_t c = s; c < args.dim; c += slots.divisor()) atomicAdd(to + c, to_float(dy[c]));
  }
}

static bool is_aligned(const void* p, int64_t stride, size_t size) {
  return is_pack_aligned(p) && stride * int64_t(size) % kPackBytes == 0;
}

template <class T>
static Status gather(const Args& a, cudaStream_t stream) {
  const bool aligned =
      is_aligned(a.table, a.table_stride, sizeof(T)) && is_aligned(a.out, a.row_stride, sizeof(T));
  constexpr int kSize = kPackSize<T>;
  const int64_t slots = (a.dim + (aligned ? 1 : 2) * (kSize - 1)) / kSize;
  const int64_t a_block = int64_t(kThreads) * (aligned ? kUnroll : kUnrollAnywhere);
  const int64_t blocks = (a.count * slots + a_block - 1) / a_block;
  const auto kernel =
      aligned ? embedding_gather<T, kUnroll> : embedding_gather_anywhere<T, kUnrollAnywhere>;
  kernel<<<unsigned(blocks), kThreads, 0, stream>>>(a, Divider(slots, blocks * a_block));
  return launch_status();
}

template <class T>
static Status scatter(const Args& a, cudaStream_t stream) {
  const bool aligned = is_aligned(a.dtable, a.table_stride, sizeof(float)) &&
                       is_aligned(a.dy, a.row_stride, sizeof(T));
  const int64_t slots = (a.dim + kPackSize<T> - 1) / kPackSize<T>;
  const int64_t blocks = (a.count * slots + kThreads - 1) / kThreads;
  const Divider divider(slots, blocks * kThreads);
  const auto kernel = aligned ? embedding_scatter<T, true> : embedding_scatter<T, false>;
  kernel<<<unsigned(blocks), kThreads, 0, stream>>>(a, divider);
  return launch_status();
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.count * a.dim == 0) return Status::ok();
  if (!a.backward)  // nothing is computed: the size of an element is all that matters
    return size_of(a.dtype) == 2 ? gather<uint16_t>(a, stream) : gather<uint32_t>(a, stream);
  return with_float_type(a.dtype, [&](auto t) { return scatter<decltype(t)>(a, stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(a.backward ? kBackward : kForward, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, one token looked up per pack",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::embedding::vectors
