// What all rungs of normalize share: which norm, and what is done with it.
#pragma once

#include "device/convert_pack.cuh"
#include "device/reduce_axis.cuh"
#include "device/sum_min_max.cuh"
#include "kernels/normalize/normalize.h"

namespace ridge::normalize {

// Calls f(norm, T()) with the operator and the format.
template <class F>
auto with_norm(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) {
    if (a.kind == Kind::l1) return f(reduction::NormL1<float>(), t);
    return f(reduction::NormL2<float>(), t);
  });
}
inline Support supports_all(const Args& a, const DeviceInfo&) {
  if (a.kind == Kind::clip && a.rows > 1) return "clips a vector: one row";
  return is_compute_float(a.dtype) ? kSupported : "scales f32, f16 and bf16";
}

// Scales an element, once the norm is known. A NaN passes through, because it is not smaller than a
// bound.
struct Divide {
  float by;
  __device__ Divide(const Args& a, float norm) : by(max_or_nan(norm, a.epsilon)) {}
  __device__ __forceinline__ float operator()(float x) const { return x / by; }
};
struct Clip {
  float factor;
  __device__ Clip(const Args& a, float norm)
      : factor(min_or_nan(1, a.max_norm / (norm + 1e-6f))) {}  // a norm of 0 divides nothing by 0
  __device__ __forceinline__ float operator()(float x) const { return x * factor; }
};

template <class Scale, class T>
__device__ __forceinline__ Pack<T> scaled(const Scale& scale, const Pack<T>& x) {
  float y[kPackSize<T>];
  to_floats(x, y);
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) y[i] = scale(y[i]);
  return from_floats<T>(y);
}

// A row, cut where its output has 16-byte boundaries: elements at both ends, packs between them.
template <class T>
struct CutRow {
  const T* x;
  T* out;
  int64_t cols;
  int begin;  // elements before the first pack
  int64_t packs;
  bool aligned;  // x has boundaries in the same places

  __device__ __forceinline__ CutRow(const Args& a, int64_t row)
      : x(static_cast<const T*>(a.x) + row * a.x_stride),
        out(static_cast<T*>(a.out) + row * a.out_stride),
        cols(a.cols),
        begin(int(min(int64_t(elements_to_alignment(out)), cols))),
        packs((cols - begin) / kPackSize<T>),
        aligned(is_pack_aligned(x + begin)) {}

  __device__ __forceinline__ int64_t at(int64_t pack) const { return begin + pack * kPackSize<T>; }
  // `Again`: it is read once more.
  template <bool Again>
  __device__ __forceinline__ Pack<T> load(int64_t pack) const {
    const int64_t i = at(pack);
    if (aligned) return Again ? reduction::load_pack_to_keep(x + i) : load_pack(x + i);
    // A pack that starts in the middle of a word also reads the other half of that word.
    const bool has_neighbours = sizeof(T) >= 4 || (i > 0 && i + kPackSize<T> < cols);
    Pack<T> read;
    if (has_neighbours) {
      read = load_pack_anywhere(x + i);
    } else {
#pragma unroll
      for (int j = 0; j < kPackSize<T>; ++j) read[j] = x[i + j];
    }
    return read;
  }
  __device__ __forceinline__ void store(int64_t pack, const Pack<T>& y) const {
    store_pack(out + at(pack), y);
  }

  // The elements outside of packs, as if they lay together.
  __device__ __forceinline__ int edges() const { return int(cols - packs * kPackSize<T>); }
  __device__ __forceinline__ int64_t edge(int e) const {
    return e < begin ? e : e + packs * kPackSize<T>;
  }
};
}  // namespace ridge::normalize
