// out[k](r, c) = f(in[0](r, c), …): the skeleton of every elementwise top rung.
//
// A row is cut into slots: the elements before the output's first 16-byte boundary, then packs,
// then what is left. Every slot is one thread's, so odd widths, odd strides and misaligned pointers
// take the same kernel; only the threads at the edges work element by element.
//
// f is called as f(x, y, index), with float x[In], y[Out] of one element and its place among
// rows * cols. An f that has something to share between neighbours also has
// f.many(x, y, index), with x[In][N], y[Out][N] of N elements that follow each other.
#pragma once

#include <algorithm>

#include "device/convert.cuh"
#include "device/convert_pack.cuh"
#include "device/divide.cuh"
#include "device/from_detail.cuh"
#include "ladder/rung.h"

namespace ridge {

// Element (r, c) of a tensor lies at r * stride + c * step.
template <int In, int Out>
struct Map {
  const void* in[In];
  void* out[Out];
  int64_t in_stride[In], out_stride[Out];
  int64_t in_step[In], out_step[Out];
  int64_t rows, cols;
};

namespace map {

constexpr int kThreads = 256;

template <class T, int In, int Out, class F>
__device__ __forceinline__ void one(const Map<In, Out>& m, const F& f, int64_t r, int64_t c,
                                    int head = 0) {
  float x[In], y[Out];
#pragma unroll
  for (int k = 0; k < In; ++k)
    x[k] = to_float(static_cast<const T*>(m.in[k])[r * m.in_stride[k] + c * m.in_step[k]]);
  f(x, y, r * m.cols + c + head);
#pragma unroll
  for (int k = 0; k < Out; ++k)
    static_cast<T*>(m.out[k])[r * m.out_stride[k] + c * m.out_step[k]] = from_float<T>(y[k]);
}

template <int N, int In, int Out, class F>
__device__ __forceinline__ void apply(const F& f, const float (&x)[In][N], float (&y)[Out][N],
                                      int64_t index) {
  if constexpr (requires { f.many(x, y, index); }) {
    f.many(x, y, index);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      float a[In], b[Out];
#pragma unroll
      for (int k = 0; k < In; ++k) a[k] = x[k][i];
      f(a, b, index + i);
#pragma unroll
      for (int k = 0; k < Out; ++k) y[k][i] = b[k];
    }
  }
}

// One row, and all tensors at a 16-byte boundary after `head` elements: the case for which every
// instruction counts. m's pointers are past the head. A thread's slots are packs, then, behind the
// last of them, the single elements of head and tail.
template <class T, int In, int Out, class F, int Unroll>
__global__ void __launch_bounds__(kThreads)
    flat(Map<In, Out> m, F f, int64_t packs, int head, int singles) {
  constexpr int kSize = kPackSize<T>;
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Unroll) + threadIdx.x;
  Pack<T> x[Unroll][In];
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    const int64_t p = first + u * kThreads;
    if (p >= packs) continue;
#pragma unroll
    for (int k = 0; k < In; ++k) x[u][k] = load_pack(static_cast<const T*>(m.in[k]) + p * kSize);
  }
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    const int64_t p = first + u * kThreads;
    if (p < packs) {
      float a[In][kSize], b[Out][kSize];
#pragma unroll
      for (int k = 0; k < In; ++k) to_floats(x[u][k], a[k]);
      apply(f, a, b, head + p * kSize);
#pragma unroll
      for (int k = 0; k < Out; ++k)
        store_pack(static_cast<T*>(m.out[k]) + p * kSize, from_floats<T>(b[k]));
    } else if (p < packs + singles) {
      const int64_t e = p - packs;
      one<T, In, Out>(m, f, 0, e < head ? e - head : packs * kSize + e - head, head);
    }
  }
}

// Congruent: at every full slot all tensors are at a 16-byte boundary.
template <class T, int In, int Out, class F, int Unroll, bool Congruent>
__global__ void __launch_bounds__(kThreads) packs(Map<In, Out> m, F f, Divider slots) {
  constexpr int kSize = kPackSize<T>;
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Unroll) + threadIdx.x;
  Pack<T> x[Unroll][In];
  int64_t row[Unroll], begin[Unroll];  // of the slot; it is full where `full`
  bool full[Unroll];

#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    const int64_t slot = first + u * kThreads;
    row[u] = slots.quotient(slot);
    const int64_t s = slot - row[u] * slots.divisor();
    full[u] = false;
    if (row[u] >= m.rows) continue;
    const T* out = static_cast<const T*>(m.out[0]) + row[u] * m.out_stride[0];
    const int head = elements_to_alignment(out);
    begin[u] = s == 0 ? -1 : head + (s - 1) * kSize;
    full[u] = s != 0 && begin[u] + kSize <= m.cols;
    if (!full[u]) continue;
