// What a CUtensorMap holds: our own layout of the 128 opaque bytes, written by cuTensorMapEncode…
// and read by the instructions that copy tensors. No program may look inside.
#pragma once

#include <cstdint>

namespace ridge::vm {

struct TensorMap {
  static constexpr uint32_t kMagic = 0x414d5452;  // "RTMA": tells a descriptor from other bytes
  enum class Mode : uint8_t { tiled, im2col, im2col_wide, im2col_wide_128 };

  uint32_t magic = kMagic;
  Mode mode = Mode::tiled;
  uint8_t data_type = 0;                                                // CUtensorMapDataType
  uint8_t rank = 0;                                                     // 1 to 5
  uint8_t interleave = 0, swizzle = 0, l2_promotion = 0, oob_fill = 0;  // as their enumerations
  uint8_t reserved0 = 0;
  uint32_t pixels_per_column = 0;   // im2col
  uint64_t address = 0;             // of the tensor's first element
  uint64_t strides[4] = {};         // bytes, of dimensions 1 to rank - 1
  uint32_t size_minus_one[5] = {};  // elements; the innermost dimension first
  uint16_t box[5] = {};             // elements; im2col: box[0] is the channels per pixel
  uint8_t element_strides[5] = {};
  uint8_t reserved1 = 0;
  int16_t lower_corner[3] = {}, upper_corner[3] = {};  // im2col: W, H, D
  uint8_t reserved2[24] = {};
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace ridge::vm
