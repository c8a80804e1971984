// dot, asum, nrm2, iamax and iamin of vectors with any steps, in two launches: each block folds its
// elements into one part, then one thread folds the parts. The order is fixed, so results are the
// same in every run.
#include "standin/cublas/elements.cuh"

namespace ridge::cublas {

constexpr int kMostParts = 64;

// --- What is folded: part() of one element, combine() of two parts, finish() of the last ---

template <class T>
struct Dot {
  using Part = Compute<T>;
  __device__ Part none() const { return 0; }
  __device__ Part part(int64_t, T x, T y) const { return to_compute(x) * to_compute(y); }
  __device__ Part combine(Part a, Part b) const { return a + b; }
  __device__ Compute<T> finish(Part a) const { return a; }
};

template <class T>
struct Asum {
  using Part = Compute<T>;
  __device__ Part none() const { return 0; }
  __device__ Part part(int64_t, T x, T) const { return fabs(to_compute(x)); }
  __device__ Part combine(Part a, Part b) const { return a + b; }
  __device__ Compute<T> finish(Part a) const { return a; }
};

// Squares of f32 neither overflow nor vanish in f64.
template <class T>
struct Nrm2 {
  using Part = double;
  __device__ Part none() const { return 0; }
  __device__ Part part(int64_t, T x, T) const {
    const double value = to_compute(x);
    return value * value;
  }
  __device__ Part combine(Part a, Part b) const { return a + b; }
  __device__ float finish(Part a) const { return float(sqrt(a)); }
};

// Squares of f64 may do both: large, middle and small elements are summed apart, the large and
// small ones scaled by a power of two. NaN is a middle one.
template <>
struct Nrm2<double> {
  struct Part {
    double large, middle, small;
  };
  static constexpr double kLarge = 0x1p+486, kSmall = 0x1p-511;
  static constexpr double kShrink = 0x1p-538, kGrow = 0x1p+537;
  __device__ Part none() const { return {0, 0, 0}; }
  __device__ Part part(int64_t, double x, double) const {
    const double size = fabs(x);
    if (size > kLarge) return {(size * kShrink) * (size * kShrink), 0, 0};
    if (size < kSmall) return {0, 0, (size * kGrow) * (size * kGrow)};
    return {0, size * size, 0};
  }
  __device__ Part combine(Part a, Part b) const {
    return {a.large + b.large, a.middle + b.middle, a.small + b.small};
  }
  __device__ double finish(Part a) const {
    if (isnan(a.middle)) return a.middle;
    if (a.large > 0) return sqrt(a.large + (a.middle * kShrink) * kShrink) / kShrink;
    if (a.middle > 0) return sqrt(a.middle + (a.small / kGrow) / kGrow);
    return sqrt(a.small) / kGrow;
  }
};

// The first index with the greatest (kSign = 1) or smallest (kSign = -1) size. NaN counts for
// nothing.
template <class T, int kSign>
struct Extreme {
  struct Part {
    Compute<T> size;
    int64_t index;  // from 0; -1: none yet
  };
  __device__ Part none() const { return {0, -1}; }
  __device__ Part part(int64_t i, T x, T) const {
    const Compute<T> size = fabs(to_compute(x));
    return isnan(size) ? none() : Part{size, i};
  }
  __device__ Part combine(Part a, Part b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (a.size == b.size) return a.index < b.index ? a : b;
    return (a.size > b.size) == (kSign > 0) ? a : b;
  }
  __device__ int64_t finish(Part a) const { return a.index < 0 ? 1 : a.index + 1; }
};

template <class Op, class T>
__global__ void fold_elements(Op op, int64_t n, const T* x, int64_t x_step, const T* y,
                              int64_t y_step, typename Op::Part* parts) {
  __shared__ typename Op::Part shared[kThreads];
  auto mine = op.none();
  for (int64_t i = first_index(); i < n; i += index_step())
    mine = op.combine(mine, op.part(i, x[i * x_step], y ? y[i * y_step] : T()));
  shared[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      shared[threadIdx.x] = op.combine(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

template <class Op, class Result>
__global__ void fold_parts(Op op, int count, const typename Op::Part* parts, Result* result) {
  auto all = op.none();
  for (int i = 0; i < count; ++i) all = op.combine(all, parts[i]);
  *result = Result(op.finish(all));
}

template <class Op, class T, class Result>
Status fold(Op op, int64_t n, const Vector& x, const Vector& y, Result* result, void* parts,
            cudaStream_t stream) {
  using Part = typename Op::Part;
  static_assert(kMostParts * sizeof(Part) <= kPartsBytes);
  constexpr int64_t kPerBlock = kThreads * 16;
  const auto blocks = unsigned(std::clamp<int64_t>((n + kPerBlock - 1) / kPerBlock, 1, kMostParts));
  const Status folded =
      launch(fold_elements<Op, T>, blocks, kThreads, stream, op, n, static_cast<const T*>(x.data),
             x.step, static_cast<const T*>(y.data), y.step, static_cast<Part*>(parts));
  if (!folded) return folded;
  return launch(fold_parts<Op, Result>, 1, 1, stream, op, int(blocks),
                static_cast<const Part*>(parts), result);
}

Status reduce(Reduction reduction, int64_t n, const Vector& x, const Vector& y, void* result,
              Dtype result_type, void* parts, cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) -> Status {
    const auto to_number = [&](auto op) {
      return fold<decltype(op), T>(op, n, x, y, static_cast<T*>(result), parts, stream);
    };
    const auto to_index = [&](auto op) {
      return result_type == Dtype::i64
                 ? fold<decltype(op), T>(op, n, x, y, static_cast<int64_t*>(result), parts, stream)
                 : fold<decltype(op), T>(op, n, x, y, static_cast<int32_t*>(result), parts, stream);
    };
    switch (reduction) {
      case Reduction::dot: return to_number(Dot<T>());
      case Reduction::asum: return to_number(Asum<T>());
      case Reduction::nrm2: return to_number(Nrm2<T>());
      case Reduction::iamax: return to_index(Extreme<T, 1>());
      default: return to_index(Extreme<T, -1>());
    }
  });
}

}  // namespace ridge::cublas
