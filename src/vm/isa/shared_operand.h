// A matrix in shared memory, as wgmma's descriptor says where its elements lie.
//
// The descriptor has a start address, two byte offsets, and a swizzle of 16-byte pieces within a
// span of 32, 64 or 128 bytes (16 without swizzle). Eight spans, one per row, are a pattern;
// patterns repeat in both directions by the two offsets. A K-major matrix has K along the span; a
// matrix whose rows lie along it (transposed; 16-bit elements only) has K across.
// docs/hopper_facts.md, section 1.1, has the measurements.
#pragma once

#include <cstdint>

namespace ridge::vm {

class SharedOperand {
 public:
  SharedOperand(uint64_t descriptor, bool transposed);

  // Eight rows from `row` on, 16 bytes of K each from `byte` on: 128 bytes, as a register of a
  // fragment holds them. Both are multiples of what is read.
  void read_tile(const uint8_t* shared, uint32_t row, uint32_t byte, uint32_t* tile) const;

  // The tiles of so many groups of eight rows from row 0 on, two along K for each. False if they
  // are what `tiles` has held already.
  bool read_pairs(const uint8_t* shared, uint32_t groups, uint32_t* tiles) const;

  // Calls f(offset) for each 16 bytes of `rows` rows from `row` on, with `bytes` bytes of K. Both
  // are multiples of eight.
  template <class F>
  void each_piece(uint32_t row, uint32_t rows, uint32_t bytes, F f) const {
    if (transposed_) {
      for (uint32_t r = row; r < row + rows; r += 8)
        for (uint32_t k = 0; k < bytes / 2; ++k) f(place(2 * r, k));
    } else {
      for (uint32_t r = row; r < row + rows; ++r)
        for (uint32_t byte = 0; byte < bytes; byte += 16) f(place(byte, r));
    }
  }

  // Whether all of `rows` rows with `bytes` bytes of K lies below this address.
  bool ends_before(uint64_t limit, uint32_t rows, uint32_t bytes) const;

 private:
  // Where 16 bytes lie, `along` bytes in the direction of the span and `across` spans.
  uint32_t place(uint32_t along, uint32_t across) const {
    const uint32_t span = 1u << log_span_;
    const uint32_t at = start_ + (along >> log_span_) * along_step_ + (along & (span - 1)) +
                        across / 8 * across_step_ + (across % 8 << log_span_);
    return at ^ (((at >> 7) - base_offset_) & swizzled_) << 4;
  }

  uint32_t start_, along_step_, across_step_, base_offset_;
  uint32_t log_span_, swizzled_;
  bool transposed_;
};

}  // namespace ridge::vm
