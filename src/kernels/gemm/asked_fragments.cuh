// Epilogues for sums that lie in registers as mma and wgmma leave them: of every 8 columns a lane
// has two, 2 (lane % 4) and the one behind it, in rows lane / 4 and lane / 4 + 8. So both values of
// a pair are in one lane.
#pragma once

#include "kernels/gemm/asked.cuh"

namespace ridge::gemm {

template <class V>
struct alignas(2 * sizeof(V)) Two {
  V at[2];
};

// Where N values of a lane belong: 2 N columns of 16 rows of the product. What vectors have outside
// of it is 0.
template <int N>
class LanePlaces {
 public:
  static constexpr int kRows = 16, kCols = 2 * N;

  // The first row and column of the whole warp. Both are below 2^31 where the product has elements.
  __device__ __forceinline__ LanePlaces(const Args& args, int64_t row, int64_t col)
      : lane_(int(threadIdx.x) % 32),
        row_(int(row)),
        col_(int(col)),
        rows_(int(args.m)),
        cols_(int(args.n)) {}

  __device__ __forceinline__ int row(int i) const { return row_ + lane_ / 4 + i / 2 % 2 * 8; }
  __device__ __forceinline__ int col(int i) const {
    return col_ + i / 4 * 8 + lane_ % 4 * 2 + i % 2;
  }
  __device__ __forceinline__ bool has(int i) const { return row(i) < rows_ && col(i) < cols_; }
  __device__ __forceinline__ bool are_inside() const {  // those of all lanes
    return row_ + kRows <= rows_ && col_ + kCols <= cols_;
  }

  __device__ __forceinline__ auto rows(const float* vector) const {
    const float first = row(0) < rows_ ? vector[row(0)] : 0;
    const float second = row(2) < rows_ ? vector[row(2)] : 0;
    return [=](int i) { return i / 2 % 2 == 0 ? first : second; };
  }

  // A warp loads the elements one after another, two per lane, and hands them to the lanes that
  // have their columns.
  template <class V>
  struct Columns {
    Two<V> at[N / 4];
    __device__ __forceinline__ float operator()(int i) const {
      return to_float(at[i / 4].at[i % 2]);
    }
  };
  template <class V>
  __device__ __forceinline__ Columns<V> columns(const V* vector) const {
    constexpr int kPerLoad = 64;
    Columns<V> found;
#pragma unroll
    for (int first = 0; first < kCols; first += kPerLoad) {
      const int col = col_ + first + 2 * lane_;
      const Two<V> mine = {col < cols_ ? vector[col] : V(0.0f),
                           col + 1 < cols_ ? vector[col + 1] : V(0.0f)};
#pragma unroll
      for (int i = first / 8; i < min(N / 4, (first + kPerLoad) / 8); ++i)
        found.at[i] = from_lane(mine, i % (kPerLoad / 8) * 4 + lane_ % 4);
    }
    return found;
  }

 private:
  template <class V>
  static __device__ __forceinline__ Two<V> from_lane(const Two<V>& mine, int lane) {
    constexpr unsigned kAllLanes = 0xffffffff;
    if constexpr (sizeof(V) == 4) {
      return {__shfl_sync(kAllLanes, mine.at[0], lane), __shfl_sync(kAllLanes, mine.at[1], lane)};
    } else {
      const uint32_t word = __shfl_sync(kAllLanes, *reinterpret_cast<const uint32_t*>(&mine), lane);
      return *reinterpret_cast<const Two<V>*>(&word);
    }
  }

  int lane_, row_, col_, rows_, cols_;
};

// Adds beta c.
template <class V, int N>
__device__ __forceinline__ void add_c(const Args& args, int64_t batch, const LanePlaces<N>& places,
                                      float (&values)[N]) {
  const auto c = matrix<V>(args.c, args.m, args.n, batch);
  if (c.col_step == 1 && places.are_inside() && c.row_step % 2 == 0 &&
      reinterpret_cast<uintptr_t>(c.data) % sizeof(Two<V>) == 0) {
    Two<V> found[N / 2];  // all loads are under way before the first is waited for
#pragma unroll
    for (int i = 0; i < N; i += 2)
      found[i / 2] = *reinterpret_cast<const Two<V>*>(c.at(places.row(i), places.col(i)));
    change_each(values,
                [&](float x, int i) { return x + args.beta * to_float(found[i / 2].at[i % 2]); });
  } else {
    change_each(values, [&](float x, int i) {
      return places.has(i) ? x + args.beta * to_float(*c.at(places.row(i), places.col(i))) : x;
    });
  }
}

// Raises amax of a lane's two rows.
template <class T, int N>
__device__ __forceinline__ void raise_amax(const Args& args, int64_t batch, bool is_wide,
                                           const LanePlaces<N>& places, const float (&values)[N]) {
  const Epilogue& asked = args.epilogue;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t most = 0;
#pragma unroll
    for (int i = 2 * half; i < N; i += 4) {
      if (places.has(i)) most = max(most, epilogues::magnitude_bits(values[i]));
      if (!asked.swiglu && places.has(i + 1))  // of a pair, the first one is the result
        most = max(most, epilogues::magnitude_bits(values[i + 1]));
    }
    // Rounding keeps the order, so the largest one is rounded instead of each.
    if (!is_wide) most = epilogues::magnitude_bits(to_float(from_float<T>(__uint_as_float(most))));
#pragma unroll
    for (int lane = 1; lane < 4; lane *= 2)
      most = max(most, __shfl_xor_sync(0xffffffff, most, lane));
    const int row = places.row(2 * half);
    if (threadIdx.x % 4 == 0 && row < args.m)
      epilogues::raise(asked.amax + batch * asked.amax_step + row, most);
  }
}

// From sums to results, in the registers where they are; all lanes of a warp take part. T is the
// format of d; where d may also be f32, as `is_wide` says, it is the other format. Of a pair, the
// first one becomes the result.
template <class T, int N>
__device__ __forceinline__ void finish(const Args& args, int64_t batch, bool is_wide,
                                       const LanePlaces<N>& places, float (&values)[N]) {
  change_each(values, [&](float x, int) { return args.alpha * x; });
  apply_before_c<T>(args.epilogue, batch, is_wide, places, values);
  if (args.beta != 0) {
    if (is_wide) add_c<float>(args, batch, places, values);
    else add_c<T>(args, batch, places, values);
  }
  if (args.epilogue.amax) raise_amax<T>(args, batch, is_wide, places, values);
}

// The same, and stores them, each lane its own.
template <class T, int N>
__device__ __forceinline__ void put_asked(const Args& args, int64_t batch, int64_t row, int64_t col,
                                          float (&values)[N]) {
  const LanePlaces<N> places(args, row, col);
  finish<T>(args, batch, sizeof(T) == 4, places, values);
  T* const d = static_cast<T*>(args.d) + batch * args.d_batch_step;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (!places.has(i) || (args.epilogue.swiglu && i % 2 == 1)) continue;
    const int at_col = args.epilogue.swiglu ? places.col(i) / 2 : places.col(i);
    d[places.row(i) * args.d_step + at_col] = from_float<T>(values[i]);
  }
}

}  // namespace ridge::gemm
