// The backward pass in one read: groups of threads hold x and dy of a row, and keep the column sums
// of all the rows that they have seen in registers. A thread has the same columns in every row, so
// slots begin at column 0, whatever the address.
#pragma once

#include "device/row_norm.cuh"
#include "kernels/layer_norm/column_sums.cuh"
#include "ridge/detail/ptx/prefetch.cuh"

namespace ridge::layer_norm {

constexpr int kBackwardThreads = 256, kBackwardMost = 512;  // of a block: of several rows, of one
// Packs of each tensor: their columns' sums take registers, too, two per column.
template <class T>
constexpr int kBackwardPacks = sizeof(T) == 4 ? 4 : 2;
template <class T>
constexpr int kBackwardDeep = sizeof(T) == 4 ? 4 : 3;  // one block per SM

struct BackwardPlan {
  int lanes;  // of a row; none: too wide
  int packs, threads;
  int64_t blocks;

  BackwardPlan(int64_t slots, int64_t rows, bool is_f32, const DeviceInfo& device) {
    const int most = is_f32 ? 4 : 2, deep = is_f32 ? 4 : 3;
    const auto lanes_for = [&](int of) {
      return int((slots + of * kWarpSize - 1) / (of * kWarpSize)) * kWarpSize;
    };
    lanes = kWarpSize;
    packs = slots <= kWarpSize ? 1 : 2;
    while (lanes > 4 && slots <= lanes / 2) lanes /= 2;
    if (slots > 2 * kWarpSize) {
      packs = lanes_for(most) <= kBackwardMost ? most : deep;
      lanes = lanes_for(packs);
    }
    if (lanes > kBackwardMost) lanes = 0;
    threads = lanes == 0 ? 0 : lanes > kBackwardThreads ? lanes : kBackwardThreads / lanes * lanes;
    const int per_sm = threads > kBackwardThreads ? 1 : 2;  // up to 128 registers per thread
    const int64_t groups = lanes == 0 ? 1 : threads / lanes;
    blocks =
        std::clamp<int64_t>((rows + groups - 1) / groups, 1, int64_t(device.sm_count) * per_sm);
  }
};

// The sum of `mine` over the groups of a block, for one of a thread's columns each; `to` is this
// block's partial sums.
template <int Columns>
__device__ __forceinline__ void add_groups(float (&mine)[Columns], float* shared, int lanes,
                                           int size, float* to, int cols) {
  for (int distance = lanes; distance < kWarpSize; distance *= 2)
#pragma unroll
    for (int i = 0; i < Columns; ++i) mine[i] += __shfl_xor_sync(kAllLanes, mine[i], distance);
  const int width = max(lanes, kWarpSize);  // threads that have a copy of a row's columns
  const int groups = int(blockDim.x) / width;
  const int group = int(threadIdx.x) / width, first = int(threadIdx.x) % width;
  const auto column = [&](int i, int f) { return (f + i / size * lanes) * size + i % size; };
  if (groups == 1) {
    if (first >= lanes) return;
#pragma unroll
    for (int i = 0; i < Columns; ++i)
      if (column(i, first) < cols) to[column(i, first)] = mine[i];
    return;
  }
  __syncthreads();  // the memory may still be read
#pragma unroll
  for (int i = 0; i < Columns; ++i) shared[(group * Columns + i) * width + first] = mine[i];
  __syncthreads();
  for (int at = threadIdx.x; at < Columns * width; at += int(blockDim.x)) {
    const int i = at / width, f = at % width;
    if (f >= lanes || column(i, f) >= cols) continue;
    float sum = 0;
    for (int g = 0; g < groups; ++g) sum += shared[(g * Columns + i) * width + f];
    to[column(i, f)] = sum;
  }
}

// `lanes` threads per row; a block takes blockDim / lanes rows at once, and strides over the grid.
template <class T, int Packs>
__global__ void __launch_bounds__(kBackwardMost, Packs == kBackwardDeep<T> ? 1 : 0)
    layer_norm_backward_held(Args a, Partials partials, int lanes) {
  constexpr int kSize = kPackSize<T>, kColumns = Packs * kSize;
  constexpr bool kAhead = sizeof(T) == 2 && Packs <= 2;  // else its registers spill
  __shared__ float2 of_warps[2][kBackwardMost / kWarpSize];
  __shared__ float of_groups[kBackwardThreads * kColumns];
  const int cols = int(a.cols), groups = int(blockDim.x) / lanes;
  const int group = int(threadIdx.x) / lanes, first = int(threadIdx.x) % lanes;
  const int warps = lanes / kWarpSize, lane = int(threadIdx.x) % kWarpSize;  // no warps: a part
  const RowSlots<T> slots(nullptr, cols);
  Pack<T> gamma[Packs];
  if (a.gamma) load_row(gamma, static_cast<const T*>(a.gamma), slots, first, lanes, T(0.0f));
  float dgamma[kColumns] = {}, dbeta[kColumns] = {};
  int turn = 0;
  const int64_t step = int64_t(gridDim.x) * groups;
  Pack<T> x[Packs] = {}, dy[Packs] = {};
  const auto load = [&](const Gradients<T>& of, Pack<T>(&to_x)[Packs], Pack<T>(&to_dy)[Packs]) {
    load_row(to_x, of.x, slots, first, lanes, T(0.0f));
    load_row(to_dy, of.dy, slots, first, lanes, T(0.0f));
  };
  // Groups past the end only take part in the shuffles.
  const auto is_there = [&](int64_t base) { return base + group < a.rows; };
  const auto row_at = [&](int64_t base) {
    return Gradients<T>(a, is_there(base) ? base + group : 0);
  };
  const int64_t begin = int64_t(blockIdx.x) * groups;
  float mean = 0, rstd = 0;
  if (begin < a.rows) {
    const Gradients<T> row = row_at(begin);
    mean = row.mean, rstd = row.rstd;
    if (kAhead && is_there(begin)) load(row, x, dy);
  }
  for (int64_t base = begin; base < a.rows; base += step, turn ^= 1) {
    const bool is_row = is_there(base);
    Gradients<T> row = row_at(base);
    row.mean = mean, row.rstd = rstd;  // were loaded with the row
    if (!kAhead && is_row) load(row, x, dy);
    const auto of_pack = [&](int p, float(&of_dy)[kSize], float(&g)[kSize], float(&n)[kSize]) {
      to_floats(held::seen_anew(x[p]), n);
      to_floats(held::seen_anew(dy[p]), of_dy);
      if (a.gamma) to_floats(gamma[p], g);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        n[i] = (n[i] - row.mean) * row.rstd;
        g[i] = a.gamma ? of_dy[i] * g[i] : of_dy[i];
      }
    };
    float of_dy[kSize], g[kSize], n[kSize], sum = 0, product = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      of_pack(p, of_dy, g, n);  // outside of the row, dy is 0
      sum += row_norm::sum_of(g);
#pragma unroll
      for (int i = 0; i < kSize; ++i) g[i] *= n[i];
      product += row_norm::sum_of(g);
    }
    // The next row is under way while this one is reduced and stored.
    Pack<T> next_x[Packs] = {}, next_dy[Packs] = {};
    const bool is_next = is_there(base + step);
    const Gradients<T> next = row_at(is_next ? base + step : base);
    if (kAhead && is_next) load(next, next_x, next_dy);

