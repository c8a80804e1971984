#include "vm/exec/tensor_copy.h"

#include <algorithm>
#include <cstring>

#include "vm/exec/tensor_rows.h"
#include "vm/mem/allocations.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kPiece = 16;      // bytes that a swizzle keeps together
constexpr uint32_t kMostRow = 2048;  // bytes: 256 elements of 8
constexpr uint32_t kLine = 128;      // bytes of shared memory in which a swizzle moves pieces

// Both tf32 types round what is loaded to nearest, ties to even; all NaNs become one.
uint32_t as_tf32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}
void round_to_tf32(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  for (uint32_t k = 0; k < bytes; k += 4) {
    uint32_t word;
    std::memcpy(&word, from + k, 4);
    word = as_tf32(word);
    std::memcpy(to + k, &word, 4);
  }
}

// What a load writes for elements outside the tensor: zeros, or a NaN in every format.
void fill_outside(uint8_t* to, uint32_t bytes, bool with_nan) {
  constexpr uint16_t kNan = 0x7ff7;
  if (!with_nan) std::memset(to, 0, bytes);
  else
    for (uint32_t k = 0; k < bytes; k += 2) std::memcpy(to + k, &kNan, 2);
}

// Rows lie apart, where no CPU expects them, so they are asked for some rows early.
class RowsAhead {
 public:
  explicit RowsAhead(const TensorCopy& copy)
      : bytes_(copy.row_bytes),
        distance_(std::clamp(kBytes / copy.row_bytes, 1u, kMostRows) * uint64_t(copy.map.step[1]) *
                  copy.map.stride[1]) {}
  template <int ToWrite>
  void ask(const uint8_t* row) const {
    row += distance_;
    __builtin_prefetch(row, ToWrite);
    __builtin_prefetch(row + kLine / 2, ToWrite);
    for (uint32_t k = kLine; k < bytes_; k += kLine / 2) __builtin_prefetch(row + k, ToWrite);
  }

 private:
  // More rows would push each other out of the cache where strides are powers of two.
  static constexpr uint32_t kBytes = 2048, kMostRows = 8;
  uint32_t bytes_;
  uint64_t distance_;
};

// Calls `move(offset in the row, where the piece lies in shared memory)` for each piece of 16
// bytes.
template <class Move>
inline void each_piece(const TensorCopy& copy, uint32_t row, Move move) {
  const uint32_t rows = copy.map.swizzle_rows();
  const uint32_t line = row / kLine * kLine, pattern = (row >> 7 & rows) << 4;
  if (copy.row_bytes == kLine && row == line) {  // what most swizzled tiles are made of
    for (uint32_t k = 0; k < kLine; k += kPiece) move(k, line + (k ^ pattern));
  } else {
    for (uint32_t k = 0; k < copy.row_bytes; k += kPiece) move(k, swizzled(rows, row + k));
  }
}

}  // namespace

void TensorCopy::measure() {
  if (map.interleave) {
    row_bytes = pitch = map.slice_bytes();
  } else {
    row_bytes = map.box[0] * map.element_bytes();
    pitch = map.swizzle ? map.swizzle_span() : row_bytes;
  }
  rows = map.im2col ? map.pixels : 1;
  if (map.im2col) return;
  for (uint32_t k = map.interleave ? 0 : 1; k < map.rank; ++k)
    if (!map.interleave || k != map.rank - 2) rows *= map.elements_of_box(k);
}

uint64_t TensorCopy::tensor_end() const {
  const uint64_t element = map.interleave ? map.slice_bytes() : map.element_bytes();
  // At most 2^32 elements of 32 bytes, and four times 2^32 strides below 2^40: no overflow.
  unsigned __int128 end = map.address;
  end += ((unsigned __int128)(map.size[0]) * element + 15) / 16 * 16;
  for (uint32_t k = 1; k < map.rank; ++k)
    end += (unsigned __int128)(map.size[k] - 1) * map.stride[k];
  return end >> 64 ? ~0ull : uint64_t(end);
}

bool find_missing_row(const TensorCopy& copy, const Allocations& memory, TensorRow& missing) {
  uint64_t begin = 1, end = 0;  // the allocation that was found last
  return !each_row(copy, [&](const TensorRow& row) {
    if (!row.inside()) return true;
    const uint64_t first = row.global + row.first, last = row.global + row.last;
    if (first < begin || last > end) {
      const auto home = memory.find(first);
      begin = home ? home->base : 1;
      end = home ? home->end() : 0;
    }
    if (first >= begin && last <= end) return true;
    missing = row;
    return false;
  });
}

void land_tensor_load(const TensorCopy& copy, uint8_t* shared, const Allocations& memory) {
  const TensorMap& map = copy.map;
  const RowsAhead ahead(copy);
  uint8_t row[kMostRow];
  each_row(copy, [&](const TensorRow& r) {
    const uint8_t* from = row;
    const bool whole = r.first == 0 && r.last == copy.row_bytes;
    if (whole && !map.rounds_to_tf32) {
      from = memory.place(r.global);
      ahead.ask<0>(from);
    } else {
      fill_outside(row, copy.row_bytes, map.fills_with_nan);
      if (r.inside()) {
        const uint8_t* inside = memory.place(r.global + r.first);
        if (map.rounds_to_tf32) round_to_tf32(row + r.first, inside, r.last - r.first);
        else std::memcpy(row + r.first, inside, r.last - r.first);
      }
    }
    if (!map.swizzle) std::memcpy(shared + r.shared, from, copy.row_bytes);
    else
      each_piece(copy, r.shared,
                 [&](uint32_t k, uint32_t at) { std::memcpy(shared + at, from + k, kPiece); });
    return true;
  });
}

void replace_bytes(void* to, const void* from, uint32_t bytes) { std::memcpy(to, from, bytes); }

void land_tensor_store(const TensorCopy& copy, const uint8_t* source, const Allocations& memory) {
  const RowsAhead ahead(copy);
  const bool replaces = copy.update == replace_bytes;
  uint8_t row[kMostRow];
  each_row(copy, [&](const TensorRow& r) {
    if (!r.inside()) return true;
    uint8_t* const to = memory.place(r.global + r.first);
    ahead.ask<1>(to);
    if (!copy.map.swizzle) {
      copy.update(to, source + (r.shared - copy.shared) + r.first, r.last - r.first);
      return true;
    }
    const bool direct = replaces && r.first == 0 && r.last == copy.row_bytes;
    uint8_t* const target = direct ? to : row;
    each_piece(copy, r.shared, [&](uint32_t k, uint32_t at) {
      std::memcpy(target + k, source + (at - copy.shared), kPiece);
    });
    if (!direct) copy.update(to, row + r.first, r.last - r.first);
    return true;
  });
}

}  // namespace ridge::vm
