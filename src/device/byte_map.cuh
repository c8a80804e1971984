// out = f(in) bit by bit, for rows of bytes: copies, and what flips or masks bits.
//
// A row is cut into slots: the elements before the output's first 16-byte boundary, then packs,
// then what is left. Every slot is one thread's, so odd widths, odd strides and misaligned pointers
// take the same kernel. Where input and output are not at the same place modulo 16 bytes, packs
// are shifted together from two loads.
#pragma once

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

// Slots in the order of rows. A thread's next slot is kThreads further: so many rows, so many
// slots. One division a thread, whatever it does after.
struct Walk {
  int64_t slots_per_row, slots;
  int64_t step_rows, step_slots;
};

template <class T, class F, int Unroll, bool Congruent>
__global__ void __launch_bounds__(kThreads) packs(ByteMap m, F f, Walk walk) {
  constexpr int kSize = kPackSize<T>;
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Unroll) + threadIdx.x;
  int64_t row = 0;
  if (m.rows > 1)
    row = walk.slots < INT32_MAX ? uint32_t(first) / uint32_t(walk.slots_per_row)
                                 : first / walk.slots_per_row;
  int64_t slot = first - row * walk.slots_per_row;

  const T* from[Unroll];
  T* to[Unroll];
  int edge[Unroll];  // elements, where the slot is no pack
  uint4 x[Unroll];
  PackRequest<T> request[Unroll];  // where not congruent
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    edge[u] = 0;
    from[u] = nullptr;
    if (row < m.rows && slot < walk.slots_per_row) {
      const T* in = reinterpret_cast<const T*>(static_cast<const char*>(m.in) + row * m.in_pitch);
      T* out = reinterpret_cast<T*>(static_cast<char*>(m.out) + row * m.out_pitch);
      const int64_t elements = m.row_bytes / int64_t(sizeof(T));
      const int64_t head = min(int64_t(elements_to_alignment(out)), elements);
      const int64_t at = slot == 0 ? 0 : head + (slot - 1) * kSize;
      from[u] = in + at;
      to[u] = out + at;
      const int64_t left = slot == 0 ? head : elements - at;
      if (slot == 0 || left < kSize) {
        edge[u] = left > 0 ? int(left) : 0;
        if (edge[u] == 0) from[u] = nullptr;
      } else if (Congruent) {
        x[u] = *reinterpret_cast<const uint4*>(from[u]);
      } else {
        const char* begin = static_cast<const char*>(m.in);
        request[u].ask(from[u], begin, begin + (m.rows - 1) * m.in_pitch + m.row_bytes);
      }
    }
    row += walk.step_rows;
    slot += walk.step_slots;
    if (slot >= walk.slots_per_row && m.rows > 1) {
      slot -= walk.slots_per_row;
      ++row;
    }
  }
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    if (from[u] == nullptr) continue;
    if (edge[u] == 0) {
      const uint4 bits = Congruent ? x[u] : request[u].take();
      *reinterpret_cast<uint4*>(to[u]) = make_uint4(f(bits.x), f(bits.y), f(bits.z), f(bits.w));
    } else {
      for (int i = 0; i < edge[u]; ++i) to[u][i] = T(f(uint32_t(from[u][i])));
    }
  }
}

}  // namespace byte_map

// T: the elements, so that rows hold a whole number of them. F turns 32 bits into 32 bits, each on
// its own. The caller has seen to it that there is something to do.
template <class T, int Unroll, class F>
Status launch_byte_map(ByteMap m, const F& f, cudaStream_t stream) {
  if (m.in_pitch == m.row_bytes && m.out_pitch == m.row_bytes) {
    m.row_bytes *= m.rows;
    m.rows = 1;
  }
  const int64_t slots_per_row = m.row_bytes / kPackBytes + 2, slots = m.rows * slots_per_row;
  byte_map::Walk walk = {slots_per_row, slots, byte_map::kThreads / slots_per_row,
                         byte_map::kThreads % slots_per_row};
  if (m.rows == 1) walk.step_rows = 0, walk.step_slots = byte_map::kThreads;
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  const bool congruent =
      phase(m.in) == phase(m.out) && (m.rows == 1 || (m.in_pitch - m.out_pitch) % kPackBytes == 0);
  const int64_t a_block = int64_t(byte_map::kThreads) * Unroll;
  const unsigned blocks = unsigned((slots + a_block - 1) / a_block);
  if (congruent)
    byte_map::packs<T, F, Unroll, true><<<blocks, byte_map::kThreads, 0, stream>>>(m, f, walk);
  else byte_map::packs<T, F, Unroll, false><<<blocks, byte_map::kThreads, 0, stream>>>(m, f, walk);
  return launch_status();
}

}  // namespace ridge
