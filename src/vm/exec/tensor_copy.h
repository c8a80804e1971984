// Copies of a box of a tensor between global and shared memory, as an H200's copy engine makes them
// (docs/hopper_facts.md, sections 3.1 to 3.4).
//
// A copy is a list of rows. A row is contiguous in global memory, and in shared memory too but for
// the swizzle: the innermost dimension of a box, the channels of a pixel, or one slice of an
// interleaved layout.
#pragma once

#include <array>
#include <cstdint>

#include "vm/mem/tensor_map.h"

namespace ridge::vm {

class Allocations;

// What a store does with the bytes at its destination; both lie in this process.
using BulkUpdate = void (*)(void* to, const void* from, uint32_t bytes);
void replace_bytes(void* to, const void* from, uint32_t bytes);  // plain copies

struct TensorCopy {
  TensorMap map;
  std::array<int32_t, TensorMap::kMaxRank> at{};  // coordinates of the box; 0 beyond the rank
  std::array<uint16_t, 3> offsets{};              // im2col loads: what is added in W, H, D
  bool loads = true;
  uint32_t shared = 0;          // where the box begins in shared memory
  BulkUpdate update = nullptr;  // of stores
  uint32_t row_bytes = 0;       // of all rows; a multiple of 16
  uint32_t pitch = 0;           // bytes from row to row in shared memory
  uint64_t rows = 0;            // a map of rubbish may have 2^32 of them

  // Fills the last three from the others.
  void measure();
  // Where the last byte of the whole tensor ends, in whole pieces of 16 bytes.
  uint64_t tensor_end() const;
  // What is told to the mbarrier; the box fits into shared memory.
  uint32_t bytes() const { return uint32_t(rows * row_bytes); }
  // What the rows take up in shared memory. Swizzling moves bytes inside of its span.
  uint64_t extent() const {
    const uint64_t end = (rows - 1) * pitch + row_bytes, span = map.swizzle_span();
    return (end + span - 1) / span * span;
  }
};

struct TensorRow {
  uint32_t shared = 0;           // before the swizzle
  uint32_t first = 0, last = 0;  // bytes that are inside the tensor
  uint64_t global = 0;           // of byte 0, which need not be inside
  bool inside() const { return first < last; }
};

// The first row that is not in live memory, if any.
bool find_missing_row(const TensorCopy& copy, const Allocations& memory, TensorRow& missing);

// `shared` is the block's shared memory.
void land_tensor_load(const TensorCopy& copy, uint8_t* shared, const Allocations& memory);
// `source` is what lies from copy.shared on.
void land_tensor_store(const TensorCopy& copy, const uint8_t* source, const Allocations& memory);

}  // namespace ridge::vm
