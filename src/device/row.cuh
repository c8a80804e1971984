// A row of any width at any address, cut into packs for the threads that share it.
//
// Slots are the 16-byte pieces between the boundaries of the *output*; slot 0 and the last may be
// partly outside the row. Thread `first` takes slots first, first + lanes, first + 2 lanes …. All
// loads of full slots come before anything else, in a loop without other branches, so that they are
// under way together; what is at the edges is loaded element by element.
#pragma once

#include "device/from_detail.cuh"

namespace ridge {

// Slots first … first + count - 1.
struct SlotRange {
  int first;
  unsigned count;
  __device__ __forceinline__ bool has(int slot) const { return unsigned(slot - first) < count; }
};

template <class T>
struct RowSlots {
  int before;  // elements of slot 0 in front of the row
  int cols;
  int slots;

  __device__ __forceinline__ RowSlots(const T* out, int cols)
      : before(int(reinterpret_cast<uintptr_t>(out) % kPackBytes / sizeof(T))),
        cols(cols),
        slots((before + cols + kPackSize<T> - 1) / kPackSize<T>) {}
  __device__ __forceinline__ int begin(int slot) const { return slot * kPackSize<T> - before; }
  __device__ __forceinline__ int last() const { return slots - 1; }
  // The slots that have all their elements inside the row, and `margin` (0 or 1) more slots on
  // either side.
  __device__ __forceinline__ SlotRange full(int margin) const {
    const int first = before + margin > 0;
    return {first, unsigned(max((before + cols - margin) / kPackSize<T> - first, 0))};
  }
};

// The most slots that any row can have.
inline int64_t most_slots(const void* out, int64_t rows, int64_t cols, int64_t out_stride,
                          int64_t element_bytes) {
  const int64_t pitch = rows > 1 ? out_stride * element_bytes % kPackBytes : 0;
  const int64_t before =
      pitch ? kPackBytes - element_bytes : int64_t(reinterpret_cast<uintptr_t>(out) % kPackBytes);
  return (before + cols * element_bytes + kPackBytes - 1) / kPackBytes;
}

namespace row {

template <class T>
__device__ __forceinline__ Pack<T> filled_with(T value) {
  Pack<T> pack;
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) pack[i] = value;
  return pack;
}

template <class T>
__device__ __forceinline__ Pack<T> load_edge(const T* row, const RowSlots<T>& s, int slot, T fill) {
  Pack<T> pack = filled_with(fill);
  const int begin = s.begin(slot);
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i)
    if (begin + i >= 0 && begin + i < s.cols) pack[i] = row[begin + i];
  return pack;
}

template <class T>
__device__ __forceinline__ void store_edge(T* row, const RowSlots<T>& s, int slot,
                                           const Pack<T>& pack) {
  const int begin = s.begin(slot);
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i)
    if (begin + i >= 0 && begin + i < s.cols) row[begin + i] = pack[i];
}

}  // namespace row

// What is outside the row becomes `fill`.
template <class T, int Packs>
__device__ __forceinline__ void load_row(Pack<T> (&packs)[Packs], const T* row,
                                         const RowSlots<T>& s, int first, int lanes, T fill) {
  const T* const start = row + s.begin(first);
  const int64_t step = int64_t(lanes) * kPackSize<T>;
  const bool aligned = is_pack_aligned(start);
  const SlotRange full = s.full(aligned ? 0 : 1);  // others look past the pack they load
#pragma unroll
  for (int p = 0; p < Packs; ++p) packs[p] = row::filled_with(fill);
  if (aligned) {
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (full.has(first + p * lanes)) packs[p] = load_pack(start + p * step);
  } else {
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (full.has(first + p * lanes)) packs[p] = load_pack_anywhere(start + p * step);
  }
  if (first == 0 && !full.has(0)) packs[0] = row::load_edge(row, s, 0, fill);
  const int last = s.last();
  if (last == 0 || full.has(last)) return;
  bool has_last = false;
#pragma unroll
  for (int p = 0; p < Packs; ++p) has_last |= first + p * lanes == last;
  if (has_last) {
    const Pack<T> edge = row::load_edge(row, s, last, fill);
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (first + p * lanes == last) packs[p] = edge;
  }
}

// A second row with the same columns, such as weights, wherever it lies: one slot at a time.
template <class T>
struct RowBeside {
  const T* row;
  bool aligned;
  SlotRange full;

  __device__ __forceinline__ RowBeside(const T* row, const RowSlots<T>& s)
      : row(row), aligned(is_pack_aligned(row + s.begin(0))), full(s.full(aligned ? 0 : 1)) {}
  // What is outside the row becomes 0.
  __device__ __forceinline__ Pack<T> load(const RowSlots<T>& s, int slot) const {
    if (!full.has(slot)) return row::load_edge(row, s, slot, T(0.0f));
    const T* const at = row + s.begin(slot);
    return aligned ? load_pack(at) : load_pack_anywhere(at);
  }
};
// The same for an output.
template <class T>
__device__ __forceinline__ void store_beside(T* row, const RowSlots<T>& s, int slot,
                                             const Pack<T>& pack) {
  T* const at = row + s.begin(slot);
  if (s.full(0).has(slot) && is_pack_aligned(at)) store_pack(at, pack);
  else row::store_edge(row, s, slot, pack);
}

// result(p) is what goes to slot first + p * lanes; it is called for slots of the row only.
template <class T, int Packs, class F>
__device__ __forceinline__ void store_row(T* row, const RowSlots<T>& s, int first, int lanes,
                                          F result) {
  T* const start = row + s.begin(first);
  const int64_t step = int64_t(lanes) * kPackSize<T>;
  const SlotRange full = s.full(0);
  Pack<T> head, tail;
  bool has_head = false, has_tail = false;
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    const int slot = first + p * lanes;
    if (slot >= s.slots) continue;
    const Pack<T> pack = result(p);
    if (full.has(slot)) {
      store_pack(start + p * step, pack);
    } else if (slot == 0) {
      head = pack;
      has_head = true;
    } else {
      tail = pack;
      has_tail = true;
    }
  }
  if (has_head) row::store_edge(row, s, 0, head);
  if (has_tail) row::store_edge(row, s, s.last(), tail);
}

}  // namespace ridge
