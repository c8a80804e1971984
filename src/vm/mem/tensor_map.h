// A CUtensorMap: what tensor copies have to know of a tensor. Its 128 bytes are those of an H200
// (docs/hopper_facts.md, section 4), so that tensormap.replace is a handful of masked writes, and
// bytes that a program keeps mean the same on both.
#pragma once

#include <array>
#include <cstdint>

namespace ridge::vm {

// As programs hold it. The hardware reads words 0 to 15; the driver keeps two numbers behind them.
struct TensorMapBytes {
  std::array<uint32_t, 32> words;
};
static_assert(sizeof(TensorMapBytes) == 128);

// Types of elements, with the hardware's numbers.
enum class TensorType : uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f32_ftz, f64, bf16 };
uint32_t size_of(TensorType type);

// The same, readable. Dimensions beyond the rank have the size, box and step 1 and the stride 0.
struct TensorMap {
  static constexpr uint32_t kMaxRank = 5;

  uint64_t address = 0;  // of the tensor's first element
  uint32_t rank = 1;
  TensorType type = TensorType::u8;
  bool im2col = false;
  bool rounds_to_tf32 = false;  // what is loaded
  bool fills_with_nan = false;  // instead of zeros
  uint8_t interleave = 0;       // in units of 16 bytes: 0, 1 or 2
  uint8_t swizzle = 0;          // 0 none, then rows of 32, 64 and 128 bytes
  uint8_t l2_promotion = 0;
  std::array<uint64_t, kMaxRank> size{1, 1, 1, 1, 1};  // elements; the innermost dimension first
  std::array<uint64_t, kMaxRank> stride{};             // bytes; [0] is not used
  std::array<uint32_t, kMaxRank> step{1, 1, 1, 1, 1};
  std::array<uint32_t, kMaxRank> box{1, 1, 1, 1, 1};  // elements; im2col: [0] is channels per pixel
  std::array<int32_t, 3> lower{}, upper{};            // im2col: corners in W, H, D
  uint32_t pixels = 1;                                // im2col: per column

  uint32_t element_bytes() const { return size_of(type); }
  uint32_t slice_bytes() const { return 16u * interleave; }  // of an interleaved layout
  // Swizzled rows lie this far apart in shared memory.
  uint32_t swizzle_span() const { return 16u << swizzle; }
  // Bits 7 to 9 of a shared address that are added to bits 4 to 6 without carry.
  uint32_t swizzle_rows() const { return (1u << swizzle) - 1; }
  // Along dimension k.
  uint32_t elements_of_box(uint32_t k) const { return (box[k] + step[k] - 1) / step[k]; }
};

// Gives a map the element type that CUtensorMapDataType calls `number`, 0 to 12.
void set_type(TensorMap& map, uint32_t number);

TensorMapBytes encode(const TensorMap& map);
TensorMap decode(const TensorMapBytes& bytes);
// What makes a map unfit for any copy, or null.
const char* defect_of(const TensorMap& map);

// A field that tensormap.replace writes. The value's bits go where they belong, unchecked.
// `ordinal` is the dimension, below ordinals_of(field); fields that have one value do not look at
// it.
enum class TensorMapField : uint8_t {
  global_address,
  rank,  // minus one
  box_dim,
  global_dim,
  global_stride,  // of dimension ordinal + 1
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
};
constexpr uint32_t ordinals_of(TensorMapField field) {
  switch (field) {
    case TensorMapField::box_dim:
    case TensorMapField::global_dim:
    case TensorMapField::element_stride: return TensorMap::kMaxRank;
    case TensorMapField::global_stride: return TensorMap::kMaxRank - 1;
    default: return 0;
  }
}
void replace(TensorMapBytes& map, TensorMapField field, uint32_t ordinal, uint64_t value);

}  // namespace ridge::vm
