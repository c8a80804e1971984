// rearrange rung 03, vectors: each access moves 16 bytes, wherever the arrays lie.
//
// Since 02_tiled: packs are moved instead of elements, turned or zipped by byte permutations. If
//   source and target are not equally far from a 16-byte boundary, a pack is shifted together from
//   two: from global memory if the source is only read, or from a tile in shared memory if both
//   sides are written and a block must own what it reads.
// Stops at: HBM.
// Not for: a rearrangement that the next kernel could apply while reading: an index is cheaper than
//   a copy.
#include "device/shifted.cuh"
#include "kernels/rearrange/with_op.cuh"
#include "select/select.h"

namespace ridge::rearrange::vectors {

constexpr int kThreads = 256;
constexpr int kTilePacks = 512;  // of one side, swap and reverse_in_place
constexpr Tuned kTuned = {2.0, 0.88};

// The elements of a pack, last first.
template <class T>
__device__ __forceinline__ uint4 turned(uint4 p) {
  constexpr uint32_t kOrder = sizeof(T) == 1 ? 0x0123 : sizeof(T) == 2 ? 0x1032 : 0x3210;
  return make_uint4(__byte_perm(p.w, 0, kOrder), __byte_perm(p.z, 0, kOrder),
                    __byte_perm(p.y, 0, kOrder), __byte_perm(p.x, 0, kOrder));
}

// a0 b0 a1 b1 …: `first` gets the lower halves.
template <class T>
__device__ __forceinline__ uint2 zipped(uint32_t a, uint32_t b) {
  if (sizeof(T) == 4) return make_uint2(a, b);
  if (sizeof(T) == 2) return make_uint2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
  return make_uint2(__byte_perm(a, b, 0x5140), __byte_perm(a, b, 0x7362));
}

// A thread takes a pack of the target; the first and the last take what is before and after them.
template <class T>
__global__ void __launch_bounds__(kThreads) reverse_vectors(const T* a, T* x, int64_t n) {
  constexpr int P = kPackSize<T>;
  const int64_t head = min(int64_t(elements_to_alignment(x)), n), packs = (n - head) / P;
  const int64_t k = int64_t(blockIdx.x) * kThreads + threadIdx.x - 1;  // pack
  if (k >= 0 && k < packs) {
    PackRequest<T> request;
    request.ask(a + (n - head - (k + 1) * P), a, a + n);
    *reinterpret_cast<uint4*>(x + head + k * P) = turned<T>(request.take());
  } else if (k == -1 || k == packs) {
    const int64_t end = k < 0 ? head : n;
    for (int64_t i = k < 0 ? 0 : head + packs * P; i < end; ++i) x[i] = a[n - 1 - i];
  }
}

// As above, with pairs of packs. Where the target's first pack starts at an odd element, that is
// one of b's.
template <class T>
__global__ void __launch_bounds__(kThreads)
    interleave_vectors(const T* a, const T* b, T* x, int64_t n) {
  constexpr int P = kPackSize<T>;
  const int64_t head = min(int64_t(elements_to_alignment(x)), 2 * n);
  const int64_t pairs = (2 * n - head) / (2 * P);
  const int64_t k = int64_t(blockIdx.x) * kThreads + threadIdx.x - 1;  // pair
  if (k >= 0 && k < pairs) {
    const T* const even = head % 2 ? b : a;
    const T* const odd = head % 2 ? a : b;
    PackRequest<T> from_even, from_odd;
    from_even.ask(even + head / 2 + k * P, even, even + n);
    from_odd.ask(odd + (head + 1) / 2 + k * P, odd, odd + n);
    const uint4 e = from_even.take(), o = from_odd.take();
    const uint2 w0 = zipped<T>(e.x, o.x), w1 = zipped<T>(e.y, o.y);
    const uint2 w2 = zipped<T>(e.z, o.z), w3 = zipped<T>(e.w, o.w);
    const auto to = reinterpret_cast<uint4*>(x + head + k * 2 * P);
    to[0] = make_uint4(w0.x, w0.y, w1.x, w1.y);
    to[1] = make_uint4(w2.x, w2.y, w3.x, w3.y);
  } else if (k == -1 || k == pairs) {
    const int64_t end = k < 0 ? head : 2 * n;
    for (int64_t i = k < 0 ? 0 : head + pairs * 2 * P; i < end; ++i) x[i] = (i % 2 ? b : a)[i / 2];
  }
}

// A run of elements in global memory, and its image in shared memory at the same place modulo 16
// bytes: element i is image[phase + i].
template <class T>
struct Run {
  T* at;
  int count;
  uint4* image;  // (kTilePacks + 1)