    sum = lanes_sum(sum, lanes);
    product = lanes_sum(product, lanes);
    if (warps > 1) {
      if (lane == 0) of_warps[turn][threadIdx.x / kWarpSize] = {sum, product};
      __syncthreads();  // once per row: the next one has the other half of the memory
      const float2 one = lane < warps ? of_warps[turn][group * warps + lane] : float2{0, 0};
      sum = lanes_sum(one.x, kWarpSize);
      product = lanes_sum(one.y, kWarpSize);
    }
    const float mean_g = a.centred ? sum / float(cols) : 0, mean_gn = product / float(cols);
    const RowBeside<T> dsum(row.dsum, slots);
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const int slot = first + p * lanes;
      if (!is_row || slot >= slots.slots) continue;
      of_pack(p, of_dy, g, n);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        dgamma[p * kSize + i] += of_dy[i] * n[i];
        dbeta[p * kSize + i] += of_dy[i];
        g[i] = row.rstd * (g[i] - mean_g - n[i] * mean_gn);
      }
      if (row.dsum) {
        to_floats(dsum.load(slots, slot), n);
#pragma unroll
        for (int i = 0; i < kSize; ++i) g[i] += n[i];
      }
      store_beside(row.dx, slots, slot, from_floats<T>(g));
    }
    mean = next.mean, rstd = next.rstd;
    if constexpr (kAhead) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) {
        x[p] = next_x[p];
        dy[p] = next_dy[p];
      }
    }
  }
  const int64_t at = int64_t(blockIdx.x) * cols;
  add_groups(dgamma, of_groups, lanes, kSize, partials.dgamma + at, cols);
  if (a.dbeta) add_groups(dbeta, of_groups, lanes, kSize, partials.dbeta + at, cols);
}

// Calls f(T(), std::integral_constant<int, packs>()).
template <class F>
auto with_backward_packs(Dtype dtype, int packs, F f) {
  return with_float_type(dtype, [&](auto t) {
    constexpr int kDeep = kBackwardDeep<decltype(t)>;
    if (packs == 1) return f(t, std::integral_constant<int, 1>());
    if (packs == 2) return f(t, std::integral_constant<int, 2>());
    return f(t, std::integral_constant<int, kDeep>());
  });
}

}  // namespace ridge::layer_norm
