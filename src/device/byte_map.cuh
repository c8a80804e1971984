// out = f(in) bit by bit, for rows of bytes: copies, and what flips or masks bits.
//
// One pack per thread, at the output's 16-byte boundaries. Where input and output are not at the
// same place modulo 16 bytes, a pack is shifted together from two loads, so that stores are whole
// whatever the widths, strides and pointers are.
#pragma once

#include <algorithm>

#include "device/divide.cuh"
#include "device/shifted.cuh"
#include "ladder/rung.h"

namespace ridge {

struct ByteMap {
  const void* in;
  void* out;
  int64_t in_pitch, out_pitch;  // bytes from row to row
  int64_t rows, row_bytes;
};

namespace byte_map {

constexpr int kThreads = 256;

template <class T, class F>
__device__ __forceinline__ void map_pack(const T* from, T* to, const F& f) {
  const uint4 x = *reinterpret_cast<const uint4*>(from);
  *reinterpret_cast<uint4*>(to) = make_uint4(f(x.x), f(x.y), f(x.z), f(x.w));
}
template <class T, class F>
__device__ __forceinline__ void map_shifted_pack(const T* from, T* to, const F& f,
                                                 const void* begin, const void* end) {
  PackRequest<T> request;
  request.ask(from, begin, end);
  const uint4 x = request.take();
  *reinterpret_cast<uint4*>(to) = make_uint4(f(x.x), f(x.y), f(x.z), f(x.w));
}

// One row: packs, then, behind the last of them, the single elements of its ends.
template <class T, class F, bool Congruent>
__global__ void __launch_bounds__(kThreads)
    flat(const T* in, T* out, F f, int64_t packs, int head, int tail) {
  const int64_t p = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (p < packs) {
    const int64_t at = head + p * kPackSize<T>;
    if (Congruent) map_pack(in + at, out + at, f);
    else map_shifted_pack(in + at, out + at, f, in, in + head + packs * kPackSize<T> + tail);
  } else if (p < packs + head + tail) {
    const int64_t single = p - packs;
    const int64_t at = single < head ? single : packs * kPackSize<T> + single;
    out[at] = T(f(uint32_t(in[at])));
  }
}

// Several rows: a row's slots are the elements before the output's first boundary, the packs, and
// what is left.
template <class T, class F, bool Congruent>
__global__ void __launch_bounds__(kThreads) rows(ByteMap m, F f, Divider slots) {
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = slots.quotient(index), slot = index - row * slots.divisor();
  if (row >= m.rows) return;
  const T* in = reinterpret_cast<const T*>(static_cast<const char*>(m.in) + row * m.in_pitch);
  T* out = reinterpret_cast<T*>(static_cast<char*>(m.out) + row * m.out_pitch);
  const int64_t elements = m.row_bytes / int64_t(sizeof(T));
  const int64_t head = min(int64_t(elements_to_alignment(out)), elements);
  const int64_t at = slot == 0 ? 0 : head + (slot - 1) * kPackSize<T>;
  const int64_t end = slot == 0 ? head : min(at + kPackSize<T>, elements);
  if (slot != 0 && end - at == kPackSize<T>) {
    const char* begin = static_cast<const char*>(m.in);
    if (Congruent) map_pack(in + at, out + at, f);
    else
      map_shifted_pack(in + at, out + at, f, begin,
                       begin + (m.rows - 1) * m.in_pitch + m.row_bytes);
  } else {
    for (int64_t i = at; i < end; ++i) out[i] = T(f(uint32_t(in[i])));
  }
}

}  // namespace byte_map

// T: the elements, so that rows hold a whole number of them. F turns 32 bits into 32 bits, each on
// its own. The caller has seen to it that there is something to do.
template <class T, class F>
Status launch_byte_map(const ByteMap& m, const F& f, cudaStream_t stream) {
  using namespace byte_map;
  const auto blocks = [](int64_t threads) { return unsigned((threads + kThreads - 1) / kThreads); };
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  const bool alike = phase(m.in) == phase(m.out);
  if (m.rows == 1 || (m.in_pitch == m.row_bytes && m.out_pitch == m.row_bytes)) {
    const T* in = static_cast<const T*>(m.in);
    T* out = static_cast<T*>(m.out);
    const int64_t elements = m.rows * m.row_bytes / int64_t(sizeof(T));
    const int head = int(std::min(int64_t(elements_to_alignment(out)), elements));
    const int64_t packs = (elements - head) / kPackSize<T>;
    const int tail = int(elements - head - packs * kPackSize<T>);
    const auto kernel = alike ? flat<T, F, true> : flat<T, F, false>;
    kernel<<<blocks(packs + head + tail), kThreads, 0, stream>>>(in, out, f, packs, head, tail);
    return launch_status();
  }
  const int64_t slots_per_row = m.row_bytes / kPackBytes + 2;
  const unsigned count = blocks(m.rows * slots_per_row);
  const auto kernel =
      alike && (m.in_pitch - m.out_pitch) % kPackBytes == 0 ? rows<T, F, true> : rows<T, F, false>;
  kernel<<<count, kThreads, 0, stream>>>(m, f, Divider(slots_per_row, int64_t(count) * kThreads));
  return launch_status();
}

}  // namespace ridge