#pragma unroll
    for (int k = 0; k < In; ++k) {
      const T* p = static_cast<const T*>(m.in[k]) + row[u] * m.in_stride[k] + begin[u];
      if (Congruent || is_pack_aligned(p)) {
        x[u][k] = load_pack(p);
      } else if (begin[u] > 0 && begin[u] + kSize < m.cols) {
        x[u][k] = load_pack_anywhere(p);
      } else {
#pragma unroll
        for (int i = 0; i < kSize; ++i) x[u][k][i] = p[i];
      }
    }
  }

#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    if (row[u] >= m.rows) continue;
    if (!full[u]) {
      const T* out = static_cast<const T*>(m.out[0]) + row[u] * m.out_stride[0];
      const int64_t head = min(int64_t(elements_to_alignment(out)), m.cols);
      const int64_t end = begin[u] < 0 ? head : m.cols;
      for (int64_t c = begin[u] < 0 ? 0 : begin[u]; c < end; ++c) one<T, In, Out>(m, f, row[u], c);
      continue;
    }
    float a[In][kSize], b[Out][kSize];
#pragma unroll
    for (int k = 0; k < In; ++k) to_floats(x[u][k], a[k]);
    apply(f, a, b, row[u] * m.cols + begin[u]);
#pragma unroll
    for (int k = 0; k < Out; ++k) {
      T* p = static_cast<T*>(m.out[k]) + row[u] * m.out_stride[k] + begin[u];
      const Pack<T> y = from_floats<T>(b[k]);
      if (Congruent || is_pack_aligned(p)) {
        store_pack(p, y);
      } else {
#pragma unroll
        for (int i = 0; i < kSize; ++i) p[i] = y[i];
      }
    }
  }
}

template <class T, int In, int Out, class F>
__global__ void __launch_bounds__(kThreads) strided(Map<In, Out> m, F f) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < m.rows * m.cols) one<T, In, Out>(m, f, i / m.cols, i % m.cols);
}

template <class T, int In, int Out>
bool congruent(const Map<In, Out>& m) {
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  const auto pitch = [&](int64_t stride) {
    return m.rows == 1 ? 0 : uint64_t(stride) * sizeof(T) % kPackBytes;
  };
  for (int k = 0; k < In; ++k)
    if (phase(m.in[k]) != phase(m.out[0]) || pitch(m.in_stride[k]) != pitch(m.out_stride[0]))
      return false;
  for (int k = 1; k < Out; ++k)
    if (phase(m.out[k]) != phase(m.out[0]) || pitch(m.out_stride[k]) != pitch(m.out_stride[0]))
      return false;
  return true;
}

}  // namespace map

// Rows that lie one after another are one row.
template <int In, int Out>
Map<In, Out> flattened(Map<In, Out> m) {
  bool contiguous = true;
  for (int k = 0; k < In; ++k) contiguous &= m.in_stride[k] == m.cols && m.in_step[k] == 1;
  for (int k = 0; k < Out; ++k) contiguous &= m.out_stride[k] == m.cols && m.out_step[k] == 1;
  if (contiguous) {
    m.cols *= m.rows;
    m.rows = 1;
  }
  return m;
}

// The caller has seen to it that there is something to do.
template <class T, int Unroll, int In, int Out, class F>
Status launch_map(Map<In, Out> m, const F& f, cudaStream_t stream) {
  m = flattened(m);
  bool unit_steps = true;
  for (int k = 0; k < In; ++k) unit_steps &= m.in_step[k] == 1;
  for (int k = 0; k < Out; ++k) unit_steps &= m.out_step[k] == 1;
  if (!unit_steps) {
    const int64_t blocks = (m.rows * m.cols + map::kThreads - 1) / map::kThreads;
    map::strided<T><<<unsigned(blocks), map::kThreads, 0, stream>>>(m, f);
    return launch_status();
  }
  const bool congruent = map::congruent<T>(m);
  if (congruent && m.rows == 1) {
    const int head =
        int(std::min<int64_t>(elements_to_alignment(static_cast<T*>(m.out[0])), m.cols));
    const int64_t packs = (m.cols - head) / kPackSize<T>;
    const int singles = int(m.cols - packs * kPackSize<T>);
    for (const void*& p : m.in) p = static_cast<const T*>(p) + head;
    for (void*& p : m.out) p = static_cast<T*>(p) + head;
    constexpr int64_t kBlock = int64_t(map::kThreads) * Unroll;
    map::flat<T, In, Out, F, Unroll>
        <<<unsigned((packs + singles + kBlock - 1) / kBlock), map::kThreads, 0, stream>>>(
            m, f, packs, head, singles);
    return launch_status();
  }
  const int64_t slots = m.cols / kPackSize<T> + 2;
  const int64_t a_block = int64_t(map::kThreads) * (congruent ? Unroll : 1);
  const int64_t blocks = (m.rows * slots + a_block - 1) / a_block;
  const Divider divider(slots, blocks * a_block);
  if (congruent)
    map::packs<T, In, Out, F, Unroll, true>
        <<<unsigned(blocks), map::kThreads, 0, stream>>>(m, f, divider);
  else
    map::packs<T, In, Out, F, 1, false>
        <<<unsigned(blocks), map::kThreads, 0, stream>>>(m, f, divider);
  return launch_status();
}

}  // namespace ridge
