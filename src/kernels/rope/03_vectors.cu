// rope rung 03, vectors: each load brings 16 bytes; q and k are one launch.
//
// Since 02_table: a thread turns a slice of a head. It finds its slice by products instead of
//   divisions. The cosines and sines of a token, which all its heads share, come from L1. Slices of
//   several heads per thread would read them only once, but leave fewer threads on an SM: this was
//   no faster.
// Stops at: HBM.
// Not for: attention kernels that load q and k themselves: they can turn them after loading.
//
// A slice is two packs, half a head apart, in either layout: half-split they are partners, and
// interleaved each holds its own pairs.
#include "device/convert_pack.cuh"
#include "device/divide.cuh"
#include "kernels/rope/rope.h"
#include "kernels/rope/turn.cuh"
#include "select/select.h"

namespace ridge::rope::vectors {

constexpr int kThreads = 256;
constexpr Tuned kTuned = {2.0, 0.88};

// Threads in the order slice, head (those of q, then those of k), position, batch.
struct Grid {
  Divider slices, heads, positions;
  int64_t threads = 0;
};

__device__ __forceinline__ int64_t at(const Strides& s, int64_t b, int64_t position, int64_t head) {
  return b * s.batch + position * s.seq + head * s.head;
}

// Aligned: all packs are at 16-byte boundaries, and slices fill a head. Otherwise a slice is every
// `slices`-th pair, so that neighbours still read neighbouring numbers.
template <class T, bool Interleaved, bool Aligned>
__global__ void __launch_bounds__(kThreads) rope_vectors(Args args, Grid grid) {
  constexpr int kSize = kPackSize<T>, kHalf = kSize / 2;
  const int64_t thread = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= grid.threads) return;
  const int64_t outer = grid.slices.quotient(thread);
  const int64_t token = grid.heads.quotient(outer);
  const int64_t b = grid.positions.quotient(token), position = token - b * args.seq;
  const int slice = int(thread - outer * grid.slices.divisor());
  const int64_t head = outer - token * grid.heads.divisor();  // of q, then of k
  const bool is_q = head < args.q.heads;
  const Heads& heads = is_q ? args.q : args.k;
  const int64_t of_heads = is_q ? head : head - args.q.heads;
  const T* in = static_cast<const T*>(heads.in) + at(heads.in_stride, b, position, of_heads);
  T* out = static_cast<T*>(heads.out) + at(heads.out_stride, b, position, of_heads);
  const int64_t entry = (args.first_position + position) * args.table_stride;
  const float sign = args.backward ? -1 : 1;

  if constexpr (!Aligned) {
    for (int64_t i = slice; i < args.dim / 2; i += grid.slices.divisor()) {
      const float cosine = args.cos[entry + i], sine = args.sin[entry + i] * sign;
      turn_one(in, out, places_of(i, args.dim, Interleaved), cosine, sine);
    }
    return;
  }

  const int64_t low = int64_t(slice) * kSize, high = low + args.dim / 2;
  const Pack<T> x[2] = {load_pack(in + low), load_pack(in + high)};
  // Those of the pairs in the slice: kSize that follow each other, or twice half as many.
  const int64_t entries[2] = {entry + (Interleaved ? low / 2 : low),
                              entry + (Interleaved ? high / 2 : low + kHalf)};
  float cosine[kSize], sine[kSize];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const auto c = *reinterpret_cast<const Pack<float, kHalf>*>(args.cos + entries[k]);
    const auto s = *reinterpret_cast<const Pack<float, kHalf>*>(args.sin + entries[k]);
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      cosine[k * kHalf + i] = c[i];
      sine[k * kHalf + i] = s[i] * sign;
    }
  }

  float v[2][kSize];
  to_floats(x[0], v[0]);
  to_floats(x[1], v[1]);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {  // pairs
    float& a = Interleaved ? v[i / kHalf][2 * (i % kHalf)] : v[0][i];
    float& b = Interleaved ? v[i / kHalf][2 * (i % kHalf) + 1] : v[1][i];
    const Pair p = turned({a, b}, cosine[i], sine[i]);
    a = p.x;
    b = p.y;
  }
  store_pack(out + low, from_floats<T>(v[0]));
  store_pack(out + high, from_floats<T>(v[1]));
}

template <class T>
static bool is_aligned(const Args& a) {
  constexpr int64_t kSize = kPackSize<T>;
  const auto fits = [](const void* p, const Strides& s) {
    return is_pack_aligned(p) && s.batch % kSize == 0 && s.seq % kSize == 0 && s.head % kSize == 0;
  };
  // A table's packs are of half as many numbers, at least 8 bytes.
  bool aligned = a.dim % (2 * kSize) == 0 && is_pack_aligned(a.cos) && is_pack_aligned(a.sin) &&
                 a.table_stride % (kSize / 2) == 0;
  for (const Heads* heads : {&a.q, &a.k})
    if (heads->heads > 0)
      aligned = aligned && fits(heads->in, heads->in_stride) && fits(heads->out, heads->out_stride);
  return aligned;
}

template <class T, bool Interleaved>
static Status launch_layout(const Args& a, cudaStream_t stream) {
  constexpr int kSize = kPackSize<T>;
  const int64_t slices = (a.dim / 2 + kSize - 1) / kSize;
  const int64_t heads = a.q.heads + a.k.heads;
  const int64_t tokens = a.batch * a.seq, threads = tokens * heads * slices;
  if (threads == 0) return Status::ok();
  const Grid grid = {.slices = Divider(slices, threads),
                     .heads = Divider(heads, tokens * heads),
                     .positions = Divider(a.seq, tokens),
                     .threads = threads};
  const auto kernel =
      is_aligned<T>(a) ? rope_vectors<T, Interleaved, true> : rope_vectors<T, Interleaved, false>;
  kernel<<<unsigned((threads + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, grid);
  return launch_status();
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.cos && a.sin ? supported(a) : "no table";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return a.interleaved ? launch_layout<T, true>(a, stream) : launch_layout<T, false>(a, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, q and k at once",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::rope::vectors