  __device__ int phase() const { return bytes_past_alignment(at) / int(sizeof(T)); }
  __device__ int slots() const { return (phase() + count + kPackSize<T> - 1) / kPackSize<T>; }
  __device__ T* slot(int s) const { return at - phase() + s * kPackSize<T>; }
  // Whether the whole slot belongs to the run.
  __device__ bool is_whole(int s) const {
    return s * kPackSize<T> >= phase() && (s + 1) * kPackSize<T> <= phase() + count;
  }
  __device__ T& element(int i) const { return reinterpret_cast<T*>(image)[phase() + i]; }
};

// Calls f(i) for the elements of the run in slot s.
template <class T, class F>
__device__ __forceinline__ void for_elements(const Run<T>& run, int s, F f) {
  const int begin = s * kPackSize<T> - run.phase();
  for (int i = max(begin, 0); i < min(begin + kPackSize<T>, run.count); ++i) f(i);
}

template <class T, bool Reverse>
__device__ __forceinline__ void write_run(const Run<T>& to, const Run<T>& from, int s) {
  if (to.is_whole(s)) {
    const int i = s * kPackSize<T> - to.phase();  // the first element written
    const int source = from.phase() + (Reverse ? to.count - i - kPackSize<T> : i);
    const int shift = source % kPackSize<T> * int(sizeof(T));
    const uint4* packs = from.image + source / kPackSize<T>;
    const uint4 words = shifted(packs[0], packs[shift != 0], shift);
    *reinterpret_cast<uint4*>(to.slot(s)) = Reverse ? turned<T>(words) : words;
  } else {
    for_elements(to, s, [&](int i) { to.at[i] = from.element(Reverse ? to.count - 1 - i : i); });
  }
}

// Exchanges x[i] with y[i], or with y[n - 1 - i]. A block owns a tile of x, which starts at a pack,
// and its partners in y, which may start anywhere: it reads both before it writes either.
template <class T, bool Reverse>
__global__ void __launch_bounds__(kThreads) exchange_vectors(T* x, T* y, int64_t n) {
  constexpr int P = kPackSize<T>;
  constexpr int kSteps = kTilePacks / kThreads + 1;  // the last for a run that starts inside a pack
  __shared__ uint4 images[2][kTilePacks + 1];
  const int64_t origin =
      int64_t(blockIdx.x) * (kTilePacks * P) - bytes_past_alignment(x) / int(sizeof(T));
  const int64_t begin = max(origin, int64_t(0)), end = min(origin + kTilePacks * P, n);
  const int count = int(end - begin);
  const Run<T> runs[2] = {{x + begin, count, images[0]},
                          {y + (Reverse ? n - end : begin), count, images[1]}};
  uint4 words[2][kSteps];
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const int s = k * kThreads + threadIdx.x;
      if (s < runs[side].slots() && runs[side].is_whole(s))
        words[side][k] = *reinterpret_cast<const uint4*>(runs[side].slot(s));
    }
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const int s = k * kThreads + threadIdx.x;
      if (s >= runs[side].slots()) continue;
      if (runs[side].is_whole(s)) runs[side].image[s] = words[side][k];
      else for_elements(runs[side], s, [&](int i) { runs[side].element(i) = runs[side].at[i]; });
    }
  __syncthreads();
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const int s = k * kThreads + threadIdx.x;
      if (s < runs[side].slots()) write_run<T, Reverse>(runs[side], runs[1 - side], s);
    }
}

template <class T, bool Reverse>
static void launch_exchange(T* x, T* y, int64_t n, cudaStream_t stream) {
  constexpr int64_t kTile = kTilePacks * kPackSize<T>;
  const int64_t phase = int64_t(reinterpret_cast<uintptr_t>(x) % kPackBytes / sizeof(T));
  exchange_vectors<T, Reverse>
      <<<unsigned((n + phase + kTile - 1) / kTile), kThreads, 0, stream>>>(x, y, n);
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = args.n;
  if (n == 0 || (args.op == Op::reverse_in_place && n == 1)) return Status::ok();
  return with_raw_type(args.dtype, [&](auto t) {
    using T = decltype(t);
    const T* a = static_cast<const T*>(args.a);
    const T* b = static_cast<const T*>(args.b);
    T* x = static_cast<T*>(args.x);
    T* y = static_cast<T*>(args.y);
    // Two more than packs, for the ends.
    const unsigned blocks = unsigned((n / kPackSize<T> + 2 + kThreads - 1) / kThreads);
    switch (args.op) {
      case Op::reverse: reverse_vectors<<<blocks, kThreads, 0, stream>>>(a, x, n); break;
      case Op::interleave: interleave_vectors<<<blocks, kThreads, 0, stream>>>(a, b, x, n); break;
      case Op::swap: launch_exchange<T, false>(x, y, n, stream); break;
      // The front half with the back half; an element in the middle stays.
      default: launch_exchange<T, true>(x, x + (n - n / 2), n / 2, stream);
    }
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per access, shifted together where needed",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_loads_per_element = 0.25,
                                        .global_stores_per_element = 0.25,
                                        .conflict_free = true}};

}  // namespace ridge::rearrange::vectors
